/* Blame that waits for a lock's holder, and who need not look for it: B1, B2. */
#include "blame/contended.h"
#include "blame/directed.h"
#include "blame/state.h"
#include "tests/memory/scenarios.h"

#define KEY    PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x1000)
#define HOLDER 0u

static struct state_line *holder, *other;

static GHOST struct {
    double left, taken;
    uint64_t left_at; /* since when something has been waiting for certain; 0: perhaps nothing */
    unsigned adding, ended;
    uint64_t now_ns;
} ghost;

static void begin(void)
{
    holder = state_line_acquire();
    other = state_line_acquire();
    state_set_work(holder);
    state_set_work(other);
    ghost.now_ns = 10 * CONTENDED_AGE_NS;
    contended_forget(ghost.now_ns);
}

/* An age is longer than anything comes late. */
static void last(uint64_t steps)
{
    for (uint64_t from = model_now(); model_now() < from + steps;)
        model_pause();
}

static void leave_blame(void)
{
    for (unsigned i = 0; i < 4; i++) {
        double amount = 1.0 + (double)model_random(3);
        struct lock_blame blame = {amount, 16 * amount, 256 * amount};
        ghost.adding++;
        directed_add(KEY, HOLDER, &blame);
        ghost.left += amount;
        ghost.adding--;
        ghost.left_at = model_now();
        if (model_random(2))
            model_pause();
    }
    ghost.ended++;
}

/* The holder's handler chooses what it stamps; its releases look for blame unless the lock is not stamped. */
static void hold_and_release(void)
{
    struct contended_pace pace = {0, 0};
    while (ghost.ended < 2) {
        struct lock_blame blame;
        holder->acquisitions += 100000;
        contended_choose(holder, &pace, ghost.now_ns += 100 * CONTENDED_PACE_NS);
        for (unsigned i = 0; i < 3; i++) {
            uint64_t from = model_now(), left_at = ghost.left_at;
            bool all_told = ghost.adding == 0 && ghost.left > ghost.taken && left_at + model_staleness() < from;
            bool looks = contended_is_stamped(holder, KEY);
            model_check(looks || !all_told, "blame waits, and the holder need not look");
            if (looks && directed_waiting(KEY, HOLDER) && directed_take(KEY, HOLDER, &blame)) {
                model_check(blame.inverse_busy == 16 * blame.lock_wait && blame.shared_idle == 256 * blame.lock_wait,
                            "sums of different samples: %g %g %g", blame.lock_wait, blame.inverse_busy,
                            blame.shared_idle);
                ghost.taken += blame.lock_wait;
            }
            model_pause();
        }
    }
}

static void take_too(void)
{
    for (unsigned i = 0; i < 8; i++) {
        struct lock_blame blame;
        if (directed_waiting(KEY, HOLDER) && directed_take(KEY, HOLDER, &blame)) {
            model_check(blame.inverse_busy == 16 * blame.lock_wait && blame.shared_idle == 256 * blame.lock_wait,
                        "sums of different samples: %g %g %g", blame.lock_wait, blame.inverse_busy, blame.shared_idle);
            ghost.taken += blame.lock_wait;
        }
        model_pause();
    }
}

static void forget(void)
{
    struct contended_pace pace = {0, 0};
    for (unsigned i = 0; i < 4; i++) {
        contended_forget(ghost.now_ns += 2 * CONTENDED_AGE_NS);
        other->acquisitions += 100000000;
        contended_choose(other, &pace, ghost.now_ns);
        last(2 * model_staleness() + 20);
    }
}

/* B2, once nobody is at it; and B1. */
static void end(void)
{
    struct lock_blame blame, rest = {0, 0, 0};
    uint32_t cursor = 0, who;
    uint64_t key;
    bool waits = directed_waiting_for(KEY, HOLDER);
    model_check(!waits || contended_has_blame(KEY), "blame waits, and is not counted");
    model_check(!waits || contended_seen[contended_slot(KEY)], "blame waits, and the lock's byte is 0");
    model_check(!waits || (holder->stamps != STATE_STAMPS_NONE && other->stamps != STATE_STAMPS_NONE),
                "blame waits, and a line says that nobody need look");
    while (directed_take_rest(&cursor, &key, &who, &blame)) {
        model_check(key == KEY && who == HOLDER, "another's entry");
        rest.lock_wait += blame.lock_wait;
        rest.inverse_busy += blame.inverse_busy;
        rest.shared_idle += blame.shared_idle;
    }
    model_check(ghost.taken + rest.lock_wait == ghost.left, "%g was left, %g taken, %g is there", ghost.left,
                ghost.taken, rest.lock_wait);
    model_check(rest.inverse_busy == 16 * rest.lock_wait && rest.shared_idle == 256 * rest.lock_wait,
                "the rest is not of the same samples");
    model_check(!contended_has_blame(KEY), "nothing waits, and is counted");
}

const struct scenario scenario_blame = {
    "blame", "B1, B2", begin, {leave_blame, leave_blame, hold_and_release, forget, take_too}, end, 300};

/* ---- the three sums, taken by two while two add ---- */

static void add_often(void)
{
    for (unsigned i = 0; i < 3; i++)
        leave_blame();
}

static void take_often(void)
{
    for (unsigned i = 0; i < 3 && ghost.ended < 6; i++)
        take_too();
}

const struct scenario scenario_sums = {"sums", "B1", begin, {add_often, add_often, take_often, take_often}, end, 300};

/* ---- the lines are told, once: a table that was empty, and one who forgets at the same time ---- */

static void leave_once(void)
{
    struct lock_blame blame = {1, 16, 256};
    last(model_random(800)); /* while any of the ages begins */
    directed_add(KEY, HOLDER, &blame);
    ghost.left += 1;
}

static void choose_once(void)
{
    struct contended_pace pace = {0, 0};
    last(model_random(800));
    holder->acquisitions += 100000;
    contended_choose(holder, &pace, 100 * CONTENDED_PACE_NS);
}

static void begin_noted(void)
{
    begin();
    if (model_random(2))
        contended_note(KEY + 8); /* what is forgotten meanwhile is another lock */
    if (model_random(2))
        contended_note(KEY);
}

static void forget_all(void)
{
    for (unsigned i = 0; i < 3; i++) {
        last(2 * model_staleness() + 20);
        contended_forget(ghost.now_ns += 2 * CONTENDED_AGE_NS);
    }
}

const struct scenario scenario_untold = {"untold", "B2", begin_noted, {leave_once, choose_once, forget_all}, end, 100};
