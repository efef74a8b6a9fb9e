#!/usr/bin/env python3
"""For each way in which threads wait for threads: the share of the waiting that has its waker or its lock's holder named. The programs
clock their waiting. `make coverage-waits` writes the table, waits.md."""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "behaviour"))
from blame_profile import Profile  # noqa: E402
from test_posix_locks import SORTS  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
WAKES = "condition broadcast c11 semaphore barrier futex end once once_c11".split()
STD = "future latch barrier semaphore atomic mutex recursive_mutex timed_mutex shared_mutex".split()
WAITERS = {"consume", "wait_for_it"}
NOBODY = "<unreleased lock>", "<lock handoff>", "<lock table full>"
CLOCKED = {"wakes": r" (\d\S*)", "posix_locks": r"expect lock_wait_here waiter (\S+)", "std_waits": r"^(\S+)"}


def names_of(row):
    """The functions on the row's path, without their parameters."""
    return {name.split("(")[0] for name in row.path()}


def measured(program, *arguments):
    """Seconds that the program waited by its own clock, and seconds that have a name."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [f"{BUILD}/bin/blame", "run", "-o", f"{folder}/p", "--summary", "0", "--", f"{BUILD}/tests/{program}", *arguments]
        out = subprocess.run(argv, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "2"}).stdout
        profile = Profile(f"{folder}/p")
        pairs = csv.DictReader(io.StringIO(profile.read("wakes.csv"))) if os.path.exists(f"{folder}/p/wakes.csv") else ()
        woken = sum(float(pair["seconds"]) for pair in pairs if WAITERS & names_of(profile.rows[int(pair["waiter"])]))
        held = profile.root["lock wait (I)"] - sum(profile.total("lock wait", name) for name in NOBODY)
        return sum(map(float, re.findall(CLOCKED[program], out, re.M))), woken + held


def main():
    print("Written by `make coverage-waits`. The programs' clocks include the time for which a woken thread had no core; the load average was "
          f"{os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.\n")
    print("| way | program | waiting (s) | named |\n|---|---|---|---|")
    for program, ways, before in (("wakes", WAKES, ["10"]), ("std_waits", STD, ["20"]), ("posix_locks", SORTS, [])):
        for way in ways:
            clocked, named = measured(program, *before, way)
            print(f"| {way} | {program} | {clocked:.2f} | {100 * named / clocked:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
