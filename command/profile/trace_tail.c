#include "command/profile/trace_tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cct/timeline/moment.h"
#include "cct/profile_tree.h"
#include "command/profile/trace.h"
#include "command/text/memory.h"

#define DATA_BYTES (PROFILE_CHUNK_BYTES - sizeof(struct profile_trace_chunk))

/* Reading position in the samples of one tree. */
struct tail_lane {
    uint32_t tree;
    uint32_t *chunks; /* numbers of the tree's trace chunks, in file order */
    size_t chunk_count, chunk_room;
    uint32_t chunk_no; /* number of the chunk that is being read */
    /* header of the chunk that is being read; its number is 0 before the first chunk */
    struct profile_trace_chunk chunk;
    /* records of the chunk that is being read, as far as they are in memory */
    struct trace_stream stream;
    bool asked; /* whether the threads were read once more to find the lane's thread */
    /* record whose samples are being returned */
    struct trace_record record;
    uint64_t given;
    struct trace_sample next;
    bool has_next;   /* whether `next` holds a sample that has not been returned */
    uint64_t cpu_ns; /* CPU time of the thread before the record, in ns */
    uint32_t thread;
    uint64_t thread_from_ns, thread_until_ns; /* interval in which `thread` used the tree */
    uint32_t bits;                            /* result of trace_tail_moment_bits_at(), valid until bits_until_ns */
    uint64_t bits_until_ns;
    size_t bits_threads; /* number of known threads when `bits` was computed */
    unsigned char bytes[DATA_BYTES];
};

static bool trace_tail_read(int file, void *to, size_t bytes, off_t at)
{
    ssize_t got;
    do
        got = pread(file, to, bytes, at);
    while (got < 0 && errno == EINTR);
    if (got >= 0)
        errno = 0;
    return got == (ssize_t)bytes;
}

static off_t trace_tail_chunk_offset(uint32_t chunk_no)
{
    return (off_t)PROFILE_HEADER_BYTES + (off_t)chunk_no * PROFILE_CHUNK_BYTES;
}

void trace_tail_open(struct trace_tail *tail, int file)
{
    *tail = (struct trace_tail){.file = file};
}

void trace_tail_close(struct trace_tail *tail)
{
    for (size_t i = 0; i < tail->lane_count; i++) {
        free(tail->lanes[i]->chunks);
        free(tail->lanes[i]);
    }
    free(tail->lanes);
    free(tail->heap);
    free(tail->pending);
    free(tail->records);
    free(tail->threads);
    free(tail->modules);
    free(tail->names);
    *tail = (struct trace_tail){.file = -1};
}

bool trace_tail_node(const struct trace_tail *tail, uint32_t node_idx, struct profile_node *node)
{
    return node_idx % PROFILE_UNITS_PER_CHUNK != 0 && node_idx / PROFILE_UNITS_PER_CHUNK < tail->header.chunk_count &&
           trace_tail_read(tail->file, node, sizeof *node,
                           (off_t)PROFILE_HEADER_BYTES + (off_t)node_idx * PROFILE_UNIT_BYTES);
}

/* ---- the tables ---- */

static struct tail_lane *trace_tail_lane_of(struct trace_tail *tail, uint32_t tree)
{
    for (size_t i = tail->lane_count; i-- > 0;)
        if (tail->lanes[i]->tree == tree)
            return tail->lanes[i];
    size_t room = tail->lane_room;
    memory_grow(&tail->lanes, &tail->lane_room, tail->lane_count, sizeof *tail->lanes);
    if (tail->lane_room != room)
        tail->heap = memory_check(reallocarray(tail->heap, tail->lane_room, sizeof *tail->heap));
    struct tail_lane *lane = memory_array(1, sizeof *lane);
    lane->tree = tree;
    lane->thread = TRACE_NO_THREAD;
    return tail->lanes[tail->lane_count++] = lane;
}

