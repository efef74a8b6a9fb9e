/* Searches in the database: what is best in each beyond chance, what is learned of them, and when that is not used. */
#include "tests/unit/unit.h"

#include <math.h>

#include "learn/guess.h"
#include "learn/model.h"
#include "learn/read.h"
#include "learn/show.h"
#include "learn/write.h"
#include "report/text/memory.h"

static char path[64];
static struct database database;
static int trials;

static int start(void **state)
{
    (void)state;
    trials = 0;
    snprintf(path, sizeof path, "/tmp/blame-learn-%d.db", (int)getpid());
    if (!database_open(&database, path, DATABASE_WRITE, 5))
        return -1;
    return database_run(&database, "INSERT INTO application(id, name) VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four');"
                                   "INSERT INTO experiment(id, application, name) SELECT id, id, 'tune' FROM application")
               ? 0
               : -1;
}

static int clean(void **state)
{
    char name[80];
    (void)state;
    database_close(&database);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, (const char *const[]){"", "-wal", "-shm"}[i]);
        unlink(name);
    }
    return 0;
}

#define WITH_DATABASE(name) UNIT_TEST_WITH(name, start, clean)

/* A try; facts: SQL's rows of name and value besides. */
static void put_try(int application, int search, double seconds, const char *facts)
{
    trials++;
    char *text = memory_text("INSERT INTO trial(id, experiment, run, state, added, ended, unit, host, cores) VALUES (%d, %d, 'run%d', '', '', 'normally', 's', 'host', 2);"
                             "INSERT INTO metadata(trial, kind, name, value) SELECT %d, 'user', column1, column2 FROM (VALUES ('tune', %d), ('tune.seconds', %.6f), %s)",
                             trials, application, trials, trials, search, seconds, facts);
    if (!database_run(&database, text))
        fail_msg("%s", database.why);
    free(text);
}

static double noise(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 33) / 2147483648.0;
    }
    return sum;
}

/* Three runs of the default and of dynamic,16, which takes so many times as long, with 1 % of noise. */
static void put_search(int application, int search, double size, double ratio, uint64_t *seed)
{
    for (int i = 0; i < 6; i++) {
        char *facts = memory_text("('tune.schedule', '%s'), ('input.size', %.0f)", i % 2 ? "dynamic,16" : "default", size);
        put_try(application, search, (i % 2 ? ratio : 1) * size * (1 + 0.01 * noise(seed)), facts);
        free(facts);
    }
}

static struct learn_cases read_all(void)
{
    struct learn_cases cases;
    if (!learn_read(&cases, &database, NULL))
        fail_msg("%s", database.why);
    return cases;
}

static const char *best_of(const struct learn_cases *cases, size_t at, const char *dimension)
{
    for (size_t i = 0; i < cases->dimensions; i++)
        if (strcmp(cases->dimension[i].name, dimension) == 0)
            return cases->dimension[i].values.word[cases->item[at].best[i]];
    fail_msg("no dimension %s", dimension);
    return NULL;
}

WITH_DATABASE(what_is_faster_by_chance_is_not_best)
{
    uint64_t seed = 1;
    put_search(1, 1, 100, 0.8, &seed);
    put_search(1, 2, 100, 1.0, &seed);
    put_try(1, 3, 10, "('tune.schedule', 'default'), ('input.size', 1)"); /* nothing twice: nothing is known of chance */
    put_try(1, 3, 1, "('tune.schedule', 'guided'), ('input.size', 1)");
    put_try(1, 4, 1, "('tune.schedule', 'guided'), ('input.size', 1)"); /* without the default */
    struct learn_cases cases = read_all();
    assert_int_equal(cases.count, 4);
    assert_string_equal(best_of(&cases, 0, "schedule"), "dynamic,16");
    assert_string_equal(best_of(&cases, 1, "schedule"), LEARN_DEFAULT);
    assert_string_equal(best_of(&cases, 2, "schedule"), LEARN_DEFAULT);
    assert_null(cases.item[3].best);
    assert_true(facts_find(&cases.item[0].facts, "machine.cores")->number == 2);
    cases_free(&cases);
}

