#!/usr/bin/env python3
"""How much smaller a profile is than a trace of the same samples, by kernel, rate and length of the run.

Two traces are reckoned, byte by byte, of the samples that the profile was made of (idle ones too):
  ids     time 8, state 1, number of the path 4: 13 bytes a sample. The table of paths that the numbers refer to is not
          counted, though such a trace needs it as well.
  paths   time 8, state 1, and the address of each frame, 8: a trace with full call paths. An idle sample has none.
The profile is the whole file that the plugin writes, with its header, module table and unused ends of chunks."""

import glob
import math
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import KERNELS, run_kernel
from bench_common import BenchError, Table, find_tools, main, make_parser, positive

WANTED = 50
SAMPLE_BYTES, ID_BYTES, FRAME_BYTES = 9, 4, 8
# Of cct/profile_format.h.
HEADER, CHUNK, UNIT, THREAD, RECORDED = 4096, 32768, 32, 512, 40
TREE, THREADS, MODULES, TEXT = 1, 2, 3, 4
RECORD_BYTES = {THREADS: THREAD, MODULES: 1024, TEXT: 1}
FRAME, RUNTIME, PSEUDO, LOCK = 4, 5, 7, 6
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


def lengths(points, args):
    """In lengths of a run with so many threads, at each of the first two rates."""
    for bytes_of in (lambda sizes: sizes.ids, lambda sizes: sizes.paths):
        samples, measured = wanted_samples(points, bytes_of)
        times = ", ".join(duration(samples / rate / args.threads) for rate in args.rates[:2])
        yield ("" if measured else "~") + times


def bench(args):
    tools, curves = find_tools(args, [os.path.join(args.build, "fib"), "10"]), {}
    table = Table("kernel", "rate", "samples", "contexts", "frames a sample", "profile kB", "in use kB", "ids/profile",
                  "paths/profile")
    for name, _, arguments, _ in (kernel for kernel in KERNELS if re.search(args.kernels, kernel[0])):
        for rate in args.rates:
            _, _, sizes = run_kernel(args.build, name, arguments, "blame", tools, args, rate=rate, BLAME_CSV="0",
                                     look=lambda folder: Sizes(glob.glob(os.path.join(folder, "*.blame"))[0]))
            curves.setdefault(name, []).append(sizes)
            table.row(name, f"{rate:,}", f"{sizes.samples:,}", f"{sizes.contexts:,}", f"{sizes.frames / sizes.samples:.1f}",
                      f"{sizes.bytes / 1e3:.0f}", f"{sizes.used / 1e3:.0f}", f"{sizes.ids / sizes.bytes:.2f}",
                      f"{sizes.paths / sizes.bytes:.2f}")
    rates = " and ".join(f"{rate:,}/s" for rate in args.rates[:2])
    print(f"\nLength of a run with {args.threads} threads, at {rates}, from which on the trace is {WANTED} times as large (~: beyond "
          "what was measured)")
    table = Table("kernel", "ids", "paths")
    for name, points in curves.items():
        table.row(name, *lengths(points, args))


def parse_arguments():
    parser = make_parser(__doc__, threads=2)
    parser.add_argument("--kernels", default="", metavar="REGEX", help="only kernels whose name matches")
    parser.add_argument("--rates", type=positive, nargs="+", default=[200, 2000, 10000])
    return parser.parse_args()


if __name__ == "__main__":
    main(bench, parse_arguments())
