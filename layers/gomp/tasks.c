/* Explicit tasks.
 *
 * libgomp copies the program's block of arguments into its own record of the task, and runs the body with the copy.
 * We pass a block with a header in front of the program's. libgomp tells the body only where the copy lies, and our
 * copy function runs in the thread that creates the task, with the final address of the copy:
 *
 *     struct header   three words that libgomp reads or writes, and ours
 *     ...             up to the program's alignment
 *     the program's block
 *
 * Three calls have no copy function of ours, because it would change what libgomp does:
 *   - With OMP_CANCELLATION, libgomp runs tasks that it should discard if they have a copy function. The program's
 *     block is copied behind a header here, and libgomp copies both.
 *   - A loop that is divided into more tasks than libgomp defers: with a copy function, it puts as many records on
 *     the stack as there are tasks. The header stands alone and points to the program's block.
 *   - A task that runs at once works on the program's block itself. Again, the header stands alone.
 * Most tasks need less: task_start_plain(), task_start_alone(). */
#include <string.h>

#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"
#include "layers/gomp/tasks.h"
#include "layers/gomp/waits.h"
#include "layers/gomp/loops.h"

enum {
    TASK_UNTIED = 1 << 0,
    TASK_FINAL = 1 << 1,
    TASK_MERGEABLE = 1 << 2,
    TASK_DEPEND = 1 << 3,
    TASK_UP = 1 << 8,
    TASK_GRAINSIZE = 1 << 9,
    TASK_IF = 1 << 10,
    TASK_NOGROUP = 1 << 11,
    TASK_REDUCTION = 1 << 12,
    TASK_DETACH = 1 << 13,
    TASK_STRICT = 1 << 14
};

/* libgomp defers at most so many tasks for each thread of a team. */
enum { DEFERRED_MOST = 64 };

/* In front of the copy of the program's block, or alone. */
struct header {
    void *words[3];    /* of a taskloop: the bounds of the part, and its reductions; the event of a detachable task */
    outlined *body;    /* the program's */
    void *argument;    /* the program's block, if `offset` is 0 */
    struct task *task; /* NULL: created when it runs */
    const void *code;  /* where the program creates it */
    int flags;         /* ompt_task_flag_t */
    uint16_t offset;   /* from here to the program's block */
    uint8_t moved;     /* words that libgomp writes for the program's block */
};

/* A call of an entry point, for the copy function, which libgomp calls in it. */
struct creation {
    struct header header;
    copier *copy;  /* the program's; NULL: none */
    size_t bytes;  /* of its block */
    char *frame;   /* of the entry point */
    void **depend; /* NULL: none */
};

_Static_assert(sizeof(struct header) == 64, "the program's block keeps an alignment of up to 64 bytes");

/* Words that libgomp writes: the handle of a detachable task, or the bounds of a taskloop's part. */
enum { DETACHABLE = 1, BOUNDS = 2 };

/* Runs as the body of each task of libgomp's. The call in it is no jump. */
static NOINLINE void task_run(void *argument)
{
    struct header *header = argument;
    void **block = header->offset ? (void **)((char *)header + header->offset) : header->argument;
    struct thread *thread = provider_enter();
    struct task *task = header->task;
    if (unlikely(!task) && thread)
        task = task_create(thread, header->flags, NULL, header->code);
    for (unsigned i = 0; i < header->moved; i++)
        block[i] = header->words[i];
    if (unlikely(!thread || !task)) {
        header->body(block);
        return;
    }
    task_begin(thread, task, FRAME);
    header->body(block);
    task_end(task, false);
}

/* A task whose copy lies on the stack, in libgomp's frame, runs at once. */
static void task_copy(void *to, void *from)
{
    const struct creation *creation = from;
    struct header *header = to;
    void *block = (char *)to + creation->header.offset, *original = creation->header.argument;
    bool at_once = (char *)to > (char *)FRAME && (char *)to < creation->frame;
    *header = creation->header;
    header->task = task_create(thread_gomp, header->flags | (at_once ? (int)ompt_task_undeferred : 0), creation->depend,
                               header->code);
    if (unlikely(header->moved == DETACHABLE) && header->task)
        task_note_event(header->task, header->words[0]);
    if (creation->copy)
        creation->copy(block, original);
    else
        memcpy(block, original, creation->bytes);
}

