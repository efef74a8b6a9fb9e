#include "compare/align.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

#define OTHER_FILE 1e6 /* lines: worse than any move within a file */
#define MOST_CELLS (1u << 24)

int align_order(const struct align_place *left, const struct align_place *right)
{
    int order = strcmp(left->file, right->file);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static double distance(const struct align_place *a, const struct align_place *b)
{
    double lines = a->line > b->line ? (double)a->line - b->line : (double)b->line - a->line;
    bool known = *a->file && *b->file;
    return known && strcmp(a->file, b->file) != 0 ? OTHER_FILE : lines;
}

/* cost[i][j]: of the first i places of the shorter list among the first j of the longer, all matched. */
static void fill(double *cost, const struct align_place *shorter, size_t n, const struct align_place *longer,
                 size_t m)
{
    size_t width = m + 1;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = i; j <= m - (n - i); j++) {
            double matched = cost[(i - 1) * width + j - 1] + distance(&shorter[i - 1], &longer[j - 1]);
            bool may_skip = j > i;
            double skipped = may_skip ? cost[i * width + j - 1] : 0;
            cost[i * width + j] = may_skip && skipped <= matched ? skipped : matched;
        }
}

void align_places(const struct align_place *a, size_t a_count, const struct align_place *b, size_t b_count,
                  size_t *match)
{
    bool a_shorter = a_count < b_count;
    size_t n = a_shorter ? a_count : b_count, m = a_shorter ? b_count : a_count;
    for (size_t i = 0; i < b_count; i++)
        match[i] = ALIGN_NONE;
    if (n == m || n > MOST_CELLS / (m + 1)) {
        for (size_t i = 0; i < n; i++)
            match[i] = i;
        return;
    }
    double *cost = memory_array((n + 1) * (m + 1), sizeof *cost);
    fill(cost, a_shorter ? a : b, n, a_shorter ? b : a, m);
    for (size_t i = n, j = m; i > 0;) {
        if (j > i && cost[i * (m + 1) + j] == cost[i * (m + 1) + j - 1]) {
            j--;
            continue;
        }
        i--;
        j--;
        match[a_shorter ? j : i] = a_shorter ? i : j;
    }
    free(cost);
}
