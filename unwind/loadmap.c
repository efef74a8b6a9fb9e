#include "unwind/loadmap.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "unwind/maps.h"

#define MAX_RANGES       16384u
#define MAX_HEADERS      32u
#define SAME_BYTES       768
#define REFRESH_EVERY_NS 1000000000ull
#define REFRESH_PAUSE    100 /* times the duration of a slice until the next */
#define SLICE_LINES      160 /* of the map read in one sample: some 0.2 ms */
#define FILE_LINES       16  /* that an unknown file is worth: its headers are read and mapped */
#define MAX_COPY_BYTES   (64u << 20)

struct snapshot {
    size_t count;
    struct loadmap_range ranges[];
};

static struct {
    struct loadmap_module *modules; /* LOADMAP_MAX_MODULES, filled up to module_count */
    uint32_t module_count;
    uint32_t generation;
    uint64_t due_ns;        /* of the next refresh by time */
    uint64_t not_before_ns; /* no refresh for a miss before this time */
    uint32_t busy;          /* 1 while a thread reads the maps */
    struct snapshot *current;
    struct maps_reader reader;     /* of a reading that is under way, in slices, a sample each */
    int left;                      /* lines that the slice may read yet */
    struct loadmap_range *scratch; /* MAX_RANGES, for the thread that is busy */
    size_t scratch_count;
    uint32_t mapped_module; /* module of the file that the lines being read belong to */
    uintptr_t mapped_bias;
    uint64_t mapped_device, mapped_inode;
    uint32_t next_known; /* index of the module that was found last, + 1: they mostly keep their order */
    char *strings;
    size_t strings_left;
} loadmap = {.reader.fd = -1};

static const char *keep_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (bytes > loadmap.strings_left) {
        size_t block = bytes > 65536 ? bytes : 65536;
        loadmap.strings = os_map(block);
        loadmap.strings_left = loadmap.strings ? block : 0;
        if (!loadmap.strings)
            return "";
    }
    char *kept = loadmap.strings;
    memcpy(kept, text, bytes);
    loadmap.strings += bytes;
    loadmap.strings_left -= bytes;
    return kept;
}

static void read_build_id(struct loadmap_module *module, uintptr_t notes, size_t bytes)
{
    char buffer[1024];
    if (bytes > sizeof(buffer))
        bytes = sizeof(buffer);
    if (!os_copy_memory(buffer, notes, bytes))
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
            memcpy(module->build_id, buffer + desc, note.n_descsz);
            return;
        }
        at = desc + ((note.n_descsz + 3u) & ~3u);
    }
}

/* True if the file is what is mapped at start: inode numbers differ on overlay file systems, contents do not.
 */
static bool is_same_file(int fd, uintptr_t start)
{
    char in_file[SAME_BYTES], in_memory[SAME_BYTES];
    return os_read(fd, in_file, SAME_BYTES) == SAME_BYTES && os_copy_memory(in_memory, start, SAME_BYTES) &&
           memcmp(in_file, in_memory, SAME_BYTES) == 0;
}

static const char *view_of_file(const struct loadmap_module *module, const ElfW(Phdr) * segment,
                                uintptr_t start)
{
    uintptr_t skip = segment->p_offset & 4095;
    const char *bytes = NULL;
    int fd = os_open_read(module->path);
    if (fd < 0)
        return NULL;
    if (is_same_file(fd, start))
        bytes = os_map_file(fd, segment->p_offset - skip, segment->p_filesz + skip);
    os_close(fd);
    return bytes ? bytes + skip : NULL;
}

/* The segment with the unwind tables (L2): from the file, or a copy when the file has gone. The vDSO has no
 * file and is never unloaded. */
static void map_view(struct loadmap_module *module, const ElfW(Phdr) * segment, uintptr_t start)
{
    uintptr_t address = segment->p_vaddr + module->load_bias;
    module->view_vaddr = segment->p_vaddr;
    module->view_bytes = segment->p_filesz;
    module->view =
        module->flags & PROFILE_MODULE_VDSO ? (const char *)address : view_of_file(module, segment, start);
    if (module->view || segment->p_filesz > MAX_COPY_BYTES)
        return;
    char *copy = os_map(segment->p_filesz);
    if (copy && os_copy_memory(copy, address, segment->p_filesz))
        module->view = copy;
    else if (copy)
        os_unmap(copy, segment->p_filesz);
}

