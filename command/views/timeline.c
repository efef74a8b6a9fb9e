/* Prints the timeline as text, with a line for each thread or group of threads. Each column shows the
 * character of the most frequent state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/rows/label.h"
#include "command/tables/conservation.h"
#include "command/tables/culprits.h"
#include "command/tables/threads.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/style.h"
#include "command/views/text.h"

/* ---- the axis ---- */

/* The time axis of a view. Each column after the margin stands for the same length of time. */

struct time_axis {
    FILE *out;
    const struct profile *profile;
    const struct view_style *style;
    size_t margin, columns;
    double span_ns; /* ns from the timeline's origin to the end of the run */
};

#define PHASES_SHOWN 3
#define TICK_COLUMNS 6 /* least number of columns between labels of the axis */
#define MARK_COLUMNS 3 /* least number of columns between marks of executions */
#define LEVELS       8

/* Returns an axis from the timeline's origin to the end of the run, with at most one column for each bin. */
static struct time_axis time_axis_start(FILE *out, const struct profile *profile, const struct view_style *style,
                                        size_t margin)
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

/* Distributes an amount over the columns between begin and end, in proportion. begin and end are in ns from
 * the timeline's origin. */
static void time_axis_add(const struct time_axis *axis, double *column, double begin_ns, double end_ns, double amount)
{
    double width = axis->span_ns / (double)axis->columns;
    double end = fmin(end_ns, axis->span_ns), begin = fmax(0, fmin(begin_ns, end - 1));
    for (size_t c = (size_t)(begin / width); c < axis->columns && (double)c * width < end; c++) {
        double part = fmin(end, (double)(c + 1) * width) - fmax(begin, (double)c * width);
        column[c] += amount * fmax(0, part) / (end - begin);
    }
}

/* Prints the name, shortened to the margin without `taken` columns, and fills the margin with blanks. */
static void time_axis_label(const struct time_axis *axis, const char *name, size_t taken)
{
    size_t room = axis->margin - taken - 1;
    char *fitting = format_fit(name, room, axis->style->utf8);
    size_t blanks = room - format_columns(fitting);
    fprintf(axis->out, "%s%*s", fitting, (int)blanks + 1, "");
    free(fitting);
}

/* Returns the column of a time. ns: on the same clock as profile_header.start_ns. */
static size_t column_of(const struct time_axis *axis, uint64_t ns)
{
    double after = (double)(int64_t)(ns - axis->profile->timeline.origin_ns);
    double column = floor(fmax(0, after) / axis->span_ns * (double)axis->columns);
    return column < (double)axis->columns ? (size_t)column : axis->columns - 1;
}

struct span {
    uint32_t phase; /* number of the phase's name */
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

/* Returns the executions of phases in the order of time, malloc'ed. An execution by all threads of a node
 * counts as one. */
static struct span *gather_spans(const struct profile *profile, size_t *count)
{
    struct span *spans = memory_array(profile->probe_count, sizeof *spans);
    uint32_t last = UINT32_MAX;
    *count = 0;
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        const struct merged_node *node = &profile->nodes[probe->node];
        bool numbered = node->kind == PROFILE_NODE_INSTANCE && node->key != PROFILE_INSTANCE_REST;
        if ((!numbered && (node->kind != PROFILE_NODE_PHASE || probe->probe.calls != 1)) ||
            !profile_name_of(profile, node))
            continue;
        uint64_t begin_ns = probe->probe.first_begin_ns, end_ns = probe->probe.last_end_ns;
        if (probe->node != last)
            spans[(*count)++] =
                (struct span){.phase = (uint32_t)(numbered ? profile->nodes[node->parent].key : node->key),
                              .numbered = numbered,
                              .begin_ns = begin_ns,
                              .end_ns = end_ns};
        struct span *span = &spans[*count - 1];
        span->begin_ns = begin_ns < span->begin_ns ? begin_ns : span->begin_ns;
        span->end_ns = end_ns > span->end_ns ? end_ns : span->end_ns;
        last = probe->node;
    }
    qsort(spans, *count, sizeof *spans, compare_spans);
    return spans;
}

/* Returns n so that there is room for every n-th of `count` marks. */
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

static void print_phase_lines(const struct time_axis *axis)
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

