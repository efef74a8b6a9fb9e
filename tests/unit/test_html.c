/* needs: tests/fuzz/fake_symbols.c */
#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#include "command/html/page.h"
#include "command/files/csv.h"
#include "command/rows/error.h"
#include "command/text/format.h"
#include "tests/unit/html_page.h"

#define KEY(line) PROFILE_KEY(1, 0x1000 + (line))
#define ALL       ((struct html_options){.least_percent = -1})

static char source[200]; /* a file that the tests make */

/* main calls f in line 10; f has cost in other lines. */
static uint32_t add(uint32_t parent, int line, double work_s)
{
    fake_function(KEY(line), line == 10 ? "main" : "f\"\\<\x01\xff", source, line == 10 ? 9 : 19, line);
    uint32_t node = made_work(parent, KEY(line), work_s);
    made.nodes[node].metric.idle_beside = (float)(work_s * S / 8);
    return node;
}

static int start(void **state)
{
    made_start(state);
    made.profile.header.start_realtime_ns = INT64_MAX;
    made.threads[0].end_ns = (uint64_t)(15 * S);
    made.threads[0].work = 15 * S;
    snprintf(source, sizeof source, "%s.c", unit_fresh_path());
    return 0;
}

static int finish(void **state)
{
    snprintf(source, sizeof source, "%s.c", unit_path);
    unlink(source);
    unit_clean();
    return forget_page(state);
}

static void put_source(const char *lines, size_t bytes)
{
    FILE *out = fopen(source, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(lines, 1, bytes, out), bytes);
    fclose(out);
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, start, finish)

WITH_PROFILE(the_page_has_one_place_for_the_data)
{
    size_t bytes, mark_bytes = strlen(HTML_DATA_MARK);
    const char *form = html_embedded_page(&bytes);
    const char *mark = memmem(form, bytes, HTML_DATA_MARK, mark_bytes);
    assert_non_null(mark);
    mark += mark_bytes;
    assert_null(memmem(mark, bytes - (size_t)(mark - form), HTML_DATA_MARK, mark_bytes));
}

/* Seconds of threads' time that no row has, from a hundredth of the effort on; events are none. */
WITH_PROFILE(time_without_a_busy_thread_is_beside_the_rows)
{
    static char sample[] = "sample\0perf::PAGE-FAULTS@10";
    add(0, 10, 2);
    make_page(ALL);
    double effort_s = 1e-6 * (double)(number("rows/i/work/0") + number("rows/i/idleness/0"));
    for (int part = 0; part < 4; part++) { /* of a hundred and fiftieth of the effort */
        double seconds = part * effort_s / 150;
        made.threads[0].idle_nobody_busy = seconds * S;
        make_page(ALL);
        assert_true(fabs(json_number_value(at(page.data, "header/nobody_busy_s")) - (part < 2 ? 0 : seconds)) < 1e-6);
    }
    made.profile.text = sample;
    made.profile.text_bytes = sizeof sample;
    make_page(ALL);
    assert_int_equal(number("header/nobody_busy_s"), 0);
}

static void assert_micro(double seconds)
{
    char csv[FORMAT_NUMBER_BYTES + 1], digits[FORMAT_NUMBER_BYTES + 1], *to = digits;
    *format_micro(csv, seconds) = '\0';
    FILE *out = made_out();
    page_micro(out, seconds);
    fclose(out);
    for (const char *from = csv; *from; from++)
        if (*from != '.' && !(*from == '0' && (to == digits || (to == digits + 1 && *digits == '-'))))
            *to++ = *from;
    *to = '\0';
    assert_string_equal(made_text, to == digits ? "0" : digits);
}

WITH_PROFILE(numbers_have_the_digits_of_the_csv)
{
    uint64_t random = 88172645463325252ull;
    const double edges[] = {0, -0.0, 1e-7, 5e-7, -5e-7, 0.000001, -0.000001, 0.1, 1, 9.9999995, 1e12, 1e300, -3.25};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        assert_micro(edges[i]);
    for (int i = 0; i < 10000; i++)
        assert_micro((double)unit_random(&random) / (double)(1ull << (i % 60)) - 1000);
}

