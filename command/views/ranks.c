/* The ranks view: what each rank did with the time of its threads. If there are many ranks, shows their
 * distribution and the ranks that stand out. */
#include <stdlib.h>
#include <string.h>

#include "command/tables/ranks.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/text.h"

#define HOST_COLUMNS 12
#define MANY         40   /* largest number of ranks that are all listed */
#define STAND_OUT    5    /* largest number of ranks that are named for one column */
#define LEAST_EXCESS 1.05 /* a value stands out if it is at least this many times the mean */
#define WRONG_SHOWN  20

enum column { WALL, WORK, IDLE, OVERHEAD, LOCK_WAIT, NO_CORE, BLOCKED, MPI_WAIT, FOR_ANOTHER, MADE_WAIT, COLUMNS };

static const struct {
    const char *title;
    int width;
} columns[COLUMNS] = {
    [WALL] = {"wall", 10},           [WORK] = {"work", 10},           [IDLE] = {"idle", 10},
    [OVERHEAD] = {"overhead", 10},   [LOCK_WAIT] = {"lock wait", 10}, [NO_CORE] = {"no core", 10},
    [BLOCKED] = {"blocked", 10},     [MPI_WAIT] = {"mpi wait", 10},   [FOR_ANOTHER] = {"for another", 14},
    [MADE_WAIT] = {"made wait", 14},
};

static double rank_column_ns(const struct profile_rank *rank, int column)
{
    const double of[COLUMNS] = {[WALL] = (double)(int64_t)(rank->end_ns - rank->begin_ns),
                                [WORK] = rank->work,
                                [IDLE] = rank->idle,
                                [OVERHEAD] = rank->overhead,
                                [LOCK_WAIT] = rank->lock_wait,
                                [NO_CORE] = rank->no_core,
                                [BLOCKED] = rank->blocked,
                                [MPI_WAIT] = rank->mpi_wait,
                                [FOR_ANOTHER] = rank->rank_idle,
                                [MADE_WAIT] = rank->made_wait};
    return of[column];
}

/* Returns whether a column's value is known for the rank. The last two columns need ranks that saw the other
 * ranks of their node. */
static bool is_column_known(const struct profile_rank *rank, int column)
{
    return rank_counts(rank) && (column < FOR_ANOTHER || rank->ranks_seen);
}

/* Returns the number of columns. Leaves out the last two if they are unknown for all ranks. */
static int rank_column_count(const struct profile *profile)
{
    return profile->header.ranks_seen ? COLUMNS : FOR_ANOTHER;
}

static void print_rank_row(FILE *out, const struct profile *profile, const struct profile_rank *rank,
                           const struct view_style *style)
{
    char name[32], *host = format_fit(rank->host, HOST_COLUMNS, style->utf8);
    double whole =
        rank->work + rank->overhead + rank->lock_wait + rank->idle + rank->no_core + rank->blocked + rank->mpi_wait;
    rank_name(rank, name, sizeof name);
    fprintf(out, "%8s  %s%*s", name, host, HOST_COLUMNS - (int)format_columns(host), "");
    free(host);
    if (!rank_counts(rank)) {
        char *why = format_fit(rank->why, SIZE_MAX, style->utf8);
        fprintf(out, "  %s\n", why);
        free(why);
        return;
    }
    fprintf(out, "%8u", rank->threads);
    for (int column = 0; column < rank_column_count(profile); column++)
        fprintf(out, "%*s", columns[column].width,
                is_column_known(rank, column) ? DECIMAL(rank_column_ns(rank, column) * 1e-9, 2) : "");
    fprintf(out, "%8s%s\n", whole > 0 ? DECIMAL(100 * rank->idle / whole, 1) : "",
            rank->state == PROFILE_RANK_OPEN ? "  had not ended" : "");
}

static void print_rank_heads(FILE *out, const struct profile *profile, const struct view_style *style)
{
    fprintf(out, "\n%s%8s  %-*s%8s", format_strong(style->colour), "rank", HOST_COLUMNS, "node", "threads");
    for (int column = 0; column < rank_column_count(profile); column++)
        fprintf(out, "%*s", columns[column].width, columns[column].title);
    fprintf(out, "%8s%s\n", "idle %", format_plain(style->colour));
}

static void print_ranks_heading(FILE *out, const char *text, const struct view_style *style)
{
    fprintf(out, "\n%s%s%s\n", format_strong(style->colour), text, format_plain(style->colour));
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns a quantile of sorted values, by linear interpolation. */
static double quantile_of_ranks(const double *value, size_t count, double part)
{
    double at = part * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return value[below] + (at - (double)below) * (value[above] - value[below]);
}

/* Collects the known values of a column in ascending order, and returns their number. */
static size_t sorted_rank_values(const struct profile *profile, int column, double *value)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->rank_count; i++)
        if (is_column_known(&profile->ranks[i], column))
            value[count++] = rank_column_ns(&profile->ranks[i], column);
    qsort(value, count, sizeof *value, compare_doubles);
    return count;
}

enum { QUANTILES = 5, MEAN = QUANTILES, LINES };

