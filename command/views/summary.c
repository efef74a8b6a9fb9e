/* The summary that the tool prints when a program ends, on any terminal or in a batch log. */
#include "command/views/summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings/findings.h"
#include "command/profile/profile.h"
#include "command/rows/error.h"
#include "command/rows/label.h"
#include "command/rows/own.h"
#include "command/tables/conservation.h"
#include "command/tables/coverage.h"
#include "command/tables/locks.h"
#include "command/tables/mpi_untold.h"
#include "command/tables/other_runtimes.h"
#include "command/tables/phases.h"
#include "command/tables/ranks.h"
#include "command/tables/tables.h"
#include "command/tables/waits.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/lines.h"
#include "command/views/probe_notes.h"

/* ---- other runtimes in the process: OpenMP's, Python, R ---- */

static void print_python(FILE *out, const struct profile *profile, size_t columns, bool utf8)
{
    const char *python = profile_text(profile, "python"), *why = python ? strchr(python, '\t') : NULL;
    if (!why)
        return;
    char *said = memory_text("%.*s", (int)(why - python), python);
    char *version = format_fit(said, columns, utf8), *reason = format_fit(why + 1, columns, utf8);
    fprintf(out, "\nnote: Python %s: the contexts show the interpreter's functions, not the script's (%s)\n", version,
            reason);
    free(said);
    free(version);
    free(reason);
}

static void print_r(FILE *out, const struct profile *profile, size_t columns, bool utf8)
{
    const char *why = profile_text(profile, "r");
    if (!why || !*why)
        return;
    char *reason = format_fit(why, columns, utf8);
    fprintf(out, "\nnote: R: the contexts show the interpreter's functions, not the script's (%s)\n", reason);
    free(reason);
}

static void runtime_notes_print(FILE *out, const struct profile *profile, size_t columns, bool utf8)
{
    struct other_runtime found[OTHER_RUNTIMES_MOST];
    size_t count = other_runtimes(profile, found);
    for (size_t i = 0; i < count; i++) {
        char *name = format_fit(found[i].path, columns, utf8);
        if (profile_text(profile, "runtime"))
            fprintf(
                out,
                "\n"
                "note: a second OpenMP runtime ran beside the measured one: %s s in %s and the code that it called; "
                "the other threads of that runtime were not measured\n",
                DECIMAL(found[i].seconds, 2), name);
        else
            fprintf(out,
                    "\n"
                    "note: the OpenMP runtime in %s has no tool interface: its threads were measured, but not its "
                    "regions, tasks and waits\n",
                    name);
        free(name);
    }
    print_python(out, profile, columns, utf8);
    print_r(out, profile, columns, utf8);
}

/* ---- the trace of a profile that has one ---- */

#define KIB 1024.0
#define MIB (1024 * KIB)

void view_text_trace_note(FILE *out, const struct profile *profile)
{
    const struct profile_header *header = &profile->header;
    if (!header->traced || header->merged)
        return;
    fprintf(out, "\ntrace: %llu samples, %s KiB", (unsigned long long)profile->trace_samples,
            DECIMAL((double)profile->trace_bytes / KIB, 1));
    if (header->trace_thinned && header->room_error)
        fprintf(out, "; %llu more had no room, because the file could not grow (%s)",
                (unsigned long long)header->trace_thinned, strerror((int)header->room_error));
    else if (header->trace_thinned)
        fprintf(out, "; %llu more had no room within the limit of %s MiB (BLAME_TRACE_LIMIT)",
                (unsigned long long)header->trace_thinned, DECIMAL((double)header->trace_limit / MIB, 2));
    putc('\n', out);
}

/* ---- the summary ---- */

