#include "report/views/time_axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/label.h"
#include "report/tables/conservation.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define PHASES_SHOWN 3
#define TICK_COLUMNS 6  /* least, from one label of the axis to the next */
#define MARK_COLUMNS 3  /* the same of marks of executions */
#define LEVELS       8

struct time_axis time_axis_start(FILE *out, const struct profile *profile, const struct view_style *style, size_t margin)
{
    const struct timeline *timeline = &profile->timeline;
    double binned = (double)timeline->lane_bin_ns * timeline->lane_bins;
    double span = profile_wall_s(profile) * 1e9 - (double)(int64_t)(timeline->origin_ns - profile->header.start_ns);
    struct time_axis axis = {.out = out, .profile = profile, .style = style, .margin = margin};
    axis.span_ns = span > 0 && span > binned - (double)timeline->bin_ns && span < binned ? span : binned;
    axis.columns = style->columns > margin + 8 ? style->columns - margin - 1 : 8;
    if (axis.columns > timeline->lane_bins)
        axis.columns = timeline->lane_bins;
    return axis;
}

void time_axis_add(const struct time_axis *axis, double *column, double begin_ns, double end_ns, double amount)
{
    double width = axis->span_ns / (double)axis->columns;
    double end = fmin(end_ns, axis->span_ns), begin = fmax(0, fmin(begin_ns, end - 1));
    for (size_t c = (size_t)(begin / width); c < axis->columns && (double)c * width < end; c++) {
        double part = fmin(end, (double)(c + 1) * width) - fmax(begin, (double)c * width);
        column[c] += amount * fmax(0, part) / (end - begin);
    }
}

void time_axis_label(const struct time_axis *axis, const char *name, size_t taken)
{
    size_t room = axis->margin - taken - 1;
    char *fitting = format_fit(name, room, axis->style->utf8);
    size_t blanks = room - format_columns(fitting);
    fprintf(axis->out, "%s%*s", fitting, (int)blanks + 1, "");
    free(fitting);
}

/* The column of a time, on the clock of profile_header.start_ns. */
static size_t column_of(const struct time_axis *axis, uint64_t ns)
{
    double after = (double)(int64_t)(ns - axis->profile->timeline.origin_ns);
    double column = floor(fmax(0, after) / axis->span_ns * (double)axis->columns);
    return column < (double)axis->columns ? (size_t)column : axis->columns - 1;
}

struct span {
    uint32_t phase; /* the name's number */
    bool numbered;
    uint64_t begin_ns, end_ns;
};

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Executions of phases in time's order; those of one node by all threads are one. malloc'ed. */
static struct span *gather_spans(const struct profile *profile, size_t *count)
{
    struct span *spans = memory_array(profile->probe_count, sizeof *spans);
    uint32_t last = UINT32_MAX;
    *count = 0;
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        const struct merged_node *node = &profile->nodes[probe->node];
        bool numbered = node->kind == PROFILE_NODE_INSTANCE && node->key != PROFILE_INSTANCE_REST;
        if ((!numbered && (node->kind != PROFILE_NODE_PHASE || probe->probe.calls != 1)) || !profile_name_of(profile, node))
            continue;
        uint64_t begin_ns = probe->probe.first_begin_ns, end_ns = probe->probe.last_end_ns;
        if (probe->node != last)
            spans[(*count)++] = (struct span){.phase = (uint32_t)(numbered ? profile->nodes[node->parent].key : node->key),
                                              .numbered = numbered, .begin_ns = begin_ns, .end_ns = end_ns};
        struct span *span = &spans[*count - 1];
        span->begin_ns = begin_ns < span->begin_ns ? begin_ns : span->begin_ns;
        span->end_ns = end_ns > span->end_ns ? end_ns : span->end_ns;
        last = probe->node;
    }
    qsort(spans, *count, sizeof *spans, compare_spans);
    return spans;
}

