/* profile.db: the values of contexts, by thread. */
#include "export/hpctoolkit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/pair_map.h"
#include "report/profile/read.h"
#include "report/text/memory.h"

#define INFO_BYTES  48 /* FORMATS.md says 40, and lists fields up to 48 */
#define IS_SUMMARY  1u
#define NO_THREAD   SIZE_MAX
#define INFOS_BYTES 16

_Static_assert(sizeof(struct hpc_profile_info) == INFO_BYTES, "as the table of {PI} has it");

enum kind { KIND_SUMMARY, KIND_NODE, KIND_RANK, KIND_THREAD }; /* as hpc_kinds in meta.db */

struct id {
    uint8_t kind, none;
    uint16_t flags;
    uint32_t logical;
    uint64_t physical;
};

/* Of one profile, by context and value: first what is attributed to the context itself, then what is shown. */
struct plane {
    const struct hpc_contexts *contexts;
    double (*value)[HPC_VALUES];
    uint64_t samples;
};

static void add_sums(struct plane *plane, uint32_t row, const struct profile_sums *sums)
{
    double *value = plane->value[plane->contexts->of_row[row]];
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++)
        value[2 * metric + 1] += metric_value(plane->contexts->rows, sums, metric);
    plane->samples += sums->samples;
}

/* The child that a row in angle brackets is. */
static uint32_t find_pseudo(const struct rows *rows, uint32_t parent, uint64_t code)
{
    for (uint32_t i = parent + 1; i < rows->row[parent].end; i = rows->row[i].end)
        if (rows->row[i].kind == ROW_PSEUDO && strcmp(rows->row[i].label->name, row_pseudo_name(code)) == 0)
            return i;
    return parent;
}

static void add_before_start(struct plane *plane, const struct profile *profile)
{
    const struct rows *rows = plane->contexts->rows;
    if (!profile->header.before_start_ns)
        return;
    struct profile_sums no_core, sums = profile_sums_before_start(&profile->header, &no_core);
    uint32_t row = find_pseudo(rows, 0, PROFILE_PSEUDO_BEFORE_START);
    add_sums(plane, row, &sums);
    if (no_core.no_core > 0)
        add_sums(plane, find_pseudo(rows, row, PROFILE_PSEUDO_NO_CORE), &no_core);
}

/* merged: by node of `profile` the node of the rows' profile. */
static void add_nodes(struct plane *plane, const struct profile *profile, const uint32_t *merged)
{
    const struct rows *rows = plane->contexts->rows;
    for (size_t i = 0; i < profile->node_count; i++) {
        uint32_t node = merged ? merged[i] : (uint32_t)i;
        if (profile->nodes[i].kind == PROFILE_NODE_WAITERS) /* its parent has it */
            continue;
        uint32_t row = rows->node_row[node] != ROW_NONE ? rows->node_row[node] : rows->node_context[node];
        if (row != ROW_NONE) /* else there is nothing in it, nor below it */
            add_sums(plane, row, &profile->nodes[i].metric);
    }
    add_before_start(plane, profile);
}

/* Children have larger numbers than their parents. What lines have themselves is their function's as well. */
static void sum_up(struct plane *plane)
{
    for (size_t c = 0; c < plane->contexts->count; c++)
        for (size_t v = 0; v < HPC_VALUES; v += 2)
            plane->value[c][v] = plane->value[c][v + 1];
    for (size_t c = plane->contexts->count; c-- > HPC_ENTRY;) {
        const struct hpc_context *context = &plane->contexts->context[c];
        for (size_t v = 0; v < HPC_VALUES; v += 2) {
            plane->value[context->parent][v] += plane->value[c][v];
            if (hpc_is_line(context))
                plane->value[context->parent][v + 1] += plane->value[c][v + 1];
        }
    }
}

