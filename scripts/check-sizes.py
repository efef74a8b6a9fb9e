#!/usr/bin/env python3
"""Functions stay below 60 lines: C, Python, shell. No file has marks of a conflict in it.

    scripts/check-sizes.py [--self-test]"""

import ast
import re
import sys

from check_common import ROOT, blank_directives, main, make_files, project_files, read, strip_c

FUNCTION_LINES = 60
NAME = re.compile(r"(\w+)\s*\(")
KEYWORDS = {"__attribute__", "_Static_assert", "__asm__", "__declspec"}
CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
SHELL_FUNCTION = re.compile(r"^(\s*)(?:function\s+)?([\w-]+)\s*\(\)\s*\{?\s*$")


def c_functions(text):
    """(name, first line, last line) of each function's definition: braces at the top level behind a parameter list."""
    text = blank_directives(strip_c(text))
    depth, begin, functions, started = 0, 0, [], None
    for found in re.finditer("[;{}]", text):
        c, i = found.group(), found.start()
        if depth == 0 and c == ";":
            begin = i + 1
        elif c == "{":
            if depth == 0:
                head = text[begin:i]
                names = [name for name in NAME.findall(head) if name not in KEYWORDS]
                is_code = names and "=" not in head and re.search(r"\)[\s\w]*$", head)
                linkage = re.fullmatch(r"\s*extern\s*", head)
                if linkage:  # extern "C" { (the string is blanked)
                    begin = i + 1
                    continue
                if is_code:
                    started = (names[0], begin + len(head) - len(head.lstrip()))
            depth += 1
        elif c == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                if started:
                    functions.append((started[0], text.count("\n", 0, started[1]) + 1, text.count("\n", 0, i) + 1))
                    begin = i + 1
                started = None
    return functions


def python_functions(text):
    return [(node.name, node.lineno, node.end_lineno) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def shell_functions(text):
    """Functions as one writes them: `name() {` to a `}` at the same indentation."""
    functions, started = [], None
    for number, line in enumerate(text.split("\n"), 1):
        found = SHELL_FUNCTION.match(line)
        if found and not started:
            started = (found.group(2), number, found.group(1))
        elif started and line.rstrip() == started[2] + "}":
            functions.append((started[0], started[1], number))
            started = None
    return functions


def language_of(name, text):
    if name.endswith((".c", ".h", ".cc")):
        return c_functions
    first = text.split("\n", 1)[0]
    if name.endswith(".py") or (first.startswith("#!") and "python" in first):
        return python_functions
    if name.endswith(".sh") or re.match(r"#!.*\b(ba|da)?sh\b", first):
        return shell_functions
    return None


def check(root=ROOT):
    complaints = []
    for name in project_files(root, ""):
        text = read(root, name)
        complaints += [f"{name}:{text.count(chr(10), 0, mark.start()) + 1}: a conflict's mark" for mark in CONFLICT.finditer(text)]
        functions_of = language_of(name, text)
        if not functions_of:
            continue
        for function, first, last in functions_of(text):
            if last - first + 1 >= FUNCTION_LINES:
                complaints.append(f"{name}:{first}: {function}: {last - first + 1} lines, must stay below {FUNCTION_LINES}")
    return complaints


BODY = "    f('{', \"}\"); /* { */\n"
LONG = BODY * 58
CASES = [
    ("good", {"a.c": "int f(int x)\n{\n" + BODY * 56 + "}\n", "a.py": "def f():\n" + "    x = 1\n" * 58,
              "data.c": "static const int t[] = {\n" + "1,\n" * 100 + "};\n"}, []),
    ("long C function", {"a.c": "struct s { int a; };\nstatic int f(void)\n{\n" + LONG + "}\n"}, ["a.c:2: f: 61 lines"]),
    ("macro with a brace", {"a.c": "#define X do { \\\n  g()\nint f(int a, int b)\n{\n" + LONG + "}\n"}, ["f: 61"]),
    ("returns a pointer, attribute", {"a.c": "__attribute__((noinline)) char *g(char *(*h)(int))\n{\n" + LONG + "}\n"},
     ["g: 61"]),
    ("second function", {"a.c": "int e(void)\n{\n}\nint f(void)\n{\n" + LONG + "}\n"}, ["a.c:4: f: 61"]),
    ("long C++ function in extern C", {"a.cc": 'extern "C" {\nint f(void)\n{\n' + LONG + "}\n}\n"}, ["f: 61"]),
    ("long Python function", {"a.py": "class A:\n    def f(self):\n" + "        x = 1\n" * 59}, ["a.py:2: f: 60"]),
    ("Python without suffix", {"run": "#!/usr/bin/env python3\ndef f():\n" + "    x = 1\n" * 59}, ["run:2: f: 60"]),
    ("long shell function", {"a": "#!/bin/sh\nf() {\n" + "    true\n" * 58 + "}\n"}, ["a:2: f: 60"]),
    ("a conflict's marks", {"a.md": "one\n" + "<" * 7 + " HEAD\n=======\ntwo\n" + ">" * 7 + " 1234567\n"}, ["a.md:2:", "a.md:5:"]),
]


def check_case(root, files):
    make_files(root, files)
    return check(root)


if __name__ == "__main__":
    sys.exit(main(__doc__, CASES, check_case, check, "sizes: every function below 60 lines", arguments=0))
