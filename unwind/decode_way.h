/* What a search for a frame's end (unwind/decode.c) shares with what knows the machine's instructions (unwind/decode_MACHINE.c). */
#ifndef BLAME_UNWIND_DECODE_WAY_H
#define BLAME_UNWIND_DECODE_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/recipe.h"

#define MAX_SAVED 4u

enum base {
    NOWHERE,
    AT_RSP,
    AT_RBP,
    IN_MEMORY,
    IN_LINK
}; /* rsp, rbp and aarch64's x30 are the frame's, where the search begins */

/* An address: base + offset; IN_MEMORY: what lies at rsp + offset, AT_RBP's kin has `by_rbp`. */
struct value {
    uint8_t base;   /* enum base */
    uint8_t by_rbp; /* IN_MEMORY: at rbp + offset */
    int32_t offset;
};

struct saved {
    struct value at, value;
};

/* One way through the code, and what it has done so far. */
struct way {
    uintptr_t ip;
    struct value rsp, rbp;
    struct value link; /* aarch64's */
    struct saved saved[MAX_SAVED];
    uint32_t saved_count;
};

static inline bool decode_is_equal(struct value a, struct value b) /* [handler] */
{
    return a.base == b.base && a.offset == b.offset && a.by_rbp == b.by_rbp;
}

static inline struct value decode_plus(struct value value, int64_t offset) /* [handler] */
{
    if (value.base == AT_RSP || value.base == AT_RBP)
        value.offset += (int32_t)offset;
    else
        value = (struct value){.base = NOWHERE};
    return value;
}

static inline struct value decode_load(const struct way *way, struct value at) /* [handler] */
{
    for (uint32_t i = 0; i < way->saved_count; i++)
        if (decode_is_equal(way->saved[i].at, at))
            return way->saved[i].value;
    if (at.base != AT_RSP && at.base != AT_RBP)
        return (struct value){.base = NOWHERE};
    return (struct value){.base = IN_MEMORY, .by_rbp = at.base == AT_RBP, .offset = at.offset};
}

static inline void decode_store(struct way *way, struct value at, struct value value) /* [handler] */
{
    uint32_t i = 0;
    while (i < way->saved_count && !decode_is_equal(way->saved[i].at, at))
        i++;
    if (at.base == NOWHERE || i == MAX_SAVED)
        return;
    way->saved[i] = (struct saved){at, value};
    way->saved_count += i == way->saved_count;
}

#define DECODE_BEGIN                                                                                                   \
    {                                                                                                                  \
        .rsp = {.base = AT_RSP},                                                                                       \
        .rbp = {.base = AT_RBP},                                                                                       \
        .link = {.base = IN_LINK},                                                                                     \
    }

enum outcome { GOES_ON, ENDS, RETURNS };

/* ---- of the machine ---- */

extern const size_t decode_scratch_bytes; /* that it needs in each decoder: the handler's stack may be small */
extern const size_t decode_most_bytes;    /* of an instruction */

/* What there is to know of an instruction besides. */
struct followed {
    size_t bytes; /* its length */
    unsigned branches;
    uintptr_t branch[2]; /* where ways go from it, but for the next instruction of one that goes on */
};

/* Executes the instruction that the way is at, whose bytes those are (as many as the longest one has, if there are so many): what it
 * does to the way's values, where it leads. followed: zero before. [handler] */
enum outcome decode_follow(void *scratch, struct way *way, const uint8_t *code, size_t room, struct followed *followed);

/* What a way that returns amounts to. [handler] */
bool decode_recipe(const struct way *way, struct recipe *recipe);

/* True if the bytes before a return address are a call. [handler] */
bool decoder_is_behind_call(uintptr_t ip);

#endif
