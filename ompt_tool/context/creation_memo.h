/* Known paths of task creations: what to compare on the stack to recognise a path without a walk.
 *
 * A path is a program of steps over the stack, from the runtime's frame outward, with one register, `base`:
 *
 *     RETURN offset, word   the return address at base + offset is word: it identifies the next frame's code
 *                           and thus the distance to that frame's own return address, if its CFA is rsp + k
 *     BASE offset           base = the rbp saved at base + offset: the next frame's CFA is rbp + k
 *     END word, context     the creating task's first frame is reached: its exit address is base + word
 *     CUT context           BLAME_DEPTH frames are reached
 *
 * Every step is what the unwinder does there, so a path that fits is the same path. Frames of varying size
 * (VLA, alloca) only move base. The paths form a tree: they share their steps up to the first word that
 * differs, where an edge (step, word) leads on. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CREATION_MEMO_H
#define BLAME_OMPT_TOOL_CONTEXT_CREATION_MEMO_H

#include <stdbool.h>
#include <stdint.h>

struct creation_memo;
struct unwind_frame;

/* What is known of a creation before its path. Each pair of creator and codeptr has its own paths. */
struct creation_key {
    uint32_t creator;  /* context of the creating task */
    uintptr_t codeptr; /* the program's call of the runtime: the return address at low + 8 */
    /* the creating task's part of the stack: from the runtime's frame to the task's first frame */
    uintptr_t low, high;
};

/* Returns an empty memo; NULL without memory. Its pages are touched only as paths come. [owner] */
struct creation_memo *creation_memo_make(void);
void creation_memo_free(struct creation_memo *memo); /* [owner] */

/* Returns false if the memo is full, or belongs to an earlier load map: other code may then be at its
 * addresses. [owner] */
bool creation_memo_is_good(const struct creation_memo *memo);

/* Returns *memo while it is good, otherwise a new one in its place; NULL without memory. [owner] */
struct creation_memo *creation_memo_for_more(struct creation_memo **memo);

/* Returns the context of the path on the stack, 0 if unknown. [owner] */
uint32_t creation_memo_find(const struct creation_memo *memo, const struct creation_key *key);

/* Begins to note the frames of a walk. Steps that are not kept are lost at the next call. [owner] */
void creation_memo_begin(struct creation_memo *memo, const struct creation_key *key);

/* Notes the walk's next frame. The handler's walks have no memo. [handler] */
void creation_memo_note(struct creation_memo *memo, const struct unwind_frame *frame);

/* Prevents the path from being kept: its frames alone do not identify it. [handler] */
void creation_memo_spoil(struct creation_memo *memo);

/* Keeps the noted path. Returns false if a frame was left in a way that the steps cannot express. cut:
 * BLAME_DEPTH cut the path. [owner] */
bool creation_memo_keep(struct creation_memo *memo, bool cut, uint32_t context);

#endif
