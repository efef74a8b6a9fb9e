/* needs: layers/loader/binding.c layers/loader/elf_view.c layers/loader/stubs_$(MACHINE).c */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "layers/loader/binding.h"
#include "layers/loader/stubs.h"

static const char *const names[] = {
#define NAME(type, name, ...) #name,
    PTHREADS_FUNCTIONS(NAME)};

static const struct link_map *libc_map(void)
{
    struct link_map *map = NULL;
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(library);
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    return map;
}

static uintptr_t libcs(const char *name)
{
    return (uintptr_t)dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name);
}

static void begin(void)
{
    struct elf_view view;
    for (size_t i = 0; i < STUB_COUNT; i++)
        stubs_to[i] = 0;
    elf_view_of_map(&view, libc_map());
    binding_add(&view);
}

static int right(void)
{
    return 1;
}

static int wrong(void)
{
    return 0;
}

UNIT_TEST(each_function_of_the_list_has_a_stub_of_its_own)
{
    begin();
    for (size_t i = 0; i < STUB_COUNT; i++) {
        assert_int_equal(stubs_to[i], libcs(names[i]));
        assert_int_equal(binding_of(libcs(names[i])), (uintptr_t)stubs_code + STUB_BYTES * i);
    }
}

UNIT_TEST(a_stub_jumps_where_its_entry_says)
{
    for (size_t i = 0; i < STUB_COUNT; i++)
        stubs_to[i] = (uintptr_t)wrong;
    for (size_t i = 0; i < STUB_COUNT; i++) {
        stubs_to[i] = (uintptr_t)right;
        for (size_t j = 0; j < STUB_COUNT; j++)
            assert_int_equal(((int (*)(void))((uintptr_t)stubs_code + STUB_BYTES * j))(), i == j);
        stubs_to[i] = (uintptr_t)wrong;
    }
    begin();
}

UNIT_TEST(the_first_jump_is_to_libc)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    begin();
    int (*trylock)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))binding_of(libcs("pthread_mutex_trylock"));
    assert_int_equal(trylock(&mutex), 0);
    assert_int_equal(trylock(&mutex), EBUSY);
}

/* Before glibc 2.34, libpthread and libc have functions of the same names. */
UNIT_TEST(a_stub_keeps_the_function_of_the_first_library)
{
    struct elf_view view;
    begin();
    stubs_to[0] = (uintptr_t)right;
    elf_view_of_map(&view, libc_map());
    binding_add(&view);
    assert_int_equal(stubs_to[0], right);
    assert_int_equal(binding_of(libcs(names[0])), (uintptr_t)stubs_code);
}

UNIT_TEST(other_functions_keep_their_address)
{
    begin();
    assert_int_equal(binding_of(libcs("qsort")), libcs("qsort"));
    assert_int_equal(binding_of(0), 0);
    assert_int_equal(binding_of(1), 1);
}

#ifdef __x86_64__ /* aarch64 never had another */
UNIT_TEST(an_older_version_that_behaves_differently_is_libcs)
{
    begin();
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    uintptr_t old = (uintptr_t)dlvsym(library, "pthread_cond_wait", "GLIBC_2.2.5");
    uintptr_t new = (uintptr_t)dlvsym(library, "pthread_cond_wait", "GLIBC_2.3.2");
    assert_true(old && new && old != new);
    assert_int_equal(binding_of(old), old);
    assert_int_not_equal(binding_of(new), new);
}
#endif

UNIT_TEST(the_layers_functions_take_over_and_libc_keeps_the_others)
{
    static uint32_t hash[] = {1, 1, 0,
                              0, 1, 0}; /* one bucket, from symbol 1 on, without filters; its only link is below */
    static const char strings[] = "\0mtx_lock";
    static ElfW(Sym) symbols[2];
    uint32_t sum = 5381;
    for (const char *at = strings + 1; *at; at++)
        sum = sum * 33 + (uint8_t)*at;
    hash[5] = sum | 1;
    symbols[1] =
        (ElfW(Sym)){.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = 4096};
    const struct elf_view layer = {.base = 1 << 20, .symbols = symbols, .strings = strings, .gnu_hash = hash};
    begin();
    binding_divert_first(&layer);
    assert_int_equal(stubs_to[STUB_OF_mtx_lock], libcs("mtx_lock"));
    binding_divert_all();
    assert_int_equal(stubs_to[STUB_OF_mtx_lock], (1 << 20) + 4096);
    assert_int_equal(stubs_to[STUB_OF_mtx_unlock], libcs("mtx_unlock"));
    begin();
}

UNIT_MAIN(NULL, NULL)
