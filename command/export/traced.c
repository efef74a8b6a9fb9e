#include "command/export/traced.h"

#include <stdlib.h>
#include <string.h>

#include "command/export/trace_stacks.h"
#include "command/profile/pair_map.h"
#include "command/profile/trace.h"
#include "command/rows/own.h"
#include "command/rows/row.h"
#include "command/tables/threads.h"
#include "command/text/format.h"
#include "command/text/memory.h"

/* Minimum length of an exported piece of a span, in ns. A long span is exported as several samples: at most
 * 50 per second, at most as many as were taken in it, and at most TRACED_PIECES in the whole time of a
 * thread. The last limit keeps the output small if a file is damaged. */
#define TRACED_PIECE_NS 20000000u

/* ---- sharing ---- */

/* Divides idle time between the busy threads, in the way that docs/accounting.md describes for samples. At
 * any time, the busy threads of a process share the blame for its idle threads equally. A thread is busy if
 * it works, or waits for a lock or for other ranks. */

#define SHARING_LEVELS 8192u /* maximum number of windows for which levels are computed */

enum side { SIDE_NEITHER, SIDE_BUSY, SIDE_IDLE };

/* The start or the end of a span. */
struct event {
    uint64_t time_ns;
    uint32_t lane,
        /* if the thread is busy, its culprit: an index in sweep.all until export_sharing_find_top, then an
         * index in sharing.top, or SHARING_MOST if it is none of these */
        culprit;
    uint8_t side;
    bool begins;
};

struct sweep {
    struct sharing *sharing;
    struct event *events;
    size_t event_count;
    struct awaited *all;
    size_t all_count, all_room;
    struct at_begin {
        double per_busy, nobody, culprit[SHARING_MOST + 1];
    } *lane;       /* for each lane, the integrals below at the start of the lane's current span */
    size_t *share; /* for each lane, the index in sharing.share of its next idle span */
    uint32_t busy[SHARING_MOST + 1], busy_count, idle_count;
    /* Integrals from the start to the current event, in ns: per_busy, of the number of idle threads for each
     * busy thread; culprit, of the fraction of the busy threads that executes the culprit; nobody, of the
     * time in which no thread was busy. */
    double per_busy, culprit[SHARING_MOST + 1], nobody;
};

static enum side export_sharing_side_of_span(const struct trace_span *span)
{
    if (span->end_ns <= span->begin_ns)
        return SIDE_NEITHER;
    if (span->state == PROFILE_TIME_IDLE)
        return SIDE_IDLE;
    return span->state == PROFILE_TIME_STOPPED ? SIDE_NEITHER : SIDE_BUSY;
}

static uint32_t export_sharing_find_culprit(struct sweep *sweep, struct pair_map *map, const struct rows *rows,
                                            const struct trace_span *span)
{
    const struct row_label *label = rows->row[rows_own(rows, row_of_node(rows, span->node))].label;
    bool waits = span->state == PROFILE_TIME_LOCK_WAIT || span->state == PROFILE_TIME_MPI_WAIT;
    uint32_t *slot = pair_map_slot(map, (uintptr_t)label, waits);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&sweep->all, &sweep->all_room, sweep->all_count, sizeof *sweep->all);
        sweep->all[sweep->all_count] = (struct awaited){label, waits, 0};
        *slot = (uint32_t)sweep->all_count++;
    }
    return *slot;
}

/* Sorts events by time. At the same time, ends come before starts, because a span of a lane may start where
 * the lane's previous span ends. */
static int export_sharing_compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins - y->begins;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static void export_sharing_gather_events(struct sweep *sweep, const struct rows *rows, const struct trace_lane *lanes,
                                         size_t lane_count)
{
    struct pair_map map = {0};
    size_t spans = 0;
    for (size_t i = 0; i < lane_count; i++)
        spans += lanes[i].span_count;
    sweep->events = memory_array(2 * spans + 1, sizeof *sweep->events);
    for (uint32_t i = 0; i < lane_count; i++) {
        sweep->share[i] = sweep->sharing->share_count;
        for (size_t j = 0; j < lanes[i].span_count; j++) {
            const struct trace_span *span = &lanes[i].spans[j];
            enum side side = export_sharing_side_of_span(span);
            if (side == SIDE_NEITHER)
                continue;
            uint32_t culprit = side == SIDE_BUSY ? export_sharing_find_culprit(sweep, &map, rows, span) : 0;
            sweep->events[sweep->event_count++] = (struct event){span->begin_ns, i, culprit, side, true};
            sweep->events[sweep->event_count++] = (struct event){span->end_ns, i, culprit, side, false};
            sweep->sharing->share_count += side == SIDE_IDLE;
        }
    }
    pair_map_free(&map);
    qsort(sweep->events, sweep->event_count, sizeof *sweep->events, export_sharing_compare_events);
}

