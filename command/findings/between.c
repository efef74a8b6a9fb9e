/* Finds ranks that others wait for in collective calls, also across nodes, by an estimate from the ranks'
 * sums. See docs/accounting.md, "Between nodes". */
#include "command/findings/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/tables/balance.h"
#include "command/text/memory.h"

struct between {
    const struct balance_table *table;
    size_t late;    /* number of late ranks, which come first in table->rank */
    double seconds; /* seconds of waiting charged to the late ranks */
    double waiting; /* number of ranks that wait for the late ranks and have no late rank on their own node */
    /* the context with most of the charged waiting, or ROW_NONE if no single one has most of it */
    uint32_t row;
};

static bool is_on_node_of_late_rank(const struct between *between, const struct profile_rank *rank)
{
    for (size_t i = 0; i < between->late; i++)
        if (rank == between->table->rank[i] ||
            (rank->ranks_seen && strcmp(between->table->rank[i]->host, rank->host) == 0))
            return true;
    return false;
}

static void find_charged_ranks(const struct profile *profile, struct between *between)
{
    const struct balance_table *table = between->table;
    double *part = memory_array(table->rank_count, sizeof *part), others = 0;
    for (size_t i = 0; i < table->rank_count; i++)
        part[i] = table->rank[i]->charged;
    between->late = count_outstanding(part, table->rank_count, profile->header.merged);
    for (size_t i = 0; i < between->late; i++)
        between->seconds += part[i] * 1e-9;
    for (size_t i = 0; i < profile->rank_count; i++)
        others += profile->ranks[i].state <= PROFILE_RANK_OPEN && !is_on_node_of_late_rank(between, &profile->ranks[i]);
    between->waiting = others > 0 ? others : fmax(1, profile->header.merged - (double)between->late);
    free(part);
}

/* Finds the context with most of the charge: goes down from the root while one row of the program's own code
 * has most of it. */
static void find_charged_code(const struct rows *rows, struct between *between)
{
    double *whole = memory_array(rows->count, sizeof *whole);
    for (size_t i = between->table->calls; i < between->table->count; i++)
        if (between->table->entry[i].row != ROW_NONE)
            whole[between->table->entry[i].row] += between->table->entry[i].balance.charged;
    for (size_t i = rows->count; i-- > 1;)
        whole[rows->row[i].parent] += whole[i];
    between->row = ROW_NONE;
    for (uint32_t at = 0, best = 0; best != ROW_NONE; at = best) {
        best = ROW_NONE;
        for (uint32_t child = at + 1; child < rows->row[at].end; child = rows->row[child].end)
            if (!rows->row[child].foreign && rows->row[child].kind != ROW_PSEUDO &&
                rows->row[child].kind != ROW_STATEMENT && whole[child] >= MOSTLY * between->table->charged &&
                (best == ROW_NONE || whole[child] > whole[best]))
                best = child;
        if (best != ROW_NONE)
            between->row = best;
    }
    free(whole);
}

/* Writes "; most excess in assemble (1.4 times the mean)". The factor is written only if the late rank does
 * most of the work there. */
static void describe_excess_code(const struct rows *rows, const struct between *between, char *text, size_t bytes)
{
    char name[NAME_BYTES];
    *text = '\0';
    if (between->row == ROW_NONE)
        return;
    shorten_name(name, rows->row[between->row].label->name);
    size_t used = (size_t)snprintf(text, bytes, "; most excess in %s", name);
    for (size_t i = between->table->calls; i < between->table->count; i++) {
        const struct balance_entry *entry = &between->table->entry[i];
        if (entry->row == between->row && entry->balance.mean > 0 && between->late == 1 &&
            entry->balance.most_rank == between->table->rank[0]->rank)
            snprintf(text + used, bytes - used, " (%s times the mean)",
                     DECIMAL(entry->balance.time / entry->balance.mean, 1));
    }
}

/* Writes the call with the largest charge, as " in MPI_Allreduce solver.c:88". */
static void describe_charged_call(const struct rows *rows, const struct balance_entry *call, char *text, size_t bytes)
{
    const struct row *row = &rows->row[call->row];
    const char *file = rows->row[row->parent].label->file;
    char line[32] = "";
    if (row->call_line > 0)
        snprintf(line, sizeof line, ":%d", row->call_line);
    snprintf(text, bytes, " in %s%s%s%s", row->label->name, *line && *file ? " " : "",
             *line ? format_base_name(file) : "", *file ? line : "");
}

static void put_between(struct inquiry *inquiry, const struct between *between)
{
    const struct balance_table *table = between->table;
    char where[200], code[NAME_BYTES + 64];
    char *late = describe_late(table->rank, between->late);
    describe_charged_call(inquiry->rows, &table->entry[0], where, sizeof where);
    describe_excess_code(inquiry->rows, between, code, sizeof code);
    struct finding finding = {.rule = "late-between-nodes",
                              .row = between->row,
                              .metric = METRIC_MPI_WAIT,
                              .seconds = between->seconds,
                              .sampled = true};
    struct relief relief = {.wall_s = between->seconds / between->waiting, .moved_s = INFINITY};
    finding.title = format_printable("between nodes: %s others wait about %s s%s%s%s", late,
                                     DECIMAL(between->seconds, 2), table->calls > 1 ? ", most" : "", where, code);
    finding.evidence = format_printable(
        "no rank of the node is to blame for %s s of waiting in MPI; %s s of this are charged to ranks that arrive "
        "later at collective calls. This is an estimate from the ranks' sums: it does not show ranks that are late "
        "in turn, and compares all code of a rank outside MPI",
        DECIMAL(table->unblamed * 1e-9, 2), DECIMAL(table->charged * 1e-9, 2));
    finding.advice = format_printable("%s", "Give the named ranks less to do in the named code, and the others more. "
                                            "--view balance shows all calls, ranks and contexts; --rank N shows one "
                                            "rank.");
    put_bounded_finding(inquiry, &finding, &relief);
    inquiry->between_ns = memory_array(inquiry->rows->count, sizeof *inquiry->between_ns);
    for (size_t i = 0; i < table->calls; i++)
        if (table->entry[i].row != ROW_NONE)
            inquiry->between_ns[table->entry[i].row] += table->entry[i].balance.charged;
    free(late);
}

void find_late_between_nodes(struct inquiry *inquiry)
{
    if (!inquiry->profile->balance_count)
        return;
    struct balance_table *table = balance_gather(inquiry->profile, inquiry->rows);
    struct between between = {.table = table};
    find_charged_ranks(inquiry->profile, &between);
    find_charged_code(inquiry->rows, &between);
    if (between.late && table->calls && table->entry[0].row != ROW_NONE &&
        finding_is_enough(inquiry, between.seconds) && between.seconds / between.waiting >= LEAST_GAIN_S)
        put_between(inquiry, &between);
    balance_free(table);
}
