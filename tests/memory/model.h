/* A weakly ordered memory to run our lock-free code on: docs/concurrency.md.
 *
 * The product's units and the scenarios are compiled with -fsanitize=thread, whose calls come here (hooks.c) instead of to
 * ThreadSanitizer: each access is a step, at which threads are exchanged (threads.c) and at which a load gets one of the values that
 * C11 lets it see (memory.c). One seed is one run; a run leaves memory as it was. */
#ifndef BLAME_TESTS_MEMORY_MODEL_H
#define BLAME_TESTS_MEMORY_MODEL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for scenarios ---- */

#define MODEL_THREADS 5

struct scenario {
    const char *name;
    const char *guarantees; /* of docs/concurrency.md, that it tests */
    void (*begin)(void);    /* alone; what it writes all threads see */
    void (*thread[MODEL_THREADS])(void);
    void (*end)(void);  /* alone, and sees everything */
    uint64_t staleness; /* steps after which a store is seen by everybody; 0: a default */
};

/* scenarios.c */
extern const struct scenario *const scenarios[];
extern const unsigned scenario_count;

/* What a scenario knows for its own checks: no memory of the model's, empty at the begin of each run. */
#define GHOST __attribute__((section("ghosts")))

/* The run has failed. */
void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define model_check(condition, ...) ((condition) ? (void)0 : model_fail(__VA_ARGS__))

uint64_t model_random(uint64_t below); /* 0 ... below - 1 */
uint64_t model_now(void);              /* steps so far: a clock that all threads share */
uint64_t model_staleness(void);        /* what was stored so many steps ago is seen by everybody */
void model_pause(void);                /* other threads go on */

/* Whether os_map() gives any, until the run ends. */
extern bool model_has_memory;

/* Zeroed memory that lasts for the run. */
void *model_map(size_t bytes);

/* ---- between its own files ---- */

enum order {
    RELAXED = __ATOMIC_RELAXED,
    ACQUIRE = __ATOMIC_ACQUIRE,
    RELEASE = __ATOMIC_RELEASE,
    ACQ_REL = __ATOMIC_ACQ_REL,
    SEQ_CST = __ATOMIC_SEQ_CST
};

struct model_chances {
    unsigned switches; /* one of so many steps exchanges the thread */
    unsigned stale;    /* per mille of loads that get an older value, if there is one */
    unsigned between;  /* per mille of stores that go between others */
    bool sticky;       /* a thread sees the same words late all the time */
};

/* memory.c: steps of the thread that runs. */
void memory_begin_run(uint64_t staleness, const struct model_chances *chances);
void memory_end_run(void); /* all words are as they were */
uint64_t memory_load(uintptr_t address, unsigned size, enum order order);
void memory_store(uintptr_t address, unsigned size, uint64_t value, enum order order);
uint64_t memory_update(uintptr_t address, unsigned size, enum order order,
                       uint64_t (*update)(uint64_t old, uint64_t operand), uint64_t operand);
bool memory_compare_exchange(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired, enum order success,
                             enum order failure);
void memory_fence(enum order order);
void memory_plain_read(uintptr_t address, size_t bytes);  /* the word that is read behind this */
void memory_plain_write(uintptr_t address, size_t bytes); /* written behind this */
void memory_settle(void);                                 /* what was written has been written */

/* cells.c: where words begin and end. */
void cells_mark(uintptr_t address, size_t bytes);        /* an access has these bytes */
uint32_t *cells_word(uintptr_t address, unsigned *size); /* number and size of the word that begins there */
bool cells_are_written(uintptr_t address, unsigned bytes);

/* pool.c: what a thread has seen, or a store brings with it: of each word the latest store. */
struct view {
    uint32_t count;
    uint32_t *seen; /* number of the message */
};
void *pool_take(size_t bytes); /* memory until the end of the run */
void pool_reset(void);
/* What nobody but the thread that begins or ends a run writes. */
void undo_note(uintptr_t address, size_t bytes);
void undo_all(uint32_t from);
uint32_t undo_count(void);

/* threads.c */
extern unsigned model_thread; /* the one that runs */
extern bool model_serial;     /* nobody else does */
extern jmp_buf model_out;
extern const char *model_failure;
enum run_result { RUN_PASSED, RUN_FAILED, RUN_AGAIN };
enum run_result run_scenario(const struct scenario *scenario, uint64_t seed);
void threads_step(void); /* perhaps another one goes on */
bool threads_is_stack(uintptr_t address);
void threads_leave(enum run_result result) __attribute__((noreturn));
extern uint64_t model_steps, model_run;

/* sites.c */
enum order site_order(uintptr_t site, char kind, enum order order); /* as the code has it, or as --weaken has it */
bool sites_weaken(const char *text);
void sites_print(void);
extern bool model_traces;
void trace(uintptr_t site, const char *what, uintptr_t address, uint64_t value);

#endif
