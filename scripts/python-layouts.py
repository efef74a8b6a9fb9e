#!/usr/bin/env python3
"""Writes unwind/python_layouts.h: where CPython's structures have the fields that unwind/python*.c read, a row for each minor version. The compiler
takes the numbers from CPython's own headers. From 3.13 on, the interpreter itself tells most of them (_Py_DebugOffsets); the row then says at which
word of that table each field is.

    scripts/python-layouts.py [--check] [DIR ...]   DIR: a folder with Python.h (python3.X-dev has it); without one, those of /usr/include and pyenv

The rows of other minors stay as they are. --check writes nothing; it fails if a row differs."""

import glob
import os
import re
import subprocess
import sys
import tempfile

OUTPUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "unwind", "python_layouts.h")
HEAD = """/* Written by scripts/python-layouts.py from CPython's headers. unwind/python_layout.h, which must be included first, names the
 * fields. */
#ifndef BLAME_UNWIND_PYTHON_LAYOUTS_H
#define BLAME_UNWIND_PYTHON_LAYOUTS_H

/* clang-format off */
static const struct python_row python_rows[] = {
"""
TAIL = """};
/* clang-format on */

#endif
"""
HEADERS = ["pycore_runtime.h", "pycore_interp.h", "pycore_gil.h", "pycore_frame.h", "pycore_interpframe.h", "pycore_debug_offsets.h", "pycore_code.h"]