static bool read_headers(uintptr_t start, ElfW(Phdr) * headers, size_t *count)
{
    ElfW(Ehdr) elf;
    if (!os_copy_memory(&elf, start, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (elf.e_phentsize != sizeof(ElfW(Phdr)) || elf.e_phnum == 0)
        return false;
    *count = elf.e_phnum < MAX_HEADERS ? elf.e_phnum : MAX_HEADERS;
    return os_copy_memory(headers, start + elf.e_phoff, *count * sizeof(ElfW(Phdr)));
}

/* Link-time range and load bias, from the first loadable segment, which the mapping of offset 0 belongs to.
 */
static bool read_range(struct loadmap_module *module, const ElfW(Phdr) * headers, size_t count,
                       uintptr_t start)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (headers[i].p_type != PT_LOAD)
            continue;
        if (!found) {
            module->vaddr_low = headers[i].p_vaddr & ~(uintptr_t)4095;
            module->load_bias = start - (module->vaddr_low - (headers[i].p_offset & ~(uintptr_t)4095));
        }
        found = true;
        if (headers[i].p_vaddr + headers[i].p_memsz > module->vaddr_high)
            module->vaddr_high = headers[i].p_vaddr + headers[i].p_memsz;
    }
    return found;
}

static void read_tables(struct loadmap_module *module, const ElfW(Phdr) * headers, size_t count,
                        uintptr_t start)
{
    for (size_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_NOTE && !module->build_id_bytes)
            read_build_id(module, headers[i].p_vaddr + module->load_bias, headers[i].p_memsz);
        if (headers[i].p_type != PT_GNU_EH_FRAME)
            continue;
        module->eh_frame_header = headers[i].p_vaddr;
        module->eh_frame_header_bytes = headers[i].p_memsz;
        for (size_t j = 0; j < count; j++)
            if (headers[j].p_type == PT_LOAD && headers[i].p_vaddr >= headers[j].p_vaddr &&
                headers[i].p_vaddr < headers[j].p_vaddr + headers[j].p_filesz)
                map_view(module, &headers[j], start);
    }
}

static bool is_module(const struct loadmap_module *known, const struct maps_line *line)
{
    return known->inode == line->inode && known->device == line->device &&
           strcmp(known->path, line->path) == 0;
}

/* The number of the file if it was seen before, else 0: its headers need not be read again. */
static uint32_t known_module(const struct maps_line *line)
{
    uint32_t count = loadmap.module_count, at = loadmap.next_known < count ? loadmap.next_known : 0;
    for (uint32_t tried = 0; tried < count; tried++, at = at + 1 < count ? at + 1 : 0)
        if (is_module(&loadmap.modules[at], line)) {
            loadmap.next_known = at + 1;
            return at + 1;
        }
    return 0;
}

/* The number of the file mapped at line->start with offset 0; 0 when it is no ELF file or the table is full.
 */
static uint32_t module_of(const struct maps_line *line, uintptr_t *bias)
{
    ElfW(Phdr) headers[MAX_HEADERS];
    size_t count = 0;
    struct loadmap_module fresh = {.device = line->device, .inode = line->inode};
    bool vdso = strcmp(line->path, "[vdso]") == 0;
    uint32_t number = known_module(line);
    if (number) {
        struct loadmap_module *known = &loadmap.modules[number - 1];
        *bias = line->start - known->first_vaddr;
        store_relaxed(&known->load_bias, *bias);
        return number;
    }
    if (!read_headers(line->start, headers, &count) || !read_range(&fresh, headers, count, line->start))
        return 0;
    *bias = fresh.load_bias;
    fresh.first_vaddr = line->start - fresh.load_bias;
    if (loadmap.module_count == LOADMAP_MAX_MODULES)
        return 0;
    loadmap.left -= FILE_LINES;
    fresh.path = keep_string(line->path);
    fresh.flags = vdso ? PROFILE_MODULE_VDSO | PROFILE_MODULE_SYSTEM : 0;
    read_tables(&fresh, headers, count, line->start);
    loadmap.modules[loadmap.module_count] = fresh;
    store_release(&loadmap.module_count, loadmap.module_count + 1);
    return loadmap.module_count;
}

/* Collects executable ranges; a line with offset 0 opens its file's module. */
static void take_line(const struct maps_line *line)
{
    bool vdso = strcmp(line->path, "[vdso]") == 0;
    bool same = line->inode && line->inode == loadmap.mapped_inode && line->device == loadmap.mapped_device;
    if (same && loadmap.mapped_module) {
        /* A segment of the module that is being read may start at offset 0 again. */
        const struct loadmap_module *module = &loadmap.modules[loadmap.mapped_module - 1];
        same = line->start < loadmap.mapped_bias + module->vaddr_high;
    }
    if (vdso || (line->inode && line->offset == 0 && line->readable && !same)) {
        loadmap.mapped_module = module_of(line, &loadmap.mapped_bias);
        loadmap.mapped_inode = line->inode;
        loadmap.mapped_device = line->device;
        same = true;
    }
    if (!line->executable || loadmap.scratch_count == MAX_RANGES)
        return;
    loadmap.scratch[loadmap.scratch_count++] = (struct loadmap_range){
        .start = line->start,
        .end = line->end,
        .load_bias = same && loadmap.mapped_module ? loadmap.mapped_bias : 0,
        .module_id = same ? loadmap.mapped_module : 0,
    };
}

static bool take_line_of_slice(const struct maps_line *line, void *unused)
{
    (void)unused;
    take_line(line);
    return --loadmap.left > 0;
}

