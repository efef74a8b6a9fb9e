#include "ompt_tool/life/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launched.h"
#include "base/log.h"

__attribute__((visibility("default"))) struct launched blame_launched;

static bool launch_is_named_program(void)
{
    const char *pid = getenv("BLAME_PROGRAM_PID");
    return pid && strtol(pid, NULL, 10) == (long)getpid();
}

bool launch_wants_region(void)
{
    return blame_launched.image_start_ns && !(blame_launched.before_main && launch_is_named_program());
}

/* Returns true if a variable that was set for GCC programs must stay set. KMP_WARNINGS=0 stays only in a
 * program that makes deprecated calls, because libomp warns of each such call and libgomp does not. In other
 * programs, libomp's warnings stay on, because they concern what the program does. */
static bool launch_keeps_variable(const char *name)
{
    bool warnings = strcmp(name, "KMP_WARNINGS") == 0;
    return blame_launched.moved && (!warnings || blame_launched.deprecated || getenv("OMP_NESTED"));
}

void launch_restore_environment(void)
{
    const char *set = secure_getenv("BLAME_FOR_GCC");
    if (!set)
        return;
    char name[64];
    for (const char *at = set; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
        if (!launch_keeps_variable(name))
            unsetenv(name);
        else if (strcmp(name, "KMP_WARNINGS") == 0 && launch_is_named_program() && !log_is_quiet())
            log_line_of_job("libomp's warnings are off, because libomp would warn of omp_set_nested, omp_get_nested "
                            "or OMP_NESTED, and libgomp does not; KMP_WARNINGS=1 shows all warnings",
                            NULL);
    }
    unsetenv("BLAME_FOR_GCC");
}

const char *launch_notes(void)
{
    const char *notes = secure_getenv("BLAME_NOTES");
    return notes && *notes ? notes : NULL;
}
