#include "command/profile/probes.h"

#include <stdlib.h>
#include <string.h>

#include "cct/sums.h"
#include "command/text/memory.h"

#define NAMES_PER_CHUNK ((PROFILE_CHUNK_BYTES - PROFILE_NAME_BYTES) / PROFILE_NAME_BYTES)

/* Splits the text stored under "counters", with one name per line, into the counters' names. */
static void profile_read_counter_names(struct profile *profile)
{
    const char *text = profile_text(profile, "counters");
    profile->counter_text = memory_text("%s", text ? text : "");
    for (char *at = profile->counter_text; *at && profile->counter_count < PROFILE_COUNTERS;) {
        size_t bytes = strcspn(at, "\n");
        bool last = at[bytes] == '\0';
        at[bytes] = '\0';
        profile->counter_name[profile->counter_count++] = at;
        at += bytes + !last;
    }
}

void profile_read_names(const struct profile_chunks *chunks, struct profile *profile)
{
    size_t room = 0;
    for (uint32_t n = 0; n < chunks->count; n++)
        room += profile_chunk_kind(chunks, n) == PROFILE_CHUNK_NAME ? NAMES_PER_CHUNK : 0;
    profile->names = memory_array(room, sizeof *profile->names);
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) != PROFILE_CHUNK_NAME)
            continue;
        const struct profile_name *from = (const struct profile_name *)chunk + 1;
        for (uint32_t i = 0; i < chunk->used && i < NAMES_PER_CHUNK; i++, from++) {
            struct profile_name *name = &profile->names[profile->name_count++];
            *name = *from;
            name->text[sizeof name->text - 1] = '\0';
        }
    }
    profile_read_counter_names(profile);
}

/* Makes room for one more record in a list whose capacity is always a power of two. */
static void *profile_grow_list(void *list, size_t count, size_t bytes)
{
    bool full = (count & (count - 1)) == 0;
    return full ? memory_check(reallocarray(list, count ? 2 * count : 1, bytes)) : list;
}

static const struct profile_counters *profile_counters_at(const struct profile_chunks *chunks,
                                                          const struct profile_node *node)
{
    return node->metric ? (const void *)profile_metric_at(chunks, node->metric) : NULL;
}

static bool profile_counters_sane(const struct profile_counters *counters)
{
    for (size_t i = 0; i < PROFILE_COUNTERS; i++)
        if (!profile_number_sane(counters->value[i]))
            return false;
    return true;
}

static bool profile_probe_sane(const struct profile_probe *probe)
{
    const double times[] = {probe->inclusive_ns, probe->exclusive_ns, probe->shortest_ns, probe->longest_ns};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!profile_number_sane(times[i]) || times[i] < 0)
            return false;
    return probe->sum_of_squares >= 0 && probe->sum_of_squares <= 1e48;
}

/* Returns the merged node into which a node of the file was merged; UINT32_MAX if there is none. */
static uint32_t profile_merged_node_of(const struct profile_chunks *chunks, const uint32_t *node_map, uint32_t node_idx)
{
    if (!profile_node_at(chunks, node_idx) || node_map[node_idx] < PROFILE_MAP_MERGED)
        return UINT32_MAX;
    return node_map[node_idx] - PROFILE_MAP_MERGED;
}

static const char *profile_add_probe(struct profile *profile, uint32_t node, uint32_t tree,
                                     const struct profile_probe *probe)
{
    if (!profile_probe_sane(probe))
        return "damaged: the time of a phase or event is not a possible value";
    if (probe->calls == 0)
        return NULL;
    profile->probes = profile_grow_list(profile->probes, profile->probe_count, sizeof *profile->probes);
    profile->probes[profile->probe_count++] = (struct merged_probe){.node = node, .tree = tree, .probe = *probe};
    return NULL;
}

static const char *profile_add_counters(struct profile *profile, uint32_t node, const struct profile_counters *counters)
{
    if (!profile_counters_sane(counters))
        return "damaged: the sum of a counter is not a possible value";
    profile->counters = profile_grow_list(profile->counters, profile->counters_count, sizeof *profile->counters);
    profile->counters[profile->counters_count++] = (struct merged_counters){.node = node, .counters = *counters};
    return NULL;
}

/* Returns the number of the tree to which a probe belongs. In a merged file, the probe itself stores the
 * number, because a chunk has the probes of all ranks. */
static uint32_t profile_probe_tree_of(const struct profile *profile, const struct profile_node *probe, uint32_t owner)
{
    return profile->header.merged && probe->key ? (uint32_t)probe->key : owner;
}

