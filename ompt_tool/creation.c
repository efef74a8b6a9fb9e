#include "ompt_tool/creation.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/os.h"
#include "ompt_tool/capture.h"
#include "ompt_tool/session.h"
#include "ompt_tool/thread.h"

#define MEMO_SETS 64u
#define MEMO_WAYS 4u

/* One path that was walked: where on the stack its return addresses lie, counted from the runtime's frame,
 * and what they are. The same addresses in the same places are the same path. */
struct creation_memo {
    uintptr_t codeptr; /* 0: empty */
    uint32_t creator, context;
    uint32_t bytes; /* of stack between the runtime's frame and the creating task's first */
    uint32_t count;
    uint32_t offset[CAPTURE_SLOTS];
    uintptr_t address[CAPTURE_SLOTS];
};

/* The creating task's part of the stack. */
struct span {
    uintptr_t low, high;
};

/* False when the runtime's addresses are not on this stack, or stale. */
static bool find_span(const struct thread *thread, const ompt_frame_t *frame, struct span *span)
{
    if (!frame)
        return false;
    span->low = (uintptr_t)frame->enter_frame.ptr;
    span->high = (uintptr_t)frame->exit_frame.ptr;
    if (!span->high)
        span->high = thread->unwinder.own_stack_high;
    return span->low % sizeof(uintptr_t) == 0 && span->low >= (uintptr_t)__builtin_frame_address(0) &&
           span->high > span->low && span->high <= thread->unwinder.own_stack_high &&
           span->high - span->low <= UINT32_MAX;
}

/* The set of places where such a path may be kept. */
static struct creation_memo *memo_set(struct thread *thread, uint32_t creator, const struct span *span,
                                      uintptr_t codeptr)
{
    if (unlikely(!thread->memos)) {
        thread->memos = os_map(MEMO_SETS * MEMO_WAYS * sizeof(struct creation_memo));
        if (!thread->memos)
            return NULL;
    }
    uint64_t h = (codeptr ^ (span->high - span->low) << 20 ^ (uint64_t)creator << 36) * 0x9e3779b97f4a7c15ull;
    return &thread->memos[(h >> 40) % MEMO_SETS * MEMO_WAYS];
}

static inline uintptr_t word_at(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

static bool is_same_path(const struct creation_memo *memo, uint32_t creator, const struct span *span,
                         uintptr_t codeptr)
{
    if (memo->codeptr != codeptr || memo->creator != creator || memo->bytes != span->high - span->low)
        return false;
    for (uint32_t i = 0; i < memo->count; i++)
        if (word_at(span->low + memo->offset[i]) != memo->address[i])
            return false;
    return true;
}

/* Keeps the path just walked, if all of its return addresses are in the span and were noted. */
static void remember(struct creation_memo *memo, const struct capture_creation *walk, const struct span *span,
                     uint32_t creator, uintptr_t codeptr, uint32_t context)
{
    uint32_t count = 0;
    memo->codeptr = 0;
    if (!walk->current_task || walk->slot_count > CAPTURE_SLOTS)
        return;
    for (uint32_t i = 0; i < walk->slot_count; i++) {
        uintptr_t slot = walk->slot[i];
        if (slot < span->low || slot >= span->high)
            continue; /* the tool's own frames, and those outside the task */
        memo->offset[count] = (uint32_t)(slot - span->low);
        memo->address[count++] = word_at(slot);
    }
    if (count == 0 || memo->address[0] != codeptr)
        return; /* the runtime's frame is not where it says */
    memo->count = count;
    memo->creator = creator;
    memo->context = context;
    memo->bytes = (uint32_t)(span->high - span->low);
    memo->codeptr = codeptr;
}

/* The walked path (thread->path) below the creator's context. */
static uint32_t intern(struct thread *thread, uint32_t creator)
{
    const struct path *path = &thread->path;
    struct tree *tree = &thread->tree;
    size_t length = path->count;
    if (path->count == 0)
        return creator; /* the runtime creates tasks in a task of its own: taskloop */
    for (uint32_t at = creator; at && tree_node(at)->kind != PROFILE_NODE_TRIE; at = tree_node(at)->parent) {
        if (tree_node(at)->kind == PROFILE_NODE_SITE && tree_node(at)->key == path->keys[0])
            return at;
        length++;
    }
    bool too_deep = length > (size_t)session.options.depth;
    thread->ledger->paths_truncated += too_deep || path->truncated;
    if (too_deep)
        return creator;
    uint32_t node_idx = creator ? tree_adopt_trie_path(tree, creator) : tree->trie;
    if (node_idx && path->truncated)
        node_idx = tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TRUNCATED);
    for (size_t i = path->count; i-- > 0 && node_idx;)
        node_idx = tree_child(tree, node_idx, i ? PROFILE_NODE_FRAME : PROFILE_NODE_SITE, path->keys[i]);
    return node_idx;
}

static __attribute__((noinline)) uint32_t walk_creation(struct thread *thread, uint32_t creator,
                                                        struct creation_memo *memo, const struct span *span,
                                                        uintptr_t codeptr)
{
    struct capture_creation walk;
    uint32_t context = 0;
    if (!thread_enter_tool(thread))
        return 0;
    capture_creation(thread, &walk);
    context = intern(thread, walk.creator);
    if (memo && context)
        remember(memo, &walk, span, creator, codeptr, context);
    thread->ledger->creation_walks++;
    thread->ledger->creations_lost += context == 0;
    thread_leave_tool(thread);
    return context;
}

uint32_t creation_context(struct thread *thread, uint32_t creator, const ompt_frame_t *frame,
                          uintptr_t codeptr)
{
    struct span span;
    struct creation_memo *memo = NULL;
    if (likely(codeptr && find_span(thread, frame, &span))) {
        memo = memo_set(thread, creator, &span, codeptr);
        for (uint32_t way = 0; memo && way < MEMO_WAYS; way++)
            if (is_same_path(&memo[way], creator, &span, codeptr))
                return memo[way].context;
    }
    if (memo)
        memo += thread->ledger->creation_walks % MEMO_WAYS; /* the next to be given up */
    return walk_creation(thread, creator, memo, &span, codeptr);
}
