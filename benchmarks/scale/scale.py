#!/usr/bin/env python3
"""What blame costs when there is much of something: threads, contexts, regions, loaded modules.

Prints a table a part, writes all numbers as CSV and as curves (SVG). Bounds are stated beside the numbers; the exit
status says nothing about them."""

import argparse
import csv
import glob
import os
import shutil
import statistics
import sys
import tempfile

for neighbour in ("..", "../micro"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), neighbour))

import curves
from bench_common import BenchError, clean_environment, find_tools, positive, run, tool_environment
from quiet import Others

# The cases of census.c, as curves are named.
CENSUS = {"work": "all work", "half": "half wait", "lock": "holder asked for", "foreign": "lines from afar"}
MODULE_RUNS = 5
REPORT_BOUND_S, NODE_BOUND_BYTES = 2.0, 200


def short(value):
    """Four digits; - for none."""
    if value is None:
        return "-"
    return f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


class Numbers:
    """Every number of a run: (part, x, series) -> value, and the unit of each series."""

    def __init__(self):
        self.rows = []

    def add(self, part, x, series, value, unit):
        self.rows.append({"part": part, "x": x, "series": series, "value": value, "unit": unit})

    def series(self, part, name):
        return [(row["x"], row["value"]) for row in self.rows
                if row["part"] == part and row["series"] == name and row["value"] > 0]

    def table(self, part, heading):
        rows = [row for row in self.rows if row["part"] == part]
        names = list(dict.fromkeys((row["series"], row["unit"]) for row in rows))
        values = {(row["x"], row["series"]): row["value"] for row in rows}
        titles = [heading] + [f"{name} {unit}".strip() for name, unit in names]
        print("  ".join(title.rjust(10) for title in titles))
        for x in dict.fromkeys(row["x"] for row in rows):
            cells = [str(x)] + [short(values.get((x, name))) for name, _ in names]
            print("  ".join(cell.rjust(max(10, len(title))) for cell, title in zip(cells, titles)))


def program(args, name, *arguments):
    """The lines of one of our programs, as words."""
    output, _ = run([os.path.join(args.build, name), *map(str, arguments)], clean_environment(2))
    return [line.split() for line in output.splitlines()]


def measure_census(args, numbers):
    print("census: nanoseconds that a sample spends in counting the other threads")
    for threads, case, ns in program(args, "census"):
        numbers.add("census", int(threads), CENSUS[case], float(ns), "ns")
    numbers.table("census", "threads")


def measure_tree(args, numbers):
    print("tree: contexts in one tree. Bounds at 1,000,000: "
          f"merge and CSV {REPORT_BOUND_S:g} s, {NODE_BOUND_BYTES} bytes a context")
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= args.contexts]
    for size in sizes:
        scratch = tempfile.mkdtemp(prefix="blame-scale-", dir=args.scratch)
        try:
            report = ["--report"] if size <= 1_000_000 else []
            for contexts, phase, unit, value in split_phases(program(args, "tree", scratch, size, *report)):
                numbers.add("tree", contexts, phase, value, unit)
        finally:
            shutil.rmtree(scratch)
    numbers.table("tree", "contexts")
    for contexts, seconds in added(numbers, "merge", "csv"):
        if contexts == 1_000_000:
            print(f"merge and CSV of 1,000,000 contexts: {seconds:.2f} s{over(seconds, REPORT_BOUND_S)}")
    for contexts, bytes_ in added(numbers, "file", "hash"):
        if contexts == 1_000_000:
            print(f"a context while the program runs: {bytes_:.0f} bytes{over(bytes_, NODE_BOUND_BYTES)}")
    for contexts, bytes_ in numbers.series("tree", "rss"):
        if contexts == 1_000_000:
            print(f"a context while the report is made: {bytes_:.0f} bytes{over(bytes_, NODE_BOUND_BYTES)}\n")


def over(value, bound):
    return f", over {bound:g}" if value > bound else ""


def added(numbers, first, second):
    other = dict(numbers.series("tree", second))
    return [(x, value + other[x]) for x, value in numbers.series("tree", first) if x in other]


def split_phases(lines):
    """`1000 find ns 12.3` or `1000 maps 40`: (x, phase, unit, value)"""
    for words in lines:
        yield int(words[0]), words[1], " ".join(words[2:-1]), float(words[-1])


def file_bytes(directory):
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(directory, "*.blame")))


