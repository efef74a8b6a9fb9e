#!/usr/bin/env python3
"""What a tool costs a program that does nothing: time before and after main, and peak memory a thread.

Start-up is from fork to the end of the first parallel region, exit from the end of main until the process is
gone. Both are medians over runs in turns; differences are taken within each turn."""

import argparse
import csv
import os
import shutil
import statistics
import sys
import tempfile

from bench_common import BenchError, check_tool_loads, find_tools, positive, run, tool_environment

SCOPES = [("startup_ms", "start-up ms"), ("exit_ms", "exit ms"), ("memory_kb", "memory kB")]


def run_once(args, column, tools, threads, scratch):
    """One run of the trivial program: its three costs."""
    out_dir = os.path.join(scratch, "out")
    command = [os.path.join(args.build, "launch"), os.path.abspath(os.path.join(args.build, "region"))]
    output, _ = run(command, tool_environment(column, tools, threads, args.rate, out_dir))
    shutil.rmtree(out_dir, ignore_errors=True)
    found = {}
    for line in output.splitlines():
        name, _, value = line.partition(" ")
        found[name] = int(value)
    if found["threads"] != threads:
        raise BenchError(f"{command[1]} ran {found['threads']} threads, not {threads}")
    return {"startup_ms": (found["region_ns"] - found["start_ns"]) / 1e6,
            "exit_ms": (found["end_ns"] - found["main_ns"]) / 1e6,
            "memory_kb": found["maxrss_kb"]}


def measure(args, columns, tools, threads, scratch):
    """column -> cost -> one value a turn."""
    runs = {column: {cost: [] for cost, _ in SCOPES} for column in columns}
    run_once(args, "none", tools, threads, scratch)
    for _ in range(args.pairs):
        for column in columns:
            for cost, value in run_once(args, column, tools, threads, scratch).items():
                runs[column][cost].append(value)
    return runs


def difference(runs, tool, cost):
    """Median of what the tool adds within each turn."""
    return statistics.median(with_tool - without for with_tool, without
                             in zip(runs[tool][cost], runs["none"][cost]))


def slope(points):
    """Least squares slope of (x, y) points."""
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    return (sum((x - mean_x) * (y - mean_y) for x, y in points)
            / sum((x - mean_x) ** 2 for x, _ in points))


def summarise(runs, tools, threads):
    row = {"threads": threads}
    for cost, label in SCOPES:
        row[f"none {label}"] = statistics.median(runs["none"][cost])
        for tool in tools:
            row[f"{tool} adds {label}"] = difference(runs, tool, cost)
    return row


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=positive, default=11, help="turns per number of threads (default 11)")
    parser.add_argument("--threads", default="2,4,8,16,32,64", metavar="LIST",
                        help="(default 2,4,8,16,32,64)")
    parser.add_argument("--rate", type=positive, default=200, help="BLAME_RATE (default 200)")
    parser.add_argument("--out", default="startup.csv", metavar="FILE", help="CSV file (default startup.csv)")
    parser.add_argument("--build", default="build/bench", metavar="DIR", help="where the programs are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    args = parser.parse_args()
    try:
        args.thread_counts = [positive(text) for text in args.threads.split(",")]
    except ValueError:
        parser.error(f"--threads: '{args.threads}' is not a list of positive integers")
    return args


def bench(args):
    tools = find_tools(args.build, args.tool)
    rows = []
    with tempfile.TemporaryDirectory(prefix="blame-startup-") as scratch:
        for column in tools:
            check_tool_loads(column, tools, [os.path.join(args.build, "region")],
                             os.path.join(scratch, "check"))
        for threads in args.thread_counts:
            runs = measure(args, ["none"] + list(tools), tools, threads, scratch)
            rows.append(summarise(runs, tools, threads))
            if len(rows) == 1:
                print(*(name.rjust(max(8, len(name))) for name in rows[0]), sep="  ")
            print(*(f"{value:.2f}".removesuffix(".00").rjust(max(8, len(name)))
                    for name, value in rows[-1].items()), sep="  ", flush=True)
    for tool in tools:
        points = [(row["threads"], row[f"{tool} adds memory kB"]) for row in rows]
        if len(points) > 1:
            print(f"{tool}: {slope(points):.1f} kB a thread")
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({name: round(value, 6) for name, value in row.items()})
    print(f"written: {args.out}")


def main():
    args = parse_arguments()
    try:
        bench(args)
    except (BenchError, OSError) as error:
        print(f"startup.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
