#include "tests/unit/unit.h"

#include "ompt_tool/counters/counter_names.h"

UNIT_TEST(a_list_is_split_at_its_commas)
{
    const char *list = " PAPI_TOT_INS , ,perf::PAGE-FAULTS,,";
    char name[COUNTER_NAME_BYTES];
    assert_true(counter_names_next(&list, name));
    assert_string_equal(name, "PAPI_TOT_INS");
    assert_true(counter_names_next(&list, name));
    assert_string_equal(name, "perf::PAGE-FAULTS");
    assert_false(counter_names_next(&list, name));
    assert_false(counter_names_next(&list, name));
}

UNIT_TEST(a_name_that_is_too_long_is_cut)
{
    char text[3 * COUNTER_NAME_BYTES], name[COUNTER_NAME_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const char *list = text;
    assert_true(counter_names_next(&list, name));
    assert_int_equal(strlen(name), COUNTER_NAME_BYTES - 1);
    assert_false(counter_names_next(&list, name));
}

UNIT_TEST(a_sample_is_an_event_and_its_period)
{
    char name[COUNTER_NAME_BYTES];
    uint64_t period;
    assert_true(counter_names_split("perf::CS:u=1@17", name, &period));
    assert_string_equal(name, "perf::CS:u=1");
    assert_int_equal(period, 17);
    assert_true(counter_names_split("A@10000000000", name, &period));
    assert_true(period == COUNTER_MOST_PERIOD);
}

UNIT_TEST(what_is_no_event_and_period_is_refused)
{
    static const char *const wrong[] = {"",
                                        "A",
                                        "A@",
                                        "A@0",
                                        "A@-1",
                                        "A@ 1",
                                        "A@1e6",
                                        "A@10x",
                                        "A@10000000001",
                                        "@10",
                                        " @10",
                                        "A@+1",
                                        "A@B@",
                                        "A@99999999999999999999"};
    char name[COUNTER_NAME_BYTES];
    uint64_t period;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (counter_names_split(wrong[i], name, &period))
            fail_msg("%s", wrong[i]);
}

UNIT_TEST(distances_are_edits_whatever_the_case)
{
    assert_int_equal(counter_names_distance("PAPI_TOT_INS", "papi_tot_ins"), 0);
    assert_int_equal(counter_names_distance("PAPI_TOT_INS", "PAPI_TOT_IIS"), 1);
    assert_int_equal(counter_names_distance("PAPI_TOT_IN", "PAPI_TOT_INS"), 1);
    assert_int_equal(counter_names_distance("PAPI_TTO_INS", "PAPI_TOT_INS"), 2);
    assert_int_equal(counter_names_distance("", "abc"), 3);
    assert_int_equal(counter_names_distance("kitten", "sitting"), 3);
}

UNIT_TEST(what_is_behind_colons_stands_for_the_whole)
{
    assert_int_equal(counter_names_distance("PAGE-FAULT", "perf::PAGE-FAULTS"), 1);
    assert_int_equal(counter_names_distance("perf_event:::perf::CS", "perf::CS"), 0);
}

UNIT_TEST(the_nearest_three_are_kept_nearest_first)
{
    struct counter_nearest nearest = {0};
    static const char *const names[] = {"zzzzzzzz", "abcdefg", "abxxxfgh", "abcdefgh", "abcxxfgh", "abcdefxx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        counter_nearest_add(&nearest, "abcdefgh", names[i]);
    assert_int_equal(nearest.count, 3);
    assert_string_equal(nearest.name[0], "abcdefgh");
    assert_string_equal(nearest.name[1], "abcdefg");
    assert_string_equal(nearest.name[2], "abcxxfgh"); /* of equals the first */
    assert_false(counter_nearest_wants(&nearest, "abcdefgh", "abcdefyy"));
    assert_true(counter_nearest_wants(&nearest, "abcdefgh", "abcdefgx"));
}

UNIT_MAIN(NULL, NULL)
