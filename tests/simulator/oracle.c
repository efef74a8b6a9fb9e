#include "tests/simulator/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulator/changes.h"
#include "tests/simulator/crowd.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/pieces.h"
#include "tests/simulator/windows.h"

#define GRACE_NS 5000u /* docs/accounting.md: so much of each wait is dispatch */
#define TIE_NS   1     /* in the nanosecond in which something changes a sample may come before or behind it */
#define MOST_TOGETHER                                                                                                  \
    (4.0 / 3) /* docs/accounting.md: of threads whose moments are spread evenly, for independent ones */

/* What a thread adds to contexts at this moment: its own, and as a waiter its lock's holder's; or, of what is the code's and its missing
 * core's together, the core's. */
struct share {
    uint32_t context;
    bool adds, alone; /* alone: and nothing to those around it, which have it already */
    double weight[METRIC_COUNT];
};

#define SHARES       5 /* and one for each lock that it holds */
#define RANKS_SHARE  3
#define NOBODY_SHARE 4
#define MOST_ADDED   256u
#define MAX_PLACES   256u

/* What a thread has added so far in the period in which it added last. */
struct cell {
    uint64_t period;
    double sum[METRIC_COUNT];
};

struct now {
    enum exact_state state;
    uint32_t context, lock;
    uint64_t place;
    uint64_t
        grace_until_ns; /* before that its wait is dispatch, from then on what it grows to; 0: it does not wait, or is idle */
    enum exact_state grows_to;
    bool no_core, ready, stolen, stopped;
    struct cell *cells; /* one for each context, then one for each place */
};

static struct {
    struct exact *exact;
    struct now *threads;
    uint32_t thread_count, cores;
    uint64_t period_ns;
    double of_rank; /* what others waited for this one, whatever its threads did */
    struct {
        bool held;
        uint32_t context, owner; /* owner: who holds it, or will; NO_THREAD: nobody, or nobody's samples count it */
        bool inside;             /* whether a thread is in a section whose order is given */
        uint32_t turn;           /* if not: 1 + whose turn it is; 0: nobody's, or the lock has no order */
    } locks[MAX_LOCKS];
    struct {
        uint32_t context;
        double weight[METRIC_COUNT];
    } added[MOST_ADDED]; /* by one thread, in one interval */
    uint32_t added_count;
    struct {
        uint64_t key;
        struct exact exact;
    } places[MAX_PLACES];
    uint32_t place_count;
} sum;

/* Also after a sleep. */
static bool runs_or_would(const struct now *now)
{
    return now->state == EXACT_WORK || now->state == EXACT_OVERHEAD || (now->state == EXACT_BLOCKED && now->no_core);
}

/* Threads of a program without a team that run, or would if they had a core; and all that there are. */
static double count_running(double *there)
{
    double running = *there = 0;
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        *there += sum.threads[i].state != EXACT_ABSENT;
        running += runs_or_would(&sum.threads[i]);
    }
    return running;
}

/* What idles is cores, and those that run share them. */
static void share_cores(const struct now *now, struct share shares[SHARES])
{
    double there, running = count_running(&there);
    bool runs = runs_or_would(now);
    for (int i = 0; i < SHARES; i++)
        shares[i].weight[METRIC_CORE_IDLE] = 0;
    for (int i = 0; i < 2; i++) /* of the code, and of its missing core */
        shares[i].weight[METRIC_CORE_IDLE] = runs && running < sum.cores ? (sum.cores - running) / running : 0;
    shares[NOBODY_SHARE].adds = running == 0 && now->state != EXACT_ABSENT;
    shares[NOBODY_SHARE].context = context_child(0, CONTEXT_NO_THREAD);
    shares[NOBODY_SHARE].weight[METRIC_CORE_IDLE] = sum.cores / there;
}

static struct crowd count_crowd(void)
{
    struct crowd crowd = {0};
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        crowd.busy += sum.threads[i].state >= EXACT_WORK;
        crowd.in_use += sum.threads[i].state >= EXACT_IDLE;
        crowd.in_mpi += sum.threads[i].state == EXACT_MPI_WAIT;
    }
    return crowd;
}

/* What it does wants a core, and others may wait until it is done. */
static bool is_busy(const struct now *now)
{
    return !now->grace_until_ns &&
           (now->state == EXACT_WORK || now->state == EXACT_OVERHEAD || now->state == EXACT_BLOCKED);
}

