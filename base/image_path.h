/* The path of our copy of a library whose file was deleted before the program ended. The copies are in a
 * directory beside the measurement file until the libraries' symbols have been saved. Usually there is none. */
#ifndef BLAME_BASE_IMAGE_PATH_H
#define BLAME_BASE_IMAGE_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the copy's path, or the directory's if module_id is 0. Returns false if it does not fit. [init] */
static inline bool image_path(char *path, size_t bytes, const char *measurement, uint32_t module_id)
{
    int length = snprintf(path, bytes, module_id ? "%s.code/%u" : "%s.code", measurement, module_id);
    return length > 0 && (size_t)length < bytes;
}

#endif
