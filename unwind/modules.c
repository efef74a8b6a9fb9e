#include "unwind/modules.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/launched.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "base/os_file.h"

#define MAX_HEADERS 32u
/* number of bytes read from the start of a file, which contain its headers, and in small files also the notes */
#define FIRST_BYTES    1024u
#define MAX_COPY_BYTES (64u << 20)
#define MAX_IMAGES     (256u << 20) /* maximum total size of all files that are mapped whole */
#define ADDING_TRIES   10000u
/* maximum size in bytes of a .debug_frame section that is read in a handler; this takes 0.2 ms, or 0.5 ms if
 * the section is not sorted */
#define MAX_LATE_BYTES (256u << 10)

static struct {
    struct loadmap_module *list; /* LOADMAP_MAX_MODULES entries, of which the first `count` are in use */
    uint32_t count;
    uint32_t functions; /* number of entries in `list` that are functions (struct module_function) */
    uint32_t adding;    /* 1 while a thread is adding a module, which takes a few hundred ns */
    uintptr_t vdso;
    /* number of bytes of files that may still be mapped whole; 0 from the start if the process's memory is
     * limited */
    int64_t image_room;
    bool locked; /* whether the process's memory was locked at the start */
    struct launched *launched;
    struct reading *reading; /* of all modules at the start; NULL after it: each has a mapping of its own */
    bool started;
    char *strings;
    size_t strings_left;
} modules;

/* The data read about one module. It has a mapping of its own, because it is too large for a small stack. */
struct reading {
    struct loadmap_module module;
    uintptr_t start;
    /* descriptor of the module's file; -1 if there is no file whose contents are those that are mapped */
    int fd;
    size_t count;
    ElfW(Phdr) headers[MAX_HEADERS];
    char in_file[FIRST_BYTES], in_memory[FIRST_BYTES];
    char notes[1024];
    char path[PATH_MAX];
    struct debug_frame_room sections;
};

static const void *module_keep_string(const void *memory, size_t bytes)
{
    if (bytes > modules.strings_left) {
        size_t block = bytes > 65536 ? bytes : 65536;
        modules.strings = os_map(block);
        modules.strings_left = modules.strings ? block : 0;
        if (!modules.strings)
            return NULL;
    }
    char *kept = modules.strings;
    memcpy(kept, memory, bytes);
    modules.strings += bytes;
    modules.strings_left -= bytes;
    return kept;
}

static void module_read_build_id(struct reading *reading, const ElfW(Phdr) * segment)
{
    struct loadmap_module *module = &reading->module;
    const char *buffer = reading->notes;
    size_t bytes = segment->p_memsz < sizeof(reading->notes) ? segment->p_memsz : sizeof(reading->notes);
    uintptr_t from = segment->p_vaddr + module->load_bias - reading->start;
    if (from <= FIRST_BYTES && bytes <= FIRST_BYTES - from)
        buffer = reading->in_memory + from;
    else if (!os_copy_memory(reading->notes, segment->p_vaddr + module->load_bias, bytes))
        return;
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) note;
        memcpy(&note, buffer + at, sizeof(note));
        size_t name = at + sizeof(note), desc = name + ((note.n_namesz + 3u) & ~3u);
        if (desc > bytes || note.n_descsz > bytes - desc)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(buffer + name, "GNU", 4) == 0 &&
            note.n_descsz <= sizeof(module->build_id)) {
            module->build_id_bytes = note.n_descsz;
            module->mark_vaddr = segment->p_vaddr + desc;
            memcpy(module->build_id, buffer + desc, note.n_descsz);
            return;
        }
        at = desc + ((note.n_descsz + 3u) & ~3u);
    }
}

static bool read_module_headers(struct reading *reading)
{
    ElfW(Ehdr) elf;
    if (!os_copy_memory(reading->in_memory, reading->start, FIRST_BYTES))
        return false;
    memcpy(&elf, reading->in_memory, sizeof(elf));
    if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(ElfW(Phdr)) || elf.e_phnum == 0)
        return false;
    reading->count = elf.e_phnum < MAX_HEADERS ? elf.e_phnum : MAX_HEADERS;
    reading->module.first_hash = hash_words(reading->in_memory, FIRST_BYTES / sizeof(uint64_t));
    size_t bytes = reading->count * sizeof(reading->headers[0]);
    if (elf.e_phoff > FIRST_BYTES - bytes || bytes > FIRST_BYTES)
        return os_copy_memory(reading->headers, reading->start + elf.e_phoff, bytes);
    memcpy(reading->headers, reading->in_memory + elf.e_phoff, bytes);
    return true;
}

/* Finds the module's link-time ranges, and its load bias from the first loadable segment, which contains file
 * offset 0. */
