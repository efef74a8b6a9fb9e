#!/usr/bin/env python3
"""The signal handler reaches no function of libc or libunwind that scripts/handler-allowlist.txt does not allow, no
thread-local storage that is allocated when it is first touched, no object that the list forbids (the table of the
OpenMP runtime's entry points, which nobody can call without reading it), and no function that may be the program's: those
of scripts/import-list.txt are bound to whatever has their name. The start of a measurement in the handler (ompt_tool/life/fuse.c)
may reach more: the heap and most locks of libc it may not.

    scripts/check-handler.py FOLDER       object files (make checks builds them in $(BUILD)/check)
    scripts/check-handler.py --list FOLDER   what is reached, and how
    scripts/check-handler.py --self-test"""

import importlib
import os
import sys

from check_common import ROOT, compile_units, main, make_files, read_table
from handler_walk import NotWalkable, Program

ALLOWLIST = os.path.join(ROOT, "scripts", "handler-allowlist.txt")
IMPORTS = importlib.import_module("check-imports")
LAZY_TLS = {"__tls_get_addr", "__emutls_get_address"}
START = ("start", "skip", "starts")


def read_allowlist(path):
    """(roots, {symbol: (kind, reason)}, complaints about the list itself); kind `forbid` is for objects of our own"""
    rows, complaints = read_table(path, "root", "allow", "tagged", "forbid", *START)
    rows = [row for row in rows if row[0] not in START]
    return [name for kind, name, _ in rows if kind == "root"], {name: (kind, reason) for kind, name, reason in rows if kind != "root"}, complaints


def check_start(program, path, allowed):
    """Complaints about what the start of a measurement reaches, which begins in the handler by a call through a pointer."""
    names = {kind: [name for other, names, _ in read_table(path, "root", "allow", "tagged", "forbid", *START)[0] if other == kind
                    for name in names.split(",")] for kind in START}
    if not names["start"]:
        return []
    known = {symbol for symbol, (kind, _) in allowed.items() if kind == "allow"} | set(names["starts"])
    reach = program.walk(names["start"], names["skip"])
    return [f"{symbol}: not allowed at the start of a measurement in the handler: {way}" for symbol, way in sorted(reach.foreign.items())
            if symbol not in known and symbol != "_GLOBAL_OFFSET_TABLE_"]


def check(folder, allowlist=ALLOWLIST, imports=IMPORTS.LIST):
    roots, allowed, complaints = read_allowlist(allowlist)
    unbound = {name for name, kind in IMPORTS.read_list(imports)[0].items() if kind != "data"}
    if not roots:
        return complaints + [f"{allowlist}: no root"]
    try:
        program = Program(folder)
        reach = program.walk(roots)
        forbidden = {name: program.find(name) for name, (kind, _) in allowed.items() if kind == "forbid"}
        complaints += check_start(program, allowlist, allowed)
    except NotWalkable as error:
        return complaints + [str(error)]
    for name, place in forbidden.items():
        if place in reach.sections:
            complaints.append(f"{name}: forbidden in the handler: {reach.sections[place]}")
    for symbol, way in sorted(reach.foreign.items()):
        if symbol in LAZY_TLS:
            complaints.append(f"{symbol}: lazily allocated thread-local storage: {way}")
        elif symbol in unbound:
            complaints.append(f"{symbol}: may be the program's ({os.path.basename(imports)}): {way}")
        elif allowed.get(symbol, ("", ""))[0] != "allow" and symbol != "_GLOBAL_OFFSET_TABLE_":
            complaints.append(f"{symbol}: not allowed in the handler: {way}")
    return complaints


def list_reached(folder):
    reach = Program(folder).walk(read_allowlist(ALLOWLIST)[0])
    for kind, found in (("function", reach.functions), ("foreign", reach.foreign)):
        for name, way in sorted(found.items()):
            print(f"{kind:9} {name:40} {way}")


HANDLER = """
#include <stdlib.h>
#include <string.h>
void helper(char *p);
static void fetch(char *p) { %s }
static void (*const table[])(char *) __attribute__((used)) = {fetch};
static void handle_sample(int n) { char b[200]; helper(b); %s; (void)n; }
void *unrelated(void (**f)(int)) { *f = handle_sample; return malloc(1); }
"""
HELPER = ("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstruct { int (*get)(int), (*set)(int); } entries;\n"
          "void helper(char *p) { %s }\nvoid other(void) { puts(\"\"); entries.get(0); }\n")
LIST = "root sampler:handle_sample the handler\nallow strlen reads memory\n"
CASES = [
    ("good: malloc beside the handler is none of its business", "", "", "p[0] = 0;", LIST, []),
    ("malloc in the handler", "", "*(char *volatile *)b = malloc(9)", "", LIST, ["malloc: may be the program's", "handle_sample"]),
    ("in another file", "", "", "puts(p);", LIST, ["puts: not allowed", "helper"]),
    ("through a table of functions", "p[0] = *(char *)malloc(2);", "table[b[0]](b)", "", LIST, ["malloc: may be the program's"]),
    ("lazy thread-local storage", "", "", "extern __thread int t; p[0] = (char)t++;", LIST, ["__tls_get_addr: lazily"]),
    ("allowed", "", "", "p[0] = (char)strlen(p);", LIST, []),
    ("allowed, but whatever has its name", "", "", "free(p);", LIST + "allow free test\n", ["free: may be the program's"]),
    ("allowed elsewhere only", "", "", "puts(p);", LIST + "tagged puts test\n", ["puts: not allowed"]),
    ("a call through a forbidden table", "", "", "p[0] = (char)entries.get(1);", LIST + "forbid entries test\n",
     ["entries: forbidden", "helper"]),
    ("its other functions are forbidden too", "", "", "int (*f)(int) = entries.set; p[0] = (char)f(1);",
     LIST + "forbid entries test\n", ["entries: forbidden"]),
    ("a forbidden table beside the handler is none of its business", "", "", "", LIST + "forbid entries test\n", []),
    ("what is forbidden has gone", "", "", "", LIST + "forbid entry test\n", ["no such symbol"]),
    ("a reason is missing", "", "", "", LIST + "allow puts\n", ["not of the form"]),
    ("the root has gone", "", "", "", "root sampler:handle_signal the handler\n", ["no such symbol"]),
    ("the start may do more than the handler", "", "", "puts(p); *(char *volatile *)p = malloc(1);", "root sampler:fetch the handler\nstart helper it\nstarts puts,malloc test\n", []),
    ("but not anything", "", "", "puts(p); *(char *volatile *)p = malloc(1);", "root sampler:fetch the handler\nstart helper it\nstarts puts test\n", ["malloc: not allowed at the start", "helper"]),
    ("what has been done before does not count", "", "*(char *volatile *)b = malloc(9)", "puts(p);",
     "root sampler:fetch the handler\nstart sampler:handle_sample it\nskip helper test\nstarts malloc test\n", []),
    ("a root in a table", "p[0] = *(char *)malloc(2);", "", "", LIST + "root sampler:table callbacks\n", ["malloc"]),
]


def check_case(root, fetch, body, helper, allowlist):
    make_files(root, {"sampler.c": HANDLER % (fetch, body), "helper.c": HELPER % helper, "allow.txt": allowlist})
    compile_units(root, "sampler.c", "helper.c")
    return check(os.path.join(root, "build"), os.path.join(root, "allow.txt"))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--list":
        list_reached(sys.argv[2])
    else:
        sys.exit(main(__doc__, CASES, check_case, check, "handler: every foreign symbol it reaches is allowed"))
