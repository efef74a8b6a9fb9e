#include "layers/loader/stubs.h"

uintptr_t stubs_to[STUB_COUNT];

#ifdef __CET__
#define LANDING "endbr64\n"
#else
#define LANDING ""
#endif

/* A stub changes no register, and its caller's frame is complete. */
#define STUB(name, ...)                                                                                                \
    ".p2align 4\n" LANDING "jmp *stubs_to + 8 * stub_number(%rip)\n"                                                   \
    ".set stub_number, stub_number + 1\n"

__asm__(".pushsection .text\n"
        ".set stub_number, 0\n"
        ".p2align 4\n"
        ".hidden stubs_code\n"
        ".globl stubs_code\n"
        ".type stubs_code, @function\n"
        "stubs_code:\n"
        ".cfi_startproc\n" PTHREADS_FUNCTIONS(STUB) ".p2align 4\n"
                                                    ".cfi_endproc\n"
                                                    ".size stubs_code, . - stubs_code\n"
                                                    ".popsection\n");