#define FINDINGS_SHOWN  3
#define CONTEXTS_SHOWN  5
#define PHASES_SHOWN    5
#define CONTEXTS_BESIDE 3 /* number of contexts in a list beside one finding; one fewer for each further finding */
/* functions are shown instead of contexts that have less than this share of the metric together */
#define FEW_SHARE          0.25
#define SUMMARY_COLUMNS    100
#define BAR_COLUMNS        30
#define BAR_COLUMNS_LEAST  8
#define PART_SHARE_LEAST   0.01 /* share of the thread time from which a part of a metric is shown */
#define TEXT_BESIDE_BAR    37   /* columns of the longest meaning with its error */
#define FIGURES            22   /* columns of figures before a name */
#define MPI_UNTOLD_PERCENT 1    /* percentage of the effort below which such time is not reported */
#define RESIDUAL_TOLD      0.02 /* share of the effort: a law that is off by less changes no finding */
#define LEAST_PERCENT      0.05 /* percentage below which a context would be printed as 0.0 % */
/* largest relative difference between the sampled thread time and the number of threads times the run time */
#define MEASURED_TOLERANCE 0.02

struct summary {
    FILE *out;
    const struct profile *profile;
    const struct rows *rows;
    size_t columns;
    bool utf8;
    struct coverage coverage;
    bool poor; /* whether too little was measured (coverage_is_poor()) */
};

static double effort_of(const struct summary *summary)
{
    return metric_value(summary->rows, summary->rows->row[0].inclusive, METRIC_EFFORT);
}

static bool counts_events(const struct summary *summary)
{
    return profile_text(summary->profile, "sample") != NULL;
}

/* Returns the thread-seconds in which no thread was busy. */
static double nobody_busy(const struct summary *summary)
{
    return counts_events(summary) ? 0 : ledger_nobody_s(summary->profile, effort_of(summary));
}

/* Returns the seconds of sampled threads' lifetimes that are in no other share, 0 if they are too few to
 * matter. Threads that waited while busy threads lost their cores can have such time, because equation 1
 * estimates idleness from the samples of busy threads. Lifetimes beyond those of T threads are of threads that T
 * does not count, such as those of libgomp that are about to end. */
static double unassigned(const struct summary *summary)
{
    struct ledger ledger;
    const struct profile *profile = summary->profile;
    if (counts_events(summary) || profile->tree || profile->header.clock != 0 || summary->rows->shared)
        return 0;
    ledger_sum(profile, &ledger);
    double lifetime_s = ledger.lifetime * 1e-9, counted_s = profile->header.threads_max * profile_wall_s(profile);
    if (!profile->header.merged)
        lifetime_s = fmin(lifetime_s, counted_s);
    double rest_s = lifetime_s - ledger.dropped_ns * 1e-9 - effort_of(summary) - nobody_busy(summary);
    return rest_s > MEASURED_TOLERANCE * lifetime_s ? rest_s : 0;
}

/* Returns the thread-seconds of which percentages are shares, unless a heading names another whole. */
static double thread_time_of(const struct summary *summary)
{
    return effort_of(summary) + nobody_busy(summary) + unassigned(summary);
}

static void print_title(const struct summary *summary)
{
    const struct profile_header *header = &summary->profile->header;
    const char *command = profile_text(summary->profile, "command");
    char threads[80], rank[120], size[240], facts[FORMAT_NUMBER_BYTES + 280];
    rank_note(summary->profile, rank, sizeof rank);
    profile_describe_threads(summary->profile, threads, sizeof threads);
    if (!ranks_size(summary->profile, size, sizeof size))
        snprintf(size, sizeof size, "%s on %u core%s%s", threads, header->cores, header->cores == 1 ? "" : "s", rank);
    snprintf(facts, sizeof facts, "%s s, %s, %s", DECIMAL(profile_wall_s(summary->profile), 2), size,
             profile_environment(summary->profile));
    if (!command)
        command = header->program;
    size_t taken = strlen(facts) + strlen("blame:   ");
    char *name = format_fit(*command ? command : "program",
                            summary->columns > taken + 12 ? summary->columns - taken : 12, summary->utf8);
    fprintf(summary->out, "\nblame: %s  %s\n\n", name, facts);
    free(name);
}

