/* Reads the lines of /proc/self/maps without stdio, or of /proc/thread-self/maps if the process's first
 * thread has ended. */
#ifndef BLAME_UNWIND_MAPS_H
#define BLAME_UNWIND_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
    uintptr_t start, end;
    bool readable, executable;
    uint64_t offset, device, inode;
    const char *path; /* path of the mapped file, "" if there is none; valid until take() returns */
};

/* A reading that can be interrupted and continued. The kernel finds the position again by address, even if
 * mappings have changed meanwhile. */
struct maps_reader {
    int fd;        /* -1: none */
    bool dropping; /* true while the rest of a line that did not fit into the buffer is being skipped */
    size_t used;
    /* device and inode of the file, to detect that the program has reused our descriptor number */
    uint64_t device, inode;
    char buffer[2048];
};

enum maps_status {
    MAPS_END,
    MAPS_STOPPED, /* take() returned false */
    MAPS_LOST,    /* our descriptor number now belongs to a file of the program, or reading failed */
};

/* Opens the file for reading. Returns false on failure. [handler] */
bool maps_open(struct maps_reader *reader);

/* Calls take() for each mapping in the order of addresses, until take() returns false. The next call of
 * maps_go_on() continues with the following mapping. [handler] */
enum maps_status maps_go_on(struct maps_reader *reader, bool (*take)(const struct maps_line *line, void *argument),
                            void *argument);

void maps_close(struct maps_reader *reader); /* [handler] */

/* Opens the file, and calls take() for each mapping until it returns false. Returns false if the file could
 * not be read. [handler] */
bool maps_read(bool (*take)(const struct maps_line *line, void *argument), void *argument);

/* Parses one line, which must not contain a newline. Returns false if the line is malformed. Public for
 * tests. [handler] */
bool maps_parse(char *text, struct maps_line *line);

#endif