static void busy_shares(const struct now *now, const struct crowd *crowd, struct share *shares)
{
    bool waits = now->grace_until_ns, no_core = now->no_core && !waits;
    enum exact_metric own = no_core                       ? METRIC_NO_CORE
                            : now->state == EXACT_WORK    ? METRIC_WORK
                            : now->state == EXACT_BLOCKED ? METRIC_BLOCKED
                                                          : METRIC_OVERHEAD;
    shares[2].adds = now->no_core && (waits || now->stolen);
    shares[2].weight[METRIC_IDLE_NO_CORE] = waits && !now->stolen;
    shares[2].weight[METRIC_STOLEN] = !waits && now->stolen;
    shares[0].weight[own] = 1;
    crowd_blame(crowd, sum.cores, shares[0].weight);
    shares[RANKS_SHARE].context = no_core ? oracle_no_core(now->context) : now->context;
    shares[RANKS_SHARE].adds = true;
    if (!no_core)
        return;
    shares[1].context = oracle_no_core(now->context);
    shares[1].adds = shares[1].alone = shares[1].context != now->context;
    memcpy(shares[1].weight, shares[0].weight, sizeof(shares[1].weight));
}

/* Whom it waits for tells of itself; else the lock is passed on. A thread that a sample has woken gets it no sooner than it has a core. */
static void waiter_shares(const struct now *now, const struct crowd *crowd, struct share *shares)
{
    uint32_t lock = now->lock, owner = sum.locks[lock].owner, context = context_parent(now->context);
    uint32_t turn = sum.locks[lock].turn;
    const struct now *next = turn ? &sum.threads[turn - 1] : owner != NO_THREAD ? &sum.threads[owner] : NULL;
    bool lacks = next && next->ready && next->state == EXACT_LOCKWAIT && next->lock == lock;
    shares[0].weight[METRIC_LOCK_HERE] = 1;
    shares[1].adds = !sum.locks[lock].held || owner == NO_THREAD;
    if (lacks && (turn || !sum.locks[lock].held))
        shares[1].context = changes_no_core_of(context, lock);
    else if (sum.locks[lock].held)
        shares[1].context = sum.locks[lock].context;
    else
        shares[1].context = changes_handoff_of(context, lock);
    shares[1].weight[METRIC_LOCK_WAIT] = 1;
    crowd_blame(crowd, sum.cores, shares[1].weight);
    shares[RANKS_SHARE].adds = true;
    shares[RANKS_SHARE].context = context;
}

/* What others wait for because it holds the lock. */
static struct share holder_share(const struct now *now, const struct crowd *crowd, uint32_t lock)
{
    struct share share = {.context = sum.locks[lock].context};
    double waiters = 0;
    for (uint32_t i = 0; i < sum.thread_count; i++)
        waiters += sum.threads[i].state == EXACT_LOCKWAIT && sum.threads[i].lock == lock;
    share.adds = waiters > 0 && !now->stopped;
    crowd_blame(crowd, sum.cores, share.weight);
    share.weight[METRIC_LOCK_WAIT] = 1;
    if (machine.scenario->without_team) /* those that wait leave no core idle: see share_cores() */
        share.weight[METRIC_CORE_IDLE] = 0;
    for (int i = 0; i < METRIC_COUNT; i++)
        share.weight[i] *= waiters;
    bool waits = now->grace_until_ns || now->state == EXACT_IDLE || now->state == EXACT_PARKED;
    if (!waits && now->no_core && is_busy(now))
        share.context = changes_no_core_of(now->context, lock);
    else if (!waits && !machine.at_release)
        share.context = context_child(now->state == EXACT_LOCKWAIT ? context_parent(now->context) : now->context,
                                      CONTEXT_LOCK(lock));
    return share;
}

/* Nobody is busy: somebody's wait is over, and its thread has no core yet. Which thread that is does not matter. */
static void nobody_busy_shares(const struct crowd *crowd, struct share *shares)
{
    double *weight = shares[0].weight;
    weight[METRIC_SHARED_IDLE] = 1;
    weight[METRIC_THREAD_IDLE] = oracle_threads_most() / crowd->in_use;
    weight[METRIC_CORE_IDLE] = sum.cores / crowd->in_use;
    shares[1].context = oracle_no_core(0);
    shares[1].adds = shares[1].alone = shares[1].context != 0;
    for (int i = METRIC_SHARED_IDLE; i <= METRIC_CORE_IDLE; i++)
        shares[1].weight[i] = weight[i];
}

