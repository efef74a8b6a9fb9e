/* Reads the samples of a trace (cct/profile_trace.h) from a measurement file, even while the file grows.
 * Needs memory for one chunk of each tree, and for the file's tables of threads, modules and names. Reads no
 * sample twice. */
#ifndef BLAME_COMMAND_PROFILE_TRACE_TAIL_H
#define BLAME_COMMAND_PROFILE_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"

struct profile_node;

#define TRACE_NO_THREAD UINT32_MAX

struct trace_sample {
    /* time at which the sample was due, on the clock of profile_header.start_ns; computed again from the seed
     * (cct/timeline/moment.h). In old files and for CPU time: the middle of the time that the sample
     * represents. */
    uint64_t time_ns;
    uint64_t cpu_ns; /* ns of work and overhead in this thread's samples so far */
    uint32_t thread; /* index of the thread in `threads`; TRACE_NO_THREAD: unknown */
    uint32_t node;   /* index of the node in the file; 0: none */
    uint8_t state;   /* enum profile_time_state */
};

struct tail_lane;

struct trace_tail {
    int file;
    struct profile_header header;
    struct profile_thread *threads; /* threads sorted by start, as in struct profile */
    size_t thread_count;
    struct profile_module *modules; /* modules and names; empty until trace_tail_tables() is called */
    size_t module_count;
    struct profile_name *names;
    size_t name_count;
    uint64_t given;   /* number of samples that trace_tail_next() has returned */
    uint64_t damaged; /* number of trees whose trace cannot be read beyond some position */
    uint32_t seen;    /* number of the file's chunks that have been examined */
    uint32_t *pending, *records;
    size_t pending_count, pending_room, record_count, record_room;
    /* heap: the lanes that have a sample, as a binary heap with the earliest sample first */
    struct tail_lane **lanes, **heap;
    size_t lane_count, lane_room, heap_count;
};

/* Starts reading a file, which must have a valid header. The caller keeps the descriptor open and closes it. */
void trace_tail_open(struct trace_tail *tail, int file);
void trace_tail_close(struct trace_tail *tail);

/* trace_tail_has_more returns whether the file has modules or names that have not been read.
 * trace_tail_tables reads the tables again; the index of a thread may change. */
bool trace_tail_has_more(struct trace_tail *tail);
void trace_tail_tables(struct trace_tail *tail);

/* Looks for new samples. Samples that have not been returned stay available. Returns false and sets errno if
 * the file cannot be read; errno is 0 if the file became shorter. */
bool trace_tail_refresh(struct trace_tail *tail);

/* Returns the samples that the last refresh found, one at a time and in order of time. Returns false if there
 * are no more. */
bool trace_tail_next(struct trace_tail *tail, struct trace_sample *sample);

/* Returns how many samples trace_tail_next() did not return, because the size limit removed them or because
 * they could not be read. Valid once the process has ended and all other samples have been returned. */
uint64_t trace_tail_missing(const struct trace_tail *tail);

/* Reads a node from the file as it is now. Returns false if there is no such node. */
bool trace_tail_node(const struct trace_tail *tail, uint32_t node_idx, struct profile_node *node);

#endif
