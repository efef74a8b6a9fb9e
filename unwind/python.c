#include "unwind/python.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/module_flags.h"
#include "base/os.h"
#include "unwind/loadmap.h"
#include "unwind/python_code.h"
#include "unwind/python_layout.h"

/* Symbols of the interpreter; NULL if no interpreter in the process exports them. We do not use dlsym(),
 * because it allocates from the program's heap when a symbol is missing. */
extern const unsigned char _PyRuntime[] __attribute__((weak)), PyCode_Type[] __attribute__((weak)),
    PyUnicode_Type[] __attribute__((weak)), PyBytes_Type[] __attribute__((weak)),
    _PyEval_EvalFrameDefault[] __attribute__((weak));
extern const unsigned long Py_Version __attribute__((weak));

static struct {
    const unsigned char *runtime; /* address of _PyRuntime; NULL: we do not read Python frames */
    bool own_file;                /* true if the module contains only the interpreter, no other code */
} interpreter;

static uintptr_t python_word(const unsigned char *from, size_t offset)
{
    uintptr_t word;
    memcpy(&word, from + offset, sizeof(word));
    return word;
}

static int python_lock_state(const unsigned char *lock)
{
    int locked;
    memcpy(&locked, lock + PYTHON_LOCK_LOCKED, sizeof(locked));
    return locked;
}

/* Returns true for file names like python3.11 and libpython3.11.so.1.0. A program that contains the
 * interpreter under another name also has code of its own. */
static bool python_is_interpreter_file(const struct loadmap_range *range)
{
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    const char *name = module ? strrchr(module->path, '/') : NULL;
    return name && (strncmp(name, "/python", 7) == 0 || strncmp(name, "/libpython", 10) == 0);
}

static const char *find_python_interpreter(const unsigned char *runtime, uintptr_t loop)
{
    const struct python_code_types types = {
        .code = (uintptr_t)PyCode_Type, .text = (uintptr_t)PyUnicode_Type, .bytes = (uintptr_t)PyBytes_Type};
    unsigned char lock[PYTHON_LOCK_BYTES];
    if (!loop || !types.code || !types.text || !types.bytes || !loadmap_find(loop))
        return "Python does not export the symbols by which objects are recognised";
    if (!os_copy_memory(lock, (uintptr_t)runtime + PYTHON_RUNTIME_LOCK, sizeof(lock)))
        return "neither process_vm_readv nor /proc/self/mem is allowed here";
    /* -1: the lock has not been created yet */
    if (python_lock_state(lock) < -1 || python_lock_state(lock) > 1)
        return "the lock is not where Python 3.11 has it";
    python_code_init(&types);
    interpreter.own_file = python_is_interpreter_file(loadmap_find(loop));
    interpreter.runtime = runtime;
    loadmap_flag(loop, PROFILE_MODULE_INTERPRETER);
    return NULL;
}

bool python_init(char *version, size_t bytes, const char **why_not)
{
    const unsigned long *number = &Py_Version; /* since 3.11 */
    interpreter.runtime = NULL;
    if (!_PyRuntime)
        return false;
    if (number)
        snprintf(version, bytes, "%lu.%lu.%lu", *number >> 24, *number >> 16 & 255, *number >> 8 & 255);
    else
        snprintf(version, bytes, "older than 3.11");
    *why_not = number && *number >> 16 == PYTHON_VERSION_READ
                   ? find_python_interpreter(_PyRuntime, (uintptr_t)_PyEval_EvalFrameDefault)
                   : "only the objects of Python 3.11 are known";
    return true;
}

/* Returns the record of the thread's innermost call of the interpreter's loop; 0 if there is none. The
 * thread's Python state exists, because the walk has met a frame of the interpreter. */
static uintptr_t innermost_python_level(void)
{
    int key[2];
    unsigned char state[PYTHON_STATE_BYTES];
    memcpy(key, interpreter.runtime + PYTHON_RUNTIME_KEY, sizeof(key));
    uintptr_t address = key[0] == 1 ? (uintptr_t)pthread_getspecific((pthread_key_t)key[1]) : 0;
    if (!address || !os_copy_memory(state, address, sizeof(state)) ||
        python_word(state, PYTHON_STATE_SELF) != (uintptr_t)pthread_self())
        return 0;
    return python_word(state, PYTHON_STATE_LEVEL);
}

static void enter_python_level(struct python_walk *walk, uintptr_t address)
{
    unsigned char level[PYTHON_LEVEL_BYTES];
    bool is_further = address > walk->level && address % sizeof(uintptr_t) == 0;
    walk->level = is_further && os_copy_memory(level, address, sizeof(level)) ? address : 0;
    if (!walk->level)
        return;
    walk->top = python_word(level, PYTHON_LEVEL_FRAME);
    walk->outer = python_word(level, PYTHON_LEVEL_PREVIOUS);
}