/* Prints how little was measured, and why. Returns false if nothing was measured. */
static bool print_poor_coverage(const struct summary *summary)
{
    const struct coverage *coverage = &summary->coverage;
    bool any = summary->rows->row[0].inclusive->samples > 0;
    fprintf(summary->out,
            "  Only %s %% of the threads' time was measured, which is too little for conclusions. Not measured:\n",
            DECIMAL(any ? coverage_percent(coverage) : 0, 1));
    for (size_t i = 0; i < coverage->count; i++) {
        const struct coverage_loss *loss = &coverage->loss[i];
        char *cause = format_fit(loss->cause, SIZE_MAX, summary->utf8);
        fprintf(summary->out, "%11s s of %s%s%s\n", DECIMAL(loss->seconds, 2), loss->what, *cause ? ": " : "", cause);
        free(cause);
    }
    fprintf(summary->out, "  %s\n%s", coverage->loss[0].advice, any ? "\n  What was measured:\n" : "");
    return any;
}

/* If a counter triggered the samples, prints that the figures are events. */
static void print_event_note(const struct summary *summary)
{
    const char *sample = profile_text(summary->profile, "sample");
    if (!sample)
        return;
    char *clean = format_fit(sample, summary->columns - 60, summary->utf8);
    fprintf(summary->out, "  sampled by %s: all figures are events (%.*s), not seconds\n\n", clean,
            (int)strcspn(clean, "@"), clean);
    free(clean);
}

/* Returns the width of the shares' names, in columns. */
static int name_columns(const struct summary *summary)
{
    return metric_is_shown(summary->rows, METRIC_RANK_IDLENESS)  ? 13
           : nobody_busy(summary) > 0 || unassigned(summary) > 0 ? 11
                                                                 : 9;
}

/* Prints one of the shares that add up to the whole, as a number, a percentage and a bar. */
static void print_summary_share(const struct summary *summary, const char *name, double value, const char *meaning)
{
    double percent = 100 * value / thread_time_of(summary);
    bool events = counts_events(summary);
    int width = name_columns(summary), room = (int)summary->columns - (width + 24) - TEXT_BESIDE_BAR;
    int bar = room < BAR_COLUMNS_LEAST ? BAR_COLUMNS_LEAST : room > BAR_COLUMNS ? BAR_COLUMNS : room;
    fprintf(summary->out, "  %-*s %9s %s %5s %%  ", width, name, DECIMAL(value, events ? 0 : 2), events ? " " : "s",
            DECIMAL(percent, 1));
    int filled = (int)(bar * percent / 100 + 0.5);
    for (int i = 0; i < bar; i++)
        if (summary->utf8)
            fputs(i < filled ? "\xe2\x96\x88" : "\xe2\x96\x91", summary->out);
        else
            fputc(i < filled ? '#' : '.', summary->out);
    fprintf(summary->out, "  %s", meaning);
}

static void print_metric(const struct summary *summary, enum metric metric, const char *meaning)
{
    const struct profile_sums *total = summary->rows->row[0].inclusive;
    bool events = counts_events(summary);
    print_summary_share(summary, metric_title(metric), metric_value(summary->rows, total, metric), meaning);
    fprintf(summary->out, " (+- %s%s)\n", DECIMAL(metric_error(summary->rows, total, metric), events ? 0 : 2),
            events ? "" : " s");
}

/* Prints the first findings, each with an upper bound on the time that it could save. */
static void print_first_findings(const struct summary *summary, const struct findings *findings)
{
    double wall_s = profile_wall_s(summary->profile);
    bool bound = false;
    for (size_t i = 0; i < findings->count && i < FINDINGS_SHOWN; i++)
        bound |= findings->finding[i].gain_s > 0 && wall_s > 0;
    if (findings->count && bound)
        fprintf(summary->out, "\nLook first at (an upper bound on the time you could save, of %s s):\n",
                DECIMAL(wall_s, 2));
    else if (findings->count)
        fputs("\nWhat stands out:\n", summary->out);
    for (size_t i = 0; i < findings->count && i < FINDINGS_SHOWN; i++) {
        const struct finding *finding = &findings->finding[i];
        size_t columns = summary->columns - FIGURES, used = format_columns(finding->title) + 2;
        bool beside = used + 16 < columns;
        char *place = finding->row != ROW_NONE
                          ? finding_place(summary->rows, finding, columns - (beside ? used : 0), summary->utf8)
                          : NULL;
        if (finding->gain_s > 0 && wall_s > 0)
            fprintf(summary->out, "%6s %% %9s s  ", DECIMAL(fmin(100, 100 * finding->gain_s / wall_s), 1),
                    DECIMAL(finding->gain_s, 2));
        else
            fprintf(summary->out, "%*s", FIGURES, "");
        if (place && beside)
            fprintf(summary->out, "%s: %s\n", finding->title, place);
        else
            format_continued(summary->out, finding->title, FIGURES, summary->columns);
        if (place && !beside)
            fprintf(summary->out, "%*s%s\n", FIGURES, "", place);
        free(place);
    }
}

