/* As advice.c, in C++: problems of programs with classes, std::mutex and tasks. */
#include <array>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <omp.h>

#include "work.h"

/* Collects results under a lock. Fixed: the work is done before the lock is taken. */
class Collector
{
  public:
    void add(int i)
    {
        if (fixed)
            work(WHOLE * 0.7 / PIECES);
#pragma omp critical(collector)
        {
            if (!fixed)
                work(WHOLE * 0.7 / PIECES);
            results.push_back(i);
        }
    }

  private:
    std::vector<int> results;
};

NAMED static void collect()
{
    Collector collector;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < PIECES; i++) {
        collector.add(i);
        work(WHOLE * 0.3 / PIECES);
    }
}

static std::mutex log_lock;

NAMED static void store()
{
    nap(WHOLE / 200);
}

/* A thread sleeps while it has the lock. Fixed: it sleeps before. */
NAMED static void sleep_in_lock()
{
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < 160; i++) {
        if (fixed)
            store();
        std::lock_guard<std::mutex> guard(log_lock);
        if (!fixed)
            store();
        sink = sink + i;
    }
}

/* The same in a critical section, beside work. */
NAMED static void sleep_in_critical()
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < 80; i++) {
        work(WHOLE / 80);
        if (fixed)
            store();
#pragma omp critical(log)
        {
            if (!fixed)
                store();
            sink = sink + i;
        }
    }
}

struct Cell {
    omp_lock_t lock;
    double value;
};

#ifdef __clang__
#define MANY 200
#else
#define MANY 4000 /* GCC's runtime makes a lock much faster */
#endif

/* Each step makes a lock for each cell, and none is contended. Fixed: they are made once. */
NAMED static void make_locks(std::vector<Cell> &cells)
{
    for (Cell &cell : cells)
        omp_init_lock(&cell.lock);
}

NAMED static void drop_locks(std::vector<Cell> &cells)
{
    for (Cell &cell : cells)
        omp_destroy_lock(&cell.lock);
}

NAMED static void many_locks()
{
#pragma omp parallel num_threads(threads)
    {
        std::vector<Cell> own(20000);
        if (fixed)
            make_locks(own);
        for (int step = 0; step < MANY / threads; step++) {
            if (!fixed) {
                make_locks(own);
                drop_locks(own);
            }
            for (Cell &cell : own)
                cell.value += 1;
        }
        if (fixed)
            drop_locks(own);
        work(WHOLE / 2 / threads);
    }
}

struct Table {
    std::array<double, 1 << 18> value;
};

/* Each region copies the table for each thread. Fixed: the threads read one table. */
NAMED static double read_table(Table table)
{
    double sum = 0;
    for (int step = 0; step < 300; step++) {
        if (fixed) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
            sum += table.value[step];
        } else {
#pragma omp parallel num_threads(threads) firstprivate(table) reduction(+ : sum)
            sum += table.value[step];
        }
    }
    return sum;
}

NAMED static void copies()
{
    auto table = std::make_unique<Table>();
    even(WHOLE / 4);
    sink = read_table(*table);
}

/* Fixed: both loops are divided. */
NAMED static void outer_loop()
{
    int rows = threads + 1, columns = 50;
    if (fixed) {
#pragma omp parallel for collapse(2) num_threads(threads) schedule(dynamic, 1)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                work(WHOLE / rows / columns);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            work(WHOLE / rows / columns);
}

NAMED static void task_per_element()
{
    int count = 1500000;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        if (fixed) {
#pragma omp taskloop grainsize(2000)
            for (int i = 0; i < count; i++)
                work(0.1);
        } else {
            for (int i = 0; i < count; i++) {
#pragma omp task
                work(0.1);
            }
        }
    }
}

/* Waits for each task before it creates the next one. Fixed: it waits for all of them. */
NAMED static void wait_for_each()
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < PIECES; i++) {
#pragma omp task
        work(WHOLE / PIECES);
        if (!fixed) {
#pragma omp taskwait
        }
    }
}

NAMED static void load_input()
{
    nap(WHOLE * 0.4);
}

/* Fixed: one thread reads in a task while the others do the work that does not need the input. */
NAMED static void read_first()
{
    if (!fixed) {
        load_input();
        even(WHOLE);
        return;
    }
#pragma omp parallel num_threads(threads + 1)
#pragma omp single
    {
#pragma omp task
        load_input();
        for (int i = 0; i < PIECES; i++) {
#pragma omp task
            work(WHOLE / PIECES);
        }
    }
}

/* Each step makes its threads. Fixed: they are made once. */
NAMED static void short_threads()
{
    int steps = 10000, together = fixed ? 1 : steps;
    for (int step = 0; step < together; step++) {
        std::vector<std::thread> own;
        for (int i = 0; i < threads; i++)
            own.emplace_back([=] {
                for (int piece = 0; piece < steps / together; piece++)
                    work(10);
            });
        for (std::thread &thread : own)
            thread.join();
    }
}

static const advice_case cases[] = {
    {"collect", collect, "lock-bound", "Collector::add", "Do less while holding the lock"},
    {"sleep in lock", sleep_in_lock, "lock-bound", "store", "sleeps while it holds the lock"},
    {"sleep in critical", sleep_in_critical, "lock-bound blocked", "store", "nanosleep"},
    {"many locks", many_locks, "fine", "_locks", "fewer locks"},
    {"copies", copies, "copies", "read_table", "share"},
    {"outer loop", outer_loop, "coarse", "outer_loop() [", "collapse(2)"},
    {"task per element", task_per_element, "fine", "task_per_element() [", "taskloop"},
    {"wait for each", wait_for_each, "task-starved", "wait_for_each() [", "taskwaits"},
    {"read first", read_first, "serial", "load_input", "Overlap the wait"},
    {"short threads", short_threads, "short-threads", "short_threads", "a pool"},
};

int main(int argc, char **argv)
{
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}
