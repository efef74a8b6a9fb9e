/* Writes the tables of ranks, threads, locks and findings into the page. */
#include <math.h>
#include <stdlib.h>

#include "command/html/page.h"
#include "command/profile/job.h"
#include "command/rows/metric.h"
#include "command/tables/ranks.h"
#include "command/tables/spreads.h"
#include "command/tables/threads.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

/* ---- how rows differ between ranks ---- */

struct shown {
    uint32_t row, page_row;
    double deviation;
};

struct spreads {
    struct shown *shown; /* rows whose differences are shown, sorted by their number in the page */
    size_t count;
};

static int page_spreads_compare_deviations(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;
    return a->deviation != b->deviation ? (a->deviation < b->deviation ? 1 : -1)
                                        : (a->row > b->row) - (a->row < b->row);
}

static int page_spreads_compare_rows(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;
    return (a->page_row > b->page_row) - (a->page_row < b->page_row);
}

/* Returns the rows of the page whose time differs most between ranks. */
static struct spreads page_spreads_gather(const struct page *page)
{
    const struct rows *rows = page->input->rows;
    struct spreads made = {.shown = memory_array(rows->spread_count, sizeof *made.shown)};
    for (size_t i = 0; i < rows->spread_count; i++) {
        uint32_t row = rows->spread[i].row, page_row = page_tree_number(&page->tree, row);
        struct spread_entry entry;
        if (page_row != ROW_NONE && spread_of_row(page->input->profile, rows, row, PROFILE_SPREAD_TIME, false, &entry))
            made.shown[made.count++] = (struct shown){row, page_row, entry.deviation};
    }
    qsort(made.shown, made.count, sizeof *made.shown, page_spreads_compare_deviations);
    if (made.count > HTML_SPREADS)
        made.count = HTML_SPREADS;
    qsort(made.shown, made.count, sizeof *made.shown, page_spreads_compare_rows);
    return made;
}

enum { RANKS, MEAN, DEVIATION, LEAST, LEAST_RANK, MOST, MOST_RANK, SPREAD_COLUMNS };

static void page_spreads_put_value(struct page *page, const struct spread_entry *entry, int column)
{
    switch (column) {
    case RANKS:
        page_whole(page->out, entry->ranks);
        break;
    case LEAST_RANK:
        page_whole(page->out, page_string(page, entry->least_rank));
        break;
    case MOST_RANK:
        page_whole(page->out, page_string(page, entry->most_rank));
        break;
    default: {
        const double ns[SPREAD_COLUMNS] = {
            [MEAN] = entry->mean, [DEVIATION] = entry->deviation, [LEAST] = entry->least, [MOST] = entry->most};
        page_micro(page->out, ns[column] * 1e-9);
    }
    }
}

static void page_spreads_put_metric(struct page *page, const struct spreads *spreads, enum profile_spread_metric metric)
{
    static const char *const name[SPREAD_COLUMNS] = {"ranks",      "mean", "deviation", "least",
                                                     "least_rank", "most", "most_rank"};
    fprintf(page->out, "{\"key\":\"%s\"", spread_metric_name[metric]);
    for (int column = 0; column < SPREAD_COLUMNS; column++) {
        fprintf(page->out, ",\n\"%s\":[", name[column]);
        for (size_t i = 0; i < spreads->count; i++) {
            struct spread_entry entry = {.ranks = 0};
            spread_of_row(page->input->profile, page->input->rows, spreads->shown[i].row, metric, false, &entry);
            fputs(i ? "," : "", page->out);
            page_spreads_put_value(page, &entry, column);
        }
        putc(']', page->out);
    }
    putc('}', page->out);
}

void page_put_spreads(struct page *page)
{
    struct spreads spreads = page_spreads_gather(page);
    if (!spreads.count) {
        fputs("null", page->out);
        free(spreads.shown);
        return;
    }
    fprintf(page->out, "{\"of\":%zu,\n\"row\":[", job_ranks(page->input->profile));
    for (size_t i = 0; i < spreads.count; i++)
        fprintf(page->out, "%s%u", i ? "," : "", spreads.shown[i].page_row);
    fputs("],\n\"metrics\":[", page->out);
    for (int metric = 0; metric < PROFILE_SPREAD_METRICS; metric++) {
        fputs(metric ? ",\n" : "", page->out);
        page_spreads_put_metric(page, &spreads, (enum profile_spread_metric)metric);
    }
    fputs("]}", page->out);
    free(spreads.shown);
}

