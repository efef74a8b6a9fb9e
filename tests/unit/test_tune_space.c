/* What can be set: files of it, bad ones, and what a setting is for the program. */
#include "tests/unit/unit.h"

#include "tune/space.h"

static bool read_text(struct space *space, const char *text, char *why, size_t bytes)
{
    FILE *file = fmemopen((char *)text, strlen(text), "r");
    bool good = space_read(space, file, "f", why, bytes);
    fclose(file);
    return good;
}

UNIT_TEST(a_file_has_dimensions_with_a_default_in_front)
{
    struct space space;
    char why[300];
    assert_true(read_text(&space, "\xef\xbb\xbf# all\r\nthreads: 1 2  # few\n\nwait: passive 0\nenv A: x\nparam b: 1 2 3 ordered\nbuild: make '#'@{b} # now\n", why, sizeof why));
    assert_int_equal(space.count, 4);
    assert_string_equal(space.dimension[0].value[0], "default");
    assert_int_equal(space.dimension[0].values, 3);
    assert_true(space.dimension[0].ordered && !space.dimension[2].ordered && space.dimension[3].ordered);
    assert_string_equal(space.dimension[3].value[0], "1");
    assert_string_equal(space.build, "make '#'@{b} ");
    assert_true(space_mentions(&space, 3, space.build) && !space_mentions(&space, 0, space.build));
    space_free(&space);
}

UNIT_TEST(a_setting_is_variables_and_words)
{
    struct space space;
    char why[300];
    assert_true(read_text(&space, "threads: 2 4\nwait: passive 50\nbind: close\nenv A: x\nparam b: 1 2\n", why, sizeof why));
    struct search_setting setting = {{2, 2, 0, 1, 1}};
    char *variables = space_variables(&space, &setting), *words = space_expand(&space, &setting, "-b@{b}@{b}.", why, sizeof why);
    assert_string_equal(variables, "OMP_NUM_THREADS=4\nKMP_BLOCKTIME=50\nA=x\n");
    assert_string_equal(words, "-b22.");
    assert_null(space_expand(&space, &setting, "@{c}", why, sizeof why));
    assert_non_null(strstr(why, "@{c}"));
    assert_null(space_expand(&space, &setting, "@{b", why, sizeof why));
    free(variables);
    free(words);
    space_free(&space);
}

UNIT_TEST(bad_lines_are_told_of_with_what_is_accepted)
{
    const struct {
        const char *text, *said;
    } cases[] = {
        {"threads: 0", "f:1: threads: 0: accepted are whole numbers from 1 to 65536"},
        {"\nschedule: dynamic,0", "f:2: schedule: dynamic,0: accepted are static"},
        {"schedule: fast", "fast"}, {"wait: often", "often"}, {"bind: near", "near"}, {"stack: 1X", "1X"}, {"dynamic: 1", "true, false"},
        {"threads 1 2", "accepted is NAME: VALUE"}, {"speed: 1", "speed: accepted are threads"}, {"env: 1", "env: accepted"},
        {"param a-b: 1 2", "param a-b"}, {"param a: 1", "nothing to choose"}, {"threads:", "nothing to choose"},
        {"threads: 1\nthreads: 2", "f:2: threads: it is there twice"}, {"# nothing", "no dimension"}, {"threads: \033[31m", "accepted are whole"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct space space;
        char why[300] = "";
        assert_false(read_text(&space, cases[i].text, why, sizeof why));
        if (!strstr(why, cases[i].said) || strchr(why, '\033'))
            fail_msg("%s: %s", cases[i].text, why);
        space_free(&space);
    }
}

UNIT_TEST(too_many_values_and_dimensions_are_refused)
{
    char text[2000] = "env A:", why[300];
    struct space space;
    for (int i = 0; i < SEARCH_VALUES; i++)
        sprintf(text + strlen(text), " %d", i);
    assert_false(read_text(&space, text, why, sizeof why));
    assert_non_null(strstr(why, "more than 31 values"));
    space_free(&space);
    text[0] = '\0';
    for (int i = 0; i <= SEARCH_DIMENSIONS; i++)
        sprintf(text + strlen(text), "env A%d: 1\n", i);
    assert_false(read_text(&space, text, why, sizeof why));
    assert_non_null(strstr(why, "more than 16 dimensions"));
    space_free(&space);
}

UNIT_TEST(machines_of_any_size_have_a_space)
{
    for (unsigned cores = 1; cores < 5000; cores = cores * 2 + 1) {
        struct space space;
        space_make(&space, cores);
        for (size_t i = 0; i < space.count; i++)
            assert_true(space.dimension[i].values <= SEARCH_VALUES && (space.dimension[i].values > 1 || cores == 1));
        space_free(&space);
    }
}

UNIT_MAIN(NULL, NULL)
