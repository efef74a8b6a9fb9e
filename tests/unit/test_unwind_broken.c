/* Walks from registers that mean nothing: they end, and do not crash. */
#include "tests/unit/unit.h"

#include <libunwind-x86_64.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tests/unit/unwind_walk.h"

static uint64_t random_state = 88172645463325252ull;

/* Addresses of all kinds: nothing, this stack, its ends, unmapped, other mappings, the kernel's, not
 * canonical. */
static uintptr_t strange_address(uintptr_t stack)
{
    static int data[64];
    uint64_t r = unit_random(&random_state);
    switch (r % 12) {
    case 0:
        return 0;
    case 1:
        return r >> 8 & 0xfff;
    case 2:
        return UINTPTR_MAX - (r >> 8 & 0xfff);
    case 3:
        return stack + (r >> 8 & 0xffff);
    case 4:
        return unwinder.own_stack_high - (r >> 8 & 0xff);
    case 5:
        return unwinder.own_stack_high + (r >> 8 & 0xfff);
    case 6:
        return stack - (r >> 8 & 0xffffffffff); /* below the stack, mapped or not */
    case 7:
        return (uintptr_t)data + (r >> 8 & 0xff);
    case 8:
        return (uintptr_t)strange_address + (r >> 8 & 0xffff);
    case 9:
        return 0xffff800000000000ull | r >> 8;
    case 10:
        return 0xdead000000000000ull | r >> 20;
    default:
        return r;
    }
}

static int walk_strange_contexts(int rounds)
{
    ucontext_t real;
    getcontext(&real);
    for (int i = 0; i < rounds; i++) {
        ucontext_t context = real;
        greg_t *r = context.uc_mcontext.gregs;
        uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
        static const int registers[] = {REG_RBP, REG_RBX, REG_R12, REG_R10, REG_R13, REG_R14, REG_R15};
        for (int j = 0; j < 7; j++)
            r[registers[j]] = (greg_t)strange_address(stack);
        if (unit_random(&random_state) % 2)
            r[REG_RSP] = (greg_t)strange_address(stack);
        r[REG_RIP] = unit_random(&random_state) % 4 ? (greg_t)((uintptr_t)qsort + unit_random(&random_state) % 65536)
                                                    : (greg_t)strange_address(stack);
        struct walk walk;
        walk_at(&walk, &context);
        if (walk.count >= MOST_FRAMES)
            return 1;
    }
    return 0;
}

