/* needs: tests/fuzz/fake_symbols.c */
#include <jansson.h>

#include "command/files/csv.h"
#include "command/files/json.h"
#include "command/files/output.h"
#include "command/rows/filter.h"
#include "command/tables/phases.h"
#include "command/views/arrange.h"
#include "command/views/summary.h"
#include "command/views/text.h"
#include "tests/unit/made_profile.h"

enum { MAIN = 1, STEP, KERNEL, SEND, BEGIN };
#define KEY(place) PROFILE_KEY(1, 0x3000 + (place))

enum { SOLVE = 1, EXCHANGE, ITERATION, PACK, SIZE, QUIET, CYCLE }; /* numbers of names */

static uint32_t add(uint32_t parent, uint8_t kind, uint64_t key)
{
    return made_add(parent, kind, key, (struct profile_sums){0});
}

static uint32_t work(uint32_t parent, int place, double seconds)
{
    uint32_t node = made_work(parent, KEY(place), seconds);
    made.nodes[node].metric.samples = (uint64_t)(100 * seconds);
    return node;
}

/* So many calls that took `each` seconds on average, half a second more and less. */
static void probe(uint32_t node, uint32_t tree, uint64_t calls, double each, double begin)
{
    made.probes[made.profile.probe_count++] =
        (struct merged_probe){.node = node,
                              .tree = tree,
                              .probe = {.calls = calls,
                                        .inclusive_ns = (double)calls * each * S,
                                        .exclusive_ns = (double)calls * each * S / 2,
                                        .shortest_ns = (each - .5) * S,
                                        .longest_ns = (each + .5) * S,
                                        .sum_of_squares = (double)calls * (each * each + .25) * S * S,
                                        .first_begin_ns = (uint64_t)(begin * S)},
                              .counters = {.value = {(double)calls, 1}}};
}

static void name(int number, uint32_t kind, const char *text)
{
    made.names[number - 1] = (struct profile_name){.kind = kind, .place = KEY(BEGIN)};
    snprintf(made.names[number - 1].text, sizeof made.names[0].text, "%s", text);
}

/* main begins step, whose phase "solve" (1 s itself, 4 s in kernel) has an event "pack" (2 s in kernel), a
 * phase "exchange" (1 s in send, 2 s in kernel), and a phase "iteration", whose executions 2, 17 and the others have 1 s
 * each. */
static void fill(void)
{
    uint32_t main_node = work(0, MAIN, 5);
    uint32_t solve = add(main_node, PROFILE_NODE_PHASE, SOLVE);
    uint32_t step = work(solve, STEP, 1);
    uint32_t kernel = work(step, KERNEL, 4);
    uint32_t pack = add(step, PROFILE_NODE_EVENT, PACK);
    work(pack, KERNEL, 2);
    uint32_t exchange = add(step, PROFILE_NODE_PHASE, EXCHANGE);
    work(work(exchange, SEND, 1), KERNEL, 2);
    uint32_t iteration = add(step, PROFILE_NODE_PHASE, ITERATION);
    uint64_t keys[] = {17, 2, PROFILE_INSTANCE_REST};
    probe(solve, 1, 1, 13, 1);
    probe(pack, 1, 4, .5, 2);
    probe(exchange, 1, 1, 3, 3);
    probe(exchange, 2, 1, 3, 2.5);
    for (int i = 0; i < 3; i++) {
        uint32_t instance = add(iteration, PROFILE_NODE_INSTANCE, keys[i]);
        work(instance, STEP, 1);
        probe(instance, 1, i == 2 ? 10 : 1, 1, 4 + i);
    }
    uint32_t size = add(main_node, PROFILE_NODE_PARAMETER, SIZE);
    probe(size, 1, 7, .5, 9); /* no sample met it */
    made.counters[made.profile.counters_count++] =
        (struct merged_counters){.node = step, .counters = {.value = {10, 1}}};
    made.counters[made.profile.counters_count++] =
        (struct merged_counters){.node = kernel, .counters = {.value = {32, 2}}};
}

