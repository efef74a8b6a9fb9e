#include "report/views/trace_note.h"

#include <string.h>

#include "report/text/format.h"

#define KIB 1024.0
#define MIB (1024 * KIB)

void view_text_trace_note(FILE *out, const struct profile *profile)
{
    const struct profile_header *header = &profile->header;
    if (!header->traced || header->merged)
        return;
    fprintf(out, "\ntrace: %llu samples, %s KiB", (unsigned long long)profile->trace_samples, DECIMAL((double)profile->trace_bytes / KIB, 1));
    if (header->trace_thinned && header->room_error)
        fprintf(out, "; %llu older ones made way for them, or had no room: the file could not grow (%s)", (unsigned long long)header->trace_thinned,
                strerror((int)header->room_error));
    else if (header->trace_thinned)
        fprintf(out, "; %llu older ones made way for them, or had no room: its limit is %s MiB (BLAME_TRACE_LIMIT)",
                (unsigned long long)header->trace_thinned, DECIMAL((double)header->trace_limit / MIB, 2));
    putc('\n', out);
}
