/* Code in more places than there is room for. The unit itself is part of this one. */
#include "unwind/loadmap.c"

#include "tests/unit/unit.h"

#define PAGE 4096ul

static const struct loadmap_range *keep(uintptr_t number)
{
    struct loadmap_range range = {.start = number * PAGE, .end = number * PAGE + PAGE, .module_id = 1};
    return keep_range(&range, range.start);
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
    return loadmap_init() ? 0 : -1;
}

UNIT_MAIN(set_up, NULL)