/* All there ever are share it: nothing of the program is to blame, and nobody idles. */
static void stopped_shares(struct share *shares)
{
    double threads = oracle_threads_most();
    shares[0].context = context_child(0, CONTEXT_STOPPED);
    shares[0].weight[METRIC_BLOCKED] = 1;
    crowd_blame(&(struct crowd){.busy = threads, .in_use = threads}, sum.cores, shares[0].weight);
}

static void shares_of(const struct now *now, const struct crowd *crowd, struct share shares[SHARES])
{
    memset(shares, 0, SHARES * sizeof(*shares));
    shares[0].context = now->context;
    shares[0].adds = now->state != EXACT_ABSENT;
    if (now->stopped && shares[0].adds) {
        stopped_shares(shares);
        return;
    }
    shares[2].adds =
        now->no_core && (now->state == EXACT_LOCKWAIT || now->state == EXACT_MPI_WAIT || now->state == EXACT_SPINNING);
    shares[2].weight[METRIC_IDLE_NO_CORE] = 1;
    shares[RANKS_SHARE].weight[METRIC_RANK_BLAME] = crowd_blame_of_rank(crowd);
    switch (now->state) {
    case EXACT_WORK:
    case EXACT_OVERHEAD:
    case EXACT_BLOCKED:
        busy_shares(now, crowd, shares);
        break;
    case EXACT_MPI_WAIT:
        shares[0].weight[METRIC_MPI_WAIT] = 1;
        shares[0].weight[METRIC_RANK_WAITED] = crowd_waited(crowd);
        crowd_blame(crowd, sum.cores, shares[0].weight);
        break;
    case EXACT_SPINNING:
        shares[0].weight[METRIC_BLOCKED] = 1;
        crowd_blame(crowd, sum.cores, shares[0].weight);
        shares[RANKS_SHARE].context = now->context;
        shares[RANKS_SHARE].adds = true;
        break;
    case EXACT_LOCKWAIT:
        waiter_shares(now, crowd, shares);
        break;
    case EXACT_IDLE:
    case EXACT_PARKED:
        shares[0].context = 0;
        shares[0].weight[METRIC_IDLE] = 1;
        shares[0].weight[METRIC_PARKED] = now->state == EXACT_PARKED;
        if (now->state == EXACT_IDLE && crowd->busy == 0)
            nobody_busy_shares(crowd, shares);
        shares[0].weight[METRIC_IDLE_NO_CORE] = now->no_core;
        shares[RANKS_SHARE].adds = now->state == EXACT_IDLE && crowd->busy == 0 && machine.scenario->ranks;
        shares[RANKS_SHARE].context = shares[RANKS_SHARE].adds ? context_child(0, CONTEXT_NOBODY) : 0;
        break;
    default:
        break;
    }
    if (machine.scenario->without_team)
        share_cores(now, shares);
}

static void end_cell(struct exact *exact, struct cell *cell)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        exact->cells[i] += cell->sum[i] * cell->sum[i];
    memset(cell->sum, 0, sizeof(cell->sum));
}

static void add_pieces(struct exact *exact, struct cell *cell, const double *weight, const struct weighed *weighed,
                       const struct piece *pieces, int count)
{
    for (int piece = 0; piece < count; piece++) {
        if (cell->period != pieces[piece].period)
            end_cell(exact, cell);
        cell->period = pieces[piece].period;
        for (int at = 0; at < weighed->count; at++) {
            int i = weighed->metric[at];
            double sum = weight[i] * (double)pieces[piece].ns;
            cell->sum[i] += sum;
            exact->squares[i] += weight[i] * sum;
            if (fabs(weight[i]) > exact->heaviest[i])
                exact->heaviest[i] = fabs(weight[i]);
        }
    }
}

static double *added_at(uint32_t context)
{
    uint32_t at = 0;
    while (at < sum.added_count && sum.added[at].context != context)
        at++;
    if (at == MOST_ADDED)
        abort();
    if (at == sum.added_count) {
        memset(&sum.added[at], 0, sizeof(sum.added[at]));
        sum.added[sum.added_count++].context = context;
    }
    return sum.added[at].weight;
}