/* Adds a chunk to the list of its tree's chunks. Returns false if the program is still creating the chunk. */
static bool trace_tail_note_chunk(struct trace_tail *tail, uint32_t chunk_no)
{
    struct profile_chunk chunk;
    if (!trace_tail_read(tail->file, &chunk, sizeof chunk, trace_tail_chunk_offset(chunk_no)) ||
        chunk.kind == PROFILE_CHUNK_FREE)
        return false;
    if (chunk.kind == PROFILE_CHUNK_TRACE) {
        struct tail_lane *lane = trace_tail_lane_of(tail, chunk.owner);
        memory_grow(&lane->chunks, &lane->chunk_room, lane->chunk_count, sizeof *lane->chunks);
        lane->chunks[lane->chunk_count++] = chunk_no;
    } else if (chunk.kind == PROFILE_CHUNK_THREAD || chunk.kind == PROFILE_CHUNK_MODULE ||
               chunk.kind == PROFILE_CHUNK_NAME) {
        memory_grow(&tail->records, &tail->record_room, tail->record_count, sizeof *tail->records);
        tail->records[tail->record_count++] = chunk_no;
    }
    return true;
}

static void trace_tail_note_chunks(struct trace_tail *tail)
{
    size_t still = 0;
    for (size_t i = 0; i < tail->pending_count; i++)
        if (!trace_tail_note_chunk(tail, tail->pending[i]))
            tail->pending[still++] = tail->pending[i];
    tail->pending_count = still;
    for (; tail->seen < tail->header.chunk_count; tail->seen++)
        if (!trace_tail_note_chunk(tail, tail->seen)) {
            memory_grow(&tail->pending, &tail->pending_room, tail->pending_count, sizeof *tail->pending);
            tail->pending[tail->pending_count++] = tail->seen;
        }
}

static size_t trace_tail_count_records(const struct trace_tail *tail, uint32_t kind, size_t bytes)
{
    size_t per_chunk = PROFILE_CHUNK_BYTES / bytes - 1, count = 0;
    struct profile_chunk chunk;
    for (size_t i = 0; i < tail->record_count; i++)
        if (trace_tail_read(tail->file, &chunk, sizeof chunk, trace_tail_chunk_offset(tail->records[i])) &&
            chunk.kind == kind)
            count += chunk.used < per_chunk ? chunk.used : per_chunk;
    return count;
}

/* Reads all records of one kind from the file into a list, which they replace. */
static void trace_tail_read_records(const struct trace_tail *tail, uint32_t kind, size_t bytes, void *list,
                                    size_t *count)
{
    size_t per_chunk = PROFILE_CHUNK_BYTES / bytes - 1, room = trace_tail_count_records(tail, kind, bytes), found = 0;
    char *records = memory_array(room + 1, bytes), **to = list;
    struct profile_chunk chunk;
    for (size_t i = 0; i < tail->record_count && found < room; i++) {
        off_t at = trace_tail_chunk_offset(tail->records[i]);
        if (!trace_tail_read(tail->file, &chunk, sizeof chunk, at) || chunk.kind != kind)
            continue;
        size_t here = chunk.used < per_chunk ? chunk.used : per_chunk;
        here = here < room - found ? here : room - found;
        if (trace_tail_read(tail->file, records + found * bytes, here * bytes, at + (off_t)bytes))
            found += here;
    }
    free(*to);
    *to = records;
    *count = found;
}