void python_begin(struct python_walk *walk, struct unwinder *unwinder, bool asleep)
{
    *walk = (struct python_walk){.begun = true};
    if (!interpreter.runtime)
        return;
    uintptr_t level = innermost_python_level();
    if (level && !unwinder->python)
        unwinder->python = python_codes_make();
    if (!level || !unwinder->python)
        return;
    walk->waits = asleep && python_waits(unwinder);
    python_codes_begin(unwinder->python);
    enter_python_level(walk, level);
}

/* Returns true if the frame belongs to the wait for the interpreter's lock. The wait consists of the
 * innermost frame of the interpreter and the frames of its callers, as long as these are in the interpreter,
 * too. */
static bool is_part_of_python_wait(struct python_walk *walk, const struct unwind_frame *frame)
{
    if (!walk->waits || (walk->waits_to && (!interpreter.own_file || frame->stack != walk->waits_to)))
        return walk->waits = false;
    walk->waits_to = frame->cfa;
    return true;
}

enum python_kind python_meet(struct python_walk *walk, const struct unwind_frame *frame)
{
    bool waits = is_part_of_python_wait(walk, frame);
    /* these records are in stack frames that the walk did not report */
    while (walk->level && walk->level < frame->stack) {
        if (walk->passed++ == PYTHON_MAX_PASSED) {
            walk->level = walk->frame = 0;
            walk->broken = true;
            return PYTHON_LOOP;
        }
        enter_python_level(walk, walk->outer);
    }
    if (!walk->level || walk->level >= frame->cfa)
        return waits || interpreter.own_file ? PYTHON_GLUE : PYTHON_NONE;
    walk->frame = walk->top;
    walk->broken = walk->frame == 0;
    return PYTHON_LOOP;
}

static bool is_python_frame(const unsigned char *frame)
{
    return frame[PYTHON_FRAME_ENTRY] <= 1 && frame[PYTHON_FRAME_OWNER] <= 2;
}

bool python_next(struct python_walk *walk, struct unwinder *unwinder, struct python_place *place)
{
    uintptr_t address = walk->frame;
    walk->frame = 0;
    if (!address)
        return false;
    walk->broken = true;
    const unsigned char *frame = python_codes_read(unwinder->python, address, PYTHON_FRAME_BYTES);
    if (!frame || !is_python_frame(frame))
        return false;
    uintptr_t next = frame[PYTHON_FRAME_ENTRY] ? 0 : python_word(frame, PYTHON_FRAME_PREVIOUS);
    if ((!frame[PYTHON_FRAME_ENTRY] && !next) ||
        !python_codes_find(unwinder->python, python_word(frame, PYTHON_FRAME_CODE),
                           python_word(frame, PYTHON_FRAME_INSTRUCTION), place))
        return false;
    walk->frame = next;
    walk->broken = false;
    return true;
}

/* A thread that waits for the lock sleeps in futex(), on a word of the lock's condition variable, for which
 * no other code waits. The address of the word is the call's first argument. */
bool python_waits(const struct unwinder *unwinder)
{
    uintptr_t condition = (uintptr_t)interpreter.runtime + PYTHON_RUNTIME_LOCK + PYTHON_LOCK_CONDITION;
    return interpreter.runtime && unwinder->registers[UNWIND_ARGUMENT] - condition < PYTHON_LOCK_CONDITION_BYTES;
}

/* Copies the lock, and returns the Python state of the thread that holds it; 0 if no thread holds it. */
static uintptr_t read_python_lock_holder(unsigned char *lock)
{
    bool read = os_copy_memory(lock, (uintptr_t)interpreter.runtime + PYTHON_RUNTIME_LOCK, PYTHON_LOCK_BYTES);
    return read && python_lock_state(lock) == 1 ? python_word(lock, PYTHON_LOCK_HOLDER) : 0;
}

/* The other thread continues to run while we read its data. If the copies of the lock before and after are
 * equal, that thread held the lock all the time, so its frame and code object were valid. */
bool python_holder(struct unwinder *unwinder, struct python_place *place)
{
    unsigned char lock[PYTHON_LOCK_BYTES], again[PYTHON_LOCK_BYTES], state[PYTHON_STATE_BYTES],
        level[PYTHON_LEVEL_BYTES];
    uintptr_t holder = read_python_lock_holder(lock);
    if (!holder || !unwinder->python)
        return false;
    python_codes_begin(unwinder->python);
    if (!os_copy_memory(state, holder, sizeof(state)) ||
        python_word(state, PYTHON_STATE_SELF) == (uintptr_t)pthread_self() ||
        !os_copy_memory(level, python_word(state, PYTHON_STATE_LEVEL), sizeof(level)))
        return false;
    const unsigned char *frame =
        python_codes_read(unwinder->python, python_word(level, PYTHON_LEVEL_FRAME), PYTHON_FRAME_BYTES);
    return frame && is_python_frame(frame) &&
           python_codes_find(unwinder->python, python_word(frame, PYTHON_FRAME_CODE),
                             python_word(frame, PYTHON_FRAME_INSTRUCTION), place) &&
           read_python_lock_holder(again) == holder && memcmp(lock, again, sizeof(lock)) == 0;
}
