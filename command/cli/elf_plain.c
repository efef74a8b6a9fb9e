#include "command/cli/elf_plain.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define LOADER        "/lib64/ld-linux-x86-64.so.2"
#define CACHE_MACHINE 0x0303
#elif defined(__aarch64__)
#define LOADER        "/lib/ld-linux-aarch64.so.1"
#define CACHE_MACHINE 0x0a03
#endif

#define MOST_LIBRARIES 1024

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
    bool runtimes; /* whether OpenMP runtimes are of interest */
    /* malloc'ed; the loader, too, looks for each name once */
    struct {
        char *name, *path;
    } libraries[MOST_LIBRARIES];
    size_t count;
};

/* Where the loader looks for what an object needs, before it looks into its cache. */
struct folders {
    const char *first, *own; /* LD_LIBRARY_PATH, DT_RUNPATH; separated by colons; NULL: none */
    const char *object;      /* the object's path, whose folder is $ORIGIN */
};

static const char *cache_text(const struct search *search, uint32_t offset)
{
    bool ends = offset < search->cache_bytes &&
                memchr((const char *)search->cache + offset, '\0', search->cache_bytes - offset) != NULL;
    return ends ? (const char *)search->cache + offset : "";
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
           search->cache->count < (search->cache_bytes - sizeof(struct cache)) / sizeof(search->cache->libraries[0]);
}

/* Returns the path of the library; NULL if the cache does not have it. Copies for newer processors need the same libraries
 * as the copy for all. */
static const char *cache_path(const struct search *search, const char *name)
{
    const struct cache *cache = search->cache;
    for (uint32_t i = 0; i < cache->count; i++)
        if (cache->libraries[i].flags == CACHE_MACHINE && !cache->libraries[i].capabilities &&
            strcmp(cache_text(search, cache->libraries[i].name), name) == 0)
            return cache_text(search, cache->libraries[i].path);
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
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->libraries[i].name, name) == 0)
            return true;
    if (folders->first && strchr(folders->first, '$')) /* for the loader, $ORIGIN in it is the program's folder */
        return false;
    if (search->count == MOST_LIBRARIES || !folders_have(folders->first, folders->object, name, path, &found) ||
        (!found && !folders_have(folders->own, folders->object, name, path, &found)))
        return false;
    const char *place = found ? path : cache_path(search, name);
    if (!place)
        return false;
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

/* Adds the libraries that a section of dynamic entries names. Returns false if it has other entries that matter. */
static bool search_add_needed(struct search *search, struct folders *folders, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    gelf_getshdr(section, &header);
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag == DT_RPATH || entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT ||
            entry.d_tag == DT_FILTER || entry.d_tag == DT_AUXILIARY)
            return false;
        if (entry.d_tag == DT_RUNPATH && !(folders->own = elf_strptr(elf, header.sh_link, entry.d_un.d_val)))
            return false;
    }
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name = entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
        if (entry.d_tag == DT_NEEDED && (!name || is_of_interest(search, name) || !search_add(search, folders, name)))
            return false;
    }
    return data != NULL;
}

/* Adds what the file needs. `program`: whether it is one, whose loader must be the system's. */
static bool search_look_at(struct search *search, const char *path, bool program)
{
    struct folders folders = {.first = getenv("LD_LIBRARY_PATH"), .object = path};
    GElf_Shdr header;
    GElf_Phdr segment;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    bool plain = false, loader = !program;
    for (int i = 0; elf && !loader && gelf_getphdr(elf, i, &segment); i++) {
        const char *text = segment.p_type == PT_INTERP ? elf_rawfile(elf, NULL) + segment.p_offset : NULL;
        loader = text && segment.p_filesz == sizeof(LOADER) && memcmp(text, LOADER, sizeof(LOADER)) == 0;
    }
    for (Elf_Scn *section = NULL; loader && elf && (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
            plain = search_add_needed(search, &folders, elf, section);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
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
    elf_version(EV_CURRENT);
    bool plain = cache_open(search) && search_look_at(search, program, true);
    for (size_t i = 0; plain && i < search->count; i++)
        plain = search_look_at(search, search->libraries[i].path, false);
    for (size_t i = 0; i < search->count; i++) {
        free(search->libraries[i].name);
        free(search->libraries[i].path);
    }
    if (search->cache)
        munmap((void *)search->cache, search->cache_bytes);
    free(search);
    return plain;
}
