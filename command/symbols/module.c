/* Finds the files of a module: the module itself, its separate debug file, and the file to which dwz moved
 * what several debug files have in common.
 *
 * This unit never uses the network. The client of debuginfod is in libdwfl (dwfl_standard_find_debuginfo and
 * similar functions), and this unit uses only libelf and libdw. It opens files at the paths below, and passes
 * them to dwarf_begin_elf. tests/unit/test_symbols.c checks that libdebuginfod is not even loaded. */
#include "command/symbols/module.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/image_path.h"
#include "cct/profile_format.h"

#define DEBUG_ROOT    "/usr/lib/debug"
#define MAX_IMPORTERS 64 /* maximum number of the program's own modules whose imported names are read */

static const char *debug_root = DEBUG_ROOT;

void symbols_module_debug_root(const char *directory)
{
    debug_root = directory ? directory : DEBUG_ROOT;
}

const char *symbols_hex(struct pool *pool, const void *data, size_t bytes)
{
    const uint8_t *byte = data;
    char *digits = pool_alloc(pool, 2 * bytes + 1);
    for (size_t i = 0; digits && i < bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", byte[i]);
    return digits ? digits : "";
}

void symbols_module_stat(const struct symbols_module *module, struct symbols_source *source)
{
    struct stat status;
    *source = (struct symbols_source){.named = true};
    if (module->main.fd >= 0 && fstat(module->main.fd, &status) == 0) {
        source->size = (uint64_t)status.st_size;
        source->mtime_ns = status.st_mtim.tv_sec * 1000000000ll + status.st_mtim.tv_nsec;
    }
}

/* Returns whether the file is the measured one. Names from another build would be wrong, and nobody would
 * notice. If there is no build id but names are stored, the size and time of the file must be unchanged. */
static bool symbols_module_is_same_build(struct symbols_module *module)
{
    const struct profile_module *record = module->record;
    size_t bytes = record->build_id_bytes;
    struct symbols_source now;
    if (bytes > sizeof record->build_id)
        bytes = sizeof record->build_id;
    if (bytes && symbols_elf_same_build(module->main.elf, record->build_id, bytes))
        return true;
    if (bytes)
        return false;
    symbols_module_stat(module, &now);
    return !module->source || (now.size == module->source->size && now.mtime_ns == module->source->mtime_ns);
}

static bool symbols_module_open_running(struct symbols_module *module)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)module->running);
    if (!module->running || !module->record->build_id_bytes || !symbols_elf_open(&module->main, path))
        return false;
    if (!symbols_module_is_same_build(module))
        symbols_elf_close(&module->main);
    return module->main.elf != NULL;
}

/* Opens the copy of a file that was deleted before the program ended. The measurement made the copy. */
static bool symbols_module_open_copy(struct symbols_module *module)
{
    char path[PATH_MAX];
    if (!module->measurement || !image_path(path, sizeof path, module->measurement, module->id) ||
        !symbols_elf_open(&module->main, path))
        return false;
    if (!symbols_module_is_same_build(module))
        symbols_elf_close(&module->main);
    return module->main.elf != NULL;
}

bool symbols_module_open(struct symbols_module *module)
{
    const struct profile_module *record = module->record;
    if (module->opened)
        return module->main.elf != NULL;
    module->opened = true;
    module->code_high = UINT64_MAX;
    module->build_now = "";
    if (record->flags & PROFILE_MODULE_PYTHON)
        return false; /* there is no ELF file: the module record itself contains everything */
    if (record->flags & PROFILE_MODULE_VDSO) {
        symbols_elf_open_vdso(&module->main);
    } else if (!symbols_module_open_copy(module) && !(record->flags & PROFILE_MODULE_PATH_CUT)) {
        const char *path = pool_text(module->pool, "%.*s", (int)sizeof record->path, record->path);
        if (strncmp(path, "/proc/", strlen("/proc/")) != 0) /* a path in /proc would refer to this process */
            symbols_elf_open(&module->main, path);
    }
    module->found = module->main.elf ? SYMBOLS_SAME_BUILD : SYMBOLS_NO_FILE;
    if (module->main.elf && !symbols_module_is_same_build(module)) {
        const void *id;
        ssize_t bytes = dwelf_elf_gnu_build_id(module->main.elf, &id);
        module->found = SYMBOLS_OTHER_BUILD;
        module->build_now = symbols_hex(module->pool, id, bytes > 0 ? (size_t)bytes : 0);
        symbols_elf_close(&module->main);
    }
    if (!module->main.elf && symbols_module_open_running(module))
        module->found = SYMBOLS_SAME_BUILD;
    if (module->main.elf && !symbols_elf_code_range(module->main.elf, &module->code_low, &module->code_high))
        symbols_elf_close(&module->main);
    return module->main.elf != NULL;
}

static bool symbols_elf_has_debug_info(Elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *section = symbols_elf_section(elf, ".debug_info", &header);
    if (!section)
        section = symbols_elf_section(elf, ".zdebug_info", &header);
    return section && header.sh_type != SHT_NOBITS;
}