/* The rows or functions with the highest values of a metric. */
struct top {
    uint32_t item[CONTEXTS_SHOWN]; /* rows */
    double seconds[CONTEXTS_SHOWN];
    size_t count, room;
};

static void add_to_top_rows(struct top *top, uint32_t item, double seconds)
{
    size_t at = top->count;
    for (; at > 0 && top->seconds[at - 1] < seconds; at--)
        if (at < top->room) {
            top->item[at] = top->item[at - 1];
            top->seconds[at] = top->seconds[at - 1];
        }
    if (at == top->room)
        return;
    top->item[at] = item;
    top->seconds[at] = seconds;
    top->count += top->count < top->room;
}

static double seconds_of(const struct top *top)
{
    double sum = 0;
    for (size_t i = 0; i < top->count; i++)
        sum += top->seconds[i];
    return sum;
}

struct listed {
    enum metric metric;
    bool nobody; /* whether the list shows missing cores and lock handoffs, for which no code is to blame */
};

static double listed_value(const struct rows *rows, uint32_t index, struct listed listed)
{
    const struct row *row = &rows->row[index];
    bool nobody = row_is_no_core(row) || (listed.metric == METRIC_LOCK_WAIT && row_is_handoff(row));
    if (row->kind == ROW_STATEMENT || (nobody != listed.nobody && listed.metric != METRIC_CORE_IDLENESS))
        return 0;
    return metric_value(rows, row->exclusive, listed.metric);
}

/* Finds the program's own functions with the highest values, by context or (by_function) over all callers. A
 * value includes code of libraries that the function calls. Returns the sum over all rows. */
static double summary_find_top(const struct rows *rows, struct listed listed, bool by_function, double least_s,
                               struct top *top)
{
    uint32_t items = (uint32_t)rows->count;
    for (uint32_t i = 0; by_function && i < rows->count; i++)
        if (rows->row[i].function != ROW_NONE && rows->row[i].function >= items)
            items = rows->row[i].function + 1;
    double *sum = memory_array(items, sizeof *sum), whole = 0;
    uint32_t *row = memory_array(items, sizeof *row);
    for (uint32_t i = 0; i < rows->count; i++) {
        double value = listed_value(rows, i, listed);
        uint32_t own = rows_own(rows, i), item = by_function ? rows->row[own].function : own;
        whole += value;
        if (value == 0 || item == ROW_NONE)
            continue;
        sum[item] += value;
        row[item] = own;
    }
    for (uint32_t i = 0; i < items; i++)
        if (sum[i] >= least_s && sum[i] > 0)
            add_to_top_rows(top, row[i], sum[i]);
    free(sum);
    free(row);
    return whole;
}

static char *function_label(const struct row *row)
{
    const struct row_label *label = row->label;
    if (!*label->file || label->line <= 0)
        return format_printable("%s", label->name);
    return format_printable("%s  %s:%d", label->name, format_base_name(label->file), label->line);
}

static void print_top(const struct summary *summary, const struct top *top, enum metric metric, bool functions)
{
    const struct rows *rows = summary->rows;
    double whole = metric == METRIC_CORE_IDLENESS ? 1e-9 * rows->cores_ns : thread_time_of(summary);
    bool events = counts_events(summary);
    for (size_t i = 0; i < top->count; i++) {
        char *label = functions ? function_label(&rows->row[top->item[i]])
                                : row_own_label(rows, top->item[i], metric, summary->columns - FIGURES, summary->utf8);
        char *name = format_fit(label, summary->columns - FIGURES, summary->utf8);
        fprintf(summary->out, "%6s %% %9s %s  %s\n", DECIMAL(fmin(100, 100 * top->seconds[i] / whole), 1),
                DECIMAL(top->seconds[i], events ? 0 : 2), events ? " " : "s", name);
        free(name);
        free(label);
    }
}