static bool read_module_range(struct reading *reading)
{
    struct loadmap_module *module = &reading->module;
    bool found = false;
    uint32_t code = 0;
    for (size_t i = 0; i < reading->count; i++) {
        const ElfW(Phdr) *header = &reading->headers[i];
        uintptr_t end = header->p_vaddr + header->p_memsz;
        if (header->p_type != PT_LOAD)
            continue;
        if (!found) {
            module->vaddr_low = header->p_vaddr & ~(uintptr_t)4095;
            module->load_bias = reading->start - (module->vaddr_low - (header->p_offset & ~(uintptr_t)4095));
        }
        found = true;
        if (end > module->vaddr_high)
            module->vaddr_high = end;
        if ((header->p_flags & PF_X) && code < MODULE_MAX_CODE) {
            module->code[code].start = header->p_vaddr & ~(uintptr_t)4095;
            module->code[code++].end = (end + 4095) & ~(uintptr_t)4095;
        }
    }
    module->first_vaddr = reading->start - module->load_bias;
    return found;
}

static void read_module_notes(struct reading *reading)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->headers[i].p_type == PT_NOTE && !reading->module.build_id_bytes)
            module_read_build_id(reading, &reading->headers[i]);
}

/* Finds the module's path by the loader's name. It may be relative to the directory that was current when the
 * module was loaded; the path from /proc/self/maps is then used. */
static bool find_module_path(struct reading *reading, const struct module_place *place)
{
    if (place->name && os_copy_text(reading->path, sizeof(reading->path), place->name) &&
        (reading->path[0] == '/' || !place->path))
        return true;
    size_t bytes = place->path ? strlen(place->path) + 1 : sizeof(reading->path) + 1;
    return bytes <= sizeof(reading->path) && memcpy(reading->path, place->path, bytes);
}

/* Opens the file if its contents are those that are mapped. Inode numbers cannot show this, because
 * overlay file systems report different ones. */
static bool open_module_file(struct reading *reading, const char *path)
{
    reading->fd = os_open_read(path);
    if (reading->fd < 0)
        return false;
    if (os_read(reading->fd, reading->in_file, FIRST_BYTES) == FIRST_BYTES &&
        memcmp(reading->in_file, reading->in_memory, FIRST_BYTES) == 0)
        return true;
    os_close(reading->fd);
    reading->fd = -1;
    return false;
}

/* Finds the module's path and opens its file. The path from /proc/self/maps is the one that the kernel would give for the
 * file. */
static bool find_module_file(struct reading *reading, const struct module_place *place)
{
    size_t bytes = place->path && place->path[0] == '/' ? strlen(place->path) + 1 : 0;
    if (reading->module.flags & PROFILE_MODULE_VDSO)
        return memcpy(reading->path, "[vdso]", sizeof("[vdso]"));
    if (bytes && bytes <= sizeof(reading->path) && open_module_file(reading, place->path))
        return memcpy(reading->path, place->path, bytes);
    if (!find_module_path(reading, place))
        return false;
    if (open_module_file(reading, reading->path[0] ? reading->path : "/proc/self/exe"))
        os_file_path(reading->fd, reading->path, sizeof(reading->path));
    return true;
}

/* Uses the file contents of a deleted or renamed library that libblame-loader.so mapped earlier. */
static void module_take_launched_image(struct reading *reading)
{
    struct loadmap_module *module = &reading->module;
    for (size_t i = 0; modules.launched && modules.launched->images && i < LAUNCHED_IMAGES; i++) {
        struct launched_image *image = &modules.launched->images[i];
        uint32_t there = LAUNCHED_THERE;
        if (load_relaxed(&image->base) != module->load_bias || !compare_exchange(&image->state, &there, LAUNCHED_HELD))
            continue;
        bool same = image->bytes >= FIRST_BYTES &&
                    os_copy_memory(reading->in_file, (uintptr_t)image->data, FIRST_BYTES) &&
                    memcmp(reading->in_file, reading->in_memory, FIRST_BYTES) == 0;
        if (same) {
            module->image = image->data;
            module->image_bytes = image->bytes;
        }
        store_release(&image->state, same ? LAUNCHED_FREE : LAUNCHED_THERE);
        if (same)
            return;
    }
}

/* Returns whether mapped files would be locked in memory. The answer takes 20 us: at the start, it is the same for all
 * libraries. */
static bool module_is_locked(void)
{
    return modules.started ? os_memory_is_locked() : modules.locked;
}

/* Maps the whole file, so that its symbols are available at the end of the run even if the file has been
 * deleted by then. */
