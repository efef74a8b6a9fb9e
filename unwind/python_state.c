#include "unwind/python_state.h"

#include <pthread.h>

#include "base/os.h"
#include "unwind/python_layout.h"

static const unsigned char *python_runtime; /* address of _PyRuntime */

static int python_lock_state(const unsigned char *lock)
{
    int locked;
    memcpy(&locked, lock + python_layout.lock_locked, sizeof(locked));
    return locked;
}

const char *python_state_init(const unsigned char *runtime)
{
    unsigned char lock[PYTHON_LOCK_BYTES];
    python_runtime = runtime;
    if (!os_copy_memory(lock, (uintptr_t)runtime + python_layout.runtime_lock, sizeof(lock)))
        return "neither process_vm_readv nor /proc/self/mem is allowed here";
    /* -1: the lock has not been created yet */
    if (python_layout.runtime_lock && (python_lock_state(lock) < -1 || python_lock_state(lock) > 1))
        return "the lock is not where Python of this version has it";
    return NULL;
}

static bool python_read_word(uintptr_t address, uintptr_t *word)
{
    return address % sizeof(*word) == 0 && os_copy_memory(word, address, sizeof(*word));
}

static void python_add_part(struct os_part *parts, size_t *count, uintptr_t *to, uintptr_t object, uint32_t offset)
{
    if (offset)
        parts[(*count)++] = (struct os_part){to, object + offset, sizeof(*to)};
}

bool python_read_record(uintptr_t address, struct python_record *record)
{
    const struct os_part parts[] = {
        {&record->frame, address + python_layout.record_frame, sizeof(record->frame)},
        {&record->previous, address + python_layout.record_previous, sizeof(record->previous)}};
    return os_copy_parts(parts, 2);
}

_Static_assert(sizeof(struct python_state) <= OS_MAX_PARTS * sizeof(uintptr_t), "each word may be a part");

bool python_read_state(uintptr_t address, struct python_state *state)
{
    struct os_part parts[OS_MAX_PARTS];
    struct python_record record;
    size_t count = 0;
    *state = (struct python_state){0};
    python_add_part(parts, &count, &state->self, address, python_layout.state_self);
    python_add_part(parts, &count, &state->frame, address, python_layout.state_frame);
    python_add_part(parts, &count, &state->record, address, python_layout.state_record);
    python_add_part(parts, &count, &state->interpreter, address, python_layout.state_interpreter);
    python_add_part(parts, &count, &state->next, address, python_layout.state_next);
    if (python_layout.state_next) /* state_previous is 0 */
        parts[count++] = (struct os_part){&state->previous, address + python_layout.state_previous, sizeof(uintptr_t)};
    if (address % sizeof(uintptr_t) != 0 || !os_copy_parts(parts, count))
        return false;
    if (python_layout.state_frame)
        return true;
    if (!python_read_record(state->record, &record))
        return false;
    state->frame = record.frame;
    return true;
}

/* Reads the state at this address if it is the calling thread's. */
static bool python_is_own_state(uintptr_t address, struct python_state *state)
{
    return python_read_state(address, state) && state->self == (uintptr_t)pthread_self();
}

/* Looks for the calling thread's state among those of an interpreter. Returns its address; 0 if it is not there. */
static uintptr_t python_find_state(uintptr_t interpreter, uint32_t *steps, struct python_state *state)
{
    uintptr_t at;
    if (!python_read_word(interpreter + python_layout.interpreter_threads, &at))
        return 0;
    for (; at && (*steps)++ < PYTHON_MAX_STATES && python_read_state(at, state); at = state->next)
        if (state->self == (uintptr_t)pthread_self())
            return at;
    return 0;
}

/* Returns true if the list still has this state. A thread may have got another one, and the memory of the old one may be
 * as it was. */
static bool python_has_state(uintptr_t address, const struct python_state *state)
{
    uintptr_t link, from = state->previous ? state->previous + python_layout.state_next
                                           : state->interpreter + python_layout.interpreter_threads;
    return python_read_word(from, &link) && link == address;
}

/* The list of all threads' states is walked once for each thread's state. */
static bool python_search_state(struct unwinder *unwinder, struct python_state *state)
{
    uint32_t steps = 0;
    uintptr_t interpreter;
    if (unwinder->python_state && python_is_own_state(unwinder->python_state, state) &&
        python_has_state(unwinder->python_state, state))
        return true;
    unwinder->python_state = 0;
    if (unwinder->python_rest > 0) {
        unwinder->python_rest--;
        return false;
    }
    if (!python_read_word((uintptr_t)python_runtime + python_layout.runtime_interpreters, &interpreter))
        return false;
    while (interpreter && steps++ < PYTHON_MAX_STATES && !unwinder->python_state) {
        unwinder->python_state = python_find_state(interpreter, &steps, state);
        if (!python_read_word(interpreter + python_layout.interpreter_next, &interpreter))
            break;
    }
    /* A thread that begins may not have its state yet, so the next walk looks again, unless that is much work. */
    unwinder->python_rest = unwinder->python_state ? 0 : steps / 16;
    return unwinder->python_state != 0;
}

bool python_own_state(struct unwinder *unwinder, struct python_state *state)
{
    int key[2];
    if (!python_layout.runtime_key)
        return python_search_state(unwinder, state);
    memcpy(key, python_runtime + python_layout.runtime_key, sizeof(key));
    uintptr_t address = key[0] == 1 ? (uintptr_t)pthread_getspecific((pthread_key_t)key[1]) : 0;
    return address && python_is_own_state(address, state);
}

uintptr_t python_lock(struct unwinder *unwinder)
{
    struct python_state state;
    uintptr_t lock;
    if (python_layout.runtime_lock)
        return (uintptr_t)python_runtime + python_layout.runtime_lock;
    if (!python_own_state(unwinder, &state) ||
        !python_read_word(state.interpreter + python_layout.interpreter_lock, &lock))
        return 0;
    return lock;
}

uintptr_t python_read_lock(uintptr_t lock, unsigned char *copy)
{
    bool read = os_copy_memory(copy, lock, python_layout.lock_condition);
    return read && python_lock_state(copy) == 1 ? python_word(copy, python_layout.lock_holder) : 0;
}
