/* Nanoseconds that a sample spends in counting the other threads (blame/state.c), for 2 to 4,095
 * threads. The threads are state lines only. Prints `threads case nanoseconds` a line; cases:
 *   work      all threads work
 *   half      every other thread waits in a barrier: its place is noted
 *   lock      all work, all have released locks, every eighth one holds one; a waiter looks for a holder
 *   foreign   as work, but another core has written all lines since the last sample
 * Usage: census [repetitions] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "blame/state.h"
#include "base/clock.h"

#define ROUNDS   21 /* of which the median counts */
#define MAX_LINE STATE_MAX_THREADS
#define LOCK_KEY 0x0100000000001000ull

static struct state_line *lines[MAX_LINE];
static uint32_t line_count;
static volatile uint32_t kept;

static uint32_t asked, done; /* of the thread that writes lines */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void grow(uint32_t count)
{
    for (; line_count < count; line_count++)
        if (!(lines[line_count] = state_line_acquire())) {
            fprintf(stderr, "census: there are %u lines only\n", line_count);
            exit(1);
        }
}

static void all_work(void)
{
    for (uint32_t i = 0; i < line_count; i++)
        state_set_work(lines[i]);
}

/* As in a program that takes locks all the time: all threads have released some, every eighth one holds one.
 */
static void use_locks(void)
{
    for (uint32_t i = 0; i < line_count; i++) {
        if (lines[i]->releases)
            continue;
        for (uint64_t key = 1; key <= STATE_RELEASES; key++) {
            state_lock_held(lines[i], LOCK_KEY + 8 * key, clock_ticks());
            state_lock_released(lines[i], LOCK_KEY + 8 * key, clock_ticks());
        }
        if (i % 8 == 0)
            state_lock_held(lines[i], LOCK_KEY + 8, clock_ticks());
    }
}

/* In a region that goes on, in one of four barriers. */
static void half_wait(void)
{
    static struct region region;
    all_work();
    for (uint32_t i = 1; i < line_count; i += 2) {
        state_set_idle_region(lines[i], &region);
        state_set_place(lines[i], STATE_PLACE(PROFILE_PLACE_BARRIER, 0x1000 + i % 4));
        state_set_idle(lines[i], clock_ticks());
    }
    uint64_t end_ns = clock_now_ns() + 2 * STATE_GRACE_NS;
    while (clock_now_ns() < end_ns)
        ;
}

static void *write_lines(void *unused)
{
    (void)unused;
    for (uint32_t next = 1;; next++) {
        uint32_t number;
        while ((number = load_acquire(&asked)) != next)
            if (number == UINT32_MAX)
                return NULL;
        for (uint32_t i = 0; i < line_count; i++) {
            state_set_place(lines[i], 0);
            state_set_work(lines[i]);
        }
        store_release(&done, next);
    }
}

static double time_census(uint64_t key, int repetitions)
{
    uint64_t begin_ns = clock_now_ns();
    for (int i = 0; i < repetitions; i++) {
        struct waiting_places places = {0};
        kept = state_census(clock_now_ns(), key, key ? NULL : &places).busy;
    }
    return (double)(clock_now_ns() - begin_ns) / repetitions;
}

/* One census at a time, between writes of the other core. */
static double time_foreign(void)
{
    double sum_ns = 0;
    int repetitions = 50;
    for (int i = 0; i < repetitions; i++) {
        struct waiting_places places = {0};
        uint32_t number = done + 1;
        store_release(&asked, number);
        while (load_acquire(&done) != number)
            ;
        uint64_t begin_ns = clock_now_ns();
        kept = state_census(begin_ns, 0, &places).busy;
        sum_ns += (double)(clock_now_ns() - begin_ns);
    }
    return sum_ns / repetitions;
}

static void report(const char *name, uint64_t key, bool foreign, int repetitions)
{
    double rounds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = foreign ? time_foreign() : time_census(key, repetitions);
    qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_doubles);
    printf("%u %s %.1f\n", line_count, name, rounds[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 200;
    pthread_t writer;
    if (repetitions < 1)
        return fputs("usage: census [repetitions]\n", stderr), 2;
    clock_ticks_init();
    if (pthread_create(&writer, NULL, write_lines, NULL) != 0)
        return perror("pthread_create"), 1;
    for (uint32_t count = 2; count <= 4096; count *= 2) {
        grow(count < MAX_LINE ? count : MAX_LINE);
        all_work();
        report("work", 0, false, repetitions);
        use_locks();
        report("lock", LOCK_KEY, false, repetitions);
        report("foreign", 0, true, repetitions);
        half_wait();
        report("half", 0, false, repetitions);
    }
    store_release(&asked, UINT32_MAX);
    pthread_join(writer, NULL);
    return 0;
}
