#include "unwind/decode_way.h"

#include <string.h>

#include "base/a64.h"
#include "base/os.h"

enum { FP = 29, LINK = 30, SP = 31 };

const size_t decode_scratch_bytes = 0;
const size_t decode_most_bytes = sizeof(uint32_t);

static const struct value nowhere = {.base = NOWHERE};

/* Returns what is known about a register when it is used as the base of an address or as a summand. */
static struct value decode_value_in_register(const struct way *way, unsigned number)
{
    return number == SP ? way->rsp : number == FP ? way->rbp : nowhere;
}

/* Sets what is known about a register; number 31 is the stack pointer. */
static void decode_set_register(struct way *way, unsigned number, struct value value)
{
    if (number == SP)
        way->rsp = value;
    else if (number == FP)
        way->rbp = value;
    else if (number == LINK)
        way->link = value;
}

/* Marks a general register as unknown, because an instruction has written to it. Here, number 31 is the zero
 * register. */
static void decode_spoil_register(struct way *way, unsigned number)
{
    if (number != SP)
        decode_set_register(way, number, nowhere);
}

/* Executes a load or store of one 64-bit register, at address `at`. */
static void decode_move_register(struct way *way, bool is_load, unsigned number, struct value at)
{
    if (is_load && number != SP)
        decode_set_register(way, number, decode_load(way, at));
    else if (!is_load && (number == FP || number == LINK))
        decode_store(way, at, number == FP ? way->rbp : way->link);
}

/* Executes ldp, stp and similar instructions. */
static void decode_execute_pair(struct way *way, uint32_t code)
{
    enum { POST = 1, PRE = 3 };
    bool vector = a64_field(code, 26, 1), is_load = a64_field(code, 22, 1);
    unsigned size = a64_field(code, 30, 2), mode = a64_field(code, 23, 3), base = a64_field(code, 5, 5);
    int64_t bytes = vector                  ? 4 << size
                    : size == 2             ? 8
                    : size == 1 && !is_load ? 16
                                            : 4; /* a store of size 1 stores memory tags (stgp) */
    int64_t offset = a64_signed(code, 15, 7) * bytes;
    struct value moved = decode_plus(decode_value_in_register(way, base), offset),
                 at = mode == POST ? decode_value_in_register(way, base) : moved;
    if (!vector && size == 2) {
        decode_move_register(way, is_load, a64_field(code, 0, 5), at);
        decode_move_register(way, is_load, a64_field(code, 10, 5), decode_plus(at, 8));
    } else if (!vector && is_load) {
        decode_spoil_register(way, a64_field(code, 0, 5));
        decode_spoil_register(way, a64_field(code, 10, 5));
    }
    if (mode == POST || mode == PRE)
        decode_set_register(way, base, moved);
}

/* Executes a load or store of one register, at the address base register + constant. */
static void decode_execute_single(struct way *way, uint32_t code)
{
    enum { UNSCALED = 0, POST = 1, PRE = 3 };
    bool vector = a64_field(code, 26, 1), has_mode = !a64_field(code, 24, 1);
    unsigned size = a64_field(code, 30, 2), kind = a64_field(code, 22, 2), base = a64_field(code, 5, 5),
             mode = has_mode ? a64_field(code, 10, 2) : 0;
    struct value from = decode_value_in_register(way, base);
    struct value moved =
        decode_plus(from, has_mode ? a64_signed(code, 12, 9) : (int64_t)a64_field(code, 10, 12) << size);
    if (!vector && size == 3 && kind <= 1)
        decode_move_register(way, kind == 1, a64_field(code, 0, 5), mode == POST ? from : moved);
    /* size 3 with kind 2 is a prefetch, which writes no register */
    else if (!vector && kind != 0 && !(size == 3 && kind == 2))
        decode_spoil_register(way, a64_field(code, 0, 5));
    if (mode == POST || mode == PRE)
        decode_set_register(way, base, moved);
}

static void decode_execute_memory(struct way *way, uint32_t code)
{
    if (a64_is(code, 0x3a000000, 0x28000000)) {
        decode_execute_pair(way, code);
    } else if (a64_is(code, 0x3b000000, 0x39000000) || a64_is(code, 0x3b200000, 0x38000000)) {
        decode_execute_single(way, code);
    } else if (a64_is(code, 0xbe800000, 0x0c800000)) { /* ld1 to st4, which also advance the base register */
        decode_set_register(way, a64_field(code, 5, 5), nowhere);
    } else if (!a64_field(code, 26, 1)) {
        /* These are loads of literals, loads and stores with an index register, exclusive and atomic
         * accesses. To be safe, the register is marked as unknown even for stores. */
        decode_spoil_register(way, a64_field(code, 0, 5));
        decode_spoil_register(way, a64_field(code, 16, 5));
    }
}

/* Executes an addition of a constant, in particular mov from and to the stack pointer. */
static void decode_execute_immediate(struct way *way, uint32_t code)
{
    unsigned to = a64_field(code, 0, 5);
    if (a64_is(code, 0xbf800000, 0x91000000) || a64_is(code, 0xff800000, 0xd1000000)) {
        int64_t number = (int64_t)a64_field(code, 10, 12) << (a64_field(code, 22, 1) ? 12 : 0);
        decode_set_register(way, to,
                            decode_plus(decode_value_in_register(way, a64_field(code, 5, 5)),
                                        a64_field(code, 30, 1) ? -number : number));
    } else if (a64_is(code, 0x1f800000, 0x12000000) && a64_field(code, 29, 2) != 3) {
        /* for and, orr, eor, number 31 is the stack pointer, as it is for add */
        decode_set_register(way, to, nowhere);
    } else {
        decode_spoil_register(way, to);
    }
}

