#include "unwind/loadmap.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/os.h"
#include "unwind/linked.h"
#include "unwind/maps.h"

#define MAX_RANGES  16384u
#define LOADED_BITS 12
/* maximum number of known ranges at one address that are compared with the memory */
#define MAX_SAME_PLACE   8u
#define REFRESH_EVERY_NS 1000000000ull
/* after a slice (a bounded part of a reading), the pause before the next one, as a multiple of the slice's
 * CPU time */
#define REFRESH_PAUSE 100
#define SLICE_LINES   160 /* number of lines of /proc/self/maps read in one slice, which takes about 0.2 ms */
/* a file seen for the first time counts as this many lines, because its headers are read and mapped */
#define FILE_LINES 16
#define FREE_BYTES (8u << 20) /* total size of all snapshots in bytes up to which there is no extra delay */
#define BYTE_NS    100        /* extra delay in ns for each byte beyond FREE_BYTES */

/* The executable ranges that do not belong to objects known to the loader. */
struct snapshot {
    size_t count;
    struct loadmap_range ranges[];
};

/* A range of an object known to the loader. */
struct loaded {
    struct loadmap_range range;
    uintptr_t object; /* address at which the object starts */
    uint32_t next;    /* 1 + index of the next older range whose object's start has the same hash; 0: none */
    uint32_t gone;    /* 1: other code was in this memory when it was last checked */
};

uint32_t loadmap_generations;

static struct {
    uint64_t due_ns;        /* time of the next refresh by loadmap_refresh_by_time() */
    uint64_t not_before_ns; /* time until which unknown addresses cause no refresh */
    uint32_t busy;          /* 1 while a thread is reading the map */
    uint32_t asked;         /* 1: a part was to be read since the last whole reading */
    uint32_t opened;        /* modules_opened() before the last whole reading */
    struct snapshot *current;
    size_t snapshot_bytes; /* total size of all snapshots; none is ever freed */
    struct loaded *loaded; /* MAX_RANGES entries, of which the first loaded_count are in use */
    /* number of entries in use; may be slightly too high, because threads that find no room also raise it */
    uint32_t loaded_count;
    /* for each hash of an object's start: 1 + index of the newest range; 0: none */
    uint32_t newest[1u << LOADED_BITS];
    /* the unfinished reading of /proc/self/maps, of which each sample may read one slice */
    struct maps_reader reader;
    int left;                      /* number of lines that the current slice may still read */
    struct loadmap_range *scratch; /* MAX_RANGES entries into which the map is read */
    size_t scratch_count;
    struct {
        uintptr_t at, start, end;
    } first_stack; /* of the process's first thread, at the start, and an address in it */
    struct {
        /* the file to which the last line belonged: address of its first byte, and end of its last mapping so
         * far */
        uintptr_t start, end;
        uint64_t device, inode;
    } mapped;
} loadmap = {.reader.fd = -1};

static bool loadmap_range_contains(const struct loadmap_range *range, uintptr_t address)
{
    return address >= range->start && address < range->end;
}

static bool loadmap_range_has_mark(const struct loadmap_range *range, const struct loadmap_module *module)
{
    char found[LINKED_MAX_BYTES];
    uintptr_t mark = range->load_bias + module->mark_vaddr;
    return os_copy_memory(found, mark, module->mark_bytes) && memcmp(found, module->mark, module->mark_bytes) == 0;
}

bool loadmap_is_true(const struct loadmap_range *range)
{
    const struct loadmap_module *module = loadmap_module(range->module_id);
    if (range->permanent || !module)
        return true;
    if (range->name.bytes == 0)
        return loadmap_range_has_mark(range, module);
    return linked_has(range->start, &range->name, range->load_bias + module->mark_vaddr, module->mark,
                      module->mark_bytes);
}

bool loadmap_is_callers(const struct loadmap_range *range)
{
    const struct loadmap_module *module = loadmap_module(range->module_id);
    if (range->permanent || !module)
        return true;
    return linked_has_callers(range->start, &range->name, range->load_bias + module->mark_vaddr, module->mark,
                              module->mark_bytes) ||
           loadmap_is_true(range);
}

static uint32_t *loadmap_newest_range(uintptr_t start)
{
    return &loadmap.newest[hash_number(start >> 12) >> (64 - LOADED_BITS)];
}

