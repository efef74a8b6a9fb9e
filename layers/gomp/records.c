/* Memory of records, and the pools of the records of tasks: each thread has one. Whichever thread frees a record, it
 * goes back to the pool that it came from, so that a thread that only creates tasks needs no more memory than the
 * others free. */
#include <sys/mman.h>

#include "layers/gomp/provider.h"

#define SLAB_BYTES (64 << 10)

struct slab {
    struct slab *next;
    size_t count;
    struct task tasks[];
};

static bool some_discarded;

void *memory_of_records(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Puts records whose tasks were discarded into the list of free ones: those of regions that have ended. */
static void task_find_discarded(struct thread *thread)
{
    for (struct slab *slab = thread->slabs; slab; slab = slab->next)
        for (struct task *task = slab->tasks; task < slab->tasks + slab->count; task++) {
            if (!load_relaxed(&task->used) || !(task->flags & ompt_task_explicit) ||
                load_relaxed(&task->region->serial) == task->region_serial)
                continue;
            task->used = false;
            task->next = thread->free;
            thread->free = task;
        }
}

static NOINLINE struct task *task_more(struct thread *thread)
{
    thread->free = exchange_acq_rel(&thread->given_back, NULL);
    if (!thread->free && load_relaxed(&some_discarded))
        task_find_discarded(thread);
    struct slab *slab = thread->free ? NULL : memory_of_records(SLAB_BYTES);
    if (!slab)
        return thread->free;
    slab->count = (SLAB_BYTES - sizeof(*slab)) / sizeof(struct task);
    slab->next = thread->slabs;
    thread->slabs = slab;
    for (size_t i = slab->count; i-- > 0;) {
        struct task *task = &slab->tasks[i];
        task->owner = thread;
        task->frame.enter_frame_flags = task->frame.exit_frame_flags = FRAME_FLAGS;
        task->next = thread->free;
        thread->free = task;
    }
    return thread->free;
}

struct task *task_new(struct thread *thread, struct region *region, int flags)
{
    struct task *task = thread->free;
    if (unlikely(!task))
        task = task_more(thread);
    if (unlikely(!task))
        return NULL;
    thread->free = task->next;
    task_prepare(task, region, flags);
    return task;
}

void task_free(struct thread *thread, struct task *task)
{
    struct thread *owner = task->owner;
    store_relaxed(&task->used, false);
    if (likely(owner == thread)) {
        task->next = thread->free;
        thread->free = task;
        return;
    }
    task->next = load_relaxed(&owner->given_back);
    while (!compare_exchange(&owner->given_back, &task->next, task))
        ;
}

void task_expect_discarded(void)
{
    store_relaxed(&some_discarded, true);
}