static int make(void **state)
{
    static const char text[] = "command\0./a\0misnested\0pack\t1000000003005\tsolve\t1000000003004\0misnested\0"
                               "late\t1000000003003\t\t0";
    made_start(state);
    fake_function(KEY(MAIN), "main", "/s/a.c", 1, 5);
    fake_function(KEY(STEP), "step", "/s/a.c", 10, 12);
    fake_function(KEY(KERNEL), "kernel", "/s/a.c", 20, 22);
    fake_function(KEY(SEND), "send", "/s/a.c", 30, 33);
    fake_function(KEY(BEGIN), "blame_begin_", "/i/blame.h", 90, 98); /* inlined where something begins */
    fake_function(KEY(BEGIN), "step", "/s/a.c", 10, 11);
    made.profile.thread_count = 2;
    made.profile.name_count = 6;
    made.profile.counter_name[0] = "perf::A";
    made.profile.counter_name[1] = "B";
    made.profile.counter_count = 2;
    made.profile.text = (char *)text;
    made.profile.text_bytes = sizeof text;
    made.profile.header = (struct profile_header){.threads_max = 2,
                                                  .cores = 2,
                                                  .finished = 1,
                                                  .rate = 100,
                                                  .period_ns = 10000000,
                                                  .end_ns = (uint64_t)(20 * S),
                                                  .pauses = 2,
                                                  .paused_ns = (uint64_t)(1.5 * S),
                                                  .probes_lost = 3,
                                                  .ended_by_program = 1};
    made.threads[0] = (struct profile_thread){.kind = 1, .tree = 1, .end_ns = (uint64_t)(20 * S)};
    made.threads[1] = (struct profile_thread){.kind = 2, .tree = 2, .end_ns = (uint64_t)(20 * S)};
    name(SOLVE, PROFILE_NODE_PHASE, "solve");
    name(EXCHANGE, PROFILE_NODE_PHASE, "exchange");
    name(ITERATION, PROFILE_NODE_PHASE, "iteration");
    name(PACK, PROFILE_NODE_EVENT, "pack");
    name(SIZE, PROFILE_NODE_PARAMETER, "size = 512");
    name(QUIET, PROFILE_NODE_EVENT, "quiet");
    made.names[ITERATION - 1].flags = PROFILE_NAME_DYNAMIC;
    made.names[ITERATION - 1].instances = 12;
    made.names[QUIET - 1].flags = PROFILE_NAME_THROTTLED;
    made.names[QUIET - 1].throttled_after = 100000;
    fill();
    made_tables();
    return 0;
}

static void assert_exact(const struct row *row, uint64_t calls, double inclusive_s)
{
    assert_non_null(row->extra);
    assert_int_equal(row->extra->probe.calls, calls);
    assert_true(row->extra->probe.inclusive_ns == inclusive_s * S);
    assert_true(row->extra->probe.exclusive_ns == inclusive_s * S / 2);
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, made_finish)

WITH_PROFILE(phases_events_and_parameters_are_rows_at_their_place)
{
    const struct rows *rows = made.tables.rows;
    const struct row *solve = made_row(rows, ROW_PHASE, "phase solve");
    assert_string_equal(solve->label->file, "/s/a.c");
    assert_int_equal(solve->label->line, 11);
    assert_true(&rows->row[solve->parent] == made_row(rows, ROW_PROCEDURE, "main"));
    assert_exact(solve, 1, 13);
    assert_true(solve->inclusive->work == 13 * S && solve->exclusive->work == 0);
    const struct row *step = solve + 1; /* its call is main's, through the phase */
    assert_string_equal(step->label->name, "step");
    assert_int_equal(step->call_line, 5);
    assert_exact(made_row(rows, ROW_EVENT, "event pack"), 4, 2);
    assert_exact(made_row(rows, ROW_PHASE, "phase exchange"), 2, 6);
    assert_exact(made_row(rows, ROW_PHASE, "phase iteration"), 12, 12);
    assert_exact(made_row(rows, ROW_PHASE, "iteration [17]"), 1, 1);
    assert_exact(made_row(rows, ROW_PHASE, "iteration [others]"), 10, 10);
    assert_exact(made_row(rows, ROW_PARAMETER, "size = 512"), 7, 3.5); /* kept without a sample */
}

WITH_PROFILE(counters_at_samples_are_added_up_like_times)
{
    const struct row_extra *root = made.tables.rows->row[0].extra;
    const struct row_extra *solve = made_row(made.tables.rows, ROW_PHASE, "phase solve")->extra;
    const struct row_extra *line = made_row(made.tables.rows, ROW_STATEMENT, "a.c:22")->extra;
    const struct row_extra *kernel = made_row(made.tables.rows, ROW_PROCEDURE, "kernel")->extra;
    assert_true(root->inclusive.value[0] == 42 && root->inclusive.value[1] == 3);
    assert_true(solve->inclusive.value[0] == 42 && solve->exclusive.value[0] == 0);
    assert_true(solve->exact.value[0] == 1);
    assert_true(kernel->inclusive.value[0] == 32 && kernel->exclusive.value[0] == 32);
    assert_true(line->exclusive.value[0] == 32);
}

