#include "report/files/timeline_csv.h"

#include "report/text/format.h"

#define END_OF_LINE "\r\n"

/* When the bin begins and ends, from the process's start. */
static void put_times(FILE *out, const struct profile *profile, uint64_t width_ns, uint32_t bin)
{
    double begin_ns = (double)(int64_t)(profile->timeline.origin_ns - profile->header.start_ns) + (double)width_ns * bin;
    format_csv_number(out, begin_ns * 1e-9);
    putc(',', out);
    format_csv_number(out, (begin_ns + (double)width_ns) * 1e-9);
}

static void put_bin(FILE *out, const struct profile *profile, const struct timeline_lane *lane, uint32_t bin)
{
    const double *ns = lane->ns[bin];
    const double values[] = {ns[PROFILE_TIME_WORK],      ns[PROFILE_TIME_OVERHEAD], ns[PROFILE_TIME_IDLE],
                             ns[PROFILE_TIME_LOCK_WAIT], ns[PROFILE_TIME_MPI_WAIT], ns[PROFILE_TIME_NO_CORE],
                             ns[PROFILE_TIME_BLOCKED] + ns[PROFILE_TIME_STOPPED],   ns[PROFILE_TIME_STOPPED]};
    double sum = 0;
    for (size_t i = 0; i < PROFILE_TIME_STATES; i++)
        sum += ns[i];
    if (!(sum > 0))
        return;
    if (lane->rank_record)
        fprintf(out, "%u", lane->rank);
    else if (profile->header.in_job)
        fprintf(out, "%u", profile->header.rank);
    putc(',', out);
    if (!lane->rank_record || profile->timeline.level == TIMELINE_THREADS)
        fprintf(out, "%u", lane->thread);
    putc(',', out);
    put_times(out, profile, profile->timeline.lane_bin_ns, bin);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        putc(',', out);
        format_csv_number(out, values[i] * 1e-9);
    }
    fputs(END_OF_LINE, out);
}

void write_timeline_csv(FILE *out, const struct profile *profile)
{
    fputs("rank,thread,begin_s,end_s,work,overhead,idle,lock_wait,mpi_wait,no_core,blocked,stopped" END_OF_LINE, out);
    for (size_t i = 0; i < profile->timeline.lane_count; i++)
        for (uint32_t bin = 0; bin < profile->timeline.lane_bins; bin++)
            put_bin(out, profile, &profile->timeline.lanes[i], bin);
}

void write_culprits_csv(FILE *out, const struct profile *profile, const struct rows *rows, const struct culprits *culprits)
{
    fputs("begin_s,end_s,id,name,idleness,lock_wait" END_OF_LINE, out);
    for (size_t i = 0; i < culprits->count; i++) {
        const struct culprit *culprit = &culprits->culprit[i];
        for (size_t n = 0; n < culprit->count; n++) {
            const struct culprit_bin *bin = &culprits->bin[culprit->first + n];
            if (bin->idleness == 0 && bin->lock_wait == 0)
                continue;
            put_times(out, profile, profile->timeline.bin_ns, bin->bin);
            fprintf(out, ",%u,", culprit->row);
            format_csv_text(out, rows->row[culprit->row].label->name);
            putc(',', out);
            format_csv_number(out, bin->idleness);
            putc(',', out);
            format_csv_number(out, bin->lock_wait);
            fputs(END_OF_LINE, out);
        }
    }
}
