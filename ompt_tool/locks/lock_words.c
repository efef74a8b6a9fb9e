#include "ompt_tool/locks/lock_words.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "base/os.h"

#define BITS    10
#define IS_LOCK ((uintptr_t)1) /* in an entry: beside the address, which is a multiple of 4 */

static uintptr_t words[1u << BITS];

static uintptr_t *lock_word_entry(uintptr_t word)
{
    return &words[hash_number(word) >> (64 - BITS)];
}

bool lock_word_waits(uintptr_t word, uint32_t value)
{
    uintptr_t *entry = lock_word_entry(word), known = load_relaxed(entry);
    if (value != 2 && value != 3) {
        if (known == (word | IS_LOCK))
            store_relaxed(entry, 0);
        return false;
    }
    if (known != word && known != (word | IS_LOCK))
        store_relaxed(entry, word);
    return known == (word | IS_LOCK);
}

void lock_word_wakes(uintptr_t word)
{
    uintptr_t *entry = lock_word_entry(word);
    uint32_t value;
    if (load_relaxed(entry) == word && os_copy_memory(&value, word, sizeof(value)) && value == 0)
        store_relaxed(entry, word | IS_LOCK);
}
