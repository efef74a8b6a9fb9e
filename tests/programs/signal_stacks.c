/* Two threads with alternate signal stacks and little room on the stacks that they run on, for 0.1 s each:
 *
 *     stack BYTES       on its own stack, with an alternate stack of BYTES; 0: of what the kernel's frame takes here, or of the least that the
 *                       kernel accepts
 *     autodisarm BYTES  the same with SS_AUTODISARM
 *     fiber BYTES       on a stack of 2 KB (makecontext) with a page below that nobody may touch, as a goroutine of Go's
 *     keys BYTES        on a stack with a protection key; where there are none, as `fiber`
 *
 * Each thread computes, and sleeps 20 us at a time. Prints how many bytes below the alternate stacks were changed, how many sleeps were
 * interrupted, or ended too early, and how many times a vector register was. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "analytic.h"

#define BELOW       8192
#define PAGE        4096
#define FIBER_BYTES 2048
#define KEYED_BYTES 65536
#define MARK        0x5a
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

struct job {
    const char *way;
    size_t bytes;
    double end_s;
    int changed, interrupted, early, other;
    ucontext_t main, fiber;
};

static __thread struct job job;
static size_t frame_bytes;

static void note_frame(int signal, siginfo_t *info, void *context)
{
    stack_t now;
    (void)signal, (void)info;
    sigaltstack(NULL, &now);
    size_t bytes = (size_t)((char *)now.ss_sp + now.ss_size - (char *)context) + sizeof(uintptr_t);
    frame_bytes = (bytes + 63) / 64 * 64; /* where the kernel puts it depends on the top's alignment */
}

static void measure_frame(void)
{
    static char room[65536] __attribute__((aligned(64)));
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_sigaction = note_frame, .sa_flags = SA_ONSTACK | SA_SIGINFO}, NULL);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    sigaltstack(&none, NULL);
}

/* By the instruction itself: libc's function takes more of the stack. */
static long sleeps(struct timespec *time, struct timespec *left)
{
    long result;
    uint64_t before = 0x0123456789abcdef, after;
    __asm__ volatile("movq %[before], %%xmm9\n\tmovl $35, %%eax\n\tsyscall\n\tmovq %%xmm9, %[after]"
                     : "=&a"(result), [after] "=&r"(after)
                     : "D"(time), "S"(left), [before] "r"(before)
                     : "rcx", "r11", "xmm9", "memory");
    job.other += after != before;
    return result;
}

NAMED static void work_with_little_room(void)
{
    while (clock_s() < job.end_s) {
        struct timespec time = {.tv_nsec = 20000}, left = {0};
        double end_s = clock_s() + 20e-6;
        job.interrupted += sleeps(&time, &left) != 0;
        job.early += clock_s() < end_s;
        for (volatile int i = 0; i < 3000; i++)
            ;
    }
}

static void in_fiber(void)
{
    work_with_little_room();
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void go_to_stack(char *low, size_t bytes)
{
    getcontext(&job.fiber);
    job.fiber.uc_stack.ss_sp = low;
    job.fiber.uc_stack.ss_size = bytes;
    job.fiber.uc_link = &job.main;
    makecontext(&job.fiber, in_fiber, 0);
    swapcontext(&job.main, &job.fiber);
}

static void *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void run_fiber(void)
{
    char *memory = map(2 * PAGE);
    mprotect(memory, PAGE, PROT_NONE);
    go_to_stack(memory + PAGE, FIBER_BYTES);
    munmap(memory, 2 * PAGE);
}

static void run_with_key(void)
{
    int key = (int)syscall(SYS_pkey_alloc, 0, 0);
    if (key < 0) {
        run_fiber();
        return;
    }
    char *memory = map(KEYED_BYTES);
    syscall(SYS_pkey_mprotect, memory, KEYED_BYTES, PROT_READ | PROT_WRITE, key);
    go_to_stack(memory, KEYED_BYTES);
    munmap(memory, KEYED_BYTES);
    syscall(SYS_pkey_free, key);
}

static void *room_below(size_t bytes)
{
    char *room = map(BELOW + bytes);
    memset(room, MARK, BELOW + bytes);
    return room;
}

static void run(const char *way, size_t bytes)
{
    stack_t before, stack;
    char *room = room_below(bytes);
    job = (struct job){.way = way, .bytes = bytes, .end_s = clock_s() + 0.1};
    stack = (stack_t){
        .ss_sp = room + BELOW, .ss_size = bytes, .ss_flags = strcmp(way, "autodisarm") == 0 ? (int)SS_AUTODISARM : 0};
    if (sigaltstack(&stack, &before) != 0)
        abort();
    if (strcmp(way, "fiber") == 0)
        run_fiber();
    else if (strcmp(way, "keys") == 0)
        run_with_key();
    else
        work_with_little_room();
    sigaltstack(&before, &stack);
    if (stack.ss_sp != room + BELOW || stack.ss_size != bytes)
        job.other++;
    for (int i = 0; i < BELOW; i++)
        job.changed += room[i] != MARK;
    munmap(room, BELOW + bytes);
}

/* The kernel refuses stacks below a bound of its own, which may be more than the frame takes. */
static size_t least_accepted(size_t bytes)
{
    stack_t before;
    char *room = map(KEYED_BYTES);
    while (bytes < KEYED_BYTES && sigaltstack(&(stack_t){.ss_sp = room, .ss_size = bytes}, &before) != 0)
        bytes += sizeof(uintptr_t);
    sigaltstack(&before, NULL);
    munmap(room, KEYED_BYTES);
    return bytes;
}

int main(int argc, char **argv)
{
    int changed = 0, interrupted = 0, early = 0, other = 0;
    measure_frame();
    size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (bytes < frame_bytes)
        bytes = least_accepted(frame_bytes);
#pragma omp parallel num_threads(2) reduction(+ : changed, interrupted, early, other)
    {
        run(argv[1], bytes);
        changed += job.changed, interrupted += job.interrupted, early += job.early, other += job.other;
    }
    printf("changed below: %d, interrupted: %d, early: %d, other: %d\n", changed, interrupted, early, other);
    return 0;
}
