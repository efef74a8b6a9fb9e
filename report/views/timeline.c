/* The timeline as text: a line for each thread, or group of them, in which a column has the sign of the state that it was most in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/threads.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#include "report/views/text.h"
#include "report/views/time_axis.h"

#define LINES_SHOWN    32 /* more lanes are shown in groups */
#define CULPRITS_SHOWN 6
#define LIST_SHOWN     25  /* of them, where they are all that is shown */
#define SILENT_PERIODS 4   /* without a sample: it might be chance until then */
#define LEAST_MARGIN   26
#define MOST_MARGIN    48
#define LEAST_ALIVE    0.1 /* of a column: less is no thread */

/* What a column shows: a state, or why there is none. */
enum {
    NOT_BEGUN = PROFILE_TIME_STATES,
    ENDED,
    NO_THREAD,
    NOT_SAMPLED,
    SIGNS
};

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

/* One line's, by column; in nanoseconds. */
struct line {
    double *state[PROFILE_TIME_STATES];
    double *alive; /* of its threads */
    double period_ns;
};

/* Whether the thread was one of the lane's; of a job's lane that is a thread's only the first one is known. */
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

/* For how long the lane's threads were there, by bin. */
static double *find_alive(const struct profile *profile, const struct timeline_lane *lane)
{
    const struct timeline *timeline = &profile->timeline;
    double *alive = memory_array(timeline->lane_bins, sizeof *alive), width = (double)timeline->lane_bin_ns;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (!is_of_lane(profile, lane, i))
            continue;
        double begin = fmax(0, (double)(int64_t)(thread->begin_ns - timeline->origin_ns)), end = (double)(int64_t)(thread_end_ns(thread) - timeline->origin_ns);
        for (size_t bin = (size_t)(begin / width); bin < timeline->lane_bins && (double)bin * width < end; bin++)
            alive[bin] += fmin(end, (double)(bin + 1) * width) - fmax(begin, (double)bin * width);
    }
    for (size_t bin = 0; bin < timeline->lane_bins; bin++)
        alive[bin] = fmin(alive[bin], width * lane->threads);
    return alive;
}

