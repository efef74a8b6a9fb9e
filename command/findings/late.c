/* Finds ranks for which other ranks of the same node wait in MPI: which ranks, in which code, and where the
 * others wait. */
#include "command/findings/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/tables/ranks.h"
#include "command/tables/spreads.h"
#include "command/text/memory.h"

#define NAMED_RANKS 3 /* number of ranks that are named; the other ranks are only counted */
/* a rank counts as waiting if it waited at least this share of the rank that waited longest */
#define LEAST_PART   0.1
#define LEAST_EXCESS 1.1 /* ratio of a late rank's time to the mean from which the ratio is reported */

struct lateness {
    /* the ranks that were observed, sorted by how long they made others wait, longest first */
    const struct profile_rank **rank;
    size_t rank_count;
    size_t late; /* number of ranks that stand out, which come first in `rank`; 0: none */
    /* all_s: seconds that ranks waited for any rank. seconds: the part for the ranks that stand out, or all
     * of it if none does */
    double all_s, seconds;
    size_t waiting; /* number of ranks that wait for the late ranks */
    uint32_t row;   /* the context that made others wait most, or ROW_NONE if no single one did */
    /* parts of all_s: seconds of waiting for ranks without a core, and for ranks in which no thread worked */
    double no_core_s, nobody_s;
    double idle_s;                  /* seconds of idleness in the teams of the waiting ranks */
    const struct wait_place *place; /* the MPI call in which ranks waited most */
};

static int compare_made_wait(const void *left, const void *right)
{
    const struct profile_rank *const *a = left, *const *b = right;
    if ((*a)->made_wait != (*b)->made_wait)
        return (*a)->made_wait > (*b)->made_wait ? -1 : 1;
    return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

size_t count_outstanding(const double *part, size_t count, size_t ranks)
{
    double all = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        all += part[i];
    for (size_t i = 0; i < count && 2 * (i + 1) <= ranks; i++) {
        sum += part[i];
        if (all > 0 && sum / all >= (1 + (double)(i + 1) / (double)ranks) / 2)
            return i + 1;
    }
    return 0;
}

static void find_outstanding(struct lateness *lateness)
{
    double *made = memory_array(lateness->rank_count, sizeof *made), sum = 0;
    for (size_t i = 0; i < lateness->rank_count; i++)
        made[i] = lateness->rank[i]->made_wait;
    lateness->late = count_outstanding(made, lateness->rank_count, lateness->rank_count);
    for (size_t i = 0; i < lateness->late; i++)
        sum += made[i];
    if (lateness->late)
        lateness->seconds = sum * 1e-9;
    free(made);
}

static bool is_on_its_node(const struct lateness *lateness, const struct profile_rank *rank)
{
    for (size_t i = 0; i < lateness->late; i++)
        if (strcmp(lateness->rank[i]->host, rank->host) == 0)
            return true;
    return false;
}

static void count_waiting_ranks(struct lateness *lateness)
{
    double most = 0;
    for (size_t i = lateness->late; i < lateness->rank_count; i++)
        most = fmax(most, lateness->rank[i]->rank_idle);
    for (size_t i = lateness->late; i < lateness->rank_count; i++)
        lateness->waiting += lateness->rank[i]->rank_idle >= LEAST_PART * most && most > 0 &&
                             is_on_its_node(lateness, lateness->rank[i]);
}

/* Finds the code that made others wait: goes down from the root while one row of the program's own code has
 * most of the waiting. */
static uint32_t find_late_code(const struct rows *rows, double all_s)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t best = ROW_NONE;
        double best_s = MOSTLY * all_s;
        for (uint32_t child = at + 1; child < rows->row[at].end; child = rows->row[child].end) {
            const struct row *row = &rows->row[child];
            double seconds = metric_value(rows, row->inclusive, METRIC_RANK_IDLENESS);
            if (row->kind == ROW_STATEMENT || row->kind == ROW_PSEUDO || row->foreign || seconds < best_s)
                continue;
            best = child;
            best_s = seconds;
        }
        if (best == ROW_NONE)
            return at ? at : ROW_NONE;
        at = best;
    }
}