/* ---- the map of ranks ---- */

/* The map has a column for each rank, or for several consecutive ranks, and a row for each thread of a rank.
 * A cell shows a thread's share of its time in one state, written as two base-64 digits. */

#define NOBODY    4095 /* value of a cell without a thread: the largest number with two base-64 digits */
#define ALL       4094
#define LEAST_NS  1
#define NO_COLUMN SIZE_MAX

enum state { WORK, IDLE, OVERHEAD, LOCK_WAIT, NO_CORE, BLOCKED, MPI_WAIT, STATES };

static const enum metric state_metric[STATES] = {METRIC_WORK,    METRIC_IDLENESS, METRIC_OVERHEAD, METRIC_LOCK_WAIT,
                                                 METRIC_NO_CORE, METRIC_BLOCKED,  METRIC_MPI_WAIT};

/* A column of the map: one rank or several consecutive ranks. */
struct column {
    const struct profile_rank *first, *last;
    /* state of the first rank with a problem, and the reason; if no rank has a problem, those of the first
     * rank */
    const char *state, *why;
    uint64_t counted, threads, wall_ns;
    double ns[STATES];
    bool seen; /* whether rank_idle_ns and made_wait_ns are known for at least one of the ranks */
    double rank_idle_ns, made_wait_ns;
};

struct map {
    size_t each; /* number of ranks that one column shows */
    size_t column_count, row_count;
    struct column *column;
    /* ns in each state; the cell of a column and row has the index column * row_count + row */
    double (*cell)[STATES];
};

static void page_rank_map_states(const struct profile_thread *thread, double ns[STATES])
{
    ns[WORK] = thread->work;
    ns[IDLE] = thread->idle;
    ns[OVERHEAD] = thread->overhead;
    ns[LOCK_WAIT] = thread->lock_wait;
    ns[NO_CORE] = thread->no_core;
    ns[BLOCKED] = thread->blocked;
    ns[MPI_WAIT] = thread->mpi_wait;
}

static void page_rank_map_add_rank(struct column *column, const struct profile_rank *rank)
{
    bool first = !column->first, good = rank->state == PROFILE_RANK_WHOLE;
    uint64_t wall_ns = rank->end_ns > rank->begin_ns ? rank->end_ns - rank->begin_ns : 0;
    if (first)
        column->first = rank;
    column->last = rank;
    if (first || (!good && !*column->why)) {
        column->state = rank_state_name(rank);
        column->why = rank->why;
    }
    if (!rank_counts(rank))
        return;
    column->counted++;
    column->seen |= rank->ranks_seen > 0;
    column->rank_idle_ns += rank->rank_idle;
    column->made_wait_ns += rank->made_wait;
    column->threads += rank->threads;
    column->wall_ns = wall_ns > column->wall_ns ? wall_ns : column->wall_ns;
}

/* Numbers the threads of each rank in order of their start. Returns the largest number of threads that a rank
 * has. */
static size_t page_rank_map_number_threads(const struct profile *profile, size_t *number)
{
    size_t *count = memory_array(profile->rank_count, sizeof *count), most = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        uint64_t record = profile->threads[i].rank_record;
        number[i] = record && record <= profile->rank_count ? count[record - 1]++ : NO_COLUMN;
        if (number[i] != NO_COLUMN && number[i] >= most)
            most = number[i] + 1;
    }
    free(count);
    return most;
}

static void page_rank_map_add_thread(struct map *map, const struct profile_thread *thread, size_t row)
{
    double ns[STATES];
    size_t column = (size_t)(thread->rank_record - 1) / map->each;
    page_rank_map_states(thread, ns);
    for (int state = 0; state < STATES; state++) {
        map->column[column].ns[state] += ns[state];
        if (row < map->row_count)
            map->cell[column * map->row_count + row][state] += fmax(0, ns[state]);
    }
}

