#include "cct/timeline/tracer.h"

#include <string.h>

#include "base/atomics.h"
#include "cct/arena.h"

#define CHUNK_ROOM   (PROFILE_CHUNK_BYTES - sizeof(struct profile_trace_chunk))
#define RUNS_AT_ONCE 32u /* maximum number of runs of samples that one call of tracer_write() writes */
/* maximum difference in ns between a sample's start and the previous sample's end that the trace ignores */
#define UNEVEN_NS 1000u

static uint32_t chunks_left; /* number of chunks that all trees together may still take */

void tracer_limit(uint64_t bytes)
{
    store_relaxed(&chunks_left, (uint32_t)(bytes / PROFILE_CHUNK_BYTES));
}

static struct profile_trace_chunk *trace_chunk_at(uint32_t chunk_no)
{
    return arena_unit(chunk_no * PROFILE_UNITS_PER_CHUNK);
}

static void trace_count_thinned_samples(uint64_t samples)
{
    fetch_add_relaxed(&arena_header()->trace_thinned, samples);
}

/* Takes a chunk for the tree. Fails if the tree already has as many chunks as are left, or more, so that
 * threads which begin later still find one. */
static bool take_trace_chunk(struct tracer *tracer, struct tree *tree)
{
    uint32_t left = load_relaxed(&chunks_left), chunk_no;
    do
        if (left <= tracer->chunks)
            return false;
    while (!compare_exchange(&chunks_left, &left, left - 1));
    if (!arena_chunk(PROFILE_CHUNK_TRACE, tree->number, &chunk_no)) {
        fetch_add_relaxed(&chunks_left, 1);
        return false;
    }
    if (tracer->chunks++)
        trace_chunk_at(tracer->newest)->next = chunk_no;
    else
        tracer->oldest = chunk_no;
    tracer->newest = chunk_no;
    return true;
}

/* Empties the tree's oldest chunk and makes it the newest. */
static void take_oldest_trace_chunk(struct tracer *tracer)
{
    struct profile_trace_chunk *chunk = trace_chunk_at(tracer->oldest);
    trace_count_thinned_samples(chunk->samples);
    store_release(&chunk->used, 0);
    chunk->samples = 0;
    if (tracer->chunks == 1)
        return;
    trace_chunk_at(tracer->newest)->next = tracer->oldest;
    tracer->newest = tracer->oldest;
    tracer->oldest = chunk->next;
}

static bool begin_trace_chunk(struct tracer *tracer, struct tree *tree)
{
    tracer->chunk = NULL;
    if (!take_trace_chunk(tracer, tree)) {
        if (!tracer->chunks)
            return false;
        take_oldest_trace_chunk(tracer);
    }
    tracer->chunk = trace_chunk_at(tracer->newest);
    /* readers of the file must not see the new number before the chunk is empty */
    store_release(&tracer->chunk->number, ++tracer->numbered);
    memset(tracer->table, 0, sizeof(tracer->table));
    tracer->end_ns = tracer->chunk_period_ns = 0;
    tracer->last_node = 0;
    return true;
}

static unsigned char *trace_put_varint(unsigned char *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (unsigned char)(number | 0x80);
    *to++ = (unsigned char)number;
    return to;
}

static unsigned char *put_trace_record(unsigned char *to, enum profile_trace_record record, uint64_t number)
{
    *to++ = (unsigned char)record;
    return trace_put_varint(to, number);
}

static bool trace_run_is_even(const struct tracer_run *run)
{
    uint64_t even_ns = run->count * run->period_ns;
    return run->weight_ns <= even_ns + run->count && even_ns <= run->weight_ns + run->count;
}

static unsigned char *trace_put_run_time(struct tracer *tracer, const struct tracer_run *run, unsigned char *to)
{
    if (tracer->chunk_period_ns != run->period_ns) {
        tracer->chunk_period_ns = run->period_ns;
        to = put_trace_record(to, PROFILE_TRACE_PERIOD, run->period_ns);
    }
    if (tracer->end_ns == 0 || tracer->end_ns > run->begin_ns + UNEVEN_NS) {
        to = put_trace_record(to, PROFILE_TRACE_TIME, run->begin_ns);
        tracer->end_ns = run->begin_ns;
    } else if (tracer->end_ns + UNEVEN_NS < run->begin_ns) {
        to = put_trace_record(to, PROFILE_TRACE_GAP, run->begin_ns - tracer->end_ns);
        tracer->end_ns = run->begin_ns;
    }
    bool even = trace_run_is_even(run);
    tracer->end_ns += even ? run->count * run->period_ns : run->weight_ns;
    return even ? to : put_trace_record(to, PROFILE_TRACE_WEIGHT, run->weight_ns);
}

static uint32_t trace_table_place(const struct tracer *tracer, const struct tracer_run *run, uint32_t places)
{
    uint64_t pair = PROFILE_TRACE_PAIR(run->node, run->state);
    uint32_t place = 0;
    while (place < places && tracer->table[place] != pair)
        place++;
    return place;
}

