/* needs: tests/fuzz/fake_symbols.c */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#include "html/embedded.h"
#include "html/html.h"
#include "html/page.h"
#include "report/files/csv.h"
#include "report/rows/rows.h"
#include "report/text/format.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/merged_tree.h"
#include "tests/unit/unit.h"

#define S         1e9 /* metrics are in nanoseconds */
#define KEY(line) PROFILE_KEY(1, 0x1000 + (line))
#define LINES     200

/* main calls f in line 10; f has cost in lines up to LINES. The file is made by the tests. */
struct made {
    struct profile profile;
    struct merged_node nodes[1000];
    struct profile_thread thread[1];
    struct symbol_frame frames[LINES + 1];
    struct symbols *symbols;
    struct rows *rows;
    struct lock_table *locks;
    const struct lock_table *shown_locks; /* NULL: those of the profile */
    struct wait_table *waits;
    char *page;
    json_t *data;
    char source[200];
};

static struct made made;

static uint32_t add(uint32_t parent, int line, double work_s)
{
    made.frames[line] = (struct symbol_frame){.name = line == 10 ? "main" : "f\"\\<\x01\xff",
                                              .host_name = "",
                                              .file = made.source,
                                              .line = line == 10 ? 9 : 19,
                                              .at_file = made.source,
                                              .at_line = line,
                                              .task_name = ""};
    fake_symbols_set(KEY(line), &made.frames[line], 1);
    return merged_add_work(&made.profile, parent, KEY(line), work_s);
}

static int start(void **state)
{
    (void)state;
    made = (struct made){.profile = {.nodes = made.nodes,
                                     .node_count = 1,
                                     .threads = made.thread,
                                     .thread_count = 1,
                                     .text = "command\0./v </script><b>"}};
    made.profile.text_bytes = sizeof "command\0./v </script><b>";
    made.profile.header = (struct profile_header){
        .threads_max = 2, .cores = 2, .finished = 1, .rate = 200, .start_realtime_ns = INT64_MAX};
    made.thread[0] = (struct profile_thread){.kind = 1, .end_ns = (uint64_t)(15 * S), .work = 15 * S};
    made.nodes[0].kind = PROFILE_NODE_ROOT;
    snprintf(made.source, sizeof made.source, "%s.c", unit_fresh_path());
    made.symbols = symbols_open(NULL, 0);
    return made.symbols ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    json_decref(made.data);
    free(made.page);
    waits_free(made.waits);
    locks_free(made.locks);
    rows_free(made.rows);
    symbols_close(made.symbols);
    fake_symbols_clear();
    snprintf(made.source, sizeof made.source, "%s.c", unit_path);
    unlink(made.source);
    unit_clean();
    return 0;
}

/* The page of what was added, its data parsed. */
static void make_page(const struct html_options *options, struct html_result *result)
{
    static const char begin[] = "<script type=\"application/json\" id=\"blame-data\">";
    size_t bytes;
    json_error_t error;
    made.rows = rows_build(&made.profile, made.symbols);
    made.locks = locks_gather(&made.profile, made.rows, made.symbols);
    made.waits = waits_gather(&made.profile, made.rows, made.locks, made.symbols);
    struct html_input input = {.profile = &made.profile,
                               .rows = made.rows,
                               .locks = made.shown_locks ? made.shown_locks : made.locks,
                               .waits = made.waits};
    FILE *out = open_memstream(&made.page, &bytes);
    assert_true(html_write(out, &input, options, result));
    assert_int_equal(fclose(out), 0);
    char *data = strstr(made.page, begin);
    assert_non_null(data);
    data += strlen(begin);
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    made.data = json_loadb(data, (size_t)(end - data), 0, &error);
    if (!made.data)
        fail_msg("%s at %d", error.text, error.position);
    assert_null(memchr(data, '<', (size_t)(end - data)));
}

static void put_source(const char *text, size_t bytes)
{
    FILE *out = fopen(made.source, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, bytes, out), bytes);
    fclose(out);
}