static void page_rank_map_make(struct map *map, const struct profile *profile)
{
    size_t *number = memory_array(profile->thread_count, sizeof *number);
    size_t threads = page_rank_map_number_threads(profile, number);
    map->row_count = threads < HTML_MAP_THREADS ? threads : HTML_MAP_THREADS;
    size_t most = map->row_count ? HTML_MAP_CELLS / map->row_count : HTML_MAP_RANKS;
    most = most < HTML_MAP_RANKS ? most : HTML_MAP_RANKS;
    map->each = (profile->rank_count + most - 1) / most;
    map->column_count = (profile->rank_count + map->each - 1) / map->each;
    map->column = memory_array(map->column_count, sizeof *map->column);
    map->cell = memory_array(map->column_count * map->row_count, sizeof *map->cell);
    for (size_t i = 0; i < profile->rank_count; i++)
        page_rank_map_add_rank(&map->column[i / map->each], &profile->ranks[i]);
    for (size_t i = 0; i < profile->thread_count; i++)
        if (number[i] != NO_COLUMN)
            page_rank_map_add_thread(map, &profile->threads[i], number[i]);
    free(number);
}

/* Writes which share of its time a thread spent in a state. */
static void page_rank_map_put_cell(FILE *out, const double cell[STATES], int state)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    double whole = 0;
    for (int i = 0; i < STATES; i++)
        whole += cell[i];
    unsigned value = whole >= LEAST_NS && isfinite(whole) ? (unsigned)lround(ALL * cell[state] / whole) : NOBODY;
    putc_unlocked(digit[value / 64], out);
    putc_unlocked(digit[value % 64], out);
}

static bool page_rank_map_has_state(const struct map *map, int state)
{
    for (size_t i = 0; i < map->column_count; i++)
        if (map->column[i].ns[state] != 0)
            return true;
    return false;
}

static void page_rank_map_put_states(struct page *page, const struct map *map)
{
    fputs(",\n\"states\":[", page->out);
    for (int state = 0, put = 0; state < STATES; state++) {
        if (!page_rank_map_has_state(map, state))
            continue;
        fprintf(page->out, "%s{\"key\":\"%s\",\"us\":[", put++ ? ",\n" : "", metric_title(state_metric[state]));
        for (size_t i = 0; i < map->column_count; i++) {
            fputs(i ? "," : "", page->out);
            page_micro(page->out, map->column[i].ns[state] * 1e-9);
        }
        fputs("],\"cells\":\"", page->out);
        for (size_t i = 0; i < map->column_count * map->row_count; i++)
            page_rank_map_put_cell(page->out, map->cell[i], state);
        fputs("\"}", page->out);
    }
    putc(']', page->out);
}

/* Writes one field of all columns as a list, with null for each column where the field is unknown. If it is
 * unknown in all columns, writes null instead of the list. */
static void page_rank_map_put_waits(struct page *page, const struct map *map, const char *name, size_t field)
{
    bool seen = false;
    for (size_t i = 0; i < map->column_count; i++)
        seen |= map->column[i].seen;
    fprintf(page->out, ",\n\"%s\":%s", name, seen ? "[" : "null");
    for (size_t i = 0; i < map->column_count && seen; i++) {
        fputs(i ? "," : "", page->out);
        if (map->column[i].seen)
            page_micro(page->out, *(const double *)((const char *)&map->column[i] + field) * 1e-9);
        else
            fputs("null", page->out);
    }
    fputs(seen ? "]" : "", page->out);
}

/* Returns the number of the rank, or -1 if it is unknown. */
static int64_t page_rank_number(const struct profile_rank *rank)
{
    return rank->rank == PROFILE_RANK_UNKNOWN ? -1 : (int64_t)rank->rank;
}

enum { FIRST, LAST, PROCESS, STATE, WHY, NODE, COUNTED, THREADS, WALL, RANK_COLUMNS };

