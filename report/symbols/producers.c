#include "report/symbols/producers.h"

#include <dwarf.h>
#include <string.h>

#include "report/symbols/state.h"

#define MOST_UNITS 4096 /* a huge program's first ones tell enough */

static bool is_among(const char *const *producer, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(producer[i], text) == 0)
            return true;
    return false;
}

size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS])
{
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    Dwarf *dwarf = module ? symbols_module_dwarf(module) : NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    size_t count = 0;
    for (int i = 0; dwarf && i < MOST_UNITS && count < SYMBOLS_PRODUCERS && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0; i++) {
        Dwarf_Attribute attribute;
        const char *text = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_producer, &attribute));
        if (text && *text && !is_among(producer, count, text))
            producer[count++] = text;
    }
    return count;
}
