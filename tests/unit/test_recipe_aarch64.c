/* Which rows of aarch64 are recipes, and which are left to libunwind for what cause; on any machine, whose register numbers they have. */
/* needs: unwind/recipe_aarch64.c */
#include "tests/unit/unit.h"

#include "unwind/recipe.h"

#define FAR          (32768l * RECIPE_R_UNIT)
#define CFA(n, k)    .cfa = {CFI_REGISTER, n, {.offset = k}}
#define SAVED(k)     .rbp = {CFI_AT_CFA, 0, {.offset = k}}
#define RETURN(w, k) .return_address = {w, 0, {.offset = k}}
#define AT(k)        RETURN(CFI_AT_CFA, k)
#define SLOW(c)      {.cfa = RECIPE_SLOW, .cfa_offset = RECIPE_##c}

static const struct {
    const char *name;
    struct cfi_row row;
    struct recipe recipe; /* with r itself */
    int64_t r;
} cases[] = {
    {"nothing saved", {CFA(CFI_RSP, 0)}, {RECIPE_CFA_RSP, RECIPE_RBP_IN_LINK, 0, 0}, 0},
    {"a leaf's variables", {CFA(CFI_RSP, 48)}, {RECIPE_CFA_RSP, RECIPE_RBP_IN_LINK, 0, 48}, 0},
    {"a record", {CFA(CFI_RSP, 32), SAVED(-32), AT(-24)}, {RECIPE_CFA_RSP, RECIPE_RBP_AT_CFA, 0, 32}, -32},
    {"a record, by x29", {CFA(CFI_RBP, 96), SAVED(-96), AT(-88)}, {RECIPE_CFA_RBP, RECIPE_RBP_AT_CFA, 0, 96}, -96},
    {"a record far away",
     {CFA(CFI_RBP, 16), SAVED(-FAR), AT(8 - FAR)},
     {RECIPE_CFA_RBP, RECIPE_RBP_AT_CFA, 0, 16},
     -FAR},
    {"too far away", {CFA(CFI_RBP, 16), SAVED(-FAR - 8), AT(-FAR)}, SLOW(OTHER_RULE), 0},
    {"the link alone", {CFA(CFI_RSP, 16), AT(-16)}, {RECIPE_CFA_RSP, RECIPE_RBP_SAME, 0, 16}, -16},
    {"two places", {CFA(CFI_RSP, 32), SAVED(-32), AT(-16)}, SLOW(OTHER_RULE), 0},
    {"the link not yet", {CFA(CFI_RSP, 32), SAVED(-32)}, SLOW(OTHER_RULE), 0},
    {"the link in a register", {CFA(CFI_RSP, 0), RETURN(CFI_REGISTER, 15)}, SLOW(OTHER_RULE), 0},
    {"another register", {CFA(10, 0)}, SLOW(CFA_REGISTER), 0},
    {"the length of vectors", {.cfa = {CFI_EXPRESSION, 0, {0}}}, SLOW(CFA_EXPRESSION), 0},
    {"outermost", {CFA(CFI_RSP, 0), RETURN(CFI_UNDEFINED, 0)}, {.cfa = RECIPE_OUTERMOST}, 0},
    {"a signal's frame", {CFA(CFI_RSP, 0), .signal_frame = true}, SLOW(TRAMPOLINE), 0},
    {"a rule for sp", {CFA(CFI_RSP, 0), .stack_rule = true}, SLOW(OTHER_RULE), 0},
};

UNIT_TEST(rows_become_recipes)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct recipe is = recipe_of_row(&cases[i].row), want = cases[i].recipe;
        bool has_r = is.cfa <= RECIPE_CFA_RBP && is.rbp != RECIPE_RBP_IN_LINK;
        if (is.cfa != want.cfa || is.rbp != want.rbp || is.cfa_offset != want.cfa_offset ||
            (has_r && recipe_r(is) != (uintptr_t)cases[i].r))
            fail_msg("%s: %d %d %d %d", cases[i].name, is.cfa, is.rbp, is.rbp_offset, is.cfa_offset);
    }
}

UNIT_MAIN(NULL, NULL)
