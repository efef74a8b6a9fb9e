#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "unwind/maps.h"

static bool parse(const char *text, struct maps_line *line)
{
    static char buffer[4096];
    snprintf(buffer, sizeof(buffer), "%s", text);
    return maps_parse(buffer, line);
}

UNIT_TEST(a_line_with_a_file_is_parsed)
{
    struct maps_line line;
    assert_true(parse("7f3c0a1b2000-7f3c0a1c4000 r-xp 00002000 fd:01 1835041                    "
                      "/lib/x86_64-linux-gnu/libc.so.6",
                      &line));
    assert_int_equal(line.start, 0x7f3c0a1b2000);
    assert_int_equal(line.end, 0x7f3c0a1c4000);
    assert_true(line.readable && line.executable);
    assert_int_equal(line.offset, 0x2000);
    assert_int_equal(line.device, 0xfdull << 32 | 1);
    assert_int_equal(line.inode, 1835041);
    assert_string_equal(line.path, "/lib/x86_64-linux-gnu/libc.so.6");
}

UNIT_TEST(lines_without_a_file_are_parsed)
{
    struct maps_line line;
    assert_true(parse("7ffd5a5f1000-7ffd5a612000 rw-p 00000000 00:00 0                          [stack]", &line));
    assert_true(line.readable && !line.executable);
    assert_int_equal(line.inode, 0);
    assert_string_equal(line.path, "[stack]");
    assert_true(parse("7f0000000000-7f0000001000 ---p 00000000 00:00 0 ", &line));
    assert_true(!line.readable && !line.executable);
    assert_string_equal(line.path, "");
    assert_true(parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]", &line));
    assert_int_equal(line.start, 0xffffffffff600000ull);
    assert_int_equal(line.end, 0xffffffffff601000ull);
    assert_true(!line.readable && line.executable);
}

UNIT_TEST(paths_may_hold_blanks_and_more)
{
    struct maps_line line;
    assert_true(parse("1000-2000 r--s 00000000 08:02 7                  /tmp/a b  c (deleted)", &line));
    assert_string_equal(line.path, "/tmp/a b  c (deleted)");
    assert_true(parse("1000-2000 r--s ffffffffffff0000 103:1f 18446744073709551615 /x", &line));
    assert_int_equal(line.offset, 0xffffffffffff0000ull);
    assert_int_equal(line.device, 0x103ull << 32 | 0x1f);
    assert_int_equal(line.inode, UINT64_MAX);
}

UNIT_TEST(what_is_no_line_is_refused)
{
    static const char *const bad[] = {"",
                                      "1000",
                                      "1000-",
                                      "1000-2000",
                                      "1000-2000 ",
                                      "1000-2000 r-",
                                      "1000-2000 r-xp",
                                      "1000-2000 r-xpq 0",
                                      "hello world",
                                      "1000 2000 r-xp 0 0:0 0"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct maps_line line;
        if (parse(bad[i], &line))
            fail_msg("accepted: \"%s\"", bad[i]);
    }
}

UNIT_TEST(any_bytes_are_parsed_without_harm)
{
    uint64_t random = 12345;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        static const char bytes[] = "0123456789abcdef-- rwxp:[/\\\xff\n\t";
        size_t length = unit_random(&random) % (sizeof(text) - 1);
        for (size_t j = 0; j < length; j++)
            text[j] = bytes[unit_random(&random) % (sizeof(bytes) - 1)];
        text[length] = '\0';
        struct maps_line line;
        if (maps_parse(text, &line))
            assert_true(line.path >= text && line.path <= text + length);
    }
}

/* What a reader looks for, and what it met. */
struct search {
    uintptr_t address;
    unsigned lines, hits, limit;
    bool ordered, executable, writable_seen;
    uintptr_t last_end;
    char path[8192];
};

static bool look(const struct maps_line *line, void *argument)
{
    struct search *search = argument;
    search->lines++;
    search->ordered = search->ordered && line->start >= search->last_end && line->end > line->start;
    search->last_end = line->end;
    if (search->address >= line->start && search->address < line->end) {
        search->hits++;
        search->executable = line->executable;
        snprintf(search->path, sizeof(search->path), "%s", line->path);
    }
    return search->lines != search->limit;
}

