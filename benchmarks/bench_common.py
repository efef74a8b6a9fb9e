"""What the benchmarks share: arguments, the environments that are compared, running programs in turns, medians, tables."""

import argparse
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

RUN_LIMIT_S = 600
LOUD_CORES = 0.1
HELP = {"pairs": "turns", "rate": "BLAME_RATE", "threads": "OMP_NUM_THREADS", "batches": "of which the fastest counts"}


class BenchError(Exception):
    """An error that ends the benchmark. The user sees its text."""


def positive(text):
    """Converts an argument to an integer, which must be at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def make_parser(doc, build="build/bench", out=None, **numbers):
    """Returns a parser for the arguments that several benchmarks have: numbers with defaults, and paths."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=positive, default=default, help=f"{HELP[name]} (default {default})")
    if out is not None:
        parser.add_argument("--out", default=out, metavar="FILE", help=f"write all figures as CSV ({out or 'none by default'})")
    parser.add_argument("--build", default=build, metavar="DIR", help="where the programs are")
    parser.add_argument("--tool", default="build/lib/libblame.so", metavar="FILE", help="blame's library")
    parser.add_argument("--provider", metavar="FILE", help="libblame-gomp.so, if GCC has built the programs")
    return parser


def clean_environment(threads):
    """Returns the caller's environment without variables that load or configure a tool."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMP_TOOL", "BLAME_")) and name != "LD_PRELOAD"}
    environment["OMP_NUM_THREADS"] = str(threads)
    environment["OMP_DYNAMIC"] = "false"
    return environment


SETTINGS = {"callbacks": {"BLAME_RATE": "1"}, "blame": {}, "creation": {"BLAME_TASKS": "creation"}, "untimed": {"BLAME_TIMELINE": "0"},
            "traced": {"BLAME_TRACE": "1"}}


# perf, which samples by the same clock as blame. Its call paths come from frame pointers or from copies of the stack.
PEERS = {"perf": ["-g"], "perf-stacks": ["--call-graph", "dwarf"]}


# What calls the tools of programs that GCC has built.
PROVIDER = "provider"


def is_blame(column):
    return column in SETTINGS


def under_peer(column, command, rate, folder):
    """Returns the command. If the column measures perf, the command starts with perf."""
    if column not in PEERS:
        return command
    return ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(rate), *PEERS[column], "-o", os.path.join(folder, "perf.data"), "--", *command]


def tool_environment(column, tools, threads, rate, out_dir):
    """Returns the environment for one column of the table: none, floor, signals (the floor, with signals whose handler
    is empty), callbacks (blame at 1 sample per second), blame, or blame with one setting changed."""
    environment = clean_environment(threads)
    if column != "none" and column not in PEERS:
        environment["OMP_TOOL_LIBRARIES"] = tools[column]
        if PROVIDER in tools:
            environment["LD_PRELOAD"] = tools[PROVIDER]
    if column == "signals":
        environment["NOOP_RATE"] = str(rate)
    if is_blame(column):
        environment.update({"BLAME_RATE": str(rate), "BLAME_OUT": out_dir, "BLAME_SUMMARY": "0"} | SETTINGS[column])
    return environment


def run(command, environment):
    """Runs a program to its end. Returns its output and the time of the whole process. Raises BenchError on failure."""
    begin_s = time.monotonic()
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=RUN_LIMIT_S, check=False)
    except FileNotFoundError:
        raise BenchError(f"{command[0]} is missing: scripts/setup.sh and make bring it") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"`{' '.join(command)}` ran for more than {RUN_LIMIT_S} s") from None
    seconds = time.monotonic() - begin_s
    if done.returncode != 0:
        tool = environment.get("OMP_TOOL_LIBRARIES", "none")
        raise BenchError(f"`{' '.join(command)}` failed with status {done.returncode} (tool: {tool})\n"
                         f"{done.stdout}{done.stderr}".rstrip())
    return done.stdout, seconds


def run_under(column, tools, command, threads, rate=1, **settings):
    """Runs a program once with the tool of a column. Returns its output and its time."""
    with tempfile.TemporaryDirectory(prefix="blame-bench-") as scratch:
        out_dir = os.path.join(scratch, "out")
        output, seconds = run(under_peer(column, command, rate, scratch), tool_environment(column, tools, threads, rate, out_dir) | settings)
        if is_blame(column) and not os.path.isdir(out_dir):
            raise BenchError(f"`{' '.join(command)}` left no profile in {out_dir}: blame did not measure it")
        return output, seconds


def starts(column, tools, program):
    """Returns true if the tool of a column starts in the program: LLVM's runtime says so, and the dynamic loader says that it
    initialises a tool that the provider keeps."""
    if PROVIDER not in tools:
        output, _ = run_under(column, tools, program, 1, OMP_TOOL_VERBOSE_INIT="stdout")
        return "Tool was started and is using the OMPT interface" in output
    with tempfile.TemporaryDirectory(prefix="blame-bench-") as folder:
        run_under(column, tools, program, 1, LD_DEBUG="files", LD_DEBUG_OUTPUT=os.path.join(folder, "loader"))
        said = "".join(open(file.path, encoding="utf-8", errors="replace").read() for file in os.scandir(folder))
    return f"calling init: {tools[column]}" in said and f"calling fini: {tools[column]}" not in said.split("transferring control")[0]


def find_tools(args, program, blame_needed=True):
    """Returns the library of each tool: of the floor always, and of blame if it was built. A tool that does not load would
    seem to cost nothing, so `program` is run to see whether the tool starts."""
    tools = {"floor": os.path.abspath(os.path.join(args.build, "libnoop.so"))}
    if os.path.exists(args.tool) or blame_needed:
        tools["blame"] = os.path.abspath(args.tool)
    else:
        print(f"note: {args.tool} does not exist: the blame column is skipped", file=sys.stderr)
    for tool in tools.values():
        if not os.path.exists(tool):
            raise BenchError(f"{tool} is missing: run `make all bench-build` first")
    columns = list(tools)
    if args.provider:
        tools[PROVIDER] = os.path.abspath(args.provider)
    for column in columns:
        if not starts(column, tools, program):
            raise BenchError(f"{tools[column]} does not start in {program[0]}")
    return tools


def take_turns(pairs, columns, one_run):
    """Calls one_run(column) for every column in every turn. Returns a list of results for each column."""
    runs = {column: [] for column in columns}
    for _ in range(pairs):
        for column in columns:
            runs[column].append(one_run(column))
    return runs


def median_ratio(values, base):
    """Returns the median of ratios. Both times of a ratio are of the same turn, so slow changes of the machine cancel out."""
    return statistics.median(value / other for value, other in zip(values, base))


def median_interval(values, confidence=0.95):
    """Returns (median, low, high). low and high are the narrowest pair of order statistics between which the median is
    with the given probability. They are None if there are too few values."""
    ordered, n = sorted(values), len(values)
    rank, beyond = 0, 0.0  # beyond: probability that the median is not between the rank-th smallest and the rank-th largest value
    while rank < n // 2 and beyond + 2 * math.comb(n, rank) / 2**n <= 1 - confidence:
        beyond += 2 * math.comb(n, rank) / 2**n
        rank += 1
    if rank == 0:
        return statistics.median(ordered), None, None
    return statistics.median(ordered), ordered[rank - 1], ordered[n - rank]


class Table:
    """A table that is printed row by row, in the form that docs/ uses."""

    def __init__(self, *headings):
        self.widths = [max(24 if number == 0 else 8, len(heading)) for number, heading in enumerate(headings)]
        self.row(*headings)
        print("|" + "|".join("-" * (width + 2) for width in self.widths) + "|")

    def row(self, *cells):
        first, *others = [str(cell) for cell in cells]
        print("| " + " | ".join([first.ljust(self.widths[0])] + [cell.rjust(width) for cell, width in
                                                                 zip(others, self.widths[1:])]) + " |", flush=True)


def write_csv(path, rows):
    """Writes dictionaries as CSV. They need not have all columns. Without a path, writes nothing."""
    if not path:
        return
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{value:.6f}" if isinstance(value, float) else value for name, value in row.items()})
    print(f"written: {path}")


class Others:
    """The CPU time that other programs have used since this object was made. It matters because threads that spin for each
    other wait long if one of them has no core."""

    def __init__(self):
        self.begin_s, self.begin = time.monotonic(), self.busy_ticks()

    @staticmethod
    def busy_ticks():
        """Returns the CPU time of all processors, without that of this process and its finished children."""
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, softirq, steal = (int(word) for word in file.readline().split()[1:9])
        return user + nice + system + irq + softirq + steal - sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")

    def cores(self):
        seconds = max(1e-3, time.monotonic() - self.begin_s)
        return max(0.0, self.busy_ticks() - self.begin) / (seconds * os.sysconf("SC_CLK_TCK"))


def main(bench, args):
    """Runs bench(args). The exit status is 1 if something cannot be measured; it never depends on times."""
    others = Others()
    try:
        bench(args)
    except (BenchError, OSError) as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")
    cores = others.cores()
    print(f"other programs used {cores:.2f} cores meanwhile{': NOT QUIET, measure again' if cores > LOUD_CORES else ''}")
