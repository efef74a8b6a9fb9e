/* The word that OMPT gives the tool in the runtime's data of each task. The tool allocates nothing for a
 * task.
 *
 *     bit 0       the task waits in a barrier, taskwait or taskgroup; a thread's state follows its current
 *     task
 *     bits 1-7    the kind of that wait (enum profile_place_kind)
 *     bits 8-31   the measurement's epoch (region_epoch): a forked child must not use its parent's contexts
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

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "words are little-endian: the first byte holds the lowest bits");

/* Stores TASK_WAIT(kind), or 0 at the end of the wait, in the word's lowest byte. Only one byte is stored, so
 * that the word, which the start of the wait has just stored, need not be read. [owner] */
static inline void task_word_set_wait(uint64_t *word, uint32_t wait)
{
    store_relaxed((uint8_t *)word, (uint8_t)wait);
}

/* Returns the word for a new task with this creation context. [owner] */
static inline uint64_t task_word(uint32_t context)
{
    return (uint64_t)context << 32 | (region_epoch & TASK_EPOCH_MASK) << 8;
}

/* Returns the creation context in a task's word; 0 if it has none. [handler] */
static inline uint32_t task_word_context(uint64_t word)
{
    return ((uint32_t)word >> 8) == (region_epoch & TASK_EPOCH_MASK) ? (uint32_t)(word >> 32) : 0;
}

#endif
