/* Locks of C++: a convoy at a static mutex (a long section and two short ones), mutexes inside objects of the heap, and a
 * shared mutex. Each thread clocks what it waits. */
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

/* C11's word, in analytic.h */
#define _Thread_local thread_local
#include "analytic.h"

static std::mutex queue_lock;

struct account {
    std::mutex lock;
    double balance = 0;
};

struct registry {
    std::shared_timed_mutex lock;
};

static std::vector<std::unique_ptr<account>> accounts;
static registry names;

NAMED static void long_section()
{
    double asked_s = clock_s();
    queue_lock.lock();
    double got_s = clock_s();
    spin_until(got_s + 0.02);
    queue_lock.unlock();
    record_lock("long_section()", &queue_lock, asked_s, got_s, clock_s());
}

NAMED static void short_section()
{
    double asked_s = clock_s();
    queue_lock.lock();
    double got_s = clock_s();
    spin_until(got_s + 0.002);
    queue_lock.unlock();
    record_lock("short_section()", &queue_lock, asked_s, got_s, clock_s());
}

NAMED static void pay(account &of, double time_s)
{
    double asked_s = clock_s();
    std::lock_guard<std::mutex> guard(of.lock);
    double got_s = clock_s();
    spin_until(got_s + time_s);
    of.balance += time_s;
    record_lock("pay(account&, double)", &of.lock, asked_s, got_s, clock_s());
}

NAMED static void look_up()
{
    double asked_s = clock_s();
    std::shared_lock<std::shared_timed_mutex> guard(names.lock);
    double got_s = clock_s();
    spin_until(got_s + 0.001);
    record_lock("look_up()", &names.lock, asked_s, got_s, clock_s());
}

NAMED static void rename()
{
    double asked_s = clock_s();
    std::unique_lock<std::shared_timed_mutex> guard(names.lock);
    double got_s = clock_s();
    spin_until(got_s + 0.02);
    record_lock("rename()", &names.lock, asked_s, got_s, clock_s());
}

int main()
{
    accounts.emplace_back(new account);
    accounts.emplace_back(new account);
#pragma omp parallel num_threads(3)
    for (int turn = 0; turn < 24; turn++)
        omp_get_thread_num() == 0 ? long_section() : short_section();
#pragma omp parallel num_threads(2)
    for (int turn = 0; turn < 12; turn++)
        pay(*accounts[turn % 2], omp_get_thread_num() ? 0.02 : 0.01);
#pragma omp parallel num_threads(2)
    for (int turn = 0; turn < 24; turn++)
        omp_get_thread_num() == 0 ? rename() : look_up();
    print_expectations(3);
    return 0;
}
