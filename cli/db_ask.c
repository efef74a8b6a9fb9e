/* `blame db list`, `show`, `export` and `prune`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/db.h"
#include "cli/open_profile.h"
#include "report/rows/metric.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#include "trials/metrics.h"
#include "trials/prune.h"
#include "trials/select.h"

struct list {
    int64_t *trial;
    size_t count, room;
};

static int complain(const char *action, const struct database *database)
{
    fprintf(stderr, "blame db %s: %s\n", action, database->why);
    return CLI_BAD_INPUT;
}

/* What a question is asked with: an open database, an open file. False after a message. */
static bool start(const char *action, const struct db_request *request, struct database *database, struct out_file *out)
{
    char *command = memory_text("db %s", action);
    static char kept[32];
    snprintf(kept, sizeof kept, "%s", command);
    free(command);
    if (!database_open(database, request->path, DATABASE_READ, request->wait_s)) {
        complain(action, database);
        return false;
    }
    if (out_file_open(out, kept, request->output))
        return true;
    database_close(database);
    return false;
}

static int end(const char *action, struct database *database, struct out_file *out, bool good)
{
    if (!good) {
        complain(action, database);
        out_file_drop(out);
    }
    database_close(database);
    return good ? out_file_close(out, true) : CLI_BAD_INPUT;
}

/* ---- list ---- */

#define LIST_COLUMNS 10
static const char *const list_title[LIST_COLUMNS] = {"trial", "started",  "application", "experiment", "host",
                                                     "ranks", "threads", "wall s",      "work %",     "blame %"};
static const char list_text[] =
    "id, started, application, experiment, host, ranks, threads, printf('%.2f', wall_s), printf('%.1f', 100 * work / effort),"
    " printf('%.1f', 100 * (idleness + overhead + lock_wait) / effort)";
/* In front of them: what they are parts of. */
static const char effort_text[] = "max(work + idleness + overhead + lock_wait + no_core + blocked + mpi_wait, 1e-9)";

struct lines {
    char *(*cell)[LIST_COLUMNS];
    size_t count, room;
    size_t width[LIST_COLUMNS];
};

static void put_line(FILE *out, const struct lines *lines, char *const *cell)
{
    for (int i = 0; i < LIST_COLUMNS; i++) {
        bool text = i >= 1 && i <= 4;
        int pad = (int)(lines->width[i] - format_columns(cell[i]));
        if (text)
            fprintf(out, "%s%*s", cell[i], i + 1 < LIST_COLUMNS ? pad + 2 : 0, "");
        else
            fprintf(out, "%*s%s%s", pad, "", cell[i], i + 1 < LIST_COLUMNS ? "  " : "\n");
    }
}

static bool gather_lines(struct selection *selection, struct lines *lines)
{
    enum selected next;
    while ((next = selection_next(selection)) == SELECTED_ROW) {
        memory_grow(&lines->cell, &lines->room, lines->count, sizeof *lines->cell);
        char **cell = lines->cell[lines->count++];
        for (int i = 0; i < LIST_COLUMNS; i++) {
            const char *value = selection_value(selection, i);
            cell[i] = format_fit(value ? value : "", 40, true);
            size_t columns = format_columns(cell[i]);
            lines->width[i] = columns > lines->width[i] ? columns : lines->width[i];
        }
    }
    return next == SELECTED_END;
}

static bool print_list(struct selection *selection, FILE *out)
{
    struct lines lines = {0};
    for (int i = 0; i < LIST_COLUMNS; i++)
        lines.width[i] = strlen(list_title[i]);
    bool good = gather_lines(selection, &lines);
    if (good)
        put_line(out, &lines, (char *const *)list_title);
    for (size_t i = 0; i < lines.count; i++) {
        if (good)
            put_line(out, &lines, lines.cell[i]);
        for (int j = 0; j < LIST_COLUMNS; j++)
            free(lines.cell[i][j]);
    }
    free(lines.cell);
    return good;
}

int db_list(const struct db_request *request)
{
    struct database database;
    struct selection selection;
    struct out_file out;
    if (!start("list", request, &database, &out))
        return CLI_BAD_INPUT;
    char *columns = memory_text("%s", list_text), *at;
    while ((at = strstr(columns, "effort"))) {
        char *more = memory_text("%.*s%s%s", (int)(at - columns), columns, effort_text, at + strlen("effort"));
        free(columns);
        columns = more;
    }
    bool good = select_trials(&selection, &database, request->csv ? "*" : columns, request->where, "id");
    free(columns);
    if (good) {
        good = request->csv ? selection_csv(&selection, out.stream, true) : print_list(&selection, out.stream);
        selection_close(&selection);
    }
    return end("list", &database, &out, good);
}

/* ---- show ---- */

