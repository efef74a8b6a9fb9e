#include "ompt_tool/sampling/shared_timer.h"

#include "base/atomics.h"
#include "base/os.h"

#define SET     1u /* flag: a timer exists */
#define CLAIMED 2u
#define BITS    2 /* number of flag bits below the timer's number */

static timer_t shared_timer_of_word(uint64_t word)
{
    return (timer_t)(uintptr_t)(word >> BITS);
}

uint64_t shared_timer_word(timer_t timer)
{
    return (uint64_t)(uintptr_t)timer << BITS | SET;
}

void shared_timer_delete(uint64_t word)
{
    if (word && !(word & CLAIMED))
        os_timer_stop(shared_timer_of_word(word));
}

/* A claimed timer is not deleted, so its number is not reused. The second exchange therefore succeeds only if
 * *word still stands for the same timer. */
void shared_timer_disarm(uint64_t *word, bool cpu_clock)
{
    uint64_t set = load_seq_cst(word), claimed = set | CLAIMED;
    if (!set || set & CLAIMED || !compare_exchange(word, &set, claimed))
        return;
    os_timer_set(shared_timer_of_word(claimed), cpu_clock, 0, 0);
    if (!compare_exchange(word, &claimed, set))
        os_timer_stop(shared_timer_of_word(set));
}
