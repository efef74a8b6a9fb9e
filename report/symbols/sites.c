/* DWARF's call sites of a function. Machine code says more in most cases: clang describes no calls of the
 * OpenMP runtime. These say whom calls through a register go to where the compiler knew, and which jumps
 * through a register are calls rather than a switch. */
#include "report/symbols/sites.h"

#include <dwarf.h>
#include <string.h>

#include "report/symbols/dwarf.h"
#include "report/symbols/machine.h"
#include "report/symbols/inline.h"
#include "report/symbols/plt.h"
#include "report/text/grow.h"

struct site_walk {
    struct symbols_module *module;
    struct symbols_call_list *list;
};

static bool address_of(Dwarf_Die *die, unsigned name, uint64_t *address)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr value;
    if (dwarf_formaddr(dwarf_attr(die, name, &attribute), &value) != 0)
        return false;
    *address = value;
    return true;
}

/* The last byte of the calling instruction: producers give the address behind it, or where it begins. */
static bool last_byte(struct symbols_module *module, Dwarf_Die *site, uint64_t *vaddr)
{
    struct symbols_instruction instruction;
    size_t room;
    if (address_of(site, DW_AT_call_return_pc, vaddr) || address_of(site, DW_AT_low_pc, vaddr)) {
        (*vaddr)--;
        return true;
    }
    if (!address_of(site, DW_AT_call_pc, vaddr))
        return false;
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    const uint8_t *code = symbols_elf_bytes(module->main.elf, *vaddr, &room);
    if (!code || !machine || !machine->decode(code, room, *vaddr, &instruction))
        return false;
    *vaddr += instruction.bytes - 1;
    return true;
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag = false;
    return dwarf_formflag(dwarf_attr(die, name, &attribute), &flag) == 0 && flag;
}

static void fill_target(struct symbols_module *module, Dwarf_Die *site, struct symbol_call *call)
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

static void add_site(struct site_walk *walk, Dwarf_Die *site)
{
    uint64_t vaddr;
    struct symbols_call_list *list = walk->list;
    if (!last_byte(walk->module, site, &vaddr))
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->list[i].key == vaddr) {
            if (!list->list[i].target && (!list->list[i].name || !*list->list[i].name))
                fill_target(walk->module, site, &list->list[i]);
            return;
        }
    }
    if (grow_list(&list->list, &list->room, list->count, sizeof *list->list)) {
        struct symbol_call *call = &list->list[list->count++];
        *call = (struct symbol_call){.key = vaddr};
        call->tail = flag_of(site, DW_AT_call_tail_call) || flag_of(site, DW_AT_GNU_tail_call);
        fill_target(walk->module, site, call);
    }
}

static enum symbols_step visit_site(void *walk, Dwarf_Die *die, uint32_t *around)
{
    (void)around;
    switch (dwarf_tag(die)) {
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        add_site(walk, die);
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

void symbols_calls_dwarf(struct symbols_module *module, struct symbols_function *function,
                         struct symbols_call_list *list)
{
    struct site_walk walk = {.module = module, .list = list};
    symbols_dwarf_walk(&function->die, visit_site, &walk);
}
