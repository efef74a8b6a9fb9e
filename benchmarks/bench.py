#!/usr/bin/env python3
"""Measures the overhead of blame. In each turn, every kernel runs once without a tool, once with a tool that does
nothing (the floor), and once with blame. Times of the same turn are compared."""

import os
import re
import shutil
import statistics

from bench_common import PEERS, BenchError, Table, find_tools, main, make_parser, median_ratio, run_under, take_turns, write_csv

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
COLUMNS = ["none", "floor", "signals", "callbacks", "untimed", "blame", "traced", "creation", *PEERS]
RATIOS = [("blame", "none"), ("blame", "floor"), ("floor", "none"), ("signals", "floor"), ("callbacks", "floor"),
          ("blame", "signals"), ("creation", "none"), ("creation", "floor"), ("blame", "untimed"), ("traced", "blame"),
          ("perf", "none"), ("perf-stacks", "none")]
RESULT = re.compile(r"^(\S+) (\S+) (\d+) ([0-9.]+) VERIFIED$", re.MULTILINE)


def program_of(kernel):
    return kernel[0].split("-")[0]


def run_kernel(args, kernel, column, tools):
    """Runs a kernel once. Returns the time that it prints and the time of the whole process, in seconds."""
    command = [os.path.join(args.build, program_of(kernel)), *kernel[3 if args.quick else 2].split()]
    output, process_s = run_under(column, tools, command, args.threads, args.rate)
    result = RESULT.search(output)
    if result is None:
        raise BenchError(f"`{' '.join(command)}` printed no VERIFIED line:\n{output}")
    return float(result.group(4)), process_s


def measure(kernel, columns, tools, args):
    """Measures a kernel and returns its row of the CSV file."""
    if not args.quick:
        run_kernel(args, kernel, "none", tools)  # warms the page cache and the clocks of the cores
    runs = take_turns(args.pairs, columns, lambda column: run_kernel(args, kernel, column, tools))
    row = {"kernel": kernel[0], "group": kernel[1], "arguments": kernel[3 if args.quick else 2], "threads": args.threads, "pairs": args.pairs,
           "rate": args.rate}
    for number, scope in enumerate(("kernel", "process")):
        times = {column: [one[number] for one in runs[column]] for column in columns}
        row |= {f"{scope} {column} s": statistics.median(times[column]) for column in columns}
        row |= {f"{scope} {tool}/{base}": median_ratio(times[tool], times[base])
                for tool, base in RATIOS if tool in times and base in times}
    return row


def geometric_means(rows):
    """Returns a row for each group of kernels that ran. The rows contain only ratios."""
    for group in GROUPS:
        members = [row for row in rows if row["group"] == group]
        if members:
            yield {"kernel": f"{group} geometric mean", "group": group} | {
                name: statistics.geometric_mean(row[name] for row in members) for name in members[0] if "/" in name}


def parse_arguments():
    parser = make_parser(__doc__, out="bench.csv", rate=200, threads=2, pairs=5)
    parser.add_argument("--kernels", default="", metavar="REGEX", help="only kernels whose name matches")
    parser.add_argument("--creation", action="store_true", help="also with BLAME_TASKS=creation")
    parser.add_argument("--time", action="store_true", help="also without its timeline, and with a trace")
    parser.add_argument("--parts", action="store_true",
                        help="also the floor with signals whose handler is empty, and blame at 1 sample a second")
    parser.add_argument("--perf", action="store_true", help="also under perf record (Debian's linux-perf), with frame pointers and with stacks")
    parser.add_argument("--quick", action="store_true", help="each program once, small sizes, 1 turn: a smoke test, not a measurement")
    args = parser.parse_args()
    if args.perf and not shutil.which("perf"):
        parser.error("--perf: there is no perf (Debian's package linux-perf)")
    args.pairs = 1 if args.quick else args.pairs
    args.selected = [kernel for kernel in KERNELS if re.search(args.kernels, kernel[0])]
    if args.quick:
        args.selected = list({program_of(kernel): kernel for kernel in reversed(args.selected)}.values())[::-1]
    if not args.selected:
        parser.error(f"--kernels: no kernel matches '{args.kernels}'; there are "
                     + ", ".join(kernel[0] for kernel in KERNELS))
    return args


def bench(args):
    tools = find_tools(args, [os.path.join(args.build, "fib"), "10"], blame_needed=False)
    if args.creation and "blame" in tools:
        tools["creation"] = tools["blame"]
    if args.time and "blame" in tools:
        tools.update({"untimed": tools["blame"], "traced": tools["blame"]})
    if args.parts:
        tools["signals"] = tools["floor"]
        tools.update({"callbacks": tools["blame"]} if "blame" in tools else {})
    columns = [column for column in COLUMNS if column == "none" or column in tools or (args.perf and column in PEERS)]
    headings = [f"{column} s" for column in columns] + [f"{tool}/{base}" for tool, base in RATIOS
                                                        if tool in columns and base in columns]
    table, rows = Table("kernel", *headings, "process blame/none"), []

    def add(row):
        rows.append(row)
        names = [f"kernel {heading}" for heading in headings] + ["process blame/none"]
        table.row(row["kernel"], *(f"{row[name]:.3f}" if name in row else "-" for name in names))

    for kernel in args.selected:
        add(measure(kernel, columns, tools, args))
    for mean in list(geometric_means(rows)):
        add(mean)
    write_csv(args.out, rows)


if __name__ == "__main__":
    main(bench, parse_arguments())