/* Of so many marks, each such one has room. */
static size_t choose_nth(size_t count, size_t room)
{
    static const size_t step[] = {1, 2, 5};
    for (size_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if (count / (ten * step[i]) <= room)
                return ten * step[i];
}

static void print_phase(const struct time_axis *axis, uint32_t phase, const struct span *spans, size_t count)
{
    char *line = memory_array(axis->columns + 1, 1), *label;
    size_t numbered = 0, at = 0;
    memset(line, ' ', axis->columns);
    for (size_t i = 0; i < count; i++)
        numbered += spans[i].phase == phase && spans[i].numbered;
    size_t nth = choose_nth(numbered, axis->columns / MARK_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].phase != phase)
            continue;
        for (size_t c = column_of(axis, spans[i].begin_ns); !numbered && c <= column_of(axis, spans[i].end_ns); c++)
            line[c] = '=';
        if (spans[i].numbered && at++ % nth == 0)
            line[column_of(axis, spans[i].begin_ns)] = '|';
    }
    label = format_printable(nth > 1 ? "%s, every %zuth" : "%s", axis->profile->names[phase - 1].text, nth);
    time_axis_label(axis, label, 0);
    for (at = axis->columns; at && line[at - 1] == ' ';)
        line[--at] = '\0';
    fprintf(axis->out, "%s\n", line);
    free(label);
    free(line);
}

static void print_phases(const struct time_axis *axis)
{
    size_t count;
    struct span *spans = gather_spans(axis->profile, &count);
    double *length = memory_array(axis->profile->name_count + 1, sizeof *length);
    for (size_t i = 0; i < count; i++)
        length[spans[i].phase] += (double)(int64_t)(spans[i].end_ns - spans[i].begin_ns);
    for (size_t shown = 0; shown < PHASES_SHOWN; shown++) {
        uint32_t longest = 0;
        for (uint32_t name = 1; name <= axis->profile->name_count; name++)
            longest = length[name] > length[longest] ? name : longest;
        if (!(length[longest] > 0))
            break;
        print_phase(axis, longest, spans, count);
        length[longest] = 0;
    }
    free(length);
    free(spans);
}

/* The least of 1, 2, 5, 10 ... times a power of ten that is at least that. */
static double round_up(double least)
{
    double ten = pow(10, floor(log10(least)));
    return least <= ten ? ten : least <= 2 * ten ? 2 * ten : least <= 5 * ten ? 5 * ten : 10 * ten;
}

void time_axis_print(const struct time_axis *axis)
{
    print_phases(axis);
    double width_s = axis->span_ns * 1e-9 / (double)axis->columns, step = round_up(TICK_COLUMNS * width_s);
    double begin_s = (double)(int64_t)(axis->profile->timeline.origin_ns - axis->profile->header.start_ns) * 1e-9;
    int decimals = step >= 1 ? 0 : (int)fmin(9, ceil(-log10(step) - 1e-9));
    size_t at = 0;
    fprintf(axis->out, "%*s", (int)axis->margin, "");
    for (double tick = ceil(begin_s / step - 1e-9) * step;; tick += step) {
        char label[FORMAT_NUMBER_BYTES + 4];
        size_t column = (size_t)fmax((double)at, round((tick - begin_s) / width_s)); /* steps may be too small to be seen in the sum */
        int length = snprintf(label, sizeof label, "|%s%s", DECIMAL(tick, decimals), at ? "" : " s");
        if (column + (size_t)length > axis->columns + (at > 0))
            break;
        fprintf(axis->out, "%*s%s", (int)(column - at), "", label);
        at = column + (size_t)length;
    }
    fputc('\n', axis->out);
}

/* A block as high as a part of the most that there is. */
static const char *time_axis_level(double value, double most, bool utf8)
{
    static const char *const blocks[] = {" ",            "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
                                         "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88"};
    static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    double level = most > 0 ? ceil(value / most * LEVELS - 0.25) : 0;
    size_t i = level < 0 ? 0 : level > LEVELS ? LEVELS : (size_t)level;
    return utf8 ? blocks[i] : ascii[i];
}

