/* Finds which functions a function calls, jumps to at its end, or passes to the OpenMP runtime. For this, it
 * decodes all machine code of the function, and adds the call sites that DWARF describes.
 *
 * At a call, the value of a register is known if it is the same constant on all paths to the call. The code
 * is decoded again and again, until the values known at its labels (the targets of branches) no longer
 * change. If only jumps through registers lead to some code, no value is known there. */
#include "command/symbols/calls.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/symbols/dwarf.h"
#include "command/symbols/inline.h"
#include "command/symbols/machine.h"
#include "command/symbols/module.h"
#include "command/symbols/demangle.h"
#include "command/symbols/plt.h"
#include "command/symbols/unwind.h"
#include "command/text/grow.h"

/* ---- DWARF's call sites ---- */

/* A walk over the call sites that DWARF describes in a function. Usually machine code tells more; for
 * example, clang describes no calls of the OpenMP runtime. DWARF adds the targets of calls through registers,
 * if the compiler knew them. DWARF also tells which jumps through registers are calls and not switches. */

struct site_walk {
    struct symbols_module *module;
    struct symbols_call_list *list;
};

static bool symbols_call_site_address(Dwarf_Die *die, unsigned name, uint64_t *address)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr value;
    if (dwarf_formaddr(dwarf_attr(die, name, &attribute), &value) != 0)
        return false;
    *address = value;
    return true;
}

/* Finds the address of the last byte of a call instruction. Some compilers give the instruction's start in
 * DWARF, others the address after it. */
static bool symbols_call_site_last_byte(struct symbols_module *module, Dwarf_Die *site, uint64_t *vaddr)
{
    struct symbols_instruction instruction;
    size_t room;
    if (symbols_call_site_address(site, DW_AT_call_return_pc, vaddr) ||
        symbols_call_site_address(site, DW_AT_low_pc, vaddr)) {
        (*vaddr)--;
        return true;
    }
    if (!symbols_call_site_address(site, DW_AT_call_pc, vaddr))
        return false;
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    const uint8_t *code = symbols_elf_bytes(module->main.elf, *vaddr, &room);
    if (!code || !machine || !machine->decode(code, room, *vaddr, &instruction))
        return false;
    *vaddr += instruction.bytes - 1;
    return true;
}

static bool symbols_call_site_flag(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag = false;
    return dwarf_formflag(dwarf_attr(die, name, &attribute), &flag) == 0 && flag;
}

static void symbols_call_site_fill_target(struct symbols_module *module, Dwarf_Die *site, struct symbol_call *call)
{
    Dwarf_Attribute attribute;
    Dwarf_Die callee;
    Dwarf_Addr entry;
    bool linkage;
    Dwarf_Attribute *origin = dwarf_attr(site, DW_AT_call_origin, &attribute);
    if (!origin)
        origin = dwarf_attr(site, DW_AT_abstract_origin, &attribute);
    call->name = "";
    if (!origin || !dwarf_formref_die(origin, &callee))
        return;
    if (dwarf_entrypc(&callee, &entry) == 0 && entry >= module->code_low && entry < module->code_high) {
        call->target = entry;
        return;
    }
    const char *name = symbols_dwarf_raw(&callee, &linkage);
    call->target = *name ? symbols_calls_named(module, name) : 0;
    call->name = call->target ? "" : name;
}

static void symbols_call_sites_add(struct site_walk *walk, Dwarf_Die *site)
{
    uint64_t vaddr;
    struct symbols_call_list *list = walk->list;
    if (!symbols_call_site_last_byte(walk->module, site, &vaddr))
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->list[i].key == vaddr) {
            if (!list->list[i].target && (!list->list[i].name || !*list->list[i].name))
                symbols_call_site_fill_target(walk->module, site, &list->list[i]);
            return;
        }
    }
    if (grow_list(&list->list, &list->room, list->count, sizeof *list->list)) {
        struct symbol_call *call = &list->list[list->count++];
        *call = (struct symbol_call){.key = vaddr};
        call->tail =
            symbols_call_site_flag(site, DW_AT_call_tail_call) || symbols_call_site_flag(site, DW_AT_GNU_tail_call);
        symbols_call_site_fill_target(walk->module, site, call);
    }
}

