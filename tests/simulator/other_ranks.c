#include "tests/simulator/other_ranks.h"

#include <stdlib.h>

#include "base/mpi_calls.h"
#include "base/os.h"
#include "blame/ranks.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/queue.h"
#include "tests/simulator/oracle.h"

static struct ranks_segment *segment;
static uint64_t chance;
static uint32_t waiting;

static void begin(uint32_t number, bool waits)
{
    const struct scenario *scenario = machine.scenario;
    struct ranks_line *line = &segment->line[number];
    if (waits) {
        ranks_line_begin(line, machine.now_ns, RANKS_CALL(MPI_CALL_Barrier, 0));
    } else if (line->waiting) {
        ranks_line_end(line, machine.now_ns);
        waiting--;
    }
    waiting += waits;
    oracle_ranks(waiting);
    queue_post(EVENT_RANK, NULL,
               machine.now_ns + random_duration(&chance, waits ? &scenario->rank_wait : &scenario->rank_busy),
               number);
}

void other_ranks_init(void)
{
    if (!machine.scenario->ranks)
        return;
    segment = os_map(RANKS_BYTES);
    if (!segment)
        abort();
    chance = random_next(&machine.chance);
    segment->high = 1 + machine.scenario->ranks;
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
