/* The samples of a trace (cct/profile_trace.h), read from the measurement file, also while it grows: of each tree one chunk is in memory, and
 * the file's tables of threads, modules and names. What has been read once is not read again. */
#ifndef BLAME_COMMAND_PROFILE_TRACE_TAIL_H
#define BLAME_COMMAND_PROFILE_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"

struct profile_node;

#define TRACE_NO_THREAD UINT32_MAX

struct trace_sample {
    uint64_t
        time_ns; /* on the clock of profile_header.start_ns: when it was due, drawn again (cct/timeline/moment.h); of older files, and of CPU time, the middle of what it
                       * stands for */
    uint64_t cpu_ns; /* for so long the thread's samples until then have found it at work or in overhead */
    uint32_t thread; /* index in threads; TRACE_NO_THREAD: not known */
    uint32_t node;   /* in the file; 0: none */
    uint8_t state;   /* enum profile_time_state */
};

struct tail_lane;

struct trace_tail {
    int file;
    struct profile_header header;
    struct profile_thread *threads; /* in order of their start, as struct profile has them */
    size_t thread_count;
    struct profile_module *modules; /* these two: none before trace_tail_tables() */
    size_t module_count;
    struct profile_name *names;
    size_t name_count;
    uint64_t given;   /* samples, by trace_tail_next() */
    uint64_t damaged; /* trees whose trace makes no sense from somewhere on */
    uint32_t seen;    /* chunks of the file that are known */
    uint32_t *pending, *records;
    size_t pending_count, pending_room, record_count, record_room;
    struct tail_lane **lanes, **heap; /* heap: those that have a sample, the earliest first */
    size_t lane_count, lane_room, heap_count;
};

/* Borrows the descriptor of a file whose header is sound. */
void trace_tail_open(struct trace_tail *tail, int file);
void trace_tail_close(struct trace_tail *tail);

/* Whether the file has more modules or names than were read; reads them all, and the threads: their places are others then. */
bool trace_tail_has_more(struct trace_tail *tail);
void trace_tail_tables(struct trace_tail *tail);

/* Looks what has come since; what has not been given out is there still. False: the file cannot be read, errno says why (0: it became shorter). */
bool trace_tail_refresh(struct trace_tail *tail);

/* The next sample of those that were there at the last refresh, in time's order; false: there is none. */
bool trace_tail_next(struct trace_tail *tail, struct trace_sample *sample);

/* So many samples there were that trace_tail_next() has not given: the limit took them before they were read, or they make no sense. When
 * all others have been given, of a process that has ended. */
uint64_t trace_tail_missing(const struct trace_tail *tail);

/* A node as it stands in the file now; false: there is none. */
bool trace_tail_node(const struct trace_tail *tail, uint32_t node_idx, struct profile_node *node);

#endif
