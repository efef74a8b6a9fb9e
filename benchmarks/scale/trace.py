#!/usr/bin/env python3
"""How much smaller a profile is than a trace of the same samples, by kernel, rate and length of the run.

Two traces are reckoned, byte by byte, of the samples that the profile was made of (idle ones too):
  ids     time 8, state 1, number of the path 4: 13 bytes a sample. The table of paths that the numbers refer to is not
          counted, though such a trace needs it as well.
  paths   time 8, state 1, and the address of each frame, 8: a trace with full call paths. An idle sample has none.
The profile is the whole file that the plugin writes, with its header, module table and unused ends of chunks."""

import argparse
import glob
import math
import os
import re
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from bench import KERNELS
from bench_common import BenchError, find_tools, positive, run, tool_environment

WANTED = 50
SAMPLE_BYTES, ID_BYTES, FRAME_BYTES = 9, 4, 8
# Of cct/profile_format.h.
HEADER, CHUNK, UNIT, THREAD, RECORDED = 4096, 32768, 32, 512, 40
TREE, THREADS, MODULES, TEXT = 1, 2, 3, 4
RECORD_BYTES = {THREADS: THREAD, MODULES: 1024, TEXT: 1}
FREE, TRIE, FRAME, RUNTIME, PSEUDO, LOCK = 0, 2, 4, 5, 7, 6
NODE = struct.Struct("<QIIIIIB3x")


class Sizes:
    """What one measurement file says."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.bytes, self.used = len(self.data), HEADER
        self.samples, self.filed, self.frames, self.contexts = 0, 0, 0, 0
        for start in range(HEADER, self.bytes - CHUNK + 1, CHUNK):
            self.add_chunk(start)
        idle = self.samples - self.filed
        if not 0 < self.filed or idle < 0:
            raise BenchError(f"{path}: {self.samples} samples, {self.filed} of them in trees: not a profile as expected")
        self.ids = self.samples * (SAMPLE_BYTES + ID_BYTES)
        self.paths = self.samples * SAMPLE_BYTES + self.frames * FRAME_BYTES

    def add_chunk(self, start):
        kind, _, used, metric_unit = struct.unpack_from("<IIII", self.data, start)
        if kind == TREE:
            self.used += (used + CHUNK // UNIT - metric_unit) * UNIT
            for unit in range(1, used):
                self.add_node(start + unit * UNIT)
        elif kind in RECORD_BYTES:
            self.used += used * RECORD_BYTES[kind]
        if kind == THREADS:
            for number in range(1, used + 1):
                self.samples += struct.unpack_from("<Q", self.data, start + number * THREAD + RECORDED)[0]

    def node(self, start):
        key, parent, _, _, _, metric, kind = NODE.unpack_from(self.data, start)
        return key, parent, metric, kind

    def place(self, index):
        """Where a unit stands that is numbered over the whole file."""
        return HEADER + index // (CHUNK // UNIT) * CHUNK + index % (CHUNK // UNIT) * UNIT

    def add_node(self, start):
        _, parent, metric, kind = self.node(start)
        if kind not in (FRAME, RUNTIME, PSEUDO, LOCK) or not metric:
            return
        samples = struct.unpack_from("<Q", self.data, self.place(metric))[0]
        depth = 0 if kind == LOCK else 1
        while parent:
            _, parent, _, kind = self.node(self.place(parent))
            depth += kind in (FRAME, RUNTIME, PSEUDO)
        self.contexts += samples > 0
        self.filed += samples
        self.frames += samples * depth


def measure(command, rate, args, tools, scratch):
    out_dir = os.path.join(scratch, "out")
    environment = tool_environment("blame", tools, args.threads, rate, out_dir)
    environment["BLAME_CSV"] = "0"
    try:
        output, _ = run([os.path.join(args.build, command[0])] + command[1:], environment)
        if "VERIFIED" not in output:
            raise BenchError(f"`{' '.join(command)}` printed no VERIFIED line:\n{output}")
        return Sizes(glob.glob(os.path.join(out_dir, "*.blame"))[0])
    finally:
        shutil.rmtree(out_dir, ignore_errors=True)


def wanted_samples(points, bytes_of):
    """Samples from which on the trace is WANTED times as large; the profile's size between and behind the points grows
    with the logarithm of the samples. The second value: within what was measured."""
    points = sorted(points, key=lambda sizes: sizes.samples)
    a_sample = bytes_of(points[-1]) / points[-1].samples

    def profile(samples):
        for low, high in zip(points, points[1:]):
            if samples <= high.samples or high is points[-1]:
                slope = (high.bytes - low.bytes) / math.log(high.samples / low.samples)
                return max(low.bytes, low.bytes + slope * math.log(samples / low.samples))
        return points[0].bytes

    samples = points[0].samples / 64
    while samples * a_sample < WANTED * profile(samples):
        samples *= 1.02
    return samples, samples <= points[-1].samples


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def print_lengths(name, points, args):
    """In lengths of a run with so many threads, at each rate."""
    cells = []
    for bytes_of in (lambda sizes: sizes.ids, lambda sizes: sizes.paths):
        samples, measured = wanted_samples(points, bytes_of)
        times = ", ".join(duration(samples / rate / args.threads) for rate in args.rates[:2])
        cells.append(("" if measured else "~") + times)
    print(f"| {name} | " + " | ".join(cells) + " |")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="", metavar="REGEX", help="only kernels whose name matches")
    parser.add_argument("--rates", type=positive, nargs="+", default=[200, 2000, 10000])
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the kernels are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    return parser.parse_args()


def main():
    args = parse_arguments()
    curves = {}
    try:
        tools = find_tools(args.build, args.tool)
        print("| kernel | rate | samples | contexts | frames a sample | profile kB | in use kB | ids/profile | paths/profile |")
        print("|---" * 9 + "|")
        with tempfile.TemporaryDirectory(prefix="blame-trace-") as scratch:
            for name, _, arguments, _ in KERNELS:
                if not re.search(args.kernels, name):
                    continue
                for rate in args.rates:
                    sizes = measure([name.split("-")[0]] + arguments.split(), rate, args, tools, scratch)
                    curves.setdefault(name, []).append(sizes)
                    print(f"| {name} | {rate:,} | {sizes.samples:,} | {sizes.contexts:,} | {sizes.frames / sizes.samples:.1f} | "
                          f"{sizes.bytes / 1e3:.0f} | {sizes.used / 1e3:.0f} | {sizes.ids / sizes.bytes:.2f} | "
                          f"{sizes.paths / sizes.bytes:.2f} |", flush=True)
    except (BenchError, OSError) as error:
        print(f"trace.py: {error}", file=sys.stderr)
        return 1
    rates = " and ".join(f"{rate:,}/s" for rate in args.rates[:2])
    print(f"\nLength of a run with {args.threads} threads, at {rates}, from which on the trace is {WANTED} times as large (~: beyond "
          "what was measured)\n\n| kernel | ids | paths |\n|---|---|---|")
    for name, points in curves.items():
        print_lengths(name, points, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
