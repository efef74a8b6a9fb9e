#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/frames.h"
#include "command/export/measures.h"
#include "command/export/pprof.pb-c.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/tables/conservation.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

/* ---- compressed output, by zlib ---- */

struct gzip {
    z_stream stream;
    FILE *out;
    int error; /* errno of the first failed write */
    unsigned char bytes[1 << 16];
};

#define GZIP_WINDOW (15 + 16) /* 15 is zlib's largest window; adding 16 selects the gzip format */

static void pprof_gzip_start(struct gzip *gzip, FILE *out)
{
    gzip->out = out;
    gzip->stream = (z_stream){0};
    gzip->error = 0;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        memory_check(NULL);
}

/* Compresses the pending input, and writes the output that zlib has ready. */
static bool pprof_gzip_drain(struct gzip *gzip, int flush)
{
    do {
        gzip->stream.next_out = gzip->bytes;
        gzip->stream.avail_out = sizeof gzip->bytes;
        if (deflate(&gzip->stream, flush) == Z_STREAM_ERROR)
            return false;
        size_t bytes = sizeof gzip->bytes - gzip->stream.avail_out;
        if (fwrite(gzip->bytes, 1, bytes, gzip->out) != bytes) {
            gzip->error = errno;
            return false;
        }
    } while (gzip->stream.avail_out == 0);
    return true;
}

static bool pprof_gzip_put(struct gzip *gzip, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    while (bytes) {
        uInt part = bytes < 1u << 30 ? (uInt)bytes : 1u << 30;
        gzip->stream.next_in = (unsigned char *)next;
        gzip->stream.avail_in = part;
        if (!pprof_gzip_drain(gzip, Z_NO_FLUSH))
            return false;
        next += part;
        bytes -= part;
    }
    return true;
}

