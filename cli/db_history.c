/* `blame history`: the trials, their revisions, and what changed. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/history.h"
#include "cli/open_profile.h"
#include "compare/history.h"
#include "compare/statistics.h"
#include "report/rows/metric.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#include "trials/metrics.h"
#include "trials/select.h"

#define NAME_COLUMNS 16
#define BAR_COLUMNS  30
#define CULPRITS     3
#define ALIKE        6 /* columns in which trials must be alike */

static const char *const alike[ALIKE] = {"application", "host", "threads", "ranks", "cores", "unit"};

struct trial {
    int64_t id;
    size_t revision;
    double value;
};

struct revision {
    char *name, *first; /* when its first run was */
    size_t place;       /* in the order asked for */
    size_t runs;
    double median, least, most;
};

struct past {
    const struct history_request *request;
    struct database database;
    struct trial *trial;
    struct revision *revision;
    size_t trials, trial_room, revisions, revision_room;
    char *common[ALIKE]; /* of all trials */
    size_t unnamed;      /* trials without a revision */
    struct history_change *change;
    size_t changes;
};

static int complain(const struct past *past)
{
    fprintf(stderr, "blame history: %s\n", past->database.why);
    return CLI_BAD_INPUT;
}

static void metric_name(const struct history_request *request, char name[32])
{
    if (request->metric == HISTORY_WALL)
        snprintf(name, 32, "wall");
    else
        metrics_column((enum metric)(request->metric - 1), name);
}

/* A text as SQL has it. */
static char *quote(const char *text, char mark)
{
    char *quoted;
    FILE *out = memory_stream(&quoted);
    putc(mark, out);
    for (; *text; text++) {
        if (*text == mark)
            putc(mark, out);
        putc(*text, out);
    }
    putc(mark, out);
    memory_stream_close(out);
    return quoted;
}

/* Blame is no column: it is the sum of its parts. */
static char *expression(const char *name, const char *behind)
{
    return strcmp(name, "blame") == 0 ? memory_text("idleness%s + overhead%s + lock_wait%s", behind, behind, behind) : memory_text("%s%s", name, behind);
}

/* What a trial's value is, as SQL. */
static char *value_text(const struct history_request *request)
{
    char name[32];
    metric_name(request, name);
    if (request->metric == HISTORY_WALL)
        return memory_text("wall_s");
    if (!request->row)
        return expression(name, "");
    char *row = quote(request->row, '\''), *sum = expression(name, "_e");
    char *text = memory_text("(SELECT total(%s) FROM metric JOIN context ON context.id = metric.context WHERE metric.trial = run.id"
                             " AND context.name = %s AND context.kind <> 'statement')", sum, row);
    free(row);
    free(sum);
    return text;
}

static size_t find_revision(struct past *past, const char *name, const char *started)
{
    for (size_t i = past->revisions; i-- > 0;)
        if (strcmp(past->revision[i].name, name) == 0)
            return i;
    memory_grow(&past->revision, &past->revision_room, past->revisions, sizeof *past->revision);
    past->revision[past->revisions] = (struct revision){.name = memory_text("%s", name), .first = memory_text("%.10s", started), .place = past->revisions};
    return past->revisions++;
}

/* Takes a trial in; false after a message: it is of another kind than those before. */
static bool take(struct past *past, const struct selection *row)
{
    const char *revision = selection_value(row, 3), *started = selection_value(row, 1);
    for (int i = 0; i < ALIKE; i++) {
        const char *value = selection_value(row, 4 + i);
        value = value ? value : "";
        if (!past->common[i])
            past->common[i] = memory_text("%s", value);
        else if (strcmp(past->common[i], value) != 0) {
            char *one = format_clean(past->common[i], true), *other = format_clean(value, true);
            fprintf(stderr, "blame history: trials differ in %s (%s, %s), and are not compared; choose by --where, as --where \"%s = '%s'\"\n", alike[i], one,
                    other, alike[i], other);
            free(one);
            free(other);
            return false;
        }
    }
    if (!revision || !*revision) {
        past->unnamed++;
        return true;
    }
    memory_grow(&past->trial, &past->trial_room, past->trials, sizeof *past->trial);
    past->trial[past->trials++] = (struct trial){selection_integer(row, 0), find_revision(past, revision, started ? started : ""), selection_number(row, 2)};
    return true;
}

