#include "command/cli/elf_plain.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

#if defined(__x86_64__)
#define LOADER        "/lib64/ld-linux-x86-64.so.2"
#define CACHE_MACHINE 0x0303
#elif defined(__aarch64__)
#define LOADER        "/lib/ld-linux-aarch64.so.1"
#define CACHE_MACHINE 0x0a03
#endif

#define MOST_LIBRARIES 1024
#define MOST_ENTRIES   (MOST_LIBRARIES + 64) /* of an object's dynamic section */
#define FIRST_BYTES    2048u                 /* of a file; they have its headers, and in small files more */
#define TEXT_BYTES     1024u                 /* of its strings, read at once */
#define HASH_CHAINS    1024u

/* The file that ldconfig(8) writes (glibc: sysdeps/generic/dl-cache.h). Texts are at offsets from its begin. */
struct cache {
    char magic[20]; /* CACHE_MAGIC without its 0 */
    uint32_t count;
    uint32_t unused[6];
    struct {
        int32_t flags; /* kind of library and machine */
        uint32_t name, path, unused;
        uint64_t capabilities; /* what the processor must have for this copy; 0: nothing */
    } libraries[];
};

#define CACHE_MAGIC "glibc-ld.so.cache1.1"

struct search {
    const struct cache *cache;
    size_t cache_bytes;
    /* its libraries that are for this machine, by the hashes of their names: 1 + index of a chain's last one, and before each */
    uint32_t cache_last[HASH_CHAINS], *cache_before;
    bool runtimes; /* whether OpenMP runtimes are of interest */
    /* malloc'ed; the loader, too, looks for each name once */
    struct {
        uint64_t hash;
        char *name, *path;
    } libraries[MOST_LIBRARIES];
    size_t count;
    struct object {
        int fd;
        _Alignas(ElfW(Phdr)) char first[FIRST_BYTES];
        char text[TEXT_BYTES];
        size_t first_bytes, text_bytes;
        uint64_t strings, text_at; /* offsets in the file of the strings, and of text[] */
        const ElfW(Phdr) * segments;
        size_t segment_count, entry_count;
        ElfW(Dyn) entries[MOST_ENTRIES];
    } object; /* that is being looked at */
};

/* Where the loader looks for what an object needs, before it looks into its cache. */
struct folders {
    const char *first, *own; /* LD_LIBRARY_PATH, DT_RUNPATH; separated by colons; NULL: none */
    const char *object;      /* the object's path, whose folder is $ORIGIN */
};

static uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static const char *cache_text(const struct search *search, uint32_t offset)
{
    bool ends = offset < search->cache_bytes &&
                memchr((const char *)search->cache + offset, '\0', search->cache_bytes - offset) != NULL;
    return ends ? (const char *)search->cache + offset : "";
}

static bool cache_index(struct search *search)
{
    const struct cache *cache = search->cache;
    search->cache_before = calloc(cache->count + 1, sizeof(*search->cache_before));
    for (uint32_t i = cache->count; search->cache_before && i-- > 0;) {
        uint32_t *last = &search->cache_last[hash_text(cache_text(search, cache->libraries[i].name)) % HASH_CHAINS];
        if (cache->libraries[i].flags != CACHE_MACHINE || cache->libraries[i].capabilities)
            continue;
        search->cache_before[i] = *last;
        *last = i + 1;
    }
    return search->cache_before != NULL;
}

static bool cache_open(struct search *search)
{
    struct stat status;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    void *data = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(struct cache)
                     ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED)
        return false;
    search->cache = data;
    search->cache_bytes = (size_t)status.st_size;
    return memcmp(search->cache->magic, CACHE_MAGIC, sizeof(search->cache->magic)) == 0 &&
           search->cache->count < (search->cache_bytes - sizeof(struct cache)) / sizeof(search->cache->libraries[0]) &&
           cache_index(search);
}

/* Returns the path of the library; NULL if the cache does not have it. Copies for newer processors need the same libraries
 * as the copy for all. */
static const char *cache_path(const struct search *search, const char *name)
{
    const struct cache *cache = search->cache;
    for (uint32_t at = search->cache_last[hash_text(name) % HASH_CHAINS]; at; at = search->cache_before[at - 1])
        if (strcmp(cache_text(search, cache->libraries[at - 1].name), name) == 0)
            return cache_text(search, cache->libraries[at - 1].path);
    return NULL;
}