/* Prints the contexts with most of a metric, or the functions if the first contexts have little of it. */
static void print_top_contexts(const struct summary *summary, struct listed listed, size_t room, const char *heading)
{
    double least_s = LEAST_PERCENT / 100 * effort_of(summary);
    struct top contexts = {.room = room}, functions = {.room = room};
    double whole = summary_find_top(summary->rows, listed, false, least_s, &contexts);
    if (!(whole >= least_s) || !(whole > 0))
        return;
    if (seconds_of(&contexts) < FEW_SHARE * whole)
        summary_find_top(summary->rows, listed, true, least_s, &functions);
    bool by_function = seconds_of(&functions) > seconds_of(&contexts);
    const struct top *top = by_function ? &functions : &contexts;
    if (top->count)
        fprintf(summary->out, "\n%s (%sshare of %s):\n", heading, by_function ? "from all callers; " : "",
                listed.metric == METRIC_CORE_IDLENESS ? "the cores' time"
                : counts_events(summary)              ? "all events"
                                                      : "the thread time");
    print_top(summary, top, listed.metric, by_function);
}

/* Appends an item to a line of losses. */
static void append_loss(char *line, size_t bytes, const char *what)
{
    size_t length = strlen(line);
    snprintf(line + length, bytes - length, "%s%s", length ? ", " : "", what);
}

static void print_losses(const struct summary *summary)
{
    const struct profile *profile = summary->profile;
    struct ledger ledger;
    char line[4096] = "", item[sizeof(struct coverage_loss) + 160 + FORMAT_NUMBER_BYTES];
    ledger_sum(profile, &ledger);
    for (size_t reason = 0; reason < PROFILE_DROP_REASONS; reason++)
        /* Each thread may have one sample that was due when measurement ended. */
        if (ledger.dropped_by[reason] > (reason == PROFILE_DROP_STOPPING ? profile->thread_count : 0)) {
            const char *name = profile_drop_name[reason] ? profile_drop_name[reason] : "other";
            snprintf(item, sizeof item, "%llu of %llu samples (%s)", (unsigned long long)ledger.dropped_by[reason],
                     (unsigned long long)ledger.delivered, name);
            append_loss(line, sizeof line, item);
        }
    for (size_t i = 0; i < summary->coverage.count && !summary->poor; i++) {
        const struct coverage_loss *loss = &summary->coverage.loss[i];
        snprintf(item, sizeof item, "%s s of %s%s%s", DECIMAL(loss->seconds, 2), loss->what, *loss->cause ? ": " : "",
                 loss->cause);
        append_loss(line, sizeof line, item);
    }
    if (profile->unresolved_ns >= 1e6) {
        snprintf(item, sizeof item, "the callers of %s s (<unresolved>)", DECIMAL(profile->unresolved_ns * 1e-9, 3));
        append_loss(line, sizeof line, item);
    }
    if (ledger.paths_truncated) {
        snprintf(item, sizeof item, "the callers of %llu sample%s (<truncated>)",
                 (unsigned long long)ledger.paths_truncated, ledger.paths_truncated == 1 ? "" : "s");
        append_loss(line, sizeof line, item);
    }
    if (ledger.unrestored_calls) {
        snprintf(item, sizeof item, "%llu system call%s that a sample interrupted",
                 (unsigned long long)ledger.unrestored_calls, ledger.unrestored_calls == 1 ? "" : "s");
        append_loss(line, sizeof line, item);
    }
    if (ledger.creations_lost) {
        snprintf(item, sizeof item, "the creation contexts of %llu task%s", (unsigned long long)ledger.creations_lost,
                 ledger.creations_lost == 1 ? "" : "s");
        append_loss(line, sizeof line, item);
    }
    if (*line)
        fprintf(summary->out, "\nlost: %s\n", line);
}

/* If the program's own code has no source lines, prints how to get them. */
static void print_no_lines(const struct summary *summary)
{
    if (lines_are_missing(summary->profile, summary->rows))
        fputs("\nnote: " LINES_ADVICE "\n", summary->out);
}

