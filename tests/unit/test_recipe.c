/* Which rows are recipes, and which are left to libunwind for what cause. */
#include "tests/unit/unit.h"

#include "unwind/recipe.h"

#define CFA(n, k)    .cfa = {CFI_REGISTER, n, {.offset = k}}
#define CFA_EXPR(t)  .cfa = {CFI_EXPRESSION, sizeof(t) - 1, {.expression = (const unsigned char *)(t)}}
#define SAME         .rbp = {CFI_SAME, 0, {0}}
#define AT(k)        .rbp = {CFI_AT_CFA, 0, {.offset = k}}
#define AT_EXPR(t)   .rbp = {CFI_AT_EXPRESSION, sizeof(t) - 1, {.expression = (const unsigned char *)(t)}}
#define RETURN(w, k) .return_address = {w, 0, {.offset = k}}
#define USUAL        RETURN(CFI_AT_CFA, -8)
#define LINKAGE(t)   "\x77\x08\x80\0\x3f\x1a" t "\x2a\x33\x24\x22"
#define SLOW(c)      {.cfa = RECIPE_SLOW, .cfa_offset = RECIPE_##c}

static const struct {
    const char *name;
    struct cfi_row row;
    struct recipe recipe;
} cases[] = {
    {"rsp", {CFA(7, 8), SAME, USUAL}, {RECIPE_CFA_RSP, RECIPE_RBP_SAME, -8, 8}},
    {"rsp, rbp saved", {CFA(7, 200), AT(-16), USUAL}, {RECIPE_CFA_RSP, RECIPE_RBP_AT_CFA, -16, 200}},
    {"rbp", {CFA(6, 16), AT(-16), USUAL}, {RECIPE_CFA_RBP, RECIPE_RBP_AT_CFA, -16, 16}},
    {"negative offset", {CFA(7, -8), SAME, USUAL}, {RECIPE_CFA_RSP, RECIPE_RBP_SAME, -8, -8}},
    {"rbp saved far away", {CFA(7, 8), AT(-32768), USUAL}, {RECIPE_CFA_RSP, RECIPE_RBP_AT_CFA, -32768, 8}},
    {"rbp saved too far away", {CFA(7, 8), AT(-32776), USUAL}, SLOW(OTHER_RULE)},
    {"a large frame", {CFA(7, INT32_MAX), SAME, USUAL}, {RECIPE_CFA_RSP, RECIPE_RBP_SAME, -8, INT32_MAX}},
    {"too large a frame", {CFA(7, INT32_MAX + 1l), SAME, USUAL}, SLOW(CFA_REGISTER)},
    {"realigned",
     {CFA_EXPR("\x76\x78\x06"), AT_EXPR("\x76\x00"), USUAL},
     {RECIPE_CFA_AT_RBP, RECIPE_RBP_AT_RBP, 0, -8}},
    {"realigned, a long number",
     {CFA_EXPR("\x76\x88\x7f\x06"), AT_EXPR("\x76\x90\x01"), USUAL},
     {RECIPE_CFA_AT_RBP, RECIPE_RBP_AT_RBP, 144, -120}},
    {"realigned, rbp at CFA",
     {CFA_EXPR("\x76\x78\x06"), AT(-16), USUAL},
     {RECIPE_CFA_AT_RBP, RECIPE_RBP_AT_CFA, -16, -8}},
    {"rbp at rbp, CFA by rsp", {CFA(7, 8), AT_EXPR("\x76\x00"), USUAL}, SLOW(OTHER_RULE)},
    {"linkage table", {CFA_EXPR(LINKAGE("\x3b")), SAME, USUAL}, {RECIPE_CFA_PLT, RECIPE_RBP_SAME, -8, 11}},
    {"linkage table for branch tracking",
     {CFA_EXPR(LINKAGE("\x39")), SAME, USUAL},
     {RECIPE_CFA_PLT, RECIPE_RBP_SAME, -8, 9}},
    {"nearly a linkage table", {CFA_EXPR(LINKAGE("\x50")), SAME, USUAL}, SLOW(CFA_EXPRESSION)},
    {"a longer one", {CFA_EXPR(LINKAGE("\x3b") "\x96"), SAME, USUAL}, SLOW(CFA_EXPRESSION)},
    {"no dereference", {CFA_EXPR("\x76\x78"), SAME, USUAL}, SLOW(CFA_EXPRESSION)},
    {"a dereference too many", {CFA_EXPR("\x76\x78\x06\x06"), SAME, USUAL}, SLOW(CFA_EXPRESSION)},
    {"half a number", {CFA_EXPR("\x76\x88"), SAME, USUAL}, SLOW(CFA_EXPRESSION)},
    {"an empty expression", {CFA_EXPR(""), SAME, USUAL}, SLOW(CFA_EXPRESSION)},
    {"another register", {CFA(10, 0), SAME, USUAL}, SLOW(CFA_REGISTER)},
    {"no CFA", {.cfa = {CFI_UNDEFINED, 0, {0}}, SAME, USUAL}, SLOW(CFA_REGISTER)},
    {"rbp in a register", {CFA(7, 8), .rbp = {CFI_REGISTER, 3, {0}}, USUAL}, SLOW(OTHER_RULE)},
    {"rbp lost", {CFA(7, 8), .rbp = {CFI_UNDEFINED, 0, {0}}, USUAL}, SLOW(OTHER_RULE)},
    {"rbp is a value", {CFA(7, 8), .rbp = {CFI_IS_CFA, 0, {.offset = -16}}, USUAL}, SLOW(OTHER_RULE)},
    {"outermost", {CFA(7, 8), SAME, RETURN(CFI_UNDEFINED, 0)}, {.cfa = RECIPE_OUTERMOST}},
    {"return address elsewhere", {CFA(7, 8), SAME, RETURN(CFI_AT_CFA, -16)}, SLOW(OTHER_RULE)},
    {"no return address", {CFA(7, 8), SAME, RETURN(CFI_SAME, 0)}, SLOW(OTHER_RULE)},
    {"a rule for rsp", {CFA(7, 8), SAME, USUAL, .stack_rule = true}, SLOW(OTHER_RULE)},
    {"a signal's frame", {CFA(7, 8), SAME, USUAL, .signal_frame = true}, SLOW(TRAMPOLINE)},
};

