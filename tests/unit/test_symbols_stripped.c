/* Stripped programs: constructs by the calls of the OpenMP runtime. The program that was stripped says what is right.
 * programs: names (tests/names.mk) */
#include "test_symbols_variants.h"

#include "command/symbols/machine.h"
#include "command/symbols/tail_calls.h"

static const char *const variants[] = {
    "names_c-clang-O0",   "names_c-clang-O2",      "names_c-clang-nopie",  "names_c-gcc-O0",
    "names_c-gcc-O2",     "names_c-gcc-nopie",     "names_cxx-clang-O2",   "names_cxx-gcc-O2",
    "tail_chains-gcc-O2", "tail_chains-gcc-noplt", "tail_chains-clang-O2",
};

static bool open_bare(struct variant *bare, struct variant *whole, const char *name)
{
    char bare_name[64], path[512];
    snprintf(bare_name, sizeof bare_name, "%s-bare", name);
    variant_path(path, sizeof path, bare_name);
    if (access(path, R_OK) != 0) {
        print_message("no %s\n", path);
        return false;
    }
    variant_open_as(bare, bare_name, name);
    variant_open(whole, name);
    return true;
}

/* The construct that the function is, by its symbol and the debug information. */
static enum symbol_construct construct_of(struct variant *whole, const char *name, uint64_t vaddr)
{
    const struct symbol_frame *frames;
    if (symbols_construct_parse(name).kind == SYMBOL_PROCEDURE || symbols_construct_parse(name).inner)
        return SYMBOL_PROCEDURE;
    size_t count = variant_lookup(whole, vaddr, &frames);
    bool of_task = symbols_construct_parse(name).task_part; /* at -O0 a task's entry calls it */
    return of_task ? SYMBOL_PROCEDURE : frames[count - 1].construct;
}

static int check_function(struct variant *bare, struct variant *whole, const char *name, const GElf_Sym *symbol)
{
    const struct symbol_frame *frames;
    char place[600], expected[640];
    enum symbol_construct construct = construct_of(whole, name, symbol->st_value);
    bool is_task = construct == SYMBOL_TASK;
    snprintf(place, sizeof place, "%s+0x%llx", strrchr(bare->path, '/') + 1, (unsigned long long)symbol->st_value);
    snprintf(expected, sizeof expected, "%s%s%s%s", construct ? "[" : "",
             !construct ? ""
             : is_task  ? "task "
                        : "parallel ",
             place, construct ? "]" : "");
    size_t count = variant_lookup(bare, symbol->st_value + symbol->st_size / 2, &frames);
    assert_int_equal(count, 1);
    if (strcmp(frames->name, expected) != 0 || frames->construct != construct)
        fail_msg("%s, stripped: \"%s\" is called \"%s\", not \"%s\"", bare->path, name, frames->name, expected);
    return construct != SYMBOL_PROCEDURE;
}

static int check_functions(struct variant *bare, struct variant *whole)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    int constructs = 0;
    Elf_Data *data = elf_getdata(symbols_elf_section(whole->file.elf, ".symtab", &header), NULL);
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(whole->file.elf, header.sh_link, symbol.st_name);
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size && symbol.st_shndx != SHN_UNDEF &&
            (name[0] != '_' || name[1] == 'Z') && !strstr(name, ".cold"))
            constructs += check_function(bare, whole, name, &symbol);
    }
    return constructs;
}

UNIT_TEST(constructs_of_stripped_programs_have_rows_of_their_own)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct variant bare, whole;
        if (!open_bare(&bare, &whole, variants[i]))
            continue;
        assert_true(check_functions(&bare, &whole) > 3);
        variant_close(&bare);
        variant_close(&whole);
    }
}

UNIT_TEST(code_of_aarch64_is_searched_for_calls)
{
    static const uint32_t code[] = {0xd503201f, 0x94000003, 0x97fffffe, 0x14000001,
                                    0xb4000020}; /* nop, bl +12, bl -8, b +4, cbz */
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_machine = EM_AARCH64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header};
    uint64_t target;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)&header, sizeof header);
    const struct symbols_machine *machine = symbols_machine_of(elf);
    assert_non_null(machine);
    struct symbols_code near = {(const uint8_t *)code, sizeof code, 0x1000, 0x1000, 0x1020};
    struct symbols_code nearer = {(const uint8_t *)code, sizeof code, 0x1000, 0x1001, 0x1020};
    struct symbols_code anywhere = {(const uint8_t *)code, sizeof code, 0x1000, 0, UINT64_MAX};
    assert_int_equal(machine->next_site(&near, 0, &target), 4);
    assert_int_equal(target, 0x1010);
    assert_int_equal(machine->next_site(&near, 8, &target), 8);
    assert_int_equal(target, 0x1000);
    assert_int_equal(machine->next_site(&nearer, 8, &target), 12);
    assert_int_equal(target, 0x1010);
    assert_int_equal(machine->next_site(&anywhere, 16, &target), sizeof code);
    elf_end(elf);
}

UNIT_MAIN(NULL, NULL)
