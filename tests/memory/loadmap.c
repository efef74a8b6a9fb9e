/* What was learnt of libraries, and the snapshot of what the loader does not know: L1. The unit itself is part of this one. */
#include "unwind/loadmap.c"

#include "tests/memory/scenarios.h"

#define RANGES   6
#define OBJECT   0x700000ul
#define READINGS 5

static GHOST struct {
    uint64_t told[RANGES];
    unsigned ended;
} ghost;

uint32_t loadmap_module_count(void)
{
    return 0;
}

const struct loadmap_module *loadmap_module(uint32_t module_id)
{
    (void)module_id;
    return NULL; /* so nothing is looked at in the program's memory */
}

static uintptr_t start_of(unsigned number)
{
    return OBJECT + 0x1000 * number;
}

static bool is_whole(const struct loadmap_range *range, uintptr_t address, uintptr_t bias)
{
    return range->start <= address && range->end == range->start + 0x1000 && range->load_bias == range->start + bias &&
           range->permanent;
}

static void begin(void)
{
    loadmap.loaded = os_map(MAX_RANGES * sizeof(*loadmap.loaded));
    loadmap.scratch = os_map(MAX_RANGES * sizeof(*loadmap.scratch));
}

/* Both learn the same ones, in another order. */
static void keep_all(unsigned step)
{
    for (unsigned i = 0; i < RANGES; i++) {
        unsigned number = (i * step) % RANGES;
        uintptr_t start = start_of(number);
        struct loadmap_range range = {.start = start, .end = start + 0x1000, .load_bias = start + 7, .permanent = 1};
        model_check(loadmap_keep_range(&range, OBJECT) != NULL, "no room");
        ghost.told[number] = model_now();
    }
    ghost.ended++;
}

static void keep_forth(void)
{
    keep_all(1);
}

static void keep_back(void)
{
    keep_all(RANGES - 1);
}

static void find_known(void)
{
    struct linked_object object = {.start = OBJECT};
    for (unsigned i = 0; ghost.ended < 2; i++) {
        unsigned number = (unsigned)model_random(RANGES);
        uintptr_t address = start_of(number) + 5;
        uint64_t told = ghost.told[number];
        bool is_old = told && told + model_staleness() < model_now();
        const struct loadmap_range *range = loadmap_known_range(&object, address);
        model_check(!range || (range->start == start_of(number) && is_whole(range, address, 7)),
                    "range %u is not whole", number);
        model_check(range || !is_old, "range %u is lost", number);
        model_pause();
    }
}

const struct scenario scenario_ranges = {"ranges", "L1", begin, {keep_forth, keep_back, find_known, find_known},
                                         NULL,     300};

/* ---- the snapshot ---- */

static void read_maps(void)
{
    for (unsigned reading = 0; reading < READINGS; reading++) {
        uint32_t expected = 0;
        if (!compare_exchange(&loadmap.busy, &expected, 1)) { /* as loadmap_refresh() does */
            model_pause();
            continue;
        }
        uintptr_t bias = 16 * model_random(3);
        for (loadmap.scratch_count = 0; loadmap.scratch_count < RANGES; loadmap.scratch_count++) {
            uintptr_t start = start_of((unsigned)loadmap.scratch_count);
            loadmap.scratch[loadmap.scratch_count] = (struct loadmap_range){
                .start = start, .end = start + 0x1000, .load_bias = start + bias, .permanent = 1};
        }
        loadmap_publish();
        store_release(&loadmap.busy, 0);
    }
    ghost.ended++;
}

static void find_read(void)
{
    while (ghost.ended < 2) {
        uint32_t generation = loadmap_generation();
        uintptr_t address = start_of((unsigned)model_random(RANGES)) + 5;
        const struct loadmap_range *range = loadmap_find_in_snapshot(address);
        model_check(range || !generation, "a map was read, and has no such range");
        model_check(!range || is_whole(range, address, (range->load_bias - range->start) & 48), "a range is not whole");
        const struct snapshot *snapshot = load_acquire(&loadmap.current);
        for (size_t i = 1; snapshot && i < RANGES; i++)
            model_check(snapshot->ranges[i].load_bias - snapshot->ranges[i].start ==
                            snapshot->ranges[0].load_bias - snapshot->ranges[0].start,
                        "ranges of two readings");
        model_pause();
    }
}

const struct scenario scenario_snapshot = {"snapshot", "L1", begin, {read_maps, read_maps, find_read, find_read},
                                           NULL,       3000};
