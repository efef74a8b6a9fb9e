#!/usr/bin/env python3
"""check-archive.py DIR: does every program and library below DIR run on the oldest system that the archive is for (glibc 2.17), with nothing
but what each such system has? Prints what does not, and exits with 1.
check-archive.py --refuses FILE: the same for one file that must not pass: exits with 1 if it does."""

import pathlib
import re
import subprocess
import sys

NEWEST = (2, 17)
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
# The name by which libblame-gomp-run.so asks for libgomp; libblame-loader.so gives it the program's own (docs/architecture.md).
OURS = {"libblame-real-gomp.so.1"}
# What libraries may export: their interface. Everything else of theirs could meet the program's own.
EXPORTS = {
    "libblame.so": r"ompt_start_tool|blame_\w+",
    "libblame-loader.so": r"la_\w+",
    "libblame-mpi.so": None, "libblame-pthreads.so": None, "libblame-gomp.so": None, "libblame-gomp-run.so": None,
}


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, str(path)], capture_output=True, text=True, check=True).stdout


def faults(path):
    dynamic = readelf("-d", path)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in ALLOWED | OURS:
            yield f"needs {name}"
    for folders in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        if any(not folder.startswith("$ORIGIN") for folder in folders.split(":")):
            yield f"searches libraries in {folders}"
    for library, version in set(re.findall(r"Name: (\w+)_([0-9.]+) ", readelf("-V", path))):
        if library != "GLIBC" or tuple(map(int, version.split("."))) > NEWEST:
            yield f"needs {library}_{version}"
    allowed = EXPORTS.get(path.name)
    for line in readelf("--dyn-syms", path).splitlines() if allowed else ():
        fields = line.split()
        if len(fields) == 8 and fields[4] in ("GLOBAL", "WEAK") and fields[6] not in ("UND", "Ndx"):
            if not re.fullmatch(allowed, fields[7].split("@")[0]):
                yield f"exports {fields[7]}"


def main(arguments):
    if arguments[:1] == ["--refuses"]:
        if any(faults(pathlib.Path(arguments[1]))):
            return 0
        print(f"check-archive: {arguments[1]} passes and must not")
        return 1
    found = 0
    checked = 0
    for path in sorted(pathlib.Path(arguments[0]).rglob("*")):
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        checked += 1
        for fault in faults(path):
            print(f"check-archive: {path}: {fault}")
            found += 1
    if not checked:
        print(f"check-archive: no program in {arguments[0]}")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
