#include "command/tables/culprits.h"

#include <stdlib.h>

#include "command/profile/pair_map.h"
#include "command/rows/metric.h"
#include "command/rows/own.h"
#include "command/text/memory.h"

struct culprit_part {
    uint32_t row, bin;
    double idleness, lock_wait;
};

static int culprits_compare_parts(const void *left, const void *right)
{
    const struct culprit_part *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->bin > b->bin) - (a->bin < b->bin);
}

static int culprits_compare(const void *left, const void *right)
{
    const struct culprit *a = left, *b = right;
    double blame_a = culprit_blame(a), blame_b = culprit_blame(b);
    if (blame_a != blame_b)
        return blame_a > blame_b ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Returns the row of a node's code: its own row or, if that is a statement, the row of the function. */
static uint32_t culprits_row_of_code(const struct rows *rows, uint32_t node)
{
    uint32_t row = row_of_node(rows, node);
    return rows->row[row].kind == ROW_STATEMENT ? rows->row[row].parent : row;
}

/* Returns, for each row, the first row that differs from it only in the numbers of phase executions. */
static uint32_t *culprits_join_instances(const struct rows *rows)
{
    uint32_t *first = memory_array(rows->count, sizeof *first);
    struct pair_map map = {0};
    for (uint32_t row = 1; row < rows->count; row++) {
        const struct row *at = &rows->row[row];
        if (row_is_instance(rows->row, row)) {
            first[row] = first[at->parent];
            continue;
        }
        uint64_t caller = (uint64_t)first[at->parent] << 32 | (uint32_t)at->call_line;
        uint32_t *slot = pair_map_slot(&map, caller, (uint64_t)at->kind << 32 | at->function);
        if (*slot == PAIR_MAP_NEW)
            *slot = row;
        first[row] = *slot;
    }
    pair_map_free(&map);
    return first;
}

static size_t culprits_gather_parts(const struct profile *profile, const struct rows *rows, bool joined,
                                    struct culprit_part *parts)
{
    const struct timeline *timeline = &profile->timeline;
    uint32_t *first_row = joined ? culprits_join_instances(rows) : NULL;
    size_t count = 0;
    for (size_t i = 0; i < timeline->cell_count;) {
        const struct timeline_cell *first = &timeline->cells[i];
        struct profile_sums sums = {0};
        for (;
             i < timeline->cell_count && timeline->cells[i].node == first->node && timeline->cells[i].bin == first->bin;
             i++) {
            const struct profile_time_value *value = &timeline->cells[i].value;
            sums.work += (double)value->own;
            sums.inverse_busy += (double)value->inverse_busy;
            sums.shared_idle += (double)value->shared_idle;
            sums.lock_wait += (double)value->lock_wait;
        }
        uint32_t row = culprits_row_of_code(rows, first->node);
        if (first_row)
            row = first_row[row_is_handoff(&rows->row[row]) ? row : rows_own(rows, row)];
        parts[count++] = (struct culprit_part){.row = row,
                                               .bin = first->bin,
                                               .idleness = metric_value(rows, &sums, METRIC_IDLENESS),
                                               .lock_wait = metric_value(rows, &sums, METRIC_LOCK_WAIT)};
    }
    free(first_row);
    qsort(parts, count, sizeof *parts, culprits_compare_parts);
    return count;
}

struct culprits culprits_gather(const struct profile *profile, const struct rows *rows, bool joined)
{
    struct culprits culprits = {0};
    struct culprit_part *parts = memory_array(profile->timeline.cell_count, sizeof *parts);
    size_t count = culprits_gather_parts(profile, rows, joined, parts), bins = 0, room = 0;
    culprits.bin = memory_array(count, sizeof *culprits.bin);
    for (size_t i = 0; i < count; i++) {
        const struct culprit_part *part = &parts[i];
        if (i == 0 || part->row != parts[i - 1].row) {
            memory_grow(&culprits.culprit, &room, culprits.count, sizeof *culprits.culprit);
            culprits.culprit[culprits.count++] = (struct culprit){.row = part->row, .first = bins};
        }
        struct culprit *culprit = &culprits.culprit[culprits.count - 1];
        if (!culprit->count || culprits.bin[bins - 1].bin != part->bin) {
            culprits.bin[bins++] = (struct culprit_bin){.bin = part->bin};
            culprit->count++;
        }
        culprits.bin[bins - 1].idleness += part->idleness;
        culprits.bin[bins - 1].lock_wait += part->lock_wait;
        culprit->idleness += part->idleness;
        culprit->lock_wait += part->lock_wait;
    }
    free(parts);
    if (culprits.count)
        qsort(culprits.culprit, culprits.count, sizeof *culprits.culprit, culprits_compare);
    return culprits;
}

void culprits_free(struct culprits *culprits)
{
    free(culprits->culprit);
    free(culprits->bin);
    *culprits = (struct culprits){0};
}
