#include "unwind/recipe.h"

struct recipe recipe_read(const struct loadmap_module *module, uintptr_t address)
{
    static const enum recipe_cause causes[] = {
        [CFI_NO_TABLE] = RECIPE_NO_TABLE,
        [CFI_NO_ENTRY] = RECIPE_NO_ENTRY,
        [CFI_FOREIGN] = RECIPE_FOREIGN_TABLE,
        [CFI_DAMAGED] = RECIPE_DAMAGED_TABLE,
    };
    struct cfi_row row;
    enum cfi_status status = module ? cfi_read_row(module, address, &row) : CFI_NO_TABLE;
    if (status != CFI_ROW)
        return recipe_slow(causes[status]);
    struct recipe recipe = recipe_of_row(&row);
    return recipe.cfa == RECIPE_SLOW && row.for_debuggers ? recipe_slow(RECIPE_NO_ENTRY) : recipe;
}
