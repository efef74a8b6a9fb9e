/* Finds waiting for other ranks, by MPI call and calling function, and the idleness of the caller's team
 * during that waiting. */
#include "command/findings/rules.h"

#include <math.h>
#include <string.h>

#include "command/tables/spreads.h"

struct ranks_wait {
    double waited_s, idle_s;
    /* seconds of waiting while another rank of the node was busy. waited_s does not contain this time if late
     * ranks, or ranks late between nodes, are a finding of their own */
    double others_s;
    uint32_t row; /* the row that waited longest */
    double row_s;
    uint32_t contexts;
    double calls, ranks, bytes; /* sums over the calls, as in struct profile_sums */
};

/* Returns whether two rows are the same MPI call in the same function of the program. Their callers may
 * differ. */
static bool is_same_call(const struct inquiry *inquiry, uint32_t row, uint32_t other)
{
    const struct row *rows = inquiry->rows->row;
    return row_is_mpi_wait(&rows[other]) && rows[row].function == rows[other].function &&
           rows[inquiry->own[row]].function == rows[inquiry->own[other]].function;
}

static struct ranks_wait sum_of_mpi_call(const struct inquiry *inquiry, uint32_t first)
{
    const struct rows *rows = inquiry->rows;
    struct ranks_wait sum = {.row = first};
    for (uint32_t i = first; i < rows->count; i++) {
        if (!is_same_call(inquiry, first, i))
            continue;
        const struct profile_sums *own = rows->row[i].exclusive;
        double told_ns =
            (inquiry->late_told ? own->rank_waited : 0) + (inquiry->between_ns ? inquiry->between_ns[i] : 0);
        double told = own->mpi_wait > 0 ? fmin(1, told_ns / own->mpi_wait) : 0;
        double waited_s = (1 - told) * metric_value(rows, own, METRIC_MPI_WAIT);
        sum.waited_s += waited_s;
        sum.idle_s += (1 - told) * metric_value(rows, own, METRIC_IDLENESS);
        sum.others_s += 1e-9 * own->rank_waited;
        sum.contexts++;
        sum.calls += rows->row[i].exclusive->mpi_calls;
        sum.ranks += rows->row[i].exclusive->mpi_ranks;
        sum.bytes += rows->row[i].exclusive->mpi_bytes;
        if (waited_s > sum.row_s) {
            sum.row_s = waited_s;
            sum.row = i;
        }
    }
    return sum;
}

static bool is_first_of_mpi_call(const struct inquiry *inquiry, uint32_t row)
{
    for (uint32_t i = 0; i < row; i++)
        if (is_same_call(inquiry, row, i))
            return false;
    return true;
}

/* Writes ", 3.10 s of it while another rank of the node was busy, among 4 ranks, with 8 bytes per call". The
 * numbers of ranks and bytes are averages, and are written only if known. */
static void describe_calls(const struct inquiry *inquiry, const struct ranks_wait *wait, char *text, size_t bytes)
{
    int used = 0;
    *text = '\0';
    if (wait->others_s > 0)
        used = snprintf(text, bytes, "%s %s s%s while another rank of the node was busy",
                        inquiry->late_told ? " beside" : ",", DECIMAL(wait->others_s, 2),
                        inquiry->late_told ? "" : " of it");
    if (wait->ranks > 0)
        used += snprintf(text + used, bytes - (size_t)used, ", among %s ranks", DECIMAL(wait->ranks / wait->calls, 0));
    if (wait->bytes > 0)
        snprintf(text + used, bytes - (size_t)used, ", with %s bytes per call", DECIMAL(wait->bytes / wait->calls, 0));
}

/* Returns whether all ranks were observed and most of the waiting happened while none was busy. */
static bool is_mpi_wait_nobodys(const struct inquiry *inquiry, const struct ranks_wait *wait)
{
    const struct profile_header *header = &inquiry->profile->header;
    bool known = header->ranks > 1 && header->ranks_seen >= header->ranks;
    return known && (inquiry->late_told || wait->others_s < MOSTLY * wait->waited_s);
}

/* Writes "; rank 3 waits least there: 0.10 s, compared with a mean of 1.52 s", for the context that waited
 * longest, if the difference is large. The rank that waits least in a collective call arrives last, on
 * whatever node it is. */
