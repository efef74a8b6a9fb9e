#!/usr/bin/env python3
"""What blame adds to one OpenMP construct, in nanoseconds, over a tool with empty callbacks (the floor).

All tools in turns; the difference is taken within each turn; stated is the median of the differences with a 95 %
confidence interval (order statistics: no assumption about the distribution). `over` means that the median is above its
bound; a `?` behind it that the interval reaches below. The exit status says nothing about times."""

import argparse
import csv
import math
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from bench_common import BenchError, check_tool_loads, find_tools, positive, run, tool_environment
from quiet import Others

CONSTRUCTS = ["parallel", "barrier", "for", "critical", "lock", "ordered", "task", "taskwait"]
# Nanoseconds that blame may add to one construct: all its callbacks together.
BOUNDS = {"parallel": 60, "barrier": 25, "for": 25, "critical": 20, "lock": 20, "ordered": 20, "task": 20,
          "taskwait": 25}
# Threads take turns, and what one does while the other waits costs nothing, or makes it miss its turn.
CONTENDED = {"critical", "ordered"}


class Mode:
    """One way to run the program, and which one it is compared with."""

    def __init__(self, name, column, base, settings=None, constructs=None):
        self.name, self.column, self.base = name, column, base
        self.settings, self.constructs = settings or {}, constructs or CONSTRUCTS


CREATION = {"BLAME_TASKS": "creation"}
MODES = [
    Mode("none", "none", None),
    Mode("floor", "floor", None),
    Mode("blame", "blame", "floor"),
    Mode("floor creation", "floor", None, CREATION, ["task"]),
    Mode("blame creation", "blame", "floor creation", CREATION, ["task"]),
]
RELEASE = Mode("blame release", "blame", "floor", {"BLAME_LOCKS": "release"}, ["critical", "lock", "ordered"])


def median_interval(values, confidence=0.95):
    """(median, low, high): the narrowest pair of order statistics that holds the median with that probability. With too
    few values for it the ends are None."""
    ordered, n = sorted(values), len(values)
    rank, beyond = 0, 0.0  # beyond: that the median lies outside the rank-th values from both ends
    while rank < n // 2 and beyond + 2 * math.comb(n, rank) / 2**n <= 1 - confidence:
        beyond += 2 * math.comb(n, rank) / 2**n
        rank += 1
    if rank == 0:
        return statistics.median(ordered), None, None
    return statistics.median(ordered), ordered[rank - 1], ordered[n - rank]


def run_mode(mode, threads, tools, args, scratch):
    """construct -> nanoseconds, of one process."""
    out_dir = os.path.join(scratch, "out")
    environment = tool_environment(mode.column, tools, threads, 1, out_dir)
    environment.update(OMP_PROC_BIND="true", OMP_WAIT_POLICY="active", **mode.settings)
    if mode.column == "blame":
        environment["BLAME_CSV"] = "0"
    command = [os.path.join(args.build, "micro"), str(args.batches)]
    output, _ = run(command + [name for name in mode.constructs if name in args.constructs], environment)
    if mode.column == "blame" and not os.path.isdir(out_dir):
        raise BenchError(f"`{' '.join(command)}` left no profile in {out_dir}: blame did not measure it")
    shutil.rmtree(out_dir, ignore_errors=True)
    rows = [line.split() for line in output.splitlines()]
    return {name: float(ns) for name, _, ns in rows}


def measure(threads, modes, tools, args, scratch):
    """mode -> construct -> list, one entry a turn."""
    times = {mode.name: {} for mode in modes}
    for _ in range(args.pairs):
        for mode in modes:
            for construct, ns in run_mode(mode, threads, tools, args, scratch).items():
                times[mode.name].setdefault(construct, []).append(ns)
    return times


def verdict(median, low, bound):
    if bound is None or median <= bound:
        return ""
    return "over" if low is not None and low > bound else "over?"


def summarise(construct, threads, mode, times):
    values, floor = times[mode.name][construct], times[mode.base][construct]
    median, low, high = median_interval([value - base for value, base in zip(values, floor)])
    bound = None if threads > 1 and construct in CONTENDED else BOUNDS[construct]
    row = {"construct": construct + mode.name.removeprefix("blame"), "threads": threads,
           "none": statistics.median(times["none"][construct]), "floor": statistics.median(floor),
           "blame": statistics.median(values), "blame-floor": median, "low": low, "high": high, "bound": bound}
    row["verdict"] = verdict(median, low, bound)
    return row


HEADINGS = ["construct", "threads", "none", "floor", "blame", "blame-floor", "95 % interval", "bound", ""]
WIDTHS = [18, 7, 8, 8, 8, 11, 17, 5, 5]


def print_cells(cells):
    print("  ".join([str(cells[0]).ljust(WIDTHS[0])]
                    + [str(cell).rjust(width) for cell, width in zip(cells[1:], WIDTHS[1:])]).rstrip(), flush=True)


def print_row(row):
    interval = "too few pairs" if row["low"] is None else f"{row['low']:+.1f} ... {row['high']:+.1f}"
    bound = "-" if row["bound"] is None else row["bound"]
    print_cells([row["construct"], row["threads"]] + [f"{row[name]:.1f}" for name in ("none", "floor", "blame")]
                + [f"{row['blame-floor']:+.1f}", interval, bound, row["verdict"]])


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{value:.3f}" if isinstance(value, float) else value
                             for name, value in row.items()})
    print(f"written: {path}")


def constructs_of(text):
    names = text.split(",")
    unknown = [name for name in names if name not in CONSTRUCTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no construct '{unknown[0]}'; there are {', '.join(CONSTRUCTS)}")
    return names


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=positive, default=11, help="turns (default 11; an interval needs 6)")
    parser.add_argument("--batches", type=positive, default=300, help="of which the fastest counts (default 300)")
    parser.add_argument("--threads", type=positive, nargs="+", default=[1, 2], help="default 1 2")
    parser.add_argument("--constructs", type=constructs_of, default=CONSTRUCTS, metavar="NAME,...")
    parser.add_argument("--release", action="store_true", help="BLAME_LOCKS=release too")
    parser.add_argument("--out", metavar="FILE", help="write the table as CSV")
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the program is")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    return parser.parse_args()


def bench(args):
    tools = find_tools(args.build, args.tool)
    if "blame" not in tools:
        raise BenchError("without blame there is nothing to compare")
    modes = [mode for mode in MODES + [RELEASE] * args.release if set(mode.constructs) & set(args.constructs)]
    rows, others = [], Others()
    with tempfile.TemporaryDirectory(prefix="blame-micro-") as scratch:
        for column in tools:
            check_tool_loads(column, tools, [os.path.join(args.build, "micro"), "1", "lock"],
                             os.path.join(scratch, "check"))
        print(f"nanoseconds a construct; blame-floor: median of {args.pairs} pairs")
        print_cells(HEADINGS)
        for threads in args.threads:
            times = measure(threads, modes, tools, args, scratch)
            for mode in modes:
                for construct in (name for name in mode.constructs if mode.base and name in args.constructs):
                    rows.append(summarise(construct, threads, mode, times))
                    print_row(rows[-1])
    print(others.tell())
    if any(row["bound"] is None for row in rows):
        print("no bound: the threads contend there, on purpose; waiting varies by more than a callback takes")
    if args.out:
        write_csv(args.out, rows)


def main():
    try:
        bench(parse_arguments())
    except (BenchError, OSError) as error:
        print(f"micro.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
