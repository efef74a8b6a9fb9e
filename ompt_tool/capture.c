#include "ompt_tool/capture.h"

#include <omp-tools.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/atomics.h"
#include "ompt_tool/creation.h"
#include "ompt_tool/creation_memo.h"
#include "ompt_tool/runtime.h"
#include "ompt_tool/session.h"
#include "ompt_tool/task_word.h"

#define MAX_LEVELS  64 /* ancestors looked at in one walk */
#define ENTRY_BYTES 64 /* of _start, which has no unwind information on some systems */

static uintptr_t program_entry;

/* A walk over one stack, task by task. `at` is the first frame that was not consumed. */
struct walk {
    struct unwinder *unwinder;
    const struct thread *thread;
    struct unwind_frame at;
    enum unwind_result have; /* UNWIND_FRAME: at is valid */
    int ancestor;
    bool ahead; /* the runtime gives the task around with the region that is being made or unmade */
    struct task_level level;
    bool has_level;
    struct task_level stale; /* the innermost level whose exit address was found to be stale, or is missing */
    int stale_ancestor;
    bool has_stale;
    bool by_range; /* no exit address tells where the task begins: the runtime's next frame outward does */
    uintptr_t stack_low, stack_high; /* only frame addresses on this stack can be compared */
    struct creation_memo *memo;      /* takes note of the frames, or NULL */
};

static uint32_t flags_of(const struct unwind_frame *frame)
{
    return frame->module ? frame->module->flags : 0;
}

static uint64_t key_of(const struct unwind_frame *frame)
{
    if (!frame->range)
        return PROFILE_KEY(0, frame->ip);
    return PROFILE_KEY(frame->range->module_id, frame->ip - frame->range->load_bias);
}

static void next_frame(struct walk *walk)
{
    walk->have = unwinder_next(walk->unwinder, &walk->at);
    if (unlikely(walk->memo) && walk->have == UNWIND_FRAME)
        creation_memo_note(walk->memo, &walk->at);
}

/* libomp changes team and current task one after the other when it makes and unmakes a region: in between it
 * gives the task around with the inner region, and so on outward. The inner region's own task has not begun
 * or has ended then, and has no exit address. */
static bool is_ahead(const struct walk *walk)
{
    const struct thread *thread = walk->thread;
    const struct task_level *level = &walk->level;
    return thread->forking && level->region && level->region == thread->encountered &&
           ((level->flags & ompt_task_explicit) || level->exit);
}

static bool next_level(struct walk *walk)
{
    walk->has_level = ++walk->ancestor < MAX_LEVELS && runtime_task_level(walk->ancestor, &walk->level);
    if (walk->has_level && walk->ancestor == 0)
        walk->ahead = is_ahead(walk);
    if (walk->has_level && walk->ahead && walk->level.region)
        walk->level.region = walk->level.region->outer;
    return walk->has_level;
}

static bool skip_stale_level(struct walk *walk)
{
    if (!walk->has_stale)
        walk->stale = walk->level, walk->stale_ancestor = walk->ancestor;
    walk->has_stale = true;
    return next_level(walk);
}

/* An exit address that no frame of this stack has. For a task with if(0), whose code clang's programs call
 * themselves, libomp takes whatever the program has in rbp. */
static bool is_foreign_exit(const struct walk *walk)
{
    const int called = ompt_task_explicit | ompt_task_undeferred;
    return walk->level.exit &&
           (walk->level.exit < walk->stack_low ||
            ((walk->level.flags & called) == called && walk->level.exit >= walk->stack_high));
}

static void walk_begin(struct walk *walk, struct thread *thread)
{
    struct unwinder *unwinder = &thread->unwinder;
    walk->unwinder = unwinder;
    walk->thread = thread;
    walk->memo = NULL;
    walk->by_range = walk->has_stale = walk->ahead = false;
    walk->stack_low = unwinder->stack_begin;
    walk->stack_high = unwinder->stack_high ? unwinder->stack_high : UINTPTR_MAX;
    walk->ancestor = -1;
    do /* a task outside all regions runs where it was made: its callers are on this stack */
        next_level(walk);
    while (walk->has_level && (walk->level.flags & ompt_task_explicit) && !walk->level.region);
    /* A serialised region or an undeferred task leaves an exit address that its returned frame once had:
     * below the stack pointer, it can mark nothing. The task above is the one whose stack this is. */
    while (walk->has_level && is_foreign_exit(walk) && skip_stale_level(walk))
        ;
    next_frame(walk);
}

