/* A C++ program without OpenMP: a thread computes in long_section() with the mutex `queue_lock`, while the first thread waits
 * for it in short_section(). Each round is one such wait. */
#include <atomic>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <thread>

#define NAMED __attribute__((noinline))

static std::mutex queue_lock;
static std::atomic<int> asked, held;
static thread_local volatile double sink;

static void compute(double s)
{
    timespec now;
    double end = 0;
    do {
        sink = sink + 1;
        clock_gettime(CLOCK_MONOTONIC, &now);
        double at = double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
        end = end == 0 ? at + s : end;
        s = end - at;
    } while (s > 0);
}

NAMED static void long_section()
{
    {
        std::lock_guard<std::mutex> guard(queue_lock);
        held++;
        compute(0.1);
    }
    sink = sink + 1; /* the release is no tail call */
}

NAMED static void short_section()
{
    {
        std::lock_guard<std::mutex> guard(queue_lock);
        compute(0.001);
    }
    sink = sink + 2;
}

int main()
{
    const int rounds = 4;
    compute(0.05);
    std::thread other([] {
        for (int i = 0; i < rounds; i++) {
            while (asked.load() <= i)
                std::this_thread::yield();
            long_section();
        }
    });
    for (int i = 0; i < rounds; i++) {
        asked++;
        while (held.load() <= i)
            std::this_thread::yield();
        short_section();
    }
    other.join();
    std::puts("done");
}
