/* The threads view and the locks view, which are tables. */
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/rows/label.h"
#include "command/tables/locks.h"
#include "command/tables/ranks.h"
#include "command/tables/threads.h"
#include "command/text/format.h"
#include "command/views/sort.h"
#include "command/views/text.h"

#define LOCK_COLUMNS    35 /* columns of numbers before a lock's name */
#define CONTEXT_COLUMNS 26 /* columns before a context below a lock */
#define BAR_COLUMNS     18
#define THREAD_COLUMNS  79 /* columns of numbers before the bar */
#define RANK_COLUMNS    8  /* additional columns before the bar in a job */

enum { PART_WORK, PART_OVERHEAD, PART_LOCK_WAIT, PART_IDLE, PART_NO_CORE, PART_BLOCKED, PART_MPI_WAIT, PARTS };

static const char *const part_title[PARTS] = {"work",    "overhead", "lock wait", "idle",
                                              "no core", "blocked",  "mpi wait"};
static const char *const bar_plain[PARTS] = {"#", "o", "L", ".", "x", "z", "m"};
static const char *const bar_fine[PARTS] = {
    "\xe2\x96\x88", "\xe2\x96\x92", "\xe2\x96\x9a", "\xc2\xb7", "\xc3\x97", "z", "m"};

/* columns of a part of the thread time */
#define PART_COLUMNS(p) ((p) < PART_NO_CORE ? 10 : (p) < PART_MPI_WAIT ? 8 : 9)
/* a part is shown if a thread has at least this many ns of it, which two decimals can show */
#define SHOWN_NS 5e6

static void parts_of_thread_time(const struct profile_thread *thread, double part[PARTS])
{
    const double parts[PARTS] = {thread->work,    thread->overhead, thread->lock_wait, thread->idle,
                                 thread->no_core, thread->blocked,  thread->mpi_wait};
    memcpy(part, parts, sizeof parts);
}

struct thread_table {
    FILE *out;
    const struct profile *profile;
    const struct view_style *style;
    /* whether each part is shown; no core, blocked and mpi wait are shown only if there is any, and so are overhead, lock
     * wait and idle without OpenMP */
    bool shown[PARTS];
    bool times, bar;
};

static struct thread_table lay_out_thread_table(FILE *out, const struct profile *profile,
                                                const struct view_style *style)
{
    struct thread_table table = {.out = out, .profile = profile, .style = style};
    size_t columns = THREAD_COLUMNS + (profile->rank_count ? RANK_COLUMNS : 0);
    for (int p = 0; p < PARTS; p++) {
        table.shown[p] = p < (profile_without_openmp(profile) ? PART_OVERHEAD : PART_NO_CORE);
        for (size_t i = 0; i < profile->thread_count && !table.shown[p]; i++) {
            double part[PARTS];
            parts_of_thread_time(&profile->threads[i], part);
            table.shown[p] = part[p] >= SHOWN_NS;
        }
        columns += p >= PART_NO_CORE && table.shown[p] ? PART_COLUMNS(p) : 0;
    }
    table.times = style->columns >= columns;
    table.bar = style->columns >= columns + BAR_COLUMNS + 2;
    return table;
}

/* Prints a thread's time as a bar. Each part has a number of columns in proportion to its time. */
static void print_thread_bar(FILE *out, const double part[PARTS], double whole, bool utf8)
{
    double sum = 0;
    int drawn = 0;
    fputs("  ", out);
    for (int p = 0; p < PARTS; p++) {
        sum += part[p];
        int until = whole > 0 ? (int)(BAR_COLUMNS * (sum / whole) + 0.5) : 0;
        for (; drawn < until && drawn < BAR_COLUMNS; drawn++)
            fputs((utf8 ? bar_fine : bar_plain)[p], out);
    }
    fputc('\n', out);
}

/* Prints the rank of a thread in a job. */
static void print_thread_rank(FILE *out, const struct profile *profile, const struct profile_thread *thread)
{
    char name[32] = "";
    if (thread->rank_record && thread->rank_record <= profile->rank_count)
        rank_name(&profile->ranks[thread->rank_record - 1], name, sizeof name);
    fprintf(out, "%*s", RANK_COLUMNS, name);
}