/* Computes the idle time for which each culprit is blamed, and selects the culprits with the most. Then
 * replaces the culprit of each event by its rank among the selected ones. */
static void export_sharing_find_top(struct sweep *sweep)
{
    struct sharing *sharing = sweep->sharing;
    uint32_t *rank = memory_array(sweep->all_count + 1, sizeof *rank);
    uint64_t last = sharing->begin_ns;
    for (size_t i = 0; i < sweep->event_count; i++) {
        const struct event *event = &sweep->events[i];
        uint64_t since = event->time_ns - last;
        last = event->time_ns;
        if (sweep->busy_count)
            sweep->per_busy += (double)since * sweep->idle_count / sweep->busy_count;
        *(event->side == SIDE_BUSY ? &sweep->busy_count : &sweep->idle_count) += event->begins ? 1u : -1u;
        if (event->side == SIDE_BUSY && event->begins)
            sweep->lane[event->lane].per_busy = sweep->per_busy;
        else if (event->side == SIDE_BUSY)
            sweep->all[event->culprit].ns += sweep->per_busy - sweep->lane[event->lane].per_busy;
    }
    for (size_t i = 0; i < sweep->all_count; i++)
        rank[i] = SHARING_MOST;
    for (; sharing->count < SHARING_MOST; sharing->count++) {
        size_t largest = sweep->all_count;
        for (size_t i = 0; i < sweep->all_count; i++)
            if (rank[i] == SHARING_MOST && sweep->all[i].ns > 0 &&
                (largest == sweep->all_count || sweep->all[i].ns > sweep->all[largest].ns))
                largest = i;
        if (largest == sweep->all_count)
            break;
        rank[largest] = (uint32_t)sharing->count;
        sharing->top[sharing->count] = sweep->all[largest];
    }
    for (size_t i = 0; i < sweep->all_count; i++)
        sharing->others_ns += rank[i] == SHARING_MOST ? sweep->all[i].ns : 0;
    for (size_t i = 0; i < sweep->event_count; i++)
        if (sweep->events[i].side == SIDE_BUSY)
            sweep->events[i].culprit = rank[sweep->events[i].culprit];
    free(rank);
}

/* Adds the interval between two events to the levels of its windows. The numbers of busy and idle threads are
 * constant in the interval. */
static void export_sharing_add_levels(struct sweep *sweep, uint64_t begin_ns, uint64_t end_ns)
{
    struct sharing *sharing = sweep->sharing;
    double blamed = sweep->busy_count ? sweep->idle_count : 0;
    while (begin_ns < end_ns) {
        size_t window = (begin_ns - sharing->begin_ns) / sharing->window_ns;
        uint64_t border = sharing->begin_ns + (window + 1) * sharing->window_ns,
                 end = border < end_ns ? border : end_ns;
        uint64_t window_end = border < sharing->end_ns ? border : sharing->end_ns;
        double part = (double)(end - begin_ns) / (double)(window_end - (border - sharing->window_ns));
        struct culprit_level *level = &sharing->level[window];
        level->busy += part * sweep->busy_count;
        level->blamed += part * blamed;
        for (size_t i = 0; blamed > 0 && i < sharing->count; i++)
            level->culprit[i] += part * blamed * sweep->busy[i] / sweep->busy_count;
        begin_ns = end;
    }
}

static void export_sharing_advance(struct sweep *sweep, uint64_t from_ns, uint64_t to_ns)
{
    double since = (double)(to_ns - from_ns);
    if (sweep->busy_count == 0)
        sweep->nobody += since;
    for (size_t i = 0; sweep->busy_count && i <= SHARING_MOST; i++)
        sweep->culprit[i] += since * sweep->busy[i] / sweep->busy_count;
    export_sharing_add_levels(sweep, from_ns, to_ns);
}

