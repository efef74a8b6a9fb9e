/* Handler code that only computes. Instructions are recognised by Arm's table of encodings; an unknown
 * instruction ends the search.
 *
 * The search goes backwards from the call to the instruction that writes x0. Conditional branches in between
 * were not taken, because the thread has reached the call. If an instruction in between copied x0 to a
 * register (mov xN, x0, by which functions keep their parameters), that register also contains the argument,
 * provided that neither register has changed since. */
#include "restart_first.h"

#include <stdbool.h>

enum {
    /* maximum number of instructions to search; compilers put no more between an argument and its call */
    STEPS_MOST = 32,
    /* register 31 is the stack pointer when used as a base and in some additions, otherwise the zero register */
    STACK = 31,
    FRAME = 29,
};

#define IS(code, mask, value) (((code) & (mask)) == (value))

static unsigned code_bits(uint32_t code, unsigned from, unsigned count)
{
    return code >> from & ((1u << count) - 1);
}

static int64_t code_signed_bits(uint32_t code, unsigned from, unsigned count)
{
    return (int64_t)((uint64_t)code_bits(code, from, count) << (64 - count)) >> (64 - count);
}

/* The effect of one instruction, as far as the search needs it. */
struct effect {
    /* true for a known instruction; the next one runs after it, unless it is a branch that is taken */
    bool is_known;
    bool stores;    /* true if the instruction writes to memory */
    uint32_t wrote; /* one bit for each register that the instruction writes */
};

static uint32_t target_register_bit(unsigned target)
{
    return target == STACK ? 0 : 1u << target;
}

/* Returns the bit of the target register of an instruction with an immediate operand. The target of add and
 * sub may be the stack pointer, unless they set flags (cmp). */
static uint32_t target_of_immediate(uint32_t code, bool is_logical)
{
    unsigned target = code_bits(code, 0, 5);
    bool sets_flags = is_logical ? code_bits(code, 29, 2) == 3 : code_bits(code, 29, 1);
    return target == STACK && sets_flags ? 0 : 1u << target;
}

static struct effect effect_of_arithmetic(uint32_t code)
{
    struct effect effect = {.is_known = true, .wrote = target_register_bit(code_bits(code, 0, 5))};
    /* add, sub with an immediate */
    if (IS(code, 0x1f000000, 0x11000000) && !IS(code, 0x1f800000, 0x11800000))
        effect.wrote = target_of_immediate(code, false);
    else if (IS(code, 0x1f800000, 0x12000000)) /* and, orr, eor with an immediate */
        effect.wrote = target_of_immediate(code, true);
    else if (!IS(code, 0x1f800000, 0x12800000) && /* movn, movz, movk */
             !IS(code, 0x1f800000, 0x13000000) && /* sbfm, bfm, ubfm */
             !IS(code, 0x1f000000, 0x10000000) && /* adr, adrp */
             !IS(code, 0x1f000000, 0x0a000000) && /* and, orr, eor with a register */
             !(IS(code, 0x1f000000, 0x0b000000) &&
               /* add, sub with a register, if the target is not the stack pointer */
               !IS(code, 0x3f20001f, 0x0b20001f)) &&
             !IS(code, 0x1fe00000, 0x1a800000) && /* csel and similar instructions */
             !IS(code, 0x7fe00000, 0x1ac00000) && /* shifts, divisions */
             !IS(code, 0x7fe00000, 0x5ac00000) && /* rbit, clz */
             !IS(code, 0x1f000000, 0x1b000000) && /* madd, msub */
             !IS(code, 0xfff00000, 0xd5300000))   /* mrs */
        effect.is_known = false;
    return effect;
}

static bool is_conditional_branch(uint32_t code)
{
    return IS(code, 0xff000010, 0x54000000) || IS(code, 0x7e000000, 0x34000000) || IS(code, 0x7e000000, 0x36000000);
}

/* Returns true for instructions that do not change x0 to x15: nop, bti, barriers, and those that sign a
 * return address (which use x16, x17 and x30). */
