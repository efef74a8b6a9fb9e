/* Recognises known paths of task creations by comparing words of the stack, without a walk.
 *
 * A path is stored as a list of steps over the stack, from the runtime's frame outward. The steps use one
 * register, `base`, which begins at the key's `low`:
 *
 *     RETURN offset, word   the return address at base + offset must be word: it identifies the next frame's
 *                           code, and so the distance to that frame's own return address, if its CFA is rsp +
 *                           k
 *     BASE offset           base = the rbp saved at base + offset: the next frame's CFA is rbp + k
 *     END word, context     the creating task's first frame is reached: its exit address is base + word
 *     CUT context           BLAME_DEPTH frames have been compared
 *
 * Each step does what the unwinder does there, so a stack that fits the steps has the same path. Frames of
 * varying size (VLA, alloca) only move base. The paths form a tree: they share their steps up to the first
 * word that differs. There, an edge (step, word) leads to the steps for the other word. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CREATION_MEMO_H
#define BLAME_OMPT_TOOL_CONTEXT_CREATION_MEMO_H

#include <stdbool.h>
#include <stdint.h>

struct creation_memo;
struct unwind_frame;

/* What is known about a creation before its path is compared. Each pair of creator and codeptr has its own
 * set of paths. */
struct creation_key {
    uint32_t creator;  /* trie node of the creating task's context */
    uintptr_t codeptr; /* return address of the program's call into the runtime, stored at low + 8 */
    /* bounds of the creating task's part of the stack, from the runtime's frame to the task's first frame */
    uintptr_t low, high;
};

/* Returns an empty memo; NULL if there is no memory. Its pages take up memory only when paths are stored in
 * them. [owner] */
struct creation_memo *creation_memo_make(void);
void creation_memo_free(struct creation_memo *memo); /* [owner] */

/* Returns false if the memo is full, or if the load map has changed since the memo was made, so that other
 * code may be at the memo's addresses. [owner] */
bool creation_memo_is_good(const struct creation_memo *memo);

/* Returns *memo if it is still good, otherwise a new memo that takes its place; NULL if there is no memory.
 * [owner] */
struct creation_memo *creation_memo_for_more(struct creation_memo **memo);

/* Returns the context of the path that is now on the stack; 0 if the memo does not have the path. [owner] */
uint32_t creation_memo_find(const struct creation_memo *memo, const struct creation_key *key);

/* Starts noting the frames of a walk. Discards notes of an earlier walk that were not kept. [owner] */
void creation_memo_begin(struct creation_memo *memo, const struct creation_key *key);

/* Notes the next frame of a walk. The handler's walks never have a memo. [handler] */
void creation_memo_note(struct creation_memo *memo, const struct unwind_frame *frame);

/* Prevents the current path from being kept, because its frames alone do not identify it. [handler] */
void creation_memo_spoil(struct creation_memo *memo);

/* Keeps the noted path and its context. Returns false if steps cannot express the path, or if the path is
 * known already. `cut` says that the path ends after BLAME_DEPTH frames. [owner] */
bool creation_memo_keep(struct creation_memo *memo, bool cut, uint32_t context);

#endif
