/* The memory: of each word the stores in their modification order, each with what its thread had released with it; of each
 * thread the latest store that it has seen of each word. docs/concurrency.md says which of C11 this is.
 *
 * The program's own memory has the last value of each word, but for a plain load: that finds the value that was chosen for it, until
 * the thread's next step. */
#include "tests/memory/model.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORDS  (1u << 15)
#define MAX_STORES (1u << 20)
#define MAX_LATE   4096u

struct message {
    uint64_t value, born;
    struct view view;
    uint32_t place; /* in the word's order */
    uint32_t word;
    bool of_update; /* nothing comes between it and the one before */
    bool sc_is_due; /* a sequentially consistent store whose place among all others is not fixed yet */
};

struct word {
    uintptr_t address;
    unsigned size;
    uint64_t before; /* the run */
    uint32_t count, room;
    uint32_t *order; /* messages */
    uint32_t sc;     /* the last that a sequentially consistent access left or saw */
};

struct thread_views {
    uint32_t seen[MAX_WORDS], released[MAX_WORDS],
        acquired[MAX_WORDS]; /* of each word; what the last release fence has, what the next acquire fence will have */
    uint32_t released_count;
};

static struct word words[MAX_WORDS];
static struct message messages[MAX_STORES];
static struct thread_views views[MODEL_THREADS];
static uint32_t sc_fences[MAX_WORDS];
static uint32_t word_count = 1, message_count, due[64], due_count;
static uint64_t staleness;
static struct model_chances chances;
static uint64_t salt;

static uint32_t late[MAX_LATE], late_count; /* words that have the value which a plain load finds */
static uintptr_t written;                   /* a plain store that is under way, or has been done */
static size_t written_bytes;

static uint32_t *seen_of(unsigned thread, uint32_t word)
{
    return &views[thread].seen[word];
}

static uint32_t place_of(uint32_t message)
{
    return messages[message].place; /* of message 0: 0 */
}

static uint64_t read_memory(uintptr_t address, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)address, size);
    return value;
}

static void write_memory(uintptr_t address, unsigned size, uint64_t value)
{
    memcpy((void *)address, &value, size);
}

static uint32_t new_message(uint32_t word, uint64_t value)
{
    if (message_count == MAX_STORES)
        abort();
    uint32_t number = message_count++;
    messages[number] = (struct message){.value = value, .born = model_steps, .word = word};
    return number;
}

static void insert(struct word *word, uint32_t message, uint32_t place)
{
    if (word->count == word->room) {
        uint32_t room = word->room ? 2 * word->room : 8, *order = pool_take(room * sizeof(*order));
        memcpy(order, word->order, word->count * sizeof(*order));
        word->order = order;
        word->room = room;
    }
    for (uint32_t i = word->count; i > place; i--) {
        word->order[i] = word->order[i - 1];
        messages[word->order[i]].place = i;
    }
    word->order[place] = message;
    messages[message].place = place;
    word->count++;
}

/* The word at the address; 0 if it was not written to and is not about to be. */
static uint32_t word_at(uintptr_t address, bool make, unsigned *size)
{
    uint32_t *word = cells_word(address, size);
    if (*word || !make)
        return *word;
    if (word_count == MAX_WORDS)
        abort();
    *word = word_count++;
    struct word *made = &words[*word];
    *made = (struct word){.address = address, .size = *size, .before = read_memory(address, *size)};
    uint32_t first = new_message(*word, made->before);
    insert(made, first, 0);
    messages[first].born = 0;
    made->sc = first;
    return *word;
}

static uint64_t last_value(const struct word *word)
{
    return messages[word->order[word->count - 1]].value;
}

void memory_begin_run(uint64_t steps, const struct model_chances *of)
{
    staleness = steps;
    chances = *of;
    uint32_t words_before = word_count;
    word_count = 1;
    message_count = 1;
    messages[0] = (struct message){0};
    due_count = late_count = 0;
    written = 0;
    salt = model_random(UINT64_MAX);
    memset(sc_fences, 0, words_before * sizeof(uint32_t));
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        memset(views[i].seen, 0, words_before * sizeof(uint32_t));
        memset(views[i].released, 0, words_before * sizeof(uint32_t));
        memset(views[i].acquired, 0, words_before * sizeof(uint32_t));
        views[i].released_count = 0;
    }
}

void memory_end_run(void)
{
    for (uint32_t i = 1; i < word_count; i++)
        write_memory(words[i].address, words[i].size, words[i].before);
}

static void join(uint32_t *into, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (from[i] && (!into[i] || place_of(from[i]) > place_of(into[i])))
            into[i] = from[i];
}

static bool is_acquire(enum order order)
{
    return order == ACQUIRE || order == ACQ_REL || order == SEQ_CST;
}

