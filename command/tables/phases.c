#include "command/tables/phases.h"

#include <math.h>
#include <stdlib.h>

#include "cct/profile_tree.h"
#include "cct/sums.h"
#include "command/profile/pair_map.h"
#include "command/rows/make.h"
#include "command/tables/conservation.h"
#include "command/tables/ranks.h"
#include "command/tables/threads.h"
#include "command/text/memory.h"

struct phase_gathering {
    const struct profile *profile;
    struct phase_table *table;
    size_t room;
    struct pair_map entries; /* maps (name and kind, number of the execution) to the index of the entry */
    /* for each merged node, the closest phase or instance node around it; 0: none */
    uint32_t *owner;
    bool *numbered;             /* for each merged node, whether it is a phase with numbered executions */
    struct profile_sums *below; /* for each merged node, its inclusive sums */
};

bool phases_any(const struct profile *profile)
{
    for (size_t i = 0; i < profile->name_count; i++)
        if (profile->names[i].kind == PROFILE_NODE_PHASE)
            return true;
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_PHASE)
            return true;
    return false;
}

static uint32_t phases_find_entry(struct phase_gathering *to, uint32_t name, enum phase_instance is, uint64_t instance)
{
    struct phase_table *table = to->table;
    uint32_t *slot = pair_map_slot(&to->entries, (uint64_t)name << 2 | is, instance);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    memory_grow(&table->entry, &to->room, table->count, sizeof *table->entry);
    *slot = (uint32_t)table->count++;
    table->entry[*slot] =
        (struct phase_entry){.name = name, .is = is, .instance = instance, .thread = PHASE_THREAD_NONE};
    return *slot;
}

/* Returns the index of the entry for a phase or instance node. Node 0 is the whole program. */
static uint32_t phase_entry_of(struct phase_gathering *to, uint32_t node_idx)
{
    const struct merged_node *node = &to->profile->nodes[node_idx];
    if (node_idx == 0)
        return 0;
    if (node->kind != PROFILE_NODE_INSTANCE)
        return phases_find_entry(to, (uint32_t)node->key, PHASE_STATIC, 0);
    uint32_t name = (uint32_t)to->profile->nodes[node->parent].key;
    bool others = node->key == PROFILE_INSTANCE_REST;
    return phases_find_entry(to, name, others ? PHASE_OTHERS : PHASE_NUMBERED, others ? 0 : node->key);
}

enum nesting { OUTERMOST, INSIDE_PHASE, INSIDE_ITSELF };

/* Returns what contains the entry of a phase node: another execution of the same phase, another context of
 * the same entry, or neither. */
static enum nesting phase_nesting_of(struct phase_gathering *to, uint32_t owner, uint32_t entry)
{
    enum nesting found = OUTERMOST;
    uint32_t at = to->owner[to->profile->nodes[owner].parent];
    for (unsigned level = 0; at && level < 1000; level++) {
        uint32_t above = to->numbered[at] ? 0 : phase_entry_of(to, at);
        if (above == entry)
            return INSIDE_ITSELF;
        if (to->table->entry[above].name == to->table->entry[entry].name)
            found = INSIDE_PHASE;
        at = to->owner[to->profile->nodes[at].parent];
    }
    return found;
}

static void phases_find_owners(struct phase_gathering *to)
{
    const struct profile *profile = to->profile;
    for (uint32_t i = 1; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        bool phase = node->kind == PROFILE_NODE_PHASE || node->kind == PROFILE_NODE_INSTANCE;
        to->owner[i] = phase ? i : to->owner[node->parent];
        if (node->kind == PROFILE_NODE_INSTANCE)
            to->numbered[node->parent] = true;
    }
}

/* Returns whether a node's samples are to be counted. The samples of a WAITERS node are already contained in
 * its parent's. */
static bool phases_node_has_samples(const struct merged_node *node)
{
    return node->kind != PROFILE_NODE_WAITERS && !rows_sums_are_zero(&node->metric);
}

