/* The programs of tests/names.mk, opened one at a time: addresses by symbol and line, and what is said of
 * them. */
#ifndef BLAME_TESTS_TEST_SYMBOLS_VARIANTS_H
#define BLAME_TESTS_TEST_SYMBOLS_VARIANTS_H

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "tests/unit/unit.h"

#include "command/symbols/decode.h"
#include "command/symbols/demangle.h"
#include "command/symbols/state.h"
#include "command/symbols/symbols.h"

struct variant {
    struct profile_module module;
    struct symbols *symbols;
    struct symbols_elf file; /* where the symbols of the test come from */
    char path[512], symbols_path[512];
};

static inline void variant_path(char *path, size_t bytes, const char *name)
{
    const char *build = getenv("BLAME_TEST_BUILD");
    int length = snprintf(path, bytes, "%s/%s", build ? build : "build/tests", name);
    assert_true(length > 0 && (size_t)length < bytes);
}

/* Skips the test when the compiler that makes the variant is not installed. */
static inline void variant_open_as(struct variant *variant, const char *name, const char *symbols_name)
{
    memset(variant, 0, sizeof *variant);
    variant_path(variant->path, sizeof variant->path, name);
    variant_path(variant->symbols_path, sizeof variant->symbols_path, symbols_name);
    if (access(variant->path, R_OK) != 0) {
        print_message("no %s\n", variant->path);
        skip();
    }
    strcpy(variant->module.path, variant->path);
    assert_true(symbols_elf_open(&variant->file, variant->symbols_path));
    variant->symbols = symbols_open(&variant->module, 1);
    assert_non_null(variant->symbols);
}

static inline void variant_open(struct variant *variant, const char *name)
{
    variant_open_as(variant, name, name);
}

static inline void variant_close(struct variant *variant)
{
    symbols_close(variant->symbols);
    symbols_elf_close(&variant->file);
}

/* The function or object of this name; else, or for n > 0, the n-th by address whose name starts with it. */
static inline GElf_Sym variant_symbol(struct variant *variant, const char *prefix, int n)
{
    GElf_Shdr header;
    GElf_Sym symbol, best;
    uint64_t after = 0;
    Elf_Scn *section = symbols_elf_section(variant->file.elf, ".symtab", &header);
    assert_non_null(section);
    Elf_Data *data = elf_getdata(section, NULL);
    for (int i = 0; n == 0 && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(variant->file.elf, header.sh_link, symbol.st_name);
        if (name && strcmp(name, prefix) == 0 && symbol.st_shndx != SHN_UNDEF)
            return symbol;
    }
    for (int found = -1; found < n; found++) {
        best.st_value = UINT64_MAX;
        for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
            const char *name = elf_strptr(variant->file.elf, header.sh_link, symbol.st_name);
            if (name && strncmp(name, prefix, strlen(prefix)) == 0 && symbol.st_shndx != SHN_UNDEF &&
                symbol.st_value > after && symbol.st_value < best.st_value)
                best = symbol;
        }
        if (best.st_value == UINT64_MAX)
            fail_msg("%s has no symbol %s number %d", variant->symbols_path, prefix, n);
        after = best.st_value;
    }
    return best;
}

static inline size_t variant_lookup(struct variant *variant, uint64_t vaddr, const struct symbol_frame **frames)
{
    size_t count = symbols_lookup(variant->symbols, PROFILE_KEY(1, vaddr), frames);
    assert_in_range(count, 1, SYMBOLS_MAX_FRAMES);
    for (size_t i = 0; i < count; i++) {
        const struct symbol_frame *frame = &(*frames)[i];
        assert_non_null(frame->name);
        assert_true(*frame->name);
        assert_non_null(frame->host_name);
        assert_non_null(frame->file);
        assert_non_null(frame->at_file);
        assert_non_null(frame->task_name);
        assert_int_equal(frame->inlined, i + 1 < count);
    }
    return count;
}

/* The frames at the first address of a function where the innermost stands on `line` (0: at its entry). */
static inline size_t variant_at(struct variant *variant, const char *prefix, int n, int line,
                                const struct symbol_frame **frames)
{
    GElf_Sym symbol = variant_symbol(variant, prefix, n);
    for (uint64_t vaddr = symbol.st_value; vaddr < symbol.st_value + symbol.st_size; vaddr++) {
        size_t count = variant_lookup(variant, vaddr, frames);
        if (!line || (*frames)[0].at_line == line)
            return count;
    }
    fail_msg("%s: %s has no code on line %d", variant->path, prefix, line);
    return 0;
}

static inline void assert_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    if (length < end_length || strcmp(text + length - end_length, end) != 0)
        fail_msg("\"%s\" does not end with \"%s\"", text, end);
}

#endif
