/* Finds the functions that the compiler outlined from a module's OpenMP constructs. In a module with symbols,
 * they are recognised by their names. In a stripped module, all code is searched for calls of the OpenMP
 * runtime, and each function with such a call is decoded (calls.h). */
#include "command/symbols/bodies.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/symbols/calls.h"
#include "command/symbols/machine.h"
#include "command/symbols/demangle.h"
#include "command/symbols/plt.h"
#include "command/text/grow.h"

/* maximum number of addresses to search for: stubs and slots of the runtime functions to which a construct's
 * function is passed. There are about 60 such functions */
#define MAX_GOALS 256
#define MAX_CODE  (1u << 29) /* maximum number of bytes that are searched */
#define STUB_STEP 8          /* alignment of stubs in the procedure linkage table, in bytes */

struct goals {
    uint64_t list[MAX_GOALS], low, high;
    size_t count;
};

static void symbols_bodies_add_goal(struct goals *goals, uint64_t vaddr)
{
    if (goals->count == MAX_GOALS)
        return;
    goals->low = vaddr < goals->low ? vaddr : goals->low;
    goals->high = vaddr > goals->high ? vaddr : goals->high;
    goals->list[goals->count++] = vaddr;
}

static bool symbols_bodies_is_goal(const struct goals *goals, uint64_t vaddr)
{
    for (size_t i = 0; i < goals->count; i++)
        if (goals->list[i] == vaddr)
            return true;
    return false;
}

static bool symbols_bodies_is_linkage_table(Elf *elf, const GElf_Shdr *header)
{
    size_t names;
    const char *name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header->sh_name) : NULL;
    return name && strncmp(name, ".plt", 4) == 0;
}

static void symbols_bodies_find_goals(struct symbols_module *module, struct goals *goals)
{
    const struct symbols_slot *slots;
    GElf_Shdr header;
    for (size_t i = symbols_plt_slots(module, &slots); i-- > 0;)
        if (symbols_launches(slots[i].name))
            symbols_bodies_add_goal(goals, slots[i].vaddr);
    for (Elf_Scn *section = NULL;
         goals->count && (section = symbols_elf_next(module->main.elf, section, SHT_PROGBITS, &header));) {
        /* number of bytes from the start of the section to the end of its segment in the file; the header of
         * a damaged file may claim more */
        size_t room;
        bool there = symbols_bodies_is_linkage_table(module->main.elf, &header) &&
                     symbols_elf_bytes(module->main.elf, header.sh_addr, &room);
        uint64_t bytes = !there ? 0 : header.sh_size < room ? header.sh_size : room;
        for (uint64_t at = 0; at < bytes && at < MAX_CODE; at += STUB_STEP) {
            const char *name = symbols_plt_stub(module, header.sh_addr + at);
            if (name && symbols_launches(name))
                symbols_bodies_add_goal(goals, header.sh_addr + at);
        }
    }
}

/* Decodes the function that starts at `host`, and adds the functions that it passes to the runtime. */
static void symbols_bodies_take_function(struct symbols_module *module, uint64_t host)
{
    const struct symbols_call_list *calls = host ? symbols_calls_of(module, host) : NULL;
    for (size_t i = 0; calls && i < calls->count; i++) {
        const struct symbol_call *call = &calls->list[i];
        if (call->body &&
            grow_list(&module->handed, &module->handed_room, module->handed_count, sizeof *module->handed))
            module->handed[module->handed_count++] =
                (struct symbols_body){.entry = PROFILE_KEY_VADDR(call->body),
                                      .host = host,
                                      .task = symbols_launch_by(call->name).kind == SYMBOL_TASK};
    }
}

static void symbols_bodies_search_code(struct symbols_module *module, const struct goals *goals, uint64_t vaddr,
                                       const uint8_t *bytes, size_t size)
{
    const struct symbols_code code = {bytes, size, vaddr, goals->low, goals->high};
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    uint64_t target, last = 0;
    size_t at = 0;
    while (machine && (at = machine->next_site(&code, at, &target)) < size) {
        uint64_t host = symbols_bodies_is_goal(goals, target) ? symbols_calls_entry(module, vaddr + at) : 0;
        if (host && host != last)
            symbols_bodies_take_function(module, last = host);
        at += machine->call_bytes[0] == 4 ? 4 : 1;
    }
}

static int symbols_bodies_order(const void *left, const void *right)
{
    const struct symbols_body *a = left, *b = right;
    if (a->entry != b->entry)
        return a->entry < b->entry ? -1 : 1;
    return (a->host > b->host) - (a->host < b->host);
}

static void symbols_bodies_find_handed(struct symbols_module *module)
{
    struct goals goals = {.low = UINT64_MAX};
    GElf_Shdr header;
    module->handed_known = true;
    if (!symbols_module_open(module))
        return;
    symbols_bodies_find_goals(module, &goals);
    for (Elf_Scn *section = NULL;
         goals.count && (section = symbols_elf_next(module->main.elf, section, SHT_PROGBITS, &header));) {
        size_t room = 0, size = header.sh_size < MAX_CODE ? (size_t)header.sh_size : MAX_CODE;
        bool is_code = (header.sh_flags & SHF_EXECINSTR) && !symbols_bodies_is_linkage_table(module->main.elf, &header);
        const uint8_t *code = is_code ? symbols_elf_bytes(module->main.elf, header.sh_addr, &room) : NULL;
        if (code)
            symbols_bodies_search_code(module, &goals, header.sh_addr, code, room < size ? room : size);
    }
    if (module->handed_count)
        qsort(module->handed, module->handed_count, sizeof *module->handed, symbols_bodies_order);
}

const struct symbols_body *symbols_bodies_at(struct symbols_module *module, uint64_t entry)
{
    if (!module->handed_known)
        symbols_bodies_find_handed(module);
    size_t low = 0, high = module->handed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->handed[middle].entry < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->handed_count && module->handed[low].entry == entry ? &module->handed[low] : NULL;
}

static void symbols_bodies_add(struct symbols_module *module, uint64_t entry)
{
    uint64_t key = PROFILE_KEY(module->id, entry);
    if (module->body_count && module->bodies[module->body_count - 1] == key)
        return; /* the function is already known, from another symbol or from another call that passes it */
    if (grow_list(&module->bodies, &module->body_room, module->body_count, sizeof *module->bodies))
        module->bodies[module->body_count++] = key;
}

static void symbols_bodies_find(struct symbols_module *module)
{
    module->bodies_known = true;
    symbols_module_function(module, module->code_low); /* called only to load the symbol table */
    for (size_t i = 0; i < module->functions.count; i++) {
        const struct symbols_entry *entry = &module->functions.list[i];
        if (symbols_construct_parse(entry->name).kind != SYMBOL_PROCEDURE &&
            symbols_calls_entry(module, entry->start) == entry->start)
            symbols_bodies_add(module, entry->start);
    }
    if (module->body_count)
        return;
    symbols_bodies_at(module, 0); /* called only to fill module->handed */
    for (size_t i = 0; i < module->handed_count; i++)
        symbols_bodies_add(module, module->handed[i].entry);
}

size_t symbols_bodies_all(struct symbols_module *module, const uint64_t **keys)
{
    if (!module->bodies_known)
        symbols_bodies_find(module);
    *keys = module->bodies;
    return module->body_count;
}
