/* Gathers what the rules judge: idleness by region and cause, and overhead by region and construct. */
#include "cct/profile_tree.h"
#include "command/findings/rules.h"
#include "command/rows/make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

/* probability below which it is not chance that all samples of some code are of one thread */
#define ONE_THREAD_CHANCE 0.05

/* Idleness beside code that holds a lock is due to the lock if threads waited for the lock about as long. */
#define NEARLY_EQUAL 0.8

/* Parts of the names of runtime entries, with the construct of each. The first match decides. */
static const struct {
    const char *part;
    enum construct construct;
} entries[] = {
    {"fork_call", CONSTRUCT_REGION},
    {"fork_teams", CONSTRUCT_REGION},
    {"GOMP_parallel", CONSTRUCT_REGION},
    {"<region end>", CONSTRUCT_REGION},
    {"push_num", CONSTRUCT_REGION},
    {"serialized", CONSTRUCT_REGION},
    {"task", CONSTRUCT_TASK},
    {"dispatch", CONSTRUCT_LOOP},
    {"for_static", CONSTRUCT_LOOP},
    {"GOMP_loop", CONSTRUCT_LOOP},
    {"GOMP_sections", CONSTRUCT_LOOP},
    {"doacross", CONSTRUCT_LOOP},
    {"init_lock", CONSTRUCT_LOCK_MAKING},
    {"destroy_lock", CONSTRUCT_LOCK_MAKING},
    {"init_nest_lock", CONSTRUCT_LOCK_MAKING},
    {"destroy_nest_lock", CONSTRUCT_LOCK_MAKING},
    {"flush", CONSTRUCT_FLUSH},
    {"lock", CONSTRUCT_LOCK},
    {"critical", CONSTRUCT_LOCK},
    {"atomic", CONSTRUCT_LOCK},
    {"ordered", CONSTRUCT_LOCK},
    {"barrier", CONSTRUCT_BARRIER},
    {"reduce", CONSTRUCT_BARRIER},
    {"single", CONSTRUCT_BARRIER},
};

bool is_untold_wait(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, ROW_NAME_UNTOLD_WAIT) == 0;
}

enum construct construct_of(const struct rows *rows, const struct row *row)
{
    if (is_untold_wait(row))
        row = &rows->row[row->parent];
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (row->kind == ROW_RUNTIME && strstr(row->label->name, entries[i].part))
            return entries[i].construct;
    return CONSTRUCT_OTHER;
}

void tally_add(struct tally *tally, uint64_t key, uint32_t row, double ns)
{
    tally_add_two(tally, key, 0, row, ns);
}

void tally_add_two(struct tally *tally, uint64_t key, uint64_t second, uint32_t row, double ns)
{
    uint32_t *slot = pair_map_slot(&tally->map, key, second);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&tally->item, &tally->room, tally->count, sizeof *tally->item);
        *slot = (uint32_t)tally->count++;
        tally->item[*slot] = (struct tallied){.key = key, .row = row, .row_ns = ns};
    }
    struct tallied *item = &tally->item[*slot];
    item->ns += ns;
    item->contexts++;
    if (ns > item->row_ns) {
        item->row_ns = ns;
        item->row = row;
    }
}

void tally_free(struct tally *tally)
{
    pair_map_free(&tally->map);
    free(tally->item);
}

/* Returns whether the row and everything below it is known not to be serial code. */
static bool begins_region(const struct row *row)
{
    if (row->kind == ROW_PARALLEL || row->kind == ROW_TASK)
        return true;
    return row->kind == ROW_PSEUDO &&
           (strcmp(row->label->name, "<unresolved>") == 0 || strcmp(row->label->name, "<fiber>") == 0 ||
            strcmp(row->label->name, "<hidden helper>") == 0 || strcmp(row->label->name, "<truncated>") == 0);
}

double unit_idle_ns(const struct unit *unit)
{
    double sum = 0;
    for (int cause = 0; cause < CAUSES; cause++)
        sum += unit->idle_ns[cause];
    return sum;
}

static void find_regions(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t above = i ? inquiry->region[row->parent] : ROW_NONE;
        inquiry->region[i] = above == ROW_NONE && begins_region(row) ? i : above;
        inquiry->in_task[i] = row->kind == ROW_TASK || (i && inquiry->in_task[row->parent]);
        /* The start of a region is overhead of the region, not serial code. */
        bool merges = row->kind == ROW_STATEMENT || (row->foreign && row->parent != 0 && !begins_region(row) &&
                                                     construct_of(rows, row) != CONSTRUCT_REGION);
        inquiry->own[i] = merges ? inquiry->own[row->parent] : i;
    }
}

