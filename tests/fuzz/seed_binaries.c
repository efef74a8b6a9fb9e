#include "tests/fuzz/seed_binaries.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define EMBED(symbol, file)                                                                                            \
    __asm__(".section .rodata\n.balign 16\n" #symbol ":\n.incbin \"tests/fuzz/binaries/" file "\"\n" #symbol           \
            "_end:\n.previous\n");                                                                                     \
    extern const unsigned char symbol[], symbol##_end[]

EMBED(seed_clang5, "clang5");
EMBED(seed_gcc4, "gcc4");
EMBED(seed_gcc5z, "gcc5z");
EMBED(seed_debug, "gcc5.debug");
EMBED(seed_stripped, "gcc5-stripped");

static struct seed_binary stripped;
struct seed_binary seed_binaries[SEED_BINARIES];

static void read_binary(struct seed_binary *binary, const unsigned char *bytes, const unsigned char *end)
{
    const Elf64_Ehdr *elf = (const void *)bytes;
    const Elf64_Shdr *section = (const void *)(bytes + elf->e_shoff);
    const char *names = (const char *)bytes + section[elf->e_shstrndx].sh_offset;
    *binary = (struct seed_binary){.bytes = bytes, .size = (size_t)(end - bytes)};
    for (size_t i = 1; i < elf->e_shnum && binary->section_count < SEED_SECTIONS; i++)
        if (section[i].sh_size)
            binary->section[binary->section_count++] = (struct seed_section){
                names + section[i].sh_name, section[i].sh_addr, section[i].sh_offset, section[i].sh_size};
}

void seed_binaries_read(void)
{
    read_binary(&stripped, seed_stripped, seed_stripped_end);
    read_binary(&seed_binaries[0], seed_clang5, seed_clang5_end);
    read_binary(&seed_binaries[1], seed_gcc4, seed_gcc4_end);
    read_binary(&seed_binaries[2], seed_gcc5z, seed_gcc5z_end);
    read_binary(&seed_binaries[3], seed_debug, seed_debug_end);
    seed_binaries[3].of_program = &stripped;
}

const struct seed_section *seed_section(const struct seed_binary *binary, const char *name)
{
    const struct seed_binary *from = binary->of_program ? binary->of_program : binary;
    for (size_t i = 0; i < from->section_count; i++)
        if (strcmp(from->section[i].name, name) == 0)
            return &from->section[i];
    abort();
}

static unsigned weight(const char *name)
{
    static const char *const most[] = {".debug_info", ".debug_abbrev", ".debug_line", ".eh_frame", ".debug_frame"},
                             *const some[] = {".symtab",  ".dynsym",       ".rela.plt",
                                              ".dynamic", ".eh_frame_hdr", ".gnu_debuglink"};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        if (strcmp(name, most[i]) == 0)
            return 6;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (strcmp(name, some[i]) == 0)
            return 2;
    return strncmp(name, ".debug_", 7) == 0 ? 3 : 1;
}

static size_t place_in_sections(const struct seed_binary *binary, uint64_t where)
{
    unsigned sum = 0, chosen;
    for (size_t i = 0; i < binary->section_count; i++)
        sum += weight(binary->section[i].name);
    chosen = (unsigned)(where % sum);
    for (size_t i = 0; i < binary->section_count; i++) {
        const struct seed_section *section = &binary->section[i];
        if (chosen < weight(section->name))
            return section->offset + (size_t)(where >> 16) % section->size;
        chosen -= weight(section->name);
    }
    return 0;
}

size_t seed_binary_place(const struct seed_binary *binary, uint64_t what, uint64_t where)
{
    const Elf64_Ehdr *elf = (const void *)binary->bytes;
    switch (what % 10) {
    case 0:
        return (size_t)(where % sizeof *elf);
    case 1:
        return elf->e_phoff + (size_t)(where % (elf->e_phnum * sizeof(Elf64_Phdr)));
    case 2:
        return elf->e_shoff + (size_t)(where % (elf->e_shnum * sizeof(Elf64_Shdr)));
    default:
        return place_in_sections(binary, where);
    }
}
