/* Finds threads that were ready to run and had no core. Says who used the cores, and what to do. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings/rules.h"
#include "command/tables/conservation.h"
#include "command/tables/ranks.h"
#include "command/text/memory.h"

/* ---- the machine ---- */

/* What the rest of the machine did, from the kernel's counts at the start and end of the measurement
 * (ompt_tool/life/machine.c). */

struct machine {
    /* whether the file has the counts of both ends, with processor time; if not, all other fields are 0 */
    bool told;
    double ready_own;    /* average number of the program's threads that were running or ready to run */
    double others_cores; /* average number of cores that other processes used */
    double others_ready; /* estimated average number of other runnable processes, if each got a fair share */
    /* whether others_ready exceeds the kernel's count, so that the shares were not fair (niceness, a group of
     * processes) */
    bool others_weigh_more;
    /* seconds of processor time that no process used; 0 unless the program may run on all processors */
    double free_s;
    double stolen_s;    /* seconds of processor time that a hypervisor took */
    double throttled_s; /* seconds during which the process's cgroup had used up its quota */
};

#define TICKS_PER_S 100.0 /* ticks per second in /proc/stat, the same on every machine */
/* largest plausible ratio of others_ready to the kernel's count */
#define DOUBTFUL 2.0
/* the program counts as having all processors if it lacks less than this many cores */
#define ALL_CORES 0.5

/* The counts at one end of the measurement. Times are in seconds. */
struct counts {
    double busy, idle, stolen, throttled;
    double own; /* processor time of all threads of this process */
    /* number of runnable processes and threads, at that time or on average over a minute; 0: unknown */
    double runnable;
};

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };

/* Returns the text after a word at the beginning of a line, NULL if no line begins with the word. */
static const char *text_after(const char *note, const char *word)
{
    for (const char *line = note; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    return NULL;
}

/* Reads the number of runnable threads from /proc/loadavg, which holds three averages (the first over a
 * minute), then runnable/existing. */
static double runnable_of(const char *note)
{
    const char *load = note ? text_after(note, "loadavg ") : NULL;
    double minute = 0, now = 0;
    if (load)
        sscanf(load, "%lf %*f %*f %lf", &minute, &now);
    return fmax(minute, now);
}

static bool read_counts(const struct profile *profile, const char *key, struct counts *counts)
{
    const char *note = profile_text(profile, key);
    const char *throttled = note ? text_after(note, "throttled_ns ") : NULL,
               *own = note ? text_after(note, "own_cpu_ns ") : NULL, *at = note ? text_after(note, "cpu ") : NULL;
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

static void machine_read(const struct profile *profile, const struct ledger *ledger, struct machine *machine)
{
    struct counts begin, end;
    double wall_s = 1e-9 * ((double)profile->header.end_ns - (double)profile->header.tool_start_ns);
    *machine = (struct machine){0};
    if (!read_counts(profile, "machine_begin", &begin) || !read_counts(profile, "machine_end", &end) || !(wall_s > 0) ||
        !(ledger->on_core > 0))
        return;
    double busy = end.busy - begin.busy, idle = end.idle - begin.idle, stolen = end.stolen - begin.stolen;
    double on_core = 1e-9 * ledger->on_core, no_core = 1e-9 * ledger->no_core, cores = profile->header.cores;
    machine->told = true;
    machine->stolen_s = fmax(0, stolen);
    machine->throttled_s = fmin(no_core, fmax(0, end.throttled - begin.throttled));
    machine->ready_own = (on_core + no_core) / wall_s;
    machine->others_cores = fmax(0, busy - fmax(on_core, end.own - begin.own)) / wall_s;
    /* With fair scheduling, each thread of this program gets the same share of a core as each other process. */
    machine->others_ready = machine->others_cores * (on_core + no_core - machine->throttled_s) / on_core;
    double runnable = fmax(begin.runnable, end.runnable);
    machine->others_weigh_more = runnable > 0 && machine->others_ready > DOUBTFUL * runnable;
    if (fabs((busy + idle + stolen) / wall_s - cores) < ALL_CORES)
        machine->free_s = fmax(0, idle);
}

/* ---- findings ---- */

#define MUCH  0.25 /* a cause is named if it explains at least this share of the time without a core */
#define FAR   10.0 /* number of threads per core from which their number comes before all other findings */
#define CROWD 1.05 /* number of ready threads per core from which the program counts as oversubscribed */
#define CORES 1024 /* largest number of cores in a binding: the limit of glibc's sched_getaffinity() */
#define NAMED 3    /* number of threads bound to a core that are named; the others are only counted */
/* least processor time in s of unmeasured threads; /proc and the clocks differ by less */
#define LEAST_UNSEEN_S 0.1

/* What is known about missing cores. */
struct shortage {
    double seconds, spun_s; /* thread-seconds without a core; core-seconds that waiting threads used */
    double stolen_s;        /* part of `seconds` in which neither a process nor the kernel used the core */
    double threads, cores;
    size_t ranks; /* number of ranks that share these cores; 0 if the profile is not of a job */
    struct machine machine;
    bool crowded, spins, throttled, others, bound, stolen;
};

static bool samples_tell(const struct profile *profile)
{
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].core_source != PROFILE_CORE_NOT_TOLD)
            return true;
    return false;
}