/* Returns the smallest number that is at least `least` and is 1, 2 or 5 times a power of ten. */
static double round_up_tick(double least)
{
    double ten = pow(10, floor(log10(least)));
    return least <= ten ? ten : least <= 2 * ten ? 2 * ten : least <= 5 * ten ? 5 * ten : 10 * ten;
}

/* Prints a line with the seconds since the process's start. Above it, prints a line for each of the longest
 * phases with the times of its executions. */
static void time_axis_print(const struct time_axis *axis)
{
    print_phase_lines(axis);
    double width_s = axis->span_ns * 1e-9 / (double)axis->columns, step = round_up_tick(TICK_COLUMNS * width_s);
    double begin_s = (double)(int64_t)(axis->profile->timeline.origin_ns - axis->profile->header.start_ns) * 1e-9;
    int decimals = step >= 1 ? 0 : (int)fmin(9, ceil(-log10(step) - 1e-9));
    size_t at = 0;
    fprintf(axis->out, "%*s", (int)axis->margin, "");
    for (double tick = ceil(begin_s / step - 1e-9) * step;; tick += step) {
        char label[FORMAT_NUMBER_BYTES + 4];
        size_t column =
            /* a step may be too small to change the sum */
            (size_t)fmax((double)at, round((tick - begin_s) / width_s));
        int length = snprintf(label, sizeof label, "|%s%s", DECIMAL(tick, decimals), at ? "" : " s");
        if (column + (size_t)length > axis->columns + (at > 0))
            break;
        fprintf(axis->out, "%*s%s", (int)(column - at), "", label);
        at = column + (size_t)length;
    }
    fputc('\n', axis->out);
}

/* Returns a block whose height shows the value as a share of `most`. */
static const char *time_axis_level(double value, double most, bool utf8)
{
    static const char *const blocks[] = {" ",
                                         "\xe2\x96\x81",
                                         "\xe2\x96\x82",
                                         "\xe2\x96\x83",
                                         "\xe2\x96\x84",
                                         "\xe2\x96\x85",
                                         "\xe2\x96\x86",
                                         "\xe2\x96\x87",
                                         "\xe2\x96\x88"};
    static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    double level = most > 0 ? ceil(value / most * LEVELS - 0.25) : 0;
    size_t i = level < 0 ? 0 : level > LEVELS ? LEVELS : (size_t)level;
    return utf8 ? blocks[i] : ascii[i];
}

/* Returns the number of threads that waited, by column. */
static double *waiting_threads_by_column(const struct time_axis *axis, const struct culprits *culprits, size_t first,
                                         size_t end)
{
    const struct timeline *timeline = &axis->profile->timeline;
    double *column = memory_array(axis->columns, sizeof *column),
           width_s = axis->span_ns * 1e-9 / (double)axis->columns;
    for (size_t i = first; i < end; i++)
        for (size_t n = 0; n < culprits->culprit[i].count; n++) {
            const struct culprit_bin *bin = &culprits->bin[culprits->culprit[i].first + n];
            double begin = (double)timeline->bin_ns * bin->bin;
            time_axis_add(axis, column, begin, begin + (double)timeline->bin_ns,
                          (bin->idleness + bin->lock_wait) / width_s);
        }
    return column;
}

static double most_waiting_threads(const struct time_axis *axis, const struct culprits *culprits, size_t first,
                                   size_t end)
{
    double *column = waiting_threads_by_column(axis, culprits, first, end), most = 0;
    for (size_t c = 0; c < axis->columns; c++)
        most = fmax(most, column[c]);
    free(column);
    return most;
}

/* The lines of a view that show when each culprit was blamed. */
struct culprit_lines {
    const struct culprits *culprits;
    double most;   /* number of waiting threads for which a full block stands */
    bool in_parts; /* idleness and lock wait are separate */
};

