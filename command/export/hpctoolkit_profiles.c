/* Writes profile.db of an HPCToolkit database: the values of contexts, location by location. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/export/locations.h"
#include "command/export/measures.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/text/memory.h"

#define INFO_BYTES 48 /* FORMATS.md says 40 bytes, but its fields take 48 */
#define IS_SUMMARY 1u
#define NOT_LISTED UINT32_MAX

_Static_assert(sizeof(struct hpc_profile_info) == INFO_BYTES, "must match the table of {PI} in FORMATS.md");

/* in the order in which hpc_put_id_names writes their names */
enum kind { KIND_SUMMARY, KIND_NODE, KIND_RANK, KIND_THREAD };

struct id {
    uint8_t kind, none;
    uint16_t flags;
    uint32_t logical;
    uint64_t physical;
};

/* The values of one profile. Only contexts with a value are listed. */
struct plane {
    const struct hpc_contexts *contexts;
    uint32_t *slot;   /* for each context, its index in `listed`, or NOT_LISTED if it has no value */
    uint32_t *listed; /* numbers of the contexts that have a value, in increasing order */
    size_t count, room;
    double *value; /* values of the listed contexts, contexts->values for each */
};

static double *hpc_plane_values(const struct plane *plane, size_t listed)
{
    return plane->value + listed * plane->contexts->values;
}

/* Lists the contexts that have a row in `from`, and all their ancestors. */
static void hpc_list_contexts(struct plane *plane, const struct location_rows *from)
{
    const struct hpc_contexts *contexts = plane->contexts;
    for (size_t i = 0; i < from->rows->count; i++)
        for (uint32_t c = contexts->of_row[from->of[i]]; plane->slot[c] == NOT_LISTED; c = contexts->context[c].parent)
            plane->slot[c] = 0; /* marks the context as listed; the index is set below */
    plane->count = 0;
    for (uint32_t c = 0; c < contexts->count; c++) {
        if (plane->slot[c] == NOT_LISTED)
            continue;
        plane->slot[c] = (uint32_t)plane->count;
        plane->listed[plane->count++] = c;
    }
    if (plane->count > plane->room) {
        free(plane->value);
        plane->value = memory_array((plane->room = plane->count) * plane->contexts->values, sizeof *plane->value);
    }
    memset(plane->value, 0, plane->count * plane->contexts->values * sizeof *plane->value);
}

/* Adds the row's measures that are not metrics. A measure without own values, or without inclusive values,
 * leaves that column at 0. */
static void hpc_add_measures(const struct hpc_contexts *contexts, const struct rows *rows, const struct row *row,
                             double *value)
{
    for (size_t i = 0; i < contexts->beside.count; i++) {
        const struct measure *measure = &contexts->beside.measure[i];
        if (export_measure_has(measure, false))
            value[2 * i + 1] += export_measure_own(measure, rows, row);
        if (export_measure_has(measure, true) && row->kind != ROW_STATEMENT)
            value[2 * i] = export_measure_inclusive(measure, rows, row);
    }
}

static void hpc_add_rows(struct plane *plane, const struct location_rows *from)
{
    for (size_t i = 0; i < from->rows->count; i++) {
        const struct row *row = &from->rows->row[i];
        double *value = hpc_plane_values(plane, plane->slot[plane->contexts->of_row[from->of[i]]]);
        for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++) {
            value[2 * metric + 1] += metric_value(from->rows, row->exclusive, metric);
            if (row->kind != ROW_STATEMENT)
                value[2 * metric] = metric_value(from->rows, row->inclusive, metric);
        }
        hpc_add_measures(plane->contexts, from->rows, row, value + 2 * METRIC_COLUMNS);
    }
}

/* Computes the inclusive values of lines, because no row has them: the line's own values plus the inclusive
 * values of the functions called on the line. One pass from the last context to the first is enough, because
 * a parent has a smaller number than its children. */
static void hpc_sum_lines(struct plane *plane)
{
    for (size_t i = plane->count; i-- > 1;) {
        const struct hpc_context *context = &plane->contexts->context[plane->listed[i]];
        bool of_line = context->parent == HPC_GLOBAL || hpc_is_line(&plane->contexts->context[context->parent]);
        double *value = hpc_plane_values(plane, i), *parent = hpc_plane_values(plane, plane->slot[context->parent]);
        for (size_t v = 0; v < plane->contexts->values; v += 2) {
            if (hpc_is_line(context))
                value[v] += value[v + 1];
            if (of_line)
                parent[v] += value[v];
        }
    }
}

static void hpc_put_values(struct hpc_file *file, const struct plane *plane, struct hpc_profile_info *info)
{
    hpc_align(file, 8);
    info->values = file->at;
    for (size_t i = 0; i < plane->count; i++) {
        uint64_t before = info->value_count;
        for (uint16_t v = 0; v < plane->contexts->values; v++) {
            struct hpc_value value = {v, hpc_plane_values(plane, i)[v]};
            if (value.value == 0)
                continue;
            hpc_put(file, &value, sizeof value);
            info->value_count++;
        }
        info->context_count += info->value_count > before;
    }
    hpc_align(file, 4);
    info->contexts = file->at;
    struct hpc_values_of of = {0};
    for (size_t i = 0; i < plane->count; i++) {
        uint64_t count = 0;
        for (size_t v = 0; v < plane->contexts->values; v++)
            count += hpc_plane_values(plane, i)[v] != 0;
        of.context = plane->listed[i];
        if (count)
            hpc_put(file, &of, sizeof of);
        of.first += count;
    }
}