static bool is_hint_instruction(uint32_t code)
{
    return IS(code, 0xfffff01f, 0xd503201f) || IS(code, 0xfffff01f, 0xd503301f);
}

/* Returns the effect of a load or store of one or two integer or vector registers. */
static struct effect effect_of_memory(uint32_t code)
{
    struct effect effect = {.is_known = true};
    bool is_vector = code_bits(code, 26, 1), is_pair = IS(code, 0x3a000000, 0x28000000);
    bool by_distance = IS(code, 0x3b000000, 0x39000000), by_index = IS(code, 0x3b200000, 0x38000000);
    bool by_register = IS(code, 0x3b200c00, 0x38200800);
    if (!is_pair && !by_distance && !by_index && !by_register)
        return (struct effect){0};
    unsigned operation = code_bits(code, 22, 2), way = code_bits(code, 10, 2);
    bool writes_base = is_pair ? code_bits(code, 23, 1) : by_index && (way & 1);
    effect.stores = is_pair ? !(operation & 1) : is_vector ? !(operation & 1) : operation == 0;
    if (writes_base)
        effect.wrote |= 1u << code_bits(code, 5, 5);
    if (!effect.stores && !is_vector)
        effect.wrote |=
            target_register_bit(code_bits(code, 0, 5)) | (is_pair ? target_register_bit(code_bits(code, 10, 5)) : 0);
    return effect;
}

static struct effect effect_of_instruction(uint32_t code)
{
    if (is_conditional_branch(code))
        return (struct effect){.is_known = true};
    if (is_hint_instruction(code))
        return (struct effect){.is_known = true, .wrote = 1u << 16 | 1u << 17 | 1u << 30};
    struct effect effect = effect_of_arithmetic(code);
    return effect.is_known ? effect : effect_of_memory(code);
}

/* Returns the memory from which a load took the argument. A 32-bit word is a file descriptor. It may be read
 * again from any memory, because a program that repeats the call would also read it again. Other arguments
 * are mostly addresses. They are read again only if they are on the stack, because in other memory another
 * thread may have changed them. */
static struct restart_first first_argument_from_memory(uint32_t code)
{
    struct restart_first first = {.reg = (uint8_t)code_bits(code, 5, 5)};
    bool on_stack = first.reg == STACK || first.reg == FRAME;
    if (IS(code, 0xffc00000, 0xb9400000) || IS(code, 0xffc00000, 0xb9800000)) { /* ldr w0, ldrsw x0 */
        first.kind = code_bits(code, 23, 1) ? FIRST_IN_SIGNED_WORD : FIRST_IN_WORD;
        first.number = code_bits(code, 10, 12) * 4;
    } else if (on_stack && IS(code, 0xffc00000, 0xf9400000)) { /* ldr x0 */
        first.kind = FIRST_IN_MEMORY;
        first.number = code_bits(code, 10, 12) * 8;
    } else if (on_stack && IS(code, 0xffe00c00, 0xf8400000)) { /* ldur x0 */
        first.kind = FIRST_IN_MEMORY;
        first.number = code_signed_bits(code, 12, 9);
    } else if (on_stack && IS(code, 0xffc00000, 0xa9400000)) { /* ldp */
        first.kind = FIRST_IN_MEMORY;
        first.number = code_signed_bits(code, 15, 7) * 8 + (code_bits(code, 0, 5) == 0 ? 0 : 8);
    }
    return first;
}