/* Returns whether it is certain which folders the list names: an empty one would be the current folder. */
static bool folders_are_certain(const char *list)
{
    size_t bytes = list ? strlen(list) : 0;
    return !bytes || (*list != ':' && list[bytes - 1] != ':' && !strstr(list, "::") && !strchr(list, ';'));
}

/* Looks for the library in a list of folders. Returns false if it is not certain what the loader would find. *found is
 * false if none of the folders has the library. */
static bool folders_have(const char *list, const char *object, const char *name, char path[PATH_MAX], bool *found)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    *found = false;
    if (!folders_are_certain(list))
        return false;
    for (; list && *list && !*found; list += *list == ':') {
        size_t bytes = strcspn(list, ":"), skip = 0;
        for (size_t i = 0; i < 2; i++)
            if (strncmp(list, origins[i], strlen(origins[i])) == 0)
                skip = strlen(origins[i]);
        if (memchr(list + skip, '$', bytes - skip))
            return false;
        int used = snprintf(path, PATH_MAX, "%.*s%.*s/%s", skip ? (int)(strrchr(object, '/') - object) : 0, object,
                            (int)(bytes - skip), list + skip, name);
        *found = used < PATH_MAX && access(path, F_OK) == 0;
        list += bytes;
    }
    return true;
}

/* Adds the library to those that are to be looked at. Returns false if it is not certain which one it is. */
static bool search_add(struct search *search, const struct folders *folders, const char *name)
{
    char path[PATH_MAX];
    bool found;
    uint64_t hash = hash_text(name);
    for (size_t i = 0; i < search->count; i++)
        if (search->libraries[i].hash == hash && strcmp(search->libraries[i].name, name) == 0)
            return true;
    if (folders->first && strchr(folders->first, '$')) /* for the loader, $ORIGIN in it is the program's folder */
        return false;
    if (search->count == MOST_LIBRARIES || !folders_have(folders->first, folders->object, name, path, &found) ||
        (!found && !folders_have(folders->own, folders->object, name, path, &found)))
        return false;
    const char *place = found ? path : cache_path(search, name);
    if (!place)
        return false;
    search->libraries[search->count].hash = hash;
    search->libraries[search->count].name = strdup(name);
    search->libraries[search->count].path = strdup(place);
    search->count++;
    return search->libraries[search->count - 1].name && search->libraries[search->count - 1].path;
}

