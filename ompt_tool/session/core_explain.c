/* The rules of this house: as in sampler.c. System calls: restart.c's, which look at the call that was interrupted. */
#include "ompt_tool/session/core_explain.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "ompt_tool/restart/restart.h"

/* So many samples more than there can be seem to have got their core just then, of late: it is not so. */
#define DOUBT_LIMIT  8.0
#define DOUBT_KEPT   0.97
#define DOUBT_MARGIN 2.0 /* so many, for each that may be */

/* So many moments more than the kernel counts had no core, of late, and more than so many times what chance makes of it. */
#define NONE_LIMIT 2.0
#define NONE_KEPT  0.999
#define BY_CHANCE  2.0

#define OFTEN        3      /* turns since the last sample: more than the sample's own wake-up */
#define SAMPLES      8      /* of which that is the mean: single ones have more turns, and are asleep more often, where the last was long ago */
#define LONG_WORK_NS 100000 /* between two of them: some microseconds hardly matter */
#define MOST_ASLEEP  8.0    /* moments that chance is behind or ahead, at most: no later phase has them */
#define MOST_OWED    2.0    /* behind, of work, */
#define MOST_FOUND   64.0   /* and ahead: what was found is certain */

static double kept_between(double least, double owed, double most)
{
    return owed > most ? most : owed < least ? least : owed;
}

/* At which moments it had a core all the same. */
static void note_had(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    uint64_t got_ns = delivery->due_ns + away_ns;
    core->first = CORE_HAD;
    if (away_ns > core->gone_ns)
        core->first_moments = core_moments_within(core, delivery, away_ns - core->gone_ns);
    if (delivery->census_ns >= got_ns)
        core->had_last = delivery->count - core_moments_within(core, delivery, away_ns);
    if (core->had_last > delivery->count - core->first_moments)
        core->had_last = delivery->count - core->first_moments;
}

/* When the sleep ends, or ended, that it is in or comes out of, if a signal ended that at the moment; 0: that is not known. After one turn it may
 * be the one that the last sample found it in: of that the end is known, or nothing. */
static uint64_t end_of_sleep(const struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t begin_ns = core->turns == 1 ? delivery->due_ns - core->slept_ns : 0;
    bool is_the_last = core->was_in_call && begin_ns && (!core->ends_ns || core->ends_ns > begin_ns);
    return restart_sleep_end_ns(context, is_the_last ? 0 : begin_ns, is_the_last ? core->ends_ns : 0, delivery->clocks.ns);
}

/* How long it would have slept on, if it slept, and while it waited for a core. Where nobody knows half of its time is likely, and the last of
 * its sleeps is cut there. */
static uint64_t rest_of_sleep(const struct core *core, const struct delivery *delivery)
{
    uint64_t half_ns = core->slept_ns / (2 * core->turns - 1), rest_ns = half_ns < core->limit_ns / 2 ? core->limit_ns / 2 : half_ns;
    uint64_t waited_ns = core->lost_ns < core->away_ns ? core->lost_ns : core->away_ns;
    if (core->ends_ns)
        rest_ns = core->ends_ns > delivery->due_ns ? core->ends_ns - delivery->due_ns : 0;
    return rest_ns < waited_ns ? rest_ns : waited_ns;
}

/* Else the counts are those of an earlier sample. */
static bool is_asked(const struct core *core, const struct delivery *delivery)
{
    return core->asked_ns >= delivery->clocks.ns;
}

/* As many of the present moments as have that time, on average. */
static double as_moments(const struct delivery *delivery, uint64_t ns)
{
    return (double)ns * (double)delivery->count / delivery->p;
}

/* For how long its code slept is owed as moments at which it is found asleep. What it slept of behind a wait nobody knows: there it is as much
 * of these moments as of the time without a core. */
static void owe_sleep(struct core *core, const struct delivery *delivery)
{
    if (core->stayed && core->slept)
        core->owed += as_moments(delivery, core->slept_ns);
    else if (core->is_owed && core->off_core_ns)
        core->owed += (double)core->slept_ns / (double)core->off_core_ns * (double)delivery->count;
}

/* If its signal ended that, it would have slept on. */
static void note_asleep(struct core *core, const struct delivery *delivery, uint64_t moments)
{
    if (core->stayed)
        core->owed += as_moments(delivery, core->woken_ns);
    if (core->is_owed)
        core->owed -= (double)moments;
}