/* Notes that a range's code has been replaced (gone = 1) or is back (0). If that is a change, raises the
 * generation, so that all threads notice. */
static void loadmap_note_range_gone(struct loaded *loaded, uint32_t gone)
{
    if (likely(load_relaxed(&loaded->gone) == gone))
        return;
    store_relaxed(&loaded->gone, gone);
    fetch_add_acq_rel(&loadmap_generations, 1u);
}

static bool loadmap_range_is_loaded(struct loaded *loaded)
{
    uint32_t gone = !loadmap_is_true(&loaded->range);
    loadmap_note_range_gone(loaded, gone);
    return !gone;
}

/* Returns the known range that contains the address; NULL if there is none, or its code has been replaced. */
static const struct loadmap_range *loadmap_known_range(const struct linked_object *object, uintptr_t address)
{
    uint32_t looked_at = 0;
    for (uint32_t at = load_acquire(loadmap_newest_range(object->start)); at; at = loadmap.loaded[at - 1].next) {
        struct loaded *loaded = &loadmap.loaded[at - 1];
        if (loaded->object != object->start || !loadmap_range_contains(&loaded->range, address))
            continue;
        if (loadmap_range_is_loaded(loaded))
            return &loaded->range;
        if (++looked_at == MAX_SAME_PLACE)
            break;
    }
    return NULL;
}

/* Returns the known range that equals this one, updating the address of its name, or adds the range. If two
 * threads add the same range at the same time, both entries are valid. */
static const struct loadmap_range *loadmap_keep_range(const struct loadmap_range *range, uintptr_t object)
{
    uint32_t *newest = loadmap_newest_range(object), first = load_acquire(newest);
    for (uint32_t at = first; at; at = loadmap.loaded[at - 1].next) {
        struct loaded *loaded = &loadmap.loaded[at - 1];
        if (loaded->range.module_id != range->module_id || loaded->range.start != range->start ||
            loaded->range.load_bias != range->load_bias || loaded->range.name.hash != range->name.hash)
            continue;
        store_relaxed(&loaded->range.name.address, range->name.address);
        loadmap_note_range_gone(loaded, 0);
        return &loaded->range;
    }
    uint32_t index =
        load_relaxed(&loadmap.loaded_count) < MAX_RANGES ? fetch_add_relaxed(&loadmap.loaded_count, 1u) : MAX_RANGES;
    if (index >= MAX_RANGES)
        return NULL;
    struct loaded *loaded = &loadmap.loaded[index];
    *loaded = (struct loaded){.range = *range, .object = object, .next = first};
    while (!compare_exchange(newest, &loaded->next, index + 1)) /* L1, pairs with the load in loadmap_known_range() */
        ;
    return &loaded->range;
}

/* Returns the range that contains the address, in an object known to the loader. Reads the module's headers
 * if necessary. `path` is from a line of the map, or NULL; it is used if the loader does not know an absolute
 * path. */
static const struct loadmap_range *loadmap_learn_object(const struct linked_object *object, uintptr_t address,
                                                        const char *path)
{
    const struct loadmap_range *known = loadmap_known_range(object, address);
    if (known)
        return known;
    bool permanent = linked_is_permanent(object->start);
    struct linked_name name = {0};
    if (!permanent) /* only what can be unloaded is told from others by its name */
        linked_read_name(object, &name);
    struct module_place place = {object->start, permanent ? linked_name_of_permanent(object) : name.address, path};
    uint32_t number = module_number(&place);
    const struct loadmap_module *module = loadmap_module(number);
    if (!module)
        return NULL;
    uintptr_t bias = object->start - module->first_vaddr, vaddr = address - bias;
    for (uint32_t i = 0; i < MODULE_MAX_CODE; i++) {
        if (vaddr < module->code[i].start || vaddr >= module->code[i].end)
            continue;
        struct loadmap_range range = {
            module->code[i].start + bias, module->code[i].end + bias, bias, number, permanent, name};
        return loadmap_keep_range(&range, object->start);
    }
    return NULL;
}

static const struct loadmap_range *loadmap_find_in_snapshot(uintptr_t address)
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

/* Returns the module of the line's file; 0 if the file is not an ELF file. If the last snapshot has the same
 * module at this address, no headers are read. */