static bool is_of_interest(const struct search *search, const char *name)
{
    static const char *const parts[] = {"omp", "libmpi", "libasan", "libclang_rt", "/", "$"};
    for (size_t i = search->runtimes ? 0 : 1; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static bool object_read(const struct object *object, void *to, size_t bytes, uint64_t offset)
{
    if (offset <= object->first_bytes && bytes <= object->first_bytes - offset)
        return memcpy(to, object->first + offset, bytes);
    return pread(object->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool object_read_headers(struct object *object)
{
    ElfW(Ehdr) elf;
    ssize_t got = pread(object->fd, object->first, FIRST_BYTES, 0);
    object->first_bytes = got > 0 ? (size_t)got : 0;
    if (!object_read(object, &elf, sizeof(elf), 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(ElfW(Phdr)) || elf.e_phoff % 8 != 0 ||
        elf.e_phoff > object->first_bytes || elf.e_phnum > (object->first_bytes - elf.e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    object->segments = (const ElfW(Phdr) *)(object->first + elf.e_phoff);
    object->segment_count = elf.e_phnum;
    return true;
}

/* Reads the dynamic section. */
static bool object_read_entries(struct object *object)
{
    object->entry_count = object->text_bytes = 0;
    uint64_t strings = 0;
    for (size_t i = 0; i < object->segment_count && !object->entry_count; i++) {
        size_t bytes = object->segments[i].p_filesz;
        if (object->segments[i].p_type != PT_DYNAMIC)
            continue;
        if (bytes > sizeof(object->entries) ||
            !object_read(object, object->entries, bytes, object->segments[i].p_offset))
            return false;
        while (object->entry_count < bytes / sizeof(ElfW(Dyn)) && object->entries[object->entry_count].d_tag != DT_NULL)
            object->entry_count++;
    }
    for (size_t i = 0; i < object->entry_count; i++)
        if (object->entries[i].d_tag == DT_STRTAB)
            strings = object->entries[i].d_un.d_ptr;
    for (size_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].p_type == PT_LOAD && strings >= object->segments[i].p_vaddr &&
            strings - object->segments[i].p_vaddr < object->segments[i].p_filesz) {
            object->strings = strings - object->segments[i].p_vaddr + object->segments[i].p_offset;
            return object->entry_count > 0;
        }
    return false;
}

/* Returns a string of the object, which is valid until the next call; NULL if it cannot be read, or is long. */
static const char *object_text(struct object *object, uint64_t offset)
{
    for (int tries = 0; tries < 2; tries++) {
        uint64_t in = object->strings + offset - object->text_at;
        if (in < object->text_bytes && memchr(object->text + in, '\0', object->text_bytes - in))
            return object->text + in;
        ssize_t got = tries ? 0 : pread(object->fd, object->text, TEXT_BYTES, (off_t)(object->strings + offset));
        object->text_at = object->strings + offset;
        object->text_bytes = got > 0 ? (size_t)got : 0;
    }
    return NULL;
}

/* Adds the libraries that the object needs. Returns false if it has other entries that matter. */
static bool search_add_needed(struct search *search, struct folders *folders)
{
    struct object *object = &search->object;
    char own[TEXT_BYTES];
    for (size_t i = 0; i < object->entry_count; i++) {
        int64_t tag = object->entries[i].d_tag;
        if (tag == DT_RPATH || tag == DT_AUDIT || tag == DT_DEPAUDIT || tag == DT_FILTER || tag == DT_AUXILIARY)
            return false;
        const char *text = tag == DT_RUNPATH ? object_text(object, object->entries[i].d_un.d_val) : NULL;
        if (tag == DT_RUNPATH && !text)
            return false;
        if (text)
            folders->own = strcpy(own, text);
    }
    for (size_t i = 0; i < object->entry_count; i++) {
        if (object->entries[i].d_tag != DT_NEEDED)
            continue;
        const char *name = object_text(object, object->entries[i].d_un.d_val);
        if (!name || is_of_interest(search, name) || !search_add(search, folders, name))
            return false;
    }
    return true;
}

/* Returns whether the program's loader is the system's. */
static bool object_has_loader(const struct object *object)
{
    char text[sizeof(LOADER)];
    for (size_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].p_type == PT_INTERP && object->segments[i].p_filesz == sizeof(LOADER) &&
            object_read(object, text, sizeof(text), object->segments[i].p_offset) &&
            memcmp(text, LOADER, sizeof(LOADER)) == 0)
            return true;
    return false;
}

/* Adds what the file needs. `program`: whether it is one, whose loader must be the system's. */
static bool search_look_at(struct search *search, const char *path, bool program)
{
    struct folders folders = {.first = getenv("LD_LIBRARY_PATH"), .object = path};
    struct object *object = &search->object;
    object->fd = open(path, O_RDONLY | O_CLOEXEC);
    bool plain = object->fd >= 0 && object_read_headers(object) && (!program || object_has_loader(object)) &&
                 object_read_entries(object) && search_add_needed(search, &folders);
    if (object->fd >= 0)
        close(object->fd);
    return plain;
}

bool elf_is_plain(const char *path, bool runtimes)
{
    const char *preloaded = getenv("LD_PRELOAD");
    char program[PATH_MAX];
    struct search *search = calloc(1, sizeof(*search));
    if (!search || (preloaded && *preloaded) || access("/etc/ld.so.preload", F_OK) == 0 || !realpath(path, program)) {
        free(search);
        return false;
    }
    search->runtimes = runtimes;
    bool plain = cache_open(search) && search_look_at(search, program, true);
    for (size_t i = 0; plain && i < search->count; i++)
        plain = search_look_at(search, search->libraries[i].path, false);
    for (size_t i = 0; i < search->count; i++) {
        free(search->libraries[i].name);
        free(search->libraries[i].path);
    }
    free(search->cache_before);
    if (search->cache)
        munmap((void *)search->cache, search->cache_bytes);
    free(search);
    return plain;
}