static int trace_tail_compare_threads(const void *left, const void *right)
{
    const struct profile_thread *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

static void trace_tail_read_threads(struct trace_tail *tail)
{
    size_t used = 0;
    trace_tail_read_records(tail, PROFILE_CHUNK_THREAD, PROFILE_THREAD_BYTES, &tail->threads, &tail->thread_count);
    for (size_t i = 0; i < tail->thread_count; i++)
        if (tail->threads[i].kind != PROFILE_THREAD_UNUSED)
            tail->threads[used++] = tail->threads[i];
    tail->thread_count = used;
    qsort(tail->threads, used, sizeof *tail->threads, trace_tail_compare_threads);
}

bool trace_tail_has_more(struct trace_tail *tail)
{
    if (!trace_tail_read(tail->file, &tail->header, sizeof tail->header, 0))
        return false;
    trace_tail_note_chunks(tail);
    return trace_tail_count_records(tail, PROFILE_CHUNK_MODULE, PROFILE_MODULE_BYTES) > tail->module_count ||
           trace_tail_count_records(tail, PROFILE_CHUNK_NAME, PROFILE_NAME_BYTES) > tail->name_count;
}

void trace_tail_tables(struct trace_tail *tail)
{
    trace_tail_read_threads(tail);
    trace_tail_read_records(tail, PROFILE_CHUNK_MODULE, PROFILE_MODULE_BYTES, &tail->modules, &tail->module_count);
    trace_tail_read_records(tail, PROFILE_CHUNK_NAME, PROFILE_NAME_BYTES, &tail->names, &tail->name_count);
    for (size_t i = 0; i < tail->module_count; i++) {
        struct profile_module *module = &tail->modules[i];
        module->path[sizeof module->path - 1] = '\0';
        if (module->build_id_bytes > sizeof module->build_id)
            module->build_id_bytes = 0;
    }
    for (size_t i = 0; i < tail->name_count; i++)
        tail->names[i].text[sizeof tail->names->text - 1] = '\0';
}

/* ---- chunks ---- */

static void trace_tail_begin_chunk(struct tail_lane *lane, uint32_t chunk_no, const struct profile_trace_chunk *chunk)
{
    lane->chunk_no = chunk_no;
    lane->chunk = *chunk;
    lane->stream = (struct trace_stream){.bytes = lane->bytes};
}

/* Reads what the program has added to the current chunk. Returns false if it has added nothing, or if the
 * chunk was reused for other data. */
static bool trace_tail_read_more(const struct trace_tail *tail, struct tail_lane *lane)
{
    struct profile_trace_chunk before, after;
    off_t at = trace_tail_chunk_offset(lane->chunk_no);
    if (!lane->chunk.number || !trace_tail_read(tail->file, &before, sizeof before, at) ||
        before.number != lane->chunk.number)
        return false;
    uint32_t used = before.used < DATA_BYTES ? before.used : (uint32_t)DATA_BYTES;
    if (used <= lane->stream.have ||
        !trace_tail_read(tail->file, lane->bytes + lane->stream.have, used - lane->stream.have,
                         at + (off_t)(sizeof before + lane->stream.have)) ||
        !trace_tail_read(tail->file, &after, sizeof after, at) || after.number != before.number)
        return false;
    lane->chunk = before;
    lane->stream.have = used;
    return true;
}

/* Finds the chunk that follows the current one in the same tree. Returns false if there is none. */
static bool trace_tail_find_next_chunk(struct trace_tail *tail, struct tail_lane *lane)
{
    struct profile_trace_chunk chunk, best = {0};
    uint32_t best_no = 0, next = lane->chunk.next;
    /* usual case: the current chunk's header names the next one */
    if (lane->chunk.number && next < tail->seen &&
        trace_tail_read(tail->file, &chunk, sizeof chunk, trace_tail_chunk_offset(next)) &&
        chunk.kind == PROFILE_CHUNK_TRACE && chunk.owner == lane->tree && chunk.number == lane->chunk.number + 1) {
        trace_tail_begin_chunk(lane, next, &chunk);
        return true;
    }
    for (size_t i = 0; i < lane->chunk_count; i++)
        if (trace_tail_read(tail->file, &chunk, sizeof chunk, trace_tail_chunk_offset(lane->chunks[i])) &&
            chunk.number > lane->chunk.number && (!best.number || chunk.number < best.number)) {
            best = chunk;
            best_no = lane->chunks[i];
        }
    if (!best.number)
        return false;
    trace_tail_begin_chunk(lane, best_no, &best);
    return true;
}

/* Returns whether the lane may have a chunk after the current one. */
static bool trace_tail_lane_goes_on(const struct trace_tail *tail, struct tail_lane *lane)
{
    struct profile_trace_chunk now;
    if (!lane->chunk.number)
        return true;
    if (!trace_tail_read(tail->file, &now, sizeof now, trace_tail_chunk_offset(lane->chunk_no)))
        return false;
    if (now.number == lane->chunk.number)
        lane->chunk.next = now.next;
    return now.number != lane->chunk.number || (now.next != 0 && now.next != lane->chunk_no);
}

static bool trace_tail_next_record(struct trace_tail *tail, struct tail_lane *lane)
{
    lane->given = 0;
    while (!trace_stream_next(&lane->stream, &lane->record)) {
        lane->record.count = 0;
        if (lane->stream.damaged)
            return false;
        if (trace_tail_read_more(tail, lane))
            continue;
        bool gone_on = trace_tail_lane_goes_on(tail, lane);
        /* the program may have completed the current chunk before it started the next one */
        if (gone_on && trace_tail_read_more(tail, lane))
            continue;
        if (!gone_on || !trace_tail_find_next_chunk(tail, lane))
            return false;
    }
    if (lane->record.count > lane->chunk.samples) { /* the chunk's header counts fewer samples */
        lane->stream.damaged = true;
        lane->record.count = 0;
    }
    return !lane->stream.damaged;
}

/* ---- samples ---- */

/* Finds the thread that used the tree at the time of the current record. Several threads can use a tree, one
 * after another. */
static void trace_tail_choose_thread(struct trace_tail *tail, struct tail_lane *lane)
{
    uint64_t time_ns = lane->record.begin_ns + lane->record.length_ns / 2;
    if (time_ns >= lane->thread_from_ns && time_ns < lane->thread_until_ns)
        return;
    uint32_t before = lane->thread;
    lane->thread = TRACE_NO_THREAD;
    lane->thread_from_ns = 0;
    lane->thread_until_ns = UINT64_MAX;
    for (size_t i = 0; i < tail->thread_count; i++) {
        if (tail->threads[i].tree != lane->tree)
            continue;
        if (lane->thread != TRACE_NO_THREAD && tail->threads[i].begin_ns > time_ns) {
            lane->thread_until_ns = tail->threads[i].begin_ns;
            break;
        }
        lane->thread_from_ns = lane->thread == TRACE_NO_THREAD ? 0 : tail->threads[i].begin_ns;
        lane->thread = (uint32_t)i;
    }
    /* the thread may have started after the last refresh */
    if (lane->thread == TRACE_NO_THREAD && !lane->asked) {
        lane->asked = true;
        lane->thread_until_ns = 0;
        trace_tail_read_threads(tail);
        trace_tail_choose_thread(tail, lane);
    }
    if (lane->thread != before)
        lane->cpu_ns = 0;
}

/* Returns how finely the sampling period was divided among threads at a given time, in bits (moment_bits()).
 * It depends on the highest thread number until then. */
static uint32_t trace_tail_moment_bits_at(const struct trace_tail *tail, struct tail_lane *lane, uint64_t time_ns)
{
    if (time_ns < lane->bits_until_ns && lane->bits_threads == tail->thread_count)
        return lane->bits;
    lane->bits = 0;
    lane->bits_until_ns = UINT64_MAX;
    lane->bits_threads = tail->thread_count;
    for (size_t i = 0; i < tail->thread_count; i++) {
        const struct profile_thread *thread = &tail->threads[i];
        uint32_t bits = thread->number ? moment_bits(thread->number - 1) : 0;
        if (thread->begin_ns <= time_ns)
            lane->bits = bits > lane->bits ? bits : lane->bits;
        else if (thread->begin_ns < lane->bits_until_ns)
            lane->bits_until_ns = thread->begin_ns;
    }
    return lane->bits;
}

/* Returns the time at which the sample for the period around middle_ns was due (cct/timeline/moment.h). */
static uint64_t trace_tail_due_moment(const struct trace_tail *tail, struct tail_lane *lane, uint64_t middle_ns)
{
    const struct profile_header *header = &tail->header;
    const struct trace_record *record = &lane->record;
    const struct profile_thread *thread = lane->thread == TRACE_NO_THREAD ? NULL : &tail->threads[lane->thread];
    uint64_t period_ns = lane->stream.period_ns;
    if (!header->seed || header->clock != 0 || !period_ns || !thread || !thread->number || middle_ns < header->start_ns)
        return middle_ns;
    uint64_t begin_ns = middle_ns - (middle_ns - header->start_ns) % period_ns, end_ns = begin_ns + period_ns;
    uint64_t place = moment_place(begin_ns, moment_salt(header->seed, header->start_ns), thread->number - 1,
                                  trace_tail_moment_bits_at(tail, lane, begin_ns));
    uint64_t from_ns = thread->begin_ns > begin_ns && thread->begin_ns < end_ns
                           ? thread->begin_ns
                           : begin_ns; /* a thread's first period starts with the thread */
    if (record->count == 1 && record->begin_ns > from_ns && record->begin_ns < end_ns) { /* it was renewed there */
        from_ns = record->begin_ns;
        place = moment_place(from_ns, moment_salt(header->seed, header->start_ns), thread->number - 1, 0);
    }
    uint64_t moment_ns = moment_at(from_ns, end_ns - from_ns, place), last_ns = record->begin_ns + record->length_ns;
    return moment_ns < record->begin_ns ? record->begin_ns : moment_ns > last_ns ? last_ns : moment_ns;
}

/* Prepares the lane's next sample. Returns false if the lane has no more samples now. */
static bool trace_tail_lane_advance(struct trace_tail *tail, struct tail_lane *lane)
{
    if (lane->has_next)
        return true;
    uint8_t state = PROFILE_TRACE_STATE(lane->record.pair);
    bool ran = state == PROFILE_TIME_WORK || state == PROFILE_TIME_OVERHEAD;
    if (lane->given == lane->record.count) {
        lane->cpu_ns += ran && lane->record.count ? lane->record.length_ns : 0;
        if (!trace_tail_next_record(tail, lane))
            return false;
        trace_tail_choose_thread(tail, lane);
        state = PROFILE_TRACE_STATE(lane->record.pair);
        ran = state == PROFILE_TIME_WORK || state == PROFILE_TIME_OVERHEAD;
    }
    uint64_t part_ns =
        (uint64_t)(((double)lane->given + 0.5) / (double)lane->record.count * (double)lane->record.length_ns);
    lane->given++;
    lane->next = (struct trace_sample){.time_ns = trace_tail_due_moment(tail, lane, lane->record.begin_ns + part_ns),
                                       .cpu_ns = lane->cpu_ns + (ran ? part_ns : 0),
                                       .thread = lane->thread,
                                       .node = PROFILE_TRACE_NODE(lane->record.pair),
                                       .state = state};
    return lane->has_next = true;
}

static bool trace_tail_is_earlier(const struct tail_lane *a, const struct tail_lane *b)
{
    return a->next.time_ns != b->next.time_ns ? a->next.time_ns < b->next.time_ns : a->tree < b->tree;
}

static void trace_tail_sift_down(struct trace_tail *tail, size_t at)
{
    struct tail_lane *lane = tail->heap[at];
    for (size_t child; (child = 2 * at + 1) < tail->heap_count; at = child) {
        child += child + 1 < tail->heap_count && trace_tail_is_earlier(tail->heap[child + 1], tail->heap[child]);
        if (!trace_tail_is_earlier(tail->heap[child], lane))
            break;
        tail->heap[at] = tail->heap[child];
    }
    tail->heap[at] = lane;
}

bool trace_tail_refresh(struct trace_tail *tail)
{
    if (!trace_tail_read(tail->file, &tail->header, sizeof tail->header, 0))
        return false;
    trace_tail_note_chunks(tail);
    trace_tail_read_threads(tail);
    tail->heap_count = tail->damaged = 0;
    for (size_t i = 0; i < tail->lane_count; i++) {
        /* a thread that started since the last refresh may have used the tree */
        tail->lanes[i]->thread_until_ns = 0;
        tail->lanes[i]->asked = false;
        if (trace_tail_lane_advance(tail, tail->lanes[i]))
            tail->heap[tail->heap_count++] = tail->lanes[i];
        tail->damaged += tail->lanes[i]->stream.damaged;
    }
    for (size_t i = tail->heap_count / 2; i-- > 0;)
        trace_tail_sift_down(tail, i);
    return true;
}

bool trace_tail_next(struct trace_tail *tail, struct trace_sample *sample)
{
    if (tail->heap_count == 0)
        return false;
    struct tail_lane *lane = tail->heap[0];
    *sample = lane->next;
    lane->has_next = false;
    tail->given++;
    if (!trace_tail_lane_advance(tail, lane)) {
        tail->damaged += lane->stream.damaged;
        tail->heap[0] = tail->heap[--tail->heap_count];
    }
    if (tail->heap_count)
        trace_tail_sift_down(tail, 0);
    return true;
}

uint64_t trace_tail_missing(const struct trace_tail *tail)
{
    struct profile_trace_chunk chunk;
    uint64_t there = tail->header.trace_thinned;
    for (size_t i = 0; i < tail->lane_count; i++)
        for (size_t k = 0; k < tail->lanes[i]->chunk_count; k++)
            if (trace_tail_read(tail->file, &chunk, sizeof chunk, trace_tail_chunk_offset(tail->lanes[i]->chunks[k])))
                there += chunk.samples;
    return there > tail->given ? there - tail->given : 0;
}
