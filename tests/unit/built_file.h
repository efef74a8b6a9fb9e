/* A measurement file that a test builds at unit_path, and what reading it gives. */
#ifndef BLAME_TESTS_UNIT_BUILT_FILE_H
#define BLAME_TESTS_UNIT_BUILT_FILE_H

#include "cct/profile_tree.h"
#include "command/profile/read.h"
#include "tests/fuzz/profile_builder.h"
#include "tests/unit/unit.h"

#define KEY(vaddr) PROFILE_KEY(1, vaddr)

static char error[512];
static struct profile_builder builder;

static int remove_file(void **state)
{
    (void)state;
    builder_free(&builder);
    unit_clean();
    return 0;
}

static struct profile *read_built(void)
{
    assert_true(builder_write(&builder, unit_path));
    struct profile *profile = profile_read(unit_path, error, sizeof error);
    if (!profile)
        fail_msg("%s", error);
    return profile;
}

#endif
