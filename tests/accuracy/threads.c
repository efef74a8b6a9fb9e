/* Threads outside OpenMP, with blame known by construction (tests/programs/analytic.h).
 *
 *     threads PATTERN
 *
 * Every pattern runs for some 1.5 s. Functions whose name begins with `await` sleep until another thread signals. No more
 * than two threads compute at a time, but in the pipeline. */
#include <omp.h>
/* The program is linked without OpenMP. */
#define omp_get_num_threads() 1
#include "../programs/analytic.h"

#include <pthread.h>
#include <sched.h>

/* A queue with a limit. */
struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int items, most;
};

#define QUEUE(limit) {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, limit}
static struct queue first = QUEUE(1), second = QUEUE(1), many = QUEUE(1000);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int rounds;

/* Adds an item, or takes one with -1. Sleeps until there is room for it. */
HELPER void pass(struct queue *queue, int change, const char *function)
{
    double begin_s = clock_s();
    pthread_mutex_lock(&queue->mutex);
    while (queue->items + change < 0 || queue->items + change > queue->most)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    queue->items += change;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    record_interval(INTERVAL_BLOCKED, function, NULL, begin_s, clock_s());
}

NAMED static void await_item(struct queue *queue)
{
    pass(queue, -1, "await_item");
}

NAMED static void await_room(struct queue *queue)
{
    pass(queue, 1, "await_room");
}

NAMED static void produce(void)
{
    work_for("produce", 0.0307);
}

NAMED static void consume(void)
{
    work_for("consume", 0.0113);
}

NAMED static void slow_stage(void)
{
    work_for("slow_stage", 0.0313);
}

NAMED static void last_stage(void)
{
    work_for("last_stage", 0.0071);
}

NAMED static void serial_phase(void)
{
    work_for("serial_phase", 0.0607);
}

NAMED static void pool_phase(void)
{
    work_for("pool_phase", 0.0411);
}

static void *producer(void *items)
{
    for (int i = 0; i < rounds; i++) {
        produce();
        await_room((struct queue *)items);
    }
    return NULL;
}

static void *consumer(void *of)
{
    for (int i = 0; i < rounds / *(int *)of; i++) {
        await_item(&many);
        consume();
    }
    return NULL;
}

static void *stage_two(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        await_item(&first);
        slow_stage();
        await_room(&second);
    }
    return unused;
}

static void *stage_three(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        await_item(&second);
        last_stage();
    }
    return unused;
}

NAMED static void section(void)
{
    double asked_s = clock_s();
    pthread_mutex_lock(&mutex);
    double got_s = clock_s();
    spin_until(got_s + 0.0157);
    double released_s = clock_s();
    pthread_mutex_unlock(&mutex);
    record_lock("section", &mutex, asked_s, got_s, released_s);
}

/* Sleeps behind its section, so that the one who waits gets the lock. */
static void *convoy(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        section();
        usleep(2000);
    }
    return unused;
}

NAMED static void read_section(void)
{
    double asked_s = clock_s();
    pthread_rwlock_rdlock(&rwlock);
    double got_s = clock_s();
    spin_until(got_s + 0.0211);
    double released_s = clock_s();
    pthread_rwlock_unlock(&rwlock);
    record_lock("read_section", &rwlock, asked_s, got_s, released_s);
}

NAMED static void write_section(void)
{
    double asked_s = clock_s();
    pthread_rwlock_wrlock(&rwlock);
    double got_s = clock_s();
    spin_until(got_s + 0.0053);
    double released_s = clock_s();
    pthread_rwlock_unlock(&rwlock);
    record_lock("write_section", &rwlock, asked_s, got_s, released_s);
}

/* The readers' sections overlap, so the writer hardly ever gets the lock. */
static void *reader(void *number)
{
    usleep(*(int *)number ? 10000 : 0);
    for (int i = 0; i < rounds; i++) {
        read_section();
        usleep(i % 8 == 7 ? 20000 : 1000);
    }
    return NULL;
}

static void *writer(void *unused)
{
    for (int i = 0; i < rounds / 8; i++) {
        write_section();
        usleep(15000);
    }
    return unused;
}

static void *pool(void *unused)
{
    pool_phase();
    return unused;
}

static pthread_t start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument))
        abort();
    return thread;
}

static void run_and_join(void *(*const bodies[])(void *), void *const arguments[], int count)
{
    pthread_t threads[4];
    for (int i = 0; i < count; i++)
        threads[i] = start(bodies[i], arguments[i]);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

#define RUN(count, bodies, arguments) run_and_join((void *(*const[])(void *))bodies, (void *const[])arguments, count)
#define LIST(...)                     {__VA_ARGS__}

static void run(const char *pattern)
{
    int one = 0, two = 1, alone = 1, half = 2;
    rounds = 32;
    if (strcmp(pattern, "producer") == 0)
        RUN(2, LIST(producer, consumer), LIST(&many, &alone));
    else if (strcmp(pattern, "pool") == 0)
        RUN(3, LIST(producer, consumer, consumer), LIST(&many, &half, &half));
    else if (strcmp(pattern, "convoy") == 0)
        RUN(3, LIST(convoy, convoy, convoy), LIST(NULL, NULL, NULL));
    else if (strcmp(pattern, "rwlock") == 0)
        RUN(3, LIST(reader, reader, writer), LIST(&one, &two, NULL));
    else if (strcmp(pattern, "pipeline") == 0)
        RUN(3, LIST(producer, stage_two, stage_three), LIST(&first, NULL, NULL));
    else if (strcmp(pattern, "serial") == 0)
        for (int i = 0; i < 12; i++) {
            serial_phase();
            RUN(2, LIST(pool, pool), LIST(NULL, NULL));
        }
    else
        abort();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    run(argv[1]);
    print_thread_expectations();
    return 0;
}
