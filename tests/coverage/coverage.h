/* One program a group of constructs: the first argument selects a construct. Each construct checks its own
 * result
 * (`right NAME` or `wrong NAME`, status 1) and states, as analytic.h does, what the profile must say of it.
 * Threads that are made to wait wait for slow_share(), unless the construct has functions of its own. */
#ifndef BLAME_TESTS_COVERAGE_H
#define BLAME_TESTS_COVERAGE_H

#include <stdbool.h>

#include "../programs/analytic.h"

struct construct {
    const char *name;
    bool (*run)(void);
    int threads; /* most that exist at once; 0: 2 */
};

/* The end of a body whose last call must not become a jump: the body would be missing on the stack. */
#define STAY __asm__ volatile("")

__attribute__((unused)) NAMED static void slow_share(void)
{
    work_for("slow_share", 0.1207);
}

__attribute__((unused)) NAMED static void fast_share(void)
{
    work_for("fast_share", 0.0203);
}

/* The work of share 0 is six times that of any other: whoever has that waits for share 0. */
HELPER int uneven(int share)
{
    if (share == 0)
        slow_share();
    else
        fast_share();
    STAY;
    return share + 1;
}

static inline int coverage_main(int argc, char **argv, const struct construct *constructs, int count)
{
    for (int i = 0; i < count; i++) {
        if (argc != 2 || strcmp(argv[1], constructs[i].name) != 0)
            continue;
        bool right = constructs[i].run();
        printf("%s %s\n", right ? "right" : "wrong", constructs[i].name);
        print_expectations(constructs[i].threads ? constructs[i].threads : 2);
        return right ? 0 : 1;
    }
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s\n", constructs[i].name);
    return 2;
}

#define COVERAGE_MAIN(constructs)                                                                                      \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return coverage_main(argc, argv, constructs, (int)(sizeof(constructs) / sizeof((constructs)[0])));             \
    }

#endif
