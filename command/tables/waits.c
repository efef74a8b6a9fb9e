#include "command/tables/waits.h"

#include "cct/profile_tree.h"
#include "command/rows/mpi_names.h"
#include "command/symbols/symbols.h"
#include "command/text/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/profile/pair_map.h"

const char *const wait_kind_name[WAIT_KINDS] = {
    [WAIT_UNKNOWN] = "wait",
    [WAIT_BARRIER] = "barrier",
    [WAIT_WORKSHARE] = "worksharing end",
    [WAIT_REGION_END] = "region end",
    [WAIT_TASKWAIT] = "taskwait",
    [WAIT_TASKGROUP] = "taskgroup",
    [WAIT_REDUCTION] = "reduction",
    [WAIT_LOCK] = "lock",
    [WAIT_BETWEEN_REGIONS] = "<between regions>",
    [WAIT_MPI] = "mpi",
    [WAIT_NOT_KEPT] = "<place not kept>",
};

enum metric wait_metric(enum wait_kind kind)
{
    return kind == WAIT_LOCK ? METRIC_LOCK_WAIT : kind == WAIT_MPI ? METRIC_RANK_IDLENESS : METRIC_IDLENESS;
}

#define NEXT_TO_NOTHING_NS 1000.0 /* ns below which a value is a rounding error and gets no pair */

struct wait_gathering {
    const struct profile *profile;
    const struct rows *rows;
    const struct lock_table *locks;
    struct symbols *symbols;
    struct wait_table *table;
    struct pair_map places, pairs, lock_index;
    double *kept; /* for each row, the ns of idleness whose wait place is known */
};

static const char *wait_table_lock_name(struct wait_gathering *gathering, uint64_t key)
{
    uint32_t *slot = pair_map_slot(&gathering->lock_index, PROFILE_LOCK_KEY_ID(key), PROFILE_LOCK_KEY_KIND(key));
    return *slot != PAIR_MAP_NEW ? gathering->locks->lock[*slot].name : "";
}

static void wait_table_index_locks(struct wait_gathering *gathering)
{
    for (size_t i = 0; i < gathering->locks->count; i++) {
        const struct lock_entry *lock = &gathering->locks->lock[i];
        *pair_map_slot(&gathering->lock_index, lock->wait_id, lock->kind) = (uint32_t)i;
    }
}

static struct wait_place wait_table_place_of_key(struct wait_gathering *gathering, enum wait_kind kind, uint64_t key)
{
    struct wait_place place = {.kind = kind, .function = "", .file = "", .call = ""};
    uint64_t call = kind == WAIT_MPI ? PROFILE_RANKS_CALL(key) : PROFILE_PLACE_CALL(key);
    const struct symbol_frame *frames;
    if (kind == WAIT_LOCK) {
        place.wait_id = PROFILE_LOCK_KEY_ID(key);
        place.lock_kind = (uint8_t)PROFILE_LOCK_KEY_KIND(key);
        place.function = wait_table_lock_name(gathering, key);
        return place;
    }
    if (kind == WAIT_MPI)
        place.call = row_mpi_call_name(PROFILE_RANKS_FUNCTION(key));
    else
        place.in_region = PROFILE_PLACE_IS_REGIONS(key);
    if (call) {
        symbols_lookup(gathering->symbols, call, &frames);
        place.function = frames[0].name;
        place.file = frames[0].at_file;
        place.line = frames[0].at_line;
    }
    return place;
}

static bool wait_table_places_match(const struct wait_place *a, const struct wait_place *b)
{
    return a->kind == b->kind && a->in_region == b->in_region && a->wait_id == b->wait_id && a->line == b->line &&
           strcmp(a->call, b->call) == 0 && strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* Returns the index of a wait place. All calls on one line of a function are the same wait place, because an
 * unrolled loop contains many of them. There are few wait places, so the search is linear. */
static uint32_t wait_table_find_place(struct wait_gathering *gathering, enum wait_kind kind, uint64_t key)
{
    struct wait_table *table = gathering->table;
    uint32_t *slot = pair_map_slot(&gathering->places, key, kind);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    struct wait_place place = wait_table_place_of_key(gathering, kind, key);
    for (size_t i = 0; kind != WAIT_LOCK && i < table->place_count; i++)
        if (wait_table_places_match(&table->place[i], &place))
            return *slot = (uint32_t)i;
    memory_grow(&table->place, &table->place_capacity, table->place_count, sizeof *table->place);
    *slot = (uint32_t)table->place_count++;
    table->place[*slot] = place;
    return *slot;
}

static void wait_table_add(struct wait_gathering *gathering, enum wait_kind kind, uint64_t key, uint32_t row, double ns)
{
    struct wait_table *table = gathering->table;
    uint32_t place = wait_table_find_place(gathering, kind, key);
    uint32_t *slot = pair_map_slot(&gathering->pairs, place, row);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&table->pair, &table->pair_capacity, table->pair_count, sizeof *table->pair);
        *slot = (uint32_t)table->pair_count++;
        table->pair[*slot] = (struct wait_pair){.place = place, .row = row};
    }
    table->pair[*slot].ns += ns;
    table->place[place].ns += ns;
}