static json_t *row_field(const char *field, size_t row)
{
    return json_array_get(json_object_get(json_object_get(made.data, "rows"), field), row);
}

static const char *text_at(json_int_t string)
{
    return json_string_value(json_array_get(json_object_get(made.data, "strings"), (size_t)string));
}

static const char *row_text(const char *field, size_t row)
{
    return text_at(json_integer_value(row_field(field, row)));
}

static json_t *missing_why(void)
{
    return json_object_get(json_array_get(json_object_get(made.data, "sources_missing"), 0), "why");
}

static void the_page_has_one_place_for_the_data(void **state)
{
    (void)state;
    size_t bytes, mark_bytes = strlen(HTML_DATA_MARK);
    const char *page = html_embedded_page(&bytes);
    const char *mark = memmem(page, bytes, HTML_DATA_MARK, mark_bytes);
    assert_non_null(mark);
    mark += mark_bytes;
    assert_null(memmem(mark, bytes - (size_t)(mark - page), HTML_DATA_MARK, mark_bytes));
}

static void assert_micro(double seconds)
{
    char csv[FORMAT_NUMBER_BYTES + 1], digits[FORMAT_NUMBER_BYTES + 1], *page = NULL, *to = digits;
    size_t bytes;
    *format_micro(csv, seconds) = '\0';
    FILE *out = open_memstream(&page, &bytes);
    page_micro(out, seconds);
    fclose(out);
    for (const char *from = csv; *from; from++)
        if (*from != '.' && !(*from == '0' && (to == digits || (to == digits + 1 && *digits == '-'))))
            *to++ = *from;
    *to = '\0';
    assert_string_equal(page, to == digits ? "0" : digits);
    free(page);
}

static void numbers_have_the_digits_of_the_csv(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252ull;
    const double edges[] = {0,   -0.0, 1e-7,      5e-7, -5e-7, 0.000001, -0.000001,
                            0.1, 1,    9.9999995, 1e12, 1e300, -3.25};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        assert_micro(edges[i]);
    for (int i = 0; i < 10000; i++)
        assert_micro((double)unit_random(&random) / (double)(1ull << (i % 60)) - 1000);
}

static void rows_and_names_arrive(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.title = "a </script> \xff", .least_percent = -1};
    uint32_t main_node = add(0, 10, 0);
    add(main_node, 20, 1.5);
    make_page(&options, &result);
    assert_int_equal(result.rows, 4); /* root, main, f, its line */
    assert_string_equal(row_text("name", 1), "main");
    assert_string_equal(row_text("name", 2), "f\"\\<\x01\xef\xbf\xbd");
    assert_int_equal(json_integer_value(row_field("parent", 0)), -1);
    assert_int_equal(json_integer_value(row_field("parent", 3)), 2);
    assert_int_equal(json_integer_value(row_field("call_line", 2)), 10);
    assert_int_equal(json_integer_value(row_field("line", 3)), 20);
    assert_int_equal(json_integer_value(row_field("function", 0)), -1);
    json_t *e = json_object_get(json_object_get(made.data, "rows"), "e");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(e, "work"), 3)), 1500000);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(e, "work"), 1)), 0);
    assert_string_equal(json_string_value(json_object_get(e, "core idleness")), "idleness");
    assert_int_equal(json_integer_value(json_object_get(e, "overhead")), 0);
    assert_true(json_is_integer(json_object_get(e, "overhead")));
    assert_string_equal(json_string_value(json_object_get(made.data, "title")), "a </script> \xef\xbf\xbd");
    assert_true(json_is_null(json_object_get(made.data, "left_out")));
}

static void an_empty_profile_is_a_root(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    made.profile.thread_count = 0;
    made.profile.text_bytes = 0;
    make_page(&options, &result);
    assert_int_equal(result.rows, 1);
    assert_string_equal(json_string_value(json_object_get(made.data, "default_metric")), "work");
    assert_true(json_is_null(json_object_get(json_object_get(made.data, "header"), "command")));
}

