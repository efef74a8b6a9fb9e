#include "trials/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/metric.h"
#include "report/text/memory.h"
#include "trials/contexts.h"
#include "trials/statement.h"

/* A row's number of the tree, and its context's in the database: in the order of these a table grows at its end. */
struct place {
    int64_t context;
    uint32_t row;
};

struct writer {
    struct database *database;
    long long trial;
    const struct rows *rows;
    int64_t *context; /* by row of the sum */
    struct place *place;
};

void metrics_column(enum metric metric, char name[32])
{
    snprintf(name, 32, "%s", metric_word[metric]);
    for (char *at = name; *at; at++)
        *at = *at == '-' ? '_' : *at;
}

static bool find_context(struct writer *writer, sqlite3_stmt *find, sqlite3_stmt *insert, uint32_t i, int64_t identity, int64_t path)
{
    const struct row *row = &writer->rows->row[i];
    sqlite3_bind_int64(find, 1, identity);
    if (!statement_number(writer->database, find, 0, &writer->context[i]))
        return false;
    if (writer->context[i])
        return true;
    sqlite3_bind_int64(insert, 1, identity);
    sqlite3_bind_int64(insert, 2, path);
    if (i)
        sqlite3_bind_int64(insert, 3, writer->context[row->parent]);
    else
        sqlite3_bind_null(insert, 3);
    sqlite3_bind_int64(insert, 4, row->depth);
    sqlite3_bind_text(insert, 5, row_kind_name[row->kind], -1, SQLITE_STATIC);
    statement_name(insert, 6, row->label->name);
    statement_text(insert, 7, row->label->module);
    statement_text(insert, 8, row->label->file);
    sqlite3_bind_int64(insert, 9, row->label->line);
    sqlite3_bind_int64(insert, 10, row->call_line);
    bool good = statement_do(writer->database, insert);
    writer->context[i] = sqlite3_last_insert_rowid(writer->database->sql);
    return good;
}

static bool write_contexts(struct writer *writer)
{
    int64_t *identity, *path;
    sqlite3_stmt *find = statement_new(writer->database, "SELECT id FROM context WHERE identity = ?");
    sqlite3_stmt *insert = statement_new(writer->database, "INSERT INTO context(identity, path, parent, depth, kind, name, module, file,"
                                                           " line, call_line) VALUES (?,?,?,?,?,?,?,?,nullif(?,0),nullif(?,0))");
    contexts_identify(writer->rows, &identity, &path);
    bool good = find && insert;
    for (uint32_t i = 0; good && i < writer->rows->count; i++)
        good = find_context(writer, find, insert, i, identity[i], path[i]);
    free(identity);
    free(path);
    sqlite3_finalize(find);
    sqlite3_finalize(insert);
    return good;
}

/* What is there is in the order of METRIC_TABLE. */
static sqlite3_stmt *insert_into(struct database *database, const char *table, int keys)
{
    char *text, name[32];
    FILE *out = memory_stream(&text);
    fprintf(out, "INSERT INTO %s(trial, %scontext", table, keys == 3 ? "location, " : "");
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        metrics_column((enum metric)i, name);
        fprintf(out, ", %s_i, %s_e", name, name);
    }
    fputs(") VALUES (?", out);
    for (int i = 1; i < keys + 2 * METRIC_COLUMNS; i++)
        fputs(",?", out);
    fputs(")", out);
    memory_stream_close(out);
    sqlite3_stmt *statement = statement_new(database, text);
    free(text);
    return statement;
}

static int by_context(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->context > b->context) - (a->context < b->context);
}

/* of: by row its number among the sum's; NULL: it is that. */
static bool write_rows(struct writer *writer, sqlite3_stmt *insert, int keys, const struct rows *rows, const uint32_t *of)
{
    bool good = true;
    for (uint32_t i = 0; i < rows->count; i++)
        writer->place[i] = (struct place){writer->context[of ? of[i] : i], i};
    qsort(writer->place, rows->count, sizeof *writer->place, by_context);
    for (uint32_t i = 0; good && i < rows->count; i++) {
        const struct row *row = &rows->row[writer->place[i].row];
        sqlite3_bind_int64(insert, keys, writer->place[i].context);
        for (int metric = 0; metric < METRIC_COLUMNS; metric++) {
            statement_real(insert, keys + 1 + 2 * metric, metric_value(rows, row->inclusive, (enum metric)metric));
            statement_real(insert, keys + 2 + 2 * metric, metric_value(rows, row->exclusive, (enum metric)metric));
        }
        good = statement_do(writer->database, insert);
    }
    return good;
}

static bool write_sum(struct writer *writer)
{
    sqlite3_stmt *insert = insert_into(writer->database, "metric", 2);
    if (insert)
        sqlite3_bind_int64(insert, 1, writer->trial);
    bool good = insert && write_rows(writer, insert, 2, writer->rows, NULL);
    sqlite3_finalize(insert);
    return good;
}

static void bind_number(sqlite3_stmt *statement, int place, bool known, int64_t number)
{
    if (known)
        sqlite3_bind_int64(statement, place, number);
    else
        sqlite3_bind_null(statement, place);
}

static bool write_location(struct writer *writer, sqlite3_stmt *insert, size_t number, const struct location *location)
{
    static const char *const kinds[] = {[LOCATION_ALL] = "all", [LOCATION_PROCESS] = "process", [LOCATION_THREAD] = "thread"};
    sqlite3_bind_int64(insert, 1, writer->trial);
    sqlite3_bind_int64(insert, 2, (int64_t)number);
    sqlite3_bind_text(insert, 3, kinds[location->kind], -1, SQLITE_STATIC);
    bind_number(insert, 4, location->ranked, location->rank);
    bind_number(insert, 5, location->thread != LOCATION_NO_THREAD, (int64_t)location->thread);
    statement_text(insert, 6, location->host);
    bind_number(insert, 7, location->pid, location->pid);
    return statement_do(writer->database, insert);
}

static bool write_location_rows(struct writer *writer, sqlite3_stmt *insert, struct locations *locations, size_t index)
{
    struct location_rows read;
    if (!locations_read(locations, index, &read)) {
        snprintf(writer->database->why, sizeof writer->database->why, "%s; nothing was changed", locations->refusal);
        return false;
    }
    sqlite3_bind_int64(insert, 1, writer->trial);
    sqlite3_bind_int64(insert, 2, (int64_t)index);
    bool good = write_rows(writer, insert, 3, read.rows, read.of);
    location_rows_free(&read);
    return good;
}

static bool write_locations(struct writer *writer, struct locations *locations)
{
    sqlite3_stmt *insert = statement_new(writer->database, "INSERT INTO location(trial, number, kind, rank, thread, host, pid) VALUES (?,?,?,?,?,?,?)");
    sqlite3_stmt *rows = insert_into(writer->database, "location_metric", 3);
    bool good = insert && rows;
    for (size_t i = 0; good && i < locations->count; i++) {
        good = write_location(writer, insert, i, &locations->location[i]);
        if (good && locations->location[i].kind != LOCATION_ALL)
            good = write_location_rows(writer, rows, locations, i);
    }
    sqlite3_finalize(insert);
    sqlite3_finalize(rows);
    return good;
}

bool metrics_write(struct database *database, long long trial, const struct trial_input *input)
{
    struct writer writer = {database, trial, input->rows, memory_array(input->rows->count, sizeof *writer.context),
                            memory_array(input->rows->count, sizeof *writer.place)};
    bool good = write_contexts(&writer) && write_sum(&writer) && (!input->locations || write_locations(&writer, input->locations));
    free(writer.context);
    free(writer.place);
    return good;
}
