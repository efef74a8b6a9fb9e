/* A program and the machine that it runs on, as data. tests/simulator/scenarios/README.md has the language. */
#ifndef BLAME_TESTS_SIMULATOR_SCENARIO_H
#define BLAME_TESTS_SIMULATOR_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum op_kind {
    OP_WORK,      /* user code */
    OP_RUNTIME,   /* the runtime works for the user code that called it */
    OP_BLOCKED,   /* user code sleeps */
    OP_SPINS,     /* user code waits in a loop */
    OP_MPI_SLEEP, /* in a call of MPI's that waits, asleep */
    OP_MPI_SPIN,  /* the same, on a core */
    OP_CALL,      /* a function of its own */
    OP_REPEAT,
    OP_PARALLEL,
    OP_BARRIER,
    OP_STATIC, /* loops: `number` iterations */
    OP_DYNAMIC,
    OP_SINGLE,
    OP_MASKED,
    OP_LOCK, /* around the body */
    OP_CRITICAL,
    OP_NEST,
    OP_ORDERED, /* in the body of a loop */
    OP_MUTEX,   /* of POSIX threads, around the body */
    OP_THREAD,  /* the body is a thread's, of a program without a team */
    OP_JOIN,    /* until all of them have ended */
    OP_AWAIT,   /* a condition: until `number` signals, of which it takes one, are there */
    OP_SIGNAL,
    OP_TASK,
    OP_TASKWAIT,
    OP_TASKWAIT_DEPEND,
    OP_TASKGROUP,
    OP_PHASE,
    OP_ITERATION, /* of a numbered phase */
    OP_KINDS
};

/* Evenly spread over mean - spread ... mean + spread. */
struct duration {
    uint64_t mean_ns, spread_ns;
};

#define MAX_DURATIONS 8
#define NAME_BYTES    16
#define MANY_CORES    64u /* no thread waits for one */

struct op {
    enum op_kind kind;
    struct op *body, *next;
    uint32_t number;   /* threads, repetitions, iterations */
    uint32_t function; /* that the op's own code is: of a region, a task, a call */
    uint32_t line;     /* in the function around it */
    uint32_t lock;
    uint32_t id; /* counts all ops */
    bool nowait;
    uint32_t duration_count; /* by the thread's number in its team */
    struct duration durations[MAX_DURATIONS];
    char name[NAME_BYTES];
};

struct scenario {
    char name[64];
    uint32_t cores;
    struct duration on_way;   /* from a timer's expiry until its signal comes; the thread goes on meanwhile */
    struct duration latency;  /* and from then to the handler; it stands still */
    struct duration handler;  /* how long the handler runs */
    struct duration wake;     /* from a barrier's release, or a lock's, until the waiter runs */
    struct duration take;     /* what the runtime does to take a free lock */
    struct duration give;     /* what it does between a lock's release and the event of it */
    struct duration spin;     /* how often who waits for a lock looks whether it is free, on its core; 0: it sleeps */
    struct duration fork;     /* what the runtime does before a region's threads begin */
    struct duration dispatch; /* and between two tasks */
    uint64_t slice_ns;
    uint64_t learns_ns;                          /* by so much core idleness may be off at first */
    struct duration foreign_busy, foreign_pause; /* another program */
    struct duration stop, stop_pause;            /* the process is stopped, and goes on */
    struct duration stall, stall_pause;          /* the whole machine stands still, and goes on */
    struct duration rank_busy, rank_wait;        /* another rank */
    bool rank_names;                             /* they say for whom they wait, sometimes */
    uint32_t ranks;                              /* that there are beside the program */
    uint32_t foreigners;                         /* threads that it has */
    uint32_t bias;     /* per cent by which a figure's mean may be off: what docs say that the method cannot know */
    bool libgomp;      /* the runtime is GCC's */
    bool requeues;     /* a signal sends who sleeps for a lock to the end of its queue, as the kernel does */
    bool any_order;    /* in which threads get a core that is free, not the order in which they came */
    bool polls;        /* waits are in poll(2), which a signal interrupts even when its time is over */
    bool nanosleeps;   /* they are in nanosleep(2), of which is known for how long */
    bool reads_time;   /* of its CPU, all the time, as the kernel then counts it */
    bool late_wakes;   /* waits end while a sample's wake-up waits for a core: how long it did then is not known */
    bool one_idleness; /* the claim is about the sum of what code and its missing core are blamed for */
    uint32_t stated;   /* what reports state, in per cent of the deviation found, at most; 0: any */
    uint32_t runs;     /* per cent of the seeds that others get */
    uint32_t chunks;   /* that the file may have at most; 0: any */
    bool up_to_1000;   /* not claimed at 10,000 samples/s */
    bool without_team; /* threads are the program's own, and cores are what idles */
    bool laws_only;    /* too large for exact sums, or not fully measured on purpose */
    uint32_t functions, locks, ops;
    char function_name[256][NAME_BYTES];
    char lock_name[64][NAME_BYTES];
    struct op *main;
};

/* NULL and one line in error[] if the text is none. */
struct scenario *scenario_parse(const char *name, const char *text, char *error, size_t error_bytes);
struct scenario *scenario_read(const char *path, char *error, size_t error_bytes);
void scenario_print(FILE *file, const struct scenario *scenario);

bool scenario_has(const struct scenario *scenario, enum op_kind kind);

/* True if it matters who comes first. */
bool scenario_is_a_race(const struct scenario *scenario);

/* A program that holds to OpenMP's rules, and ends. */
struct scenario *scenario_random(uint64_t seed);

/* A smaller scenario, number 0, 1, ...; NULL behind the last. */
struct scenario *scenario_shrunk(const struct scenario *scenario, uint32_t number);

/* The simulator's only source of chance: splitmix64. */
uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);
uint64_t random_duration(uint64_t *state, const struct duration *duration);

#endif
