/* The program's own faults: faults own|late|jump|overflow|default|sent|bus|ask. */
#include <fcntl.h>
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analytic.h"

#define PAGE  4096
#define PAGES 100

static char *pages;
static volatile sig_atomic_t caught, wrong;
static sigjmp_buf back;

/* The faulting page becomes writable: the instruction is executed again. */
static void repair(int signal, siginfo_t *info, void *context)
{
    char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
    (void)context;
    if (signal != SIGSEGV || info->si_code != SEGV_ACCERR || page < pages || page >= pages + PAGES * PAGE)
        wrong++;
    else
        mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    caught++;
}

static void jump(int signal)
{
    (void)signal;
    caught++;
    siglongjmp(back, 1);
}

static void overflowed(int signal)
{
    static const char text[] = "overflow\n";
    (void)signal;
    _exit(write(1, text, sizeof(text) - 1) > 0 ? 3 : 4);
}

static void install(void (*simple)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_flags = flags;
    if (flags & SA_SIGINFO)
        action.sa_sigaction = repair;
    else
        action.sa_handler = simple;
    sigaction(SIGSEGV, &action, NULL);
}

NAMED static void touch(int from, int to)
{
    for (int i = from; i < to; i++) {
        pages[i * PAGE + 8] = 1;
        work_for("touch", 0.001);
    }
}

static void touch_by_two(void)
{
#pragma omp parallel num_threads(2)
    touch(omp_get_thread_num() * PAGES / 2, (omp_get_thread_num() + 1) * PAGES / 2);
}

NAMED static int recurse(int depth)
{
    volatile char room[1024];
    room[depth % 1024] = 1;
    return depth < 0 ? 0 : recurse(depth + 1) + room[depth % 1024];
}

static void overflow(void)
{
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    install(overflowed, SA_ONSTACK);
    printf("%d\n", recurse(0));
}

static void jump_out(void)
{
    install(jump, SA_NODEFER);
    for (volatile int i = 0; i < 100; i++)
        if (sigsetjmp(back, 0) == 0)
            pages[0] = 1;
}

static void bus_error(void)
{
    char path[] = "/tmp/blame-faults-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    char *mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
    printf("%d\n", mapped[0]);
}

/* Whether the kernel is said to handle faults. */
static void ask(void)
{
    struct sigaction action;
    sigaction(SIGSEGV, NULL, &action);
    printf("%s\n", action.sa_handler == SIG_DFL ? "default" : "a handler");
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    pages = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    omp_get_max_threads();
    if (!strcmp(way, "ask"))
        ask();
    if (!strcmp(way, "own"))
        install(NULL, SA_SIGINFO);
#pragma omp parallel num_threads(2)
    work_for("before", 0.02);
    if (!strcmp(way, "late"))
        install(NULL, SA_SIGINFO);
    if (!strcmp(way, "own") || !strcmp(way, "late"))
        touch_by_two();
    else if (!strcmp(way, "jump"))
        jump_out();
    else if (!strcmp(way, "overflow"))
        overflow();
    else if (!strcmp(way, "default"))
        pages[0] = 1;
    else if (!strcmp(way, "sent"))
        kill(getpid(), SIGSEGV);
    else if (!strcmp(way, "bus"))
        bus_error();
    printf("caught %d wrong %d\n", caught, wrong);
    return 0;
}
