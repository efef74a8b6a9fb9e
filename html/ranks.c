/* The map of a job's ranks and their threads. */
#include <math.h>
#include <stdlib.h>

#include "html/page.h"
#include "report/tables/ranks.h"
#include "report/text/memory.h"

#define NOBODY    4095 /* the highest number of two digits: no thread was there */
#define ALL       4094
#define LEAST_NS  1
#define NO_COLUMN SIZE_MAX

enum state { WORK, IDLE, OVERHEAD, LOCK_WAIT, NO_CORE, BLOCKED, MPI_WAIT, STATES };

static const enum metric state_metric[STATES] = {METRIC_WORK,      METRIC_IDLENESS, METRIC_OVERHEAD,
                                                 METRIC_LOCK_WAIT, METRIC_NO_CORE,  METRIC_BLOCKED,
                                                 METRIC_MPI_WAIT};

/* One or more ranks, that follow each other. */
struct column {
    const struct profile_rank *first, *last;
    const char *state, *why; /* of the first with which something is wrong, else of the first */
    uint64_t counted, threads, wall_ns;
    double ns[STATES];
    bool seen; /* of one rank at least it is known whom it waited for and made wait: */
    double rank_idle_ns, made_wait_ns;
};

struct map {
    size_t each; /* ranks that share a column */
    size_t column_count, row_count;
    struct column *column;
    double (*cell)[STATES]; /* [column * row_count + row] */
};

static void states_of(const struct profile_thread *thread, double ns[STATES])
{
    ns[WORK] = thread->work;
    ns[IDLE] = thread->idle;
    ns[OVERHEAD] = thread->overhead;
    ns[LOCK_WAIT] = thread->lock_wait;
    ns[NO_CORE] = thread->no_core;
    ns[BLOCKED] = thread->blocked;
    ns[MPI_WAIT] = thread->mpi_wait;
}

static void add_rank(struct column *column, const struct profile_rank *rank)
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

/* Threads are numbered in the order of their start in their rank. Returns how many the rank with the most has. */
static size_t number_threads(const struct profile *profile, size_t *number)
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

static void add_thread(struct map *map, const struct profile_thread *thread, size_t row)
{
    double ns[STATES];
    size_t column = (size_t)(thread->rank_record - 1) / map->each;
    states_of(thread, ns);
    for (int state = 0; state < STATES; state++) {
        map->column[column].ns[state] += ns[state];
        if (row < map->row_count)
            map->cell[column * map->row_count + row][state] += fmax(0, ns[state]);
    }
}

static void make_map(struct map *map, const struct profile *profile)
{
    size_t *number = memory_array(profile->thread_count, sizeof *number);
    size_t threads = number_threads(profile, number);
    map->row_count = threads < HTML_MAP_THREADS ? threads : HTML_MAP_THREADS;
    size_t most = map->row_count ? HTML_MAP_CELLS / map->row_count : HTML_MAP_RANKS;
    most = most < HTML_MAP_RANKS ? most : HTML_MAP_RANKS;
    map->each = (profile->rank_count + most - 1) / most;
    map->column_count = (profile->rank_count + map->each - 1) / map->each;
    map->column = memory_array(map->column_count, sizeof *map->column);
    map->cell = memory_array(map->column_count * map->row_count, sizeof *map->cell);
    for (size_t i = 0; i < profile->rank_count; i++)
        add_rank(&map->column[i / map->each], &profile->ranks[i]);
    for (size_t i = 0; i < profile->thread_count; i++)
        if (number[i] != NO_COLUMN)
            add_thread(map, &profile->threads[i], number[i]);
    free(number);
}

/* The share of its own time that a thread was in the state. */
static void put_cell(FILE *out, const double cell[STATES], int state)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    double whole = 0;
    for (int i = 0; i < STATES; i++)
        whole += cell[i];
    unsigned value =
        whole >= LEAST_NS && isfinite(whole) ? (unsigned)lround(ALL * cell[state] / whole) : NOBODY;
    putc_unlocked(digit[value / 64], out);
    putc_unlocked(digit[value % 64], out);
}

static bool any_in(const struct map *map, int state)
{
    for (size_t i = 0; i < map->column_count; i++)
        if (map->column[i].ns[state] != 0)
            return true;
    return false;
}

static void put_states(struct page *page, const struct map *map)
{
    fputs(",\n\"states\":[", page->out);
    for (int state = 0, put = 0; state < STATES; state++) {
        if (!any_in(map, state))
            continue;
        fprintf(page->out, "%s{\"key\":\"%s\",\"us\":[", put++ ? ",\n" : "",
                metric_title(state_metric[state]));
        for (size_t i = 0; i < map->column_count; i++) {
            fputs(i ? "," : "", page->out);
            page_micro(page->out, map->column[i].ns[state] * 1e-9);
        }
        fputs("],\"cells\":\"", page->out);
        for (size_t i = 0; i < map->column_count * map->row_count; i++)
            put_cell(page->out, map->cell[i], state);
        fputs("\"}", page->out);
    }
    putc(']', page->out);
}

/* null where it is not known, for the whole if of no rank. */
static void put_waits(struct page *page, const struct map *map, const char *name, size_t field)
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

/* Numbers of ranks; -1: not known. */
static int64_t rank_number(const struct profile_rank *rank)
{
    return rank->rank == PROFILE_RANK_UNKNOWN ? -1 : (int64_t)rank->rank;
}

enum { FIRST, LAST, PROCESS, STATE, WHY, NODE, COUNTED, THREADS, WALL, COLUMNS };

static int64_t column_value(struct page *page, const struct column *column, int of)
{
    switch (of) {
    case FIRST:
        return rank_number(column->first);
    case LAST:
        return rank_number(column->last);
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
    static const char *const name[COLUMNS] = {"first", "last",    "process", "state",  "why",
                                              "node",  "counted", "threads", "wall_us"};
    const struct profile *profile = page->input->profile;
    struct map map;
    if (!profile->header.merged || !profile->rank_count) {
        fputs("null", page->out);
        return;
    }
    make_map(&map, profile);
    fprintf(page->out, "{\"count\":%zu,\"each\":%zu,\"map_threads\":%zu,\"nodes\":%zu", map.column_count,
            map.each, map.row_count, ranks_nodes(profile));
    for (int of = 0; of < COLUMNS; of++) {
        fprintf(page->out, ",\n\"%s\":[", name[of]);
        for (size_t i = 0; i < map.column_count; i++) {
            fputs(i ? "," : "", page->out);
            page_whole(page->out, column_value(page, &map.column[i], of));
        }
        putc(']', page->out);
    }
    put_waits(page, &map, "rank_idleness_us", offsetof(struct column, rank_idle_ns));
    put_waits(page, &map, "made_others_wait_us", offsetof(struct column, made_wait_ns));
    put_states(page, &map);
    putc('}', page->out);
    free(map.column);
    free(map.cell);
}
