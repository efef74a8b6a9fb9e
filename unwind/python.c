#include "unwind/python.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/module_flags.h"
#include "base/os.h"
#include "unwind/cfi.h"
#include "unwind/loadmap.h"
#include "unwind/python_code.h"
#include "unwind/python_layout.h"
#include "unwind/python_state.h"

/* Symbols of the interpreter; NULL if no interpreter in the process exports them. We do not use dlsym(),
 * because it allocates from the program's heap when a symbol is missing. */
extern const unsigned char _PyRuntime[] __attribute__((weak)), PyCode_Type[] __attribute__((weak)),
    PyUnicode_Type[] __attribute__((weak)), PyBytes_Type[] __attribute__((weak)), PyFrame_Type[] __attribute__((weak)),
    _PyEval_EvalFrameDefault[] __attribute__((weak));
extern const unsigned long Py_Version __attribute__((weak)); /* since 3.11 */
/* new in 3.10, and in 3.9 */
extern const unsigned char Py_NewRef[] __attribute__((weak)), PyThreadState_GetFrame[] __attribute__((weak));

static struct {
    uintptr_t frame_type; /* address of PyFrame_Type */
    bool reads;           /* false: we do not read Python frames */
    bool own_file;        /* true if the module contains only the interpreter, no other code */
    uintptr_t loop;       /* the code of _PyEval_EvalFrameDefault */
    uintptr_t loop_bytes;
} interpreter;

/* Returns true for file names like python3.11 and libpython3.11.so.1.0. A program that contains the
 * interpreter under another name also has code of its own. */
static bool python_is_interpreter_file(const struct loadmap_module *module)
{
    const char *name = module ? strrchr(module->path, '/') : NULL;
    return name && (strncmp(name, "/python", 7) == 0 || strncmp(name, "/libpython", 10) == 0);
}

static const char *python_find_interpreter(uint32_t version)
{
    const struct python_code_types types = {
        .code = (uintptr_t)PyCode_Type, .text = (uintptr_t)PyUnicode_Type, .bytes = (uintptr_t)PyBytes_Type};
    uintptr_t loop = (uintptr_t)_PyEval_EvalFrameDefault, frame_type = (uintptr_t)PyFrame_Type;
    /* so that the handler reads what is kept: clang would ask for the symbols again there */
    __asm__("" : "+r"(loop), "+r"(frame_type));
    const struct loadmap_range *range = loop ? loadmap_find(loop) : NULL;
    const char *why_not = python_layout_init(version, _PyRuntime);
    if (!why_not && (!range || !types.code || !types.text || !types.bytes || !frame_type))
        why_not = "Python does not export the symbols by which objects are recognised";
    if (!why_not)
        why_not = python_state_init(_PyRuntime);
    if (why_not)
        return why_not;
    python_code_init(&types);
    const struct loadmap_module *module = loadmap_module(range->module_id);
    uintptr_t end = module ? cfi_next_function(module, loop - range->load_bias) : 0;
    interpreter.own_file = python_is_interpreter_file(module);
    interpreter.loop = loop;
    interpreter.frame_type = frame_type;
    interpreter.loop_bytes = end ? end - (loop - range->load_bias) : 0;
    if (python_layout.levels == PYTHON_LEVELS_FUNCTION && !interpreter.loop_bytes)
        return "the interpreter's loop has no unwind information";
    interpreter.reads = true;
    loadmap_flag(loop, PROFILE_MODULE_INTERPRETER);
    return NULL;
}

bool python_init(char *version, size_t bytes, const char **why_not)
{
    const unsigned long *number = &Py_Version;
    interpreter.reads = false;
    if (!_PyRuntime)
        return false;
    if (number)
        snprintf(version, bytes, "%lu.%lu.%lu", *number >> 24, *number >> 16 & 255, *number >> 8 & 255);
    else
        snprintf(version, bytes, "%s", Py_NewRef ? "3.10" : PyThreadState_GetFrame ? "3.9" : "older than 3.9");
    *why_not = python_find_interpreter(number                   ? (uint32_t)(*number >> 16)
                                       : Py_NewRef              ? 0x030au
                                       : PyThreadState_GetFrame ? 0x0309u
                                                                : 0);
    return true;
}

