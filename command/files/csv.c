#include "command/files/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings/findings.h"
#include "command/profile/profile.h"
#include "command/rows/error.h"
#include "command/rows/row.h"
#include "command/tables/balance.h"
#include "command/tables/culprits.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/ranks.h"
#include "command/tables/spreads.h"
#include "command/tables/threads.h"
#include "command/tables/waits.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define END_OF_LINE "\r\n"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void csv_number(FILE *out, double value)
{
    putc(',', out);
    format_csv_number(out, value);
}

static void csv_seconds(FILE *out, double ns)
{
    csv_number(out, ns * 1e-9);
}

static void csv_field(FILE *out, const char *text)
{
    putc(',', out);
    format_csv_text(out, text);
}

/* Writes a time in s. The field is empty if the time is unknown. */
static void csv_seconds_if(FILE *out, bool known, double ns)
{
    if (known)
        csv_seconds(out, ns);
    else
        putc(',', out);
}

/* ---- phases.csv ---- */

static void csv_parts(FILE *out, const struct rows *rows, const struct phase_entry *entry, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        csv_number(out, metric_value(rows, &entry->inclusive, metric_parts[i]));
        csv_number(out, metric_value(rows, &entry->exclusive, metric_parts[i]));
    }
}

static void csv_part_titles(FILE *out, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        fprintf(out, ",%1$s (I),%1$s (E)", metric_title(metric_parts[i]));
}

static void csv_phase(FILE *out, const struct rows *rows, const struct phase_table *table,
                      const struct phase_entry *entry)
{
    const struct profile_probe *probe = &entry->probe;
    uint64_t start = table->profile->header.start_ns;
    format_csv_text(out, phase_name(table, entry->name));
    if (entry->is == PHASE_NUMBERED)
        fprintf(out, ",%lld,", (long long)entry->instance);
    else
        fputs(entry->is == PHASE_OTHERS ? ",others," : ",,", out);
    if (entry->thread == PHASE_THREAD_MANY)
        putc('*', out);
    else if (entry->thread != PHASE_THREAD_NONE)
        fprintf(out, "%u", entry->thread);
    if (probe->calls) {
        csv_number(out, (double)(int64_t)(probe->first_begin_ns - start) * 1e-9);
        csv_number(out, entry->exact_ns * 1e-9);
        fprintf(out, ",%llu", (unsigned long long)probe->calls);
        csv_number(out, probe->shortest_ns * 1e-9);
        csv_number(out, probe->longest_ns * 1e-9);
        csv_number(out, phase_mean_s(probe));
        csv_number(out, phase_deviation_s(probe));
    } else {
        fputs(",,,0,,,,", out);
    }
    fprintf(out, ",%llu,%llu", (unsigned long long)entry->inclusive.samples,
            (unsigned long long)entry->exclusive.samples);
    csv_parts(out, rows, entry, 0, METRIC_ALWAYS_PARTS);
    csv_number(out, metric_of_order(rows, &entry->inclusive, METRIC_IDLENESS, rows_whole(rows)));
    csv_number(out, metric_of_order(rows, &entry->inclusive, METRIC_IDLENESS, &entry->inclusive));
    for (size_t i = 0; i < table->profile->counter_count; i++)
        if (entry->name && probe->calls)
            csv_number(out, entry->counters.value[i]);
        else
            putc(',', out);
    csv_parts(out, rows, entry, METRIC_ALWAYS_PARTS, METRIC_PARTS);
    fputs(END_OF_LINE, out);
}

void write_phases_csv(FILE *out, const struct rows *rows, const struct phase_table *table)
{
    fputs("phase,instance,thread,begin,seconds,calls,min,max,mean,deviation,samples (I),samples (E)", out);
    csv_part_titles(out, 0, METRIC_ALWAYS_PARTS);
    fputs(",absolute idleness,relative idleness", out);
    for (size_t i = 0; i < table->profile->counter_count; i++) {
        csv_field(out, table->profile->counter_name[i]);
    }
    csv_part_titles(out, METRIC_ALWAYS_PARTS, METRIC_PARTS);
    fputs(END_OF_LINE, out);
    for (size_t i = 0; i < table->count; i++)
        csv_phase(out, rows, table, &table->entry[i]);
}