/* The flags of a new task. A task of a final one is final; libgomp's first three bits mean OMPT's last but one three. */
static inline int task_flags(const struct task *creator, unsigned flags)
{
    _Static_assert(TASK_UNTIED << 28 == ompt_task_untied && TASK_FINAL << 28 == ompt_task_final &&
                       TASK_MERGEABLE << 28 == ompt_task_mergeable,
                   "the shift");
    unsigned own = (flags & (TASK_UNTIED | TASK_FINAL | TASK_MERGEABLE)) << 28;
    return (int)(own | ompt_task_explicit | ((unsigned)creator->flags & ompt_task_final));
}

static inline size_t round_up(size_t bytes, size_t align)
{
    return (bytes + align - 1) & ~(align - 1);
}

/* What libgomp gets in place of the program's values. */
struct block {
    void *data;
    copier *copy;
    long bytes, align;
};

static inline __attribute__((always_inline)) struct block task_block(struct creation *creation, long bytes, long align)
{
    long offset = sizeof(struct header);
    if (unlikely(align > offset))
        offset = align;
    creation->header.offset = (uint16_t)offset;
    return (struct block){creation, task_copy, bytes + offset, align > 16 ? align : 16};
}

/* The header alone: the body gets the program's own block. */
static inline struct block task_block_alone(struct creation *creation)
{
    creation->header.offset = 0;
    return (struct block){creation, NULL, sizeof(struct header), 16};
}

/* A header with a copy of the program's block behind it, in `memory`, which has room for the alignment. */
static struct block task_block_copied(struct creation *creation, struct block block, char *memory)
{
    struct header *header = (struct header *)round_up((uintptr_t)memory, (size_t)block.align);
    *header = creation->header;
    memcpy((char *)header + header->offset, header->argument, creation->bytes);
    return (struct block){header, NULL, block.bytes, block.align};
}

static inline __attribute__((always_inline)) void task_fill(struct creation *creation, const struct task *creator,
                                                            outlined *body, void *argument, copier *copy, long bytes,
                                                            unsigned flags, const void *code, void *frame)
{
    creation->header.body = body;
    creation->header.argument = argument;
    creation->header.task = NULL;
    creation->header.code = code;
    creation->header.flags = task_flags(creator, flags);
    creation->header.moved = 0;
    creation->copy = copy;
    creation->bytes = (size_t)bytes;
    creation->frame = frame;
    creation->depend = NULL;
}

/* The parameters of GOMP_task that are passed on as they are. */
struct task_call {
    unsigned flags;
    void **depend;
    int priority;
    void *detach;
};

/* A task without a copy function that can be cancelled (the first exception) */
static NOINLINE void task_start_cancellable(struct thread *thread, struct creation *creation, struct block block,
                                            const struct task_call *call)
{
    char memory[block.bytes + block.align];
    creation->header.task = task_create(thread, creation->header.flags, creation->depend, creation->header.code);
    if (creation->header.task)
        task_may_vanish(creation->header.task);
    block = task_block_copied(creation, block, memory);
    real.GOMP_task(task_run, block.data, NULL, block.bytes, block.align, true, call->flags, call->depend,
                   call->priority, call->detach);
}

/* A task without a copy function that runs at once (the third exception) */
static NOINLINE void task_start_at_once(struct thread *thread, struct creation *creation, const struct task_call *call)
{
    struct block block = task_block_alone(creation);
    creation->header.task = task_create(thread, creation->header.flags | (int)ompt_task_undeferred, creation->depend,
                                        creation->header.code);
    real.GOMP_task(task_run, block.data, NULL, block.bytes, block.align, false, call->flags, call->depend,
                   call->priority, call->detach);
}

/* libgomp drops a task that is created in a cancelled region or group. Outside all regions it has no task that could
 * be asked for its group. */