/* Writes the remaining output if `good` is set, and frees zlib's memory. Returns false if any write failed. */
static bool pprof_gzip_finish(struct gzip *gzip, bool good)
{
    gzip->stream.avail_in = 0;
    good = good && pprof_gzip_drain(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    return good;
}

/* A line of a function. If the function is inlined, `outer` is the line of the call that was inlined. */
struct pprof_line {
    uint32_t outer;    /* 1 + the index of the outer line; 0: not inlined */
    uint32_t function; /* index in pprof.function */
    int line;
    uint32_t location; /* id of the location whose innermost line this is; 0: it has no id yet */
};

/* The part of a function that is in one source file. Macros and included files give a function lines in other
 * files. */
struct pprof_function {
    uint32_t frame;
    const char *file;
};

struct pprof {
    const struct profile *profile;
    struct frames frames;
    struct strings *strings;
    uint32_t string_count;
    struct pprof_line *line;
    size_t line_count, line_room;
    struct pprof_function *function;
    size_t function_count, function_room;
    struct pair_map line_map, function_map, mapping_map;
    uint32_t location_count;
    uint8_t *packed; /* buffer for an encoded message */
    size_t packed_room;
    struct gzip gzip;
    bool good; /* whether writing has succeeded so far; afterwards, output is skipped */
};

typedef Perftools__Profiles__Profile part_message;
#define PART_INIT PERFTOOLS__PROFILES__PROFILE__INIT

/* Returns the index of a text in the profile's string table. */
static int64_t pprof_string(struct pprof *pprof, const char *text)
{
    char *clean = format_clean(text, false);
    uint32_t id = strings_intern(pprof->strings, clean);
    if (id >= pprof->string_count)
        pprof->string_count = id + 1;
    free(clean);
    return id;
}

static uint32_t pprof_find_function(struct pprof *pprof, uint32_t frame, const char *file)
{
    const char *own = pprof->frames.label[frame]->file;
    file = file ? file : own;
    /* File names are interned, so equal names have equal addresses. */
    uint32_t *slot = pair_map_slot(&pprof->function_map, frame, (uintptr_t)file);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    memory_grow(&pprof->function, &pprof->function_room, pprof->function_count, sizeof *pprof->function);
    pprof->function[pprof->function_count] = (struct pprof_function){.frame = frame, .file = file};
    *slot = (uint32_t)pprof->function_count++;
    return *slot;
}

/* Returns 1 + the index of a line in a frame's function. If `file` is NULL, the line is in the file where the
 * function is defined. */
static uint32_t pprof_line(struct pprof *pprof, uint32_t outer, uint32_t frame, const char *file, int line)
{
    uint32_t function = pprof_find_function(pprof, frame, file);
    uint32_t *slot = pair_map_slot(&pprof->line_map, (uint64_t)outer << 32 | function, (uint32_t)line);
    if (*slot != PAIR_MAP_NEW)
        return *slot + 1;
    memory_grow(&pprof->line, &pprof->line_room, pprof->line_count, sizeof *pprof->line);
    pprof->line[pprof->line_count] = (struct pprof_line){.outer = outer, .function = function, .line = line};
    *slot = (uint32_t)pprof->line_count++;
    return *slot + 1;
}

/* Returns the id of the location whose innermost line is `line`. */
static uint64_t pprof_location(struct pprof *pprof, uint32_t line)
{
    if (!pprof->line[line - 1].location)
        pprof->line[line - 1].location = ++pprof->location_count;
    return pprof->line[line - 1].location;
}

/* Appends a part of the profile. A reader of protobuf joins the repeated fields of all parts. */
static void pprof_write(struct pprof *pprof, const part_message *part)
{
    size_t bytes = perftools__profiles__profile__get_packed_size(part);
    if (bytes > pprof->packed_room) {
        pprof->packed_room = 2 * bytes;
        pprof->packed = memory_check(realloc(pprof->packed, pprof->packed_room));
    }
    if (!pprof->good)
        return;
    perftools__profiles__profile__pack(part, pprof->packed);
    pprof->good = pprof_gzip_put(&pprof->gzip, pprof->packed, bytes);
}

/* Returns the id of the module's mapping, or 0 if there is none. Rows know only the base name of a module. Of
 * several modules with the same base name, the first one's mapping is used for all. */
static uint64_t pprof_mapping_of(struct pprof *pprof, const char *module)
{
    if (!*module)
        return 0;
    uint32_t *slot = pair_map_slot(&pprof->mapping_map, (uintptr_t)module, 0);
    if (*slot == PAIR_MAP_NEW) {
        const struct profile *profile = pprof->profile;
        *slot = 0;
        for (size_t i = 0; i < profile->module_count && !*slot; i++)
            if (!(profile->modules[i].flags & PROFILE_MODULE_PYTHON) &&
                strcmp(format_base_name(profile->modules[i].path), module) == 0)
                *slot = (uint32_t)i + 1;
    }
    return *slot;
}

static void pprof_write_location(struct pprof *pprof, uint32_t innermost)
{
    size_t count = 0, n = 0;
    for (uint32_t at = innermost; at; at = pprof->line[at - 1].outer)
        count++;
    Perftools__Profiles__Line *lines = memory_array(count, sizeof *lines);
    Perftools__Profiles__Line **list = memory_array(count, sizeof *list);
    Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *locations = &location;
    uint32_t outermost = innermost;
    for (uint32_t at = innermost; at; at = pprof->line[at - 1].outer, n++) {
        const struct pprof_line *line = &pprof->line[at - 1];
        lines[n] = (Perftools__Profiles__Line)PERFTOOLS__PROFILES__LINE__INIT;
        lines[n].function_id = (uint64_t)line->function + 1;
        lines[n].line = line->line;
        list[n] = &lines[n];
        outermost = at;
    }
    uint32_t frame = pprof->function[pprof->line[outermost - 1].function].frame;
    location.id = pprof->line[innermost - 1].location;
    location.mapping_id = pprof_mapping_of(pprof, pprof->frames.label[frame]->module);
    location.n_line = n;
    location.line = list;
    part_message part = PART_INIT;
    part.n_location = 1;
    part.location = &locations;
    pprof_write(pprof, &part);
    free(lines);
    free(list);
}

static void pprof_write_function(struct pprof *pprof, uint32_t index)
{
    const struct pprof_function *of = &pprof->function[index];
    const struct row_label *label = pprof->frames.label[of->frame];
    Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *functions = &function;
    function.id = (uint64_t)index + 1;
    function.name = pprof_string(pprof, label->name);
    function.filename = pprof_string(pprof, of->file);
    function.start_line = of->file == label->file ? label->line : 0;
    part_message part = PART_INIT;
    part.n_function = 1;
    part.function = &functions;
    pprof_write(pprof, &part);
}

static void pprof_write_mapping(struct pprof *pprof, size_t index)
{
    const struct profile_module *module = &pprof->profile->modules[index];
    char build_id[2 * sizeof module->build_id + 1] = "";
    for (uint32_t byte = 0; byte < module->build_id_bytes; byte++)
        snprintf(build_id + 2 * byte, 3, "%02x", module->build_id[byte]);
    Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *mappings = &mapping;
    mapping.id = index + 1;
    mapping.memory_start = module->load_bias + module->vaddr_low;
    mapping.memory_limit = module->load_bias + module->vaddr_high;
    mapping.filename = pprof_string(pprof, module->path);
    mapping.build_id = pprof_string(pprof, build_id);
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames = 1;
    part_message part = PART_INIT;
    part.n_mapping = 1;
    part.mapping = &mappings;
    pprof_write(pprof, &part);
}

static void pprof_write_tables(struct pprof *pprof)
{
    for (size_t i = 0; pprof->good && i < pprof->profile->module_count; i++)
        if (!(pprof->profile->modules[i].flags & PROFILE_MODULE_PYTHON))
            pprof_write_mapping(pprof, i);
    for (uint32_t i = 0; pprof->good && i < pprof->line_count; i++)
        if (pprof->line[i].location)
            pprof_write_location(pprof, i + 1);
    for (uint32_t i = 0; pprof->good && i < pprof->function_count; i++)
        pprof_write_function(pprof, i);
    for (uint32_t id = 0; pprof->good && id < pprof->string_count; id++) {
        char *text = (char *)strings_text(pprof->strings, id);
        part_message part = PART_INIT;
        part.n_string_table = 1;
        part.string_table = &text;
        pprof_write(pprof, &part);
    }
}

/* ---- the profile ---- */

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

#define MOST_VALUES (METRIC_COLUMNS + 2 + PROFILE_COUNTERS)

/* A row on the path from the root to the current row. */
struct step {
    uint32_t locations; /* number of elements of walk.path that are callers of the row */
    uint32_t outer;     /* 1 + the index of the line into which the row is inlined; 0: not inlined */
};

struct walk {
    const struct rows *rows;
    struct pprof *pprof;
    const struct measures *beside; /* measures that are not metrics */
    /* number of values in a sample: all metrics, then the measures of `beside` that have own values */
    size_t values;
    struct step *step; /* by depth */
    uint64_t *path;    /* ids of the callers' locations, outermost first */
    uint64_t *reversed;
};

static void pprof_write_sample(struct walk *walk, uint32_t depth, uint32_t leaf_line, const int64_t values[MOST_VALUES])
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

static bool pprof_read_values(const struct walk *walk, uint32_t index, int64_t values[MOST_VALUES])
{
    const struct rows *rows = walk->rows;
    bool any = false;
    for (size_t i = 0; i < walk->values; i++) {
        values[i] = i < METRIC_COLUMNS ? export_value(rows, rows->row[index].exclusive, metric_columns[i])
                                       : export_measure_whole(&walk->beside->measure[i - METRIC_COLUMNS], rows,
                                                              &rows->row[index], false);
        any |= values[i] != 0;
    }
    return any;
}

/* Writes a sample for each line of a function, and one for the values that belong to no line. */
static void pprof_write_row(struct walk *walk, uint32_t index)
{
    const struct rows *rows = walk->rows;
    const struct row *row = &rows->row[index];
    uint32_t outer = walk->step[row->depth].outer, frame = walk->pprof->frames.of_row[index];
    int64_t rest[MOST_VALUES], values[MOST_VALUES], lines = 0;
    if (!pprof_read_values(walk, index, rest))
        return;
    for (uint32_t child = index + 1; child < row->end && walk->pprof->good; child = rows->row[child].end) {
        const struct row_label *label = rows->row[child].label;
        if (rows->row[child].kind != ROW_STATEMENT || !pprof_read_values(walk, child, values))
            continue;
        for (size_t i = 0; i < walk->values; i++)
            rest[i] = (int64_t)((uint64_t)rest[i] - (uint64_t)values[i]);
        lines++;
        pprof_write_sample(walk, row->depth, pprof_line(walk->pprof, outer, frame, label->file, label->line), values);
    }
    bool any = false;
    for (size_t i = 0; i < walk->values; i++) {
        int64_t rounding = i < METRIC_COLUMNS && metric_columns[i] == METRIC_SAMPLES ? 0 : lines;
        any |= rest[i] > rounding || rest[i] < -rounding;
    }
    if (any && walk->pprof->good)
        pprof_write_sample(walk, row->depth, pprof_line(walk->pprof, outer, frame, NULL, 0), rest);
}

/* Adds the line that calls the row to the path. If the row is inlined into that line, records the line as its
 * outer line instead. */
static void pprof_enter_row(struct walk *walk, uint32_t index)
{
    const struct row *row = &walk->rows->row[index];
    struct step *step = &walk->step[row->depth];
    *step = (struct step){0};
    if (row->depth < 2) /* the root is the program, not a caller */
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

static void pprof_write_samples(struct pprof *pprof, const struct rows *rows, const struct measures *beside)
{
    size_t depths = (size_t)pprof->frames.depth + 2;
    struct walk walk = {.rows = rows,
                        .pprof = pprof,
                        .beside = beside,
                        .values = METRIC_COLUMNS + export_measures_own(beside),
                        .step = memory_array(depths, sizeof *walk.step),
                        .path = memory_array(depths, sizeof *walk.path),
                        .reversed = memory_array(depths, sizeof *walk.reversed)};
    for (uint32_t i = 0; pprof->good && i < rows->count; i++) {
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        pprof_enter_row(&walk, i);
        pprof_write_row(&walk, i);
    }
    free(walk.step);
    free(walk.path);
    free(walk.reversed);
}

static int64_t pprof_comment(struct pprof *pprof, const char *what, const char *text)
{
    char *comment = memory_text("%s: %s", what, text);
    int64_t id = pprof_string(pprof, comment);
    free(comment);
    return id;
}

/* Returns the string index of the name of the sampled event, without its period. */
static int64_t pprof_event_name(struct pprof *pprof)
{
    const char *sample = profile_text(pprof->profile, "sample");
    char *event = memory_check(strndup(sample, strcspn(sample, "@")));
    int64_t id = pprof_string(pprof, event);
    free(event);
    return id;
}

/* Writes all fields of the profile that do not belong to a list. */
static void pprof_write_header(struct pprof *pprof, const struct rows *rows, const struct measures *beside,
                               enum metric metric)
{
    const struct profile *profile = pprof->profile;
    const struct profile_header *header = &profile->header;
    size_t values = METRIC_COLUMNS + export_measures_own(beside);
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
    period.type = rows->events ? pprof_event_name(pprof) : pprof_string(pprof, header->clock == 1 ? "cpu" : "wall");
    period.unit = pprof_string(pprof, rows->events ? "events" : "nanoseconds");
    const char *command = profile_text(profile, "command"), *host = profile_text(profile, "host");
    int64_t comments[] = {pprof_comment(pprof, "command", command ? command : "unknown"),
                          pprof_comment(pprof, "host", host ? host : "unknown"),
                          pprof_comment(pprof, "written by", "blame " BLAME_VERSION)};
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

bool export_pprof(FILE *out, const struct export_input *input)
{
    const struct rows *rows = input->rows;
    struct pprof *pprof = memory_array(1, sizeof *pprof);
    struct measures beside;
    export_measures_gather_beside(&beside, rows, false);
    pprof->profile = input->profile;
    pprof->strings = strings_new();
    pprof->string_count = 1;
    pprof->good = true;
    export_frames_gather(&pprof->frames, rows);
    pprof_gzip_start(&pprof->gzip, out);
    pprof_write_header(pprof, rows, &beside, input->metric);
    pprof_write_samples(pprof, rows, &beside);
    pprof_write_tables(pprof);
    bool good = pprof_gzip_finish(&pprof->gzip, pprof->good);
    int error = pprof->gzip.error;
    export_measures_free(&beside);
    export_frames_free(&pprof->frames);
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