/* Seconds a second by column. */
static double *intensity_of(const struct time_axis *axis, const struct culprits *culprits, size_t first, size_t end)
{
    const struct timeline *timeline = &axis->profile->timeline;
    double *column = memory_array(axis->columns, sizeof *column), width_s = axis->span_ns * 1e-9 / (double)axis->columns;
    for (size_t i = first; i < end; i++)
        for (size_t n = 0; n < culprits->culprit[i].count; n++) {
            const struct culprit_bin *bin = &culprits->bin[culprits->culprit[i].first + n];
            double begin = (double)timeline->bin_ns * bin->bin;
            time_axis_add(axis, column, begin, begin + (double)timeline->bin_ns, (bin->idleness + bin->lock_wait) / width_s);
        }
    return column;
}

static double most_of(const struct time_axis *axis, const struct culprits *culprits, size_t first, size_t end)
{
    double *column = intensity_of(axis, culprits, first, end), most = 0;
    for (size_t c = 0; c < axis->columns; c++)
        most = fmax(most, column[c]);
    free(column);
    return most;
}

static void print_line(const struct time_axis *axis, const char *name, const struct culprits *culprits, size_t first, size_t end, double most,
                       bool in_parts)
{
    double idleness = 0, lock_wait = 0, *column = intensity_of(axis, culprits, first, end);
    for (size_t i = first; i < end; i++) {
        idleness += culprits->culprit[i].idleness;
        lock_wait += culprits->culprit[i].lock_wait;
    }
    if (in_parts)
        fprintf(axis->out, "%9s %9s ", DECIMAL(idleness, 2), DECIMAL(lock_wait, 2));
    else
        fprintf(axis->out, "%9s ", DECIMAL(idleness + lock_wait, 2));
    time_axis_label(axis, name, in_parts ? 20 : 10);
    size_t last = axis->columns;
    while (last && *time_axis_level(column[last - 1], most, axis->style->utf8) == ' ')
        last--;
    fputs(format_heat(100, axis->style->colour), axis->out);
    for (size_t c = 0; c < last; c++)
        fputs(time_axis_level(column[c], most, axis->style->utf8), axis->out);
    fprintf(axis->out, "%s\n", format_plain(axis->style->colour));
    free(column);
}

void time_axis_culprits(const struct time_axis *axis, const struct rows *rows, const struct culprits *culprits, size_t most, bool in_parts)
{
    size_t shown = 0;
    double highest = most_of(axis, culprits, 0, culprits->count);
    while (shown < most && shown < culprits->count && culprit_blame(&culprits->culprit[shown]) * 1e9 > 0.001 * axis->span_ns)
        shown++;
    if (!shown) {
        format_paragraph(axis->out, "Nobody was blamed for as much as a thousandth of the time.", axis->style->columns);
        return;
    }
    char *title = format_printable("Blamed when: seconds of threads that were idle or waited for a lock, by whose code; %s is %s threads that wait",
                                   axis->style->utf8 ? "\xe2\x96\x88" : "#", DECIMAL(highest, 1));
    format_paragraph(axis->out, title, axis->style->columns);
    free(title);
    fprintf(axis->out, "%s%9s %s%s%s\n", format_strong(axis->style->colour), in_parts ? "idleness" : "blame", in_parts ? "lock wait " : "", "code",
            format_plain(axis->style->colour));
    print_line(axis, "<all>", culprits, 0, culprits->count, highest, in_parts);
    for (size_t i = 0; i < shown; i++) {
        const struct culprit *culprit = &culprits->culprit[i];
        enum metric metric = culprit->lock_wait > culprit->idleness ? METRIC_LOCK_WAIT : METRIC_IDLENESS;
        char *label = view_culprit_label(rows, culprit->row, metric, axis->margin - (in_parts ? 21 : 11), axis->style->utf8);
        print_line(axis, label, culprits, i, i + 1, highest, in_parts);
        free(label);
    }
    if (shown < culprits->count) {
        size_t beyond = culprits->count;
        while (beyond > shown && !(culprit_blame(&culprits->culprit[beyond - 1]) * 1e9 > 0.001 * axis->span_ns))
            beyond--;
        if (beyond > shown)
            fprintf(axis->out, "and %zu more, see --view culprits --all\n", beyond - shown);
    }
}
