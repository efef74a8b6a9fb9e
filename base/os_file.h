/* What the kernel knows of a file, to tell whether it is still the same. */
#ifndef BLAME_BASE_OS_FILE_H
#define BLAME_BASE_OS_FILE_H

#include <stddef.h>
#include <stdint.h>

/* All 0: there is no such file. */
struct os_file {
    size_t bytes;
    /* another one once the file has been replaced or written; 0: unknown, because the file was written within the last
     * second, and another change might not be seen */
    uint64_t state;
};

struct os_file os_file_of(int fd);                /* [handler] */
struct os_file os_file_of_path(const char *path); /* [init] */

#endif