static void describe_least_waiting_rank(const struct inquiry *inquiry, const struct ranks_wait *wait, char *text,
                                        size_t bytes)
{
    struct spread_entry entry;
    *text = '\0';
    if (!is_mpi_wait_nobodys(inquiry, wait) &&
        spread_of_row(inquiry->profile, inquiry->rows, wait->row, PROFILE_SPREAD_MPI_WAIT, false, &entry) &&
        *entry.least_rank && entry.least < MOSTLY * entry.mean)
        snprintf(text, bytes, "; rank %s waits least there: %s s, compared with a mean of %s s", entry.least_rank,
                 DECIMAL(entry.least * 1e-9, 2), DECIMAL(entry.mean * 1e-9, 2));
}

static const char *mpi_advice(const struct inquiry *inquiry, const struct ranks_wait *wait)
{
    if (is_mpi_wait_nobodys(inquiry, wait))
        return "For most of this time all ranks were in MPI, so none of them is late. Either messages take that "
               "time, or ranks had no core to receive them (with more ranks than cores, since MPI polls). Send fewer "
               "and larger messages, let the ranks synchronise less often, or let them work meanwhile: nonblocking "
               "calls (MPI_Isend, MPI_Irecv, MPI_Iallreduce) before the work, MPI_Wait after it.";
    if (strcmp(inquiry->rows->row[wait->row].label->name, "MPI_Finalize") == 0)
        return "This rank finishes before the others. Compare the ranks' profiles: give less to do to the ranks that "
               "finish last, and more to this one.";
    return "Another rank arrives later, or messages take that time. Compare the ranks' profiles: the rank that waits "
           "least in this call arrives last, so distribute the work before the call differently. Or let this rank "
           "work meanwhile: nonblocking calls (MPI_Isend, MPI_Irecv, MPI_Iallreduce) before the work, MPI_Wait after "
           "it.";
}

static void put_mpi_wait(struct inquiry *inquiry, const struct ranks_wait *wait)
{
    const char *call = inquiry->rows->row[wait->row].label->name;
    bool idle = wait->idle_s > wait->waited_s; /* whether other threads idled longer than the ranks waited */
    char others[FORMAT_NUMBER_BYTES + 48] = "", some[64] = "", calls[3 * FORMAT_NUMBER_BYTES + 128],
                                      least[2 * FORMAT_NUMBER_BYTES + 128];
    describe_calls(inquiry, wait, calls, sizeof calls);
    describe_least_waiting_rank(inquiry, wait, least, sizeof least);
    if (idle)
        snprintf(others, sizeof others, ", and other threads idled meanwhile");
    else if (wait->idle_s > 0)
        snprintf(others, sizeof others, ", and other threads idled for %s s meanwhile", DECIMAL(wait->idle_s, 2));
    if (wait->contexts > 1)
        snprintf(some, sizeof some, " in %u calling contexts", wait->contexts);
    struct finding finding = {.rule = "mpi-wait",
                              .row = wait->row,
                              .metric = idle ? METRIC_IDLENESS : METRIC_MPI_WAIT,
                              .seconds = idle ? wait->idle_s : wait->waited_s,
                              .sampled = true};
    struct relief relief = {
        .waited_s = wait->waited_s, .idle_s = wait->idle_s, .moved_s = INFINITY, .idle_follows = true};
    finding.title = format_printable("%s s of waiting for other ranks in %s", DECIMAL(wait->waited_s, 2), call);
    finding.evidence = format_printable("the ranks waited%s%s%s%s", some, calls, others, least);
    finding.advice = format_printable("%s", mpi_advice(inquiry, wait));
    put_bounded_finding(inquiry, &finding, &relief);
}

void find_mpi_waits(struct inquiry *inquiry)
{
    for (uint32_t i = 0; i < inquiry->rows->count; i++) {
        if (!row_is_mpi_wait(&inquiry->rows->row[i]) || !is_first_of_mpi_call(inquiry, i))
            continue;
        struct ranks_wait wait = sum_of_mpi_call(inquiry, i);
        if (finding_is_enough(inquiry, wait.waited_s + wait.idle_s) && wait.waited_s + wait.idle_s >= LEAST_GAIN_S)
            put_mpi_wait(inquiry, &wait);
    }
}
