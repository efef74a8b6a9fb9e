/* Where the structures of CPython 3.9 to 3.15 have the fields that we read. A row of unwind/python_layouts.h, made
 * from the headers of a minor version, holds for all its patch releases. From 3.13 on, the interpreter's own table
 * (_Py_DebugOffsets, the first thing in _PyRuntime) says where most fields are. */
#ifndef BLAME_UNWIND_PYTHON_LAYOUT_H
#define BLAME_UNWIND_PYTHON_LAYOUT_H

#include <stdint.h>

/* How the calls of the interpreter's loop are found on the stack. */
enum python_levels {
    PYTHON_LEVELS_FUNCTION,         /* by their code address; each runs one frame */
    PYTHON_LEVELS_RECORD_AND_CHAIN, /* by a record on the stack; each runs one frame */
    PYTHON_LEVELS_RECORD,           /* by a record on the stack, which leads to the frames */
    PYTHON_LEVELS_ENTRY,            /* by an entry frame on the stack, which ends the call's frames */
};

/* The form of a code object's line table. */
enum python_lines {
    PYTHON_LINES_LNOTAB,
    PYTHON_LINES_PAIRS,
    PYTHON_LINES_LOCATIONS,
};

/* Greatest numbers of bytes that are read of a frame, a code object, a lock, and the headers of str and bytes. */
#define PYTHON_FRAME_BYTES 128u
#define PYTHON_CODE_BYTES  160u
#define PYTHON_LOCK_BYTES  64u
#define PYTHON_TEXT_BYTES  96u
#define PYTHON_BYTES_BYTES 64u

#define PYTHON_LOCK_CONDITION_BYTES 48u /* sizeof(pthread_cond_t) */

/* Offsets in bytes, unless noted otherwise. A field that the version does not have is 0. */
struct python_layout {
    uint32_t levels, lines; /* enum python_levels, enum python_lines */

    /* _PyRuntimeState. The key is an int that is 1 if the key exists, then the pthread key of each thread's state. */
    uint32_t runtime_key, runtime_lock, runtime_interpreters;

    /* PyInterpreterState: address of the lock that it uses; its own lock and that lock's fields */
    uint32_t interpreter_next, interpreter_threads, interpreter_lock, own_lock, own_locked, own_holder;

    /* struct _gil_runtime_state: state of the last thread that got the lock; an int that is 1 while it is held, and -1
     * before it is made; a condition variable on which only threads sleep that wait for the lock */
    uint32_t lock_holder, lock_locked, lock_condition;

    /* PyThreadState: pthread_self(); innermost frame; record of the innermost call of the loop */
    uint32_t state_previous, state_next, state_interpreter, state_self, state_frame, state_record;
    uint32_t record_frame, record_previous; /* CFrame, _PyCFrame: a local variable of the loop */

    /* PyFrameObject, _PyInterpreterFrame. frame_instruction: number (until 3.10) or address of the last or current
     * instruction. frame_entry: a bool that is true in the outermost frame of a call of the loop. frame_owner: enum
     * _frameowner, at least owner_entry (a value) in an entry frame */
    uint32_t frame_code, frame_previous, frame_instruction, frame_entry, frame_owner, owner_entry;

    uint32_t code_line, code_file, code_name, code_lines, code_instructions; /* PyCodeObject */

    uint32_t type; /* ob_type, in all objects */
    /* str. Its length in characters; a bit field, in which bit text_kind begins the number of bytes per character (3 bits),
     * compact, ascii, and, if text_ready is 1, ready; where the characters of an ASCII string begin; and how many bytes
     * further those of another string begin */
    uint32_t text_size, text_state, text_kind, text_ready, text_ascii, text_more;
    uint32_t bytes_size, bytes_data; /* bytes */
};

/* A minor version: its layout, and for each field the word of _Py_DebugOffsets in which the interpreter has it (0: it has not). */
struct python_row {
    uint32_t version; /* Py_Version >> 16 */
    struct python_layout is, at;
    uint32_t at_free_threaded; /* 0: there is no _Py_DebugOffsets */
};

extern struct python_layout python_layout; /* of the interpreter in this process */
extern uint32_t python_frame_bytes;        /* number of bytes of a frame that its fields need */

/* Sets python_layout for a version (Py_Version >> 16) and an interpreter's _PyRuntime. Returns NULL, or the reason for which
 * we do not read its frames. [init] */
const char *python_layout_init(uint32_t version, const unsigned char *runtime);

#endif
