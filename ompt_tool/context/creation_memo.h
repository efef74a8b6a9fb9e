/* Paths of task creations that were walked before: what to compare on the stack so that another creation is
 * known to have the same path without a walk.
 *
 * A path is a program of steps over the stack, from the runtime's frame outward, with one register, `base`:
 *
 *     RETURN offset, word   the return address at base + offset is word: it tells the next frame's code, and
 *                           so how far away that frame's own return address is, if its CFA is rsp + k
 *     BASE offset           base = the rbp saved at base + offset: the next frame's CFA is rbp + k
 *     END word, context     the creating task's first frame is reached: its exit address is base + word
 *     CUT context           BLAME_DEPTH frames are reached
 *
 * Every step is what the unwinder does there, so a path that fits is the same path. Frames of varied size
 * (VLA, alloca) move base and nothing else. Paths are kept as a tree: they share their steps up to the first
 * word that differs, where an edge (step, word) leads on. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CREATION_MEMO_H
#define BLAME_OMPT_TOOL_CONTEXT_CREATION_MEMO_H

#include <stdbool.h>
#include <stdint.h>

struct creation_memo;
struct unwind_frame;

/* What is known of a creation before its path: paths are kept apart by creator and codeptr. */
struct creation_key {
    uint32_t creator;    /* context of the creating task */
    uintptr_t codeptr;   /* where the program called the runtime, and so the return address at low + 8 */
    uintptr_t low, high; /* the creating task's part of the stack: the runtime's frame, the task's first */
};

/* No paths; NULL when there is no memory. Memory is touched as paths come. [owner] */
struct creation_memo *creation_memo_make(void);
void creation_memo_free(struct creation_memo *memo); /* [owner] */

/* False when other paths are to be forgotten before there is room for more, or because the load map is
 * another one: then what is at an address may be other code. [owner] */
bool creation_memo_is_good(const struct creation_memo *memo);

/* *memo as long as it is good, else a new one in its place; NULL when there is no memory. [owner] */
struct creation_memo *creation_memo_for_more(struct creation_memo **memo);

/* The context of the path on the stack, 0 if it is not known. [owner] */
uint32_t creation_memo_find(const struct creation_memo *memo, const struct creation_key *key);

/* Begins to note the frames of a walk. The steps get lost with the next begin if nobody keeps them. [owner] */
void creation_memo_begin(struct creation_memo *memo, const struct creation_key *key);

/* The walk's next frame. The handler's walks have no memo. [handler] */
void creation_memo_note(struct creation_memo *memo, const struct unwind_frame *frame);

/* The path is not to be kept: more than its frames tells it from others. [handler] */
void creation_memo_spoil(struct creation_memo *memo);

/* Keeps the path that was noted, unless a frame was left by other means than the above. cut: by BLAME_DEPTH.
 * [owner] */
bool creation_memo_keep(struct creation_memo *memo, bool cut, uint32_t context);

#endif
