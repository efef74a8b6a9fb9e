/* A played OpenMP runtime: threads that execute a scenario, and tell the tool what libomp would, in its
 * order. Each thread is a stack of activities, one for each op that it is in; an activity goes on step by
 * step. */
#ifndef BLAME_TESTS_SIMULATOR_RUNTIME_H
#define BLAME_TESTS_SIMULATOR_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/simulator/machine.h"
#include "tests/simulator/oracle.h"
#include "tests/simulator/played.h"

#define MAX_SHARED 64u /* worksharing constructs of a region that its threads may be in at once */

/* A worksharing construct, as the team shares it. */
struct shared {
    uint32_t instance; /* its number in the region, + 1 */
    uint32_t next;     /* iteration to be given out */
    uint32_t turn;     /* iteration whose ordered part comes next */
    bool taken;        /* the single has its executor */
};

struct team {
    ompt_data_t told; /* parallel_begin's, of which the team has a copy */
    ompt_data_t parallel;
    struct team *outer;
    struct sim_thread **members;
    uint32_t size;
    uint32_t references; /* threads that have not left it */
    uint32_t context;    /* of the code that began the region */
    uint32_t function;   /* that began it, and the line */
    uint32_t line;
    uint32_t arrived, barriers; /* at the barrier that is under way; those that are over */
    uint32_t tasks;             /* not finished */
    struct task *first_ready, *last_ready;
    struct shared shared[MAX_SHARED];
};

struct group {
    struct group *outer;
    uint32_t tasks;
};

struct task {
    struct played_task played;
    const struct op *op;
    struct team *team;
    struct task *parent;
    struct group *group;  /* that its tasks are made in */
    struct group *member; /* that it was made in */
    struct task *next_ready;
    uint32_t children;
    uint32_t references; /* its own life, and its children's */
    uint32_t constructs; /* worksharing ones encountered */
    uint32_t created_context;
    bool at_once;       /* it runs inside the call that made it */
    struct task *below; /* the task that was current before it, on its thread */
};

enum activity_kind { DO_BODY, DO_OP, DO_WAIT, DO_IMPLICIT, DO_TASK, DO_START, DO_THREAD };

enum wait_kind { WAIT_BARRIER, WAIT_JOIN, WAIT_CHILDREN, WAIT_DEPEND, WAIT_GROUP };

struct activity {
    enum activity_kind kind;
    uint32_t step;
    uint32_t left; /* repetitions, iterations */
    uint32_t first, instance;
    const struct op *op; /* DO_BODY: the next one */
    struct team *team;
    struct task *task;
    struct group group;
    enum wait_kind wait;
    ompt_sync_region_t sync;
    uint64_t place;
    const void *codeptr;
    uint32_t function; /* whose body it is */
    uint64_t since_ns; /* OP_AWAIT: begin of its wait */
    uint64_t ready_ns; /* the same: how long its thread had lacked a core for what it did by then */
};

enum outcome { GO_ON, PAUSE };

/* The current thread's. */
struct activity *runtime_push(enum activity_kind kind, const struct op *op);
void runtime_pop(void);
uint32_t runtime_function(void);                   /* that the thread executes */
void runtime_state(enum exact_state state);        /* in the context of the innermost frame */
void runtime_call(const struct op *op, int entry); /* the program calls the runtime in the op's line */
const void *runtime_codeptr(const struct op *op);

void runtime_enter_code(struct activity *activity, uint32_t around); /* of the current task, below a context */
void runtime_leave_code(void);

enum outcome runtime_op(struct activity *activity);   /* runtime_ops.c */
enum outcome runtime_wait(struct activity *activity); /* runtime_waits.c */
enum outcome runtime_task(struct activity *activity);
enum outcome runtime_implicit(struct activity *activity); /* runtime_teams.c */
enum outcome runtime_parallel(struct activity *activity);
enum outcome runtime_lock(struct activity *activity); /* runtime_locks.c */
enum outcome runtime_ordered(struct activity *activity);
enum outcome runtime_mutex(struct activity *activity);
enum outcome runtime_thread(struct activity *activity); /* runtime_threads.c */
enum outcome runtime_thread_op(struct activity *activity);
void runtime_threads_begin(void); /* the current one is the first of a program without a team */
void runtime_threads_end(void);
void runtime_wait_for(enum wait_kind wait, ompt_sync_region_t sync, const void *codeptr);
void runtime_create_task(const struct op *op);
void runtime_wake_team(const struct team *team);
void runtime_release_task(struct task *task);
void runtime_tell_parked(void);
void runtime_locks_make(bool made);
void runtime_locks_requeue(const struct sim_thread *thread);

/* Plays the scenario to the tool that has been started. */
void runtime_play(void);

#endif