/* Both sides of the same true time: of 5 % in all, with the seven settings tried. 500 trials: at most 5 % and three standard errors. */
static int called_better(uint64_t seed, int runs, double disturbed, double ratio)
{
    int wrong = 0;
    for (int trial = 0; trial < 500; trial++) {
        struct learn_cases cases = {0};
        struct learn_case *of = cases_put(&cases, "case", "one");
        size_t dimension = cases_dimension(&cases, "schedule");
        for (int value = 0; value < 8; value++) {
            char word[8];
            snprintf(word, sizeof word, "%d", value);
            int number = value ? words_put(&cases.dimension[dimension].values, word) : 0;
            for (int i = 0; i < runs; i++)
                case_add_run(of, &number, 1, (value == 5 ? ratio : 1) * exp(0.05 * noise(&seed)) * (noise(&seed) > disturbed ? 2 : 1), false);
        }
        cases_judge(&cases);
        wrong += of->best[0] != 0;
        cases_free(&cases);
    }
    return wrong;
}

UNIT_TEST(of_equal_settings_one_in_twenty_is_called_better)
{
    for (int runs = 2; runs <= 7; runs++) {
        int quiet = called_better(7, runs, 10, 1), loud = called_better(8, runs, 1.3, 1);
        printf("%d runs: of equal settings one was called better in %.1f %% of 500 searches, in %.1f %% where a tenth of the runs take twice as long\n", runs,
               quiet / 5.0, loud / 5.0);
        assert_true(quiet <= 40 && (loud <= 40 || runs < 5));
    }
    int found = called_better(9, 5, 10, 0.7), loud = called_better(10, 5, 1.3, 0.7);
    printf("5 runs: what takes 30 %% less is found in %.1f %% of 500 searches, %.1f %%\n", found / 5.0, loud / 5.0);
    assert_true(found > 475 && loud > 350);
}

/* threads=1 is 30 % faster, the schedule changes nothing: it is not part of what is best. */
WITH_DATABASE(a_value_that_changes_nothing_stays_at_its_default)
{
    uint64_t seed = 3;
    for (int i = 0; i < 12; i++) {
        char *facts = memory_text("('tune.schedule', '%s'), ('tune.threads', %s), ('input.size', 5)", i % 2 ? "guided" : "default", i / 2 % 2 ? "1" : "'default'");
        put_try(1, 1, (i / 2 % 2 ? 0.7 : 1) * (1 + 0.01 * noise(&seed)) * (i % 2 && i / 2 % 2 ? 0.9999 : 1), facts);
        free(facts);
    }
    struct learn_cases cases = read_all();
    assert_string_equal(best_of(&cases, 0, "threads"), "1");
    assert_string_equal(best_of(&cases, 0, "schedule"), LEARN_DEFAULT);
    cases_free(&cases);
}

WITH_DATABASE(profiled_runs_count_only_where_there_are_no_others)
{
    put_try(1, 1, 3, "('tune.schedule', 'default'), ('tune.profiled', 1)");
    put_try(1, 1, 2, "('tune.schedule', 'default')");
    put_try(1, 1, 9, "('tune.schedule', 'default'), ('tune.profiled', 1)");
    put_try(1, 1, 5, "('tune.schedule', 'auto'), ('tune.profiled', 1)");
    struct learn_cases cases = read_all();
    assert_int_equal(cases.count, 1);
    assert_true(cases.item[0].setting[0].runs == 1 && cases.item[0].setting[0].typical == 2 && cases.item[0].setting[1].typical == 5);
    cases_free(&cases);
}

WITH_DATABASE(a_threshold_is_learned_and_validated)
{
    uint64_t seed = 5;
    for (int i = 0; i < 12; i++)
        put_search(1, i, 100 * (i + 1), i < 6 ? 1.3 : 0.7, &seed);
    struct learn_cases cases = read_all();
    struct model *model = model_learn(&cases, MODEL_BEFORE);
    assert_int_equal(model->error.groups, 12);
    assert_int_equal(model->error.folds, 10);
    assert_int_equal(model->error.usual_wrong[0], 6);
    assert_true(model->error.wrong[0] <= 2);
    assert_true(model->error.better && model->error.low > 0 && model->error.lost < model->error.usual_lost);
    assert_null(show_refusal(model));
    struct learn_facts facts = {0};
    struct guess guess;
    facts_say(&facts, "input.size", "50", 50);
    model_guess(model, &facts, &guess);
    assert_string_equal(guess.value, LEARN_DEFAULT);
    assert_true(guess.confidence > 0.7 && guess.confidence < 1);
    facts.item[0].number = 5000;
    model_guess(model, &facts, &guess);
    assert_string_equal(guess.value, "dynamic,16");
    facts_end(&facts);
    model_free(model);
    cases_free(&cases);
}

