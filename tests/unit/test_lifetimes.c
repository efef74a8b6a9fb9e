/* programs: $(UNIT_LIBRARIES) */
/* Libraries that take each other's place: what was learnt of one is never said of the next. The map is not read
 * again in between. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <limits.h>

#include "base/os.h"
#include "ompt_tool/context/creation_memo.h"
#include "unwind/linked.h"
#include "unwind/loadmap.h"
#include "unwind/unwind.h"

static const char *library_path(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/unit/%s", getenv("BUILD") ? getenv("BUILD") : "build", name);
    return path;
}

/* Loads it with its code at the address, or anywhere when that is 0. */
static void *load_at(const char *path, uintptr_t wanted, uintptr_t *address)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail_msg("%s", dlerror());
    *address = (uintptr_t)dlsym(library, "loaded_call");
    if (wanted && *address != wanted)
        fail_msg("%s is not where the one before was", path);
    return library;
}

static const char *path_of(const struct loadmap_range *range)
{
    return range ? loadmap_module(range->module_id)->path : "";
}

/* One after the other at one address, three times: each time the one that is there is found. */
static void check_two(const char *one, const char *other)
{
    const char *paths[] = {one, other};
    uintptr_t address = 0;
    uint32_t ids[2] = {0, 0}, count = 0;
    for (int i = 0; i < 6; i++) {
        void *library = load_at(paths[i % 2], address, &address);
        const struct loadmap_range *range = loadmap_learn(address);
        assert_non_null(range);
        assert_true(loadmap_is_true(range) && loadmap_is_callers(range));
        assert_ptr_equal(loadmap_find(address), range);
        if (i < 2)
            ids[i] = range->module_id;
        else
            assert_int_equal(loadmap_module_count(), count); /* both are known */
        assert_int_equal(range->module_id, ids[i % 2]);
        assert_non_null(strstr(path_of(range), strrchr(paths[i % 2], '/')));
        count = loadmap_module_count();
        dlclose(library);
        assert_null(loadmap_find(address));
        assert_false(loadmap_is_true(range));
    }
    assert_true(ids[0] != ids[1]);
}

static char *text_copy(const char *text)
{
    static char copies[4][PATH_MAX];
    static int next;
    return strcpy(copies[next++ % 4], text);
}

UNIT_TEST(two_builds_at_one_address_are_two_modules)
{
    check_two(text_copy(library_path("loaded.so")), text_copy(library_path("loaded_other.so")));
}

UNIT_TEST(so_are_builds_without_an_id)
{
    check_two(text_copy(library_path("loaded_plain.so")), text_copy(library_path("loaded_plain_other.so")));
}

/* The bytes are the same, the name is not. */
UNIT_TEST(so_are_copies_of_one_file)
{
    const char *one = text_copy(unit_fresh_path()), *other = text_copy(unit_fresh_path());
    assert_true(os_copy_file(library_path("loaded.so"), one) && os_copy_file(library_path("loaded.so"), other));
    check_two(one, other);
    unit_clean();
}

UNIT_TEST(a_file_that_is_written_anew_is_another_module)
{
    const char *path = text_copy(unit_fresh_path());
    uintptr_t address = 0;
    uint32_t ids[2];
    for (int i = 0; i < 2; i++) {
        unlink(path);
        assert_true(os_copy_file(library_path(i ? "loaded_other.so" : "loaded.so"), path));
        void *library = load_at(path, address, &address);
        ids[i] = loadmap_learn(address)->module_id;
        dlclose(library);
    }
    assert_true(ids[0] != ids[1]);
    unit_clean();
}

UNIT_TEST(who_has_learnt_of_what_has_gone_is_told)
{
    uintptr_t address = 0;
    void *library = load_at(library_path("loaded.so"), 0, &address);
    loadmap_learn(address);
    uint32_t generation = loadmap_generation();
    loadmap_learn(address);
    assert_int_equal(loadmap_generation(), generation);
    dlclose(library);
    library = load_at(library_path("loaded_other.so"), address, &address);
    loadmap_learn(address);
    assert_true(loadmap_generation() != generation);
    dlclose(library);
}

