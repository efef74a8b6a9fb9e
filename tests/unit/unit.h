/* What the unit tests share: cmocka's includes in their order, tests that list themselves, a directory of one's own, children,
 * files that cannot grow. */
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
#include <sys/wait.h>
#include <unistd.h>

/* UNIT_TEST(name) { ... } is a test; a program's tests run in the order in which they stand, between the group's setup
 * and teardown, or NULL. UNIT_TEST_WITH has a setup and a teardown of its own. */
#define UNIT_MOST_TESTS 64
static struct CMUnitTest unit_tests[UNIT_MOST_TESTS];
static size_t unit_test_count;

#define UNIT_TEST(name) UNIT_TEST_WITH(name, NULL, NULL)
#define UNIT_TEST_WITH(name, setup, teardown)                                                                          \
    static void name(void **);                                                                                         \
    __attribute__((constructor(1000 + __LINE__))) static void unit_add_##name(void)                                    \
    {                                                                                                                  \
        unit_tests[unit_test_count++] = (struct CMUnitTest){#name, name, setup, teardown, NULL};                       \
    }                                                                                                                  \
    static void name(__attribute__((unused)) void **unit_state)
#define UNIT_MAIN(setup, teardown)                                                                                     \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return unit_run(setup, teardown);                                                                              \
    }

__attribute__((unused)) static int unit_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", unit_tests, unit_test_count, setup, teardown);
}

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

#define UNIT_CANNOT 77 /* a child's status: what its test needs is not to be had here */

/* Waits for a child that makes a part of the test; skips the test where the child cannot. */
__attribute__((unused)) static void unit_child_ends(pid_t child, int expected)
{
    int status = -1;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNIT_CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), expected);
}

/* No file may grow beyond that; RLIM_INFINITY: as far as the disk goes. */
__attribute__((unused)) static void unit_limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

__attribute__((unused)) static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in \"%s\"", part, text);
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
