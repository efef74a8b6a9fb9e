#include "cli/elf_info.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum elf_kind elf_kind_of(const char *path)
{
    enum elf_kind kind = ELF_KIND_NONE;
    ElfW(Ehdr) header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kind;
    if (read(fd, &header, sizeof(header)) == sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_phentsize == sizeof(ElfW(Phdr))) {
        kind = ELF_KIND_STATIC;
        for (unsigned i = 0; i < header.e_phnum; i++) {
            ElfW(Phdr) segment;
            off_t at = (off_t)(header.e_phoff + i * sizeof(segment));
            if (pread(fd, &segment, sizeof(segment), at) == sizeof(segment) && segment.p_type == PT_INTERP)
                kind = ELF_KIND_DYNAMIC;
        }
    }
    close(fd);
    return kind;
}

bool elf_loads(const char *path, const char *library)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        /* The loader prints the list instead of starting the program. */
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    bool found = false;
    char line[4096];
    FILE *list = fdopen(ends[0], "r");
    while (list && fgets(line, sizeof(line), list))
        found = found || strstr(line, library) != NULL;
    if (list)
        fclose(list);
    if (child > 0)
        waitpid(child, NULL, 0);
    return found;
}
