/* The memory of rows, and their sums. In a large profile, most rows have only one child or only one node with
 * cost. Such a row has the same sums as that child or node, and points to them instead of having a copy. */
#include <stdlib.h>

#include "command/rows/make.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

const struct row_label row_no_label = {.name = "", .module = "", .file = ""};
const struct profile_sums row_no_sums;

struct rows *rows_like(const struct rows *rows)
{
    struct rows *made = memory_array(1, sizeof *made);
    made->threads = rows->threads;
    made->cores = rows->cores;
    made->job = rows->job;
    made->error = rows->error;
    made->shared = rows->shared;
    made->without_team = rows->without_team;
    made->without_openmp = rows->without_openmp;
    made->cores_ns = rows->cores_ns;
    made->events = rows->events;
    made->whole = rows_whole(rows);
    made->counter_count = rows->counter_count;
    made->counter_name = rows->counter_name;
    made->whole_counters = rows_whole_counters(rows);
    return made;
}

void *rows_alloc(struct rows *rows, size_t bytes)
{
    return pool_alloc(&rows->memory, bytes);
}

uint32_t row_of_node(const struct rows *rows, uint32_t node)
{
    while (node && rows->node_context[node] == ROW_NONE)
        node = rows->profile->nodes[node].parent;
    return node ? rows->node_context[node] : 0;
}

void rows_free(struct rows *rows)
{
    if (!rows)
        return;
    pool_free(&rows->memory);
    free(rows->row);
    free(rows->node_row);
    free(rows->node_context);
    free(rows->node_waits);
    free(rows->node_updates);
    free(rows->node_combines);
    free(rows->spread);
    strings_free(rows->strings);
    free(rows);
}

bool rows_sums_are_zero(const struct profile_sums *sums)
{
    return sums->samples == 0 && sums->work == 0 && sums->overhead == 0 && sums->lock_wait == 0 &&
           sums->inverse_busy == 0 && sums->shared_idle == 0 && sums->lock_wait_here == 0 && sums->no_core == 0 &&
           sums->blocked == 0 && sums->mpi_wait == 0 && sums->own_elsewhere == 0 && sums->rank_idle == 0 &&
           sums->core_idle == 0 && sums->core_beyond == 0 && sums->rank_waited == 0;
}

/* Adds sums to one of a row's sums. As long as only one record has been added, the row points to that record. */
static void row_add_sums(struct rows *rows, const struct profile_sums **sum, bool *own, const struct profile_sums *sums)
{
    if (rows_sums_are_zero(sums))
        return;
    if (rows_sums_are_zero(*sum)) {
        *sum = sums;
        *own = false;
        return;
    }
    if (!*own) {
        struct profile_sums *copy = rows_alloc(rows, sizeof *copy);
        *copy = **sum;
        *sum = copy;
        *own = true;
    }
    profile_sums_add((struct profile_sums *)*sum, sums);
}

void rows_add_inclusive(struct rows *rows, struct row *row, const struct profile_sums *sums)
{
    row_add_sums(rows, &row->inclusive, &row->own_inclusive, sums);
}

void rows_add_exclusive(struct rows *rows, struct row *row, const struct profile_sums *sums)
{
    row_add_sums(rows, &row->exclusive, &row->own_exclusive, sums);
}

/* `exclusive` has the sums of the row's own nodes. Children have larger indices than their parents, so the
 * inclusive sums of a row are complete before they are added to its parent. From then on, the parent may
 * share them. */
void rows_sum(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        rows->row[i].inclusive = rows->row[i].exclusive;
        rows->row[i].own_exclusive = false;
    }
    for (size_t i = rows->count; i-- > 1;)
        rows_add_inclusive(rows, &rows->row[rows->row[i].parent], rows->row[i].inclusive);
    for (size_t i = 1; i < rows->count; i++)
        if (rows->row[i].kind == ROW_STATEMENT)
            rows_add_exclusive(rows, &rows->row[rows->row[i].parent], rows->row[i].exclusive);
}
