#include "layers/loader/static_tls.h"

#include "base/same_file.h"
#include "layers/loader/kernel.h"
#include "layers/loader/text.h"

#define TUNABLES "GLIBC_TUNABLES="
/* Not a tunable of glibc, which ignores tunables that it does not know. It passes the number of printed lines
 * to the restarted process. */
#define OURS    "blame.lines="
#define TUNABLE "glibc.rtld.optional_static_tls="
#define DONE    "BLAME_STARTED_AGAIN="

#define PAGE_BYTES 4096u
/* alignment in bytes that glibc gives to thread-local storage if the program needs no larger one */
#define TCB_BYTES    64u
#define GLIBCS_BYTES 512u /* glibc's default for the tunable, in bytes */
/* Number of bytes that the startup libraries may use of another reserve of glibc, which has about 1,300
 * bytes. The rest of that reserve is left to libraries that are loaded later. */
#define OTHER_BYTES 512u

#if defined(__x86_64__)
#define IS_STATIC_TLS(type) ((type) == R_X86_64_TPOFF64)
#elif defined(__aarch64__)
#define IS_STATIC_TLS(type) ((type) == R_AARCH64_TLS_TPREL)
#endif

static struct {
    /* the initial stack: argument count, arguments, NULL, environment, NULL, auxiliary vector; NULL: unknown */
    const uintptr_t *stack;
    size_t room, wanted; /* bytes */
} self;

struct tls {
    size_t bytes, align;
};

static struct tls tls_of_segments(const ElfW(Phdr) * segments, size_t count)
{
    struct tls tls = {0};
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_TLS)
            tls = (struct tls){segments[i].p_memsz, segments[i].p_align};
    return tls;
}

/* The same for an object whose program headers are not in its first page, where BOLT and patchelf move them from: they
 * are read from the file. */
static struct tls tls_of_file(const char *path, const ElfW(Ehdr) * header)
{
    static ElfW(Phdr) segments[PAGE_BYTES / sizeof(ElfW(Phdr))];
    size_t bytes = header->e_phnum * sizeof(*segments);
    int fd = bytes <= sizeof(segments) ? kernel_open(path) : -1;
    if (fd < 0)
        return (struct tls){0};
    long got = kernel_call(SYS_pread64, fd, (long)segments, (long)bytes, (long)header->e_phoff, 0, 0);
    kernel_close(fd);
    return tls_of_segments(segments, got == (long)bytes ? header->e_phnum : 0);
}

/* Returns the size and alignment of an object's thread-local storage, as stated in its program headers. */
static struct tls tls_of(const struct link_map *map)
{
    const ElfW(Ehdr) *header = (const void *)map->l_addr;
    if (!header || !kernel_is_readable(map->l_addr) || header->e_ident[EI_MAG0] != ELFMAG0 ||
        header->e_ident[EI_MAG1] != ELFMAG1 || header->e_phentsize != sizeof(ElfW(Phdr)) ||
        header->e_phoff % _Alignof(ElfW(Phdr)))
        return (struct tls){0};
    if (header->e_phoff > PAGE_BYTES || header->e_phnum > (PAGE_BYTES - header->e_phoff) / sizeof(ElfW(Phdr)))
        return tls_of_file(map->l_name, header);
    return tls_of_segments((const void *)(map->l_addr + header->e_phoff), header->e_phnum);
}

static size_t tunable_value(const char *digits)
{
    size_t number = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        number = 10 * number + (size_t)(*digits - '0');
    return number;
}

/* Appends `text` at `end`. Returns the new end. */
static char *tunable_append(char *end, const char *text)
{
    while ((*end = *text++))
        end++;
    return end;
}

static char *tunable_append_number(char *end, size_t number)
{
    char digits[24], *digit = digits + sizeof(digits) - 1;
    *digit = '\0';
    do
        *--digit = (char)('0' + number % 10);
    while (number /= 10);
    return tunable_append(end, digit);
}

static char **static_tls_environment(void)
{
    return (char **)(self.stack + 1 + self.stack[0] + 1);
}

/* Returns the value of this type in the auxiliary vector; 0 if the kernel gave none. */
static uintptr_t static_tls_auxiliary_value(uint64_t type)
{
    char *const *end = static_tls_environment();
    while (*end)
        end++;
    for (const ElfW(auxv_t) *aux = (const void *)(end + 1); aux->a_type != AT_NULL; aux++)
        if (aux->a_type == type)
            return aux->a_un.a_val;
    return 0;
}

unsigned static_tls_begin(const struct elf_view *view)
{
    static char done[] = DONE "1";
    unsigned lines = 0;
    const ElfW(Sym) *symbol = self.stack ? NULL : elf_view_find(view, "__libc_stack_end");
    if (!symbol || symbol->st_size != sizeof(uintptr_t))
        return 0;
    /* this is NULL if the program has a copy of the variable */
    self.stack = *(const uintptr_t *const *)(view->base + symbol->st_value);
    self.room = GLIBCS_BYTES;
    for (char **entry = self.stack ? static_tls_environment() : NULL; entry && *entry; entry++) {
        const char *value = text_after(*entry, TUNABLES), *ours = value ? text_after(value, OURS) : NULL, *room;
        for (const char *at = value; at && *at; at++)
            if ((room = text_after(at, TUNABLE)))
                self.room = tunable_value(room); /* like glibc, use the last setting */
        if (ours) {
            lines = (unsigned)tunable_value(ours);
            *entry = done; /* hides the entry from processes that this process starts */
        }
    }
    return lines;
}

