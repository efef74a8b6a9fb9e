/* The functions of libgomp about which nothing is told, for LD_PRELOAD: each goes on to libgomp as it is.
 *
 * A process may have several copies of libgomp: Python's wheels bring their own. With LD_PRELOAD, a function that is
 * defined here is the one that every library calls, whichever copy it was linked with. If only some were, a library's
 * region would be one copy's and its omp_get_thread_num() another's, and its results would be wrong. So all are here,
 * and all libraries share one copy. (`blame run` needs none of this: it gives all libraries the same copy.) */
#include <stdint.h>

#include "layers/gomp/real.h"

struct passed {
    const char *name, *version;
};

#define PASS(name, version) {#name, version},
static const struct passed names[] = {
#include "layers/gomp/pass_list.h"
};
#undef PASS

/* The real functions; NULL: not called yet. */
__attribute__((used)) void *pass_to[sizeof(names) / sizeof(*names)];

/* Finds a function at its first call. Returns its address. */
__attribute__((used)) void *pass_find(uint32_t number)
{
    void *found = gomp_real(names[number].name, names[number].version);
    if (!found)
        real_lacks(names[number].name);
    pass_to[number] = found;
    return found;
}

/* Each jumps to the real function. At the first call, pass_first saves the registers that may hold arguments. */
#define PASS(name, version) "pass " #name ", " version "\n"
#if defined(__x86_64__)
__asm__(".text\n"
        ".set pass_number, 0\n"
        ".macro pass name, version\n"
        ".globl pass_\\name\n"
        ".type pass_\\name, @function\n"
        ".symver pass_\\name, \\name@@\\version\n"
        "pass_\\name: endbr64\n"
        "mov pass_to + 8 * pass_number(%rip), %r11\n"
        "test %r11, %r11\n"
        "je 1f\n"
        "jmp *%r11\n"
        "1: mov $pass_number, %r11d\n"
        "jmp pass_first\n"
        ".size pass_\\name, . - pass_\\name\n"
        ".set pass_number, pass_number + 1\n"
        ".endm\n"
        "pass_first: .cfi_startproc\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "sub $192, %rsp\n"
        "mov %rdi, (%rsp)\n"
        "mov %rsi, 8(%rsp)\n"
        "mov %rdx, 16(%rsp)\n"
        "mov %rcx, 24(%rsp)\n"
        "mov %r8, 32(%rsp)\n"
        "mov %r9, 40(%rsp)\n"
        "mov %rax, 48(%rsp)\n"
        "movaps %xmm0, 64(%rsp)\n"
        "movaps %xmm1, 80(%rsp)\n"
        "movaps %xmm2, 96(%rsp)\n"
        "movaps %xmm3, 112(%rsp)\n"
        "movaps %xmm4, 128(%rsp)\n"
        "movaps %xmm5, 144(%rsp)\n"
        "movaps %xmm6, 160(%rsp)\n"
        "movaps %xmm7, 176(%rsp)\n"
        "mov %r11d, %edi\n"
        "call pass_find\n"
        "mov %rax, %r11\n"
        "mov (%rsp), %rdi\n"
        "mov 8(%rsp), %rsi\n"
        "mov 16(%rsp), %rdx\n"
        "mov 24(%rsp), %rcx\n"
        "mov 32(%rsp), %r8\n"
        "mov 40(%rsp), %r9\n"
        "mov 48(%rsp), %rax\n"
        "movaps 64(%rsp), %xmm0\n"
        "movaps 80(%rsp), %xmm1\n"
        "movaps 96(%rsp), %xmm2\n"
        "movaps 112(%rsp), %xmm3\n"
        "movaps 128(%rsp), %xmm4\n"
        "movaps 144(%rsp), %xmm5\n"
        "movaps 160(%rsp), %xmm6\n"
        "movaps 176(%rsp), %xmm7\n"
        "leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "jmp *%r11\n"
        ".cfi_endproc\n"
#include "layers/gomp/pass_list.h"
);
#elif defined(__aarch64__)
__asm__(".text\n"
        ".set pass_number, 0\n"
        ".macro pass name, version\n"
        ".globl pass_\\name\n"
        ".type pass_\\name, %function\n"
        ".symver pass_\\name, \\name@@\\version\n"
        "pass_\\name: bti c\n"
        "adrp x16, pass_to + 8 * pass_number\n"
        "ldr x17, [x16, :lo12:pass_to + 8 * pass_number]\n"
        "cbz x17, 1f\n"
        "br x17\n"
        "1: mov w16, pass_number\n"
        "b pass_first\n"
        ".size pass_\\name, . - pass_\\name\n"
        ".set pass_number, pass_number + 1\n"
        ".endm\n"
        "pass_first: stp x29, x30, [sp, -208]!\n"
        "mov x29, sp\n"
        "stp x0, x1, [sp, 16]\n"
        "stp x2, x3, [sp, 32]\n"
        "stp x4, x5, [sp, 48]\n"
        "stp x6, x7, [sp, 64]\n"
        "stp q0, q1, [sp, 80]\n"
        "stp q2, q3, [sp, 112]\n"
        "stp q4, q5, [sp, 144]\n"
        "stp q6, q7, [sp, 176]\n"
        "mov w0, w16\n"
        "bl pass_find\n"
        "mov x17, x0\n"
        "ldp x0, x1, [sp, 16]\n"
        "ldp x2, x3, [sp, 32]\n"
        "ldp x4, x5, [sp, 48]\n"
        "ldp x6, x7, [sp, 64]\n"
        "ldp q0, q1, [sp, 80]\n"
        "ldp q2, q3, [sp, 112]\n"
        "ldp q4, q5, [sp, 144]\n"
        "ldp q6, q7, [sp, 176]\n"
        "ldp x29, x30, [sp], 208\n"
        "br x17\n"
#include "layers/gomp/pass_list.h"
);
#endif
