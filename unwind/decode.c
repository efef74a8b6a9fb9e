#include "unwind/decode.h"

#include <string.h>

#include "base/atomics.h"
#include "base/os.h"

#define MAX_INSTRUCTIONS 8000u /* maximum number of instructions that one search follows */
/* number of instructions that each walk adds to the allowance (the number that may still be followed) */
#define WALK_ALLOWANCE 2000u
#define MAX_ALLOWANCE  10000u /* maximum allowance, including the part that earlier walks have not used */
/* maximum number of ways (control flow paths, see unwind/decode_way.h) in one search */
#define MAX_WAYS       512u
#define MAX_CANDIDATES 8u   /* maximum number of recipes that one search tries */
#define WINDOW         256u /* number of bytes of code read at once */
#define RUNS           256u /* maximum number of code ranges for which recipes are kept */

struct run {
    uintptr_t start, end;
    struct recipe recipe;
};

struct decoder {
    struct run runs[RUNS];
    uint32_t run_count; /* number of ranges ever added; a new range overwrites the oldest */
    /* The next fields describe the current search. */
    struct way ways[MAX_WAYS];
    uint32_t way_count, next_way;
    uint32_t instructions; /* number of instructions followed in this search */
    uint32_t allowance;    /* number of instructions that this and later searches may still follow */
    /* code ranges in which rsp and rbp still have the values of the start of the search */
    struct run passed[RUNS];
    uint32_t passed_count;
    uintptr_t window_start;
    size_t window_bytes;
    uint8_t window[WINDOW];
    max_align_t scratch[]; /* memory that decode_follow() uses */
};

struct decoder *decoder_make(void)
{
    struct decoder *decoder = os_map(sizeof(*decoder) + decode_scratch_bytes);
    if (!decoder)
        return NULL;
    decoder->allowance = MAX_ALLOWANCE;
    return decoder;
}

void decoder_begin_walk(struct decoder *decoder)
{
    uint32_t saved = decoder->allowance + WALK_ALLOWANCE;
    decoder->allowance = saved < MAX_ALLOWANCE ? saved : MAX_ALLOWANCE;
}

void decoder_forget(struct decoder *decoder)
{
    decoder->run_count = 0;
    memset(decoder->runs, 0, sizeof(decoder->runs));
}

/* Reads WINDOW bytes of code at ip. If the next page is not readable, reads only up to the end of this page. */
static bool decoder_read_window(struct decoder *decoder, uintptr_t ip)
{
    size_t to_page = 4096 - ip % 4096;
    decoder->window_start = ip;
    decoder->window_bytes = WINDOW;
    if (os_copy_memory(decoder->window, ip, WINDOW))
        return true;
    decoder->window_bytes = to_page < WINDOW && os_copy_memory(decoder->window, ip, to_page) ? to_page : 0;
    return decoder->window_bytes > 0;
}

/* Returns the code at an address, and stores the number of readable bytes there in *room, which may be 0. */
static const uint8_t *decoder_code_at(struct decoder *decoder, uintptr_t ip, size_t *room)
{
    uintptr_t offset = ip - decoder->window_start;
    *room = 0;
    if ((offset >= decoder->window_bytes || decoder->window_bytes - offset < decode_most_bytes) &&
        !decoder_read_window(decoder, ip))
        return NULL;
    offset = ip - decoder->window_start;
    *room = decoder->window_bytes - offset;
    return decoder->window + offset;
}

/* Adds a way that continues `from` at ip, unless another way already begins at ip. */
static void decoder_add_way(struct decoder *decoder, const struct way *from, uintptr_t ip)
{
    for (uint32_t i = 0; i < decoder->way_count; i++)
        if (decoder->ways[i].ip == ip)
            return;
    if (decoder->way_count == MAX_WAYS)
        return;
    struct way *way = &decoder->ways[decoder->way_count++];
    *way = *from;
    way->ip = ip;
}

static bool decoder_way_is_unchanged(const struct way *way)
{
    return way->rsp.base == AT_RSP && way->rsp.offset == 0 && way->rbp.base == AT_RBP && way->rbp.offset == 0 &&
           way->saved_count == 0;
}

static void decoder_note_passed_code(struct decoder *decoder, uintptr_t start, uintptr_t end)
{
    if (end > start && decoder->passed_count < RUNS)
        decoder->passed[decoder->passed_count++] = (struct run){.start = start, .end = end};
}

/* Follows one way to its end, and adds the ways that branch off. Returns true if the way reaches a return. */
static bool decoder_follow_way(struct decoder *decoder, struct way way)
{
    uintptr_t start = way.ip;
    bool as_at_begin = decoder_way_is_unchanged(&way);
    enum outcome outcome = GOES_ON;
    const uint8_t *code;
    size_t room;
    while (outcome == GOES_ON && decoder->instructions < MAX_INSTRUCTIONS && decoder->allowance > 0 &&
           (code = decoder_code_at(decoder, way.ip, &room)) != NULL) {
        struct followed followed = {.bytes = 0};
        decoder->instructions++;
        decoder->allowance--;
        outcome = decode_follow(decoder->scratch, &way, code, room, &followed);
        for (unsigned i = 0; i < followed.branches; i++)
            decoder_add_way(decoder, &way, followed.branch[i]);
        way.ip += followed.bytes;
        if (as_at_begin && (outcome != GOES_ON || !decoder_way_is_unchanged(&way))) {
            as_at_begin = false;
            decoder_note_passed_code(decoder, start, way.ip);
        }
        if (outcome == RETURNS)
            decoder->ways[decoder->next_way - 1] = way;
    }
    return outcome == RETURNS;
}

static void decoder_keep_recipe(struct decoder *decoder, const struct recipe *recipe)
{
    /* the recipe holds only while x30 is unchanged, which is not tracked for the passed code */
    if (recipe->rbp == RECIPE_RBP_IN_LINK)
        return;
    for (uint32_t i = 0; i < decoder->passed_count; i++) {
        struct run *run = &decoder->runs[decoder->run_count++ % RUNS];
        *run = decoder->passed[i];
        run->recipe = *recipe;
    }
}

bool decoder_find(struct decoder *decoder, uintptr_t ip, bool (*accept)(const struct recipe *recipe, void *argument),
                  void *argument, struct recipe *recipe)
{
    unsigned candidates = 0;
    for (uint32_t i = 0; i < RUNS; i++)
        if (ip >= decoder->runs[i].start && ip < decoder->runs[i].end) {
            *recipe = decoder->runs[i].recipe;
            if (recipe->cfa == RECIPE_SLOW)
                return false; /* an earlier search from a nearby instruction found no recipe */
            if (accept(recipe, argument))
                return true;
        }
    decoder->way_count = decoder->next_way = decoder->instructions = decoder->passed_count = 0;
    decoder->window_bytes = 0;
    const struct way begin = DECODE_BEGIN;
    decoder_add_way(decoder, &begin, ip);
    while (decoder->next_way < decoder->way_count && candidates < MAX_CANDIDATES &&
           decoder->instructions < MAX_INSTRUCTIONS && decoder->allowance > 0) {
        uint32_t number = decoder->next_way++;
        if (!decoder_follow_way(decoder, decoder->ways[number]) || !decode_recipe(&decoder->ways[number], recipe))
            continue;
        candidates++;
        if (accept(recipe, argument)) {
            decoder_keep_recipe(decoder, recipe);
            return true;
        }
    }
    if (decoder->allowance > 0)
        decoder_keep_recipe(decoder, &(struct recipe){.cfa = RECIPE_SLOW});
    return false;
}
