#!/usr/bin/env python3
"""Overhead of blame: runs every kernel without a tool, with a tool that does nothing (the floor), and with
blame, in turns, and compares the times within each turn."""

import argparse
import csv
import os
import re
import shutil
import statistics
import sys
import tempfile

from bench_common import (BenchError, check_tool_loads, find_tools, median_ratio, positive, run,
                          tool_environment)

# name, group, arguments, arguments with --quick
KERNELS = [
    ("cg", "NPB-like", "A --repeat 5", "S"),
    ("mg", "NPB-like", "A --repeat 3", "S"),
    ("ep", "NPB-like", "A", "S"),
    ("is", "NPB-like", "A --repeat 10", "S"),
    ("fib", "BOTS-like", "30", "20"),
    ("fib-cutoff", "BOTS-like", "44 --cutoff 10", "28 --cutoff 6"),
    ("nqueens", "BOTS-like", "13", "8"),
    ("nqueens-cutoff", "BOTS-like", "14 --cutoff 4", "10 --cutoff 3"),
    ("nqueens-if", "BOTS-like", "13 --if 4", "8 --if 3"),
    ("sparselu", "BOTS-like", "64 --block 80", "16 --block 40"),
    ("health", "BOTS-like", "4 --days 1500", "3 --days 60"),
    ("health-cutoff", "BOTS-like", "5 --cities 8 --days 1500 --cutoff 2", "4 --days 60 --cutoff 2"),
    ("sort", "BOTS-like", "16777216", "200000"),
    ("uts", "BOTS-like", "40000", "500"),
    ("uts-cutoff", "BOTS-like", "500000 --cutoff 6", "2000 --cutoff 6"),
    ("mortar", "locks", "20000 --steps 400", "2000 --steps 10"),
    ("mortar-1", "locks", "20000 --steps 300 --shared 1", "2000 --steps 10 --shared 1"),
    ("mortar-10", "locks", "20000 --steps 200 --shared 10", "2000 --steps 10 --shared 10"),
    ("mortar-50", "locks", "20000 --steps 100 --shared 50", "2000 --steps 10 --shared 50"),
]
GROUPS = ["NPB-like", "BOTS-like", "locks"]
COLUMNS = ["none", "floor", "signals", "callbacks", "blame", "creation"]
RATIOS = [("blame", "none"), ("blame", "floor"), ("floor", "none"), ("signals", "floor"), ("callbacks", "floor"),
          ("blame", "signals"), ("creation", "none"), ("creation", "floor")]
RESULT = re.compile(r"^(\S+) (\S+) (\d+) ([0-9.]+) VERIFIED$", re.MULTILINE)


def run_kernel(command, column, tools, args, scratch):
    """One run; returns the kernel's own seconds and the whole process's."""
    out_dir = os.path.join(scratch, "out")
    output, process_s = run(command, tool_environment(column, tools, args.threads, args.rate, out_dir))
    result = RESULT.search(output)
    if result is None:
        raise BenchError(f"`{' '.join(command)}` printed no VERIFIED line:\n{output}")
    if column in ("callbacks", "blame", "creation") and not os.path.isdir(out_dir):
        raise BenchError(f"`{' '.join(command)}` left no profile in {out_dir}: blame did not measure it")
    shutil.rmtree(out_dir, ignore_errors=True)
    return float(result.group(4)), process_s


def measure(name, arguments, columns, tools, args, scratch):
    """All runs of one kernel: column -> (kernel seconds, process seconds), one entry a pair."""
    command = [os.path.join(args.build, name.split("-")[0])] + arguments.split()
    times = {column: ([], []) for column in columns}
    run_kernel(command, "none", tools, args, scratch)  # warms the page cache and the clocks of the cores
    for _ in range(args.pairs):
        for column in columns:
            kernel_s, process_s = run_kernel(command, column, tools, args, scratch)
            times[column][0].append(kernel_s)
            times[column][1].append(process_s)
    return times


def summarise(name, group, arguments, times, args):
    """The CSV row of one kernel. An absent column leaves its fields empty."""
    row = {"kernel": name, "group": group, "arguments": arguments, "threads": args.threads,
           "pairs": args.pairs, "rate": args.rate}
    for kind, scope in enumerate(("kernel", "process")):
        for column, values in times.items():
            row[f"{scope} {column} s"] = statistics.median(values[kind])
        for tool, base in RATIOS:
            if tool in times and base in times:
                row[f"{scope} {tool}/{base}"] = median_ratio(times[tool][kind], times[base][kind])
    return row