/* Returns the size of a file, and stores the number of zero-terminated strings in it in *texts. If `to` is
 * not NULL, copies the file there. */
static size_t static_tls_read_texts(const char *path, char *to, size_t *texts)
{
    char buffer[1024];
    size_t bytes = 0;
    long got = 0;
    int fd = kernel_open(path);
    for (*texts = 0; fd >= 0 && (got = kernel_read(fd, buffer, sizeof(buffer))) > 0; bytes += (size_t)got)
        for (long i = 0; i < got; i++) {
            *texts += !buffer[i];
            if (to)
                to[bytes + (size_t)i] = buffer[i];
        }
    if (fd >= 0)
        kernel_close(fd);
    return fd >= 0 && got == 0 ? bytes : 0;
}

static bool static_tls_is_program_file(const char *path, struct stat *status)
{
    return kernel_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)status, 0, 0, 0) == 0;
}

/* Executes this process's program again, by the name under which the program was started, if that name still
 * leads to it. Under valgrind, the file /proc/self/exe is valgrind, but the link contains the name of the
 * program. Executing that name would run the program without valgrind, so nothing is done. */
static void static_tls_execute_again(char **arguments, char **environment)
{
    static const char own[] = "/proc/self/exe";
    static char link[4096];
    struct stat wanted, found;
    const char *names[] = {(const char *)static_tls_auxiliary_value(AT_EXECFN), link, own};
    kernel_call(SYS_readlinkat, AT_FDCWD, (long)own, (long)link, sizeof(link) - 1, 0, 0);
    if (!static_tls_is_program_file(own, &wanted) ||
        (static_tls_is_program_file(link, &found) && !is_same_file(&wanted, &found)))
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (static_tls_is_program_file(names[i], &found) && is_same_file(&wanted, &found))
            kernel_call(SYS_execve, (long)names[i], (long)arguments, (long)environment, 0, 0, 0);
}

/* Executes the program again. All environment entries that begin with `beginning` are replaced by `entry` (by
 * none if it is NULL). The arguments are read from /proc/self/cmdline, because a loader that was started by
 * its own name has removed its own arguments from the stack. The environment is read from the stack, because
 * glibc truncates strings in the kernel's copy. Returns only on failure. */
static void static_tls_restart_process(const char *beginning, char *entry)
{
    static const char path[] = "/proc/self/cmdline";
    char *const *from;
    if (!self.stack)
        return;
    size_t count = 0, kept = 0, begin = 0, entries = 0;
    size_t bytes = static_tls_read_texts(path, NULL, &count);
    for (from = static_tls_environment(); *from; from++)
        entries++;
    size_t list_bytes = (count + 1 + entries + 2) * sizeof(char *);
    long at = kernel_call(SYS_mmap, 0, (long)(list_bytes + bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
    if (!bytes || (at < 0 && at > -4096))
        return;
    char **arguments = (char **)at, **environment = arguments + count + 1, *text = (char *)at + list_bytes;
    for (from = static_tls_environment(); *from; from++)
        if (!text_after(*from, beginning))
            environment[kept++] = *from;
    environment[kept] = entry;
    if (static_tls_read_texts(path, text, &count) == bytes) {
        for (size_t i = 0; i < count; begin++)
            if (begin == 0 || !text[begin - 1])
                arguments[i++] = text + begin;
        static_tls_execute_again(arguments, environment);
    }
    kernel_unmap((void *)at, list_bytes + bytes);
}

/* We request a quarter more than has been needed so far, because more libraries may follow. So each restart
 * has more room than the one before. */
const char *static_tls_add(const struct link_map *map, unsigned lines)
{
    static char entry[128];
    struct tls tls = tls_of(map);
    self.wanted += tls.bytes + tls.align;
    if (!self.stack || self.wanted <= self.room + OTHER_BYTES)
        return NULL;
    char *end = tunable_append(tunable_append_number(tunable_append(entry, TUNABLES OURS), lines), ":"), *tunable = end;
    tunable_append_number(tunable_append(end, TUNABLE), self.wanted + self.wanted / 4);
    static_tls_restart_process(DONE, entry); /* the new entry comes after all others of its name */
    self.stack = NULL;
    return tunable;
}

/* Returns true if the program's code accesses the thread-local storage of libraries directly (initial-exec). */
static bool reaches_static_tls(const struct elf_view *program)
{
    const ElfW(Rela) *relocations = (const void *)program->relocations;
    for (size_t i = program->relative_count; i < program->relocations_bytes / sizeof(ElfW(Rela)); i++) {
        if (!kernel_is_readable((uintptr_t)&relocations[i].r_info))
            break;
        if (IS_STATIC_TLS(ELF64_R_TYPE(relocations[i].r_info)) && ELF64_R_SYM(relocations[i].r_info))
            return true;
    }
    return false;
}

bool static_tls_fits(const struct link_map *map, const struct elf_view *program)
{
    struct tls tls = tls_of(map);
    if (!self.stack || tls.align <= TCB_BYTES ||
        tls.align <=
            tls_of_segments((const void *)static_tls_auxiliary_value(AT_PHDR), static_tls_auxiliary_value(AT_PHNUM))
                .align)
        return true;
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_STATIC_TLS)
            return false;
    return !reaches_static_tls(program);
}

void static_tls_start_without(const char *variable)
{
    static_tls_restart_process(variable, NULL);
}
