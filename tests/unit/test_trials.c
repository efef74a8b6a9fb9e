/* needs: tests/fuzz/profile_builder.c tests/fuzz/fake_symbols.c */
/* The database of trials: what is put into it is there once, whole or not at all. */
#include "tests/unit/unit.h"

#include <math.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "report/profile/read.h"
#include "report/rows/rows.h"
#include "report/symbols/symbols.h"
#include "tests/fuzz/profile_builder.h"
#include "trials/add.h"
#include "trials/metrics.h"
#include "trials/prune.h"
#include "trials/schema.h"
#include "trials/select.h"

#define TREES    3
#define CONTEXTS 300

static char path[64], error[512];
static struct database database;

static int start(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/blame-test-%d.db", (int)getpid());
    return database_open(&database, path, DATABASE_WRITE, 5) ? 0 : -1;
}

static int clean(void **state)
{
    char name[80];
    (void)state;
    database_close(&database);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, (const char *const[]){"", "-wal", "-shm", "-journal"}[i]);
        unlink(name);
    }
    return 0;
}

#define WITH_DATABASE(name) UNIT_TEST_WITH(name, start, clean)

static int64_t ask(const char *question)
{
    struct selection selection;
    if (!select_text(&selection, &database, question, NULL, 0))
        fail_msg("%s", database.why);
    assert_int_equal(selection_next(&selection), SELECTED_ROW);
    int64_t answer = selection_integer(&selection, 0);
    selection_close(&selection);
    return answer;
}

static double ask_real(const char *question)
{
    struct selection selection;
    assert_true(select_text(&selection, &database, question, NULL, 0));
    assert_int_equal(selection_next(&selection), SELECTED_ROW);
    double answer = selection_number(&selection, 0);
    selection_close(&selection);
    return answer;
}

struct made_run {
    struct profile *profile;
    struct symbols *symbols;
    struct rows *rows;
    struct locations locations;
    struct facts facts, given;
};

/* A run of a process with this number; more: contexts than usual. */
static struct made_run make_run(int pid, int more)
{
    char file[80];
    struct profile_builder builder;
    struct made_run run = {0};
    builder_example(&builder, TREES, (uint32_t)(CONTEXTS + more), 5);
    builder_header(&builder)->threads_max = TREES;
    builder_header(&builder)->pid = pid;
    snprintf(file, sizeof file, "/tmp/blame-test-%d.blame", (int)getpid());
    assert_true(builder_write(&builder, file));
    builder_free(&builder);
    run.profile = profile_read(file, error, sizeof error);
    assert_non_null(run.profile);
    run.symbols = symbols_open(run.profile->modules, run.profile->module_count);
    run.rows = rows_build(run.profile, run.symbols);
    locations_find(&run.locations, run.profile, run.rows, NULL, 0);
    facts_of_profile(&run.facts, run.profile);
    return run;
}

static void free_run(struct made_run *run)
{
    char file[80];
    locations_free(&run->locations);
    rows_free(run->rows);
    symbols_close(run->symbols);
    profile_free(run->profile);
    facts_free(&run->facts);
    facts_free(&run->given);
    snprintf(file, sizeof file, "/tmp/blame-test-%d.blame", (int)getpid());
    unlink(file);
}

static struct trial_input input_of(struct made_run *run)
{
    return (struct trial_input){.source = "somewhere",
                                .profile = run->profile,
                                .rows = run->rows,
                                .locations = &run->locations,
                                .application = "app",
                                .facts = &run->facts,
                                .given = &run->given};
}

static struct trial_result add(int pid, int more)
{
    struct made_run run = make_run(pid, more);
    struct trial_input input = input_of(&run);
    struct trial_result result;
    if (!trial_add(&database, &input, &result))
        fail_msg("%s", database.why);
    free(result.other_program);
    free_run(&run);
    return result;
}

static int64_t all_rows(void)
{
    return ask("SELECT (SELECT count(*) FROM application) + (SELECT count(*) FROM experiment) + (SELECT count(*) FROM trial)"
               " + (SELECT count(*) FROM metadata) + (SELECT count(*) FROM location) + (SELECT count(*) FROM context)"
               " + (SELECT count(*) FROM metric) + (SELECT count(*) FROM location_metric)");
}

static void assert_sound(void)
{
    struct selection selection;
    assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    assert_true(select_text(&selection, &database, "PRAGMA foreign_key_check", NULL, 0));
    assert_int_equal(selection_next(&selection), SELECTED_END);
    selection_close(&selection);
}

