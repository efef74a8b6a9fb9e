/* Writes metrics/default.yaml of an HPCToolkit database: how hpcviewer shows metrics, and metrics computed from them. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/export/formats.h"
#include "command/export/measures.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

/* Writes an input of a metric. Names are written as JSON strings, which are valid YAML, because a counter's
 * name may contain any character. */
static void hpc_put_yaml_input(FILE *out, const char *name, size_t metric, bool inclusive)
{
    fprintf(out, "  - &m%zu%c\n    metric: ", metric, inclusive ? 'I' : 'E');
    json_text(out, name);
    fprintf(out, "\n    scope: %s\n    formula: $$\n    combine: sum\n", inclusive ? "execution" : "function");
}

/* Writes a formula for the sum of the metrics. It nests sums of two, because hpcviewer's "+" takes only two
 * operands. */
static void hpc_put_yaml_sum(FILE *out, const size_t *metrics, size_t count, char which)
{
    for (size_t i = 1; i < count; i++)
        fputs("{\"+\": [", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s*m%zu%c%s", i ? ", " : "", metrics[i], which, i ? "]}" : "");
}

static void hpc_copy_metric_numbers(size_t *to, const enum metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = metrics[i];
}

/* Writes a metric whose value is the sum of `metrics`, or, if of_effort is set, that sum as a percentage of
 * the effort. The variant of a metric with a single input is called `Sum`, because Hatchet requires exactly
 * one input below that name. */
static void hpc_put_yaml_metric(FILE *out, const char *name, const char *description, const size_t *metrics,
                                size_t count, bool of_effort)
{
    static const char *const part[] = {"inclusive", "exclusive"};
    size_t effort[METRIC_PARTS];
    hpc_copy_metric_numbers(effort, metric_parts, METRIC_PARTS);
    fputs("  - name: ", out);
    json_text(out, name);
    fprintf(out, "\n    description: \"%s.\"\n    variants:\n      %s:\n        render: [number%s]\n        formula:\n",
            description, count == 1 && !of_effort ? "Sum" : "Total", of_effort ? "" : ", percent");
    for (int i = 0; i < 2; i++) {
        fprintf(out, "          %s: {standard: ", part[i]);
        if (of_effort)
            fputs("{\"/\": [{\"*\": [100, ", out);
        hpc_put_yaml_sum(out, metrics, count, "IE"[i]);
        if (of_effort) {
            fputs("]}, ", out);
            hpc_put_yaml_sum(out, effort, METRIC_PARTS, "IE"[i]);
            fputs("]}", out);
        }
        fputs("}\n", out);
    }
}

static const char *hpc_metric_about(const struct hpc_contexts *contexts, size_t metric)
{
    return metric < METRIC_COLUMNS ? metric_about((enum metric)metric)
                                   : contexts->beside.measure[metric - METRIC_COLUMNS].about;
}

/* Writes metrics/default.yaml. */
bool hpc_write_metrics(const char *directory, const struct hpc_contexts *contexts)
{
    static const size_t work = METRIC_WORK, idleness = METRIC_IDLENESS;
    size_t blame[METRIC_BLAME_PARTS], effort[METRIC_PARTS];
    hpc_copy_metric_numbers(blame, metric_blame_part, METRIC_BLAME_PARTS);
    hpc_copy_metric_numbers(effort, metric_parts, METRIC_PARTS);
    char *path = memory_text("%s/metrics/default.yaml", directory), name[64];
    FILE *out = fopen(path, "wxe");
    free(path);
    if (!out)
        return false;
    fputs("version: 0\ninputs:\n", out);
    for (size_t metric = 0; metric < contexts->metrics; metric++) {
        hpc_put_yaml_input(out, contexts->name[metric], metric, true);
        hpc_put_yaml_input(out, contexts->name[metric], metric, false);
    }
    fputs("roots:\n", out);
    hpc_put_yaml_metric(out, hpc_metric_name(contexts->rows, METRIC_BLAME, name, sizeof name),
                        metric_about(METRIC_BLAME), blame, METRIC_BLAME_PARTS, false);
    for (size_t metric = 0; metric < contexts->metrics; metric++)
        hpc_put_yaml_metric(out, contexts->name[metric], hpc_metric_about(contexts, metric), &metric, 1, false);
    hpc_put_yaml_metric(out, "effort", metric_about(METRIC_EFFORT), effort, METRIC_PARTS, false);
    hpc_put_yaml_metric(out, "relative work (%)", "Work as a percentage of the effort in this context", &work, 1, true);
    hpc_put_yaml_metric(out, "relative idleness (%)", "Idleness as a percentage of the effort in this context",
                        &idleness, 1, true);
    bool good = fflush(out) == 0 && !ferror(out);
    int why = errno;
    fclose(out);
    errno = why;
    return good;
}
