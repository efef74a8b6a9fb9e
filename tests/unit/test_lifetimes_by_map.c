/* libs: -rdynamic */
/* programs: $(UNIT_LIBRARIES) */
/* As with a C library whose loader cannot be asked by address (glibc before 2.35): libraries are found in the map,
 * at its next reading, and one that was replaced is not taken for what it was before that either. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <limits.h>

#include "unwind/loadmap.h"

/* In the C library's place for whoever looks it up. */
__attribute__((visibility("default"))) int _dl_find_object(void *address, struct dl_find_object *result)
{
    (void)address, (void)result;
    return -1;
}

static void *load(const char *name, uintptr_t *address)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/unit/%s", getenv("BUILD") ? getenv("BUILD") : "build", name);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail_msg("%s", dlerror());
    *address = (uintptr_t)dlsym(library, "loaded_call");
    return library;
}

static const char *path_at(uintptr_t address)
{
    const struct loadmap_range *range = loadmap_learn(address);
    return range ? loadmap_module(range->module_id)->path : "";
}

UNIT_TEST(what_took_a_librarys_place_is_not_taken_for_it)
{
    uintptr_t first, second;
    void *library = load("loaded.so", &first);
    assert_string_equal(path_at(first), ""); /* so the loader is not asked */
    loadmap_refresh();
    assert_non_null(strstr(path_at(first), "/loaded.so"));
    dlclose(library);
    assert_string_equal(path_at(first), "");
    library = load("loaded_other.so", &second);
    assert_int_equal(second, first);
    assert_string_equal(path_at(second), "");
    loadmap_refresh();
    assert_non_null(strstr(path_at(second), "/loaded_other.so"));
    dlclose(library);
}

UNIT_TEST(what_stays_is_known_all_the_time)
{
    assert_true(loadmap_find((uintptr_t)load)->permanent);
    assert_true(loadmap_find((uintptr_t)dlsym(RTLD_DEFAULT, "strtol"))->permanent);
    loadmap_refresh();
    uint32_t count = loadmap_module_count();
    assert_false(loadmap_refresh());
    assert_int_equal(loadmap_module_count(), count);
}

static int setup(void **unused)
{
    (void)unused;
    return loadmap_init() ? 0 : -1;
}

UNIT_MAIN(setup, NULL)