static int64_t page_rank_map_column_value(struct page *page, const struct column *column, int of)
{
    switch (of) {
    case FIRST:
        return page_rank_number(column->first);
    case LAST:
        return page_rank_number(column->last);
    case PROCESS:
        return column->first->process;
    case STATE:
        return page_string(page, column->state);
    case WHY:
        return page_string(page, column->why);
    case NODE:
        return page_string(page, column->first->host);
    case COUNTED:
        return (int64_t)column->counted;
    case THREADS:
        return (int64_t)column->threads;
    default:
        return (int64_t)(column->wall_ns / 1000);
    }
}

void page_put_ranks(struct page *page)
{
    static const char *const name[RANK_COLUMNS] = {"first", "last",    "process", "state",  "why",
                                                   "node",  "counted", "threads", "wall_us"};
    const struct profile *profile = page->input->profile;
    struct map map;
    if (!profile->header.merged || !profile->rank_count) {
        fputs("null", page->out);
        return;
    }
    page_rank_map_make(&map, profile);
    fprintf(page->out, "{\"count\":%zu,\"each\":%zu,\"map_threads\":%zu,\"nodes\":%zu", map.column_count, map.each,
            map.row_count, ranks_nodes(profile));
    for (int of = 0; of < RANK_COLUMNS; of++) {
        fprintf(page->out, ",\n\"%s\":[", name[of]);
        for (size_t i = 0; i < map.column_count; i++) {
            fputs(i ? "," : "", page->out);
            page_whole(page->out, page_rank_map_column_value(page, &map.column[i], of));
        }
        putc(']', page->out);
    }
    page_rank_map_put_waits(page, &map, "rank_idleness_us", offsetof(struct column, rank_idle_ns));
    page_rank_map_put_waits(page, &map, "made_others_wait_us", offsetof(struct column, made_wait_ns));
    page_rank_map_put_states(page, &map);
    putc('}', page->out);
    free(map.column);
    free(map.cell);
}

/* ---- threads, locks, findings ---- */

/* Writes the rank of a thread if the profile is that of a job. */
static void page_put_thread_rank(struct page *page, const struct profile_thread *thread)
{
    const struct profile *profile = page->input->profile;
    char name[32];
    if (!thread->rank_record || thread->rank_record > profile->rank_count)
        return;
    rank_name(&profile->ranks[thread->rank_record - 1], name, sizeof name);
    fprintf(page->out, ",\"rank\":\"%s\"", name);
}

void page_put_threads(struct page *page)
{
    const struct profile *profile = page->input->profile;
    /* The start is subtracted before a time becomes a double, because a double cannot represent every
     * absolute time in ns. */
    uint64_t start = profile->header.start_ns;
    bool all = !profile->header.merged || profile->thread_count < HTML_THREADS;
    size_t shown = all ? profile->thread_count : HTML_THREADS;
    putc('[', page->out);
    for (size_t i = 0; i < shown; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        fprintf(page->out, "%s{\"thread\":%zu,\"kind\":\"%s\"", i ? ",\n" : "", i, thread_kind_name(thread));
        page_put_seconds(page, ",\"begin_s\":", (double)(int64_t)(thread->begin_ns - start));
        page_put_seconds(page, ",\"end_s\":", (double)(int64_t)(profile_thread_end_ns(thread) - start));
        fprintf(page->out, ",\"samples\":%llu", (unsigned long long)thread->recorded);
        page_put_seconds(page, ",\"work\":", thread->work);
        page_put_seconds(page, ",\"idle\":", thread->idle);
        page_put_seconds(page, ",\"overhead\":", thread->overhead);
        page_put_seconds(page, ",\"lock_wait\":", thread->lock_wait);
        page_put_seconds(page, ",\"parked\":", thread->parked);
        page_put_seconds(page, ",\"no_core\":", thread->no_core);
        page_put_seconds(page, ",\"blocked\":", thread->blocked);
        page_put_seconds(page, ",\"stolen\":", thread->stolen);
        page_put_seconds(page, ",\"mpi_wait\":", thread->mpi_wait);
        page_put_thread_rank(page, thread);
        putc('}', page->out);
    }
    fprintf(page->out, "],\n\"threads_left_out\":%zu", profile->thread_count - shown);
}

