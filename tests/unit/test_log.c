#include "tests/unit/unit.h"

#include "base/log.h"

/* What log_line() wrote, caught behind a pipe that stands in for stderr. */
static char caught[8192];
static size_t caught_bytes;
static int saved_stderr, pipe_ends[2];

static void catch_begin(void)
{
    assert_int_equal(pipe(pipe_ends), 0);
    saved_stderr = dup(2);
    dup2(pipe_ends[1], 2);
}

static void catch_end(void)
{
    dup2(saved_stderr, 2);
    close(saved_stderr);
    close(pipe_ends[1]);
    caught_bytes = 0;
    ssize_t got;
    while ((got = read(pipe_ends[0], caught + caught_bytes, sizeof(caught) - 1 - caught_bytes)) > 0)
        caught_bytes += (size_t)got;
    caught[caught_bytes] = '\0';
    close(pipe_ends[0]);
}

#define CATCH(...) (catch_begin(), log_line(__VA_ARGS__, NULL), catch_end())

UNIT_TEST(a_line_has_prefix_parts_and_newline)
{
    CATCH("one", " and ", "two");
    assert_string_equal(caught, "blame: one and two\n");
}

UNIT_TEST(control_characters_do_not_reach_the_terminal)
{
    CATCH("BLAME_RATE=", "\x1b[2J\r\n\t\x7f\xc3\xa4");
    assert_string_equal(caught, "blame: BLAME_RATE=?[2J????\xc3\xa4\n");
}

UNIT_TEST(a_word_of_a_shell_is_quoted_only_where_it_must_be)
{
    char buffer[LOG_WORD_BYTES], long_one[LOG_WORD_BYTES + 1];
    assert_string_equal(log_word("blame-a.out-4711/x_1", buffer), "blame-a.out-4711/x_1");
    assert_string_equal(log_word("my run", buffer), "'my run'");
    assert_string_equal(log_word("it's $HOME", buffer), "'it'\\''s $HOME'");
    assert_string_equal(log_word("", buffer), "''");
    memset(long_one, ' ', sizeof long_one);
    long_one[LOG_WORD_BYTES] = '\0';
    assert_ptr_equal(log_word(long_one, buffer), long_one); /* no room */
    long_one[LOG_WORD_BYTES - 3] = '\0';
    assert_int_equal(strlen(log_word(long_one, buffer)), LOG_WORD_BYTES - 1);
}

UNIT_TEST(a_line_without_text_is_the_prefix)
{
    CATCH(NULL);
    assert_string_equal(caught, "blame: \n");
}

UNIT_TEST(a_long_line_is_cut_at_1024_bytes_and_ends)
{
    char text[2000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    CATCH(text, "lost");
    assert_int_equal(caught_bytes, 1024);
    assert_int_equal(caught[1023], '\n');
    assert_int_equal(caught[1022], 'x');
    text[1024 - 7 - 1] = '\0'; /* the longest that fits */
    CATCH(text);
    assert_int_equal(caught_bytes, 1024);
    text[1024 - 7 - 2] = '\0';
    CATCH(text);
    assert_int_equal(caught_bytes, 1023);
}

UNIT_TEST(decimals_have_all_digits)
{
    char buffer[21];
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"}, {9, "9"}, {10, "10"}, {1000000007, "1000000007"}, {UINT64_MAX, "18446744073709551615"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_ptr_equal(log_decimal(cases[i].value, buffer), buffer);
        assert_string_equal(buffer, cases[i].text);
    }
}

UNIT_MAIN(NULL, NULL)
