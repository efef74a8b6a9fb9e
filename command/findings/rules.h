/* What the rules behind command/findings/findings.h share: the thresholds, the sums they judge, and how a finding is
 * put down. docs/accounting.md derives every bound. */
#ifndef BLAME_COMMAND_FINDINGS_RULES_H
#define BLAME_COMMAND_FINDINGS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_metrics.h"
#include "command/findings/finding.h"
#include "command/profile/pair_map.h"
#include "command/rows/error.h"
#include "command/tables/conservation.h"
#include "command/tables/locks.h"
#include "command/tables/waits.h"
#include "command/text/format.h"

struct profile_rank;

#define LEAST_PERCENT 5.0  /* of the whole program's effort, for every finding */
#define LEAST_GAIN_S  0.02 /* less is not worth a line: a process's start is known to 5 ms */
#define FEW_PIECES    4.0  /* iterations a thread: with fewer no schedule can divide them equally */
#define MOSTLY        0.5  /* of the idleness that something is known of: that it is of this kind */
#define ONE_THREAD    1.05 /* in a team on average: it is one of one thread */
#define TOLD_APART    64   /* most threads of which a context knows which ones they were */
#define BOTH_PERCENT  10.0 /* of a region's own effort: its idleness and its overhead are both high */
#define HANDOFF_SHARE 0.5  /* of the waiting for a lock while nobody held it: it is taken too often */
#define LOST_PERCENT  5.0  /* of samples, or of time: with more lost the other numbers are doubtful */
#define NAME_COLUMNS  60
#define NAME_BYTES    (4 * NAME_COLUMNS + 1)

/* Why threads idle in a region. */
enum cause {
    CAUSE_BARRIER, /* they wait for others at a barrier */
    CAUSE_TASKS,   /* they wait for tasks, or in a barrier for whoever executes the last ones */
    CAUSE_NO_TEAM, /* they are in no team meanwhile */
    CAUSES
};

/* What the OpenMP runtime was asked for. */
enum construct {
    CONSTRUCT_REGION,
    CONSTRUCT_TASK,
    CONSTRUCT_LOOP,
    CONSTRUCT_LOCK,
    CONSTRUCT_BARRIER,
    CONSTRUCT_WAIT, /* a region or a loop, while the runtime waits in it and does not tell */
    CONSTRUCT_OTHER,
    CONSTRUCTS
};

/* A parallel region's code with all that it calls, the same from wherever it is entered; or all tasks below
 * one function. Code that is in no known region but idles at barriers (programs without names) is one for
 * each function. */
struct unit {
    uint32_t row; /* its context with the highest effort */
    double row_ns;
    uint32_t contexts;
    struct profile_sums sum;
    double idle_ns[CAUSES];
    uint32_t worst[CAUSES]; /* the row within whose own code is blamed most */
    double worst_ns[CAUSES];
    double kind_ns[WAIT_KINDS]; /* where they wait */
    struct profile_idle idle;   /* at barriers: what is known of the code beside it */
    double asleep_ns;           /* most idleness beside one row that was blocked, */
    uint32_t asleep;            /* and that row */
    double alone_ns;            /* the part beside code that only one thread was seen in, in no loop or single */
    bool both;                  /* its idleness and its overhead are one finding */
    uint32_t host;              /* the unit that counts for all that may idle because of one another, or itself */
    double host_idle_ns;        /* of a host: the idleness of them all */
    uint32_t stamp;             /* of a host, for walks that count each once */
};

#define UNIT_NONE UINT32_MAX