static bool print_facts(struct database *database, FILE *out, int64_t trial)
{
    struct selection selection;
    if (!select_text(&selection, database, "SELECT * FROM run WHERE id = ?", &trial, 1))
        return false;
    enum selected next = selection_next(&selection);
    for (int i = 0; next == SELECTED_ROW && i < selection_columns(&selection); i++) {
        const char *value = selection_value(&selection, i);
        char *clean = format_clean(value ? value : "", true);
        if (value)
            fprintf(out, "%-16s %s\n", i ? selection_name(&selection, i) : "trial", clean);
        free(clean);
    }
    selection_close(&selection);
    if (next == SELECTED_FAILED ||
        !select_text(&selection, database, "SELECT kind, name, value FROM metadata WHERE trial = ? ORDER BY kind = 'user' DESC, kind, name, value", &trial, 1))
        return false;
    while ((next = selection_next(&selection)) == SELECTED_ROW) {
        char *name = format_clean(selection_value(&selection, 1), true), *value = format_clean(selection_value(&selection, 2), true);
        fprintf(out, "%-16s %s = %s\n", selection_value(&selection, 0), name, value);
        free(name);
        free(value);
    }
    selection_close(&selection);
    return next == SELECTED_END;
}

/* The contexts that others waited for, or worked in, most. */
static const char contexts_text[] =
    "SELECT metric.context, idleness_e + overhead_e + lock_wait_e AS blame, work_e, context.name, context.kind, coalesce(context.file, context.module, ''),"
    " coalesce(context.line, 0), (SELECT name FROM context AS above WHERE above.id = context.parent)"
    " FROM metric JOIN context ON context.id = metric.context WHERE metric.trial = ?1 AND context.kind <> 'statement'"
    " ORDER BY blame + work_e * 1e-9 DESC, metric.context LIMIT ?2";

static bool print_contexts(struct database *database, FILE *out, int64_t trial, int top)
{
    struct selection selection;
    enum selected next;
    if (top == 0)
        return true;
    if (!select_text(&selection, database, contexts_text, (int64_t[]){trial, top}, 2))
        return false;
    fprintf(out, "\n%10s %12s %12s  contexts, by what others lost by their own code\n", "context", "blame s", "work s");
    while ((next = selection_next(&selection)) == SELECTED_ROW) {
        const char *above = selection_value(&selection, 7);
        char *line = format_printable("%s  %s:%" PRId64 "%s%s", selection_value(&selection, 3), format_base_name(selection_value(&selection, 5)),
                                      selection_integer(&selection, 6), above ? "  < " : "", above ? above : "");
        fprintf(out, "%10" PRId64 " %12s %12s  %s\n", selection_integer(&selection, 0), DECIMAL(selection_number(&selection, 1), 6),
                DECIMAL(selection_number(&selection, 2), 6), line);
        free(line);
    }
    selection_close(&selection);
    return next == SELECTED_END;
}

/* As kind,name,value: what is a column of the list is of the kind "run". */
static bool put_facts_csv(struct database *database, FILE *out, int64_t trial)
{
    struct selection selection;
    if (!select_text(&selection, database, "SELECT * FROM run WHERE id = ?", &trial, 1))
        return false;
    enum selected next = selection_next(&selection);
    for (int i = 0; next == SELECTED_ROW && i < selection_columns(&selection); i++)
        if (selection_value(&selection, i)) {
            fprintf(out, "%" PRId64 ",run,%s,", trial, selection_name(&selection, i));
            format_csv_text(out, selection_value(&selection, i));
            putc('\n', out);
        }
    selection_close(&selection);
    if (next == SELECTED_FAILED ||
        !select_text(&selection, database, "SELECT trial, kind, name, value FROM metadata WHERE trial = ? ORDER BY kind, name, value", &trial, 1))
        return false;
    bool good = selection_csv(&selection, out, false);
    selection_close(&selection);
    return good;
}

int db_show(const struct db_request *request)
{
    struct database database;
    struct out_file out;
    bool good = true;
    if (!start("show", request, &database, &out))
        return CLI_BAD_INPUT;
    if (request->csv)
        fputs("trial,kind,name,value\n", out.stream);
    for (int i = 0; good && i < request->operand_count; i++) {
        int64_t trial = find_trial(&database, request->operand[i]);
        if (i && !request->csv)
            putc('\n', out.stream);
        good = trial && (request->csv ? put_facts_csv(&database, out.stream, trial)
                                      : print_facts(&database, out.stream, trial) && print_contexts(&database, out.stream, trial, request->top));
    }
    return end("show", &database, &out, good);
}

/* ---- which trials ---- */

