/* Memory of records, and the pools of the records of tasks: each thread has one. Whichever thread frees a record, it
 * goes back to the pool that it came from, so that a thread that only creates tasks needs no more memory than the
 * others free. */
#include <sys/mman.h>

#include "layers/gomp/provider.h"

/* A thread's first slab, and the largest: each is twice as large as the one before. */
enum { SLAB_FIRST = 4 << 10, SLAB_MOST = 64 << 10 };

struct slab {
    struct slab *next;
    size_t bytes, count;
    struct task tasks[];
};

void *memory_of_records(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Puts records whose tasks were discarded into the list of free ones: those of regions that have ended. Only with
 * OMP_CANCELLATION are there any. */
static void task_find_discarded(struct thread *thread)
{
    for (struct slab *slab = thread->slabs; slab; slab = slab->next)
        for (struct task *task = slab->tasks; task < slab->tasks + slab->count; task++) {
            if (!load_relaxed(&task->may_vanish) || task->event ||
                load_relaxed(&task->region->serial) == task->region_serial)
                continue;
            task->may_vanish = false;
            task->next = thread->free;
            thread->free = task;
        }
}

static bool task_make_slab(struct thread *thread)
{
    size_t bytes = thread->slabs ? 2 * thread->slabs->bytes : SLAB_FIRST;
    if (bytes > SLAB_MOST)
        bytes = SLAB_MOST;
    struct slab *slab = memory_of_records(bytes);
    if (!slab)
        return false;
    slab->bytes = bytes;
    slab->count = (bytes - sizeof(*slab)) / sizeof(struct task);
    slab->next = thread->slabs;
    thread->slabs = slab;
    for (size_t i = slab->count; i-- > 0;) {
        struct task *task = &slab->tasks[i];
        task->owner = thread;
        task->frame.enter_frame_flags = task->frame.exit_frame_flags = FRAME_FLAGS;
        task->next = thread->free;
        thread->free = task;
    }
    return true;
}

NOINLINE bool task_get_more(struct thread *thread)
{
    thread->free = exchange_acq_rel(&thread->given_back, NULL);
    if (!thread->free)
        task_find_discarded(thread);
    return thread->free || task_make_slab(thread);
}

NOINLINE void task_give_back(struct task *task)
{
    struct thread *owner = task->owner;
    task->next = load_relaxed(&owner->given_back);
    while (!compare_exchange(&owner->given_back, &task->next, task))
        ;
}