static struct shortage shortage_of(const struct inquiry *inquiry)
{
    const struct ledger *ledger = &inquiry->ledger;
    struct shortage shortage = {.seconds = metric_value(inquiry->rows, inquiry->rows->row[0].inclusive, METRIC_NO_CORE),
                                .stolen_s = 1e-9 * ledger->stolen,
                                .threads = inquiry->threads,
                                .cores = inquiry->cores};
    const struct machine *machine = &shortage.machine;
    double much = MUCH * shortage.seconds;
    if (inquiry->profile->header.merged) {
        struct ranks_crowd crowd = ranks_crowd(inquiry->profile);
        shortage.ranks = crowd.ranks;
        shortage.threads = crowd.threads;
        shortage.cores = crowd.cores;
    }
    machine_read(inquiry->profile, ledger, &shortage.machine);
    /* Core time that was neither work nor overhead. Waiting for locks happens both on and off a core, so it
     * is not subtracted. */
    shortage.spun_s = 1e-9 * (ledger->on_core - ledger->work - ledger->overhead);
    shortage.crowded = machine->told ? machine->ready_own > CROWD * shortage.cores : shortage.threads > shortage.cores;
    shortage.spins = machine->told && shortage.spun_s > much;
    shortage.throttled = machine->throttled_s > much;
    shortage.others = machine->others_ready > 0.5 && !(shortage.throttled && machine->others_ready < 1);
    shortage.stolen = shortage.stolen_s > much;
    shortage.bound = !shortage.crowded && !shortage.throttled && machine->free_s > much &&
                     shortage.seconds - shortage.stolen_s > much;
    return shortage;
}

static const char *shortage_rule(const struct shortage *shortage)
{
    double excess =
        shortage->machine.told ? shortage->machine.ready_own - shortage->cores : shortage->threads - shortage->cores;
    if (shortage->throttled)
        return "quota";
    if (shortage->crowded && excess > shortage->machine.others_ready)
        return "oversubscribed";
    return shortage->bound && !shortage->others ? "binding" : "cores-taken";
}

/* Returns who took the stolen time. Only kernels that count interrupts separately subtract them from threads'
 * time, and such kernels do not count the time that a hypervisor takes. */
static const char *thief(const struct machine *machine, double stolen_s)
{
    return machine->told && machine->stolen_s < MOSTLY * stolen_s ? "interrupts" : "the hypervisor";
}

static char *shortage_title(const struct shortage *shortage)
{
    char stolen[FORMAT_NUMBER_BYTES + 48] = "";
    char others[FORMAT_NUMBER_BYTES + 32] = "", whose[32] = "this program";
    if (shortage->ranks)
        snprintf(whose, sizeof whose, "%zu rank%s", shortage->ranks, shortage->ranks == 1 ? "" : "s");
    if (shortage->others && !shortage->machine.others_weigh_more)
        snprintf(others, sizeof others, " and %s other runnable processes", DECIMAL(shortage->machine.others_ready, 1));
    else if (shortage->others || (!shortage->machine.told && !shortage->crowded))
        snprintf(others, sizeof others, " and other processes");
    if (shortage->stolen_s >= LEAST_GAIN_S)
        snprintf(stolen, sizeof stolen, "; %s s were taken by %s", DECIMAL(shortage->stolen_s, 2),
                 thief(&shortage->machine, shortage->stolen_s));
    return format_printable("%s s of thread time without a core: %s thread%s of %s%s on %s core%s%s",
                            DECIMAL(shortage->seconds, 2), DECIMAL(shortage->threads, 0),
                            shortage->threads == 1 ? "" : "s", whose, others, DECIMAL(shortage->cores, 0),
                            shortage->cores == 1 ? "" : "s", stolen);
}