/* Those that were named, and those of which the condition is true; of neither all, if that is meant. */
static bool choose(struct database *database, const struct db_request *request, bool all, struct list *list)
{
    struct selection selection;
    for (int i = 0; i < request->operand_count; i++) {
        int64_t trial = find_trial(database, request->operand[i]);
        if (!trial)
            return false;
        memory_grow(&list->trial, &list->room, list->count, sizeof *list->trial);
        list->trial[list->count++] = trial;
    }
    if (!request->where && (!all || request->operand_count))
        return true;
    if (!select_trials(&selection, database, "id", request->where, "id"))
        return false;
    enum selected next;
    while ((next = selection_next(&selection)) == SELECTED_ROW) {
        memory_grow(&list->trial, &list->room, list->count, sizeof *list->trial);
        list->trial[list->count++] = selection_integer(&selection, 0);
    }
    selection_close(&selection);
    return next == SELECTED_END;
}

/* ---- export ---- */

/* location: -1 for sums. */
static char *export_text(bool locations)
{
    char *text, name[32];
    FILE *out = memory_stream(&text);
    fprintf(out, "SELECT m.trial, %s, m.context, c.parent, c.depth, c.kind, c.name, c.module, c.file, c.line, c.call_line",
            locations ? "l.number AS location, l.rank, l.thread" : "NULL AS location, NULL AS rank, NULL AS thread");
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        metrics_column(metric_columns[i], name);
        fprintf(out, ", m.%s_i, m.%s_e", name, name);
    }
    fputs(locations ? " FROM location AS l JOIN location_metric AS m ON m.trial = l.trial AND m.location = l.number" : " FROM metric AS m", out);
    fputs(" JOIN context AS c ON c.id = m.context WHERE m.trial = ? ORDER BY ", out);
    fputs(locations ? "l.number, m.context" : "m.context", out);
    memory_stream_close(out);
    return text;
}

static bool export_trial(struct database *database, FILE *out, int64_t trial, const char *text, bool titles)
{
    struct selection selection;
    if (!select_text(&selection, database, text, &trial, 1))
        return false;
    bool good = selection_csv(&selection, out, titles);
    selection_close(&selection);
    return good;
}

int db_export(const struct db_request *request)
{
    struct database database;
    struct out_file out;
    struct list list = {0};
    if (!start("export", request, &database, &out))
        return CLI_BAD_INPUT;
    char *sums = export_text(false), *locations = export_text(true);
    bool good = choose(&database, request, true, &list);
    for (size_t i = 0; good && i < list.count; i++)
        good = export_trial(&database, out.stream, list.trial[i], sums, i == 0) &&
               (!request->locations || export_trial(&database, out.stream, list.trial[i], locations, false));
    free(sums);
    free(locations);
    free(list.trial);
    return end("export", &database, &out, good);
}

/* ---- prune ---- */

static bool add_old(struct database *database, const struct db_request *request, struct list *list)
{
    struct selection selection;
    int64_t keep = request->keep;
    if (keep < 0)
        return true;
    if (!select_text(&selection, database,
                     "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY experiment ORDER BY started DESC, id DESC) AS place FROM trial)"
                     " WHERE place > ? ORDER BY id",
                     &keep, 1))
        return false;
    enum selected next;
    while ((next = selection_next(&selection)) == SELECTED_ROW) {
        memory_grow(&list->trial, &list->room, list->count, sizeof *list->trial);
        list->trial[list->count++] = selection_integer(&selection, 0);
    }
    selection_close(&selection);
    return next == SELECTED_END;
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void sort(struct list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->trial, list->count, sizeof *list->trial, by_number);
    for (size_t i = 0; i < list->count; i++)
        if (!kept || list->trial[i] != list->trial[kept - 1])
            list->trial[kept++] = list->trial[i];
    list->count = kept;
}

static void tell_pruned(const struct db_request *request, const struct list *list)
{
    if (request->csv)
        puts("trial");
    for (size_t i = 0; i < list->count; i++)
        printf("%s%" PRId64, request->csv ? i ? "\n" : "" : i ? ", " : "trials ", list->trial[i]);
    if (!request->csv)
        printf("%s", list->count ? request->dry_run ? " would be removed" : " removed" : "no trial is one of these: nothing was removed");
    if (!request->csv || list->count)
        putchar('\n');
}

int db_prune(const struct db_request *request)
{
    struct database database;
    struct list list = {0};
    if (!request->operand_count && !request->where && request->keep < 0) {
        fputs("blame db prune: no trial given; accepted are TRIAL ..., --where SQL, --keep N\n", stderr);
        return CLI_BAD_USAGE;
    }
    if (!database_open(&database, request->path, request->dry_run ? DATABASE_READ : DATABASE_CHANGE, request->wait_s))
        return complain("prune", &database);
    bool good = choose(&database, request, false, &list) && add_old(&database, request, &list);
    sort(&list);
    if (good && !request->dry_run && list.count)
        good = trials_remove(&database, list.trial, list.count);
    if (good)
        tell_pruned(request, &list);
    free(list.trial);
    int status = good ? CLI_DONE : complain("prune", &database);
    database_close(&database);
    return status;
}
