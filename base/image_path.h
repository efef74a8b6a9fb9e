/* The path of our copy of a library whose file was deleted before the program ended. The copy is in the
 * directory of the measurement file until the library's symbols have been saved. */
#ifndef BLAME_BASE_IMAGE_PATH_H
#define BLAME_BASE_IMAGE_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the copy's path. Returns false if it does not fit. [init] */
static inline bool image_path(char *path, size_t bytes, const char *measurement, uint32_t module_id)
{
    int length = snprintf(path, bytes, "%s.%u.code", measurement, module_id);
    return length > 0 && (size_t)length < bytes;
}

#endif
