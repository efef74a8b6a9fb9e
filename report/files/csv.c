#include "report/files/csv.h"

#include <stdlib.h>
#include <string.h>

#include "report/rows/error.h"
#include "report/tables/threads.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define END_OF_LINE "\r\n"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Lines on their way to a stream, which takes thousands at a time. */
struct lines {
    FILE *out;
    size_t used;
    char bytes[1 << 16];
};

static void flush(struct lines *lines)
{
    fwrite(lines->bytes, 1, lines->used, lines->out);
    lines->used = 0;
}

/* Where the next `most` bytes may be written; advance() takes them. */
static char *room_for(struct lines *lines, size_t most)
{
    if (sizeof lines->bytes - lines->used < most)
        flush(lines);
    return lines->bytes + lines->used;
}

static void advance(struct lines *lines, const char *end)
{
    lines->used = (size_t)(end - lines->bytes);
}

static void put_text(struct lines *lines, const char *text)
{
    size_t bytes = strlen(text);
    if (bytes < 4096 && format_csv_plain(text)) {
        memcpy(room_for(lines, bytes), text, bytes);
        lines->used += bytes;
        return;
    }
    flush(lines);
    format_csv_text(lines->out, text);
}

static void put_label(struct lines *lines, const struct rows *rows, size_t index)
{
    const struct row *row = &rows->row[index];
    char *at = format_integer(room_for(lines, 4 * FORMAT_NUMBER_BYTES), index);
    *at++ = ',';
    if (row->parent != ROW_NONE)
        at = format_integer(at, row->parent);
    *at++ = ',';
    at = format_integer(at, row->depth);
    *at++ = ',';
    at = stpcpy(at, row_kind_name[row->kind]);
    *at++ = ',';
    advance(lines, at);
    const char *const texts[] = {row->label->name, row->label->module, row->label->file};
    for (size_t i = 0; i < COUNT(texts); i++) {
        put_text(lines, texts[i]);
        *room_for(lines, 1) = ',';
        lines->used++;
    }
}

static char *put_int(char *at, int value)
{
    if (value < 0)
        *at++ = '-';
    return format_integer(at, value < 0 ? (uint64_t) - (int64_t)value : (uint64_t)value);
}

/* Columns that only some profiles have. */
static char *put_extra(char *at, const struct rows *rows, const struct row *row)
{
    static const struct row_extra nothing;
    const struct row_extra *extra = row->extra ? row->extra : &nothing;
    if (rows->probed && row_is_probe(row) && extra->probe.calls) {
        *at++ = ',';
        at = format_integer(at, extra->probe.calls);
        *at++ = ',';
        at = format_micro(at, extra->probe.inclusive_ns * 1e-9);
        *at++ = ',';
        at = format_micro(at, extra->probe.exclusive_ns * 1e-9);
    } else if (rows->probed) {
        at = stpcpy(at, ",,,");
    }
    for (size_t i = 0; i < rows->counter_count; i++) {
        *at++ = ',';
        at = format_micro(at, extra->inclusive.value[i]);
        *at++ = ',';
        at = format_micro(at, extra->exclusive.value[i]);
    }
    return at;
}

static char *put_value(char *at, const struct rows *rows, const struct profile_sums *sums,
                       enum metric metric)
{
    *at++ = ',';
    return metric == METRIC_SAMPLES ? format_integer(at, sums->samples)
                                    : format_micro(at, metric_value(rows, sums, metric));
}

static char *put_columns(char *at, const struct rows *rows, const struct row *row, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        at = put_value(at, rows, row->inclusive, metric_columns[i]);
        at = put_value(at, rows, row->exclusive, metric_columns[i]);
    }
    return at;
}

static char *put_errors(char *at, const struct rows *rows, const struct row *row)
{
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        *at++ = ',';
        at = format_micro(at, metric_error(rows, row->inclusive, metric_columns[i]));
        *at++ = ',';
        at = format_micro(at, metric_error(rows, row->exclusive, metric_columns[i]));
    }
    return at;
}

