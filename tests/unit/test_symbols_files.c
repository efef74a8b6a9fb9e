/* programs: names (tests/names.mk) */
#include "command/symbols/symbols.h"
#include "test_symbols_variants.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MUTATIONS 400

/* ---- separate debug files ---- */

static void check_relax(struct variant *variant, bool with_debug_information)
{
    const struct symbol_frame *frames;
    GElf_Sym symbol = variant_symbol(variant, "relax", 0);
    char expected[600];
    variant_lookup(variant, symbol.st_value + 4, &frames);
    if (with_debug_information) {
        assert_string_equal(frames->name, "relax");
        assert_int_equal(frames->line, 27);
        assert_ends_with(frames->at_file, "/names_c.c");
    } else {
        snprintf(expected, sizeof expected, "%s+0x%llx", strrchr(variant->path, '/') + 1,
                 (unsigned long long)symbol.st_value);
        assert_string_equal(frames->name, expected);
        assert_int_equal(frames->line, 0);
    }
}

UNIT_TEST(debug_file_is_found_by_build_id)
{
    struct variant variant;
    char root[512];
    variant_open_as(&variant, "names_c-clang-buildid", "names_c-clang-O2");
    variant_path(root, sizeof root, "names_debug");
    symbols_module_debug_root(root);
    variant.module.flags = PROFILE_MODULE_EXECUTABLE;
    check_relax(&variant, true);
    symbols_module_debug_root(NULL);
    variant_close(&variant);
}

/* /usr/lib/debug has a system library's: of that the symbols are read. */
UNIT_TEST(debug_file_of_a_system_library_gives_symbols_alone)
{
    struct variant variant;
    const struct symbol_frame *frames;
    char root[512];
    variant_open_as(&variant, "names_c-clang-buildid", "names_c-clang-O2");
    variant_path(root, sizeof root, "names_debug");
    symbols_module_debug_root(root);
    GElf_Sym symbol = variant_symbol(&variant, "relax", 0);
    variant_lookup(&variant, symbol.st_value + 4, &frames);
    assert_string_equal(frames->name, "relax");
    assert_int_equal(frames->line, 0);
    assert_int_equal(symbols_function_entry(variant.symbols, PROFILE_KEY(1, symbol.st_value + 4)),
                     PROFILE_KEY(1, symbol.st_value));
    assert_null(symbols_module_of(variant.symbols, 1)->dwarf);
    symbols_module_debug_root(NULL);
    variant_close(&variant);
}

/* ---- names of one function ---- */

static void check_alias(size_t modules, const char *expected)
{
    struct profile_module module[2] = {0};
    struct variant library;
    const struct symbol_frame *frames;
    variant_open(&library, "libnames_alias.so");
    strcpy(module[0].path, library.path);
    variant_path(module[1].path, sizeof module[1].path, "names_alias");
    struct symbols *symbols = symbols_open(module, modules);
    uint64_t vaddr = variant_symbol(&library, "names_minf32x", 0).st_value;
    assert_int_equal(symbols_lookup(symbols, PROFILE_KEY(1, vaddr), &frames), 1);
    assert_string_equal(frames->name, expected);
    symbols_close(symbols);
    variant_close(&library);
}

UNIT_TEST(name_that_the_program_asks_for_is_a_functions_name)
{
    check_alias(2, "names_minf64");
}

UNIT_TEST(plainest_exported_name_is_a_functions_name_that_nobody_asks_for)
{
    check_alias(1, "names_min");
}

UNIT_TEST(debug_file_is_found_by_debuglink)
{
    struct variant variant;
    variant_open_as(&variant, "names_c-gcc-link", "names_c-gcc-noid");
    check_relax(&variant, true);
    variant_close(&variant);
}

UNIT_TEST(debug_file_with_another_checksum_is_refused)
{
    struct variant variant;
    variant_open_as(&variant, "names_c-gcc-badlink", "names_c-gcc-noid");
    check_relax(&variant, false);
    variant_close(&variant);
}