/* Reads the Python frame at this address. Returns NULL if there is none. */
static const unsigned char *python_read_frame(struct unwinder *unwinder, uintptr_t address)
{
    const unsigned char *frame = address ? python_codes_read(unwinder->python, address, python_frame_bytes) : NULL;
    if (!frame)
        return NULL;
    switch (python_layout.levels) {
    case PYTHON_LEVELS_RECORD:
        return frame[python_layout.frame_entry] <= 1 && frame[python_layout.frame_owner] <= 2 ? frame : NULL;
    case PYTHON_LEVELS_ENTRY:
        return frame[python_layout.frame_owner] <= python_layout.owner_entry + 1 ? frame : NULL;
    default:
        return python_word(frame, python_layout.type) == interpreter.frame_type ? frame : NULL;
    }
}

static bool python_is_entry_frame(const unsigned char *frame)
{
    return python_layout.levels == PYTHON_LEVELS_ENTRY && frame[python_layout.frame_owner] >= python_layout.owner_entry;
}

/* Looks for the entry frame that ends the next call's frames, the first of which is at `top`. */
static void python_enter_frames(struct python_walk *walk, struct unwinder *unwinder, uintptr_t top)
{
    uintptr_t before = walk->level;
    const unsigned char *frame;
    walk->level = 0;
    for (uintptr_t at = top; (frame = python_read_frame(unwinder, at)) != NULL;) {
        uintptr_t previous = python_word(frame, python_layout.frame_previous);
        if (python_is_entry_frame(frame)) {
            walk->level = at > before ? at : 0;
            walk->top = at == top ? 0 : top;
            walk->outer = previous;
            return;
        }
        if (walk->scanned++ == PYTHON_MAX_SCANNED) {
            walk->lost = true;
            return;
        }
        at = previous;
    }
}

/* Returns the next frame of the list in which each call of the loop has one. */
static uintptr_t python_take_chained(struct python_walk *walk, struct unwinder *unwinder)
{
    uintptr_t taken = walk->chain;
    const unsigned char *frame = python_read_frame(unwinder, taken);
    walk->chain = frame ? python_word(frame, python_layout.frame_previous) : 0;
    return taken;
}

static void python_enter_record(struct python_walk *walk, struct unwinder *unwinder, uintptr_t address)
{
    struct python_record record;
    bool is_further = address > walk->level && address % sizeof(uintptr_t) == 0;
    walk->level = is_further && python_read_record(address, &record) ? address : 0;
    if (!walk->level)
        return;
    walk->outer = record.previous;
    walk->top = python_layout.levels == PYTHON_LEVELS_RECORD ? record.frame : 0;
    /* the outermost record belongs to the thread, not to a call */
    if (python_layout.levels == PYTHON_LEVELS_RECORD_AND_CHAIN && record.previous)
        walk->top = python_take_chained(walk, unwinder);
}

/* Moves to the next outer call of the loop. */
static void python_enter_level(struct python_walk *walk, struct unwinder *unwinder, uintptr_t address)
{
    if (python_layout.levels == PYTHON_LEVELS_ENTRY)
        python_enter_frames(walk, unwinder, address);
    else
        python_enter_record(walk, unwinder, address);
}

