// Everything that comes and goes, for as long as it is told to (argv[1]: seconds; argv[2]: a library with a region in it):
// threads of the program's own with teams of their own, libraries, exceptions, processes, cancelled regions and tasks, teams that
// change in size. Each cycle checks its results; argv[3], 0 if not given, is how long to sleep between two cycles, in milliseconds.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static double clock_s()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

__attribute__((noinline)) static unsigned long compute(unsigned long state)
{
    for (int i = 0; i < 50000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static int team_of(int threads)
{
    int sum = 0;
#pragma omp parallel num_threads(threads)
    {
        unsigned long state = compute(static_cast<unsigned long>(omp_get_thread_num()) + 1);
#pragma omp critical(churn)
        sum += state != 0;
    }
    return sum;
}

static int tasks_of(int count)
{
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < count; i++) {
#pragma omp task shared(sum)
        {
            int one = compute(static_cast<unsigned long>(i) + 1) != 0;
#pragma omp atomic
            sum += one;
        }
    }
    return sum;
}

static void *own_thread(void *sum)
{
    *static_cast<int *>(sum) = team_of(2) + team_of(3); // tasks there end libomp 19 itself: memory of threads that have gone
    return nullptr;
}

static bool threads_come_and_go()
{
    pthread_t threads[3];
    int sums[3] = {};
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], nullptr, own_thread, &sums[i]))
            return false;
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return sums[0] == 5 && sums[1] == 5 && sums[2] == 5;
}

static bool library_comes_and_goes(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW);
    if (!handle)
        return false;
    auto work = reinterpret_cast<unsigned long (*)(unsigned long)>(dlsym(handle, "plugin_region"));
    bool done = work && work(88172645463325252ul) == 2;
    return dlclose(handle) == 0 && done;
}

__attribute__((noinline)) static int thrower(int depth)
{
    if (depth == 0)
        throw std::runtime_error("thrown");
    return thrower(depth - 1) + 1;
}

static bool exceptions_fly()
{
    int caught = 0;
#pragma omp parallel num_threads(2) reduction(+ : caught)
    for (int i = 0; i < 50; i++) {
        try {
            thrower(i % 20);
        } catch (const std::exception &) {
            caught++;
        }
    }
    return caught == 100;
}

static bool processes_come_and_go(bool measured)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(!measured || team_of(2) == 2 ? 7 : 1);
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

// What was begun of a cancelled construct depends on who comes first, that it ends does not. (Cancelled dynamic loops end libomp 19 itself, with
// an assertion: kmp_dispatch.cpp, buf->steal_flag.)
static bool cancelled()
{
    int begun = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 100; i++) {
#pragma omp atomic
            begun++;
            compute(static_cast<unsigned long>(i) + 1);
#pragma omp cancel for if (i == 10)
        }
    }
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 10; i++) {
#pragma omp task
        {
            compute(static_cast<unsigned long>(i) + 1);
#pragma omp cancel taskgroup if (i == 5)
        }
    }
    return begun > 0 && begun <= 100;
}

static bool teams_inside_teams()
{
    int sum = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += team_of(2);
    return sum == 4;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    double end_s = clock_s() + std::atof(argv[1]);
    useconds_t pause_us = static_cast<useconds_t>(argc > 3 ? 1000 * std::atof(argv[3]) : 0);
    long cycles = 0, wrong = team_of(1) != 1; // of the first thread: locks are followed
    for (; clock_s() < end_s; cycles++) {
        wrong += !threads_come_and_go();
        wrong += !library_comes_and_goes(argv[2]);
        wrong += !exceptions_fly();
        wrong += !processes_come_and_go(cycles % 100 == 0);
        wrong += !cancelled();
        wrong += tasks_of(20) != 20;
        wrong += !teams_inside_teams();
        for (int threads = 1; threads <= 4; threads++)
            wrong += team_of(threads) != threads;
        usleep(pause_us);
    }
    std::printf("cycles %ld\nwrong %ld\n", cycles, wrong);
    return wrong != 0;
}