WITH_DATABASE(a_new_database_has_todays_schema_and_a_log)
{
    assert_int_equal(ask("PRAGMA user_version"), (int64_t)schema_version);
    assert_int_equal(ask("PRAGMA application_id"), SCHEMA_APPLICATION);
    assert_int_equal(ask("SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_sound();
}

WITH_DATABASE(every_metric_has_its_columns)
{
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        char name[32], question[320];
        metrics_column((enum metric)i, name);
        snprintf(question, sizeof question,
                 "SELECT (SELECT count(%s) FROM trial) + (SELECT count(%s_i + %s_e) FROM metric) + (SELECT count(%s_i + %s_e) FROM location_metric)", name, name,
                 name, name, name);
        assert_int_equal(ask(question), 0);
    }
}

WITH_DATABASE(what_is_added_twice_is_there_once)
{
    struct trial_result first = add(1, 0);
    assert_int_equal(first.added, TRIAL_NEW);
    int64_t rows = all_rows();
    struct trial_result second = add(1, 0);
    assert_int_equal(second.added, TRIAL_THERE);
    assert_int_equal(second.trial, first.trial);
    assert_string_equal(second.run, first.run);
    assert_int_equal(all_rows(), rows);
    assert_sound();
}

WITH_DATABASE(runs_of_one_program_share_their_contexts)
{
    add(1, 0);
    int64_t contexts = ask("SELECT count(*) FROM context");
    assert_int_equal(add(2, 0).added, TRIAL_NEW);
    assert_int_equal(ask("SELECT count(*) FROM context"), contexts);
    assert_int_equal(ask("SELECT count(*) FROM metric"), 2 * contexts);
    assert_int_equal(ask("SELECT count(*) FROM context WHERE parent IS NULL AND kind = 'root'"), 1);
}

/* Thread idleness is linear in what threads have, so that it adds up as well. */
WITH_DATABASE(locations_add_up_to_the_sum)
{
    add(1, 0);
    assert_int_equal(ask("SELECT count(*) FROM location"), TREES);
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        char name[32], question[400];
        metrics_column((enum metric)i, name);
        snprintf(question, sizeof question,
                 "SELECT max(abs(%s_i - (SELECT sum(l.%s_i) FROM location_metric AS l WHERE l.trial = metric.trial AND l.context = metric.context)))"
                 " / max(1, max(%s_i)) FROM metric",
                 name, name, name);
        if (ask_real(question) > 1e-9)
            fail_msg("%s", name);
    }
}

WITH_DATABASE(a_failure_in_the_middle_leaves_nothing)
{
    struct made_run run = make_run(1, 0);
    struct trial_input input = input_of(&run);
    struct trial_result result;
    const char *const tables[] = {"trial", "metadata", "context", "metric", "location", "location_metric"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char trigger[200];
        snprintf(trigger, sizeof trigger, "CREATE TEMP TRIGGER stop AFTER INSERT ON %s BEGIN SELECT RAISE(ABORT, 'stopped'); END", tables[i]);
        assert_true(database_run(&database, trigger));
        assert_false(trial_add(&database, &input, &result));
        assert_non_null(strstr(database.why, "stopped"));
        assert_int_equal(all_rows(), 0);
        assert_true(database_run(&database, "DROP TRIGGER stop"));
    }
    assert_true(trial_add(&database, &input, &result));
    free_run(&run);
}

WITH_DATABASE(a_run_that_went_on_takes_its_old_states_place)
{
    struct made_run run = make_run(1, 0);
    struct trial_input input = input_of(&run);
    struct trial_result result;
    uint64_t samples = run.rows->row[0].inclusive->samples;
    struct profile_sums less = *run.rows->row[0].inclusive;
    less.samples = samples / 2;
    const struct profile_sums *whole = run.rows->row[0].inclusive;
    facts_put(&run.facts, FACT_USER, "note", "as it was run");
    facts_put(&run.given, FACT_USER, "note", "kept");
    input.experiment = "one";
    run.rows->row[0].inclusive = &less;
    assert_true(trial_add(&database, &input, &result));
    long long trial = result.trial;
    facts_free(&run.given);
    input.application = input.experiment = NULL;
    run.rows->row[0].inclusive = whole;
    assert_true(trial_add(&database, &input, &result));
    assert_int_equal(result.added, TRIAL_RENEWED);
    assert_int_equal(result.trial, trial);
    assert_int_equal(ask("SELECT samples FROM trial"), (int64_t)samples);
    assert_int_equal(ask("SELECT sum(CASE value WHEN 'kept' THEN 1 ELSE 2 END) FROM metadata WHERE name = 'note'"), 1);
    assert_int_equal(ask("SELECT count(*) FROM run WHERE experiment = 'one' AND application = 'app'"), 1);
    run.rows->row[0].inclusive = &less;
    assert_true(trial_add(&database, &input, &result));
    assert_int_equal(result.added, TRIAL_OUTDATED);
    assert_int_equal(ask("SELECT samples FROM trial"), (int64_t)samples);
    run.rows->row[0].inclusive = whole;
    free_run(&run);
    assert_sound();
}

