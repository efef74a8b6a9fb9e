/* What the unit tests share: cmocka's includes in their order, a directory of one's own, files that cannot
 * grow. */
#ifndef BLAME_TESTS_UNIT_UNIT_H
#define BLAME_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A fresh path in a fresh directory; unit_clean() removes both. */
static char unit_directory[64];
static char unit_path[96];

__attribute__((unused)) static const char *unit_fresh_path(void)
{
    snprintf(unit_directory, sizeof(unit_directory), "/tmp/blame-unit-XXXXXX");
    assert_non_null(mkdtemp(unit_directory));
    snprintf(unit_path, sizeof(unit_path), "%s/file", unit_directory);
    return unit_path;
}

__attribute__((unused)) static void unit_clean(void)
{
    unlink(unit_path);
    rmdir(unit_directory);
}

/* No file may grow beyond that; RLIM_INFINITY: as far as the disk goes. */
__attribute__((unused)) static void unit_limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* xorshift: the same numbers in every run. */
__attribute__((unused)) static uint64_t unit_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