void python_begin(struct python_walk *walk, struct unwinder *unwinder, bool asleep)
{
    struct python_state state;
    *walk = (struct python_walk){.begun = true};
    if (!interpreter.reads || !python_own_state(unwinder, &state))
        return;
    if (!unwinder->python)
        unwinder->python = python_codes_make();
    if (!unwinder->python)
        return;
    walk->waits = asleep && python_waits(unwinder);
    python_codes_begin(unwinder->python);
    walk->chain = state.frame;
    if (python_layout.levels != PYTHON_LEVELS_FUNCTION)
        python_enter_level(walk, unwinder, python_layout.levels == PYTHON_LEVELS_ENTRY ? state.frame : state.record);
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

/* Passes the records in stack frames that the walk did not report. Returns false if there are too many. */
static bool python_pass_records(struct python_walk *walk, struct unwinder *unwinder, const struct unwind_frame *frame)
{
    while (walk->level && walk->level < frame->stack) {
        if (walk->passed++ == PYTHON_MAX_PASSED)
            return false;
        python_enter_level(walk, unwinder, walk->outer);
    }
    return !walk->lost;
}

/* Returns true if the frame is a call of the loop. */
static bool python_is_loop(const struct python_walk *walk, const struct unwind_frame *frame)
{
    if (python_layout.levels == PYTHON_LEVELS_FUNCTION)
        return walk->chain && frame->ip - interpreter.loop < interpreter.loop_bytes;
    return walk->level && walk->level < frame->cfa;
}

enum python_kind python_meet(struct python_walk *walk, struct unwinder *unwinder, const struct unwind_frame *frame)
{
    bool waits = is_part_of_python_wait(walk, frame);
    if (!python_pass_records(walk, unwinder, frame)) {
        walk->level = walk->frame = 0;
        walk->lost = false;
        walk->broken = true;
        return PYTHON_LOOP;
    }
    if (!python_is_loop(walk, frame))
        return waits || interpreter.own_file ? PYTHON_GLUE : PYTHON_NONE;
    if (python_layout.levels == PYTHON_LEVELS_FUNCTION)
        walk->top = python_take_chained(walk, unwinder);
    walk->frame = walk->top;
    walk->last = walk->level;
    walk->broken = walk->frame == 0;
    return PYTHON_LOOP;
}

/* Returns the offset of the frame's instruction in units of two bytes. */
static uint64_t python_frame_unit(const unsigned char *frame, uintptr_t code)
{
    if (python_layout.code_instructions == 0) {
        int32_t number; /* of instructions, or, in 3.9, of bytes */
        memcpy(&number, frame + python_layout.frame_instruction, sizeof(number));
        return number < 0 ? PYTHON_NO_UNIT : (uint64_t)number / (python_layout.lines == PYTHON_LINES_LNOTAB ? 2 : 1);
    }
    uint64_t bytes = python_word(frame, python_layout.frame_instruction) - (code + python_layout.code_instructions);
    /* If a frame has not executed an instruction yet, the difference is negative, so that `bytes` is huge. */
    return bytes / 2;
}

/* Finds the place of the frame at this address, and the address of the frame that called it (0: another call of the loop
 * did). */
static bool python_frame_place(struct unwinder *unwinder, uintptr_t address, uintptr_t last, struct python_place *place,
                               uintptr_t *previous)
{
    const unsigned char *frame = python_read_frame(unwinder, address);
    if (!frame || python_is_entry_frame(frame))
        return false;
    bool outermost = python_layout.levels < PYTHON_LEVELS_RECORD ||
                     (python_layout.levels == PYTHON_LEVELS_RECORD && frame[python_layout.frame_entry]);
    *previous = python_word(frame, python_layout.frame_previous);
    if (!outermost && !*previous)
        return false;
    if (outermost || *previous == last)
        *previous = 0;
    uintptr_t code =
        python_word(frame, python_layout.frame_code) & ~(uintptr_t)3; /* the lowest bits are tags since 3.14 */
    return python_codes_find(unwinder->python, code, python_frame_unit(frame, code), place);
}

bool python_next(struct python_walk *walk, struct unwinder *unwinder, struct python_place *place)
{
    do {
        uintptr_t address = walk->frame;
        walk->frame = 0;
        if (!address)
            return false;
        walk->broken = true;
        if (walk->scanned++ >= 2 * PYTHON_MAX_SCANNED ||
            !python_frame_place(unwinder, address, walk->last, place, &walk->frame)) {
            walk->frame = 0;
            return false;
        }
        walk->broken = false;
    } while (place->shim);
    return true;
}

/* A thread that waits for the lock sleeps in futex(), on a word of the lock's condition variable, for which
 * no other code waits. The address of the word is the call's first argument. */
bool python_waits(struct unwinder *unwinder)
{
    uintptr_t lock = interpreter.reads ? python_lock(unwinder) : 0;
    return lock &&
           unwinder->registers[UNWIND_ARGUMENT] - (lock + python_layout.lock_condition) < PYTHON_LOCK_CONDITION_BYTES;
}

/* The other thread continues to run while we read its data. If the copies of the lock before and after are
 * equal, that thread held the lock all the time, so its frame and code object were valid. */
bool python_holder(struct unwinder *unwinder, struct python_place *place)
{
    unsigned char lock[PYTHON_LOCK_BYTES], again[PYTHON_LOCK_BYTES];
    struct python_state state;
    uintptr_t address = interpreter.reads && unwinder->python ? python_lock(unwinder) : 0, previous;
    uintptr_t holder = address ? python_read_lock(address, lock) : 0;
    if (!holder || !python_read_state(holder, &state) || state.self == (uintptr_t)pthread_self())
        return false;
    python_codes_begin(unwinder->python);
    uintptr_t at = state.frame;
    for (unsigned steps = 0; steps < 4; steps++) { /* the innermost frames may be the interpreter's own */
        const unsigned char *frame = python_read_frame(unwinder, at);
        if (!frame)
            return false;
        if (python_is_entry_frame(frame)) {
            at = python_word(frame, python_layout.frame_previous);
            continue;
        }
        if (!python_frame_place(unwinder, at, 0, place, &previous))
            return false;
        if (!place->shim)
            return python_read_lock(address, again) == holder && memcmp(lock, again, python_layout.lock_condition) == 0;
        at = previous;
    }
    return false;
}
