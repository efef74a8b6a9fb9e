#include "cli/elf_info.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
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

/* Starts the program in a way that makes the loader print what it would load and which symbols it would miss,
 * and nothing else; its output is *list. */
static pid_t trace_loader(const char *path, FILE **list)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        setenv("LD_WARN", "yes", 1);
        setenv("LD_BIND_NOW", "yes", 1);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *list = fdopen(ends[0], "r");
    return child;
}

static void read_line(const char *line, const char *libomp, struct elf_openmp *openmp)
{
    static const char mark[] = "undefined symbol: ";
    const char *name = strstr(line, mark);
    size_t length = strlen(libomp);
    if (strstr(line, "libgomp.so.1 "))
        openmp->gcc = true;
    if (length && line[0] == '\t' && strncmp(line + 1, libomp, length) == 0 && line[1 + length] == ' ')
        openmp->moved = true;
    if (!name || openmp->missing[0])
        return;
    name += sizeof(mark) - 1;
    if (strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0 || strncmp(name, "GOACC_", 6) == 0)
        snprintf(openmp->missing, sizeof(openmp->missing), "%.*s", (int)strcspn(name, ", \t\n("), name);
}

void elf_openmp_of(const char *path, const char *libomp, struct elf_openmp *openmp)
{
    char line[4096];
    FILE *list = NULL;
    *openmp = (struct elf_openmp){0};
    if (elf_kind_of(path) != ELF_KIND_DYNAMIC)
        return; /* a script would run */
    pid_t child = trace_loader(path, &list);
    while (list && fgets(line, sizeof(line), list))
        read_line(line, libomp, openmp);
    if (list)
        fclose(list);
    if (child > 0)
        waitpid(child, NULL, 0);
}

bool elf_gains_privileges(const char *path)
{
    struct stat file;
    struct statvfs mount;
    if (stat(path, &file) != 0 || statvfs(path, &mount) != 0 || mount.f_flag & ST_NOSUID ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    return (file.st_mode & S_ISUID && file.st_uid != getuid()) ||
           (file.st_mode & S_ISGID && file.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}
