/* This file runs in the signal handler, so the rules in sampler.c hold. Only lock_waits_name_critical(), and
 * the functions with which it searches for critical sections, run outside the handler. */
#include "ompt_tool/locks/lock_waits.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "ompt_tool/locks/lock_names.h"
#include "unwind/loadmap.h"

/* ---- names of critical sections ---- Finds the variable that names a critical section. libomp has the
 * section's lock on its own heap, and a pointer to the lock in a variable that the compiler named after the
 * section. The wait id that libomp reports is the lock's address. So this code finds such variables by their
 * names in the modules' symbol tables, and follows them to their locks. It does this once for each lock for
 * which a sample saw a wait. The end of the program would be too late, because by then libomp has freed the
 * locks. */

#define MAX_VARIABLES 1024u
#define BLOCK         128u  /* number of symbols that are read at once */
#define WINDOW        4096u /* number of bytes of symbol names that are read at once */
/* maximum number of file reads in one call of critical_names_find(); only the names of the last block may
 * need more */
#define READS 512u

static const char prefix[] = ".gomp_critical_user_";

static struct {
    /* process id of the process in which a thread is searching; 0: none. A forked child ignores its parent's
     * id. */
    int32_t busy;
    uint32_t modules; /* number of modules that have been read completely */
    uint32_t section; /* in the next module: index of the next section to read */
    /* in that section: number of symbols already read; the next call continues there */
    uint64_t symbol;
    uint32_t reads; /* number of reads that the current call may still make */
    uint32_t count;
    uint64_t keys[MAX_VARIABLES];
    uint64_t names_at; /* file position of the text in names[]; valid if names_bytes is not 0 */
    size_t names_bytes;
    char names[WINDOW];
} variables;

static ssize_t critical_read_some(int file, uint64_t offset, void *to, size_t bytes)
{
    variables.reads -= variables.reads > 0;
    return os_read_at(file, to, bytes, offset);
}

static bool critical_read(int file, uint64_t offset, void *to, size_t bytes)
{
    return critical_read_some(file, offset, to, bytes) == (ssize_t)bytes;
}

/* Returns true if the symbol may be the variable of a critical section: an int[8] by Clang, a pointer by GCC. */
static bool critical_symbol_may_be_one(const ElfW(Sym) * symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
           (symbol->st_size == 32 || symbol->st_size == sizeof(void *));
}

/* Returns true if the symbol's name, at this position in the file, has the prefix. The names of consecutive
 * symbols are mostly close together, so a whole window of names is read. */
static bool critical_symbol_has_prefix(int file, uint64_t offset)
{
    const size_t bytes = sizeof(prefix) - 1;
    if (offset < variables.names_at || offset + bytes > variables.names_at + variables.names_bytes) {
        ssize_t got = critical_read_some(file, offset, variables.names, WINDOW);
        variables.names_at = offset;
        variables.names_bytes = got > 0 ? (size_t)got : 0;
    }
    return bytes <= variables.names_bytes &&
           memcmp(variables.names + (offset - variables.names_at), prefix, bytes) == 0;
}

static void critical_add_variable(uint64_t key)
{
    for (uint32_t i = 0; i < variables.count; i++)
        if (variables.keys[i] == key)
            return; /* the same variable is both in .symtab and in .dynsym */
    if (variables.count < MAX_VARIABLES)
        variables.keys[variables.count++] = key;
}

/* Reads a symbol table. Returns false if the limit on reads was reached before the end. */
static bool critical_read_symbols(int file, uint32_t module_id, const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
    ElfW(Sym) block[BLOCK];
    uint64_t total = table->sh_size / sizeof(block[0]);
    while (variables.symbol < total) {
        size_t count = total - variables.symbol < BLOCK ? total - variables.symbol : BLOCK;
        if (!variables.reads)
            return false;
        if (!critical_read(file, table->sh_offset + variables.symbol * sizeof(block[0]), block,
                           count * sizeof(block[0])))
            return true;
        for (size_t i = 0; i < count; i++)
            if (critical_symbol_may_be_one(&block[i]) && block[i].st_name < strings->sh_size &&
                critical_symbol_has_prefix(file, strings->sh_offset + block[i].st_name))
                critical_add_variable(PROFILE_KEY(module_id, block[i].st_value));
        variables.symbol += count;
    }
    return true;
}

/* Reads the symbol tables of a module. Returns false if the limit on reads was reached before the end. */
static bool critical_read_sections(int file, uint32_t module_id)
{
    ElfW(Ehdr) header;
    if (!critical_read(file, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof(ElfW(Shdr)))
        return true;
    for (; variables.section < header.e_shnum; variables.section++, variables.symbol = 0) {
        ElfW(Shdr) table, strings;
        if (!variables.reads)
            return false;
        if (!critical_read(file, header.e_shoff + variables.section * sizeof(table), &table, sizeof(table)))
            return true;
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && table.sh_link < header.e_shnum &&
            critical_read(file, header.e_shoff + table.sh_link * sizeof(strings), &strings, sizeof(strings)) &&
            !critical_read_symbols(file, module_id, &table, &strings))
            return false;
    }
    return true;
}