/* Applies the effects that an instruction, unless it is a jump, has on sp, x29 and x30. */
static void decode_apply_instruction(struct way *way, uint32_t code)
{
    unsigned to = a64_field(code, 0, 5);
    if (a64_is(code, 0x1c000000, 0x10000000))
        decode_execute_immediate(way, code);
    else if (a64_is(code, 0x0a000000, 0x08000000))
        decode_execute_memory(way, code);
    else if (a64_is(code, 0x3fe00000, 0x0b200000)) /* add and sub with an extended register */
        decode_set_register(way, to, nowhere);
    /* instructions that have only register operands, and mrs */
    else if (a64_is(code, 0x0e000000, 0x0a000000) || a64_is(code, 0xfff00000, 0xd5300000))
        decode_spoil_register(way, to);
}

static bool decode_is_call(uint32_t code)
{
    return a64_is(code, 0xfc000000, 0x94000000) || a64_is(code, 0xfffffc1f, 0xd63f0000) || /* bl, blr */
           a64_is(code, 0xfefff800, 0xd63f0800);                                           /* blra* */
}

/* Returns true for a jump through the linkage table, and for a jump to another function at the end of this
 * one (a tail call). Compilers use x16 and x17 for such jumps, but other registers for a switch. */
static bool decode_is_jump_away(uint32_t code)
{
    bool by_register = a64_is(code, 0xfffffc1f, 0xd61f0000) || a64_is(code, 0xfefff800, 0xd61f0800);
    return by_register && (a64_field(code, 5, 5) == 16 || a64_field(code, 5, 5) == 17);
}

static bool decode_is_return(uint32_t code)
{
    return code == 0xd65f03c0 || a64_is(code, 0xfffffbff, 0xd65f0bff); /* ret, reta* */
}

/* Returns the offset of a conditional branch; 0 if the instruction is not one. */
static int64_t decode_branch_offset(uint32_t code)
{
    if (a64_is(code, 0xff000000, 0x54000000) || a64_is(code, 0x7e000000, 0x34000000)) /* b.c, cb*z */
        return a64_signed(code, 5, 19) * 4;
    return a64_is(code, 0x7e000000, 0x36000000) ? a64_signed(code, 5, 14) * 4 : 0; /* tb*z */
}

enum outcome decode_follow(void *scratch, struct way *way, const uint8_t *bytes, size_t room, struct followed *followed)
{
    uint32_t code;
    int64_t offset;
    (void)scratch;
    if (room < sizeof(code))
        return ENDS;
    memcpy(&code, bytes, sizeof(code));
    followed->bytes = sizeof(code);
    if (decode_is_return(code) || decode_is_jump_away(code))
        return RETURNS;
    /* b may be a tail call; the called function then returns in place of this one */
    if (a64_is(code, 0xfc000000, 0x14000000)) {
        followed->branch[followed->branches++] = way->ip + (uintptr_t)(a64_signed(code, 0, 26) * 4);
        return ENDS;
    }
    if ((offset = decode_branch_offset(code)) != 0) {
        followed->branch[followed->branches++] = way->ip + (uintptr_t)offset;
        followed->branch[followed->branches++] = way->ip + sizeof(code);
        return ENDS;
    }
    if (decode_is_call(code)) {
        way->link = nowhere;
        return GOES_ON;
    }
    if (a64_is(code, 0xfe000000, 0xd6000000) || a64_is(code, 0xffe0001f, 0xd4200000) ||
        a64_is(code, 0xffff0000, 0)) /* br; brk; udf */
        return ENDS;
    decode_apply_instruction(way, code);
    return GOES_ON;
}

bool decode_recipe(const struct way *way, struct recipe *recipe)
{
    struct value rsp = way->rsp, rbp = way->rbp, link = way->link;
    if ((rsp.base != AT_RSP && rsp.base != AT_RBP) || (rsp.base == AT_RSP && rsp.offset < 0))
        return false;
    bool by_rbp = rsp.base == AT_RBP, link_saved = link.base == IN_MEMORY && link.by_rbp == by_rbp;
    bool rbp_same = rbp.base == AT_RBP && rbp.offset == 0, rbp_saved = rbp.base == IN_MEMORY && rbp.by_rbp == by_rbp;
    *recipe = (struct recipe){.cfa = by_rbp ? RECIPE_CFA_RBP : RECIPE_CFA_RSP, .cfa_offset = rsp.offset};
    if (link.base == IN_LINK) {
        recipe->rbp = RECIPE_RBP_IN_LINK;
        return rbp_same;
    }
    recipe->rbp = rbp_same ? RECIPE_RBP_SAME : RECIPE_RBP_AT_CFA;
    return link_saved && recipe_set_r(recipe, (int64_t)(rbp_same ? link.offset : rbp.offset) - rsp.offset) &&
           (rbp_same || (rbp_saved && link.offset == rbp.offset + 8));
}

bool decoder_is_behind_call(uintptr_t ip)
{
    uint32_t code;
    return ip % sizeof(code) == 0 && os_copy_memory(&code, ip - sizeof(code), sizeof(code)) && decode_is_call(code);
}
