#include "report/tables/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_PER_S 100.0 /* of /proc/stat, on every machine */
#define DOUBTFUL    2.0   /* times more processes than the kernel counted at either end */
#define ALL_CORES   0.5   /* as near are the processors' whole time and that of the program's cores */

/* One end's counts, in seconds. */
struct counts {
    double busy, idle, stolen, throttled;
    double own; /* the process's, in all of its threads */
    double runnable; /* processes and threads, just then or over the last minute; 0: not told */
};

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };

/* The text behind a word at the begin of a line; NULL: no line has it. */
static const char *behind(const char *note, const char *word)
{
    for (const char *line = note; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    return NULL;
}

/* Of /proc/loadavg: three averages, the first of a minute, and how many are runnable / exist. */
static double runnable_of(const char *note)
{
    const char *load = note ? behind(note, "loadavg ") : NULL;
    double minute = 0, now = 0;
    if (load)
        sscanf(load, "%lf %*f %*f %lf", &minute, &now);
    return fmax(minute, now);
}

static bool read_counts(const struct profile *profile, const char *key, struct counts *counts)
{
    const char *note = profile_text(profile, key);
    const char *throttled = note ? behind(note, "throttled_ns ") : NULL,
               *own = note ? behind(note, "own_cpu_ns ") : NULL, *at = note ? behind(note, "cpu ") : NULL;
    double time[TIMES] = {0};
    for (int i = 0; at && i < TIMES; i++) {
        char *end;
        time[i] = strtod(at, &end) / TICKS_PER_S;
        at = end;
    }
    counts->busy = time[USER] + time[NICE] + time[SYSTEM] + time[IRQ] + time[SOFTIRQ];
    counts->idle = time[IDLE] + time[IOWAIT];
    counts->stolen = time[STEAL];
    counts->runnable = runnable_of(note);
    counts->throttled = throttled ? 1e-9 * strtod(throttled, NULL) : 0;
    counts->own = own ? 1e-9 * strtod(own, NULL) : 0;
    return at;
}

void machine_read(const struct profile *profile, const struct ledger *ledger, struct machine *machine)
{
    struct counts begin, end;
    double wall_s = 1e-9 * ((double)profile->header.end_ns - (double)profile->header.tool_start_ns);
    *machine = (struct machine){0};
    if (!read_counts(profile, "machine_begin", &begin) || !read_counts(profile, "machine_end", &end) ||
        !(wall_s > 0) || !(ledger->on_core > 0))
        return;
    double busy = end.busy - begin.busy, idle = end.idle - begin.idle, stolen = end.stolen - begin.stolen;
    double on_core = 1e-9 * ledger->on_core, no_core = 1e-9 * ledger->no_core, cores = profile->header.cores;
    machine->told = true;
    machine->stolen_s = fmax(0, stolen);
    machine->throttled_s = fmin(no_core, fmax(0, end.throttled - begin.throttled));
    machine->ready_own = (on_core + no_core) / wall_s;
    machine->others_cores = fmax(0, busy - fmax(on_core, end.own - begin.own)) / wall_s;
    /* Whoever shares a core fairly has as much of it as the other. */
    machine->others_ready = machine->others_cores * (on_core + no_core - machine->throttled_s) / on_core;
    double runnable = fmax(begin.runnable, end.runnable);
    machine->others_weigh_more = runnable > 0 && machine->others_ready > DOUBTFUL * runnable;
    if (fabs((busy + idle + stolen) / wall_s - cores) < ALL_CORES)
        machine->free_s = fmax(0, idle);
}
