#!/usr/bin/env python3
"""Nothing that the plugin and its layers call can be the program's. A program, or a preloaded library, may define any function
of libc's; base/bind.c binds each import of ours again, to the library that we were linked with. So each import must be a
function that such a library defines by that name and version, or stand in scripts/import-list.txt with its reason. The same holds
for libunwind and Zydis, which are bound with us. What base/bind.c itself reaches before that is nothing but the loader's list.

    scripts/check-imports.py BUILD        libraries of BUILD/lib, and BUILD/check/base/bind.o (make checks builds them)
    scripts/check-imports.py --self-test"""

import os
import re
import subprocess
import sys

from check_common import ROOT, main, make_files, output, read_table
from handler_walk import NotWalkable, Program

LIST = os.path.join(ROOT, "scripts", "import-list.txt")
LIBRARIES = ("libblame.so", "libblame-mpi.so", "libblame-pthreads.so", "libblame-gomp.so", "libblame-loader.so")
COME_ALONG = ("libunwind", "libZydis")  # as in base/bind.c
FUNCTIONS = ("FUNC", "IFUNC", "GNU_IFUNC")
CONSTRUCTOR = "base/bind:bind_own"
BEFORE_BINDING = {"_r_debug", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_"}
SYMBOL = re.compile(r"^\s*\d+: [0-9a-f]+\s+\S+ (\w+)\s+(\w+)\s+\w+\s+(?:\[.*?\]\s+)?(\w+) ([^\s@]+)(@@?[\w.]+)?", re.MULTILINE)


def read_list(path):
    """({name: kind}, complaints about the list itself)"""
    rows, complaints = read_table(path, "data", "heap", "ask")
    return {name: kind for kind, name, _ in rows}, complaints


def symbols_of(path):
    """(type, binding, home, name, version) of each dynamic symbol"""
    for kind, binding, home, name, version in SYMBOL.findall(output("readelf", "-W", "--dyn-syms", path)):
        yield kind, binding, home, name, version.lstrip("@")


def needed_by(path):
    """Where the libraries lie that an object was linked with, by their names."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-W", "-d", path))
    found = dict(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", path), re.MULTILINE)) if names else {}
    loader = re.search(r"^\s*(/\S+) \(", output("ldd", path) if names else "", re.MULTILINE)
    return {name: found.get(name) or (loader and loader.group(1)) for name in names}


def check_library(path, known):
    where, libraries = needed_by(path), {}
    for name, place in where.items():
        libraries[name] = {(symbol, version): kind for kind, _, home, symbol, version in symbols_of(place or path) if home != "UND"}
    for _, binding, home, name, version in symbols_of(path):
        if home != "UND":
            continue
        kinds = [defined[name, version] for defined in libraries.values() if (name, version) in defined]
        full = f"{os.path.basename(path)}: {name}" + (f"@{version}" if version else "")
        wanted = known.get(name)
        if not kinds and binding != "WEAK":
            yield f"{full}: no library that this one is linked with defines it: it can be the program's"
        elif not kinds and wanted != "ask":
            yield f"{full}: a weak name that can be the program's, without its reason in {os.path.basename(LIST)} (ask)"
        elif kinds and kinds[0] not in FUNCTIONS and wanted != "data":
            yield f"{full}: a variable, without its reason in {os.path.basename(LIST)} (data)"


def heap_of_bind(root):
    """The functions that base/bind.c leaves with the program's heap."""
    with open(os.path.join(root, "base", "bind.c"), encoding="utf-8") as file:
        found = re.search(r"bind_is_heap_function\(.*?\n(.*?)\n\}", file.read(), re.DOTALL)
    return re.findall(r'"(\w+)"', found.group(1)) if found else []


def check_heap(root, known, imported):
    for name in heap_of_bind(root):
        if name in imported and known.get(name) != "heap":
            yield f"{name}: base/bind.c leaves it as it is bound, without its reason in {os.path.basename(LIST)} (heap)"


def check_constructor(folder):
    try:
        reached = Program(folder).walk([CONSTRUCTOR]).foreign
    except NotWalkable as error:
        return [str(error)]
    return [f"{name}: called before our imports are bound: {way}" for name, way in sorted(reached.items()) if name not in BEFORE_BINDING]


def check(build, root=ROOT, listed=LIST, libraries=LIBRARIES):
    known, complaints = read_list(listed)
    paths = [os.path.join(build, "lib", name) for name in libraries]
    for path in list(paths):
        if not os.path.exists(path):
            return complaints + [f"{path} is missing: make all"]
        paths += [place for name, place in needed_by(path).items() if name.startswith(COME_ALONG) and place]
    for path in list(paths):  # libunwind-x86_64 needs libunwind
        paths += [place for name, place in needed_by(path).items() if name.startswith(COME_ALONG) and place not in paths]
    imported = set()
    for path in paths:
        complaints += check_library(path, known)
        imported |= {name for _, _, home, name, _ in symbols_of(path) if home == "UND"}
    complaints += check_heap(root, known, imported)
    return complaints + check_constructor(os.path.join(build, "check"))


BIND = """extern int _r_debug; %s
__attribute__((constructor)) static void bind_own(void) { _r_debug = 1; %s }
int bind_is_heap_function(void);
"""
HEAP = 'static int bind_is_heap_function(const char *name)\n{\n    static const char names[][9] = {"malloc"};\n}\n'
GOOD = "data environ test\ndata __environ test\nheap malloc test\nask __gmon_start__ test\nask _ITM_registerTMCloneTable test\n" \
       "ask _ITM_deregisterTMCloneTable test\nask asked test\n"
CASES = [
    ("good: libc's functions", "#include <unistd.h>\nint f(void) { return getpid(); }", "", GOOD, []),
    ("nobody's that it was linked with", "int other(void); int f(void) { return other(); }", "", GOOD, ["other: no library"]),
    ("a weak name without a reason", "extern int other __attribute__((weak)); int *f(void) { return &other; }", "", GOOD, ["other: a weak name"]),
    ("a weak name with one", "extern int asked __attribute__((weak)); int *f(void) { return &asked; }", "", GOOD, []),
    ("a variable without a reason", "extern char *program_invocation_name; char *f(void) { return program_invocation_name; }", "", GOOD,
     ["program_invocation_name@", "a variable"]),
    ("a variable with one", "extern char **environ; char **f(void) { return environ; }", "", GOOD, []),
    ("the heap's, without a reason", "#include <stdlib.h>\nvoid *f(void) { return malloc(1); }", "", GOOD.replace("heap malloc test\n", ""),
     ["malloc: base/bind.c leaves it"]),
    ("a reason is missing", "int f(void) { return 1; }", "", "data environ\n", ["not of the form"]),
    ("the constructor calls", "int f(void) { return 1; }", "getpid();", GOOD, ["getpid: called before", "bind_own"]),
]


def check_case(root, library, constructor, listed):
    make_files(root, {"a.c": library, "list.txt": listed, "base/bind.c": HEAP, "check.c": BIND % ("int getpid(void);", constructor)})
    os.makedirs(os.path.join(root, "build", "lib"))
    os.makedirs(os.path.join(root, "build", "check", "base"))
    for command in (("-shared", "-nostartfiles", "-o", "build/lib/a.so", "a.c"),
                    ("-ffunction-sections", "-fdata-sections", "-c", "-o", "build/check/base/bind.o", "check.c")):
        subprocess.run(["cc", "-w", "-O1", "-fPIC", *command], cwd=root, check=True)
    return check(os.path.join(root, "build"), root, os.path.join(root, "list.txt"), ["a.so"])


if __name__ == "__main__":
    sys.exit(main(__doc__, CASES, check_case, check, "imports: each is bound to its own library, or listed with its reason"))
