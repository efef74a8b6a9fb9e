/* Prints the phases view as text. */
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "cct/sums.h"
#include "command/profile/pair_map.h"
#include "command/rows/error.h"
#include "command/rows/label.h"
#include "command/rows/make.h"
#include "command/tables/phases.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/arrange.h"
#include "command/views/probe_notes.h"
#include "command/views/text.h"

/* ---- the rows of the view ---- */

/* Arranges the call path profile of each phase. The function that started the phase is part of the phase's
 * row. The rows below are the code that this function calls. */

struct arranging {
    const struct rows *rows;
    const struct phase_table *table;
    struct rows *view;
    struct pair_map children; /* the view's row by (parent in the view, function) and kind */
    uint32_t *group;          /* by name: index of the phase in the table, or ROW_NONE */
    uint32_t *phase;          /* by row: 1 + the number of the phase's name; 0 if the row is no phase */
    /* by row: whether the function started a phase, and so is part of the phase's row */
    bool *began;
    uint32_t *target; /* by row: the view's row that includes its cost */
};

static uint32_t find_view_child(struct arranging *to, uint32_t parent, const struct row *like)
{
    uint32_t *slot = pair_map_slot(&to->children, (uint64_t)parent << 32 | like->function, like->kind);
    if (*slot == PAIR_MAP_NEW) {
        *slot = rows_append(to->view, parent, (enum row_kind)like->kind);
        struct row *row = &to->view->row[*slot];
        row->function = like->function;
        row->label = like->label;
    }
    return *slot;
}

static void add_metric_sums(struct arranging *to, uint32_t target, const struct profile_sums *sums)
{
    rows_add_exclusive(to->view, &to->view->row[target], sums);
}

static void add_exact_times(struct arranging *to, uint32_t target, const struct profile_probe *probe)
{
    struct row *row = &to->view->row[target];
    if (probe->calls == 0)
        return;
    struct row_extra *extra = row->extra ? (struct row_extra *)row->extra : rows_alloc(to->view, sizeof *extra);
    sums_add_probe(&extra->probe, probe);
    row->extra = extra;
}

/* Adds an event. An event inside another event of the same name adds no exact time, because the outer event
 * includes it. */
static void add_event_row(struct arranging *to, uint32_t index)
{
    struct profile_probe probe = to->rows->row[index].extra->probe;
    uint32_t above = to->rows->row[index].parent;
    while (above && to->target[above] != to->target[index])
        above = to->rows->row[above].parent;
    if (above)
        probe.inclusive_ns = 0;
    add_exact_times(to, to->target[index], &probe);
}

/* Returns the first-level row of a phase's name; for 0, the row of the whole program. */
static uint32_t row_of_phase_name(const struct arranging *to, uint32_t name)
{
    uint32_t group = name <= to->table->profile->name_count ? to->group[name] : ROW_NONE;
    return group == ROW_NONE ? to->view->node_row[0] : to->view->node_row[group];
}

/* Returns the first-level row (of a phase) that contains a row of the view. */
static uint32_t phase_row_above(const struct arranging *to, uint32_t view_row)
{
    while (to->view->row[view_row].parent != 0)
        view_row = to->view->row[view_row].parent;
    return view_row;
}

/* Returns whether a row is the function that started the innermost phase, or an inlined function that
 * contains the start. */
static bool starts_innermost_phase(const struct arranging *to, const struct row *row)
{
    uint32_t group = to->target[row->parent] - to->view->node_row[0];
    uint32_t name = group < to->table->group_count ? to->table->group[group].name : 0;
    char wanted[300];
    if (row_is_probe(row) || row->kind == ROW_PSEUDO)
        return false;
    if (row->parent == 0 || to->phase[row->parent])
        return true;
    if (row->kind != ROW_INLINED || !to->began[row->parent] || !name || !to->rows->begun_in ||
        name > to->table->profile->name_count || !to->rows->begun_in[name - 1])
        return false;
    int bytes = snprintf(wanted, sizeof wanted, "\n%s\n", row->label->name);
    return bytes < (int)sizeof wanted && strstr(to->rows->begun_in[name - 1], wanted);
}