/* Prints how much waiting in MPI is counted in other metrics, because libblame-mpi.so was not loaded. */
static void print_mpi_untold(const struct summary *summary)
{
    double seconds = mpi_untold_s(summary->rows);
    if (100 * seconds < MPI_UNTOLD_PERCENT * effort_of(summary))
        return;
    fprintf(summary->out,
            "\nnote: %s s in MPI calls that may have waited for other ranks are counted as work or blocked, because "
            "libblame-mpi.so was not loaded; blame run loads it for programs that are linked with MPI (docs/jobs.md)\n",
            DECIMAL(seconds, 2));
}

static void print_rate(const struct summary *summary)
{
    double least = profile_least_rate(summary->profile);
    if (least < (double)summary->profile->header.rate)
        fprintf(summary->out,
                "\n"
                "note: there were far more threads than cores, so each thread was sampled only %s times a second\n",
                DECIMAL(least, 0));
}

/* Prints which conservation law is off most, if sampling does not explain it and it matters for the whole
 * run. */
static void print_residual(const struct summary *summary)
{
    struct conservation_law laws[CONSERVATION_LAWS], *worst = NULL;
    size_t count = conservation_check(summary->profile, summary->rows, laws);
    double effort = effort_of(summary);
    for (size_t i = 0; i < count; i++)
        if (!laws[i].ok && fabs(laws[i].relative) > (worst ? fabs(worst->relative) : RESIDUAL_TOLD) &&
            (laws[i].exact || fabs(laws[i].residual) > RESIDUAL_TOLD * effort))
            worst = &laws[i];
    struct ledger ledger;
    ledger_sum(summary->profile, &ledger);
    double taken_s = ledger_taken_s(summary->profile, &ledger); /* a finding says more about this time */
    if (!worst || (!worst->exact && fabs(worst->residual) <= taken_s * summary->rows->threads))
        return;
    const char *said = strcmp(worst->cause, LAW_NO_CORE) == 0 ? "because threads had no core"
                       : strcmp(worst->cause, LAW_LOST) == 0  ? "because samples were lost"
                       : strcmp(worst->cause, LAW_COPIED) == 0
                           ? "because the measurement was copied while the program ran"
                       : strcmp(worst->cause, LAW_TRACED) == 0
                           ? "because another program traced this one and stopped it at system calls"
                       : worst->exact ? "for an unknown reason"
                                      : "for a reason other than sampling error, lost samples or a lack of cores";
    if (strcmp(worst->name, "thread_time") == 0 && worst->left < worst->right / 2) {
        fprintf(
            summary->out,
            "\nnote: only %s %% of the threads' time was sampled, perhaps because of a sanitizer or a limit: do not "
            "rely on these figures\n",
            DECIMAL(100 * worst->left / worst->right, 0));
        return;
    }
    fprintf(summary->out,
            "\n"
            "note: the figures do not add up: %s is off by %s %% (%s instead of %s), %s; see conservation in "
            "run.json\n",
            worst->name, DECIMAL(fabs(100 * worst->relative), 1), DECIMAL(worst->left, 2), DECIMAL(worst->right, 2),
            said);
}

/* Prints the phases that took longest, and how idle they were. */
static void print_top_phases(const struct summary *summary)
{
    if (!phases_any(summary->profile))
        return;
    struct phase_table *table = phases_gather(summary->profile, summary->rows);
    if (table->group_count > 1)
        fprintf(summary->out, "\nPhases, with idleness (share of thread time) and length%s:\n",
                summary->profile->header.merged ? ", summed over ranks" : "");
    for (size_t g = 1; g < table->group_count && g <= PHASES_SHOWN; g++) {
        const struct phase_group *group = &table->group[g];
        char calls[40] = "";
        char *name = format_fit(phase_name(table, group->name), summary->columns - 48, summary->utf8);
        if (group->probe.calls > 1)
            snprintf(calls, sizeof calls, "  (%llu times)", (unsigned long long)group->probe.calls);
        fprintf(summary->out, "%8s %% %9s s  %s%s\n",
                DECIMAL(metric_relative(summary->rows, &group->inclusive, METRIC_IDLENESS), 1),
                DECIMAL(group->exact_ns * 1e-9, 2), name, calls);
        free(name);
    }
    if (table->group_count > 1 + PHASES_SHOWN)
        fprintf(summary->out, "%22sand %zu more: blame report --view phases\n", "",
                table->group_count - 1 - PHASES_SHOWN);
    phases_free(table);
}

