/* Locks made with a hint: functions that libgomp 12 does not have. */
#include "contended.h"

static omp_lock_t lock;
static omp_nest_lock_t nest;

CONTENDED(hinted_lock, omp_init_lock_with_hint(&lock, omp_sync_hint_contended), omp_set_lock(&lock),
          omp_unset_lock(&lock))
CONTENDED(speculative_lock, omp_init_lock_with_hint(&lock, omp_sync_hint_speculative), omp_set_lock(&lock),
          omp_unset_lock(&lock))
CONTENDED(hinted_nest_lock, omp_init_nest_lock_with_hint(&nest, omp_sync_hint_uncontended), omp_set_nest_lock(&nest),
          omp_unset_nest_lock(&nest))

static const struct construct constructs[] = {
    {"hinted_lock", hinted_lock, 0},
    {"speculative_lock", speculative_lock, 0},
    {"hinted_nest_lock", hinted_nest_lock, 0},
};

COVERAGE_MAIN(constructs)
