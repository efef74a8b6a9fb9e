/* This file runs in the signal handler: the rules at the head of sampler.c apply.
 *
 * A thread's handler stack ends where the thread's record begins (THREAD_HANDLER_STACK_BYTES), so the entry
 * finds the stack from thread_self alone. If the signal interrupted a handler on that stack, the new handler
 * continues on the same stack. A thread without a record may have another stack (sample_entry_stack);
 * otherwise the entry returns at once.
 *
 * When the kernel starts a signal handler, it denies access to memory with a protection key (pkey_mprotect),
 * as in a new thread. The interrupted stack may have such a key. On a system with protection keys,
 * sample_entry_with_keys therefore first allows access to all memory. rt_sigreturn, or the xrstor of
 * restart_resume(), restores the program's rights. ThreadSanitizer may call a handler as a plain function,
 * and then nothing would restore them, so sample_entry_plain is used there. */
#include "ompt_tool/sampling/sample_signal.h"

#include <cpuid.h>
#include <stdbool.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

_Static_assert(THREAD_HANDLER_STACK_BYTES == 32768, "the assembly code compares with 32768");

extern void __tsan_acquire(void *) __attribute__((weak));
extern sample_handler sample_entry_with_keys __attribute__((visibility("hidden")));
extern sample_handler sample_entry_plain __attribute__((visibility("hidden")));
extern sample_handler *sample_entry_handler __attribute__((visibility("hidden")));

sample_handler *sample_entry_handler;

__thread char *sample_entry_stack __attribute__((tls_model("initial-exec")));

__asm__(".text\n"
        ".globl sample_entry_with_keys, sample_entry_plain\n"
        ".hidden sample_entry_with_keys, sample_entry_plain\n"
        ".type sample_entry_with_keys, @function\n"
        ".type sample_entry_plain, @function\n"
        ".p2align 4\n"
        "sample_entry_with_keys:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq %rdx, %r8\n"
        "    xorl %eax, %eax\n"
        "    xorl %ecx, %ecx\n"
        "    xorl %edx, %edx\n"
        "    wrpkru\n"
        "    movq %r8, %rdx\n"
        "    jmp sample_entry_plain\n"
        "    .cfi_endproc\n"
        ".size sample_entry_with_keys, . - sample_entry_with_keys\n"
        ".p2align 4\n"
        "sample_entry_plain:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq thread_self@gottpoff(%rip), %rax\n"
        "    movq %fs:(%rax), %rax\n"
        "    testq %rax, %rax\n"
        "    je 1f\n"
        "    movq %rax, %rcx\n"
        "    subq %rsp, %rcx\n"
        "    cmpq $32768, %rcx\n"
        "    jb 2f\n"
        "3:  movq %rsp, %rcx\n"
        "    movq %rax, %rsp\n"
        "    pushq %rcx\n"
        "    pushq %rcx\n"                                  /* pushed twice to keep the stack aligned */
        "    .cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8\n" /* the CFA is *rsp + 8 */
        "    call *sample_entry_handler(%rip)\n"
        "    popq %rsp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "1:  movq sample_entry_stack@gottpoff(%rip), %rax\n"
        "    movq %fs:(%rax), %rax\n"
        "    testq %rax, %rax\n"
        "    jne 3b\n"
        "    ret\n"
        "2:  jmp *sample_entry_handler(%rip)\n"
        "    .cfi_endproc\n"
        ".size sample_entry_plain, . - sample_entry_plain\n");

static bool sample_entry_needs_keys(void)
{
    const unsigned enabled_by_system = 1u << 4; /* OSPKE */
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ecx & enabled_by_system;
}

sample_handler *sample_entry(sample_handler *handler)
{
    static sample_handler *entry; /* asked once: in a virtual machine cpuid takes tens of microseconds */
    sample_entry_handler = handler;
    if (!load_relaxed(&entry))
        store_relaxed(&entry,
                      sample_entry_needs_keys() && !__tsan_acquire ? sample_entry_with_keys : sample_entry_plain);
    return load_relaxed(&entry);
}
