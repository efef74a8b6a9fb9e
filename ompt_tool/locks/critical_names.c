#include "ompt_tool/locks/critical_names.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "cct/profile_format.h"
#include "unwind/loadmap.h"

#define MAX_VARIABLES 4096u
#define BLOCK         512u /* symbols read at once */

static const char prefix[] = ".gomp_critical_user_";

static struct {
    int32_t busy;     /* the process whose thread is here: a forked child is not kept out by its parent's */
    uint32_t modules; /* searched so far */
    uint32_t count;
    uint64_t keys[MAX_VARIABLES];
} variables;

static bool read_at(int file, uint64_t offset, void *to, size_t bytes)
{
    return os_read_at(file, to, bytes, offset) == (ssize_t)bytes;
}

/* Clang's variables are an int[8], GCC's a pointer. */
static bool may_be_critical(const ElfW(Sym) * symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
           (symbol->st_size == 32 || symbol->st_size == sizeof(void *));
}

static void add_variable(uint64_t key)
{
    for (uint32_t i = 0; i < variables.count; i++)
        if (variables.keys[i] == key)
            return; /* in .symtab and .dynsym */
    if (variables.count < MAX_VARIABLES)
        variables.keys[variables.count++] = key;
}

static void read_symbols(int file, uint32_t module_id, const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
    ElfW(Sym) block[BLOCK];
    uint64_t left = table->sh_size / sizeof(block[0]), offset = table->sh_offset;
    while (left > 0) {
        size_t count = left < BLOCK ? left : BLOCK;
        if (!read_at(file, offset, block, count * sizeof(block[0])))
            return;
        for (size_t i = 0; i < count; i++) {
            char name[sizeof(prefix) - 1];
            if (may_be_critical(&block[i]) && block[i].st_name < strings->sh_size &&
                read_at(file, strings->sh_offset + block[i].st_name, name, sizeof(name)) &&
                memcmp(name, prefix, sizeof(name)) == 0)
                add_variable(PROFILE_KEY(module_id, block[i].st_value));
        }
        left -= count;
        offset += count * sizeof(block[0]);
    }
}

static void read_module(uint32_t module_id, const struct loadmap_module *module)
{
    ElfW(Ehdr) header;
    int file = os_open_read(module->path);
    if (file < 0)
        return;
    if (read_at(file, 0, &header, sizeof(header)) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_shentsize == sizeof(ElfW(Shdr))) {
        for (uint32_t i = 0; i < header.e_shnum; i++) {
            ElfW(Shdr) table, strings;
            if (!read_at(file, header.e_shoff + i * sizeof(table), &table, sizeof(table)))
                break;
            if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
                table.sh_link < header.e_shnum &&
                read_at(file, header.e_shoff + table.sh_link * sizeof(strings), &strings, sizeof(strings)))
                read_symbols(file, module_id, &table, &strings);
        }
    }
    os_close(file);
}

static void read_new_modules(void)
{
    uint32_t skip = PROFILE_MODULE_SYSTEM | PROFILE_MODULE_TOOL | PROFILE_MODULE_VDSO;
    while (variables.modules < loadmap_module_count()) {
        const struct loadmap_module *module = loadmap_module(++variables.modules);
        if (module && !(module->flags & skip))
            read_module(variables.modules, module);
    }
}

/* The lock that the variable stands for: itself (libomp's direct locks, made with a hint), or the first word
 * of what it points to. */
static uintptr_t lock_of(uint64_t key)
{
    const struct loadmap_module *module = loadmap_module(PROFILE_KEY_MODULE(key));
    uintptr_t variable = module ? module->load_bias + PROFILE_KEY_VADDR(key) : 0;
    uintptr_t word, lock;
    if (!module || !os_copy_memory(&word, variable, sizeof(word)) || word == 0)
        return 0;
    if (word % sizeof(word) != 0 || !os_copy_memory(&lock, word, sizeof(lock)))
        return variable;
    return lock;
}

static bool enter(void)
{
    int32_t self = getpid(), seen = 0;
    return compare_exchange(&variables.busy, &seen, self) ||
           (seen != self && compare_exchange(&variables.busy, &seen, self));
}

bool critical_names_find(uint64_t wait_id, uint64_t *key)
{
    *key = 0;
    if (!enter())
        return false;
    read_new_modules();
    for (uint32_t i = 0; i < variables.count && !*key; i++)
        if (lock_of(variables.keys[i]) == wait_id)
            *key = variables.keys[i];
    store_release(&variables.busy, 0);
    return true;
}
