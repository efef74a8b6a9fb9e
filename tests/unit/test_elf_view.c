/* needs: loader/elf_view.c */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/elf_view.h"

/* Not a sanitizer's own. */
static void *libc_symbol(const char *name)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *symbol = dlsym(library, name);
    dlclose(library);
    return symbol;
}

static const struct link_map *map_of(void *symbol)
{
    Dl_info place;
    struct link_map *map = NULL;
    assert_true(dladdr1(symbol, &place, (void **)&map, RTLD_DL_LINKMAP));
    return map;
}

static const void *bytes_of(const char *path, size_t *count)
{
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &file) == 0);
    *count = (size_t)file.st_size;
    const void *bytes = mmap(NULL, *count, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(bytes != MAP_FAILED);
    close(fd);
    return bytes;
}

UNIT_TEST(a_mapped_library_and_its_file_have_the_symbols_that_dlsym_finds)
{
    static const char *const names[] = {"printf", "qsort", "environ", "pthread_create", "stdout"};
    const struct link_map *map = map_of(libc_symbol("qsort"));
    struct elf_view mapped, file;
    size_t count;
    const void *bytes = bytes_of(map->l_name, &count);
    elf_view_of_map(&mapped, map);
    assert_true(elf_view_of_file(&file, bytes, count));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const ElfW(Sym) *symbol = elf_view_find(&mapped, names[i]), *same = elf_view_find(&file, names[i]);
        assert_non_null(symbol);
        assert_non_null(same);
        assert_int_equal(symbol->st_value, same->st_value);
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            assert_ptr_equal((void *)(mapped.base + symbol->st_value), libc_symbol(names[i]));
    }
    assert_null(elf_view_find(&mapped, "no_such_symbol"));
    assert_null(elf_view_find(&file, ""));
    munmap((void *)bytes, count);
}

UNIT_TEST(a_library_lacks_nothing_that_it_is_not_asked_for)
{
    struct elf_view system, program;
    struct elf_lack lack;
    const struct link_map *own = map_of(map_of);
    elf_view_of_map(&system, map_of(libc_symbol("qsort")));
    elf_view_of_map(&program, own);
    assert_false(elf_view_lacks(&system, &program, "libgomp.so.1", &lack));
    assert_true(elf_view_needs(&program, own, "libcmocka.so.0"));
    assert_false(elf_view_needs(&program, own, "libcmocka.so"));
    /* The same versions, asked of a library that has none of them. */
    assert_false(elf_view_lacks(&system, &program, "libc.so.6", &lack));
    assert_true(elf_view_lacks(&program, &program, "libc.so.6", &lack));
    assert_int_equal(lack.count, 1);
}

void GOMP_nobody_has_this(void) __attribute__((weak));

static bool has_nothing(const void *in, const char *name)
{
    (void)in, (void)name;
    return false;
}

UNIT_TEST(what_may_be_missing_is_no_lack)
{
    struct elf_view program;
    struct elf_lack lack;
    elf_view_of_map(&program, map_of(map_of));
    assert_null(GOMP_nobody_has_this);
    assert_false(elf_view_unmet(&program, has_nothing, NULL, &lack));
    assert_int_equal(lack.count, 0);
}

UNIT_TEST(what_is_no_library_is_refused)
{
    struct elf_view view;
    static const char text[4096] = "#!/bin/sh\n";
    size_t count;
    const void *bytes = bytes_of("/proc/self/exe", &count);
    assert_false(elf_view_of_file(&view, text, sizeof(text)));
    assert_false(elf_view_of_file(&view, bytes, 16));
    assert_false(elf_view_of_file(&view, bytes, sizeof(ElfW(Ehdr))));
    munmap((void *)bytes, count);
}

UNIT_MAIN(NULL, NULL)
