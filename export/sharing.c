#include "export/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "export/trace_stacks.h"
#include "report/profile/pair_map.h"
#include "report/rows/own.h"
#include "report/text/memory.h"

enum side { SIDE_NEITHER, SIDE_BUSY, SIDE_IDLE };

/* A span begins or ends. */
struct event {
    uint64_t time_ns;
    uint32_t lane, culprit; /* of busy threads: among all of them; later: among the top ones, SHARING_MOST: the others */
    uint8_t side;
    bool begins;
};

struct sweep {
    struct sharing *sharing;
    struct event *events;
    size_t event_count;
    struct culprit *all;
    size_t all_count, all_room;
    struct at_begin {
        double per_busy, nobody, culprit[SHARING_MOST + 1];
    } *lane; /* the sums as they stood when the lane's open span began */
    size_t *share; /* by lane: of its next idle span */
    uint32_t busy[SHARING_MOST + 1], busy_count, idle_count;
    /* Integrals up to now: of each busy thread's share of all that idle; of the time of one idle thread that a culprit's threads share; of
     * that in which nobody was busy. */
    double per_busy, culprit[SHARING_MOST + 1], nobody;
};

static enum side side_of(const struct trace_span *span)
{
    if (span->end_ns <= span->begin_ns)
        return SIDE_NEITHER;
    if (span->state == PROFILE_TIME_IDLE)
        return SIDE_IDLE;
    return span->state == PROFILE_TIME_STOPPED ? SIDE_NEITHER : SIDE_BUSY;
}

static uint32_t find_culprit(struct sweep *sweep, struct pair_map *map, const struct rows *rows, const struct trace_span *span)
{
    const struct row_label *label = rows->row[rows_own(rows, row_of_node(rows, span->node))].label;
    bool waits = span->state == PROFILE_TIME_LOCK_WAIT || span->state == PROFILE_TIME_MPI_WAIT;
    uint32_t *slot = pair_map_slot(map, (uintptr_t)label, waits);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&sweep->all, &sweep->all_room, sweep->all_count, sizeof *sweep->all);
        sweep->all[sweep->all_count] = (struct culprit){label, waits, 0};
        *slot = (uint32_t)sweep->all_count++;
    }
    return *slot;
}

/* Ends come before begins: a lane's next span may begin where the last one ends. */
static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins - y->begins;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static void gather_events(struct sweep *sweep, const struct rows *rows, const struct trace_lane *lanes, size_t lane_count)
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
            enum side side = side_of(span);
            if (side == SIDE_NEITHER)
                continue;
            uint32_t culprit = side == SIDE_BUSY ? find_culprit(sweep, &map, rows, span) : 0;
            sweep->events[sweep->event_count++] = (struct event){span->begin_ns, i, culprit, side, true};
            sweep->events[sweep->event_count++] = (struct event){span->end_ns, i, culprit, side, false};
            sweep->sharing->share_count += side == SIDE_IDLE;
        }
    }
    pair_map_free(&map);
    qsort(sweep->events, sweep->event_count, sizeof *sweep->events, by_time);
}

/* How much all are blamed for; then events name the top ones by their rank. */
static void find_top(struct sweep *sweep)
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
            if (rank[i] == SHARING_MOST && sweep->all[i].ns > 0 && (largest == sweep->all_count || sweep->all[i].ns > sweep->all[largest].ns))
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

/* From the last event to this one nothing changed. */
static void add_levels(struct sweep *sweep, uint64_t begin_ns, uint64_t end_ns)
{
    struct sharing *sharing = sweep->sharing;
    double blamed = sweep->busy_count ? sweep->idle_count : 0;
    while (begin_ns < end_ns) {
        size_t window = (begin_ns - sharing->begin_ns) / sharing->window_ns;
        uint64_t border = sharing->begin_ns + (window + 1) * sharing->window_ns, end = border < end_ns ? border : end_ns;
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

static void advance(struct sweep *sweep, uint64_t from_ns, uint64_t to_ns)
{
    double since = (double)(to_ns - from_ns);
    if (sweep->busy_count == 0)
        sweep->nobody += since;
    for (size_t i = 0; sweep->busy_count && i <= SHARING_MOST; i++)
        sweep->culprit[i] += since * sweep->busy[i] / sweep->busy_count;
    add_levels(sweep, from_ns, to_ns);
}

static void share_idleness(struct sweep *sweep)
{
    struct sharing *sharing = sweep->sharing;
    uint64_t last = sharing->begin_ns;
    for (size_t i = 0; i < sweep->event_count; i++) {
        const struct event *event = &sweep->events[i];
        struct at_begin *begin = &sweep->lane[event->lane];
        advance(sweep, last, event->time_ns);
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

void sharing_find(struct sharing *sharing, const struct rows *rows, const struct trace_lane *lanes, size_t lane_count)
{
    struct sweep sweep = {.sharing = sharing,
                          .lane = memory_array(lane_count + 1, sizeof *sweep.lane),
                          .share = memory_array(lane_count + 1, sizeof *sweep.share)};
    *sharing = (struct sharing){.window_ns = 1};
    gather_events(&sweep, rows, lanes, lane_count);
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
    find_top(&sweep);
    share_idleness(&sweep);
    free(sweep.events);
    free(sweep.all);
    free(sweep.lane);
    free(sweep.share);
}

void sharing_add_share(const struct trace_span *span, const struct idle_share **share, struct idle_share *sum)
{
    if (side_of(span) != SIDE_IDLE)
        return;
    for (size_t i = 0; i < SHARING_MOST; i++)
        sum->culprit[i] += (*share)->culprit[i];
    sum->others += (*share)->others;
    sum->nobody += (*share)->nobody;
    ++*share;
}

void sharing_free(struct sharing *sharing)
{
    free(sharing->share);
    free(sharing->level);
}

char *culprit_name(const struct culprit *culprit)
{
    return memory_text("%s%s", culprit->label->name, culprit->waits ? " (waiting)" : "");
}