static void take_phase_row(struct arranging *to, uint32_t index)
{
    const struct row *row = &to->rows->row[index];
    uint32_t above = to->target[row->parent];
    if (row->kind == ROW_STATEMENT)
        return;
    if (to->phase[index]) {
        bool instance = to->phase[row->parent] == to->phase[index];
        to->target[index] = row_of_phase_name(to, to->phase[index] - 1);
        /* the nested phase as a row of the enclosing phase */
        if (!instance && phase_row_above(to, above) != to->target[index]) {
            uint32_t nested = find_view_child(to, above, row);
            add_metric_sums(to, nested, row->inclusive);
            add_exact_times(to, nested, row->extra ? &row->extra->probe : &(struct profile_probe){0});
        }
        add_metric_sums(to, to->target[index], row->exclusive);
        return;
    }
    to->began[index] = starts_innermost_phase(to, row);
    to->target[index] = to->began[index] ? above : find_view_child(to, above, row);
    add_metric_sums(to, to->target[index], row->exclusive);
    if (row_is_probe(row) && row->extra)
        add_event_row(to, index);
}

static void add_phases(struct arranging *to)
{
    const struct phase_table *table = to->table;
    for (uint32_t g = 0; g < table->group_count; g++) {
        const struct phase_group *group = &table->group[g];
        uint32_t row = rows_append(to->view, 0, ROW_PHASE);
        struct row_label *label = rows_alloc(to->view, sizeof *label);
        struct row_extra *extra = rows_alloc(to->view, sizeof *extra);
        *label = row_no_label;
        label->name = phase_name(table, group->name);
        extra->probe = group->probe;
        to->view->row[row].label = label;
        to->view->row[row].extra = extra; /* exact times are kept even if no sample hit the phase */
        to->view->node_row[g] = row;
        if (group->name <= table->profile->name_count)
            to->group[group->name] = g;
    }
}

/* Finds the rows that are phases, and their names. */
static void find_phases(struct arranging *to)
{
    const struct profile *profile = to->table->profile;
    for (uint32_t n = 1; n < profile->node_count; n++) {
        const struct merged_node *node = &profile->nodes[n];
        uint32_t row = to->rows->node_row[n];
        if (row == ROW_NONE)
            continue;
        if (node->kind == PROFILE_NODE_INSTANCE)
            node = &profile->nodes[node->parent];
        if (node->kind == PROFILE_NODE_PHASE)
            to->phase[row] = 1 + (uint32_t)node->key;
    }
}

static void start_arranging(struct arranging *to)
{
    size_t names = to->table->profile->name_count + 1, groups = to->table->group_count;
    to->group = memory_array(names, sizeof *to->group);
    memset(to->group, 0xff, names * sizeof *to->group);
    to->phase = memory_array(to->rows->count, sizeof *to->phase);
    to->target = memory_array(to->rows->count, sizeof *to->target);
    to->began = memory_array(to->rows->count, sizeof *to->began);
    to->view->node_row = memory_array(groups, sizeof *to->view->node_row);
    to->view->node_count = groups;
    rows_append(to->view, ROW_NONE, ROW_ROOT);
    to->view->row[0].label = to->rows->row[0].label;
    add_phases(to);
}

struct rows *view_phases(const struct rows *rows, const struct phase_table *table)
{
    struct arranging to = {.rows = rows, .table = table, .view = rows_like(rows)};
    start_arranging(&to);
    find_phases(&to);
    to.target[0] = row_of_phase_name(&to, 0);
    add_metric_sums(&to, to.target[0], rows->row[0].exclusive);
    for (uint32_t i = 1; i < rows->count; i++)
        take_phase_row(&to, i);
    pair_map_free(&to.children);
    free(to.group);
    free(to.phase);
    free(to.target);
    free(to.began);
    rows_sum(to.view);
    rows_order(to.view, METRIC_ORDER, false);
    return to.view;
}

/* ---- the text ---- */