static void print_thread(const struct thread_table *table, size_t index)
{
    FILE *out = table->out;
    const struct profile_thread *thread = &table->profile->threads[index];
    uint64_t start = table->profile->header.start_ns, end = profile_thread_end_ns(thread);
    double part[PARTS], whole = 0;
    parts_of_thread_time(thread, part);
    for (int p = 0; p < PARTS; p++)
        whole += part[p];
    fprintf(out, "%6zu", index);
    if (table->profile->rank_count)
        print_thread_rank(out, table->profile, thread);
    fprintf(out, "  %-7s", thread_kind_name(thread));
    if (table->times) {
        fprintf(out, "%8s", DECIMAL((double)(int64_t)(thread->begin_ns - start) * 1e-9, 2));
        fprintf(out, "%8s", DECIMAL((double)(int64_t)(end - start) * 1e-9, 2));
    }
    for (int p = 0; p < PARTS; p++)
        if (table->shown[p])
            fprintf(out, "%*s", PART_COLUMNS(p), part[p] > 0 ? DECIMAL(part[p] * 1e-9, 2) : "");
    if (table->shown[PART_IDLE])
        fprintf(out, "%8s", whole > 0 ? DECIMAL(100 * part[PART_IDLE] / whole, 1) : "");
    if (thread->timer_failed)
        fputs("  no timer\n", out);
    else if (table->bar && whole > 0)
        print_thread_bar(out, part, whole, table->style->utf8);
    else
        fputc('\n', out);
}

void view_text_threads(FILE *out, const struct profile *profile, const struct view_style *style)
{
    struct thread_table table = lay_out_thread_table(out, profile, style);
    view_text_header(out, profile, style);
    format_paragraph(out, table.times ? "Seconds; begin and end are counted from the program's start." : "Seconds.",
                     style->columns);
    if (table.bar) {
        fputs("Bars:", out);
        for (int p = 0; p < PARTS; p++)
            if (table.shown[p])
                fprintf(out, "%s%s %s", p ? "  " : " ", (style->utf8 ? bar_fine : bar_plain)[p], part_title[p]);
        putc('\n', out);
    }
    fprintf(out, "\n%s%6s%*s  %-7s%s", format_strong(style->colour), "thread", profile->rank_count ? RANK_COLUMNS : 0,
            profile->rank_count ? "rank" : "", "kind", table.times ? "   begin     end" : "");
    for (int p = 0; p < PARTS; p++)
        if (table.shown[p])
            fprintf(out, "%*s", PART_COLUMNS(p), part_title[p]);
    fprintf(out, "%s%s\n", table.shown[PART_IDLE] ? "  idle %" : "", format_plain(style->colour));
    for (size_t i = 0; i < profile->thread_count; i++)
        print_thread(&table, style->order ? style->order[i] : i);
}

/* Returns the columns that remain below a lock after the role and the seconds. */
static size_t lock_label_columns(const struct view_style *style)
{
    return style->columns > CONTEXT_COLUMNS + 14 ? style->columns - CONTEXT_COLUMNS : 14;
}

/* Prints a context below a lock, after its `role`. */
static void print_lock_context(FILE *out, const struct rows *rows, const struct lock_context *context,
                               enum metric metric, const char *role, const struct view_style *style)
{
    char *label = row_context_label(rows, context->row, metric, lock_label_columns(style), style->utf8);
    fprintf(out, "%15s%9s  %s\n", role, DECIMAL(context->wait_ns * 1e-9, 3), label);
    free(label);
}

/* Prints how long threads waited while the lock's owner had no core. */
static void print_lock_without_core(FILE *out, const struct lock_entry *lock, const struct view_style *style)
{
    if (!(lock->no_core_ns > 0))
        return;
    char *meaning = format_fit("while the lock's owner had no core", lock_label_columns(style), style->utf8);
    fprintf(out, "%15s%9s  %s\n", "no core", DECIMAL(lock->no_core_ns * 1e-9, 3), meaning);
    free(meaning);
}

