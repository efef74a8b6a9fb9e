/* The machine below the plugin: one virtual clock, threads under one baton, cores, timers. All that happens
 * is an event of the queue; between two events nothing changes. */
#ifndef BLAME_TESTS_SIMULATOR_MACHINE_H
#define BLAME_TESTS_SIMULATOR_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/simulator/scenario.h"

struct activity; /* runtime.c */
struct team;
struct task;

/* A frame of a thread's played stack, the innermost last. */
struct frame {
    uintptr_t ip;
    uint32_t context; /* user code: what is above and it, as the oracle's contexts */
};

enum run_state {
    RUN_NOWHERE, /* not begun, or ended */
    RUN_WAITS,
    RUN_READY, /* it would run, and has no core */
    RUN_ON_CORE,
    RUN_STOPPED, /* with all of the process */
};

struct timer {
    bool armed;
    int signal;
    uint64_t due_ns, period_ns; /* of the next expiry that no event has told */
    uint64_t first_ns;          /* of the first that waits to be delivered */
    uint64_t waiting;           /* expirations */
    uint64_t arrives_ns;        /* their signal */
    bool arrived;
    uint32_t generation;
};

/* A timer of a thread's CPU time, which expires once, at a clock tick. */
struct cpu_timer {
    bool armed;
    uint64_t at_ns; /* the thread's CPU time at which it is due */
    uint32_t generation;
    bool arrived; /* its signal has not been delivered yet */
};

/* Clock ticks come at the multiples of this. */
#define TICK_NS 4000000u

struct sim_thread {
    uint32_t number;
    bool foreign; /* another program's */
    bool spins;   /* its code waits in a loop */
    void *tls;    /* the thread's own variables while it has not the baton */
    enum run_state run;
    uint64_t need_ns;  /* on a core until what it does is done */
    uint64_t since_ns; /* on the core since */
    uint64_t ready_ns; /* ready since */
    uint64_t on_core_ns, no_core_ns;
    uint64_t turns, turn_ns; /* cores that it got; when it got the last */
    long sleeps;             /* that it gave away itself */
    long preemptions;        /* that it was taken */
    uint64_t woken_ns;       /* without a core, for a signal only */
    bool no_core;            /* and it wants one for what it does */
    bool was_ready;          /* as the oracle was told */
    uint32_t done_generation, slice_generation;
    bool stands_still; /* for its sample, */
    uint64_t comes_ns; /* whose signal comes then; 0: none is on its way */
    bool asleep;       /* its signal has come while it waited */
    uint64_t limit_ns; /* of its wait */
    bool by_timer;     /* which ends then, and by nobody else */
    bool behind_wait;  /* it has executed nothing since it waited */
    bool released;     /* its wait is over, and it is about to be woken */
    bool woken;        /* what it waited for has come; else it wants a core for a signal only */
    struct timer timer;
    struct cpu_timer cpu_timer;
    struct sim_thread *next_ready;
    uint64_t chance; /* its own, so that what one thread does changes no other's */
    /* runtime.c */
    struct frame *frames;
    uint32_t frame_count, frame_room;
    struct activity *activities;
    uint32_t activity_count, activity_room;
    struct task *task;      /* the current one */
    bool dismissed;         /* by libgomp: it ends when it has a core */
    struct team *next_team; /* that it is to join from the pool, as number next_num */
    uint32_t next_num;
    struct sim_thread *next_pool;
};

struct machine {
    const struct scenario *scenario;
    uint64_t now_ns;
    uint64_t events;                 /* handled so far */
    uint64_t stop_at;                /* number of the event at which everything stops; 0: never */
    uint64_t stalled_ns, went_on_ns; /* when it stood still last, and until when */
    uint64_t chance, shuffling;
    bool shuffled;     /* simultaneous events come in any order */
    bool creation;     /* tasks hang below the code that made them */
    bool at_release;   /* what others waited for is blamed on the release of a lock */
    bool over;         /* the program has ended */
    bool stopped;      /* and goes on later */
    uint64_t start_ns; /* of the process: the timers' phases follow it */
    uint32_t cores_free;
    uint32_t released; /* threads that are */
    struct sim_thread *current;
    struct sim_thread **threads;
    uint32_t thread_count;
    uint64_t samples; /* deliveries */
};

extern struct machine machine;

void machine_init(const struct scenario *scenario, uint64_t seed);
struct sim_thread *machine_thread(void);

/* Gives the calling thread's variables to that thread. */
void machine_switch(struct sim_thread *thread);

/* Arms the thread's timer of CPU time, or disarms it (0). */
void machine_set_cpu_timer(struct sim_thread *thread, uint64_t after_ns);

/* The current thread wants a core for that long, and goes on (runtime_go_on) then. */
void machine_busy(uint64_t ns);

/* The current thread wants no core until it is woken. */
void machine_wait(void);
void machine_wake(struct sim_thread *thread, uint64_t after_ns);
/* The thread's wait is over, and it will be woken: from now on, not only when the wake-up is over, it lacks a core while none
 * is free. */
void machine_release(struct sim_thread *thread);
void machine_end_thread(void);

/* Until nothing is left to happen, or stop_at. */
void machine_run(void);

/* What machine.c calls: the thread's activities until they want time, or wait. */
void runtime_go_on(struct sim_thread *thread);

#endif
