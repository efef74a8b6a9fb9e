#include "ompt_tool/context/creation.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/creation_memo.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"

/* If the creating task may have an open probe, makes the key's part of the stack end at the innermost probe,
 * and makes the probe's context the creator's context. */
static void creation_key_end_at_probe(const struct thread *thread, struct creation_key *key)
{
    const struct probes *probes = thread->probes;
    const struct probe_open *inner = probes && probes->count ? &probes->open[probes->count - 1] : NULL;
    if (!inner || !inner->context || inner->stack >= key->high)
        return;
    /* The frame that contains the probe's stack pointer is the last one to compare. If key->high is then not
     * above key->low, no kept path fits, and each creation is walked. */
    key->high = inner->stack + sizeof(uintptr_t);
    key->creator = inner->context;
}

/* Sets the key's bounds of the creating task's part of the stack. Returns false if the runtime's addresses
 * are stale, or are not on the thread's stack above the key. */
static bool creation_find_creators_stack(const struct thread *thread, const ompt_frame_t *frame,
                                         struct creation_key *key)
{
    if (!frame)
        return false;
    key->low = (uintptr_t)frame->enter_frame.ptr;
    key->high = (uintptr_t)frame->exit_frame.ptr;
    if (!key->high)
        key->high = thread->unwinder.own_stack_high;
    if (unlikely(thread->probes))
        creation_key_end_at_probe(thread, key);
    return creation_is_on_stack(thread, key);
}

static inline bool creation_is_runtime_code(uintptr_t address)
{
    return address - runtime.code_low < runtime.code_bytes;
}

/* Returns true if the program itself calls the task's code. Programs compiled by Clang do so for a task with
 * if(0), between two calls of the runtime. Such a task has no frame of the runtime, and its exit address is
 * the program's rbp (docs/call-paths.md). In programs compiled by GCC, GOMP_task calls the code, and the exit
 * address is in the frame of GOMP_task. */
static bool creation_program_calls_task_code(const struct thread *thread, const struct creation *creation)
{
    uintptr_t exit;
    if (creation_is_runtime_code(creation->codeptr) || runtime_current_task(&exit) != creation->task)
        return false;
    uintptr_t slot = exit + sizeof(uintptr_t);
    bool on_stack = slot % sizeof(uintptr_t) == 0 && slot > (uintptr_t)__builtin_frame_address(0) &&
                    slot < thread->unwinder.own_stack_high;
    return !on_stack || *(const uintptr_t *)slot != creation->codeptr;
}

/* Each creating call is looked up only once, because the answer depends only on the call. */
bool creation_is_called_by_program(struct thread *thread, const struct creation *creation)
{
    struct creation_call *call = &thread->creation.calls[hash_number(creation->codeptr) >> 32 & (CREATION_CALLS - 1)];
    uint32_t generation = loadmap_generation();
    if (unlikely(call->codeptr != creation->codeptr || call->generation != generation)) {
        call->by_program = creation_program_calls_task_code(thread, creation);
        call->codeptr = creation->codeptr;
        call->generation = generation;
    }
    return call->by_program;
}

/* Returns the context that is common to all tasks created more than BLAME_DEPTH frames below this creator.
 * Only the outer part of their paths is known. */
static uint32_t creation_cut_below(struct tree *tree, uint32_t creator)
{
    const struct profile_node *node = tree_node(creator);
    bool is_cut = node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_TRUNCATED;
    if (is_cut && tree_node(node->parent)->kind != PROFILE_NODE_TRIE)
        return creator;
    creator = tree_adopt_trie_path(tree, creator);
    return creator ? tree_child(tree, creator, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TRUNCATED) : 0;
}

/* Returns the trie node of the walked path (thread->path) below the creator's context. */
static uint32_t creation_intern_path(struct thread *thread, uint32_t creator)
{
    const struct path *path = &thread->path;
    struct tree *tree = &thread->tree;
    size_t length = path->count;
    if (path->count == 0)
        /* the path has no frames, because the runtime creates these tasks in a task of its own (taskloop) */
        return creator;
    for (uint32_t at = creator; at && tree_node(at)->kind != PROFILE_NODE_TRIE; at = tree_node(at)->parent) {
        if (tree_node(at)->kind == PROFILE_NODE_SITE && tree_node(at)->key == path->keys[0])
            return at;
        length++;
    }
    /* this leaves at least one level for the row that marks the truncation */
    bool too_deep = length >= (size_t)session.options.depth && creator;
    thread->ledger->paths_truncated += too_deep || path->truncated;
    if (too_deep)
        return creation_cut_below(tree, creator);
    uint32_t node_idx = creator ? tree_adopt_trie_path(tree, creator) : tree->trie;
    if (node_idx && path->truncated)
        node_idx = tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TRUNCATED);
    for (size_t i = path->count; i-- > 0 && node_idx;)
        node_idx = tree_child(tree, node_idx, i ? PROFILE_NODE_FRAME : PROFILE_NODE_SITE, path->keys[i]);
    return node_idx;
}

static uint32_t creation_walk(struct thread *thread, const struct creation_key *key)
{
    struct capture_creation walk;
    if (!thread_enter_tool(thread))
        return 0;
    struct creation_memo *memo = key ? creation_memo_for_more(&thread->creation.memos) : NULL;
    if (memo)
        creation_memo_begin(memo, key);
    capture_creation(thread, memo, &walk);
    uint32_t context = creation_intern_path(thread, walk.creator);
    /* An incomplete path is not kept, because it may become longer when the load map has been read again. */
    if (memo && context && walk.complete)
        creation_memo_keep(memo, walk.cut, context);
    thread->ledger->creation_walks++;
    thread->ledger->creations_lost += context == 0;
    thread_leave_tool(thread);
    return context;
}

uint32_t creation_context_slowly(struct thread *thread, const struct creation *creation)
{
    struct creation_key key = {.creator = creation->creator, .codeptr = creation->codeptr};
    if (!creation->codeptr || !creation_find_creators_stack(thread, creation->frame, &key))
        return creation_walk(thread, NULL);
    uint32_t context = thread->creation.memos ? creation_memo_find(thread->creation.memos, &key) : 0;
    return context ? context : creation_walk(thread, &key);
}
