/* The ranks of a job, what each did with its threads' time. */
#include <stdlib.h>
#include <string.h>

#include "report/tables/ranks.h"
#include "report/text/format.h"
#include "report/views/text.h"

#define HOST_COLUMNS 12

static void put_seconds(FILE *out, double ns)
{
    fprintf(out, "%10s", DECIMAL(ns * 1e-9, 2));
}

/* Nothing where it is not known who made whom wait. */
static void put_known(FILE *out, const struct profile_rank *rank, double ns)
{
    if (rank->ranks_seen)
        fprintf(out, "%14s", DECIMAL(ns * 1e-9, 2));
    else
        fprintf(out, "%14s", "");
}

/* known: of some of the ranks it is. */
static void print_rank(FILE *out, const struct profile_rank *rank, bool known, const struct view_style *style)
{
    char name[32], *host = format_fit(rank->host, HOST_COLUMNS, style->utf8);
    double whole = rank->work + rank->overhead + rank->lock_wait + rank->idle + rank->no_core + rank->blocked +
                   rank->mpi_wait;
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
    put_seconds(out, (double)(int64_t)(rank->end_ns - rank->begin_ns));
    put_seconds(out, rank->work);
    put_seconds(out, rank->idle);
    put_seconds(out, rank->overhead);
    put_seconds(out, rank->lock_wait);
    put_seconds(out, rank->no_core);
    put_seconds(out, rank->blocked);
    put_seconds(out, rank->mpi_wait);
    if (known) {
        put_known(out, rank, rank->rank_idle);
        put_known(out, rank, rank->made_wait);
    }
    fprintf(out, "%8s%s\n", whole > 0 ? DECIMAL(100 * rank->idle / whole, 1) : "",
            rank->state == PROFILE_RANK_OPEN ? "  had not ended" : "");
}

void view_text_ranks(FILE *out, const struct profile *profile, const struct view_style *style)
{
    bool known = profile->header.ranks_seen > 0;
    view_text_header(out, profile, style);
    view_text_efficiencies(out, profile, style);
    putc('\n', out);
    format_paragraph(out, "Seconds of the ranks' threads; idle is time without work inside the rank.",
                     style->columns);
    if (known)
        format_paragraph(out,
                         "For another: the part of its mpi wait in which another rank of its node was busy, and "
                         "blamed for it; made wait: what it is blamed for itself.",
                         style->columns);
    fprintf(out, "\n%s%8s  %-*s%8s%10s%10s%10s%10s%10s%10s%10s%10s%s%8s%s\n", format_strong(style->colour),
            "rank", HOST_COLUMNS, "node", "threads", "wall", "work", "idle", "overhead", "lock wait", "no core",
            "blocked", "mpi wait", known ? "   for another     made wait" : "", "idle %",
            format_plain(style->colour));
    for (size_t i = 0; i < profile->rank_count; i++)
        print_rank(out, &profile->ranks[i], known, style);
}
