#include "ompt_tool/context/capture.h"

#include <omp-tools.h>
#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/bind.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/context/task_word.h"
#include "ompt_tool/context/walk.h"
#include "ompt_tool/session/session.h"

#define LEAST_STACK 4096 /* number of bytes of free stack that a walk needs */
/* upper bound of the size of exit() in bytes; exit() calls one function and does not return */
#define EXIT_BYTES 64

static uint32_t capture_add_path(struct tree *tree, uint32_t node_idx, const struct path *path)
{
    if (path->truncated && node_idx)
        node_idx = tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TRUNCATED);
    if (path->fiber && node_idx)
        node_idx = tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_FIBER);
    return node_idx ? tree_path(tree, node_idx, path->keys, path->count) : 0;
}

static uint32_t capture_add_runtime_leaf(struct tree *tree, uint32_t node_idx, uint64_t runtime_key)
{
    if (!node_idx)
        return 0;
    if (!runtime_key)
        return tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BARRIER);
    return tree_child(tree, node_idx, PROFILE_NODE_RUNTIME, runtime_key);
}

uint64_t capture_key(uintptr_t address)
{
    struct unwind_frame frame = {.ip = address, .range = loadmap_learn(address)};
    return walk_key(&frame);
}

/* Returns the node below which the contexts in a region begin. */
static uint32_t capture_node_of_region(struct thread *thread, struct region *region)
{
    if (!region)
        return thread->tree.root;
    return placeholders_node(&thread->placeholders, &thread->tree, region,
                             region->codeptr ? capture_key(region->codeptr - 1) : 0);
}

/* Returns true unless the runtime created the thread. The stack of such a thread begins in the program's own
 * code. */
static bool capture_thread_is_programs(const struct thread *thread)
{
    uint32_t kind = thread->ledger->kind;
    return kind != PROFILE_THREAD_WORKER && kind != PROFILE_THREAD_HELPER;
}

static bool walk_has_whole_path(const struct thread *thread, const struct walk *walk, bool boundary)
{
    return !boundary && walk->have == UNWIND_END && !walk->on_fiber && capture_thread_is_programs(thread);
}

/* Returns the node below which a task's contexts begin: the region's node, or the root. For a worker's task
 * whose region is unknown, this is a named row below the root. */
static uint32_t capture_node_of_task(struct thread *thread, struct region *region, bool has_level, int kind)
{
    uint32_t base = capture_node_of_region(thread, region);
    if (!region && has_level && kind != ompt_task_initial && !capture_thread_is_programs(thread))
        base = tree_child(&thread->tree, base, PROFILE_NODE_PSEUDO,
                          thread->unusual.helper ? PROFILE_PSEUDO_HELPER : PROFILE_PSEUDO_UNRESOLVED);
    return base;
}

uint32_t capture_probe_node(struct thread *thread, struct probe_open *probe)
{
    if (likely(probe->node_idx && probe->grafts == thread->tree.grafts))
        return probe->node_idx;
    const struct probe_task *task = &probe->task;
    uint32_t base =
        task->from_root ? thread->tree.root : capture_node_of_task(thread, task->region, task->has_level, task->kind);
    probe->node_idx = base ? tree_copy_trie_path(&thread->tree, probe->context, base) : 0;
    probe->grafts = thread->tree.grafts;
    return probe->node_idx;
}

/* Returns the node below which the walked path belongs: the node of the probe or of the task at which the
 * walk ended. If the walk reached the end of the stack, on a thread that the runtime did not create, the path
 * is complete and begins at the root, even while a region is being created. */
static uint32_t capture_node_where_walk_ended(struct thread *thread, const struct walk *walk, bool boundary)
{
    if (walk->inside)
        return capture_probe_node(thread, walk->inside);
    if (walk_has_whole_path(thread, walk, boundary))
        return thread->tree.root;
    uint32_t creation = walk->has_level ? task_word_context(walk->level.data) : 0;
    struct region *region = walk->has_level ? walk->level.region : NULL;
    uint32_t base = capture_node_of_task(thread, region, walk->has_level, walk->level.kind);
    return creation && base ? tree_copy_trie_path(&thread->tree, creation, base) : base;
}

/* Returns the trie node of the probe or of the task at which the walk ended. */
static uint32_t capture_trie_node_where_walk_ended(struct thread *thread, const struct walk *walk, bool from_root)
{
    if (walk->inside)
        return walk->inside->context;
    uint32_t creation = walk->has_level && !from_root ? task_word_context(walk->level.data) : 0;
    return creation ? tree_copy_trie_path(&thread->tree, creation, thread->tree.trie) : thread->tree.trie;
}

static struct probe_task capture_task_where_walk_ended(const struct thread *thread, const struct walk *walk,
                                                       bool boundary)
{
    if (walk->inside)
        return walk->inside->task;
    return (struct probe_task){.region = walk->has_level ? walk->level.region : NULL,
                               .kind = walk->level.kind,
                               .has_level = walk->has_level,
                               .from_root = walk_has_whole_path(thread, walk, boundary)};
}