static bool task_is_dropped(void)
{
    enum { TASKGROUP_OR_PARALLEL = 8 };
    return real_cancellation && real.omp_get_level() > 0 && real.GOMP_cancellation_point(TASKGROUP_OR_PARALLEL);
}

/* All tasks but simple ones, and all without a tool. GOMP_task() jumps here, so that the return address is the program's. */
static NOINLINE __attribute__((cold)) void task_start(TASK, bool if_clause, unsigned flags, void **depend, int priority,
                                                      void *detach)
{
    struct thread *thread = provider_enter();
    struct task *creator = thread ? thread->task : NULL;
    struct task_call call = {flags, depend, priority, detach};
    struct creation creation;
    if (!thread || task_is_dropped()) {
        real.GOMP_task(body, argument, copy, bytes, align, if_clause, flags, depend, priority, detach);
        return;
    }
    task_fill(&creation, creator, body, argument, copy, bytes, flags, CODE, FRAME);
    creation.depend = flags & TASK_DEPEND ? depend : NULL;
    creation.header.moved = flags & TASK_DETACH ? DETACHABLE : 0;
    struct block block = task_block(&creation, bytes, align);
    creator->has_deferred |= if_clause;
    task_enter_runtime(creator, FRAME);
    if (copy || (if_clause && !real_cancellation))
        real.GOMP_task(task_run, block.data, block.copy, block.bytes, block.align, if_clause, flags, depend, priority,
                       detach);
    else if (if_clause)
        task_start_cancellable(thread, &creation, block, &call);
    else
        task_start_at_once(thread, &creation, &call);
    task_leave_runtime(creator);
}

/* A simple task has no copy function, no dependences and no event, and cannot be cancelled. If it certainly runs at once,
 * it gets the program's block. If a thread of a team creates it and its block is a few words, libgomp copies these and
 * what is in front of them, or runs the task at once with ours, because many tasks wait already. Most tasks are simple,
 * and those that run at once may be nested deeply: so these functions take few instructions and little of the stack. */
enum { SMALL_WORDS = 8, SMALL_BYTES = 60 }; /* SMALL_BYTES: bits that the block's size may have */

/* What is in front of either block. */
struct simple {
    outlined *body;
    struct task *task;
};

struct small {
    struct simple simple;
    uint64_t block[SMALL_WORDS];
};

/* Of a task that certainly runs at once, which gets the program's block. */
struct included {
    struct simple simple;
    void *block;
};

/* Runs as the body of each simple task of libgomp's. The call in it is no jump. */
static inline __attribute__((always_inline)) void task_run_block(struct simple *simple, void *block)
{
    struct thread *thread = provider_enter();
    struct task *task = simple->task;
    if (unlikely(!thread)) {
        simple->body(block);
        return;
    }
    simple->task = NULL;
    task_begin(thread, task, FRAME);
    simple->body(block);
    task_end(task, true);
}

static NOINLINE void task_run_small(void *argument)
{
    struct small *small = argument;
    task_run_block(&small->simple, small->block);
}

static NOINLINE void task_run_included(void *argument)
{
    struct included *included = argument;
    task_run_block(&included->simple, included->block);
}

static inline bool task_is_simple(struct thread *thread, copier *copy, unsigned flags)
{
    return !((uintptr_t)copy | (flags & (TASK_DEPEND | TASK_DETACH)) | real_cancellation) &&
           (likely(thread->free != NULL) || task_get_more(thread));
}

static inline bool task_is_small(const struct task *creator, long bytes, long align, bool if_clause)
{
    unsigned known = ompt_task_initial | ompt_task_undeferred | ompt_task_final;
    return !((uintptr_t)(bytes & ~SMALL_BYTES) | ((unsigned)creator->flags & known) | !if_clause) &&
           align <= (long)sizeof(uint64_t);
}