/* Returns whether a place of waiting is in a parallel region, or at its end. */
static bool is_place_of(const struct rows *rows, const struct wait_place *place, uint32_t region)
{
    const struct row *row = &rows->row[region];
    bool end = place->kind == WAIT_REGION_END || place->in_region;
    return end ? place->line == row->call_line && strcmp(place->function, rows->row[row->parent].label->name) == 0
               : strcmp(place->function, row->label->name) == 0;
}

/* A region in another one is judged on its own if the waiting beside its code is mostly in it. */
static void split_nested_regions(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    const struct wait_table *waits = inquiry->waits;
    double *all_ns = memory_array(rows->count, sizeof *all_ns),
           *inside_ns = memory_array(rows->count, sizeof *inside_ns);
    for (size_t i = 0; i < waits->pair_count; i++) {
        const struct wait_pair *pair = &waits->pair[i];
        const struct wait_place *place = &waits->place[pair->place];
        uint32_t outermost = inquiry->region[pair->row];
        if (outermost == ROW_NONE || !*place->function || place->kind == WAIT_LOCK || place->kind == WAIT_MPI)
            continue;
        for (uint32_t at = pair->row; at != outermost; at = rows->row[at].parent)
            if (rows->row[at].kind == ROW_PARALLEL) {
                all_ns[at] += pair->ns;
                inside_ns[at] += is_place_of(rows, place, at) ? pair->ns : 0;
            }
    }
    for (uint32_t i = 1; i < rows->count; i++)
        if (inquiry->region[i] != ROW_NONE && inquiry->region[i] != i)
            inquiry->region[i] = inside_ns[i] > MOSTLY * all_ns[i] ? i : inquiry->region[rows->row[i].parent];
    free(all_ns);
    free(inside_ns);
}

static enum cause cause_of(const struct inquiry *inquiry, enum wait_kind kind, uint32_t row)
{
    if (kind == WAIT_BETWEEN_REGIONS)
        return CAUSE_NO_TEAM;
    if (kind == WAIT_TASKWAIT || kind == WAIT_TASKGROUP || inquiry->in_task[row])
        return CAUSE_TASKS;
    return CAUSE_BARRIER;
}

/* Returns the number of the unit that contains the row. Creates the unit if there is none. */
static uint32_t unit_of_row(struct inquiry *inquiry, uint32_t row)
{
    const struct row *at = &inquiry->rows->row[row];
    bool tasks = at->kind == ROW_TASK && at->parent != ROW_NONE;
    uint32_t function = tasks ? inquiry->rows->row[at->parent].function : at->function;
    uint32_t *slot = pair_map_slot(&inquiry->unit_map, function, tasks);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&inquiry->unit, &inquiry->unit_room, inquiry->unit_count, sizeof *inquiry->unit);
        *slot = (uint32_t)inquiry->unit_count++;
        inquiry->unit[*slot] = (struct unit){.row = row, .host = *slot};
        for (int cause = 0; cause < CAUSES; cause++)
            inquiry->unit[*slot].worst[cause] = row;
    }
    return *slot;
}

static void add_row_to_unit(struct inquiry *inquiry, uint32_t index)
{
    const struct row *row = &inquiry->rows->row[index];
    uint32_t region = inquiry->region[index] != ROW_NONE ? inquiry->region[index] : inquiry->own[index];
    uint32_t number = unit_of_row(inquiry, region);
    inquiry->unit_of[index] = number;
    if (row->kind == ROW_STATEMENT)
        return;
    struct unit *unit = &inquiry->unit[number];
    profile_sums_add(&unit->sum, row->exclusive);
    if (waits_for_threads(inquiry, index)) {
        unit->awaited_ns += row->exclusive->blocked_idle;
        unit->awaiting_ns += row->exclusive->blocked;
    }
    for (int cause = 0; cause < CAUSES; cause++) {
        unit->idle_ns[cause] += inquiry->idle_ns[cause][index];
        unit->lost_ns[cause] += inquiry->lost_ns[cause][index];
    }
    if (index == region) {
        double ns = 1e9 * metric_value(inquiry->rows, row->inclusive, METRIC_EFFORT);
        unit->contexts++;
        if (ns > unit->row_ns) {
            unit->row_ns = ns;
            unit->row = index;
        }
    }
}

/* Finds what is blamed most in the units. A call that waits for other threads is not blamed if these may be threads of
 * the same unit: if the unit's other code is blamed for enough. */
