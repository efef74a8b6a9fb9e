#!/usr/bin/env python3
"""check-old-glibc.py BUILD CC: would the archive (make archive) build with glibc 2.17? In seconds, and without its compiler: the plugin and the
layers are compiled with archive/headers as where glibc has none of what these give, and what the products of BUILD call must be in this system's
glibc under a version that 2.17 had, or in archive/headers. Prints what is not, and exits with 1.
check-old-glibc.py --self-test CC: does it find a type that is missing in archive/headers, and calls of newer functions?"""

import glob
import os
import re
import subprocess
import sys
import tempfile

NEWEST = (2, 17)
# Headers of glibc 2.17 have these as inline functions; those of 2.38 and newer give other names to functions that are old.
INLINE = re.compile(r"[fl]?stat|fstatat|__isoc23_\w+")
LIBRARIES = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1")
PRETEND = """#include <features.h>
#undef __GLIBC_PREREQ
#define __GLIBC_PREREQ(major, minor) ((major) == 2 && (minor) <= 17)
"""


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def sources():
    machine = os.uname().machine
    found = [path for folder in ("base", "blame", "cct", "layers", "ompt_tool", "unwind") for path in glob.glob(f"{folder}/**/*.c", recursive=True)]
    return sorted(path for path in found if "layers/loader/" not in path and not re.search(rf"_(?!{machine})(x86_64|aarch64)\.c$", path))


def compile_errors(build, compiler, headers, paths):
    with tempfile.NamedTemporaryFile("w", suffix=".h") as pretend:
        pretend.write(PRETEND)
        pretend.flush()
        made = subprocess.run([compiler, "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", "-DBLAME_VERSION=\"\"", "-Werror=implicit-function-declaration",
                               "-include", pretend.name, f"-I{headers}", "-include", f"{headers}/newer_functions.h", "-I.", f"-I{build}/include", *paths],
                              capture_output=True, text=True, check=False)
    return [line for line in made.stderr.splitlines() if "error:" in line] or ([made.stderr] if made.returncode else [])


def oldest_versions(compiler):
    oldest = {}
    for library in LIBRARIES:
        for name, version in re.findall(r" (\w+)@+GLIBC_([0-9.]+)", output("nm", "-D", "--defined-only", output(compiler, f"-print-file-name={library}").strip())):
            number = tuple(map(int, version.split(".")))
            oldest[name] = min(oldest.get(name, number), number)
    return oldest


def newer_calls(called, compiler):
    with open("archive/headers/newer_functions.h", encoding="ascii") as file:
        ours = set(re.findall(r"#define (\w+) newer_", file.read()))
    oldest = oldest_versions(compiler)
    return sorted(name for name in called if oldest.get(name, NEWEST) > NEWEST and name not in ours and not INLINE.fullmatch(name))


def called_by(build):
    objects = glob.glob(f"{build}/command/**/*.o", recursive=True)
    lists = output("nm", "-D", "--undefined-only", *glob.glob(f"{build}/lib/*.so")) + output("nm", "--undefined-only", *objects)
    return set(re.findall(r" [Uw] (\w+)", lists))


def self_test(compiler):
    good = newer_calls({"dlopen", "pidfd_open", "reallocarray", "stat", "close_range"}, compiler) == ["close_range", "pidfd_open"]
    with tempfile.TemporaryDirectory() as headers:
        for name in os.listdir("archive/headers"):
            with open(f"archive/headers/{name}", encoding="ascii") as file, open(f"{headers}/{name}", "w", encoding="ascii") as to:
                to.writelines(line for line in file if "typedef pthread_t thrd_t;" not in line)
        good &= bool(compile_errors("build", compiler, headers, glob.glob("layers/pthreads/*.c")))
    return 0 if good else 1


def main(arguments):
    if arguments[0] == "--self-test":
        return self_test(arguments[1])
    build, compiler = arguments
    faults = compile_errors(build, compiler, "archive/headers", sources())
    faults += [f"{name}: newer than glibc 2.17" for name in newer_calls(called_by(build), compiler)]
    for fault in faults:
        print(f"check-old-glibc: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
