/* Answers to questions about code. They can be stored in the file of names, beside the measurement file. A
 * key is a module number and an address in that module (PROFILE_KEY). A gap is a place in a call path where a
 * tail call removed frames from the stack. */
#ifndef BLAME_COMMAND_SYMBOLS_ANSWERS_H
#define BLAME_COMMAND_SYMBOLS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/map.h"
#include "command/symbols/symbol.h"
#include "command/text/memory.h"

enum symbols_question {
    SYMBOLS_ASK_FRAMES, /* Which frames does the code at the key have? */
    SYMBOLS_ASK_ENTRY,  /* At which key does the function that contains the key start? */
    SYMBOLS_ASK_CALL,   /* Which call is at the key? */
    SYMBOLS_ASK_DATA,   /* Which data object is at the key? */
    SYMBOLS_QUESTIONS
};

struct symbols_answer {
    /* whether a report asked the question. Other questions are asked by searches for tail calls, and their
     * answers are not stored */
    bool asked;
    size_t count; /* number of frames. For other questions, 1 if there is an answer and 0 if not */
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

struct symbols_source { /* The file from which the answers about a module were made. */
    bool named;         /* whether there are any answers about the module */
    uint8_t level;      /* enum symbols_level */
    uint64_t size;
    int64_t mtime_ns;
};

/* Translates the module numbers in a file of names. own[m] is the reader's number for the file's module m, or
 * 0 if the reader does not have this module. own[0] is 0. */
struct symbols_numbers {
    uint32_t *own;
    size_t count;
};

/* The kind of names that a module's file contains, from the least to the most detailed. */
enum symbols_level { SYMBOLS_LEVEL_EXPORTS, SYMBOLS_LEVEL_SYMBOLS, SYMBOLS_LEVEL_DEBUG };

struct symbols_answers {
    struct symbols_map map[SYMBOLS_QUESTIONS];
    struct pair_map gap_map; /* index in `gaps`, by the pair (caller, goal) */
    struct symbols_gap *gaps;
    size_t gap_count, gap_room;
    struct symbols_source *sources; /* the source of the module with number m is sources[m - 1] */
    size_t module_count;
};

/* Adds an answer whose fields are all 0, and returns it. Returns NULL if memory runs out. */
struct symbols_answer *symbols_answers_add(struct symbols_answers *answers, struct pool *pool,
                                           enum symbols_question question, uint64_t key);
/* Adds a gap. Its frames must live as long as the answers. Returns false if memory runs out. */
bool symbols_answers_add_gap(struct symbols_answers *answers, const struct symbols_gap *gap);
/* Returns whether the names of the key's module are in the answers. */
bool symbols_answers_are_named(const struct symbols_answers *answers, uint64_t key);
void symbols_answers_free(struct symbols_answers *answers);

#endif