static void find_worst_rows(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->unit_count; i++) {
        struct unit *unit = &inquiry->unit[i];
        double rest_ns = unit->sum.shared_idle - unit->awaited_ns;
        for (int cause = 0; cause < CAUSES; cause++)
            rest_ns += unit->lost_ns[cause];
        unit->passes = unit->awaited_ns > 0 && rest_ns >= MOSTLY * unit->awaited_ns;
    }
    for (uint32_t i = 0; i < inquiry->rows->count; i++) {
        const struct row *row = &inquiry->rows->row[i];
        if (inquiry->unit_of[i] == UNIT_NONE || row->kind == ROW_STATEMENT)
            continue;
        struct unit *unit = &inquiry->unit[inquiry->unit_of[i]];
        if (row->exclusive->blocked_idle > unit->asleep_ns && !(unit->passes && waits_for_threads(inquiry, i))) {
            unit->asleep_ns = row->exclusive->blocked_idle;
            unit->asleep = i;
        }
        for (int cause = 0; cause < CAUSES; cause++) {
            double ns = inquiry->idle_ns[cause][i] - (unit->passes ? inquiry->awaited_ns[cause][i] : 0);
            if (ns > unit->worst_ns[cause]) {
                unit->worst_ns[cause] = ns;
                unit->worst[cause] = i;
            }
        }
    }
}

/* The last threads to get a lock keep the others waiting at the next barrier, too: if one thread took the lock many times in
 * a row, for as long as it kept them waiting at the lock. Gives such idleness the cause CAUSE_LOCK. */
static void gather_idleness_after_locks(struct inquiry *inquiry, const double *lock_ns)
{
    for (uint32_t i = 0; i < inquiry->rows->count; i++) {
        double idle_ns = inquiry->idle_ns[CAUSE_BARRIER][i] + inquiry->idle_ns[CAUSE_TASKS][i];
        if (lock_ns[i] < NEARLY_EQUAL * idle_ns || !finding_is_enough(inquiry, 1e-9 * lock_ns[i]))
            continue;
        inquiry->idle_ns[CAUSE_LOCK][i] = idle_ns;
        inquiry->idle_ns[CAUSE_BARRIER][i] = inquiry->idle_ns[CAUSE_TASKS][i] = 0;
    }
}

static void gather_wait_pairs(struct inquiry *inquiry)
{
    double *lock_ns = memory_array(inquiry->rows->count, sizeof *lock_ns); /* by row: waiting for locks that it holds */
    const struct wait_table *waits = inquiry->waits;
    for (size_t i = 0; i < waits->pair_count; i++) {
        const struct wait_pair *pair = &waits->pair[i];
        enum wait_kind kind = waits->place[pair->place].kind;
        if (kind == WAIT_MPI)
            continue;
        if (row_is_no_core(&inquiry->rows->row[pair->row])) {
            uint32_t own = inquiry->own[inquiry->rows->row[pair->row].parent];
            inquiry->no_core_idle_ns += pair->ns;
            if (kind != WAIT_LOCK)
                inquiry->lost_ns[cause_of(inquiry, kind, own)][own] += pair->ns;
        } else if (kind == WAIT_LOCK) {
            lock_ns[inquiry->own[pair->row]] += pair->ns;
        } /* waits in MPI have a rule of their own */
        else if (!row_is_mpi_wait(&inquiry->rows->row[pair->row])) {
            enum cause cause = cause_of(inquiry, kind, pair->row);
            inquiry->idle_ns[cause][inquiry->own[pair->row]] += pair->ns;
            if (waits_for_threads(inquiry, pair->row) &&
                (cause != CAUSE_NO_TEAM || threads_were_busy(inquiry->rows, pair->row)))
                inquiry->awaited_ns[cause][inquiry->own[pair->row]] += pair->ns;
        }
    }
    gather_idleness_after_locks(inquiry, lock_ns);
    free(lock_ns);
    for (uint32_t i = 0; i < inquiry->rows->count; i++) {
        uint32_t own = inquiry->own[i];
        bool waited_for = inquiry->idle_ns[CAUSE_BARRIER][own] > 0 || inquiry->idle_ns[CAUSE_TASKS][own] > 0 ||
                          inquiry->idle_ns[CAUSE_LOCK][own] > 0;
        inquiry->unit_of[i] = UNIT_NONE;
        if (!row_is_no_core(&inquiry->rows->row[i]) && !row_is_mpi_wait(&inquiry->rows->row[i]) &&
            (inquiry->region[i] != ROW_NONE || waited_for))
            add_row_to_unit(inquiry, i);
    }
    find_worst_rows(inquiry);
    for (size_t i = 0; i < waits->pair_count; i++) {
        const struct wait_pair *pair = &waits->pair[i];
        enum wait_kind kind = waits->place[pair->place].kind;
        if (kind == WAIT_LOCK || kind == WAIT_MPI || inquiry->unit_of[pair->row] == UNIT_NONE)
            continue;
        struct unit *unit = &inquiry->unit[inquiry->unit_of[pair->row]];
        unit->kind_ns[kind] += pair->ns;
        if (inquiry->rows->row[pair->row].kind == ROW_RUNTIME && cause_of(inquiry, kind, pair->row) != CAUSE_NO_TEAM)
            unit->overhead_idle_ns += pair->ns;
    }
}

