// As provided.c, in C++: exceptions, and tasks that copy objects.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <omp.h>
#include <stdexcept>
#include <string>

static std::atomic<int> alive;

struct counted {
    std::string text;
    int number;
    counted(const char *words, int n) : text(words), number(n)
    {
        alive++;
    }
    counted(const counted &other) : text(other.text), number(other.number)
    {
        alive++;
    }
    ~counted()
    {
        alive--;
    }
};

static int sum;

static void objects_in_tasks()
{
    {
        counted object("longer than fits into the string itself", 5);
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(object)
#pragma omp atomic
                sum += object.number + (int)object.text.size();
            }
#pragma omp task firstprivate(object) if (0)
#pragma omp atomic
            sum += object.number;
#pragma omp taskloop num_tasks(10) firstprivate(object)
            for (int i = 0; i < 100; i++)
#pragma omp atomic
                sum += object.number;
        }
    }
    std::printf("%d, %d alive\n", sum, alive.load());
}

static void objects_in_many_tasks()
{
    {
        counted object("longer than fits into the string itself", 1);
#pragma omp parallel num_threads(2)
#pragma omp single
        for (int i = 0; i < 2000; i++) {
#pragma omp task firstprivate(object)
#pragma omp atomic
            sum += object.number;
        }
    }
    std::printf("%d, %d alive\n", sum, alive.load());
}

static void exceptions()
{
    int caught = 0;
#pragma omp parallel num_threads(2) reduction(+ : caught)
    {
        try {
            throw std::runtime_error("in a region");
        } catch (const std::exception &) {
            caught++;
        }
#pragma omp task shared(caught)
        try {
            throw 1;
        } catch (int) {
#pragma omp atomic
            sum++;
        }
    }
    std::printf("%d %d\n", caught, sum);
}

static void exception_that_leaves_a_region()
{
    std::puts("before the end");
    std::fflush(stdout);
    try {
#pragma omp parallel num_threads(1)
        throw 1;
    } catch (int) {
        std::puts("caught");
    }
}

static const struct {
    const char *name;
    void (*run)();
} constructs[] = {
    {"objects_in_tasks", objects_in_tasks},
    {"objects_in_many_tasks", objects_in_many_tasks},
    {"exceptions", exceptions},
    {"exception_that_leaves_a_region", exception_that_leaves_a_region},
};

int main(int argc, char **argv)
{
    for (const auto &construct : constructs) {
        if (argc == 1)
            std::puts(construct.name);
        else if (std::strcmp(argv[1], construct.name) == 0)
            return construct.run(), 0;
    }
    return argc == 1 ? 0 : 2;
}
