/* Finds ranks that spend longer outside MPI than the other ranks, which wait for them. The rule uses sums of
 * whole ranks, for jobs whose ranks did not all see each other. find_late_ranks() judges the waits seen
 * within a node, and find_late_between_nodes() the waits in collective calls. */
#include "command/findings/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/tables/efficiency.h"
#include "command/tables/ranks.h"
#include "command/tables/spreads.h"
#include "command/text/memory.h"

#define NAMED 3 /* number of ranks that the title names */

/* Seconds. */
struct unequal {
    const double *outside_ns; /* by record */
    /* number of ranks that are compared; indices of the ranks with most and least time outside MPI */
    size_t ranks, most, least;
    double mean_s, most_s, least_s;
    /* seconds that the initial threads of all ranks but the latest waited, without the waiting of other
     * findings */
    double others_wait_s;
    /* seconds that the ranks would wait for the latest rank if all had met only once, at the end */
    double excess_s;
};

/* Returns for how many ns a rank waited, without the waiting that is reported as waiting for ranks of its own
 * node. */
static double untold_wait_ns(const struct inquiry *inquiry, const struct profile_rank *rank)
{
    return fmax(0, rank->mpi_wait - (inquiry->late_told ? rank->rank_idle : 0));
}

static bool sum_up_ranks(const struct inquiry *inquiry, struct unequal *late)
{
    const struct profile *profile = inquiry->profile;
    double sum_ns = 0, wait_ns = 0;
    for (size_t i = 0; i < profile->rank_count; i++) {
        double ns = late->outside_ns[i];
        if (isnan(ns))
            continue;
        if (!late->ranks || ns > late->outside_ns[late->most])
            late->most = i;
        if (!late->ranks || ns < late->outside_ns[late->least])
            late->least = i;
        late->ranks++;
        sum_ns += ns;
        wait_ns += untold_wait_ns(inquiry, &profile->ranks[i]);
    }
    if (late->ranks < 2)
        return false;
    late->mean_s = sum_ns * 1e-9 / (double)late->ranks;
    late->most_s = late->outside_ns[late->most] * 1e-9;
    late->least_s = late->outside_ns[late->least] * 1e-9;
    late->others_wait_s = (wait_ns - untold_wait_ns(inquiry, &profile->ranks[late->most])) * 1e-9;
    late->excess_s = (double)late->ranks * (late->most_s - late->mean_s);
    return late->mean_s > 0;
}

struct late_rank {
    size_t record;
    double ns;
};

static int compare_time_outside_mpi(const void *left, const void *right)
{
    const struct late_rank *a = left, *b = right;
    return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : (a->record > b->record) - (a->record < b->record);
}

/* Returns "rank 3 spends" or "ranks 3, 7, 9 and 2 more spend up to". Names the ranks whose time is nearer to
 * the latest rank's than to the mean. */
static char *begin_unequal_title(const struct profile *profile, const struct unequal *late)
{
    struct late_rank *rank = memory_array(profile->rank_count, sizeof *rank);
    char *text = NULL, name[32];
    size_t count = 0;
    for (size_t i = 0; i < profile->rank_count; i++)
        if (late->outside_ns[i] * 1e-9 > (late->mean_s + late->most_s) / 2)
            rank[count++] = (struct late_rank){i, late->outside_ns[i]};
    qsort(rank, count, sizeof *rank, compare_time_outside_mpi);
    FILE *out = memory_stream(&text);
    for (size_t i = 0; i < count && i < NAMED; i++) {
        rank_name(&profile->ranks[rank[i].record], name, sizeof name);
        fprintf(out, "%s%s", i ? ", " : count > 1 ? "ranks " : "rank ", name);
    }
    if (count > NAMED)
        fprintf(out, " and %zu more", count - NAMED);
    fputs(count > 1 ? " spend up to" : " spends", out);
    memory_stream_close(out);
    free(rank);
    return text;
}

static bool is_ranks_work(const struct inquiry *inquiry, uint32_t row, const char *rank, struct spread_entry *entry)
{
    return spread_of_row(inquiry->profile, inquiry->rows, row, PROFILE_SPREAD_WORK, false, entry) &&
           strcmp(entry->most_rank, rank) == 0;
}

