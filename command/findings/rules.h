/* What all rules share: thresholds, the sums that the rules judge, and how to record a finding.
 * docs/accounting.md derives every bound. */
#ifndef BLAME_COMMAND_FINDINGS_RULES_H
#define BLAME_COMMAND_FINDINGS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_metrics.h"
#include "command/findings/calls.h"
#include "command/findings/finding.h"
#include "command/profile/pair_map.h"
#include "command/rows/error.h"
#include "command/tables/conservation.h"
#include "command/tables/locks.h"
#include "command/tables/waits.h"
#include "command/text/format.h"

struct profile_rank;

/* least percentage that is reported, of the effort that had a core (inquiry.core_s) */
#define LEAST_PERCENT 5.0
/* least saving in seconds that is reported; the start of a process is known only to 5 ms */
#define LEAST_GAIN_S 0.02
#define FEW_PIECES   4.0 /* least number of iterations per thread that a schedule can divide equally */
/* seconds of the run per region that starting a tiny region can take, beside other programs, too */
#define TINY_WALL_S     1e-3
#define TINY_S          10e-6 /* work per region in s below which starting the region takes longer than the work */
#define ONE_THREAD      1.05  /* average team size below which a team counts as one thread */
#define MOST_IDENTIFIED 64    /* number of threads that a context's bit set can distinguish */
/* percentage of a region's own effort from which idleness and overhead count as high */
#define BOTH_PERCENT 10.0
/* a lock counts as taken too often if nobody held it for at least this share of the waiting */
#define HANDOFF_SHARE   0.5
#define LOST_PERCENT    5.0 /* percentage of lost samples or time from which the other numbers are doubtful */
#define CONSTRUCT_BYTES (NAME_BYTES + 4) /* of a name after " in " */
/* ns per page fault below which code does little else than touch new memory */
#define FAULT_NS 5000.0

/* Why threads idle in a region. */
enum cause {
    CAUSE_BARRIER, /* threads wait for others at a barrier */
    CAUSE_TASKS,   /* threads wait for tasks, or at a barrier for the threads that execute the last tasks */
    CAUSE_NO_TEAM, /* threads are in no team */
    CAUSE_LOCK,    /* threads wait for code that holds a lock, after it had to wait for the lock as well */
    CAUSES
};

/* What the program asked the OpenMP runtime for. */
enum construct {
    CONSTRUCT_REGION,
    CONSTRUCT_TASK,
    CONSTRUCT_LOOP,
    CONSTRUCT_LOCK,
    CONSTRUCT_LOCK_MAKING, /* initialises and destroys locks */
    CONSTRUCT_FLUSH,
    CONSTRUCT_BARRIER,
    CONSTRUCT_WAIT, /* the runtime waits inside a region or loop without reporting the wait */
    CONSTRUCT_OTHER,
    CONSTRUCTS
};

/* A unit is the code of one parallel region with all its callees, over all callers, or all tasks below one
 * function. In programs without names, each function that idles at barriers outside any known region is a
 * unit of its own. */