UNIT_TEST(rows_become_recipes)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct recipe is = recipe_of_row(&cases[i].row), want = cases[i].recipe;
        if (is.cfa != want.cfa || is.rbp != want.rbp || is.rbp_offset != want.rbp_offset ||
            is.cfa_offset != want.cfa_offset)
            fail_msg("%s: %d %d %d %d, expected %d %d %d %d", cases[i].name, is.cfa, is.rbp, is.rbp_offset,
                     is.cfa_offset, want.cfa, want.rbp, want.rbp_offset, want.cfa_offset);
    }
}

UNIT_TEST(code_of_no_module_has_a_cause)
{
    struct recipe recipe = recipe_read(NULL, 0x1000);
    assert_int_equal(recipe.cfa, RECIPE_SLOW);
    assert_int_equal(recipe.cfa_offset, RECIPE_NO_TABLE);
}

UNIT_TEST(causes_have_names)
{
    for (int cause = 0; cause < RECIPE_CAUSES; cause++)
        assert_string_not_equal(recipe_cause_name(cause), "?");
    assert_string_equal(recipe_cause_name(RECIPE_CAUSES), "?");
}

/* Compilers use few forms: hardly a row of the C library may be left to libunwind. */
UNIT_TEST(the_c_library_is_recipes)
{
    uint64_t random_state = 88172645463325252ull;
    int found = 0, slow = 0;
    assert_true(loadmap_init());
    const struct loadmap_range *range = loadmap_find((uintptr_t)qsort);
    assert_non_null(range);
    for (int i = 0; i < 20000; i++) {
        uintptr_t address = range->start + unit_random(&random_state) % (range->end - range->start);
        struct recipe recipe = recipe_read(loadmap_module(range->module_id), address - range->load_bias);
        if (recipe.cfa == RECIPE_SLOW && recipe.cfa_offset == RECIPE_NO_ENTRY)
            continue; /* between functions */
        found++;
        slow += recipe.cfa == RECIPE_SLOW;
    }
    assert_true(found > 10000);
    assert_true(slow < found / 100);
}

UNIT_MAIN(NULL, NULL)
