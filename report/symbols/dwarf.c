/* From an address to its compilation unit and function by DWARF, and from an entry to its name.
 *
 * Not .debug_aranges: clang writes none, so a program linked from both compilers' objects has them for a part
 * only. Read are the units' own entries (once, one each), and the entries of the units that were asked for
 * (once). */
#include "report/symbols/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/grow.h"

struct index_walk {
    struct symbols_module *module;
    struct symbols_unit *unit;
    uint32_t budget;
};

bool symbols_dwarf_next(Dwarf_Die *die)
{
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || (char *)next.addr <= (char *)die->addr)
        return false;
    *die = next;
    return true;
}

/* Adds the code ranges of an entry. Functions that the linker dropped have ranges outside the code. Returns
 * the entry, 0 when there is none. */
static uint64_t add_ranges(struct symbols_module *module, struct symbols_ranges *ranges, Dwarf_Die *die,
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
    /* With a cold part the entry need not be the lowest address: it is the first, where nothing else is said.
     */
    if (first && dwarf_hasattr(die, DW_AT_entry_pc) && dwarf_entrypc(die, &entry) == 0 &&
        entry >= module->code_low && entry < module->code_high)
        first = entry;
    return first;
}

static uint32_t add_function(struct index_walk *walk, Dwarf_Die *die, uint32_t enclosing)
{
    struct symbols_unit *unit = walk->unit;
    if (unit->function_count >= UINT32_MAX - 1 ||
        !grow_list(&unit->functions, &unit->function_room, unit->function_count, sizeof *unit->functions))
        return enclosing;
    uint32_t index = (uint32_t)unit->function_count++;
    unit->functions[index] = (struct symbols_function){.die = *die, .enclosing = enclosing};
    unit->functions[index].low = add_ranges(walk->module, &unit->ranges, die, index);
    return index + 1;
}

/* Types are not entered: concrete functions stand outside of them, and they are most of a C++ program's
 * entries. */
static void index_children(struct index_walk *walk, Dwarf_Die *parent, uint32_t enclosing, int depth)
{
    Dwarf_Die child;
    if (depth > SYMBOLS_MAX_DEPTH || dwarf_child(parent, &child) != 0)
        return;
    do {
        if (walk->budget-- == 0) {
            walk->budget = 0;
            return;
        }
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
            if (!dwarf_hasattr(&child, DW_AT_declaration))
                index_children(walk, &child, add_function(walk, &child, enclosing), depth + 1);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            index_children(walk, &child, enclosing, depth + 1);
            break;
        default:
            break;
        }
    } while (symbols_dwarf_next(&child));
}

static void index_unit(struct symbols_module *module, struct symbols_unit *unit)
{
    struct index_walk walk = {.module = module, .unit = unit, .budget = SYMBOLS_MAX_DIES};
    if (!unit->indexed) {
        unit->indexed = true;
        index_children(&walk, &unit->content, 0, 0);
        symbols_ranges_sort(&unit->ranges);
    }
}

static void add_unit(struct symbols_module *module, Dwarf_Die *die, Dwarf_Die *split)
{
    if (module->unit_count >= UINT32_MAX ||
        !grow_list(&module->units, &module->unit_room, module->unit_count, sizeof *module->units))
        return;
    uint32_t index = (uint32_t)module->unit_count++;
    struct symbols_unit *unit = &module->units[index];
    *unit = (struct symbols_unit){.die = *die, .content = split->addr ? *split : *die};
    if (add_ranges(module, &module->unit_ranges, die, index) || dwarf_hasattr(die, DW_AT_ranges) ||
        dwarf_hasattr(die, DW_AT_low_pc))
        return;
    /* A unit that does not say where its code is: its functions do. */
    index_unit(module, unit);
    for (size_t i = 0; i < unit->ranges.count; i++)
        symbols_ranges_add(&module->unit_ranges, unit->ranges.list[i].low, unit->ranges.list[i].high, index);
}

static void load_units(struct symbols_module *module)
{
    Dwarf *dwarf = symbols_module_dwarf(module);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    module->units_known = true;
    while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_unit(module, &die, &split);
    symbols_ranges_sort(&module->unit_ranges);
}

struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr)
{
    if (!module->units_known)
        load_units(module);
    const struct symbols_range *range = symbols_ranges_find(&module->unit_ranges, vaddr);
    if (!range)
        return NULL;
    index_unit(module, &module->units[range->index]);
    return &module->units[range->index];
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
        free(module->units[i].launches);
    }
    free(module->units);
    free(module->unit_ranges.list);
    symbols_map_free(&module->names);
    symbols_map_free(&module->paths);
}

/* ---- call sites that hand an outlined function to libgomp ---- */

static void add_launch(struct symbols_unit *unit, Dwarf_Die *parameter, bool task)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    Dwarf_Attribute *value = dwarf_attr(parameter, DW_AT_call_value, &attribute);
    if (!value)
        value = dwarf_attr(parameter, DW_AT_GNU_call_site_value, &attribute);
    if (value && dwarf_getlocation(value, &operations, &count) == 0 && count == 1 &&
        operations[0].atom == DW_OP_addr &&
        grow_list(&unit->launches, &unit->launch_room, unit->launch_count, sizeof *unit->launches)) {
        unit->launches[unit->launch_count++] =
            (struct symbols_launch){.function = operations[0].number, .task = task};
    }
}

static void add_call_site(struct symbols_unit *unit, Dwarf_Die *site)
{
    Dwarf_Attribute attribute;
    Dwarf_Die callee, parameter;
    Dwarf_Attribute *origin = dwarf_attr(site, DW_AT_call_origin, &attribute);
    if (!origin)
        origin = dwarf_attr(site, DW_AT_abstract_origin, &attribute);
    if (!origin || !dwarf_formref_die(origin, &callee))
        return;
    const char *name = dwarf_formstring(dwarf_attr(&callee, DW_AT_linkage_name, &attribute));
    name = name ? name : dwarf_diename(&callee);
    if (!name || strncmp(name, "GOMP_", 5) != 0 || dwarf_child(site, &parameter) != 0)
        return;
    bool task = strncmp(name, "GOMP_task", 9) == 0;
    int count = 0;
    do {
        add_launch(unit, &parameter, task);
    } while (++count < 16 && symbols_dwarf_next(&parameter));
}

static void find_launches(struct index_walk *walk, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;
    if (depth > SYMBOLS_MAX_DEPTH || dwarf_child(parent, &child) != 0)
        return;
    do {
        if (walk->budget-- == 0) {
            walk->budget = 0;
            return;
        }
        switch (dwarf_tag(&child)) {
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
            add_call_site(walk->unit, &child);
            break;
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
            find_launches(walk, &child, depth + 1);
            break;
        default:
            break;
        }
    } while (symbols_dwarf_next(&child));
}

int symbols_dwarf_launch(struct symbols_unit *unit, uint64_t entry)
{
    struct index_walk walk = {.unit = unit, .budget = SYMBOLS_MAX_DIES};
    if (!unit->launches_known) {
        unit->launches_known = true;
        find_launches(&walk, &unit->content, 0);
    }
    for (size_t i = 0; i < unit->launch_count; i++)
        if (unit->launches[i].function == entry)
            return unit->launches[i].task;
    return -1;
}