#define FEW_EXECUTIONS 8 /* largest number of executions that are printed on a line each */
#define SLOWEST        5
#define EVENTS_SHOWN   20
#define NAME_INDENT    64 /* columns of numbers before a name */
#define NARROW_COLUMNS 84 /* in a terminal with fewer columns, fewer numbers are shown */
#define NARROW_INDENT  45 /* columns of numbers before a name in a narrow terminal */
#define PART_COLUMNS   9  /* columns of each of no core, blocked and mpi wait, if it is shown */
#define LEAST_NAME     12
#define SERIES_INDENT  20

struct phases_view {
    FILE *out;
    const struct view_style *style;
    const struct rows *rows, *view;
    const struct phase_table *table;
    int decimals;
    double least_s; /* least effort in seconds of a row that is shown */
    size_t cut;
    bool narrow, shown[METRIC_PARTS];
    uint32_t depth; /* number of the deepest level that is shown */
};

static void print_phase_cell(const struct phases_view *to, int width, bool given, double value, int decimals)
{
    fprintf(to->out, "%*s", width, given ? DECIMAL(value, decimals) : "");
}

static bool profile_has_part(const struct phases_view *to, size_t part)
{
    return part < 2 || (part < METRIC_ALWAYS_PARTS ? !to->narrow : to->shown[part]);
}

/* Chooses the largest of the metrics that are not always shown. */
static void choose_phase_parts(struct phases_view *to)
{
    size_t before = to->narrow ? NARROW_INDENT : NAME_INDENT, columns = to->style->columns;
    size_t room = columns > before + LEAST_NAME ? (columns - before - LEAST_NAME) / PART_COLUMNS : 0;
    for (; room > 0; room--) {
        size_t most = METRIC_PARTS;
        double most_s = 0;
        for (size_t i = METRIC_ALWAYS_PARTS; i < METRIC_PARTS; i++) {
            double seconds = metric_value(to->rows, rows_whole(to->rows), metric_parts[i]);
            if (to->shown[i] || !metric_is_shown(to->rows, metric_parts[i]) ||
                (most < METRIC_PARTS && seconds <= most_s))
                continue;
            most = i;
            most_s = seconds;
        }
        if (most == METRIC_PARTS)
            return;
        to->shown[most] = true;
    }
}

/* Prints exact times and calls, and sampled times. */
static void print_phase_numbers(const struct phases_view *to, uint64_t calls, double exact_ns,
                                const struct profile_sums *sums)
{
    static const int widths[METRIC_ALWAYS_PARTS] = {10, 10, 9, 10};
    double effort = metric_value(to->rows, sums, METRIC_EFFORT);
    double idle = metric_relative(to->rows, sums, METRIC_IDLENESS);
    print_phase_cell(to, 9, calls > 0, exact_ns * 1e-9, to->decimals);
    print_phase_cell(to, 8, calls > 0, (double)calls, 0);
    for (size_t i = 0; i < METRIC_PARTS; i++) {
        double value = metric_value(to->rows, sums, metric_parts[i]);
        if (profile_has_part(to, i))
            print_phase_cell(to, i < METRIC_ALWAYS_PARTS ? widths[i] : PART_COLUMNS, value != 0, value, to->decimals);
    }
    const char *heat = format_heat(idle, to->style->colour);
    fputs(heat, to->out);
    print_phase_cell(to, 7, effort > 0, idle, 1);
    fprintf(to->out, "%s ", *heat ? format_plain(true) : "");
}

static void print_phase_label(const struct phases_view *to, const char *branches, size_t branch_columns,
                              const char *name)
{
    size_t before = (to->narrow ? NARROW_INDENT : NAME_INDENT) + branch_columns;
    for (size_t i = METRIC_ALWAYS_PARTS; i < METRIC_PARTS; i++)
        before += profile_has_part(to, i) ? PART_COLUMNS : 0;
    size_t room = to->style->columns > before + LEAST_NAME ? to->style->columns - before : LEAST_NAME;
    char *fitting = format_fit(name, room, to->style->utf8);
    fprintf(to->out, "%s%s\n", branches, fitting);
    free(fitting);
}