/* `bytes`: of the block in `simple`. Part of a function whose CODE and FRAME are those of the entry point. */
static inline __attribute__((always_inline)) void task_start_simple(struct thread *thread, struct simple *simple,
                                                                    outlined *run, long bytes, bool at_once,
                                                                    unsigned flags, int priority)
{
    struct task *creator = thread->task;
    int kind = task_flags(creator, flags) | (at_once ? (int)ompt_task_undeferred : 0);
    struct task *task = simple->task = task_take(thread, creator->region, kind);
    task_enter_runtime(creator, FRAME);
    TELL(task_create, &creator->data, &creator->frame, &task->data, kind, 0, CODE);
    real.GOMP_task(run, simple, NULL, bytes + (long)sizeof(*simple), sizeof(uint64_t), !at_once, flags, NULL, priority,
                   NULL);
    task_leave_runtime(creator);
    if (!at_once && simple->task) /* the task got a copy, or none */
        creator->has_deferred = true;
}

/* Outside all regions libgomp has no team, except one that it made itself. */
static bool task_is_outside(const struct thread *thread)
{
    return real.omp_get_level() == 0 && !thread->artificial;
}

/* Will libgomp certainly run a new task at once? */
static inline bool task_is_included(const struct thread *thread, bool if_clause)
{
    int flags = thread->task->flags;
    return !if_clause || flags & ompt_task_final ||
           (flags & (ompt_task_initial | ompt_task_undeferred) && task_is_outside(thread));
}

/* A task that certainly runs at once. GOMP_task() jumps here. */
static NOINLINE void task_start_included(outlined *body, void *argument, unsigned flags)
{
    struct included included = {{body, NULL}, argument};
    task_start_simple(thread_gomp, &included.simple, task_run_included, sizeof(included.block), true, flags, 0);
}

/* Copies a small block, whose size is the sum of these, in line. */
static inline __attribute__((always_inline)) void task_copy_small(char *to, const char *from, long bytes)
{
    enum { FOUR_WORDS = 32, TWO_WORDS = 16, WORD = 8, HALF_WORD = 4 };
    if (bytes & FOUR_WORDS) {
        memcpy(to, from, FOUR_WORDS);
        to += FOUR_WORDS, from += FOUR_WORDS;
    }
    if (bytes & TWO_WORDS) {
        memcpy(to, from, TWO_WORDS);
        to += TWO_WORDS, from += TWO_WORDS;
    }
    if (bytes & WORD) {
        memcpy(to, from, WORD);
        to += WORD, from += WORD;
    }
    if (bytes & HALF_WORD)
        memcpy(to, from, HALF_WORD);
}

/* The callers of old compilers pass fewer parameters than these ten: `flags` says which of them have a meaning. */
EXPORT void GOMP_task(TASK, bool if_clause, unsigned flags, void **depend, int priority, void *detach)
{
    struct thread *thread = thread_gomp;
    bool simple = thread && task_is_simple(thread, copy, flags);
    if (likely(simple && task_is_small(thread->task, bytes, align, if_clause))) {
        struct small small;
        task_copy_small((char *)small.block, argument, bytes);
        small.simple.body = body;
        task_start_simple(thread, &small.simple, task_run_small, bytes, false, flags, priority);
    } else if (simple && task_is_included(thread, if_clause)) {
        task_start_included(body, argument, flags);
    } else {
        task_start(body, argument, copy, bytes, align, if_clause, flags, depend, priority, detach);
    }
}

/* Returns the number of tasks into which libgomp divides `iterations`. */
static uint64_t taskloop_parts(uint64_t iterations, unsigned flags, uint64_t wanted, unsigned threads)
{
    if (flags & TASK_GRAINSIZE) {
        uint64_t parts = wanted ? iterations / wanted : 0;
        if (flags & TASK_STRICT && wanted && iterations % wanted)
            parts++;
        return parts ? parts : 1;
    }
    if (!wanted)
        wanted = threads;
    return wanted < iterations ? wanted : iterations;
}

/* Will libgomp certainly run the tasks at once? */
static bool taskloop_runs_at_once(const struct thread *thread, unsigned flags, uint64_t iterations, uint64_t wanted)
{
    unsigned threads = (unsigned)real.omp_get_num_threads();
    return !(flags & TASK_IF) || real.omp_in_final() || task_is_outside(thread) ||
           taskloop_parts(iterations, flags, wanted, threads) > (uint64_t)DEFERRED_MOST * threads;
}

