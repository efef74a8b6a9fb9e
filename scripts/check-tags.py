#!/usr/bin/env python3
"""Every function in the headers of what runs in the program says from where it may be called: [handler], [owner], [any] or
[init] in its comment (behind it, above it, or above the block of prototypes it stands in). What the signal handler reaches
is [handler], and what is [handler] reaches nothing that handler-allowlist.txt does not allow.

    scripts/check-tags.py FOLDER       object files (make checks builds them in $(BUILD)/check)
    scripts/check-tags.py --self-test"""

import importlib
import os
import re
import sys

from check_common import ROOT, blank_directives, compile_units, main, make_files, project_files, read, strip_c
from handler_walk import NotWalkable, Program

FOLDERS = ("base", "cct", "unwind", "blame", "ompt_tool")
TAG = re.compile(r"\[(handler|owner|any|init)\]")
WHOLE_FILE = re.compile(r"\bAll \[(handler|owner|any|init)\]")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
NAME = re.compile(r"(\w+)\s*\(")

handler_check = importlib.import_module("check-handler")


def items_of(code):
    """(begin, end) of each declaration at the top level; end is behind its `;` or at its `{`."""
    depth, begin, items = 0, 0, []
    for i, c in enumerate(code):
        if c == "{":
            if depth == 0 and code[begin:i].rstrip().endswith(")"):
                items.append((begin, i))
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0 and re.search(r"\)\s*\{", code[begin:i]):
                begin = i + 1
        elif c == ";" and depth == 0:
            items.append((begin, i + 1))
            begin = i + 1
    return [(at + len(code[at:end]) - len(code[at:end].lstrip()), end) for at, end in items]


def function_name(declaration):
    text = ATTRIBUTE.sub(" ", declaration).strip()
    if re.match(r"(typedef|_Static_assert|extern\s+(?!.*\()|struct\s+\w+\s*;|enum\b[^(]*;)", text) or "=" in text:
        return None
    found = NAME.search(text.split("{")[0])
    return found.group(1) if found and not re.match(r"(struct|union|enum)\s+\w+\s*\{", text) else None


def comment_for(text, comments, begin, end):
    """The comment inside or behind the declaration, on its last line; else the one that ends right above it."""
    behind = text.find("\n", end)
    line_end = len(text) if behind < 0 else behind
    for comment in comments:
        if begin < comment.start() < line_end:
            return comment.group()
    for comment in comments:
        if comment.end() <= begin and text[comment.end():begin].count("\n") <= 1 and not text[comment.end():begin].strip():
            # A comment behind the line above belongs to what stands there.
            line = text[text.rfind("\n", 0, comment.start()) + 1:comment.start()]
            if not line.strip():
                return comment.group()
    return None


def tags_of_header(text, name):
    """({function: tag}, complaints)"""
    comments = list(COMMENT.finditer(text))
    whole = WHOLE_FILE.search(comments[0].group()) if comments else None
    code = blank_directives(strip_c(text))
    tags, complaints, inherited, last_end = {}, [], None, 0
    for begin, end in items_of(code):
        function = function_name(code[begin:end])
        if "\n\n" in text[last_end:begin]:
            inherited = None
        last_end = end
        if not function:
            continue
        found = TAG.findall(comment_for(text, comments, begin, end) or "")
        tag = found[0] if len(found) == 1 else None
        if not found:
            tag = inherited or (whole.group(1) if whole else None)
        inherited = tag
        if tag:
            tags[function] = tag
        else:
            complaints.append(f"{name}:{text.count(chr(10), 0, begin) + 1}: {function}: {len(found)} tags, must be one")
    return tags, complaints


def wrong_reach(program, tags, roots, allowed):
    complaints = []
    reach = program.walk(roots)
    for symbol, way in sorted(reach.functions.items()):
        function = symbol.split(".")[0]
        if tags.get(function, "handler") != "handler":
            complaints.append(f"{function} is tagged [{tags[function]}], but the handler reaches it: {way}")
    tagged = [name for name, tag in sorted(tags.items()) if tag == "handler" and name in program.globals]
    for function in tagged:
        for symbol, way in sorted(program.walk([function]).foreign.items()):
            if symbol not in allowed and symbol != "_GLOBAL_OFFSET_TABLE_":
                complaints.append(f"{function} is tagged [handler], but reaches {symbol}: {way}")
    return complaints


def check(folder, root=ROOT, allowlist=handler_check.ALLOWLIST):
    tags, complaints = {}, []
    for name in project_files(root, ".h"):
        room = name.split("/")[0]
        if room in FOLDERS or room == "layers":
            found, wrong = tags_of_header(read(root, name), name)
            tags.update(found if room in FOLDERS else {})  # the handler reaches no layer
            complaints += wrong
    if not tags:
        return complaints + ["no header with a tag"]
    roots, allowed, _ = handler_check.read_allowlist(allowlist)
    try:
        return complaints + wrong_reach(Program(folder), tags, roots, allowed)
    except NotWalkable as error:
        return complaints + [str(error)]


GOOD = "/* A header. */\nstruct s { int (*f)(int); };\n\n/* Says\n * much. [handler] */\nint f(int);\n"
CODE = "int f(int a) { return a; } int g(int a) { return a; } int h(int a); static int handle_sample(int a)\n" \
       "{ return %s; }\nvoid *start(void) { return (void *)handle_sample; }\n"
CASES = [
    ("good", GOOD + "void g(int a); /* [owner] */\nvoid h(void);\n", "f(a)", []),
    ("no comment", GOOD + "\nvoid g(int a);\n", "f(a)", ["base/a.h:8: g: 0 tags"]),
    ("a comment without a tag", GOOD + "\n/* Adds. */\nvoid g(int a);\n", "f(a)", ["g: 0 tags"]),
    ("behind another", GOOD + "\nvoid *e(void); /* [any] */\n\nvoid g(int a);\n", "f(a)", ["base/a.h:10: g: 0 tags"]),
    ("two tags", GOOD + "\n/* [any] [init] */\nvoid g(int a);\n", "f(a)", ["g: 2 tags"]),
    ("inline", GOOD + "\nstatic inline int g(void)\n{\n    if (f(1)) { f(2); }\n    return 1;\n}\n\n", "f(a)", ["base/a.h:8: g: 0"]),
    ("inline, then a prototype", GOOD + "\n/* [any] */\nstatic inline int i(void)\n{\n    return 1;\n}\n\nint g(int);\n",
     "f(a)", ["base/a.h:14: g: 0 tags"]),
    ("a pointer, an attribute", GOOD + "\nvoid *g(int a) __attribute__((malloc));\n", "f(a)", ["g: 0 tags"]),
    ("all of the file", "/* Atoms. All [handler]. */\nint f(int);\n\nint g(int);\n", "g(a)", []),
    ("the handler reaches an owner's", GOOD + "\nint g(int a); /* [owner] */\n", "g(a)", ["g is tagged [owner], but"]),
    ("tagged, but reaches malloc", GOOD + "\nvoid *m(void); /* [handler] */\n", "f(a)", ["m is tagged [handler], but reaches"]),
]


def check_case(root, header, body):
    make_files(root, {"base/a.h": header, "base/a.c": "#include <stdlib.h>\nvoid *m(void) { return malloc(1); }\n" + CODE % body,
                      "allow": "root a:handle_sample the handler\n"})
    compile_units(root, "base/a.c")
    return check(os.path.join(root, "build/base"), root, os.path.join(root, "allow"))


if __name__ == "__main__":
    sys.exit(main(__doc__, CASES, check_case, check, "tags: every function has one, and the handler keeps to [handler]"))
