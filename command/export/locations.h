/* Locations: the threads or ranks whose values are exported separately. They are the threads of a process, or
 * the ranks of a job with their threads. All locations are known before any value is read. Values are read
 * for one location at a time, so memory holds the rows and one location's tree, however many locations there
 * are. */
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
    /* the only location: samples are not known by thread, or the user did not ask; its rows are the sum's */
    LOCATION_ALL,
    LOCATION_PROCESS, /* all threads of a rank whose file does not say which samples belong to which thread */
    LOCATION_THREAD,
};

#define LOCATION_NO_THREAD SIZE_MAX

struct location {
    uint8_t kind;  /* enum location_kind */
    bool ranked;   /* whether `rank` is known, because the process belongs to a job */
    uint32_t rank; /* 0 if unknown */
    /* index of the process among those of its rank, from 0: rank 3.1 is the second process of rank 3 */
    uint32_t of_rank;
    uint32_t number; /* index of the location within its process, from 0 */
    /* index of the process, from 0. The locations of a process are adjacent, and processes are in order of
     * their ranks */
    size_t process;
    int32_t pid;      /* 0: unknown */
    const char *host; /* "": unknown */
    uint32_t node;    /* index of the host, from 0 */
    size_t
        /* the thread's row in the process's threads.csv; LOCATION_NO_THREAD: all threads together. If threads
         * used one tree one after another, this is the first initial thread, or the first thread if none is
         * initial */
        thread;
    const struct profile_thread *record; /* record of that thread; NULL: all threads together */
};

struct location_source;

struct locations {
    const struct profile *profile; /* the sum's profile */
    const struct rows *rows;       /* the sum's rows, from rows_build() */
    struct location *location;
    size_t count; /* at least 1 */
    size_t processes, nodes;
    uint64_t
        /* samples of the sum that belong to no location read so far; in the end, those that belong to no
         * location at all */
        lost;
    struct location_source *source;
    /* samples in the traces read so far; samples for which these traces had no room */
    uint64_t traced, thinned;
    char trace_error[512]; /* error of the first unreadable trace; "": none */
    /* one line about a failure other than writing the output; "": errno gives the reason */
    char refusal[512];
    /* shows the user a line of text while the output is written; NULL: such lines are dropped */
    void (*note)(const char *text);
};

/* The values of one location. */
struct location_rows {
    /* The sum's rows in which the location has a value, with all rows above them, in the sum's order. Sums,
     * exact times and counters are the location's. Names, depths and lines are the sum's. Row 0 is the root. */
    const struct rows *rows;
    const uint32_t *of;      /* by row: number of the same row in the sum's rows; increasing */
    struct profile *profile; /* the location's own profile; NULL: the sum's */
    struct rows *made;
    uint32_t *made_of;
};

/* Finds the locations. rank_files are the files that a merged job was made from, in any order; without them,
 * a merged job has one location. Each file must exist until it has been read. `profile` and `rows` must live
 * longer than `locations`. */
void locations_find(struct locations *locations, const struct profile *profile, const struct rows *rows,
                    const char *const *rank_files, size_t rank_file_count);
/* Reads one location's values. Locations may be read in any order, each once. Returns false if the file
 * cannot be read; `refusal` says why, and there is nothing to free. */
bool locations_read(struct locations *locations, size_t index, struct location_rows *read);
/* Returns the sum's values as those of a location. Reads no file. */
void locations_sum(struct locations *locations, struct location_rows *sum);
struct trace;

/* Reads a process's trace and header. The spans refer to nodes of the sum. Returns NULL if there is no trace
 * or if it cannot be read. */
struct trace *locations_read_trace(struct locations *locations, size_t process, struct profile_header *header);
void location_rows_free(struct location_rows *read);
void locations_free(struct locations *locations);

#endif