static void map_module_image(struct reading *reading)
{
    struct loadmap_module *module = &reading->module;
    struct os_file file = reading->fd >= 0 ? os_file_of(reading->fd) : (struct os_file){0, 0};
    size_t bytes = file.bytes;
    if (reading->fd < 0 && !(module->flags & PROFILE_MODULE_VDSO))
        module_take_launched_image(reading);
    if (!bytes || bytes > MAX_COPY_BYTES || (int64_t)bytes > load_relaxed(&modules.image_room) || module_is_locked())
        return;
    module->image = os_map_file(reading->fd, 0, bytes);
    module->image_bytes = module->image ? bytes : 0;
    module->file_state = file.state;
    if (module->image)
        /* this may make image_room negative if several threads do it at once */
        fetch_sub_acq_rel(&modules.image_room, (int64_t)bytes);
}

/* Maps the segment with the unwind tables (L2) from the file, or copies it from memory if there is no such
 * file. The vDSO has no file, but it is never unloaded. */
static void map_module_view(struct reading *reading, const ElfW(Phdr) * segment)
{
    struct loadmap_module *module = &reading->module;
    uintptr_t address = segment->p_vaddr + module->load_bias, skip = segment->p_offset & 4095;
    module->view_vaddr = segment->p_vaddr;
    module->view_bytes = segment->p_filesz;
    if (module->flags & PROFILE_MODULE_VDSO) {
        module->view = (const char *)address;
    } else if (segment->p_offset < module->image_bytes &&
               segment->p_filesz <= module->image_bytes - segment->p_offset) {
        module->view = module->image + segment->p_offset;
    } else if (reading->fd >= 0) {
        module->view = os_map_file(reading->fd, segment->p_offset - skip, segment->p_filesz + skip);
        module->view += module->view ? skip : 0;
    }
    if (module->view || segment->p_filesz > MAX_COPY_BYTES)
        return;
    char *copy = os_map(segment->p_filesz);
    if (copy && os_copy_memory(copy, address, segment->p_filesz))
        module->view = copy;
    else if (copy)
        os_unmap(copy, segment->p_filesz);
}

static void read_module_tables(struct reading *reading)
{
    struct loadmap_module *module = &reading->module;
    const ElfW(Phdr) *headers = reading->headers;
    for (size_t i = 0; i < reading->count; i++) {
        if (headers[i].p_type != PT_GNU_EH_FRAME)
            continue;
        module->eh_frame_header = headers[i].p_vaddr;
        module->eh_frame_header_bytes = headers[i].p_memsz;
        for (size_t j = 0; j < reading->count; j++)
            if (headers[j].p_type == PT_LOAD && headers[i].p_vaddr >= headers[j].p_vaddr &&
                headers[i].p_vaddr < headers[j].p_vaddr + headers[j].p_filesz)
                map_module_view(reading, &headers[j]);
    }
}

static void module_read_debug_frame(struct reading *reading)
{
    struct loadmap_module *module = &reading->module;
    ElfW(Ehdr) elf;
    if (reading->fd < 0)
        return;
    memcpy(&elf, reading->in_file, sizeof(elf));
    module->debug_frame = debug_frame_read(reading->fd, &elf, module->vaddr_low, module->vaddr_high,
                                           modules.started ? MAX_LATE_BYTES : MAX_COPY_BYTES, &reading->sections);
}

static bool is_same_module(const struct loadmap_module *known, const struct loadmap_module *read, const char *path)
{
    return known->first_hash == read->first_hash && known->build_id_bytes == read->build_id_bytes &&
           memcmp(known->build_id, read->build_id, read->build_id_bytes) == 0 && strcmp(known->path, path) == 0;
}

static uint32_t known_module_number(const struct reading *reading, uint32_t first)
{
    for (uint32_t i = first; i < load_acquire(&modules.count); i++)
        if (is_same_module(&modules.list[i], &reading->module, reading->path))
            return i + 1;
    return 0;
}

static bool begin_adding_module(void)
{
    uint32_t expected = 0;
    for (uint32_t tries = 0; tries < ADDING_TRIES; tries++, expected = 0)
        if (compare_exchange(&modules.adding, &expected, 1))
            return true;
    return false; /* another thread lost its core while it was adding a module; the next sample tries again */
}

static uint32_t add_module(struct reading *reading, uint32_t searched)
{
    if (!begin_adding_module())
        return 0;
    uint32_t number = known_module_number(reading, searched);
    if (!number && modules.count < LOADMAP_MAX_MODULES) {
        struct loadmap_module *module = &modules.list[modules.count];
        *module = reading->module;
        module->path = module_keep_string(reading->path, strlen(reading->path) + 1);
        module->mark = module->build_id;
        module->mark_bytes = module->build_id_bytes;
        if (module->build_id_bytes == 0) {
            module->mark = module_keep_string(reading->in_memory, FIRST_BYTES);
            module->mark_vaddr = module->first_vaddr;
            module->mark_bytes = FIRST_BYTES;
        }
        number = module->path && module->mark ? modules.count + 1 : 0;
        if (number)
            store_release(&modules.count, number);
    }
    store_release(&modules.adding, 0);
    return number;
}