static void add_share_alone(struct now *now, const struct share *share, uint64_t begin_ns, uint64_t end_ns)
{
    struct piece pieces[2];
    if (!share->adds)
        return;
    struct weighed weighed = windows_weighed(share->weight);
    int count = pieces_cut(begin_ns, end_ns, sum.period_ns, pieces);
    for (uint32_t context = share->context;; context = context_parent(context)) {
        struct exact *exact = &sum.exact[context];
        for (int at = 0; at < weighed.count; at++)
            exact->value[weighed.metric[at]] += share->weight[weighed.metric[at]] * (double)(end_ns - begin_ns);
        add_pieces(exact, &now->cells[context], share->weight, &weighed, pieces, count);
        windows_add(context, share->weight, &weighed, begin_ns, end_ns);
        if (!context || share->alone)
            return;
    }
}

static void add_share(const struct share *share)
{
    for (uint32_t context = share->context; share->adds; context = context_parent(context)) {
        double *weight = added_at(context);
        for (int i = 0; i < METRIC_COUNT; i++)
            weight[i] += share->weight[i];
        if (!context || share->alone)
            return;
    }
}

static void add_what_was_added(struct now *now, uint64_t begin_ns, uint64_t end_ns)
{
    struct piece pieces[2];
    int count = pieces_cut(begin_ns, end_ns, sum.period_ns, pieces);
    for (uint32_t i = 0; i < sum.added_count; i++) {
        uint32_t context = sum.added[i].context;
        const double *weight = sum.added[i].weight;
        struct weighed weighed = windows_weighed(weight);
        struct exact *exact = &sum.exact[context];
        for (int at = 0; at < weighed.count; at++)
            exact->value[weighed.metric[at]] += weight[weighed.metric[at]] * (double)(end_ns - begin_ns);
        add_pieces(exact, &now->cells[context], weight, &weighed, pieces, count);
        windows_add(context, weight, &weighed, begin_ns, end_ns);
    }
    sum.added_count = 0;
}

static uint32_t place_number(uint64_t place)
{
    uint32_t number = 0;
    while (number < sum.place_count && sum.places[number].key != place)
        number++;
    if (number == sum.place_count && number < MAX_PLACES)
        sum.places[sum.place_count++].key = place;
    return number < MAX_PLACES ? number : 0;
}

static void add_place(struct now *now, uint32_t place, double each, uint64_t begin_ns, uint64_t end_ns)
{
    struct exact *exact = &sum.places[place].exact;
    double weight[METRIC_COUNT] = {[METRIC_SHARED_IDLE] = each};
    struct weighed weighed = windows_weighed(weight);
    struct piece pieces[2];
    exact->value[METRIC_SHARED_IDLE] += each * (double)(end_ns - begin_ns);
    int count = pieces_cut(begin_ns, end_ns, sum.period_ns, pieces);
    add_pieces(exact, &now->cells[context_count() + place], weight, &weighed, pieces, count);
}

static void add_place_of_busy(uint32_t place, double each, uint64_t begin_ns, uint64_t end_ns)
{
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i]; /* a lock's waiter leaves them to the holder */
        if (!now->stopped && (is_busy(now) || now->state == EXACT_MPI_WAIT))
            add_place(now, place, each, begin_ns, end_ns);
    }
}

static void add_places(uint64_t begin_ns, uint64_t end_ns, const struct crowd *crowd)
{
    double each[MAX_PLACES] = {0};
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i];
        if (now->state != EXACT_IDLE)
            continue;
        if (crowd->busy > 0)
            each[place_number(now->place)] += 1 / crowd->busy;
        else if (!now->stopped)
            add_place(now, place_number(now->place), 1, begin_ns, end_ns);
    }
    for (uint32_t i = 0; i < sum.place_count; i++)
        if (each[i] > 0)
            add_place_of_busy(i, each[i], begin_ns, end_ns);
}

/* An interval in which nothing changes. */
static void add_interval(uint64_t begin_ns, uint64_t end_ns)
{
    struct crowd crowd = count_crowd();
    sum.of_rank +=
        crowd_blame_of_rank(&(struct crowd){.busy = 1, .in_mpi = crowd.in_mpi}) * (double)(end_ns - begin_ns);
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i];
        struct share shares[SHARES];
        shares_of(now, &crowd, shares);
        for (uint32_t lock = 0; lock < machine.scenario->locks; lock++)
            if (sum.locks[lock].held && sum.locks[lock].owner == i) {
                struct share share = holder_share(now, &crowd, lock);
                add_share(&share);
            }
        bool together = sum.added_count > 0;
        for (int share = 0; share < SHARES; share++)
            if (together)
                add_share(&shares[share]);
            else
                add_share_alone(now, &shares[share], begin_ns, end_ns);
        if (together)
            add_what_was_added(now, begin_ns, end_ns);
    }
    add_places(begin_ns, end_ns, &crowd);
}