static const struct profile_probe *probe_of(const struct row *row)
{
    static const struct profile_probe none;
    return row->extra ? &row->extra->probe : &none;
}

static bool is_phase_row_shown(const struct phases_view *to, const struct row *row)
{
    return row->extra || metric_value(to->rows, row->inclusive, METRIC_EFFORT) >= to->least_s;
}

/* Prints the code that a phase, or a row below it, calls. */
static void print_code_below_phase(struct phases_view *to, uint32_t first)
{
    const struct rows *view = to->view;
    bool utf8 = to->style->utf8;
    uint32_t level = view->row[first].depth;
    for (uint32_t i = first + 1; i < view->row[first].end;) {
        const struct row *row = &view->row[i];
        char branches[64] = "";
        if (row->depth > to->depth || !is_phase_row_shown(to, row)) {
            to->cut += row->depth <= to->depth;
            i = row->end;
            continue;
        }
        unsigned indent = row->depth - level - 1 < 12 ? row->depth - level - 1 : 12;
        for (unsigned depth = 0; depth < indent; depth++)
            strcat(branches, "  ");
        strcat(branches, utf8 ? "\xe2\x94\x94 " : "- ");
        print_phase_numbers(to, probe_of(row)->calls, probe_of(row)->inclusive_ns, row->inclusive);
        char *label = row_tree_label(view, i);
        print_phase_label(to, branches, 2 * (indent + 1), label);
        free(label);
        i++;
    }
}

static int compare_execution_times(const void *left, const void *right)
{
    const struct phase_entry *a = *(const struct phase_entry *const *)left;
    const struct phase_entry *b = *(const struct phase_entry *const *)right;
    if (a->exact_ns != b->exact_ns)
        return a->exact_ns > b->exact_ns ? -1 : 1;
    return (a > b) - (a < b);
}

/* Prints how much the durations of executions differ, and which executions took longest. */
static void print_execution_spread(const struct phases_view *to, const struct phase_group *group)
{
    const struct phase_entry *entries = &to->table->entry[group->first_entry];
    const struct phase_entry **slowest = memory_array(group->entry_count, sizeof *slowest);
    char *text;
    size_t count = 0;
    FILE *out = memory_stream(&text);
    for (size_t i = 0; i < group->entry_count; i++)
        if (entries[i].is == PHASE_NUMBERED && entries[i].probe.calls)
            slowest[count++] = &entries[i];
    qsort(slowest, count, sizeof *slowest, compare_execution_times);
    fprintf(out, "%s to %s s each, mean %s, deviation %s; slowest:",
            DECIMAL(group->probe.shortest_ns * 1e-9, to->decimals + 1),
            DECIMAL(group->probe.longest_ns * 1e-9, to->decimals + 1),
            DECIMAL(phase_mean_s(&group->probe), to->decimals + 1),
            DECIMAL(phase_deviation_s(&group->probe), to->decimals + 1));
    for (size_t i = 0; i < count && i < SLOWEST; i++)
        fprintf(out, "%s [%lld] %s", i ? "," : "", (long long)slowest[i]->instance,
                DECIMAL(slowest[i]->exact_ns * 1e-9, to->decimals + 1));
    free(slowest);
    memory_stream_close(out);
    format_indented(to->out, text, SERIES_INDENT, to->style->columns);
    free(text);
}

/* Prints the counters' sums over the phase. */
static void print_phase_counters(const struct phases_view *to, const struct profile_counters *counters)
{
    char *text;
    FILE *out = memory_stream(&text);
    for (size_t i = 0; i < to->rows->counter_count; i++) {
        char *name = format_printable("%s", to->rows->counter_name[i]);
        fprintf(out, "%s%s %s", i ? ", " : "counted: ", name, DECIMAL(counters->value[i], 0));
        free(name);
    }
    memory_stream_close(out);
    if (*text)
        format_indented(to->out, text, SERIES_INDENT, to->style->columns);
    free(text);
}

