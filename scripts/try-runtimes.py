#!/usr/bin/env python3
"""Runs one program (tests/programs/runtimes.c) on OpenMP runtimes that lie anywhere, with and without blame, and prints a row for each: unpacked packages
(dpkg -x) of libomp, wheels of intel-openmp. Programs of newer clangs do not start on older runtimes, so the program should be one of clang 14.

    BUILD=build CC=clang-14 scripts/try-runtimes.py FILE ...     FILE: a libomp.so.5, libiomp5.so, or a libgomp.so.1 that is LLVM's"""

import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
SUM = "16\n"
WAITS = {"barrier", "lock", "region end"}  # every runtime tells these


def run(command, folder, runtime, **more):
    env = dict(os.environ, LD_LIBRARY_PATH=runtime, OMP_NUM_THREADS="2", **more)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False, encoding="utf-8", timeout=120)


def row(program, folder, runtime):
    """What a run says, and whether it is as it must be."""
    alone = run([program], folder, runtime)
    if alone.returncode:
        return f"does not start: {alone.stderr.strip().splitlines()[0]}", True
    ours = run([os.path.join(BUILD, "bin/blame"), "run", "-o", "profile", "--", program], folder, runtime, BLAME_CSV="1")
    same = (ours.returncode, ours.stdout) == (0, SUM) and alone.stdout == SUM
    profile = os.path.join(folder, "profile")
    if not os.path.isdir(profile):
        lines = [line for line in ours.stderr.splitlines() if "older than that of OpenMP 5.0" in line]
        return "refused: " + " ".join(lines), same and len(lines) == 1
    with open(os.path.join(profile, "run.json"), encoding="utf-8") as file:
        said = json.load(file)
    with open(os.path.join(profile, "waits.csv"), encoding="utf-8") as file:
        kinds = {wait["place_kind"] for wait in csv.DictReader(file)}
    broken = [name for name, law in said["conservation"].items() if isinstance(law, dict) and not law.get("ok", True)]
    text = f"{said['runtime_version']}, {said['threads_max']} threads, waits: {', '.join(sorted(kinds - {'<place not kept>'}))}"
    return text + (f"; broken laws: {broken}" if broken else ""), same and not broken and said["threads_max"] == 2 and WAITS <= kinds


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    good = True
    with tempfile.TemporaryDirectory() as work:
        program, stub = os.path.join(work, "runtimes"), os.path.join(work, "stub")
        os.mkdir(stub)
        os.symlink(os.path.abspath(sys.argv[1]), os.path.join(stub, "libomp.so"))
        # the name that the program asks for is not the one that the runtime's file has
        subprocess.run([*os.environ.get("CC", "clang").split(), "-O1", "-g", "-fopenmp", os.path.join(ROOT, "tests/programs/runtimes.c"), "-o", program, "-L", stub], check=True)
        for number, file in enumerate(sys.argv[1:]):
            folder, runtime = os.path.join(work, f"run{number}"), os.path.join(work, f"runtime{number}")
            os.mkdir(folder)
            os.mkdir(runtime)
            for name in ("libomp.so.5", "libomp.so", "libiomp5.so"):
                os.symlink(os.path.abspath(file), os.path.join(runtime, name))
            text, is_right = row(program, folder, runtime)
            good &= is_right
            print(f"{'ok' if is_right else 'BAD':4} {file}: {text}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