static void phases_add_samples(struct phase_gathering *to)
{
    const struct profile *profile = to->profile;
    for (uint32_t i = (uint32_t)profile->node_count; i-- > 0;) {
        const struct merged_node *node = &profile->nodes[i];
        if (phases_node_has_samples(node)) {
            uint32_t entry = phase_entry_of(to, to->owner[i]);
            profile_sums_add(&to->below[i], &node->metric);
            profile_sums_add(&to->table->entry[entry].exclusive, &node->metric);
        }
        if (i)
            profile_sums_add(&to->below[node->parent], &to->below[i]);
    }
    for (uint32_t i = 1; i < profile->node_count; i++) {
        if (to->owner[i] != i || to->numbered[i] || rows_sums_are_zero(&to->below[i]))
            continue;
        uint32_t index = phase_entry_of(to, i);
        enum nesting nesting = phase_nesting_of(to, i, index);
        struct phase_entry *entry = &to->table->entry[index];
        if (nesting != INSIDE_ITSELF)
            profile_sums_add(&entry->inclusive, &to->below[i]);
        if (nesting == OUTERMOST)
            profile_sums_add(&entry->outer, &to->below[i]);
    }
}

/* Returns the index of the thread that used a tree at a given time. When a thread has ended, another thread
 * may use its tree. */
static uint32_t phases_thread_of_tree(const struct profile *profile, uint32_t tree, uint64_t time_ns)
{
    uint32_t found = PHASE_THREAD_NONE;
    /* the trees of a merged job belong to no thread */
    for (uint32_t i = 0; i < profile->thread_count && !profile->header.merged; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->tree != tree)
            continue;
        if (found == PHASE_THREAD_NONE || thread->begin_ns <= time_ns)
            found = i; /* the last match is the right one, because threads are sorted by their start */
    }
    return found;
}

static void phases_add_probes(struct phase_gathering *to)
{
    const struct profile *profile = to->profile;
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        const struct merged_node *node = &profile->nodes[probe->node];
        if (node->kind != PROFILE_NODE_PHASE && node->kind != PROFILE_NODE_INSTANCE)
            continue;
        uint32_t index = phase_entry_of(to, probe->node);
        enum nesting nesting = phase_nesting_of(to, probe->node, index);
        struct phase_entry *entry = &to->table->entry[index];
        uint32_t thread = phases_thread_of_tree(profile, probe->tree, probe->probe.first_begin_ns);
        if (entry->thread == PHASE_THREAD_NONE)
            entry->thread = thread;
        else if (thread != entry->thread && thread != PHASE_THREAD_NONE)
            entry->thread = PHASE_THREAD_MANY;
        sums_add_probe(&entry->probe, &probe->probe);
        if (nesting == OUTERMOST) {
            entry->outer_ns += probe->probe.inclusive_ns;
            sums_add_counters(&entry->outer_counters, &probe->counters);
        }
        if (nesting == INSIDE_ITSELF)
            continue;
        entry->exact_ns += probe->probe.inclusive_ns;
        sums_add_counters(&entry->counters, &probe->counters);
    }
}

/* Returns the program as a phase with one execution by one thread, from which pauses are subtracted. */
static struct profile_probe phase_of_program(const struct profile *profile)
{
    const struct profile_header *header = &profile->header;
    double wall = fmax(profile_wall_s(profile) * 1e9 - (double)header->paused_ns, 0);
    return (struct profile_probe){.calls = 1,
                                  .inclusive_ns = wall,
                                  .exclusive_ns = wall,
                                  .shortest_ns = wall,
                                  .longest_ns = wall,
                                  .sum_of_squares = wall * wall,
                                  .first_begin_ns = header->start_ns};
}

/* Returns a job as a phase with one execution for each rank, from which the mean pause of the ranks is
 * subtracted. */
static struct profile_probe phase_of_job(const struct profile *profile)
{
    struct profile_probe all = {0};
    double paused = (double)profile->header.paused_ns / fmax(profile->header.merged, 1);
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        if (!rank_counts(rank))
            continue;
        double wall = fmax((double)(int64_t)(rank->end_ns - rank->begin_ns) - paused, 0);
        struct profile_probe one = {.calls = 1,
                                    .inclusive_ns = wall,
                                    .exclusive_ns = wall,
                                    .shortest_ns = wall,
                                    .longest_ns = wall,
                                    .sum_of_squares = wall * wall,
                                    .first_begin_ns = rank->begin_ns,
                                    .last_end_ns = rank->end_ns};
        sums_add_probe(&all, &one);
    }
    return all.calls ? all : phase_of_program(profile);
}