/* Prints one line for the culprits from `first` to before `end`, together. */
static void print_axis_line(const struct time_axis *axis, const struct culprit_lines *lines, const char *name,
                            size_t first, size_t end)
{
    const struct culprits *culprits = lines->culprits;
    double idleness = 0, lock_wait = 0, *column = waiting_threads_by_column(axis, culprits, first, end);
    for (size_t i = first; i < end; i++) {
        idleness += culprits->culprit[i].idleness;
        lock_wait += culprits->culprit[i].lock_wait;
    }
    if (lines->in_parts)
        fprintf(axis->out, "%9s %9s ", DECIMAL(idleness, 2), DECIMAL(lock_wait, 2));
    else
        fprintf(axis->out, "%9s ", DECIMAL(idleness + lock_wait, 2));
    time_axis_label(axis, name, lines->in_parts ? 20 : 10);
    size_t last = axis->columns;
    while (last && *time_axis_level(column[last - 1], lines->most, axis->style->utf8) == ' ')
        last--;
    fputs(format_heat(100, axis->style->colour), axis->out);
    for (size_t c = 0; c < last; c++)
        fputs(time_axis_level(column[c], lines->most, axis->style->utf8), axis->out);
    fprintf(axis->out, "%s\n", format_plain(axis->style->colour));
    free(column);
}

/* Prints a line for each of the first `most` culprits, with its name, its seconds and when others waited for
 * it. in_parts: prints idleness and lock wait separately. */
