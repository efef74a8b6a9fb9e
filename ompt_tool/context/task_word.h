/* What the tool keeps in the runtime's own data of a task: one word, so that nothing is allocated per task.
 *
 *     bit 0       the task waits in a barrier, taskwait or taskgroup: so a thread's state follows its current
 *                 task and no depth can drift
 *     bits 1-7    and this is the kind of wait (enum profile_place_kind)
 *     bits 8-31   the measurement's epoch (region_epoch): a forked child must not follow its parent's contexts
 *     bits 32-63  creation context: a trie node, 0 for none (BLAME_TASKS=creation) */
#ifndef BLAME_OMPT_TOOL_CONTEXT_TASK_WORD_H
#define BLAME_OMPT_TOOL_CONTEXT_TASK_WORD_H

#include <stdint.h>

#include "base/atomics.h"
#include "cct/deferred/region.h"

#define TASK_WAITING         1u
#define TASK_WAIT(kind)      (TASK_WAITING | (uint64_t)(kind) << 1)
#define TASK_WAIT_KIND(word) (((uint32_t)(word) & 0xffu) >> 1)

#define TASK_EPOCH_MASK 0xffffffu

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte has the lowest bits");

/* TASK_WAIT of a kind, or 0. Stored as the byte that it is: the end of a wait need not read what its begin has just stored. [owner] */
static inline void task_word_set_wait(uint64_t *word, uint32_t wait)
{
    store_relaxed((uint8_t *)word, (uint8_t)wait);
}

/* The word of a new task. [owner] */
static inline uint64_t task_word(uint32_t context)
{
    return (uint64_t)context << 32 | (region_epoch & TASK_EPOCH_MASK) << 8;
}

/* The creation context in a task's word, 0 when it has none. [handler] */
static inline uint32_t task_word_context(uint64_t word)
{
    return ((uint32_t)word >> 8) == (region_epoch & TASK_EPOCH_MASK) ? (uint32_t)(word >> 32) : 0;
}

#endif