static void phases_add_program(struct phase_gathering *to, const struct rows *rows)
{
    struct phase_entry *program = &to->table->entry[0];
    const struct profile_header *header = &to->profile->header;
    struct profile_sums no_core, before = profile_sums_before_start(header, &no_core);
    program->probe = header->merged ? phase_of_job(to->profile) : phase_of_program(to->profile);
    program->thread = !to->profile->thread_count ? PHASE_THREAD_NONE : program->probe.calls > 1 ? PHASE_THREAD_MANY : 0;
    program->exact_ns = program->outer_ns = program->probe.inclusive_ns;
    program->inclusive = program->outer = *rows_whole(rows);
    profile_sums_add(&program->exclusive, &before);
    profile_sums_add(&program->exclusive, &no_core);
}

static int phases_compare_entries(const void *left, const void *right)
{
    const struct phase_entry *a = left, *b = right;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->is != b->is)
        return a->is < b->is ? -1 : 1;
    int64_t x = (int64_t)a->instance, y = (int64_t)b->instance;
    return (x > y) - (x < y);
}

static int phases_compare_groups(const void *left, const void *right)
{
    const struct phase_group *a = left, *b = right;
    if (a->exact_ns != b->exact_ns)
        return a->exact_ns > b->exact_ns ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

/* Makes the groups from the entries, which must be sorted by name. */
static void phases_make_groups(struct phase_table *table)
{
    table->group = memory_array(table->count, sizeof *table->group);
    for (size_t i = 0; i < table->count; i++) {
        const struct phase_entry *entry = &table->entry[i];
        if (i == 0 || entry->name != table->entry[i - 1].name)
            table->group[table->group_count++] = (struct phase_group){.name = entry->name, .first_entry = i};
        struct phase_group *group = &table->group[table->group_count - 1];
        group->entry_count++;
        sums_add_probe(&group->probe, &entry->probe);
        group->exact_ns += entry->outer_ns;
        sums_add_counters(&group->counters, &entry->outer_counters);
        profile_sums_add(&group->inclusive, &entry->outer);
        profile_sums_add(&group->exclusive, &entry->exclusive);
    }
    qsort(table->group + 1, table->group_count - 1, sizeof *table->group, phases_compare_groups);
}

struct phase_table *phases_gather(const struct profile *profile, const struct rows *rows)
{
    struct phase_table *table = memory_array(1, sizeof *table);
    struct phase_gathering to = {.profile = profile,
                                 .table = table,
                                 .owner = memory_array(profile->node_count, sizeof *to.owner),
                                 .numbered = memory_array(profile->node_count, sizeof *to.numbered),
                                 .below = memory_array(profile->node_count, sizeof *to.below)};
    table->profile = profile;
    phases_find_entry(&to, 0, PHASE_STATIC, 0);
    phases_find_owners(&to);
    phases_add_samples(&to);
    phases_add_probes(&to);
    phases_add_program(&to, rows);
    qsort(table->entry + 1, table->count - 1, sizeof *table->entry, phases_compare_entries);
    phases_make_groups(table);
    pair_map_free(&to.entries);
    free(to.owner);
    free(to.numbered);
    free(to.below);
    return table;
}

void phases_free(struct phase_table *table)
{
    if (!table)
        return;
    free(table->entry);
    free(table->group);
    free(table);
}

const char *phase_name(const struct phase_table *table, uint32_t name)
{
    if (name == 0)
        return "<program>";
    return name <= table->profile->name_count ? table->profile->names[name - 1].text : "<no name>";
}

double phase_mean_s(const struct profile_probe *probe)
{
    return probe->calls ? probe->inclusive_ns / (double)probe->calls * 1e-9 : 0;
}

double phase_deviation_s(const struct profile_probe *probe)
{
    if (probe->calls == 0)
        return 0;
    double mean = probe->inclusive_ns / (double)probe->calls;
    double variance = probe->sum_of_squares / (double)probe->calls - mean * mean;
    return variance > 0 ? sqrt(variance) * 1e-9 : 0;
}
