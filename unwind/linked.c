#include "unwind/linked.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/atomics.h"
#include "base/bind.h"
#include "base/hash.h"
#include "base/os.h"

#define MAX_OBJECTS 4096u
#define MAX_NAME    256u /* number of bytes of a name that are compared */
#define PAGE_BYTES  4096u

/* An object in the dynamic loader's list. */
struct listed {
    uintptr_t start;
    const char *name; /* last part of the object's path */
    const char *soname;
    size_t name_bytes, soname_bytes;
    const ElfW(Dyn) * dynamic;
    const char *strings;
    bool stays;
    bool done; /* true once what it needs is marked */
};

static struct {
    int (*find)(void *address, struct dl_find_object *result);
    uintptr_t program, program_start; /* the program's link map, and the address of its first segment */
    /* start addresses of objects that are never unloaded, in ascending order */
    uintptr_t *permanent;
    size_t permanent_count;
} loader;

static const char *linked_name_without_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct list {
    struct listed *objects;
    size_t count;
};

static void linked_read_entry(struct listed *object, uintptr_t load_bias)
{
    uintptr_t strings = 0, soname = 0;
    for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            strings = entry->d_un.d_ptr < load_bias ? entry->d_un.d_ptr + load_bias : entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME)
            soname = entry->d_un.d_val;
    }
    object->strings = (const char *)strings;
    object->soname = strings && soname ? object->strings + soname : "";
    object->soname_bytes = strlen(object->soname);
}

static int linked_add_object(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct list *list = argument;
    struct listed *object = &list->objects[list->count];
    bool has_start = false;
    (void)bytes;
    if (list->count == MAX_OBJECTS)
        return 1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && !has_start) {
            has_start = true;
            object->start =
                info->dlpi_addr + (header->p_vaddr & ~(uintptr_t)4095) - (header->p_offset & ~(uintptr_t)4095);
        }
        if (header->p_type == PT_DYNAMIC)
            object->dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr);
    }
    object->name = linked_name_without_path(info->dlpi_name);
    object->name_bytes = strlen(object->name);
    linked_read_entry(object, info->dlpi_addr);
    list->count++;
    return 0;
}

/* Marks the first object with this name as staying until the process ends. Objects opened later come later in
 * the list. Returns true if the object was not marked before. */
static bool linked_mark_staying(struct list *list, const char *name, size_t bytes)
{
    for (size_t i = 0; i < list->count; i++) {
        struct listed *object = &list->objects[i];
        bool named = object->name_bytes == bytes && memcmp(object->name, name, bytes) == 0;
        bool known = object->soname_bytes == bytes && memcmp(object->soname, name, bytes) == 0;
        if (!named && !known)
            continue;
        bool fresh = !object->stays;
        object->stays = true;
        return fresh;
    }
    return false;
}

/* Marks the objects that this object needs (DT_NEEDED). Returns true if at least one was not marked before. */
static bool linked_mark_needed(struct list *list, const struct listed *object)
{
    bool fresh = false;
    for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && object->strings) {
            const char *name = linked_name_without_path(object->strings + entry->d_un.d_val);
            fresh |= linked_mark_staying(list, name, strlen(name));
        }
    return fresh;
}

/* Marks the objects that stay until the process ends: the program, the loader, the vDSO, this library (linked
 * so that it cannot be unloaded), preloaded libraries, and everything that these objects need. */
static void linked_mark_startup(struct list *list)
{
    struct linked_object self = {0};
    const char *preload = getenv("LD_PRELOAD");
    bool found_self = linked_find((uintptr_t)&linked_mark_startup, &self);
    for (size_t i = 0; i < list->count; i++) {
        uintptr_t start = list->objects[i].start;
        list->objects[i].stays = i == 0 || start == getauxval(AT_BASE) || start == getauxval(AT_SYSINFO_EHDR) ||
                                 (found_self && start == self.start);
    }
    for (size_t bytes; preload && *preload; preload += bytes + (preload[bytes] != '\0')) {
        bytes = strcspn(preload, " :");
        size_t folders = bytes;
        while (folders > 0 && preload[folders - 1] != '/')
            folders--;
        linked_mark_staying(list, preload + folders, bytes - folders);
    }
    for (bool fresh = true; fresh;) {
        fresh = false;
        for (size_t i = 0; i < list->count; i++)
            if (list->objects[i].stays && !list->objects[i].done) {
                list->objects[i].done = true;
                fresh |= linked_mark_needed(list, &list->objects[i]);
            }
    }
}