/* Returns <root>/.build-id/ab/cdef....debug, or "" if the build id is too short or too long. */
static const char *symbols_build_id_path(struct symbols_module *module, const uint8_t *build_id, ssize_t bytes)
{
    if (bytes < 2 || bytes > 64)
        return "";
    const char *digits = symbols_hex(module->pool, build_id, (size_t)bytes);
    return pool_text(module->pool, "%s/.build-id/%.2s/%s.debug", debug_root, digits, digits + 2);
}

static bool symbols_debug_file_crc_matches(const struct symbols_elf *file, uint32_t expected)
{
    size_t bytes;
    const void *data = elf_rawfile(file->elf, &bytes);
    return data && crc32_z(0, data, bytes) == expected;
}

/* Opens a debug file if it belongs to the module. This is checked by the build id if possible. The CRC is
 * less reliable, and computing it requires reading the whole file. */
static bool symbols_open_debug_file(struct symbols_module *module, const char *path, const uint32_t *crc)
{
    const void *main_id, *debug_id;
    if (!*path || !symbols_elf_open(&module->debug, path))
        return false;
    ssize_t main_bytes = dwelf_elf_gnu_build_id(module->main.elf, &main_id);
    ssize_t debug_bytes = dwelf_elf_gnu_build_id(module->debug.elf, &debug_id);
    bool same = main_bytes > 0 && debug_bytes > 0
                    ? main_bytes == debug_bytes && memcmp(main_id, debug_id, (size_t)main_bytes) == 0
                    : crc && symbols_debug_file_crc_matches(&module->debug, *crc);
    if (!same)
        symbols_elf_close(&module->debug);
    return module->debug.elf != NULL;
}

static bool symbols_open_debuglink_from(struct symbols_module *module, const char *path, const char *link, uint32_t crc)
{
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) : 1;
    const char *from = slash ? path : ".";
    const char *candidate = pool_text(module->pool, "%.*s/%s", directory, from, link);
    if (strcmp(candidate, path) != 0 && symbols_open_debug_file(module, candidate, &crc))
        return true;
    candidate = pool_text(module->pool, "%.*s/.debug/%s", directory, from, link);
    if (symbols_open_debug_file(module, candidate, &crc))
        return true;
    candidate = pool_text(module->pool, "%s%.*s/%s", debug_root, directory, from, link);
    return slash && symbols_open_debug_file(module, candidate, &crc);
}

static bool symbols_open_debuglink(struct symbols_module *module)
{
    GElf_Word crc;
    char real_path[PATH_MAX];
    const char *link = dwelf_elf_gnu_debuglink(module->main.elf, &crc);
    if (!link || !*link || strchr(link, '/'))
        return false;
    return symbols_open_debuglink_from(module, module->main.path, link, crc) ||
           (realpath(module->main.path, real_path) && strcmp(real_path, module->main.path) != 0 &&
            symbols_open_debuglink_from(module, pool_text(module->pool, "%s", real_path), link, crc));
}

/* Opens the file to which dwz moved what several debug files have in common. If this file is missing, only
 * the names in it are unknown. */
static void symbols_open_dwz_file(struct symbols_module *module, const struct symbols_elf *owner)
{
    const char *name;
    const void *build_id;
    ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(module->dwarf, &name, &build_id);
    if (bytes <= 0)
        return;
    const char *slash = strrchr(owner->path, '/');
    const char *paths[] = {
        name[0] == '/' || !slash ? pool_text(module->pool, "%s", name)
                                 : pool_text(module->pool, "%.*s/%s", (int)(slash - owner->path), owner->path, name),
        symbols_build_id_path(module, build_id, bytes),
    };
    for (size_t i = 0; i < 2 && !module->alternate.elf; i++)
        if (*paths[i] && symbols_elf_open(&module->alternate, paths[i]) &&
            !symbols_elf_same_build(module->alternate.elf, build_id, (size_t)bytes))
            symbols_elf_close(&module->alternate);
    if (module->alternate.elf) {
        module->alternate_dwarf = dwarf_begin_elf(module->alternate.elf, DWARF_C_READ, NULL);
        dwarf_setalt(module->dwarf, module->alternate_dwarf);
    }
}

static bool symbols_elf_has_symbol_table(Elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *section = elf ? symbols_elf_section(elf, ".symtab", &header) : NULL;
    return section && header.sh_type == SHT_SYMTAB;
}

static bool symbols_path_is_below(const char *path, const char *folder, size_t bytes)
{
    return bytes && strncmp(path, folder, bytes) == 0;
}

/* Returns whether the module is a system library: in the directory that contains the debug root (/usr/lib),
 * in a directory whose path starts with the same characters (/usr/lib64), or below /lib. */
static bool symbols_module_is_system_library(const struct symbols_module *module)
{
    const char *path = module->record->path, *slash = strrchr(debug_root, '/');
    return !(module->record->flags & PROFILE_MODULE_EXECUTABLE) &&
           (symbols_path_is_below(path, debug_root, (size_t)(slash - debug_root)) ||
            symbols_path_is_below(path, "/lib", strlen("/lib")));
}