static void print_ranks_spread(FILE *out, const struct profile *profile, const struct view_style *style)
{
    static const char *const title[LINES] = {"least", "10 %", "median", "90 %", "most", "mean"};
    static const double part[QUANTILES] = {0, 0.1, 0.5, 0.9, 1};
    double *value = memory_array(profile->rank_count, sizeof *value), line[LINES][COLUMNS];
    size_t known[COLUMNS];
    for (int column = 0; column < COLUMNS; column++) {
        double sum = 0;
        known[column] = sorted_rank_values(profile, column, value);
        for (size_t i = 0; i < known[column]; i++)
            sum += value[i];
        for (int i = 0; i < QUANTILES && known[column]; i++)
            line[i][column] = quantile_of_ranks(value, known[column], part[i]);
        line[MEAN][column] = sum / (double)known[column];
    }
    free(value);
    fprintf(out, "\n%s%*s", format_strong(style->colour), 18 + HOST_COLUMNS, "");
    for (int column = 0; column < rank_column_count(profile); column++)
        fprintf(out, "%*s", columns[column].width, columns[column].title);
    fprintf(out, "%s\n", format_plain(style->colour));
    for (int i = 0; i < LINES; i++) {
        fprintf(out, "%8s%*s", title[i], 10 + HOST_COLUMNS, "");
        for (int column = 0; column < rank_column_count(profile); column++)
            fprintf(out, "%*s", columns[column].width, known[column] ? DECIMAL(line[i][column] * 1e-9, 2) : "");
        putc('\n', out);
    }
}

static int compare_by_column(const void *left, const void *right, void *column)
{
    const struct profile_rank *a = *(const struct profile_rank *const *)left,
                              *b = *(const struct profile_rank *const *)right;
    double of_a = rank_column_ns(a, *(int *)column), of_b = rank_column_ns(b, *(int *)column);
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : (a > b) - (a < b);
}

/* Prints the ranks with the largest values of a column. */
static void print_highest_ranks(FILE *out, const struct profile *profile, int column, const char *heading,
                                const struct view_style *style)
{
    const struct profile_rank **rank = memory_array(profile->rank_count, sizeof *rank);
    size_t count = 0, told = 0;
    double sum = 0;
    for (size_t i = 0; i < profile->rank_count; i++)
        if (is_column_known(&profile->ranks[i], column)) {
            rank[count++] = &profile->ranks[i];
            sum += rank_column_ns(&profile->ranks[i], column);
        }
    qsort_r(rank, count, sizeof *rank, compare_by_column, &column);
    for (; told < count && told < STAND_OUT; told++) {
        if (rank_column_ns(rank[told], column) * (double)count <= LEAST_EXCESS * sum)
            break;
        if (!told)
            print_ranks_heading(out, heading, style);
        print_rank_row(out, profile, rank[told], style);
    }
    free(rank);
}

static void print_unfinished_ranks(FILE *out, const struct profile *profile, const struct view_style *style)
{
    size_t wrong = 0;
    for (size_t i = 0; i < profile->rank_count; i++) {
        if (profile->ranks[i].state == PROFILE_RANK_WHOLE)
            continue;
        if (wrong++ == 0)
            print_ranks_heading(out, "Missing, damaged or not ended normally", style);
        if (wrong <= WRONG_SHOWN)
            print_rank_row(out, profile, &profile->ranks[i], style);
    }
    if (wrong > WRONG_SHOWN)
        fprintf(out, "%8s  %zu more\n", "", wrong - WRONG_SHOWN);
}

static void print_many_ranks(FILE *out, const struct profile *profile, const struct view_style *style)
{
    char *text = format_printable("%zu ranks: their distribution, and the ranks that stand out. --all and --format "
                                  "csv list all ranks.",
                                  profile->rank_count);
    format_paragraph(out, text, style->columns);
    free(text);
    print_ranks_spread(out, profile, style);
    print_rank_heads(out, profile, style);
    print_highest_ranks(out, profile, MADE_WAIT, "Made others wait most", style);
    print_highest_ranks(out, profile, WORK, "Most work", style);
    print_highest_ranks(out, profile, MPI_WAIT, "Most mpi wait", style);
    print_unfinished_ranks(out, profile, style);
}

void view_text_ranks(FILE *out, const struct profile *profile, const struct view_style *style)
{
    view_text_header(out, profile, style);
    view_text_efficiencies(out, profile, style);
    putc('\n', out);
    format_paragraph(out, "Seconds of the ranks' threads; idle is time without work inside the rank.", style->columns);
    if (profile->header.ranks_seen)
        format_paragraph(out,
                         "For another: the part of mpi wait in which another rank of the node was busy and is "
                         "blamed. Made wait: the waiting of other ranks for which this rank is blamed.",
                         style->columns);
    if (profile->rank_count > MANY && !style->all) {
        print_many_ranks(out, profile, style);
        return;
    }
    print_rank_heads(out, profile, style);
    for (size_t i = 0; i < profile->rank_count; i++)
        print_rank_row(out, profile, &profile->ranks[i], style);
}
