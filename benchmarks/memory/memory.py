#!/usr/bin/env python3
"""Does blame change what the program's memory costs? memory.c without a tool, with the floor and with blame, in turns.

Stated for time: the median of the ratios to no tool within each turn, with a 95 % interval (order statistics). For page
faults, peak memory and the heap: the median of the differences. `control` is no tool, but one block of 30 MB allocated
and freed before main: if that does not make the kernel much faster, the benchmark cannot see what it is for, and ends
with status 1. The other figures fail nothing; `over` means that the interval of the ratio lies outside 1 +- the bound.

--resident: what blame itself holds, instead: mappings of its own that are in memory before the first sample, for several
numbers of threads, and what its libraries add."""

import argparse
import csv
import os
import random
import re
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "micro"))

from bench_common import BenchError, check_tool_loads, find_tools, positive, tool_environment
from micro import median_interval
from quiet import Others
import resident

TIME_BOUND = 0.02
CONTROL_AT_MOST = 0.8  # of the time without a tool; else the benchmark is blind
CREATION = {"BLAME_TASKS": "creation"}


class Mode:
    """One way to run the kernel."""

    def __init__(self, name, column, rate=None, settings=None, launcher=False):
        self.name, self.column, self.rate = name, column, rate
        self.settings, self.launcher = settings or {}, launcher


def modes_of(rates):
    modes = [Mode("none", "none"), Mode("control", "none"), Mode("floor", "floor"),
             Mode("floor creation", "floor", settings=CREATION)]
    for rate in rates:
        modes += [Mode(f"plugin {rate}", "blame", rate), Mode(f"run {rate}", "blame", rate, launcher=True),
                  Mode(f"plugin creation {rate}", "blame", rate, CREATION),
                  Mode(f"run creation {rate}", "blame", rate, CREATION, launcher=True)]
    return modes


def execute(command, environment, output):
    """Runs to the end; the process's peak memory in kB, with that of its children."""
    with open(output, "w", encoding="utf-8") as file:
        child = os.posix_spawn(command[0], command, environment,
                               file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), 1),
                                             (os.POSIX_SPAWN_DUP2, file.fileno(), 2)])
        _, status, usage = os.wait4(child, 0)
    if status != 0:
        with open(output, encoding="utf-8") as file:
            raise BenchError(f"`{' '.join(command)}` ended with wait status {status}\n{file.read()}")
    return usage.ru_maxrss


def parse(text, command):
    """stage -> (seconds, faults, heap moves, arrays, mapped), and the plain figures."""
    if not re.search(r" VERIFIED$", text, re.MULTILINE):
        raise BenchError(f"`{' '.join(command)}` printed no VERIFIED line:\n{text}")
    stages, figures = {}, {}
    for words in (line.split() for line in text.splitlines()):
        if words and words[0] == "stage":
            stages[words[1]] = [float(word) for word in words[2:]]
        elif len(words) == 2 and words[1].isdigit():
            figures[words[0]] = int(words[1])
    return stages, figures


def run_mode(mode, tools, args, scratch):
    """One run: its stages, and figures of the whole process."""
    out_dir = os.path.join(scratch, "out")
    environment = tool_environment(mode.column, tools, args.threads, mode.rate or 1, out_dir) | mode.settings
    environment["OMP_PROC_BIND"] = "true"
    command = [os.path.join(args.build, "memory"), str(args.repeat)]
    if mode.name == "control":
        environment["LD_PRELOAD"] = os.path.abspath(os.path.join(args.build, "libraise_threshold.so"))
    if mode.launcher:
        del environment["OMP_TOOL_LIBRARIES"]
        command = [os.path.abspath(args.command), "run", *command]
    output = os.path.join(scratch, "output")
    process_peak_kb = execute(command, environment, output)
    with open(output, encoding="utf-8") as file:
        stages, figures = parse(file.read(), command)
    if figures["team"] != args.threads:
        raise BenchError(f"`{' '.join(command)}` ran {figures['team']} threads, not {args.threads}")
    if mode.column == "blame":
        resident.remove_profile(out_dir, command)
    return {"stages": stages, "process_peak_kb": process_peak_kb, **figures}


def measure(modes, tools, args, scratch):
    """mode -> runs, one a turn; each turn has an order of its own."""
    runs, shuffle = {mode.name: [] for mode in modes}, random.Random(1)
    run_mode(modes[0], tools, args, scratch)
    for _ in range(args.pairs):
        for mode in shuffle.sample(modes, len(modes)):
            runs[mode.name].append(run_mode(mode, tools, args, scratch))
    return runs


STAGE_FIGURES = {"seconds": 0, "faults": 1, "heap moves": 2, "mapped": 4}


