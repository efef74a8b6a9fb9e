/* Locations: the threads or ranks whose values a format shows separately. For one process, they are its
 * threads. For a job, they are its ranks and their threads. All locations are listed before any value is
 * read. Values are read for one location at a time, so memory holds only the rows and the tree of one
 * location. */
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
    /* the only location, with the rows of the sum: the file does not say which thread each sample belongs to,
     * or the user did not ask for threads */
    LOCATION_ALL,
    /* all threads of a rank together, because its file does not say which thread each sample belongs to */
    LOCATION_PROCESS,
    LOCATION_THREAD,
};

#define LOCATION_NO_THREAD SIZE_MAX

struct location {
    uint8_t kind;  /* enum location_kind */
    bool ranked;   /* whether `rank` is known; true if the process belongs to a job */
    uint32_t rank; /* 0 if unknown */
    /* index of the process among the processes of its rank, from 0; "rank 3.1" is the second process of rank
     * 3 */
    uint32_t of_rank;
    uint32_t number; /* index of the location within its process, from 0 */
    /* index of the process, from 0. Processes are sorted by rank, and the locations of a process are adjacent */
    size_t process;
    int32_t pid;      /* 0: unknown */
    const char *host; /* "": unknown */
    uint32_t node;    /* index of the host, from 0 */
    size_t
        /* row of the thread in the process's threads.csv; LOCATION_NO_THREAD: all threads together. If
         * several threads used one tree one after another, this is the first initial thread, or the first
         * thread if none is initial */
        thread;
    const struct profile_thread *record; /* record of the thread; NULL: all threads together */
};

struct location_source;

struct locations {
    const struct profile *profile; /* profile of the sum of all locations */
    const struct rows *rows;       /* rows of the sum, made by rows_build() */
    struct location *location;
    size_t count; /* at least 1 */
    size_t processes, nodes;
    uint64_t
        /* number of samples in the sum that were in no location read so far. When all locations are read,
         * these samples belong to no location */
        lost;
    struct location_source *source;
    /* number of samples in the traces read so far, and number of samples for which these traces had no room */
    uint64_t traced, thinned;
    /* why the first unreadable trace could not be read; "": all traces were readable */
    char trace_error[512];
    /* one line about an error in reading; "": writing failed, and errno gives the reason */
    char refusal[512];
    /* function that shows the user a line of text while the output is written; NULL: no such lines are shown */
    void (*note)(const char *text);
};

/* The values of one location. */
struct location_rows {
    /* The rows in which the location has a value, and all rows above them, in the order of the sum's rows.
     * Names, depths and lines are those of the sum. Sums, exact times and counters are those of the location.
     * Row 0 is the root. */
    const struct rows *rows;
    const uint32_t *of;      /* for each row, its number in the rows of the sum; increasing */
    struct profile *profile; /* profile of the location; NULL: the location has the values of the sum */
    struct rows *made;
    uint32_t *made_of;
};

/* Lists the locations. rank_files are the files from which a merged job was made, in any order. Without them,
 * a merged job has a single location. Each file must exist until it has been read. `profile` and `rows` must
 * outlive `locations`. */
void export_locations_find(struct locations *locations, const struct profile *profile, const struct rows *rows,
                           const char *const *rank_files, size_t rank_file_count);
/* Reads the values of a location. The order does not matter, but each location may be read only once. Returns
 * false if its file cannot be read; `refusal` then gives the reason, and there is nothing to free. */
bool export_locations_read(struct locations *locations, size_t index, struct location_rows *read);
/* Sets *sum to the values of all locations together. Reads no file. */
void export_locations_sum(struct locations *locations, struct location_rows *sum);
struct trace;

/* Reads the trace and the header of a process. The spans refer to nodes of the sum. Returns NULL if there is
 * no trace or it cannot be read. */
struct trace *export_locations_read_trace(struct locations *locations, size_t process, struct profile_header *header);
void export_location_rows_free(struct location_rows *read);
void export_locations_free(struct locations *locations);

#endif