static const char *line_with(const char *text)
{
    static char line[1000];
    char *at = strstr(made_text, text);
    if (!at)
        fail_msg("no \"%s\" in:\n%s", text, made_text);
    at += *at == '\n' && at[1] != '\0'; /* "\nsolve": at the begin of a line */
    while (at > made_text && at[-1] != '\n')
        at--;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\r\n"), at);
    return line;
}

static void assert_line(const char *with, const char *expected)
{
    const char *line = line_with(with);
    if (!strstr(line, expected))
        fail_msg("no \"%s\" in: %s", expected, line);
}

WITH_PROFILE(profile_csv_has_exact_times_and_counters)
{
    FILE *out = made_out();
    write_profile_csv(out, made.tables.rows, false);
    fclose(out);
    assert_line("id,parent", ",relative lock wait,calls,exact (I),exact (E),perf::A (I),perf::A (E),B (I),B (E)");
    assert_line(",phase solve,", ",1,13.000000,6.500000,42.000000,0.000000,3.000000,0.000000");
    assert_line(",procedure,kernel,", ",,,,32.000000,32.000000,2.000000,2.000000");
    assert_line(",parameter,size = 512,", ",7,3.500000,1.750000,0.000000,0.000000,0.000000,0.000000");
    made.profile.probe_count = made.profile.counters_count = made.profile.counter_count = 0;
    out = made_out();
    write_profile_csv(out, made_tables(), false);
    fclose(out);
    const char *end = strstr(made_text, "relative lock wait,no core (I),no core (E),blocked (I),blocked (E),mpi wait "
                                        "(I),mpi wait (E),rank idleness (I),rank idleness (E)\r\n");
    assert_non_null(end); /* no column more than in profiles of other programs */
}

WITH_PROFILE(hidden_rows_lose_their_exact_times_and_no_counters)
{
    regex_t hide;
    assert_int_equal(regcomp(&hide, "exchange|^kernel|iteration .2", REG_EXTENDED | REG_NOSUB), 0);
    struct rows *view = rows_filter(made.tables.rows, &(struct rows_filter){.hide = &hide});
    assert_exact(made_row(view, ROW_PHASE, "phase solve"), 1, 13);
    assert_exact(made_row(view, ROW_PHASE, "phase iteration"), 12, 12);
    assert_exact(made_row(view, ROW_PHASE, "iteration [17]"), 1, 1);
    assert_true(view->row[0].extra->inclusive.value[0] == 42);
    assert_true(made_row(view, ROW_PROCEDURE, "step")->extra->exclusive.value[0] == 42);
    for (size_t i = 0; i < view->count; i++)
        assert_null(strstr(view->row[i].label->name, "exchange"));
    rows_free(view);
    regfree(&hide);
}

WITH_PROFILE(phases_csv_adds_up_contexts_and_threads)
{
    struct phase_table *table = phases_gather(&made.profile, made.tables.rows);
    FILE *out = made_out();
    write_phases_csv(out, made.tables.rows, table);
    fclose(out);
    assert_string_equal(line_with("phase,instance"),
                        "phase,instance,thread,begin,seconds,calls,min,max,mean,deviation,samples (I),samples (E),"
                        "work (I),work (E),idleness (I),idleness (E),overhead (I),overhead (E),"
                        "lock wait (I),lock wait (E),absolute idleness,relative idleness,perf::A,B,"
                        "no core (I),no core (E),blocked (I),blocked (E),mpi wait (I),mpi wait (E)");
    /* One thread of two works all the time, but for the pauses. */
    assert_line("<program>", "<program>,,0,0.000000,18.500000,1,18.500000,18.500000,18.500000,0.000000,1800,500,"
                             "18.000000,5.000000,18.000000,5.000000,0.000000,");
    assert_line("\nsolve,", "solve,,0,1.000000,13.000000,1,12.500000,13.500000,13.000000,0.500000,1300,700,"
                            "13.000000,7.000000,13.000000,7.000000,");
    assert_line("\nsolve,", ",36.111111,50.000000,1.000000,1.000000");
    assert_line("\nexchange,", "exchange,,*,2.500000,6.000000,2,2.500000,3.500000,3.000000,0.500000,300,300,");
    assert_line("\niteration,2,", "iteration,2,0,5.000000,1.000000,1,0.500000,");
    assert_line("\niteration,others,", "iteration,others,0,6.000000,10.000000,10,0.500000,1.500000,1.000000,");
    assert_null(strstr(made_text, "iteration,,")); /* its executions are all of it */
    size_t lines = 0;
    double exclusive = 0;
    for (size_t i = 0; i < table->count; i++, lines++)
        exclusive += table->entry[i].exclusive.work;
    assert_int_equal(lines, 6);
    assert_true(exclusive == 18 * S);
    assert_int_equal(table->group_count, 4);
    assert_string_equal(phase_name(table, table->group[0].name), "<program>");
    assert_string_equal(phase_name(table, table->group[1].name), "solve");
    assert_string_equal(phase_name(table, table->group[2].name), "iteration");
    phases_free(table);
}

