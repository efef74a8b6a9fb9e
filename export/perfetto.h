/* Packets of a Perfetto trace, and what they refer to by number: it is written in front of the first packet that does. */
#ifndef BLAME_EXPORT_PERFETTO_H
#define BLAME_EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stdio.h>

#include "export/perfetto.pb-c.h"
#include "export/trace_stacks.h"
#include "export/traced.h"
#include "report/text/strings.h"

enum interned { INTERNED_EVENT, INTERNED_ANNOTATION, INTERNED_FUNCTION, INTERNED_SOURCE, INTERNED_MODULE, INTERNED_KINDS };

struct perfetto {
    FILE *out;
    bool good; /* false: out is in error */
    uint64_t last_uuid;
    struct strings *strings[INTERNED_KINDS];
    uint32_t string_count[INTERNED_KINDS]; /* written */
    struct trace_stacks stacks;
    size_t frame_count; /* written */
    uint64_t task_count;
    uint8_t *packed;
    size_t packed_room;
};

void perfetto_start(struct perfetto *perfetto);
void perfetto_finish(struct perfetto *perfetto);
/* Says of which sequence it is. */
void perfetto_write(struct perfetto *perfetto, Perfetto__Protos__TracePacket *packet);

/* The number of a text, 0 for "". */
uint64_t perfetto_name(struct perfetto *perfetto, enum interned kind, const char *text);
/* Makes a stack known by its number. */
void perfetto_stack(struct perfetto *perfetto, uint32_t stack);
/* The number of a thread. */
uint64_t perfetto_task(struct perfetto *perfetto, int32_t pid, int32_t tid);

#endif
