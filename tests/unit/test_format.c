#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/format.h"
#include "tests/unit/unit.h"

/* As the slow way has it, and, where a double is fine enough to tell, within a millionth of what printf says.
 */
static void check(double value)
{
    char fast[FORMAT_NUMBER_BYTES] = "", slow[FORMAT_NUMBER_BYTES], printed[FORMAT_NUMBER_BYTES];
    *format_micro(fast, value) = '\0';
    assert_string_equal(fast, format_decimal(slow, value, 6));
    if (!isfinite(value))
        return;
    snprintf(printed, sizeof printed, "%.6f", value);
    if (fabs(value) < 1e9)
        assert_true(fabs(strtod(fast, NULL) - strtod(printed, NULL)) < 1.1e-6);
    assert_int_equal(strlen(strchr(fast, '.')), 7);
}

UNIT_TEST(any_number_has_the_digits_of_the_slow_way)
{
    uint64_t random = 88172645463325252ull;
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = unit_random(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        check(value);
        check((double)(int64_t)unit_random(&random) * 1e-9);
        check((double)(unit_random(&random) % 100000000) / 1e6);
    }
}

UNIT_TEST(extreme_numbers_are_written)
{
    static const double extremes[] = {0,         -0.0,       DBL_MIN, DBL_MAX,  -DBL_MAX,    DBL_TRUE_MIN, 4.9e-7,
                                      5e-7,      -4.9e-7,    -5e-7,   1e12,     1e12 - 1e-4, 1e13,         9e12,
                                      0.9999995, 99.9999999, NAN,     INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        check(extremes[i]);
        check(nextafter(extremes[i], INFINITY));
        check(nextafter(extremes[i], -INFINITY));
    }
}

UNIT_TEST(integers_are_written_whole)
{
    static const uint64_t values[] = {0, 1, 9, 10, 99, 100, 18446744073709551615ull, 10000000000000000000ull};
    char text[FORMAT_NUMBER_BYTES], expected[32];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        *format_integer(text, values[i]) = '\0';
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
        assert_string_equal(text, expected);
    }
}

/* What a spreadsheet makes of a formula is said in docs/options-and-files.md: other readers want the name. */
UNIT_TEST(names_reach_csv_without_control_characters_and_else_as_they_are)
{
    static const char *const names[][2] = {{"a\x1b[31m,b\nc", "\"a\xef\xbf\xbd[31m,b\xef\xbf\xbd"
                                                              "c\""},
                                           {"=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0"},
                                           {"@sum(1,2)", "\"@sum(1,2)\""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        format_csv_text(out, names[i][0]);
        fclose(out);
        assert_string_equal(text, names[i][1]);
    }
}

UNIT_MAIN(NULL, NULL)
