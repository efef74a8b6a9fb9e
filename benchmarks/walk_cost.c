/* What a walk costs, by recipes and by libunwind alone, at some depths: warm (the thread has walked here
 * before) and cold (all that it had learnt of code is forgotten before each walk). No OpenMP, no signals.
 * Each function of a path is another one, every other frame is found by rbp. Usage: walk_cost [walks
 * [rounds]]; medians of the rounds. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unwind/loadmap.h"
#include "unwind/unwind.h"

#define MOST_ROUNDS 101

static struct unwinder unwinder;
static int walks, rounds;
static volatile unsigned long kept;

static __attribute__((noinline)) unsigned long walk(bool cold, bool steps)
{
    struct unwind_frame frame;
    unsigned long frames = 0;
    unwinder.generation -= cold;
    unwinder_start_here(&unwinder);
    while (steps && unwinder_next(&unwinder, &frame) == UNWIND_FRAME)
        frames++;
    return frames;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(int count, bool cold, bool steps)
{
    double ns[MOST_ROUNDS];
    for (int round = 0; round < rounds; round++) {
        uint64_t begin_ns = clock_now_ns();
        for (int i = 0; i < count; i++)
            kept += walk(cold, steps);
        ns[round] = (double)(clock_now_ns() - begin_ns) / count;
    }
    qsort(ns, (size_t)rounds, sizeof(ns[0]), compare);
    return ns[rounds / 2];
}

static void measure(int depth)
{
    double whole[2][2], begin[2][2];
    double frames = (double)walk(false, true);
    for (int libunwind = 0; libunwind < 2; libunwind++)
        for (int cold = 0; cold < 2; cold++) {
            int count = libunwind || cold ? walks / 20 + 1 : walks;
            unwinder.libunwind_only = libunwind;
            begin[libunwind][cold] = median_ns(count, cold, false);
            whole[libunwind][cold] = median_ns(count, cold, true);
        }
    unwinder.libunwind_only = false;
    printf("%5d %6.0f", depth, frames);
    for (int libunwind = 0; libunwind < 2; libunwind++)
        for (int cold = 0; cold < 2; cold++)
            printf(" %9.0f %7.1f", whole[libunwind][cold],
                   (whole[libunwind][cold] - begin[libunwind][cold]) / frames);
    printf("   %.0f, %.0f\n", begin[0][0], begin[0][1]);
}

#if defined(__clang__)
#define LEVEL __attribute__((noinline))
#else
#define LEVEL __attribute__((noipa)) /* nor taken for another one that does the same */
#endif

/* 256 functions f_0x00 to f_0xff, each of which calls the next one. None is a tail call. */
static int (*const functions[256])(int, int);

#define CALL_NEXT(n)                                                                                         \
    if (left == 0)                                                                                           \
        measure(depth);                                                                                      \
    else                                                                                                     \
        functions[(n + 1) & 255](left - 1, depth);                                                           \
    return (int)kept + left;

#define FIXED(n)                                                                                             \
    static LEVEL int f_##n(int left, int depth)                                                              \
    {                                                                                                        \
        CALL_NEXT(n)                                                                                         \
    }
#define VARIABLE(n)                                                                                          \
    static LEVEL int f_##n(int left, int depth)                                                              \
    {                                                                                                        \
        volatile char array[(left & 15) + 1];                                                                \
        kept += (unsigned long)(array[left & 15] = 1);                                                       \
        CALL_NEXT(n)                                                                                         \
    }
#define NAME(n) f_##n,

/* clang-format does not come to an end with these. */
/* clang-format off */
#define ROW(F, G, h)                                                                                         \
    F(0x##h##0)                                                                                              \
    G(0x##h##1) F(0x##h##2) G(0x##h##3) F(0x##h##4) G(0x##h##5) F(0x##h##6) G(0x##h##7) F(0x##h##8)          \
        G(0x##h##9) F(0x##h##a) G(0x##h##b) F(0x##h##c) G(0x##h##d) F(0x##h##e) G(0x##h##f)
#define ALL(F, G)                                                                                            \
    ROW(F, G, 0)                                                                                             \
    ROW(F, G, 1) ROW(F, G, 2) ROW(F, G, 3) ROW(F, G, 4) ROW(F, G, 5) ROW(F, G, 6) ROW(F, G, 7) ROW(F, G, 8)  \
        ROW(F, G, 9) ROW(F, G, a) ROW(F, G, b) ROW(F, G, c) ROW(F, G, d) ROW(F, G, e) ROW(F, G, f)
/* clang-format on */

ALL(FIXED, VARIABLE)

static int (*const functions[256])(int, int) = {ALL(NAME, NAME)};

int main(int argc, char **argv)
{
    static const int depths[] = {1, 5, 20, 50, 100, 200};
    walks = argc > 1 ? atoi(argv[1]) : 2000;
    rounds = argc > 2 ? atoi(argv[2]) : 31;
    if (walks < 1 || rounds < 1 || rounds > MOST_ROUNDS)
        return fprintf(stderr, "usage: walk_cost [walks [rounds]], at most %d rounds\n", MOST_ROUNDS), 2;
    if (!loadmap_init() || !unwinder_init(&unwinder))
        return fputs("walk_cost: no memory\n", stderr), 1;
    unwinder_attach(&unwinder);
    puts("                     by recipes                        by libunwind");
    puts("                   warm              cold              warm              cold       start ns");
    puts("depth frames   ns/walk ns/step   ns/walk ns/step   ns/walk ns/step   ns/walk ns/step   warm, cold");
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        functions[0](depths[i], depths[i]);
    return 0;
}