static char *shortage_evidence(const struct inquiry *inquiry, const struct shortage *shortage)
{
    double idle_s = inquiry->no_core_idle_ns * 1e-9;
    char idle[FORMAT_NUMBER_BYTES + 64] = "", ready[FORMAT_NUMBER_BYTES + 96] = "; it is unknown what else ran";
    if (idle_s >= LEAST_GAIN_S)
        snprintf(idle, sizeof idle, ", and other threads idled for %s s because of that", DECIMAL(idle_s, 2));
    if (shortage->machine.told)
        snprintf(ready, sizeof ready, "; on average, %s threads were ready to run",
                 DECIMAL(shortage->machine.ready_own, 1));
    return format_printable("threads with work to do had no core%s%s", idle, ready);
}

/* Describes the threads that lost most time because they are bound to the same core: "threads 0, 2 and 5 more
 * are bound to core 1". */
static char *bound_threads(const struct profile *profile)
{
    double lost[CORES + 1] = {0};
    uint32_t count[CORES + 1] = {0}, most = 0, named = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->only_core == 0 || thread->only_core > CORES)
            continue;
        lost[thread->only_core] += thread->no_core_ns;
        count[thread->only_core]++;
    }
    for (uint32_t core = 1; core <= CORES; core++)
        if (count[core] > 1 && lost[core] > lost[most])
            most = core;
    if (!most)
        return memory_text("threads that are bound to the same cores share them");
    char *names = NULL;
    size_t bytes = 0;
    FILE *out = memory_check(open_memstream(&names, &bytes));
    for (size_t i = 0; i < profile->thread_count && named < NAMED; i++)
        if (profile->threads[i].only_core == most)
            fprintf(out, "%s%zu", named++ ? ", " : "threads ", i);
    if (count[most] > named)
        fprintf(out, " and %u more", count[most] - named);
    fprintf(out, " are bound to core %u", most - 1);
    memory_check(fclose(out) == 0 ? names : NULL);
    return names;
}

/* Returns advice with one sentence for each cause that explains a notable part. */
static char *shortage_advice(const struct profile *profile, const struct shortage *shortage)
{
    const struct machine *machine = &shortage->machine;
    char *part[6] = {NULL};
    size_t count = 0;
    if (shortage->throttled)
        part[count++] = memory_text(
            "The cgroup's CPU quota was used up for %s s. Raise the quota (cpu.max), or use only as many threads as "
            "it allows. ",
            DECIMAL(machine->throttled_s, 2));
    if (shortage->crowded && shortage->ranks)
        part[count++] = memory_text("Use fewer ranks or threads (at most %s thread%s in all on these cores), or give "
                                    "the job more cores (the launcher's binding, more nodes). ",
                                    DECIMAL(shortage->cores, 0), shortage->cores == 1 ? "" : "s");
    else if (shortage->crowded && shortage->threads > shortage->cores)
        part[count++] = memory_text("%s %s thread%s%s, or give the program more cores (affinity, cgroup quota). ",
                                    profile->header.without_team ? "Let at most" : "Use at most",
                                    DECIMAL(shortage->cores, 0), shortage->cores == 1 ? "" : "s",
                                    profile->header.without_team ? " work at a time" : " (OMP_NUM_THREADS)");
    if (shortage->spins)
        part[count++] =
            memory_text("Waiting threads spun on cores for %s s. %s leaves these cores to working threads. ",
                        DECIMAL(shortage->spun_s, 2),
                        profile->header.without_team ? "Sleeping instead" : "OMP_WAIT_POLICY=passive");
    if (shortage->bound) {
        char *who = bound_threads(profile);
        part[count++] = memory_text("Other cores were free for %s s, but %s (see OMP_PROC_BIND, OMP_PLACES, "
                                    "taskset). ",
                                    DECIMAL(machine->free_s, 2), who);
        free(who);
    }
    if (shortage->others)
        part[count++] = memory_text(
            "Other processes used %s of the cores, for which the program is not to blame. Measure on a quiet "
            "machine. ",
            DECIMAL(machine->others_cores, 1));
    if (shortage->stolen)
        part[count++] = memory_text("No process used the cores that were taken (/proc/stat counts %s s of stolen "
                                    "processor time), so the cause is neither the program nor this machine's other "
                                    "processes. ",
                                    DECIMAL(machine->stolen_s, 2));
    if (!count)
        part[count++] = memory_text("Measure on a quiet machine. ");
    char *text = format_printable("%s%s%s%s%s%sThis time is counted neither as work nor as idleness.", part[0],
                                  part[1] ? part[1] : "", part[2] ? part[2] : "", part[3] ? part[3] : "",
                                  part[4] ? part[4] : "", part[5] ? part[5] : "");
    for (size_t i = 0; i < count; i++)
        free(part[i]);
    return text;
}