/* The lines of a file of `count` lines "line N". */
static void put_lines(int count)
{
    FILE *out = fopen(made.source, "w");
    for (int line = 1; line <= count; line++)
        fprintf(out, "line %d\n", line);
    fclose(out);
}

static void assert_piece(size_t index, int first, size_t count)
{
    json_t *piece = json_array_get(json_object_get(made.data, "sources"), index);
    json_t *lines = json_object_get(piece, "lines");
    char text[32];
    assert_non_null(piece);
    assert_string_equal(text_at(json_integer_value(json_object_get(piece, "file"))), made.source);
    assert_int_equal(json_integer_value(json_object_get(piece, "first")), first);
    assert_int_equal(json_array_size(lines), count);
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "line %d", first + (int)i);
        assert_string_equal(json_string_value(json_array_get(lines, i)), text);
    }
}

static void pieces_of_sources_surround_what_costs(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    uint32_t main_node = add(0, 10, 0); /* in the file: lines 9, 10 and 19 besides */
    add(main_node, 50, 1);
    add(main_node, 63, 1); /* 57 follows 56 */
    add(main_node, 100, 1);
    add(main_node, 150, 1); /* the file has become shorter */
    put_lines(103);
    make_page(&options, &result);
    assert_int_equal(json_array_size(json_object_get(made.data, "sources")), 3);
    assert_piece(0, 3, 23);
    assert_piece(1, 44, 26);
    assert_piece(2, 94, 10);
    assert_int_equal(result.sources, 1);
    assert_int_equal(result.sources_missing, 0);
    assert_int_equal(json_array_size(json_object_get(made.data, "sources_changed")), 0);
}

static void a_source_that_was_changed_is_said_to_be(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    made.profile.header.start_realtime_ns = 1;
    add(0, 10, 1);
    put_lines(20);
    make_page(&options, &result);
    assert_int_equal(json_array_size(json_object_get(made.data, "sources_changed")), 1);
}

static void strange_lines_are_cut_and_cleaned(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    char text[2000];
    memset(text, 'x', sizeof text);
    memcpy(text, "a\xff\r\n</script>\n", 14);
    memcpy(text + 14 + 398, "\xe2\x82\xac", 3); /* over the limit of 400 bytes */
    add(0, 2, 1);
    put_source(text, sizeof text);
    make_page(&options, &result);
    json_t *lines = json_object_get(json_array_get(json_object_get(made.data, "sources"), 0), "lines");
    assert_int_equal(json_array_size(lines), 3);
    assert_string_equal(json_string_value(json_array_get(lines, 0)), "a\xef\xbf\xbd");
    assert_string_equal(json_string_value(json_array_get(lines, 1)), "</script>");
    const char *third = json_string_value(json_array_get(lines, 2));
    assert_int_equal(strlen(third), 398 + 3);
    assert_string_equal(third + 398, "\xe2\x80\xa6");
}

static void assert_missing(const char *why)
{
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    add(0, 10, 1);
    make_page(&options, &result);
    assert_int_equal(result.sources, 0);
    assert_int_equal(result.sources_missing, 1);
    assert_string_equal(json_string_value(missing_why()), why);
}

static void a_binary_file_is_no_source(void **state)
{
    (void)state;
    put_source("a\nb\0c\n", 6);
    assert_missing("not a text");
}

static void a_huge_file_is_not_read(void **state)
{
    (void)state;
    put_source("a\n", 2);
    assert_int_equal(truncate(made.source, (16 << 20) + 1), 0);
    assert_missing("too large");
}

static void a_pipe_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(made.source, 0600), 0);
    assert_missing("not a file");
}

static void a_missing_file_has_the_systems_reason(void **state)
{
    (void)state;
    assert_missing("No such file or directory");
}

static void a_relative_path_is_looked_for_here(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    char *here = get_current_dir_name();
    put_lines(20);
    assert_int_equal(chdir(unit_directory), 0);
    snprintf(made.source, sizeof made.source, "file.c");
    add(0, 10, 1);
    make_page(&options, &result);
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_int_equal(result.sources, 1);
}

