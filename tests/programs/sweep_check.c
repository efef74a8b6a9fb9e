/* Checks the judge: analytic.h's sweep on intervals worked out by hand. Exit status 0 when it agrees. */
#include "analytic.h"

static int wrong;
static const char lock;

static void put(int thread, enum interval_kind kind, const char *function, double begin_s, double end_s)
{
    thread_number = thread;
    record_interval(kind, function, kind == INTERVAL_WORK ? NULL : &lock, begin_s, end_s);
    intervals[interval_count - 1].team = 4;
}

static void check(const char *what, double expected, double swept)
{
    double difference = expected - swept;
    if (difference > 1e-9 || difference < -1e-9) {
        printf("%s: by hand %.6f, swept %.6f\n", what, expected, swept);
        wrong++;
    }
}

/* T = 4. Seconds:   0    1    2    3    4    5
 *      thread 0     work work work  .    .
 *      thread 1      .   hold hold hold  .
 *      thread 2      .    .   wait wait wait      (4 ... 5: after the release, before the acquisition)
 *      thread 3      .    .    .    .    .
 *      busy          1    2    3    2    1        */
int main(void)
{
    thread_count = 4;
    put(2, INTERVAL_WAIT, "waiter", 2, 5);
    put(0, INTERVAL_WORK, "worker", 0, 3);
    put(1, INTERVAL_HOLD, "holder", 1, 4);
    sweep(4);
    check("work of worker", 3, blamed_row("worker")->work);
    check("idleness of worker", 3.0 + 1.0 + 1.0 / 3, blamed_row("worker")->idleness);
    check("work of holder", 3, blamed_row("holder")->work);
    check("lock wait of holder", 2, blamed_row("holder")->lock_wait);
    check("idleness of holder", 1.0 + 2.0 / 3 + 2.0, blamed_row("holder")->idleness);
    check("shared idleness of holder", 1.0 + 2.0 / 3 + 2.0, blamed_row("holder")->shared_idleness);
    check("lock wait here of waiter", 3, blamed_row("waiter")->lock_wait_here);
    check("lock wait of waiter", 0, blamed_row("waiter")->lock_wait);
    check("idleness of waiter", 0, blamed_row("waiter")->idleness);

    /* The same when the worker had no core for 0.6 s, and the waiter for 0.25: behind the release, as it waited before. */
    memset(blamed, 0, sizeof blamed);
    blamed_count = 0;
    intervals[0].no_core_s = 0.6;
    intervals[2].no_core_s = 0.25;
    sweep(4);
    check("work of worker", 2.4, blamed_row("worker")->work);
    check("no core of worker", 0.6, blamed_row("worker")->no_core);
    check("idleness of worker", 3.0 + 1.0 + 1.0 / 3, blamed_row("worker")->idleness);
    check("lock wait of holder", 2, blamed_row("holder")->lock_wait);
    check("lock wait here of waiter", 2.75, blamed_row("waiter")->lock_wait_here);
    check("no core of waiter", 0.25, blamed_row("waiter")->no_core);
    check("idleness of waiter", 0.75, blamed_row("waiter")->idleness);
    printf("wrong %d\n", wrong);
    return wrong != 0;
}
