/* Outlined functions of a module. In a module with symbols their names show them. In a stripped module, all
 * bytes are searched for calls of the OpenMP runtime, and every function with such a call is decoded
 * (calls.h). */
#include "command/symbols/bodies.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/symbols/calls.h"
#include "command/symbols/machine.h"
#include "command/symbols/demangle.h"
#include "command/symbols/plt.h"
#include "command/text/grow.h"

/* most stubs and slots of functions that receive a construct's function; there are about 60 */
#define MAX_GOALS 256
#define MAX_CODE  (1u << 29) /* most bytes searched */
#define STUB_STEP 8          /* alignment of stubs in linkage tables */

struct goals {
    uint64_t list[MAX_GOALS], low, high;
    size_t count;
};

static void add_goal(struct goals *goals, uint64_t vaddr)
{
    if (goals->count == MAX_GOALS)
        return;
    goals->low = vaddr < goals->low ? vaddr : goals->low;
    goals->high = vaddr > goals->high ? vaddr : goals->high;
    goals->list[goals->count++] = vaddr;
}

static bool is_goal(const struct goals *goals, uint64_t vaddr)
{
    for (size_t i = 0; i < goals->count; i++)
        if (goals->list[i] == vaddr)
            return true;
    return false;
}

static bool is_linkage(Elf *elf, const GElf_Shdr *header)
{
    size_t names;
    const char *name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header->sh_name) : NULL;
    return name && strncmp(name, ".plt", 4) == 0;
}

static void find_goals(struct symbols_module *module, struct goals *goals)
{
    const struct symbols_slot *slots;
    GElf_Shdr header;
    for (size_t i = symbols_plt_slots(module, &slots); i-- > 0;)
        if (symbols_launches(slots[i].name))
            add_goal(goals, slots[i].vaddr);
    for (Elf_Scn *section = NULL;
         goals->count && (section = symbols_elf_next(module->main.elf, section, SHT_PROGBITS, &header));) {
        size_t room; /* bytes in the file; a damaged header may claim more */
        bool there =
            is_linkage(module->main.elf, &header) && symbols_elf_bytes(module->main.elf, header.sh_addr, &room);
        uint64_t bytes = !there ? 0 : header.sh_size < room ? header.sh_size : room;
        for (uint64_t at = 0; at < bytes && at < MAX_CODE; at += STUB_STEP) {
            const char *name = symbols_plt_stub(module, header.sh_addr + at);
            if (name && symbols_launches(name))
                add_goal(goals, header.sh_addr + at);
        }
    }
}

/* Adds what the function with this entry passes to the runtime. */
static void take_function(struct symbols_module *module, uint64_t host)
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

static void search_code(struct symbols_module *module, const struct goals *goals, uint64_t vaddr, const uint8_t *code,
                        size_t size)
{
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    uint64_t target, last = 0;
    size_t at = 0;
    while (machine && (at = machine->next_site(code, size, at, vaddr, goals->low, goals->high, &target)) < size) {
        uint64_t host = is_goal(goals, target) ? symbols_calls_entry(module, vaddr + at) : 0;
        if (host && host != last)
            take_function(module, last = host);
        at += machine->call_bytes[0] == 4 ? 4 : 1;
    }
}

static int body_order(const void *left, const void *right)
{
    const struct symbols_body *a = left, *b = right;
    if (a->entry != b->entry)
        return a->entry < b->entry ? -1 : 1;
    return (a->host > b->host) - (a->host < b->host);
}

static void find_handed(struct symbols_module *module)
{
    struct goals goals = {.low = UINT64_MAX};
    GElf_Shdr header;
    module->handed_known = true;
    if (!symbols_module_open(module))
        return;
    find_goals(module, &goals);
    for (Elf_Scn *section = NULL;
         goals.count && (section = symbols_elf_next(module->main.elf, section, SHT_PROGBITS, &header));) {
        size_t room = 0, size = header.sh_size < MAX_CODE ? (size_t)header.sh_size : MAX_CODE;
        bool is_code = (header.sh_flags & SHF_EXECINSTR) && !is_linkage(module->main.elf, &header);
        const uint8_t *code = is_code ? symbols_elf_bytes(module->main.elf, header.sh_addr, &room) : NULL;
        if (code)
            search_code(module, &goals, header.sh_addr, code, room < size ? room : size);
    }
    if (module->handed_count)
        qsort(module->handed, module->handed_count, sizeof *module->handed, body_order);
}

const struct symbols_body *symbols_bodies_at(struct symbols_module *module, uint64_t entry)
{
    if (!module->handed_known)
        find_handed(module);
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

static void add_body(struct symbols_module *module, uint64_t entry)
{
    uint64_t key = PROFILE_KEY(module->id, entry);
    if (module->body_count && module->bodies[module->body_count - 1] == key)
        return; /* another name or another call of the same function */
    if (grow_list(&module->bodies, &module->body_room, module->body_count, sizeof *module->bodies))
        module->bodies[module->body_count++] = key;
}

static void find_bodies(struct symbols_module *module)
{
    module->bodies_known = true;
    symbols_module_function(module, module->code_low); /* loads the table */
    for (size_t i = 0; i < module->functions.count; i++) {
        const struct symbols_entry *entry = &module->functions.list[i];
        if (symbols_construct_parse(entry->name).kind != SYMBOL_PROCEDURE &&
            symbols_calls_entry(module, entry->start) == entry->start)
            add_body(module, entry->start);
    }
    if (module->body_count)
        return;
    symbols_bodies_at(module, 0); /* finds them */
    for (size_t i = 0; i < module->handed_count; i++)
        add_body(module, module->handed[i].entry);
}

size_t symbols_bodies_all(struct symbols_module *module, const uint64_t **keys)
{
    if (!module->bodies_known)
        find_bodies(module);
    *keys = module->bodies;
    return module->body_count;
}