static void put_values(struct hpc_file *file, const struct plane *plane, struct hpc_profile_info *info)
{
    hpc_align(file, 8);
    info->values = file->at;
    for (size_t c = 0; c < plane->contexts->count; c++) {
        uint64_t before = info->value_count;
        for (uint16_t v = 0; v < HPC_VALUES; v++) {
            struct hpc_value value = {v, plane->value[c][v]};
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
    for (uint32_t c = 0; c < plane->contexts->count; c++) {
        uint64_t count = 0;
        for (size_t v = 0; v < HPC_VALUES; v++)
            count += plane->value[c][v] != 0;
        of.context = c;
        if (count)
            hpc_put(file, &of, sizeof of);
        of.first += count;
    }
}

static void put_plane(struct hpc_file *file, struct plane *plane, const struct profile *profile, const uint32_t *merged, struct hpc_profile_info *info)
{
    memset(plane->value, 0, plane->contexts->count * sizeof *plane->value);
    plane->samples = 0;
    add_nodes(plane, profile, merged);
    sum_up(plane);
    put_values(file, plane, info);
}

static uint32_t *find_node(struct pair_map *map, uint32_t parent, const struct merged_node *node)
{
    return pair_map_slot(map, (uint64_t)parent << 8 | node->kind, node->key);
}

/* What a thread has, all have: nodes are the same by what leads to them. */
static uint32_t *match_nodes(struct pair_map *map, const struct profile *thread)
{
    uint32_t *merged = memory_array(thread->node_count, sizeof *merged);
    for (uint32_t i = 1; i < thread->node_count; i++) {
        const struct merged_node *node = &thread->nodes[i];
        uint32_t *slot = find_node(map, merged[node->parent], node);
        if (*slot == PAIR_MAP_NEW)
            *slot = merged[node->parent];
        merged[i] = *slot;
    }
    return merged;
}

/* By whom a tree's samples are: the thread that has it, or had it first; time before the start is the first initial thread's. */
static size_t *tree_threads(const struct profile *profile, size_t *count)
{
    size_t *threads = memory_array(profile->thread_count, sizeof *threads);
    struct pair_map seen = {0};
    *count = 0;
    for (int initial = 1; initial >= 0; initial--)
        for (size_t i = 0; i < profile->thread_count; i++) {
            const struct profile_thread *thread = &profile->threads[i];
            if ((thread->kind == PROFILE_THREAD_INITIAL) != initial || !thread->tree)
                continue;
            uint32_t *slot = pair_map_slot(&seen, thread->tree, 0);
            if (*slot == PAIR_MAP_NEW)
                threads[(*count)++] = i;
            *slot = 0;
        }
    pair_map_free(&seen);
    return threads;
}

/* Whether the file says which samples are whose. */
static bool threads_are_known(const struct profile *profile)
{
    bool known = profile->path && !profile->header.merged && !profile->tree && profile->thread_count;
    for (size_t i = 0; i < profile->thread_count && known; i++)
        known = profile->threads[i].tree || !profile->threads[i].recorded;
    return known;
}

/* The file is read once for each thread: in memory is one thread's tree. */
static bool put_threads(struct hpc_file *file, struct plane *plane, const struct profile *profile, const size_t *threads, struct hpc_profiles *profiles,
                        uint64_t *lost)
{
    struct pair_map map = {0};
    char error[1024];
    for (uint32_t i = 1; i < profile->node_count; i++)
        *find_node(&map, profile->nodes[i].parent, &profile->nodes[i]) = i;
    bool good = true;
    for (size_t i = 1; i < profiles->count && good; i++) {
        struct profile *thread = profile_read_thread(profile->path, threads[i - 1], error, sizeof error);
        good = thread != NULL;
        if (!good) {
            errno = EIO;
            break;
        }
        uint32_t *merged = match_nodes(&map, thread);
        put_plane(file, plane, thread, merged, &profiles->info[i]);
        *lost -= plane->samples < *lost ? plane->samples : *lost;
        free(merged);
        profile_free(thread);
    }
    pair_map_free(&map);
    return good;
}

static void put_id_tuple(struct hpc_file *file, const struct profile *profile, size_t thread)
{
    struct id ids[3] = {{.kind = KIND_NODE}};
    uint64_t count = 1;
    if (profile->header.ranks && !profile->header.merged)
        ids[count++] = (struct id){.kind = KIND_RANK, .logical = profile->header.rank, .physical = profile->header.rank};
    if (thread != NO_THREAD)
        ids[count++] = (struct id){.kind = KIND_THREAD, .logical = (uint32_t)thread, .physical = thread};
    hpc_put(file, &count, sizeof count);
    hpc_put(file, ids, count * sizeof *ids);
}

static bool finish(struct hpc_file *file, const struct profile *profile, const size_t *threads, struct hpc_profiles *profiles)
{
    hpc_align(file, 8);
    struct hpc_section tuples = {.at = file->at};
    for (size_t i = 1; i < profiles->count; i++) {
        profiles->info[i].id_tuple = file->at;
        put_id_tuple(file, profile, threads ? threads[i - 1] : NO_THREAD);
    }
    tuples.bytes = file->at - tuples.at;
    struct hpc_section infos = {.at = file->at, .bytes = INFOS_BYTES + profiles->count * INFO_BYTES};
    const uint64_t head[] = {infos.at + INFOS_BYTES, (uint64_t)INFO_BYTES << 32 | profiles->count};
    hpc_put(file, head, sizeof head);
    hpc_put(file, profiles->info, profiles->count * INFO_BYTES);
    const struct hpc_section sections[] = {infos, tuples};
    return hpc_close(file, "prof", sections, 2, "_prof.db");
}

bool hpc_write_profiles(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts, struct hpc_profiles *profiles,
                        uint64_t *lost)
{
    struct hpc_file file;
    if (!hpc_open(&file, directory, "profile.db", 2))
        return false;
    size_t count = 1;
    size_t *threads = threads_are_known(profile) ? tree_threads(profile, &count) : NULL;
    profiles->count = 1 + count;
    profiles->info = memory_array(profiles->count, sizeof *profiles->info);
    profiles->info[0].flags = IS_SUMMARY;
    struct plane plane = {.contexts = contexts, .value = memory_array(contexts->count, sizeof *plane.value)};
    put_plane(&file, &plane, profile, NULL, &profiles->info[0]);
    *lost = threads ? plane.samples : 0;
    bool good = true;
    if (threads)
        good = put_threads(&file, &plane, profile, threads, profiles, lost);
    else
        put_values(&file, &plane, &profiles->info[1]);
    free(plane.value);
    good = finish(&file, profile, threads, profiles) && good;
    int why = errno;
    free(threads);
    errno = why;
    return good;
}
