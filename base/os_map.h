/* Memory from the operating system (base/os.h). */
#ifndef BLAME_BASE_OS_MAP_H
#define BLAME_BASE_OS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed private memory, page aligned; NULL when there is none. [handler] */
void *os_map(size_t bytes);

/* Has the kernel map all pages of this memory now, where it can (Linux 5.14): one call in place of two faults a page. [handler] */
void os_make_present(void *memory, size_t bytes);
void os_unmap(void *memory, size_t bytes); /* [handler] */

/* A private read-only view of a file's bytes, NULL on failure. [handler] */
const void *os_map_file(int fd, uint64_t offset, size_t bytes);

size_t os_file_bytes(int fd);    /* 0: not known. [handler] */
bool os_memory_is_limited(void); /* By ulimit -v. [init] */

/* A shared writable view; the bytes must exist (os_reserve) before they are touched. [handler] */
void *os_map_shared(int fd, uint64_t offset, size_t bytes);

#endif