/* Returns whether to ignore the module's debug information. It is ignored for a system library whose debug
 * file, below the debug root, has a symbol table. There, DWARF would only add lines to code that users do not
 * change, and take the longest to read. */
static bool symbols_module_debug_is_unwanted(const struct symbols_module *module)
{
    return symbols_module_is_system_library(module) && symbols_elf_has_symbol_table(module->debug.elf) &&
           symbols_path_is_below(module->debug.path, debug_root, strlen(debug_root));
}

/* Returns the file that contains debug information, or NULL if there is none or it is ignored. Does not read
 * the debug sections, which can be large and compressed. */
static const struct symbols_elf *symbols_module_find_debug_info(struct symbols_module *module)
{
    if (module->debug_info_sought || !symbols_module_open(module))
        return module->debug_info;
    module->debug_info_sought = true;
    const struct symbols_elf *owner = &module->main;
    if (!symbols_elf_has_debug_info(owner->elf)) {
        const void *build_id;
        ssize_t bytes = dwelf_elf_gnu_build_id(module->main.elf, &build_id);
        const char *path = bytes > 0 ? symbols_build_id_path(module, build_id, bytes) : "";
        if (module->main.fd < 0 || (!symbols_open_debug_file(module, path, NULL) && !symbols_open_debuglink(module)))
            return NULL;
        if (symbols_module_debug_is_unwanted(module))
            return NULL;
        owner = &module->debug;
    }
    return module->debug_info = symbols_elf_has_debug_info(owner->elf) ? owner : NULL;
}

Dwarf *symbols_module_dwarf(struct symbols_module *module)
{
    const struct symbols_elf *owner = symbols_module_find_debug_info(module);
    if (module->dwarf_tried || !owner)
        return module->dwarf;
    module->dwarf_tried = true;
    module->dwarf = dwarf_begin_elf(owner->elf, DWARF_C_READ, NULL);
    if (module->dwarf)
        symbols_open_dwz_file(module, owner);
    return module->dwarf;
}

enum symbols_level symbols_module_level(struct symbols_module *module)
{
    if (symbols_module_find_debug_info(module))
        return SYMBOLS_LEVEL_DEBUG;
    return symbols_elf_has_symbol_table(module->main.elf) || symbols_elf_has_symbol_table(module->debug.elf)
               ? SYMBOLS_LEVEL_SYMBOLS
               : SYMBOLS_LEVEL_EXPORTS;
}

/* Reads which names the program's own modules import. What system libraries import does not matter to the
 * program. */
static void symbols_module_load_imports(struct symbols_imports *imports)
{
    imports->known = true;
    for (size_t i = 0, read = 0; i < imports->module_count && read < MAX_IMPORTERS; i++) {
        struct symbols_module *module = &imports->modules[i];
        if (symbols_module_is_system_library(module) || !symbols_module_open(module))
            continue;
        read++;
        symbols_elf_imports(module->main.elf, &imports->names);
    }
}

static bool symbols_module_name_is_imported(void *context, const char *name)
{
    struct symbols_imports *imports = context;
    if (!imports->known)
        symbols_module_load_imports(imports);
    return symbols_map_find(&imports->names, hash_bytes(name, strlen(name))) != NULL;
}

static const struct symbols_entry *symbols_module_table_entry(struct symbols_module *module,
                                                              struct symbols_table *table, enum symbols_table_kind kind,
                                                              bool *known, uint64_t vaddr)
{
    if (!*known) {
        *known = true;
        /* may open the debug file, which has the symbols that the module itself has lost */
        symbols_module_find_debug_info(module);
        symbols_table_add(table, module->main.elf, kind);
        symbols_table_add(table, module->debug.elf, kind);
        symbols_table_sort(table);
    }
    const struct symbols_asking asking = {symbols_module_name_is_imported, module->imports};
    return symbols_table_find(table, vaddr, &asking);
}

const struct symbols_entry *symbols_module_function(struct symbols_module *module, uint64_t vaddr)
{
    return symbols_module_open(module) && vaddr >= module->code_low && vaddr < module->code_high
               ? symbols_module_table_entry(module, &module->functions, SYMBOLS_FUNCTIONS, &module->functions_known,
                                            vaddr)
               : NULL;
}

const struct symbols_entry *symbols_module_object(struct symbols_module *module, uint64_t vaddr)
{
    return symbols_module_open(module)
               ? symbols_module_table_entry(module, &module->objects, SYMBOLS_OBJECTS, &module->objects_known, vaddr)
               : NULL;
}

void symbols_module_close(struct symbols_module *module)
{
    dwarf_end(module->dwarf);
    dwarf_end(module->alternate_dwarf);
    symbols_elf_close(&module->main);
    symbols_elf_close(&module->debug);
    symbols_elf_close(&module->alternate);
    free(module->functions.list);
    free(module->objects.list);
    free(module->idents);
    free(module->slots);
    free(module->bodies);
    free(module->handed);
    symbols_map_free(&module->calls);
    symbols_map_free(&module->sites);
    symbols_map_free(&module->exports);
}
