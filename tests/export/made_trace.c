#include "tests/export/made_trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "command/export/trace_stacks.h"
#include "command/text/memory.h"

#define SPANS 60

static void make_span(struct trace_lane *lane, const struct rows *rows, unsigned *seed, uint64_t *now_ns)
{
    struct trace_span *span = &lane->spans[lane->span_count++];
    span->state = (uint8_t)(rand_r(seed) % 3 ? rand_r(seed) % 3 : rand_r(seed) % PROFILE_TIME_STATES);
    span->samples = 1 + (unsigned)rand_r(seed) % (rand_r(seed) % 9 ? 4 : 400);
    span->node = (uint32_t)rand_r(seed) % (uint32_t)rows->node_count;
    if (span->state == PROFILE_TIME_IDLE || rows->node_context[span->node] == ROW_NONE)
        span->node = 0;
    *now_ns += rand_r(seed) % 5 ? 0 : 1000000;
    span->begin_ns = *now_ns;
    *now_ns += span->samples * 1000000 + (unsigned)rand_r(seed) % 1000;
    span->end_ns = *now_ns;
}

struct trace *made_trace(const struct rows *rows, unsigned seed)
{
    struct trace *trace = memory_array(1, sizeof *trace);
    trace->lanes = memory_array(MADE_LANES, sizeof *trace->lanes);
    for (uint32_t i = 0; i < MADE_LANES; i++) {
        struct trace_lane *lane = &trace->lanes[trace->lane_count++];
        uint64_t now_ns = rows->profile->header.start_ns + i * 7000000;
        *lane = (struct trace_lane){.tree = i + 1, .thread = i, .spans = memory_array(SPANS, sizeof *lane->spans)};
        for (int j = 0; j < SPANS; j++)
            make_span(lane, rows, &seed, &now_ns);
    }
    return trace;
}

void made_trace_put(FILE *out, const struct traced_process *processes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < processes[i].trace->lane_count; j++) {
            const struct trace_lane *lane = &processes[i].trace->lanes[j];
            for (size_t k = 0; k < lane->span_count; k++) {
                const struct trace_span *span = &lane->spans[k];
                fprintf(out, "%zu\t%zu\t%" PRIu64 "\t%" PRIu64 "\t%s\t%u\t%u\n", i, j, span->begin_ns, span->end_ns,
                        trace_state_name[span->state], span->samples, processes[i].rows->node_context[span->node]);
            }
        }
}
