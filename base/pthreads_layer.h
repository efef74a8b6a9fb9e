/* The interface between libblame-pthreads.so, whose functions are called in place of libc's, and libblame.so,
 * which keeps the threads' states. Each library works without the other. */
#ifndef BLAME_BASE_PTHREADS_LAYER_H
#define BLAME_BASE_PTHREADS_LAYER_H

#include <stdbool.h>
#include <stdint.h>

enum pthreads_kind { PTHREADS_MUTEX, PTHREADS_RWLOCK, PTHREADS_SPIN, PTHREADS_WORD };
#define PTHREADS_LIMITED 0x100u /* with the kind in wait_begins(): the wait has a time limit */
#define PTHREADS_READS   0x200u /* with the kind in wait_begins(): the thread will only read what the lock protects */

/* What a thread waits for until another thread wakes it. */
enum pthreads_awaited {
    PTHREADS_CONDITION,
    PTHREADS_SEMAPHORE,
    PTHREADS_BARRIER,
    PTHREADS_END,
    PTHREADS_FUTEX,
    PTHREADS_ONCE
};

/* Two words that the tool writes, in a cache line of their own, and an address that the layer gives the tool. Functions that
 * release a lock or wake threads read only the first two. */
struct pthreads_words {
    uint32_t left;    /* above 0 while waiters have left something at any lock */
    uint32_t awaited; /* above 0 while samples know of threads that wait until another thread wakes them */
    /* x86-64: where libc's syscall() returns to if the call's number is in rbx; NULL: unknown */
    const char *behind_syscall;
} __attribute__((aligned(64)));

/* What waiters have left for the thread that releases a lock. Only the tool reads the numbers. */
struct pthreads_left {
    double numbers[3];
};

/* Functions of libblame.so that libblame-pthreads.so calls. They act on the calling thread, allocate nothing, and
 * change neither errno nor the program's memory. */
struct pthreads_tool {
    uint32_t bytes; /* size of this struct; later versions of it are longer */
    /* Reports that the thread begins to wait for a lock that another thread holds. frame[0] is the caller's
     * frame pointer, frame[1] the return address of the function that waits. Returns false if the end of the wait need not be reported. [any] */
    bool (*wait_begins)(uint32_t kind, const void *object, const uintptr_t *frame);
    /* Reports the end of the wait, whether the thread has got the lock or not. [any] */
    void (*wait_ends)(void);
    /* Takes what waiters have left at the lock, before the lock is released. Returns false if there is nothing. [any] */
    bool (*take)(uint32_t kind, const void *object, struct pthreads_left *left);
    /* Books what take() has taken, after the lock was released, or puts it back if the lock was not released. The lock
     * may have gone by now: only its address is used. [any] */
    void (*book)(uint32_t kind, const void *object, const struct pthreads_left *left, bool released);
    /* Reports the mutex that the thread will acquire again at the end of its condition wait; NULL: the wait is over.
     * [any] */
    void (*reacquires)(const void *mutex);
    /* Asks, before a thread is created, whether its begin and end are to be reported. caller: return address of the
     * function that creates threads. [any] */
    bool (*creates)(uintptr_t caller);
    /* Reports the begin of a new thread, before its own code runs, and the thread's end, after its own code. The end of
     * a thread that creates others is reported, too, although nobody may have reported its begin. [any] */
    void (*begins)(void);
    void (*ends)(void);
    /* Returns the number of the signal that the tool sends to threads; 0: none. A thread that waits for all signals must
     * not get it. [any] */
    int (*own_signal)(void);
    /* Reports that the program is about to forbid itself system calls. [any] */
    void (*restricts)(void);
    /* Reports that the thread may begin to sleep until another thread wakes it by means of the object. [any] */
    void (*sleeps)(uint32_t awaited, const void *object);
    /* Reports the end of that. woken: false if a time limit or an error has ended it. [any] */
    void (*slept)(bool woken);
    /* Reports that the thread is about to wake those that sleep until that. [any] */
    void (*wakes)(const void *object);
    /* Reports, after begins(), the function that the new thread executes. [any] */
    void (*starts)(uintptr_t function);
    /* Returns true if the word, on which the thread will sleep while it has this value, is a lock. The wait is then
     * reported as one for a lock, of kind PTHREADS_WORD. [any] */
    bool (*word_waits)(const void *word, uint32_t value);
    /* Reports that the thread is about to wake one of those that sleep on the word. [any] */
    void (*word_wakes)(const void *word);
};

/* Name and type of the function in libblame-pthreads.so that makes the library report to `tool`. Returns a struct
 * pthreads_words; a tool whose struct pthreads_tool ends before `sleeps` knows only its first word. */
#define PTHREADS_LAYER_ATTACH "blame_pthreads_attach"
typedef uint32_t *pthreads_layer_attach(const struct pthreads_tool *tool);

#endif