static bool has_exit(const struct walk *walk)
{
    return walk->has_level && walk->level.exit >= walk->stack_low && walk->level.exit < walk->stack_high;
}

/* A runtime frame behind user code, when the task's exit address is missing or stale. GOMP_parallel_loop_*
 * set none for the primary thread, but the runtime's frame that called the region's body is here. While a
 * region is being made its task has no exit address yet either, nor any frame: then this is the boundary of
 * the task around. (A region serialised by clang has no such frame: its body is called by user code.) */
static bool is_unmarked_boundary(struct walk *walk, const struct unwind_frame *frame)
{
    if (walk->has_stale) {
        walk->level = walk->stale;
        walk->ancestor = walk->stale_ancestor;
        walk->has_level = true;
        walk->has_stale = false;
        return true;
    }
    if (!walk->has_level || walk->level.exit || (walk->level.flags & ompt_task_initial))
        return false;
    struct task_level level = walk->level;
    int ancestor = walk->ancestor;
    if (next_level(walk) && walk->level.exit >= frame->stack && walk->level.exit < frame->cfa)
        return true;
    walk->level = level;
    walk->ancestor = ancestor;
    walk->has_level = true;
    return true;
}

/* True if the frame is the runtime's, and called the code of the walk's current task. Frames of user code
 * that reach over the exit address show that it is stale (see walk_begin). */
static bool is_boundary(struct walk *walk, const struct unwind_frame *frame, bool runtime_frame, bool leading)
{
    if (walk->by_range)
        return runtime_frame && !leading;
    while (has_exit(walk) && frame->cfa > walk->level.exit) {
        if (runtime_frame && walk->level.exit >= frame->stack)
            return true;
        if (!skip_stale_level(walk))
            break;
    }
    return runtime_frame && !leading && is_unmarked_boundary(walk, frame);
}

/* Frames that only start the program's own code: the loader, _start, __libc_start_main, a thread's start. */
static bool is_system(const struct unwind_frame *frame, uint32_t flags)
{
    return (flags & PROFILE_MODULE_SYSTEM) || frame->ip - program_entry < ENTRY_BYTES;
}

/* Drops the frames that start threads and programs from a path that reached the stack's end. */
static void cut_start(struct path *path, size_t system_count)
{
    if (system_count < path->count || path->in_runtime)
        path->count -= system_count;
    else if (path->count)
        path->count = 1; /* all of it is the system's: the innermost says most */
}

static void take_runtime_frame(struct path *path, const struct unwind_frame *frame)
{
    path->in_runtime = true;
    path->runtime_key = key_of(frame); /* the last one stays: the entry that user code called */
    path->count = 0;                   /* what the runtime called is the runtime's time */
}

/* One task's frames, from walk->at outward, up to its boundary or the stack's end; true at a boundary.
 * Leading frames of the runtime, with whatever the runtime called, become path->runtime_key; runtime frames
 * further out are left out: user code that the runtime called in between (a reduction) belongs below the user
 * code around it. */
static bool walk_task(struct walk *walk, struct path *path)
{
    bool leading = true, boundary = false;
    size_t system_count = 0; /* outermost frames so far that are the system's */
    *path = (struct path){.keys = path->keys};
    for (; walk->have == UNWIND_FRAME; next_frame(walk)) {
        uint32_t flags = flags_of(&walk->at);
        bool runtime_frame = (flags & PROFILE_MODULE_RUNTIME) != 0;
        if ((boundary = is_boundary(walk, &walk->at, runtime_frame, leading)))
            break;
        if (runtime_frame && leading) {
            take_runtime_frame(path, &walk->at);
            system_count = 0;
        }
        if (runtime_frame || (flags & PROFILE_MODULE_TOOL))
            continue;
        if (path->count == (size_t)session.options.depth) {
            path->truncated = true;
            return false;
        }
        bool system = is_system(&walk->at, flags);
        leading = leading && system;
        system_count = system ? system_count + 1 : 0;
        path->keys[path->count++] = key_of(&walk->at);
    }
    if (walk->have == UNWIND_END && path->count && system_count == 0)
        walk->have = UNWIND_BROKEN; /* no thread begins in user code: a frame without unwind information */
    path->truncated = walk->have == UNWIND_BROKEN;
    if (walk->have == UNWIND_END)
        cut_start(path, system_count);
    if (path->count == 0 && (path->in_runtime || boundary)) {
        path->in_runtime = true;
        path->runtime_key = 0; /* no user code on the stack that could have called an entry */
    }
    return boundary;
}

