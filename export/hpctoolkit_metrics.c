/* metrics/default.yaml, by which hpcviewer shows metrics and what follows from them; and src/. */
#include "export/hpctoolkit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/text/format.h"
#include "report/text/json_text.h"
#include "report/text/memory.h"
#include "report/text/source_file.h"

/* Texts are JSON's, which YAML has, too: counters may have any name. */
static void put_input(FILE *out, const char *name, size_t metric, bool inclusive)
{
    fprintf(out, "  - &m%zu%c\n    metric: ", metric, inclusive ? 'I' : 'E');
    json_text(out, name);
    fprintf(out, "\n    scope: %s\n    formula: $$\n    combine: sum\n", inclusive ? "execution" : "function");
}

/* The sum of metrics, which is the metric where it is one. hpcviewer adds no more than two. */
static void put_sum(FILE *out, const size_t *metrics, size_t count, char which)
{
    for (size_t i = 1; i < count; i++)
        fputs("{\"+\": [", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s*m%zu%c%s", i ? ", " : "", metrics[i], which, i ? "]}" : "");
}

static void number(size_t *to, const enum metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = metrics[i];
}

/* A sum, or so many per cent of the effort. The variant `Sum` is a metric's own: Hatchet takes none but one input below it. */
static void put_root(FILE *out, const char *name, const char *description, const size_t *metrics, size_t count, bool of_effort)
{
    static const char *const part[] = {"inclusive", "exclusive"};
    size_t effort[METRIC_PARTS];
    number(effort, metric_parts, METRIC_PARTS);
    fputs("  - name: ", out);
    json_text(out, name);
    fprintf(out, "\n    description: \"%s.\"\n    variants:\n      %s:\n        render: [number%s]\n        formula:\n", description,
            count == 1 && !of_effort ? "Sum" : "Total", of_effort ? "" : ", percent");
    for (int i = 0; i < 2; i++) {
        fprintf(out, "          %s: {standard: ", part[i]);
        if (of_effort)
            fputs("{\"/\": [{\"*\": [100, ", out);
        put_sum(out, metrics, count, "IE"[i]);
        if (of_effort) {
            fputs("]}, ", out);
            put_sum(out, effort, METRIC_PARTS, "IE"[i]);
            fputs("]}", out);
        }
        fputs("}\n", out);
    }
}

static const char *about(const struct hpc_contexts *contexts, size_t metric)
{
    return metric < METRIC_COLUMNS ? metric_about((enum metric)metric) : contexts->beside.measure[metric - METRIC_COLUMNS].about;
}

bool hpc_write_metrics(const char *directory, const struct hpc_contexts *contexts)
{
    static const size_t work = METRIC_WORK, idleness = METRIC_IDLENESS;
    size_t blame[METRIC_BLAME_PARTS], effort[METRIC_PARTS];
    number(blame, metric_blame_part, METRIC_BLAME_PARTS);
    number(effort, metric_parts, METRIC_PARTS);
    char *path = memory_text("%s/metrics/default.yaml", directory), name[64];
    FILE *out = fopen(path, "wxe");
    free(path);
    if (!out)
        return false;
    fputs("version: 0\ninputs:\n", out);
    for (size_t metric = 0; metric < contexts->metrics; metric++) {
        put_input(out, contexts->name[metric], metric, true);
        put_input(out, contexts->name[metric], metric, false);
    }
    fputs("roots:\n", out);
    put_root(out, hpc_metric_name(contexts->rows, METRIC_BLAME, name, sizeof name), metric_about(METRIC_BLAME), blame, METRIC_BLAME_PARTS, false);
    for (size_t metric = 0; metric < contexts->metrics; metric++)
        put_root(out, contexts->name[metric], about(contexts, metric), &metric, 1, false);
    put_root(out, "effort", metric_about(METRIC_EFFORT), effort, METRIC_PARTS, false);
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
