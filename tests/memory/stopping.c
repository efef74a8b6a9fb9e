/* The end of the measurement, while threads are in callbacks: T2. The unit itself is part of this one: what waits is not public. */
#include "ompt_tool/life/finish.c"

#include "tests/memory/scenarios.h"

static struct thread workers[2];
static uint64_t trees[2]; /* what callbacks change and finish reads */

static GHOST struct {
    uint64_t changes[2];
    bool inside[2], over[2];
} ghost;

/* Of the second thread it is the handler that comes in: inside.handler, as sampler_record_delivery() in sampler.c has it. */
static bool enter(unsigned number)
{
    if (number == 0)
        return thread_enter_tool(&workers[0]);
    store_seq_cst(&workers[1].inside.handler, 1);
    if (!load_seq_cst(&session.stopping))
        return true;
    store_release(&workers[1].inside.handler, 0);
    return false;
}

static void leave(unsigned number)
{
    if (number == 0)
        thread_leave_tool(&workers[0]);
    else
        store_release(&workers[1].inside.handler, 0);
}

static void call_back(unsigned number)
{
    for (unsigned i = 0; i < 6; i++) {
        if (enter(number)) {
            model_check(!ghost.over[number], "a callback works on what finish has found quiet");
            ghost.inside[number] = true;
            trees[number]++;
            ghost.changes[number]++;
            if (model_random(3) == 0)
                model_pause();
            model_check(!ghost.over[number], "finish does not wait for a callback");
            ghost.inside[number] = false;
            leave(number);
        }
        if (model_random(2))
            model_pause();
    }
}

static void first(void)
{
    call_back(0);
}

static void second(void)
{
    call_back(1);
}

static void stop(void)
{
    uint32_t expected = 0;
    for (uint64_t steps = model_random(80); steps > 0; steps -= steps < 10 ? steps : 10)
        model_pause();
    compare_exchange(&session.stopping, &expected, 1); /* as finish_measuring() does */
    for (unsigned number = 0; number < 2; number++) {
        if (!finish_thread_is_quiet(&workers[number], UINT64_MAX))
            continue;
        model_check(!ghost.inside[number], "a callback is under way in a thread that is quiet");
        ghost.over[number] = true;
        uint64_t seen = trees[number];
        model_check(seen == ghost.changes[number], "finish has %llu of %llu changes", (unsigned long long)seen,
                    (unsigned long long)ghost.changes[number]);
    }
}

static void begin(void)
{
    session.stopping = 0;
}

const struct scenario scenario_stopping = {"stopping", "T2", begin, {first, second, stop}, NULL, 3000};