static const char *profile_read_probe_node(const struct profile_chunks *chunks, const uint32_t *node_map,
                                           struct profile *profile, const struct profile_node *node, uint32_t tree)
{
    if (node->kind != PROFILE_NODE_PROBE && node->kind != PROFILE_NODE_COUNTERS)
        return NULL;
    const void *record = node->metric ? profile_metric_at(chunks, node->metric) : NULL;
    uint32_t merged = profile_merged_node_of(chunks, node_map, node->parent);
    if (!record || merged == UINT32_MAX)
        return NULL;
    if (node->kind == PROFILE_NODE_COUNTERS)
        return profile_add_counters(profile, merged, record);
    return profile_kind_is_probe(profile->nodes[merged].kind)
               ? profile_add_probe(profile, merged, profile_probe_tree_of(profile, node, tree), record)
               : NULL;
}

static int profile_compare_probes(const void *left, const void *right)
{
    const struct merged_probe *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->tree > b->tree) - (a->tree < b->tree);
}

static int profile_compare_counters(const void *left, const void *right)
{
    const struct merged_counters *a = left, *b = right;
    return (a->node > b->node) - (a->node < b->node);
}

/* Sorts the probes, and merges the probes of the same node and tree. */
static void profile_merge_probes(struct profile *profile)
{
    size_t kept = 0;
    if (profile->probe_count)
        qsort(profile->probes, profile->probe_count, sizeof *profile->probes, profile_compare_probes);
    for (size_t i = 0; i < profile->probe_count; i++)
        if (kept && profile_compare_probes(&profile->probes[kept - 1], &profile->probes[i]) == 0) {
            sums_add_probe(&profile->probes[kept - 1].probe, &profile->probes[i].probe);
            sums_add_counters(&profile->probes[kept - 1].counters, &profile->probes[i].counters);
        } else {
            profile->probes[kept++] = profile->probes[i];
        }
    profile->probe_count = kept;
}

static void profile_merge_counters(struct profile *profile)
{
    size_t kept = 0;
    if (profile->counters_count)
        qsort(profile->counters, profile->counters_count, sizeof *profile->counters, profile_compare_counters);
    for (size_t i = 0; i < profile->counters_count; i++)
        if (kept && profile->counters[kept - 1].node == profile->counters[i].node)
            sums_add_counters(&profile->counters[kept - 1].counters, &profile->counters[i].counters);
        else
            profile->counters[kept++] = profile->counters[i];
    profile->counters_count = kept;
}

/* Adds the counts of a COUNTERS node below a PROBE node to the probe. They were counted between the probe's
 * begin and end. */
static const char *profile_read_probe_counters(const struct profile_chunks *chunks, const uint32_t *node_map,
                                               struct profile *profile, const struct profile_node *node, uint32_t tree)
{
    const struct profile_node *parent =
        node->kind == PROFILE_NODE_COUNTERS ? profile_node_at(chunks, node->parent) : NULL;
    const struct profile_counters *counters = profile_counters_at(chunks, node);
    if (!parent || !counters || parent->kind != PROFILE_NODE_PROBE || profile->probe_count == 0)
        return NULL;
    struct merged_probe wanted = {.node = profile_merged_node_of(chunks, node_map, parent->parent),
                                  .tree = profile_probe_tree_of(profile, parent, tree)};
    struct merged_probe *probe =
        bsearch(&wanted, profile->probes, profile->probe_count, sizeof wanted, profile_compare_probes);
    if (!profile_counters_sane(counters))
        return "damaged: the sum of a counter is not a possible value";
    if (probe)
        sums_add_counters(&probe->counters, counters);
    return NULL;
}

typedef const char *read_function(const struct profile_chunks *chunks, const uint32_t *node_map,
                                  struct profile *profile, const struct profile_node *node, uint32_t tree);

static const char *profile_read_probe_nodes(const struct profile_chunks *chunks, const uint32_t *node_map,
                                            struct profile *profile, read_function *read)
{
    const char *wrong = NULL;
    for (uint32_t n = 0; n < chunks->count && !wrong; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (!profile_chunk_may_have(chunks, n,
                                    PROFILE_KIND_BIT(PROFILE_NODE_PROBE) | PROFILE_KIND_BIT(PROFILE_NODE_COUNTERS)))
            continue;
        for (uint32_t unit = 1; unit < chunk->used && unit < PROFILE_UNITS_PER_CHUNK && !wrong; unit++)
            wrong = read(chunks, node_map, profile, (const struct profile_node *)chunk + unit, chunk->owner);
    }
    return wrong;
}

void profile_join_probes(struct profile *profile)
{
    profile_merge_probes(profile);
    profile_merge_counters(profile);
}

const char *profile_read_probes(const struct profile_chunks *chunks, const uint32_t *node_map, struct profile *profile)
{
    const char *wrong = profile_read_probe_nodes(chunks, node_map, profile, profile_read_probe_node);
    if (wrong)
        return wrong;
    profile_join_probes(profile);
    return profile->probe_count ? profile_read_probe_nodes(chunks, node_map, profile, profile_read_probe_counters)
                                : NULL;
}
