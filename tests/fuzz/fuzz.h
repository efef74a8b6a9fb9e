/* What fuzzers share. Included once a program. */
#ifndef BLAME_TESTS_FUZZ_H
#define BLAME_TESTS_FUZZ_H

#include <stdint.h>

#ifndef FUZZ_OWN_OPTIONS
/* A large quarantine, and pages given back, would make each round fault in fresh pages. The sanitizer's
 * library must see it. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:allocator_release_to_os_interval_ms=-1";
}
#endif

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

#endif