/* Returns the league to which the region belongs as a team, if the walk has already continued into the task
 * that encountered the league. (It does so if no code of the program lies between them.) Otherwise returns
 * NULL. */
static struct region *capture_league_passed_by_walk(const struct thread *thread, struct region *region,
                                                    struct region *outer)
{
    struct region *league = region->outer;
    bool passed = league && outer != league && outer == league->outer && league->home == &thread->regions;
    return passed ? league : NULL;
}

static void capture_publish_region_context(struct thread *thread, struct walk *walk, struct region *region)
{
    bool boundary = walk_task(walk, &thread->context_path);
    struct probe_task outer = capture_task_where_walk_ended(thread, walk, boundary);
    struct region *league = boundary ? capture_league_passed_by_walk(thread, region, outer.region) : NULL;
    if (league && !load_relaxed(&league->context)) {
        uint32_t context = capture_add_path(&thread->tree, capture_trie_node_where_walk_ended(thread, walk, false),
                                            &thread->context_path);
        if (context)
            region_publish(league, context);
    }
    if (league) {
        region_publish(region, thread->tree.trie);
        return;
    }
    if (outer.region != region->outer || (thread->context_path.count == 0 && walk->have == UNWIND_BROKEN))
        /* The path has no frames, because the runtime itself began the region, as it does for each team of a
         * league. */
        return;
    /* The first thread's task has no frame of its own (teams), so the walk has found the complete path. */
    region->from_root = outer.from_root;
    uint32_t base = capture_trie_node_where_walk_ended(thread, walk, region->from_root);
    uint32_t context = capture_add_path(&thread->tree, base, &thread->context_path);
    if (context)
        region_publish(region, context);
}

/* Publishes the context of a region when the thread that encountered the region is sampled. The walk finds
 * the context further outward on that thread's stack. So the context is known at once, even if the region
 * never ends. */
static void capture_publish_region_context_early(struct thread *thread, const struct walk *walk)
{
    struct region *region = walk->level.region;
    if (!region || !walk->level.primary || region->home != &thread->regions || load_relaxed(&region->context))
        return;
    struct walk further = *walk;
    if (further.inside && !walk_leave_probe(&further, &thread->context_path))
        return;
    if (walk_next_level(&further))
        capture_publish_region_context(thread, &further, region);
}

static void capture_count_unwinder_steps(struct profile_thread *ledger, const struct unwinder *unwinder)
{
    _Static_assert(sizeof(unwinder->slow_steps) <= sizeof(ledger->slow_steps), "the ledger has a field for each cause "
                                                                               "of a slow step");
    ledger->frames = unwinder->frames;
    ledger->recipes_read = unwinder->recipes_read;
    ledger->decoded_steps = unwinder->decoded_steps;
    ledger->unwind_slow = unwinder->slow_reads;
    if (unlikely(unwinder->cursor_valid)) /* this changes only if libunwind took part in this walk */
        memcpy(ledger->slow_steps, unwinder->slow_steps, sizeof(unwinder->slow_steps));
}

static struct capture capture(struct thread *thread, enum leaf leaf)
{
    struct capture result = {0, false, PROFILE_DROP_NO_MEMORY};
    struct walk walk;
    walk_begin(&walk, thread);
    walk.in_lock = leaf == LEAF_USER;
    bool boundary = walk_task(&walk, &thread->path);
    const struct path *path = &thread->path;
    if (path->count == 0 && !path->in_runtime && !path->truncated) {
        result.cause = PROFILE_DROP_NO_PATH;
        return result;
    }
    thread->ledger->paths_truncated += path->truncated;
    result.in_runtime = path->in_runtime;
    /* This must precede the adding of the path: below a region without a context, the path would get a
     * placeholder, from which it would have to be moved later. */
    if (boundary)
        capture_publish_region_context_early(thread, &walk);
    result.node_idx = capture_add_path(&thread->tree, capture_node_where_walk_ended(thread, &walk, boundary), path);
    if (path->in_runtime && leaf == LEAF_RUNTIME)
        result.node_idx = capture_add_runtime_leaf(&thread->tree, result.node_idx, path->runtime_key);
    capture_count_unwinder_steps(thread->ledger, &thread->unwinder);
    return result;
}

/* Returns true if there may be too little stack for a walk, which needs 2 KB and what libunwind needs. This
 * can happen if the handler runs on the interrupted stack (sample_signal.h) and that stack is a signal stack
 * of the program, below which there are other data. */
static bool capture_lacks_stack_for_walk(const struct thread *thread, const ucontext_t *context)
{
    uintptr_t low = (uintptr_t)context->uc_stack.ss_sp, here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t own_bytes = THREAD_HANDLER_STACK_BYTES;
    if (likely((uintptr_t)thread - here < own_bytes))
        return false;
    return unlikely(context->uc_stack.ss_size) && here > low - LEAST_STACK && here < low + LEAST_STACK;
}