/* ---- ranks.csv of a job ---- */

static void csv_rank_seconds(FILE *out, const struct profile_rank *rank, double ns)
{
    csv_seconds_if(out, rank_counts(rank), ns);
}

/* Writes a rank's waiting, in s. The field is empty if it is unknown for how long ranks waited for one
 * another. */
static void csv_rank_wait(FILE *out, const struct profile_rank *rank, double ns)
{
    csv_seconds_if(out, rank->ranks_seen && rank_counts(rank), ns);
}

void write_ranks_csv(FILE *out, const struct profile *profile)
{
    fputs("rank,host,threads,wall_s,work,idleness,overhead,lock_wait,mpi_wait,no_core,rank_idleness,"
          "made_others_wait_s,blocked,process,state,why,cores,binding,ranks_seen" END_OF_LINE,
          out);
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        if (rank->rank != PROFILE_RANK_UNKNOWN)
            fprintf(out, "%u", rank->rank);
        csv_field(out, rank->host);
        if (rank_counts(rank))
            fprintf(out, ",%u", rank->threads);
        else
            putc(',', out);
        csv_rank_seconds(out, rank, (double)(int64_t)(rank->end_ns - rank->begin_ns));
        csv_rank_seconds(out, rank, rank->work);
        csv_rank_seconds(out, rank, rank->idle);
        csv_rank_seconds(out, rank, rank->overhead);
        csv_rank_seconds(out, rank, rank->lock_wait);
        csv_rank_seconds(out, rank, rank->mpi_wait);
        csv_rank_seconds(out, rank, rank->no_core);
        csv_rank_wait(out, rank, rank->rank_idle);
        csv_rank_wait(out, rank, rank->made_wait);
        csv_rank_seconds(out, rank, rank->blocked);
        fprintf(out, ",%u,%s,", rank->process, rank_state_name(rank));
        format_csv_text(out, rank->why);
        if (rank_counts(rank))
            fprintf(out, ",%u,", rank->cores);
        else
            fputs(",,", out);
        format_csv_text(out, rank->binding);
        if (rank_counts(rank))
            fprintf(out, ",%u" END_OF_LINE, (unsigned)rank->ranks_seen);
        else
            fputs("," END_OF_LINE, out);
    }
}

/* ---- spread.csv of a job ---- */

static void csv_spread(FILE *out, const struct rows *rows, const struct spread_entry *entry)
{
    fprintf(out, "%u,", entry->row);
    format_csv_text(out, rows->row[entry->row].label->name);
    fprintf(out, ",%s (%s),%u", spread_metric_name[entry->metric], entry->exclusive ? "E" : "I", entry->ranks);
    csv_seconds(out, entry->mean);
    csv_seconds(out, entry->deviation);
    csv_seconds(out, entry->least);
    fprintf(out, ",%s", entry->least_rank);
    csv_seconds(out, entry->most);
    fprintf(out, ",%s" END_OF_LINE, entry->most_rank);
}

void write_spread_csv(FILE *out, const struct profile *profile, const struct rows *rows)
{
    struct spread_entry entry;
    fputs("id,name,metric,ranks,mean,deviation,min,min_rank,max,max_rank" END_OF_LINE, out);
    for (size_t i = 0; i < rows->spread_count; i++)
        for (int metric = 0; metric < PROFILE_SPREAD_METRICS; metric++)
            for (int exclusive = 0; exclusive < 2; exclusive++)
                if (spread_of_row(profile, rows, rows->spread[i].row, (enum profile_spread_metric)metric,
                                  exclusive == 1, &entry))
                    csv_spread(out, rows, &entry);
}

/* ---- balance.csv of a job ---- */

