#include "tests/unit/unit.h"

#include "ompt_tool/session/session.h"
#include "ompt_tool/session/variables.h"

static const char *const names[] = {"BLAME_OUT",     "BLAME_RATE",     "BLAME_CLOCK",           "BLAME_ENVIRONMENT",
                                    "BLAME_CONTEXT", "BLAME_TASKS",    "BLAME_DEPTH",           "BLAME_CSV",
                                    "BLAME_SUMMARY", "BLAME_DISABLE",  "BLAME_SIGNAL",          "BLAME_LOCKS",
                                    "BLAME_PRIVATE", "BLAME_COUNTERS", "BLAME_EVENTS_THROTTLE", "BLAME_PHASE_INSTANCES",
                                    "BLAME_SEED",    "BLAME_TRACE",    "BLAME_TRACE_LIMIT"};

static int clear(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, clear, NULL)

/* Reads the options; what was said on stderr is in said. */
static char said[8192];

static struct run_options read_options(void)
{
    int ends[2], saved = dup(2);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], 2);
    memset(&session.options, 0xaa, sizeof(session.options));
    variables_read();
    dup2(saved, 2);
    close(saved);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], said + used, sizeof(said) - 1 - used)) > 0;)
        used += (size_t)got;
    said[used] = '\0';
    close(ends[0]);
    return session.options;
}

FROM_EMPTY(what_is_written_over_the_environment_later_changes_no_option)
{
    char out[] = "BLAME_OUT=there", counters[] = "BLAME_COUNTERS=cycles", trace[] = "BLAME_TRACE=1.5:3";
    putenv(out);
    putenv(counters);
    putenv(trace);
    struct run_options options = read_options();
    memset(out, '-', sizeof(out) - 1); /* setproctitle() */
    memset(counters, '-', sizeof(counters) - 1);
    memset(trace, '-', sizeof(trace) - 1);
    assert_string_equal(options.out, "there");
    assert_string_equal(options.counters, "cycles");
    assert_string_equal(options.trace, "1.5:3");
    clearenv();
}

FROM_EMPTY(every_variable_reaches_its_option)
{
    setenv("BLAME_OUT", "dir/%p", 1);
    setenv("BLAME_RATE", "1000", 1);
    setenv("BLAME_CLOCK", "cpu", 1);
    setenv("BLAME_ENVIRONMENT", "shared", 1);
    setenv("BLAME_CONTEXT", "eager", 1);
    setenv("BLAME_DEPTH", "64", 1);
    setenv("BLAME_CSV", "0", 1);
    setenv("BLAME_SUMMARY", "0", 1);
    setenv("BLAME_DISABLE", "1", 1);
    setenv("BLAME_SEED", "2147483647", 1);
    struct run_options options = read_options();
    assert_string_equal(said, "");
    assert_int_equal(options.seed, 2147483647);
    assert_string_equal(options.out, "dir/%p");
    assert_int_equal(options.rate, 1000);
    assert_int_equal(options.clock, CLOCK_CPU);
    assert_int_equal(options.environment, 1);
    assert_int_equal(options.context, CONTEXT_EAGER);
    assert_int_equal(options.depth, 64);
    assert_int_equal(options.csv, 0);
    assert_int_equal(options.summary, 0);
    assert_int_equal(options.disable, 1);
}

FROM_EMPTY(empty_is_unset)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        setenv(names[i], "", 1);
    struct run_options options = read_options();
    assert_string_equal(said, "");
    assert_null(options.out);
    assert_int_equal(options.rate, 200);
    assert_int_equal(options.csv, 1);
}

FROM_EMPTY(a_bad_value_is_one_line_with_name_value_and_what_is_accepted)
{
    setenv("BLAME_CLOCK", "Wall", 1);
    setenv("BLAME_RATE", "many", 1);
    struct run_options options = read_options();
    assert_int_equal(options.clock, CLOCK_WALL);
    assert_int_equal(options.rate, 200);
    assert_string_equal(said, "blame: BLAME_RATE=many: expected a whole number from 1 to 10000; using 200\n"
                              "blame: BLAME_CLOCK=Wall: expected wall or cpu; using wall\n");
}