/* Opens and reads a module. Returns false if the limit on reads was reached before the end. */
static bool critical_read_module(uint32_t module_id, const struct loadmap_module *module)
{
    int file = os_open_read(module->path);
    if (file < 0)
        return true;
    variables.names_bytes = 0;
    bool whole = critical_read_sections(file, module_id);
    os_close(file);
    return whole;
}

/* Reads the modules that have been added since the last call. Returns false if the limit on reads was reached
 * before the end. */
static bool critical_read_new_modules(void)
{
    uint32_t skip = PROFILE_MODULE_SYSTEM | PROFILE_MODULE_TOOL | PROFILE_MODULE_VDSO;
    variables.reads = READS;
    for (; variables.modules < loadmap_module_count();
         variables.modules++, variables.section = 0, variables.symbol = 0) {
        const struct loadmap_module *module = loadmap_module(variables.modules + 1);
        if (module && !(module->flags & skip) && !critical_read_module(variables.modules + 1, module))
            return false;
    }
    return true;
}

/* Returns the address of the lock to which a critical section's variable belongs; 0 if there is none. The
 * lock is the variable itself (libomp's direct locks, created with a hint), or the first word of what the
 * variable points to. */
static uintptr_t lock_of_critical_variable(uint64_t key)
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

static bool critical_names_enter(void)
{
    int32_t self = getpid(), seen = 0;
    return compare_exchange(&variables.busy, &seen, self) ||
           (seen != self && compare_exchange(&variables.busy, &seen, self));
}

/* Finds the variable of the critical section with this wait id. Sets *key to the variable's PROFILE_KEY, or
 * to 0 if there is none. Reads the symbol tables of new modules, with a few hundred file reads at most.
 * Returns false if another thread is searching, or if the variable was not found and there is more to read;
 * the caller must then try again later. */
static bool critical_names_find(uint64_t wait_id, uint64_t *key)
{
    *key = 0;
    if (!critical_names_enter())
        return false;
    bool all = critical_read_new_modules();
    for (uint32_t i = 0; i < variables.count && !*key; i++)
        if (lock_of_critical_variable(variables.keys[i]) == wait_id)
            *key = variables.keys[i];
    store_release(&variables.busy, 0);
    return all || *key;
}

/* ---- the waits ---- */

static bool lock_key_is_users(uint64_t lock_key)
{
    uint32_t kind = PROFILE_LOCK_KEY_KIND(lock_key);
    return kind == PROFILE_LOCK_LOCK || kind == PROFILE_LOCK_NEST_LOCK;
}

/* Returns the PROFILE_KEY of the call that initialised the lock; 0 if unknown. */
static uint64_t lock_initialiser_key(uint64_t lock_key)
{
    return lock_key_is_users(lock_key) ? lock_names_initialiser(PROFILE_LOCK_KEY_ID(lock_key)) : 0;
}

static struct profile_waits *lock_waits_record_of(struct thread *thread, uint64_t lock_key)
{
    uint64_t initialiser = lock_initialiser_key(lock_key);
    uint32_t node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_WAITS, lock_key);
    if (node_idx && initialiser)
        node_idx = tree_child(&thread->tree, node_idx, PROFILE_NODE_INITIALISER, initialiser);
    return node_idx ? (struct profile_waits *)tree_metric(&thread->tree, node_idx) : NULL;
}

struct profile_waits *lock_waits_note(struct thread *thread, uint64_t lock_key)
{
    struct profile_waits *waits = lock_waits_record_of(thread, lock_key);
    if (waits && !waits->searched && PROFILE_LOCK_KEY_KIND(lock_key) == PROFILE_LOCK_CRITICAL)
        thread->unnamed_critical = lock_key;
    return waits;
}

void lock_waits_sample(struct thread *thread, uint64_t lock_key, double p)
{
    struct profile_waits *waits = lock_waits_note(thread, lock_key);
    if (!waits)
        return;
    if (waits->waits == 0 || waits->last_wait != thread->line->acquisitions) {
        waits->last_wait = thread->line->acquisitions;
        waits->last_ns = 0;
        waits->waits++;
    }
    if (unlikely(p < 0) && waits->longest_ns == waits->last_ns)
        waits->longest_ns += p;
    waits->last_ns += p;
    waits->sum_ns += p;
    if (waits->last_ns > waits->longest_ns)
        waits->longest_ns = waits->last_ns;
}

/* This is called after the lock's release, so no thread is made to wait longer. */
void lock_waits_name_critical(struct thread *thread, uint64_t lock_key)
{
    thread->unnamed_critical = 0;
    if (!thread_enter_tool(thread))
        return;
    uint64_t variable;
    bool searched = critical_names_find(PROFILE_LOCK_KEY_ID(lock_key), &variable);
    struct profile_waits *waits = searched ? lock_waits_record_of(thread, lock_key) : NULL;
    if (waits)
        waits->searched = 1;
    if (waits && variable)
        tree_child(&thread->tree, tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_WAITS, lock_key),
                   PROFILE_NODE_VARIABLE, variable);
    thread_leave_tool(thread);
}
