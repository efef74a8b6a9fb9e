/* Answers of the symbol lookup, which are stored beside the measurement. */
#ifndef BLAME_COMMAND_SYMBOLS_ANSWERS_H
#define BLAME_COMMAND_SYMBOLS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/map.h"
#include "command/symbols/symbol.h"
#include "command/text/memory.h"

enum symbols_question {
    SYMBOLS_ASK_FRAMES, /* frames at a key */
    SYMBOLS_ASK_ENTRY,  /* entry of the function around a key */
    SYMBOLS_ASK_CALL,   /* call at a key */
    SYMBOLS_ASK_DATA,   /* data object at a key */
    SYMBOLS_QUESTIONS
};

struct symbols_answer {
    bool asked;   /* a report asked for it, not only a search for tail calls; it will be stored */
    size_t count; /* number of frames; for ENTRY, CALL and DATA 0 if there is no answer */
    union {
        const struct symbol_frame *frames;
        uint64_t entry;
        const struct symbol_call *call;
        const char *text;
    };
};

struct symbols_gap {
    uint64_t caller, goal;
    size_t count;
    const struct tail_frame *frames;
};

struct symbols_source { /* the file that the answers about a module come from */
    bool named;         /* there are answers */
    uint8_t level;      /* enum symbols_level */
    uint64_t size;
    int64_t mtime_ns;
};

/* Translation of module numbers for a file with other numbers: own[m] for its module m; 0 if there is no such
 * module. own[0] is 0. */
struct symbols_numbers {
    uint32_t *own;
    size_t count;
};

/* How much a file knows about names. */
enum symbols_level { SYMBOLS_LEVEL_EXPORTS, SYMBOLS_LEVEL_SYMBOLS, SYMBOLS_LEVEL_DEBUG };

struct symbols_answers {
    struct symbols_map map[SYMBOLS_QUESTIONS];
    struct pair_map gap_map; /* (caller, goal) -> index in gaps */
    struct symbols_gap *gaps;
    size_t gap_count, gap_room;
    struct symbols_source *sources; /* indexed by module id - 1 */
    size_t module_count;
};

/* Adds a zeroed answer. Returns NULL if there is no memory. */
struct symbols_answer *symbols_answers_add(struct symbols_answers *answers, struct pool *pool,
                                           enum symbols_question question, uint64_t key);
/* Adds a gap; its frames must live as long as the answers. Returns false if there is no memory. */
bool symbols_answers_add_gap(struct symbols_answers *answers, const struct symbols_gap *gap);
void symbols_answers_free(struct symbols_answers *answers);

#endif
