/* Finds regions whose threads spend their time copying variables when they enter (firstprivate). */
#include "command/findings/rules.h"

#include <stdio.h>
#include <string.h>

/* Returns where the name of a class ends without its template arguments: behind "a::A" of "a::A<b<int>>". */
static const char *class_name_end(const char *name, const char *end)
{
    int depth = 0;
    do {
        if (end > name && end[-1] == '>')
            depth++;
        if (depth > 0 && *--end == '<')
            depth--;
    } while (depth > 0 && end > name);
    return end;
}

/* Returns whether a name is that of a copy constructor: "a::A<int>::A(a::A<int> const&)". */
static bool is_copy_constructor(const char *name)
{
    static const char last[] = " const&)";
    size_t length = strlen(name);
    const char *open = strrchr(name, '('), *own = open;
    if (!open || length < strlen(last) || strcmp(name + length - strlen(last), last) != 0)
        return false;
    while (own > name && own[-1] != ':')
        own--;
    size_t bytes = (size_t)(open - own);
    if (bytes == 0 || own - name < 3)
        return false;
    const char *class = class_name_end(name, own - 2) - bytes;
    return class >= name && memcmp(class, own, bytes) == 0 && (class == name || class[-1] == ':');
}

static bool copies_by_name(const char *name)
{
    return strstr(name, "memcpy") || strstr(name, "memmove") || is_copy_constructor(name);
}

/* Returns whether a row copies memory on behalf of a region's directive: by a call in the directive's line, or by the
 * copy constructor of a class that is called there. */
static bool is_copy(const struct rows *rows, uint32_t index)
{
    const struct row *row = &rows->row[index];
    if (!copies_by_name(row->label->name))
        return false;
    while (row->parent && rows->row[row->parent].kind != ROW_PARALLEL)
        row = &rows->row[row->parent];
    return row->parent && row->call_line > 0 && row->call_line == rows->row[row->parent].call_line;
}

/* Returns the ns of work of destructors that a unit's region calls itself. Copies that are not made need none. */
static double destroyed_ns(const struct inquiry *inquiry, uint32_t unit)
{
    const struct row *row = inquiry->rows->row;
    double ns = 0;
    for (uint32_t i = 1; i < inquiry->rows->count; i++)
        if (inquiry->unit_of[i] == unit && row[row[i].parent].kind == ROW_PARALLEL && row[i].kind != ROW_STATEMENT &&
            strstr(row[i].label->name, "::~"))
            ns += row[i].inclusive->work;
    return ns;
}

/* Returns the ns of work of the copies that a unit's threads make when they enter, the ns of idleness in the
 * team beside them, the ns for which they had no core, and the row with most work. */
static double copied_ns(const struct inquiry *inquiry, uint32_t unit, double *idle_ns, double *lost_ns, uint32_t *most)
{
    const struct rows *rows = inquiry->rows;
    double ns = 0, most_ns = 0;
    for (uint32_t i = 1, next; i < rows->count; i = next) {
        double work_ns = rows->row[i].inclusive->work;
        next = i + 1;
        if (inquiry->unit_of[i] != unit || rows->row[i].kind == ROW_STATEMENT || !is_copy(rows, i))
            continue;
        next = rows->row[i].end; /* a copy may call another function that copies */
        ns += work_ns;
        *idle_ns += rows->row[i].inclusive->shared_idle;
        *lost_ns += rows->row[i].inclusive->no_core;
        if (work_ns > most_ns) {
            most_ns = work_ns;
            *most = i;
        }
    }
    return ns;
}

void find_copies(struct inquiry *inquiry)
{
    for (uint32_t i = 0; i < inquiry->unit_count; i++) {
        struct unit *unit = &inquiry->unit[i];
        uint32_t row = unit->row;
        if (inquiry->rows->row[unit->row].kind != ROW_PARALLEL || !finding_is_enough(inquiry, unit->sum.work * 1e-9))
            continue;
        double beside_ns = 0, lost_ns = 0, seconds = copied_ns(inquiry, i, &beside_ns, &lost_ns, &row) * 1e-9;
        double late_s = unit->idle_ns[CAUSE_NO_TEAM] * 1e-9;
        if (!finding_is_enough(inquiry, seconds) || seconds < MOSTLY * unit->sum.work * 1e-9)
            continue;
        unit->copies = true;
        unit->idle_for_copies = beside_ns >= MOSTLY * unit->idle_ns[CAUSE_BARRIER];
        double waited_s = unit->idle_for_copies ? unit->idle_ns[CAUSE_BARRIER] * 1e-9 : 0;
        struct finding finding = {
            .rule = "copies", .row = row, .metric = METRIC_WORK, .seconds = seconds, .sampled = true};
        double destroyed_s = destroyed_ns(inquiry, i) * 1e-9;
        finding.call = destroyed_s > 0 && inquiry->rows->row[row].foreign ? row : 0;
        struct relief relief = {.spent_s = seconds + destroyed_s,
                                .not_runtime = true,
                                .lost_s = lost_ns * 1e-9,
                                .idle_s = late_s + waited_s};
        finding.title =
            format_printable("threads copy private variables for %s s (firstprivate, copyin)", DECIMAL(seconds, 2));
        char late[FORMAT_NUMBER_BYTES + 64] = "";
        if (late_s >= LEAST_GAIN_S)
            snprintf(late, sizeof late, ", and threads that had not entered idled for %s s", DECIMAL(late_s, 2));
        finding.evidence = format_printable("%s %% of the region's work is copying in the line of its directive%s",
                                            DECIMAL(100e9 * seconds / unit->sum.work, 0), late);
        finding.advice = format_printable(
            "Each thread copies the whole variable in each region. Let the threads read one copy (shared, or a pointer "
            "to the data), make only the part private that a thread changes, or start fewer regions.");
        put_bounded_finding(inquiry, &finding, &relief);
    }
}