OLDEST, NEWEST = 9, 15
# A field: the minors that have it, and where it is.
FIELDS = [
    ("levels", [(9, 9, "PYTHON_LEVELS_FUNCTION"), (10, 10, "PYTHON_LEVELS_RECORD_AND_CHAIN"), (11, 11, "PYTHON_LEVELS_RECORD"),
                (12, NEWEST, "PYTHON_LEVELS_ENTRY")]),
    ("lines", [(9, 9, "PYTHON_LINES_LNOTAB"), (10, 10, "PYTHON_LINES_PAIRS"), (11, NEWEST, "PYTHON_LINES_LOCATIONS")]),
    ("runtime_key", [(9, 11, "_PyRuntimeState.gilstate.autoTSSkey"), (12, 12, "_PyRuntimeState.autoTSSkey")]),
    ("runtime_lock", [(9, 11, "_PyRuntimeState.ceval.gil")]),
    ("runtime_interpreters", [(13, NEWEST, "_PyRuntimeState.interpreters.head", "runtime_state.interpreters_head")]),
    ("interpreter_next", [(13, NEWEST, "PyInterpreterState.next", "interpreter_state.next")]),
    ("interpreter_threads", [(13, NEWEST, "PyInterpreterState.threads.head", "interpreter_state.threads_head")]),
    ("interpreter_lock", [(12, 12, "PyInterpreterState.ceval.gil"), (13, NEWEST, "PyInterpreterState.ceval.gil", "interpreter_state.ceval_gil")]),
    # the interpreter's own lock, which `interpreter_lock` may point to: its fields are told by their place in the interpreter's state
    ("own_lock", [(13, NEWEST, "PyInterpreterState._gil", "interpreter_state.gil_runtime_state")]),
    ("own_locked", [(13, NEWEST, "PyInterpreterState._gil.locked", "interpreter_state.gil_runtime_state_locked")]),
    ("own_holder", [(13, NEWEST, "PyInterpreterState._gil.last_holder", "interpreter_state.gil_runtime_state_holder")]),
    ("lock_holder", [(9, NEWEST, "struct _gil_runtime_state.last_holder")]),
    ("lock_locked", [(9, NEWEST, "struct _gil_runtime_state.locked")]),
    ("lock_condition", [(9, NEWEST, "struct _gil_runtime_state.cond")]),
    ("state_previous", [(13, NEWEST, "PyThreadState.prev", "thread_state.prev")]),
    ("state_next", [(13, NEWEST, "PyThreadState.next", "thread_state.next")]),
    ("state_interpreter", [(12, 12, "PyThreadState.interp"), (13, NEWEST, "PyThreadState.interp", "thread_state.interp")]),
    ("state_self", [(9, 12, "PyThreadState.thread_id"), (13, NEWEST, "PyThreadState.thread_id", "thread_state.thread_id")]),
    ("state_frame", [(9, 10, "PyThreadState.frame"), (13, NEWEST, "PyThreadState.current_frame", "thread_state.current_frame")]),
    ("state_record", [(10, 12, "PyThreadState.cframe")]),
    ("record_frame", [(11, 12, "_PyCFrame.current_frame")]),
    ("record_previous", [(10, 10, "CFrame.previous"), (11, 12, "_PyCFrame.previous")]),
    ("frame_code", [(9, 10, "struct _frame.f_code"), (11, 12, "_PyInterpreterFrame.f_code"),
                    (13, NEWEST, "_PyInterpreterFrame.f_executable", "interpreter_frame.executable")]),
    ("frame_previous", [(9, 10, "struct _frame.f_back"), (11, 12, "_PyInterpreterFrame.previous"),
                        (13, NEWEST, "_PyInterpreterFrame.previous", "interpreter_frame.previous")]),
    ("frame_instruction", [(9, 10, "struct _frame.f_lasti"), (11, 12, "_PyInterpreterFrame.prev_instr"),
                           (13, NEWEST, "_PyInterpreterFrame.instr_ptr", "interpreter_frame.instr_ptr")]),
    ("frame_entry", [(11, 11, "_PyInterpreterFrame.is_entry")]),
    ("frame_owner", [(11, 12, "_PyInterpreterFrame.owner"), (13, NEWEST, "_PyInterpreterFrame.owner", "interpreter_frame.owner")]),
    ("code_line", [(9, 12, "PyCodeObject.co_firstlineno"), (13, NEWEST, "PyCodeObject.co_firstlineno", "code_object.firstlineno")]),
    ("code_file", [(9, 12, "PyCodeObject.co_filename"), (13, NEWEST, "PyCodeObject.co_filename", "code_object.filename")]),
    ("code_name", [(9, 10, "PyCodeObject.co_name"), (11, 12, "PyCodeObject.co_qualname"),
                   (13, NEWEST, "PyCodeObject.co_qualname", "code_object.qualname")]),
    ("code_lines", [(9, 9, "PyCodeObject.co_lnotab"), (10, 12, "PyCodeObject.co_linetable"),
                    (13, NEWEST, "PyCodeObject.co_linetable", "code_object.linetable")]),
    ("code_instructions", [(11, 12, "PyCodeObject.co_code_adaptive"),
                           (13, NEWEST, "PyCodeObject.co_code_adaptive", "code_object.co_code_adaptive")]),
    ("type", [(9, 12, "PyObject.ob_type"), (13, NEWEST, "PyObject.ob_type", "pyobject.ob_type")]),
    ("text_size", [(9, 12, "PyASCIIObject.length"), (13, NEWEST, "PyASCIIObject.length", "unicode_object.length")]),
    ("text_state", [(9, 12, "PyASCIIObject.state"), (13, NEWEST, "PyASCIIObject.state", "unicode_object.state")]),
    ("text_kind", [(9, NEWEST, "kind_bit()")]),
    ("text_ready", [(9, 11, "1")]),
    ("text_ascii", [(9, 12, "sizeof(PyASCIIObject)"), (13, NEWEST, "sizeof(PyASCIIObject)", "unicode_object.asciiobject_size")]),
    ("text_more", [(9, NEWEST, "sizeof(PyCompactUnicodeObject) - sizeof(PyASCIIObject)")]),
    ("bytes_size", [(9, 12, "PyVarObject.ob_size"), (13, NEWEST, "PyVarObject.ob_size", "bytes_object.ob_size")]),
    ("bytes_data", [(9, 12, "PyBytesObject.ob_sval"), (13, NEWEST, "PyBytesObject.ob_sval", "bytes_object.ob_sval")]),
]

PROGRAM = """
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX < 0x030b0000
#include <frameobject.h>
#endif
#include <stddef.h>
#include <stdio.h>
%s
static unsigned kind_bit(void)
{
    PyASCIIObject text;
    unsigned state;
    memset(&text, 0, sizeof(text));
    text.state.kind = 1;
    memcpy(&state, &text.state, sizeof(state));
    unsigned kind = (unsigned)__builtin_ctz(state);
    text.state.kind = 0;
    text.state.compact = 1;
    text.state.ascii = 1;
    memcpy(&state, &text.state, sizeof(state));
    return state == 3u << (kind + 3) ? kind : 0; /* 0: the order is another one */
}
int main(void)
{
%s
    return 0;
}
"""