static void csv_balance(FILE *out, const struct rows *rows, const struct balance_entry *entry)
{
    const struct profile_balance *balance = &entry->balance;
    bool call = entry->key == PROFILE_BALANCE_CALL, code = entry->key == PROFILE_BALANCE_CONTEXT;
    fprintf(out, "%s,", balance_kind(entry));
    if (entry->row != ROW_NONE)
        fprintf(out, "%u", entry->row);
    csv_field(out, entry->row != ROW_NONE ? rows->row[entry->row].label->name : balance_name(entry));
    csv_seconds(out, balance->charged);
    if (balance->most > 0)
        fprintf(out, ",%u", balance->most_rank);
    else
        putc(',', out);
    csv_seconds_if(out, balance->most > 0, balance->most);
    csv_seconds_if(out, call, balance->common);
    csv_seconds_if(out, code, balance->time);
    csv_seconds_if(out, code, balance->mean);
    fputs(END_OF_LINE, out);
}

void write_balance_csv(FILE *out, const struct profile *profile, const struct rows *rows)
{
    struct balance_table *table = balance_gather(profile, rows);
    fputs("kind,id,name,charged,rank,of_rank,common,time,mean" END_OF_LINE, out);
    for (size_t i = 0; i < table->count; i++)
        csv_balance(out, rows, &table->entry[i]);
    for (size_t i = 0; i < table->rank_count; i++) {
        fputs("rank,,", out);
        csv_seconds(out, table->rank[i]->charged);
        fprintf(out, ",%u", table->rank[i]->rank);
        csv_seconds(out, table->rank[i]->charged);
        fputs(",,," END_OF_LINE, out);
    }
    balance_free(table);
}

/* ---- timeline.csv, culprits.csv ---- */

/* Writes the start and the end of a bin, in s since the start of the process. */
static void csv_bin_times(FILE *out, const struct profile *profile, uint64_t width_ns, uint32_t bin)
{
    double begin_ns =
        (double)(int64_t)(profile->timeline.origin_ns - profile->header.start_ns) + (double)width_ns * bin;
    format_csv_number(out, begin_ns * 1e-9);
    csv_seconds(out, (begin_ns + (double)width_ns));
}

static void csv_bin(FILE *out, const struct profile *profile, const struct timeline_lane *lane, uint32_t bin)
{
    const double *ns = lane->ns[bin];
    const double values[] = {ns[PROFILE_TIME_WORK],
                             ns[PROFILE_TIME_OVERHEAD],
                             ns[PROFILE_TIME_IDLE],
                             ns[PROFILE_TIME_LOCK_WAIT],
                             ns[PROFILE_TIME_MPI_WAIT],
                             ns[PROFILE_TIME_NO_CORE],
                             ns[PROFILE_TIME_BLOCKED] + ns[PROFILE_TIME_STOPPED],
                             ns[PROFILE_TIME_STOPPED]};
    double sum = 0;
    for (size_t i = 0; i < PROFILE_TIME_STATES; i++)
        sum += ns[i];
    if (!(sum > 0))
        return;
    if (lane->rank_record)
        fprintf(out, "%u", lane->rank);
    else if (profile->header.in_job)
        fprintf(out, "%u", profile->header.rank);
    putc(',', out);
    if (!lane->rank_record || profile->timeline.level == TIMELINE_THREADS)
        fprintf(out, "%u", lane->thread);
    putc(',', out);
    csv_bin_times(out, profile, profile->timeline.lane_bin_ns, bin);
    for (size_t i = 0; i < COUNT(values); i++)
        csv_seconds(out, values[i]);
    fputs(END_OF_LINE, out);
}

void write_timeline_csv(FILE *out, const struct profile *profile)
{
    fputs("rank,thread,begin_s,end_s,work,overhead,idle,lock_wait,mpi_wait,no_core,blocked,stopped" END_OF_LINE, out);
    for (size_t i = 0; i < profile->timeline.lane_count; i++)
        for (uint32_t bin = 0; bin < profile->timeline.lane_bins; bin++)
            csv_bin(out, profile, &profile->timeline.lanes[i], bin);
}

