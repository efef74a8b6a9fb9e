// C++ exceptions thrown and caught on both threads without a pause: the unwinder of the program and the one
// in the sampling handler must not get into each other's way.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <omp.h>
#include <stdexcept>
#include <string>

static double clock_s()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct guard {
    long &unwound;
    ~guard()
    {
        unwound++;
    }
};

__attribute__((noinline)) static int thrower(int depth, long &unwound)
{
    guard on_the_way{unwound};
    if (depth == 0)
        throw std::runtime_error("thrown");
    return thrower(depth - 1, unwound) + 1;
}

__attribute__((noinline)) static long throw_and_catch(double end_s)
{
    long wrong = 0;
    for (int i = 0; i % 16 || clock_s() < end_s; i++) {
        long unwound = 0;
        int depth = i % 20;
        try {
            thrower(depth, unwound);
            wrong++;
        } catch (const std::exception &error) {
            wrong += unwound != depth + 1 || std::string(error.what()) != "thrown";
        }
    }
    return wrong;
}

int main()
{
    long wrong = 0;
    const char *share = std::getenv("TEST_SPIN"); // as in spin.h
    double end_s;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
#pragma omp single
        end_s = clock_s() + (share ? std::atof(share) : 1.0); // from when both are there
        wrong += throw_and_catch(end_s);
    }
    std::printf("wrong %ld\n", wrong);
    return wrong != 0;
}
