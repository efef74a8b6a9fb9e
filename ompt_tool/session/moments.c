/* This file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/session/moments.h"

#include "base/atomics.h"
#include "cct/timeline/moment.h"

/* Binary logarithm of the number of parts of a period, which exceeds every thread's number. 0: only one
 * thread so far. */
static uint32_t part_bits;

static uint64_t moments_draw(const struct moments *moments, uint64_t begin_ns)
{
    return moment_place(begin_ns, moments->salt, moments->thread, load_relaxed(&part_bits));
}

static uint64_t moments_of_period(const struct moments *moments, uint64_t begin_ns)
{
    return moment_at(begin_ns, moments->period_ns, moments_draw(moments, begin_ns));
}

void moments_reset(void)
{
    store_relaxed(&part_bits, 0);
}

static void moments_note_thread(uint32_t thread)
{
    uint32_t known = load_relaxed(&part_bits), bits = moment_bits(thread);
    while (bits > known && !compare_exchange(&part_bits, &known, bits))
        ;
}

void moments_start(struct moments *moments, uint64_t begin_ns, uint64_t period_ns, uint64_t start_ns, uint64_t seed,
                   uint32_t thread)
{
    moments_note_thread(thread);
    moments->period_ns = period_ns;
    moments->missed_ns = (begin_ns - start_ns) % period_ns;
    moments->begin_ns = begin_ns - moments->missed_ns;
    moments->salt = moment_salt(seed, start_ns);
    moments->thread = thread;
    /* A thread's first period is shorter than the others, so the drawn moment is scaled to its length. */
    moments->next_ns = moment_at(begin_ns, period_ns - moments->missed_ns, moments_draw(moments, moments->begin_ns));
    moments->second_ns = 0;
}

int64_t moments_renew(struct moments *moments, uint64_t now_ns)
{
    int64_t ahead_ns = (int64_t)(moments->begin_ns + moments->missed_ns - now_ns);
    uint64_t period_ns = moments->period_ns, place = moment_place(now_ns, moments->salt, moments->thread, 0);
    moments->missed_ns = (now_ns - moments->begin_ns % period_ns) % period_ns;
    moments->begin_ns = now_ns - moments->missed_ns;
    moments->next_ns = moment_at(now_ns, period_ns - moments->missed_ns, place);
    moments->second_ns = 0;
    return ahead_ns;
}

uint64_t moments_second(struct moments *moments)
{
    if (!moments->second_ns)
        moments->second_ns = moments_of_period(moments, moments->begin_ns + moments->period_ns);
    return moments->second_ns;
}

static void moments_go_to(struct moments *moments, uint64_t begin_ns, uint64_t moment_ns)
{
    moments->begin_ns = begin_ns;
    moments->next_ns = moment_ns;
    moments->second_ns = 0;
}

/* Skips to the first period whose moment is after now_ns. *last_ns becomes the latest moment that is not
 * after now_ns. */
static void moments_skip_to(struct moments *moments, uint64_t now_ns, uint64_t *last_ns)
{
    uint64_t period_ns = moments->period_ns, begin_ns = now_ns - (now_ns - moments->begin_ns) % period_ns;
    moments_go_to(moments, begin_ns, moments_of_period(moments, begin_ns));
    if (moments->next_ns > now_ns) {
        *last_ns = moments_of_period(moments, begin_ns - period_ns);
        return;
    }
    *last_ns = moments->next_ns;
    moments_go_to(moments, begin_ns + period_ns, moments_second(moments));
}

uint64_t moments_pass(struct moments *moments, uint64_t now_ns, uint64_t *last_ns, uint64_t *weight_ns)
{
    uint64_t first_ns = moments->begin_ns, missed_ns = moments->missed_ns, period_ns = moments->period_ns;
    *last_ns = moments->next_ns;
    moments_go_to(moments, first_ns + period_ns, moments_second(moments));
    moments->missed_ns = 0;
    *weight_ns = period_ns - missed_ns;
    if (likely(moments->next_ns > now_ns))
        return 1;
    moments_skip_to(moments, now_ns, last_ns);
    *weight_ns = moments->begin_ns - first_ns - missed_ns;
    return (moments->begin_ns - first_ns) / period_ns;
}

uint64_t moments_within(const struct moments *moments, uint64_t due_ns, uint64_t ns)
{
    uint64_t period_ns = moments->period_ns, begun_ns = moments->begin_ns % period_ns;
    uint64_t first = (due_ns - begun_ns) / period_ns, last = (due_ns + ns - begun_ns) / period_ns;
    return last == first ? 1 : last - first + (moments_of_period(moments, begun_ns + last * period_ns) < due_ns + ns);
}
