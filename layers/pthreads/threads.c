/* The begin and the end of each thread.
 *
 * A new thread begins in a function of ours, which gets the thread's own function and argument in an entry that the
 * creator has filled. It reports the begin and leaves to the thread's own function by a jump, so that no frame of ours
 * is on the thread's stack. The entries are never on the heap, which may be what creates the thread.
 *
 * The end is reported by a key's destructor. It also runs after pthread_exit() and cancellation, and needs no frame.
 * The C library calls destructors in rounds as long as any of them sets its value again. Ours does, and reports in the
 * last round, when those of the program have run. */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <threads.h>

#include "base/atomics.h"
#include "base/pthreads_layer.h"
#include "layers/pthreads/functions.h"

#define NO_KEY      UINT32_MAX
#define ENTRIES     127u
#define LAST_ROUND  ((uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS)
#define FIRST_ROUND ((uintptr_t)1)

/* What a thread begins with. */
struct entry {
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } start;
    void *argument;
    uint32_t taken;
};

static struct entries {
    struct entry entry[ENTRIES];
    struct entries *more;
} entries;

static uint32_t key = NO_KEY;

static void thread_round_ends(void *round)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if ((uintptr_t)round < LAST_ROUND)
        pthread_setspecific(load_relaxed(&key), (void *)((uintptr_t)round + 1));
    else if (tool)
        tool->ends();
}

/* Returns false if the process has no key left: its threads' ends could not be reported. */
static bool thread_has_key(void)
{
    pthread_key_t made;
    uint32_t none = NO_KEY;
    if (likely(load_acquire(&key) != NO_KEY))
        return true;
    if (pthread_key_create(&made, thread_round_ends) != 0)
        return false;
    if (!compare_exchange(&key, &none, (uint32_t)made))
        pthread_key_delete(made);
    return true;
}

/* Makes the end of the calling thread known. */
static bool thread_will_end(void)
{
    pthread_key_t own = load_relaxed(&key);
    return pthread_getspecific(own) || pthread_setspecific(own, (void *)FIRST_ROUND) == 0;
}

/* Returns the entries that follow, NULL if there is no memory. */
static struct entries *entries_more(struct entries *last)
{
    struct entries *next = load_acquire(&last->more), *none = NULL;
    if (next)
        return next;
    next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return NULL;
    if (compare_exchange(&last->more, &none, next))
        return next;
    munmap(next, sizeof(*next));
    return none;
}

/* An entry is taken only between a thread's creation and its begin, so nearly always the first is free. */
static struct entry *entry_take(void)
{
    for (struct entries *some = &entries; some; some = entries_more(some))
        for (uint32_t i = 0; i < ENTRIES; i++) {
            uint32_t no = 0;
            if (!load_relaxed(&some->entry[i].taken) && compare_exchange(&some->entry[i].taken, &no, 1))
                return &some->entry[i];
        }
    return NULL;
}

static struct entry entry_leave(struct entry *entry)
{
    struct entry copy = *entry;
    store_release(&entry->taken, 0);
    return copy;
}

/* Returns an entry for a thread whose begin is to be reported, or else NULL. */
static struct entry *thread_entry(const void *caller)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if (!tool || !tool->creates((uintptr_t)caller) || !thread_has_key() || !thread_will_end())
        return NULL;
    return entry_take();
}

static void thread_begins(uintptr_t function)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if (!thread_will_end())
        return;
    tool->begins();
    if (tool->bytes > offsetof(struct pthreads_tool, starts))
        tool->starts(function);
}

static void *thread_begin_posix(void *argument)
{
    struct entry own = entry_leave(argument);
    thread_begins((uintptr_t)own.start.posix);
    return own.start.posix(own.argument);
}

static int thread_begin_c11(void *argument)
{
    struct entry own = entry_leave(argument);
    thread_begins((uintptr_t)own.start.c11);
    return own.start.c11(own.argument);
}

EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                          void *restrict argument)
{
    struct entry *entry = thread_entry(__builtin_return_address(0));
    if (!entry)
        return load_relaxed(&pthreads_real.pthread_create)(thread, attributes, start, argument);
    entry->start.posix = start;
    entry->argument = argument;
    int status = load_relaxed(&pthreads_real.pthread_create)(thread, attributes, thread_begin_posix, entry);
    if (status != 0)
        entry_leave(entry);
    return status;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    struct entry *entry = thread_entry(__builtin_return_address(0));
    if (!entry)
        return load_relaxed(&pthreads_real.thrd_create)(thread, start, argument);
    entry->start.c11 = start;
    entry->argument = argument;
    int status = load_relaxed(&pthreads_real.thrd_create)(thread, thread_begin_c11, entry);
    if (status != thrd_success)
        entry_leave(entry);
    return status;
}
