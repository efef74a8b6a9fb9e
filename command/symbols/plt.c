/* Finds what the dynamic loader resolves: slots of the global offset table, stubs of the procedure linkage
 * table, and exported functions. */
#include "command/symbols/plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "command/symbols/machine.h"
#include "command/text/grow.h"

static void symbols_plt_add_slots(struct symbols_module *module, const uint32_t types[2], Elf *elf, Elf_Scn *section,
                                  const GElf_Shdr *header)
{
    GElf_Shdr symbols_header;
    Elf_Scn *symbols_section = elf_getscn(elf, header->sh_link);
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Data *symbols =
        symbols_section && gelf_getshdr(symbols_section, &symbols_header) ? elf_getdata(symbols_section, NULL) : NULL;
    size_t count = data && symbols && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (!gelf_getrela(data, (int)i, &relocation))
            return;
        uint64_t type = GELF_R_TYPE(relocation.r_info);
        if ((type != types[0] && type != types[1]) ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
            continue;
        const char *name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
        if (!name || !*name ||
            !grow_list(&module->slots, &module->slot_room, module->slot_count, sizeof *module->slots))
            continue;
        module->slots[module->slot_count++] = (struct symbols_slot){.vaddr = relocation.r_offset, .name = name};
    }
}

static int symbols_plt_slot_order(const void *left, const void *right)
{
    const struct symbols_slot *a = left, *b = right;
    return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static void symbols_plt_load_slots(struct symbols_module *module)
{
    GElf_Shdr header;
    Elf *elf = symbols_module_open(module) ? module->main.elf : NULL;
    const struct symbols_machine *machine = elf ? symbols_machine_of(elf) : NULL;
    module->slots_known = true;
    for (Elf_Scn *section = NULL; machine && (section = symbols_elf_next(elf, section, SHT_RELA, &header));)
        if (header.sh_flags & SHF_ALLOC)
            symbols_plt_add_slots(module, machine->slot_types, elf, section, &header);
    if (module->slot_count)
        qsort(module->slots, module->slot_count, sizeof *module->slots, symbols_plt_slot_order);
}

size_t symbols_plt_slots(struct symbols_module *module, const struct symbols_slot **slots)
{
    if (!module->slots_known)
        symbols_plt_load_slots(module);
    *slots = module->slots;
    return module->slot_count;
}

const char *symbols_plt_slot(struct symbols_module *module, uint64_t slot)
{
    if (!module->slots_known)
        symbols_plt_load_slots(module);
    const struct symbols_slot wanted = {.vaddr = slot};
    const struct symbols_slot *found = module->slot_count ? bsearch(&wanted, module->slots, module->slot_count,
                                                                    sizeof *module->slots, symbols_plt_slot_order)
                                                          : NULL;
    return found ? found->name : NULL;
}

const char *symbols_plt_stub(struct symbols_module *module, uint64_t vaddr)
{
    size_t room;
    if (!symbols_module_open(module))
        return NULL;
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    const uint8_t *code = symbols_elf_bytes(module->main.elf, vaddr, &room);
    uint64_t slot = code && machine ? machine->stub_slot(code, room, vaddr) : 0;
    return slot ? symbols_plt_slot(module, slot) : NULL;
}

struct named_search {
    const char *name;
    uint64_t global, local;
    bool globals_differ, locals_differ;
};

static void symbols_plt_search_symbol_table(struct named_search *search, Elf *elf, Elf_Scn *section,
                                            const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF || !symbol.st_value || !name || strcmp(name, search->name) != 0 ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
        uint64_t *found = local ? &search->local : &search->global;
        bool differs = type == STT_GNU_IFUNC || (*found && *found != symbol.st_value);
        search->globals_differ |= differs && !local;
        search->locals_differ |= differs && local;
        *found = symbol.st_value;
    }
}

static void symbols_plt_search_file(struct named_search *search, Elf *elf, unsigned type)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = symbols_elf_next(elf, section, type, &header));)
        symbols_plt_search_symbol_table(search, elf, section, &header);
}

static uint64_t symbols_plt_search_function(struct symbols_module *module, const char *name)
{
    struct named_search search = {.name = name};
    symbols_plt_search_file(&search, module->main.elf, SHT_DYNSYM);
    if (!search.global) {
        symbols_plt_search_file(&search, module->main.elf, SHT_SYMTAB);
        symbols_plt_search_file(&search, module->debug.elf, SHT_SYMTAB);
    }
    if (search.global)
        return search.globals_differ ? 0 : search.global;
    return search.locals_differ ? 0 : search.local;
}

uint64_t symbols_calls_named(struct symbols_module *module, const char *name)
{
    if (!symbols_module_open(module))
        return 0;
    uint64_t key = hash_bytes(name, strlen(name));
    /* address + 1; a name that was not found is cached as 1 */
    uintptr_t known = (uintptr_t)symbols_map_find(&module->exports, key);
    if (!known) {
        known = symbols_plt_search_function(module, name) + 1;
        symbols_map_put(&module->exports, key, (void *)known);
    }
    return known - 1;
}