def value_of(run, figure, stage="whole"):
    return run["stages"][stage][STAGE_FIGURES[figure]] if figure in STAGE_FIGURES else run[figure]


FIGURES = ["faults", "heap moves", "mapped", "peak_kb", "heap_peak_kb", "kept_bytes", "process_peak_kb"]


def difference(runs, base, figure):
    return statistics.median(value_of(one, figure) - value_of(other, figure) for one, other in zip(runs, base))


def verdict(low, high):
    if low is None:
        return "too few"
    return "over" if high < 1 - TIME_BOUND or low > 1 + TIME_BOUND else ""


def summarise(mode, runs, base):
    ratios = [value_of(one, "seconds") / value_of(other, "seconds") for one, other in zip(runs, base)]
    median, low, high = median_interval(ratios)
    row = {"mode": mode.name, "seconds": statistics.median(value_of(run, "seconds") for run in runs),
           "ratio": median, "low": low, "high": high, "verdict": verdict(low, high)}
    for stage in base[0]["stages"]:
        if stage != "whole":
            row[f"ratio {stage}"] = statistics.median(value_of(one, "seconds", stage) / value_of(other, "seconds", stage)
                                                      for one, other in zip(runs, base))
    for figure in FIGURES:
        row[figure] = statistics.median(value_of(run, figure) for run in runs)
        row[f"{figure} added"] = difference(runs, base, figure)
    return row


def table(rows, headings):
    """As docs/performance.md has it."""
    print("| " + " | ".join(headings) + " |")
    print("|---" * len(headings) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def print_rows(rows):
    table([[row["mode"], f"{row['seconds']:.3f}", f"{row['ratio']:.3f}",
            "-" if row["low"] is None else f"{row['low']:.3f} ... {row['high']:.3f}", row["verdict"]] for row in rows],
          ["", "s", "/ none", "95 % interval", ""])
    print()
    stages = [name.removeprefix("ratio ") for name in rows[0] if name.startswith("ratio ")]
    table([[row["mode"]] + [f"{row[f'ratio {stage}']:.3f}" for stage in stages] for row in rows],
          ["time / none"] + stages)
    print()
    added = [[row["mode"]] + [f"{row[f'{figure} added']:+.0f}" for figure in FIGURES] for row in rows[1:]]
    table([["none"] + [f"{rows[0][figure]:.0f}" for figure in FIGURES]] + added, ["added to none"] + FIGURES)


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{value:.6f}" if isinstance(value, float) else value for name, value in row.items()})
    print(f"written: {path}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=positive, default=11, help="turns (default 11; an interval needs 6)")
    parser.add_argument("--rates", type=positive, nargs="+", default=[200, 2000], help="BLAME_RATE (default 200 2000)")
    parser.add_argument("--threads", type=positive, default=2, help="OMP_NUM_THREADS (default 2)")
    parser.add_argument("--repeat", type=positive, default=1, help="all iterations so often (default 1)")
    parser.add_argument("--only", default="", metavar="REGEX", help="modes whose name matches, besides none and control")
    parser.add_argument("--resident", action="store_true", help="what blame itself holds")
    parser.add_argument("--out", metavar="FILE", help="write the figures as CSV")
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the kernel is")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    parser.add_argument("--command", default="build/bin/blame", metavar="FILE", help="blame's command")
    return parser.parse_args()


def bench(args, tools, scratch):
    """The rows, of which the first is none and the second control."""
    modes = modes_of(args.rates)
    modes = modes[:2] + [mode for mode in modes[2:] if re.search(args.only, mode.name)]
    others = Others()
    runs = measure(modes, tools, args, scratch)
    rows = [summarise(mode, runs[mode.name], runs["none"]) for mode in modes]
    print(f"{args.threads} threads; median of {args.pairs} turns")
    print_rows(rows)
    print(others.tell())
    if args.out:
        write_csv(args.out, rows)
    if rows[1]["ratio"] > CONTROL_AT_MOST:
        raise BenchError(f"the control took {rows[1]['ratio']:.2f} of the time without a tool: nothing can be seen here")


def main():
    args = parse_arguments()
    try:
        tools = find_tools(args.build, args.tool)
        if "blame" not in tools:
            raise BenchError("without blame there is nothing to compare")
        with tempfile.TemporaryDirectory(prefix="blame-memory-") as scratch:
            for column in tools:
                check_tool_loads(column, tools, [os.path.join(args.build, "memory"), "0"], os.path.join(scratch, "check"))
            if args.resident:
                resident.measure(args, tools, scratch)
            else:
                bench(args, tools, scratch)
    except (BenchError, OSError) as error:
        print(f"memory.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
