#include "command/cli/elf_info.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
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

#include "command/cli/elf_plain.h"

/* Returns whether a program's interpreter (PT_INTERP) is glibc's, judged by its file name. Other loaders,
 * such as musl's, ignore LD_TRACE_LOADED_OBJECTS and would run the program. */
static bool is_glibc_loader(int fd, const ElfW(Phdr) * segment)
{
    static const char *const names[] = {"ld-linux", "ld-2.", "ld.so", "ld64.so"};
    char path[4096];
    ssize_t length = pread(fd, path, segment->p_filesz < sizeof(path) ? segment->p_filesz : sizeof(path) - 1,
                           (off_t)segment->p_offset);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

enum elf_kind elf_kind_of(const char *path)
{
    static char last[4096]; /* it is asked several times for one program */
    static enum elf_kind kind;
    union {
        ElfW(Ehdr) header;
        char bytes[4096]; /* in nearly all files they have the segments' headers, too */
    } first;
    if (strcmp(last, path) == 0)
        return kind;
    kind = ELF_KIND_NONE;
    last[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kind;
    ssize_t got = pread(fd, &first, sizeof(first), 0);
    if (got >= (ssize_t)sizeof(first.header) && memcmp(first.header.e_ident, ELFMAG, SELFMAG) == 0 &&
        first.header.e_phentsize == sizeof(ElfW(Phdr))) {
        kind = ELF_KIND_STATIC;
        for (unsigned i = 0; i < first.header.e_phnum; i++) {
            ElfW(Phdr) segment;
            uint64_t at = first.header.e_phoff + i * sizeof(segment);
            bool there = at <= (uint64_t)got - sizeof(segment) && memcpy(&segment, first.bytes + at, sizeof(segment));
            if ((there || pread(fd, &segment, sizeof(segment), (off_t)at) == sizeof(segment)) &&
                segment.p_type == PT_INTERP)
                kind = is_glibc_loader(fd, &segment) ? ELF_KIND_DYNAMIC : ELF_KIND_FOREIGN;
        }
    }
    close(fd);
    snprintf(last, sizeof(last), "%s", path);
    return kind;
}

/* Runs the program's loader, which prints the libraries that it would load and does not start the program.
 * Returns the loader's pid, and a stream with its output in *list. */
static pid_t trace_loader(const char *path, FILE **list)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        if (dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0)
            /* A sandbox refuses dup2(): the list would go to the program's output. */
            _exit(127);
        close(ends[0]);
        close(ends[1]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *list = fdopen(ends[0], "r");
    return child;
}

/* Copies the library's path from a line of the loader's output, which has the form NAME => PATH (ADDRESS) or
 * PATH (ADDRESS). Returns false if the line names no path. */
static bool library_path_of_line(const char *line, char *path, size_t bytes)
{
    const char *arrow = strstr(line, "=> "), *begin = arrow ? arrow + 3 : line + strspn(line, "\t");
    const char *end = strstr(begin, " (0x");
    if (!end || (size_t)(end - begin) >= bytes)
        return false;
    snprintf(path, bytes, "%.*s", (int)(end - begin), begin);
    return true;
}

/* Returns whether a line names an MPI library: Open MPI's libmpi.so.40, MPICH's libmpich.so.12 or
 * libmpi.so.12, their Fortran libraries, or libraries derived from these. */
static bool names_mpi(const char *line)
{
    return strncmp(line, "\tlibmpi", 7) == 0 && strchr(".cf_", line[7]);
}

static void read_loader_line(const char *line, const char *libomp, struct elf_openmp *openmp)
{
    size_t length = strlen(libomp);
    openmp->mpi |= names_mpi(line);
    openmp->own_first |= strncmp(line, "\tlibasan.so", 11) == 0 || strncmp(line, "\tlibclang_rt.asan", 17) == 0;
    if (strstr(line, "libgomp.so.1 "))
        openmp->gcc = true;
    if (length && line[0] == '\t' && strncmp(line + 1, libomp, length) == 0 && line[1 + length] == ' ')
        openmp->moved = true;
}

void elf_openmp_of(const char *path, const char *libomp, bool runtimes, struct elf_openmp *openmp)
{
    char line[4096];
    FILE *list = NULL;
    *openmp = (struct elf_openmp){0};
    if (elf_kind_of(path) != ELF_KIND_DYNAMIC || elf_is_plain(path, runtimes))
        return; /* Any other loader would run the program. */
    pid_t child = trace_loader(path, &list);
    while (list && fgets(line, sizeof(line), list))
        read_loader_line(line, libomp, openmp);
    if (list)
        fclose(list);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Returns whether the dynamic symbol table of an ELF file defines the symbol `name`. */
static bool elf_exports(const char *path, const char *name)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        bool has_symbols = gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM;
        Elf_Data *names = has_symbols ? elf_rawdata(elf_getscn(elf, header.sh_link), NULL) : NULL;
        /* nearly no library has the name at all, and libc has 3,000 symbols */
        bool has_name = names && names->d_buf && memmem(names->d_buf, names->d_size, name, strlen(name) + 1);
        Elf_Data *data = has_name ? elf_getdata(section, NULL) : NULL;
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            const char *own = elf_strptr(elf, header.sh_link, symbol.st_name);
            found |= own && symbol.st_shndx != SHN_UNDEF && strcmp(own, name) == 0;
        }
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

/* Returns whether a library is one of LLVM's OpenMP runtimes or belongs to blame. LLVM's runtimes define
 * ompt_start_tool themselves, only to look for other tools. */
static bool is_runtime_or_ours(const char *path)
{
    static const char *const names[] = {"libomp", "libiomp5", "libblame"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool elf_own_tool_of(const char *path, char *owner, size_t bytes)
{
    static const char tool[] = "ompt_start_tool";
    char line[4096];
    FILE *list = NULL;
    if (elf_kind_of(path) != ELF_KIND_DYNAMIC || elf_is_plain(path, true))
        return false;
    snprintf(owner, bytes, "%s", path);
    if (elf_exports(path, tool))
        return true;
    bool found = false;
    pid_t child = trace_loader(path, &list);
    while (list && fgets(line, sizeof(line), list))
        if (!found && library_path_of_line(line, owner, bytes))
            found = !is_runtime_or_ours(owner) && elf_exports(owner, tool);
    if (list)
        fclose(list);
    if (child > 0)
        waitpid(child, NULL, 0);
    return found;
}

#define MEMORY_CHECKER 1u /* the others look for leaks */

/* Returns a bit for each of these names of symbols or libraries that a string table of the file contains. The file's
 * other text does not count: the blame command itself has these names as string constants. */
static unsigned elf_checkers_of(const char *path)
{
    static const char *const names[] = {"__msan_init", "__asan_init", "__lsan_init", "liblsan.so"};
    static char last[4096]; /* it is asked twice for one program */
    static unsigned found;
    GElf_Shdr header;
    if (strcmp(last, path) == 0)
        return found;
    found = 0;
    snprintf(last, sizeof(last), "%s", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        Elf_Data *strings =
            gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB ? elf_rawdata(section, NULL) : NULL;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && strings && strings->d_buf; i++)
            if (memmem(strings->d_buf, strings->d_size, names[i], strlen(names[i])))
                found |= 1u << i;
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

bool elf_finds_leaks(const char *path)
{
    return elf_checkers_of(path) & ~MEMORY_CHECKER;
}

bool elf_checks_memory(const char *path)
{
    return elf_checkers_of(path) & MEMORY_CHECKER;
}

bool elf_gains_privileges(const char *path)
{
    struct stat file;
    struct statvfs mount;
    if (stat(path, &file) != 0 || statvfs(path, &mount) != 0 || mount.f_flag & ST_NOSUID ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    return (file.st_mode & S_ISUID && file.st_uid != getuid()) || (file.st_mode & S_ISGID && file.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}
