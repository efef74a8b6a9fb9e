#include "tests/simulator/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulator/machine.h"

#define GRACE_NS  5000u /* docs/accounting.md: a shorter wait is dispatch */
#define NO_THREAD UINT32_MAX
#define MAX_LOCKS 64u

const char *const metric_name[METRIC_COUNT] = {
    "work",          "overhead", "lock wait here", "lock wait", "shared idleness", "thread idleness",
    "core idleness", "idle",     "parked"};

struct change {
    uint64_t time_ns, place;
    uint32_t thread, context, lock; /* thread NO_THREAD: of the lock */
    enum exact_state state;
    bool begins_idle, held;
};

struct context {
    uint32_t parent, function, depth, first_child, next_sibling;
};

static struct {
    struct change *changes;
    size_t count, room;
    struct noted_thread {
        size_t last, idle; /* its last change, and the begin of its wait, + 1; 0: none */
    } * threads;
    uint32_t thread_room;
    struct context *contexts;
    uint32_t context_count, context_room;
    int counted, counted_most;
} noted;

uint32_t context_child(uint32_t parent, uint32_t function)
{
    if (!noted.context_count) {
        noted.contexts = calloc(noted.context_room = 64, sizeof(*noted.contexts));
        noted.context_count = 1;
    }
    for (uint32_t child = noted.contexts[parent].first_child; child;
         child = noted.contexts[child].next_sibling)
        if (noted.contexts[child].function == function)
            return child;
    if (noted.context_count == noted.context_room)
        noted.contexts = realloc(noted.contexts, (noted.context_room *= 2) * sizeof(*noted.contexts));
    struct context *above = &noted.contexts[parent];
    uint32_t child = noted.context_count++;
    noted.contexts[child] = (struct context){parent, function, above->depth + 1, 0, above->first_child};
    above->first_child = child;
    return child;
}

uint32_t context_parent(uint32_t context)
{
    return noted.contexts[context].parent;
}

uint32_t context_function(uint32_t context)
{
    return noted.contexts[context].function;
}

uint32_t context_count(void)
{
    return noted.context_count;
}

static struct change *note(struct change change)
{
    if (noted.count == noted.room)
        noted.changes =
            realloc(noted.changes, (noted.room = noted.room ? 2 * noted.room : 4096) * sizeof(change));
    change.time_ns = machine.now_ns;
    noted.changes[noted.count] = change;
    return &noted.changes[noted.count++];
}

/* A wait that was shorter than the grace. */
static void be_dispatch(struct change *change, uint32_t context)
{
    change->state = EXACT_OVERHEAD;
    change->context = context;
    change->begins_idle = false;
}

/* With a bias, who held the lock is not always known. */
uint32_t oracle_handoff(uint32_t context)
{
    return machine.scenario->bias > 0 ? context : context_child(context, CONTEXT_HANDOFF);
}

static uint32_t handoff_of(uint32_t context, uint32_t lock)
{
    return context_child(oracle_handoff(context), CONTEXT_LOCK(lock));
}

void oracle_state(uint32_t thread, enum exact_state state, uint32_t context, uint64_t place, uint32_t lock)
{
    if (machine.scenario->laws_only)
        return;
    if (thread >= noted.thread_room) {
        uint32_t room = 2 * thread + 16;
        noted.threads = realloc(noted.threads, room * sizeof(*noted.threads));
        memset(noted.threads + noted.thread_room, 0, (room - noted.thread_room) * sizeof(*noted.threads));
        noted.thread_room = room;
    }
    struct noted_thread *of = &noted.threads[thread];
    struct change *last = of->last ? &noted.changes[of->last - 1] : NULL;
    struct change *idle =
        of->idle ? &noted.changes[of->idle - 1] : NULL; /* where the wait begins that goes on */
    bool begins_idle =
        state == EXACT_IDLE && (!last || last->state < EXACT_PARKED || last->state > EXACT_IDLE);
    if (idle && state != EXACT_PARKED && machine.now_ns - idle->time_ns < GRACE_NS) {
        /* If the region has ended meanwhile, it is told where the next one begins. */
        uint32_t there = last->state == EXACT_PARKED ? context_parent(context) : idle->context;
        be_dispatch(idle, there);
        be_dispatch(last, there);
    }
    if (state != EXACT_PARKED)
        of->idle = 0;
    if (state == EXACT_LOCKWAIT) {
        handoff_of(context, lock);
        context = context_child(context, CONTEXT_LOCK(lock));
    }
    note((struct change){.thread = thread,
                         .state = state,
                         .context = context,
                         .place = place,
                         .lock = lock,
                         .begins_idle = begins_idle});
    of->last = noted.count;
    if (begins_idle)
        of->idle = of->last;
}

void oracle_lock(uint32_t lock, bool held, uint32_t context)
{
    if (machine.scenario->laws_only)
        return;
    note((struct change){.thread = NO_THREAD,
                         .lock = lock,
                         .held = held,
                         .context = held ? context_child(context, CONTEXT_LOCK(lock)) : 0});
}

