#!/usr/bin/env python3
"""Does blame change what the program's memory costs? memory.c without a tool, with the floor and with blame, in turns.

Stated for time: the median of the ratios to no tool within each turn, with a 95 % interval (order statistics). For page
faults, peak memory and the heap: the median of the differences. `control` is no tool, but one block of 30 MB allocated
and freed before main: if that does not make the kernel much faster, the benchmark cannot see what it is for, and ends
with status 1. The other figures fail nothing; `over` means that the interval of the ratio lies outside 1 +- the bound.

--resident: what blame itself holds, instead: mappings of its own that are in memory before the first sample, for several
numbers of threads, and what its libraries add."""

import os
import random
import re
import statistics
import sys
import tempfile
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import (BenchError, Table, find_tools, main, make_parser, median_interval, need_profile, positive, run_to_file,
                          tool_environment, write_csv)
import resident

TIME_BOUND = 0.02
CONTROL_AT_MOST = 0.8  # of the time without a tool; else the benchmark is blind
CREATION = {"BLAME_TASKS": "creation"}
STAGE_FIGURES = ["seconds", "faults", "heap moves", "arrays", "mapped"]
ADDED = ["faults", "heap moves", "mapped", "peak_kb", "heap_peak_kb", "kept_bytes", "process_peak_kb"]

# One way to run the kernel.
Mode = namedtuple("Mode", "name column rate settings launcher", defaults=(1, {}, False))


def modes_of(args):
    modes = [Mode("floor", "floor"), Mode("floor creation", "floor", settings=CREATION)]
    for rate in args.rates:
        modes += [Mode(f"plugin {rate}", "blame", rate), Mode(f"run {rate}", "blame", rate, launcher=True),
                  Mode(f"plugin creation {rate}", "blame", rate, CREATION),
                  Mode(f"run creation {rate}", "blame", rate, CREATION, launcher=True)]
    return [Mode("none", "none"), Mode("control", "none"), *(mode for mode in modes if re.search(args.only, mode.name))]


def parse(text, command):
    """(figure, stage) -> value; figures of the process are of the stage `whole`, like all of it together."""
    if not re.search(r" VERIFIED$", text, re.MULTILINE):
        raise BenchError(f"`{' '.join(command)}` printed no VERIFIED line:\n{text}")
    figures = {}
    for words in (line.split() for line in text.splitlines()):
        if words and words[0] == "stage":
            figures.update({(name, words[1]): float(word) for name, word in zip(STAGE_FIGURES, words[2:])})
        elif len(words) == 2 and words[1].isdigit():
            figures[words[0], "whole"] = int(words[1])
    return figures


def run_mode(mode, tools, args):
    """One run's figures."""
    with tempfile.TemporaryDirectory(prefix="blame-memory-") as scratch:
        out_dir, output = os.path.join(scratch, "out"), os.path.join(scratch, "output")
        environment = tool_environment(mode.column, tools, args.threads, mode.rate, out_dir) | mode.settings
        environment["OMP_PROC_BIND"] = "true"
        command = [os.path.join(args.build, "memory"), str(args.repeat)]
        if mode.name == "control":
            environment["LD_PRELOAD"] = os.path.abspath(os.path.join(args.build, "libraise_threshold.so"))
        if mode.launcher:
            del environment["OMP_TOOL_LIBRARIES"]
            command = [os.path.abspath(args.command), "run", *command]
        process_peak_kb = run_to_file(command, environment, output)
        with open(output, encoding="utf-8") as file:
            figures = parse(file.read(), command)
        need_profile(mode.column, out_dir, command)
    if figures["team", "whole"] != args.threads:
        raise BenchError(f"`{' '.join(command)}` ran {figures['team', 'whole']} threads, not {args.threads}")
    return figures | {("process_peak_kb", "whole"): process_peak_kb}


def measure(modes, tools, args):
    """mode -> runs, one a turn; each turn has an order of its own."""
    runs, shuffle = {mode.name: [] for mode in modes}, random.Random(1)
    run_mode(modes[0], tools, args)
    for _ in range(args.pairs):
        for mode in shuffle.sample(modes, len(modes)):
            runs[mode.name].append(run_mode(mode, tools, args))
    return runs


def verdict(low, high):
    if low is None:
        return "too few"
    return "over" if high < 1 - TIME_BOUND or low > 1 + TIME_BOUND else ""


def summarise(mode, runs, base):
    def ratios(stage):
        return [one["seconds", stage] / other["seconds", stage] for one, other in zip(runs, base)]

    median, low, high = median_interval(ratios("whole"))
    row = {"mode": mode.name, "seconds": statistics.median(run["seconds", "whole"] for run in runs),
           "ratio": median, "low": low, "high": high, "verdict": verdict(low, high)}
    row |= {f"ratio {stage}": statistics.median(ratios(stage)) for figure, stage in base[0]
            if figure == "seconds" and stage != "whole"}
    for figure in ADDED:
        row[figure] = statistics.median(run[figure, "whole"] for run in runs)
        row[f"{figure} added"] = statistics.median(one[figure, "whole"] - other[figure, "whole"]
                                                   for one, other in zip(runs, base))
    return row


def print_rows(rows):
    table = Table("", "s", "/ none", "95 % interval", "")
    for row in rows:
        interval = "-" if row["low"] is None else f"{row['low']:.3f} ... {row['high']:.3f}"
        table.row(row["mode"], f"{row['seconds']:.3f}", f"{row['ratio']:.3f}", interval, row["verdict"])
    stages = [name for name in rows[0] if name.startswith("ratio ")]
    table = Table("time / none", *(stage.removeprefix("ratio ") for stage in stages))
    for row in rows:
        table.row(row["mode"], *(f"{row[stage]:.3f}" for stage in stages))
    table = Table("added to none", *ADDED)
    for row in rows:
        table.row(row["mode"], *(f"{row[figure]:.0f}" if row is rows[0] else f"{row[f'{figure} added']:+.0f}" for figure in ADDED))


def parse_arguments():
    parser = make_parser(__doc__, out="", pairs=11, threads=2)
    parser.add_argument("--rates", type=positive, nargs="+", default=[200, 2000], help="BLAME_RATE (default 200 2000)")
    parser.add_argument("--repeat", type=positive, default=1, help="all iterations so often (default 1)")
    parser.add_argument("--only", default="", metavar="REGEX", help="modes whose name matches, besides none and control")
    parser.add_argument("--resident", action="store_true", help="what blame itself holds")
    parser.add_argument("--command", default="build/bin/blame", metavar="FILE", help="blame's command")
    return parser.parse_args()


def bench(args):
    tools = find_tools(args, [os.path.join(args.build, "memory"), "0"])
    if args.resident:
        resident.measure(args, tools)
        return
    modes = modes_of(args)
    runs = measure(modes, tools, args)
    rows = [summarise(mode, runs[mode.name], runs["none"]) for mode in modes]
    print_rows(rows)
    write_csv(args.out, rows)
    if rows[1]["ratio"] > CONTROL_AT_MOST:
        raise BenchError(f"the control took {rows[1]['ratio']:.2f} of the time without a tool: nothing can be seen here")


if __name__ == "__main__":
    main(bench, parse_arguments())
