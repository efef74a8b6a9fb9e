/* Every call of include/blame.h, in C and in C++; each function ends in a call. With PARTS also those of
 * header_part.c, which is another translation unit or a shared library. */
#include <stdio.h>

#include "blame.h"

#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((noinline, visibility("default")))
#else
#define EXPORTED __attribute__((noinline, visibility("default")))
#endif

EXPORTED void solve(void);
EXPORTED void step(int64_t number);
EXPORTED void sized(const char *name);
#ifdef PARTS
EXPORTED void part(void);
#endif

EXPORTED void sized(const char *name)
{
    blame_parameter_begin(name, -512);
    blame_event_begin("pack");
    blame_event_end("pack");
    blame_parameter_end(name);
}

EXPORTED void step(int64_t number)
{
    blame_iteration_begin("step", number);
    sized("size");
    blame_iteration_end("step");
}

EXPORTED void solve(void)
{
    blame_phase_begin("solve");
    step(17);
    step(BLAME_NEXT);
    blame_phase_end("solve");
}

int main(void)
{
    solve();
#ifdef PARTS
    part();
#endif
    puts("done");
    return 0;
}
