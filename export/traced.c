#include "export/traced.h"

#include <stdlib.h>

#include "export/trace_stacks.h"
#include "report/tables/threads.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define PHASES_DEEP 64

static char *process_name(const struct profile_header *header, bool job)
{
    const char *program = *header->program ? header->program : "program";
    return job || header->ranks ? format_printable("rank %u: %s (pid %d)", header->rank, program, header->pid) : format_printable("%s", program);
}

/* Threads are numbered as in threads.csv. */
static void add_thread(struct traced_process *process, const struct trace_lane *lane, int32_t number, bool job)
{
    const struct profile *profile = process->rows->profile;
    const struct profile_thread *thread = lane->thread < profile->thread_count ? &profile->threads[lane->thread] : NULL;
    struct traced_thread *entry = &process->threads[process->thread_count++];
    entry->lane = lane;
    entry->tid = job || !thread || thread->tid <= 0 ? number : thread->tid;
    entry->name = memory_text("thread %u %s", lane->thread, thread ? thread_kind_name(thread) : "other");
}

static void move_to_clock(struct trace *trace, uint64_t start_ns, uint64_t later_ns)
{
    for (size_t i = 0; i < trace->lane_count; i++)
        for (size_t j = 0; j < trace->lanes[i].span_count; j++) {
            struct trace_span *span = &trace->lanes[i].spans[j];
            span->begin_ns = later_ns + (span->begin_ns > start_ns ? span->begin_ns - start_ns : 0);
            span->end_ns = later_ns + (span->end_ns > start_ns ? span->end_ns - start_ns : 0);
        }
}

void traced_make(struct traced *traced, struct traced_process *processes, size_t count)
{
    *traced = (struct traced){.processes = processes, .count = count};
    bool job = count > 1;
    int32_t number = 1;
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = processes[i].rows->profile->header.start_realtime_ns;
        traced->start_realtime_ns = i == 0 || start_ns < traced->start_realtime_ns ? start_ns : traced->start_realtime_ns;
    }
    for (size_t i = 0; i < count; i++) {
        struct traced_process *process = &processes[i];
        const struct profile_header *header = &process->rows->profile->header;
        struct trace *trace = process->trace;
        move_to_clock(trace, header->start_ns, (uint64_t)(header->start_realtime_ns - traced->start_realtime_ns));
        process->pid = job || header->pid <= 0 ? number : header->pid;
        process->name = process_name(header, job);
        process->threads = memory_array(trace->lane_count + 1, sizeof *process->threads);
        for (size_t j = 0; j < trace->lane_count; j++)
            if (trace->lanes[j].span_count)
                add_thread(process, &trace->lanes[j], number++, job);
        sharing_find(&process->culprits, process->rows, trace->lanes, trace->lane_count);
    }
}

void traced_free(struct traced *traced)
{
    for (size_t i = 0; i < traced->count; i++) {
        struct traced_process *process = &traced->processes[i];
        for (size_t j = 0; j < process->thread_count; j++)
            free(process->threads[j].name);
        free(process->threads);
        free(process->name);
        sharing_free(&process->culprits);
    }
}

uint32_t traced_pieces(const struct trace_lane *lane, const struct trace_span *span)
{
    uint64_t whole = lane->spans[lane->span_count - 1].end_ns - lane->spans[0].begin_ns, length = TRACED_PIECE_NS;
    length = whole / TRACED_PIECES > length ? whole / TRACED_PIECES : length;
    uint64_t pieces = (span->end_ns - span->begin_ns + length - 1) / length;
    pieces = pieces < span->samples ? pieces : span->samples;
    return pieces > 1 ? (uint32_t)pieces : 1;
}

static uint64_t part_of(uint64_t whole, uint32_t pieces, uint32_t piece)
{
    return whole / pieces * piece + whole % pieces * piece / pieces;
}

struct trace_span traced_piece(const struct trace_span *span, uint32_t pieces, uint32_t piece)
{
    struct trace_span part = *span;
    uint64_t whole = span->end_ns - span->begin_ns;
    part.begin_ns = span->begin_ns + part_of(whole, pieces, piece);
    part.end_ns = span->begin_ns + part_of(whole, pieces, piece + 1);
    part.samples = (uint32_t)(part_of(span->samples, pieces, piece + 1) - part_of(span->samples, pieces, piece));
    return part;
}