static void gather_lateness(const struct inquiry *inquiry, struct lateness *lateness)
{
    const struct rows *rows = inquiry->rows;
    const struct profile *profile = inquiry->profile;
    lateness->all_s = lateness->seconds = metric_value(rows, rows->row[0].inclusive, METRIC_RANK_IDLENESS);
    for (size_t i = 0; i < profile->rank_count; i++)
        if (rank_counts(&profile->ranks[i]) && profile->ranks[i].ranks_seen)
            lateness->rank[lateness->rank_count++] = &profile->ranks[i];
    qsort(lateness->rank, lateness->rank_count, sizeof *lateness->rank, compare_made_wait);
    find_outstanding(lateness);
    count_waiting_ranks(lateness);
    lateness->row = find_late_code(rows, lateness->all_s);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct profile_sums *own = rows->row[i].exclusive;
        if (row_is_no_core(&rows->row[i]))
            lateness->no_core_s += metric_value(rows, own, METRIC_RANK_IDLENESS);
        if (row_is_nobody(&rows->row[i]))
            lateness->nobody_s += metric_value(rows, own, METRIC_RANK_IDLENESS);
        if (row_is_mpi_wait(&rows->row[i]) && own->mpi_wait > 0)
            lateness->idle_s += metric_value(rows, own, METRIC_IDLENESS) * own->rank_waited / own->mpi_wait;
    }
    for (size_t i = 0; i < inquiry->waits->place_count && !lateness->place; i++)
        if (inquiry->waits->place[i].kind == WAIT_MPI)
            lateness->place = &inquiry->waits->place[i];
}

char *describe_late(const struct profile_rank *const *rank, size_t late)
{
    char *text = NULL, name[32];
    FILE *out = memory_stream(&text);
    if (late > NAMED_RANKS)
        fprintf(out, "%zu ranks (", late);
    else
        fputs(late == 1 ? "rank " : "ranks ", out);
    for (size_t i = 0; i < late && i < NAMED_RANKS; i++) {
        rank_name(rank[i], name, sizeof name);
        fprintf(out, "%s%s", i == 0 ? "" : late <= NAMED_RANKS && i + 1 == late ? " and " : ", ", name);
    }
    fputs(late > NAMED_RANKS ? ", ...) make" : late == 1 ? " makes" : " make", out);
    memory_stream_close(out);
    return text;
}

/* Writes the call in which ranks waited most, as " in MPI_Allreduce solver.c:88". */
static void describe_mpi_call_site(const struct wait_place *place, char *text, size_t bytes)
{
    if (!place)
        *text = '\0';
    else if (place->line > 0)
        snprintf(text, bytes, " in %s %s:%d", place->call, format_base_name(place->file), place->line);
    else
        snprintf(text, bytes, " in %s", place->call);
}

/* Writes ": its assemble takes 1.4 times the mean over the ranks" if the late rank spends more time there
 * than any other rank. Uses the innermost enclosing row in which the ranks can be compared. */
static void describe_late_work(const struct inquiry *inquiry, const struct lateness *lateness, char *text, size_t bytes)
{
    const struct rows *rows = inquiry->rows;
    char name[NAME_BYTES], late[32];
    struct spread_entry entry;
    uint32_t row = lateness->row;
    *text = '\0';
    if (lateness->late != 1 || row == ROW_NONE)
        return;
    while (row && !spread_of_row(inquiry->profile, rows, row, PROFILE_SPREAD_WORK, false, &entry))
        row = rows->row[row].parent;
    rank_name(lateness->rank[0], late, sizeof late);
    if (row == 0 || strcmp(entry.most_rank, late) != 0 || !(entry.most > LEAST_EXCESS * entry.mean))
        return;
    shorten_name(name, rows->row[row].label->name);
    if (entry.ranks == 1)
        snprintf(text, bytes, ": it alone runs %s", name);
    else
        snprintf(text, bytes, ": its %s takes %s times the mean over the ranks", name,
                 DECIMAL(entry.most / entry.mean, 1));
}

/* Returns whether most of the waiting is due to missing cores. */
static bool is_mostly_no_core(const struct lateness *lateness)
{
    return lateness->no_core_s >= MOSTLY * lateness->all_s;
}

static bool late_ranks_lack_cores(const struct lateness *lateness)
{
    return lateness->nobody_s + lateness->no_core_s >= MOSTLY * lateness->all_s;
}

static const char *describe_mostly(const struct lateness *lateness)
{
    bool one = lateness->late == 1;
    if (is_mostly_no_core(lateness))
        return one ? ", mostly while it has no core" : ", mostly while they have no core";
    if (late_ranks_lack_cores(lateness))
        return one ? ", mostly while it has no core or no working thread"
                   : ", mostly while they have no core or no working thread";
    return "";
}

static char *lateness_title(const struct inquiry *inquiry, const struct lateness *lateness)
{
    const char *seconds = DECIMAL(lateness->seconds, 2);
    char where[200], why[NAME_BYTES + 64], others[64] = "others";
    describe_mpi_call_site(lateness->place, where, sizeof where);
    if (!inquiry->profile->header.merged)
        return format_printable("this rank makes others wait %s s%s", seconds, where);
    const char *mostly = describe_mostly(lateness);
    if (!lateness->late)
        return format_printable("ranks take turns: they keep each other waiting for %s s%s%s", seconds, where, mostly);
    describe_late_work(inquiry, lateness, why, sizeof why);
    if (*mostly)
        snprintf(why, sizeof why, "%s", mostly);
    if (lateness->waiting)
        snprintf(others, sizeof others, "%zu rank%s", lateness->waiting, lateness->waiting == 1 ? "" : "s");
    char *late = describe_late(lateness->rank, lateness->late);
    char *title = format_printable("%s %s wait %s s%s%s", late, others, seconds, where, why);
    free(late);
    return title;
}