void write_culprits_csv(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct culprits *culprits)
{
    fputs("begin_s,end_s,id,name,idleness,lock_wait" END_OF_LINE, out);
    for (size_t i = 0; i < culprits->count; i++) {
        const struct culprit *culprit = &culprits->culprit[i];
        for (size_t n = 0; n < culprit->count; n++) {
            const struct culprit_bin *bin = &culprits->bin[culprit->first + n];
            if (bin->idleness == 0 && bin->lock_wait == 0)
                continue;
            csv_bin_times(out, profile, profile->timeline.bin_ns, bin->bin);
            fprintf(out, ",%u,", culprit->row);
            format_csv_text(out, rows->row[culprit->row].label->name);
            csv_number(out, bin->idleness);
            csv_number(out, bin->lock_wait);
            fputs(END_OF_LINE, out);
        }
    }
}

/* ---- profile.csv, threads.csv, locks.csv, waits.csv, findings.csv ---- */

/* A buffer of some thousand lines, which is written to the stream when it is full. */
struct lines {
    FILE *out;
    size_t used;
    char bytes[1 << 16];
};

static void csv_lines_flush(struct lines *lines)
{
    fwrite(lines->bytes, 1, lines->used, lines->out);
    lines->used = 0;
}

/* Returns where the next `most` bytes may be written. Call csv_lines_advance() after writing them. */
static char *csv_lines_room_for(struct lines *lines, size_t most)
{
    if (sizeof lines->bytes - lines->used < most)
        csv_lines_flush(lines);
    return lines->bytes + lines->used;
}

static void csv_lines_advance(struct lines *lines, const char *end)
{
    lines->used = (size_t)(end - lines->bytes);
}

static void csv_lines_text(struct lines *lines, const char *text)
{
    size_t bytes = strlen(text);
    if (bytes < 4096 && format_csv_plain(text)) {
        memcpy(csv_lines_room_for(lines, bytes), text, bytes);
        lines->used += bytes;
        return;
    }
    csv_lines_flush(lines);
    format_csv_text(lines->out, text);
}

static void csv_lines_label(struct lines *lines, const struct rows *rows, size_t index)
{
    const struct row *row = &rows->row[index];
    char *at = format_integer(csv_lines_room_for(lines, 4 * FORMAT_NUMBER_BYTES), index);
    *at++ = ',';
    if (row->parent != ROW_NONE)
        at = format_integer(at, row->parent);
    *at++ = ',';
    at = format_integer(at, row->depth);
    *at++ = ',';
    at = stpcpy(at, row_kind_name[row->kind]);
    *at++ = ',';
    csv_lines_advance(lines, at);
    const char *const texts[] = {row->label->name, row->label->module, row->label->file};
    for (size_t i = 0; i < COUNT(texts); i++) {
        csv_lines_text(lines, texts[i]);
        *csv_lines_room_for(lines, 1) = ',';
        lines->used++;
    }
}

static char *csv_lines_put_int(char *at, int value)
{
    if (value < 0)
        *at++ = '-';
    return format_integer(at, value < 0 ? (uint64_t)-(int64_t)value : (uint64_t)value);
}

/* Writes the columns of counters and exact times, which only some profiles have. */
static char *csv_lines_put_extra(char *at, const struct rows *rows, const struct row *row)
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

static char *csv_lines_value(char *at, const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    *at++ = ',';
    return metric == METRIC_SAMPLES ? format_integer(at, sums->samples)
                                    : format_micro(at, metric_value(rows, sums, metric));
}

static char *csv_lines_columns(char *at, const struct rows *rows, const struct row *row, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        at = csv_lines_value(at, rows, row->inclusive, metric_columns[i]);
        at = csv_lines_value(at, rows, row->exclusive, metric_columns[i]);
    }
    return at;
}