static void assert_group(const struct phase_table *table, const char *name, double seconds, uint64_t calls)
{
    for (size_t i = 0; i < table->group_count; i++) {
        const struct phase_group *group = &table->group[i];
        if (strcmp(phase_name(table, group->name), name) != 0)
            continue;
        assert_true(group->exact_ns == seconds * S && group->inclusive.work == seconds * S);
        assert_int_equal(group->probe.calls, calls);
        return;
    }
    fail_msg("no phase %s", name);
}

/* A phase inside itself has its time once. */
WITH_PROFILE(recursion_counts_once)
{
    uint32_t outer = add(0, PROFILE_NODE_PHASE, QUIET);
    uint32_t inner = add(work(outer, STEP, 1), PROFILE_NODE_PHASE, QUIET);
    work(inner, STEP, 2);
    probe(outer, 1, 1, 3, 3);
    probe(inner, 1, 1, 2, 4);
    struct phase_table *table = phases_gather(&made.profile, made_tables());
    const struct phase_entry *entry = &table->entry[table->count - 1];
    assert_int_equal(entry->name, QUIET);
    assert_true(entry->inclusive.work == 3 * S && entry->exclusive.work == 3 * S);
    assert_true(entry->exact_ns == 3 * S && phase_mean_s(&entry->probe) == 2.5);
    assert_true(entry->counters.value[0] == 1);
    assert_group(table, "quiet", 3, 2);
    assert_true(table->group[table->group_count - 1].counters.value[0] == 1);
    FILE *out = made_out();
    write_phases_csv(out, made.tables.rows, table);
    fclose(out);
    assert_line("\nquiet,", "quiet,,0,3.000000,3.000000,2,1.500000,3.500000,2.500000,");
    phases_free(table);
}

/* Levels begin each other, each in an event. */
WITH_PROFILE(executions_inside_each_other_count_once_for_their_phase)
{
    struct view_style style = {.title = "Phases", .columns = 100, .metric = METRIC_EFFORT};
    uint32_t at = 0;
    name(CYCLE, PROFILE_NODE_EVENT, "cycle");
    made.profile.name_count = CYCLE;
    for (uint64_t level = 0; level < 3; level++) {
        at = add(add(at, PROFILE_NODE_PHASE, QUIET), PROFILE_NODE_INSTANCE, level);
        probe(at, 1, 2, 3 - (double)level, 3);
        at = add(work(at, STEP, 2), PROFILE_NODE_EVENT, CYCLE);
        probe(at, 1, 2, 3 - (double)level, 3);
    }
    struct phase_table *table = phases_gather(&made.profile, made_tables());
    assert_group(table, "quiet", 6, 6);
    FILE *out = made_out();
    view_text_phases(out, &made.profile, made.tables.rows, table, 2, &style);
    fclose(out);
    assert_line(" quiet\n", "    6.000       6     6.000");
    assert_line(" [1]\n", "    4.000       2     4.000");
    assert_line("- event cycle", "    6.000       6 ");
    assert_non_null(strstr(made_text, "event or parameter\n    6.000       6 "));
    phases_free(table);
}

static json_t *member(json_t *json, const char *list, size_t index, const char *key)
{
    return json_object_get(json_array_get(json_object_get(json, list), index), key);
}