static uint32_t loadmap_mapped_module(const struct maps_line *line)
{
    const struct loadmap_range *before = loadmap_find_in_snapshot(line->start);
    const struct loadmap_module *module = before ? loadmap_module(before->module_id) : NULL;
    if (module && before->load_bias + module->first_vaddr == loadmap.mapped.start && loadmap_is_true(before))
        return before->module_id;
    return module_number(&(struct module_place){loadmap.mapped.start, 0, line->path});
}

static void loadmap_take_code(const struct maps_line *line, bool of_file)
{
    struct linked_object object;
    struct loadmap_range range = {.start = line->start, .end = line->end};
    if (linked_find(line->start, &object)) {
        loadmap_learn_object(&object, line->start, line->path);
        return;
    }
    if (loadmap.scratch_count == MAX_RANGES)
        return;
    range.module_id = of_file ? loadmap_mapped_module(line) : 0;
    if (range.module_id) {
        range.load_bias = loadmap.mapped.start - loadmap_module(range.module_id)->first_vaddr;
        range.permanent = linked_is_permanent(loadmap.mapped.start);
    }
    loadmap.scratch[loadmap.scratch_count++] = range;
}

/* Adds the line's mapping if it is executable. A line with offset 0 is the start of a file, unless it
 * directly follows another mapping of that file. */
static void loadmap_take_line(const struct maps_line *line)
{
    if (!loadmap.first_stack.end && loadmap.first_stack.at >= line->start && loadmap.first_stack.at < line->end) {
        loadmap.first_stack.start = line->start;
        loadmap.first_stack.end = line->end;
    }
    bool vdso = strcmp(line->path, "[vdso]") == 0;
    bool same = line->inode && line->inode == loadmap.mapped.inode && line->device == loadmap.mapped.device;
    bool goes_on = same && line->start == loadmap.mapped.end;
    if (vdso || (line->inode && line->offset == 0 && line->readable && !goes_on)) {
        loadmap.mapped.start = line->start;
        loadmap.mapped.inode = line->inode;
        loadmap.mapped.device = line->device;
        same = true;
    }
    if (same)
        loadmap.mapped.end = line->end;
    uint32_t modules = loadmap_module_count();
    if (line->executable)
        loadmap_take_code(line, same);
    if (loadmap_module_count() != modules)
        loadmap.left -= FILE_LINES;
}

static bool loadmap_take_line_of_slice(const struct maps_line *line, void *unused)
{
    (void)unused;
    loadmap_take_line(line);
    return --loadmap.left > 0;
}

static bool loadmap_take_line_of_all(const struct maps_line *line, void *unused)
{
    (void)unused;
    loadmap_take_line(line);
    return true;
}

static bool loadmap_begin_reading(void)
{
    loadmap.scratch_count = 0;
    memset(&loadmap.mapped, 0, sizeof(loadmap.mapped));
    return maps_open(&loadmap.reader);
}

/* Publishes a complete reading as the new snapshot. Returns false if it equals the old snapshot. */
static bool loadmap_publish(void)
{
    const struct snapshot *old = loadmap.current;
    size_t bytes = loadmap.scratch_count * sizeof(struct loadmap_range);
    if (old && old->count == loadmap.scratch_count && memcmp(old->ranges, loadmap.scratch, bytes) == 0)
        return false;
    struct snapshot *snapshot = os_map(sizeof(*snapshot) + bytes);
    if (snapshot) {
        loadmap.snapshot_bytes += (sizeof(*snapshot) + bytes + 4095) & ~(size_t)4095;
        snapshot->count = loadmap.scratch_count;
        memcpy(snapshot->ranges, loadmap.scratch, bytes);
        store_release(&loadmap.current, snapshot); /* L1, pairs with the load in loadmap_find_in_snapshot() */
        fetch_add_acq_rel(&loadmap_generations, 1u);
    }
    return true;
}

/* Returns an extra delay before the next reading, in ns. It keeps a program that maps and unmaps code all the
 * time from filling memory with snapshots. */
static uint64_t loadmap_growth_delay_ns(void)
{
    return loadmap.snapshot_bytes > FREE_BYTES ? (loadmap.snapshot_bytes - FREE_BYTES) * BYTE_NS : 0;
}