def team(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def measure_regions(args, numbers):
    print("regions: empty parallel regions under blame; nanoseconds a region, in each tenth; memory then")
    tools = find_tools(args.kernels, args.tool)
    for threads, count in ((1, args.regions), (2, max(10, args.regions // 10))):
        out_dir = os.path.join(args.scratch or tempfile.gettempdir(), f"blame-scale-regions-{os.getpid()}")
        environment = tool_environment("blame", tools, threads, 200, out_dir)
        environment.update(BLAME_CSV="0", OMP_WAIT_POLICY="active", OMP_PROC_BIND="true")
        try:
            output, _ = run([os.path.join(args.build, "regions"), str(count)], environment)
            for regions, ns, resident in (line.split() for line in output.splitlines()):
                numbers.add("regions", int(regions), f"{team(threads)}: time", float(ns), "ns")
                numbers.add("regions", int(regions), f"{team(threads)}: resident", float(resident) / 1e6, "MB")
            numbers.add("regions", count // 10 * 10, f"{team(threads)}: file", file_bytes(out_dir) / 1e6, "MB")
        finally:
            shutil.rmtree(out_dir, ignore_errors=True)
    numbers.table("regions", "regions")


def measure_modules(args, numbers):
    print(f"modules: loaded libraries; the load map, and a walk through 20 of them; medians of {MODULE_RUNS} runs")
    with tempfile.TemporaryDirectory(prefix="blame-scale-") as scratch:
        for number in range(max(args.modules) + 2):
            shutil.copy(os.path.join(args.build, "module.so"), os.path.join(scratch, f"module-{number}.so"))
        for count in args.modules:
            runs = [list(split_phases(program(args, "modules", scratch, count))) for _ in range(MODULE_RUNS)]
            for rows in zip(*runs):
                numbers.add("modules", rows[0][0], rows[0][1], statistics.median(row[3] for row in rows), rows[0][2])
    numbers.table("modules", "modules")


def kernel_seconds(output):
    words = output.split()
    if words[-1] != "VERIFIED":
        raise BenchError(f"the kernel is not verified: {output}")
    return float(words[-2])


def measure_threads(args, numbers):
    """More threads than cores wait passively: who spins takes a core from who works."""
    print(f"threads: {args.kernel} with more and more threads on {os.cpu_count()} cores; "
          f"seconds, medians of {args.pairs} pairs")
    tools = find_tools(args.kernels, args.tool)
    command = args.kernel.split()
    command[0] = os.path.join(args.kernels, command[0])
    for threads in args.threads:
        seconds = {"floor": [], "blame": [], "floor, process": [], "blame, process": []}
        for _ in range(args.pairs):
            for column in ("floor", "blame"):
                out_dir = os.path.join(tempfile.gettempdir(), f"blame-scale-threads-{os.getpid()}")
                environment = tool_environment(column, tools, threads, 200, out_dir)
                environment["OMP_WAIT_POLICY"] = "passive"
                try:
                    output, process_s = run(command, environment)
                finally:
                    shutil.rmtree(out_dir, ignore_errors=True)
                seconds[column].append(kernel_seconds(output))
                seconds[f"{column}, process"].append(process_s)
        for name, values in seconds.items():
            numbers.add("threads", threads, name, statistics.median(values), "s")
        ratio = statistics.median(b / f for b, f in zip(seconds["blame"], seconds["floor"]))
        numbers.add("threads", threads, "blame/floor", ratio, "")
    numbers.table("threads", "threads")


def panels_of(numbers):
    def several(part, names):
        return {name: numbers.series(part, name) for name in names}

    return [
        curves.Panel("Counting the other threads", "threads", "ns a sample", several("census", CENSUS.values())),
        curves.Panel("One context in a tree", "contexts in the tree", "ns", several("tree", ["insert", "find"])),
        curves.Panel("The report at the end", "contexts", "seconds", several("tree", ["merge", "csv"]),
                     [(REPORT_BOUND_S, "2 s")] if numbers.series("tree", "csv") else []),
        curves.Panel("Empty parallel regions", "regions so far", "ns a region",
                     {team(n): numbers.series("regions", f"{team(n)}: time") for n in (1, 2)}),
        curves.Panel("Loaded modules", "modules", "\N{GREEK SMALL LETTER MU}s",
                     several("modules", ["read", "refresh", "learn", "cold"])),
        curves.Panel("More threads than cores", "threads", "seconds", several("threads", ["floor", "blame"])),
    ]


PARTS = {"census": measure_census, "tree": measure_tree, "regions": measure_regions, "modules": measure_modules,
         "threads": measure_threads}


def write_results(args, numbers):
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["part", "x", "series", "value", "unit"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(numbers.rows)
    with open(args.svg, "w", encoding="utf-8") as file:
        file.write(curves.draw("What blame costs when there is much of something", panels_of(numbers)))
    print(f"written: {args.out}, {args.svg}")


def read_results(path):
    """Numbers of an earlier run, so that parts can be measured one at a time."""
    numbers = Numbers()
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers.add(row["part"], int(row["x"]), row["series"], float(row["value"]), row["unit"])
    return numbers


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--keep", action="store_true", help="keep the other parts' numbers that --out holds already")
    parser.add_argument("--contexts", type=positive, default=10_000_000, help="largest tree (default 10,000,000)")
    parser.add_argument("--regions", type=positive, default=100_000_000,
                        help="with 1 thread (default 100,000,000); a tenth of it with 2")
    parser.add_argument("--modules", type=positive, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--threads", type=positive, nargs="+", default=[2, 4, 8, 16, 32, 64, 128, 256])
    parser.add_argument("--kernel", default="cg S", help="for --threads: one of benchmarks/bench.mk, and its arguments")
    parser.add_argument("--pairs", type=positive, default=3)
    parser.add_argument("--scratch", metavar="DIR", help="where trees are written (default: TMPDIR)")
    parser.add_argument("--out", default="build/scale.csv", metavar="FILE")
    parser.add_argument("--svg", default="build/scale.svg", metavar="FILE")
    parser.add_argument("--build", default="build/scale", metavar="DIR", help="where the programs are")
    parser.add_argument("--kernels", default="build/bench", metavar="DIR", help="where the kernels are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    return parser.parse_args()


def main():
    args = parse_arguments()
    numbers = Numbers()
    try:
        if args.keep and os.path.exists(args.out):
            numbers = read_results(args.out)
            numbers.rows = [row for row in numbers.rows if row["part"] not in args.parts]
        for part in args.parts:
            others = Others()
            PARTS[part](args, numbers)
            print(f"{others.tell()}\n", flush=True)
        write_results(args, numbers)
    except (BenchError, OSError) as error:
        print(f"scale.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
