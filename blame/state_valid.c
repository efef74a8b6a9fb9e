#include "blame/state_valid.h"

#include "cct/profile_tree.h"

/* Returns true if the time is not later than the other one. */
static bool is_by(uint64_t ticks, uint64_t end_ticks)
{
    return (int64_t)(end_ticks - ticks) >= 0;
}

static bool is_place_valid(uint64_t place)
{
    return STATE_PLACE_KIND(place) < PROFILE_PLACE_KINDS;
}

static bool is_instance_known(const struct region *region, uint32_t instance)
{
    return !region || ((load_relaxed(&region->instance) - instance) & REGION_INSTANCE_MASK) <= REGION_INSTANCE_MASK / 2;
}

static bool are_held_locks_valid(const struct state_line *line, uint64_t now_ticks)
{
    uint32_t more = 0;
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++) {
        if (!is_by(line->held_since[i], now_ticks))
            return false;
        more += i > 0 && line->held[i] != 0;
    }
    return line->holds_more >= more;
}

static bool are_releases_valid(const struct state_line *line)
{
    uint32_t count = line->releases < STATE_RELEASES ? line->releases : STATE_RELEASES;
    uint64_t end_ticks = line->noted_last;
    for (uint32_t back = 1; back <= count; back++) {
        const struct state_release *release = &line->released[(line->releases - back) % STATE_RELEASES];
        if (!release->key || !is_by(release->ticks, end_ticks) || !is_by(release->since, release->ticks))
            return false;
        end_ticks = release->ticks;
    }
    return true;
}

static bool are_waits_valid(const struct state_line *line)
{
    uint32_t count = line->waits_noted < STATE_WAITS ? line->waits_noted : STATE_WAITS;
    uint64_t end_ticks = line->noted_last;
    for (uint32_t back = 1; back <= count; back++) {
        const struct state_wait *wait = &line->waits[(line->waits_noted - back) % STATE_WAITS];
        if (!is_by(wait->until, end_ticks) || !is_by(wait->since, wait->until) || !is_place_valid(wait->place) ||
            !is_instance_known(wait->region, wait->region_instance))
            return false;
        end_ticks = wait->until;
    }
    return true;
}

static bool are_sleeps_valid(const struct state_line *line)
{
    uint32_t count = line->sleeps_noted < STATE_SLEEPS ? line->sleeps_noted : STATE_SLEEPS;
    uint64_t end_ticks = line->state == STATE_ASLEEP ? line->asleep_since : line->noted_last;
    for (uint32_t back = 1; back <= count; back++) {
        const struct state_sleep *sleep = &line->sleeps[(line->sleeps_noted - back) % STATE_SLEEPS];
        if (!is_by(sleep->until, end_ticks) || !is_by(sleep->since, sleep->until))
            return false;
        end_ticks = sleep->since;
    }
    return true;
}

bool state_is_valid(const struct state_line *line, uint64_t now_ticks)
{
    bool is_idle = line->state == STATE_IDLE;
    return line->state <= STATE_OUTSIDE && line->stamps <= STATE_STAMPS_NONE && is_place_valid(line->place) &&
           (!is_idle || state_is_hidden(line) || is_by(line->idle_since, now_ticks)) &&
           (!is_idle || is_instance_known(line->region, line->region_instance)) && is_by(line->wait_since, now_ticks) &&
           is_by(line->noted_last, now_ticks) && are_held_locks_valid(line, now_ticks) && are_releases_valid(line) &&
           are_waits_valid(line) && are_sleeps_valid(line);
}
