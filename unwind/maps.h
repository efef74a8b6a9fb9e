/* /proc/self/maps, line by line, without stdio; /proc/thread-self/maps when the process's first thread has ended. */
#ifndef BLAME_UNWIND_MAPS_H
#define BLAME_UNWIND_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
    uintptr_t start, end;
    bool readable, executable;
    uint64_t offset, device, inode;
    const char *path; /* "" when there is none; valid during the call */
};

/* A reading that can be gone on with later: the kernel finds its place again by address, whatever has
 * changed. */
struct maps_reader {
    int fd;        /* -1: none */
    bool dropping; /* the rest of a line that is longer than the buffer */
    size_t used;
    uint64_t device, inode; /* the descriptor is the program's when it has closed ours and opened something else */
    char buffer[2048];
};

enum maps_status {
    MAPS_END,
    MAPS_STOPPED, /* take returned false */
    MAPS_LOST,    /* the descriptor is no longer ours, or cannot be read */
};

/* False when the file cannot be opened. [handler] */
bool maps_open(struct maps_reader *reader);

/* Calls take for each mapping in address order until it returns false; the next call goes on behind that one.
 * [handler] */
enum maps_status maps_go_on(struct maps_reader *reader, bool (*take)(const struct maps_line *line, void *argument),
                            void *argument);

void maps_close(struct maps_reader *reader); /* [handler] */

/* All of it at once, until take returns false. Returns false when the file could not be read. [handler] */
bool maps_read(bool (*take)(const struct maps_line *line, void *argument), void *argument);

/* Parses one line (no newline); false if it is not of the form. For maps_read() and its tests. [handler] */
bool maps_parse(char *text, struct maps_line *line);

#endif