/* In processes of their own, so that a crash is a result. */
UNIT_TEST(strange_registers_end_a_walk_and_nothing_else)
{
    for (int n = 0; n < 20; n++) {
        pid_t child = fork();
        if (child == 0) {
            random_state += (uint64_t)n * 7919;
            signal(SIGSEGV, SIG_DFL);
            signal(SIGBUS, SIG_DFL);
            _exit(walk_strange_contexts(2000));
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            fail_msg("round %d: signal %d in a walk from strange registers", n, WTERMSIG(status));
        assert_int_equal(WEXITSTATUS(status), 0); /* 1: a walk that does not end */
    }
}

/* The same on a thread's stack with holes around it, where a wild read is more likely to hit one. */
static void *walk_strange_in_thread(void *argument)
{
    attach();
    *(int *)argument = walk_strange_contexts(20000);
    return NULL;
}

UNIT_TEST(strange_registers_in_a_thread_do_no_harm)
{
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        int result = 2;
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        pthread_create(&thread, NULL, walk_strange_in_thread, &result);
        pthread_join(thread, NULL);
        _exit(result);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        fail_msg("signal %d in a walk from strange registers", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

UNIT_TEST(every_register_is_taken_by_its_number)
{
    static const struct {
        int ours, theirs;
    } pairs[] = {{UNW_X86_64_RAX, REG_RAX}, {UNW_X86_64_RDX, REG_RDX}, {UNW_X86_64_RCX, REG_RCX},
                 {UNW_X86_64_RBX, REG_RBX}, {UNW_X86_64_RSI, REG_RSI}, {UNW_X86_64_RDI, REG_RDI},
                 {UNW_X86_64_RBP, REG_RBP}, {UNW_X86_64_RSP, REG_RSP}, {UNW_X86_64_R8, REG_R8},
                 {UNW_X86_64_R9, REG_R9},   {UNW_X86_64_R10, REG_R10}, {UNW_X86_64_R11, REG_R11},
                 {UNW_X86_64_R12, REG_R12}, {UNW_X86_64_R13, REG_R13}, {UNW_X86_64_R14, REG_R14},
                 {UNW_X86_64_R15, REG_R15}, {UNW_X86_64_RIP, REG_RIP}};
    ucontext_t context;
    getcontext(&context);
    for (int i = 0; i < 17; i++)
        context.uc_mcontext.gregs[pairs[i].theirs] = 0x1000 + i;
    unwinder_start_at(&unwinder, &context);
    for (int i = 0; i < 17; i++)
        assert_int_equal(unwinder.registers[pairs[i].ours], 0x1000 + i);
}

/* Its frame is found by rbp: the array's size is not known. */
__attribute__((noinline)) static uintptr_t address_behind_an_array(volatile size_t *bytes)
{
    volatile char array[*bytes];
    ucontext_t context;
    array[0] = 1;
    getcontext(&context);
    array[*bytes - 1] = array[0];
    return (uintptr_t)context.uc_mcontext.gregs[REG_RIP];
}

/* Two frames that call each other: the stack pointer does not grow, so the path is broken, not endless. */
UNIT_TEST(a_ring_of_frames_ends_the_walk)
{
    volatile size_t bytes = 100;
    uintptr_t ip = address_behind_an_array(&bytes), ring[64] = {0};
    ring[10] = (uintptr_t)&ring[40], ring[11] = ip;
    ring[40] = (uintptr_t)&ring[10], ring[41] = ip;
    ucontext_t context;
    getcontext(&context);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&ring[0];
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)(uintptr_t)&ring[10];
    struct walk walk;
    walk_at(&walk, &context);
    assert_int_equal(walk.end, UNWIND_BROKEN);
    assert_in_range(walk.count, 2, 3);
}

/* Says that it keeps rbp 32,760 bytes above its CFA. */
void keeps_rbp_far_above(void);
__asm__(".text\n"
        ".type keeps_rbp_far_above, @function\n"
        "keeps_rbp_far_above:\n"
        "    .cfi_startproc\n"
        "    .cfi_offset 6, 32760\n"
        "    nop\n"
        "    nop\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size keeps_rbp_far_above, .-keeps_rbp_far_above\n");

#define WHOLE_BYTES (1 << 20)
#define HOLE_BYTES  (64 << 10)

/* Behind this stack there is a hole, and what is said to lie there is looked for there. */
static void *walk_into_the_hole(void *argument)
{
    ucontext_t context;
    uintptr_t return_address = (uintptr_t)qsort + 1;
    attach();
    getcontext(&context);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)keeps_rbp_far_above + 1;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&return_address;
    walk_at(argument, &context);
    return NULL;
}

UNIT_TEST(a_register_kept_beyond_the_stack_does_no_harm)
{
    struct walk walk;
    pthread_t thread;
    pthread_attr_t attributes;
    char *memory = mmap(NULL, WHOLE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(memory, WHOLE_BYTES - HOLE_BYTES, PROT_READ | PROT_WRITE), 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, WHOLE_BYTES - HOLE_BYTES);
    assert_int_equal(pthread_create(&thread, &attributes, walk_into_the_hole, &walk), 0);
    pthread_join(thread, NULL);
    assert_true(walk.count >= 2); /* rbp is not known, and not needed for this step */
    assert_int_equal(walk.ips[0], (uintptr_t)keeps_rbp_far_above + 1);
    assert_int_equal(walk.ips[1], (uintptr_t)qsort);
}

static int install(void **unused)
{
    (void)unused;
    if (!loadmap_init())
        return -1;
    attach();
    return 0;
}

UNIT_MAIN(install, NULL)