struct capture capture_interrupted(struct thread *thread, const ucontext_t *context, enum leaf leaf)
{
    if (capture_lacks_stack_for_walk(thread, context))
        return (struct capture){0, false, PROFILE_DROP_NO_PATH};
    unwinder_start_at(&thread->unwinder, context);
    struct capture result = capture(thread, leaf);
    bool told = leaf == LEAF_USER || load_relaxed(&thread->line->wait_key);
    if (result.in_runtime && result.node_idx && !told && unwind_is_spinning(context))
        result.node_idx = tree_child(&thread->tree, result.node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNTOLD_WAIT);
    return result;
}

uint32_t capture_interpreter_wait(struct thread *thread, uint32_t node_idx)
{
    struct python_place place;
    if (!node_idx || !thread->core.now.in_call || !python_waits(&thread->unwinder))
        return node_idx;
    node_idx = tree_child(&thread->tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_INTERPRETER_LOCK);
    if (node_idx && python_holder(&thread->unwinder, &place))
        node_idx = tree_child(&thread->tree, node_idx, PROFILE_NODE_HOLDER, PROFILE_KEY(place.module_id, place.line));
    return node_idx;
}

struct capture capture_mpi(struct thread *thread)
{
    unwinder_start_above(&thread->unwinder, thread->mpi.frame);
    struct capture result = capture(thread, LEAF_USER);
    if (result.node_idx)
        result.node_idx = tree_child(&thread->tree, result.node_idx, PROFILE_NODE_MPI, thread->mpi.number);
    return result;
}

struct capture capture_callback(struct thread *thread, enum leaf leaf)
{
    unwinder_start_here(&thread->unwinder);
    struct capture result = capture(thread, leaf);
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
    return result;
}

static bool walk_is_cut_by_depth(const struct thread *thread, const struct walk *walk)
{
    /* the path ends because of BLAME_DEPTH, before the end of the stack */
    return thread->path.truncated && walk->have == UNWIND_FRAME;
}

static bool walk_is_in_innermost_task(const struct walk *walk)
{
    return walk->place == walk->thread->level;
}

void capture_creation(struct thread *thread, struct creation_memo *memo, struct capture_creation *result)
{
    struct walk walk;
    unwinder_start_here(&thread->unwinder);
    walk_begin(&walk, thread);
    walk.memo = memo;
    bool boundary = walk_task(&walk, &thread->path);
    result->creator = walk.inside                  ? walk.inside->context
                      : boundary && walk.has_level ? task_word_context(walk.level.data)
                                                   : 0;
    result->cut = walk_is_cut_by_depth(thread, &walk);
    result->complete = result->cut || (walk_is_in_innermost_task(&walk) && (boundary || walk.have == UNWIND_END));
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
}

void capture_probe(struct thread *thread, size_t inside, struct creation_memo *memo, struct probe_open *fresh,
                   struct capture_creation *result)
{
    struct walk walk;
    struct path *path = &thread->path;
    unwinder_start_here(&thread->unwinder);
    walk_begin(&walk, thread);
    walk.memo = memo;
    bool boundary = walk_task(&walk, path);
    fresh->task = capture_task_where_walk_ended(thread, &walk, boundary);
    result->cut = walk_is_cut_by_depth(thread, &walk);
    result->complete = result->cut || (walk_is_in_innermost_task(&walk) && (boundary || walk.have == UNWIND_END));
    struct path callers = *path;
    if (inside > path->count)
        inside = path->count;
    callers.keys += inside;
    callers.count -= inside;
    result->creator = capture_add_path(
        &thread->tree, capture_trie_node_where_walk_ended(thread, &walk, fresh->task.from_root), &callers);
    thread->ledger->paths_truncated += path->truncated;
    capture_count_unwinder_steps(thread->ledger, &thread->unwinder);
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
}

uint32_t capture_region_end(struct thread *thread, struct region *region)
{
    return capture_add_runtime_leaf(&thread->tree, capture_node_of_region(thread, region), 0);
}

void capture_region_context(struct thread *thread, struct region *region)
{
    struct walk walk;
    unwinder_start_here(&thread->unwinder);
    walk_begin(&walk, thread);
    while (walk.has_level && walk.level.region == region && walk_next_level(&walk))
        ;
    capture_publish_region_context(thread, &walk, region);
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
}

bool capture_program_calls(struct thread *thread)
{
    unwinder_start_here(&thread->unwinder);
    bool found = walk_finds_program(thread);
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
    return found;
}

bool capture_process_exits(struct thread *thread)
{
    unwinder_start_here(&thread->unwinder);
    uintptr_t begin = (uintptr_t)bind_find_in_libc("exit");
    bool found = begin && walk_finds_code(thread, begin, begin + EXIT_BYTES);
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
    return found;
}