static struct search search_for(const void *address)
{
    struct search search = {.address = (uintptr_t)address, .ordered = true};
    assert_true(maps_read(look, &search));
    assert_true(search.ordered);
    return search;
}

UNIT_TEST(every_mapping_of_this_process_is_met_once_in_order)
{
    static int variable;
    int on_stack;
    struct search code = search_for((const void *)(uintptr_t)look), data = search_for(&variable);
    struct search stack = search_for(&on_stack);
    assert_int_equal(code.hits, 1);
    assert_true(code.executable);
    assert_non_null(strstr(code.path, "test_maps"));
    assert_int_equal(data.hits, 1);
    assert_false(data.executable);
    assert_int_equal(stack.hits, 1);
    assert_string_equal(stack.path, "[stack]");
    static char text[65536]; /* no buffer of a stream's: it would be a mapping more */
    unsigned newlines = 0;
    int fd = open("/proc/self/maps", O_RDONLY);
    for (ssize_t got; (got = read(fd, text, sizeof(text))) > 0;)
        for (ssize_t i = 0; i < got; i++)
            newlines += text[i] == '\n';
    close(fd);
    assert_int_equal(search_for((const void *)(uintptr_t)look).lines, newlines);
}

UNIT_TEST(reading_stops_when_told)
{
    struct search search = {.limit = 3};
    assert_true(maps_read(look, &search));
    assert_int_equal(search.lines, 3);
}

UNIT_TEST(many_mappings_span_many_reads)
{
    enum { PAGES = 3000 };
    char *base = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES; i += 2)
        assert_int_equal(mprotect(base + (size_t)i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
    for (int i = 0; i < PAGES; i += 501) {
        struct search search = search_for(base + (size_t)i * 4096);
        assert_int_equal(search.hits, 1);
        assert_int_equal(search.executable, i % 2 == 0);
        assert_true(search.lines >= PAGES);
    }
    munmap(base, PAGES * 4096);
}

static int enter(int at, const char *part)
{
    mkdirat(at, part, 0700);
    int next = openat(at, part, O_RDONLY | O_DIRECTORY);
    close(at);
    return next;
}

#define BUFFER_BYTES 2047 /* of maps_read(): where a line is cut */
#define PATH_COLUMN  73   /* of a line in /proc/self/maps */

/* A file whose path is longer than the buffer; the part behind the cut looks like a mapping of everything. */
static int open_deep(char *path)
{
    snprintf(path, 8192, "/tmp/blame-maps-%d", (int)getpid());
    mkdir(path, 0700);
    size_t length = strlen(path), cut = BUFFER_BYTES - PATH_COLUMN;
    int at = open(path, O_RDONLY | O_DIRECTORY);
    while (length + 1 < cut) { /* a part and its slash; the last ends right before the cut */
        size_t left = cut - 1 - length, bytes = left > 250 ? 199 : left - 1;
        char part[256];
        memset(part, 'd', bytes);
        part[bytes] = '\0';
        at = enter(at, part);
        length += bytes + 1;
    }
    at = enter(at, "0-ffffffffffffffff r-xp 00000000 00:00 7 looks like a mapping");
    int fd = openat(at, "mapped", O_RDWR | O_CREAT, 0700);
    close(at);
    return fd;
}

UNIT_TEST(a_path_longer_than_the_buffer_costs_only_its_own_line)
{
    char path[8192], command[128];
    int fd = open_deep(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(page != MAP_FAILED);
    struct search deep = search_for(page), code = search_for((const void *)(uintptr_t)look);
    assert_int_equal(deep.hits, 0); /* cut lines are dropped, not misread */
    assert_int_equal(code.hits, 1);
    struct search stack = search_for(&code);
    assert_int_equal(stack.hits, 1);
    munmap(page, 4096);
    close(fd);
    snprintf(command, sizeof(command), "rm -rf /tmp/blame-maps-%d", (int)getpid());
    assert_int_equal(system(command), 0);
}

UNIT_MAIN(NULL, NULL)