/* Which input wants which schedule is by chance: what the trees say of inputs left out is no better than the default. */
WITH_DATABASE(what_cannot_be_learned_is_refused)
{
    static const int dynamic_wins[12] = {1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0};
    uint64_t seed = 9;
    for (int i = 0; i < 12; i++)
        put_search(1, i, 100 * (i + 1), dynamic_wins[i] ? 0.7 : 1.3, &seed);
    struct learn_cases cases = read_all();
    struct model *model = model_learn(&cases, MODEL_BEFORE);
    assert_false(model->error.better);
    assert_non_null(show_refusal(model));
    model_free(model);
    cases_free(&cases);
}

WITH_DATABASE(a_first_guess_is_of_the_application_or_of_all_or_none)
{
    uint64_t seed = 15;
    struct learn_facts facts = {0};
    struct first_guess first;
    facts_say(&facts, "input.size", "1200", 1200);
    assert_true(guess_first(&first, &database, "two", &facts, MODEL_BEFORE));
    assert_null(first.model);
    guess_end(&first);
    for (int i = 0; i < 12; i++)
        put_search(1, i, 100 * (i + 1), i < 6 ? 1.3 : 0.7, &seed);
    for (int known = 0; known < 2; known++) {
        assert_true(guess_first(&first, &database, known ? "one" : "two", &facts, MODEL_EARLY));
        assert_int_equal(first.count, 1);
        assert_int_equal(first.of_application, known);
        assert_string_equal(first.guess[0].value, "dynamic,16");
        guess_end(&first);
    }
    facts_end(&facts);
}

WITH_DATABASE(several_applications_are_left_out_one_by_one)
{
    uint64_t seed = 11;
    for (int application = 1; application <= 4; application++)
        for (int i = 0; i < 6; i++)
            put_search(application, i, 100 * (i + 1), i < 3 ? 1.3 : 0.7, &seed);
    struct learn_cases cases = read_all();
    struct model *model = model_learn(&cases, MODEL_EARLY);
    assert_true(model->error.by_application && model->error.groups == 4 && model->error.folds == 4 && model->error.cases == 24);
    assert_int_equal(model->error.wrong[0], 0);
    assert_true(model->error.better);
    model_free(model);
    cases_free(&cases);
}

/* Names and values that could end a comment, a string, a shell's word. */
WITH_DATABASE(code_holds_whatever_names_say)
{
    uint64_t seed = 13;
    for (int i = 0; i < 60; i++) {
        char *facts = memory_text("('tune.a*/b', '%s'), ('input.int', %d), ('input.i''nt\"', '%s')", i % 6 / 3 ? "x''\"\\$(false)\n*/" : "default", i / 6,
                                  i / 6 < 5 ? "*/ ''" : "\\\"`false`");
        put_try(1, i / 6, (i % 6 / 3 && i / 6 >= 5 ? 0.5 : 1) * (1 + 0.01 * noise(&seed)), facts);
        free(facts);
    }
    struct learn_cases cases = read_all();
    struct model *model = model_learn(&cases, MODEL_BEFORE);
    assert_null(show_refusal(model));
    char *header, *shell;
    FILE *out = memory_stream(&header);
    write_header(out, model, "int */ \"");
    memory_stream_close(out);
    out = memory_stream(&shell);
    write_shell(out, model, "int */ \"");
    memory_stream_close(out);
    assert_non_null(strstr(header, "int______a__b(const char *input_i_nt_, double input_int)"));
    assert_non_null(strstr(header, "x\\047\\042\\134\\044(false)\\012\\052/"));
    char *end = strstr(header, "*/");
    assert_true(strncmp(end, "*/\n#ifndef", 10) == 0); /* the first comment goes to its own end */
    assert_null(strstr(shell, "$(false)"));
    assert_null(strchr(shell, '`'));
    free(header);
    free(shell);
    model_free(model);
    cases_free(&cases);
}

UNIT_MAIN(NULL, NULL)
