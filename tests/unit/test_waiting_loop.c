/* Loops of machine code that wait for another thread, and loops that look like them. */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "cct/profile_tree.h"
#include "command/profile/profile.h"
#include "command/symbols/symbols.h"

#ifdef __x86_64__

extern const char __executable_start[];

/* Each loop has the label NAME, and NAME_at on an instruction in it. */
#define LOOP(name, code)                                                                                               \
    extern const char name##_at[];                                                                                     \
    __asm__(".text\n.p2align 4\n" #name ":\n" code "\n\tret\n\t.size " #name ", . - " #name "\n")

LOOP(reads_flag, "reads_flag_at: mov 4(%rdi), %eax; cmp %edx, %eax; jle reads_flag");
LOOP(reads_twice, "mov (%rdi), %eax; reads_twice_at: cmp %edx, %eax; jg 9f; mov (%rdi), %eax; cmp %edx, %eax; "
                  "jle reads_twice; 9:");
/* the jump in the middle leaves the loop, but goes back, too, as in a loop around this one */
LOOP(leaves_backwards,
     "8: mov $1, %edx; leaves_backwards_at: mov (%rdi), %eax; cmp %edx, %eax; jg 8b; mov (%rdi), %eax; "
     "cmp %edx, %eax; jle leaves_backwards_at; jmp 8b");
LOOP(swaps, "mov %edx, %eax; xchg %eax, (%rdi); swaps_at: test %eax, %eax; jne swaps");
LOOP(compares_and_swaps, "xor %eax, %eax; compares_and_swaps_at: lock cmpxchg %edx, (%rdi); jne compares_and_swaps");
LOOP(updates, "mov (%rdi), %eax; lea 1(%rax), %edx; updates_at: lock cmpxchg %edx, (%rdi); jne updates");
LOOP(tries_again, "lea 1(%rax), %edx; tries_again_at: lock cmpxchg %edx, (%rdi); jne tries_again");
LOOP(with_pause, "pause; lock orq $0, (%rsp); with_pause_at: cmpl $0, 8(%rbx); je with_pause");
LOOP(yields, "call sched_yield@PLT; yields_at: mov (%rbx), %eax; test %eax, %eax; jne yields");
LOOP(sleeps, "call usleep@PLT; sleeps_at: mov (%rbx), %eax; test %eax, %eax; jne sleeps");
LOOP(counts, "add $1, %rcx; counts_at: cmp %rdx, %rcx; jne counts");
LOOP(searches, "lea 4(%rdi), %rdi; searches_at: mov (%rdi), %eax; cmp %edx, %eax; jne searches");
LOOP(follows, "follows_at: mov 8(%rdi), %rdi; test %rdi, %rdi; jne follows");
LOOP(copies, "copies_at: mov (%rdi), %eax; mov %eax, (%rsi); cmp %edx, %eax; jne copies");
LOOP(never_reads, "never_reads_at: cmp %edx, %eax; jne never_reads");

/* Code of one function, whose entry is known from the unwind tables. */
#define UPDATE(name, code)                                                                                             \
    extern const char name##_at[];                                                                                     \
    __asm__(".text\n.p2align 4\n" #name ":\n.cfi_startproc\n" code "\n\tret\n.cfi_endproc\n\t.size " #name             \
            ", . - " #name "\n")

UPDATE(adds, "mov $1, %eax; adds_at: lock xadd %eax, (%rdi); add $1, %rcx; mov %eax, %edx");
UPDATE(added, "mov $1, %eax; lock incq (%rdi); added_at: add $1, %rcx");
UPDATE(long_past, "lock incq (%rdi); add $1, %rcx; long_past_at: add $1, %rdx");
UPDATE(repeats, "mov (%rdi), %rax; 8: lea 1(%rax), %rdx; repeats_at: nop; lock cmpxchg %rdx, (%rdi); jne 8b");
UPDATE(fences, "mov $1, %eax; lock orq $0, (%rsp); fences_at: add $1, %rcx");
UPDATE(looks_locked, "mov $0x00fff048, %eax; looks_locked_at: add $1, %rcx");
UPDATE(exchanged, "mov $1, %eax; xchg %eax, (%rdi); exchanged_at: add $1, %rcx");
UPDATE(leaves, "leaves_at: nop; lock cmpxchg %rdx, (%rdi); jne 9f; add $1, %rcx; 9:");
UPDATE(sleeps_first, "8: sleeps_first_at: nop; call usleep@PLT; lock cmpxchg %rdx, (%rdi); jne 8b");
UPDATE(counts_down, "8: counts_down_at: nop; lock decq (%rdi); jne 8b");
UPDATE(counts_up, "counts_up_at: incq (%rdi); cmp %rdx, (%rdi); jne counts_up_at");

static struct symbols *symbols;
static struct profile_module module;

static int setup(void **unused)
{
    (void)unused;
    assert_true(readlink("/proc/self/exe", module.path, sizeof module.path - 1) > 0);
    symbols = symbols_open(&module, 1);
    return symbols ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    symbols_close(symbols);
    return 0;
}

/* at: an instruction, or the last byte of the one before it */
static bool waits(uintptr_t at)
{
    const struct symbol_frame *frames;
    symbols_lookup(symbols, PROFILE_KEY(1, at - (uintptr_t)__executable_start), &frames);
    return frames[0].waits;
}

static void a_loop_whose_passes_only_read_and_compare_waits(void **unused)
{
    (void)unused;
    assert_true(waits((uintptr_t)reads_flag_at));
    assert_true(waits((uintptr_t)reads_twice_at));
    assert_true(waits((uintptr_t)with_pause_at));
    assert_true(waits((uintptr_t)leaves_backwards_at));
}

static void a_loop_that_takes_a_lock_waits(void **unused)
{
    (void)unused;
    assert_true(waits((uintptr_t)swaps_at));
    assert_true(waits((uintptr_t)compares_and_swaps_at));
    assert_false(waits((uintptr_t)updates_at));
    assert_false(waits((uintptr_t)tries_again_at));
}

static void a_loop_may_yield(void **unused)
{
    (void)unused;
    assert_true(waits((uintptr_t)yields_at));
    assert_true(waits((uintptr_t)yields_at - 1)); /* as in the frame of the caller */
    assert_false(waits((uintptr_t)sleeps_at));
    assert_false(waits((uintptr_t)sleeps_at - 1));
}

static void a_loop_that_gets_on_does_not_wait(void **unused)
{
    (void)unused;
    assert_false(waits((uintptr_t)counts_at));
    assert_false(waits((uintptr_t)searches_at));
    assert_false(waits((uintptr_t)follows_at));
    assert_false(waits((uintptr_t)copies_at));
    assert_false(waits((uintptr_t)never_reads_at));
}

static bool is_update(const char *at)
{
    const struct symbol_frame *frames;
    symbols_lookup(symbols, PROFILE_KEY(1, at - __executable_start), &frames);
    return frames[0].updates;
}

/* A thread is stopped before an instruction, after one, or in a loop that tries again. */
static void a_locked_instruction_updates_memory(void **unused)
{
    (void)unused;
    assert_true(is_update(adds_at));
    assert_true(is_update(added_at));
    assert_true(is_update(repeats_at));
    assert_true(is_update(exchanged_at));
    assert_false(is_update(added_at - 3)); /* no instruction begins there */
    assert_false(is_update(leaves_at));
    assert_false(is_update(sleeps_first_at));
    assert_false(is_update(counts_down_at)); /* what the loop stores does not depend on what it read */
    assert_false(is_update(long_past_at));
    assert_false(is_update(fences_at));
    assert_false(is_update(looks_locked_at));
    assert_false(is_update(counts_up_at));
    assert_false(is_update(compares_and_swaps_at)); /* it waits for a lock */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_whose_passes_only_read_and_compare_waits),
        cmocka_unit_test(a_loop_that_takes_a_lock_waits),
        cmocka_unit_test(a_loop_may_yield),
        cmocka_unit_test(a_loop_that_gets_on_does_not_wait),
        cmocka_unit_test(a_locked_instruction_updates_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

#else

int main(void)
{
    return 0;
}

#endif
