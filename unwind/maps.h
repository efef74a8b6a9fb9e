/* Reads /proc/self/maps line by line, without stdio. If the process's first thread has ended, it reads
 * /proc/thread-self/maps. */
#ifndef BLAME_UNWIND_MAPS_H
#define BLAME_UNWIND_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
    uintptr_t start, end;
    bool readable, executable;
    uint64_t offset, device, inode;
    const char *path; /* "" if there is none; valid during the call */
};

/* A reading that can continue later. The kernel finds its position again by address, whatever has changed. */
struct maps_reader {
    int fd;        /* -1: none */
    bool dropping; /* skips the rest of a line that is longer than the buffer */
    size_t used;
    /* identity of the file; the program may have closed the descriptor and opened another file */
    uint64_t device, inode;
    char buffer[2048];
};

enum maps_status {
    MAPS_END,
    MAPS_STOPPED, /* take() returned false */
    MAPS_LOST,    /* the descriptor belongs to the program by now, or cannot be read */
};

/* Opens the file. Returns false on failure. [handler] */
bool maps_open(struct maps_reader *reader);

/* Calls take() for each mapping in order of address until take() returns false. The next call continues after
 * that mapping. [handler] */
enum maps_status maps_go_on(struct maps_reader *reader, bool (*take)(const struct maps_line *line, void *argument),
                            void *argument);

void maps_close(struct maps_reader *reader); /* [handler] */

/* Calls take() for all mappings, until it returns false. Returns false if the file could not be read.
 * [handler] */
bool maps_read(bool (*take)(const struct maps_line *line, void *argument), void *argument);

/* Parses one line without its newline. Returns false if it has another form. For maps_read() and its tests.
 * [handler] */
bool maps_parse(char *text, struct maps_line *line);

#endif
