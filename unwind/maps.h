/* /proc/self/maps, line by line, without stdio. */
#ifndef BLAME_UNWIND_MAPS_H
#define BLAME_UNWIND_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
    uintptr_t start, end;
    bool readable, executable;
    uint64_t offset, device, inode;
    const char *path; /* "" when there is none; valid during the call */
};

/* Calls take for each mapping in address order until it returns false. Returns false when the file could not
 * be read. [handler] */
bool maps_read(bool (*take)(const struct maps_line *line, void *argument), void *argument);

/* Parses one line (no newline); false if it is not of the form. For maps_read() and its tests. [handler] */
bool maps_parse(char *text, struct maps_line *line);

#endif