static void print_executions(const struct phases_view *to, const struct phase_group *group)
{
    const struct phase_entry *entries = &to->table->entry[group->first_entry];
    enum phase_instance last = entries[group->entry_count - 1].is;
    if (last != PHASE_STATIC && (group->entry_count > FEW_EXECUTIONS || last == PHASE_OTHERS)) {
        print_execution_spread(to, group);
        return;
    }
    for (size_t i = 0; i < group->entry_count; i++) {
        if (entries[i].is != PHASE_NUMBERED)
            continue;
        char *label = format_printable("[%lld]", (long long)entries[i].instance);
        print_phase_numbers(to, entries[i].probe.calls, entries[i].exact_ns, &entries[i].inclusive);
        print_phase_label(to, "  ", 2, label);
        print_phase_counters(to, &entries[i].counters);
        free(label);
    }
}

static void print_phase_table(struct phases_view *to)
{
    fprintf(to->out, "\n%s%9s%8s%10s%10s%s", format_strong(to->style->colour), "exact", "calls", "work", "idleness",
            to->narrow ? "" : " overhead lock wait");
    for (size_t i = METRIC_ALWAYS_PARTS; i < METRIC_PARTS; i++)
        if (to->shown[i])
            fprintf(to->out, "%*s", PART_COLUMNS, metric_title(metric_parts[i]));
    fprintf(to->out, "%7s %s%s\n", "idle %", "phase", format_plain(to->style->colour));
    for (size_t g = 0; g < to->table->group_count; g++) {
        const struct phase_group *group = &to->table->group[g];
        uint32_t row = to->view->node_row[g];
        print_phase_numbers(to, group->probe.calls, group->exact_ns, &group->inclusive);
        char *label = format_printable("%s", phase_name(to->table, group->name));
        fputs(format_strong(to->style->colour), to->out);
        print_phase_label(to, "", 0, label);
        fputs(format_plain(to->style->colour), to->out);
        free(label);
        if (group->name) {
            print_phase_counters(to, &group->counters);
            print_executions(to, group);
        }
        if (row != ROW_NONE)
            print_code_below_phase(to, row);
    }
}

/* An event or a parameter, summed over all contexts. */
struct event {
    const struct row *row; /* one of the rows of the event */
    struct profile_probe probe;
    uint64_t samples;
    /* ns by the clock and seconds by samples; an event inside itself is counted once */
    double exact_ns, sampled_s;
};

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->exact_ns != b->exact_ns)
        return a->exact_ns > b->exact_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static struct event *find_event(struct event *events, size_t *count, struct pair_map *map, const struct row *row)
{
    uint32_t *slot = pair_map_slot(map, row->function, 0);
    if (*slot == PAIR_MAP_NEW) {
        *slot = (uint32_t)*count;
        events[(*count)++] = (struct event){.row = row};
    }
    return &events[*slot];
}

/* malloc'ed. */
static struct event *gather_event_totals(const struct rows *rows, size_t *count)
{
    size_t room = 0;
    for (size_t i = 0; i < rows->count; i++)
        room += rows->row[i].kind == ROW_EVENT || rows->row[i].kind == ROW_PARAMETER;
    struct event *events = memory_array(room, sizeof *events);
    struct pair_map map = {0};
    *count = 0;
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind != ROW_EVENT && row->kind != ROW_PARAMETER)
            continue;
        struct event *event = find_event(events, count, &map, row);
        uint32_t above = row->parent;
        while (above && rows->row[above].function != row->function)
            above = rows->row[above].parent;
        sums_add_probe(&event->probe, probe_of(row));
        if (above) /* the outer event includes the time of this one */
            continue;
        event->exact_ns += probe_of(row)->inclusive_ns;
        event->samples += row->inclusive->samples;
        for (size_t part = 0; part < METRIC_PARTS; part++)
            if (metric_parts[part] != METRIC_IDLENESS && metric_parts[part] != METRIC_LOCK_WAIT)
                event->sampled_s += metric_value(rows, row->inclusive, metric_parts[part]);
    }
    pair_map_free(&map);
    qsort(events, *count, sizeof *events, compare_events);
    return events;
}

