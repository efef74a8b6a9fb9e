#include "ompt_tool/context/creation_memo.h"

#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/os.h"
#include "unwind/unwind.h"

#define STEPS      (1u << 19)
#define EDGES_BITS 16
#define EDGES      (1u << EDGES_BITS)
#define EDGES_MOST (EDGES / 4 * 3)
/* maximum number of steps of a path: two for each of 4,096 frames, and the last */
#define STEPS_PATH (2u * 4096u + 2u)
/* flag in edge.from: the other bits are the context of a creator, not the index of a step */
#define FROM_KEY  0x80000000u
#define NOT_SAVED INT64_MIN
#define UNSURE    16u

enum step_kind { STEP_RETURN, STEP_BASE, STEP_END, STEP_CUT };

struct step {
    uintptr_t word; /* RETURN: expected word; END: distance from base to the exit address */
    union {
        int32_t offset;   /* distance from base to the word to compare (RETURN) or to the saved rbp (BASE) */
        uint32_t context; /* END, CUT: context of the path */
    };
    uint16_t kind;
    /* END, CUT: bit i is set if the path goes through memo->unsure[i] */
    uint16_t unsure;
};

struct edge {
    uintptr_t word;
    /* index of a step whose word, at the same offset, is a different one; or FROM_KEY | key.creator */
    uint32_t from;
    uint32_t to; /* index of the step whose word is the one above; 0: the entry is empty */
};

struct creation_memo {
    uint32_t generation; /* generation of the load map when the memo was made */
    uint32_t unsure_count;
    /* code ranges that can be unloaded and through which kept paths go */
    const struct loadmap_range *unsure[UNSURE];
    /* number of steps in use; step 0 is never used, because 0 means "no step" */
    uint32_t used;
    uint32_t edge_count;
    /* The walk that is being noted. Its steps follow those in use. */
    struct creation_key key;
    bool usable;
    uint32_t noted;
    uint32_t noted_unsure; /* bit i is set if the noted path goes through unsure[i] */
    uintptr_t base;
    bool base_is_rbp; /* true if `base` equals the frame pointer of the next frame */
    /* if base_is_rbp is false: the frame pointer was saved at base + rbp_offset; NOT_SAVED: it was saved
     * elsewhere */
    int64_t rbp_offset;
    struct edge edges[EDGES];
    struct step steps[STEPS];
};

_Static_assert(sizeof(struct step) == 16, "four steps fill a cache line");
_Static_assert(sizeof(struct edge) == 16, "four edges fill a cache line");

struct creation_memo *creation_memo_make(void)
{
    struct creation_memo *memo = os_map(sizeof(*memo));
    if (memo) {
        memo->generation = loadmap_generation();
        memo->used = 1;
    }
    return memo;
}

void creation_memo_free(struct creation_memo *memo)
{
    os_unmap(memo, sizeof(*memo));
}

bool creation_memo_is_good(const struct creation_memo *memo)
{
    return memo->generation == loadmap_generation() && memo->used < STEPS - STEPS_PATH && memo->edge_count < EDGES_MOST;
}

struct creation_memo *creation_memo_for_more(struct creation_memo **memo)
{
    if (*memo && !creation_memo_is_good(*memo)) {
        creation_memo_free(*memo);
        *memo = NULL;
    }
    if (!*memo)
        *memo = creation_memo_make();
    return *memo;
}

