/* Why a step of a walk is libunwind's and not a recipe's (unwind/recipe.h, docs/call-paths.md). The numbers
 * are in profiles. */
#ifndef BLAME_BASE_RECIPE_CAUSE_H
#define BLAME_BASE_RECIPE_CAUSE_H

enum recipe_cause {
    RECIPE_NO_TABLE, /* code without call frame information: compiled at run time, or a module without a table to search */
    RECIPE_NO_ENTRY,       /* the module's table does not know the address */
    RECIPE_FOREIGN_TABLE,  /* a form that cfi.h does not understand */
    RECIPE_DAMAGED_TABLE,  /* nonsense */
    RECIPE_TRAMPOLINE,     /* the return from a signal handler: all registers change */
    RECIPE_CFA_REGISTER,   /* CFA by a register that is neither rsp nor rbp */
    RECIPE_CFA_EXPRESSION, /* CFA by an expression that is none of the above */
    RECIPE_OTHER_RULE,     /* rbp, rsp or the return address lie elsewhere, or farther away than r can say */
    RECIPE_WANTED,         /* recipes are turned off: unwinder.libunwind_only */
    RECIPE_CAUSES
};

/* The words for a cause. [any] */
const char *recipe_cause_name(enum recipe_cause cause);

#endif