struct unit {
    uint32_t row; /* the context of the unit with most effort */
    double row_ns;
    uint32_t contexts;
    struct profile_sums sum;
    double idle_ns[CAUSES];
    double lost_ns[CAUSES]; /* ns of idleness beside the unit's code while that code had no core */
    uint32_t worst[CAUSES]; /* the row whose own code is blamed most, by cause */
    double worst_ns[CAUSES];
    double overhead_idle_ns;    /* ns of idleness at barriers and for tasks beside the overhead of the unit */
    double kind_ns[WAIT_KINDS]; /* ns of idleness by kind of wait */
    struct profile_idle idle;   /* what is known about the code that ran while threads idled at barriers */
    double asleep_ns;           /* ns of idleness beside the blocked row `asleep` */
    double awaiting_ns;         /* ns of calls that wait for other threads */
    double awaited_ns;          /* ns of idleness beside these calls */
    bool passes;                /* whether awaited_ns is charged to the unit's other code, for which they may wait */
    bool idle_told;             /* whether a finding is about the idleness at barriers or for tasks */
    uint32_t asleep;            /* the blocked row beside which threads idled most */
    /* ns of idleness beside code, outside loops and single constructs, that only one thread was seen to
     * execute */
    double alone_ns;
    uint64_t threads;     /* bit set of the threads that samples saw in the unit */
    bool copies;          /* whether a finding is about copies that threads make when they enter the region */
    bool reduces;         /* whether code in the line of its directive combines copies */
    bool idle_for_copies; /* whether threads wait at barriers mostly for these copies */
    bool both;            /* whether idleness and overhead of the unit are one finding */
    /* whether the unit's overhead exceeds its work and its idleness, so that its pieces are too small */
    bool fine;
    enum construct fine_by; /* if `fine`: the construct with most of this overhead */
    bool slow_creation; /* whether a finding says that the unit creates its tasks too slowly, or executes such tasks */
    bool tiny;          /* whether starting the unit's regions takes longer than their work */
    /* the unit that represents all units whose idleness may have the same cause; may be this unit itself */
    uint32_t host;
    double host_idle_ns; /* in a host: ns of idleness of all units that it represents */
    double host_work_ns; /* and of their work */
    uint32_t stamp;      /* in a host: stamp of the last walk that counted it */
};

#define UNIT_NONE UINT32_MAX

/* Time that would disappear if the problem of a finding were solved, in thread-seconds. */
struct relief {
    double idle_s;      /* idleness of other threads beside the code, whether the code had a core or not */
    double asleep_s;    /* part of idle_s beside code that sleeps, and so needs no core */
    double waited_s;    /* waiting for locks, or for other ranks */
    double spent_s;     /* time in the runtime, or in code that is not needed */
    double slowed_s;    /* work that is gone with spent_s, because calls of the runtime slow it (slowed_by) */
    double lost_s;      /* time for which the code of spent_s had no core */
    double moved_s;     /* time of the code itself that other threads may take over; INFINITY: any time */
    double dropped_s;   /* time of the code itself that need not be spent */
    double start_s;     /* time before the tool's start that other threads may take over */
    double wall_s;      /* seconds of the run that are gone as well, by the rule's own estimate */
    double error_share; /* sampling error of waited_s and spent_s as a share of them; put_bounded_finding sets it */
    bool not_runtime;   /* whether spent_s is not the runtime's, so that floors.runtime_s does not limit it */
    /* idle_s is only a consequence of waited_s, spent_s and slowed_s, so no more than these can be gone from the run */
    bool idle_follows;
};

/* The times that limit every bound, in seconds. */
struct floors {
    /* for each thread: work, overhead and sleep, less their sampling error; sorted, longest first */
    double *busy_s;
    size_t threads;
    double sum_s;    /* sum of these times, without that reduction */
    double variance; /* variance of sum_s */
    double slept_s;  /* part of sum_s that needs no core */
    /* part of slept_s in calls that wait for other threads: it may end earlier if any thread has less to do */
    double awaiting_s;
    double runtime_s; /* time on cores beyond the work, which other overhead slept; INFINITY: unknown */
    double start_s;   /* before the tool's start, when there is one thread; not in busy_s */
};

