#include "compare/history.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare/statistics.h"
#include "report/text/memory.h"

#define PERMUTATIONS 999
#define EQUAL        1e-9

struct history {
    const double *value;
    const size_t *revision;
    double *rank, *sorted; /* room for all */
    double least;
    struct history_change *change;
    size_t changes;
};

static int by_value(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Ranks from 1 on within [from, to); of equal values their mean. */
static void rank(struct history *history, size_t from, size_t to)
{
    size_t count = to - from;
    memcpy(history->sorted, history->value + from, count * sizeof *history->sorted);
    qsort(history->sorted, count, sizeof *history->sorted, by_value);
    for (size_t i = 0; i < count; i++) {
        double value = history->value[from + i];
        size_t low = 0, high = count, first, last;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (history->sorted[middle] < value)
                low = middle + 1;
            else
                high = middle;
        }
        for (first = last = low; last < count && history->sorted[last] == value; last++)
            ;
        history->rank[i] = (double)(first + last + 1) / 2;
    }
}

/* The greatest deviation of a rank sum, in its standard errors, at a boundary between revisions; *at: the run behind it. */
static double clearest(const struct history *history, size_t from, size_t count, size_t *at)
{
    double sum = 0, most = 0, all = (double)count;
    for (size_t i = 0; i + 1 < count; i++) {
        sum += history->rank[i];
        double runs = (double)(i + 1);
        double off = fabs(sum - runs * (all + 1) / 2) / sqrt(runs * (all - runs) * (all + 1) / 12);
        if (history->revision[from + i] != history->revision[from + i + 1] && off > most + EQUAL) {
            most = off;
            *at = from + i + 1;
        }
    }
    return most;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double chance_of(struct history *history, size_t from, size_t count, double clear)
{
    uint64_t state = count;
    size_t as_clear = 0, unused;
    for (size_t i = 0; i < PERMUTATIONS; i++) {
        for (size_t left = count; left > 1; left--) {
            size_t other = next_random(&state) % left;
            double kept = history->rank[left - 1];
            history->rank[left - 1] = history->rank[other];
            history->rank[other] = kept;
        }
        as_clear += clearest(history, from, count, &unused) >= clear - EQUAL;
    }
    return (double)(as_clear + 1) / (PERMUTATIONS + 1);
}

static double median(struct history *history, size_t from, size_t to)
{
    memcpy(history->sorted, history->value + from, (to - from) * sizeof *history->sorted);
    return statistics_median(history->sorted, to - from);
}

static void divide(struct history *history, size_t from, size_t to)
{
    size_t at = from;
    if (to - from < 2)
        return;
    rank(history, from, to);
    double clear = clearest(history, from, to - from, &at), chance = at > from ? chance_of(history, from, to - from, clear) : 1;
    if (chance > HISTORY_LEVEL || !(fabs(median(history, at, to) - median(history, from, at)) >= history->least * fabs(median(history, from, at))))
        return;
    divide(history, from, at);
    history->change[history->changes++] = (struct history_change){.at = at, .chance = chance}; /* the run, for now */
    divide(history, at, to);
}

/* Levels and bounds, from the runs up to the changes beside it. */
static void measure(struct history *history, struct history_change *change, size_t from, size_t to)
{
    size_t at = change->at, before = at - from < STATISTICS_RUNS ? at - from : STATISTICS_RUNS, after = to - at < STATISTICS_RUNS ? to - at : STATISTICS_RUNS;
    double *pair = memory_array(before * after, sizeof *pair), *exact = memory_array(STATISTICS_RUNS, sizeof *exact);
    struct statistics_side old = {history->value + at - before, exact, before}, new = {history->value + at, exact, after};
    struct statistics_change bounds = statistics_change_of(&old, &new, 1, pair);
    change->before = median(history, from, at);
    change->after = median(history, at, to);
    change->low = bounds.low / change->before;
    change->high = bounds.high / change->before;
    free(pair);
    free(exact);
}

size_t history_changes(const double *value, const size_t *revision, size_t count, double least, struct history_change *change)
{
    struct history history = {.value = value, .revision = revision, .least = least, .change = change, .rank = memory_array(count + 1, sizeof(double)),
                              .sorted = memory_array(count + 1, sizeof(double))};
    divide(&history, 0, count);
    for (size_t i = 0; i < history.changes; i++)
        measure(&history, &change[i], i ? change[i - 1].at : 0, i + 1 < history.changes ? change[i + 1].at : count);
    for (size_t i = 0; i < history.changes; i++)
        change[i].at = revision[change[i].at];
    free(history.rank);
    free(history.sorted);
    return history.changes;
}