/* One name a function, not one an address: the unwind tables know where functions start. */
UNIT_TEST(stripped_program_has_offsets_of_functions)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open_as(&variant, "names_c-gcc-stripped", "names_c-gcc-O2");
    check_relax(&variant, false);
    GElf_Sym symbol = variant_symbol(&variant, "relax", 0);
    variant_lookup(&variant, symbol.st_value, &frames);
    const char *first = frames->name;
    variant_lookup(&variant, symbol.st_value + symbol.st_size - 1, &frames);
    assert_string_equal(frames->name, first);
    variant_close(&variant);
}

UNIT_TEST(another_build_is_not_used)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, "names_c-clang-O2");
    GElf_Sym symbol = variant_symbol(&variant, "relax", 0);
    variant.module.build_id_bytes = 20;
    memset(variant.module.build_id, 7, 20);
    variant_lookup(&variant, symbol.st_value, &frames);
    assert_null(strstr(frames->name, "relax"));
    assert_non_null(strstr(frames->name, "names_c-clang-O2+0x"));
    assert_null(symbols_data(variant.symbols, 1, variant_symbol(&variant, "names_data", 0).st_value));
    variant_close(&variant);
}

UNIT_TEST(debuginfod_is_never_loaded)
{
    struct variant variant;
    char line[1024];
    setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9/", 1);
    variant_open_as(&variant, "names_c-gcc-stripped", "names_c-gcc-O2");
    check_relax(&variant, false);
    variant_close(&variant);
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        assert_null(strstr(line, "libdebuginfod"));
        assert_null(strstr(line, "libcurl"));
    }
    fclose(maps);
}

/* ---- data ---- */

static void check_data(const char *name, const char *critical, const char *unnamed)
{
    struct variant variant;
    variant_open(&variant, name);
    uint64_t data = variant_symbol(&variant, "names_data", 0).st_value;
    assert_string_equal(symbols_data(variant.symbols, 1, data), "names_data");
    assert_string_equal(symbols_data(variant.symbols, 1, data + 12), "names_data+0xc");
    assert_string_equal(symbols_data(variant.symbols, 1, variant_symbol(&variant, critical, 0).st_value),
                        "critical bank");
    if (unnamed) {
        assert_string_equal(symbols_data(variant.symbols, 1, variant_symbol(&variant, unnamed, 0).st_value),
                            "critical (unnamed)");
    }
    assert_null(symbols_data(variant.symbols, 1, variant_symbol(&variant, "relax", 0).st_value));
    assert_null(symbols_data(variant.symbols, 1, 1));
    assert_null(symbols_data(variant.symbols, 0, data));
    assert_null(symbols_data(variant.symbols, 2, data));
    variant_close(&variant);
}

UNIT_TEST(data_objects_and_critical_sections_have_names)
{
    check_data("names_c-clang-O2", ".gomp_critical_user_bank.var", ".gomp_critical_user_.var");
    check_data("names_c-clang-nodebug", ".gomp_critical_user_bank.var", ".gomp_critical_user_.var");
    check_data("names_c-gcc-O2", ".gomp_critical_user_bank", NULL);
}

/* ---- what is not there, or damaged ---- */

static void check_module(const char *path, uint32_t flags, uint64_t vaddr, const char *expected)
{
    struct profile_module module = {.flags = flags};
    const struct symbol_frame *frames;
    snprintf(module.path, sizeof module.path, "%s", path);
    struct symbols *symbols = symbols_open(&module, 1);
    assert_int_equal(symbols_lookup(symbols, PROFILE_KEY(1, vaddr), &frames), 1);
    assert_string_equal(frames->name, expected);
    assert_null(symbols_data(symbols, 1, vaddr));
    symbols_close(symbols);
}