static bool is_release(enum order order)
{
    return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

static void raise_sc(struct word *word, uint32_t message)
{
    if (place_of(message) > place_of(word->sc))
        word->sc = message;
}

/* The place of a sequentially consistent store among all others is fixed when its thread, or one that has seen it, comes to its next
 * sequentially consistent access: until then others' may go before it, although it was made first. */
static void fix_due(void)
{
    const uint32_t *seen = views[model_thread].seen;
    uint32_t left = 0;
    for (uint32_t i = 0; i < due_count; i++) {
        uint32_t word = messages[due[i]].word;
        if (place_of(seen[word]) >= place_of(due[i]))
            raise_sc(&words[word], due[i]);
        else
            due[left++] = due[i];
    }
    due_count = left;
}

static void note_due(uint32_t message)
{
    if (due_count == sizeof(due) / sizeof(due[0])) {
        raise_sc(&words[messages[due[0]].word], due[0]);
        memmove(due, due + 1, --due_count * sizeof(due[0]));
    }
    due[due_count++] = message;
}

/* The first place that the thread may still read from. */
static uint32_t first_visible(const struct word *word, uint32_t seen, enum order order)
{
    uint32_t first = place_of(seen), at = word->count - 1;
    if (order == SEQ_CST && place_of(word->sc) > first)
        first = place_of(word->sc);
    while (at > first && messages[word->order[at]].born + staleness >= model_steps)
        at--;
    return at;
}

/* The value that a load gets. */
static uint32_t choose(const struct word *word, uint32_t number, enum order order)
{
    uint32_t first = first_visible(word, *seen_of(model_thread, number), order), range = word->count - first;
    if (range == 1)
        return word->order[first];
    if (chances.sticky) {
        uint64_t hash = (salt + number * 8 + model_thread) * 0x9e3779b97f4a7c15ull;
        return word->order[(hash >> 61) == 0 ? first : word->count - 1];
    }
    if (model_random(1000) >= chances.stale)
        return word->order[word->count - 1];
    uint64_t way = model_random(3);
    if (way == 0)
        return word->order[first];
    return word->order[way == 1 ? word->count - 2 : first + model_random(range)];
}

static void take_in(uint32_t message, enum order order)
{
    struct thread_views *view = &views[model_thread];
    uint32_t word = messages[message].word;
    if (place_of(message) >= place_of(view->seen[word]))
        view->seen[word] = message;
    join(view->acquired, messages[message].view.seen, messages[message].view.count);
    if (is_acquire(order))
        join(view->seen, messages[message].view.seen, messages[message].view.count);
    if (order == SEQ_CST)
        raise_sc(&words[word], message);
}

static void give_view(uint32_t message, enum order order, uint32_t read)
{
    struct thread_views *view = &views[model_thread];
    const uint32_t *from = is_release(order) ? view->seen : view->released;
    uint32_t count = is_release(order) ? word_count : view->released_count;
    uint32_t of_read = read ? messages[read].view.count : 0, longer = count > of_read ? count : of_read;
    if (!longer)
        return;
    uint32_t *seen = pool_take(longer * sizeof(*seen));
    memset(seen, 0, longer * sizeof(*seen));
    memcpy(seen, from, count * sizeof(*seen));
    if (read)
        join(seen, messages[read].view.seen, of_read);
    messages[message].view = (struct view){longer, seen};
}

/* Where a store goes: at the end, or, if no later store was seen by its thread, before some. */
static uint32_t choose_place(const struct word *word, uint32_t number, enum order order)
{
    uint32_t place = word->count, least = first_visible(word, *seen_of(model_thread, number), order) + 1;
    while (place > least && model_random(1000) < chances.between && !messages[word->order[place - 1]].of_update)
        place--;
    return place < word->count && messages[word->order[place]].of_update ? word->count : place;
}

static void store_word(uint32_t number, uint64_t value, enum order order, uint32_t place, uint32_t read)
{
    struct word *word = &words[number];
    uint32_t message = new_message(number, value);
    insert(word, message, place);
    messages[message].of_update = read != 0;
    *seen_of(model_thread, number) = message;
    give_view(message, order, read);
    if (order == SEQ_CST)
        note_due(message);
    write_memory(word->address, word->size, last_value(word));
}

/* What a plain store has written is a store like others, and a word that a plain load has found has its last value again. */
static void settle_written(void)
{
    uintptr_t at = written, end = written + written_bytes;
    unsigned size;
    written = 0;
    for (; at < end; at += size) {
        uint32_t number = word_at(at, true, &size);
        uint64_t value = read_memory(at, size);
        for (uint32_t i = 0; i < late_count; i++)
            if (late[i] == number)
                late[i--] = late[--late_count];
        store_word(number, value, RELAXED, choose_place(&words[number], number, RELAXED), 0);
    }
}

void memory_settle(void)
{
    if (written)
        settle_written();
    while (late_count) {
        const struct word *word = &words[late[--late_count]];
        write_memory(word->address, word->size, last_value(word));
    }
}

void memory_plain_read(uintptr_t address, size_t bytes)
{
    unsigned size;
    if (written && address < written + written_bytes && written < address + bytes)
        memory_settle();
    cells_mark(address, bytes);
    for (uintptr_t at = address; at < address + bytes; at += size) {
        uint32_t number = word_at(at, false, &size);
        if (!number)
            continue;
        uint32_t message = choose(&words[number], number, RELAXED);
        take_in(message, RELAXED);
        if (message == words[number].order[words[number].count - 1])
            continue;
        write_memory(at, size, messages[message].value);
        if (late_count == MAX_LATE)
            abort();
        late[late_count++] = number;
    }
}

void memory_plain_write(uintptr_t address, size_t bytes)
{
    unsigned size;
    if (written)
        settle_written();
    cells_mark(address, bytes);
    for (uintptr_t at = address; at < address + bytes; at += size)
        word_at(at, true, &size);
    written = address;
    written_bytes = bytes;
}

uint64_t memory_load(uintptr_t address, unsigned bytes, enum order order)
{
    uint64_t value = 0;
    unsigned size, done = 0;
    cells_mark(address, bytes);
    if (order == SEQ_CST)
        fix_due();
    for (; done < bytes; done += size) {
        uint32_t number = word_at(address + done, false, &size);
        uint64_t part = number ? 0 : read_memory(address + done, size);
        if (number) {
            uint32_t message = choose(&words[number], number, order);
            take_in(message, order);
            part = messages[message].value;
        }
        value |= part << 8 * done;
    }
    return value;
}

void memory_store(uintptr_t address, unsigned bytes, uint64_t value, enum order order)
{
    unsigned size, done = 0;
    cells_mark(address, bytes);
    if (order == SEQ_CST)
        fix_due();
    for (; done < bytes; done += size) {
        uint32_t number = word_at(address + done, true, &size);
        uint64_t part = size == 8 ? value : value >> 8 * done & ((1ull << 8 * size) - 1);
        store_word(number, part, order, choose_place(&words[number], number, order), 0);
    }
}

/* A word that is changed is one. */
static uint32_t whole_word(uintptr_t address, unsigned bytes)
{
    unsigned size;
    cells_mark(address, bytes);
    uint32_t number = word_at(address, true, &size);
    if (size != bytes)
        abort();
    return number;
}

/* What an update may read: no other update has read it, and that of which it takes the place behind may be seen. */
static uint32_t choose_for_update(const struct word *word, uint32_t number, enum order order)
{
    uint32_t last = word->count - 1, least = first_visible(word, *seen_of(model_thread, number), order), at = last;
    while (at > least && model_random(1000) < chances.between)
        at--;
    return at < last && messages[word->order[at + 1]].of_update ? word->order[last] : word->order[at];
}

uint64_t memory_update(uintptr_t address, unsigned size, enum order order,
                       uint64_t (*update)(uint64_t old, uint64_t operand), uint64_t operand)
{
    uint32_t number = whole_word(address, size);
    uint64_t mask = size == 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
    if (order == SEQ_CST)
        fix_due();
    uint32_t read = choose_for_update(&words[number], number, order);
    take_in(read, order);
    store_word(number, update(messages[read].value, operand) & mask, order, place_of(read) + 1, read);
    return messages[read].value;
}

/* One that fails may have seen an old value. */
bool memory_compare_exchange(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired, enum order success,
                             enum order failure)
{
    uint32_t number = whole_word(address, size);
    if (success == SEQ_CST)
        fix_due();
    const struct word *word = &words[number];
    uint32_t read = choose_for_update(word, number, success), old = choose(word, number, failure);
    if (messages[old].value != *expected || messages[read].value != *expected) {
        if (messages[old].value == *expected)
            old = read;
        take_in(old, failure);
        *expected = messages[old].value;
        return false;
    }
    take_in(read, success);
    store_word(number, desired, success, place_of(read) + 1, read);
    return true;
}

void memory_fence(enum order order)
{
    struct thread_views *view = &views[model_thread];
    if (is_acquire(order))
        join(view->seen, view->acquired, word_count);
    if (order == SEQ_CST) {
        fix_due();
        join(view->seen, sc_fences, word_count);
        join(sc_fences, view->seen, word_count);
    }
    if (is_release(order)) {
        memcpy(view->released, view->seen, word_count * sizeof(uint32_t));
        view->released_count = word_count;
    }
}
