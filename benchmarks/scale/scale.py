#!/usr/bin/env python3
"""What blame costs when there is much of something: contexts, regions, loaded modules, threads.

Prints a table a part, and writes all numbers as CSV. Bounds are stated beside the numbers; the exit status says nothing
about them."""

import glob
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import KERNELS, run_kernel
from bench_common import (Table, clean_environment, find_tools, main, make_parser, median_ratio, positive, run, run_to_file, run_under,
                          take_turns, write_csv)

MODULE_RUNS = 5
NODE_BOUND_BYTES = 200


def program(args, name, *arguments):
    """What one of our programs says, `1000 find ns 12.3` or `1000 maps 40` a line: column -> value."""
    output, _ = run([os.path.join(args.programs, name), *map(str, arguments)], clean_environment(2))
    words = (line.split() for line in output.splitlines())
    return {" ".join(line[1:-1]): float(line[-1]) for line in words}


def print_part(what, heading, rows):
    """rows: x -> column -> value."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    print(what)
    table = Table(heading, *columns)
    for x, row in sorted(rows.items()):
        table.row(f"{x:,}", *(f"{row[column]:.4g}" if column in row else "-" for column in columns))


def measure_tree(args):
    rows = {}
    for size in (size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= args.contexts):
        with tempfile.TemporaryDirectory(prefix="blame-scale-", dir=args.scratch) as scratch:
            rows[size] = program(args, "tree", scratch, size)
    print_part(f"tree: contexts in one tree. Bound at 1,000,000: {NODE_BOUND_BYTES} bytes a context, file and hash", "contexts", rows)
    return rows


def measure_regions(args):
    tools = find_tools(args, [os.path.join(args.build, "fib"), "10"])
    rows = {}
    for threads, count in ((1, args.regions), (2, max(10, args.regions // 10))):
        output, _, file_bytes = run_under(
            "blame", tools, [os.path.join(args.programs, "regions"), str(count)], threads, 200,
            lambda folder: sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, "*.blame"))),
            BLAME_CSV="0", OMP_WAIT_POLICY="active", OMP_PROC_BIND="true")
        for regions, ns, resident in (line.split() for line in output.splitlines()):
            rows.setdefault(int(regions), {}).update({f"{threads} threads: ns": float(ns),
                                                      f"{threads} threads: resident MB": float(resident) / 1e6})
        rows[int(regions)][f"{threads} threads: file MB"] = file_bytes / 1e6
    print_part("regions: empty parallel regions under blame; nanoseconds a region, in each tenth; memory then", "regions", rows)
    return rows


def measure_modules(args):
    rows = {}
    with tempfile.TemporaryDirectory(prefix="blame-scale-") as scratch:
        for number in range(max(args.modules) + 2):
            shutil.copy(os.path.join(args.programs, "module.so"), os.path.join(scratch, f"module-{number}.so"))
        for count in args.modules:
            runs = [program(args, "modules", scratch, count) for _ in range(MODULE_RUNS)]
            rows[count] = {column: statistics.median(one[column] for one in runs) for column in runs[0]}
    print_part(f"modules: loaded libraries; the load map, and a walk through 20 of them; medians of {MODULE_RUNS} runs", "modules",
               rows)
    return rows


def measure_threads(args):
    """More threads than cores wait passively: who spins takes a core from who works."""
    tools, rows = find_tools(args, [os.path.join(args.build, "fib"), "10"]), {}
    name, _, _, arguments = KERNELS[0]
    for args.threads in args.teams:
        runs = take_turns(args.pairs, ["floor", "blame"], lambda column: run_kernel(
            args.build, name, arguments, column, tools, args, OMP_WAIT_POLICY="passive")[:2])
        seconds = {column: list(zip(*of)) for column, of in runs.items()}
        rows[args.threads] = {f"{column}{scope} s": statistics.median(times[number]) for number, scope in enumerate(("", ", process"))
                              for column, times in seconds.items()}
        rows[args.threads]["blame/floor"] = median_ratio(seconds["blame"][0], seconds["floor"][0])
    print_part(f"threads: {name} {arguments} with more and more threads on {os.cpu_count()} cores; medians of {args.pairs} turns",
               "threads", rows)
    return rows


def measure_hours(args):
    """In the simulator, whose hours are short: 64 threads, a region of four to five seconds and half a second without, again and again."""
    rows = {}
    for minutes in args.minutes:
        with tempfile.TemporaryDirectory(prefix="blame-scale-", dir=args.scratch) as scratch:
            scenario, kept = os.path.join(scratch, "hours.txt"), os.path.join(scratch, "hours.blame")
            with open(scenario, "w", encoding="utf-8") as file:
                file.write(f"runs 1\nlaws-only\nmain {{ repeat {minutes * 10} {{ parallel 64 {{ work 4s~2s 5s~2s }} work 500ms~500ms }} }}\n")
            command = [args.simulator, "--rate", str(args.hours_rate), "--seeds", "1", "--limit", "36000", "--keep", kept, scenario]
            output, seconds = run(command, clean_environment(2))
            memory = run_to_file(command, clean_environment(2), os.path.join(scratch, "output"))
            rows[minutes] = {"file MB": os.stat(kept).st_blocks * 512 / 1e6, "peak memory MB": memory / 1e3, "s": seconds,
                             "laws": float("FAILED" not in output)}
    print_part(f"hours: minutes of 64 simulated threads at {args.hours_rate} samples/s; laws: 1 if all hold", "minutes", rows)
    return rows


PARTS = {"tree": measure_tree, "regions": measure_regions, "modules": measure_modules, "threads": measure_threads, "hours": measure_hours}


def parse_arguments():
    parser = make_parser(__doc__, out="build/scale.csv", pairs=3, rate=200)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--contexts", type=positive, default=10_000_000, help="largest tree (default 10,000,000)")
    parser.add_argument("--regions", type=positive, default=100_000_000,
                        help="with 1 thread (default 100,000,000); a tenth of it with 2")
    parser.add_argument("--modules", type=positive, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--teams", type=positive, nargs="+", default=[2, 4, 8, 16, 32, 64, 128, 256, 512], help="threads")
    parser.add_argument("--minutes", type=positive, nargs="+", default=[6, 30, 120], help="of the simulated program")
    parser.add_argument("--hours-rate", type=positive, default=20, help="its samples a second and thread (default 20)")
    parser.add_argument("--simulator", default="build/simulator/simulate", metavar="FILE")
    parser.add_argument("--scratch", metavar="DIR", help="where trees are written (default: TMPDIR)")
    parser.add_argument("--programs", default="build/scale", metavar="DIR", help="where its own programs are")
    return parser.parse_args()


def bench(args):
    parts = {part: PARTS[part](args) for part in args.parts}
    write_csv(args.out, [{"part": part, "x": x, "series": series, "value": value}
                         for part, rows in parts.items() for x, row in rows.items() for series, value in row.items()])


if __name__ == "__main__":
    main(bench, parse_arguments())
