#include "command/text/unfinished.h"
#include "tests/unit/unit.h"

static void write_there(FILE *file, const char *text)
{
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

UNIT_TEST(what_a_killed_process_of_the_same_number_left_makes_way)
{
    char text[16] = "";
    write_there(fopen(unit_fresh_path(), "w"), "what was left");
    write_there(unfinished_file(unit_path), "new");
    FILE *file = fopen(unit_path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "new");
    unfinished_remove(unit_path);
    assert_int_not_equal(access(unit_path, F_OK), 0);
    unit_clean();
}

UNIT_MAIN(NULL, NULL)
