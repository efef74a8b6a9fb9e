#include "cct/widen.h"

#include <string.h>

#include "base/atomics.h"

#define VALUES (sizeof(struct profile_time_value) / sizeof(float))

/* What both of lanes and dense bins begin with, at once. */
struct head {
    uint8_t form, shift;
    uint16_t merged;
};
typedef uint32_t __attribute__((may_alias)) head_bits;

static void set_head(void *record, struct head head)
{
    uint32_t bits;
    memcpy(&bits, &head, sizeof(bits));
    release_fence(); /* whoever reads the file, of a killed process or a living one, finds what the head says */
    store_relaxed((head_bits *)record, bits);
    release_fence();
}

/* The whole can be done again from what is left, at any point but one instruction at its begin. */
static inline __attribute__((always_inline)) void merge_neighbours(void *record, float *sums, uint32_t bins, uint32_t each)
{
    struct head head;
    memcpy(&head, record, sizeof(head));
    for (uint32_t i = 0; i < each; i++)
        sums[i] += sums[each + i];
    head.shift++;
    head.merged = 1;
    set_head(record, head);
    while (head.merged < bins / 2) {
        float *to = sums + head.merged * each, *from = sums + 2 * head.merged * each;
        for (uint32_t i = 0; i < each; i++)
            to[i] = from[i] + from[each + i];
        head.merged++;
        set_head(record, head);
    }
    memset(sums + bins / 2 * each, 0, bins / 2 * each * sizeof(*sums));
    head.merged = 0;
    set_head(record, head);
}

void widen_lane(struct profile_lane *lane, uint32_t shift)
{
    while (lane->shift < shift)
        merge_neighbours(lane, lane->ns[0], PROFILE_LANE_BINS, PROFILE_TIME_STATES);
}

void widen_bins(struct profile_bins *bins, uint32_t shift)
{
    while (bins->shift < shift)
        merge_neighbours(bins, &bins->bin[0].own, PROFILE_TIME_BINS, VALUES);
}

void widen_moments(struct profile_moments *few, uint32_t shift)
{
    uint32_t count = 0, by = shift > few->shift ? shift - few->shift : 0;
    for (uint32_t i = 0; by && i < few->count; i++) {
        uint32_t bin = few->moment[i].bin >> by, at = 0;
        struct profile_time_value value = few->moment[i].value;
        while (at < count && few->moment[at].bin != bin)
            at++;
        if (at == count) {
            few->moment[count].bin = bin;
            few->moment[count++].value = value;
            continue;
        }
        struct profile_time_value *to = &few->moment[at].value;
        *to = (struct profile_time_value){to->own + value.own, to->inverse_busy + value.inverse_busy,
                                          to->shared_idle + value.shared_idle, to->lock_wait + value.lock_wait};
    }
    if (by) {
        few->count = (uint8_t)count;
        few->shift = (uint8_t)shift;
    }
}
