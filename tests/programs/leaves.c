/* Serial code whose innermost frames are hard to unwind: moving stack pointers, the vDSO, a libc leaf written
 * in assembly, a stack that longjmp cuts back, and a thread asleep in the kernel. Every part's time must be
 * found below main and its own name. `leaves cpu`: times are the thread's CPU time, so that a part computes as long on
 * a busy machine; the sleeper, who sleeps as long as ever, states none. */
#include "analytic.h"
#include <alloca.h>
#include <setjmp.h>

static jmp_buf back;
static volatile int jumps = 1; /* always; but the compiler must not know that jump_back() never returns */
static char *volatile sink;
static double parts_s[5];
static int of_cpu;

static double now_s(void)
{
    struct timespec now;
    if (!of_cpu)
        return clock_s();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return pace * ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
}

NAMED static void use_alloca(size_t bytes)
{
    char *room = (char *)alloca(bytes);
    memset(room, 1, bytes);
    sink = room;
    __asm__ volatile("" ::: "memory");
}

NAMED static void alloca_heavy(double end_s)
{
    for (size_t i = 0; now_s() < end_s; i++)
        for (int j = 0; j < 100; j++)
            use_alloca(64 + (i * 97 + (size_t)j * 131) % 4096);
}

NAMED static void vdso_heavy(double end_s)
{
    while (now_s() < end_s)
        ;
}

NAMED static void memcpy_heavy(double end_s)
{
    enum { BYTES = 1 << 20 };
    char *from = (char *)calloc(2, BYTES);
    while (now_s() < end_s) {
        memcpy(from + BYTES, from, BYTES);
        sink = from;
        __asm__ volatile("" ::: "memory");
    }
    free(from);
}

NAMED static void jump_back(int levels)
{
    if (levels > 0)
        jump_back(levels - 1);
    else if (jumps)
        longjmp(back, 1);
    __asm__ volatile("");
}

NAMED static void longjmp_heavy(double end_s)
{
    volatile int levels = 0;
    setjmp(back);
    if (now_s() < end_s) {
        levels = (levels + 1) % 30;
        jump_back(levels);
    }
}

NAMED static void sleep_heavy(double end_s)
{
    end_s += clock_s() - now_s();
    while (clock_s() < end_s)
        nanosleep(&(struct timespec){.tv_nsec = 7000000}, NULL);
}

int main(int argc, char **argv)
{
    static void (*const parts[])(double) = {alloca_heavy, vdso_heavy, memcpy_heavy, longjmp_heavy, sleep_heavy};
    static const char *const names[] = {"alloca_heavy", "vdso_heavy", "memcpy_heavy", "longjmp_heavy", "sleep_heavy"};
    omp_get_max_threads(); /* serial, but an OpenMP program all the same */
    of_cpu = argc > 1 && strcmp(argv[1], "cpu") == 0;
    for (int i = 0; i < 5; i++) {
        double begin_s = now_s();
        parts[i](begin_s + 0.5);
        parts_s[i] = now_s() - begin_s;
    }
    for (int i = 0; i < (of_cpu ? 4 : 5); i++) {
        expect("work", names[i], parts_s[i]);
        printf("path %.6f main > %s\n", parts_s[i], names[i]);
    }
    return 0;
}
