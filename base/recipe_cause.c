#include "base/recipe_cause.h"

const char *recipe_cause_name(enum recipe_cause cause)
{
    static const char *const names[RECIPE_CAUSES] = {
        "no table",     "no entry",       "foreign table", "damaged table", "trampoline",
        "cfa register", "cfa expression", "other rule",    "wanted",
    };
    return cause < RECIPE_CAUSES ? names[cause] : "?";
}
