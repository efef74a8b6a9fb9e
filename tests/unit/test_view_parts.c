#include "command/tables/waits.h"
#include "command/views/sort.h"
#include "command/views/style.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>

#include "command/cli/clean_stream.h"
#include "command/cli/progress.h"
#include "command/text/format.h"
#include "command/text/source_text.h"

UNIT_TEST(nothing_but_print_reaches_a_terminal)
{
    static const char evil[] = "f\033[2J\x9b\xc2\x9b\r\n\x7f g\xc3\xbc\xff";
    for (int utf8 = 0; utf8 < 2; utf8++)
        for (size_t columns = 1; columns < 20; columns++) {
            char *texts[2] = {format_fit(evil, columns, utf8), format_fit_head(evil, columns, utf8)};
            for (int t = 0; t < 2; t++) {
                assert_true(format_columns(texts[t]) <= columns);
                for (const unsigned char *at = (const unsigned char *)texts[t]; *at; at++) {
                    assert_true(*at >= 0x20 && *at != 0x7f && (utf8 || *at < 0x7f));
                    assert_false(*at == 0xc2 && at[1] < 0xa0);
                }
                free(texts[t]);
            }
        }
    char *whole = format_fit("g\xc3\xbc", 9, true), *plain = format_fit("g\xc3\xbc", 9, false);
    assert_string_equal(whole, "g\xc3\xbc");
    assert_string_equal(plain, "g?");
    free(whole);
    free(plain);
    whole = format_fit_head("for (int i = 0;;)", 9, false);
    assert_string_equal(whole, "for (i...");
    free(whole);
}

UNIT_TEST(data_on_a_terminal_has_no_control_characters)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size), *clean = clean_stream(out);
    setvbuf(clean, NULL, _IONBF, 0); /* byte by byte: pairs are torn apart */
    fputs("a,\033[2J\x7f\xc2\x9bm\xc3\xbc\xc2\xb0\t\"\r\n\xe2\x80\xae\xe2\x82\xac\x9b\xe2\x80", clean);
    assert_int_equal(fclose(clean), 0);
    fclose(out);
    assert_string_equal(
        text,
        "a,?[2J?\xef\xbf\xbdm\xc3\xbc\xc2\xb0\t\"\r\n\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    free(text);
}