/* Whether there is something of that name; false after a message. */
static bool is_known(struct past *past)
{
    struct selection selection;
    char *by = quote(past->request->by, '\''), *quoted = format_clean(past->request->by, true);
    char *text = memory_text("SELECT (SELECT count(*) FROM (SELECT 1 FROM metadata WHERE name = %s LIMIT 1)) + (SELECT count(*) FROM pragma_table_info('run')"
                             " WHERE name = %s) + (%s = 'date')", by, by, by);
    bool good = select_text(&selection, &past->database, text, NULL, 0);
    bool there = good && selection_next(&selection) == SELECTED_ROW && selection_integer(&selection, 0) > 0;
    if (good)
        selection_close(&selection);
    if (!good)
        complain(past);
    else if (!there)
        fprintf(stderr, "blame history: no trial says its %s: blame run --meta %s=..., or blame history --by date\n", quoted, quoted);
    free(text);
    free(by);
    free(quoted);
    return there;
}

/* Trials by their beginning. */
static int read_trials(struct past *past)
{
    const struct history_request *request = past->request;
    bool by_date = strcmp(request->by, "date") == 0;
    struct selection selection;
    char *value = value_text(request), *key = quote(request->by, '"'), *columns, *where;
    columns = memory_text("id, started, %s, %s, application, host, threads, ranks, cores, unit", value, by_date ? "substr(started, 1, 10)" : key);
    /* What is mentioned in it becomes a column. */
    where = memory_text("(\n%s\n) AND (%s%s)", request->where ? request->where : "1", by_date ? "1" : key, by_date ? "" : " IS NULL OR 1");
    bool good = select_trials(&selection, &past->database, columns, where, "started, id"), alike_all = true;
    enum selected next = SELECTED_FAILED;
    while (good && alike_all && (next = selection_next(&selection)) == SELECTED_ROW)
        alike_all = take(past, &selection);
    if (good)
        selection_close(&selection);
    free(value);
    free(key);
    free(columns);
    free(where);
    if (!alike_all)
        return CLI_BAD_INPUT;
    return good && next == SELECTED_END ? CLI_DONE : complain(past);
}

/* Places of revisions from a file; those that are not in it have no place. */
static bool read_order(struct past *past)
{
    char *line = NULL;
    size_t room = 0, place = 1;
    FILE *file = past->request->order ? fopen(past->request->order, "re") : NULL;
    if (!past->request->order)
        return true;
    if (!file) {
        fprintf(stderr, "blame history: --order %s: %s\n", past->request->order, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < past->revisions; i++)
        past->revision[i].place = 0;
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, " \t\r\n")] = '\0';
        for (size_t i = 0; *line && i < past->revisions; i++)
            if (strcmp(past->revision[i].name, line) == 0)
                past->revision[i].place = place++;
    }
    free(line);
    fclose(file);
    for (size_t i = 0; i < past->revisions; i++)
        if (!past->revision[i].place) {
            fprintf(stderr, "blame history: --order %s: it has no %s, of which there are runs; accepted is every revision, the oldest first\n",
                    past->request->order, past->revision[i].name);
            return false;
        }
    return true;
}

static const struct past *sorted_past;

static int by_place(const void *one, const void *other)
{
    const struct trial *a = one, *b = other;
    size_t x = sorted_past->revision[a->revision].place, y = sorted_past->revision[b->revision].place;
    return x == y ? (a->id > b->id) - (a->id < b->id) : (x > y) - (x < y);
}

static int revisions_by_place(const void *one, const void *other)
{
    const struct revision *a = one, *b = other;
    return (a->place > b->place) - (a->place < b->place);
}

/* Trials and revisions in their order; a trial's revision is its number in it. */
static void order(struct past *past)
{
    sorted_past = past;
    qsort(past->trial, past->trials, sizeof *past->trial, by_place);
    size_t at = 0;
    for (size_t i = 0, last = 0; i < past->trials; i++) {
        size_t own = past->trial[i].revision;
        at += i && own != last;
        last = own;
        past->trial[i].revision = at;
    }
    qsort(past->revision, past->revisions, sizeof *past->revision, revisions_by_place);
    double *value = memory_array(past->trials + 1, sizeof *value);
    for (size_t i = 0, end; i < past->trials; i = end) {
        struct revision *of = &past->revision[past->trial[i].revision];
        for (end = i; end < past->trials && past->trial[end].revision == past->trial[i].revision; end++)
            value[end - i] = past->trial[end].value;
        of->runs = end - i;
        of->median = statistics_median(value, of->runs);
        of->least = value[0];
        of->most = value[of->runs - 1];
    }
    free(value);
}

static void find_changes(struct past *past)
{
    double *value = memory_array(past->trials + 1, sizeof *value);
    size_t *revision = memory_array(past->trials + 1, sizeof *revision);
    for (size_t i = 0; i < past->trials; i++) {
        value[i] = past->trial[i].value;
        revision[i] = past->trial[i].revision;
    }
    past->change = memory_array(past->revisions + 1, sizeof *past->change);
    past->changes = history_changes(value, revision, past->trials, past->request->least / 100, past->change);
    free(value);
    free(revision);
}