/* Sums alone, locations that are not told apart, and those that are. */
WITH_DATABASE(more_of_a_run_takes_the_place_of_less_and_less_does_not)
{
    struct made_run run = make_run(1, 0);
    struct trial_input input = input_of(&run);
    struct trial_result result;
    struct location one = {.kind = LOCATION_ALL, .host = ""};
    struct locations all = {.location = &one, .count = 1};
    struct locations *const less[] = {NULL, &all};
    for (size_t i = 0; i < 2; i++) {
        input.locations = less[i];
        assert_true(trial_add(&database, &input, &result));
        assert_int_equal(result.added, i ? TRIAL_THERE : TRIAL_NEW);
    }
    input.locations = &run.locations;
    assert_true(trial_add(&database, &input, &result));
    assert_int_equal(result.added, TRIAL_RENEWED);
    int64_t rows = all_rows();
    assert_true(ask("SELECT count(*) FROM location_metric") > 0);
    for (size_t i = 0; i < 2; i++) {
        input.locations = less[i];
        assert_true(trial_add(&database, &input, &result));
        assert_int_equal(result.added, TRIAL_OUTDATED);
        assert_int_equal(all_rows(), rows);
    }
    free_run(&run);
}

/* Other programs read it, Python's sqlite3 for one, which takes no other text. */
WITH_DATABASE(all_text_is_utf_8)
{
    struct made_run run = make_run(1, 0);
    struct trial_input input = input_of(&run);
    struct trial_result result;
    struct row_label label = *run.rows->row[1].label;
    label.name = label.file = "a\xff";
    run.rows->row[1].label = &label;
    run.locations.location[0].host = "node\xff";
    input.source = "/tmp/\xff";
    input.application = "app\xff";
    input.experiment = "one\xff";
    assert_true(trial_add(&database, &input, &result));
    assert_true(trial_add(&database, &input, &result));
    assert_int_equal(result.added, TRIAL_THERE);
    assert_int_equal(ask("SELECT (SELECT count(*) FROM application) + (SELECT count(*) FROM experiment)"), 2);
    assert_int_equal(ask("SELECT (SELECT count(*) FROM context WHERE name = 'a\xef\xbf\xbd' AND file = name)"
                         " + (SELECT count(*) FROM run WHERE application = 'app\xef\xbf\xbd' AND experiment = 'one\xef\xbf\xbd')"
                         " + (SELECT count(*) FROM location WHERE host = 'node\xef\xbf\xbd')"
                         " + (SELECT count(*) FROM trial WHERE source = x'2f746d702fff')"),
                     4);
    free_run(&run);
}

WITH_DATABASE(what_only_a_removed_trial_had_goes_with_it)
{
    struct trial_result first = add(1, 0), second = add(2, 40);
    int64_t contexts = ask("SELECT count(*) FROM context"), trials[] = {second.trial, first.trial};
    assert_true(trials_remove(&database, trials, 1));
    assert_true(ask("SELECT count(*) FROM context") < contexts);
    assert_int_equal(ask("SELECT count(*) FROM trial"), 1);
    assert_sound();
    assert_true(trials_remove(&database, trials + 1, 1));
    assert_int_equal(all_rows(), 0);
}

static int deny_pragmas(void *context, int action, const char *one, const char *two, const char *name, const char *trigger)
{
    (void)context, (void)one, (void)two, (void)name, (void)trigger;
    return action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

/* What is told of a failure is that nothing was changed. */
WITH_DATABASE(what_was_removed_is_removed_also_where_the_file_cannot_shrink)
{
    int64_t trial = add(1, 0).trial;
    sqlite3_set_authorizer(database.sql, deny_pragmas, NULL);
    assert_true(trials_remove(&database, &trial, 1));
    sqlite3_set_authorizer(database.sql, NULL, NULL);
    assert_int_equal(all_rows(), 0);
}

/* What refuses to be opened is as it was. */
static void assert_refused(const char *said)
{
    struct database other;
    database_close(&database);
    assert_false(database_open(&other, path, DATABASE_WRITE, 0));
    if (!strstr(other.why, said))
        fail_msg("%s", other.why);
    assert_null(strchr(other.why, '\n'));
    assert_null(other.sql);
    assert_false(database_open(&other, path, DATABASE_READ, 0));
}

WITH_DATABASE(a_newer_schema_is_refused)
{
    assert_true(database_run(&database, "PRAGMA user_version = 99"));
    assert_refused("newer blame");
}

WITH_DATABASE(another_programs_database_is_refused)
{
    assert_true(database_run(&database, "PRAGMA application_id = 7"));
    assert_refused("another program");
}

WITH_DATABASE(a_file_that_is_no_database_is_refused)
{
    database_close(&database);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 5000; i++)
        fputs("no database\n", file);
    fclose(file);
    assert_refused("is no database");
}