UNIT_TEST(columns_are_read_or_refused_with_what_is_accepted)
{
    struct view_columns columns;
    char error[512];
    const struct rows rows = {.counter_count = 0};
    assert_true(view_columns_read(&columns, &rows, "work:i,idleness%,lock-wait:E%", true, error, sizeof error));
    assert_int_equal(columns.count, 3);
    assert_true(columns.column[0].metric == METRIC_WORK && !columns.column[0].exclusive);
    assert_true(columns.column[1].exclusive && columns.column[1].percent);
    assert_true(columns.column[2].metric == METRIC_LOCK_WAIT && columns.column[2].exclusive);
    static const char *const wrong[] = {"",      "work,", ",work", "beauty",   "work:x",
                                        "work:", "%",     ":i",    "work:i:e", "work %"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(view_columns_read(&columns, &rows, wrong[i], false, error, sizeof error));
        assert_non_null(strstr(error, "expected"));
        assert_non_null(strstr(error, "samples"));
    }
    char many[200] = "work";
    for (int i = 0; i < VIEW_COLUMNS_MOST; i++)
        strcat(many, ",work");
    assert_false(view_columns_read(&columns, &rows, many, false, error, sizeof error));
    assert_non_null(strstr(error, "16"));
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

UNIT_TEST(moved_sources_are_found_by_the_longest_end_of_their_path)
{
    char directory[200], path[300];
    unit_fresh_path();
    snprintf(directory, sizeof directory, "%s/sub", unit_directory);
    assert_int_equal(mkdir(directory, 0700), 0);
    snprintf(path, sizeof path, "%s/a.c", directory);
    write_file(path, "first\n\t two\tx \r\n\nlast");
    snprintf(directory, sizeof directory, "%s/a.c", unit_directory);
    write_file(directory, "another");
    struct source_text *sources = source_text_new(unit_directory, false, 0);
    assert_string_equal(source_text_line(sources, "/build/sub/a.c", 1), "first");
    assert_string_equal(source_text_line(sources, "/build/sub/a.c", 2), "two x");
    assert_string_equal(source_text_line(sources, "/build/sub/a.c", 3), "");
    assert_string_equal(source_text_line(sources, "/build/sub/a.c", 4), "last");
    assert_null(source_text_line(sources, "/build/sub/a.c", 5));
    assert_null(source_text_line(sources, "/build/sub/a.c", 0));
    assert_string_equal(source_text_line(sources, "/else/a.c", 1), "another");
    assert_null(source_text_line(sources, "/build/no.c", 1));
    assert_null(source_text_line(sources, "/build/no.c", 2));
    assert_null(source_text_line(sources, "/dev/zero", 1));
    assert_null(source_text_line(sources, "", 1));
    const char *first;
    assert_int_equal(source_text_missing(sources, &first), 2);
    assert_string_equal(first, "/build/no.c");
    assert_int_equal(source_text_changed(sources, &first), 2);
    source_text_free(sources);
    unlink(path);
    unlink(directory);
    snprintf(directory, sizeof directory, "%s/sub", unit_directory);
    rmdir(directory);
    unit_clean();
}

UNIT_TEST(a_path_does_not_lead_out_of_the_folder)
{
    char folder[200], path[300];
    unit_fresh_path();
    snprintf(folder, sizeof folder, "%s/sub", unit_directory);
    snprintf(path, sizeof path, "%s/b.c", unit_directory);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file(path, "secret");
    struct source_text *sources = source_text_new(folder, false, 0);
    assert_null(source_text_line(sources, "/build/../b.c", 1));
    assert_null(source_text_line(sources, "../b.c", 1));
    source_text_free(sources);
    unlink(path);
    rmdir(folder);
    unit_clean();
}

/* Links followed: what is no source by its name is shown from the given folder alone. */
UNIT_TEST(only_sources_are_read)
{
    static const char *const name[] = {"secret", "a.c", "b.F90", "include/c++/vector"};
    static const bool read[] = {false, false, true, true};
    char folder[200], path[300], link[300];
    unit_fresh_path();
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s/%s", unit_directory, i ? "include/c++" : "include");
        assert_int_equal(mkdir(folder, 0700), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", unit_directory, name[i]);
        snprintf(link, sizeof link, "%s/%s", unit_directory, name[0]);
        if (i == 1)
            assert_int_equal(symlink(link, path), 0);
        else
            write_file(path, "text");
    }
    for (int given = 0; given < 2; given++) {
        struct source_text *sources = source_text_new(given ? unit_directory : NULL, false, 0);
        for (size_t i = 0; i < 4; i++) {
            snprintf(path, sizeof path, "%s/%s", unit_directory, name[i]);
            assert_int_equal(source_text_line(sources, given ? name[i] : path, 1) != NULL, given || read[i]);
        }
        source_text_free(sources);
    }
    for (size_t i = 4; i-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", unit_directory, name[i]);
        unlink(path);
    }
    rmdir(folder);
    snprintf(folder, sizeof folder, "%s/include", unit_directory);
    rmdir(folder);
    unit_clean();
}

UNIT_TEST(pairs_follow_their_places)
{
    struct wait_table table = {.place = calloc(2, sizeof *table.place),
                               .place_count = 2,
                               .pair = calloc(3, sizeof *table.pair),
                               .pair_count = 3};
    struct view_cut cut;
    table.place[0] = (struct wait_place){.kind = WAIT_BARRIER, .ns = 8, .first_pair = 0, .pair_count = 2};
    table.place[1] = (struct wait_place){.kind = WAIT_LOCK, .ns = 2, .first_pair = 2, .pair_count = 1};
    for (uint32_t i = 0; i < 3; i++)
        table.pair[i] = (struct wait_pair){.place = i / 2, .row = i};
    cut = view_sort_waits(&table, METRIC_LOCK_WAIT, 0);
    assert_int_equal(table.place[0].kind, WAIT_LOCK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(table.pair[i].row, (i + 2) % 3);
        assert_int_equal(table.pair[i].place, i > 0);
    }
    cut = view_sort_waits(&table, METRIC_LOCK_WAIT, 50);
    assert_int_equal(table.place_count, 1);
    assert_int_equal(table.pair[0].place, 0);
    assert_true(cut.count == 1 && cut.ns == 2);
    free(table.place);
    free(table.pair);
}

static uint64_t now_ns;

static uint64_t fake_now(void)
{
    return now_ns;
}

UNIT_TEST(progress_shows_after_a_second_and_is_gone_at_the_end)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    now_ns = 5000000000u;
    progress_start(out, fake_now);
    progress_phase("reading");
    now_ns += 900000000u;
    progress_step(1, 4);
    fflush(out);
    assert_int_equal(size, 0);
    now_ns += 200000000u;
    progress_step(2, 4);
    progress_step(3, 4); /* too soon for another */
    fflush(out);
    assert_string_equal(text, "\rblame: reading: 50 %");
    progress_end();
    fflush(out);
    assert_string_equal(text, "\rblame: reading: 50 %\r                    \r");
    size_t before = size;
    progress_start(NULL, fake_now);
    now_ns += 9000000000u;
    progress_step(1, 2);
    progress_end();
    fclose(out);
    assert_int_equal(size, before);
    free(text);
}

UNIT_MAIN(NULL, NULL)