UNIT_TEST(files_that_are_no_modules_degrade_to_offsets)
{
    char path[512];
    check_module("/nowhere/libgone.so.1", 0, 0x1234, "libgone.so.1+0x1234");
    check_module("/tmp", 0, 0x10, "tmp+0x10");
    check_module("/dev/null", 0, 0x10, "null+0x10");
    check_module("/proc/self/cmdline", 0, 0x10, "cmdline+0x10");
    check_module("", 0, 0x10, "<unknown function>");
    check_module("/bin/sh", PROFILE_MODULE_PATH_CUT, 0x10, "sh+0x10");
    snprintf(path, sizeof path, "/tmp/test_symbols.%d", (int)getpid());
    unlink(path); /* of a process that had our number, and failed */
    assert_int_equal(mkfifo(path, 0600), 0);
    struct profile_module module = {0};
    const struct symbol_frame *frames;
    snprintf(module.path, sizeof module.path, "%s", path);
    struct symbols *symbols = symbols_open(&module, 1);
    symbols_lookup(symbols, PROFILE_KEY(1, 16), &frames);
    assert_ends_with(frames->name, "+0x10");
    symbols_close(symbols);
    unlink(path);
}

static void check_said(const char *mounts, bool elsewhere)
{
    struct profile_module module = {.path = "/nowhere/app"};
    const struct symbol_frame *frames;
    struct symbols *symbols = symbols_open(&module, 1);
    symbols_mounts(symbols, mounts);
    symbols_lookup(symbols, PROFILE_KEY(1, 4096), &frames);
    char *text = symbols_changes(symbols);
    assert_non_null(strstr(text, "app can no longer be read"));
    assert_int_equal(strstr(text, "another mount namespace") != NULL, elsewhere);
    free(text);
    symbols_close(symbols);
}

UNIT_TEST(files_of_another_mount_namespace_are_told)
{
    char own[64] = "";
    assert_true(readlink("/proc/self/ns/mnt", own, sizeof own - 1) > 0);
    check_said(NULL, false);
    check_said(own, false);
    check_said("mnt:[1]", true);
}

/* A path that leads to something of the reader's own is not the program's. */
UNIT_TEST(descriptors_of_the_reader_are_not_opened)
{
    struct variant variant;
    const struct symbol_frame *frames;
    struct profile_module module = {0};
    variant_open(&variant, "names_c-gcc-O2");
    snprintf(module.path, sizeof module.path, "/proc/self/fd/%d", variant.file.fd);
    struct symbols *symbols = symbols_open(&module, 1);
    symbols_lookup(symbols, PROFILE_KEY(1, variant_symbol(&variant, "relax", 0).st_value), &frames);
    assert_null(strstr(frames->name, "relax"));
    symbols_close(symbols);
    variant_close(&variant);
}

UNIT_TEST(keys_outside_of_modules_are_unknown_functions)
{
    struct profile_module module = {0};
    const struct symbol_frame *frames, *again;
    struct symbols *symbols = symbols_open(&module, 1);
    assert_int_equal(symbols_lookup(symbols, PROFILE_KEY(0, 0x7fff12345678), &frames), 1);
    assert_string_equal(frames->name, "<unknown function>");
    assert_int_equal(symbols_lookup(symbols, PROFILE_KEY(9, 1), &frames), 1);
    assert_string_equal(frames->name, "<unknown function>");
    assert_string_equal(symbols_module_name(symbols, 0), "");
    assert_string_equal(symbols_module_name(symbols, 2), "");
    symbols_lookup(symbols, PROFILE_KEY(1, 5), &frames);
    symbols_lookup(symbols, PROFILE_KEY(1, 5), &again);
    assert_ptr_equal(frames, again);
    symbols_close(symbols);
    symbols_close(NULL);
    symbols = symbols_open(NULL, 0);
    assert_int_equal(symbols_lookup(symbols, 0, &frames), 1);
    symbols_close(symbols);
}

