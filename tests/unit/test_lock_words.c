/* Which words on which threads sleep are locks. Each test has words of its own. */
#include "ompt_tool/locks/lock_words.h"

#include <sys/mman.h>

#include "tests/unit/unit.h"

#define HELD   2u
#define HELD_Q 3u /* Qt's */

static bool waits(const uint32_t *word)
{
    return lock_word_waits((uintptr_t)word, *word);
}

/* Sets the word and wakes one of those that sleep on it. */
static void wakes_at(uint32_t *word, uint32_t value)
{
    *word = value;
    lock_word_wakes((uintptr_t)word);
}

UNIT_TEST(a_word_is_a_lock_after_its_first_contended_release)
{
    static uint32_t words[2] = {HELD, HELD_Q};
    for (int i = 0; i < 2; i++) {
        uint32_t held = words[i];
        assert_false(waits(&words[i]));
        assert_false(waits(&words[i]));
        wakes_at(&words[i], 0);
        words[i] = held;
        assert_true(waits(&words[i]));
    }
}

UNIT_TEST(a_lock_that_another_thread_gets_before_the_wake_is_known_at_the_next)
{
    static uint32_t word = HELD;
    assert_false(waits(&word));
    wakes_at(&word, 1);
    word = HELD;
    assert_false(waits(&word));
    wakes_at(&word, 0);
    word = HELD;
    assert_true(waits(&word));
}

UNIT_TEST(memory_that_is_used_anew_is_no_lock)
{
    static uint32_t word = HELD;
    assert_false(waits(&word));
    wakes_at(&word, 0);
    word = HELD;
    assert_true(waits(&word));
    word = 7;
    assert_false(waits(&word));
    word = HELD;
    assert_false(waits(&word));
}

UNIT_TEST(a_counter_a_parker_and_a_semaphore_are_no_locks)
{
    static uint32_t counter = 0, parker = 1, semaphore = 0;
    for (int i = 0; i < 8; i++) {
        assert_false(waits(&counter));
        wakes_at(&counter, counter + 1);
        parker = i % 2 ? 1 : UINT32_MAX;
        assert_false(waits(&parker));
        wakes_at(&parker, 0);
        semaphore = 0;
        assert_false(waits(&semaphore));
        wakes_at(&semaphore, 1);
    }
}

UNIT_TEST(who_wakes_may_find_that_the_words_memory_has_gone)
{
    uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *word = HELD;
    assert_false(waits(word));
    munmap(word, 4096);
    lock_word_wakes((uintptr_t)word);
    assert_false(lock_word_waits((uintptr_t)word, HELD));
}

UNIT_TEST(a_word_that_is_displaced_is_found_again)
{
    static uint32_t words[5000];
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 5000; i++) {
            words[i] = HELD;
            assert_false(waits(&words[i]) && turn == 0);
            wakes_at(&words[i], 0);
            words[i] = HELD;
            assert_true(waits(&words[i]));
        }
}

UNIT_MAIN(NULL, NULL)