struct inquiry {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    const struct wait_table *waits;
    struct findings *findings;
    size_t room;
    struct ledger ledger;
    double whole_s;  /* the program's effort in thread-seconds */
    double core_s;   /* whole_s without the time without a core, and without the waiting beside such time */
    double period_s; /* sampling period in seconds of the thread with the fewest samples per second */
    struct error_terms error;
    double threads, cores;
    double idle_to_wall; /* most seconds of the run that one thread-second of idleness can cost */
    struct floors floors;
    double nobody_busy_s; /* seconds of the run in which no thread was busy */
    /* thread-seconds without a core, which explain other findings; 0 if they are no finding */
    double no_core_s;
    bool threads_told; /* whether a finding says that threads are made too often */
    bool late_told;    /* whether waiting for ranks of the same node is a finding */
    /* by row: ns of waiting charged to ranks of other nodes; NULL if that is no finding */
    double *between_ns;
    double no_core_idle_ns; /* ns of idleness blamed on missing cores */
    /* by row: the region that contains the row, or ROW_NONE in serial code; of several, the outermost one, unless threads
     * wait in one of the others (split_nested_regions) */
    uint32_t *region;
    uint32_t *unit_of; /* by row */
    bool *in_task;     /* by row */
    /* by row: the row of the program's own code, in the same region, that called this row; may be the row
     * itself */
    uint32_t *own;
    /* by row of the program's own code: ns of idleness blamed on the row and on the foreign code that it
     * calls */
    double *idle_ns[CAUSES];
    /* the same while that code had no core */
    double *lost_ns[CAUSES];
    /* part of idle_ns beside calls that wait for other threads; outside teams, only if such threads were busy */
    double *awaited_ns[CAUSES];
    /* by row: what it waits for while it sleeps; NULL: it does not sleep */
    const struct awaited **awaited;
    double *spun_ns;      /* by row: ns of work and overhead in loops that wait for another thread */
    double *wait_told_ns; /* by row: ns of waiting for threads outside OpenMP that findings are about */
    bool *holds_told;     /* by row: whether a finding says that it sleeps while it holds a lock */
    struct unit *unit;
    size_t unit_count, unit_room;
    struct pair_map unit_map;
    struct pair_map task_hosts; /* by function: the unit of the tasks that are created below it */
    uint32_t stamp;             /* the stamp that next_stamp() returned last */
};

/* Sums of ns by key (a function) and row (a context of the function). */
struct tally {
    struct pair_map map;
    struct tallied {
        uint64_t key;
        double ns;
        uint32_t row; /* the row with the largest part of `ns` */
        double row_ns;
        uint32_t contexts;
    } *item;
    size_t count, room;
};

#define WAKERS_BYTES (NAME_BYTES + 64)
/* Writes "; mostly woken by put  queue.c:40  < produce" for the code that ended most of the waiting in a call;
 * nothing if that is unknown. */
void describe_wakers(const struct inquiry *inquiry, uint32_t call, char text[WAKERS_BYTES]);

/* Gathers inquiry->awaited; comes first. */
void findings_gather_awaited(struct inquiry *inquiry);
/* Returns whether the row slept in a call that waits for other threads of the program. */
static inline bool waits_for_threads(const struct inquiry *inquiry, uint32_t row)
{
    return inquiry->awaited[row] && inquiry->awaited[row]->threads;
}
#define THREAD_TREES 64 /* number of trees that a node's bit set can distinguish */
/* Returns whether there are so few threads that nodes tell them apart. */
bool threads_have_trees(const struct profile *profile);
/* Returns the row of the program's own code in which a thread begins; ROW_NONE if there is none. */
uint32_t thread_first_row(const struct rows *rows, uint32_t index);
/* Sets first[t] to the function in which the threads of tree t begin; ROW_NONE if that is not only one. */
void find_first_functions(const struct inquiry *inquiry, uint32_t first[THREAD_TREES]);
/* Returns the row of the program's own code with most work of threads that begin in a function, and the row in which
 * they begin; ROW_NONE if they did not work. */
uint32_t busiest_row_of_threads(const struct inquiry *inquiry, uint32_t function, uint32_t *begins);
/* Gathers inquiry->spun_ns. */
void findings_gather_spinning(struct inquiry *inquiry);
void findings_gather_units(struct inquiry *inquiry);
double unit_idle_ns(const struct unit *unit);
/* Returns whether missing cores can explain that threads waited so long: while one thread has no core, at most all
 * others wait for it. */
