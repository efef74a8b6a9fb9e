#include "blame/notes.h"

#include <string.h>

#define BLOCK 16u

/* The time at which each thread's next sample is due, in clock_ticks(); 0: none. After a sample, a thread's
 * handler stores its own entry and the first time of its block. */
static uint64_t due_ticks[(STATE_MAX_THREADS / BLOCK + 1) * BLOCK], block_due[STATE_MAX_THREADS / BLOCK + 1];

/* The earliest of these times, as the last sample of any thread saw it. Two handlers that overlap may miss
 * one entry until the next sample. */
static uint64_t next_due = STATE_FUTURE_TICKS;

static uint64_t notes_first_due(const uint64_t *due, uint32_t count, uint64_t from)
{
    uint64_t first = STATE_FUTURE_TICKS;
    for (const uint64_t *end = due + count; due < end; due++) {
        uint64_t ticks = load_relaxed(due);
        if (unlikely(ticks < first) && ticks > from)
            first = ticks;
    }
    return first;
}

void notes_due(struct state_line *line, const struct clock_reading *clocks, uint64_t due_ns)
{
    uint32_t number = state_line_number(line), block = number / BLOCK, lines = state_lines();
    uint32_t in_block = lines - block * BLOCK < BLOCK ? lines - block * BLOCK : BLOCK;
    line->grace_ticks = (uint32_t)(STATE_GRACE_NS / clocks->ns_per_tick);
    uint64_t overdue_ticks = (uint64_t)NOTES_OVERDUE * line->grace_ticks;
    uint64_t from = clocks->ticks > overdue_ticks ? clocks->ticks - overdue_ticks : 0;
    store_relaxed(&due_ticks[number], due_ns ? (uint64_t)clock_ns_ticks(clocks, due_ns) : 0);
    store_relaxed(&block_due[block], notes_first_due(&due_ticks[block * BLOCK], in_block, from));
    store_relaxed(&next_due, notes_first_due(block_due, (lines + BLOCK - 1) / BLOCK, from));
}

uint64_t notes_choose(const struct state_line *line, uint64_t now_ticks, uint64_t *look_ticks)
{
    uint64_t grace = line->grace_ticks, from = load_relaxed(&next_due) - NOTES_SOON * grace;
    bool is_due = now_ticks >= from;
    *look_ticks = is_due ? now_ticks + NOTES_LOOK * grace : from;
    return is_due ? 0 : grace;
}

void notes_reset(void)
{
    memset(due_ticks, 0, sizeof(due_ticks));
    memset(block_due, 0, sizeof(block_due));
    next_due = STATE_FUTURE_TICKS;
}
