#include "export/gzip.h"

#include <errno.h>

#include "report/text/memory.h"

#define GZIP_WINDOW (15 + 16) /* zlib's way to ask for gzip's header */

void gzip_start(struct gzip *gzip, FILE *out)
{
    gzip->out = out;
    gzip->stream = (z_stream){0};
    gzip->error = 0;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        memory_check(NULL);
}

/* Compresses what is due until zlib has nothing more to say. */
static bool drain(struct gzip *gzip, int flush)
{
    do {
        gzip->stream.next_out = gzip->bytes;
        gzip->stream.avail_out = sizeof gzip->bytes;
        if (deflate(&gzip->stream, flush) == Z_STREAM_ERROR)
            return false;
        size_t bytes = sizeof gzip->bytes - gzip->stream.avail_out;
        if (fwrite(gzip->bytes, 1, bytes, gzip->out) != bytes) {
            gzip->error = errno;
            return false;
        }
    } while (gzip->stream.avail_out == 0);
    return true;
}

bool gzip_put(struct gzip *gzip, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    while (bytes) {
        uInt part = bytes < 1u << 30 ? (uInt)bytes : 1u << 30;
        gzip->stream.next_in = (unsigned char *)next;
        gzip->stream.avail_in = part;
        if (!drain(gzip, Z_NO_FLUSH))
            return false;
        next += part;
        bytes -= part;
    }
    return true;
}

bool gzip_finish(struct gzip *gzip, bool good)
{
    gzip->stream.avail_in = 0;
    good = good && drain(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    return good;
}