WITH_PROFILE(run_json_has_what_is_no_utf8_as_text)
{
    static char text[] = "python\0"
                         "3.\xff\tno \xfe\n";
    made.profile.text = text;
    made.profile.text_bytes = sizeof text;
    json_t *json = run_json(&made.profile, made.tables.rows), *python = json_object_get(json, "python");
    assert_non_null(json_string_value(json_object_get(python, "version")));
    assert_non_null(json_string_value(json_object_get(python, "why_not")));
    json_decref(json);
}

WITH_PROFILE(run_json_names_phases_and_what_went_wrong)
{
    json_t *json = run_json(&made.profile, made.tables.rows);
    assert_string_equal(json_string_value(member(json, "phases", ITERATION - 1, "kind")), "phase");
    assert_int_equal(json_integer_value(member(json, "phases", ITERATION - 1, "executions")), 12);
    assert_int_equal(json_integer_value(member(json, "phases", ITERATION - 1, "instances")), 12);
    assert_int_equal(json_integer_value(member(json, "phases", QUIET - 1, "throttled")), 100000);
    assert_true(json_is_null(member(json, "phases", PACK - 1, "throttled")));
    assert_string_equal(json_string_value(member(json, "phases", SIZE - 1, "kind")), "parameter");
    json_t *inner = member(json, "misnested", 0, "inner"), *outer = member(json, "misnested", 0, "outer");
    assert_string_equal(json_string_value(json_object_get(inner, "name")), "pack");
    assert_int_equal(json_integer_value(json_object_get(inner, "line")), 11);
    assert_string_equal(json_string_value(json_object_get(outer, "function")), "send");
    assert_true(json_is_null(member(json, "misnested", 1, "outer")));
    assert_string_equal(json_string_value(json_object_get(member(json, "misnested", 1, "inner"), "function")),
                        "kernel");
    assert_true(json_real_value(json_object_get(json, "paused_s")) == 1.5);
    assert_int_equal(json_integer_value(json_object_get(json, "pauses")), 2);
    assert_int_equal(json_integer_value(json_object_get(json, "probes_lost")), 3);
    assert_true(json_is_true(json_object_get(json, "ended_by_program")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "counters"), 0)), "perf::A");
    json_decref(json);
}

