#include "unwind/recipe.h"

#include <string.h>

/* operators of DWARF expressions */
enum {
    EXPRESSION_DEREFERENCE = 0x06,
    EXPRESSION_LITERAL_0 = 0x30,
    EXPRESSION_LITERAL_15 = 0x3f,
    EXPRESSION_RBP_PLUS = 0x76, /* DW_OP_breg6: rbp + the SLEB128 number that follows */
};

/* Parses the start of an expression, which must be rbp + k. Returns the address after that part; NULL for
 * other expressions. */
static const unsigned char *recipe_skip_rbp_plus(const struct cfi_rule *rule, int64_t *k)
{
    const unsigned char *at = rule->expression, *end = at + rule->number;
    uint64_t value = 0;
    if (rule->number < 2 || *at++ != EXPRESSION_RBP_PLUS)
        return NULL;
    for (unsigned shift = 0; at < end && shift < 35; shift += 7) {
        unsigned char byte = *at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *k = (int64_t)(byte & 0x40 ? value | ~(uint64_t)0 << (shift + 7) : value);
        return at;
    }
    return NULL;
}

/* Returns true for the rule that ld writes for a linkage table: rsp + 8 + (((rip & 15) >= k) << 3). (gold and
 * lld write none.) An entry of the table has 16 bytes; from its byte k on, the relocation's number is on the
 * stack. */
static bool recipe_is_linkage_table(const struct cfi_rule *rule, int64_t *k)
{
    static const unsigned char text[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, EXPRESSION_LITERAL_0, 0x2a, 0x33, 0x24, 0x22};
    enum { LITERAL = 6 };
    if (rule->number != sizeof(text) || memcmp(rule->expression, text, LITERAL) != 0 ||
        memcmp(rule->expression + LITERAL + 1, text + LITERAL + 1, sizeof(text) - LITERAL - 1) != 0)
        return false;
    *k = rule->expression[LITERAL] - EXPRESSION_LITERAL_0;
    return *k >= 0 && *k <= EXPRESSION_LITERAL_15 - EXPRESSION_LITERAL_0;
}

static bool set_recipe_cfa(struct recipe *recipe, const struct cfi_rule *rule)
{
    int64_t k = 0;
    const unsigned char *end;
    if (rule->where == CFI_REGISTER && (rule->number == CFI_RSP || rule->number == CFI_RBP)) {
        recipe->cfa = rule->number == CFI_RSP ? RECIPE_CFA_RSP : RECIPE_CFA_RBP;
        k = rule->offset;
    } else if (rule->where == CFI_EXPRESSION && recipe_is_linkage_table(rule, &k)) {
        recipe->cfa = RECIPE_CFA_PLT;
    } else if (rule->where == CFI_EXPRESSION && (end = recipe_skip_rbp_plus(rule, &k)) &&
               end + 1 == rule->expression + rule->number && *end == EXPRESSION_DEREFERENCE) {
        recipe->cfa = RECIPE_CFA_AT_RBP;
    } else {
        return false;
    }
    recipe->cfa_offset = (int32_t)k;
    return recipe->cfa_offset == k;
}

static bool set_recipe_rbp(struct recipe *recipe, const struct cfi_rule *rule)
{
    int64_t r = -8;
    if (rule->where == CFI_SAME) {
        recipe->rbp = RECIPE_RBP_SAME;
    } else if (rule->where == CFI_AT_CFA) {
        recipe->rbp = RECIPE_RBP_AT_CFA;
        r = rule->offset;
    } else if (rule->where == CFI_AT_EXPRESSION && recipe->cfa == RECIPE_CFA_AT_RBP &&
               recipe_skip_rbp_plus(rule, &r) == rule->expression + rule->number) {
        recipe->rbp = RECIPE_RBP_AT_RBP;
    } else {
        return false;
    }
    recipe->rbp_offset = (int16_t)r;
    return recipe->rbp_offset == r;
}

struct recipe recipe_of_row(const struct cfi_row *row)
{
    struct recipe recipe = {0};
    if (row->signal_frame)
        return recipe_slow(RECIPE_TRAMPOLINE);
    if (row->return_address.where == CFI_UNDEFINED)
        return (struct recipe){.cfa = RECIPE_OUTERMOST};
    if (row->return_address.where != CFI_AT_CFA || row->return_address.offset != -8 || row->stack_rule)
        return recipe_slow(RECIPE_OTHER_RULE);
    if (!set_recipe_cfa(&recipe, &row->cfa))
        return recipe_slow(row->cfa.where == CFI_EXPRESSION ? RECIPE_CFA_EXPRESSION : RECIPE_CFA_REGISTER);
    return set_recipe_rbp(&recipe, &row->rbp) ? recipe : recipe_slow(RECIPE_OTHER_RULE);
}