/* The trials of revisions from `from` up to `to`, as SQL. */
static char *trials_of(const struct past *past, size_t from, size_t to)
{
    char *text;
    FILE *out = memory_stream(&text);
    fputs("(0", out);
    for (size_t i = 0; i < past->trials; i++)
        if (past->trial[i].revision >= from && past->trial[i].revision < to)
            fprintf(out, ",%lld", (long long)past->trial[i].id);
    putc(')', out);
    memory_stream_close(out);
    return text;
}

static size_t runs_of(const struct past *past, size_t from, size_t to)
{
    size_t runs = 0;
    for (size_t i = from; i < to; i++)
        runs += past->revision[i].runs;
    return runs;
}

/* The functions whose mean changed most in the direction of the change. */
static bool print_culprits(FILE *out, struct past *past, const struct history_change *change, size_t from, size_t to)
{
    char name[32];
    metric_name(past->request, name);
    bool wall = past->request->metric == HISTORY_WALL, more = change->after > change->before;
    char *sum = wall ? memory_text("work_e + idleness_e + overhead_e + lock_wait_e") : expression(name, "_e");
    char *before = trials_of(past, from, change->at), *after = trials_of(past, change->at, to);
    char *text = memory_text("SELECT name, max(file), max(line), sum(CASE WHEN trial IN %s THEN (%s) / %zu.0 ELSE -(%s) / %zu.0 END) AS more FROM metric JOIN context"
                             " ON context.id = metric.context WHERE (trial IN %s OR trial IN %s) AND kind <> 'statement' GROUP BY path ORDER BY more %s LIMIT %d",
                             after, sum, runs_of(past, change->at, to), sum, runs_of(past, from, change->at), before, after, more ? "DESC" : "", CULPRITS);
    struct selection row;
    enum selected next = SELECTED_FAILED;
    bool good = select_text(&row, &past->database, text, NULL, 0);
    while (good && (next = selection_next(&row)) == SELECTED_ROW) {
        double seconds = selection_number(&row, 3);
        if (fabs(seconds) < 0.01 * fabs(change->after - change->before) || (seconds > 0) != more)
            continue;
        char *function = format_fit(selection_value(&row, 0), 50, format_locale_is_utf8());
        char *file = format_clean(selection_value(&row, 1) ? selection_value(&row, 1) : "", true);
        fprintf(out, "       %s%s  %s", seconds > 0 ? "+" : "", DECIMAL(seconds, 3), function);
        if (*file)
            fprintf(out, "  %s:%lld", format_base_name(file), (long long)selection_integer(&row, 2));
        putc('\n', out);
        free(function);
        free(file);
    }
    if (good)
        selection_close(&row);
    free(sum);
    free(before);
    free(after);
    free(text);
    return good && next == SELECTED_END;
}

static bool print_change(FILE *out, struct past *past, size_t number)
{
    const struct history_change *change = &past->change[number];
    size_t from = number ? past->change[number - 1].at : 0, to = number + 1 < past->changes ? past->change[number + 1].at : past->revisions;
    char *new = format_clean(past->revision[change->at].name, true), *old = format_clean(past->revision[change->at - 1].name, true);
    double per_cent = 100 * (change->after / change->before - 1);
    fprintf(out, "  since %s (%s): ", new, past->revision[change->at].first);
    if (change->before > 0)
        fprintf(out, "%s%s %%", per_cent > 0 ? "+" : "", DECIMAL(per_cent, 1));
    if (change->before > 0 && runs_of(past, from, change->at) > 2 && runs_of(past, change->at, to) > 2)
        fprintf(out, " (%s to %s %%)", DECIMAL(100 * change->low, 1), DECIMAL(100 * change->high, 1));
    fprintf(out, "%sfrom %s to %s; %s was the last before. By chance: %s %%.\n", change->before > 0 ? ", " : "", DECIMAL(change->before, 3), DECIMAL(change->after, 3), old,
            DECIMAL(100 * change->chance, 1));
    free(new);
    free(old);
    return print_culprits(out, past, change, from, to);
}

static void print_revision(FILE *out, const struct past *past, size_t number, double most)
{
    const struct revision *of = &past->revision[number];
    char *name = format_fit(of->name, NAME_COLUMNS, format_locale_is_utf8());
    fprintf(out, "  %s%*s  %-10s  %5zu  %10s  %10s  %10s  ", name, (int)(NAME_COLUMNS - format_columns(name)), "", of->first, of->runs, DECIMAL(of->median, 3),
            DECIMAL(of->least, 3), DECIMAL(of->most, 3));
    for (int i = 0; i < BAR_COLUMNS && most > 0 && i < BAR_COLUMNS * of->median / most - 0.5; i++)
        putc('#', out);
    putc('\n', out);
    free(name);
}