/* Prints what the shares add up to. The sampled thread time may differ from the number of threads times the
 * run time, because threads start and end during the run. */
static void print_whole_of_shares(const struct summary *summary)
{
    const struct profile_header *header = &summary->profile->header;
    double whole = thread_time_of(summary), wall_s = profile_wall_s(summary->profile),
           all = header->threads_max * wall_s;
    if (counts_events(summary)) {
        fprintf(summary->out, "  Of %s events:\n", DECIMAL(whole, 0));
    } else if (header->merged) {
        fprintf(summary->out, "  Of %s thread-seconds in all ranks:\n", DECIMAL(whole, 2));
    } else {
        bool equal = fabs(whole - all) <= MEASURED_TOLERANCE * all;
        char threads[80];
        profile_describe_threads(summary->profile, threads, sizeof threads);
        fprintf(summary->out, "  Of %s thread-seconds%s (%s, %s s):\n", DECIMAL(whole, 2),
                equal                                                     ? ""
                : summary->rows->shared && !summary->rows->without_openmp ? " in use"
                                                                          : " measured",
                threads, DECIMAL(wall_s, 2));
    }
}

/* Prints how long other ranks waited for this one. This is time of the other ranks, so it is not a share of
 * this process's time. */
static void print_rank_idleness(const struct summary *summary)
{
    const struct profile_sums *total = summary->rows->row[0].inclusive;
    fprintf(summary->out, "\n  %-*s %9s s  %s (+- %s s)\n", name_columns(summary), metric_title(METRIC_RANK_IDLENESS),
            DECIMAL(metric_value(summary->rows, total, METRIC_RANK_IDLENESS), 2),
            summary->profile->header.merged ? "part of the mpi wait, while the awaited rank was busy"
                                            : "other ranks waited while this one was busy",
            DECIMAL(metric_error(summary->rows, total, METRIC_RANK_IDLENESS), 2));
}

/* Prints for how long cores were idle. This is time of cores, so it is not a share of the threads' time. */
static void print_idle_cores(const struct summary *summary)
{
    const struct profile_sums *total = summary->rows->row[0].inclusive;
    fprintf(summary->out, "\n  %-*s %9s s  of the %s s of %s cores: too few threads were ready (+- %s s)\n",
            name_columns(summary), "idle cores", DECIMAL(metric_value(summary->rows, total, METRIC_CORE_IDLENESS), 2),
            DECIMAL(1e-9 * summary->rows->cores_ns, 2), DECIMAL(summary->rows->cores, 0),
            DECIMAL(metric_error(summary->rows, total, METRIC_CORE_IDLENESS), 2));
}

/* Returns for how long threads waited for locks whose holder, or next owner, had no core. */
static double waited_for_owner_without_core_s(const struct summary *summary)
{
    const struct rows *rows = summary->rows;
    double sum_s = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT && row_is_no_core(&rows->row[i]))
            sum_s += metric_value(rows, rows->row[i].exclusive, METRIC_LOCK_WAIT);
    return sum_s;
}

/* Prints how much of the lock wait was for a core rather than for a lock. */
static void print_wait_without_core(const struct summary *summary)
{
    double without_s = waited_for_owner_without_core_s(summary);
    if (without_s <= PART_SHARE_LEAST * thread_time_of(summary))
        return;
    print_summary_share(summary, "  of it", without_s, "while the lock's owner had no core");
    putc('\n', summary->out);
}

