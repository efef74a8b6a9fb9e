#include "unwind/recipe.h"

static bool set_recipe_cfa(struct recipe *recipe, const struct cfi_rule *rule)
{
    if (rule->where != CFI_REGISTER || (rule->number != CFI_RSP && rule->number != CFI_RBP))
        return false;
    recipe->cfa = rule->number == CFI_RSP ? RECIPE_CFA_RSP : RECIPE_CFA_RBP;
    recipe->cfa_offset = (int32_t)rule->offset;
    return recipe->cfa_offset == rule->offset;
}

/* Sets the rules for x29 and x30, which can express three cases: both unchanged, only x30 saved, both saved
 * in a frame record. Returns false in other cases. */
static bool set_recipe_saved(struct recipe *recipe, const struct cfi_rule *rbp, const struct cfi_rule *link)
{
    int64_t r = 0;
    if (rbp->where == CFI_SAME && link->where == CFI_SAME) {
        recipe->rbp = RECIPE_RBP_IN_LINK;
    } else if (rbp->where == CFI_SAME && link->where == CFI_AT_CFA) {
        recipe->rbp = RECIPE_RBP_SAME;
        r = link->offset;
    } else if (rbp->where == CFI_AT_CFA && link->where == CFI_AT_CFA && link->offset == rbp->offset + 8) {
        recipe->rbp = RECIPE_RBP_AT_CFA;
        r = rbp->offset;
    } else {
        return false;
    }
    return recipe_set_r(recipe, r);
}

struct recipe recipe_of_row(const struct cfi_row *row)
{
    struct recipe recipe = {0};
    if (row->signal_frame)
        return recipe_slow(RECIPE_TRAMPOLINE);
    if (row->return_address.where == CFI_UNDEFINED)
        return (struct recipe){.cfa = RECIPE_OUTERMOST};
    if (row->stack_rule)
        return recipe_slow(RECIPE_OTHER_RULE);
    if (!set_recipe_cfa(&recipe, &row->cfa))
        return recipe_slow(row->cfa.where == CFI_EXPRESSION ? RECIPE_CFA_EXPRESSION : RECIPE_CFA_REGISTER);
    return set_recipe_saved(&recipe, &row->rbp, &row->return_address) ? recipe : recipe_slow(RECIPE_OTHER_RULE);
}