static unsigned char *trace_put_run_samples(struct tracer *tracer, const struct tracer_run *run, unsigned char *to)
{
    uint64_t pair = PROFILE_TRACE_PAIR(run->node, run->state);
    uint32_t places = run->count > 1 ? PROFILE_TRACE_RUNS : PROFILE_TRACE_PLACES,
             place = trace_table_place(tracer, run, places);
    if (place < places) {
        *to++ = (unsigned char)((run->count > 1 ? PROFILE_TRACE_SEVERAL : PROFILE_TRACE_ONE) + place);
    } else {
        int64_t apart = (int64_t)run->node - (int64_t)tracer->last_node;
        *to++ = (unsigned char)((run->count > 1 ? PROFILE_TRACE_NEW_SEVERAL : PROFILE_TRACE_NEW) + run->state);
        to = trace_put_varint(to, (uint64_t)apart << 1 ^ (uint64_t)(apart >> 63));
        tracer->last_node = run->node;
        place = PROFILE_TRACE_PLACES - 1;
    }
    profile_trace_to_front(tracer->table, place, pair);
    return run->count > 1 ? trace_put_varint(to, run->count - 2) : to;
}

/* Returns the code of a record for two samples, one from each run; 0 if no such record is possible. */
static uint32_t trace_code_of_two(const struct tracer *tracer, const struct tracer_run *run,
                                  const struct tracer_run *next)
{
    if (run->count != 1 || next->count != 1 || run->period_ns != next->period_ns ||
        run->begin_ns + run->weight_ns != next->begin_ns || !trace_run_is_even(run) || !trace_run_is_even(next))
        return 0;
    uint32_t first = trace_table_place(tracer, run, PROFILE_TRACE_FIRST + 1),
             second = trace_table_place(tracer, next, PROFILE_TRACE_SECOND + 1);
    if (first == 0 || first > PROFILE_TRACE_FIRST || first == second)
        return 0;
    /* moving the first sample's entry to the front shifts the second sample's entry back by one */
    second += second < first;
    return second > PROFILE_TRACE_SECOND ? 0 : PROFILE_TRACE_TWO + PROFILE_TRACE_SECOND * (first - 1) + second - 1;
}

static unsigned char *trace_put_two_runs(struct tracer *tracer, const struct tracer_run *run,
                                         const struct tracer_run *next, uint32_t code, unsigned char *to)
{
    const struct tracer_run *runs[] = {run, next};
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t pair = PROFILE_TRACE_PAIR(runs[i]->node, runs[i]->state);
        profile_trace_to_front(tracer->table, trace_table_place(tracer, runs[i], PROFILE_TRACE_PLACES - 1), pair);
    }
    tracer->end_ns += next->period_ns; /* trace_put_run_time() has already added the first sample's period */
    *to++ = (unsigned char)code;
    return to;
}

/* Writes a run, and also `next` (unless NULL) if one byte is enough for both runs. Returns the number of runs
 * written. */
static uint32_t write_trace_run(struct tracer *tracer, struct tree *tree, const struct tracer_run *run,
                                const struct tracer_run *next)
{
    if ((!tracer->chunk || tracer->chunk->used + PROFILE_TRACE_LONGEST > CHUNK_ROOM) &&
        !begin_trace_chunk(tracer, tree)) {
        trace_count_thinned_samples(run->count);
        return 1;
    }
    struct profile_trace_chunk *chunk = tracer->chunk;
    uint32_t code = next ? trace_code_of_two(tracer, run, next) : 0;
    unsigned char *begin = (unsigned char *)(chunk + 1), *to = trace_put_run_time(tracer, run, begin + chunk->used);
    to = code ? trace_put_two_runs(tracer, run, next, code, to) : trace_put_run_samples(tracer, run, to);
    chunk->samples += (uint32_t)run->count + (code != 0);
    store_release(&chunk->used, (uint32_t)(to - begin)); /* readers of the file see only complete records */
    return code ? 2 : 1;
}

static bool trace_node_is_later(uint32_t node)
{
    return node >= (uint32_t)-(int)TRACER_LATER;
}

/* Returns a node that the trace can name in place of a node that is not yet known; 0 if there is no memory. */
static uint32_t trace_stand_in(struct tracer *tracer, struct tree *tree, uint32_t later)
{
    uint32_t *node_idx = &tracer->later[UINT32_MAX - later];
    if (!*node_idx) {
        *node_idx = tree_placeholder(tree, 0);
        if (*node_idx)
            store_release(&tree_node(*node_idx)->kind, (uint8_t)PROFILE_NODE_MOVED);
    }
    return *node_idx;
}

static struct tracer_run *trace_run_at(struct tracer *tracer, uint32_t number)
{
    return &tracer->ring[(tracer->first + number) % TRACER_RING];
}

static void trace_settle_run_node(struct tracer *tracer, struct tree *tree, struct tracer_run *run)
{
    if (trace_node_is_later(run->node))
        run->node = trace_stand_in(tracer, tree, run->node);
    if (run->node)
        tree_node(run->node)->marks |= TREE_MARK_WRITTEN;
}