WITH_PROFILE(rows_and_names_arrive)
{
    uint32_t main_node = add(0, 10, 0);
    add(main_node, 20, 1.5);
    make_page((struct html_options){.title = "a </script> \xff", .least_percent = -1});
    assert_int_equal(page.result.rows, 4); /* root, main, f, its line */
    assert_string_equal(row_name(1), "main");
    assert_string_equal(row_name(2), "f\"\\<\x01\xef\xbf\xbd");
    assert_int_equal(row_number("parent", 0), -1);
    assert_int_equal(row_number("parent", 3), 2);
    assert_int_equal(row_number("call_line", 2), 10);
    assert_int_equal(row_number("line", 3), 20);
    assert_int_equal(row_number("function", 0), -1);
    assert_int_equal(number("rows/e/work/3"), 1500000);
    assert_int_equal(number("rows/e/work/1"), 0);
    assert_string_equal(text("rows/e/core idleness"), "idleness");
    assert_int_equal(number("rows/e/overhead"), 0);
    assert_string_equal(text("title"), "a </script> \xef\xbf\xbd");
    assert_true(json_is_null(at(page.data, "left_out")));
}

static bool has_metric(const char *key)
{
    size_t i;
    json_t *metric;
    json_array_foreach(at(page.data, "metrics"), i,
                       metric) if (strcmp(json_string_value(json_object_get(metric, "key")), key) == 0) return true;
    return false;
}

WITH_PROFILE(no_core_and_blocked_are_there_if_there_was_some)
{
    uint32_t main_node = add(0, 10, 4);
    made.threads[0].no_core = 3 * S;
    made.threads[0].blocked = 2 * S;
    make_page(ALL);
    assert_false(has_metric("no core") || has_metric("blocked"));
    assert_null(at(page.data, "rows/i/no core"));
    json_decref(page.data);
    made_add(main_node, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = 3 * S});
    make_page(ALL);
    assert_true(has_metric("no core"));
    assert_false(has_metric("blocked"));
    assert_int_equal(number("rows/i/no core/1"), 3000000);
    assert_int_equal(number("rows/e/no core/1"), 0);
    assert_string_equal(row_name(3), "<no core>");
    assert_int_equal(number("rows/e/no core/3"), 3000000);
    assert_true(json_number_value(at(page.data, "threads/0/no_core")) == 3);
    assert_true(json_number_value(at(page.data, "threads/0/blocked")) == 2);
}

static double figure(const char *metric, const char *name)
{
    json_t *form = json_object_get(at(page.data, "error/of"), metric);
    assert_true(json_is_number(json_object_get(form, name)));
    return json_number_value(json_object_get(form, name));
}

/* As the page does it, of values as it has them. */
static double page_error(const char *metric, double value, struct error_basis basis)
{
    double alone = fabs(figure(metric, "each") * value + figure(metric, "own") * basis.own),
           rain = fmax(0, alone - figure(metric, "beside") * basis.idle_beside),
           left = figure(metric, "together") * fmax(0, rain - value * value / figure(metric, "all"));
    return json_number_value(at(page.data, "error/deviations")) *
           sqrt(figure(metric, "few") * (alone > 0 ? rain / alone : 1) + fmin(rain, left));
}