bool cores_explain(const struct inquiry *inquiry, double waited_s);
uint32_t next_stamp(struct inquiry *inquiry);
/* Returns the host of a unit. Returns NULL for UNIT_NONE, and if an earlier call with the same stamp has returned the
 * host. */
const struct unit *host_once(struct inquiry *inquiry, uint32_t unit, uint32_t stamp);

/* Gathers inquiry->floors, for bound_of(). */
void findings_gather_floors(struct inquiry *inquiry);
/* Returns an upper bound on the seconds by which the run becomes shorter. docs/findings.md, "The bound", has
 * the equation. */
double bound_of(const struct inquiry *inquiry, const struct relief *relief);
/* Returns how much of the work of the code that makes calls of the runtime may be gone with these calls. */
double slowed_by(double calls_s, double work_s);
/* Adds the time of calls that take and release locks: those in the function of a row, or in the nearest one of the same
 * region that takes locks and calls it. A repair may make them unnecessary. */
void add_lock_calls(struct inquiry *inquiry, uint32_t row, struct relief *relief);
/* Returns the thread-seconds for which waiting threads had no core. The ledgers' idle_no_core includes such
 * time of sleeping threads, so the share of sleeping threads is subtracted. */
double waited_without_core_s(const struct profile *profile);

void tally_add(struct tally *tally, uint64_t key, uint32_t row, double ns);
/* Does the same for a key of two parts. */
void tally_add_two(struct tally *tally, uint64_t key, uint64_t second, uint32_t row, double ns);
void tally_free(struct tally *tally);

/* Returns whether the seconds are enough for a finding. If sampling alone may have put a finding above the
 * threshold, the finding says so. */
static inline bool finding_is_enough(const struct inquiry *inquiry, double seconds)
{
    return 100 * seconds >= LEAST_PERCENT * inquiry->core_s && seconds > 0;
}
bool finding_is_enough_idleness(const struct inquiry *inquiry, double seconds);

double percent_of_program(const struct inquiry *inquiry, double seconds);
/* Writes a share with its whole: "14.0 % of the effort of 8.28 thread-seconds". SHARE does so as an expression,
 * whose text lives as long as the enclosing block. */
#define SHARE_BYTES (3 * FORMAT_NUMBER_BYTES + 64)
const char *describe_share(char to[SHARE_BYTES], const struct inquiry *inquiry, double seconds);
#define SHARE(inquiry, seconds) describe_share((char[SHARE_BYTES]){0}, inquiry, seconds)
/* Writes a share for a title: "14 % of the effort", or "14 % of the effort with a core" if threads lacked cores. */
#define PART_BYTES (FORMAT_NUMBER_BYTES + 32)
const char *describe_part(char to[PART_BYTES], const struct inquiry *inquiry, double seconds);
#define PART(inquiry, seconds) describe_part((char[PART_BYTES]){0}, inquiry, seconds)
/* Returns the average number of busy threads while the code with these sums ran. */
double busy_threads(const struct profile_sums *sum);

/* Returns the region or task of a unit that contains the row; the one with most effort if none does. A unit of tasks may
 * contain several. */
uint32_t construct_at(const struct inquiry *inquiry, const struct unit *unit, uint32_t row);
/* Writes " in " and the name of this region or task, with its directive's line. Writes "" if the place of a finding at
 * `row` begins with it. */
void name_construct(const struct inquiry *inquiry, const struct unit *unit, uint32_t row, char to[CONSTRUCT_BYTES]);

/* Records a finding and takes ownership of its texts. Derives place from row, and share from seconds. */
void put_finding(struct inquiry *inquiry, const struct finding *finding);
/* Does the same for a finding with a bound, which it derives from `relief`. Frees the texts and records
 * nothing if less than LEAST_GAIN_S can be saved, or if the seconds may be 0 by chance. */
