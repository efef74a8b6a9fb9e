/* Code of aarch64 without call frame information: what it says of its own frame. Data here, so that any machine tests it. */
/* needs: unwind/decode_aarch64.c */
#include "tests/unit/unit.h"

#include "unwind/decode.h"

#define CODE_WORDS 64

/* Words of code, by what an assembler makes them of. */
enum {
    RET = 0xd65f03c0,
    RETAA = 0xd65f0bff,
    BL = 0x97ffffff,
    BLR_X8 = 0xd63f0100,
    BLRAAZ_X8 = 0xd63f091f,
    BR_X17 = 0xd61f0220,
    BR_X8 = 0xd61f0100,
    PUSH_RECORD_32 = 0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
    MOV_FP_SP = 0x910003fd,
    PUSH_X19_AT_16 = 0xa90153f3, /* stp x19, x20, [sp, #16] */
    SUB_SP_48 = 0xd100c3ff,
    ADD_SP_48 = 0x9100c3ff,
    MOV_SP_FP = 0x910003bf,
    POP_X19_AT_16 = 0xa94153f3,
    POP_RECORD_32 = 0xa8c27bfd,
    LOAD_RECORD_AT_16 = 0xa9417bfd,
    PUSH_LINK = 0xf81f0ffe, /* str x30, [sp, #-16]! */
    POP_LINK = 0xf84107fe,
    SUB_SP_X9 = 0xcb2963ff,
    SUB_SP_FP_16 = 0xd10043bf,
    CBZ_2 = 0xb4000040, /* two words on */
    BEQ_3 = 0x54000060,
    TBZ_2 = 0x36180040,
    B_2 = 0x14000002,
    PACIASP = 0xd503233f,
    AUTIASP = 0xd50323bf,
    BRK = 0xd4200020,
    PUSH_D8 = 0x6dbf27e8, /* stp d8, d9, [sp, #-16]! */
    POP_D8 = 0x6cc127e8,
    FADD_D30 = 0x1e602bbe,
    NOP = 0xd503201f,
    STORE_FP = 0xf900027d, /* str x29, [x19] */
    MOV_LINK_X0 = 0xaa0003fe,
    ADD_SP_4096 = 0x914007ff,
    LOAD_FP_EXCLUSIVE = 0xc85ffc5d,
    LOAD_FP = 0xf940003d, /* ldr x29, [x1] */
};

static struct decoder *decoder;

static int setup(void **unused)
{
    (void)unused;
    decoder = decoder_make();
    return decoder ? 0 : -1;
}

static bool accept(const struct recipe *recipe, void *argument)
{
    (void)recipe;
    unsigned *left = argument;
    return (*left)-- == 0;
}

static bool find(const uint32_t *words, size_t count, size_t at, struct recipe *recipe)
{
    static uint32_t code[CODE_WORDS];
    unsigned left = 0;
    memset(code, 0, sizeof(code)); /* udf */
    memcpy(code, words, count * sizeof(*words));
    decoder_forget(decoder);
    decoder_begin_walk(decoder);
    return decoder_find(decoder, (uintptr_t)(code + at), accept, &left, recipe);
}

static void check(const uint32_t *words, size_t count, size_t at, const struct recipe *wanted)
{
    struct recipe recipe;
    assert_true(find(words, count, at, &recipe));
    assert_int_equal(recipe.cfa, wanted->cfa);
    assert_int_equal(recipe.cfa_offset, wanted->cfa_offset);
    assert_int_equal(recipe.rbp, wanted->rbp);
    assert_int_equal(recipe_r(recipe), (uintptr_t)(intptr_t)wanted->rbp_offset);
}