/* Code of a unit in all of the unit's contexts: a path of calls, with all longer paths that begin with it. */
struct path {
    uint32_t unit, above; /* above: the path one call shorter; PATH_NONE for the unit's own */
    uint64_t threads;     /* bit set of the threads that samples saw there */
    uint64_t samples;
    double idle_ns; /* ns of idleness beside it, outside known loops and single constructs */
};

struct paths {
    struct pair_map map;
    struct path *path;
    size_t count, room;
    uint32_t *of; /* by row; PATH_NONE outside all units */
};

#define PATH_NONE UINT32_MAX

/* Returns the path of a row, whose caller's path is known. */
static uint32_t path_of_row(struct paths *paths, const struct inquiry *inquiry, uint32_t index)
{
    const struct row *row = &inquiry->rows->row[index];
    uint32_t unit = inquiry->unit_of[index], above = row->parent == ROW_NONE ? PATH_NONE : paths->of[row->parent];
    if (unit == UNIT_NONE)
        return PATH_NONE;
    if (above != PATH_NONE && paths->path[above].unit != unit)
        above = PATH_NONE;
    uint64_t line = (uint64_t)(row->kind == ROW_STATEMENT ? row->label->line : row->call_line);
    uint64_t step = above == PATH_NONE ? 0 : (uint64_t)row->function << 32 | line << 1 | (row->kind == ROW_STATEMENT);
    uint32_t *slot = pair_map_slot(&paths->map, step, above == PATH_NONE ? (uint64_t)unit << 32 | PATH_NONE : above);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&paths->path, &paths->room, paths->count, sizeof *paths->path);
        *slot = (uint32_t)paths->count++;
        paths->path[*slot] = (struct path){.unit = unit, .above = above};
    }
    return *slot;
}

static void add_known_waiters(struct inquiry *inquiry, const struct merged_node *node, uint32_t row, struct path *path)
{
    struct unit *unit = &inquiry->unit[path->unit];
    struct profile_idle idle;
    if (node->kind != PROFILE_NODE_WAITERS) {
        path->threads |= node->threads;
        path->samples += node->metric.samples;
        unit->threads |= node->threads;
        return;
    }
    if (cause_of(inquiry, (enum wait_kind)PROFILE_PLACE_KIND(node->key), row) != CAUSE_BARRIER)
        return;
    memcpy(&idle, &node->metric, sizeof idle);
    unit->idle.loops += idle.loops;
    unit->idle.scarcity += idle.scarcity;
    unit->idle.dynamic += idle.dynamic;
    unit->idle.single += idle.single;
    unit->idle.sections += idle.sections;
    unit->idle.shared_idle += idle.shared_idle;
    path->idle_ns += idle.shared_idle - idle.loops - idle.single;
}

/* Returns whether only one thread was seen in a path, so often that this is hardly chance. */
static bool is_of_one_thread(const struct inquiry *inquiry, const struct path *path)
{
    double chance = inquiry->threads > 1 ? pow(inquiry->threads, 1 - (double)path->samples) : 1;
    return path->threads && !(path->threads & (path->threads - 1)) && chance < ONE_THREAD_CHANCE;
}

/* Adds the idleness beside code of one thread to the code's unit, once for each shortest path of such code. Shorter
 * paths come before the longer ones that begin with them. */
static void add_idle_beside_one(struct inquiry *inquiry, struct paths *paths)
{
    bool *counted = memory_array(paths->count + 1, sizeof *counted);
    for (size_t i = paths->count; i-- > 0;) {
        const struct path *path = &paths->path[i];
        if (path->above == PATH_NONE)
            continue;
        paths->path[path->above].threads |= path->threads;
        paths->path[path->above].samples += path->samples;
        paths->path[path->above].idle_ns += path->idle_ns;
    }
    for (size_t i = 0; i < paths->count; i++) {
        const struct path *path = &paths->path[i];
        counted[i] = path->above != PATH_NONE && counted[path->above];
        if (counted[i] || !is_of_one_thread(inquiry, path))
            continue;
        counted[i] = true;
        inquiry->unit[path->unit].alone_ns += path->idle_ns;
    }
    free(counted);
}