UNIT_TEST(addresses_out_of_range_degrade_to_offsets)
{
    static const uint64_t vaddrs[] = {0, 1, 0xfff, 0x100000, 0x7fffffffffff, 0xffffffffffff};
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, "names_c-clang-O2");
    for (size_t i = 0; i < sizeof vaddrs / sizeof *vaddrs; i++) {
        variant_lookup(&variant, vaddrs[i], &frames);
        assert_non_null(strstr(frames->name, "names_c-clang-O2+0x"));
    }
    variant_close(&variant);
}

UNIT_TEST(vdso_functions_have_names_of_this_process)
{
    struct profile_module module = {.path = "linux-vdso.so.1", .flags = PROFILE_MODULE_VDSO};
    const struct symbol_frame *frames;
    void *handle = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    char *function = handle ? dlsym(handle, "__vdso_clock_gettime") : NULL;
    struct symbols *symbols = symbols_open(&module, 1);
    assert_string_equal(symbols_module_name(symbols, 1), "[vdso]");
    symbols_lookup(symbols, PROFILE_KEY(1, 0xfff0), &frames);
    assert_string_equal(frames->name, "[vdso]+0xfff0");
    if (function) {
        uint64_t vaddr = (uint64_t)(uintptr_t)function - getauxval(AT_SYSINFO_EHDR);
        symbols_lookup(symbols, PROFILE_KEY(1, vaddr), &frames);
        assert_non_null(strstr(frames->name, "clock_gettime"));
    }
    symbols_close(symbols);
}

static void write_mutant(const char *path, const uint8_t *original, size_t bytes, uint64_t seed)
{
    uint8_t *copy = malloc(bytes);
    memcpy(copy, original, bytes);
    size_t kept = unit_random(&seed) % 8 == 0 ? unit_random(&seed) % bytes : bytes;
    for (uint64_t i = 0, changes = 1 + unit_random(&seed) % 60; i < changes; i++)
        copy[unit_random(&seed) % bytes] = (uint8_t)unit_random(&seed);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, copy, kept), kept);
    close(fd);
    free(copy);
}

static void lookup_everywhere(const char *path, uint64_t low, uint64_t high)
{
    struct profile_module module = {0};
    const struct symbol_frame *frames;
    snprintf(module.path, sizeof module.path, "%s", path);
    struct symbols *symbols = symbols_open(&module, 1);
    for (uint64_t vaddr = low; vaddr < high; vaddr += 11) {
        size_t count = symbols_lookup(symbols, PROFILE_KEY(1, vaddr), &frames);
        for (size_t i = 0; i < count; i++)
            assert_true(strlen(frames[i].name) + strlen(frames[i].file) + strlen(frames[i].at_file) > 0);
    }
    symbols_data(symbols, 1, high);
    symbols_close(symbols);
}

/* In processes of their own: a crash or a hang is a failure of that seed, not the end of the test. */
static void check_mutants(const char *name, uint64_t seeds)
{
    struct variant variant;
    char path[512];
    uint64_t low, high;
    size_t bytes;
    int failures = 0;
    variant_open(&variant, name);
    assert_true(symbols_elf_code_range(variant.file.elf, &low, &high));
    const uint8_t *original = (const uint8_t *)elf_rawfile(variant.file.elf, &bytes);
    snprintf(path, sizeof path, "/tmp/test_symbols_mutant.%d", (int)getpid());
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        int status;
        write_mutant(path, original, bytes, seed * 0x9e3779b97f4a7c15ull);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CPU, &(struct rlimit){20, 20}); /* and not by the clock: others may have the cores */
            lookup_everywhere(path, low, high);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0) {
            print_message("%s, seed %d: status 0x%x\n", name, (int)seed, status);
            failures++;
        }
    }
    unlink(path);
    variant_close(&variant);
    assert_int_equal(failures, 0);
}

UNIT_TEST(damaged_files_neither_crash_nor_hang)
{
    check_mutants("names_c-clang-O2", MUTATIONS);
    check_mutants("names_c-gcc-O2", MUTATIONS);
}

UNIT_MAIN(NULL, NULL)
