#include "blame/contended.h"

#include <string.h>

uint8_t contended_seen[CONTENDED_SLOTS] __attribute__((aligned(64)));

/* for each slot: number of entries with blame in the tables of directed.c */
static uint32_t blamed[CONTENDED_SLOTS];

uint32_t contended_posix_waits;

static uint32_t nobody_reads;
static uint32_t *posix = &nobody_reads; /* contended_count_posix() */

static struct {
    uint64_t age_ends_ns;
    uint8_t age; /* number of the current age: 1 to 255 */
    uint8_t any; /* 1 if some byte of contended_seen may be set */
} table = {.age = 1};

/* Sets `any` and updates the lines that say STATE_STAMPS_NONE. Pairs with contended_choose(): a thread that
 * has not seen `any` has stored STATE_STAMPS_NONE before this scan. */
static void contended_raise_any(void)
{
    struct state_line *line;
    if (load_seq_cst(&table.any) /* after the byte is stored, pairs with contended_forget() */ ||
        exchange_seq_cst(&table.any, 1))
        return;
    for (uint32_t number = 0; (line = state_line_at(number)); number++) {
        uint16_t none = STATE_STAMPS_NONE;
        compare_exchange(&line->stamps, &none, STATE_STAMPS_SEEN);
    }
}

void contended_note(uint64_t key)
{
    if (contended_is_posix(key))
        return;
    uint8_t *slot = &contended_seen[contended_slot(key)], age = load_relaxed(&table.age);
    if (load_relaxed(slot) != age) /* stores only if needed, because all cores read the byte */
        store_seq_cst(slot, age);
    contended_raise_any();
}

/* Empties the slot if it is old and has no blame. Returns false if it is empty afterwards. If a sample leaves
 * blame at the same time, one of three things happens: the count is seen here, the exchange fails, or the
 * slot is written again after the exchange (B2). */
static bool contended_keep_slot(uint32_t slot, uint8_t before, uint8_t now)
{
    uint8_t seen = load_seq_cst(&contended_seen[slot]);
    if (seen && seen != before && seen != now && load_seq_cst(&blamed[slot]) == 0)
        return !compare_exchange(&contended_seen[slot], &seen, 0);
    return seen != 0;
}

static bool contended_keep_slots(uint8_t before, uint8_t now)
{
    bool kept = false;
    for (uint32_t slot = 0; slot < CONTENDED_SLOTS; slot++)
        kept |= contended_keep_slot(slot, before, now);
    return kept;
}

void contended_forget(uint64_t now_ns)
{
    uint64_t ends_ns = load_relaxed(&table.age_ends_ns);
    if (likely(now_ns < ends_ns) || !compare_exchange(&table.age_ends_ns, &ends_ns, now_ns + CONTENDED_AGE_NS))
        return;
    uint8_t before = load_relaxed(&table.age), now = (uint8_t)(before % 255 + 1);
    store_relaxed(&table.age, now);
    if (!load_relaxed(&table.any) || contended_keep_slots(before, now))
        return;
    store_seq_cst(&table.any, 0);
    if (contended_keep_slots(before, now)) /* a slot was noted in the meantime, while `any` was still 1 */
        contended_raise_any();
}

void contended_choose(struct state_line *line, struct contended_pace *pace, uint64_t now_ns)
{
    uint32_t acquisitions = line->acquisitions, taken = acquisitions - pace->acquisitions;
    uint64_t passed_ns = now_ns - pace->since_ns;
    if (unlikely(passed_ns < CONTENDED_PACE_NS))
        return;
    *pace = (struct contended_pace){now_ns, acquisitions};
    if (likely(taken * (uint64_t)CONTENDED_RARE_NS <= passed_ns)) {
        store_relaxed(&line->stamps, STATE_STAMPS_ALL);
        return;
    }
    if (line->stamps != STATE_STAMPS_NONE)
        state_forget_stamps(line);
    store_seq_cst(&line->stamps, STATE_STAMPS_NONE); /* pairs with contended_raise_any() */
    if (load_seq_cst(&table.any))
        store_relaxed(&line->stamps, STATE_STAMPS_SEEN);
}

/* Returns the slot for contended_has_blame(), which is also asked without the bit of the kind that is
 * DIRECTED_NO_CORE. */
static uint32_t contended_blamed_slot(uint64_t key)
{
    return contended_slot(key & ~(8ull << 56));
}

void contended_blame_left(uint64_t key)
{
    fetch_add_acq_rel(&blamed[contended_blamed_slot(key)], 1);
    if (contended_is_posix(key))
        fetch_add_acq_rel(posix, 1);
    contended_note(key);
}

void contended_blame_taken(uint64_t key)
{
    fetch_add_acq_rel(&blamed[contended_blamed_slot(key)], (uint32_t)-1);
    if (contended_is_posix(key))
        fetch_add_acq_rel(posix, (uint32_t)-1);
}

void contended_count_posix(uint32_t *word)
{
    posix = word;
}

bool contended_has_blame(uint64_t key)
{
    return load_relaxed(&blamed[contended_blamed_slot(key)]) != 0;
}

void contended_reset(void)
{
    memset(contended_seen, 0, sizeof(contended_seen));
    memset(blamed, 0, sizeof(blamed));
    store_relaxed(posix, 0);
    table.any = 0;
}
