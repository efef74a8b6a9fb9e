/* Answers of the symbol lookup, which are stored in a file beside the measurement file. A key is a module
 * number and an address in that module (PROFILE_KEY). A gap is a place in a call path where a tail call
 * removed frames from the stack. */
#ifndef BLAME_COMMAND_SYMBOLS_ANSWERS_H
#define BLAME_COMMAND_SYMBOLS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/map.h"
#include "command/symbols/symbol.h"
#include "command/text/memory.h"

enum symbols_question {
    SYMBOLS_ASK_FRAMES, /* frames of the code at a key */
    SYMBOLS_ASK_ENTRY,  /* entry of the function that contains a key */
    SYMBOLS_ASK_CALL,   /* call instruction at a key */
    SYMBOLS_ASK_DATA,   /* data object at a key */
    SYMBOLS_QUESTIONS
};

struct symbols_answer {
    /* whether a report asked the question. Only such answers are stored, not those to questions of a search
     * for tail calls */
    bool asked;
    size_t count; /* number of frames; for other questions 1, or 0 if there is no answer */
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

struct symbols_source { /* the file from which the answers about a module come */
    bool named;         /* whether there are answers about the module */
    uint8_t level;      /* enum symbols_level */
    uint64_t size;
    int64_t mtime_ns;
};

/* Translates the module numbers of a stored file: own[m] is the reader's number for module m of the file, or
 * 0 if the reader has no such module. own[0] is 0. */
struct symbols_numbers {
    uint32_t *own;
    size_t count;
};

/* The most detailed names that a module's file contains. */
enum symbols_level { SYMBOLS_LEVEL_EXPORTS, SYMBOLS_LEVEL_SYMBOLS, SYMBOLS_LEVEL_DEBUG };

struct symbols_answers {
    struct symbols_map map[SYMBOLS_QUESTIONS];
    struct pair_map gap_map; /* (caller, goal) -> index in gaps */
    struct symbols_gap *gaps;
    size_t gap_count, gap_room;
    struct symbols_source *sources; /* indexed by module id - 1 */
    size_t module_count;
};

/* Adds an answer set to zero. Returns NULL if memory runs out. */
struct symbols_answer *symbols_answers_add(struct symbols_answers *answers, struct pool *pool,
                                           enum symbols_question question, uint64_t key);
/* Adds a gap, whose frames must live as long as the answers. Returns false if memory runs out. */
bool symbols_answers_add_gap(struct symbols_answers *answers, const struct symbols_gap *gap);
void symbols_answers_free(struct symbols_answers *answers);

#endif