static char *csv_lines_errors(char *at, const struct rows *rows, const struct row *row)
{
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        *at++ = ',';
        at = format_micro(at, metric_error(rows, row->inclusive, metric_columns[i]));
        *at++ = ',';
        at = format_micro(at, metric_error(rows, row->exclusive, metric_columns[i]));
    }
    return at;
}

static void csv_lines_row(struct lines *lines, const struct rows *rows, size_t index, bool errors)
{
    const struct row *row = &rows->row[index];
    csv_lines_label(lines, rows, index);
    char *at = csv_lines_room_for(lines, (2 + 4 * METRIC_COLUMNS + 2 * METRIC_ALWAYS_PARTS + 3 + 2 * PROFILE_COUNTERS) *
                                             FORMAT_NUMBER_BYTES);
    at = csv_lines_put_int(at, row->label->line);
    *at++ = ',';
    at = csv_lines_put_int(at, row->call_line);
    at = csv_lines_columns(at, rows, row, 0, METRIC_FIRST_COLUMNS);
    for (size_t i = 0; i < METRIC_ALWAYS_PARTS; i++) {
        *at++ = ',';
        at = format_micro(at, metric_of_order(rows, row->inclusive, metric_parts[i], rows_whole(rows)));
        *at++ = ',';
        at = format_micro(at, metric_of_order(rows, row->inclusive, metric_parts[i], row->inclusive));
    }
    at = csv_lines_columns(csv_lines_put_extra(at, rows, row), rows, row, METRIC_FIRST_COLUMNS, METRIC_COLUMNS);
    csv_lines_advance(lines, stpcpy(errors ? csv_lines_errors(at, rows, row) : at, END_OF_LINE));
}

static void csv_counter_title(FILE *out, const char *name, const char *which)
{
    char *title = memory_text("%s (%s)", name, which);
    csv_field(out, title);
    free(title);
}

static void csv_titles(FILE *out, const char *sign, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        fprintf(out, ",%1$s (I)%2$s,%1$s (E)%2$s", metric_title(metric_columns[i]), sign);
}

void write_profile_csv(FILE *out, const struct rows *rows, bool errors)
{
    fputs("id,parent,depth,kind,name,module,file,line,call_line", out);
    csv_titles(out, "", 0, METRIC_FIRST_COLUMNS);
    for (size_t i = 0; i < METRIC_ALWAYS_PARTS; i++)
        fprintf(out, ",absolute %1$s,relative %1$s", metric_title(metric_parts[i]));
    if (rows->probed)
        fputs(",calls,exact (I),exact (E)", out);
    for (size_t i = 0; i < rows->counter_count; i++) {
        csv_counter_title(out, rows->counter_name[i], "I");
        csv_counter_title(out, rows->counter_name[i], "E");
    }
    csv_titles(out, "", METRIC_FIRST_COLUMNS, METRIC_COLUMNS);
    if (errors)
        csv_titles(out, " \xc2\xb1", 0, METRIC_COLUMNS);
    fputs(END_OF_LINE, out);
    struct lines lines;
    lines.out = out;
    lines.used = 0;
    for (size_t i = 0; i < rows->count; i++)
        csv_lines_row(&lines, rows, i, errors);
    csv_lines_flush(&lines);
}

static void csv_rank(FILE *out, const struct profile *profile, const struct profile_thread *thread)
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
    for (size_t position = 0; position < profile->thread_count; position++) {
        size_t i = order ? order[position] : position;
        const struct profile_thread *thread = &profile->threads[i];
        /* subtracted before the conversion, because a double cannot represent every absolute time */
        uint64_t start = profile->header.start_ns;
        const double seconds[] = {(double)(int64_t)(thread->begin_ns - start),
                                  (double)(int64_t)(profile_thread_end_ns(thread) - start)};
        const double sums[] = {thread->work,    thread->idle,    thread->overhead, thread->lock_wait, thread->parked,
                               thread->no_core, thread->blocked, thread->stolen,   thread->mpi_wait};
        fprintf(out, "%zu,%s", i, thread_kind_name(thread));
        for (size_t s = 0; s < COUNT(seconds); s++)
            csv_seconds(out, seconds[s]);
        fprintf(out, ",%llu", (unsigned long long)thread->recorded);
        for (size_t s = 0; s < COUNT(sums); s++)
            csv_seconds(out, sums[s]);
        if (profile->rank_count)
            csv_rank(out, profile, thread);
        fputs(END_OF_LINE, out);
    }
}

