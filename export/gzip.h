/* A gzip stream into a file, by zlib. */
#ifndef BLAME_EXPORT_GZIP_H
#define BLAME_EXPORT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
    z_stream stream;
    FILE *out;
    int error; /* errno of a write that failed */
    unsigned char bytes[1 << 16];
};

void gzip_start(struct gzip *gzip, FILE *out);
bool gzip_put(struct gzip *gzip, const void *data, size_t bytes); /* false: out is in error. */
/* Writes what is held back if `good`, and gives zlib's memory back. false: out is in error. */
bool gzip_finish(struct gzip *gzip, bool good);

#endif
