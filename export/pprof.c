#include "export/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/measures.h"
#include "report/tables/conservation.h"
#include "report/text/memory.h"

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

#define MOST_VALUES (METRIC_COLUMNS + 2 + PROFILE_COUNTERS)

/* The way to a row: what is on the stack below it, and into what it is inlined. */
struct step {
    uint32_t locations; /* how many of the path's belong to its callers */
    uint32_t outer;     /* 1 + the line that the row is inlined at, 0: it is a frame of its own */
};

struct walk {
    const struct rows *rows;
    struct pprof *pprof;
    const struct measures *beside; /* metrics */
    size_t values;                 /* of a sample: metrics, and behind them the first of these */
    struct step *step; /* by depth */
    uint64_t *path;    /* ids of locations, outermost first */
    uint64_t *reversed;
};

static void write_sample(struct walk *walk, uint32_t depth, uint32_t leaf_line,
                         const int64_t values[MOST_VALUES])
{
    uint32_t callers = walk->step[depth].locations, count = 0;
    int64_t value[MOST_VALUES];
    memcpy(value, values, sizeof value);
    walk->reversed[count++] = pprof_location(walk->pprof, leaf_line);
    for (uint32_t i = callers; i-- > 0;)
        walk->reversed[count++] = walk->path[i];
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples = &sample;
    sample.n_location_id = count;
    sample.location_id = walk->reversed;
    sample.n_value = walk->values;
    sample.value = value;
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    part.n_sample = 1;
    part.sample = &samples;
    pprof_write(walk->pprof, &part);
}

static bool read_values(const struct walk *walk, uint32_t index, int64_t values[MOST_VALUES])
{
    const struct rows *rows = walk->rows;
    bool any = false;
    for (size_t i = 0; i < walk->values; i++) {
        values[i] = i < METRIC_COLUMNS ? export_value(rows, rows->row[index].exclusive, metric_columns[i])
                                       : measure_whole(&walk->beside->measure[i - METRIC_COLUMNS], rows, &rows->row[index], false);
        any |= values[i] != 0;
    }
    return any;
}

/* Samples of a function's lines, and one of what is in none of them. */
static void write_row(struct walk *walk, uint32_t index)
{
    const struct rows *rows = walk->rows;
    const struct row *row = &rows->row[index];
    uint32_t outer = walk->step[row->depth].outer, frame = walk->pprof->frames.of_row[index];
    int64_t rest[MOST_VALUES], values[MOST_VALUES], lines = 0;
    if (!read_values(walk, index, rest))
        return;
    for (uint32_t child = index + 1; child < row->end && walk->pprof->good; child = rows->row[child].end) {
        const struct row_label *label = rows->row[child].label;
        if (rows->row[child].kind != ROW_STATEMENT || !read_values(walk, child, values))
            continue;
        for (size_t i = 0; i < walk->values; i++)
            rest[i] = (int64_t)((uint64_t)rest[i] - (uint64_t)values[i]);
        lines++;
        write_sample(walk, row->depth, pprof_line(walk->pprof, outer, frame, label->file, label->line),
                     values);
    }
    bool any = false;
    for (size_t i = 0; i < walk->values; i++) {
        int64_t rounding = i < METRIC_COLUMNS && metric_columns[i] == METRIC_SAMPLES ? 0 : lines;
        any |= rest[i] > rounding || rest[i] < -rounding;
    }
    if (any && walk->pprof->good)
        write_sample(walk, row->depth, pprof_line(walk->pprof, outer, frame, NULL, 0), rest);
}

/* The row's caller is now known to be in the line that calls it. */
static void enter_row(struct walk *walk, uint32_t index)
{
    const struct row *row = &walk->rows->row[index];
    struct step *step = &walk->step[row->depth];
    *step = (struct step){0};
    if (row->depth < 2) /* the root is the program, not a function */
        return;
    const struct step *caller = &walk->step[row->depth - 1];
    uint32_t frame = walk->pprof->frames.of_row[row->parent];
    uint32_t line = pprof_line(walk->pprof, caller->outer, frame, NULL, row->call_line);
    step->locations = caller->locations;
    if (row->kind == ROW_INLINED)
        step->outer = line;
    else
        walk->path[step->locations++] = pprof_location(walk->pprof, line);
}