/* A sample stands for what was before it: what is more than a bin can hold was in those before. */
static void add_lane(const struct time_axis *axis, const struct timeline_lane *lane, struct line *line)
{
    const struct timeline *timeline = &axis->profile->timeline;
    double *alive = find_alive(axis->profile, lane), width = (double)timeline->lane_bin_ns, kept[PROFILE_TIME_STATES] = {0};
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

static bool has_thread(const struct time_axis *axis, const struct line *line, size_t column)
{
    return line->alive[column] >= LEAST_ALIVE * axis->span_ns / (double)axis->columns;
}

static int sign_of(const struct time_axis *axis, const struct line *line, size_t column)
{
    double sum = 0;
    int most = 0;
    for (int state = 0; state < PROFILE_TIME_STATES; state++) {
        sum += line->state[state][column];
        most = line->state[state][column] > line->state[most][column] ? state : most;
    }
    if (has_thread(axis, line, column))
        return sum < 0.5 * line->alive[column] ? NOT_SAMPLED : most;
    bool before = false, behind = false;
    for (size_t c = 0; c < axis->columns; c++)
        if (has_thread(axis, line, c))
            *(c < column ? &before : &behind) = true;
    return before && behind ? NO_THREAD : before ? ENDED : NOT_BEGUN;
}

/* Where samples may be missing by chance, the state is that of the next ones. */
static void bridge(const struct time_axis *axis, const struct line *line, int *sign)
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

/* Columns with one sign; a gap has its name in it, if there is room. */
static void print_run(const struct time_axis *axis, int sign, size_t count)
{
    const struct sign *shown = &signs[sign];
    bool blank = *shown->ascii == ' ';
    size_t length = strlen(shown->name), at = sign >= PROFILE_TIME_STOPPED && count >= length + (blank ? 1 : 4) ? (count - length + (sign != NOT_BEGUN)) / 2 : count;
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

/* Of the lanes from first to before end. */
static void print_line(const struct time_axis *axis, const char *label, size_t first, size_t end, bool used[SIGNS])
{
    const struct profile *profile = axis->profile;
    struct line line = {.alive = memory_array(axis->columns, sizeof *line.alive), .period_ns = (double)profile->header.period_ns};
    int *sign = memory_array(axis->columns + 1, sizeof *sign);
    double work = 0, sum = 0;
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        line.state[state] = memory_array(axis->columns, sizeof **line.state);
    for (size_t i = first; i < end; i++) {
        const struct timeline_lane *lane = &profile->timeline.lanes[i];
        add_lane(axis, lane, &line);
        for (size_t bin = 0; bin < profile->timeline.lane_bins; bin++) {
            work += lane->ns[bin][PROFILE_TIME_WORK];
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                sum += lane->ns[bin][state];
        }
        line.period_ns = fmax(line.period_ns, (double)profile->threads[lane->thread].period_ns);
    }
    for (size_t c = 0; c < axis->columns; c++)
        sign[c] = sign_of(axis, &line, c);
    bridge(axis, &line, sign);
    time_axis_label(axis, label, 7);
    fprintf(axis->out, "%4s %% ", sum > 0 ? DECIMAL(100 * work / sum, 0) : "-");
    for (size_t c = 0, run; c < axis->columns; c += run) {
        for (run = 1; c + run < axis->columns && sign[c + run] == sign[c];)
            run++;
        used[sign[c]] = true;
        print_run(axis, sign[c], run);
    }
    fputc('\n', axis->out);
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        free(line.state[state]);
    free(line.alive);
    free(sign);
}

/* "0 initial", below "rank": "3, thread 1", "3", "0 to 7"; malloc'ed. */
static char *label_of(const struct profile *profile, size_t first, size_t end)
{
    const struct timeline *timeline = &profile->timeline;
    const struct timeline_lane *lane = &timeline->lanes[first], *last = &timeline->lanes[end - 1];
    uint32_t ranks = profile->header.ranks, group = timeline->level > TIMELINE_RANKS ? (uint32_t)((1ull << (timeline->level - 1)) - 1) : 0;
    uint32_t last_rank = last->rank < ranks && (last->rank | group) >= ranks ? ranks - 1 : last->rank | group;
    if (!lane->rank_record)
        return end - first == 1 ? memory_text("%u %s", lane->thread, thread_kind_name(&profile->threads[lane->thread]))
                                : memory_text("%u to %u", lane->thread, last->thread);
    if (lane->rank != last_rank)
        return memory_text("%u to %u", lane->rank, last_rank);
    return timeline->level || end - first > 1 ? memory_text("%u", lane->rank) : memory_text("%u, thread %u", lane->rank, lane->thread);
}

static void print_legend(const struct time_axis *axis, const bool used[SIGNS])
{
    size_t at = 0;
    for (int sign = 0; sign < SIGNS; sign++) {
        const struct sign *shown = &signs[sign];
        if (!used[sign] || (sign >= NOT_BEGUN && sign != NOT_SAMPLED))
            continue;
        size_t length = strlen(shown->name) + 4;
        bool new_line = !at || at + length > axis->style->columns;
        fprintf(axis->out, "%s%*s", new_line && at ? "\n" : "", new_line ? (int)axis->margin : 2, "");
        fprintf(axis->out, "%s%s%s %s", axis->style->colour ? shown->colour : "", axis->style->utf8 ? shown->utf8 : shown->ascii,
                format_plain(axis->style->colour), shown->name);
        at = (new_line ? axis->margin : at) + length;
    }
    fputc('\n', axis->out);
}

/* Where a group ends that begins there: of so many lanes, or of all of a rank's. */
static size_t group_end(const struct timeline *timeline, size_t first, size_t lanes, bool by_rank)
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
        end = group_end(timeline, first, lanes, by_rank);
        char *label = label_of(axis->profile, first, end);
        print_line(axis, label, first, end, used);
        free(label);
    }
    time_axis_print(axis);
    print_legend(axis, used);
}

static size_t margin_of(size_t columns)
{
    size_t part = columns * 3 / 10;
    return part < LEAST_MARGIN ? LEAST_MARGIN : part > MOST_MARGIN ? MOST_MARGIN : part;
}

void view_text_timeline(FILE *out, const struct profile *profile, const struct rows *rows, const struct view_style *style)
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

void view_text_culprits(FILE *out, const struct profile *profile, const struct rows *rows, const struct view_style *style)
{
    struct time_axis axis = time_axis_start(out, profile, style, 20 + margin_of(style->columns));
    struct culprits culprits = culprits_gather(profile, rows, true);
    view_text_header(out, profile, style);
    fputc('\n', out);
    time_axis_culprits(&axis, rows, &culprits, style->all ? culprits.count : LIST_SHOWN, true);
    time_axis_print(&axis);
    culprits_free(&culprits);
}