static uint32_t add_path(struct tree *tree, uint32_t node_idx, const struct path *path)
{
    if (path->truncated && node_idx)
        node_idx = tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TRUNCATED);
    return node_idx ? tree_path(tree, node_idx, path->keys, path->count) : 0;
}

static uint32_t add_runtime_leaf(struct tree *tree, uint32_t node_idx, uint64_t runtime_key)
{
    if (!node_idx)
        return 0;
    if (!runtime_key)
        return tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BARRIER);
    return tree_child(tree, node_idx, PROFILE_NODE_RUNTIME, runtime_key);
}

uint64_t capture_key(uintptr_t address)
{
    struct unwind_frame frame = {.ip = address, .range = loadmap_find(address)};
    return key_of(&frame);
}

/* The node below which contexts inside the region are filed. */
static uint32_t region_base(struct thread *thread, struct region *region)
{
    if (!region)
        return thread->tree.root;
    return placeholders_node(&thread->placeholders, &thread->tree, region,
                             region->codeptr ? capture_key(region->codeptr - 1) : 0);
}

/* A thread that the program made: its stack begins in the program's own code. */
static bool is_own_thread(const struct thread *thread)
{
    uint32_t kind = thread->ledger->kind;
    return kind != PROFILE_THREAD_WORKER && kind != PROFILE_THREAD_HELPER;
}

/* Whose task the walk ended in: its region, or the root; a worker's task without a record is not guessed at.
 * A walk of another thread that went to the stack's end has the whole path, whatever region is being made. */
static uint32_t walk_base(struct thread *thread, const struct walk *walk, bool boundary)
{
    if (!boundary && walk->have == UNWIND_END && is_own_thread(thread))
        return thread->tree.root;
    uint32_t creation = walk->has_level ? task_word_context(walk->level.data) : 0;
    if (walk->by_range)
        creation = thread->waiter_context;
    struct region *region = walk->has_level ? walk->level.region : NULL;
    uint32_t base = region_base(thread, region);
    if (!region && walk->has_level && !(walk->level.flags & ompt_task_initial) && !is_own_thread(thread))
        base = tree_child(&thread->tree, base, PROFILE_NODE_PSEUDO,
                          thread->helper ? PROFILE_PSEUDO_HELPER : PROFILE_PSEUDO_UNRESOLVED);
    return creation && base ? tree_copy_trie_path(&thread->tree, creation, base) : base;
}

static void publish_context(struct thread *thread, struct walk *walk, struct region *region)
{
    bool boundary = walk_task(walk, &thread->context_path);
    struct region *outer = walk->has_level ? walk->level.region : NULL;
    if (outer != region->outer || (thread->context_path.count == 0 && walk->have == UNWIND_BROKEN))
        return; /* no frame at all is the runtime itself, which begins a region for each team of teams */
    /* A task of the first thread without a frame of its own (teams): what was walked is the whole path. */
    region->from_root = !boundary && walk->have == UNWIND_END && is_own_thread(thread);
    uint32_t creation = walk->has_level && !region->from_root ? task_word_context(walk->level.data) : 0;
    uint32_t base =
        creation ? tree_copy_trie_path(&thread->tree, creation, thread->tree.trie) : thread->tree.trie;
    uint32_t context = add_path(&thread->tree, base, &thread->context_path);
    if (context)
        region_publish(region, context);
}

/* The encountering thread, sampled in its own region, has the region's context further out on its stack: then
 * the context is known at once, also if the region never ends. */
static void publish_early(struct thread *thread, const struct walk *walk)
{
    struct region *region = walk->level.region;
    bool primary = (walk->level.flags & ompt_task_implicit) && walk->level.thread_num == 0;
    if (!region || !primary || region->home != &thread->regions || load_relaxed(&region->context))
        return;
    struct walk further = *walk;
    if (next_level(&further))
        publish_context(thread, &further, region);
}

static void count_steps(struct profile_thread *ledger, const struct unwinder *unwinder)
{
    _Static_assert(sizeof(unwinder->slow_steps) <= sizeof(ledger->slow_steps), "every cause has a place");
    ledger->frames = unwinder->frames;
    ledger->recipes_read = unwinder->recipes_read;
    ledger->unwind_slow = unwinder->slow_reads;
    if (unlikely(unwinder->cursor_valid)) /* libunwind took part in this walk */
        memcpy(ledger->slow_steps, unwinder->slow_steps, sizeof(unwinder->slow_steps));
}