static uint32_t read_new_module(struct reading *reading, const struct module_place *place)
{
    if (!read_module_headers(reading) || !read_module_range(reading) || !find_module_file(reading, place))
        return 0;
    if (reading->path[0] != '/' && reading->path[0] != '[')
        /* the path is relative and does not exist; a later reading of the map will give the absolute path */
        return 0;
    read_module_notes(reading);
    uint32_t searched = loadmap_module_count(), number = known_module_number(reading, 0);
    if (number || searched == LOADMAP_MAX_MODULES)
        return number;
    map_module_image(reading);
    read_module_tables(reading);
    module_read_debug_frame(reading);
    /* if another thread has added the module in the meantime, the memory that this thread has mapped stays
     * unused */
    return add_module(reading, searched);
}

uint32_t module_number(const struct module_place *place)
{
    struct reading *reading = modules.reading ? modules.reading : os_map(sizeof(*reading));
    if (!reading)
        return 0;
    memset(&reading->module, 0, sizeof(reading->module));
    reading->start = place->start;
    reading->fd = -1;
    if (place->start == modules.vdso)
        reading->module.flags = PROFILE_MODULE_VDSO | PROFILE_MODULE_SYSTEM;
    uint32_t number = read_new_module(reading, place);
    if (number)
        store_relaxed(&modules.list[number - 1].load_bias, reading->module.load_bias);
    if (reading->fd >= 0)
        os_close(reading->fd);
    if (reading != modules.reading)
        os_unmap(reading, sizeof(*reading));
    return number;
}

static uint32_t known_module_function(uint64_t digest, uint32_t first)
{
    for (uint32_t i = first; i < load_acquire(&modules.count); i++)
        if ((modules.list[i].flags & PROFILE_MODULE_PYTHON) && modules.list[i].first_hash == digest)
            return i + 1;
    return 0;
}

static uint32_t add_module_function(const struct module_function *function)
{
    if (modules.functions == LOADMAP_MAX_FUNCTIONS || modules.count == LOADMAP_MAX_MODULES)
        return 0;
    struct loadmap_module *module = &modules.list[modules.count];
    *module = (struct loadmap_module){.flags = PROFILE_MODULE_PYTHON,
                                      .first_hash = function->digest,
                                      .build_id_bytes = sizeof(function->digest),
                                      .vaddr_low = function->first_line,
                                      .vaddr_high = function->first_line,
                                      .path = module_keep_string(function->path, strlen(function->path) + 1),
                                      .function = module_keep_string(function->name, strlen(function->name) + 1)};
    memcpy(module->build_id, &function->digest, sizeof(function->digest));
    if (!module->path || !module->function)
        return 0;
    modules.functions++;
    store_release(&modules.count, modules.count + 1);
    return modules.count;
}

uint32_t module_function(const struct module_function *function)
{
    uint32_t searched = loadmap_module_count(), number = known_module_function(function->digest, 0);
    if (number || !begin_adding_module())
        return number;
    number = known_module_function(function->digest, searched);
    if (!number)
        number = add_module_function(function);
    store_release(&modules.adding, 0);
    return number;
}

bool modules_init(void)
{
    modules.vdso = getauxval(AT_SYSINFO_EHDR);
    modules.started = false;
    modules.locked = os_memory_is_locked();
    modules.image_room = os_memory_is_limited() ? 0 : MAX_IMAGES;
    if (!modules.list)
        modules.list = os_map(LOADMAP_MAX_MODULES * sizeof(*modules.list));
    modules.reading = os_map(sizeof(*modules.reading));
    return modules.list != NULL;
}

void modules_launched(struct launched *launched)
{
    modules.launched = launched;
}

uint32_t modules_opened(void)
{
    return modules.launched ? load_acquire(&modules.launched->opened) : 0;
}

void modules_started(void)
{
    if (modules.reading)
        os_unmap(modules.reading, sizeof(*modules.reading));
    modules.reading = NULL;
    modules.started = true;
}

void modules_forked(void)
{
    store_relaxed(&modules.adding, 0);
}

const struct loadmap_module *loadmap_module(uint32_t module_id)
{
    if (module_id == 0 || module_id > load_acquire(&modules.count))
        return NULL;
    return &modules.list[module_id - 1];
}

uint32_t loadmap_module_count(void)
{
    return load_acquire(&modules.count);
}

void module_flag(uint32_t module_id, uint32_t flags)
{
    if (loadmap_module(module_id))
        modules.list[module_id - 1].flags |= flags;
}