/* A time is in the trials' unit, but wall time; samples have none. */
static const char *unit_of(const struct past *past)
{
    if (past->request->metric == HISTORY_WALL)
        return "s";
    const char *unit = metric_unit[past->request->metric - 1];
    return *unit ? past->common[5] : unit;
}

static bool print_text(FILE *out, struct past *past)
{
    char name[32];
    double most = 0;
    metric_name(past->request, name);
    char *application = format_clean(past->common[0], true), *host = format_clean(past->common[1], true), *row = format_clean(past->request->row ? past->request->row : "", true);
    const char *unit = unit_of(past);
    fprintf(out, "%s on %s, %s threads%s%s%s: %s%s%s of each revision%s%s\n", application, host, past->common[2], strcmp(past->common[3], "1") != 0 ? ", " : "",
            strcmp(past->common[3], "1") != 0 ? past->common[3] : "", strcmp(past->common[3], "1") != 0 ? " ranks" : "", name, *row ? " of " : "", row, *unit ? ", " : "", unit);
    fprintf(out, "  %-*s  %-10s  %5s  %10s  %10s  %10s\n", NAME_COLUMNS, past->request->by, "first run", "runs", "median", "least", "most");
    for (size_t i = 0; i < past->revisions; i++)
        most = fmax(most, past->revision[i].median);
    for (size_t i = 0; i < past->revisions; i++)
        print_revision(out, past, i, most);
    if (!past->changes)
        fputs("no change beyond chance\n", out);
    else
        fprintf(out, "%zu change%s beyond chance:\n", past->changes, past->changes > 1 ? "s" : "");
    bool good = true;
    for (size_t i = 0; good && i < past->changes; i++)
        good = print_change(out, past, i);
    free(application);
    free(host);
    free(row);
    return good;
}

static void print_csv(FILE *out, const struct past *past)
{
    fputs("revision,first_run,runs,median,least,most,change_percent,low_percent,high_percent,chance\n", out);
    for (size_t i = 0; i < past->revisions; i++) {
        const struct revision *of = &past->revision[i];
        format_csv_text(out, of->name);
        fprintf(out, ",%s,%zu,", of->first, of->runs);
        fprintf(out, "%s,%s,%s", DECIMAL(of->median, 6), DECIMAL(of->least, 6), DECIMAL(of->most, 6));
        const struct history_change *change = NULL;
        for (size_t c = 0; c < past->changes; c++)
            change = past->change[c].at == i ? &past->change[c] : change;
        if (change && change->before > 0)
            fprintf(out, ",%s,%s,%s,%s\n", DECIMAL(100 * (change->after / change->before - 1), 3), DECIMAL(100 * change->low, 3),
                    DECIMAL(100 * change->high, 3), DECIMAL(change->chance, 3));
        else
            fprintf(out, ",,,,%s\n", change ? DECIMAL(change->chance, 3) : "");
    }
}

static int print(struct past *past)
{
    struct out_file out;
    bool good = true;
    if (!out_file_open(&out, "history", past->request->output))
        return CLI_BAD_INPUT;
    if (past->request->csv)
        print_csv(out.stream, past);
    else
        good = print_text(out.stream, past);
    if (good)
        return out_file_close(&out, true);
    out_file_drop(&out);
    return complain(past);
}

static void past_free(struct past *past)
{
    for (size_t i = 0; i < past->revisions; i++) {
        free(past->revision[i].name);
        free(past->revision[i].first);
    }
    for (int i = 0; i < ALIKE; i++)
        free(past->common[i]);
    free(past->revision);
    free(past->trial);
    free(past->change);
    database_close(&past->database);
}

int history_show(const struct history_request *request)
{
    struct past past = {.request = request};
    if (!database_open(&past.database, request->database, DATABASE_READ, request->wait_s)) {
        complain(&past);
        return CLI_BAD_INPUT;
    }
    int status = is_known(&past) ? read_trials(&past) : CLI_BAD_INPUT;
    if (status == CLI_DONE && past.unnamed)
        fprintf(stderr, "blame history: %zu trials do not say their %s, and are left out: blame run --meta %s=...\n", past.unnamed, request->by, request->by);
    if (status == CLI_DONE && !past.trials) {
        fprintf(stderr, "blame history: %s: no trial is left%s\n", request->database, past.unnamed ? "" : " of these: see blame db list");
        status = CLI_BAD_INPUT;
    }
    if (status == CLI_DONE && !read_order(&past))
        status = CLI_BAD_INPUT;
    if (status == CLI_DONE) {
        order(&past);
        find_changes(&past);
        status = print(&past);
    }
    past_free(&past);
    return status;
}
