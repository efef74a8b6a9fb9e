/* Names of compiled code, from files that anybody may have written. */
#include "tests/unit/unit.h"

#include "command/symbols/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define S  1000000000ll
#define MS 1000000ll

static void write_file(const char *text, size_t bytes)
{
    FILE *file = fopen(unit_fresh_path(), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static struct perf_map *read_as(uid_t owner, int64_t from_s, int64_t until_s)
{
    return symbols_perf_map_read(unit_path, owner, from_s * S, until_s);
}

static struct perf_map *map_of(const char *text)
{
    write_file(text, strlen(text));
    struct perf_map *map = read_as(getuid(), 0, INT64_MAX);
    assert_non_null(map);
    unit_clean();
    return map;
}

static void assert_name(const struct perf_map *map, uint64_t address, const char *name)
{
    const char *found = symbols_perf_map_name(map, address);
    if (name)
        assert_string_equal(found, name);
    else
        assert_null(found);
}

UNIT_TEST(an_address_has_the_name_of_its_line)
{
    struct perf_map *map = map_of("7f0000001000 20 py::fib:/a b.py\nfe0 10 Lcom/x;::f(I)V\n7F0000001020 1 *g\n");
    assert_name(map, 0xfdf, NULL);
    assert_name(map, 0xfe0, "Lcom/x;::f(I)V");
    assert_name(map, 0xfef, "Lcom/x;::f(I)V");
    assert_name(map, 0xff0, NULL);
    assert_name(map, 0x7f0000001000, "py::fib:/a b.py");
    assert_name(map, 0x7f0000001020, "*g");
    assert_name(map, 0x7f0000001021, NULL);
    assert_name(map, UINT64_MAX, NULL);
    symbols_perf_map_free(map);
}

UNIT_TEST(of_code_that_took_anothers_place_the_last_line_counts)
{
    struct perf_map *map = map_of("1000 1000 large\n1800 10 first\n1800 10 second\n1808 10 third\n17f0 18 fourth\n");
    assert_name(map, 0x17ff, "fourth");
    assert_name(map, 0x1800, "fourth");
    assert_name(map, 0x1808, "third");
    assert_name(map, 0x1820, "large");
    symbols_perf_map_free(map);
}

UNIT_TEST(what_is_no_line_is_none)
{
    struct perf_map *map = map_of("\n1000\n1000 10\n1000 10 \n 1000 10 blank\n-1000 10 minus\n1000 -10 minus\n1000 0 "
                                  "empty\nfffffffffffffff0 20 wraps\n"
                                  "1000 10x\nxyz 10 f\n1000 10 half of one");
    assert_name(map, 0x1000, NULL);
    assert_name(map, 0xfffffffffffffff8, NULL);
    symbols_perf_map_free(map);
    map = map_of("");
    assert_name(map, 0, NULL);
    symbols_perf_map_free(map);
    symbols_perf_map_free(NULL);
    assert_name(NULL, 0, NULL);
}

UNIT_TEST(names_are_cut_and_end_at_a_zero)
{
    char text[5000] = "1000 10 ";
    memset(text + 8, 'x', 4000);
    strcpy(text + 4008, "\n2000 10 a?b\n");
    *strchr(text, '?') = '\0';
    size_t bytes = 4008 + strlen(text + 4008) + 3;
    write_file(text, bytes);
    struct perf_map *map = read_as(getuid(), 0, INT64_MAX);
    unit_clean();
    assert_int_equal(strlen(symbols_perf_map_name(map, 0x1000)), 1023);
    assert_name(map, 0x2000, "a");
    symbols_perf_map_free(map);
}

UNIT_TEST(files_of_others_of_other_times_links_and_pipes_are_not_read)
{
    char link_path[sizeof unit_path + 8];
    int64_t now = time(NULL);
    write_file("1000 10 f\n", 10);
    assert_null(read_as(getuid() + 1, 0, INT64_MAX));
    assert_null(read_as(getuid(), now + 100, INT64_MAX));
    assert_null(read_as(getuid(), 0, now - 100));
    snprintf(link_path, sizeof link_path, "%s.link", unit_path);
    assert_int_equal(symlink(unit_path, link_path), 0);
    assert_null(symbols_perf_map_read(link_path, getuid(), 0, INT64_MAX));
    unlink(link_path);
    assert_int_equal(mkfifo(link_path, 0600), 0);
    assert_null(symbols_perf_map_read(link_path, getuid(), 0, INT64_MAX));
    unlink(link_path);
    assert_null(symbols_perf_map_read(unit_directory, getuid(), 0, INT64_MAX));
    struct perf_map *map = read_as(getuid(), now - 100, now + 100);
    assert_name(map, 0x1000, "f");
    symbols_perf_map_free(map);
    unit_clean();
    assert_null(read_as(getuid(), 0, INT64_MAX));
}

/* The file is of the second before the one in which the process started. */
UNIT_TEST(a_file_of_the_moment_in_which_the_process_started_is_read)
{
    const struct timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 998 * MS}, {.tv_sec = 1000, .tv_nsec = 998 * MS}};
    write_file("1000 10 f\n", 10);
    assert_int_equal(utimensat(AT_FDCWD, unit_path, times, 0), 0);
    struct perf_map *map = symbols_perf_map_read(unit_path, getuid(), 1001 * S + 4 * MS, INT64_MAX);
    assert_name(map, 0x1000, "f");
    symbols_perf_map_free(map);
    assert_null(symbols_perf_map_read(unit_path, getuid(), 1001 * S + 100 * MS, INT64_MAX));
    unit_clean();
}

UNIT_TEST(damaged_files_are_read_to_their_end)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        static const char letters[] = "0123456789abcdef  \n\n xg\0-";
        char text[2000];
        uint64_t random = seed;
        for (size_t i = 0; i < sizeof text; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            text[i] = letters[(random >> 56) % (sizeof letters - 1)];
        }
        write_file(text, sizeof text);
        struct perf_map *map = read_as(getuid(), 0, INT64_MAX);
        unit_clean();
        for (uint64_t address = 0; address < 4096; address += 7)
            symbols_perf_map_name(map, address);
        symbols_perf_map_free(map);
    }
}

UNIT_TEST(many_that_overlap_are_searched_in_bounds)
{
    char *text = malloc(40 * 200000), *to = text;
    assert_non_null(text);
    for (unsigned i = 0; i < 200000; i++)
        to += sprintf(to, "%x %x f%u\n", i, 1000000, i);
    write_file(text, (size_t)(to - text));
    free(text);
    struct perf_map *map = read_as(getuid(), 0, INT64_MAX);
    unit_clean();
    for (uint64_t address = 0; address < 200000; address += 199)
        assert_non_null(symbols_perf_map_name(map, address));
    assert_name(map, 199999, "f199999");
    symbols_perf_map_free(map);
}

UNIT_MAIN(NULL, NULL)