/* Returns a word of the stack. Some of these words lie in AddressSanitizer's red zones. */
__attribute__((no_sanitize_address)) static inline uintptr_t word_at(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

/* Returns the index of the edge (from, word), or of the empty entry in which it belongs. */
static inline uint32_t memo_edge_place(const struct creation_memo *memo, uint32_t from, uintptr_t word)
{
    uint64_t hash = hash_number(word ^ (uint64_t)from << 40 ^ from);
    uint32_t place = (uint32_t)(hash >> (64 - EDGES_BITS));
    while (memo->edges[place].to && (memo->edges[place].from != from || memo->edges[place].word != word))
        place = (place + 1) % EDGES;
    return place;
}

static inline uint32_t memo_follow_edge(const struct creation_memo *memo, uint32_t from, uintptr_t word)
{
    return memo->edges[memo_edge_place(memo, from, word)].to;
}

static inline bool memo_key_has_address(const struct creation_key *key, uintptr_t address)
{
    return address >= key->low && address < key->high && address % sizeof(uintptr_t) == 0;
}

static __attribute__((noinline)) uint32_t memo_context_if_still_there(const struct creation_memo *memo,
                                                                      const struct step *end)
{
    for (uint32_t i = 0; i < memo->unsure_count; i++)
        if ((end->unsure & 1u << i) && !loadmap_is_callers(memo->unsure[i]))
            return 0;
    return end->context;
}

/* Returns the step that has this word at the offset of the given step; NULL if no kept path has such a step. */
static inline const struct step *memo_step_with_word(const struct creation_memo *memo, const struct step *step,
                                                     uintptr_t word)
{
    if (likely(step->word == word))
        return step;
    uint32_t at = memo_follow_edge(memo, (uint32_t)(step - memo->steps), word);
    return at ? &memo->steps[at] : NULL;
}

static inline uint32_t memo_end_context(const struct creation_memo *memo, const struct step *end, uintptr_t word)
{
    if (end->kind == STEP_END && !(end = memo_step_with_word(memo, end, word)))
        return 0;
    return likely(!end->unsure) ? end->context : memo_context_if_still_there(memo, end);
}

/* All addresses that are read here are aligned, because the key's `low` and `high` and all offsets are
 * multiples of a word. Each return address must be above the one before. For offsets from the same base, the
 * walk has checked this; for a base read from the stack, it is checked here. */
uint32_t creation_memo_find(const struct creation_memo *memo, const struct creation_key *key)
{
    uintptr_t base = key->low, high = key->high, lowest = base;
    if (unlikely(memo->generation != loadmap_generation()))
        return 0; /* other code may now be at the addresses in the memo */
    uint32_t at = memo_follow_edge(memo, FROM_KEY | key->creator, key->codeptr);
    if (unlikely(!at))
        return 0;
    for (const struct step *step = &memo->steps[at];; step++) {
        uintptr_t address = base + (uintptr_t)(intptr_t)step->offset;
        if (likely(step->kind == STEP_RETURN)) {
            if (unlikely(address >= high) || unlikely(!(step = memo_step_with_word(memo, step, word_at(address)))))
                return 0;
            lowest = address + sizeof(uintptr_t);
        } else if (step->kind == STEP_BASE) {
            if (!memo_key_has_address(key, address) || !memo_key_has_address(key, base = word_at(address)) ||
                base + (uintptr_t)(intptr_t)step[1].offset < lowest)
                return 0;
        } else {
            return memo_end_context(memo, step, high - base);
        }
    }
}

void creation_memo_begin(struct creation_memo *memo, const struct creation_key *key)
{
    memo->key = *key;
    memo->usable = true;
    memo->noted = 0;
    memo->noted_unsure = 0;
    memo->base = key->low;
    memo->base_is_rbp = false;
    memo->rbp_offset = NOT_SAVED;
}

static struct step *memo_note_step(struct creation_memo *memo, enum step_kind kind)
{
    struct step *step = &memo->steps[memo->used + memo->noted];
    if (memo->used + memo->noted >= STEPS - 1) {
        memo->usable = false; /* the path is longer than BLAME_DEPTH allows */
        return step;
    }
    memo->noted++;
    step->kind = (uint16_t)kind;
    step->unsure = 0;
    step->word = 0;
    return step;
}

/* Notes a step that sets `base` to the frame pointer, because the next frame's CFA is relative to it. */
static void memo_note_base(struct creation_memo *memo, uintptr_t rbp)
{
    if (memo->base_is_rbp)
        return;
    if (memo->rbp_offset == NOT_SAVED) {
        memo->usable = false;
        return;
    }
    memo_note_step(memo, STEP_BASE)->offset = (int32_t)memo->rbp_offset;
    memo->base = rbp;
    memo->base_is_rbp = true;
}

/* Notes where this frame saved its caller's frame pointer. */
static void memo_note_rbp(struct creation_memo *memo, const struct unwind_frame *frame)
{
    if (frame->recipe.rbp == RECIPE_RBP_SAME)
        return;
    uintptr_t slot = frame->cfa + recipe_r(frame->recipe);
    memo->base_is_rbp = false;
    memo->rbp_offset = NOT_SAVED;
    if (frame->recipe.rbp == RECIPE_RBP_AT_CFA && memo_key_has_address(&memo->key, slot))
        memo->rbp_offset = (int64_t)(slot - memo->base);
}

/* Checks the frame of the runtime's function that the program called. Its return address must be at low + 8. */
static void memo_note_first_frame(struct creation_memo *memo, uintptr_t slot)
{
    if (slot != memo->key.low + sizeof(uintptr_t) || word_at(slot) != memo->key.codeptr)
        memo->usable = false; /* the return address is not where the runtime says it is */
}

/* Notes a code range that can be unloaded. Another library may then be loaded at its addresses, so each
 * search that finds the path checks the range. */
static void memo_note_code_range(struct creation_memo *memo, const struct loadmap_range *range)
{
    uint32_t at = 0;
    if (range->permanent)
        return;
    while (at < memo->unsure_count && memo->unsure[at] != range)
        at++;
    if (at == UNSURE) {
        memo->usable = false;
        return;
    }
    memo->unsure[at] = range;
    memo->unsure_count += at == memo->unsure_count;
    memo->noted_unsure |= 1u << at;
}

void creation_memo_note(struct creation_memo *memo, const struct unwind_frame *frame)
{
    uintptr_t slot = recipe_return_slot(frame->recipe, frame->cfa);
    if (!memo->usable || !frame->cfa || slot < memo->key.low)
        return; /* this is the outermost frame, or a frame of the tool or of the runtime */
    memo_note_code_range(memo, frame->range);
    if (!memo_key_has_address(&memo->key, slot)) {
        /* this should be the runtime's frame that called the task's code */
        memo->usable = frame->stack < memo->key.high && slot >= memo->key.high;
        return;
    }
    if (memo->noted == 0)
        memo_note_first_frame(memo, slot);
    else if (frame->recipe.cfa == RECIPE_CFA_RBP)
        memo_note_base(memo, frame->cfa - (uintptr_t)(intptr_t)frame->recipe.cfa_offset);
    else if (frame->recipe.cfa != RECIPE_CFA_RSP)
        memo->usable = false;
    if (!memo->usable)
        return;
    struct step *step = memo_note_step(memo, STEP_RETURN);
    step->offset = (int32_t)(slot - memo->base);
    step->word = word_at(slot);
    memo_note_rbp(memo, frame);
}

void creation_memo_spoil(struct creation_memo *memo)
{
    memo->usable = false;
}

/* Follows the noted steps as far as they equal those of kept paths, and returns their number. Stores in *from
 * where an edge to the remaining steps must start: at the last equal step, or at the key. */
static uint32_t memo_known_steps(struct creation_memo *memo, const struct step *noted, uint32_t *from)
{
    uint32_t at = memo_follow_edge(memo, *from, memo->key.codeptr);
    if (!at)
        return 0;
    for (uint32_t count = 0; count < memo->noted; count++, at++) {
        const struct step *step = &memo->steps[at];
        bool has_offset = step->kind == STEP_RETURN || step->kind == STEP_BASE;
        *from = at;
        if (step->kind != noted[count].kind || (has_offset && step->offset != noted[count].offset)) {
            memo->usable = false; /* the words are equal, but the unwinder took another step */
            return count;
        }
        if (step->word != noted[count].word && !(at = memo_follow_edge(memo, at, noted[count].word)))
            return count;
    }
    memo->usable = false; /* the path is known already */
    return memo->noted;
}

bool creation_memo_keep(struct creation_memo *memo, bool cut, uint32_t context)
{
    if (!memo->usable || memo->noted == 0)
        return false;
    struct step *end = memo_note_step(memo, cut ? STEP_CUT : STEP_END), *noted = &memo->steps[memo->used];
    end->word = cut ? 0 : memo->key.high - memo->base;
    end->context = context;
    end->unsure = (uint16_t)memo->noted_unsure;
    uint32_t from = FROM_KEY | memo->key.creator;
    uint32_t known = memo->usable ? memo_known_steps(memo, noted, &from) : 0;
    if (!memo->usable)
        return false;
    uintptr_t word = known || !(from & FROM_KEY) ? noted[known].word : memo->key.codeptr;
    memmove(noted, noted + known, (memo->noted - known) * sizeof(*noted));
    memo->edges[memo_edge_place(memo, from, word)] = (struct edge){word, from, memo->used};
    memo->edge_count++;
    memo->used += memo->noted - known;
    return true;
}