static void write_samples(struct pprof *pprof, const struct rows *rows, const struct measures *beside)
{
    size_t depths = (size_t)pprof->frames.depth + 2;
    struct walk walk = {.rows = rows,
                        .pprof = pprof,
                        .beside = beside,
                        .values = METRIC_COLUMNS + measures_own(beside),
                        .step = memory_array(depths, sizeof *walk.step),
                        .path = memory_array(depths, sizeof *walk.path),
                        .reversed = memory_array(depths, sizeof *walk.reversed)};
    for (uint32_t i = 0; pprof->good && i < rows->count; i++) {
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        enter_row(&walk, i);
        write_row(&walk, i);
    }
    free(walk.step);
    free(walk.path);
    free(walk.reversed);
}

static int64_t write_comment(struct pprof *pprof, const char *what, const char *text)
{
    char *comment = memory_text("%s: %s", what, text);
    int64_t id = pprof_string(pprof, comment);
    free(comment);
    return id;
}

/* What samples were taken by, without its period. */
static int64_t write_event(struct pprof *pprof)
{
    const char *sample = profile_text(pprof->profile, "sample");
    char *event = memory_check(strndup(sample, strcspn(sample, "@")));
    int64_t id = pprof_string(pprof, event);
    free(event);
    return id;
}

/* What is no list of its own. */
static void write_header(struct pprof *pprof, const struct rows *rows, const struct measures *beside, enum metric metric)
{
    const struct profile *profile = pprof->profile;
    const struct profile_header *header = &profile->header;
    size_t values = METRIC_COLUMNS + measures_own(beside);
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    Perftools__Profiles__ValueType types[MOST_VALUES], *list[MOST_VALUES];
    Perftools__Profiles__ValueType period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        types[i] = (Perftools__Profiles__ValueType)PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
        types[i].type = pprof_string(pprof, metric_word[metric_columns[i]]);
        types[i].unit = pprof_string(pprof, metric_columns[i] == METRIC_SAMPLES ? "count"
                                            : rows->events                      ? "events"
                                                                                : "nanoseconds");
        list[i] = &types[i];
    }
    for (size_t i = METRIC_COLUMNS; i < values; i++) {
        const struct measure *measure = &beside->measure[i - METRIC_COLUMNS];
        types[i] = (Perftools__Profiles__ValueType)PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
        types[i].type = pprof_string(pprof, measure->title);
        types[i].unit = pprof_string(pprof, measure->in_seconds ? "nanoseconds" : "count");
        list[i] = &types[i];
    }
    period.type =
        rows->events ? write_event(pprof) : pprof_string(pprof, header->clock == 1 ? "cpu" : "wall");
    period.unit = pprof_string(pprof, rows->events ? "events" : "nanoseconds");
    const char *command = profile_text(profile, "command"), *host = profile_text(profile, "host");
    int64_t comments[] = {write_comment(pprof, "command", command ? command : "unknown"),
                          write_comment(pprof, "host", host ? host : "unknown"),
                          write_comment(pprof, "written by", "blame " BLAME_VERSION)};
    part.n_sample_type = values;
    part.sample_type = list;
    part.time_nanos = header->start_realtime_ns;
    part.duration_nanos = export_whole(profile_wall_s(profile) * 1e9);
    part.period_type = &period;
    part.period = (int64_t)(rows->events ? header->period_ns / 1000000000u : header->period_ns);
    part.n_comment = sizeof comments / sizeof *comments;
    part.comment = comments;
    part.default_sample_type = pprof_string(pprof, metric_word[metric]);
    pprof_write(pprof, &part);
}

bool export_pprof(FILE *out, const struct profile *profile, const struct rows *rows, enum metric metric)
{
    struct pprof *pprof = memory_array(1, sizeof *pprof);
    struct measures beside;
    measures_gather_beside(&beside, rows, false);
    pprof->profile = profile;
    pprof->strings = strings_new();
    pprof->string_count = 1;
    pprof->good = true;
    frames_gather(&pprof->frames, rows);
    gzip_start(&pprof->gzip, out);
    write_header(pprof, rows, &beside, metric);
    write_samples(pprof, rows, &beside);
    pprof_write_tables(pprof);
    bool good = gzip_finish(&pprof->gzip, pprof->good);
    int error = pprof->gzip.error;
    measures_free(&beside);
    frames_free(&pprof->frames);
    strings_free(pprof->strings);
    pair_map_free(&pprof->line_map);
    pair_map_free(&pprof->function_map);
    pair_map_free(&pprof->mapping_map);
    free(pprof->line);
    free(pprof->function);
    free(pprof->packed);
    free(pprof);
    errno = error ? error : errno;
    return good;
}
