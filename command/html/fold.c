#include "command/html/fold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cct/sums.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

/* Returns the metric by whose share a row is shown or folded, for column i. Core idleness can be negative;
 * thread idleness replaces it, because it is made from the same sums and cannot be negative. */
static enum metric fold_size(size_t i)
{
    return i == METRIC_CORE_IDLENESS ? METRIC_THREAD_IDLENESS : (enum metric)i;
}

/* A shown row whose subtree is being visited. */
struct open_row {
    uint32_t end, number;
    /* sums of the folded children that are calls, and of those that are statements; NULL: there are none */
    struct profile_sums *calls, *lines;
    struct row_extra *call_counters, *line_counters; /* counters of folded children, in the same way */
};

struct folding {
    struct fold *fold;
    struct open_row *open;
    size_t depth, room;
    uint32_t function; /* function number of rows that stand for folded calls */
};

/* Returns the largest of the row's shares of all metrics, in percent. */
static float fold_share_of(const struct rows *rows, const struct row *row, const double total[METRIC_COLUMNS])
{
    double most = 0;
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        double share = total[i] > 0 ? 100 * metric_value(rows, row->inclusive, fold_size(i)) / total[i] : 0;
        most = share > most ? share : most;
    }
    return (float)most;
}

static float *fold_shares(const struct rows *rows)
{
    double total[METRIC_COLUMNS];
    float *share = memory_array(rows->count, sizeof *share);
    for (size_t i = 0; i < METRIC_COLUMNS; i++)
        total[i] = metric_value(rows, rows->row[0].inclusive, fold_size(i));
    for (size_t i = 0; i < rows->count; i++)
        share[i] = fold_share_of(rows, &rows->row[i], total);
    /* Rounding must not hide the parent of a shown child. */
    for (size_t i = rows->count; i-- > 1;)
        if (share[rows->row[i].parent] < share[i])
            share[rows->row[i].parent] = share[i];
    share[0] = INFINITY;
    return share;
}

static int fold_compare_shares(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;
    return (a < b) - (a > b);
}

/* Returns the number of rows that remain if rows with a share below `least` are folded, counting the rows
 * that stand for folded ones. stand_ins is scratch memory for two flags per row. */
static size_t fold_count_left(const struct rows *rows, const float *share, double least, bool *stand_ins)
{
    size_t left = 0;
    memset(stand_ins, 0, 2 * rows->count * sizeof *stand_ins);
    for (size_t i = 0; i < rows->count; i++) {
        bool *stand_in = i ? &stand_ins[2 * rows->row[i].parent + (rows->row[i].kind == ROW_STATEMENT)] : NULL;
        bool shown = share[i] >= least;
        if (shown)
            left++;
        else if (share[rows->row[i].parent] >= least && !*stand_in) {
            *stand_in = true;
            left++;
        }
    }
    return left;
}

/* Returns the smallest share that leaves at most `most` rows. Rows of equal share are either all kept or all
 * folded. */
static double fold_choose_least_share(const struct rows *rows, const float *share, size_t most)
{
    float *sorted = memory_array(rows->count, sizeof *sorted);
    bool *stand_ins = memory_array(2 * rows->count, sizeof *stand_ins);
    memcpy(sorted, share, rows->count * sizeof *sorted);
    qsort(sorted, rows->count, sizeof *sorted, fold_compare_shares);
    /* `good` kept rows are known to fit, and `bad` kept rows are not; the root is always kept */
    size_t good = 1, bad = most;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        bool fits = fold_count_left(rows, share, nextafterf(sorted[middle], INFINITY), stand_ins) <= most;
        *(fits ? &good : &bad) = middle;
    }
    double least = nextafterf(sorted[good], INFINITY);
    free(stand_ins);
    free(sorted);
    return least;
}

static void fold_add_sums(struct rows *made, struct profile_sums **sum, const struct profile_sums *sums)
{
    if (!*sum)
        *sum = rows_alloc(made, sizeof **sum);
    profile_sums_add(*sum, sums);
}

/* Adds the counters of a folded row. They become the own counters of the row that stands for it. */
static void fold_add_counters(struct rows *made, struct row_extra **sum, const struct row_extra *extra)
{
    if (!extra)
        return;
    if (!*sum)
        *sum = rows_alloc(made, sizeof **sum);
    sums_add_counters(&(*sum)->inclusive, &extra->inclusive);
    (*sum)->exclusive = (*sum)->inclusive;
}

