#include <stdlib.h>
#include <string.h>

#include "command/export/export.h"
#include "command/export/frames.h"
#include "command/export/measures.h"
#include "command/text/format.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

/* The path to the current row, as text such as "4,17,3". The rows are visited in preorder, so each path is
 * made from the previous one. */
struct path {
    char *text;
    size_t room;
    size_t *end; /* for each depth, the length of the path's text up to that depth */
};

static void speedscope_put_frame(FILE *out, const struct row_label *label)
{
    fputs("{\"name\":", out);
    json_text(out, label->name);
    if (*label->file) {
        fputs(",\"file\":", out);
        json_text(out, label->file);
    }
    if (*label->file && label->line > 0)
        fprintf(out, ",\"line\":%d", label->line);
    putc('}', out);
}

/* Appends the row's frame to the path. The root's frame appears only in the path of the root's own samples,
 * because it would start every path. */
static void speedscope_extend_path(struct path *path, const struct row *row, uint32_t frame)
{
    size_t before = row->depth > 1 ? path->end[row->depth - 1] : 0;
    if (before + FORMAT_NUMBER_BYTES + 1 > path->room) {
        path->room = 2 * (path->room + FORMAT_NUMBER_BYTES);
        path->text = memory_check(realloc(path->text, path->room));
    }
    if (before)
        path->text[before++] = ',';
    path->end[row->depth] = (size_t)(format_integer(path->text + before, frame) - path->text);
}

/* The values that one profile of the file shows. */
struct what {
    enum metric metric;
    const struct measure *counter; /* counter shown in place of `metric`; NULL: none */
};

/* Returns the value of a row. The caller skips values that are not above 0, because a stack cannot have a
 * negative weight. */
static int64_t speedscope_weight_of(const struct rows *rows, uint32_t index, const struct what *what)
{
    const struct row *row = &rows->row[index];
    if (row->kind == ROW_STATEMENT)
        return 0;
    return what->counter ? export_measure_whole(what->counter, rows, row, false)
                         : export_value(rows, row->exclusive, what->metric);
}

static void speedscope_put_samples(FILE *out, const struct rows *rows, const struct frames *frames,
                                   const struct what *what)
{
    struct path path = {.end = memory_array(frames->depth + 1, sizeof *path.end)};
    bool first = true;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        speedscope_extend_path(&path, row, frames->of_row[i]);
        if (speedscope_weight_of(rows, i, what) <= 0)
            continue;
        fputs(first ? "\n[" : ",\n[", out);
        fwrite(path.text, 1, path.end[row->depth], out);
        putc(']', out);
        first = false;
    }
    free(path.text);
    free(path.end);
}

static double speedscope_put_weights(FILE *out, const struct rows *rows, const struct what *what)
{
    char number[FORMAT_NUMBER_BYTES];
    double sum = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        int64_t weight = speedscope_weight_of(rows, i, what);
        if (weight <= 0)
            continue;
        if (count)
            putc(',', out);
        if (count++ % 16 == 0)
            putc('\n', out);
        fwrite(number, 1, (size_t)(format_integer(number, (uint64_t)weight) - number), out);
        sum += (double)weight;
    }
    return sum;
}

/* Writes the name of a profile. speedscope has no unit for events, so the name says which event was sampled. */
static void speedscope_put_name(FILE *out, const struct profile *profile, const struct rows *rows,
                                const struct what *what)
{
    enum metric metric = what->metric;
    if (what->counter) {
        json_text(out, what->counter->title);
        return;
    }
    const char *sample = rows->events ? profile_text(profile, "sample") : NULL;
    if (!sample || metric == METRIC_SAMPLES) {
        fprintf(out, "\"%s\"", metric_word[metric]);
        return;
    }
    char *name = memory_text("%s, events (%.*s)", metric_word[metric], (int)strcspn(sample, "@"), sample);
    json_text(out, name);
    free(name);
}

static void speedscope_put_profile(FILE *out, const struct profile *profile, const struct rows *rows,
                                   const struct frames *frames, const struct what *what)
{
    fputs("{\"type\":\"sampled\",\"name\":", out);
    speedscope_put_name(out, profile, rows, what);
    fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
            !what->counter && export_in_ns(rows, what->metric) ? "nanoseconds" : "none");
    speedscope_put_samples(out, rows, frames, what);
    fputs("],\n\"weights\":[", out);
    double sum = speedscope_put_weights(out, rows, what);
    fprintf(out, "],\n\"endValue\":%s}", DECIMAL(sum, 0));
}

static void speedscope_put_counters(FILE *out, const struct profile *profile, const struct rows *rows,
                                    const struct frames *frames)
{
    struct measures measures;
    export_measures_gather_beside(&measures, rows, false);
    for (size_t i = 0; i < measures.count; i++)
        if (measures.measure[i].kind == MEASURE_COUNTER) {
            fputs(",\n", out);
            speedscope_put_profile(out, profile, rows, frames, &(struct what){.counter = &measures.measure[i]});
        }
    export_measures_free(&measures);
}

void export_speedscope(FILE *out, const struct profile *profile, const struct rows *rows, enum metric metric,
                       bool alone)
{
    const char *command = profile_text(profile, "command");
    struct frames frames;
    export_frames_gather(&frames, rows);
    fputs("{\"$schema\":\"https://www.speedscope.app/"
          "file-format-schema.json\",\n\"exporter\":\"blame " BLAME_VERSION "\",\n\"name\":",
          out);
    json_text(out, command && *command ? command : "(command unknown)");
    fprintf(out, ",\n\"activeProfileIndex\":%d,\n\"shared\":{\"frames\":[", alone ? 0 : (int)metric);
    for (size_t i = 0; i < frames.count; i++) {
        fputs(i ? ",\n" : "\n", out);
        speedscope_put_frame(out, frames.label[i]);
    }
    fputs("]},\n\"profiles\":[\n", out);
    enum metric first = alone ? metric : 0, end = alone ? metric + 1 : METRIC_COLUMNS;
    for (enum metric metric = first; metric < end; metric++) {
        fputs(metric > first ? ",\n" : "", out);
        speedscope_put_profile(out, profile, rows, &frames, &(struct what){.metric = metric});
    }
    if (!alone)
        speedscope_put_counters(out, profile, rows, &frames);
    fputs("]}\n", out);
    export_frames_free(&frames);
}