static void hpc_put_plane(struct hpc_file *file, struct plane *plane, const struct location_rows *from,
                          struct hpc_profile_info *info)
{
    hpc_list_contexts(plane, from);
    hpc_add_rows(plane, from);
    hpc_sum_lines(plane);
    hpc_put_values(file, plane, info);
    for (size_t i = 0; i < plane->count; i++)
        plane->slot[plane->listed[i]] = NOT_LISTED;
}

static bool hpc_put_locations(struct hpc_file *file, struct plane *plane, struct locations *locations,
                              struct hpc_profiles *profiles)
{
    struct location_rows read;
    for (size_t i = 0; i < locations->count; i++) {
        if (!export_locations_read(locations, i, &read))
            return false;
        hpc_put_plane(file, plane, &read, &profiles->info[1 + i]);
        export_location_rows_free(&read);
    }
    return true;
}

/* Returns how many threads the earlier processes of a rank have, given the result `before` for the preceding
 * location `ahead`. */
static uint32_t hpc_threads_before(const struct location *ahead, const struct location *location, uint32_t before)
{
    if (ahead->process == location->process)
        return before;
    if (!location->of_rank || ahead->rank != location->rank)
        return 0;
    return before + (ahead->thread == LOCATION_NO_THREAD ? 1 : (uint32_t)ahead->thread + 1);
}

/* Writes the identifier of a location, which must be unique. If the processes of a job have no ranks, their
 * numbers are used as ranks. The threads of all processes of a rank are numbered consecutively. */
static void hpc_put_id_tuple(struct hpc_file *file, const struct location *location, uint32_t before, bool job)
{
    bool threaded = location->thread != LOCATION_NO_THREAD;
    uint32_t rank = location->ranked ? location->rank : (uint32_t)location->process,
             thread = before + (threaded ? (uint32_t)location->thread : 0);
    struct id ids[3] = {{.kind = KIND_NODE, .logical = location->node, .physical = location->node}};
    uint64_t count = 1;
    if (location->ranked || job)
        ids[count++] = (struct id){.kind = KIND_RANK, .logical = rank, .physical = rank};
    if (threaded || location->of_rank)
        ids[count++] = (struct id){.kind = KIND_THREAD, .logical = thread, .physical = thread};
    hpc_put(file, &count, sizeof count);
    hpc_put(file, ids, count * sizeof *ids);
}

static bool hpc_finish_profiles(struct hpc_file *file, const struct locations *locations, struct hpc_profiles *profiles)
{
    hpc_align(file, 8);
    struct hpc_section tuples = {.at = file->at};
    for (uint32_t i = 0, before = 0; i < locations->count; i++) {
        const struct location *location = &locations->location[i];
        profiles->info[1 + i].id_tuple = file->at;
        before = i ? hpc_threads_before(location - 1, location, before) : 0;
        hpc_put_id_tuple(file, location, before, locations->processes > 1);
    }
    tuples.bytes = file->at - tuples.at;
    struct hpc_section infos = {.at = file->at, .bytes = HPC_INFOS_BYTES + profiles->count * INFO_BYTES};
    const uint64_t head[] = {infos.at + HPC_INFOS_BYTES, (uint64_t)INFO_BYTES << 32 | profiles->count};
    hpc_put(file, head, sizeof head);
    hpc_put(file, profiles->info, profiles->count * INFO_BYTES);
    const struct hpc_section sections[] = {infos, tuples};
    return hpc_close(file, "prof", sections, 2, "_prof.db");
}

bool hpc_write_profiles(const char *directory, struct locations *locations, const struct hpc_contexts *contexts,
                        struct hpc_profiles *profiles)
{
    struct hpc_file file;
    struct location_rows sum;
    if (!hpc_open(&file, directory, "profile.db", 2))
        return false;
    profiles->count = 1 + locations->count;
    profiles->info = memory_array(profiles->count, sizeof *profiles->info);
    profiles->info[0].flags = IS_SUMMARY;
    struct plane plane = {.contexts = contexts,
                          .slot = memory_array(contexts->count, sizeof *plane.slot),
                          .listed = memory_array(contexts->count, sizeof *plane.listed)};
    memset(plane.slot, 0xff, contexts->count * sizeof *plane.slot);
    export_locations_sum(locations, &sum);
    hpc_put_plane(&file, &plane, &sum, &profiles->info[0]);
    bool good = hpc_put_locations(&file, &plane, locations, profiles);
    free(plane.slot);
    free(plane.listed);
    free(plane.value);
    int why = errno;
    bool closed = hpc_finish_profiles(&file, locations, profiles);
    if (!good)
        errno = why;
    return closed && good;
}