WITH_PROFILE(errors_come_from_the_figures_of_the_function_that_reports_have)
{
    add(add(0, 10, 2), 20, 1.5);
    for (unsigned threads = 1; threads <= 4; threads++) {
        made.profile.header.threads_max = threads;
        json_decref(page.data);
        make_page(ALL);
        const struct error_terms *terms = &made.tables.rows->error;
        for (enum metric metric = 0; metric <= METRIC_BLAME; metric++)
            for (double value = -4.5; value < 20; value += 4.5) {
                double unit = metric == METRIC_SAMPLES ? 1 : 1e6,
                       error =
                           error_of(terms, metric, value, (struct error_basis){.own = 3, .idle_beside = 0.5}) * unit;
                assert_true(fabs(page_error(metric_title(metric), unit * value,
                                            (struct error_basis){.own = 3 * unit, .idle_beside = 0.5 * unit}) -
                                 error) <= 1e-6 * error);
            }
        assert_true((at(page.data, "rows/i/own") != NULL) == (threads != 2)); /* there are two cores */
        assert_true((at(page.data, "rows/i/beside") != NULL) == (threads > 2));
        if (threads > 2) {
            assert_int_equal(number("rows/i/own/1"), 3500000);
            assert_int_equal(number("rows/e/own/1"), 2000000);
            assert_int_equal(number("rows/i/beside/1"), 437500);
            assert_int_equal(number("rows/e/beside/1"), 250000);
        }
    }
}

WITH_PROFILE(counts_of_a_damaged_file_are_written_as_the_largest)
{
    made.nodes[add(0, 10, 2)].metric.samples = UINT64_MAX;
    make_page(ALL);
    assert_int_equal(number("rows/i/samples/0"), INT64_MAX);
}

WITH_PROFILE(an_empty_profile_is_a_root)
{
    made.profile.thread_count = 0;
    made.profile.text_bytes = 0;
    make_page(ALL);
    assert_int_equal(page.result.rows, 1);
    assert_string_equal(text("default_metric"), "work");
    assert_true(json_is_null(at(page.data, "header/command")));
}

/* A file of lines "line N". */
static void put_lines(int lines)
{
    FILE *out = fopen(source, "w");
    for (int line = 1; line <= lines; line++)
        fprintf(out, "line %d\n", line);
    fclose(out);
}

static void assert_piece(size_t index, int first, size_t lines)
{
    char line[32];
    json_t *piece = json_array_get(at(page.data, "sources"), index);
    assert_string_equal(text_at(json_integer_value(at(piece, "file"))), source);
    assert_int_equal(json_integer_value(at(piece, "first")), first);
    assert_int_equal(json_array_size(at(piece, "lines")), lines);
    for (size_t i = 0; i < lines; i++) {
        snprintf(line, sizeof line, "line %d", first + (int)i);
        assert_string_equal(json_string_value(json_array_get(at(piece, "lines"), i)), line);
    }
}

WITH_PROFILE(pieces_of_sources_surround_what_costs)
{
    uint32_t main_node = add(0, 10, 0); /* in the file: lines 9, 10 and 19 besides */
    add(main_node, 50, 1);
    add(main_node, 63, 1); /* 57 follows 56 */
    add(main_node, 100, 1);
    add(main_node, 150, 1); /* the file has become shorter */
    put_lines(103);
    make_page(ALL);
    assert_int_equal(count("sources"), 3);
    assert_piece(0, 3, 23);
    assert_piece(1, 44, 26);
    assert_piece(2, 94, 10);
    assert_int_equal(page.result.sources, 1);
    assert_int_equal(page.result.sources_missing, 0);
    assert_int_equal(count("sources_changed"), 0);
}

WITH_PROFILE(a_source_that_was_changed_is_said_to_be)
{
    made.profile.header.start_realtime_ns = 1;
    add(0, 10, 1);
    put_lines(20);
    make_page(ALL);
    assert_int_equal(count("sources_changed"), 1);
}

WITH_PROFILE(strange_lines_are_cut_and_cleaned)
{
    char strange[2000];
    memset(strange, 'x', sizeof strange);
    memcpy(strange, "a\xff\r\n</script>\n", 14);
    memcpy(strange + 14 + 398, "\xe2\x82\xac", 3); /* over the limit of 400 bytes */
    add(0, 2, 1);
    put_source(strange, sizeof strange);
    make_page(ALL);
    assert_int_equal(count("sources/0/lines"), 3);
    assert_string_equal(text("sources/0/lines/0"), "a\xef\xbf\xbd");
    assert_string_equal(text("sources/0/lines/1"), "</script>");
    const char *third = text("sources/0/lines/2");
    assert_int_equal(strlen(third), 398 + 3);
    assert_string_equal(third + 398, "\xe2\x80\xa6");
}

