/* metrics/default.yaml, by which hpcviewer shows metrics and what follows from them; and src/. */
#include "export/hpctoolkit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/text/format.h"
#include "report/text/memory.h"
#include "report/text/source_file.h"

static const char *const about[METRIC_COLUMNS] = {
    [METRIC_IDLENESS] = "Time of idle threads that this context is blamed for",
    [METRIC_WORK] = "Time in which threads worked",
    [METRIC_OVERHEAD] = "Time that threads spent in the runtime on its own affairs",
    [METRIC_LOCK_WAIT] = "Time in which others waited for locks that were held here",
    [METRIC_LOCK_WAIT_HERE] = "Time in which this context waited for locks, a part of what lock wait charges to holders",
    [METRIC_CORE_IDLENESS] = "Idleness of cores instead of threads",
    [METRIC_SHARED_IDLENESS] = "Idleness as threads in other programs' company have it",
    [METRIC_SAMPLES] = "Samples taken",
    [METRIC_NO_CORE] = "Time in which busy threads were ready to run and had no core",
    [METRIC_BLOCKED] = "Time in which busy threads slept outside of OpenMP's waits",
    [METRIC_MPI_WAIT] = "Time in calls of MPI's that may wait for other ranks",
    [METRIC_RANK_IDLENESS] = "Time in which other ranks waited in MPI, by who made them wait",
};

static void put_input(FILE *out, const struct rows *rows, enum metric metric, bool inclusive)
{
    char name[64];
    fprintf(out, "  - &m%d%c\n    metric: \"%s\"\n    scope: %s\n    formula: $$\n    combine: sum\n", (int)metric, inclusive ? 'I' : 'E',
            hpc_metric_name(rows, metric, name, sizeof name), inclusive ? "execution" : "function");
}

/* The sum of metrics, which is the metric where it is one. hpcviewer adds no more than two. */
static void put_sum(FILE *out, const enum metric *metrics, size_t count, char which)
{
    for (size_t i = 1; i < count; i++)
        fputs("{\"+\": [", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s*m%d%c%s", i ? ", " : "", (int)metrics[i], which, i ? "]}" : "");
}

/* A sum, or so many per cent of the effort. The variant `Sum` is a metric's own: Hatchet takes none but one input below it. */
static void put_root(FILE *out, const char *name, const char *description, const enum metric *metrics, size_t count, bool of_effort)
{
    static const char *const part[] = {"inclusive", "exclusive"};
    fprintf(out, "  - name: \"%s\"\n    description: \"%s.\"\n    variants:\n      %s:\n        render: [number%s]\n        formula:\n", name, description,
            count == 1 && !of_effort ? "Sum" : "Total", of_effort ? "" : ", percent");
    for (int i = 0; i < 2; i++) {
        fprintf(out, "          %s: {standard: ", part[i]);
        if (of_effort)
            fputs("{\"/\": [{\"*\": [100, ", out);
        put_sum(out, metrics, count, "IE"[i]);
        if (of_effort) {
            fputs("]}, ", out);
            put_sum(out, metric_parts, METRIC_PARTS, "IE"[i]);
            fputs("]}", out);
        }
        fputs("}\n", out);
    }
}

bool hpc_write_metrics(const char *directory, const struct rows *rows)
{
    static const enum metric work = METRIC_WORK, idleness = METRIC_IDLENESS;
    char *path = memory_text("%s/metrics/default.yaml", directory), name[64];
    FILE *out = fopen(path, "wxe");
    free(path);
    if (!out)
        return false;
    fputs("version: 0\ninputs:\n", out);
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++) {
        put_input(out, rows, metric, true);
        put_input(out, rows, metric, false);
    }
    fputs("roots:\n", out);
    put_root(out, hpc_metric_name(rows, METRIC_BLAME, name, sizeof name), "What others lost by it: idleness + overhead + lock wait", metric_blame_part,
             METRIC_BLAME_PARTS, false);
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++)
        put_root(out, hpc_metric_name(rows, metric, name, sizeof name), about[metric], &metric, 1, false);
    put_root(out, "effort", "All time of all threads: work, idleness, overhead, lock wait, no core, blocked, mpi wait", metric_parts, METRIC_PARTS, false);
    put_root(out, "relative work (%)", "Work in per cent of the effort here", &work, 1, true);
    put_root(out, "relative idleness (%)", "Idleness in per cent of the effort here", &idleness, 1, true);
    bool good = fflush(out) == 0 && !ferror(out);
    int why = errno;
    fclose(out);
    errno = why;
    return good;
}

/* Makes the directories above a file's name; a failure is told by the file that cannot be made. */
static void make_parents(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

/* Steps upward must not lead out of the database. */
static void hold_down(char *path)
{
    for (char *at = path; (at = strstr(at, "/..")); at += 3)
        if (at[3] == '/' || at[3] == '\0')
            memcpy(at, "/__", 3);
}

char *hpc_copy_source(const char *directory, const char *path, bool for_others)
{
    struct source_file source;
    const char *why;
    if (!source_file_read(&source, path, NULL, for_others, &why))
        return NULL;
    char *clean = format_clean(path, false), *inside = memory_text("src/%s", clean + strspn(clean, "/"));
    hold_down(inside);
    char *target = memory_text("%s/%s", directory, inside);
    make_parents(target, strlen(directory) + 1);
    FILE *out = fopen(target, "wxe");
    bool good = out && fwrite(source.text, 1, source.bytes, out) == source.bytes;
    if (out)
        good = fclose(out) == 0 && good;
    if (!good) { /* another file became of its name, or the name is too long */
        free(inside);
        inside = NULL;
    }
    free(clean);
    free(target);
    source_file_free(&source);
    return inside;
}