static void put_row(struct lines *lines, const struct rows *rows, size_t index, bool errors)
{
    const struct row *row = &rows->row[index];
    put_label(lines, rows, index);
    char *at = room_for(lines, (2 + 4 * METRIC_COLUMNS + 2 * METRIC_ALWAYS_PARTS + 3 + 2 * PROFILE_COUNTERS) *
                                   FORMAT_NUMBER_BYTES);
    at = put_int(at, row->label->line);
    *at++ = ',';
    at = put_int(at, row->call_line);
    at = put_columns(at, rows, row, 0, METRIC_FIRST_COLUMNS);
    for (size_t i = 0; i < METRIC_ALWAYS_PARTS; i++) {
        *at++ = ',';
        at = format_micro(at, metric_of_order(rows, row->inclusive, metric_parts[i], rows_whole(rows)));
        *at++ = ',';
        at = format_micro(at, metric_of_order(rows, row->inclusive, metric_parts[i], row->inclusive));
    }
    at = put_columns(put_extra(at, rows, row), rows, row, METRIC_FIRST_COLUMNS, METRIC_COLUMNS);
    advance(lines, stpcpy(errors ? put_errors(at, rows, row) : at, END_OF_LINE));
}

static void put_counter_title(FILE *out, const char *name, const char *which)
{
    char *title = memory_text("%s (%s)", name, which);
    putc(',', out);
    format_csv_text(out, title);
    free(title);
}

static void put_titles(FILE *out, const char *sign, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        fprintf(out, ",%1$s (I)%2$s,%1$s (E)%2$s", metric_title(metric_columns[i]), sign);
}

void write_profile_csv(FILE *out, const struct rows *rows, bool errors)
{
    fputs("id,parent,depth,kind,name,module,file,line,call_line", out);
    put_titles(out, "", 0, METRIC_FIRST_COLUMNS);
    for (size_t i = 0; i < METRIC_ALWAYS_PARTS; i++)
        fprintf(out, ",absolute %1$s,relative %1$s", metric_title(metric_parts[i]));
    if (rows->probed)
        fputs(",calls,exact (I),exact (E)", out);
    for (size_t i = 0; i < rows->counter_count; i++) {
        put_counter_title(out, rows->counter_name[i], "I");
        put_counter_title(out, rows->counter_name[i], "E");
    }
    put_titles(out, "", METRIC_FIRST_COLUMNS, METRIC_COLUMNS);
    if (errors)
        put_titles(out, " \xc2\xb1", 0, METRIC_COLUMNS);
    fputs(END_OF_LINE, out);
    struct lines lines;
    lines.out = out;
    lines.used = 0;
    for (size_t i = 0; i < rows->count; i++)
        put_row(&lines, rows, i, errors);
    flush(&lines);
}

static void put_rank(FILE *out, const struct profile *profile, const struct profile_thread *thread)
{
    uint64_t record = thread->rank_record;
    putc(',', out);
    if (record && record <= profile->rank_count)
        fprintf(out, "%u", profile->ranks[record - 1].rank);
}

void write_threads_csv(FILE *out, const struct profile *profile, const size_t *order)
{
    fprintf(out,
            "thread,kind,begin_s,end_s,samples,work,idle,overhead,lock_wait,parked,no_core,blocked,"
            "stolen,mpi_wait%s" END_OF_LINE,
            profile->rank_count ? ",rank" : "");
    for (size_t place = 0; place < profile->thread_count; place++) {
        size_t i = order ? order[place] : place;
        const struct profile_thread *thread = &profile->threads[i];
        uint64_t start =
            profile->header.start_ns; /* differences first: a double cannot hold every absolute time */
        const double seconds[] = {(double)(int64_t)(thread->begin_ns - start),
                                  (double)(int64_t)(thread_end_ns(thread) - start)};
        const double sums[] = {thread->work,   thread->idle,    thread->overhead, thread->lock_wait,
                               thread->parked, thread->no_core, thread->blocked,  thread->stolen,
                               thread->mpi_wait};
        fprintf(out, "%zu,%s", i, thread_kind_name(thread));
        for (size_t s = 0; s < COUNT(seconds); s++) {
            putc(',', out);
            format_csv_number(out, seconds[s] * 1e-9);
        }
        fprintf(out, ",%llu", (unsigned long long)thread->recorded);
        for (size_t s = 0; s < COUNT(sums); s++) {
            putc(',', out);
            format_csv_number(out, sums[s] * 1e-9);
        }
        if (profile->rank_count)
            put_rank(out, profile, thread);
        fputs(END_OF_LINE, out);
    }
}

