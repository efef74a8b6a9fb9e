#!/usr/bin/env python3
"""What it costs whole programs to tell their phases: our kernels under blame, as they are and with KERNEL_PHASES
(include/blame.h), in turns; stated is the median of the ratios within each turn. Without a tool the same."""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import bench
from bench_common import BenchError, find_tools, median_ratio, positive

NAMES = ["cg", "mg", "ep", "is", "sparselu"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the kernels are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    parser.add_argument("--pairs", type=positive, default=11, help="turns per kernel (default 11)")
    parser.add_argument("--rate", type=positive, default=200, help="BLAME_RATE (default 200)")
    parser.add_argument("--threads", type=positive, default=2, help="OMP_NUM_THREADS (default 2)")
    args = parser.parse_args()
    sizes = {name: arguments for name, _, arguments, _ in bench.KERNELS}
    try:
        tools = find_tools(args.build, args.tool)
        print(f"{'kernel':10}{'fastest s':>12}{'with phases':>14}{'without a tool':>17}")
        for name in NAMES:
            plain, phases = args.build, os.path.join(args.build, "phases")
            times = {(folder, column): [] for column in ("none", "blame") for folder in (plain, phases)}
            with tempfile.TemporaryDirectory(prefix="blame-hybrid-") as scratch:
                for _ in range(args.pairs):
                    for (folder, column), each in times.items():
                        command = [os.path.join(folder, name)] + sizes[name].split()
                        each.append(bench.run_kernel(command, column, tools, args, scratch)[0])
            ratios = [median_ratio(times[phases, column], times[plain, column]) for column in ("blame", "none")]
            print(f"{name:10}{min(times[plain, 'blame']):12.3f}{ratios[0]:14.3f}{ratios[1]:17.3f}", flush=True)
    except BenchError as error:
        print(f"hybrid: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
