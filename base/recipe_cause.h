/* Reasons for which libunwind, and not a recipe, takes a step of a walk (unwind/recipe.h,
 * docs/call-paths.md). Profiles contain the numbers. */
#ifndef BLAME_BASE_RECIPE_CAUSE_H
#define BLAME_BASE_RECIPE_CAUSE_H

enum recipe_cause {
    /* there is no call frame information: the code was compiled at run time, or its module has no search
     * table */
    RECIPE_NO_TABLE,
    RECIPE_NO_ENTRY,       /* the module's table does not cover the address */
    RECIPE_FOREIGN_TABLE,  /* the table has a form that unwind/cfi.h does not read */
    RECIPE_DAMAGED_TABLE,  /* the table contradicts itself or exceeds its bounds */
    RECIPE_TRAMPOLINE,     /* the step returns from a signal handler, where all registers change */
    RECIPE_CFA_REGISTER,   /* the CFA is relative to a register other than rsp or rbp */
    RECIPE_CFA_EXPRESSION, /* the CFA is an expression that recipes cannot represent */
    /* rbp, rsp or the return address is saved in a place that recipes cannot represent, or too far away for
     * `r` */
    RECIPE_OTHER_RULE,
    RECIPE_WANTED, /* a test has turned recipes off by unwinder.libunwind_only */
    RECIPE_CAUSES
};

/* Returns the name of a cause. [any] */
const char *recipe_cause_name(enum recipe_cause cause);

#endif
