#!/usr/bin/env python3
"""The handler against a runtime that makes and unmakes teams: many runs of the team_sizes patterns at 10,000 samples/s,
with every runtime that can be had, and long ones until a number of samples has been taken. By hand, for hours if need be:

    make soak                          2,000 runs of each pattern, 1,000,000 samples
    make soak SOAK_ARGS='--runs 100 --samples 20000'
    make soak SOAK_ARGS='--library OTHER/libblame.so'    another build of the tool

A run is bad when its status or its output is not that of the program without the tool. SIGBUS (-7) can be libomp's own: an
empty /dev/shm/__KMP_REGISTERED_LIB_PID_UID, left by a process that was killed at its start, ends a later one with that number.
Samples are the timer's expirations: a delivery that is late stands for several."""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "behaviour"), HERE, os.path.join(HERE, "coverage")]

import harness  # noqa: E402
import measure  # noqa: E402
import runtimes  # noqa: E402

PATTERNS = ("final", "if", "lock")
BUILDS = ("team_sizes", "team_sizes_O0", "team_sizes_gcc")
LONG = [("nested", "40"), ("final", "60"), ("if", "60"), ("lock", "60")]
LIMIT_S = 300


def runtime_folders():
    newest = os.path.dirname(measure.newest_libomp())
    found = [("newest", newest)]
    for version in (14, 16):
        folder, why = runtimes.find(version)
        if folder:
            found.append((str(version), folder))
        else:
            print(f"libomp {version}: {why}; left out")
    return found


def environment(library, folder, scratch, name):
    """A GCC program finds the runtime under libgomp's name."""
    if name.endswith("_gcc"):
        own = os.path.join(scratch, "gomp" + folder.replace("/", "_"))
        if not os.path.isdir(own):
            os.makedirs(own)
            os.symlink(os.path.join(folder, "libomp.so.5"), os.path.join(own, "libgomp.so.1"))
        folder = own
    return harness.clean_environment() | {
        "LD_LIBRARY_PATH": folder, "OMP_TOOL_LIBRARIES": library, "BLAME_RATE": "10000", "BLAME_SUMMARY": "0",
        "BLAME_OUT": os.path.join(scratch, "profile"), "KMP_BLOCKTIME": "0"}


def execute(argv, env=None):
    try:
        run = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return "hangs", ""
    return run.returncode, run.stdout


def take_samples(scratch):
    """(delivered, lost to a fault in the handler) of the runs since the last call."""
    delivered = faults = 0
    for directory in glob.glob(os.path.join(scratch, "profile*")):
        try:
            with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
                samples = json.load(file)["samples"]
            delivered += samples["delivered"]
            faults += samples["dropped"].get("fault in handler", 0)
        except (OSError, ValueError, KeyError):
            pass
        subprocess.run(["rm", "-rf", directory], check=True)
    return delivered, faults


class Soak:
    def __init__(self, library, scratch):
        self.library, self.scratch = library, scratch
        self.expected, self.bad = {}, Counter()
        self.runs = self.samples = self.faults = 0

    def run(self, name, way, rounds, folder):
        argv = [os.path.join(harness.BUILD, "tests", name), way, rounds]
        if tuple(argv) not in self.expected:
            self.expected[tuple(argv)] = execute(argv)
        got = execute(argv, environment(self.library, folder, self.scratch, name))
        delivered, faults = take_samples(self.scratch)
        self.runs, self.samples, self.faults = self.runs + 1, self.samples + delivered, self.faults + faults
        if got != self.expected[tuple(argv)]:
            self.bad[f"{name} {way}: status {got[0]}"] += 1

    def report(self, what):
        print(f"{what}: {self.runs} runs, {self.samples} samples, {self.faults} lost to a fault in the handler, "
              f"{sum(self.bad.values())} bad runs", flush=True)
        for line, count in sorted(self.bad.items()):
            print(f"    {count:5}  {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="of each pattern")
    parser.add_argument("--samples", type=int, default=1000000)
    parser.add_argument("--library", default=harness.LIBRARY)
    args = parser.parse_args()
    folders = runtime_folders()
    places = [(name, label, folder) for name in BUILDS for label, folder in folders]
    with tempfile.TemporaryDirectory(prefix="blame-soak-") as scratch:
        soak = Soak(os.path.abspath(args.library), scratch)
        for way in PATTERNS:
            for number in range(args.runs):
                name, _, folder = places[number % len(places)]
                soak.run(name, way, "1", folder)
            soak.report(way)
        number, before = 0, soak.samples
        while soak.samples - before < args.samples and not soak.bad:
            name, label, folder = places[number % len(places)]
            soak.run(name, *LONG[number // len(places) % len(LONG)], folder)
            number += 1
        soak.report("in all")
    return 1 if soak.bad else 0


if __name__ == "__main__":
    sys.exit(main())