static void gather_known(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct paths paths = {.of = memory_array(rows->count, sizeof *paths.of)};
    for (uint32_t i = 0; i < rows->count; i++)
        paths.of[i] = path_of_row(&paths, inquiry, i);
    for (size_t i = 1; i < rows->node_count; i++) {
        uint32_t row = rows->node_row[i];
        if (row != ROW_NONE && paths.of[row] != PATH_NONE)
            add_known_waiters(inquiry, &inquiry->profile->nodes[i], row, &paths.path[paths.of[row]]);
    }
    if (inquiry->profile->header.threads_max <= MOST_IDENTIFIED)
        add_idle_beside_one(inquiry, &paths);
    pair_map_free(&paths.map);
    free(paths.path);
    free(paths.of);
}

/* Joins tasks with the regions that created them. Both are below the same function, and idleness blamed on
 * one may be due to the other. */
static void join_hosts(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct pair_map *hosts = &inquiry->task_hosts;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < inquiry->unit_count; i++) {
            struct unit *unit = &inquiry->unit[i];
            const struct row *row = &rows->row[unit->row];
            uint32_t host = row->parent == ROW_NONE ? ROW_NONE : rows->row[row->parent].function;
            uint32_t *slot = pair_map_slot(hosts, host, 0);
            if (pass == 0 && row->kind == ROW_TASK && *slot == PAIR_MAP_NEW)
                *slot = i;
            if (pass == 1 && *slot != PAIR_MAP_NEW)
                unit->host = *slot;
            if (pass == 1) {
                inquiry->unit[unit->host].host_idle_ns += unit_idle_ns(unit);
                inquiry->unit[unit->host].host_work_ns += unit->sum.work;
            }
        }
}

/* Returns whether other threads of the program ended most of the sleep in the library's function in which the row is. */
static bool was_woken(const struct rows *rows, uint32_t row, const double *woken_ns)
{
    bool woken = false;
    for (uint32_t i = row; rows->row[i].foreign && !woken; i = rows->row[i].parent)
        woken = woken_ns[i] > 0 && woken_ns[i] >= MOSTLY * rows->row[i].inclusive->blocked;
    return woken;
}

void findings_gather_awaited(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    double *woken_ns = memory_array(rows->count, sizeof *woken_ns);
    for (size_t i = 0; i < inquiry->profile->wake_count; i++)
        woken_ns[row_of_node(rows, inquiry->profile->wakes[i].waiter)] += inquiry->profile->wakes[i].ns;
    inquiry->awaited = memory_array(rows->count, sizeof *inquiry->awaited);
    for (uint32_t i = 1; i < rows->count; i++)
        if (rows->row[i].exclusive->blocked > 0 && rows->row[i].kind != ROW_STATEMENT)
            inquiry->awaited[i] = awaited_of(rows, i, was_woken(rows, i, woken_ns));
    free(woken_ns);
}

void findings_gather_units(struct inquiry *inquiry)
{
    size_t count = inquiry->rows->count;
    inquiry->region = memory_array(count, sizeof *inquiry->region);
    inquiry->unit_of = memory_array(count, sizeof *inquiry->unit_of);
    inquiry->in_task = memory_array(count, sizeof *inquiry->in_task);
    inquiry->own = memory_array(count, sizeof *inquiry->own);
    for (int cause = 0; cause < CAUSES; cause++) {
        inquiry->idle_ns[cause] = memory_array(count, sizeof *inquiry->idle_ns[cause]);
        inquiry->lost_ns[cause] = memory_array(count, sizeof *inquiry->lost_ns[cause]);
        inquiry->awaited_ns[cause] = memory_array(count, sizeof *inquiry->awaited_ns[cause]);
    }
    find_regions(inquiry);
    split_nested_regions(inquiry);
    gather_wait_pairs(inquiry);
    gather_known(inquiry);
    join_hosts(inquiry);
}

double work_per_region(const struct inquiry *inquiry)
{
    double work_ns = 0, regions = (double)inquiry->profile->header.regions;
    for (size_t i = 0; i < inquiry->unit_count; i++)
        if (inquiry->rows->row[inquiry->unit[i].row].kind == ROW_PARALLEL)
            work_ns += inquiry->unit[i].sum.work;
    return regions > 0 ? 1e-9 * work_ns / regions : 0;
}

bool idles_for_tiny_regions(const struct inquiry *inquiry)
{
    double each_s = work_per_region(inquiry);
    return each_s > 0 && each_s < TINY_S &&
           inquiry->nobody_busy_s < TINY_WALL_S * (double)inquiry->profile->header.regions;
}
