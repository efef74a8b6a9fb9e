/* N pairs of calls: what they cost without a tool, in instructions. */
#include "blame.h"

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? atol(argv[1]) : 1000;
    for (long i = 0; i < pairs; i++) {
        blame_event_begin("pair");
        blame_event_end("pair");
    }
    return 0;
}
