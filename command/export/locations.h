/* Where values were measured: the threads of a process, or the ranks of a job and their threads. Which there are is known before any value is read;
 * values are read one location at a time, so memory is that of the rows and of one location's tree, however many there are. */
#ifndef BLAME_COMMAND_EXPORT_LOCATIONS_H
#define BLAME_COMMAND_EXPORT_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/profile/profile.h"
#include "command/rows/row.h"

struct profile_header;
struct profile_thread;

enum location_kind {
    LOCATION_ALL,     /* the only one: whose samples are whose is not known, or nobody asked; its rows are the sum's */
    LOCATION_PROCESS, /* all threads of a rank whose file does not say which samples are whose */
    LOCATION_THREAD,
};

#define LOCATION_NO_THREAD SIZE_MAX

struct location {
    uint8_t kind;     /* enum location_kind */
    bool ranked;      /* `rank` is known: one process of a job, alone or among others */
    uint32_t rank;    /* 0 where it is not */
    uint32_t of_rank; /* which of its rank's processes, from 0 on: rank 3.1 is the second one of rank 3 */
    uint32_t number;  /* of the locations of its process, from 0 on */
    size_t process;   /* counts processes from 0 on; locations of one stand together, in the order of ranks */
    int32_t pid;      /* 0: not known */
    const char *host; /* "": not known */
    uint32_t node;    /* counts hosts from 0 on */
    size_t
        thread; /* its row in the process's threads.csv, LOCATION_NO_THREAD where all threads are together. Threads that had one tree one after the
                        other are one location, that of the first initial one, else of the first */
    const struct profile_thread *record; /* of that thread, NULL: all together */
};

struct location_source;

struct locations {
    const struct profile *profile; /* of the sum */
    const struct rows *rows;       /* of the sum, from rows_build() */
    struct location *location;
    size_t count; /* at least 1 */
    size_t processes, nodes;
    uint64_t
        lost; /* samples of the sum that no location has that was read until now: when all were, what is nobody's */
    struct location_source *source;
    uint64_t traced, thinned; /* samples of the traces that were read; that these had no room for */
    char trace_error[512];    /* of the first that could not be, "": all could */
    char refusal[512];        /* what the writer lacked that is not its output, in a line, "": errno says it of that */
    void (*note)(const char *text); /* tells the user a line while it is written; NULL: nobody listens */
};

/* What one location has. */
struct location_rows {
    /* Rows as all writers know them: those of the sum in which it has something, and what is above them, in the sum's order. Exclusive and inclusive
     * sums, exact times, counters are this location's; names, depth and lines the sum's; row 0 is the root. */
    const struct rows *rows;
    const uint32_t *of;      /* by row: its number in the sum's rows, rising with the row */
    struct profile *profile; /* the location's own; NULL: the sum's */
    struct rows *made;
    uint32_t *made_of;
};

/* Which there are. Ranks' files: of a job that was merged those that it was made of, in any order; they are read when it is their turn, and must be there
 * still. Without them a merged job has one location. Both profile and rows must outlive them. */
void locations_find(struct locations *locations, const struct profile *profile, const struct rows *rows,
                    const char *const *rank_files, size_t rank_file_count);
/* Reads one, in any order, each once. false: its file cannot be read, or not any more, as refusal says; nothing is to be freed. */
bool locations_read(struct locations *locations, size_t index, struct location_rows *read);
/* The same of the sum, which nothing is read for. */
void locations_sum(struct locations *locations, struct location_rows *sum);
struct trace;

/* A process's trace and header. Spans' nodes are the sum's. NULL: it has none, or none that can be read. */
struct trace *locations_read_trace(struct locations *locations, size_t process, struct profile_header *header);
void location_rows_free(struct location_rows *read);
void locations_free(struct locations *locations);

#endif
