/* The tables of a pprof profile: samples refer to locations, those to functions, all of them to strings, by
 * number. They are written behind the samples, which are not kept. */
#ifndef BLAME_EXPORT_PPROF_H
#define BLAME_EXPORT_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/profile/pair_map.h"
#include "export/frames.h"
#include "export/gzip.h"
#include "export/pprof.pb-c.h"
#include "report/text/strings.h"

/* A line of a function, and the line of another one that it is inlined at. */
struct pprof_line {
    uint32_t outer;    /* 1 + its number, 0: not inlined */
    uint32_t function; /* of the list below */
    int line;
    uint32_t location; /* id of the location whose innermost line this is, 0: none */
};

/* A frame's function in one source file: lines of a macro or an included file are another file's. */
struct pprof_function {
    uint32_t frame;
    const char *file;
};

struct pprof {
    const struct profile *profile;
    struct frames frames;
    struct strings *strings;
    uint32_t string_count;
    struct pprof_line *line;
    size_t line_count, line_room;
    struct pprof_function *function;
    size_t function_count, function_room;
    struct pair_map line_map, function_map, mapping_map;
    uint32_t location_count;
    uint8_t *packed; /* a message on its way */
    size_t packed_room;
    struct gzip gzip;
    bool good; /* false: the file is in error; nothing is worth doing any more */
};

/* The number of a text in the string table. */
int64_t pprof_string(struct pprof *pprof, const char *text);
/* 1 + the number of a line of a frame's function; file: NULL, the function's own. */
uint32_t pprof_line(struct pprof *pprof, uint32_t outer, uint32_t frame, const char *file, int line);
/* The id of the location that a line is the innermost of. */
uint64_t pprof_location(struct pprof *pprof, uint32_t line);
/* Appends a part of the profile: repeated fields of all parts are one list. */
void pprof_write(struct pprof *pprof, const Perftools__Profiles__Profile *part);
void pprof_write_tables(struct pprof *pprof);

#endif