/* Reads one slice. The first slice opens the file, the last one publishes the result. Returns true if the map
 * has changed. */
static bool loadmap_read_slice(void)
{
    if (loadmap.reader.fd < 0 && !loadmap_begin_reading())
        return false;
    loadmap.left = SLICE_LINES;
    enum maps_status status = maps_go_on(&loadmap.reader, loadmap_take_line_of_slice, NULL);
    if (status == MAPS_STOPPED)
        return false;
    maps_close(&loadmap.reader);
    return status == MAPS_END && loadmap_publish();
}

bool loadmap_refresh_sometimes(void)
{
    uint64_t begin_ns = clock_now_ns();
    uint32_t expected = 0;
    store_relaxed(&loadmap.asked, 1);
    if (begin_ns < load_relaxed(&loadmap.not_before_ns) || !compare_exchange(&loadmap.busy, &expected, 1))
        return false;
    /* The pause is a multiple of the CPU time. If it were a multiple of the elapsed time, a thread that lost
     * its core during a slice would delay all other threads' refreshes a hundred times as long. The elapsed
     * time is added once, because the thread may have waited for another that was changing the map. */
    uint64_t begin_cpu_ns = clock_thread_cpu_ns();
    bool changed = loadmap_read_slice();
    uint64_t spent_ns = clock_thread_cpu_ns() - begin_cpu_ns, end_ns = clock_now_ns();
    uint64_t not_before_ns =
        end_ns + (end_ns - begin_ns) + REFRESH_PAUSE * spent_ns + (changed ? loadmap_growth_delay_ns() : 0);
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

bool loadmap_refresh(void)
{
    uint32_t expected = 0;
    if (!compare_exchange(&loadmap.busy, &expected, 1))
        return false;
    maps_close(&loadmap.reader);
    store_relaxed(&loadmap.asked, 0);
    loadmap.opened = modules_opened();
    bool changed = loadmap_begin_reading() && maps_go_on(&loadmap.reader, loadmap_take_line_of_all, NULL) == MAPS_END &&
                   loadmap_publish();
    maps_close(&loadmap.reader);
    store_relaxed(&loadmap.due_ns, clock_now_ns() + REFRESH_EVERY_NS);
    store_release(&loadmap.busy, 0);
    return changed;
}

bool loadmap_refresh_at_end(void)
{
    bool same = loadmap.opened && loadmap.opened == modules_opened() && !load_relaxed(&loadmap.asked);
    return !same && loadmap_refresh();
}

void loadmap_forked(void)
{
    maps_close(&loadmap.reader);
    store_relaxed(&loadmap.busy, 0);
    modules_forked();
}

bool loadmap_init(void)
{
    if (!loadmap.loaded)
        loadmap.loaded = os_map(MAX_RANGES * sizeof(*loadmap.loaded));
    if (!loadmap.scratch)
        loadmap.scratch = os_map(MAX_RANGES * sizeof(*loadmap.scratch));
    if (!modules_init() || !loadmap.loaded || !loadmap.scratch)
        return false;
    linked_init();
    loadmap.first_stack.at = getauxval(AT_EXECFN);
    loadmap_refresh();
    modules_started();
    return loadmap.current != NULL;
}

const struct loadmap_range *loadmap_find(uintptr_t address)
{
    struct linked_object object;
    if (linked_find(address, &object))
        return loadmap_known_range(&object, address);
    const struct loadmap_range *range = loadmap_find_in_snapshot(address);
    return range && loadmap_is_true(range) ? range : NULL;
}

const struct loadmap_range *loadmap_learn(uintptr_t address)
{
    struct linked_object object;
    return linked_find(address, &object) ? loadmap_learn_object(&object, address, NULL) : loadmap_find(address);
}

void loadmap_flag(uintptr_t address, uint32_t flags)
{
    const struct loadmap_range *range = loadmap_find(address);
    if (range)
        module_flag(range->module_id, flags);
}

static bool loadmap_find_mapping_end(const struct maps_line *line, void *wanted)
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
    if (address >= loadmap.first_stack.start && address < loadmap.first_stack.end)
        return loadmap.first_stack.end;
    maps_read(loadmap_find_mapping_end, &result);
    return result == address ? 0 : result;
}