/* A step fails in its middle: the database is of the version before, whole. */
WITH_DATABASE(a_step_that_fails_changes_nothing)
{
    assert_true(database_run(&database, "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE name <> 'metric' AND tbl_name <> 'metric';"
                                        "PRAGMA user_version = 0; PRAGMA writable_schema = RESET; VACUUM"));
    assert_refused("already exists");
    assert_true(sqlite3_open(path, &database.sql) == SQLITE_OK);
    assert_int_equal(ask("SELECT count(*) FROM sqlite_schema WHERE type = 'table'"), 1);
    assert_int_equal(ask("PRAGMA user_version"), 0);
}

WITH_DATABASE(many_may_make_it_at_once)
{
    clean(NULL);
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            struct database other;
            bool good = database_open(&other, path, DATABASE_WRITE, 30);
            if (!good)
                fprintf(stderr, "%s\n", other.why);
            database_close(&other);
            _exit(!good);
        }
    for (int status; wait(&status) > 0;)
        assert_int_equal(status, 0);
    assert_true(database_open(&database, path, DATABASE_READ, 0));
    assert_sound();
}

/* A condition reads, whatever stands in it. */
WITH_DATABASE(a_condition_cannot_write)
{
    static const char *const hostile[] = {
        "1; DELETE FROM trial", "1) ; DROP TABLE trial; --", "1); ATTACH 'x.db' AS x; --", "(DELETE FROM trial)", "load_extension('x.so')", "id = (PRAGMA user_version)",
        "1 IN (SELECT * FROM pragma_table_info('trial'))", "1) UNION SELECT name FROM sqlite_schema --", "\"thraeds\" = 8", "'", "/*", "", ")", "?1 IS NULL OR (",
        "sum(threads) > 1", "zeroblob(1e9) IS NOT NULL", "writefile('x', 'y')", "1 -- comment\n) OR (1",
    };
    add(1, 0);
    int64_t rows = all_rows();
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct selection selection;
        if (select_trials(&selection, &database, "id", hostile[i], "id")) {
            while (selection_next(&selection) == SELECTED_ROW)
                continue;
            selection_close(&selection);
        } else {
            assert_null(strchr(database.why, '\n'));
            assert_null(selection.statement);
        }
        assert_int_equal(all_rows(), rows);
    }
}

static int64_t count_where(const char *where)
{
    struct selection selection;
    if (!select_trials(&selection, &database, "count(*)", where, "id"))
        fail_msg("%s: %s", where, database.why);
    assert_int_equal(selection_next(&selection), SELECTED_ROW);
    int64_t count = selection_integer(&selection, 0);
    selection_close(&selection);
    return count;
}

WITH_DATABASE(metadata_are_columns_of_a_condition)
{
    struct made_run run = make_run(1, 0);
    struct trial_input input = input_of(&run);
    struct trial_result result;
    facts_put(&run.given, FACT_USER, "size", "512");
    facts_put(&run.given, FACT_USER, "we'ird \"name", "a'b");
    facts_put(&run.given, FACT_USER, "revision", "1234567");
    facts_put(&run.given, FACT_ENVIRONMENT, "size", "9");
    facts_put(&run.given, FACT_USER, "", "of a damaged file");
    assert_true(trial_add(&database, &input, &result));
    free_run(&run);
    assert_int_equal(count_where("size > 64"), 1);
    assert_int_equal(count_where("size < 64"), 0);
    assert_int_equal(count_where("threads = 3 and host like '%' and size = 512"), 1);
    assert_int_equal(count_where("revision = '1234567'"), 1);
    assert_int_equal(count_where("\"we'ird \"\"name\" = 'a''b'"), 1);
    assert_int_equal(count_where("size = 512 -- of course"), 1);
}

WITH_DATABASE(a_trial_is_found_by_its_number_and_its_runs_first_digits)
{
    struct trial_result first = add(1, 0);
    char text[32];
    snprintf(text, sizeof text, "%lld", first.trial);
    assert_int_equal(find_trial(&database, text), first.trial);
    snprintf(text, sizeof text, "%.6s", first.run);
    assert_int_equal(find_trial(&database, text), first.trial);
    assert_int_equal(find_trial(&database, "x"), 0);
    assert_non_null(strstr(database.why, "there is no such trial"));
    assert_int_equal(find_trial(&database, ""), 0);
    assert_int_equal(find_trial(&database, "99999999999999999999999"), 0);
}

UNIT_MAIN(NULL, NULL)
