/* The rules of this house: as in sampler.c; lock_waits_name_critical() alone runs outside the handler. */
#include "ompt_tool/locks/lock_waits.h"

#include "base/atomics.h"
#include "ompt_tool/locks/critical_names.h"
#include "ompt_tool/locks/lock_names.h"

static bool is_user_lock(uint64_t lock_key)
{
    uint32_t kind = PROFILE_LOCK_KEY_KIND(lock_key);
    return kind == PROFILE_LOCK_LOCK || kind == PROFILE_LOCK_NEST_LOCK;
}

/* The call as a PROFILE_KEY; 0: none is known. */
static uint64_t initialiser_key(uint64_t lock_key)
{
    return is_user_lock(lock_key) ? lock_names_initialiser(PROFILE_LOCK_KEY_ID(lock_key)) : 0;
}

static struct profile_waits *record_of(struct thread *thread, uint64_t lock_key)
{
    uint64_t initialiser = initialiser_key(lock_key);
    uint32_t node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_WAITS, lock_key);
    if (node_idx && initialiser)
        node_idx = tree_child(&thread->tree, node_idx, PROFILE_NODE_INITIALISER, initialiser);
    return node_idx ? (struct profile_waits *)tree_metric(&thread->tree, node_idx) : NULL;
}

void lock_waits_sample(struct thread *thread, uint64_t lock_key, double p)
{
    struct profile_waits *waits = record_of(thread, lock_key);
    if (!waits)
        return;
    if (waits->waits == 0 || waits->last_wait != thread->line->acquisitions) {
        waits->last_wait = thread->line->acquisitions;
        waits->last_ns = 0;
        waits->waits++;
    }
    waits->last_ns += p;
    waits->sum_ns += p;
    if (waits->last_ns > waits->longest_ns)
        waits->longest_ns = waits->last_ns;
    if (!waits->searched && PROFILE_LOCK_KEY_KIND(lock_key) == PROFILE_LOCK_CRITICAL)
        thread->unnamed_critical = lock_key;
}

/* After the release, so that nobody waits for this. */
void lock_waits_name_critical(struct thread *thread, uint64_t lock_key)
{
    thread->unnamed_critical = 0;
    if (!thread_enter_tool(thread))
        return;
    uint64_t variable;
    bool searched = critical_names_find(PROFILE_LOCK_KEY_ID(lock_key), &variable);
    struct profile_waits *waits = searched ? record_of(thread, lock_key) : NULL;
    if (waits)
        waits->searched = 1;
    if (waits && variable)
        tree_child(&thread->tree, tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_WAITS, lock_key),
                   PROFILE_NODE_VARIABLE, variable);
    thread_leave_tool(thread);
}