size_t traced_run_end(const struct trace_lane *lane, size_t first)
{
    size_t end = first + 1;
    while (end < lane->span_count && lane->spans[end].state == lane->spans[first].state && lane->spans[end].begin_ns == lane->spans[end - 1].end_ns)
        end++;
    return end;
}

struct phase_walk {
    struct traced_phase *list;
    size_t count, room;
    uint32_t open[PHASES_DEEP]; /* rows */
    uint32_t depth;
    uint64_t seen_ns[PHASES_DEEP]; /* until when a sample was in it */
    uint32_t *last; /* by row: the last span that is in it */
};

static void put_phase(struct phase_walk *walk, const struct rows *rows, uint32_t row, uint64_t time_ns, bool begins)
{
    memory_grow(&walk->list, &walk->room, walk->count, sizeof *walk->list);
    walk->list[walk->count++] = (struct traced_phase){time_ns, rows->row[row].label->name, begins};
}

/* The phases around a row, the outermost first. */
static uint32_t phases_around(const struct rows *rows, uint32_t row, uint32_t found[PHASES_DEEP])
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

/* Of idle time, and of what the program does as a whole (<region end>), nobody knows in which phase it is. */
static bool knows_phase(const struct rows *rows, const struct trace_span *span, uint32_t row)
{
    if (row == 0 || span->state == PROFILE_TIME_IDLE || span->state == PROFILE_TIME_STOPPED)
        return false;
    while (rows->row[row].parent != 0)
        row = rows->row[row].parent;
    return rows->row[row].kind != ROW_PSEUDO;
}

static void close_phases(struct phase_walk *walk, const struct rows *rows, uint32_t depth)
{
    while (walk->depth > depth) {
        walk->depth--;
        put_phase(walk, rows, walk->open[walk->depth], walk->seen_ns[walk->depth], false);
    }
}

/* A numbered execution goes on while samples find it: one between them that did not find it knows less. */
static bool interrupts(const struct phase_walk *walk, const struct rows *rows, uint32_t same, uint32_t span)
{
    for (uint32_t i = same; i < walk->depth; i++) {
        const struct row *row = &rows->row[walk->open[i]];
        if (rows->row[row->parent].kind == ROW_PHASE && walk->last[walk->open[i]] > span)
            return true;
    }
    return false;
}

static void find_last(struct phase_walk *walk, const struct rows *rows, const struct trace_lane *lane)
{
    walk->last = memory_array(rows->count, sizeof *walk->last);
    for (uint32_t i = 0; i < lane->span_count; i++)
        for (uint32_t row = trace_row(rows, lane->spans[i].node); row != 0; row = rows->row[row].parent)
            walk->last[row] = i;
}

size_t traced_phases(const struct traced_process *process, struct traced_phase **phases)
{
    const struct trace_lane *lane = process->threads[0].lane;
    const struct rows *rows = process->rows;
    struct phase_walk walk = {0};
    find_last(&walk, rows, lane);
    for (uint32_t i = 0; i < lane->span_count; i++) {
        const struct trace_span *span = &lane->spans[i];
        uint32_t found[PHASES_DEEP], same = 0, row = trace_row(rows, span->node);
        if (!knows_phase(rows, span, row))
            continue;
        uint32_t count = phases_around(rows, row, found);
        while (same < count && same < walk.depth && walk.open[same] == found[same])
            same++;
        if (interrupts(&walk, rows, same, i))
            continue;
        close_phases(&walk, rows, same);
        for (; walk.depth < count; walk.depth++) {
            walk.open[walk.depth] = found[walk.depth];
            put_phase(&walk, rows, found[walk.depth], span->begin_ns, true);
        }
        for (uint32_t j = 0; j < walk.depth; j++)
            walk.seen_ns[j] = span->end_ns;
    }
    close_phases(&walk, rows, 0);
    free(walk.last);
    *phases = walk.list;
    return walk.count;
}
