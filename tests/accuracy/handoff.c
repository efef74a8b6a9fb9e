/* Who held the lock, and when did nobody? Threads of two kinds take one lock in turns: holders for a given
 * time, visitors for no time at all. Every moment of waiting in which a holder had the lock is the holder's,
 * and the rest is the runtime's handoff: it passes the lock on. Nothing of it is the visitors' doing, who
 * become the owners right after they waited.
 *
 *     handoff SECTION_US THREADS SECONDS
 *
 * prints expectations as tests/programs/analytic.h defines them, and the median time between two sections. It keeps books of its own: with sections of
 * 5 us there are more of them than analytic.h has room for, and a record shared by all threads would be one
 * more thing to wait for. */
#include "../programs/analytic.h"

#define MAX_TURNS 1600000 /* a thread's */

struct turn {
    double asked_s, got_s, released_s;
};

struct hold {
    double begin_s, end_s;
    int visitor;
};

struct book {
    struct turn *turns;
    int count;
} __attribute__((aligned(128)));

static struct book books[MAX_THREADS];
static omp_lock_t lock;

/* 0.5 ... 1.5, never in step with the sampling period. */
HELPER double jitter(int turn)
{
    double phase = 0.6180339887 * turn;
    return 0.5 + (phase - (double)(long)phase);
}

HELPER void note_turn(double asked_s, double got_s, double released_s)
{
    struct book *book = &books[omp_get_thread_num()];
    if (book->count == MAX_TURNS) {
        fprintf(stderr, "handoff: more turns than it has room for\n");
        abort();
    }
    book->turns[book->count++] = (struct turn){asked_s, got_s, released_s};
}

NAMED static void holder(double section_s)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s(), released_s;
    do
        released_s = clock_s();
    while (released_s < got_s + section_s);
    omp_unset_lock(&lock);
    note_turn(asked_s, got_s, released_s);
}

NAMED static void visitor(void)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    omp_unset_lock(&lock);
    note_turn(asked_s, got_s, got_s);
}

static int compare_holds(const void *a, const void *b)
{
    const struct hold *x = a, *y = b;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

/* All sections in the order in which the lock was held. */
static struct hold *collect_holds(int threads, int *count)
{
    *count = 0;
    for (int thread = 0; thread < threads; thread++)
        *count += books[thread].count;
    struct hold *holds = malloc(((size_t)*count + 1) * sizeof *holds);
    int next = 0;
    for (int thread = 0; thread < threads; thread++)
        for (int i = 0; i < books[thread].count; i++) {
            const struct turn *turn = &books[thread].turns[i];
            holds[next++] = (struct hold){turn->got_s, turn->released_s, thread % 2};
        }
    qsort(holds, (size_t)*count, sizeof *holds, compare_holds);
    return holds;
}

/* Adds to blame[0] and blame[1] what holders and visitors held of the wait, to blame[2] what nobody did. */
static void divide_wait(const struct turn *turn, const struct hold *holds, int count, double blame[3])
{
    int low = 0, high = count; /* the first section that ends after the wait began */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (holds[middle].end_s <= turn->asked_s)
            low = middle + 1;
        else
            high = middle;
    }
    double nobody_s = turn->got_s - turn->asked_s;
    for (int i = low; i < count && holds[i].begin_s < turn->got_s; i++) {
        double begin_s = holds[i].begin_s > turn->asked_s ? holds[i].begin_s : turn->asked_s;
        double end_s = holds[i].end_s < turn->got_s ? holds[i].end_s : turn->got_s;
        if (end_s <= begin_s)
            continue;
        blame[holds[i].visitor] += end_s - begin_s;
        nobody_s -= end_s - begin_s;
    }
    blame[2] += nobody_s;
}

static int compare_gaps(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From one section's end to the next one's begin. */
static void print_gap(const struct hold *holds, int count)
{
    double *gaps = malloc((size_t)count * sizeof *gaps);
    for (int i = 1; i < count; i++)
        gaps[i - 1] = holds[i].begin_s - holds[i - 1].end_s;
    qsort(gaps, (size_t)count - 1, sizeof *gaps, compare_gaps);
    printf("gap_ns %.0f\n", 1e9 * gaps[(count - 1) / 2]);
    free(gaps);
}

static void state_expectations(int threads)
{
    int count;
    struct hold *holds = collect_holds(threads, &count);
    if (count > 1)
        print_gap(holds, count);
    double blame[3] = {0, 0, 0}, waited[2] = {0, 0};
    for (int thread = 0; thread < threads; thread++)
        for (int i = 0; i < books[thread].count; i++) {
            const struct turn *turn = &books[thread].turns[i];
            waited[thread % 2] += turn->got_s - turn->asked_s;
            divide_wait(turn, holds, count, blame);
        }
    expect("lock_wait", "holder", blame[0]);
    expect("lock_wait", "<lock handoff>", blame[2]);
    expect("lock_wait", "visitor", blame[1]);
    expect("lock_wait_here", "holder", waited[0]);
    expect("lock_wait_here", "visitor", waited[1]);
    free(holds);
}

int main(int argc, char **argv)
{
    if (argc != 4 || atoi(argv[2]) < 2 || atoi(argv[2]) > MAX_THREADS) {
        fprintf(stderr, "usage: handoff SECTION_US THREADS SECONDS\n");
        return 2;
    }
    double section_s = 1e-6 * atof(argv[1]), seconds = atof(argv[3]);
    int threads = atoi(argv[2]);
    omp_init_lock(&lock);
    for (int thread = 0; thread < threads; thread++)
        books[thread].turns = calloc(MAX_TURNS, sizeof(struct turn));
    double end_s = clock_s() + seconds;
#pragma omp parallel num_threads(threads)
    for (int turn = 0; clock_s() < end_s; turn++) {
        if (omp_get_thread_num() % 2 == 0)
            holder(section_s * jitter(turn));
        else
            visitor();
    }
    state_expectations(threads);
    return 0;
}
