/* The file may come from an untrusted source: see merge.c. */
#include "command/profile/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/profile/merge.h"
#include "command/profile/node_tree.h"
#include "command/profile/profile.h"
#include "command/profile/read.h"
#include "command/text/memory.h"

/* ---- records ---- */

/* Decodes the records of one trace chunk (cct/profile_trace.h). */

#define TIME_MOST (1ull << 62)

/* Reads a number. Returns false if it is cut off or does not fit. */
static bool trace_stream_number(struct trace_stream *stream, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && stream->at < stream->have; shift += 7) {
        uint64_t byte = stream->bytes[stream->at++];
        if (shift == 63 && byte > 1)
            return false;
        *number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Applies a record that is not a sample, but changes the time or the period. */
static bool trace_stream_take_time(struct trace_stream *stream, unsigned kind)
{
    uint64_t number;
    if (!trace_stream_number(stream, &number) || number > TIME_MOST)
        return false;
    switch (kind) {
    case PROFILE_TRACE_GAP:
        stream->end_ns += number;
        break;
    case PROFILE_TRACE_WEIGHT:
        stream->weight_ns = number;
        break;
    case PROFILE_TRACE_PERIOD:
        stream->period_ns = number;
        break;
    case PROFILE_TRACE_TIME:
        stream->end_ns = number;
        break;
    default:
        return false;
    }
    return stream->end_ns <= TIME_MOST;
}

/* Reads the context and the state of a record whose first byte is `kind`. */
static bool trace_stream_take_pair(struct trace_stream *stream, unsigned kind, uint64_t *pair)
{
    uint32_t place = PROFILE_TRACE_PLACES - 1;
    uint64_t apart;
    if (kind < PROFILE_TRACE_NEW) {
        place = kind < PROFILE_TRACE_SEVERAL ? kind : kind - PROFILE_TRACE_SEVERAL;
        *pair = stream->table[place];
    } else {
        if (!trace_stream_number(stream, &apart))
            return false;
        stream->last_node += (uint32_t)((apart >> 1) ^ -(apart & 1));
        *pair = PROFILE_TRACE_PAIR(stream->last_node, kind & 7);
    }
    profile_trace_to_front(stream->table, place, *pair);
    return true;
}

static bool trace_stream_take_samples(struct trace_stream *stream, unsigned kind, struct trace_record *record)
{
    bool several = kind >= PROFILE_TRACE_SEVERAL && !(kind >= PROFILE_TRACE_NEW && kind < PROFILE_TRACE_NEW_SEVERAL);
    uint64_t more = 0;
    if (!trace_stream_take_pair(stream, kind, &record->pair) ||
        (several && (!trace_stream_number(stream, &more) || more > UINT32_MAX - 2)))
        return false;
    record->count = several ? more + 2 : 1;
    if (__builtin_mul_overflow(record->count, stream->period_ns, &record->length_ns))
        return false;
    if (stream->weight_ns)
        record->length_ns = stream->weight_ns;
    stream->weight_ns = 0;
    record->begin_ns = stream->end_ns;
    if (record->length_ns > TIME_MOST - record->begin_ns)
        return false;
    stream->end_ns += record->length_ns;
    return true;
}

/* Returns the kind of the next sample. A record's first byte gives the kind, except for the second sample of
 * a record with two samples. */
static unsigned trace_stream_take_kind(struct trace_stream *stream)
{
    unsigned kind = stream->second ? stream->second : stream->bytes[stream->at++];
    stream->second = 0;
    if (kind < PROFILE_TRACE_TWO || kind >= PROFILE_TRACE_END)
        return kind;
    kind -= PROFILE_TRACE_TWO;
    stream->second = 1 + kind % PROFILE_TRACE_SECOND;
    return 1 + kind / PROFILE_TRACE_SECOND;
}

bool trace_stream_next(struct trace_stream *stream, struct trace_record *record)
{
    while ((stream->second || stream->at < stream->have) && !stream->damaged) {
        unsigned kind = trace_stream_take_kind(stream);
        if (kind < PROFILE_TRACE_GAP && trace_stream_take_samples(stream, kind, record))
            return true;
        stream->damaged = kind < PROFILE_TRACE_GAP || !trace_stream_take_time(stream, kind);
    }
    return false;
}

/* ---- spans ---- */

#define MOVES_MOST  4096u /* maximum number of moves between regions that are followed for one node */
#define TOUCHING_NS 1000u /* spans with a gap shorter than this between them count as adjacent */

struct tracing {
    struct profile *profile;
    struct profile_chunks chunks;
    uint32_t *node_map; /* node map of the file's tree as it is now, made by profile_merge() */
    uint32_t *merged;   /* for each node of the file's tree as it is now: index of the profile's node */
    uint32_t *known;    /* for each node_idx: 1 + index of the profile's node; 0: not looked up yet */
    struct trace *trace;
};

static uint32_t trace_find_node(const struct tracing *tracing, uint32_t node_idx)
{
    const struct profile_node *node = profile_node_at(&tracing->chunks, node_idx);
    for (uint32_t moves = 0; node && node->kind == PROFILE_NODE_MOVED && moves < MOVES_MOST; moves++) {
        node_idx = (uint32_t)node->key;
        node = profile_node_at(&tracing->chunks, node_idx);
    }
    if (!node || tracing->node_map[node_idx] < PROFILE_MAP_MERGED)
        return 0;
    return tracing->merged[tracing->node_map[node_idx] - PROFILE_MAP_MERGED];
}

/* Returns the profile's node for a node of the trace. A trace names the same nodes very often, so each node's
 * moves are followed only once. */
static uint32_t trace_node_of(const struct tracing *tracing, uint32_t node_idx)
{
    if (!profile_node_at(&tracing->chunks, node_idx))
        return 0;
    if (!tracing->known[node_idx])
        tracing->known[node_idx] = 1 + trace_find_node(tracing, node_idx);
    return tracing->known[node_idx] - 1;
}

static void trace_add_span(struct trace_lane *lane, size_t *room, struct trace_span span)
{
    struct trace_span *last = lane->span_count ? &lane->spans[lane->span_count - 1] : NULL;
    /* a period that a renewed one has cut off */
    if (last && last->begin_ns < span.begin_ns && span.begin_ns < last->end_ns && last->end_ns <= span.end_ns)
        last->end_ns = span.begin_ns;
    if (last && span.begin_ns < last->end_ns + TOUCHING_NS) {
        /* the two spans may overlap, because a thread's last period extends beyond the thread's end */
        span.begin_ns = last->end_ns;
        span.end_ns = span.end_ns < span.begin_ns ? span.begin_ns : span.end_ns;
        if (last->node == span.node && last->state == span.state && UINT32_MAX - last->samples > span.samples) {
            last->end_ns = span.end_ns;
            last->samples += span.samples;
            return;
        }
    }
    memory_grow(&lane->spans, room, lane->span_count, sizeof *lane->spans);
    lane->spans[lane->span_count++] = span;
}

static bool trace_read_chunk(const struct tracing *tracing, const struct profile_trace_chunk *chunk,
                             struct trace_lane *lane, size_t *room)
{
    uint32_t most = PROFILE_CHUNK_BYTES - sizeof *chunk;
    struct trace_stream stream = {.bytes = (const unsigned char *)(chunk + 1),
                                  .have = chunk->used < most ? chunk->used : most};
    struct trace_record record;
    while (trace_stream_next(&stream, &record)) {
        struct trace_span span = {.begin_ns = record.begin_ns,
                                  .end_ns = record.begin_ns + record.length_ns,
                                  .samples = (uint32_t)record.count,
                                  .node = trace_node_of(tracing, PROFILE_TRACE_NODE(record.pair)),
                                  .state = PROFILE_TRACE_STATE(record.pair)};
        tracing->trace->samples += record.count;
        trace_add_span(lane, room, span);
    }
    return !stream.damaged;
}

static int trace_compare_chunks(const void *left, const void *right)
{
    const struct profile_trace_chunk *a = *(const struct profile_trace_chunk *const *)left,
                                     *b = *(const struct profile_trace_chunk *const *)right;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int trace_compare_lanes(const void *left, const void *right)
{
    const struct trace_lane *a = left, *b = right;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static uint32_t trace_first_thread_of_tree(const struct profile *profile, uint64_t tree)
{
    uint32_t thread = 0;
    while (thread < profile->thread_count && profile->threads[thread].tree != tree)
        thread++;
    return thread < profile->thread_count ? thread : 0;
}

static const char *trace_read_lanes(const struct tracing *tracing)
{
    const struct profile_trace_chunk **chunks = memory_array(tracing->chunks.count + 1u, sizeof(*chunks));
    struct trace *trace = tracing->trace;
    size_t count = 0, room = 0, lanes_room = 0;
    bool good = true;
    for (uint32_t n = 0; n < tracing->chunks.count; n++) {
        const struct profile_trace_chunk *chunk = (const void *)profile_chunk_at(&tracing->chunks, n);
        if (chunk->kind == PROFILE_CHUNK_TRACE &&
            (!tracing->chunks.only_tree || chunk->owner == tracing->chunks.only_tree))
            chunks[count++] = chunk;
    }
    qsort(chunks, count, sizeof(*chunks), trace_compare_chunks);
    for (size_t i = 0; i < count && good; i++) {
        if (!trace->lane_count || trace->lanes[trace->lane_count - 1].tree != chunks[i]->owner) {
            memory_grow(&trace->lanes, &lanes_room, trace->lane_count, sizeof *trace->lanes);
            trace->lanes[trace->lane_count++] = (struct trace_lane){
                .tree = chunks[i]->owner, .thread = trace_first_thread_of_tree(tracing->profile, chunks[i]->owner)};
            room = 0;
        }
        good = trace_read_chunk(tracing, chunks[i], &trace->lanes[trace->lane_count - 1], &room);
    }
    free(chunks);
    if (trace->lane_count)
        qsort(trace->lanes, trace->lane_count, sizeof *trace->lanes, trace_compare_lanes);
    return good ? NULL : "damaged: the end of the trace cannot be read";
}

/* Returns, for each node of the file's tree as it is now, the profile's node for the same context. */
static uint32_t *trace_map_nodes(struct profile *profile, const struct profile *now)
{
    uint32_t *merged = memory_array(now->node_count, sizeof *merged);
    struct node_tree tree;
    node_tree_resume(&tree, profile);
    for (uint32_t i = 1; i < now->node_count; i++) {
        const struct merged_node *node = &now->nodes[i];
        uint32_t above = merged[node->parent], found = node_tree_find(&tree, above, node->kind, node->key);
        merged[i] = found ? found : above;
    }
    node_tree_end(&tree);
    return merged;
}

static const char *trace_read_samples(struct tracing *tracing, char *buffer, size_t buffer_bytes)
{
    struct profile *now = memory_array(1, sizeof *now);
    unsigned char *bytes;
    const char *wrong = profile_read_chunks(tracing->profile->path, &now->header, &bytes, buffer, buffer_bytes);
    tracing->chunks =
        (struct profile_chunks){.bytes = bytes, .count = now->header.chunk_count, .only_tree = tracing->profile->tree};
    if (!wrong)
        wrong = profile_merge(&tracing->chunks, now, &tracing->node_map);
    if (!wrong) {
        tracing->merged = trace_map_nodes(tracing->profile, now);
        tracing->known =
            memory_array((size_t)tracing->chunks.count * PROFILE_UNITS_PER_CHUNK + 1, sizeof *tracing->known);
        tracing->trace->thinned = now->header.trace_thinned;
        wrong = trace_read_lanes(tracing);
    }
    free(tracing->merged);
    free(tracing->known);
    free(tracing->node_map);
    free(bytes);
    profile_free(now);
    return wrong;
}

struct trace *trace_read(struct profile *profile, char *error, size_t error_bytes)
{
    char buffer[160];
    const char *wrong = NULL;
    struct tracing tracing = {.profile = profile};
    if (profile->header.merged)
        wrong = "this is the profile of a job, which has no trace; use --rank, because each rank's file has its own "
                "trace";
    else if (!profile->header.traced)
        wrong = "has no trace; measure again with blame run --trace";
    if (!wrong) {
        tracing.trace = memory_array(1, sizeof *tracing.trace);
        wrong = trace_read_samples(&tracing, buffer, sizeof buffer);
    }
    if (!wrong)
        return tracing.trace;
    trace_free(tracing.trace);
    snprintf(error, error_bytes, "%s: %s", profile->path, wrong);
    return NULL;
}

void trace_free(struct trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->lane_count; i++)
        free(trace->lanes[i].spans);
    free(trace->lanes);
    free(trace);
}
