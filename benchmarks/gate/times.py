#!/usr/bin/env python3
"""Nanoseconds of the signal handler for one sample, by the thread's state and the program's depth: runs the program
`times` some times (each has its own address layout) and prints the least and the median of all of its batches.

    times.py --build DIR --tool LIBRARY [--runs N] [--csv FILE]
"""

import argparse
import collections
import csv
import os
import statistics
import subprocess
import sys
import tempfile


def run(args, scratch):
    """(scenario, frames) -> (least, median) of one process."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_BIND_NOW": "1", "BLAME_RATE": "1", "BLAME_SUMMARY": "0",
                   "BLAME_OUT": os.path.join(scratch, "out")}
    done = subprocess.run([os.path.join(args.build, "times"), args.tool], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise SystemExit(f"times ended with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
    rows = {}
    for line in done.stdout.splitlines():
        scenario, frames, least, median = line.rsplit(",", 3)
        rows[scenario, int(frames)] = (float(least), float(median))
    return rows


def summarise(runs):
    """(scenario, frames) -> (least of all, median of the medians), in the order of the first run."""
    summary = {}
    for key in runs[0]:
        summary[key] = (min(rows[key][0] for rows in runs), statistics.median(rows[key][1] for rows in runs))
    return summary


def print_table(summary):
    scenarios = collections.OrderedDict()
    for (scenario, frames), cells in summary.items():
        scenarios.setdefault(scenario, {})[frames] = cells
    depths = sorted({frames for _, frames in summary if frames})
    for scenario, by_frames in scenarios.items():
        if 0 in by_frames:
            print(f"{scenario}: {by_frames[0][0]:.1f} ns")
    print("| nanoseconds a sample, least (median) | " + " | ".join(f"{depth} frames" for depth in depths) + " |")
    print("|---" * (len(depths) + 1) + "|")
    for scenario, by_frames in scenarios.items():
        if 0 not in by_frames:
            cells = (f"{by_frames[depth][0]:,.0f} ({by_frames[depth][1]:,.0f})" for depth in depths)
            print(f"| {scenario} | " + " | ".join(cells) + " |")


def write_csv(path, summary):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["scenario", "frames", "least_ns", "median_ns"])
        for (scenario, frames), (least, median) in summary.items():
            writer.writerow([scenario, frames, f"{least:.1f}", f"{median:.1f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, metavar="DIR", help="where the program is")
    parser.add_argument("--tool", required=True, metavar="FILE", help="blame's library")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="processes; 5 without it")
    parser.add_argument("--csv", metavar="FILE", help="the table as a file too")
    args = parser.parse_args()
    args.tool, args.build = os.path.abspath(args.tool), os.path.abspath(args.build)
    runs = []
    for _ in range(max(args.runs, 1)):
        with tempfile.TemporaryDirectory(prefix="blame-times-") as scratch:
            runs.append(run(args, scratch))
    summary = summarise(runs)
    print_table(summary)
    if args.csv:
        write_csv(args.csv, summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
