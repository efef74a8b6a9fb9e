/* Waits of C++'s library, for one producer: std_waits TIMES WAY. Prints for how long wait_for_it() waited. The producer sleeps
 * 20 ms each time, before it wakes, or while it holds the lock. */
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>

#define NAMED __attribute__((noinline, noclone))

static std::atomic<bool> is_held;

NAMED static void produce(const std::function<void()> &wake)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    wake();
}

/* A way: what the producer does before it sleeps, and after that; and how to wait for it. */
struct way {
    std::function<void()> begin, wake, wait;
};

template <class T> static way lock_way(std::function<void(T &)> wait)
{
    auto lock = std::make_shared<T>();
    return {[lock] { lock->lock(); }, [lock] { lock->unlock(); }, [lock, wait] { wait(*lock); }};
}

static way make_way(const std::string &name)
{
    auto nothing = [] {};
    auto promise = std::make_shared<std::promise<int>>();
    auto latch = std::make_shared<std::latch>(1);
    auto barrier = std::make_shared<std::barrier<>>(2);
    auto semaphore = std::make_shared<std::counting_semaphore<>>(0);
    auto word = std::make_shared<std::atomic<int>>(0);
    const std::map<std::string, way> ways = {
        {"future", {nothing, [=] { promise->set_value(1); }, [=] { promise->get_future().get(); }}},
        {"latch", {nothing, [=] { latch->count_down(); }, [=] { latch->wait(); }}},
        {"barrier", {nothing, [=] { barrier->arrive_and_wait(); }, [=] { barrier->arrive_and_wait(); }}},
        {"semaphore", {nothing, [=] { semaphore->release(); }, [=] { semaphore->acquire(); }}},
        {"atomic", {nothing, [=] { *word = 1, word->notify_all(); }, [=] { word->wait(0); }}},
        {"mutex", lock_way<std::mutex>([](auto &lock) { std::lock_guard guard(lock); })},
        {"recursive_mutex", lock_way<std::recursive_mutex>([](auto &lock) { std::lock_guard guard(lock); })},
        {"timed_mutex", lock_way<std::timed_mutex>([](auto &lock) {
             if (lock.try_lock_for(std::chrono::hours(1)))
                 lock.unlock();
         })},
        {"shared_mutex", lock_way<std::shared_mutex>([](auto &lock) { std::shared_lock guard(lock); })},
    };
    return ways.at(name);
}

NAMED static double wait_for_it(const way &way)
{
    timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    way.wait();
    clock_gettime(CLOCK_MONOTONIC, &end);
    return double(end.tv_sec - begin.tv_sec) + 1e-9 * double(end.tv_nsec - begin.tv_nsec);
}

int main(int count, char **arguments)
{
    double waited_s = 0;
    while (clock() < CLOCKS_PER_SEC / 20)
        ; /* a program that does nothing has no profile */
    for (int i = count > 2 ? atoi(arguments[1]) : 0; i > 0; i--) {
        way way = make_way(arguments[2]);
        is_held = false;
        std::thread producer([&] {
            way.begin();
            is_held = true;
            produce(way.wake);
        });
        while (!is_held)
            std::this_thread::yield();
        waited_s += wait_for_it(way);
        producer.join();
    }
    std::printf("%f\n", waited_s);
}