def geometric_means(rows):
    """One row a group that was run, ratios only."""
    means = []
    for group in GROUPS:
        members = [row for row in rows if row["group"] == group]
        if not members:
            continue
        mean = {"kernel": "geometric mean", "group": group}
        for name in members[0]:
            if "/" in name:
                mean[name] = statistics.geometric_mean(row[name] for row in members)
        means.append(mean)
    return means


def field_names():
    """All columns of the CSV file, whether this run has them or not."""
    names = ["kernel", "group", "arguments", "threads", "pairs", "rate"]
    for scope in ("kernel", "process"):
        names += [f"{scope} {column} s" for column in COLUMNS]
        names += [f"{scope} {tool}/{base}" for tool, base in RATIOS]
    return names


def headings(columns):
    """What is printed of each kernel: its own times and their ratios, and what a user's clock says."""
    ratios = [f"{tool}/{base}" for tool, base in RATIOS if tool in columns and base in columns]
    return [f"{column} s" for column in columns] + ratios + ["process blame/none"]


NAME_WIDTH = max(len(name) for name, _, _, _ in KERNELS) + len("BOTS-like geometric ")


def print_heading(columns):
    cells = [heading.rjust(max(11, len(heading))) for heading in headings(columns)]
    print("kernel".ljust(NAME_WIDTH), *cells, sep="  ", flush=True)


def print_row(row, columns):
    cells = []
    for heading in headings(columns):
        name = heading if heading.startswith("process") else f"kernel {heading}"
        text = f"{row[name]:.3f}" if name in row else "-"
        cells.append(text.rjust(max(11, len(heading))))
    label = row["kernel"] if "arguments" in row else f"{row['group']} {row['kernel']}"
    print(label.ljust(NAME_WIDTH), *cells, sep="  ", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", default="", metavar="REGEX", help="only kernels whose name matches")
    parser.add_argument("--pairs", type=positive, default=None,
                        help="turns per kernel (default 5; 1 with --quick)")
    parser.add_argument("--rate", type=positive, default=200, help="BLAME_RATE (default 200)")
    parser.add_argument("--threads", type=positive, default=2, help="OMP_NUM_THREADS (default 2)")
    parser.add_argument("--creation", action="store_true", help="also with BLAME_TASKS=creation")
    parser.add_argument("--parts", action="store_true",
                        help="also the floor with signals whose handler is empty, and blame at 1 sample a second")
    parser.add_argument("--quick", action="store_true", help="small sizes: a smoke test, not a measurement")
    parser.add_argument("--out", default="bench.csv", metavar="FILE", help="CSV file (default bench.csv)")
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the kernels are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    args = parser.parse_args()
    args.pairs = args.pairs or (1 if args.quick else 5)
    try:
        args.selected = [kernel for kernel in KERNELS if re.search(args.kernels, kernel[0])]
    except re.error as error:
        parser.error(f"--kernels: {error}")
    if not args.selected:
        parser.error(f"--kernels: no kernel matches '{args.kernels}'; there are "
                     + ", ".join(kernel[0] for kernel in KERNELS))
    return args


def bench(args):
    tools = find_tools(args.build, args.tool)
    if args.creation and "blame" in tools:
        tools["creation"] = tools["blame"]
    if args.parts:
        tools["signals"] = tools["floor"]
        tools.update({"callbacks": tools["blame"]} if "blame" in tools else {})
    columns = [column for column in COLUMNS if column == "none" or column in tools]
    rows = []
    with tempfile.TemporaryDirectory(prefix="blame-bench-") as scratch:
        for column in tools:
            check_tool_loads(column, tools, [os.path.join(args.build, "fib"), "10"],
                             os.path.join(scratch, "check"))
        print_heading(columns)
        for name, group, full, quick in args.selected:
            arguments = quick if args.quick else full
            times = measure(name, arguments, columns, tools, args, scratch)
            rows.append(summarise(name, group, arguments, times, args))
            print_row(rows[-1], columns)
    means = geometric_means(rows)
    for mean in means:
        print_row(mean, columns)
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, field_names(), restval="")
        writer.writeheader()
        for row in rows + means:
            writer.writerow({name: f"{value:.6f}" if isinstance(value, float) else value
                             for name, value in row.items()})
    print(f"written: {args.out}")


def main():
    args = parse_arguments()
    try:
        bench(args)
    except (BenchError, OSError) as error:
        print(f"bench.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
