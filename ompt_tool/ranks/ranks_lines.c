#include "ompt_tool/ranks/ranks_lines.h"

#include "base/atomics.h"
#include "base/os.h"

/* Frees the line that this process had as another program, before exec(). */
static void ranks_lines_free_earlier(struct ranks_segment *segment, pid_t pid)
{
    for (uint32_t i = 0; i < RANKS_MAX; i++)
        if (RANKS_OWNER_PID(load_acquire(&segment->owner[i])) == pid)
            store_release(&segment->owner[i], 0);
}

uint32_t ranks_lines_claim(struct ranks_segment *segment, pid_t pid)
{
    ranks_lines_free_earlier(segment, pid);
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        uint64_t owner = load_acquire(&segment->owner[i]);
        if ((!owner || os_is_dead(RANKS_OWNER_PID(owner))) &&
            compare_exchange(&segment->owner[i], &owner, (uint64_t)pid))
            return i;
    }
    return RANKS_MAX;
}

void ranks_lines_give_back(struct ranks_segment *segment, uint32_t line)
{
    /* X2: a process that reopened the segment because it saw this line looks again */
    store_seq_cst(&segment->owner[line], 0);
}

bool ranks_lines_are_closed(const struct ranks_segment *segment)
{
    return load_seq_cst(&segment->closed); /* X2: loaded after the claim */
}

void ranks_lines_show(struct ranks_segment *segment, uint32_t line, pid_t pid)
{
    /* X2: the last process to leave must see when this process has left, not only that it claimed a line */
    store_seq_cst(&segment->owner[line], (uint64_t)pid | RANKS_READY);
    uint32_t high = load_relaxed(&segment->high);
    while (high < line + 1 && !compare_exchange(&segment->high, &high, line + 1))
        ;
}

bool ranks_lines_have_all_come(struct ranks_segment *segment, uint32_t expected)
{
    if (1 + fetch_add_acq_rel(&segment->attached, 1) != expected)
        return false;
    store_seq_cst(&segment->closed, 2);
    return true;
}

static bool ranks_segment_is_empty(const struct ranks_segment *segment)
{
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        uint64_t owner = load_seq_cst(&segment->owner[i]);
        if (owner && !ranks_has_gone(segment, i) && !os_is_dead(RANKS_OWNER_PID(owner)))
            return false;
    }
    return true;
}

bool ranks_lines_leave(struct ranks_segment *segment)
{
    while (ranks_segment_is_empty(segment)) {
        uint32_t nobody = 0, mine = 1;
        /* X2: a process that joins now loads `closed` after it has claimed a line */
        if (!compare_exchange(&segment->closed, &nobody, mine))
            return false;
        if (ranks_segment_is_empty(segment)) /* X2: the claim of such a process would be seen here */
            return true;
        /* a process that left meanwhile has seen this one, and has therefore not removed the name */
        compare_exchange(&segment->closed, &mine, 0);
    }
    return false;
}
