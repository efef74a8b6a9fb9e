#!/usr/bin/env python3
"""The example of the paper on hpsgprof (UKPEW 2009, tables 2 and 3): functions with known shares of the work, by the log of stacks at 1, 10 and 100
samples a second, and what that costs. Prints two tables for docs/time.md.

    make bench-stacks BENCH_ARGS='--seconds 30 --runs 3'"""

import argparse
import collections
import glob
import math
import os
import statistics
import subprocess
import tempfile

RATES = (1, 10, 100)
FUNCTIONS = {"sweep": 97.79, "source": 1.96, "flux_err": 0.22, "inner": 0.01, "initialise": 0.01, "initxs": 0.01}  # per cent of the work
RAN = ("work", "overhead")


def run(argv, folder):
    """What the program says: seconds of each function, wall and processor's time."""
    done = subprocess.run(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(argv)}: status {done.returncode}\n{done.stderr}")
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def function_of(stack):
    """The innermost of the program's functions: what it calls to read the clock is its own time."""
    for frame in stack.split(";"):
        name = frame.rsplit(":", 3)[0]
        if name in FUNCTIONS:
            return name
    return None


def samples_of(log):
    """Samples that found a thread running, by function."""
    counts = collections.Counter()
    with open(log, encoding="utf-8") as file:
        for line in file:
            _, _, _, state, stack = line.rstrip("\n").split("\t")
            name = function_of(stack) if state in RAN else None
            if name:
                counts[name] += 1
    return counts


def measure(args):
    said = {column: [] for column in ("alone", *RATES)}
    counts = {rate: collections.Counter() for rate in RATES}
    program = [os.path.abspath(args.program), str(args.seconds), str(args.threads)]
    for _ in range(args.runs):
        for column in said:
            with tempfile.TemporaryDirectory() as folder:
                tool = [] if column == "alone" else [os.path.abspath(args.command), "run", f"--stacks={column}", "--csv", "0", "--out", "profile"]
                said[column].append(run(tool + program, folder))
                if tool:
                    log, = glob.glob(os.path.join(folder, "profile", "*.stacks"))
                    counts[column] += samples_of(log)
    return said, counts


def error_of(share, samples):
    """One standard deviation of a share of so many samples, in per cent."""
    return 100 * math.sqrt(share * (1 - share) / samples) if samples else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bench/stack_sweep")
    parser.add_argument("--command", default="build/bin/blame")
    parser.add_argument("--seconds", type=float, default=30, help="of work for each thread")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="of each column, in turns; shares are of all, times are medians")
    said, counts = measure(args := parser.parse_args())
    truth = {name: sum(one[name] for ones in said.values() for one in ones) for name in FUNCTIONS}
    whole = sum(truth.values())
    print("| function | share of the work % | its own clock % | " + " | ".join(f"{rate} Hz %" for rate in RATES) + " |")
    print("|---|---|---|" + "---|" * len(RATES))
    for name, share in FUNCTIONS.items():
        cells = []
        for rate in RATES:
            samples = sum(counts[rate].values())
            cells.append(f"{100 * counts[rate][name] / samples if samples else math.nan:.2f} (± {error_of(share / 100, samples):.2f})")
        print(f"| {name} | {share:.2f} | {100 * truth[name] / whole:.2f} | " + " | ".join(cells) + " |")
    print("| samples | | | " + " | ".join(str(sum(counts[rate].values())) for rate in RATES) + " |\n")
    print("| seconds | alone | " + " | ".join(f"{rate} Hz" for rate in RATES) + " |")
    print("|---|---|" + "---|" * len(RATES))
    for time in ("wall", "cpu"):
        print(f"| {time} | " + " | ".join(f"{statistics.median(one[time] for one in ones):.3f}" for ones in said.values()) + " |")


if __name__ == "__main__":
    main()