FROM_EMPTY(every_other_value_is_named_and_replaced)
{
    static const char *const refused[][2] = {
        {"BLAME_RATE", "0"},
        {"BLAME_RATE", "10001"},
        {"BLAME_RATE", "-5"},
        {"BLAME_RATE", "+5"},
        {"BLAME_RATE", " 5"},
        {"BLAME_RATE", "5 "},
        {"BLAME_RATE", "5Hz"},
        {"BLAME_RATE", "1e3"},
        {"BLAME_RATE", "0x10"},
        {"BLAME_RATE", "2.5"},
        {"BLAME_RATE", "4294967297"},           /* 1 in 32 bits */
        {"BLAME_RATE", "18446744073709551617"}, /* 1 in 64 bits */
        {"BLAME_TRACE", "2"},
        {"BLAME_TRACE", "60"},
        {"BLAME_TRACE", "60:"},
        {"BLAME_TRACE", ":60"},
        {"BLAME_TRACE", "60:60"},
        {"BLAME_TRACE", "90:60"},
        {"BLAME_TRACE", "-1:60"},
        {"BLAME_TRACE", "0x1:60"},
        {"BLAME_TRACE", "1:inf"},
        {"BLAME_TRACE_LIMIT", "100"},
        {"BLAME_TRACE_LIMIT", "63K"},
        {"BLAME_TRACE_LIMIT", "4G"},
        {"BLAME_TRACE_LIMIT", "64MB"},
        {"BLAME_TRACE_LIMIT", "18014398509481985K"}, /* 1K in 64 bits */
        {"BLAME_DEPTH", "4097"},
        {"BLAME_PHASE_INSTANCES", "100000001"},
        {"BLAME_CLOCK", "WALL"},
        {"BLAME_CLOCK", "wall "},
        {"BLAME_ENVIRONMENT", "dedicatedly"},
        {"BLAME_EVENTS_THROTTLE", "100"},
        {"BLAME_EVENTS_THROTTLE", "@5"},
        {"BLAME_EVENTS_THROTTLE", "5@"},
        {"BLAME_EVENTS_THROTTLE", "0@5"},
        {"BLAME_EVENTS_THROTTLE", "1@2@3"},
        {"BLAME_EVENTS_THROTTLE", "-1@5"},
        {"BLAME_EVENTS_THROTTLE", "99999999999999999999999@5"},
        {"BLAME_CSV", "2"},
        {"BLAME_CSV", "yes"},
        {"BLAME_SUMMARY", "maybe"},
    };
    struct run_options defaults = read_options();
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char begin[64];
        clear(NULL);
        setenv(refused[i][0], refused[i][1], 1);
        snprintf(begin, sizeof(begin), "blame: %s=%s: expected ", refused[i][0], refused[i][1]);
        struct run_options options = read_options();
        assert_memory_equal(&options, &defaults, sizeof(options));
        assert_memory_equal(said, begin, strlen(begin));
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* one line */
    }
}

FROM_EMPTY(a_very_long_value_does_no_harm)
{
    static char text[100000];
    memset(text, '9', sizeof(text) - 1);
    setenv("BLAME_RATE", text, 1);
    assert_int_equal(read_options().rate, 200);
    assert_int_equal(strlen(said), 1024);
}

FROM_EMPTY(the_values_in_effect_are_printed)
{
    char text[1024], small[20];
    setenv("BLAME_RATE", "997", 1);
    setenv("BLAME_CONTEXT", "eager", 1);
    read_options();
    variables_print(text, sizeof(text));
    assert_non_null(strstr(text, "BLAME_RATE=997\n"));
    assert_non_null(strstr(text, "BLAME_CONTEXT=eager\n"));
    assert_non_null(strstr(text, "BLAME_CLOCK=wall\n"));
    assert_non_null(strstr(text, "BLAME_DISABLE=0\n"));
    for (size_t bytes = 1; bytes <= sizeof(small); bytes++) { /* whatever the room, it ends and fits */
        memset(small, 'x', sizeof(small));
        variables_print(small, bytes);
        assert_true(memchr(small, '\0', bytes) != NULL);
        assert_int_equal(strncmp(text, small, strlen(small)), 0);
        for (size_t i = bytes; i < sizeof(small); i++)
            assert_int_equal(small[i], 'x');
    }
}

FROM_EMPTY(a_signal_has_a_number_or_a_name)
{
    static const struct {
        const char *text;
        int number; /* 0: not accepted */
    } cases[] = {{"50", 50},      {"16", 16},
                 {"27", 27},      {"rt0", 34},
                 {"RTMIN+3", 37}, {"SIGRTMAX-1", 63},
                 {"9", 0},        {"sigrtmin+0", 34},
                 {"rt30", 64},    {"11", 0},
                 {"32", 0},       {"33", 0},
                 {"65", 0},       {"rt31", 0},
                 {"0", 0},        {"-1", 0},
                 {"RTMAX-31", 0}, {"SIGPROF", 0},
                 {"27 ", 0},      {"rt-1", 0},
                 {"rt", 0},       {"RTMAX-99999999999", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("BLAME_SIGNAL", cases[i].text, 1);
        struct run_options options = read_options();
        assert_int_equal(options.signal, cases[i].number);
        assert_int_equal(strstr(said, "BLAME_SIGNAL=") != NULL, cases[i].number == 0);
    }
}

UNIT_MAIN(NULL, NULL)