def row_of(where, minor):
    for begin, end, *expressions in where:
        if begin <= minor <= end:
            return expressions
    return None


def offset(expression):
    match = re.match(r"((?:struct )?\w+)\.([\w.]+)$", expression)
    return f"offsetof({match[1]}, {match[2]})" if match else expression


def value(name, expression, minor):
    """What prints a field's value: names stay names."""
    if expression.startswith("PYTHON_"):
        return f'    printf("        .is.{name} = {expression},\\n");'
    return f'    printf("        .is.{name} = %lu,\\n", (unsigned long)({offset(expression)}));'


def program(folder, minor):
    lines = [f'    printf("    {{\\n        .version = 0x%04x,\\n", PY_VERSION_HEX >> 16);']
    for name, where in FIELDS:
        expressions = row_of(where, minor)
        if expressions:
            lines.append(value(name, expressions[0], minor))
            if len(expressions) > 1:
                lines.append(f'    printf("        .at.{name} = %lu,\\n", (unsigned long)offsetof(_Py_DebugOffsets, {expressions[1]}) / 8);')
    if minor >= 13:
        lines.append('    printf("        .at_free_threaded = %lu,\\n", (unsigned long)offsetof(_Py_DebugOffsets, free_threaded) / 8);')
    if minor >= 12:
        lines.append('    printf("        .is.owner_entry = %d,\\n", ' + ("FRAME_OWNED_BY_INTERPRETER" if minor >= 14 else "FRAME_OWNED_BY_CSTACK") + ");")
    lines.append('    printf("    },\\n");')
    includes = [f'#include "internal/{name}"' for name in HEADERS if os.path.exists(os.path.join(folder, "internal", name))]
    return PROGRAM % ("\n".join(includes), "\n".join(lines))


def make_row(folder, minor):
    with tempfile.TemporaryDirectory() as work:
        source, made = os.path.join(work, "row.c"), os.path.join(work, "row")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(folder, minor))
        parent = os.path.dirname(os.path.abspath(folder))  # where Debian's multi-architecture headers are found from
        command = ["cc", "-w", "-O0", "-I", folder, "-I", os.path.join(folder, "internal"), "-I", parent]
        command += ["-I", os.path.join(parent, "x86_64-linux-gnu")] if os.path.isdir(os.path.join(parent, "x86_64-linux-gnu")) else []
        subprocess.run([*command, source, "-o", made], check=True)
        return subprocess.run([made], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def minor_of(folder):
    with open(os.path.join(folder, "patchlevel.h"), encoding="utf-8") as file:
        return int(re.search(r"#define PY_MINOR_VERSION\s+(\d+)", file.read())[1])


def rows_of(text):
    return {int(match[1], 16) & 255: match[0] for match in re.finditer(r"    \{\n        \.version = (0x\w+),\n(?:        .*\n)*    \},\n", text)}


def main():
    folders = [argument for argument in sys.argv[1:] if argument != "--check"]
    folders = folders or glob.glob("/usr/include/python3.*") + glob.glob(os.path.expanduser("~/.pyenv/versions/*/include/python3.*"))
    folders = [folder for folder in folders if os.path.isfile(os.path.join(folder, "internal", "pycore_runtime.h"))]
    folders = list({minor_of(folder): folder for folder in folders}.values())  # one of each minor version
    old = rows_of(open(OUTPUT, encoding="utf-8").read()) if os.path.exists(OUTPUT) else {}
    rows, wrong = dict(old), []
    for folder in folders:
        minor = minor_of(folder)
        if OLDEST <= minor <= NEWEST:
            row = make_row(folder, minor)
            if row != old.get(minor):
                wrong.append(f"{folder}: another row")
            rows[minor] = row
    if "--check" in sys.argv:
        print("\n".join(wrong) or "python-layouts: the rows are right for " + (" ".join(sorted({f"3.{minor_of(f)}" for f in folders})) or "no headers"))
        return 1 if wrong else 0
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(rows[minor] for minor in sorted(rows)) + TAIL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
