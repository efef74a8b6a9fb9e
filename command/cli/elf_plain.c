#include "command/cli/elf_plain.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
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

#define MOST_LIBRARIES 128

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
    const char *paths[MOST_LIBRARIES]; /* texts of the cache, all different */
    size_t count;
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

/* Adds the library to those that are to be looked at. Returns false if the cache does not have it. Copies for newer
 * processors need the same libraries as the copy for all. */
static bool search_add(struct search *search, const char *name)
{
    const struct cache *cache = search->cache;
    for (uint32_t i = 0; i < cache->count; i++) {
        if (cache->libraries[i].flags != CACHE_MACHINE || cache->libraries[i].capabilities ||
            strcmp(cache_text(search, cache->libraries[i].name), name) != 0)
            continue;
        const char *path = cache_text(search, cache->libraries[i].path);
        for (size_t j = 0; j < search->count; j++)
            if (search->paths[j] == path)
                return true;
        if (search->count == MOST_LIBRARIES)
            return false;
        search->paths[search->count++] = path;
        return true;
    }
    return false;
}

static bool is_of_interest(const char *name)
{
    static const char *const parts[] = {"omp", "libmpi", "libasan", "libclang_rt", "/", "$"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

/* Adds the libraries that a section of dynamic entries names. Returns false if it has other entries that matter. */
static bool search_add_needed(struct search *search, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH || entry.d_tag == DT_AUDIT ||
            entry.d_tag == DT_DEPAUDIT || entry.d_tag == DT_FILTER || entry.d_tag == DT_AUXILIARY)
            return false;
        const char *name = entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;
        if (entry.d_tag == DT_NEEDED && (!name || is_of_interest(name) || !search_add(search, name)))
            return false;
    }
    return data != NULL;
}

/* Adds what the file needs. `program`: whether it is one, whose loader must be the system's. */
static bool search_look_at(struct search *search, const char *path, bool program)
{
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
            plain = search_add_needed(search, elf, section, &header);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return plain;
}

bool elf_is_plain(const char *path)
{
    const char *folders = getenv("LD_LIBRARY_PATH"), *preloaded = getenv("LD_PRELOAD");
    struct search search = {0};
    if ((folders && *folders) || (preloaded && *preloaded) || access("/etc/ld.so.preload", F_OK) == 0)
        return false;
    elf_version(EV_CURRENT);
    bool plain = cache_open(&search) && search_look_at(&search, path, true);
    for (size_t i = 0; plain && i < search.count; i++)
        plain = search_look_at(&search, search.paths[i], false);
    if (search.cache)
        munmap((void *)search.cache, search.cache_bytes);
    return plain;
}