/* A context as a path, its seconds, and its row's number in profile.csv; three empty fields for none. */
static void write_lock_context(FILE *out, const struct rows *rows, uint32_t row, double wait_ns)
{
    if (row == ROW_NONE) {
        fputs(",,,", out);
        return;
    }
    char *path = locks_context_path(rows, row);
    putc(',', out);
    format_csv_text(out, path);
    putc(',', out);
    format_csv_number(out, wait_ns * 1e-9);
    fprintf(out, ",%u", row);
    free(path);
}

static void write_lock(FILE *out, const struct lock_table *table, const struct lock_entry *lock)
{
    const struct rows *rows = table->rows;
    const struct lock_context *holder = lock->context_count ? &table->context[lock->first_context] : NULL;
    fprintf(out, "0x%llx,%s,", (unsigned long long)lock->wait_id, lock_kind_name[lock->kind]);
    format_csv_text(out, lock->symbol);
    putc(',', out);
    format_csv_number(out, lock->wait_ns * 1e-9);
    fprintf(out, ",%llu,%u,", (unsigned long long)lock->contended, lock->context_count);
    format_csv_text(out, lock->name);
    putc(',', out);
    format_csv_number(out, lock->longest_ns * 1e-9);
    write_lock_context(out, rows, holder ? holder->row : ROW_NONE, holder ? holder->wait_ns : 0);
    write_lock_context(out, rows, lock->waiter, lock->waiter_ns);
    putc(',', out);
    format_csv_text(out, lock->initialiser);
    fprintf(out, ",%u" END_OF_LINE, lock->initialisers);
}

void write_locks_csv(FILE *out, const struct lock_table *table)
{
    fputs("lock,kind,symbol,wait,acquisitions_contended,blamed_contexts,name,longest_wait,"
          "holder,holder_wait,holder_id,waiter,waiter_wait,waiter_id,initialiser,initialisers" END_OF_LINE,
          out);
    for (size_t i = 0; i < table->count; i++)
        write_lock(out, table, &table->lock[i]);
}

void write_waits_csv(FILE *out, const struct rows *rows, const struct wait_table *table)
{
    fputs("place,place_kind,place_function,place_file,place_line,in_region,context,context_name,"
          "seconds,place_call" END_OF_LINE,
          out);
    for (size_t i = 0; i < table->pair_count; i++) {
        const struct wait_pair *pair = &table->pair[i];
        const struct wait_place *place = &table->place[pair->place];
        fprintf(out, "%u,", pair->place);
        format_csv_text(out, wait_kind_name[place->kind]);
        putc(',', out);
        format_csv_text(out, place->function);
        putc(',', out);
        format_csv_text(out, place->file);
        fprintf(out, ",%d,%d,%u,", place->line, place->in_region, pair->row);
        format_csv_text(out, rows->row[pair->row].label->name);
        putc(',', out);
        format_csv_number(out, pair->ns * 1e-9);
        fprintf(out, ",%s" END_OF_LINE, place->call);
    }
}

void write_findings_csv(FILE *out, const struct findings *findings, double least)
{
    fputs("rule,context,metric,seconds,share,gain_s,title,evidence,advice,place,error" END_OF_LINE, out);
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        const char *const texts[] = {finding->title, finding->evidence, finding->advice, finding->place};
        const double numbers[] = {finding->seconds, finding->share, finding->gain_s};
        if (finding->share < least)
            continue;
        fprintf(out, "%s,", finding->rule);
        if (finding->row != ROW_NONE)
            fprintf(out, "%u", finding->row);
        fprintf(out, ",%s", metric_title(finding->metric));
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            putc(',', out);
            format_csv_number(out, numbers[n]);
        }
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            putc(',', out);
            format_csv_text(out, texts[t]);
        }
        putc(',', out);
        if (finding->sampled)
            format_csv_number(out, finding->error);
        fputs(END_OF_LINE, out);
    }
}