static void export_sharing_divide_idleness(struct sweep *sweep)
{
    struct sharing *sharing = sweep->sharing;
    uint64_t last = sharing->begin_ns;
    for (size_t i = 0; i < sweep->event_count; i++) {
        const struct event *event = &sweep->events[i];
        struct at_begin *begin = &sweep->lane[event->lane];
        export_sharing_advance(sweep, last, event->time_ns);
        last = event->time_ns;
        *(event->side == SIDE_BUSY ? &sweep->busy_count : &sweep->idle_count) += event->begins ? 1u : -1u;
        if (event->side == SIDE_BUSY) {
            sweep->busy[event->culprit] += event->begins ? 1u : -1u;
        } else if (event->begins) {
            begin->nobody = sweep->nobody;
            memcpy(begin->culprit, sweep->culprit, sizeof begin->culprit);
        } else {
            struct idle_share *share = &sharing->share[sweep->share[event->lane]++];
            for (size_t j = 0; j < SHARING_MOST; j++)
                share->culprit[j] = (float)(sweep->culprit[j] - begin->culprit[j]);
            share->others = (float)(sweep->culprit[SHARING_MOST] - begin->culprit[SHARING_MOST]);
            share->nobody = (float)(sweep->nobody - begin->nobody);
            sharing->nobody_ns += sweep->nobody - begin->nobody;
        }
    }
}

void export_sharing_find(struct sharing *sharing, const struct rows *rows, const struct trace_lane *lanes,
                         size_t lane_count)
{
    struct sweep sweep = {.sharing = sharing,
                          .lane = memory_array(lane_count + 1, sizeof *sweep.lane),
                          .share = memory_array(lane_count + 1, sizeof *sweep.share)};
    *sharing = (struct sharing){.window_ns = 1};
    export_sharing_gather_events(&sweep, rows, lanes, lane_count);
    if (sweep.event_count) {
        sharing->begin_ns = sweep.events[0].time_ns;
        sharing->end_ns = sweep.events[sweep.event_count - 1].time_ns;
        sharing->window_ns = (sharing->end_ns - sharing->begin_ns - 1) / SHARING_LEVELS + 1;
        uint64_t period = rows->profile->header.period_ns;
        sharing->window_ns = sharing->window_ns > period ? sharing->window_ns : period;
        sharing->level_count = (size_t)((sharing->end_ns - sharing->begin_ns - 1) / sharing->window_ns + 1);
    }
    sharing->share = memory_array(sharing->share_count + 1, sizeof *sharing->share);
    sharing->level = memory_array(sharing->level_count + 1, sizeof *sharing->level);
    export_sharing_find_top(&sweep);
    export_sharing_divide_idleness(&sweep);
    free(sweep.events);
    free(sweep.all);
    free(sweep.lane);
    free(sweep.share);
}

void export_sharing_add_share(const struct trace_span *span, const struct idle_share **share, struct idle_share *sum)
{
    if (export_sharing_side_of_span(span) != SIDE_IDLE)
        return;
    for (size_t i = 0; i < SHARING_MOST; i++)
        sum->culprit[i] += (*share)->culprit[i];
    sum->others += (*share)->others;
    sum->nobody += (*share)->nobody;
    ++*share;
}

void export_sharing_free(struct sharing *sharing)
{
    free(sharing->share);
    free(sharing->level);
}

char *export_culprit_name(const struct awaited *culprit)
{
    return memory_text("%s%s", culprit->label->name, culprit->waits ? " (waiting)" : "");
}

/* ---- the trace of a process ---- */

#define PHASES_DEEP 64

static char *export_traced_process_name(const struct profile_header *header, bool job)
{
    const char *program = *header->program ? header->program : "program";
    return job || header->ranks ? format_printable("rank %u: %s (pid %d)", header->rank, program, header->pid)
                                : format_printable("%s", program);
}

/* Adds a thread to the process. It is named by its number in threads.csv. */
static void export_traced_add_thread(struct traced_process *process, const struct trace_lane *lane, int32_t number,
                                     bool job)
{
    const struct profile *profile = process->rows->profile;
    const struct profile_thread *thread = lane->thread < profile->thread_count ? &profile->threads[lane->thread] : NULL;
    struct traced_thread *entry = &process->threads[process->thread_count++];
    entry->lane = lane;
    entry->tid = job || !thread || thread->tid <= 0 ? number : thread->tid;
    entry->name = memory_text("thread %u %s", lane->thread, thread ? thread_kind_name(thread) : "other");
}