/* Writes three cells for a context: its path, the seconds and its row. */
static void page_put_context_cells(struct page *page, uint32_t row, double ns)
{
    char *path = row == ROW_NONE ? NULL : lock_table_context_path(page->input->rows, row);
    putc(',', page->out);
    page_text(page, path ? path : "");
    page_put_seconds(page, ",", path ? ns : 0);
    fprintf(page->out, ",%lld", path ? (long long)page_tree_nearest(&page->tree, row) : -1ll);
    free(path);
}

static void page_put_lock(struct page *page, const struct lock_entry *lock)
{
    const struct lock_table *table = page->input->locks;
    const struct lock_context *holder = lock->context_count ? &table->context[lock->first_context] : NULL;
    fprintf(page->out, "[\"0x%llx\",\"%s\",", (unsigned long long)lock->wait_id, lock_kind_name[lock->kind]);
    page_text(page, lock->symbol);
    page_put_seconds(page, ",", lock->wait_ns);
    fprintf(page->out, ",%llu,%u,", (unsigned long long)lock->contended, lock->context_count);
    page_text(page, lock->name);
    page_put_seconds(page, ",", lock->longest_ns);
    page_put_context_cells(page, holder ? holder->row : ROW_NONE, holder ? holder->wait_ns : 0);
    page_put_context_cells(page, lock->waiter, lock->waiter_ns);
    putc(',', page->out);
    page_text(page, lock->initialiser);
    fprintf(page->out, ",%u]", lock->initialisers);
}

void page_put_locks(struct page *page)
{
    const struct lock_table *table = page->input->locks;
    size_t shown = table->count < HTML_LOCKS ? table->count : HTML_LOCKS;
    double left_out_ns = 0;
    fputs("{\"columns\":[\"lock\",\"kind\",\"symbol\",\"wait\",\"acquisitions_contended\","
          "\"blamed_contexts\",\"name\",\"longest_wait\",\"holder\",\"holder_wait\",\"holder_id\",\"waiter\","
          "\"waiter_wait\",\"waiter_id\",\"initialiser\",\"initialisers\"],\n\"rows\":[",
          page->out);
    for (size_t i = 0; i < shown; i++) {
        fputs(i ? ",\n" : "", page->out);
        page_put_lock(page, &table->lock[i]);
    }
    for (size_t i = shown; i < table->count; i++)
        left_out_ns += table->lock[i].wait_ns;
    page->result->locks_left_out = table->count - shown;
    if (shown == table->count) {
        fputs("],\"left_out\":null}", page->out);
        return;
    }
    fprintf(page->out, "],\"left_out\":{\"locks\":%zu", table->count - shown);
    page_put_seconds(page, ",\"wait\":", left_out_ns);
    fputs("}}", page->out);
}

static void page_put_named_text(struct page *page, const char *name, const char *text)
{
    fprintf(page->out, ",\"%s\":", name);
    page_text(page, text);
}

void page_put_findings(struct page *page)
{
    const struct findings *findings = page->input->findings;
    putc('[', page->out);
    for (size_t i = 0; findings && i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        uint32_t row = page_tree_nearest(&page->tree, finding->row);
        fprintf(page->out, "%s{\"rule\":\"%s\",\"row\":%lld,\"metric\":\"%s\",\"seconds\":", i ? ",\n" : "",
                finding->rule, row == ROW_NONE ? -1ll : (long long)row, metric_title(finding->metric));
        json_decimal(page->out, finding->seconds, 6);
        fputs(",\"error\":", page->out);
        json_decimal(page->out, finding->error, 6);
        fputs(",\"share\":", page->out);
        json_decimal(page->out, finding->share, 6);
        fputs(",\"gain_s\":", page->out);
        json_decimal(page->out, finding->gain_s, 6);
        page_put_named_text(page, "title", finding->title);
        page_put_named_text(page, "evidence", finding->evidence);
        page_put_named_text(page, "advice", finding->advice);
        page_put_named_text(page, "place", finding->place);
        putc('}', page->out);
    }
    putc(']', page->out);
}
