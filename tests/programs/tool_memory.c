/* Preloaded: who asks for memory while a program runs under the tool? Every malloc, realloc, free and mmap is
 * attributed by its stack to the innermost of tool, runtime and program; the C library, libunwind and so on
 * act for whoever called them. The program says what it is doing (tool_memory_phase); at its word "end" the
 * books are closed and written to $TOOL_MEMORY_OUT:
 *
 *     heap,PHASE,OWNER,CALLEE,COUNT,BYTES,LARGEST,STILL IN USE
 *     map,PHASE,OWNER,CALLEE,COUNT,BYTES,RESIDENT BYTES,STILL MAPPED
 *
 * CALLEE: what the owner called that asked. One line a place in the owner. /proc/self/smaps goes to
 * $TOOL_MEMORY_OUT.smaps. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#define EXPORT         __attribute__((visibility("default")))
#define MAX_PLACES     512
#define MAX_BLOCKS     (1 << 16)
#define MAX_PHASES     16
#define PAGE           4096u
#define PAGE_PRESENT   (1ull << 63)
#define RESIDENT_PAGES 512

/* The tool then finds no list of libraries, and calls mmap() by its name (docs/concurrency.md, "Names"). */
EXPORT struct r_debug _r_debug;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum owner { PROGRAM, RUNTIME, TOOL };
static const char *const owner_names[] = {"program", "runtime", "tool"};

/* One caller in one phase. */
struct place {
    bool is_map;
    enum owner owner;
    int phase;
    uintptr_t caller, callee; /* code addresses */
    unsigned long count, bytes, largest, in_use, resident;
};

struct block {
    uintptr_t address;
    size_t bytes;
    struct place *place;
};

static struct {
    int lock;
    bool closed;
    int phase;
    const char *phases[MAX_PHASES];
    struct place places[MAX_PLACES];
    struct block blocks[MAX_BLOCKS]; /* by address; an empty one ends a search, {1} does not */
    unsigned long lost;
} books = {.phases = {"start"}};

static __thread bool inside __attribute__((tls_model("initial-exec")));

static enum owner owner_of(const char *path, bool *known)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    *known = true;
    if (strncmp(name, "libblame", 8) == 0)
        return TOOL;
    if (strncmp(name, "libomp", 6) == 0 || strncmp(name, "libgomp", 7) == 0)
        return RUNTIME;
    *known = path[0] == '\0'; /* the executable has no name */
    return PROGRAM;
}

struct search {
    enum owner owner;
    uintptr_t caller, callee;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    uintptr_t address = _Unwind_GetIP(context);
    struct dl_find_object object;
    bool known;
    if (address == 0 || _dl_find_object((void *)(address - 1), &object) != 0)
        return _URC_NO_REASON;
    search->owner = owner_of(object.dlfo_link_map->l_name, &known);
    if (known) {
        search->caller = address;
        return _URC_END_OF_STACK;
    }
    search->callee = address;
    return _URC_NO_REASON;
}

static struct place *find_place(const struct search *search, bool is_map)
{
    for (struct place *place = books.places; place < books.places + MAX_PLACES; place++) {
        if (place->count == 0)
            *place = (struct place){.is_map = is_map,
                                    .owner = search->owner,
                                    .phase = books.phase,
                                    .caller = search->caller,
                                    .callee = search->callee};
        if (place->is_map == is_map && place->owner == search->owner && place->phase == books.phase &&
            place->caller == search->caller)
            return place;
    }
    return NULL;
}

static struct block *find_block(uintptr_t address, uintptr_t wanted)
{
    size_t at = (address >> 4) * 0x9e3779b97f4a7c15ull >> 48;
    for (size_t tried = 0; tried < MAX_BLOCKS; tried++, at = (at + 1) % MAX_BLOCKS)
        if (books.blocks[at].address == wanted || (wanted == 0 && books.blocks[at].address == 1))
            return &books.blocks[at];
        else if (books.blocks[at].address == 0)
            return NULL;
    return NULL;
}

/* `blame`, which starts the program or makes its files, has our name in LD_PRELOAD too, and keeps none. */
static bool is_another_program(void)
{
    const char *name = program_invocation_short_name;
    return name && strcmp(name, "blame") == 0;
}

/* Handlers wait: one of them may map memory itself. */
static bool open_books(sigset_t *mask)
{
    sigset_t all;
    books.closed = books.closed || is_another_program();
    if (inside || books.closed)
        return false;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, mask);
    inside = true;
    return true;
}

static void close_books(const sigset_t *mask)
{
    inside = false;
    sigprocmask(SIG_SETMASK, mask, NULL);
}