static struct capture capture(struct thread *thread, enum leaf leaf, bool waiter)
{
    struct capture result = {0, false, PROFILE_DROP_NO_MEMORY};
    struct walk walk;
    walk_begin(&walk, thread);
    bool boundary = walk_task(&walk, &thread->path);
    if (waiter && boundary && thread->path.count == 0) {
        /* A task that has not begun yet: who waited is the task below it on this stack, which the runtime's
         * chain of tasks (creators) does not name. */
        walk.by_range = true;
        walk_task(&walk, &thread->path);
        boundary = false;
    }
    const struct path *path = &thread->path;
    if (path->count == 0 && !path->in_runtime && !path->truncated) {
        result.cause = PROFILE_DROP_NO_PATH;
        return result;
    }
    thread->ledger->paths_truncated += path->truncated;
    result.in_runtime = path->in_runtime;
    if (boundary) /* first: a region without a context gets a placeholder, to be grafted later */
        publish_early(thread, &walk);
    result.node_idx = add_path(&thread->tree, walk_base(thread, &walk, boundary), path);
    if (path->in_runtime && leaf == LEAF_RUNTIME)
        result.node_idx = add_runtime_leaf(&thread->tree, result.node_idx, path->runtime_key);
    count_steps(thread->ledger, &thread->unwinder);
    return result;
}

struct capture capture_interrupted(struct thread *thread, const ucontext_t *context, enum leaf leaf)
{
    unwinder_start_at(&thread->unwinder, context);
    return capture(thread, leaf, false);
}

struct capture capture_callback(struct thread *thread, enum leaf leaf)
{
    unwinder_start_here(&thread->unwinder);
    struct capture result = capture(thread, leaf, true);
    signal_fence(); /* no tail call: the walk starts in this function's frame */
    return result;
}

/* A task that is not deferred is the current task already when its creation is announced, and whose parent
 * the runtime does not say yet: of memory used before it says the task that was there. */
static void begin_at_creator(struct walk *walk, const struct creation *creation)
{
    const ompt_frame_t *frame = creation->frame;
    walk->level = (struct task_level){
        .exit = frame ? (uintptr_t)frame->exit_frame.ptr : 0,
        .enter = frame ? (uintptr_t)frame->enter_frame.ptr : 0,
        .region = walk->level.region,
        .data = task_word(creation->creator),
    };
    walk->ancestor = 1;
    walk->has_stale = false;
}

void capture_creation(struct thread *thread, const struct creation *creation, struct creation_memo *memo,
                      struct capture_creation *result)
{
    struct walk walk;
    bool is_current = runtime_current_task() == creation->task;
    unwinder_start_here(&thread->unwinder);
    walk_begin(&walk, thread);
    if (is_current)
        begin_at_creator(&walk, creation);
    walk.memo = memo;
    bool boundary = walk_task(&walk, &thread->path);
    result->creator = boundary && walk.has_level ? task_word_context(walk.level.data) : 0;
    result->cut = !boundary && walk.have == UNWIND_FRAME;
    bool in_creator = walk.ancestor == (is_current ? 1 : 0);
    result->complete = result->cut || (in_creator && (boundary || walk.have == UNWIND_END));
    signal_fence(); /* as above */
}

uint32_t capture_region_end(struct thread *thread, struct region *region)
{
    return add_runtime_leaf(&thread->tree, region_base(thread, region), 0);
}

void capture_region_context(struct thread *thread, struct region *region)
{
    struct walk walk;
    unwinder_start_here(&thread->unwinder);
    walk_begin(&walk, thread);
    while (walk.has_level && walk.level.region == region && next_level(&walk))
        ;
    publish_context(thread, &walk, region);
    signal_fence(); /* as above */
}

bool capture_program_calls(struct thread *thread)
{
    struct unwind_frame frame;
    enum unwind_result have;
    unwinder_start_here(&thread->unwinder);
    while ((have = unwinder_next(&thread->unwinder, &frame)) == UNWIND_FRAME) {
        uint32_t flags = flags_of(&frame);
        if (!(flags & (PROFILE_MODULE_RUNTIME | PROFILE_MODULE_TOOL)) && !is_system(&frame, flags))
            break;
    }
    signal_fence(); /* as above */
    return have != UNWIND_END;
}

void capture_init(void)
{
    program_entry = (uintptr_t)getauxval(AT_ENTRY);
}
