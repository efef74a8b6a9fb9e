/* needs: layers/loader/elf_view.c */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layers/loader/elf_view.h"

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

/* A library's bytes, up to the end of what can be read, and what becomes of them. */
struct copy {
    uint8_t *bytes;
    const uint8_t *original;
    size_t count;
    struct link_map map; /* as if it had been loaded there, its first segment at least */
    const ElfW(Dyn) * dynamic;
};

static void copy_open(struct copy *copy, const struct link_map *library)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    copy->original = bytes_of(library->l_name, &copy->count);
    size_t room = (copy->count + page - 1) / page * page;
    uint8_t *begin = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(begin != MAP_FAILED && mprotect(begin + page, room, PROT_READ | PROT_WRITE) == 0);
    copy->bytes = begin + page + (room - copy->count) / 8 * 8; /* no more than seven bytes from the end */
    memcpy(copy->bytes, copy->original, copy->count);
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)copy->bytes;
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(copy->bytes + header->e_phoff);
    while (segment->p_type != PT_DYNAMIC)
        segment++;
    copy->dynamic = (const ElfW(Dyn) *)(copy->bytes + segment->p_offset);
    copy->map = (struct link_map){.l_addr = (uintptr_t)copy->bytes, .l_ld = (ElfW(Dyn) *)copy->dynamic};
}

static void ask_all(const struct elf_view *view, const struct copy *copy)
{
    struct elf_view program;
    struct elf_lack lack;
    elf_view_of_map(&program, map_of(map_of));
    elf_view_find(view, "printf");
    elf_view_find(view, "_assert_true");
    elf_view_find(view, "");
    elf_view_needs(view, &copy->map, "libc.so.6");
    elf_view_unmet(view, has_nothing, NULL, &lack);
    elf_view_lacks(view, view, "libc.so.6", &lack);
    elf_view_lacks(&program, view, "libc.so.6", &lack);
    elf_view_lacks(view, &program, "libcmocka.so.0", &lack);
}

static void read_anew(const struct copy *copy, bool mapped)
{
    struct elf_view view;
    if (elf_view_of_file(&view, copy->bytes, copy->count))
        ask_all(&view, copy);
    if (!mapped)
        return;
    elf_view_of_map(&view, &copy->map);
    ask_all(&view, copy);
}

static void damage(const struct copy *copy, size_t from, size_t bytes, bool mapped)
{
    static const uint32_t values[] = {0, 1, 3, 0x7fffffff, 0xffffffff};
    for (size_t at = from / 4 * 4; at + 4 <= from + bytes && at + 4 <= copy->count; at += 4) {
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            memcpy(copy->bytes + at, &values[i], 4);
            read_anew(copy, mapped);
        }
        uint32_t far = (uint32_t)(copy->count - at % 16);
        memcpy(copy->bytes + at, &far, 4);
        read_anew(copy, mapped);
        memcpy(copy->bytes + at, copy->original + at, 4);
    }
}

UNIT_TEST(of_a_damaged_library_nothing_is_read_that_is_not_there)
{
    struct copy copy;
    copy_open(&copy, map_of(dlsym(RTLD_DEFAULT, "_assert_true")));
    size_t dynamic = (size_t)((const uint8_t *)copy.dynamic - copy.bytes);
    damage(&copy, 0, 1024, false);
    for (const ElfW(Dyn) *entry = copy.dynamic; entry->d_tag != DT_NULL; entry++)
        damage(&copy, (size_t)((const uint8_t *)&entry->d_un - copy.bytes), sizeof(entry->d_un), true);
    for (const ElfW(Dyn) *entry = copy.dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_GNU_HASH || entry->d_tag == DT_SYMTAB || entry->d_tag == DT_JMPREL ||
            entry->d_tag == DT_VERNEED || entry->d_tag == DT_VERDEF)
            damage(&copy, entry->d_un.d_ptr, 256, true);
    damage(&copy, dynamic, 1024, false); /* its end, too: the file's alone, as the loader has gone through the other */
}

UNIT_TEST(of_a_file_cut_short_nothing_is_read_behind_its_end)
{
    struct copy copy;
    copy_open(&copy, map_of(dlsym(RTLD_DEFAULT, "_assert_true")));
    uint8_t *end = copy.bytes + copy.count;
    for (size_t count = copy.count; count > 0; count -= count < 256 ? 1 : 256) {
        uint8_t *bytes = end - count / 8 * 8;
        copy.bytes = bytes;
        copy.count = count / 8 * 8;
        memcpy(copy.bytes, copy.original, copy.count);
        read_anew(&copy, false);
    }
}

UNIT_TEST(a_table_behind_the_end_of_a_mapped_file_is_not_there)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int file = memfd_create("short", MFD_CLOEXEC);
    assert_true(file >= 0 && ftruncate(file, (off_t)page) == 0);
    uint8_t *bytes = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    uint32_t *hash = (uint32_t *)(bytes + page - 64);
    memcpy(hash, (const uint32_t[]){1, 1, 0, 0, 1}, 20);
    ElfW(Dyn) dynamic[] = {{.d_tag = DT_GNU_HASH, .d_un.d_ptr = page - 64},
                           {.d_tag = DT_SYMTAB, .d_un.d_ptr = page},
                           {.d_tag = DT_STRTAB, .d_un.d_ptr = page},
                           {.d_tag = DT_JMPREL, .d_un.d_ptr = page},
                           {.d_tag = DT_PLTRELSZ, .d_un.d_val = 48},
                           {.d_tag = DT_NEEDED, .d_un.d_val = 8},
                           {.d_tag = DT_NULL}};
    struct link_map map = {.l_addr = (uintptr_t)bytes, .l_ld = dynamic};
    struct elf_view view;
    struct elf_lack lack;
    hash[5] = 5381 | 1; /* the name "" */
    elf_view_of_map(&view, &map);
    assert_null(elf_view_find(&view, ""));
    assert_false(elf_view_needs(&view, &map, "libc.so.6"));
    assert_false(elf_view_unmet(&view, has_nothing, NULL, &lack));
    munmap(bytes, 2 * page);
}

UNIT_MAIN(NULL, NULL)