/* Writes the first run in the ring, and also the second if one byte is enough for both. The second run is not
 * written if it is the last one in the ring, because it may still grow. */
static void trace_write_first_run(struct tracer *tracer, struct tree *tree)
{
    struct tracer_run *run = trace_run_at(tracer, 0), *next = tracer->count > 2 ? trace_run_at(tracer, 1) : NULL;
    uint32_t written = 1;
    trace_settle_run_node(tracer, tree, run);
    if (next && trace_node_is_later(next->node))
        next = NULL;
    if (likely(run->count))
        written = write_trace_run(tracer, tree, run, next);
    if (written > 1)
        trace_settle_run_node(tracer, tree, next);
    tracer->first += written;
    tracer->count -= written;
}

void tracer_begin(struct tracer *tracer, uint64_t begin_ns, uint64_t period_ns, uint64_t slack_ns)
{
    tracer->period_ns = period_ns;
    if (tracer->cursor_ns + slack_ns < begin_ns || begin_ns + slack_ns < tracer->cursor_ns)
        tracer->cursor_ns = begin_ns;
}

/* Adds the samples to the last run if they continue that run without a gap. Returns false if they do not. */
static bool trace_add_to_last_run(struct tracer *tracer, const struct tracer_run *run)
{
    struct tracer_run *last = &tracer->ring[(tracer->first + tracer->count - 1) % TRACER_RING];
    if (!tracer->count || last->node != run->node || last->state != run->state || last->period_ns != run->period_ns ||
        last->begin_ns + last->weight_ns != run->begin_ns || !trace_run_is_even(last) || !trace_run_is_even(run))
        return false;
    last->count += run->count;
    last->weight_ns += run->weight_ns;
    return true;
}

void tracer_add(struct tracer *tracer, struct tree *tree, uint32_t node, enum profile_time_state state, uint64_t count,
                double ns)
{
    struct tracer_run run = {.begin_ns = tracer->cursor_ns,
                             .weight_ns = (uint64_t)(ns + 0.5),
                             .period_ns = tracer->period_ns,
                             .count = count,
                             .node = node,
                             .state = (uint8_t)state};
    tracer->cursor_ns += run.weight_ns;
    if (trace_add_to_last_run(tracer, &run))
        return;
    if (tracer->count == TRACER_RING)
        trace_write_first_run(tracer, tree);
    if (node && !trace_node_is_later(node))
        tree_node(node)->marks |= TREE_MARK_WAITS;
    tracer->ring[(tracer->first + tracer->count++) % TRACER_RING] = run;
}

void tracer_skip(struct tracer *tracer, double ns)
{
    tracer->cursor_ns += (uint64_t)(ns + 0.5);
}

static void trace_replace_run_node(struct tracer *tracer, uint32_t from, uint32_t into)
{
    for (uint32_t i = 0; i < tracer->count; i++) {
        struct tracer_run *run = &tracer->ring[(tracer->first + i) % TRACER_RING];
        if (run->node == from)
            run->node = into;
    }
    if (into && !trace_node_is_later(into))
        tree_node(into)->marks |= TREE_MARK_WAITS;
}

void tracer_tell(struct tracer *tracer, struct tree *tree, enum tracer_later later, uint32_t node)
{
    uint32_t *written = &tracer->later[UINT32_MAX - (uint32_t)later];
    if (*written && trace_node_is_later(node))
        node = trace_stand_in(tracer, tree, node);
    trace_replace_run_node(tracer, (uint32_t)later, node);
    if (!*written)
        return;
    if (node)
        tree_node(node)->marks |= TREE_MARK_WRITTEN;
    store_release(&tree_node(*written)->key, (uint64_t)node);
    *written = 0;
}

void tracer_lose(struct tracer *tracer)
{
    for (uint32_t i = 0; i < tracer->count; i++) {
        struct tracer_run *run = &tracer->ring[(tracer->first + i) % TRACER_RING];
        if (run->node == (uint32_t)TRACER_DISPATCH)
            run->node = 0, run->count = 0;
    }
}

void tracer_moved(struct tracer *tracer, uint32_t from, uint32_t into)
{
    if (tree_node(from)->marks & TREE_MARK_WAITS)
        trace_replace_run_node(tracer, from, into);
}

/* A run is normally written when two others follow it, because the last one may still grow, and the last but
 * one may share a byte with the run before. A run older than TRACER_WAIT_NS is written in any case, because a
 * killed process leaves only what has been written. */
void tracer_write(struct tracer *tracer, struct tree *tree, uint64_t now_ns, bool settled)
{
    for (uint32_t written = 0; tracer->count && written < RUNS_AT_ONCE; written++) {
        const struct tracer_run *run = &tracer->ring[tracer->first % TRACER_RING];
        bool ready = settled && tracer->count > 2 && !trace_node_is_later(run->node);
        if (!ready && run->begin_ns + TRACER_WAIT_NS > now_ns)
            return;
        trace_write_first_run(tracer, tree);
    }
}

void tracer_flush(struct tracer *tracer, struct tree *tree)
{
    while (tracer->count)
        trace_write_first_run(tracer, tree);
}