struct inquiry {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    const struct wait_table *waits;
    struct findings *findings;
    size_t room;
    struct ledger ledger;
    double whole_s;  /* the program's effort */
    double period_s; /* of the thread sampled least often */
    struct error_terms error;
    double threads, cores;
    double idle_to_wall;     /* seconds of the run that a thread-second of idleness can stand for at most */
    double busy_to_wall;     /* the same of waiting and overhead */
    double nobody_busy_s;    /* of the run: no thread was busy */
    double no_core_s;        /* of threads without a core, if that is a finding: it explains others */
    bool late_told;          /* what ranks wait for others of their node is a finding */
    double *between_ns;      /* by row: what is charged of it between nodes, if that is a finding; NULL: it is none */
    double no_core_idle_ns;  /* idleness blamed on missing cores */
    uint32_t *region;        /* by row: the outermost row of a region around it, ROW_NONE: serial code */
    uint32_t *unit_of;       /* by row */
    bool *in_task;           /* by row */
    uint32_t *own;           /* by row: the program's own code that it runs for, in the same region */
    double *idle_ns[CAUSES]; /* by row of own code: its own and what it calls of others' */
    struct unit *unit;
    size_t unit_count, unit_room;
    struct pair_map unit_map;
    uint32_t stamp; /* the last given out */
};

/* Sums over pairs (key, row): functions with their contexts. */
struct tally {
    struct pair_map map;
    struct tallied {
        uint64_t key;
        double ns;
        uint32_t row; /* with the most of it */
        double row_ns;
        uint32_t contexts;
    } *item;
    size_t count, room;
};

void gather_units(struct inquiry *inquiry);
double unit_idle_ns(const struct unit *unit);
uint32_t next_stamp(struct inquiry *inquiry);
/* Idleness of the host of a row's unit; 0 when this was asked already with the same stamp. */
double host_idle_once(struct inquiry *inquiry, uint32_t row, uint32_t stamp);
/* Thread-seconds of waiting or overhead, spent where threads idle for so long besides, cannot stand for more
 * of the run than this. */
double bound_of_cost(const struct inquiry *inquiry, double seconds, double idle_ns);

void tally_add(struct tally *tally, uint64_t key, uint32_t row, double ns);
void tally_free(struct tally *tally);

/* Whether so much is a finding, which says so itself when sampling may have put it above the threshold. */
bool is_enough(const struct inquiry *inquiry, double seconds);
bool is_enough_idleness(const struct inquiry *inquiry, double seconds);

double percent_of_program(const struct inquiry *inquiry, double seconds);
/* Busy threads while code with these sums ran, on average. */
double busy_threads(const struct profile_sums *sum);

/* What the program called, of a row that may be deep inside: "read", of __GI___libc_read. */
const char *name_of_call(const struct rows *rows, uint32_t row);

/* A name as part of a sentence. */
void shorten_name(char to[NAME_BYTES], const char *name);

/* Puts a finding down and takes over its texts; place and share are made from row and seconds. */
void put_finding(struct inquiry *inquiry, const struct finding *finding);

/* Puts that down; then nothing else can be said. */
bool find_unmeasured(struct inquiry *inquiry); /* true: nothing follows from the rest */
bool find_short_run(struct inquiry *inquiry);

/* The rules. A rule may count on gather_units(). */
void find_losses(struct inquiry *inquiry);
void find_no_core(struct inquiry *inquiry); /* before find_losses */
void find_start_up(struct inquiry *inquiry);
void find_serial_code(struct inquiry *inquiry);
void find_both(struct inquiry *inquiry);
void find_idle_regions(struct inquiry *inquiry);
void find_overhead(struct inquiry *inquiry);
void find_locks(struct inquiry *inquiry);
void find_late_ranks(struct inquiry *inquiry);
void find_late_between_nodes(struct inquiry *inquiry);
void find_mpi_waits(struct inquiry *inquiry);     /* behind these two */
void find_unequal_ranks(struct inquiry *inquiry); /* the same */
void find_changes(struct inquiry *inquiry);
void find_periods(struct inquiry *inquiry);

enum construct construct_of(const struct rows *rows, const struct row *row);
bool is_untold_wait(const struct row *row); /* the runtime waited, and did not tell */

/* Of ranks' parts, the greatest first: the fewest that have more than half way between their fair share and all, at most every second rank; 0: nobody
 * stands out. */
size_t count_outstanding(const double *part, size_t count, size_t ranks);
/* "rank 3 makes", "ranks 1, 3 and 4 make", "17 ranks (3, 4, 9, ...) make"; malloc'ed. */
char *describe_late(const struct profile_rank *const *rank, size_t late);

#endif
