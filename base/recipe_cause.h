/* Why libunwind, and not a recipe, takes a step of a walk (unwind/recipe.h, docs/call-paths.md). Profiles
 * contain the numbers. */
#ifndef BLAME_BASE_RECIPE_CAUSE_H
#define BLAME_BASE_RECIPE_CAUSE_H

enum recipe_cause {
    /* code without call frame information: compiled at run time, or in a module without a search table */
    RECIPE_NO_TABLE,
    RECIPE_NO_ENTRY,       /* an address that the module's table does not cover */
    RECIPE_FOREIGN_TABLE,  /* a table in a form that cfi.h does not understand */
    RECIPE_DAMAGED_TABLE,  /* a table that makes no sense */
    RECIPE_TRAMPOLINE,     /* the return from a signal handler, where all registers change */
    RECIPE_CFA_REGISTER,   /* a CFA relative to a register other than rsp and rbp */
    RECIPE_CFA_EXPRESSION, /* a CFA given by an unknown expression */
    RECIPE_OTHER_RULE,     /* rbp, rsp or the return address in another place, or too far away for r */
    RECIPE_WANTED,         /* recipes are turned off: unwinder.libunwind_only */
    RECIPE_CAUSES
};

/* Returns the name of a cause. [any] */
const char *recipe_cause_name(enum recipe_cause cause);

#endif
