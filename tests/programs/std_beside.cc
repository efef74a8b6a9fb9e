/* OpenMP beside std::thread: a thread that OpenMP does not know holds the mutex for long, threads of a team for a moment. */
#include <atomic>
#include <mutex>
#include <thread>

/* C11's word, in analytic.h */
#define _Thread_local thread_local
#include "analytic.h"

static std::mutex shared_lock;
static std::atomic<bool> held, over;

NAMED static void other_holder()
{
    while (!over) {
        shared_lock.lock();
        held = true;
        spin_until(clock_s() + 0.05);
        shared_lock.unlock();
        held = false;
        spin_until(clock_s() + 0.01);
    }
}

NAMED static void team_holder()
{
    double asked_s = clock_s();
    std::lock_guard<std::mutex> guard(shared_lock);
    double got_s = clock_s();
    spin_until(got_s + 0.002);
    record_lock("team_holder()", &shared_lock, asked_s, got_s, clock_s());
}

int main()
{
    std::thread other(other_holder);
#pragma omp parallel num_threads(2)
    for (int turn = 0; turn < 20; turn++) {
        while (!held)
            ;
        team_holder();
    }
    over = true;
    other.join();
    print_expectations(2);
    return 0;
}
