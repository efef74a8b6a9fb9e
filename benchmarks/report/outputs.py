#!/usr/bin/env python3
"""Seconds, memory and size of everything that `blame` makes of a huge profile.

Profiles are synthetic (make.c). Prints a table for each size; medians of the runs."""

import argparse
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import Table, clean_environment, main, positive, run, run_to_file

# {a}, {b}: profile directories. What is made goes to standard output.
OUTPUTS = {
    "report, top-down": "report {a}",
    "report, bottom-up": "report {a} --view bottom-up",
    "report, flat": "report {a} --view flat",
    "report, threads": "report {a} --view threads",
    "report, locks": "report {a} --view locks",
    "report, waits": "report {a} --view waits",
    "report, findings": "report {a} --view findings",
    "top-down as CSV": "report {a} --format csv",
    "bottom-up as CSV": "report {a} --view bottom-up --format csv",
    "flat as CSV": "report {a} --view flat --format csv",
    "waits as CSV": "report {a} --view waits --format csv",
    "html": "html {a} -o -",
    "html, all rows": "html {a} --min 0 -o -",
    "export, folded": "export {a} --format folded",
    "export, speedscope": "export {a} --format speedscope",
    "export, pprof": "export {a} --format pprof -o -",
    "export, hatchet": "export {a} --format hatchet",
    "diff": "diff {a} {b}",
    "stat": "stat {a} {b}",
}


def measure(argv, output):
    """(seconds, peak bytes, bytes of output) of one run."""
    begin_s = time.monotonic()
    peak_kb = run_to_file(argv, clean_environment(1), output)
    return time.monotonic() - begin_s, peak_kb * 1024, os.path.getsize(output)


def measure_size(args, contexts, scratch):
    directories = {name: os.path.join(scratch, name) for name in "ab"}
    for seed, directory in enumerate(directories.values(), 1):
        os.mkdir(directory)
        run([args.make, directory, str(contexts), str(seed)], clean_environment(1))
    output = os.path.join(scratch, "output")
    measure([args.blame, "report", directories["a"], "--format", "csv"], output)
    with open(output, "rb") as file:
        print(f"{sum(1 for _ in file) - 1:,} rows")
    table = Table("output", "s", "peak MB", "output MB")
    for name, template in OUTPUTS.items():
        if args.only and args.only not in name:
            continue
        argv = [args.blame, *template.format(**directories).split(" ")]
        runs = [measure(argv, output) for _ in range(args.runs)]
        seconds, peak, size = (statistics.median(column) for column in zip(*runs))
        table.row(name, f"{seconds:.2f}", f"{peak / 1e6:.0f}", f"{size / 1e6:.2f}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=positive, nargs="+", default=[80_000, 850_000],
                        help="of the trees (default 80,000 and 850,000: some 100,000 and 1,000,000 rows)")
    parser.add_argument("--runs", type=positive, default=3)
    parser.add_argument("--only", metavar="TEXT", help="only outputs whose name contains it")
    parser.add_argument("--scratch", metavar="DIR", help="where profiles are written (default: TMPDIR)")
    parser.add_argument("--make", default="build/report/make", metavar="FILE", help="the maker of profiles")
    parser.add_argument("--blame", default="build/bin/blame", metavar="FILE")
    return parser.parse_args()


def bench(args):
    for contexts in args.contexts:
        with tempfile.TemporaryDirectory(prefix="blame-report-", dir=args.scratch) as scratch:
            measure_size(args, contexts, scratch)


if __name__ == "__main__":
    main(bench, parse_arguments())