static void export_traced_move_to_clock(struct trace *trace, uint64_t start_ns, uint64_t later_ns)
{
    for (size_t i = 0; i < trace->lane_count; i++)
        for (size_t j = 0; j < trace->lanes[i].span_count; j++) {
            struct trace_span *span = &trace->lanes[i].spans[j];
            span->begin_ns = later_ns + (span->begin_ns > start_ns ? span->begin_ns - start_ns : 0);
            span->end_ns = later_ns + (span->end_ns > start_ns ? span->end_ns - start_ns : 0);
        }
}

void export_traced_make(struct traced *traced, struct traced_process *processes, size_t count)
{
    *traced = (struct traced){.processes = processes, .count = count};
    bool job = count > 1;
    int32_t number = 1;
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = processes[i].rows->profile->header.start_realtime_ns;
        traced->start_realtime_ns =
            i == 0 || start_ns < traced->start_realtime_ns ? start_ns : traced->start_realtime_ns;
    }
    for (size_t i = 0; i < count; i++) {
        struct traced_process *process = &processes[i];
        const struct profile_header *header = &process->rows->profile->header;
        struct trace *trace = process->trace;
        export_traced_move_to_clock(trace, header->start_ns,
                                    (uint64_t)(header->start_realtime_ns - traced->start_realtime_ns));
        process->pid = job || header->pid <= 0 ? number : header->pid;
        process->name = export_traced_process_name(header, job);
        process->threads = memory_array(trace->lane_count + 1, sizeof *process->threads);
        for (size_t j = 0; j < trace->lane_count; j++)
            if (trace->lanes[j].span_count)
                export_traced_add_thread(process, &trace->lanes[j], number++, job);
        export_sharing_find(&process->culprits, process->rows, trace->lanes, trace->lane_count);
    }
}

void export_traced_free(struct traced *traced)
{
    for (size_t i = 0; i < traced->count; i++) {
        struct traced_process *process = &traced->processes[i];
        for (size_t j = 0; j < process->thread_count; j++)
            free(process->threads[j].name);
        free(process->threads);
        free(process->name);
        export_sharing_free(&process->culprits);
    }
}

uint32_t export_traced_pieces(const struct trace_lane *lane, const struct trace_span *span)
{
    uint64_t whole = lane->spans[lane->span_count - 1].end_ns - lane->spans[0].begin_ns, length = TRACED_PIECE_NS;
    length = whole / TRACED_PIECES > length ? whole / TRACED_PIECES : length;
    uint64_t pieces = (span->end_ns - span->begin_ns + length - 1) / length;
    pieces = pieces < span->samples ? pieces : span->samples;
    return pieces > 1 ? (uint32_t)pieces : 1;
}

static uint64_t export_traced_part_of(uint64_t whole, uint32_t pieces, uint32_t piece)
{
    return whole / pieces * piece + whole % pieces * piece / pieces;
}

struct trace_span export_traced_piece(const struct trace_span *span, uint32_t pieces, uint32_t piece)
{
    struct trace_span part = *span;
    uint64_t whole = span->end_ns - span->begin_ns;
    part.begin_ns = span->begin_ns + export_traced_part_of(whole, pieces, piece);
    part.end_ns = span->begin_ns + export_traced_part_of(whole, pieces, piece + 1);
    part.samples = (uint32_t)(export_traced_part_of(span->samples, pieces, piece + 1) -
                              export_traced_part_of(span->samples, pieces, piece));
    return part;
}

size_t export_traced_run_end(const struct trace_lane *lane, size_t first)
{
    size_t end = first + 1;
    while (end < lane->span_count && lane->spans[end].state == lane->spans[first].state &&
           lane->spans[end].begin_ns == lane->spans[end - 1].end_ns)
        end++;
    return end;
}

struct phase_walk {
    struct traced_phase *list;
    size_t count, room;
    uint32_t open[PHASES_DEEP]; /* rows */
    uint32_t depth;
    uint64_t seen_ns[PHASES_DEEP]; /* for each open phase, the end of the last span in it */
    uint32_t *last;                /* for each row, the index of the last span in it or below it */
};