/* Its code has slept since its last sample, and comes out of a call that may sleep, or waited for a page and may do so now. One turn
 * tells, whatever the call says: who has waited for longer than since the moment did not sleep then. */
static bool comes_out_of_call(struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    core->limit_ns = 0;
    if (!core->turns || !core->slept || !core->in_code || core->got_ns < delivery->due_ns)
        return false;
    if (!core->in_call)
        return core->faulted || restart_call_before(context) >= RESTART_CALL_WAIT;
    core->limit_ns = restart_sleep_limit_ns(context);
    return core->limit_ns < UINT64_MAX || (core->turns == 1 && core->lost_ns > core->away_ns + STATE_GRACE_NS);
}

/* By chance, and the same for each sample with that number. */
static bool is_drawn(uint64_t number, double part)
{
    return (double)(hash_number(number) >> 11) * 0x1p-53 < part;
}

/* What the program lost since the last sample. */
static double moments_lost(const struct core *core, const struct delivery *delivery)
{
    return as_moments(delivery, core->lost_ns - core->woken_ns);
}

static bool none_is_too_often(const struct core *core, const struct delivery *delivery)
{
    double beyond = 1 - core->owed_none - moments_lost(core, delivery);
    return beyond > NONE_LIMIT && beyond * beyond > BY_CHANCE * BY_CHANCE * core->none_spread;
}

/* It does, and has waited for cores more than once: whether it slept still at the moment chance decides, by how many such moments are not
 * found yet; but if nobody has taken its core it did. */
static bool slept_at(const struct core *core, const struct delivery *delivery)
{
    return core->turns > 1 && (is_drawn(delivery->due_ns, core->owed) || none_is_too_often(core, delivery));
}

/* At its first moments, for so long; then it was ready to run. */
static enum core_state sleep_until(struct core *core, const struct delivery *delivery, uint64_t ns)
{
    uint64_t moments = core_moments_within(core, delivery, ns);
    note_asleep(core, delivery, moments);
    if (moments >= delivery->count)
        return CORE_ASLEEP;
    core->first = CORE_ASLEEP;
    core->first_moments = moments;
    return CORE_NONE;
}

/* It slept, its signal woke it, and when it got a core the sleep was, or may have been, over: at later moments it was ready to run. */
static enum core_state slept_at_first(struct core *core, const struct delivery *delivery)
{
    core->woken_ns = rest_of_sleep(core, delivery);
    return sleep_until(core, delivery, core->woken_ns + 1);
}

/* It slept at the first of its moments: until it got its core; or until its signal, or what it slept for, woke it, and then it waited for
 * one. */
static enum core_state explain_sleep(struct core *core, const struct delivery *delivery, bool out_of_call)
{
    core->woken_ns = core->lost_ns < core->away_ns ? core->lost_ns : core->away_ns;
    if (out_of_call && core->lost_ns + STATE_LATE_NS > core->away_ns)
        return slept_at_first(core, delivery);
    if (core->in_call || !core->in_code || core->away_ns - core->lost_ns >= STOPPED_NS) {
        note_asleep(core, delivery, delivery->count);
        return CORE_ASLEEP;
    }
    core->woken_ns = 0; /* no signal ended that sleep */
    return sleep_until(core, delivery, core->away_ns - core->lost_ns);
}

/* A tick, or a reading of the program's own of its CPU time, while the signal was on its way looks like a core that was got then: only who
 * really has lost one for so long is asked so closely, and not who would have got one so far more often than its turns make possible, and than after
 * twice that wait; nor who would have had none for much longer than the kernel counts: it loses its core often, and gets it back at once. */
static bool got_core_just_now(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    bool seems = away_ns && away_ns < STATE_LATE_NS && core->lost_ns >= away_ns && (core->preempted || !core->in_code);
    double passed_ns = (double)(delivery->clocks.ns - core->counted_ns) + 1, possible = (double)core->turns * STATE_LATE_NS / passed_ns;
    if (away_ns < STATE_LATE_NS)
        core->doubt = DOUBT_KEPT * core->doubt + seems - DOUBT_MARGIN * possible;
    else if (away_ns < 2 * STATE_LATE_NS)
        core->doubt -= DOUBT_MARGIN;
    if (core->doubt < 0)
        core->doubt = 0;
    return seems && core->doubt < DOUBT_LIMIT && !none_is_too_often(core, delivery);
}