void put_bounded_finding(struct inquiry *inquiry, const struct finding *finding, const struct relief *relief);

/* Records that too little of the program was measured. Returns true if so; this rules out all other findings. */
bool find_unmeasured(struct inquiry *inquiry);
/* Returns whether there are too few samples for any rule but find_short_run. */
bool samples_are_too_few(const struct inquiry *inquiry);
/* Records that the run was short, if no rule found anything. Call it after all of them. */
void find_short_run(struct inquiry *inquiry);

/* The rules. Each can use what findings_gather_units() has gathered. */
void find_losses(struct inquiry *inquiry);
void find_no_core(struct inquiry *inquiry); /* call before find_losses */
void find_start_up(struct inquiry *inquiry);
void find_serial_code(struct inquiry *inquiry);
void find_fine_units(struct inquiry *inquiry); /* marks units; call before the next three */
void find_spinning(struct inquiry *inquiry);   /* call after find_bottlenecks */
void find_copies(struct inquiry *inquiry);     /* marks units, too; call before find_idle_regions */
void find_reductions(struct inquiry *inquiry); /* the same */
void find_both(struct inquiry *inquiry);
void find_idle_regions(struct inquiry *inquiry);
void find_overhead(struct inquiry *inquiry);
void find_atomic_updates(struct inquiry *inquiry); /* call after find_reductions */
void find_blocked(struct inquiry *inquiry); /* call after find_idle_regions and the two about threads outside OpenMP */
void find_pools(struct inquiry *inquiry);
void find_page_faults(struct inquiry *inquiry);
void find_one_thread(struct inquiry *inquiry);
void find_short_threads(struct inquiry *inquiry);
void find_unequal_threads(struct inquiry *inquiry); /* call after find_short_threads, as find_unseen_threads */
void find_bottlenecks(struct inquiry *inquiry);
void find_alone(struct inquiry *inquiry); /* call after find_bottlenecks */
void find_unseen_threads(struct inquiry *inquiry);
void find_locks(struct inquiry *inquiry);
void find_late_ranks(struct inquiry *inquiry);
void find_late_between_nodes(struct inquiry *inquiry);
void find_mpi_waits(struct inquiry *inquiry);     /* call after find_late_ranks and find_late_between_nodes */
void find_unequal_ranks(struct inquiry *inquiry); /* the same */
void find_changes(struct inquiry *inquiry);
void find_periods(struct inquiry *inquiry);

enum construct construct_of(const struct rows *rows, const struct row *row);
/* Returns the processor time that the process used outside its measured threads, in s; 0 if that is unknown. */
double unseen_processor_s(const struct inquiry *inquiry);
/* Returns whether the time in which no thread was busy is enough for a finding. */
bool nobody_busy_is_enough(const struct inquiry *inquiry);
/* Returns the work in all regions, in s per region; 0 if the number of regions is unknown. */
double work_per_region(const struct inquiry *inquiry);
/* Returns whether regions are so small and so many that they explain the time in which no thread was busy. */
bool idles_for_tiny_regions(const struct inquiry *inquiry);
bool counts_page_faults(const char *counter); /* by its name */
/* Returns whether a row of waiting in a loop is one of a pool of threads, which find_pools() reports. */
bool is_of_pool(const struct rows *rows, uint32_t row);
/* Returns whether the row is a wait inside the runtime that no OMPT event reports. */
bool is_untold_wait(const struct row *row);

/* Returns how many ranks stand out: the smallest number of ranks whose sum exceeds the midpoint between their
 * fair share and the whole. At most half of the ranks can stand out; 0: none does. part is sorted, largest
 * first. */
size_t count_outstanding(const double *part, size_t count, size_t ranks);
/* Returns "rank 3 makes", "ranks 1, 3 and 4 make" or "17 ranks (3, 4, 9, ...) make". The caller frees it. */
char *describe_late(const struct profile_rank *const *rank, size_t late);

#endif