/* Prints a lock's name, and its kind and address if they fit and the name does not contain them. */
static void print_lock_name(FILE *out, const struct lock_entry *lock, size_t columns, bool utf8)
{
    char address[32], *name = format_fit(lock->name, columns, utf8);
    const char *kind = lock_kind_name[lock->kind];
    bool plain = strncmp(name, "0x", 2) == 0;
    bool says_kind = lock->kind == PROFILE_LOCK_CRITICAL || strcmp(lock->name, lock->symbol) != 0;
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)lock->wait_id);
    size_t used = format_columns(name);
    fputs(name, out);
    if ((plain || !says_kind) && used + 2 + strlen(kind) <= columns) {
        fprintf(out, "  %s", kind);
        used += 2 + strlen(kind);
    }
    if (!plain && used + 2 + strlen(address) <= columns)
        fprintf(out, "  %s", address);
    fputc('\n', out);
    free(name);
}

static void print_lock(FILE *out, const struct lock_table *table, const struct lock_entry *lock,
                       const struct view_style *style)
{
    const struct rows *rows = table->rows;
    size_t columns = style->columns;
    struct profile_sums wait = {.lock_wait = lock->wait_ns};
    double share = metric_absolute(rows, &wait, METRIC_LOCK_WAIT);
    fprintf(out, "%s%9s%7s%s%9s%8llu  ", format_heat(share, style->colour), DECIMAL(lock->wait_ns * 1e-9, 3),
            DECIMAL(share, 1), format_plain(style->colour),
            lock->longest_ns > 0 ? DECIMAL(lock->longest_ns * 1e-9, 3) : "", (unsigned long long)lock->contended);
    print_lock_name(out, lock, columns > LOCK_COLUMNS + 5 ? columns - LOCK_COLUMNS : 5, style->utf8);
    const struct lock_context waiter = {.row = lock->waiter, .wait_ns = lock->waiter_ns};
    if (lock->waiter != ROW_NONE && style->below)
        print_lock_context(out, rows, &waiter, METRIC_LOCK_WAIT_HERE, "waited", style);
    for (uint32_t c = 0; c < lock->context_count && c < style->below; c++)
        print_lock_context(out, rows, &table->context[lock->first_context + c], METRIC_LOCK_WAIT, c ? "" : "held",
                           style);
    if (style->below && lock->context_count > style->below)
        fprintf(out, "%26sand %u more\n", "", lock->context_count - style->below);
    if (style->below)
        print_lock_without_core(out, lock, style);
}

static void print_locks_left_out(FILE *out, const struct lock_table *table, size_t shown, const struct view_cut *cut)
{
    double rest_ns = cut ? cut->ns : 0;
    size_t rest = table->count - shown + (cut ? cut->count : 0);
    for (size_t i = shown; i < table->count; i++)
        rest_ns += table->lock[i].wait_ns;
    if (rest)
        fprintf(out, "\n%9s  %zu more lock%s; --min 0 shows all\n", DECIMAL(rest_ns * 1e-9, 3), rest,
                rest == 1 ? "" : "s");
    if (table->inits_lost)
        fprintf(out,
                "\n"
                "%llu initialisations of locks were not recorded, because there was no room: some locks are not "
                "named after their initialisation\n",
                (unsigned long long)table->inits_lost);
}

void view_text_locks(FILE *out, const struct profile *profile, const struct lock_table *table,
                     const struct view_style *style)
{
    view_text_header(out, profile, style);
    if (table->count == 0 && !(style->cut && style->cut->count)) {
        fputs("\nNo sample found a thread waiting for a lock.\n", out);
        return;
    }
    format_paragraph(
        out,
        "For each lock: how long threads waited, in seconds and as a percentage of the effort; the longest wait; and "
        "the number of waits that samples found. Below each lock: where threads waited most, and which code held the "
        "lock.",
        style->columns);
    fprintf(out, "\n%s%9s%7s%9s%8s  %s%s\n", format_strong(style->colour), "wait", "%", "longest", "waits", "lock",
            format_plain(style->colour));
    size_t shown = style->most && style->most < table->count ? style->most : table->count;
    for (size_t i = 0; i < shown; i++)
        print_lock(out, table, &table->lock[i], style);
    print_locks_left_out(out, table, shown, style->cut);
}
