#include "report/files/ranks_csv.h"

#include "report/tables/ranks.h"
#include "report/text/format.h"

#define END_OF_LINE "\r\n"

static void put_seconds(FILE *out, const struct profile_rank *rank, double ns)
{
    putc(',', out);
    if (rank_counts(rank))
        format_csv_number(out, ns * 1e-9);
}

/* Nothing where it is not known who made whom wait. */
static void put_known(FILE *out, const struct profile_rank *rank, double ns)
{
    if (rank->ranks_seen)
        put_seconds(out, rank, ns);
    else
        putc(',', out);
}

void write_ranks_csv(FILE *out, const struct profile *profile)
{
    fputs("rank,host,threads,wall_s,work,idleness,overhead,lock_wait,mpi_wait,no_core,rank_idleness,"
          "made_others_wait_s,blocked,process,state,why,cores,binding,ranks_seen" END_OF_LINE,
          out);
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        if (rank->rank != PROFILE_RANK_UNKNOWN)
            fprintf(out, "%u", rank->rank);
        putc(',', out);
        format_csv_text(out, rank->host);
        if (rank_counts(rank))
            fprintf(out, ",%u", rank->threads);
        else
            putc(',', out);
        put_seconds(out, rank, (double)(int64_t)(rank->end_ns - rank->begin_ns));
        put_seconds(out, rank, rank->work);
        put_seconds(out, rank, rank->idle);
        put_seconds(out, rank, rank->overhead);
        put_seconds(out, rank, rank->lock_wait);
        put_seconds(out, rank, rank->mpi_wait);
        put_seconds(out, rank, rank->no_core);
        put_known(out, rank, rank->rank_idle);
        put_known(out, rank, rank->made_wait);
        put_seconds(out, rank, rank->blocked);
        fprintf(out, ",%u,%s,", rank->process, rank_state_name(rank));
        format_csv_text(out, rank->why);
        if (rank_counts(rank))
            fprintf(out, ",%u,", rank->cores);
        else
            fputs(",,", out);
        format_csv_text(out, rank->binding);
        if (rank_counts(rank))
            fprintf(out, ",%u" END_OF_LINE, (unsigned)rank->ranks_seen);
        else
            fputs("," END_OF_LINE, out);
    }
}