/* Appends the row that stands for folded children, as the last child of a shown row. */
static void fold_append_stand_in(struct folding *folding, const struct open_row *open, enum row_kind kind,
                                 const struct profile_sums *sum, const struct row_extra *counters)
{
    struct rows *made = folding->fold->made;
    if (!sum)
        return;
    uint32_t number = rows_append(made, open->number, kind);
    struct row_label *label = rows_alloc(made, sizeof *label);
    const struct row *parent = &made->row[open->number];
    struct row *row = &made->row[number];
    *label =
        (struct row_label){.name = FOLD_NAME, .module = "", .file = kind == ROW_STATEMENT ? parent->label->file : ""};
    row->label = label;
    row->depth = parent->depth + 1;
    row->end = number + 1;
    row->function = kind == ROW_STATEMENT ? ROW_NONE : folding->function;
    row->inclusive = row->exclusive = sum;
    row->extra = counters;
}

static void fold_close_row(struct folding *folding)
{
    struct open_row *open = &folding->open[--folding->depth];
    fold_append_stand_in(folding, open, ROW_STATEMENT, open->lines, open->line_counters);
    fold_append_stand_in(folding, open, ROW_PSEUDO, open->calls, open->call_counters);
    folding->fold->made->row[open->number].end = (uint32_t)folding->fold->made->count;
}

static void fold_show_row(struct folding *folding, uint32_t index)
{
    struct fold *fold = folding->fold;
    const struct row *row = &fold->rows->row[index];
    uint32_t parent = folding->depth ? folding->open[folding->depth - 1].number : ROW_NONE;
    uint32_t number = rows_append(fold->made, parent, (enum row_kind)row->kind);
    memory_grow(&folding->open, &folding->room, folding->depth, sizeof *folding->open);
    fold->made->row[number] = *row;
    fold->made->row[number].parent = parent;
    fold->made->row[number].own_inclusive = fold->made->row[number].own_exclusive = false;
    fold->number[index] = number;
    folding->open[folding->depth++] = (struct open_row){.end = row->end, .number = number};
}

static void fold_row(struct folding *folding, uint32_t index)
{
    struct fold *fold = folding->fold;
    const struct row *row = &fold->rows->row[index];
    struct open_row *open = &folding->open[folding->depth - 1];
    fold->left_out += row->end - index;
    bool line = row->kind == ROW_STATEMENT;
    fold_add_counters(fold->made, line ? &open->line_counters : &open->call_counters, row->extra);
    fold_add_sums(fold->made, line ? &open->lines : &open->calls, row->inclusive);
}

static void fold_make_rows(struct fold *fold, const float *share)
{
    const struct rows *rows = fold->rows;
    struct folding folding = {.fold = fold};
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT && rows->row[i].function != ROW_NONE &&
            rows->row[i].function >= folding.function)
            folding.function = rows->row[i].function + 1;
    for (uint32_t i = 0; i < rows->count;) {
        while (folding.depth && folding.open[folding.depth - 1].end <= i)
            fold_close_row(&folding);
        bool shown = share[i] >= fold->least_percent;
        (shown ? fold_show_row : fold_row)(&folding, i);
        i = shown ? i + 1 : rows->row[i].end;
    }
    while (folding.depth)
        fold_close_row(&folding);
    free(folding.open);
}

void fold_small(struct fold *fold, const struct rows *rows, double least_percent, size_t most)
{
    *fold = (struct fold){.rows = rows, .shown = rows, .least_percent = least_percent};
    if (least_percent == 0 || (least_percent < 0 && rows->count <= most)) {
        fold->least_percent = 0;
        return;
    }
    float *share = fold_shares(rows);
    if (least_percent < 0)
        fold->least_percent = fold_choose_least_share(rows, share, most);
    fold->shown = fold->made = rows_like(rows);
    fold->number = memory_array(rows->count, sizeof *fold->number);
    memset(fold->number, 0xff, rows->count * sizeof *fold->number);
    fold_make_rows(fold, share);
    free(share);
}

void fold_free(struct fold *fold)
{
    rows_free(fold->made);
    free(fold->number);
    *fold = (struct fold){0};
}

uint32_t fold_number(const struct fold *fold, uint32_t row)
{
    return row == ROW_NONE || !fold->number ? row : fold->number[row];
}

uint32_t fold_nearest(const struct fold *fold, uint32_t row)
{
    while (row != ROW_NONE && fold_number(fold, row) == ROW_NONE)
        row = fold->rows->row[row].parent;
    return fold_number(fold, row);
}
