/* Connects the search for a function's return (unwind/decode.c) with the code that knows the machine's
 * instructions (unwind/decode_MACHINE.c). A way is one control flow path that the search follows. */
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
}; /* values that rsp, rbp and x30 (only aarch64) had where the search began */

/* What is known about a register's value: base + offset. For IN_MEMORY, the value is the word at that
 * address, which is relative to rsp, or to rbp if by_rbp is set. */
struct value {
    uint8_t base;   /* enum base */
    uint8_t by_rbp; /* for IN_MEMORY: true if the address is relative to rbp */
    int32_t offset;
};

struct saved {
    struct value at, value;
};

/* The position of a way: its next instruction, and what the instructions so far have done to the registers. */
struct way {
    uintptr_t ip;
    struct value rsp, rbp;
    struct value link; /* aarch64 only */
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

/* ---- defined for each machine ---- */

/* number of bytes of memory that decode_follow() needs in each decoder; not on the stack, because the
 * handler's stack may be small */
extern const size_t decode_scratch_bytes;
extern const size_t decode_most_bytes; /* length of the longest instruction in bytes */

/* Where control goes after an instruction. */
struct followed {
    size_t bytes; /* its length */
    unsigned branches;
    /* addresses at which other ways begin; if this way ends here, the next instruction may be one of them */
    uintptr_t branch[2];
};

/* Executes the instruction at the way's address: changes the way's registers and fills in *followed, which
 * the caller has zeroed. `code` has `room` readable bytes. Returns whether the way continues, ends, or
 * returns from the function. [handler] */
enum outcome decode_follow(void *scratch, struct way *way, const uint8_t *code, size_t room, struct followed *followed);

/* Computes the recipe from a way that has reached a return. Returns false if no recipe can express its
 * effects. [handler] */
bool decode_recipe(const struct way *way, struct recipe *recipe);

/* Returns true if the instruction before this address is a call. [handler] */
bool decoder_is_behind_call(uintptr_t ip);

#endif