/* What the program lost since the last sample is owed as moments without a core, and what this one found is taken off. */
static void note_none(struct core *core, const struct delivery *delivery)
{
    double found = core->state == CORE_NONE ? (double)core_moments_in_state(core, delivery) : 0, lost = moments_lost(core, delivery);
    double passed = as_moments(delivery, delivery->clocks.ns - core->counted_ns), spread = lost < passed ? lost * (1 - lost / passed) : 0;
    core->owed_none = NONE_KEPT * core->owed_none + lost - found;
    core->none_spread = NONE_KEPT * NONE_KEPT * core->none_spread + (spread < 0.25 ? spread : 0.25);
}

/* Of code that leaves its core often the kernel counts for how long it had one: so much of its time, from the last sample's end to this one's
 * moment, is work, and it is owed what samples have not found of that. They find it asleep too often: who is in the kernel, on its way to
 * sleep, is asleep when the signal has come, and so is who went to sleep while that was on its way. Whether it is such code the samples
 * before say, as this one would by what it found. Not of code that has waited for others of its team meanwhile. */
static bool expect_work(struct core *core, const struct delivery *delivery)
{
    if (!is_asked(core, delivery))
        return false;
    bool leaves_often = core->mean_turns >= OFTEN && core->mean_on_ns < core->mean_turns * LONG_WORK_NS;
    bool is_counted = leaves_often && core->stayed && delivery->count == 1;
    core->mean_turns += ((double)core->turns - core->mean_turns) / SAMPLES;
    core->mean_on_ns += ((double)core->on_core_ns - core->mean_on_ns) / SAMPLES;
    if (!is_counted)
        return false;
    double samples_ns = (double)(core->handler_ns + core->since_due_ns), own_ns = (double)core->on_core_ns - samples_ns;
    if (own_ns > 0 && samples_ns < delivery->p / 2)
        core->owed_work += own_ns / (delivery->p - samples_ns);
    core->owed_work = kept_between(-MOST_FOUND, core->owed_work, MOST_OWED);
    return true;
}

static enum core_state note_work(struct core *core)
{
    core->owed_work -= 1;
    return CORE_HAD;
}

static enum core_state explain(struct core *core, const struct delivery *delivery, uint64_t away_ns, const ucontext_t *context)
{
    core->away_ns = away_ns;
    /* A poll that does not wait comes back interrupted, too. */
    core->in_call = (core->slept || core->switches.sleeps < 0) && restart_is_asleep(context);
    core->stayed = core->stayed && core->turns && is_asked(core, delivery);
    bool is_away = away_ns >= STATE_LATE_NS, out_of_call = comes_out_of_call(core, delivery, context);
    bool only_slept = out_of_call ? core->lost_ns <= away_ns + STATE_GRACE_NS
                                  : is_away && core->slept && core->lost_ns + (core->in_code ? STATE_LATE_NS : 0) <= away_ns;
    bool may_sleep = core->turns && core->in_code && (core->in_call || out_of_call);
    core->is_owed = core->stayed || may_sleep;
    core->ends_ns = may_sleep ? end_of_sleep(core, delivery, context) : 0;
    bool is_counted = expect_work(core, delivery);
    owe_sleep(core, delivery);
    if (is_counted && may_sleep && core->owed_work >= 1)
        return note_work(core);
    if ((core->in_call && !out_of_call) || only_slept || (out_of_call && slept_at(core, delivery)))
        return explain_sleep(core, delivery, out_of_call);
    if (!got_core_just_now(core, delivery, away_ns) && !is_away && !out_of_call)
        return is_counted ? note_work(core) : CORE_HAD;
    if (!out_of_call) /* which has executed nothing since */
        note_had(core, delivery, away_ns);
    return CORE_NONE;
}

enum core_state core_explain(struct core *core, const struct delivery *delivery, uint64_t away_ns, const ucontext_t *context)
{
    core->state = explain(core, delivery, away_ns, context);
    core->owed = kept_between(-MOST_ASLEEP, core->owed, MOST_ASLEEP);
    note_none(core, delivery);
    return core->state;
}