void oracle_count(int threads)
{
    noted.counted += threads;
    if (noted.counted > noted.counted_most)
        noted.counted_most = noted.counted;
}

uint32_t oracle_threads_most(void)
{
    return (uint32_t)noted.counted_most;
}

/* What a thread adds to contexts at this moment: its own, and as a waiter its lock's holder's. */
struct share {
    uint32_t context;
    bool adds;
    double weight[METRIC_COUNT];
};

struct now {
    enum exact_state state;
    uint32_t context, lock;
    uint64_t place;
    uint64_t young_until_ns;
    bool worked[2]; /* in the interval before */
    struct share shares[2];
};

#define MAX_PLACES 256u

static struct {
    struct exact *exact;
    struct now *threads;
    uint32_t thread_count, cores;
    double period_ns;
    struct {
        bool held;
        uint32_t context;
    } locks[MAX_LOCKS];
    struct {
        uint64_t key;
        struct exact exact;
        double each[2], jumps[2]; /* in the interval before, and so far */
    } places[MAX_PLACES];
    uint32_t place_count;
} sum;

struct crowd {
    double busy, in_use, working;
};

static struct crowd count_crowd(bool as_defined, uint64_t at_ns)
{
    struct crowd crowd = {0};
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        const struct now *now = &sum.threads[i];
        bool young = as_defined && now->young_until_ns > at_ns;
        crowd.busy += now->state >= EXACT_WORK || young;
        crowd.working += now->state == EXACT_WORK || now->state == EXACT_OVERHEAD;
        crowd.in_use += now->state >= EXACT_IDLE || (young && now->state == EXACT_PARKED);
    }
    return crowd;
}

static void blame(double *weight, const struct crowd *crowd)
{
    double busy = crowd->busy > 0 ? crowd->busy : 1;
    weight[METRIC_SHARED_IDLE] = crowd->in_use > busy ? crowd->in_use / busy - 1 : 0;
    weight[METRIC_THREAD_IDLE] = oracle_threads_most() / busy - 1;
    weight[METRIC_CORE_IDLE] = sum.cores / busy - 1;
}

static void shares_of(const struct now *now, const struct crowd *crowd, struct share shares[2])
{
    memset(shares, 0, 2 * sizeof(*shares));
    shares[0].context = now->context;
    shares[0].adds = now->state != EXACT_ABSENT;
    switch (now->state) {
    case EXACT_WORK:
    case EXACT_OVERHEAD:
        shares[0].weight[now->state == EXACT_WORK ? METRIC_WORK : METRIC_OVERHEAD] = 1;
        blame(shares[0].weight, crowd);
        break;
    case EXACT_LOCKWAIT:
        shares[0].weight[METRIC_LOCK_HERE] = 1;
        shares[1].adds = true;
        shares[1].context = sum.locks[now->lock].held ? sum.locks[now->lock].context
                                                      : handoff_of(context_parent(now->context), now->lock);
        shares[1].weight[METRIC_LOCK_WAIT] = 1;
        blame(shares[1].weight, crowd);
        break;
    case EXACT_IDLE:
    case EXACT_PARKED:
        shares[0].context = 0;
        shares[0].weight[METRIC_IDLE] = 1;
        shares[0].weight[METRIC_PARKED] = now->state == EXACT_PARKED;
        break;
    default:
        break;
    }
}

static void add_jumps(uint32_t context, const double *from, const double *to)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        double jump = (to ? to[i] : 0) - (from ? from[i] : 0);
        sum.exact[context].jumps[i] += jump * jump;
    }
}

/* From what the thread added before to what it adds now, at all contexts around. */
static void change_share(const struct share *from, const struct share *to)
{
    uint32_t a = from->adds ? from->context : 0, b = to->adds ? to->context : 0;
    while (a != b)
        if (noted.contexts[a].depth > noted.contexts[b].depth) {
            add_jumps(a, from->weight, NULL);
            a = context_parent(a);
        } else {
            add_jumps(b, NULL, to->weight);
            b = context_parent(b);
        }
    for (;; a = context_parent(a)) {
        add_jumps(a, from->weight, to->weight);
        if (!a)
            return;
    }
}

static void add_share(const struct share *share, double ns, bool as_defined)
{
    if (!share->adds)
        return;
    for (uint32_t context = share->context;; context = context_parent(context)) {
        double *to = as_defined ? sum.exact[context].as_defined : sum.exact[context].value;
        double *squares = sum.exact[context].squares;
        for (int i = 0; i < METRIC_COUNT; i++) {
            to[i] += share->weight[i] * ns;
            squares[i] += as_defined ? 0 : share->weight[i] * share->weight[i] * ns;
        }
        if (!context)
            return;
    }
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

/* Each thread that works adds as many shares as threads wait at the place. Those arrive one after the other:
 * seen from afar, that is one change. Both views are bounds for their kind of program: [0] has all changes,
 * [1] not those that something else follows within half a period. */
static void add_place_jumps(const double *each, int view)
{
    double come = 0, stay = 0, leave = 0; /* threads that work */
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i];
        bool works = now->state == EXACT_WORK || now->state == EXACT_OVERHEAD;
        come += works && !now->worked[view];
        stay += works && now->worked[view];
        leave += !works && now->worked[view];
        now->worked[view] = works;
    }
    for (uint32_t i = 0; i < sum.place_count; i++) {
        double *before = &sum.places[i].each[view];
        sum.places[i].jumps[view] += stay * (each[i] - *before) * (each[i] - *before) +
                                     come * each[i] * each[i] + leave * *before * *before;
        *before = each[i];
    }
}