static void a_path_that_leaves_this_folder_is_not_followed(void **state)
{
    (void)state;
    put_lines(20);
    snprintf(made.source, sizeof made.source, "a/../..%s.c", unit_path);
    assert_missing("its path is relative");
}

static void waiting_for_folded_rows_stays(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = 5, .no_source = true};
    uint32_t main_node = add(0, 10, 10);
    made.profile.header.threads_max = 4;
    made.nodes[main_node].metric.samples = 1000;
    add(add(add(main_node, 20, 0.1), 30, 0.1), 40, 0.1);
    make_page(&options, &result);
    json_t *waits = json_object_get(made.data, "waits"), *pairs = json_object_get(waits, "pairs");
    json_t *row, *us = json_object_get(pairs, "us");
    double sum = 0, due = 0;
    size_t i;
    assert_int_equal(result.rows_left_out, 6); /* f in f in f, and their lines */
    json_array_foreach(us, i, row) sum += json_number_value(row);
    json_array_foreach(json_object_get(json_object_get(waits, "places"), "rows"), i, row) due +=
        1e6 * json_number_value(json_array_get(row, 5));
    assert_int_equal(json_array_size(us), 2); /* main's, and that of all others */
    assert_true(fabs(sum - due) < 2 && fabs(due - 3e6 * 10.3) < 2);
}

static void only_the_longest_locks_are_shown_and_the_others_counted(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1};
    size_t count = HTML_LOCKS + 3;
    struct lock_entry *locks = calloc(count, sizeof *locks);
    for (size_t i = 0; i < count; i++)
        locks[i] = (struct lock_entry){
            .name = "l", .symbol = "", .initialiser = "", .wait_ns = S, .waiter = ROW_NONE};
    struct lock_table table = {.lock = locks, .count = count};
    made.shown_locks = &table;
    make_page(&options, &result);
    json_t *shown = json_object_get(made.data, "locks"), *left_out = json_object_get(shown, "left_out");
    assert_int_equal(json_array_size(json_object_get(shown, "rows")), HTML_LOCKS);
    assert_int_equal(json_integer_value(json_object_get(left_out, "locks")), 3);
    assert_int_equal(json_integer_value(json_object_get(left_out, "wait")), 3);
    assert_int_equal(result.locks_left_out, 3);
    free(locks);
}

static void without_sources_none_is_read(void **state)
{
    (void)state;
    struct html_result result;
    struct html_options options = {.least_percent = -1, .no_source = true};
    add(0, 10, 1);
    put_lines(20);
    make_page(&options, &result);
    assert_int_equal(json_array_size(json_object_get(made.data, "sources")), 0);
    assert_true(json_is_false(json_object_get(made.data, "sources_wanted")));
    assert_null(strstr(made.page, "line 10"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_one_place_for_the_data),
        cmocka_unit_test(numbers_have_the_digits_of_the_csv),
#define ON_PROFILE(test) cmocka_unit_test_setup_teardown(test, start, finish)
        ON_PROFILE(rows_and_names_arrive),
        ON_PROFILE(an_empty_profile_is_a_root),
        ON_PROFILE(pieces_of_sources_surround_what_costs),
        ON_PROFILE(a_source_that_was_changed_is_said_to_be),
        ON_PROFILE(strange_lines_are_cut_and_cleaned),
        ON_PROFILE(a_binary_file_is_no_source),
        ON_PROFILE(a_huge_file_is_not_read),
        ON_PROFILE(a_pipe_is_not_waited_for),
        ON_PROFILE(a_missing_file_has_the_systems_reason),
        ON_PROFILE(a_relative_path_is_looked_for_here),
        ON_PROFILE(a_path_that_leaves_this_folder_is_not_followed),
        ON_PROFILE(waiting_for_folded_rows_stays),
        ON_PROFILE(only_the_longest_locks_are_shown_and_the_others_counted),
        ON_PROFILE(without_sources_none_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