/* More often than there is room for ranges, with the loader's strings in other places each time. */
UNIT_TEST(reloading_takes_no_room)
{
    uintptr_t address = 0;
    char *blocks[64] = {0};
    uint64_t random = 4711;
    for (int i = 0; i < 17000; i++) {
        char **block = &blocks[unit_random(&random) % 64];
        free(*block);
        *block = malloc(16 + unit_random(&random) % 100);
        void *library = load_at(library_path(i % 2 ? "loaded_other.so" : "loaded.so"), 0, &address);
        assert_non_null(loadmap_learn(address));
        dlclose(library);
    }
    for (int i = 0; i < 64; i++)
        free(blocks[i]);
}

UNIT_TEST(what_the_program_was_started_with_stays)
{
    uintptr_t address;
    void *library = load_at(library_path("loaded.so"), 0, &address);
    assert_true(loadmap_find((uintptr_t)check_two)->permanent);
    assert_true(loadmap_find((uintptr_t)dlsym(RTLD_DEFAULT, "strtol"))->permanent);
    assert_false(loadmap_learn(address)->permanent);
    dlclose(library);
}

/* A relative name is of no use where the program is elsewhere by now: the map has the path. */
UNIT_TEST(a_relative_name_becomes_a_path)
{
    char folder[PATH_MAX], here[PATH_MAX];
    uintptr_t address;
    const char *path = text_copy(unit_fresh_path());
    assert_true(os_copy_file(library_path("loaded_other.so"), path));
    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    assert_true(getcwd(here, sizeof(here)) && chdir(folder) == 0);
    char name[PATH_MAX];
    snprintf(name, sizeof(name), ".%s", strrchr(path, '/'));
    void *library = load_at(name, 0, &address);
    assert_int_equal(chdir("/"), 0);
    assert_null(loadmap_learn(address));
    loadmap_refresh();
    assert_string_equal(path_of(loadmap_find(address)), path);
    dlclose(library);
    assert_int_equal(chdir(here), 0);
    unit_clean();
}

/* A creation's path through a library is known as long as the library is there. */
UNIT_TEST(a_kept_path_through_a_library_goes_with_it)
{
    static uintptr_t stack[16];
    uintptr_t address = 0;
    void *library = load_at(library_path("loaded.so"), 0, &address);
    const struct loadmap_range *range = loadmap_learn(address);
    struct creation_memo *memo = creation_memo_make();
    struct creation_key key = {7, address + 8, (uintptr_t)&stack[2], (uintptr_t)&stack[8]};
    struct unwind_frame runtime = {.stack = (uintptr_t)stack, .cfa = (uintptr_t)&stack[4], .range = range};
    struct unwind_frame task = {.stack = (uintptr_t)&stack[4], .cfa = (uintptr_t)&stack[10], .range = range};
    runtime.recipe.rbp_offset = task.recipe.rbp_offset = -8 / RECIPE_R_UNIT;
    stack[3] = address + 8;
    creation_memo_begin(memo, &key);
    creation_memo_note(memo, &runtime);
    creation_memo_note(memo, &task);
    assert_true(creation_memo_keep(memo, false, 5));
    assert_int_equal(creation_memo_find(memo, &key), 5);
    dlclose(library);
    assert_int_equal(creation_memo_find(memo, &key), 0);
    library = load_at(library_path("loaded_other.so"), 0, &address);
    assert_int_equal(creation_memo_find(memo, &key), 0);
    creation_memo_free(memo);
    dlclose(library);
}

/* Without the loader's search there would be nothing to test here. */
static int setup(void **unused)
{
    (void)unused;
    return loadmap_init() ? 0 : -1;
}

UNIT_MAIN(setup, NULL)
