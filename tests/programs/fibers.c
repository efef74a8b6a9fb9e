/* Code on stacks that the program made, inside regions: the frames of the region's function are on the threads' own stacks, or on that of
 * another fiber. ucontext's fibers begin in __start_context; those that are switched by assembly begin nowhere.
 *
 *     fibers [PLACE]    main runs on a fiber, too: on one `below` or `above` the others; else on its own stack */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { FIBERS = 4, STACK = 65536, ROUNDS = 20 };

struct fiber {
    ucontext_t here, back;
    void *stack, *stack_back; /* of those that assembly switches */
    volatile double sink;
};

static struct fiber fibers[FIBERS], switched[FIBERS];
static ucontext_t home, own;
static char *stacks; /* main's below, all fibers', main's above */

__attribute__((noinline)) static void spin(struct fiber *fiber)
{
    for (int i = 0; i < 200000; i++)
        fiber->sink += i;
}

__attribute__((noinline)) static void in_fiber(struct fiber *fiber)
{
    spin(fiber);
    __asm__ volatile("");
}

__attribute__((noinline)) static void in_switched(struct fiber *fiber)
{
    spin(fiber);
    __asm__ volatile("");
}

static void body(unsigned number)
{
    for (;;) {
        in_fiber(&fibers[number]);
        swapcontext(&fibers[number].here, &fibers[number].back);
    }
}

#ifdef __x86_64__
void switch_stack(void **from, void *to);
__asm__(".text\n.type switch_stack, @function\nswitch_stack:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n    ret\n"
        ".size switch_stack, .-switch_stack\n");

static struct fiber *starting;

static void switched_body(void)
{
    struct fiber *fiber = starting;
    switch_stack(&fiber->stack, fiber->stack_back);
    for (;;) {
        in_switched(fiber);
        switch_stack(&fiber->stack, fiber->stack_back);
    }
}
#endif

static void make_fibers(void)
{
    for (int i = 0; i < FIBERS; i++) {
        getcontext(&fibers[i].here);
        fibers[i].here.uc_stack.ss_sp = stacks + (1 + i) * STACK;
        fibers[i].here.uc_stack.ss_size = STACK;
        fibers[i].here.uc_link = NULL;
        makecontext(&fibers[i].here, (void (*)(void))body, 1, i);
#ifdef __x86_64__
        uintptr_t *top = (uintptr_t *)(stacks + (2 + FIBERS + i) * STACK) - 2; /* what it returns to: 0 */
        memset(top - 7, 0, 9 * sizeof *top);
        top[-1] = (uintptr_t)switched_body;
        switched[i].stack = top - 7;
        starting = &switched[i];
        switch_stack(&switched[i].stack_back, switched[i].stack);
#endif
    }
}

static void program(void)
{
    make_fibers();
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
        for (int i = 0; i < FIBERS; i++)
            swapcontext(&fibers[i].back, &fibers[i].here);
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
        for (int i = 0; i < FIBERS; i++) {
#ifdef __x86_64__
            switch_stack(&switched[i].stack_back, switched[i].stack);
#else
            in_switched(&switched[i]);
#endif
        }
    }
}

int main(int argc, char **argv)
{
    size_t bytes = (2 * FIBERS + 2) * STACK;
    stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED)
        return 1;
    if (argc < 2) {
        program();
    } else {
        getcontext(&own);
        own.uc_stack.ss_sp = strcmp(argv[1], "below") == 0 ? stacks : stacks + bytes - STACK;
        own.uc_stack.ss_size = STACK;
        own.uc_link = &home;
        makecontext(&own, program, 0);
        swapcontext(&home, &own);
    }
    puts("done");
    return 0;
}