static const char *lateness_advice(const struct lateness *lateness, bool job)
{
    if (is_mostly_no_core(lateness))
        return "A rank without a core does not get faster if it has less work. Give the rank cores of its own (the "
               "launcher's binding, fewer ranks or threads per node), and see what else runs on its node.";
    if (late_ranks_lack_cores(lateness))
        return "If no thread of a rank works, all of them wait at a barrier or for a task, usually for a thread "
               "without a core. Give the rank a core for each thread (the launcher's binding, OMP_NUM_THREADS), or let "
               "its threads synchronise less often.";
    if (job && !lateness->late)
        return "No single rank is late, so distributing the work differently does not help. Let the ranks "
               "synchronise less often (fewer collective calls, more work between them), or let them work while they "
               "wait (MPI_Iallreduce before work that does not need its result).";
    return "Give the named ranks less to do in the named code, and the others more. --view ranks and --view spread "
           "compare the ranks; --rank N shows one rank. Work that cannot be moved may overlap with the others' work "
           "(nonblocking calls before it).";
}

/* Returns the upper bound on the seconds that can be saved. The ranks' own work stays, so at most the longest
 * waiting of a rank can be saved, unless more cores would help. */
static double gain_of_late_ranks(const struct inquiry *inquiry, const struct lateness *lateness)
{
    const struct profile_sums *all = inquiry->rows->row[0].inclusive;
    double gain_ns = fmin(all->rank_wall, all->rank_idle) * lateness->seconds / lateness->all_s, most_ns = 0;
    for (size_t i = 0; i < lateness->rank_count; i++)
        most_ns = fmax(most_ns, lateness->rank[i]->rank_idle);
    return 1e-9 * (lateness->rank_count && !late_ranks_lack_cores(lateness) ? fmin(gain_ns, most_ns) : gain_ns);
}

static void put_lateness(struct inquiry *inquiry, const struct lateness *lateness)
{
    char all[FORMAT_NUMBER_BYTES + 8] = "", no_core[FORMAT_NUMBER_BYTES + 64] = "",
                                   nobody[FORMAT_NUMBER_BYTES + 64] = "", idle[FORMAT_NUMBER_BYTES + 80] = "";
    bool job = inquiry->profile->header.merged;
    struct finding finding = {.rule = "late-rank",
                              .row = lateness->row,
                              .metric = METRIC_RANK_IDLENESS,
                              .seconds = lateness->seconds,
                              .sampled = true};
    struct relief relief = {.wall_s = gain_of_late_ranks(inquiry, lateness), .moved_s = INFINITY};
    if (lateness->no_core_s > 0)
        snprintf(no_core, sizeof no_core, ", %s s of it while that rank had no core", DECIMAL(lateness->no_core_s, 2));
    if (lateness->nobody_s > 0)
        snprintf(nobody, sizeof nobody, ", %s s of it while all threads of that rank waited",
                 DECIMAL(lateness->nobody_s, 2));
    if (lateness->idle_s > 0 && job)
        snprintf(idle, sizeof idle, ", and other threads of the waiting ranks idled for %s s",
                 DECIMAL(lateness->idle_s, 2));
    finding.title = lateness_title(inquiry, lateness);
    if (lateness->all_s > lateness->seconds)
        snprintf(all, sizeof all, " %s s", DECIMAL(lateness->all_s, 2));
    finding.evidence = format_printable("ranks of the same node waited%s in MPI while %s was busy%s%s%s", all,
                                        job ? "another" : "this one", no_core, nobody, idle);
    finding.advice = format_printable("%s", lateness_advice(lateness, job));
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Finds late ranks. In the profile of a single rank, reports the rank only if others wait for it longer than
 * it waits for them. */
void find_late_ranks(struct inquiry *inquiry)
{
    const struct profile_sums *all = inquiry->rows->row[0].inclusive;
    struct lateness lateness = {.rank = memory_array(inquiry->profile->rank_count, sizeof *lateness.rank)};
    gather_lateness(inquiry, &lateness);
    if (finding_is_enough(inquiry, lateness.all_s) && lateness.all_s >= LEAST_GAIN_S &&
        (inquiry->profile->header.merged || all->rank_idle > all->rank_waited)) {
        put_lateness(inquiry, &lateness);
        inquiry->late_told = inquiry->profile->header.merged;
    }
    free(lateness.rank);
}
