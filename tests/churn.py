#!/usr/bin/env python3
"""Whether anything of the tool grows while threads, teams, libraries and processes come and go. By hand, for hours if need be:

    make churn                         an hour
    make churn CHURN_ARGS='--minutes 5 --rate 1000 --pause 0'

The same program runs beside it without the tool. Looked at are, once a minute, what the process has in memory, how many mappings and
open files, and the measurement file. What the tool adds after a quarter of the time must still be all at the end, but for what new contexts
and new threads take in the file, and in memory: 64 bytes each with their sums, and a thread's own sums, of the first 65,536. The program's
results must be right, and the profile's laws hold."""

import argparse
import glob
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "behaviour")]

import contract_checks  # noqa: E402
import harness  # noqa: E402
from blame_profile import Profile  # noqa: E402

LOOKS = 60        # over the time
CONTEXT_B, THREAD_B, THREADS = 128, 704, 65536
GROWTH_KB = 1024  # of memory, in all the rest of the time: the allocator's and the page tables' chance
FIELDS = ("memory kB", "mappings", "files", "measured kB")


def started(folder, args, tool):
    env = harness.clean_environment() | {"OMP_CANCELLATION": "true", "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
    if tool:
        env |= {"OMP_TOOL_LIBRARIES": harness.LIBRARY, "BLAME_RATE": str(args.rate), "BLAME_OUT": "profile", "BLAME_SUMMARY": "0"}
    command = [harness.program("churn"), str(60 * args.minutes), harness.program("churn_lib.so"), str(args.pause)]
    return subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def look(pid, folder):
    """Of a process that may have ended: None."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            memory = [int(line.split()[1]) for line in file if line.startswith("VmRSS")]
        with open(f"/proc/{pid}/maps", "rb") as file:
            mappings = sum(1 for _ in file)
        files = len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return None
    measured = sum(os.stat(path).st_blocks // 2 for path in glob.glob(os.path.join(folder, "profile", "*.blame")))
    return (*memory, mappings, files, measured) if memory else None


def watch(processes, folders, args):
    """A row a look: what each of both has."""
    rows, end_s, apart_s = [], time.monotonic() + 60 * args.minutes, 60 * args.minutes / LOOKS
    while time.monotonic() < end_s - apart_s:
        time.sleep(apart_s)
        seen = [look(process.pid, folder) for process, folder in zip(processes, folders)]
        if None in seen:
            break
        rows.append(seen)
    return rows


def growth(rows):
    """Field -> how much more the tool adds at the end than after a quarter of the looks; medians of some looks."""
    def added(part, field):
        ordered = sorted(tool[field] - alone[field] for tool, alone in part)
        return ordered[len(ordered) // 2]
    few = max(1, len(rows) // 10)
    quarter = rows[len(rows) // 4:len(rows) // 4 + few]
    return {name: added(rows[-few:], field) - added(quarter, field) for field, name in enumerate(FIELDS)}


def problems(processes, outputs, rows, folder):
    for process, (output, errors) in zip(processes, outputs):
        if process.returncode != 0 or errors:
            yield f"status {process.returncode}: {output}{errors}"
    if len(rows) < LOOKS // 2:
        yield f"only {len(rows)} looks: it ended early"
        return
    grown = growth(rows)
    profile = Profile(os.path.join(folder, "profile"))
    yield from contract_checks.violations(profile, None)
    new_kb = (CONTEXT_B * len(profile.rows) + THREAD_B * min(THREADS, len(profile.threads))) // 1024
    print(f"{len(profile.threads)} threads, {len(profile.rows)} rows: {new_kb} kB in all")
    limits = {"memory kB": GROWTH_KB + new_kb, "mappings": 64, "files": 0, "measured kB": 64 + new_kb}
    for name, limit in limits.items():
        print(f"{name:12} grew by {grown[name]} (limit {limit})")
        if grown[name] > limit:
            yield f"{name}: {grown[name]} more than after a quarter of the time"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0, help="milliseconds between two cycles")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="blame-churn-") as scratch:
        folders = [os.path.join(scratch, name) for name in ("tool", "alone")]
        for folder in folders:
            os.mkdir(folder)
        processes = [started(folder, args, folder is folders[0]) for folder in folders]
        rows = watch(processes, folders, args)
        outputs = [process.communicate() for process in processes]
        print("minute  " + "  ".join(f"{name:>20}" for name in FIELDS) + "   (with the tool, alone)")
        for number in range(0, len(rows), max(1, len(rows) // 12)):
            pairs = (f"{tool} {alone}" for tool, alone in zip(*rows[number]))
            print(f"{(number + 1) * args.minutes / LOOKS:6.1f}  " + "  ".join(f"{pair:>20}" for pair in pairs))
        print("".join(f"{name}: {output}" for name, (output, _) in zip(("tool", "alone"), outputs)).replace("\n", " "))
        found = list(problems(processes, outputs, rows, folders[0]))
        print("\n".join(found), f"{1 - bool(found)} passed, {int(bool(found))} failed", sep="\n" if found else "")
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