static void add_places(double ns, const struct crowd *crowd, bool as_defined, uint64_t at_ns)
{
    double each[MAX_PLACES] = {0};
    for (uint32_t i = 0; i < sum.thread_count; i++)
        if (sum.threads[i].state == EXACT_IDLE && !(as_defined && sum.threads[i].young_until_ns > at_ns))
            each[place_number(sum.threads[i].place)] += crowd->busy > 0 ? 1 / crowd->busy : 0;
    for (uint32_t i = 0; i < sum.place_count; i++) {
        struct exact *exact = &sum.places[i].exact;
        double *to = as_defined ? exact->as_defined : exact->value;
        to[METRIC_SHARED_IDLE] += ns * each[i] * crowd->working;
        exact->squares[METRIC_SHARED_IDLE] += as_defined ? 0 : ns * each[i] * each[i] * crowd->working;
    }
    if (!as_defined)
        add_place_jumps(each, 0);
    if (!as_defined && ns >= sum.period_ns / 2)
        add_place_jumps(each, 1);
}

/* An interval in which nothing changes. */
static void add_interval(uint64_t begin_ns, uint64_t end_ns)
{
    double ns = (double)(end_ns - begin_ns);
    struct crowd pure = count_crowd(false, begin_ns), defined = count_crowd(true, begin_ns);
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i];
        struct share shares[2];
        shares_of(now, &defined, shares);
        add_share(&shares[0], ns, true);
        add_share(&shares[1], ns, true);
        shares_of(now, &pure, shares);
        add_share(&shares[0], ns, false);
        add_share(&shares[1], ns, false);
        change_share(&now->shares[0], &shares[0]);
        change_share(&now->shares[1], &shares[1]);
        memcpy(now->shares, shares, sizeof(shares));
    }
    add_places(ns, &pure, false, begin_ns);
    add_places(ns, &defined, true, begin_ns);
}

static void apply(const struct change *change)
{
    if (change->thread == NO_THREAD) {
        sum.locks[change->lock].held = change->held;
        sum.locks[change->lock].context = change->context;
        return;
    }
    struct now *now = &sum.threads[change->thread];
    now->state = change->state;
    now->context = change->context;
    now->lock = change->lock;
    now->place = change->place;
    if (change->begins_idle)
        now->young_until_ns = change->time_ns + GRACE_NS;
    else if (change->state != EXACT_PARKED && change->state != EXACT_IDLE)
        now->young_until_ns = 0;
}

/* The first end of a grace in the interval. */
static uint64_t end_of_youth(uint64_t begin_ns, uint64_t end_ns)
{
    for (uint32_t i = 0; i < sum.thread_count; i++)
        if (sum.threads[i].young_until_ns > begin_ns && sum.threads[i].young_until_ns < end_ns)
            end_ns = sum.threads[i].young_until_ns;
    return end_ns;
}

/* Nobody adds anything behind the end. */
static void end_all(void)
{
    static const double nothing[MAX_PLACES];
    for (uint32_t i = 0; i < sum.thread_count; i++) {
        struct now *now = &sum.threads[i];
        change_share(&now->shares[0], &(struct share){0});
        change_share(&now->shares[1], &(struct share){0});
        now->state = EXACT_ABSENT;
    }
    add_place_jumps(nothing, 0);
    add_place_jumps(nothing, 1);
}

struct exact *oracle_integrate(uint32_t cores, double period_ns)
{
    sum.period_ns = period_ns;
    sum.exact = calloc(context_count(), sizeof(*sum.exact));
    sum.threads = calloc(machine.thread_count, sizeof(*sum.threads));
    sum.thread_count = machine.thread_count;
    sum.cores = cores;
    for (size_t i = 0; i < noted.count; i++) {
        uint64_t next_ns = i + 1 < noted.count ? noted.changes[i + 1].time_ns : machine.now_ns;
        apply(&noted.changes[i]);
        for (uint64_t at = noted.changes[i].time_ns, end; at < next_ns; at = end) {
            end = end_of_youth(at, next_ns);
            add_interval(at, end);
        }
    }
    end_all();
    return sum.exact;
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
    struct exact exact = sum.places[number].exact;
    const double *jumps = sum.places[number].jumps;
    exact.jumps[METRIC_SHARED_IDLE] = jumps[0] > jumps[1] ? jumps[0] : jumps[1];
    return exact;
}
