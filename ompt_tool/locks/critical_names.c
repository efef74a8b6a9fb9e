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

#define MAX_VARIABLES 1024u
#define BLOCK         128u /* symbols read at once */
#define WINDOW        4096u /* of names */
#define READS         512u /* of files, in one call; or a block's names more */

static const char prefix[] = ".gomp_critical_user_";

static struct {
    int32_t busy;     /* the process whose thread is here: a forked child is not kept out by its parent's */
    uint32_t modules; /* read so far */
    uint32_t section; /* of the next one, and of that */
    uint64_t symbol;  /* that many are read, too: the next call goes on there */
    uint32_t reads;   /* left to this call */
    uint32_t count;
    uint64_t keys[MAX_VARIABLES];
    uint64_t names_at; /* where in the file names[] are; names_bytes 0: nothing is there */
    size_t names_bytes;
    char names[WINDOW];
} variables;

static ssize_t read_some(int file, uint64_t offset, void *to, size_t bytes)
{
    variables.reads -= variables.reads > 0;
    return os_read_at(file, to, bytes, offset);
}

static bool read_at(int file, uint64_t offset, void *to, size_t bytes)
{
    return read_some(file, offset, to, bytes) == (ssize_t)bytes;
}

/* Clang's variables are an int[8], GCC's a pointer. */
static bool may_be_critical(const ElfW(Sym) * symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
           (symbol->st_size == 32 || symbol->st_size == sizeof(void *));
}

/* Symbols that follow one another have names that are near one another, mostly. */
static bool has_prefix(int file, uint64_t offset)
{
    const size_t bytes = sizeof(prefix) - 1;
    if (offset < variables.names_at || offset + bytes > variables.names_at + variables.names_bytes) {
        ssize_t got = read_some(file, offset, variables.names, WINDOW);
        variables.names_at = offset;
        variables.names_bytes = got > 0 ? (size_t)got : 0;
    }
    return bytes <= variables.names_bytes && memcmp(variables.names + (offset - variables.names_at), prefix, bytes) == 0;
}

static void add_variable(uint64_t key)
{
    for (uint32_t i = 0; i < variables.count; i++)
        if (variables.keys[i] == key)
            return; /* in .symtab and .dynsym */
    if (variables.count < MAX_VARIABLES)
        variables.keys[variables.count++] = key;
}

/* False: there is more. */
static bool read_symbols(int file, uint32_t module_id, const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
    ElfW(Sym) block[BLOCK];
    uint64_t total = table->sh_size / sizeof(block[0]);
    while (variables.symbol < total) {
        size_t count = total - variables.symbol < BLOCK ? total - variables.symbol : BLOCK;
        if (!variables.reads)
            return false;
        if (!read_at(file, table->sh_offset + variables.symbol * sizeof(block[0]), block, count * sizeof(block[0])))
            return true;
        for (size_t i = 0; i < count; i++)
            if (may_be_critical(&block[i]) && block[i].st_name < strings->sh_size &&
                has_prefix(file, strings->sh_offset + block[i].st_name))
                add_variable(PROFILE_KEY(module_id, block[i].st_value));
        variables.symbol += count;
    }
    return true;
}

/* False: there is more. */
static bool read_sections(int file, uint32_t module_id)
{
    ElfW(Ehdr) header;
    if (!read_at(file, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof(ElfW(Shdr)))
        return true;
    for (; variables.section < header.e_shnum; variables.section++, variables.symbol = 0) {
        ElfW(Shdr) table, strings;
        if (!variables.reads)
            return false;
        if (!read_at(file, header.e_shoff + variables.section * sizeof(table), &table, sizeof(table)))
            return true;
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && table.sh_link < header.e_shnum &&
            read_at(file, header.e_shoff + table.sh_link * sizeof(strings), &strings, sizeof(strings)) &&
            !read_symbols(file, module_id, &table, &strings))
            return false;
    }
    return true;
}

/* False: there is more. */
static bool read_module(uint32_t module_id, const struct loadmap_module *module)
{
    int file = os_open_read(module->path);
    if (file < 0)
        return true;
    variables.names_bytes = 0;
    bool whole = read_sections(file, module_id);
    os_close(file);
    return whole;
}

/* False: there is more. */
static bool read_new_modules(void)
{
    uint32_t skip = PROFILE_MODULE_SYSTEM | PROFILE_MODULE_TOOL | PROFILE_MODULE_VDSO;
    variables.reads = READS;
    for (; variables.modules < loadmap_module_count(); variables.modules++, variables.section = 0, variables.symbol = 0) {
        const struct loadmap_module *module = loadmap_module(variables.modules + 1);
        if (module && !(module->flags & skip) && !read_module(variables.modules + 1, module))
            return false;
    }
    return true;
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
    bool all = read_new_modules();
    for (uint32_t i = 0; i < variables.count && !*key; i++)
        if (lock_of(variables.keys[i]) == wait_id)
            *key = variables.keys[i];
    store_release(&variables.busy, 0);
    return all || *key;
}