static void wait_table_gather_node(struct wait_gathering *gathering, size_t node_idx)
{
    const struct merged_node *node = &gathering->profile->nodes[node_idx];
    uint32_t row = gathering->rows->node_row[node_idx];
    if (row == ROW_NONE)
        return;
    if (gathering->rows->row[row].kind == ROW_STATEMENT)
        row = gathering->rows->row[row].parent;
    if (node->kind == PROFILE_NODE_LOCK && node->metric.lock_wait > 0)
        wait_table_add(gathering, WAIT_LOCK, node->key, row, node->metric.lock_wait);
    if (node->kind == PROFILE_NODE_RANKS && node->metric.rank_idle > 0)
        wait_table_add(gathering, WAIT_MPI, node->key, row, node->metric.rank_idle);
    if (node->kind != PROFILE_NODE_WAITERS || !(node->metric.shared_idle > 0))
        return;
    uint32_t kind = PROFILE_PLACE_KIND(node->key);
    wait_table_add(gathering, kind < PROFILE_PLACE_KINDS ? (enum wait_kind)kind : WAIT_UNKNOWN, node->key, row,
                   node->metric.shared_idle);
    gathering->kept[row] += node->metric.shared_idle;
}

/* Adds the part of each row's idleness whose wait place was not recorded when samples counted the waiting
 * threads. */
static void wait_table_gather_rests(struct wait_gathering *gathering)
{
    const struct rows *rows = gathering->rows;
    for (size_t i = 0; i < rows->count; i++) {
        const struct profile_sums *own = rows->row[i].exclusive;
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        double shared = 1e9 * metric_value(rows, own, METRIC_SHARED_IDLENESS);
        double idleness = 1e9 * metric_value(rows, own, METRIC_IDLENESS);
        if (fabs(shared - gathering->kept[i]) > NEXT_TO_NOTHING_NS)
            wait_table_add(gathering, WAIT_NOT_KEPT, 0, (uint32_t)i, shared - gathering->kept[i]);
        if (fabs(idleness - shared) > NEXT_TO_NOTHING_NS)
            wait_table_add(gathering, WAIT_BETWEEN_REGIONS, 0, (uint32_t)i, idleness - shared);
    }
}

static const struct wait_table *sorted; /* table of the wait pairs that wait_table_compare_pairs() compares */

static int wait_table_compare_pairs(const void *left, const void *right)
{
    const struct wait_pair *a = left, *b = right;
    const struct wait_place *at = &sorted->place[a->place], *bt = &sorted->place[b->place];
    if (a->place != b->place) {
        if (at->ns != bt->ns)
            return at->ns > bt->ns ? -1 : 1;
        return a->place < b->place ? -1 : 1;
    }
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int wait_table_compare_places(const void *left, const void *right)
{
    const struct wait_place *a = left, *b = right;
    return (a->first_pair > b->first_pair) - (a->first_pair < b->first_pair);
}

static void wait_table_sort(struct wait_table *table)
{
    if (table->pair_count == 0)
        return;
    sorted = table;
    qsort(table->pair, table->pair_count, sizeof *table->pair, wait_table_compare_pairs);
    for (size_t i = 0, number = 0; i < table->pair_count; i++) {
        struct wait_place *place = &table->place[table->pair[i].place];
        if (place->pair_count++ == 0) {
            place->first_pair = (uint32_t)i;
            number++;
        }
        table->pair[i].place = (uint32_t)number - 1; /* index that the wait place has after sorting */
        if (i + 1 == table->pair_count)
            qsort(table->place, table->place_count, sizeof *table->place, wait_table_compare_places);
    }
}

struct wait_table *wait_table_gather(const struct profile *profile, const struct rows *rows,
                                     const struct lock_table *locks, struct symbols *symbols)
{
    struct wait_gathering gathering = {.profile = profile,
                                       .rows = rows,
                                       .locks = locks,
                                       .symbols = symbols,
                                       .table = memory_array(1, sizeof *gathering.table),
                                       .kept = memory_array(rows->count, sizeof *gathering.kept)};
    wait_table_index_locks(&gathering);
    for (size_t i = 1; i < profile->node_count; i++)
        wait_table_gather_node(&gathering, i);
    wait_table_gather_rests(&gathering);
    pair_map_free(&gathering.places);
    pair_map_free(&gathering.pairs);
    pair_map_free(&gathering.lock_index);
    free(gathering.kept);
    wait_table_sort(gathering.table);
    return gathering.table;
}

void wait_table_free(struct wait_table *table)
{
    if (!table)
        return;
    free(table->place);
    free(table->pair);
    free(table);
}
