/* The formats of `blame export` that need a trace. */
#ifndef BLAME_CLI_EXPORT_TRACE_H
#define BLAME_CLI_EXPORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>

struct traced_process;

/* Says what traces had no room for. */
void note_thinned(const char *path, unsigned long long kept, unsigned long long thinned);

/* A run's profile and trace, or those of all ranks of a job. */
struct opened_traces {
    struct opened_profile *opened;
    struct traced_process *processes;
    size_t count;
};

/* false after a message: something cannot be read, or has no trace. What was opened is to be closed in either case. */
bool open_traces(const char *input, struct opened_traces *traces);
void close_traces(struct opened_traces *traces);

/* Says so where a file is larger than viewers can take. */
void note_size(const char *format, long long bytes);

#endif