static void print_metrics(const struct summary *summary)
{
    print_event_note(summary);
    print_whole_of_shares(summary);
    for (size_t i = 0; i < METRIC_PARTS; i++) {
        if (metric_is_shown(summary->rows, metric_parts[i]))
            print_metric(summary, metric_parts[i], metric_summary(summary->rows, metric_parts[i]));
        if (metric_parts[i] == METRIC_LOCK_WAIT)
            print_wait_without_core(summary);
    }
    if (nobody_busy(summary) > 0) {
        print_summary_share(summary, "nobody busy", nobody_busy(summary), "all threads waited");
        putc('\n', summary->out);
    }
    if (unassigned(summary) > 0) {
        print_summary_share(summary, "unassigned", unassigned(summary), "waiting that is blamed on no code");
        putc('\n', summary->out);
    }
    if (metric_is_shown(summary->rows, METRIC_RANK_IDLENESS))
        print_rank_idleness(summary);
    if (rows_show_cores(summary->rows))
        print_idle_cores(summary);
    print_top_phases(summary);
}

static void print_causes(const struct summary *summary, const struct report_tables *tables)
{
    struct findings *findings = findings_gather(summary->profile, tables->rows, tables->locks, tables->waits);
    size_t told = findings->count < FINDINGS_SHOWN ? findings->count : FINDINGS_SHOWN;
    size_t room = told ? CONTEXTS_BESIDE + 1 - told : CONTEXTS_SHOWN;
    print_first_findings(summary, findings);
    if (summary->rows->without_openmp) {
        bool blocked = false;
        for (size_t i = 0; i < findings->count; i++)
            blocked |= strcmp(findings->finding[i].rule, "blocked") == 0;
        print_top_contexts(summary, (struct listed){.metric = METRIC_WORK}, room, "Most of the work");
        if (!blocked)
            print_top_contexts(summary, (struct listed){.metric = METRIC_BLOCKED}, room,
                               "Most of the sleep and spinning");
    }
    if (rows_show_cores(summary->rows))
        print_top_contexts(summary, (struct listed){.metric = METRIC_CORE_IDLENESS}, room,
                           "While this ran, or was ready, cores idled");
    print_top_contexts(summary, (struct listed){.metric = METRIC_IDLENESS}, room,
                       "While this ran, other threads idled");
    print_top_contexts(summary, (struct listed){.metric = METRIC_IDLENESS, .nobody = true}, room,
                       "While this waited for a core, other threads idled");
    print_top_contexts(summary, (struct listed){.metric = METRIC_LOCK_WAIT}, room,
                       "This held locks that other threads waited for");
    print_top_contexts(summary, (struct listed){.metric = METRIC_LOCK_WAIT, .nobody = true}, room,
                       "Threads waited for locks while this had no core, or while nobody held the lock");
    findings_free(findings);
}

/* Prints text as one word of a shell command, as $'...' if it has control characters. */
static void print_shell_word(FILE *out, const char *text)
{
    char *clean = format_clean(text, true), *escaped = strcmp(clean, text) != 0 ? format_escaped(text, "'") : NULL;
    free(clean);
    if (escaped) {
        fprintf(out, "$'%s'", escaped);
        free(escaped);
        return;
    }
    bool plain = *text && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                       "%+,-./:=@_") == strlen(text);
    if (plain) {
        fputs(text, out);
        return;
    }
    putc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    putc('\'', out);
}

void report_print_summary(FILE *out, const struct profile *profile, const struct report_tables *tables, const char *dir)
{
    struct summary summary = {.out = out, .profile = profile, .rows = tables->rows, .utf8 = format_locale_is_utf8()};
    size_t columns = format_terminal_columns(out);
    summary.columns = columns < 80 ? 80 : columns > SUMMARY_COLUMNS ? SUMMARY_COLUMNS : columns;
    coverage_of(profile, &summary.coverage);
    summary.poor = coverage_is_poor(&summary.coverage);
    print_title(&summary);
    if (!summary.poor || print_poor_coverage(&summary))
        print_metrics(&summary);
    if (!summary.poor)
        print_causes(&summary, tables);
    view_text_probe_notes(out, profile, tables->rows, summary.columns);
    runtime_notes_print(summary.out, summary.profile, summary.columns, summary.utf8);
    print_mpi_untold(&summary);
    print_no_lines(&summary);
    print_losses(&summary);
    view_text_trace_note(out, profile);
    print_rate(&summary);
    if (!summary.poor)
        print_residual(&summary);
    char *clean = format_clean(dir, true);
    fprintf(out, "\nprofile: %s    see more: blame report ", clean);
    free(clean);
    print_shell_word(out, dir);
    putc('\n', out);
}