static void assert_missing(const char *why)
{
    add(0, 10, 1);
    make_page(ALL);
    assert_int_equal(page.result.sources, 0);
    assert_int_equal(page.result.sources_missing, 1);
    assert_string_equal(text("sources_missing/0/why"), why);
}

WITH_PROFILE(a_binary_file_is_no_source)
{
    put_source("a\nb\0c\n", 6);
    assert_missing("not a text");
}

WITH_PROFILE(a_huge_file_is_not_read)
{
    put_source("a\n", 2);
    assert_int_equal(truncate(source, (16 << 20) + 1), 0);
    assert_missing("too large");
}

WITH_PROFILE(a_pipe_is_not_waited_for)
{
    assert_int_equal(mkfifo(source, 0600), 0);
    assert_missing("not a file");
}

WITH_PROFILE(a_missing_file_has_the_systems_reason)
{
    assert_missing("No such file or directory");
}

WITH_PROFILE(a_relative_path_is_looked_for_here)
{
    char *here = get_current_dir_name();
    put_lines(20);
    assert_int_equal(chdir(unit_directory), 0);
    snprintf(source, sizeof source, "file.c");
    add(0, 10, 1);
    make_page(ALL);
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_int_equal(page.result.sources, 1);
}

WITH_PROFILE(a_path_that_leaves_this_folder_is_not_followed)
{
    put_lines(20);
    snprintf(source, sizeof source, "a/../..%s.c", unit_path);
    assert_missing("its path is relative");
}

WITH_PROFILE(waiting_for_folded_rows_stays)
{
    uint32_t main_node = add(0, 10, 10);
    made.profile.header.threads_max = 4;
    made.nodes[main_node].metric.samples = 1000;
    add(add(add(main_node, 20, 0.1), 30, 0.1), 40, 0.1);
    make_page((struct html_options){.least_percent = 5, .no_source = true});
    json_t *row;
    double sum = 0, due = 0;
    size_t i;
    assert_int_equal(page.result.rows_left_out, 6); /* f in f in f, and their lines */
    json_array_foreach(at(page.data, "waits/pairs/us"), i, row) sum += json_number_value(row);
    json_array_foreach(at(page.data, "waits/places/rows"), i, row) due +=
        1e6 * json_number_value(json_array_get(row, 5));
    assert_int_equal(count("waits/pairs/us"), 2); /* main's, and that of all others */
    assert_true(fabs(sum - due) < 2 && fabs(due - 3e6 * 10.3) < 2);
}

WITH_PROFILE(only_the_longest_locks_are_shown_and_the_others_counted)
{
    static struct lock_entry locks[HTML_LOCKS + 3];
    for (size_t i = 0; i < HTML_LOCKS + 3; i++)
        locks[i] = (struct lock_entry){.name = "l", .symbol = "", .initialiser = "", .wait_ns = S, .waiter = ROW_NONE};
    struct lock_table table = {.lock = locks, .count = HTML_LOCKS + 3};
    page.locks = &table;
    make_page(ALL);
    assert_int_equal(count("locks/rows"), HTML_LOCKS);
    assert_int_equal(number("locks/left_out/locks"), 3);
    assert_int_equal(json_number_value(at(page.data, "locks/left_out/wait")), 3);
    assert_int_equal(page.result.locks_left_out, 3);
}

WITH_PROFILE(without_sources_none_is_read)
{
    add(0, 10, 1);
    put_lines(20);
    make_page((struct html_options){.least_percent = -1, .no_source = true});
    assert_int_equal(count("sources"), 0);
    assert_true(json_is_false(at(page.data, "sources_wanted")));
    assert_null(strstr(made_text, "line 10"));
}

UNIT_MAIN(NULL, NULL)