WITH_PROFILE(a_narrow_terminal_has_the_parts_with_most)
{
    struct view_style style = {.title = "Phases", .columns = 80, .metric = METRIC_EFFORT};
    made.nodes[1].metric.no_core = 6 * S;
    made.nodes[1].metric.blocked = 5 * S;
    made.nodes[1].metric.mpi_wait = 7 * S;
    struct rows *rows = made_tables();
    struct phase_table *table = phases_gather(&made.profile, rows);
    FILE *out = made_out();
    view_text_phases(out, &made.profile, rows, table, 2, &style);
    fclose(out);
    phases_free(table);
    assert_non_null(strstr(made_text, "  no core mpi wait idle %"));
    assert_null(strstr(made_text, "blocked"));
    for (const char *at = made_text; *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") > 80)
            fail_msg("%s", at);
}

WITH_PROFILE(the_view_shows_each_phase_and_what_its_code_calls)
{
    struct view_style style = {.title = "Phases", .columns = 100, .metric = METRIC_EFFORT};
    struct phase_table *table = phases_gather(&made.profile, made.tables.rows);
    struct rows *view = view_phases(made.tables.rows, table);
    const struct row *solve = made_row(view, ROW_PHASE, "solve");
    assert_int_equal(solve->depth, 1);
    assert_true(solve->inclusive->work == 13 * S && solve->exclusive->work == S); /* step's own is its own */
    const struct row *kernel = made_row(view, ROW_PROCEDURE, "kernel");
    assert_true(&view->row[kernel->parent] == solve);
    assert_true(made_row(view, ROW_PHASE, "phase exchange")->inclusive->work == 3 * S);
    assert_true(made_row(view, ROW_PHASE, "iteration")->inclusive->work == 3 * S);
    assert_true(made_row(view, ROW_PHASE, "<program>")->inclusive->work == 18 * S);
    rows_free(view);
    FILE *out = made_out();
    view_text_phases(out, &made.profile, made.tables.rows, table, 2, &style);
    fclose(out);
    assert_line(" solve\n", "   13.000       1    13.000    13.000                      50.0 solve");
    assert_line("- phase exchange", "    6.000       2     3.000     3.000");
    assert_line("0.5000 to", "0.5000 to 1.5000 s each, mean 1.0000, deviation 0.5000; slowest: [2] 1.0000");
    assert_line("event pack\n", "    2.000       4     1.000    500000.000      2.000   +- 0.279 event pack");
    assert_line(" size = 512\n", "    3.500       7     1.750    500000.000                       size = 512");
    const char *exchange = strstr(made_text, "50.0 exchange\n");
    assert_non_null(exchange); /* what a phase calls follows it */
    const char counted[] = "counted: perf::A 2, B 2\n", below[] = "                      2.000     2.000";
    exchange = strstr(exchange, counted);
    assert_non_null(exchange);
    assert_memory_equal(exchange + strlen(counted), below, strlen(below));
    assert_line("counted: perf::A 12", "counted: perf::A 12, B 3"); /* of all executions */
    assert_non_null(strstr(exchange, "50.0 - kernel  a.c:20\n"));
    assert_null(strstr(made_text, "  - kernel")); /* below the event */
    for (const char *at = made_text; *at; at += strcspn(at, "\n") + 1)
        assert_true(strcspn(at, "\n") <= 100);
    out = made_out();
    view_text_phases(out, &made.profile, made.tables.rows, table, 3, &style);
    fclose(out);
    line_with("  - kernel  a.c:20\n");
    out = made_out();
    view_text_phases(out, &made.profile, made.tables.rows, table, 1, &style);
    fclose(out);
    assert_null(strstr(made_text, " - "));
    phases_free(table);
}

/* As its phases are: pauses are the ranks' sum, too. */
WITH_PROFILE(the_program_of_a_job_is_all_ranks_together)
{
    struct profile_rank ranks[] = {
        {.begin_ns = 0, .end_ns = (uint64_t)(20 * S), .threads_max = 1},
        {.rank = 1, .begin_ns = (uint64_t)(1 * S), .end_ns = (uint64_t)(17 * S), .threads_max = 1},
        {.rank = 2, .state = PROFILE_RANK_MISSING}};
    made.profile.ranks = ranks;
    made.profile.rank_count = 3;
    made.profile.header.merged = 2;
    made_tables();
    struct phase_table *table = phases_gather(&made.profile, made.tables.rows);
    FILE *out = made_out();
    write_phases_csv(out, made.tables.rows, table);
    fclose(out);
    assert_line("<program>", "<program>,,*,0.000000,34.500000,2,15.250000,19.250000,17.250000,2.000000,");
    phases_free(table);
    out = made_out();
    report_print_summary(out, &made.profile, &made.tables, "d");
    fclose(out);
    line_with("length, summed over ranks:\n");
}

WITH_PROFILE(the_summary_has_phases_and_notes)
{
    setenv("LC_ALL", "C", 1);
    FILE *out = made_out();
    report_print_summary(out, &made.profile, &made.tables, "d");
    fclose(out);
    assert_line("  solve\n", "    50.0 %     13.00 s  solve");
    assert_line("  iteration  (", "    50.0 %     12.00 s  iteration  (12 times)");
    line_with("note: quiet is short and frequent, so it was not measured after 100000 calls\n");
    line_with("note: pack (step, a.c:11) was still open when solve (send, a.c:33) ended\n");
    line_with("note: late (kernel, a.c:22) ended although it had not begun\n");
    line_with("note: 1.50 s in 2 pauses that the program asked for are not measured\n");
    line_with("note: the program itself ended the measurement\n");
    line_with("note: 3 starts of phases, events or parameters were not recorded, because there was no room for them\n");
}

WITH_PROFILE(phases_csv_is_written_where_there_are_phases)
{
    char dir[] = "/tmp/blame-phases-XXXXXX", path[100], error[300];
    const char *const files[] = {"profile.csv", "threads.csv", "locks.csv", "waits.csv", "run.json", "phases.csv"};
    assert_non_null(mkdtemp(dir));
    for (int round = 0; round < 2; round++) {
        made_tables();
        assert_int_equal(report_write_files(&made.profile, &made.tables, dir, error, sizeof error), 0);
        for (size_t i = 0; i < 6; i++) {
            snprintf(path, sizeof path, "%s/%s", dir, files[i]);
            assert_int_equal(unlink(path), round == 1 && i == 5 ? -1 : 0);
        }
        made.profile.name_count = 0;
        made.profile.node_count = 2;
        made.profile.probe_count = made.profile.counters_count = 0;
    }
    assert_int_equal(rmdir(dir), 0);
}

UNIT_MAIN(NULL, NULL)