static void linked_add_permanent(uintptr_t start)
{
    size_t at = loader.permanent_count++;
    for (; at > 0 && loader.permanent[at - 1] > start; at--)
        loader.permanent[at] = loader.permanent[at - 1];
    loader.permanent[at] = start;
}

/* dl_iterate_phdr() holds its lock while this runs, so no object in the list can be unloaded. */
static int linked_find_permanent(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct list *list = argument;
    (void)info, (void)bytes;
    dl_iterate_phdr(linked_add_object, list);
    linked_mark_startup(list);
    loader.permanent_count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->objects[i].stays)
            linked_add_permanent(list->objects[i].start);
    return 1;
}

/* Finds the start of the program. The loader's own search is not enough: for an object that is not mapped as
 * one piece, such as a program with gaps between its segments, the search returns the start of a segment. */
static void linked_find_program_start(void)
{
    struct dl_find_object found;
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    if (!loader.find || loader.find((void *)getauxval(AT_ENTRY), &found) != 0)
        return;
    for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
        if (headers[i].p_type == PT_LOAD) {
            loader.program = (uintptr_t)found.dlfo_link_map;
            loader.program_start = found.dlfo_link_map->l_addr + (headers[i].p_vaddr & ~(uintptr_t)4095) -
                                   (headers[i].p_offset & ~(uintptr_t)4095);
            return;
        }
}

void linked_init(void)
{
    if (loader.permanent)
        return;
    struct list list = {os_map(MAX_OBJECTS * sizeof(struct listed)), 0};
    loader.find = (int (*)(void *, struct dl_find_object *))bind_find_in_libc("_dl_find_object");
    linked_find_program_start();
    loader.permanent = os_map(MAX_OBJECTS * sizeof(*loader.permanent));
    if (!list.objects || !loader.permanent)
        return;
    dl_iterate_phdr(linked_find_permanent, &list);
    os_unmap(list.objects, MAX_OBJECTS * sizeof(struct listed));
}

bool linked_find(uintptr_t address, struct linked_object *object)
{
    struct dl_find_object found;
    if (unlikely(!loader.find) || loader.find((void *)address, &found) != 0)
        return false;
    object->link_map = (uintptr_t)found.dlfo_link_map;
    object->start = object->link_map == loader.program ? loader.program_start : (uintptr_t)found.dlfo_map_start;
    return true;
}

void linked_read_name(const struct linked_object *object, struct linked_name *name)
{
    struct link_map record;
    char text[MAX_NAME];
    *name = (struct linked_name){0};
    if (!os_copy_memory(&record, object->link_map, sizeof(record)))
        return;
    uintptr_t from = (uintptr_t)record.l_name;
    size_t bytes = os_copy_text(text, MAX_NAME, from);
    if (!bytes)
        return;
    *name = (struct linked_name){from, hash_bytes(text, bytes), (uint32_t)bytes, 0};
}

uintptr_t linked_name_of_permanent(const struct linked_object *object)
{
    return (uintptr_t)((const struct link_map *)object->link_map)->l_name;
}

bool linked_has(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected, size_t bytes)
{
    struct link_map record;
    struct linked_object object;
    char text[MAX_NAME], found[LINKED_MAX_BYTES];
    if (bytes > sizeof(found) || !linked_find(address, &object))
        return false;
    uintptr_t at = load_relaxed(&name->address);
    const struct os_part parts[] = {
        {&record, object.link_map, sizeof(record)}, {text, at, name->bytes}, {found, from, bytes}};
    return os_copy_parts(parts, 3) && (uintptr_t)record.l_name == at && hash_bytes(text, name->bytes) == name->hash &&
           memcmp(found, expected, bytes) == 0;
}

bool linked_has_callers(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected,
                        size_t bytes)
{
    struct linked_object object;
    if (!linked_find(address, &object) || from - object.start > PAGE_BYTES - bytes)
        return false;
    const char *text = ((const struct link_map *)object.link_map)->l_name;
    return (uintptr_t)text == load_relaxed(&name->address) && hash_bytes(text, name->bytes) == name->hash &&
           memcmp((const void *)from, expected, bytes) == 0;
}

bool linked_is_permanent(uintptr_t start)
{
    size_t low = 0, high = loader.permanent_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (loader.permanent[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < loader.permanent_count && loader.permanent[low] == start;
}