#define COUNT(words) (sizeof(words) / sizeof(*(words)))
#define CHECK(words, at, cfa, k, rbp, r)                                                                               \
    check(words, COUNT(words), at, &(struct recipe){RECIPE_CFA_##cfa, RECIPE_RBP_##rbp, r, k})

UNIT_TEST(frames_are_left_as_the_code_leaves_them)
{
    static const uint32_t by_sp[] = {PACIASP,   PUSH_RECORD_32, MOV_FP_SP,     PUSH_X19_AT_16, SUB_SP_48, BL,
                                     ADD_SP_48, POP_X19_AT_16,  POP_RECORD_32, AUTIASP,        RET};
    CHECK(by_sp, 0, RSP, 0, IN_LINK, 0);
    CHECK(by_sp, 1, RSP, 0, IN_LINK, 0);
    CHECK(by_sp, 2, RSP, 32, AT_CFA, -32);
    CHECK(by_sp, 5, RSP, 80, AT_CFA, -32);
    CHECK(by_sp, 6, RSP, 80, AT_CFA, -32);
    CHECK(by_sp, 7, RSP, 32, AT_CFA, -32);
    CHECK(by_sp, 9, RSP, 0, IN_LINK, 0);
    /* libomp's __kmp_invoke_microtask behind its call; and with the record higher up */
    static const uint32_t by_fp[] = {SUB_SP_X9, STORE_FP, BLR_X8, MOV_SP_FP, POP_X19_AT_16, POP_RECORD_32, RET};
    CHECK(by_fp, 0, RBP, 32, AT_CFA, -32);
    CHECK(by_fp, 3, RBP, 32, AT_CFA, -32);
    static const uint32_t higher[] = {BLRAAZ_X8, SUB_SP_FP_16, LOAD_RECORD_AT_16, ADD_SP_48, RETAA};
    CHECK(higher, 0, RBP, 32, AT_CFA, -32);
    /* the link register alone, and registers of vectors below it */
    static const uint32_t alone[] = {PUSH_LINK, PUSH_D8, FADD_D30, BL, POP_D8, POP_LINK, RET};
    CHECK(alone, 0, RSP, 0, IN_LINK, 0);
    CHECK(alone, 1, RSP, 16, SAME, -16);
    CHECK(alone, 3, RSP, 32, SAME, -16);
    CHECK(alone, 5, RSP, 16, SAME, -16);
    static const uint32_t large[] = {NOP, ADD_SP_4096, POP_LINK, RET};
    CHECK(large, 0, RSP, 4096 + 16, SAME, -16);
}

UNIT_TEST(every_branch_is_a_way_out)
{
    static const uint32_t none_taken[] = {CBZ_2, BRK, POP_LINK, RET}, third[] = {BEQ_3, BRK, BRK, POP_LINK, RET};
    static const uint32_t bit[] = {TBZ_2, BRK, POP_LINK, RET}, always[] = {B_2, BRK, POP_LINK, RET};
    CHECK(none_taken, 0, RSP, 16, SAME, -16);
    CHECK(third, 0, RSP, 16, SAME, -16);
    CHECK(bit, 0, RSP, 16, SAME, -16);
    CHECK(always, 0, RSP, 16, SAME, -16);
    /* a call at a function's end is a jump; through a linkage table, by x17, it is one, by another register perhaps a switch */
    static const uint32_t table[] = {POP_LINK, BR_X17};
    CHECK(table, 0, RSP, 16, SAME, -16);
}

UNIT_TEST(what_is_not_understood_yields_nothing)
{
    static const uint32_t codes[][4] = {
        {POP_LINK, BR_X8},                  /* perhaps a switch */
        {BL, RET},                          /* the link register is this code's own by now */
        {MOV_LINK_X0, RET},                 /* and so here */
        {SUB_SP_X9, POP_LINK, RET},         /* by how much? */
        {LOAD_FP_EXCLUSIVE, POP_LINK, RET}, /* the frame pointer is another one */
        {LOAD_FP, POP_LINK, RET},           /* of memory that is not the stack */
        {BRK, POP_LINK, RET},               /* it does not go on */
        {SUB_SP_48, RET},                   /* the stack would grow */
    };
    for (size_t i = 0; i < COUNT(codes); i++) {
        struct recipe recipe;
        if (find(codes[i], COUNT(codes[i]), 0, &recipe))
            fail_msg("code %zu yields a recipe", i);
    }
}

UNIT_TEST(calls_are_told_from_other_code)
{
    static const uint32_t calls[] = {BL, BLR_X8, BLRAAZ_X8}, others[] = {NOP, RET, BR_X17, B_2, CBZ_2, POP_LINK};
    for (size_t i = 0; i < COUNT(calls); i++)
        assert_true(decoder_is_behind_call((uintptr_t)(calls + i + 1)));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(decoder_is_behind_call((uintptr_t)(others + i + 1)));
    assert_false(decoder_is_behind_call((uintptr_t)(calls + 1) + 2));
}

UNIT_MAIN(setup, NULL)