/* Returns the innermost row of the program's own code that has at least half of the rank's work beyond the
 * mean, and in which no rank works longer. Its row is ROW_NONE if there is none. */
static struct spread_entry find_most_work(const struct inquiry *inquiry, const char *rank)
{
    const struct rows *rows = inquiry->rows;
    struct spread_entry whole, entry, code = {.row = ROW_NONE};
    if (!is_ranks_work(inquiry, 0, rank, &whole))
        return code;
    for (size_t i = 0; i < rows->spread_count; i++) {
        uint32_t row = rows->spread[i].row;
        bool outer = code.row != ROW_NONE && rows->row[row].depth <= rows->row[code.row].depth;
        if (row != 0 && !outer && !rows->row[row].foreign && is_ranks_work(inquiry, row, rank, &entry) &&
            entry.most - entry.mean >= MOSTLY * (whole.most - whole.mean))
            code = entry;
    }
    return code;
}

/* "" of none. */
static char *describe_most_work(const struct inquiry *inquiry, const struct spread_entry *code, const char *rank)
{
    char name[NAME_BYTES];
    if (code->row == ROW_NONE)
        return memory_text("%s", "");
    shorten_name(name, inquiry->rows->row[code->row].label->name);
    return memory_text("; rank %s works %s s in %s, compared with a mean of %s s", rank, DECIMAL(code->most * 1e-9, 2),
                       name, DECIMAL(code->mean * 1e-9, 2));
}

static void put_unequal_ranks(struct inquiry *inquiry, const struct unequal *late)
{
    const struct profile *profile = inquiry->profile;
    double seconds = fmin(late->others_wait_s, late->excess_s);
    char *begin = begin_unequal_title(profile, late), latest[32], least[32];
    rank_name(&profile->ranks[late->most], latest, sizeof latest);
    rank_name(&profile->ranks[late->least], least, sizeof least);
    char total[FORMAT_NUMBER_BYTES + 48] = "";
    if (late->others_wait_s > seconds)
        snprintf(total, sizeof total, "; the others wait %s s in MPI in total", DECIMAL(late->others_wait_s, 2));
    struct spread_entry code = find_most_work(inquiry, latest);
    char *where = describe_most_work(inquiry, &code, latest);
    struct finding finding = {
        .rule = "unequal-ranks", .row = code.row, .metric = METRIC_MPI_WAIT, .seconds = seconds, .sampled = true};
    struct relief relief = {.wall_s = late->most_s - late->mean_s, .moved_s = INFINITY};
    finding.title = format_printable("%s %s times the mean time outside MPI, while the others wait %s s in MPI", begin,
                                     DECIMAL(late->most_s / late->mean_s, 2), DECIMAL(seconds, 2));
    finding.evidence = format_printable("of %zu ranks, rank %s spends %s s outside MPI, compared with a mean of %s s "
                                        "and with %s s for rank %s%s%s",
                                        late->ranks, latest, DECIMAL(late->most_s, 2), DECIMAL(late->mean_s, 2),
                                        DECIMAL(late->least_s, 2), least, total, where);
    finding.advice =
        format_printable("%s", "Give the named ranks less work. --view ranks and --view spread compare the ranks.");
    put_bounded_finding(inquiry, &finding, &relief);
    free(where);
    free(begin);
}

void find_unequal_ranks(struct inquiry *inquiry)
{
    const struct profile_header *header = &inquiry->profile->header;
    /* If every rank saw all others, sums of whole ranks say nothing more. */
    bool seen = header->ranks > 1 && header->ranks_seen >= header->ranks;
    double *outside_ns = header->merged && !seen && !inquiry->between_ns ? ranks_outside_mpi(inquiry->profile) : NULL;
    struct unequal late = {.outside_ns = outside_ns};
    if (outside_ns && sum_up_ranks(inquiry, &late) &&
        finding_is_enough(inquiry, fmin(late.others_wait_s, late.excess_s)) &&
        late.most_s - late.mean_s >= LEAST_GAIN_S)
        put_unequal_ranks(inquiry, &late);
    free(outside_ns);
}