static void export_traced_add_phase(struct phase_walk *walk, const struct rows *rows, uint32_t row, uint64_t time_ns,
                                    bool begins)
{
    memory_grow(&walk->list, &walk->room, walk->count, sizeof *walk->list);
    walk->list[walk->count++] = (struct traced_phase){time_ns, rows->row[row].label->name, begins};
}

/* Finds the phases that contain a row, outermost first. Returns their number, at most PHASES_DEEP. */
static uint32_t export_traced_phases_around(const struct rows *rows, uint32_t row, uint32_t found[PHASES_DEEP])
{
    uint32_t count = 0, deep = 0;
    for (uint32_t at = row; at != 0; at = rows->row[at].parent)
        count += rows->row[at].kind == ROW_PHASE || rows->row[at].kind == ROW_EVENT;
    for (uint32_t at = row; at != 0; at = rows->row[at].parent)
        if ((rows->row[at].kind == ROW_PHASE || rows->row[at].kind == ROW_EVENT) && --count < PHASES_DEEP) {
            found[count] = at;
            deep = deep ? deep : count + 1;
        }
    return deep;
}

/* Returns whether the phase of the span is known. It is unknown for idle time, and for rows that belong to
 * the whole program, such as <region end>. */
static bool export_traced_phase_is_known(const struct rows *rows, const struct trace_span *span, uint32_t row)
{
    if (row == 0 || span->state == PROFILE_TIME_IDLE || span->state == PROFILE_TIME_STOPPED)
        return false;
    while (rows->row[row].parent != 0)
        row = rows->row[row].parent;
    return rows->row[row].kind != ROW_PSEUDO;
}

static void export_traced_close_phases(struct phase_walk *walk, const struct rows *rows, uint32_t depth)
{
    while (walk->depth > depth) {
        walk->depth--;
        export_traced_add_phase(walk, rows, walk->open[walk->depth], walk->seen_ns[walk->depth], false);
    }
}

/* Returns whether the span only interrupts a numbered execution of a phase: it is outside the execution, but
 * the execution has later samples. Such a span is ignored. */
static bool export_traced_execution_continues(const struct phase_walk *walk, const struct rows *rows, uint32_t same,
                                              uint32_t span)
{
    for (uint32_t i = same; i < walk->depth; i++) {
        const struct row *row = &rows->row[walk->open[i]];
        if (rows->row[row->parent].kind == ROW_PHASE && walk->last[walk->open[i]] > span)
            return true;
    }
    return false;
}

static void export_traced_find_last_spans(struct phase_walk *walk, const struct rows *rows,
                                          const struct trace_lane *lane)
{
    walk->last = memory_array(rows->count, sizeof *walk->last);
    for (uint32_t i = 0; i < lane->span_count; i++)
        for (uint32_t row = export_trace_row(rows, lane->spans[i].node); row != 0; row = rows->row[row].parent)
            walk->last[row] = i;
}

size_t export_traced_phases(const struct traced_process *process, struct traced_phase **phases)
{
    const struct trace_lane *lane = process->threads[0].lane;
    const struct rows *rows = process->rows;
    struct phase_walk walk = {0};
    export_traced_find_last_spans(&walk, rows, lane);
    for (uint32_t i = 0; i < lane->span_count; i++) {
        const struct trace_span *span = &lane->spans[i];
        uint32_t found[PHASES_DEEP], same = 0, row = export_trace_row(rows, span->node);
        if (!export_traced_phase_is_known(rows, span, row))
            continue;
        uint32_t count = export_traced_phases_around(rows, row, found);
        while (same < count && same < walk.depth && walk.open[same] == found[same])
            same++;
        if (export_traced_execution_continues(&walk, rows, same, i))
            continue;
        export_traced_close_phases(&walk, rows, same);
        for (; walk.depth < count; walk.depth++) {
            walk.open[walk.depth] = found[walk.depth];
            export_traced_add_phase(&walk, rows, found[walk.depth], span->begin_ns, true);
        }
        for (uint32_t j = 0; j < walk.depth; j++)
            walk.seen_ns[j] = span->end_ns;
    }
    export_traced_close_phases(&walk, rows, 0);
    free(walk.last);
    *phases = walk.list;
    return walk.count;
}