static bool take_line_of_all(const struct maps_line *line, void *unused)
{
    (void)unused;
    take_line(line);
    return true;
}

static bool begin_reading(void)
{
    loadmap.scratch_count = 0;
    loadmap.mapped_module = 0;
    loadmap.mapped_inode = 0;
    return maps_open(&loadmap.reader);
}

/* What was read becomes the map, if it differs. */
static bool publish(void)
{
    const struct snapshot *old = loadmap.current;
    size_t bytes = loadmap.scratch_count * sizeof(struct loadmap_range);
    if (old && old->count == loadmap.scratch_count && memcmp(old->ranges, loadmap.scratch, bytes) == 0)
        return false;
    struct snapshot *snapshot = os_map(sizeof(*snapshot) + bytes);
    if (snapshot) {
        snapshot->count = loadmap.scratch_count;
        memcpy(snapshot->ranges, loadmap.scratch, bytes);
        store_release(&loadmap.current, snapshot); /* L1, pairs with loadmap_find() */
        store_release(&loadmap.generation, loadmap.generation + 1);
    }
    return true;
}

/* One slice; the first one begins a reading, the last one publishes it. */
static bool read_slice(void)
{
    if (loadmap.reader.fd < 0 && !begin_reading())
        return false;
    loadmap.left = SLICE_LINES;
    enum maps_status status = maps_go_on(&loadmap.reader, take_line_of_slice, NULL);
    if (status == MAPS_STOPPED)
        return false;
    maps_close(&loadmap.reader);
    return status == MAPS_END && publish();
}

bool loadmap_refresh_sometimes(void)
{
    uint64_t begin_ns = clock_now_ns();
    uint32_t expected = 0;
    if (begin_ns < load_relaxed(&loadmap.not_before_ns) || !compare_exchange(&loadmap.busy, &expected, 1))
        return false;
    bool changed = read_slice();
    uint64_t end_ns = clock_now_ns(), not_before_ns = end_ns + REFRESH_PAUSE * (end_ns - begin_ns);
    store_relaxed(&loadmap.not_before_ns, not_before_ns);
    store_relaxed(&loadmap.due_ns, loadmap.reader.fd >= 0 ? not_before_ns : end_ns + REFRESH_EVERY_NS);
    store_release(&loadmap.busy, 0);
    return changed;
}

void loadmap_refresh_by_time(void)
{
    if (clock_now_ns() >= load_relaxed(&loadmap.due_ns))
        loadmap_refresh_sometimes();
}

uint32_t loadmap_generation(void)
{
    return load_acquire(&loadmap.generation);
}

bool loadmap_refresh(void)
{
    uint32_t expected = 0;
    if (!compare_exchange(&loadmap.busy, &expected, 1))
        return false;
    maps_close(&loadmap.reader);
    bool changed =
        begin_reading() && maps_go_on(&loadmap.reader, take_line_of_all, NULL) == MAPS_END && publish();
    maps_close(&loadmap.reader);
    store_release(&loadmap.busy, 0);
    return changed;
}

void loadmap_forked(void)
{
    maps_close(&loadmap.reader);
    store_relaxed(&loadmap.busy, 0);
}

bool loadmap_init(void)
{
    if (!loadmap.modules)
        loadmap.modules = os_map(LOADMAP_MAX_MODULES * sizeof(*loadmap.modules));
    if (!loadmap.scratch)
        loadmap.scratch = os_map(MAX_RANGES * sizeof(*loadmap.scratch));
    if (!loadmap.modules || !loadmap.scratch)
        return false;
    loadmap_refresh();
    return loadmap.current != NULL;
}

const struct loadmap_range *loadmap_find(uintptr_t address)
{
    const struct snapshot *snapshot = load_acquire(&loadmap.current);
    size_t low = 0, high = snapshot ? snapshot->count : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address < snapshot->ranges[middle].start)
            high = middle;
        else if (address >= snapshot->ranges[middle].end)
            low = middle + 1;
        else
            return &snapshot->ranges[middle];
    }
    return NULL;
}

const struct loadmap_module *loadmap_module(uint32_t module_id)
{
    if (module_id == 0 || module_id > load_acquire(&loadmap.module_count))
        return NULL;
    return &loadmap.modules[module_id - 1];
}

uint32_t loadmap_module_count(void)
{
    return load_acquire(&loadmap.module_count);
}

void loadmap_flag(uintptr_t address, uint32_t flags)
{
    const struct loadmap_range *range = loadmap_find(address);
    if (range && range->module_id)
        loadmap.modules[range->module_id - 1].flags |= flags;
}

static bool find_end(const struct maps_line *line, void *wanted)
{
    uintptr_t *address = wanted;
    if (*address < line->start || *address >= line->end)
        return true;
    *address = line->end;
    return false;
}

uintptr_t loadmap_mapping_end(uintptr_t address)
{
    uintptr_t result = address;
    maps_read(find_end, &result);
    return result == address ? 0 : result;
}
