/* Finds the compilation unit and the function that contain an address, from DWARF.
 *
 * .debug_aranges is not used, because clang does not write it: a program compiled in part by clang has an
 * incomplete one. Instead, the first DWARF entry of each unit is read once. All entries of a unit are read
 * when an address in that unit is looked up. */
#include "command/symbols/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/grow.h"

struct walk {
    symbols_visit *visit;
    void *argument;
    uint32_t budget;
};

/* Moves to the next sibling. Returns false at the end, and if a damaged file's sibling is not after this
 * entry. */
static bool die_next_sibling(Dwarf_Die *die)
{
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || (char *)next.addr <= (char *)die->addr)
        return false;
    *die = next;
    return true;
}

/* Visits the entries below `parent`. Returns true if the walk must stop. */
static bool die_walk_below(struct walk *walk, Dwarf_Die *parent, uint32_t around, int depth)
{
    Dwarf_Die child;
    if (depth > SYMBOLS_MAX_DEPTH || dwarf_child(parent, &child) != 0)
        return false;
    do {
        uint32_t inside = around;
        if (walk->budget == 0)
            return true;
        walk->budget--;
        enum symbols_step step = walk->visit(walk->argument, &child, &inside);
        if ((step != SYMBOLS_SKIP && die_walk_below(walk, &child, inside, depth + 1)) || step == SYMBOLS_ENTER_LAST)
            return true;
    } while (die_next_sibling(&child));
    return false;
}

void symbols_dwarf_walk(Dwarf_Die *parent, symbols_visit *visit, void *argument)
{
    struct walk walk = {.visit = visit, .argument = argument, .budget = SYMBOLS_MAX_DIES};
    die_walk_below(&walk, parent, 0, 0);
}

/* Adds the code ranges of a DWARF entry. Ranges outside the module's code belong to functions that the linker
 * removed, and are skipped. Returns the function's entry address; 0 if there is no range. */
static uint64_t die_add_code_ranges(struct symbols_module *module, struct symbols_ranges *ranges, Dwarf_Die *die,
                                    uint32_t index)
{
    Dwarf_Addr base, start, end, entry;
    ptrdiff_t offset = 0;
    uint64_t first = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        if (start >= module->code_low && start < end && end <= module->code_high) {
            if (!symbols_ranges_add(ranges, start, end, index))
                break;
            first = first ? first : start;
        }
    }
    /* If the function has a cold part, its entry need not be its lowest address. The entry is DW_AT_entry_pc,
     * or, without that, the start of the first range. */
    if (first && dwarf_hasattr(die, DW_AT_entry_pc) && dwarf_entrypc(die, &entry) == 0 && entry >= module->code_low &&
        entry < module->code_high)
        first = entry;
    return first;
}

struct index {
    struct symbols_module *module;
    struct symbols_unit *unit;
};

static uint32_t unit_index_function(struct index *index, Dwarf_Die *die, uint32_t enclosing)
{
    struct symbols_unit *unit = index->unit;
    if (unit->function_count >= UINT32_MAX - 1 ||
        !grow_list(&unit->functions, &unit->function_room, unit->function_count, sizeof *unit->functions))
        return enclosing;
    uint32_t number = (uint32_t)unit->function_count++;
    unit->functions[number] = (struct symbols_function){.die = *die, .enclosing = enclosing};
    unit->functions[number].low = die_add_code_ranges(index->module, &unit->ranges, die, number);
    return number + 1;
}

/* Indexes the functions of a unit. Skips types, because functions with code are outside of them, and because
 * most entries of a C++ program are types. */
static enum symbols_step unit_index_entry(void *index, Dwarf_Die *die, uint32_t *enclosing)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        if (dwarf_hasattr(die, DW_AT_declaration))
            return SYMBOLS_SKIP;
        *enclosing = unit_index_function(index, die, *enclosing);
        return SYMBOLS_ENTER;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return SYMBOLS_ENTER;
    default:
        return SYMBOLS_SKIP;
    }
}

static void unit_index_functions(struct symbols_module *module, struct symbols_unit *unit)
{
    struct index index = {.module = module, .unit = unit};
    if (!unit->indexed) {
        unit->indexed = true;
        symbols_dwarf_walk(&unit->content, unit_index_entry, &index);
        symbols_ranges_sort(&unit->ranges);
    }
}

static const char *unit_split_file_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
    return name ? name : "a .dwo file";
}

static void units_add(struct symbols_module *module, uint8_t type, Dwarf_Die *die, Dwarf_Die *split)
{
    if (module->unit_count >= UINT32_MAX ||
        !grow_list(&module->units, &module->unit_room, module->unit_count, sizeof *module->units))
        return;
    uint32_t index = (uint32_t)module->unit_count++;
    struct symbols_unit *unit = &module->units[index];
    *unit = (struct symbols_unit){.die = *die, .content = split->addr ? *split : *die};
    unit->lost = type == DW_UT_skeleton && !split->addr ? unit_split_file_name(die) : NULL;
    if (die_add_code_ranges(module, &module->unit_ranges, die, index) || dwarf_hasattr(die, DW_AT_ranges) ||
        dwarf_hasattr(die, DW_AT_low_pc))
        return;
    /* The unit does not have its own code ranges, so those of its functions are used. */
    unit_index_functions(module, unit);
    for (size_t i = 0; i < unit->ranges.count; i++)
        symbols_ranges_add(&module->unit_ranges, unit->ranges.list[i].low, unit->ranges.list[i].high, index);
}

static void units_load(struct symbols_module *module)
{
    Dwarf *dwarf = symbols_module_dwarf(module);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    module->units_known = true;
    while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            units_add(module, type, &die, &split);
    symbols_ranges_sort(&module->unit_ranges);
}

struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr)
{
    if (!module->units_known)
        units_load(module);
    const struct symbols_range *range = symbols_ranges_find(&module->unit_ranges, vaddr);
    if (!range)
        return NULL;
    struct symbols_unit *unit = &module->units[range->index];
    if (unit->lost && !unit->indexed && !module->split_lost_count++)
        module->split_lost = unit->lost;
    unit_index_functions(module, unit);
    return unit;
}

struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit, uint64_t vaddr)
{
    const struct symbols_range *range = symbols_ranges_find(&unit->ranges, vaddr);
    return range ? &unit->functions[range->index] : NULL;
}

void symbols_dwarf_close(struct symbols_module *module)
{
    for (size_t i = 0; i < module->unit_count; i++) {
        free(module->units[i].functions);
        free(module->units[i].ranges.list);
    }
    free(module->units);
    free(module->unit_ranges.list);
    symbols_map_free(&module->names);
    symbols_map_free(&module->paths);
}
