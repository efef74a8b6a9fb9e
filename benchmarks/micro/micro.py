#!/usr/bin/env python3
"""Measures the time in ns that blame adds to one OpenMP construct, compared with a tool with empty callbacks (the floor).

All tools run in turns, and differences are taken within each turn. The table shows the median of the differences with a
95 % confidence interval (from order statistics, without an assumption about the distribution). `over` means that the
median is above its bound; `over?` means that the interval also contains times below the bound. The exit status does not
depend on times."""

import argparse
import os
import statistics
import sys
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import Table, find_tools, main, make_parser, median_interval, positive, run_under, take_turns, write_csv

# Bounds in ns for the time that blame adds to one construct by all its callbacks together.
BOUNDS = {"parallel": 60, "barrier": 25, "for": 25, "critical": 20, "lock": 20, "ordered": 20, "task": 20,
          "taskwait": 25}
CONSTRUCTS = list(BOUNDS)
# Constructs in which threads take turns. There, time spent while another thread waits costs nothing, or makes a thread
# miss its turn.
CONTENDED = {"critical", "ordered"}

# A mode in which the program is run. It is compared with the mode `base`.
Mode = namedtuple("Mode", "name column base settings constructs")
CREATION = {"BLAME_TASKS": "creation"}
MODES = [
    Mode("none", "none", None, {}, CONSTRUCTS),
    Mode("floor", "floor", None, {}, CONSTRUCTS),
    Mode("blame", "blame", "floor", {}, CONSTRUCTS),
    Mode("floor creation", "floor", None, CREATION, ["task"]),
    Mode("blame creation", "blame", "floor creation", CREATION, ["task"]),
]
RELEASE = Mode("blame release", "blame", "floor", {"BLAME_LOCKS": "release"}, ["critical", "lock", "ordered"])


def run_mode(mode, threads, tools, args):
    """Runs one process, and returns the time of each construct in ns."""
    command = [os.path.join(args.build, "micro"), str(args.batches), *(name for name in mode.constructs if name in args.constructs)]
    output, _ = run_under(mode.column, tools, command, threads, OMP_PROC_BIND="true", OMP_WAIT_POLICY="active",
                          BLAME_CSV="0", **mode.settings)
    return {name: float(ns) for name, _, ns in (line.split() for line in output.splitlines())}


def verdict(median, low, bound):
    if bound is None or median <= bound:
        return ""
    return "over" if low is not None and low > bound else "over?"


def summarise(construct, threads, mode, runs):
    values, floor, none = ([one[construct] for one in runs[name]] for name in (mode.name, mode.base, "none"))
    median, low, high = median_interval([value - base for value, base in zip(values, floor)])
    bound = None if threads > 1 and construct in CONTENDED else BOUNDS[construct]
    return {"construct": construct + mode.name.removeprefix("blame"), "threads": threads,
            "none": statistics.median(none), "floor": statistics.median(floor), "blame": statistics.median(values),
            "blame-floor": median, "low": low, "high": high, "bound": bound, "verdict": verdict(median, low, bound)}


def add_row(table, row):
    interval = "too few pairs" if row["low"] is None else f"{row['low']:+.1f} ... {row['high']:+.1f}"
    bound = "-" if row["bound"] is None else row["bound"]
    table.row(row["construct"], row["threads"], *(f"{row[name]:.1f}" for name in ("none", "floor", "blame")),
              f"{row['blame-floor']:+.1f}", interval, f"{bound} {row['verdict']}".rstrip())


def constructs_of(text):
    names = text.split(",")
    unknown = [name for name in names if name not in CONSTRUCTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no construct '{unknown[0]}'; there are {', '.join(CONSTRUCTS)}")
    return names


def parse_arguments():
    parser = make_parser(__doc__, out="", pairs=11, batches=300)
    parser.add_argument("--threads", type=positive, nargs="+", default=[1, 2], help="default 1 2")
    parser.add_argument("--constructs", type=constructs_of, default=CONSTRUCTS, metavar="NAME,...")
    parser.add_argument("--release", action="store_true", help="BLAME_LOCKS=release too")
    return parser.parse_args()


def bench(args):
    tools = find_tools(args, [os.path.join(args.build, "micro"), "1", "lock"])
    modes = {mode.name: mode for mode in MODES + [RELEASE] * args.release if set(mode.constructs) & set(args.constructs)}
    rows, table = [], Table("construct", "threads", "none", "floor", "blame", "blame - floor", "95 % interval", "bound")
    for threads in args.threads:
        runs = take_turns(args.pairs, modes, lambda name: run_mode(modes[name], threads, tools, args))
        for mode in modes.values():
            for construct in (name for name in mode.constructs if mode.base and name in args.constructs):
                rows.append(summarise(construct, threads, mode, runs))
                add_row(table, rows[-1])
    print(f"nanoseconds a construct, {args.pairs} turns; no bound: the threads contend there, and waiting varies by more than a "
          "callback takes")
    write_csv(args.out, rows)


if __name__ == "__main__":
    main(bench, parse_arguments())
