/* Many tasks over few paths, which differ in what a remembered path must tell apart; "paths N" is how many
 * there are.
 *
 *     deep D N   N tasks D calls down
 *     bits B N   N tasks from one place, B calls down, over 2^B paths of the same length
 *     sites N    N tasks from each of 512 places
 *     vla N      tasks from below frames of varied size: one with a long array spans the same bytes of stack
 * as three with short ones, N times chain N    each task creates the next, in 24 functions, N times
 */
#include "analytic.h"

#define STAY __asm__ volatile("")

static int region_line, vla_line;

NAMED static void leaf(const char *name)
{
    work_for(name, 0.0203);
    STAY;
}

NAMED static void create(long number)
{
#pragma omp task firstprivate(number)
    __asm__ volatile("" : : "r"(number));
    STAY;
}

NAMED static void deep(int depth, long tasks)
{
    if (depth > 0) {
        deep(depth - 1, tasks);
        STAY;
        return;
    }
    for (long i = 0; i < tasks; i++)
        create(i);
    STAY;
}

NAMED static void left(unsigned path, int bits);
NAMED static void right(unsigned path, int bits);

NAMED static void bits(unsigned path, int left_over)
{
    if (left_over == 0)
        create(path);
    else if (path & 1)
        left(path >> 1, left_over - 1);
    else
        right(path >> 1, left_over - 1);
    STAY;
}

NAMED static void left(unsigned path, int left_over)
{
    bits(path, left_over);
    STAY;
}

NAMED static void right(unsigned path, int left_over)
{
    bits(path, left_over);
    STAY;
}

NAMED static void vla(int levels, size_t bytes, int work)
{
    volatile char array[bytes];
    array[0] = array[bytes - 1] = 1;
    if (levels > 0) {
        vla(levels - 1, 64, work);
    } else {
        vla_line = __LINE__ + 1;
#pragma omp task firstprivate(work)
        {
            if (work)
                leaf("nested");
            STAY;
        }
    }
    STAY;
    (void)array;
}

/* One call, so that the outermost return address is the same. */
NAMED static void vlas(long nested)
{
    for (long i = 0; i < 40 + nested; i++) {
        int work = i >= 40;
        vla(work ? 2 : 0, work ? 64 : 64 + 16 * (size_t)i, work);
    }
#pragma omp taskwait
    STAY;
}

#define SITE(n)                                                                                                        \
    NAMED static void site_##n(void)                                                                                   \
    {                                                                                                                  \
        _Pragma("omp task") STAY;                                                                                      \
        STAY;                                                                                                          \
    }
#define EIGHT(m, n)  m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define TIMES8(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define BY8(m, n)    m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define SITES_8(n)   EIGHT(SITE, n)
#define SITES_64(n)  TIMES8(SITES_8, n)
#define NAME(n)      site_##n,
#define NAMES_8(n)   EIGHT(NAME, n)
#define NAMES_64(n)  TIMES8(NAMES_8, n)

BY8(SITES_64, x)

static void (*const sites[])(void) = {BY8(NAMES_64, x)};

#define SITE_COUNT (sizeof(sites) / sizeof(*sites))

#define LINK(n, next)                                                                                                  \
    NAMED static void link_##n(void)                                                                                   \
    {                                                                                                                  \
        _Pragma("omp task")                                                                                            \
        {                                                                                                              \
            next;                                                                                                      \
            STAY;                                                                                                      \
        }                                                                                                              \
        _Pragma("omp taskwait") STAY;                                                                                  \
    }

LINK(23, leaf("end of chain"))
#define BEFORE(n, next) LINK(n, link_##next())
BEFORE(22, 23)
BEFORE(21, 22)
BEFORE(20, 21)
BEFORE(19, 20)
BEFORE(18, 19)
BEFORE(17, 18)
BEFORE(16, 17)
BEFORE(15, 16)
BEFORE(14, 15)
BEFORE(13, 14)
BEFORE(12, 13)
BEFORE(11, 12)
BEFORE(10, 11)
BEFORE(9, 10)
BEFORE(8, 9)
BEFORE(7, 8)
BEFORE(6, 7)
BEFORE(5, 6)
BEFORE(4, 5)
BEFORE(3, 4)
BEFORE(2, 3)
BEFORE(1, 2)
BEFORE(0, 1)

/* Creates the tasks; returns the number of paths. */
NAMED static long run(int argc, char **argv)
{
    const char *what = argv[1];
    long first = argc > 2 ? atol(argv[2]) : 0, tasks = argc > 3 ? atol(argv[3]) : 0;
    if (strcmp(what, "deep") == 0) {
        deep((int)first, tasks);
        return 1;
    }
    if (strcmp(what, "bits") == 0) {
        for (long i = 0; i < tasks; i++)
            bits((unsigned)i & ((1u << first) - 1), (int)first);
        return 1l << first;
    }
    if (strcmp(what, "sites") == 0) {
        for (long i = 0; i < first; i++)
            for (size_t site = 0; site < SITE_COUNT; site++)
                sites[site]();
        return SITE_COUNT;
    }
    if (strcmp(what, "vla") == 0) {
        vlas(first);
        return 2;
    }
    for (long i = 0; i < first; i++)
        link_0();
    return 24;
}

int main(int argc, char **argv)
{
    long paths = 0;
    if (argc < 2)
        return 2;
    region_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
            paths = run(argc, argv);
            STAY;
        }
        STAY;
    }
    sweep(2);
    printf("paths %ld\n", paths);
    if (strcmp(argv[1], "vla") == 0)
        printf("path %.6f main > main [parallel creation_paths.c:%d] > run > vlas > vla > vla > vla > "
               "vla [task creation_paths.c:%d] > leaf\n",
               recorded_work("nested"), region_line, vla_line);
    return 0;
}