static enum symbols_step symbols_call_sites_visit(void *walk, Dwarf_Die *die, uint32_t *around)
{
    (void)around;
    switch (dwarf_tag(die)) {
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        symbols_call_sites_add(walk, die);
        return SYMBOLS_SKIP;
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return SYMBOLS_ENTER;
    default:
        return SYMBOLS_SKIP;
    }
}

/* Adds two kinds of call sites from DWARF to `list`: indirect calls with a known target, and indirect jumps
 * that are calls. At this point, the list contains addresses instead of keys. */
static void symbols_calls_dwarf(struct symbols_module *module, struct symbols_function *function,
                                struct symbols_call_list *list)
{
    struct site_walk walk = {.module = module, .list = list};
    symbols_dwarf_walk(&function->die, symbols_call_sites_visit, &walk);
}

/* ---- machine code ---- */

#define MAX_RANGES 16
/* maximum number of labels in a function. A function with more is generated code, for which register values
 * are not tracked */
#define MAX_LABELS 65536
#define MAX_PASSES 16
#define REGISTERS  31 /* number of tracked registers, enough for every architecture */
/* maximum number of bytes of a compilation unit that are decoded to tell whether an outlined function is a
 * task */
#define MAX_LAUNCH_BYTES (4u << 20)

struct extent {
    uint64_t low, high;
};

struct label {
    uint64_t vaddr;
    bool reached;
    uint64_t value[REGISTERS]; /* for each register, its value on all paths to the label; 0: unknown */
};

struct sweep {
    struct symbols_module *module;
    const struct symbols_machine *machine;
    struct extent ranges[MAX_RANGES];
    size_t range_count;
    uint64_t entry;
    /* labels of the function, which are the targets of its branches, sorted by address */
    struct label *labels;
    size_t label_count, label_room;
    bool live, changed, record, follows;
    bool waits; /* whether the current instruction follows a label that no known path has reached yet */
    /* for each register, its value before the current instruction; valid only if `live` is set */
    uint64_t value[REGISTERS];
    struct symbols_call_list calls;
};

/* ---- the code ranges of a function ---- */

static struct symbols_function *symbols_function_in_dwarf_at(struct symbols_module *module, uint64_t vaddr)
{
    struct symbols_unit *unit = symbols_dwarf_unit(module, vaddr);
    return unit ? symbols_dwarf_function(unit, vaddr) : NULL;
}

/* Returns the entry of the function whose cold part has the symbol `name`. GCC gives a cold part a name such
 * as "solve.cold". Returns 0 if `name` is no such name. */
static uint64_t symbols_cold_part_entry(struct symbols_module *module, const char *name)
{
    const char *mark = strstr(name, ".cold");
    char hot[512];
    if (!mark || mark == name || (size_t)(mark - name) >= sizeof hot)
        return 0;
    memcpy(hot, name, (size_t)(mark - name));
    hot[mark - name] = '\0';
    return symbols_calls_named(module, hot);
}

static bool symbols_module_launches_constructs(struct symbols_module *module)
{
    const struct symbols_slot *slots;
    if (!module->launches_known) {
        module->launches_known = true;
        for (size_t i = symbols_plt_slots(module, &slots); i-- > 0 && !module->launches;)
            module->launches = symbols_launches(slots[i].name);
    }
    return module->launches;
}

/* Finds a function without a symbol in the unwind tables. Ignores linkage tables, which are also described
 * there. Searches only modules that use OpenMP, because the search is expensive. */
static bool symbols_find_function_without_symbol(struct symbols_module *module, uint64_t vaddr, struct extent *extent)
{
    return symbols_module_launches_constructs(module) &&
           symbols_unwind_extent(module, vaddr, &extent->low, &extent->high) && !symbols_plt_stub(module, extent->low);
}