static void time_axis_culprits(const struct time_axis *axis, const struct rows *rows, const struct culprits *culprits,
                               size_t most, bool in_parts)
{
    size_t shown = 0;
    const struct culprit_lines lines = {culprits, most_waiting_threads(axis, culprits, 0, culprits->count), in_parts};
    while (shown < most && shown < culprits->count &&
           culprit_blame(&culprits->culprit[shown]) * 1e9 > 0.001 * axis->span_ns)
        shown++;
    if (!shown) {
        format_paragraph(axis->out, "No code was blamed for even a thousandth of the time.", axis->style->columns);
        return;
    }
    char *title = format_printable("Blame over time: seconds of threads that idled or waited for a lock, by the code "
                                   "that they waited for; %s is %s waiting threads",
                                   axis->style->utf8 ? "\xe2\x96\x88" : "#", DECIMAL(lines.most, 1));
    format_paragraph(axis->out, title, axis->style->columns);
    free(title);
    fprintf(axis->out, "%s%9s %s%s%s\n", format_strong(axis->style->colour), in_parts ? "idleness" : "blame",
            in_parts ? "lock wait " : "", "code", format_plain(axis->style->colour));
    print_axis_line(axis, &lines, "<all>", 0, culprits->count);
    for (size_t i = 0; i < shown; i++) {
        const struct culprit *culprit = &culprits->culprit[i];
        enum metric metric = culprit->lock_wait > culprit->idleness ? METRIC_LOCK_WAIT : METRIC_IDLENESS;
        char *label =
            row_culprit_label(rows, culprit->row, metric, axis->margin - (in_parts ? 21 : 11), axis->style->utf8);
        print_axis_line(axis, &lines, label, i, i + 1);
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

/* ---- lanes ---- */

#define LINES_SHOWN    32 /* largest number of lanes that are all shown */
#define CULPRITS_SHOWN 6
#define LIST_SHOWN     25 /* number of culprits in the culprits view */
#define SILENT_PERIODS 4  /* a gap of at most this many sampling periods may be chance */
#define LEAST_MARGIN   26
#define MOST_MARGIN    48
/* a thread belongs to a column if it exists for at least this share of the column */
#define LEAST_ALIVE 0.1

/* The sign of a column: a state, or the reason why there is none. */
enum { NOT_BEGUN = PROFILE_TIME_STATES, ENDED, NO_THREAD, NOT_SAMPLED, SIGNS };

static const struct sign {
    const char *utf8, *ascii, *colour, *name;
} signs[SIGNS] = {
    [PROFILE_TIME_WORK] = {"\xe2\x96\x88", "#", "\33[32m", "work"},
    [PROFILE_TIME_OVERHEAD] = {"\xe2\x96\x93", "o", "\33[35m", "overhead"},
    [PROFILE_TIME_IDLE] = {"\xe2\x96\x91", ".", "\33[90m", "idle"},
    [PROFILE_TIME_LOCK_WAIT] = {"\xe2\x96\x92", "l", "\33[31m", "lock wait"},
    [PROFILE_TIME_MPI_WAIT] = {"\xe2\x96\x9e", "m", "\33[33m", "mpi wait"},
    [PROFILE_TIME_NO_CORE] = {"\xe2\x96\xa4", "c", "\33[36m", "no core"},
    [PROFILE_TIME_BLOCKED] = {"\xe2\x96\xa1", "b", "\33[34m", "blocked"},
    [PROFILE_TIME_STOPPED] = {"x", "x", "\33[1m", "stopped"},
    [NOT_BEGUN] = {" ", " ", "\33[2m", "not begun"},
    [ENDED] = {" ", " ", "\33[2m", "ended"},
    [NO_THREAD] = {" ", " ", "\33[2m", "no thread"},
    [NOT_SAMPLED] = {"?", "?", "\33[2m", "not sampled"},
};

/* The values of a line by column, in ns. */
struct line {
    double *state[PROFILE_TIME_STATES];
    double *alive; /* ns for which the threads of the line existed */
    double period_ns;
};

/* Returns whether a thread belongs to the lane. For a lane of a job's thread, only the first thread is known. */
static bool is_of_lane(const struct profile *profile, const struct timeline_lane *lane, size_t i)
{
    const struct profile_thread *thread = &profile->threads[i];
    uint8_t level = profile->timeline.level;
    if (lane->tree)
        return thread->tree == lane->tree;
    if (level == TIMELINE_THREADS)
        return i == lane->thread;
    return thread->rank_record && thread->rank_record <= profile->rank_count &&
           (uint64_t)profile->ranks[thread->rank_record - 1].rank >> (level - 1) == (uint64_t)lane->rank >> (level - 1);
}

/* Returns, by bin, for how long the lane's threads existed. */
static double *find_lane_lifetimes(const struct profile *profile, const struct timeline_lane *lane)
{
    const struct timeline *timeline = &profile->timeline;
    double *alive = memory_array(timeline->lane_bins, sizeof *alive), width = (double)timeline->lane_bin_ns;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (!is_of_lane(profile, lane, i))
            continue;
        double begin = fmax(0, (double)(int64_t)(thread->begin_ns - timeline->origin_ns)),
               end = (double)(int64_t)(profile_thread_end_ns(thread) - timeline->origin_ns);
        for (size_t bin = (size_t)(begin / width); bin < timeline->lane_bins && (double)bin * width < end; bin++)
            alive[bin] += fmin(end, (double)(bin + 1) * width) - fmax(begin, (double)bin * width);
    }
    for (size_t bin = 0; bin < timeline->lane_bins; bin++)
        alive[bin] = fmin(alive[bin], width * lane->threads);
    return alive;
}

/* Adds a lane to a line. A sample stands for the time before it, so time that exceeds a bin belongs to
 * earlier bins. */
static void add_lane_states(const struct time_axis *axis, const struct timeline_lane *lane, struct line *line)
{
    const struct timeline *timeline = &axis->profile->timeline;
    double *alive = find_lane_lifetimes(axis->profile, lane), width = (double)timeline->lane_bin_ns,
           kept[PROFILE_TIME_STATES] = {0};
    for (size_t bin = timeline->lane_bins; bin-- > 0;) {
        double sum = 0, begin = (double)bin * width;
        for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
            sum += kept[state] += lane->ns[bin][state];
        double part = sum > alive[bin] ? alive[bin] / sum : 1;
        for (size_t state = 0; state < PROFILE_TIME_STATES && sum > 0; state++) {
            time_axis_add(axis, line->state[state], begin, begin + width, part * kept[state]);
            kept[state] *= 1 - part;
        }
        time_axis_add(axis, line->alive, begin, begin + width, alive[bin]);
    }
    free(alive);
}

static bool column_has_thread(const struct time_axis *axis, const struct line *line, size_t column)
{
    return line->alive[column] >= LEAST_ALIVE * axis->span_ns / (double)axis->columns;
}

static int sign_of_column(const struct time_axis *axis, const struct line *line, size_t column)
{
    double sum = 0;
    int most = 0;
    for (int state = 0; state < PROFILE_TIME_STATES; state++) {
        sum += line->state[state][column];
        most = line->state[state][column] > line->state[most][column] ? state : most;
    }
    if (column_has_thread(axis, line, column))
        return sum < 0.5 * line->alive[column] ? NOT_SAMPLED : most;
    bool before = false, behind = false;
    for (size_t c = 0; c < axis->columns; c++)
        if (column_has_thread(axis, line, c))
            *(c < column ? &before : &behind) = true;
    return before && behind ? NO_THREAD : before ? ENDED : NOT_BEGUN;
}

/* Fills gaps that may be chance with the state of the samples that follow. */
static void bridge_sign_gaps(const struct time_axis *axis, const struct line *line, int *sign)
{
    double width = axis->span_ns / (double)axis->columns;
    for (size_t c = 0, end; c < axis->columns; c = end) {
        for (end = c; end < axis->columns && sign[end] == sign[c];)
            end++;
        if (sign[c] != NOT_SAMPLED || (double)(end - c) * width > SILENT_PERIODS * line->period_ns)
            continue;
        int next = end < axis->columns && sign[end] < PROFILE_TIME_STATES ? sign[end] : c ? sign[c - 1] : NOT_SAMPLED;
        for (size_t i = c; i < end; i++)
            sign[i] = next;
    }
}

/* Prints columns that have the same sign. If there is room, a gap contains its name. */
static void print_equal_signs(const struct time_axis *axis, int sign, size_t count)
{
    const struct sign *shown = &signs[sign];
    bool blank = *shown->ascii == ' ';
    size_t length = strlen(shown->name), at = sign >= PROFILE_TIME_STOPPED && count >= length + (blank ? 1 : 4)
                                                  ? (count - length + (sign != NOT_BEGUN)) / 2
                                                  : count;
    fputs(axis->style->colour ? shown->colour : "", axis->out);
    for (size_t i = 0; i < count; i++) {
        bool beside = !blank && at < count && (i + 1 == at || i == at + length);
        if (i == at)
            fputs(shown->name, axis->out);
        if (i < at || i >= at + length)
            fputs(beside ? " " : axis->style->utf8 ? shown->utf8 : shown->ascii, axis->out);
    }
    fputs(format_plain(axis->style->colour), axis->out);
}

/* Prints one line for all lanes from `first` to before `end`. */
static void print_lane_line(const struct time_axis *axis, const char *label, size_t first, size_t end, bool used[SIGNS])
{
    const struct profile *profile = axis->profile;
    struct line line = {.alive = memory_array(axis->columns, sizeof *line.alive),
                        .period_ns = (double)profile->header.period_ns};
    int *sign = memory_array(axis->columns + 1, sizeof *sign);
    double work = 0, sum = 0;
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        line.state[state] = memory_array(axis->columns, sizeof **line.state);
    for (size_t i = first; i < end; i++) {
        const struct timeline_lane *lane = &profile->timeline.lanes[i];
        add_lane_states(axis, lane, &line);
        for (size_t bin = 0; bin < profile->timeline.lane_bins; bin++) {
            work += lane->ns[bin][PROFILE_TIME_WORK];
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                sum += lane->ns[bin][state];
        }
        line.period_ns = fmax(line.period_ns, (double)profile->threads[lane->thread].period_ns);
    }
    for (size_t c = 0; c < axis->columns; c++)
        sign[c] = sign_of_column(axis, &line, c);
    bridge_sign_gaps(axis, &line, sign);
    time_axis_label(axis, label, 7);
    fprintf(axis->out, "%4s %% ", sum > 0 ? DECIMAL(100 * work / sum, 0) : "-");
    for (size_t c = 0, run; c < axis->columns; c += run) {
        for (run = 1; c + run < axis->columns && sign[c + run] == sign[c];)
            run++;
        used[sign[c]] = true;
        print_equal_signs(axis, sign[c], run);
    }
    fputc('\n', axis->out);
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        free(line.state[state]);
    free(line.alive);
    free(sign);
}

/* Returns a line's label, malloc'ed: "0 initial"; in a job "3, thread 1", "3" or "0 to 7", where the numbers
 * are ranks. */
static char *lane_label(const struct profile *profile, size_t first, size_t end)
{
    const struct timeline *timeline = &profile->timeline;
    const struct timeline_lane *lane = &timeline->lanes[first], *last = &timeline->lanes[end - 1];
    uint32_t ranks = profile->header.ranks,
             group = timeline->level > TIMELINE_RANKS ? (uint32_t)((1ull << (timeline->level - 1)) - 1) : 0;
    uint32_t last_rank = last->rank < ranks && (last->rank | group) >= ranks ? ranks - 1 : last->rank | group;
    if (!lane->rank_record)
        return end - first == 1 ? memory_text("%u %s", lane->thread, thread_kind_name(&profile->threads[lane->thread]))
                                : memory_text("%u to %u", lane->thread, last->thread);
    if (lane->rank != last_rank)
        return memory_text("%u to %u", lane->rank, last_rank);
    return timeline->level || end - first > 1 ? memory_text("%u", lane->rank)
                                              : memory_text("%u, thread %u", lane->rank, lane->thread);
}

static void print_timeline_legend(const struct time_axis *axis, const bool used[SIGNS])
{
    size_t at = 0;
    for (int sign = 0; sign < SIGNS; sign++) {
        const struct sign *shown = &signs[sign];
        if (!used[sign] || (sign >= NOT_BEGUN && sign != NOT_SAMPLED))
            continue;
        size_t length = strlen(shown->name) + 4;
        bool new_line = !at || at + length > axis->style->columns;
        fprintf(axis->out, "%s%*s", new_line && at ? "\n" : "", new_line ? (int)axis->margin : 2, "");
        fprintf(axis->out, "%s%s%s %s", axis->style->colour ? shown->colour : "",
                axis->style->utf8 ? shown->utf8 : shown->ascii, format_plain(axis->style->colour), shown->name);
        at = (new_line ? axis->margin : at) + length;
    }
    fputc('\n', axis->out);
}

/* Returns the end of the group of lanes that starts at `first`: `lanes` lanes, or all lanes of a rank. */
static size_t lane_group_end(const struct timeline *timeline, size_t first, size_t lanes, bool by_rank)
{
    size_t end = first + lanes;
    if (by_rank)
        for (end = first + 1; end < timeline->lane_count && timeline->lanes[end].rank == timeline->lanes[first].rank;)
            end++;
    return end < timeline->lane_count ? end : timeline->lane_count;
}

static void print_lanes(const struct time_axis *axis, bool all)
{
    const struct timeline *timeline = &axis->profile->timeline;
    size_t most = all ? timeline->lane_count : LINES_SHOWN, ranks = 1;
    bool used[SIGNS] = {false}, by_rank = false;
    for (size_t i = 1; i < timeline->lane_count; i++)
        ranks += timeline->lanes[i].rank != timeline->lanes[i - 1].rank;
    if (timeline->lane_count > most && timeline->lanes[0].rank_record)
        by_rank = ranks <= most;
    size_t lanes = (timeline->lane_count + most - 1) / (most ? most : 1);
    const char *heading = timeline->lanes[0].rank_record ? "rank" : lanes > 1 ? "threads" : "thread";
    fputs(format_strong(axis->style->colour), axis->out);
    time_axis_label(axis, heading, 7);
    fprintf(axis->out, "%6s%s\n", "work", format_plain(axis->style->colour));
    for (size_t first = 0, end; first < timeline->lane_count; first = end) {
        end = lane_group_end(timeline, first, lanes, by_rank);
        char *label = lane_label(axis->profile, first, end);
        print_lane_line(axis, label, first, end, used);
        free(label);
    }
    time_axis_print(axis);
    print_timeline_legend(axis, used);
}

static size_t margin_of(size_t columns)
{
    size_t part = columns * 3 / 10;
    return part < LEAST_MARGIN ? LEAST_MARGIN : part > MOST_MARGIN ? MOST_MARGIN : part;
}

void view_text_timeline(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct view_style *style)
{
    struct time_axis axis = time_axis_start(out, profile, style, margin_of(style->columns));
    struct culprits culprits = culprits_gather(profile, rows, true);
    view_text_header(out, profile, style);
    fputc('\n', out);
    print_lanes(&axis, style->all);
    fputc('\n', out);
    time_axis_culprits(&axis, rows, &culprits, CULPRITS_SHOWN, false);
    culprits_free(&culprits);
}

void view_text_culprits(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct view_style *style)
{
    struct time_axis axis = time_axis_start(out, profile, style, 20 + margin_of(style->columns));
    struct culprits culprits = culprits_gather(profile, rows, true);
    view_text_header(out, profile, style);
    fputc('\n', out);
    time_axis_culprits(&axis, rows, &culprits, style->all ? culprits.count : LIST_SHOWN, true);
    time_axis_print(&axis);
    culprits_free(&culprits);
}
