/*
 * The kernel does not say which call it interrupted; the code does: compilers load the number by `mov $imm32,
 * %eax` right before `syscall`, or with one or two loads of other registers in between. Only such sequences
 * are believed.
 */
#include "restart_decode.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/registers.h"

enum {
    WINDOW_BYTES = 24, /* mov $imm32, %eax (5), up to 17 bytes of others, syscall (2) */
    MOV_EAX_BYTES = 5,
    SYSCALL_BYTES = 2,
    PAGE_BYTES = 4096,
    CALL_LIMIT = 1024, /* a larger number is no system call's */
};

static bool is_syscall(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

/* The code before rip. A window that begins on another page than its end is read only if that page is there. */
static bool read_before(uintptr_t rip, uint8_t window[WINDOW_BYTES])
{
    uintptr_t begin = rip - WINDOW_BYTES;
    memset(window, 0, WINDOW_BYTES);
    if (begin / PAGE_BYTES != (rip - 1) / PAGE_BYTES || rip % PAGE_BYTES == 0) {
        if (!restart_is_readable(begin))
            begin = rip / PAGE_BYTES * PAGE_BYTES;
    }
    if (begin == rip)
        return false;
    memcpy(window + (WINDOW_BYTES - (rip - begin)), (const void *)begin, rip - begin);
    return true;
}

/* modrm, sib and displacement of an instruction with a memory operand at disp8(%rsp) or disp32(%rsp), or a
 * register operand. */
static int operand_bytes(const uint8_t *modrm)
{
    int mode = modrm[0] >> 6;
    int base = modrm[0] & 7;
    if (mode == 3)
        return 1;
    if (base == 4)
        return mode == 0 ? (modrm[1] == 0x24 ? 2 : 0) : (mode == 1 ? 3 : 6);
    return mode == 0 ? (base == 5 ? 5 : 1) : (mode == 1 ? 2 : 5);
}

/* Length of one instruction that loads a register other than rax, or changes a bit of the second argument; 0:
 * another one. */
static int harmless_bytes(const uint8_t *code)
{
    int prefix = code[0] >= 0x40 && code[0] <= 0x4f;
    bool reg_extended = prefix && (code[0] & 4) != 0;
    bool base_extended = prefix && (code[0] & 1) != 0;
    bool wide = prefix && (code[0] & 8) != 0;
    const uint8_t *rest = code + prefix;
    int reg = rest[1] >> 3 & 7;
    int base = rest[1] & 7;
    if (rest[0] == 0x8b || rest[0] == 0x8d) { /* mov or lea to a register */
        int operand = operand_bytes(rest + 1);
        return operand != 0 && (reg != 0 || reg_extended) ? prefix + 1 + operand : 0;
    }
    if ((rest[0] == 0x89 || rest[0] == 0x31) && rest[1] >> 6 == 3) /* mov or xor between registers */
        return base != 0 || base_extended ? prefix + 2 : 0;
    if (rest[0] == 0x80 && prefix && base == 6 && rest[1] >> 6 == 3) /* xor or and $imm8, %sil */
        return prefix + 3;
    if (rest[0] == 0x83 && rest[1] >> 6 == 3 &&
        (base != 0 || base_extended)) /* and, or ... $imm8, register */
        return prefix + 3;
    if (rest[0] == 0x81 && rest[1] >> 6 == 3 && (base != 0 || base_extended))
        return prefix + 6;
    if (rest[0] > 0xb8 && rest[0] <= 0xbf && !wide) /* mov $imm32 to a register */
        return prefix + 5;
    return 0;
}

/* Whether the bytes are, whole, at most four harmless instructions. */
static bool all_harmless(const uint8_t *code, int bytes)
{
    for (int i = 0; i < 4 && bytes > 0; i++) {
        int length = harmless_bytes(code);
        if (length == 0)
            return false;
        code += length;
        bytes -= length;
    }
    return bytes == 0;
}

long restart_decode_call_before(const ucontext_t *context)
{
    uintptr_t rip = registers_pc(context);
    uint8_t window[WINDOW_BYTES + 8] = {0}; /* so that decoding the last bytes stays inside */
    if (!read_before(rip, window))
        return RESTART_DECODE_NOT_A_CALL;
    const uint8_t *end = window + WINDOW_BYTES - SYSCALL_BYTES;
    if (!is_syscall(end))
        return RESTART_DECODE_NOT_A_CALL;
    if (end[-2] == 0x31 && end[-1] == 0xc0) /* xor %eax, %eax */
        return SYS_read;
    for (const uint8_t *load = end - MOV_EAX_BYTES; load >= window; load--) {
        uint32_t number;
        memcpy(&number, load + 1, sizeof number);
        const uint8_t *between = load + MOV_EAX_BYTES;
        if (load[0] == 0xb8 && number < CALL_LIMIT && all_harmless(between, (int)(end - between)))
            return (long)number;
    }
    return RESTART_DECODE_NO_NUMBER;
}

bool restart_decode_at_syscall(const ucontext_t *context)
{
    /* The second byte is looked at only when the first one says that the instruction has it. */
    const uint8_t *code = (const uint8_t *)registers_pc(context);
    return code[0] == 0x0f && code[1] == 0x05;
}
