/* Finds in DWARF the compilation unit and the function that contain an address.
 *
 * .debug_aranges is not used. clang does not write it, so it is incomplete in a program that clang has
 * compiled in part. Instead, the first DWARF entry of each unit is read once. The other entries of a unit are
 * read when an address in the unit is first looked up. */
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

/* Moves to the next sibling. Returns false if there is none, or if the sibling is not after this entry, as in
 * a damaged file. */
static bool symbols_die_next_sibling(Dwarf_Die *die)
{
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || (char *)next.addr <= (char *)die->addr)
        return false;
    *die = next;
    return true;
}

/* Visits the entries inside `parent`. Returns true if the walk must end. */
static bool symbols_die_walk_below(struct walk *walk, Dwarf_Die *parent, uint32_t around, int depth)
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
        if ((step != SYMBOLS_SKIP && symbols_die_walk_below(walk, &child, inside, depth + 1)) ||
            step == SYMBOLS_ENTER_LAST)
            return true;
    } while (symbols_die_next_sibling(&child));
    return false;
}

void symbols_dwarf_walk(Dwarf_Die *parent, symbols_visit *visit, void *argument)
{
    struct walk walk = {.visit = visit, .argument = argument, .budget = SYMBOLS_MAX_DIES};
    symbols_die_walk_below(&walk, parent, 0, 0);
}

/* Adds the code ranges of a DWARF entry. Skips ranges outside the module's code, because they belong to
 * functions that the linker removed. Returns the entry address of the function, or 0 if there is no range. */
static uint64_t symbols_die_add_code_ranges(struct symbols_module *module, struct symbols_ranges *ranges,
                                            Dwarf_Die *die, uint32_t index)
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
    /* The entry of a function with a cold part need not be its lowest address. It is DW_AT_entry_pc, or, if
     * there is none, the start of the first range. */
    if (first && dwarf_hasattr(die, DW_AT_entry_pc) && dwarf_entrypc(die, &entry) == 0 && entry >= module->code_low &&
        entry < module->code_high)
        first = entry;
    return first;
}

struct index {
    struct symbols_module *module;
    struct symbols_unit *unit;
};

static uint32_t symbols_unit_index_function(struct index *index, Dwarf_Die *die, uint32_t enclosing)
{
    struct symbols_unit *unit = index->unit;
    if (unit->function_count >= UINT32_MAX - 1 ||
        !grow_list(&unit->functions, &unit->function_room, unit->function_count, sizeof *unit->functions))
        return enclosing;
    uint32_t number = (uint32_t)unit->function_count++;
    unit->functions[number] = (struct symbols_function){.die = *die, .enclosing = enclosing};
    unit->functions[number].low = symbols_die_add_code_ranges(index->module, &unit->ranges, die, number);
    return number + 1;
}

/* Indexes the functions of a unit. Skips types, in which there are no functions with code; most entries of a
 * C++ program are types. */
static enum symbols_step symbols_unit_index_entry(void *index, Dwarf_Die *die, uint32_t *enclosing)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        if (dwarf_hasattr(die, DW_AT_declaration))
            return SYMBOLS_SKIP;
        *enclosing = symbols_unit_index_function(index, die, *enclosing);
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

static void symbols_unit_index_functions(struct symbols_module *module, struct symbols_unit *unit)
{
    struct index index = {.module = module, .unit = unit};
    if (!unit->indexed) {
        unit->indexed = true;
        symbols_dwarf_walk(&unit->content, symbols_unit_index_entry, &index);
        symbols_ranges_sort(&unit->ranges);
    }
}

static const char *symbols_unit_split_file_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
    return name ? name : "a .dwo file";
}

static void symbols_units_add(struct symbols_module *module, uint8_t type, Dwarf_Die *die, Dwarf_Die *split)
{
    if (module->unit_count >= UINT32_MAX ||
        !grow_list(&module->units, &module->unit_room, module->unit_count, sizeof *module->units))
        return;
    uint32_t index = (uint32_t)module->unit_count++;
    struct symbols_unit *unit = &module->units[index];
    *unit = (struct symbols_unit){.die = *die, .content = split->addr ? *split : *die};
    unit->lost = type == DW_UT_skeleton && !split->addr ? symbols_unit_split_file_name(die) : NULL;
    if (symbols_die_add_code_ranges(module, &module->unit_ranges, die, index) || dwarf_hasattr(die, DW_AT_ranges) ||
        dwarf_hasattr(die, DW_AT_low_pc))
        return;
    /* The unit has no code ranges of its own, so the ranges of its functions are used. */
    symbols_unit_index_functions(module, unit);
    for (size_t i = 0; i < unit->ranges.count; i++)
        symbols_ranges_add(&module->unit_ranges, unit->ranges.list[i].low, unit->ranges.list[i].high, index);
}

static void symbols_units_load(struct symbols_module *module)
{
    Dwarf *dwarf = symbols_module_dwarf(module);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    module->units_known = true;
    while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            symbols_units_add(module, type, &die, &split);
    symbols_ranges_sort(&module->unit_ranges);
}

struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr)
{
    if (!module->units_known)
        symbols_units_load(module);
    const struct symbols_range *range = symbols_ranges_find(&module->unit_ranges, vaddr);
    if (!range)
        return NULL;
    struct symbols_unit *unit = &module->units[range->index];
    if (unit->lost && !unit->indexed && !module->split_lost_count++)
        module->split_lost = unit->lost;
    symbols_unit_index_functions(module, unit);
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
