/* needs: tests/unit/fake_clock.c */
/* Maps that differ all the time, and code in more places than there is room for. The unit itself is part of this one. */
#include "unwind/loadmap.c"

#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "tests/unit/fake_clock.h"

#define PAGES 64
#define PAGE  4096ul

static char *pages; /* one of them is executable */
static size_t executable;

static void move_code(void)
{
    mprotect(pages + executable * PAGE, PAGE, PROT_READ);
    executable = (executable + 1) % PAGES;
    mprotect(pages + executable * PAGE, PAGE, PROT_READ | PROT_EXEC);
}

/* How many readings change the map in ten seconds with a sample each hundredth, between which the code moves. */
static unsigned changes(void)
{
    unsigned count = 0;
    for (int i = 0; i < 1000; i++) {
        fake_now_ns += 10000000;
        move_code();
        count += loadmap_refresh_sometimes();
    }
    return count;
}

UNIT_TEST(maps_that_have_taken_much_are_read_less_often)
{
    assert_true(changes() > 300); /* a reading may take some samples */
    for (int i = 0; i < 2500; i++) {
        move_code();
        loadmap_refresh();
    }
    assert_in_range(changes(), 5, 30); /* 13 MB: each half a second or so */
}

static const struct loadmap_range *keep(uintptr_t number)
{
    struct loadmap_range range = {.start = number * PAGE, .end = number * PAGE + PAGE, .module_id = 1};
    return loadmap_keep_range(&range, range.start);
}

UNIT_TEST(beyond_the_room_for_places_nothing_is_counted)
{
    uintptr_t kept = 0;
    while (keep(kept))
        kept++;
    assert_in_range(kept, MAX_RANGES / 2, MAX_RANGES);
    for (uintptr_t i = 1; i < 10; i++)
        assert_null(keep(kept + i));
    assert_int_equal(loadmap.loaded_count, MAX_RANGES);
    assert_ptr_equal(keep(kept / 2), keep(kept / 2)); /* what is there is found */
    assert_non_null(keep(kept / 2));
}

static int set_up(void **unused)
{
    (void)unused;
    pages = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED && loadmap_init() ? 0 : -1;
}

UNIT_MAIN(set_up, NULL)
