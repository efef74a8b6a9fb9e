/* The layout of the file of names, which only kept_encode.c and kept_decode.c know. */
#ifndef BLAME_COMMAND_SYMBOLS_KEPT_LAYOUT_H
#define BLAME_COMMAND_SYMBOLS_KEPT_LAYOUT_H

#include <stdint.h>

/* command/symbols/README.md describes the file of names. Numbers are encoded as LEB128. Keys are sorted, and only their
 * differences are stored. Each text is stored once. */

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

#define KEPT_MAGIC   "BLAMESYM"
#define KEPT_VERSION 2u
/* Version 1 has the same layout, but FRAME_UPDATES and FRAME_COMBINES are never set. */
#define KEPT_VERSION_READ 1u

/* module number of keys whose module is unknown; larger than any real module number */
#define KEPT_NO_MODULE 0xffffu

struct kept_header {
    char magic[8];
    uint32_t version, byte_order;
    /* start of the measurement in ns since the epoch; it identifies the measurement together with `pid` */
    int64_t start_realtime_ns;
    int64_t pid;
    uint64_t hash; /* hash of all bytes that follow the header */
};

enum frame_flag { /* Flags of a frame. The two lowest bits of the flags contain an enum symbol_construct. */
                  FRAME_INLINED = 4,
                  FRAME_MERGED = 8,
                  FRAME_UNCERTAIN = 16,
                  FRAME_SAME_FILE = 32, /* at_file is the same text as file, and is not stored */
                  FRAME_WAITS = 64,
                  FRAME_UPDATES = 128,
                  FRAME_COMBINES = 256,
};
enum call_flag { CALL_LAUNCHES = 1, CALL_TAIL = 2, CALL_TARGET = 4, CALL_BODY = 8 };
enum tail_flag { TAIL_AT_JUMP = 1, TAIL_CANDIDATES = 2 };

#endif