/* Writes the path of a context, its seconds and the id of its row in profile.csv. Writes three empty fields
 * if there is no context. */
static void csv_lock_context(FILE *out, const struct rows *rows, uint32_t row, double wait_ns)
{
    if (row == ROW_NONE) {
        fputs(",,,", out);
        return;
    }
    char *path = lock_table_context_path(rows, row);
    csv_field(out, path);
    csv_seconds(out, wait_ns);
    fprintf(out, ",%u", row);
    free(path);
}

static void csv_lock(FILE *out, const struct lock_table *table, const struct lock_entry *lock)
{
    const struct rows *rows = table->rows;
    const struct lock_context *holder = lock->context_count ? &table->context[lock->first_context] : NULL;
    fprintf(out, "0x%llx,%s,", (unsigned long long)lock->wait_id, lock_kind_name[lock->kind]);
    format_csv_text(out, lock->symbol);
    csv_seconds(out, lock->wait_ns);
    fprintf(out, ",%llu,%u,", (unsigned long long)lock->contended, lock->context_count);
    format_csv_text(out, lock->name);
    csv_seconds(out, lock->longest_ns);
    csv_lock_context(out, rows, holder ? holder->row : ROW_NONE, holder ? holder->wait_ns : 0);
    csv_lock_context(out, rows, lock->waiter, lock->waiter_ns);
    csv_field(out, lock->initialiser);
    fprintf(out, ",%u" END_OF_LINE, lock->initialisers);
}

void write_locks_csv(FILE *out, const struct lock_table *table)
{
    fputs("lock,kind,symbol,wait,acquisitions_contended,blamed_contexts,name,longest_wait,"
          "holder,holder_wait,holder_id,waiter,waiter_wait,waiter_id,initialiser,initialisers" END_OF_LINE,
          out);
    for (size_t i = 0; i < table->count; i++)
        csv_lock(out, table, &table->lock[i]);
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
        csv_field(out, place->function);
        csv_field(out, place->file);
        fprintf(out, ",%d,%d,%u,", place->line, place->in_region, pair->row);
        format_csv_text(out, rows->row[pair->row].label->name);
        csv_seconds(out, pair->ns);
        fprintf(out, ",%s" END_OF_LINE, place->call);
    }
}

static void csv_wake_end(FILE *out, const struct wake_end *end)
{
    fprintf(out, ",%u", end->row);
    csv_field(out, end->function);
    csv_field(out, end->file);
    fprintf(out, ",%d", end->line);
}

void write_wakes_csv(FILE *out, const struct wake_table *table)
{
    fputs("kind,seconds,waits,waiter,waiter_function,waiter_file,waiter_line,waker,waker_function,waker_file,waker_"
          "line" END_OF_LINE,
          out);
    for (size_t i = 0; i < table->count; i++) {
        const struct wake_pair *pair = &table->pair[i];
        fputs(wake_name[pair->wake], out);
        csv_seconds(out, pair->ns);
        fprintf(out, ",%.0f", pair->waits);
        csv_wake_end(out, &pair->waiter);
        csv_wake_end(out, &pair->waker);
        fputs(END_OF_LINE, out);
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
        for (size_t n = 0; n < COUNT(numbers); n++)
            csv_number(out, numbers[n]);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            csv_field(out, texts[t]);
        }
        putc(',', out);
        if (finding->sampled)
            format_csv_number(out, finding->error);
        fputs(END_OF_LINE, out);
    }
}
