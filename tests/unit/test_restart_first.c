/* needs: ompt_tool/restart/restart_first_aarch64.c */
/* Instructions of aarch64 that lead to a system call, as words: they are told apart on any machine. */
#include "tests/unit/unit.h"

#include "ompt_tool/restart/restart_first.h"

enum {
    SVC = (int)0xd4000001,
    MOV_X8_73 = (int)0xd2800928,
    MOV_X4_8 = (int)0xd2800104,
    MOV_X2_X22 = (int)0xaa1603e2,
    NOP = (int)0xd503201f,
    RET = (int)0xd65f03c0,
};

enum { STACK = 31 };

#define FIRST_OF(...)                                                                                                  \
    first_of((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Of the last call in the code. */
static struct restart_first first_of(const uint32_t *code, size_t count)
{
    size_t call = count;
    while (call-- > 0 && code[call] != (uint32_t)SVC)
        continue;
    return restart_first_find(code, count, call);
}

static void expect(struct restart_first first, enum restart_first_kind kind, unsigned reg, int64_t number)
{
    assert_int_equal(first.kind, kind);
    assert_int_equal(first.number, number);
    if (kind != FIRST_IS_NUMBER)
        assert_int_equal(first.reg, reg);
}

static void expect_lost(struct restart_first first)
{
    assert_int_equal(first.kind, FIRST_IS_LOST);
}

UNIT_TEST(each_instruction_that_loads_the_argument_is_read)
{
    static const struct {
        uint32_t code;
        uint8_t kind, reg;
        int64_t number;
    } loads[] = {
        {0xaa1303e0, FIRST_IN_REGISTER, 19, 0},        /* mov x0, x19 */
        {0x2a1403e0, FIRST_IN_LOW_HALF, 20, 0},        /* mov w0, w20 */
        {0x93407ea0, FIRST_IN_SIGNED_HALF, 21, 0},     /* sxtw x0, w21 */
        {0xaa1f03e0, FIRST_IS_NUMBER, 0, 0},           /* mov x0, xzr */
        {0xd2800000, FIRST_IS_NUMBER, 0, 0},           /* mov x0, #0 */
        {0xd28000a0, FIRST_IS_NUMBER, 0, 5},           /* mov x0, #5 */
        {0xd2a00020, FIRST_IS_NUMBER, 0, 65536},       /* mov x0, #0x10000 */
        {0x12800000, FIRST_IS_NUMBER, 0, 0xffffffff},  /* mov w0, #-1 */
        {0x92800c60, FIRST_IS_NUMBER, 0, -100},        /* mov x0, #-100 */
        {0x910003e0, FIRST_IN_REGISTER, STACK, 0},     /* mov x0, sp */
        {0x910043e0, FIRST_IN_REGISTER, STACK, 16},    /* add x0, sp, #16 */
        {0xd10083a0, FIRST_IN_REGISTER, 29, -32},      /* sub x0, x29, #32 */
        {0x91107260, FIRST_IN_REGISTER, 19, 0x41c},    /* add x0, x19, #0x41c */
        {0xf9400fe0, FIRST_IN_MEMORY, STACK, 24},      /* ldr x0, [sp, #24] */
        {0xb9401fa0, FIRST_IN_WORD, 29, 28},           /* ldr w0, [x29, #28] */
        {0xb9800fe0, FIRST_IN_SIGNED_WORD, STACK, 12}, /* ldrsw x0, [sp, #12] */
        {0xf85f83a0, FIRST_IN_MEMORY, 29, -8},         /* ldur x0, [x29, #-8] */
        {0xa94107e0, FIRST_IN_MEMORY, STACK, 16},      /* ldp x0, x1, [sp, #16] */
        {0xa94103e1, FIRST_IN_MEMORY, STACK, 24},      /* ldp x1, x0, [sp, #16] */
    };
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        expect(FIRST_OF(loads[i].code, SVC), loads[i].kind, loads[i].reg, loads[i].number);
        expect(FIRST_OF(NOP, loads[i].code, MOV_X2_X22, MOV_X4_8, MOV_X8_73, SVC, RET), loads[i].kind, loads[i].reg,
               loads[i].number);
    }
}

UNIT_TEST(a_parameter_is_where_the_function_keeps_it)
{
    expect(FIRST_OF(0xaa0003f5 /* mov x21, x0 */, MOV_X4_8, MOV_X8_73, SVC), FIRST_IN_REGISTER, 21, 0);
    /* Past a branch that was not taken. */
    expect(FIRST_OF(0xaa0003f5, 0x34000183 /* cbz w3, far */, MOV_X8_73, SVC), FIRST_IN_REGISTER, 21, 0);
    expect_lost(FIRST_OF(0xaa0003f5, 0xaa0303f5 /* mov x21, x3 */, MOV_X8_73, SVC));
    expect_lost(FIRST_OF(0x2a0003f5 /* mov w21, w0: half of it */, MOV_X8_73, SVC));
    expect_lost(FIRST_OF(0xaa0003ff /* mov xzr, x0 */, MOV_X8_73, SVC));
}

UNIT_TEST(what_has_changed_since_is_lost)
{
    expect_lost(FIRST_OF(0xaa1303e0 /* mov x0, x19 */, 0xa8c253f3 /* ldp x19, x20, [sp], #32 */, SVC));
    expect_lost(FIRST_OF(0x910043e0 /* add x0, sp, #16 */, 0x910043ff /* add sp, sp, #16 */, SVC));
    expect_lost(FIRST_OF(0x910043e0, 0xa9be13e3 /* stp x3, x4, [sp, #-32]! */, SVC));
    expect_lost(FIRST_OF(0x910043e0, 0x8b2163ff /* add sp, sp, x1 */, SVC));
    expect_lost(FIRST_OF(0xf9400fe0 /* ldr x0, [sp, #24] */, 0xf9000fe1 /* str x1, [sp, #24] */, SVC));
    expect(FIRST_OF(0xaa1303e0, 0xf9000fe1, SVC), FIRST_IN_REGISTER, 19, 0);
    expect_lost(FIRST_OF(0xaa1303e0, 0xf2a00020 /* movk x0, #1, lsl #16 */, SVC));
    expect_lost(FIRST_OF(0xaa1303e0, 0x91008000 /* add x0, x0, #32 */, SVC));
    expect_lost(FIRST_OF(0xaa1303e0, 0x93407c00 /* sxtw x0, w0 */, MOV_X8_73, SVC));
    expect_lost(FIRST_OF(0xf9400460 /* ldr x0, [x3, #8]: an address that is not the thread's alone */, SVC));
    expect(FIRST_OF(0xb9400a60 /* ldr w0, [x19, #8]: a descriptor */, SVC), FIRST_IN_WORD, 19, 8);
    expect_lost(FIRST_OF(0xb9400a60, 0xf9000fe1, SVC));
}

UNIT_TEST(behind_a_call_a_jump_or_what_is_not_known_nothing_is_found)
{
    static const uint32_t ends[] = {
        0x94000010,                  /* bl */
        0xd63f0020,                  /* blr x1 */
        0x14000040,                  /* b far */
        RET,        SVC, 0x9e670060, /* fmov d0, x3 */
        0,
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        expect_lost(FIRST_OF(0xaa1303e0, ends[i], MOV_X8_73, SVC));
    expect(FIRST_OF(0xaa1303e0, 0xd53bd045 /* mrs x5, tpidr_el0 */, 0x90000005 /* adrp x5 */,
                    0xf100045f /* cmp x2, #1 */, 0x3dc00040 /* ldr q0, [x2] */, SVC),
           FIRST_IN_REGISTER, 19, 0);
    expect_lost(FIRST_OF(MOV_X8_73, SVC)); /* before the code there is nothing */
    expect_lost(FIRST_OF(SVC));
}

UNIT_TEST(a_load_that_another_way_to_the_call_goes_around_is_not_believed)
{
    expect_lost(FIRST_OF(0x34000043 /* cbz w3, over the load */, 0xaa1303e0, MOV_X8_73, SVC));
    expect_lost(FIRST_OF(0xaa1303e0, MOV_X8_73, SVC, NOP, 0x17fffffd /* b, to mov x8 */));
    expect_lost(FIRST_OF(0xaa1303e0, SVC, 0x54ffffe0 /* b.eq, to the call */));
    expect(FIRST_OF(0xaa1303e0, MOV_X8_73, SVC, NOP, 0x17fffffc /* b, to the load */), FIRST_IN_REGISTER, 19, 0);
    expect(FIRST_OF(0x34000023 /* cbz w3, to the load */, 0xaa1303e0, MOV_X8_73, SVC), FIRST_IN_REGISTER, 19, 0);
}

/* Debian's glibc 2.36. */
UNIT_TEST(the_c_librarys_calls_are_read)
{
    /* poll: mov x0, x20; mov x1, x21; mov x2, x19; mov x3, #0; mov x4, #0; mov x8, #73 */
    expect(FIRST_OF(0xaa1403e0, 0xaa1503e1, 0xaa1303e2, 0xd2800003, 0xd2800004, MOV_X8_73, SVC), FIRST_IN_REGISTER, 20,
           0);
    /* semtimedop: sxtw x0, w0; mov x8, #192 */
    expect_lost(FIRST_OF(0x93407c00, 0xd2801808, SVC));
    /* sigtimedwait of a program with one thread: stp x29, x30, [sp, #-48]!; adrp x3; mov x29, sp; ldrb w3, [x3, #2472]; stp x19, x20, [sp, #16];
     * mov x20, x1; cbz w3, far; mov x3, #8; mov x8, #137 */
    expect_lost(FIRST_OF(0xa9bd7bfd, 0x90000003, 0x910003fd, 0x3966a063, 0xa90153f3, 0xaa0103f4, 0x34000223, 0xd2800103,
                         0xd2801128, SVC));
}

/* No word makes it read outside of the code, or find what x0 itself had. */
UNIT_TEST(any_words_are_read_within_their_bounds)
{
    uint32_t code[48];
    uint64_t seed = 1;
    for (unsigned round = 0; round < 20000; round++) {
        for (size_t i = 0; i < 48; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            code[i] = (uint32_t)(seed >> 32);
        }
        size_t call = round % 48;
        struct restart_first first = restart_first_find(code, 48, call);
        assert_true(first.kind <= FIRST_IN_SIGNED_WORD && first.reg <= STACK);
        assert_true(first.kind <= FIRST_IS_NUMBER || first.reg != 0);
    }
}

UNIT_MAIN(NULL, NULL)