/* Returns whether so many threads share a core that no other figure can be relied on. Threads that mostly
 * sleep do not need cores. */
static bool are_far_beyond_cores(const struct inquiry *inquiry, const struct shortage *shortage)
{
    const struct ledger *ledger = &inquiry->ledger;
    return shortage->cores >= 1 && shortage->threads >= FAR * shortage->cores &&
           ledger->blocked < MOSTLY * (ledger->work + ledger->overhead + ledger->blocked);
}

static void put_too_many_threads(struct inquiry *inquiry, const struct shortage *shortage)
{
    struct finding finding = {.rule = "too-many-threads",
                              .row = ROW_NONE,
                              .rank = FINDING_FIRST,
                              .metric = METRIC_NO_CORE,
                              .seconds = shortage->seconds};
    const char *threads = DECIMAL(shortage->threads, 0), *cores = DECIMAL(shortage->cores, 0);
    finding.title = format_printable("%s threads on %s core%s", threads, cores, shortage->cores == 1 ? "" : "s");
    finding.evidence =
        format_printable("at most %s can run at a time, and the others wait for a core or for these%s", cores,
                         shortage->ranks ? "; the threads of all ranks on these cores count" : "");
    char set[FORMAT_NUMBER_BYTES + 20] = "";
    if (!inquiry->profile->header.without_team)
        snprintf(set, sizeof set, " (OMP_NUM_THREADS=%s)", cores);
    finding.advice = format_printable("Use %s thread%s%s, and measure again. More threads help only if they sleep most "
                                      "of the time, for example in input and output.",
                                      cores, shortage->cores == 1 ? "" : "s", set);
    inquiry->no_core_s = shortage->seconds;
    put_finding(inquiry, &finding);
}

static void put_no_core(struct inquiry *inquiry)
{
    struct shortage shortage = shortage_of(inquiry);
    if (are_far_beyond_cores(inquiry, &shortage)) {
        put_too_many_threads(inquiry, &shortage);
        return;
    }
    if (percent_of_program(inquiry, shortage.seconds) < LEAST_PERCENT)
        return;
    struct finding finding = {.rule = shortage_rule(&shortage),
                              .row = ROW_NONE,
                              .rank = FINDING_LAST,
                              .metric = METRIC_NO_CORE,
                              .seconds = shortage.seconds,
                              .sampled = true};
    finding.title = shortage_title(&shortage);
    finding.evidence = shortage_evidence(inquiry, &shortage);
    finding.advice = shortage_advice(inquiry->profile, &shortage);
    inquiry->no_core_s = shortage.seconds;
    put_finding(inquiry, &finding);
}

/* Finds busy threads without a core in profiles whose samples do not show them. Such samples count the time
 * as work, so more threads appear busy than there are cores. */