uint64_t symbols_calls_entry(struct symbols_module *module, uint64_t vaddr)
{
    if (!symbols_module_open(module))
        return 0;
    struct symbols_function *function = symbols_function_in_dwarf_at(module, vaddr);
    if (function)
        return function->low;
    const struct symbols_entry *entry = symbols_module_function(module, vaddr);
    uint64_t hot = entry ? symbols_cold_part_entry(module, entry->name) : 0;
    struct extent extent;
    if (!entry && symbols_find_function_without_symbol(module, vaddr, &extent))
        return extent.low;
    return hot ? hot : entry && entry->size ? entry->start : 0;
}

static void symbols_sweep_find_code_ranges(struct sweep *sweep, struct symbols_function *function)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while (function && sweep->range_count < MAX_RANGES &&
           (offset = dwarf_ranges(&function->die, offset, &base, &start, &end)) > 0)
        if (start < end)
            sweep->ranges[sweep->range_count++] = (struct extent){start, end};
    if (sweep->range_count)
        return;
    const struct symbols_entry *entry = symbols_module_function(sweep->module, sweep->entry);
    struct extent extent;
    if (entry && entry->size && entry->start == sweep->entry)
        sweep->ranges[sweep->range_count++] = (struct extent){entry->start, entry->start + entry->size};
    else if (!entry && symbols_find_function_without_symbol(sweep->module, sweep->entry, &extent) &&
             extent.low == sweep->entry)
        sweep->ranges[sweep->range_count++] = extent;
}

static bool symbols_sweep_is_own_code_at(const struct sweep *sweep, uint64_t vaddr)
{
    for (size_t i = 0; i < sweep->range_count; i++)
        if (vaddr >= sweep->ranges[i].low && vaddr < sweep->ranges[i].high)
            return true;
    return false;
}

/* ---- values of registers ---- */

