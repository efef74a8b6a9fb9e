#include "blame/attribute.h"

#include "blame/account.h"

bool attribute_blame(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                     uint64_t time_ns)
{
    struct profile_metric *metric = attribute_lock_at(tree, node_idx, lock_key);
    if (!metric)
        return false;
    account_blame(metric, blame);
    attribute_time(
        tree, node_idx, time_ns,
        (struct profile_time_value){0, (float)blame->inverse_busy, (float)blame->shared_idle, (float)blame->lock_wait});
    return true;
}

void attribute_held(struct tree *tree, const struct state_line *line, uint32_t node_idx, uint64_t time_ns)
{
    uint32_t own_line = state_line_number(line);
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++) {
        uint64_t key = line->held[i];
        struct lock_blame blame;
        uint32_t holder = directed_is_for_any_holder(key) ? DIRECTED_ANY_HOLDER : own_line;
        /* A thread that waits until another one releases its lock leaves the blame to that one. */
        if (likely(!key || !directed_waiting(key, holder)) || state_awaits_own(line, key))
            continue;
        if (attribute_lock_at(tree, node_idx, key) && directed_take(key, holder, &blame))
            attribute_blame(tree, node_idx, key, &blame, time_ns);
    }
}

bool attribute_is_held(const struct state_line *line)
{
    uint32_t own_line = state_line_number(line), slot = 0;
    while (slot < STATE_HELD_LOCKS && (!line->held[slot] || !directed_waiting(line->held[slot], own_line)))
        slot++;
    return slot < STATE_HELD_LOCKS;
}

/* Splits the idleness of other threads during this thread's share of a worksharing construct, by the kind of
 * construct and its number of pieces. */
static void idle_add_work_share(struct profile_idle *idle, double ns, const struct work_share *share)
{
    if (share->kind == SHARE_SINGLE) {
        idle->single += ns;
        return;
    }
    if (share->kind == SHARE_DYNAMIC)
        idle->dynamic += ns;
    if (share->pieces > 0) {
        idle->loops += ns;
        if (share->kind == SHARE_SECTIONS)
            idle->sections += ns;
        idle->scarcity += ns * share->team / share->pieces;
    }
}

void attribute_places(struct tree *tree, uint32_t node_idx, double each, const struct waiting_places *places,
                      const struct work_share *share)
{
    for (uint32_t i = 0; i < places->count; i++) {
        uint32_t threads = places->threads[i];
        uint32_t child = tree_child(tree, node_idx, PROFILE_NODE_WAITERS, places->place[i]);
        struct profile_idle *idle = (struct profile_idle *)attribute_at(tree, child);
        if (!idle)
            continue;
        idle->shared_idle += each * threads;
        if (share->kind != SHARE_NONE)
            idle_add_work_share(idle, each * threads, share);
    }
}

double attribute_cores(struct tree *tree, uint32_t node_idx, double p, struct census census, bool runs, uint32_t cores)
{
    uint32_t running = census.busy - census.asleep + census.ended;
    if (!runs && running)
        return 0;
    if (!running)
        node_idx = tree_child(tree, tree->root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_THREAD_RAN);
    uint32_t child = node_idx ? tree_child(tree, node_idx, PROFILE_NODE_CORES, 0) : 0;
    struct profile_cores *sums = (struct profile_cores *)attribute_at(tree, child);
    if (!sums)
        return 0;
    double before = sums->idle;
    if (running)
        account_cores(sums, p, running, cores);
    else
        sums->idle += p * cores / census.asleep;
    double added = sums->idle - before;
    sums->squares += added * added / p;
    return added;
}

/* In `ordered`, the thread whose turn it is counts as the holder, even if it is far from its section. A lock of POSIX
 * threads is held until its release. */
bool attribute_waiting(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                       uint32_t holder, uint64_t time_ns)
{
    if (directed_is_for_any_holder(lock_key))
        holder = DIRECTED_ANY_HOLDER;
    if (directed_add(lock_key, holder, blame))
        return true;
    uint32_t row_idx = tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TABLE_FULL);
    return attribute_blame(tree, row_idx, directed_lock_of(lock_key), blame, time_ns);
}

bool attribute_handover(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                        bool no_core, uint64_t time_ns)
{
    uint64_t name = no_core ? PROFILE_PSEUDO_NO_CORE : PROFILE_PSEUDO_HANDOFF;
    uint32_t row_idx = node_idx ? tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, name) : 0;
    return attribute_blame(tree, row_idx, lock_key, blame, time_ns);
}

void attribute_rest(struct tree *tree, uint64_t time_ns)
{
    struct lock_blame blame;
    uint64_t key;
    uint32_t holder;
    for (uint32_t cursor = 0; directed_take_rest(&cursor, &key, &holder, &blame);) {
        key = directed_lock_of(key);
        bool held = contended_is_posix(key) || state_holds(holder, key);
        uint64_t name = held ? PROFILE_PSEUDO_UNRELEASED : PROFILE_PSEUDO_HANDOFF;
        uint32_t row_idx = tree_child(tree, tree->root, PROFILE_NODE_PSEUDO, name);
        attribute_blame(tree, row_idx, key, &blame, time_ns);
    }
}
