#include "ompt_tool/life/compiler.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"

#define SECTIONS_MOST 1024u

static bool compiler_read(int fd, void *to, size_t bytes, uint64_t offset)
{
    return os_read_at(fd, to, bytes, offset) == (ssize_t)bytes;
}

/* Finds the section .comment. */
static bool compiler_find_section(int fd, ElfW(Shdr) * section)
{
    static const char wanted[] = ".comment";
    char name[sizeof(wanted)];
    ElfW(Ehdr) header;
    ElfW(Shdr) names;
    if (!compiler_read(fd, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof(*section) || header.e_shnum > SECTIONS_MOST ||
        !compiler_read(fd, &names, sizeof(names), header.e_shoff + header.e_shstrndx * sizeof(names)))
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++)
        if (compiler_read(fd, section, sizeof(*section), header.e_shoff + i * sizeof(*section)) &&
            compiler_read(fd, name, sizeof(name), names.sh_offset + section->sh_name) &&
            memcmp(name, wanted, sizeof(wanted)) == 0)
            return true;
    return false;
}

bool compiler_version(const char *path, char *version, size_t bytes)
{
    static const char mark[] = "GCC: (";
    char text[256] = "";
    ElfW(Shdr) section;
    int fd = os_open_read(path);
    if (fd < 0)
        return false;
    if (compiler_find_section(fd, &section))
        os_read_at(fd, text, section.sh_size < sizeof(text) ? section.sh_size : sizeof(text) - 1, section.sh_offset);
    os_close(fd);
    text[sizeof(text) - 1] = '\0';
    /* GCC: (Debian 12.2.0-14+deb12u1) 12.2.0; other compilers' notes begin otherwise */
    const char *end = strncmp(text, mark, sizeof(mark) - 1) == 0 ? strrchr(text, ')') : NULL;
    if (!end || end[1] != ' ')
        return false;
    snprintf(version, bytes, "%.*s", (int)strcspn(end + 2, " "), end + 2);
    return *version != '\0';
}
