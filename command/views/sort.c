/* Orders tables, and chooses the entries that they leave out. */
#include "command/views/sort.h"

#include <stdlib.h>
#include <string.h>

#include "command/tables/waits.h"
#include "command/text/memory.h"

/* Items ordered by value, largest first. Items with equal values keep their order. */
struct sorted {
    double value;
    size_t index;
};

static int compare_sorted(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static double lock_value(const struct lock_entry *lock, enum metric metric)
{
    if (metric == METRIC_SAMPLES)
        return (double)lock->contended;
    return metric == METRIC_LOCK_WAIT_HERE ? lock->waiter_ns : lock->wait_ns;
}

static int compare_sorted_locks(const void *left, const void *right, void *metric)
{
    double a = lock_value(left, *(enum metric *)metric), b = lock_value(right, *(enum metric *)metric);
    const struct lock_entry *x = left, *y = right;
    if (a != b)
        return a > b ? -1 : 1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns > y->wait_ns ? -1 : 1;
    return (x->wait_id > y->wait_id) - (x->wait_id < y->wait_id);
}

struct view_cut view_sort_locks(struct lock_table *table, enum metric metric, double least)
{
    struct view_cut cut = {0};
    size_t kept = 0;
    double whole = 1e9 * metric_value(table->rows, rows_whole(table->rows), METRIC_EFFORT);
    qsort_r(table->lock, table->count, sizeof *table->lock, compare_sorted_locks, &metric);
    for (size_t i = 0; i < table->count; i++) {
        struct lock_entry *lock = &table->lock[i];
        if (100 * lock->wait_ns >= least * whole) {
            table->lock[kept++] = *lock;
            continue;
        }
        cut.count++;
        cut.ns += lock->wait_ns;
        free(lock->name);
        free(lock->symbol);
        free(lock->initialiser);
    }
    table->count = kept;
    return cut;
}

static double place_value(const struct wait_place *place, enum metric metric)
{
    return metric == METRIC_EFFORT || metric == wait_metric(place->kind) ? place->ns : 0;
}

struct view_cut view_sort_waits(struct wait_table *table, enum metric metric, double least)
{
    struct view_cut cut = {0};
    size_t places = 0, pairs = 0;
    double whole = 0;
    struct sorted *sorted = memory_array(table->place_count, sizeof *sorted);
    struct wait_place *place = memory_array(table->place_count, sizeof *place);
    struct wait_pair *pair = memory_array(table->pair_count, sizeof *pair);
    for (size_t i = 0; i < table->place_count; i++) {
        sorted[i] = (struct sorted){place_value(&table->place[i], metric), i};
        whole += table->place[i].ns;
    }
    qsort(sorted, table->place_count, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < table->place_count; i++) {
        struct wait_place from = table->place[sorted[i].index];
        if (100 * from.ns < least * whole) {
            cut.count++;
            cut.ns += from.ns;
            continue;
        }
        for (uint32_t p = 0; p < from.pair_count; p++) {
            pair[pairs + p] = table->pair[from.first_pair + p];
            pair[pairs + p].place = (uint32_t)places;
        }
        from.first_pair = (uint32_t)pairs;
        pairs += from.pair_count;
        place[places++] = from;
    }
    free(sorted);
    free(table->place);
    free(table->pair);
    *table = (struct wait_table){.place = place,
                                 .place_count = places,
                                 .place_capacity = table->place_count,
                                 .pair = pair,
                                 .pair_count = pairs,
                                 .pair_capacity = table->pair_count};
    return cut;
}

static double thread_value(const struct profile_thread *thread, enum metric metric)
{
    switch (metric) {
    case METRIC_WORK:
        return thread->work;
    case METRIC_OVERHEAD:
        return thread->overhead;
    case METRIC_LOCK_WAIT:
        return thread->lock_wait;
    case METRIC_MPI_WAIT:
        return thread->mpi_wait;
    case METRIC_NO_CORE:
        return thread->no_core;
    case METRIC_BLOCKED:
        return thread->blocked;
    case METRIC_SAMPLES:
        return (double)thread->recorded;
    default:
        return thread->idle;
    }
}

size_t *view_sort_threads(const struct profile *profile, enum metric metric)
{
    struct sorted *sorted = memory_array(profile->thread_count, sizeof *sorted);
    size_t *order = memory_array(profile->thread_count, sizeof *order);
    for (size_t i = 0; i < profile->thread_count; i++)
        sorted[i] = (struct sorted){thread_value(&profile->threads[i], metric), i};
    qsort(sorted, profile->thread_count, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < profile->thread_count; i++)
        order[i] = sorted[i].index;
    free(sorted);
    return order;
}
