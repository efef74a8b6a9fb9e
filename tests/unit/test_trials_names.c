/* What a trial's facts and contexts are known by. */
#include "tests/unit/unit.h"

#include "trials/contexts.h"
#include "trials/facts.h"

UNIT_TEST(numbers_are_those_that_are_printed_the_same_again)
{
    static const char *const numbers[] = {"0", "512", "-3", "0.5", "-12.25", "123456789012345"};
    static const char *const texts[] = {"", "-", "007", "1e5", "0x10", "12.", ".5", "1 ", "1.2.3", "1234567890123456", "nan", "1.10", "2.0"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_true(fact_is_number(&(struct fact){"user", "x", (char *)numbers[i]}));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(fact_is_number(&(struct fact){"user", "x", (char *)texts[i]}));
    assert_false(fact_is_number(&(struct fact){"user", "revision", "1234567"}));
    assert_true(fact_is_number(&(struct fact){"user", "tune.seconds", "0.150000"}));
    assert_true(fact_is_number(&(struct fact){"user", "input.density", "0.50"}));
}

/* main > f [parallel], with lines that another build has elsewhere. */
UNIT_TEST(a_path_is_the_same_in_another_build_and_an_identity_is_not)
{
    struct row_label root = {"<program root>", "", "", 0}, main_label = {"main", "app", "a.c", 3}, line = {"a.c:5", "app", "a.c", 5};
    struct row_label parallel[2] = {{"main [parallel a.c:7]", "app", "a.c", 7}, {"main [parallel a.c:9]", "app", "a.c", 9}};
    int64_t *identity[2], *path_of[2];
    for (int build = 0; build < 2; build++) {
        struct row row[] = {{.parent = ROW_NONE, .kind = ROW_ROOT, .label = &root},
                            {.parent = 0, .kind = ROW_PROCEDURE, .label = &main_label},
                            {.parent = 1, .kind = ROW_PARALLEL, .label = &parallel[build], .call_line = 7 + 2 * build},
                            {.parent = 2, .kind = ROW_STATEMENT, .label = &line},
                            {.parent = 2, .kind = ROW_STATEMENT, .label = &line}};
        contexts_identify(&(struct rows){.row = row, .count = 5}, &identity[build], &path_of[build]);
    }
    assert_true(identity[0][1] == identity[1][1]);
    assert_true(identity[0][2] != identity[1][2]);
    assert_true(path_of[0][2] == path_of[1][2]);
    assert_true(path_of[0][2] != path_of[0][1]);
    assert_true(path_of[0][3] == path_of[0][2]);
    assert_true(identity[0][3] != identity[0][4]);
    for (int build = 0; build < 2; build++) {
        free(identity[build]);
        free(path_of[build]);
    }
}

UNIT_MAIN(NULL, NULL)