/* Returns where an instruction that writes x0 got the value. */
static struct restart_first first_argument_source_of(uint32_t code)
{
    struct restart_first first = {.reg = (uint8_t)code_bits(code, 5, 5)};
    if (IS(code, 0x7fe0ffff, 0x2a0003e0)) { /* mov from a register: orr with zero */
        unsigned source = code_bits(code, 16, 5);
        first.reg = (uint8_t)source;
        first.kind = source == STACK ? FIRST_IS_NUMBER : code_bits(code, 31, 1) ? FIRST_IN_REGISTER : FIRST_IN_LOW_HALF;
    } else if (IS(code, 0x7f80001f, 0x52800000)) { /* movz */
        first.kind = FIRST_IS_NUMBER;
        first.number = (int64_t)((uint64_t)code_bits(code, 5, 16) << 16 * code_bits(code, 21, 2));
    } else if (IS(code, 0x7f80001f, 0x12800000)) { /* movn */
        uint64_t number = ~((uint64_t)code_bits(code, 5, 16) << 16 * code_bits(code, 21, 2));
        first.kind = FIRST_IS_NUMBER;
        first.number = code_bits(code, 31, 1) ? (int64_t)number : (int64_t)(uint32_t)number;
    } else if (IS(code, 0xbf80001f,
                  0x91000000)) { /* add with an immediate; adding 0 is a mov, also from the stack pointer */
        first.kind = FIRST_IN_REGISTER;
        first.number = (int64_t)code_bits(code, 10, 12) << 12 * code_bits(code, 22, 1);
        if (code_bits(code, 30, 1))
            first.number = -first.number;
    } else if (IS(code, 0xfffffc1f, 0x93407c00)) { /* sxtw */
        first.kind = FIRST_IN_SIGNED_HALF;
    } else {
        return first_argument_from_memory(code);
    }
    return first;
}

/* Returns the index of the instruction to which a direct branch at index `at` leads; `none` if the
 * instruction is no such branch. */
static size_t first_argument_branch_target(uint32_t code, size_t at, size_t none)
{
    int64_t distance = 0;
    if (IS(code, 0x7c000000, 0x14000000)) /* b, bl */
        distance = code_signed_bits(code, 0, 26);
    else if (IS(code, 0xff000010, 0x54000000) || IS(code, 0x7e000000, 0x34000000)) /* b.cond, cbz, cbnz */
        distance = code_signed_bits(code, 5, 19);
    else if (IS(code, 0x7e000000, 0x36000000)) /* tbz, tbnz */
        distance = code_signed_bits(code, 5, 14);
    int64_t target = (int64_t)at + distance;
    return distance != 0 && target >= 0 ? (size_t)target : none;
}

/* Returns true if a branch leads to an instruction after `from`, so that there is another path to the call. */
static bool first_argument_branch_joins(const uint32_t *code, size_t count, size_t from, size_t call)
{
    for (size_t i = 0; i < count; i++) {
        size_t target = first_argument_branch_target(code[i], i, count);
        if (target > from && target <= call)
            return true;
    }
    return false;
}

static bool first_argument_is_kept(struct restart_first first, uint32_t wrote, bool stored)
{
    if (first.kind == FIRST_IS_LOST)
        return false;
    if (first.kind == FIRST_IS_NUMBER)
        return true;
    bool in_memory = first.kind >= FIRST_IN_MEMORY;
    return first.reg != 0 && !(wrote >> first.reg & 1) && !(in_memory && stored);
}

struct restart_first restart_first_find(const uint32_t *code, size_t count, size_t call)
{
    const struct restart_first lost = {.kind = FIRST_IS_LOST};
    uint32_t wrote = 0;
    bool stored = false;
    for (size_t i = call; i > 0 && call - i < STEPS_MOST; i--) {
        uint32_t before = code[i - 1];
        struct effect effect = effect_of_instruction(before);
        if (!effect.is_known)
            return lost;
        struct restart_first first = lost;
        if (effect.wrote & 1)
            first = first_argument_source_of(before);
        else if (IS(before, 0xffffffe0, 0xaa0003e0) && code_bits(before, 0, 5) != STACK) /* mov xN, x0 */
            first = (struct restart_first){.kind = FIRST_IN_REGISTER, .reg = (uint8_t)code_bits(before, 0, 5)};
        if (first_argument_is_kept(first, wrote, stored))
            return first_argument_branch_joins(code, count, i - 1, call) ? lost : first;
        if (effect.wrote & 1)
            return lost;
        wrote |= effect.wrote;
        stored |= effect.stores;
    }
    return lost;
}
