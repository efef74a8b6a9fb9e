/* Another translation unit, or a shared library, of header_calls.c. */
#include "blame.h"

#define EXPORTED __attribute__((noinline, visibility("default")))

EXPORTED void part(void);

EXPORTED void part(void)
{
    blame_phase_begin("part");
    blame_phase_end("part");
}
