#include "layers/loader/stubs.h"

uintptr_t stubs_to[STUB_COUNT];

/* A stub changes only x16, which calls between libraries may change. hint 34: bti c. */
#define STUB(name, ...)                                                                                                \
    "hint 34\n"                                                                                                        \
    "adrp x16, stubs_to + 8 * stub_number\n"                                                                           \
    "ldr x16, [x16, :lo12:stubs_to + 8 * stub_number]\n"                                                               \
    "br x16\n"                                                                                                         \
    ".set stub_number, stub_number + 1\n"

__asm__(".pushsection .text\n"
        ".set stub_number, 0\n"
        ".p2align 4\n"
        ".hidden stubs_code\n"
        ".globl stubs_code\n"
        ".type stubs_code, %function\n"
        "stubs_code:\n"
        ".cfi_startproc\n" PTHREADS_FUNCTIONS(STUB) ".cfi_endproc\n"
                                                    ".size stubs_code, . - stubs_code\n"
                                                    ".popsection\n");