static void find_oversubscription(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    double excess = 0, own = 0, inverse_busy = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        double idle = metric_value(rows, rows->row[i].exclusive, METRIC_CORE_IDLENESS);
        const struct profile_sums *sums = rows->row[i].exclusive;
        if (rows->row[i].kind == ROW_STATEMENT || idle >= 0)
            continue;
        excess -= idle;
        own += sums->work + sums->overhead + sums->lock_wait;
        inverse_busy += sums->inverse_busy;
    }
    if (inquiry->threads <= inquiry->cores || percent_of_program(inquiry, excess) < LEAST_PERCENT)
        return;
    struct finding finding = {.rule = "oversubscribed",
                              .row = ROW_NONE,
                              .rank = FINDING_LAST,
                              .metric = METRIC_CORE_IDLENESS,
                              .seconds = excess,
                              .sampled = true,
                              .basis.own = own * 1e-9};
    const char *cores = DECIMAL(inquiry->cores, 0), *plural = inquiry->cores == 1 ? "" : "s";
    finding.title =
        format_printable("%s busy threads at a time on %s core%s", DECIMAL(own / inverse_busy, 1), cores, plural);
    finding.evidence = format_printable("busy threads had no core (negative core idleness)");
    finding.advice = format_printable(
        "Use at most %s thread%s (OMP_NUM_THREADS), or give the program more cores (affinity, cgroup quota). Waiting "
        "threads that spin take cores from working ones; OMP_WAIT_POLICY=passive prevents that. How blame is divided "
        "between contexts is approximate in this run.",
        cores, plural);
    put_finding(inquiry, &finding);
}

/* Finds time that other processes took, in the same profiles. There it counts as work, as idleness of others,
 * or as time in which no thread was busy. The finding explains such oddities. */
static void find_taken_cores(struct inquiry *inquiry)
{
    double seconds = ledger_taken_s(inquiry->profile, &inquiry->ledger);
    struct finding finding = {
        .rule = "cores-taken", .row = ROW_NONE, .rank = FINDING_LAST, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (inquiry->profile->header.clock != 0 || seconds < LEAST_GAIN_S)
        return;
    finding.title = format_printable("other processes took the cores for %s s of thread time", DECIMAL(seconds, 2));
    finding.evidence =
        format_printable("the program's threads were ready to run and had no core, for %s", SHARE(inquiry, seconds));
    finding.advice = format_printable("Measure on a quiet machine. The figure for work includes this time. The "
                                      "figure for idleness may include it once for each thread that waited meanwhile.");
    inquiry->no_core_s = seconds;
    put_finding(inquiry, &finding);
}

void find_no_core(struct inquiry *inquiry)
{
    if (samples_tell(inquiry->profile)) {
        put_no_core(inquiry);
        return;
    }
    find_taken_cores(inquiry);
    find_oversubscription(inquiry);
}

double unseen_processor_s(const struct inquiry *inquiry)
{
    struct counts begin, end;
    const struct profile_header *header = &inquiry->profile->header;
    double on_core_s = 1e-9 * inquiry->ledger.on_core;
    if (header->merged || header->clock != 0 || !(profile_wall_s(inquiry->profile) > 0) || !(on_core_s > 0) ||
        !read_counts(inquiry->profile, "machine_begin", &begin) ||
        !read_counts(inquiry->profile, "machine_end", &end) || !(begin.own > 0))
        return 0;
    return fmax(0, end.own - begin.own - on_core_s);
}

void find_unseen_threads(struct inquiry *inquiry)
{
    double seconds = unseen_processor_s(inquiry), on_core_s = 1e-9 * inquiry->ledger.on_core;
    struct finding finding = {.rule = "unseen", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (inquiry->threads_told || seconds < LEAST_UNSEEN_S ||
        100 * seconds < LEAST_PERCENT * (inquiry->whole_s + seconds))
        return;
    finding.title = format_printable("%s s of processor time in threads that were not measured", DECIMAL(seconds, 2));
    finding.evidence = format_printable(
        "the process used %s s of processor time, of which the measured threads used %s s: on average, %s other "
        "threads were running; compared with the effort of %s thread-seconds, this is %s %% (threshold %s %%)",
        DECIMAL(on_core_s + seconds, 2), DECIMAL(on_core_s, 2), DECIMAL(seconds / profile_wall_s(inquiry->profile), 1),
        DECIMAL(inquiry->whole_s, 2), DECIMAL(percent_of_program(inquiry, seconds), 0), DECIMAL(LEAST_PERCENT, 0));
    finding.advice =
        format_printable("No other figure contains the time of these threads. Without blame run, only threads "
                         "that use OpenMP are measured. With it, use another profiler for them, such as perf.");
    put_finding(inquiry, &finding);
}