static void print_event(const struct phases_view *to, const struct event *event)
{
    const struct profile_probe *probe = &event->probe;
    char error[FORMAT_NUMBER_BYTES + 4] = "";
    print_phase_cell(to, 9, probe->calls > 0, event->exact_ns * 1e-9, to->decimals);
    print_phase_cell(to, 8, probe->calls > 0, (double)probe->calls, 0);
    if (!to->narrow) {
        print_phase_cell(to, 10, probe->calls > 0, probe->exclusive_ns * 1e-9, to->decimals);
        print_phase_cell(to, 14, probe->calls > 0, phase_mean_s(probe) * 1e6, 3);
    }
    print_phase_cell(to, 11, event->samples > 0, event->sampled_s, to->decimals);
    if (event->samples)
        snprintf(error, sizeof error, "+- %s",
                 DECIMAL(error_of(&to->rows->error, METRIC_WORK, event->sampled_s, ERROR_ALONE), to->decimals));
    fprintf(to->out, "%*s ", to->narrow ? 16 : 11, error);
    char *label = format_printable("%s", event->row->label->name);
    print_phase_label(to, "", 0, label);
    free(label);
}

/* Prints the exact and the sampled time of each event. */
static void print_event_table(const struct phases_view *to)
{
    size_t count;
    struct event *events = gather_event_totals(to->rows, &count);
    if (count) {
        fputc('\n', to->out);
        format_paragraph(to->out,
                         "For events and parameters: wall-clock seconds, and seconds estimated from samples with their "
                         "95 % interval. The estimate covers all time of threads inside, except waits in OpenMP.",
                         to->style->columns);
        fprintf(to->out, "\n%s%9s%8s%s%11s%*s %s%s\n", format_strong(to->style->colour), "exact", "calls",
                to->narrow ? "" : "    itself     mean (us)", "sampled", to->narrow ? 16 : 11, "",
                to->narrow ? "event" : "event or parameter", format_plain(to->style->colour));
    }
    for (size_t i = 0; i < count && i < EVENTS_SHOWN; i++)
        print_event(to, &events[i]);
    if (count > EVENTS_SHOWN)
        fprintf(to->out, "and %zu more, see profile.csv\n", count - EVENTS_SHOWN);
    free(events);
}

static void print_phases_meaning(const struct phases_view *to)
{
    format_paragraph(
        to->out,
        "Exact: wall-clock seconds from start to end, in the thread that started the phase. The other columns: thread "
        "time estimated from samples, including nested phases. Below each phase is the code that "
        "ran in it; a nested phase has a row of its own.",
        to->style->columns);
    if (to->rows->counter_count)
        format_paragraph(to->out, "Counters: from start to end, in the threads that started the phase.",
                         to->style->columns);
}

void view_text_phases(FILE *out, const struct profile *profile, const struct rows *rows,
                      const struct phase_table *table, uint32_t depth, const struct view_style *style)
{
    double effort = metric_value(rows, rows_whole(rows), METRIC_EFFORT);
    struct phases_view to = {.out = out,
                             .style = style,
                             .rows = rows,
                             .table = table,
                             .narrow = style->columns < NARROW_COLUMNS,
                             .depth = depth,
                             .decimals = effort < 1000 ? 3 : 1,
                             .least_s = 0.01 * style->least_percent * effort};
    choose_phase_parts(&to);
    view_text_header(out, profile, style);
    struct rows *view = view_phases(rows, table);
    to.view = view;
    if (table->group_count == 1)
        format_paragraph(out, "The program marked no phase. To mark one, call blame_phase_begin() of include/blame.h.",
                         style->columns);
    else
        print_phases_meaning(&to);
    print_phase_table(&to);
    print_event_table(&to);
    if (to.cut)
        fprintf(out, "\n%zu row%s left out; --min 0 shows all\n", to.cut, to.cut == 1 ? "" : "s");
    view_text_probe_notes(out, profile, rows, style->columns);
    rows_free(view);
}