static void lock(void)
{
    while (__atomic_exchange_n(&books.lock, 1, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
}

static void unlock(void)
{
    __atomic_store_n(&books.lock, 0, __ATOMIC_RELEASE);
}

static void came(const void *address, size_t bytes, bool is_map)
{
    struct search search = {PROGRAM, 0, 0};
    sigset_t mask;
    int saved_errno = errno;
    if (!address || !open_books(&mask))
        return;
    _Unwind_Backtrace(look, &search);
    lock();
    struct place *place = find_place(&search, is_map);
    struct block *block = find_block((uintptr_t)address, 0);
    if (place) {
        place->count++;
        place->bytes += bytes;
        place->in_use += bytes;
        place->largest = bytes > place->largest ? bytes : place->largest;
    }
    if (place && block && search.owner != PROGRAM)
        *block = (struct block){(uintptr_t)address, bytes, place};
    books.lost += !place || !block;
    unlock();
    close_books(&mask);
    errno = saved_errno;
}

static void went(const void *address)
{
    sigset_t mask;
    int saved_errno = errno;
    if (!address || !open_books(&mask))
        return;
    lock();
    struct block *block = find_block((uintptr_t)address, (uintptr_t)address);
    if (block) {
        block->place->in_use -= block->bytes;
        *block = (struct block){.address = 1};
    }
    unlock();
    close_books(&mask);
    errno = saved_errno;
}

EXPORT void *malloc(size_t bytes)
{
    void *address = __libc_malloc(bytes);
    came(address, bytes, false);
    return address;
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    void *address = __libc_calloc(count, bytes);
    came(address, count * bytes, false);
    return address;
}

EXPORT void *realloc(void *old, size_t bytes)
{
    went(old);
    void *address = __libc_realloc(old, bytes);
    came(address, bytes, false);
    return address;
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
    void *address = __libc_memalign(alignment, bytes);
    came(address, bytes, false);
    return address;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

EXPORT int posix_memalign(void **address, size_t alignment, size_t bytes)
{
    *address = memalign(alignment, bytes);
    return *address ? 0 : ENOMEM;
}

EXPORT void free(void *address)
{
    went(address);
    __libc_free(address);
}

/* Who asks for sizes finds whose heap it is by the library that this is in. */
EXPORT size_t malloc_usable_size(void *address)
{
    size_t (*next)(void *);
    *(void **)&next = dlsym(RTLD_NEXT, "malloc_usable_size");
    return next(address);
}

EXPORT void *mmap(void *wanted, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *address = (void *)syscall(SYS_mmap, wanted, bytes, protection, flags, fd, offset);
    if (address != MAP_FAILED)
        came(address, bytes, true);
    return address;
}

EXPORT int munmap(void *address, size_t bytes)
{
    went(address);
    return (int)syscall(SYS_munmap, address, bytes);
}

/* Pages of a block that are in memory. */
static size_t resident(int pagemap, const struct block *block)
{
    uint64_t pages[RESIDENT_PAGES];
    size_t count = 0, left = (block->bytes + PAGE - 1) / PAGE;
    off_t at = (off_t)(block->address / PAGE * sizeof(uint64_t));
    while (left > 0) {
        size_t part = left < RESIDENT_PAGES ? left : RESIDENT_PAGES;
        ssize_t got = pread(pagemap, pages, part * sizeof(uint64_t), at);
        if (got <= 0)
            break;
        for (size_t i = 0; i < (size_t)got / sizeof(uint64_t); i++)
            count += (pages[i] & PAGE_PRESENT) != 0;
        left -= (size_t)got / sizeof(uint64_t);
        at += got;
    }
    return count * PAGE;
}

static void print(int fd, const char *format, ...)
{
    char line[512];
    va_list list;
    va_start(list, format);
    int bytes = vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    if (write(fd, line, (size_t)bytes) != bytes)
        _exit(99);
}

static const char *name_of(uintptr_t callee)
{
    Dl_info info;
    return callee && dladdr((void *)(callee - 1), &info) && info.dli_sname ? info.dli_sname : "-";
}

static void copy_smaps(const char *out)
{
    char path[4096];
    char buffer[1 << 15];
    snprintf(path, sizeof(path), "%s.smaps", out);
    int from = open("/proc/self/smaps", O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (ssize_t got; from >= 0 && (got = read(from, buffer, sizeof(buffer))) > 0;)
        if (write(to, buffer, (size_t)got) != got)
            _exit(99);
    close(from);
    close(to);
}

static void write_books(const char *out)
{
    copy_smaps(out);
    int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666), pagemap = open("/proc/self/pagemap", O_RDONLY);
    for (struct block *block = books.blocks; block < books.blocks + MAX_BLOCKS; block++)
        if (block->place && block->place->is_map)
            block->place->resident += resident(pagemap, block);
    for (struct place *place = books.places; place < books.places + MAX_PLACES && place->count; place++)
        print(fd, "%s,%s,%s,%s,%lu,%lu,%lu,%lu\n", place->is_map ? "map" : "heap", books.phases[place->phase],
              owner_names[place->owner], name_of(place->callee), place->count, place->bytes,
              place->is_map ? place->resident : place->largest, place->in_use);
    if (books.lost)
        print(fd, "lost,%s,-,-,%lu,0,0,0\n", books.phases[books.phase], books.lost);
    close(pagemap);
    close(fd);
}

EXPORT void tool_memory_phase(const char *name)
{
    const char *out = getenv("TOOL_MEMORY_OUT");
    lock();
    if (books.phase + 1 < MAX_PHASES)
        books.phases[++books.phase] = name;
    unlock();
    if (strcmp(name, "end") != 0 || books.closed)
        return;
    books.closed = true;
    if (out)
        write_books(out);
}
