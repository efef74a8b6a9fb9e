/* Reads a trace's samples (cct/profile_trace.h) from a measurement file, even while it grows. Memory holds
 * one chunk for each tree, and the file's tables of threads, modules and names. Nothing is read twice. */
#ifndef BLAME_COMMAND_PROFILE_TRACE_TAIL_H
#define BLAME_COMMAND_PROFILE_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"

struct profile_node;

#define TRACE_NO_THREAD UINT32_MAX

struct trace_sample {
    /* when the sample was due on the clock of profile_header.start_ns, drawn again
     * (cct/timeline/moment.h); in old files and for CPU time, the middle of the time that it represents */
    uint64_t time_ns;
    uint64_t cpu_ns; /* time for which the thread's samples so far found work or overhead */
    uint32_t thread; /* index in threads; TRACE_NO_THREAD: unknown */
    uint32_t node;   /* node index in the file; 0: none */
    uint8_t state;   /* enum profile_time_state */
};

struct tail_lane;

struct trace_tail {
    int file;
    struct profile_header header;
    struct profile_thread *threads; /* sorted by start, as in struct profile */
    size_t thread_count;
    struct profile_module *modules; /* modules and names are empty before trace_tail_tables() */
    size_t module_count;
    struct profile_name *names;
    size_t name_count;
    uint64_t given;   /* samples returned by trace_tail_next() */
    uint64_t damaged; /* trees whose trace is unreadable from some position on */
    uint32_t seen;    /* number of chunks examined */
    uint32_t *pending, *records;
    size_t pending_count, pending_room, record_count, record_room;
    struct tail_lane **lanes, **heap; /* heap: lanes that have a sample, earliest first */
    size_t lane_count, lane_room, heap_count;
};

/* Starts reading. Borrows the descriptor of a file whose header is valid. */
void trace_tail_open(struct trace_tail *tail, int file);
void trace_tail_close(struct trace_tail *tail);

/* trace_tail_has_more returns whether the file has modules or names that were not read. trace_tail_tables
 * reads all of them and the threads, whose indices may change. */
bool trace_tail_has_more(struct trace_tail *tail);
void trace_tail_tables(struct trace_tail *tail);

/* Looks for new samples; samples not yet returned stay available. Returns false if the file cannot be read,
 * with errno (0: the file became shorter). */
bool trace_tail_refresh(struct trace_tail *tail);

/* Returns the samples known at the last refresh in order of time, one at a time; false if there is none left. */
bool trace_tail_next(struct trace_tail *tail, struct trace_sample *sample);

/* Returns how many samples trace_tail_next() never returned because they were lost to the size limit or
 * unreadable. Valid after the process has ended and all other samples were returned. */
uint64_t trace_tail_missing(const struct trace_tail *tail);

/* Reads a node in its current state from the file. Returns false if there is none. */
bool trace_tail_node(const struct trace_tail *tail, uint32_t node_idx, struct profile_node *node);

#endif