/* libgomp would put a group of tasks around the loop. It is taken out, so that the creation of the tasks and the wait
 * for them can be told apart. Returns the flags for the loop itself. */
static unsigned taskloop_open_group(struct thread *thread, unsigned flags, void *argument, const void *code)
{
    bool outside = task_is_outside(thread);
    struct task *task = thread->task;
    if (flags & TASK_NOGROUP)
        return flags;
    TELL(sync_region, ompt_sync_region_taskgroup, ompt_scope_begin, &task->region->data, &task->data, code);
    real.GOMP_taskgroup_start();
    if (flags & TASK_REDUCTION) {
        real.GOMP_taskgroup_reduction_register(((uintptr_t **)argument)[2]);
        thread->artificial |= outside;
    }
    /* The registration makes a team of one, in which libgomp would defer the tasks. */
    return (flags | TASK_NOGROUP) & (outside ? ~(unsigned)TASK_IF : ~0u);
}

static inline __attribute__((always_inline)) void taskloop_close_group(struct thread *thread, unsigned flags)
{
    if (flags & TASK_NOGROUP)
        return;
    struct wait wait = wait_begin_inner(thread, ompt_sync_region_taskgroup);
    real.GOMP_taskgroup_end();
    wait_end(&wait);
}

/* Prepares the block for the loop: the header alone for tasks that certainly run at once (the second exception). */
static struct block taskloop_block(struct creation *creation, long bytes, long align, unsigned flags, void *argument,
                                   bool at_once)
{
    creation->header.moved = BOUNDS;
    if (flags & TASK_REDUCTION)
        creation->header.words[2] = ((void **)argument)[2];
    if (at_once && !creation->copy) {
        creation->header.flags |= ompt_task_undeferred;
        return task_block_alone(creation);
    }
    return task_block(creation, bytes, align);
}

/* An empty loop, and one in a cancelled region, is passed on untouched. */
#define DEFINE_TASKLOOP(name, integer, counted)                                                                        \
    EXPORT void name(TASK, unsigned flags, unsigned long parts, int priority, integer start, integer end,              \
                     integer step)                                                                                     \
    {                                                                                                                  \
        struct thread *thread = provider_enter();                                                                      \
        uint64_t iterations = counted;                                                                                 \
        if (!thread || !iterations || task_is_dropped()) {                                                             \
            real.name(body, argument, copy, bytes, align, flags, parts, priority, start, end, step);                   \
            return;                                                                                                    \
        }                                                                                                              \
        struct task *creator = thread->task;                                                                           \
        struct creation creation;                                                                                      \
        task_fill(&creation, creator, body, argument, copy, bytes, flags, CODE, FRAME);                                \
        bool at_once = taskloop_runs_at_once(thread, flags, iterations, parts);                                        \
        struct block block = taskloop_block(&creation, bytes, align, flags, argument, at_once);                        \
        bool copied = block.copy && !copy && real_cancellation;                                                        \
        char memory[copied ? block.bytes + block.align : 1];                                                           \
        if (copied)                                                                                                    \
            block = task_block_copied(&creation, block, memory);                                                       \
        unsigned inner = taskloop_open_group(thread, flags, argument, CODE);                                           \
        creator->has_deferred = true;                                                                                  \
        task_enter_runtime(creator, FRAME);                                                                            \
        TELL(work, ompt_work_taskloop, ompt_scope_begin, &creator->region->data, &creator->data, iterations, CODE);    \
        real.name(task_run, block.data, block.copy, block.bytes, block.align, inner, parts, priority, start, end,      \
                  step);                                                                                               \
        TELL(work, ompt_work_taskloop, ompt_scope_end, &creator->region->data, &creator->data, iterations, CODE);      \
        taskloop_close_group(thread, flags);                                                                           \
        task_leave_runtime(creator);                                                                                   \
    }
DEFINE_TASKLOOP(GOMP_taskloop, long, loop_iterations(start, end, step))
DEFINE_TASKLOOP(GOMP_taskloop_ull, ull, loop_ull_iterations(flags &TASK_UP, start, end, step))
