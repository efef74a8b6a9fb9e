/* The layout of structures in CPython 3.11, which is the same in all its patch releases:
 * Include/internal/pycore_runtime.h (_PyRuntimeState), Include/internal/pycore_gil.h (struct
 * _gil_runtime_state), Include/cpython/pystate.h (PyThreadState, _PyCFrame), Include/internal/pycore_frame.h
 * (_PyInterpreterFrame), Include/cpython/code.h (PyCodeObject), Include/cpython/unicodeobject.h,
 * bytesobject.h. Unless noted otherwise, the numbers are offsets in bytes. */
#ifndef BLAME_UNWIND_PYTHON_LAYOUT_H
#define BLAME_UNWIND_PYTHON_LAYOUT_H

#define PYTHON_VERSION_READ 0x030bu /* Py_Version >> 16 */

enum python_layout {
    PYTHON_RUNTIME_LOCK = 360, /* ceval.gil, the interpreter's lock */
    /* gilstate.autoTSSkey: an int that is 1 if the key exists, then the pthread key of each thread's Python
     * state */
    PYTHON_RUNTIME_KEY = 592,

    /* number of bytes of the lock before its condition variable; no other code waits for that variable */
    PYTHON_LOCK_BYTES = 32,
    /* last_holder: address of the Python state of the last thread that got the lock */
    PYTHON_LOCK_HOLDER = 8,
    PYTHON_LOCK_LOCKED = 16, /* locked: an int that is 1 while the lock is held */
    PYTHON_LOCK_CONDITION = 32,
    PYTHON_LOCK_CONDITION_BYTES = 48,

    PYTHON_STATE_BYTES = 160, /* number of bytes that are read of a PyThreadState */
    PYTHON_STATE_LEVEL = 56,  /* cframe: record of the innermost call of the interpreter's loop */
    PYTHON_STATE_SELF = 152,  /* thread_id: value of pthread_self() */

    PYTHON_LEVEL_BYTES = 24, /* number of bytes of a _PyCFrame, a local variable of the loop */
    PYTHON_LEVEL_FRAME = 8,
    PYTHON_LEVEL_PREVIOUS = 16,

    PYTHON_FRAME_BYTES = 72,
    PYTHON_FRAME_CODE = 32,
    PYTHON_FRAME_PREVIOUS = 48,
    PYTHON_FRAME_INSTRUCTION = 56, /* prev_instr: address of the last executed instruction */
    /* is_entry: a bool that is true if the loop was called for this frame, which is then the outermost of
     * that call */
    PYTHON_FRAME_ENTRY = 68,
    PYTHON_FRAME_OWNER = 69, /* owner: enum _frameowner, 0 to 2 */

    PYTHON_TYPE = 8,  /* ob_type, in all objects */
    PYTHON_SIZE = 16, /* ob_size: length of str (in characters) and of bytes */

    PYTHON_CODE_BYTES = 144, /* bytes read */
    PYTHON_CODE_LINE = 72,
    PYTHON_CODE_FILE = 112,
    PYTHON_CODE_NAME = 128, /* co_qualname */
    PYTHON_CODE_LINES = 136,
    PYTHON_CODE_INSTRUCTIONS = 184,

    /* bit field: interned (2 bits), kind (3 bits: bytes per character), compact, ascii, ready */
    PYTHON_TEXT_STATE = 32,
    PYTHON_TEXT_ASCII = 48, /* start of the characters of an ASCII string */
    PYTHON_TEXT_OTHER = 72, /* start of the characters of other strings */
    PYTHON_BYTES_DATA = 32,
};

#endif
