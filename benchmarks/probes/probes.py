#!/usr/bin/env python3
"""What a begin and end of include/blame.h cost, in nanoseconds: without a tool and under blame, in turns; stated is the
median over the turns of each run's fastest batch."""

import argparse
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from bench_common import BenchError, check_tool_loads, find_tools, positive, run, tool_environment

# What the fastest of many may cost (ns); the cases without a bound are stated.
BOUNDS = {"same-frame": 60, "in-a-region": 60, "parameter": 60}
BOUND_WITHOUT = 1
MODES = [("none", {}), ("blame", {"BLAME_EVENTS_THROTTLE": "0"}), ("blame throttled", {})]


def one_run(args, mode, settings, tools, scratch):
    out_dir = os.path.join(scratch, "out")
    environment = tool_environment(mode.split()[0], tools, 2, 200, out_dir)
    environment.update(OMP_PROC_BIND="true", BLAME_CSV="0", **settings)
    output, _ = run([os.path.join(args.build, "probes"), str(args.batches)], environment)
    shutil.rmtree(out_dir, ignore_errors=True)
    return {name: float(ns) for name, ns in (line.split() for line in output.splitlines())}


def measure(args, tools):
    times = {mode: {} for mode, _ in MODES}
    with tempfile.TemporaryDirectory(prefix="blame-probes-") as scratch:
        check_tool_loads("blame", tools, [os.path.join(args.build, "probes"), "1"], os.path.join(scratch, "check"))
        for _ in range(args.turns):
            for mode, settings in MODES:
                for name, ns in one_run(args, mode, settings, tools, scratch).items():
                    times[mode].setdefault(name, []).append(ns)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the programs are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    parser.add_argument("--turns", type=positive, default=11, help="runs of each kind (default 11)")
    parser.add_argument("--batches", type=positive, default=300, help="batches in a run (default 300)")
    args = parser.parse_args()
    try:
        times = measure(args, find_tools(args.build, args.tool))
    except BenchError as error:
        print(f"probes: {error}", file=sys.stderr)
        return 1
    print(f"{'begin and end, ns':20}" + "".join(f"{mode:>18}" for mode, _ in MODES) + f"{'bound':>8}")
    for name in times["none"]:
        medians = [statistics.median(times[mode][name]) for mode, _ in MODES]
        over = "  over" if medians[1] > BOUNDS.get(name, medians[1]) or medians[0] > BOUND_WITHOUT else ""
        print(f"{name:20}" + "".join(f"{ns:18.1f}" for ns in medians) + f"{BOUNDS.get(name, ''):>8}{over}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