static void apply(const struct change *change)
{
    if (change->about_turn) {
        sum.locks[change->lock].inside = change->held;
        sum.locks[change->lock].turn = change->held ? 0 : change->next_turn;
        return;
    }
    if (change->about_rank) {
        crowd_tell_rank(change->lock, change->held, change->peer);
        return;
    }
    if (change->thread == NO_THREAD) {
        sum.locks[change->lock].held = change->held;
        sum.locks[change->lock].context = change->context;
        if (!sum.locks[change->lock].inside)
            sum.locks[change->lock].turn = change->next_turn;
        /* of a mutex, which names who releases it, the next owner's samples do not look back */
        sum.locks[change->lock].owner = change->held                ? change->peer
                                        : change->peer != NO_THREAD ? NO_THREAD
                                                                    : change->next_owner;
        return;
    }
    struct now *now = &sum.threads[change->thread];
    if (change->about_core) {
        now->no_core = change->no_core;
        now->ready = change->held;
        now->stolen = change->stolen;
        return;
    }
    if (change->about_stop) {
        now->stopped = change->held;
        return;
    }
    if (!now->cells)
        now->cells = calloc(context_count() + MAX_PLACES, sizeof(*now->cells));
    now->lock = change->lock;
    now->place = change->place;
    now->grows_to = change->state;
    if (change->begins_idle)
        now->grace_until_ns = change->time_ns + GRACE_NS;
    else if (change->state != EXACT_PARKED && change->state != EXACT_IDLE)
        now->grace_until_ns = 0;
    if (now->grace_until_ns && !change->begins_idle)
        return;
    now->state = change->begins_idle ? EXACT_OVERHEAD : change->state;
    now->context = change->begins_idle ? change->dispatch : change->context;
}

static void grow_idle(uint64_t at_ns)
{
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i];
        if (!now->grace_until_ns || now->grace_until_ns > at_ns)
            continue;
        now->grace_until_ns = 0;
        now->state = now->grows_to;
    }
}

/* Returns the first end of a grace in the interval, or the interval's end. */
static uint64_t end_of_same(uint64_t end_ns)
{
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        const struct now *now = &sum.threads[i];
        if (now->grace_until_ns && now->grace_until_ns < end_ns)
            end_ns = now->grace_until_ns;
    }
    return end_ns;
}

static void end_cells(struct now *now)
{
    for (uint32_t context = 0; now->cells && context < context_count(); context++)
        end_cell(&sum.exact[context], &now->cells[context]);
    for (uint32_t place = 0; now->cells && place < sum.place_count; place++)
        end_cell(&sum.places[place].exact, &now->cells[context_count() + place]);
}

struct exact *oracle_integrate(uint32_t cores, double period_ns)
{
    sum.period_ns = (uint64_t)period_ns;
    sum.exact = calloc(context_count(), sizeof(*sum.exact));
    sum.threads = calloc(machine.thread_count, sizeof(*sum.threads));
    sum.thread_count = machine.thread_count;
    sum.cores = cores;
    changes_look_ahead();
    for (size_t i = 0; i < changes_count(); i++) {
        uint64_t next_ns = i + 1 < changes_count() ? changes_at(i + 1)->time_ns : machine.now_ns;
        apply(changes_at(i));
        for (uint64_t at = changes_at(i)->time_ns, end; at < next_ns; at = end) {
            grow_idle(at);
            end = end_of_same(next_ns);
            add_interval(at, end);
        }
    }
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        end_cells(&sum.threads[i]);
        sum.exact[0].value[METRIC_IDLE_NO_CORE] += (double)machine.threads[i]->woken_ns;
    }
    sum.exact[0].value[METRIC_RANK_BLAME] = sum.of_rank; /* all of it has a context */
    return sum.exact;
}

double oracle_variance(const struct exact *exact, int metric, double period_ns)
{
    double together = oracle_threads_most() > 1 ? MOST_TOGETHER : 1;
    return together *
           (fmax(0, period_ns * exact->squares[metric] - exact->cells[metric]) + TIE_NS * exact->squares[metric]);
}

uint32_t oracle_place_count(void)
{
    return sum.place_count;
}

uint64_t oracle_place(uint32_t number)
{
    return sum.places[number].key;
}

struct exact oracle_place_exact(uint32_t number)
{
    return sum.places[number].exact;
}
