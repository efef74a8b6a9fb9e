#!/usr/bin/env python3
"""scripts/loop-bounds.txt has every function with a loop that the signal handler or a callback reaches, and states its bound; and no other.

    scripts/check-loops.py FOLDER       object files (make checks builds them in $(BUILD)/check)
    scripts/check-loops.py --list FOLDER   the loops
    scripts/check-loops.py --self-test"""

import importlib
import os
import re
import sys

from check_common import ROOT, blank_directives, compile_units, main, make_files, project_files, read, strip_c
from handler_walk import NotWalkable, Program

handler_check = importlib.import_module("check-handler")
c_functions = importlib.import_module("check-sizes").c_functions

PAGE = "scripts/loop-bounds.txt"
FOLDERS = ("base", "cct", "unwind", "blame", "ompt_tool")
CALLBACKS = [f"ompt_tool/callbacks:on_{name}" for name in ("thread_begin", "thread_end", "parallel_begin", "parallel_end", "implicit_task", "work",
                                                           "sync_region_wait", "task_create", "task_creation", "task_schedule")] + \
    ["mutex_acquire", "mutex_acquired", "mutex_released", "mutex_nest_lock", "mutex_init", "mutex_destroy", "probes_calls", "mpi_wait_tool"]
ONCE = ["start_measuring", "finish_measuring", "first_thread_ends"]  # a process's start and end, and its first thread's: they may take their time
LOOP = re.compile(r"\b(?:for|while)\s*\(")
ROW = re.compile(r"^\| *([\w/.]+\.[ch]) *\|([^|]*)\|([^|]*)\|", re.MULTILINE)


def reached(program, handler_roots, callbacks, once):
    """{(file without suffix, function)}"""
    found = set()
    for roots, without in ((handler_roots, ()), (callbacks, once)):
        sections = program.walk(roots, without).sections if roots else {}
        for number, item in enumerate(program.objects):
            found |= {(program.names[number], symbol.name.split(".")[0]) for symbol in item.symbols
                      if symbol.type == 2 and (number, symbol.section) in sections}
    return found


def loops(root, program, handler_roots, callbacks, once):
    """{(file, function): [line, ...]} of those that have one."""
    functions, found = reached(program, handler_roots, callbacks, once), {}
    names = {name for _, name in functions}
    for file in project_files(root, ".c", ".h"):
        if file.split("/")[0] not in FOLDERS:
            continue
        text = read(root, file)
        lines = blank_directives(strip_c(text)).split("\n")
        for name, first, last in c_functions(text):
            if (file[:-2], name) not in functions and not (file.endswith(".h") and name in names):
                continue
            at = [text.split("\n")[n - 1].strip() for n in range(first, last + 1) if LOOP.search(lines[n - 1])]
            if at:
                found[file, name] = at
    return found


def stated(page):
    return {(file, name): bound.strip() for file, names, bound in ROW.findall(page) for name in re.findall(r"`(\w+)`", names)}


def check(folder, root=ROOT, handler_roots=None, callbacks=None, once=None):
    try:
        program = Program(folder)
        handler_roots = handler_check.read_allowlist(handler_check.ALLOWLIST)[0] if handler_roots is None else handler_roots
        found = loops(root, program, handler_roots, CALLBACKS if callbacks is None else callbacks, ONCE if once is None else once)
    except NotWalkable as error:
        return [str(error)]
    page = stated(read(root, PAGE))
    complaints = [f"{file}: {name} has a loop, and {PAGE} states no bound: {lines[0]}" for (file, name), lines in sorted(found.items())
                  if not page.get((file, name))]
    return complaints + [f"{PAGE}: {file}: {name} has no loop that the handler or a callback reaches" for file, name in sorted(set(page) - set(found))
                         if not file.endswith(("_aarch64.c", "_aarch64.h"))]


SOURCE = """
void helper(int n) { for (int i = 0; i < n; i++) __asm__ volatile(""); }
static void end(int n) { while (n--) __asm__ volatile(""); }
void finish(int n) { end(n); }
void handle(int n) { helper(n); }
void callback(int n) { %s; finish(n); }
void other(int n) { while (n--) __asm__ volatile(""); }
"""
ROWS = "| file | functions | bound |\n|---|---|---|\n"
CASES = [
    ("all stated", "", ROWS + "| base/a.c | `helper` | n |\n", []),
    ("one is missing", "", ROWS, ["helper has a loop", "for (int i"]),
    ("without a bound", "", ROWS + "| base/a.c | `helper` | |\n", ["helper has a loop"]),
    ("in the callback", "do n--; while (n > 0)", ROWS + "| base/a.c | `helper` | n |\n", ["callback has a loop"]),
    ("of what nobody reaches", "", ROWS + "| base/a.c | `helper`, `other` | n |\n", ["other has no loop"]),
]


def check_case(root, body, page):
    make_files(root, {"base/a.c": SOURCE % body, PAGE: page})
    compile_units(root, "base/a.c")
    return check(os.path.join(root, "build"), root, ["handle"], ["callback"], ["finish"])


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--list":
        everything = loops(ROOT, Program(sys.argv[2]), handler_check.read_allowlist(handler_check.ALLOWLIST)[0], CALLBACKS, ONCE)
        for (where, function), lines_of in sorted(everything.items()):
            print(*(f"{where} {function} | {line}" for line in lines_of), sep="\n")
    else:
        sys.exit(main(__doc__, CASES, check_case, check, "loops: each that the handler or a callback reaches has its bound in scripts/loop-bounds.txt"))