static int symbols_code_label_order(const void *left, const void *right)
{
    const struct label *a = left, *b = right;
    return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static struct label *symbols_sweep_find_code_label(struct sweep *sweep, uint64_t vaddr)
{
    struct label wanted = {.vaddr = vaddr};
    return sweep->label_count
               ? bsearch(&wanted, sweep->labels, sweep->label_count, sizeof *sweep->labels, symbols_code_label_order)
               : NULL;
}

static bool symbols_sweep_jumps_inside(const struct sweep *sweep, const struct symbols_instruction *instruction)
{
    return (instruction->flow == SYMBOLS_JUMP || instruction->flow == SYMBOLS_BRANCH) && !instruction->indirect &&
           symbols_sweep_is_own_code_at(sweep, instruction->target);
}

static void symbols_sweep_collect_label(struct sweep *sweep, uint64_t vaddr,
                                        const struct symbols_instruction *instruction)
{
    (void)vaddr;
    if (symbols_sweep_jumps_inside(sweep, instruction) && sweep->label_count < MAX_LABELS &&
        grow_list(&sweep->labels, &sweep->label_room, sweep->label_count, sizeof *sweep->labels))
        sweep->labels[sweep->label_count++] = (struct label){.vaddr = instruction->target};
}

static void symbols_sweep_sort_labels(struct sweep *sweep)
{
    size_t kept = 0;
    if (sweep->label_count)
        qsort(sweep->labels, sweep->label_count, sizeof *sweep->labels, symbols_code_label_order);
    for (size_t i = 0; i < sweep->label_count; i++)
        if (!kept || sweep->labels[kept - 1].vaddr != sweep->labels[i].vaddr)
            sweep->labels[kept++] = sweep->labels[i];
    sweep->label_count = kept;
}

static void symbols_sweep_forget_registers(struct sweep *sweep, uint32_t registers)
{
    for (unsigned i = 0; i < sweep->machine->registers; i++)
        if (registers & 1u << i)
            sweep->value[i] = 0;
}

/* Adds one more path to a label: keeps only the register values that are the same on the new path. */
static void symbols_sweep_reach_label(struct sweep *sweep, struct label *label)
{
    if (!label || !sweep->live)
        return;
    for (unsigned i = 0; i < sweep->machine->registers; i++) {
        uint64_t both = label->reached && label->value[i] != sweep->value[i] ? 0 : sweep->value[i];
        sweep->changed |= !label->reached || label->value[i] != both;
        label->value[i] = both;
    }
    label->reached = true;
}

/* Takes over the values at a label. Code without a label after a jump is reached in an unknown way, unless it only
 * fills the gap before the next label. */
static void symbols_sweep_arrive_at(struct sweep *sweep, uint64_t vaddr, bool fills)
{
    struct label *label = symbols_sweep_find_code_label(sweep, vaddr);
    symbols_sweep_reach_label(sweep, label);
    if (label) {
        sweep->live = label->reached;
        sweep->waits = !label->reached;
        memcpy(sweep->value, label->value, sizeof sweep->value);
    } else if (!sweep->live && !sweep->waits && !fills) {
        sweep->live = true;
        symbols_sweep_forget_registers(sweep, ~0u);
    }
}

/* Marks every label that no known path reaches as reached with unknown values. If `all` is set, marks every
 * label. Returns whether any label was marked. */
static bool symbols_sweep_give_up_labels(struct sweep *sweep, bool all)
{
    bool any = false;
    for (size_t i = 0; i < sweep->label_count; i++) {
        struct label *label = &sweep->labels[i];
        if (all || !label->reached) {
            *label = (struct label){.vaddr = label->vaddr, .reached = true};
            any = true;
        }
    }
    return any;
}

/* ---- calls, and the values of registers at them ---- */

static void symbols_sweep_fill_call_body(struct sweep *sweep, struct symbol_call *call)
{
    struct symbols_launch launch = symbols_launch_by(call->name);
    const int8_t *argument = sweep->machine->argument;
    uint64_t body = launch.argument >= 0 && sweep->follows ? sweep->value[argument[launch.argument]] : 0;
    call->launches = launch.argument >= 0 && launch.at_once;
    call->body = body && symbols_calls_entry(sweep->module, body) == body ? body : 0;
}

static bool symbols_sweep_fill_call(struct sweep *sweep, const struct symbols_instruction *instruction,
                                    struct symbol_call *call)
{
    struct symbols_module *module = sweep->module;
    call->name = "";
    if (instruction->indirect) {
        const char *name = instruction->target ? symbols_plt_slot(module, instruction->target) : NULL;
        /* A jump through a register may be a switch. Its name is NULL until DWARF shows a call site for it;
         * only then does it count as a call. */
        call->name = name ? name : call->tail && !instruction->target ? NULL : "";
        return true;
    }
    if (symbols_sweep_is_own_code_at(sweep, instruction->target)) {
        call->target = sweep->entry; /* recursion */
        return !call->tail && instruction->target == sweep->entry;
    }
    uint64_t entry = symbols_calls_entry(module, instruction->target);
    const char *name = entry == instruction->target ? NULL : symbols_plt_stub(module, instruction->target);
    if (name) {
        call->name = name;
        return true;
    }
    /* a jump to the middle of another function, or to the function's own cold part, is not a call */
    call->target = entry;
    return entry && (!call->tail || (entry == instruction->target && entry != sweep->entry));
}

static void symbols_sweep_note_call(struct sweep *sweep, uint64_t vaddr, const struct symbols_instruction *instruction)
{
    struct symbol_call call = {.key = vaddr + instruction->bytes - 1, .tail = instruction->flow != SYMBOLS_CALL};
    if (!symbols_sweep_fill_call(sweep, instruction, &call))
        return;
    if (call.name)
        symbols_sweep_fill_call_body(sweep, &call);
    if (grow_list(&sweep->calls.list, &sweep->calls.room, sweep->calls.count, sizeof *sweep->calls.list))
        sweep->calls.list[sweep->calls.count++] = call;
}

static void symbols_sweep_follow(struct sweep *sweep, uint64_t vaddr, const struct symbols_instruction *instruction)
{
    symbols_sweep_arrive_at(sweep, vaddr, instruction->fills);
    if (sweep->record &&
        (instruction->flow == SYMBOLS_CALL || instruction->flow == SYMBOLS_JUMP || instruction->flow == SYMBOLS_BRANCH))
        symbols_sweep_note_call(sweep, vaddr, instruction);
    if (symbols_sweep_jumps_inside(sweep, instruction))
        symbols_sweep_reach_label(sweep, symbols_sweep_find_code_label(sweep, instruction->target));
    uint64_t value = instruction->value;
    if (instruction->from >= 0)
        value = sweep->value[instruction->from] ? sweep->value[instruction->from] + value : 0;
    symbols_sweep_forget_registers(sweep, instruction->flow == SYMBOLS_CALL ? ~sweep->machine->preserved
                                                                            : instruction->written);
    if (instruction->to >= 0)
        sweep->value[instruction->to] = value;
    if (instruction->flow == SYMBOLS_JUMP || instruction->flow == SYMBOLS_END)
        sweep->live = sweep->waits = false;
}

static void symbols_sweep_decode_all(struct sweep *sweep,
                                     void (*visit)(struct sweep *, uint64_t, const struct symbols_instruction *))
{
    sweep->changed = false;
    for (size_t i = 0; i < sweep->range_count; i++) {
        size_t room;
        uint64_t vaddr = sweep->ranges[i].low, size = sweep->ranges[i].high - vaddr;
        const uint8_t *code = symbols_elf_bytes(sweep->module->main.elf, vaddr, &room);
        room = room < size ? room : (size_t)size;
        struct symbols_instruction instruction;
        sweep->live = sweep->waits = false;
        while (code && room && sweep->machine->decode(code, room, vaddr, &instruction)) {
            visit(sweep, vaddr, &instruction);
            code += instruction.bytes;
            room -= instruction.bytes;
            vaddr += instruction.bytes;
        }
    }
}

static void symbols_sweep_read_code(struct sweep *sweep)
{
    int passes = 0;
    symbols_sweep_decode_all(sweep, symbols_sweep_collect_label);
    sweep->follows = sweep->label_count < MAX_LABELS;
    symbols_sweep_sort_labels(sweep);
    do {
        symbols_sweep_decode_all(sweep, symbols_sweep_follow);
    } while (sweep->follows && ++passes < MAX_PASSES && (sweep->changed || symbols_sweep_give_up_labels(sweep, false)));
    symbols_sweep_give_up_labels(sweep, passes == MAX_PASSES);
    sweep->record = true;
    symbols_sweep_decode_all(sweep, symbols_sweep_follow);
}

/* ---- results ---- */

/* Removes the jumps that have not turned out to be calls, and converts addresses to keys. */
static struct symbols_call_list *symbols_sweep_finish_calls(struct sweep *sweep)
{
    struct symbols_module *module = sweep->module;
    struct symbols_call_list *list = pool_alloc(module->pool, sizeof *list);
    struct symbol_call *kept = list ? pool_alloc(module->pool, (sweep->calls.count + 1) * sizeof *kept) : NULL;
    if (!kept)
        return NULL;
    for (size_t i = 0; i < sweep->calls.count; i++) {
        struct symbol_call call = sweep->calls.list[i];
        if (!call.name)
            continue;
        call.key = PROFILE_KEY(module->id, call.key);
        call.target = call.target ? PROFILE_KEY(module->id, call.target) : 0;
        call.body = call.body ? PROFILE_KEY(module->id, call.body) : 0;
        kept[list->count++] = call;
    }
    list->list = kept;
    return list;
}

const struct symbols_call_list *symbols_calls_of(struct symbols_module *module, uint64_t entry)
{
    struct symbols_call_list *known = symbols_map_find(&module->calls, entry);
    if (known || !symbols_module_open(module))
        return known;
    struct sweep sweep = {.module = module, .entry = entry};
    struct symbols_function *function = symbols_function_in_dwarf_at(module, entry);
    symbols_sweep_find_code_ranges(&sweep, function);
    sweep.machine = symbols_machine_of(module->main.elf);
    if (sweep.machine)
        symbols_sweep_read_code(&sweep);
    if (function)
        symbols_calls_dwarf(module, function, &sweep.calls);
    known = symbols_sweep_finish_calls(&sweep);
    free(sweep.labels);
    free(sweep.calls.list);
    if (known)
        symbols_map_put(&module->calls, entry, known);
    return known;
}

/* Recognises a call only from the bytes before its return address, which is enough for most calls. */
static bool symbols_call_by_bytes(struct symbols_module *module, uint64_t returns, struct symbol_call *call)
{
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    for (size_t i = 0; machine && i < 2 && machine->call_bytes[i]; i++) {
        struct symbols_instruction instruction;
        size_t room;
        uint64_t vaddr = returns - machine->call_bytes[i];
        const uint8_t *code = symbols_elf_bytes(module->main.elf, vaddr, &room);
        if (!code || !machine->decode(code, room, vaddr, &instruction) || instruction.bytes != machine->call_bytes[i] ||
            instruction.flow != SYMBOLS_CALL || instruction.indirect != (i == 1) || !instruction.target)
            continue;
        if (!instruction.indirect && symbols_calls_entry(module, instruction.target) == instruction.target) {
            call->target = PROFILE_KEY(module->id, instruction.target);
            return true;
        }
        const char *name = instruction.indirect ? symbols_plt_slot(module, instruction.target)
                                                : symbols_plt_stub(module, instruction.target);
        if (name) {
            call->name = name;
            return !symbols_launches(name);
        }
    }
    return false;
}

static bool symbols_call_by_function(struct symbols_module *module, uint64_t vaddr, struct symbol_call *call)
{
    uint64_t entry = symbols_calls_entry(module, vaddr);
    const struct symbols_call_list *list = entry ? symbols_calls_of(module, entry) : NULL;
    for (size_t i = 0; list && i < list->count; i++) {
        if (PROFILE_KEY_VADDR(list->list[i].key) == vaddr && !list->list[i].tail) {
            *call = list->list[i];
            return true;
        }
    }
    return false;
}

const struct symbol_call *symbols_calls_at(struct symbols_module *module, uint64_t vaddr)
{
    struct symbol_call *call = symbols_map_find(&module->sites, vaddr);
    if (call || !symbols_module_open(module) || !(call = pool_alloc(module->pool, sizeof *call)))
        return call;
    *call = (struct symbol_call){.key = PROFILE_KEY(module->id, vaddr), .name = ""};
    if (!symbols_call_by_bytes(module, vaddr + 1, call))
        symbols_call_by_function(module, vaddr, call);
    symbols_map_put(&module->sites, vaddr, call);
    return call;
}

int symbols_calls_launch(struct symbols_module *module, struct symbols_unit *unit, uint64_t entry)
{
    uint64_t wanted = PROFILE_KEY(module->id, entry), budget = MAX_LAUNCH_BYTES;
    for (size_t i = 0; i < unit->ranges.count; i++) {
        const struct symbols_range *range = &unit->ranges.list[i];
        const struct symbols_function *function = &unit->functions[range->index];
        if (!function->low || range->low != function->low || range->high - range->low > budget)
            continue;
        budget -= range->high - range->low;
        const struct symbols_call_list *list = symbols_calls_of(module, function->low);
        for (size_t c = 0; list && c < list->count; c++)
            if (list->list[c].body == wanted && symbols_launches(list->list[c].name))
                return symbols_launch_by(list->list[c].name).kind == SYMBOL_TASK;
    }
    return -1;
}
