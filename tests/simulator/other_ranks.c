#include "tests/simulator/other_ranks.h"

#include <stdlib.h>

#include "base/mpi_calls.h"
#include "base/os.h"
#include "blame/ranks.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/queue.h"
#include "tests/simulator/oracle.h"

static struct ranks_segment *segment;
static uint64_t chance[RANKS_MAX]; /* of each for itself: which of two that turn at once comes first is no matter */

/* RANKS_PEER of another rank, or 0. */
static uint32_t other_than(uint32_t number)
{
    uint32_t peer = (uint32_t)random_below(&chance[number], machine.scenario->ranks + 2);
    return peer == number + 1 ? 0 : peer;
}

static void begin(uint32_t number, bool waits)
{
    const struct scenario *scenario = machine.scenario;
    struct ranks_line *line = &segment->line[number];
    uint32_t peer = waits && scenario->rank_names ? other_than(number) : 0;
    if (waits)
        ranks_line_begin(line, machine.now_ns, RANKS_CALL(MPI_CALL_Barrier, 0), peer);
    else if (line->waiting)
        ranks_line_end(line, machine.now_ns);
    oracle_rank(number, waits, peer);
    queue_post(EVENT_RANK, NULL,
               machine.now_ns + random_duration(&chance[number], waits ? &scenario->rank_wait : &scenario->rank_busy),
               number);
}

void other_ranks_init(void)
{
    if (!machine.scenario->ranks)
        return;
    segment = os_map(RANKS_BYTES);
    if (!segment)
        abort();
    segment->high = 1 + machine.scenario->ranks;
    for (uint32_t i = 0; i < segment->high; i++) {
        segment->line[i].rank = i;
        chance[i] = random_next(&machine.chance);
    }
    for (uint32_t i = 0; i < segment->high; i++)
        segment->owner[i] = RANKS_READY;
    ranks_use(segment, 0, 0, 0);
    for (uint32_t i = 1; i < segment->high; i++)
        begin(i, i % 2);
}

void other_ranks_turn(uint32_t number)
{
    begin(number, !segment->line[number].waiting);
}
