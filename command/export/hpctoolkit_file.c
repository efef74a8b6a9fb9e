/* The files of an HPCToolkit database: head, sections and footer. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "numbers are copied from memory, and the format is little-endian");

#define HEADER_BYTES 16

bool hpc_open(struct hpc_file *file, const char *directory, const char *name, size_t sections)
{
    static const char nothing[HEADER_BYTES];
    char *path = memory_text("%s/%s", directory, name);
    *file = (struct hpc_file){.stream = fopen(path, "wxe")};
    free(path);
    if (!file->stream)
        return false;
    for (size_t i = 0; i <= sections; i++)
        hpc_put(file, nothing, sizeof nothing);
    return true;
}

void hpc_put(struct hpc_file *file, const void *data, size_t bytes)
{
    if (bytes && fwrite_unlocked(data, 1, bytes, file->stream) != bytes &&
        !file->why) /* if bytes is 0, `data` may be NULL */
        file->why = errno;
    file->at += bytes;
}

void hpc_align(struct hpc_file *file, size_t to)
{
    static const char zeros[8];
    hpc_put(file, zeros, (to - file->at % to) % to);
}

bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count,
               const char *footer)
{
    hpc_put(file, footer, strlen(footer));
    errno = 0;
    bool good = fflush(file->stream) == 0 && !file->why && !ferror(file->stream) &&
                fseek(file->stream, 0, SEEK_SET) == 0 &&
                fprintf(file->stream, "HPCTOOLKIT%s%c%c", format, 4, 0) == HEADER_BYTES &&
                fwrite(sections, sizeof *sections, count, file->stream) == count && fflush(file->stream) == 0;
    int why = file->why ? file->why : errno ? errno : EIO;
    fclose(file->stream);
    errno = why;
    return good;
}
