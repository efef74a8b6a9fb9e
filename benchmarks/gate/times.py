#!/usr/bin/env python3
"""Measures how long the signal handler takes for a sample, in ns, for several thread states and stack depths. Runs the
program `times` several times, each time with another address layout. Prints the minimum and median of all batches."""

import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import Table, main, make_parser, run, write_csv
from gate import bare_environment


def run_once(args):
    """Runs one process. Returns (minimum, median) for each (scenario, frames). 0 frames: the time of reading a clock."""
    settings = dict(pair.split("=", 1) for pair in args.set)
    with tempfile.TemporaryDirectory(prefix="blame-times-") as scratch:
        output, _ = run([os.path.join(args.build, "times"), os.path.abspath(args.tool)], bare_environment(scratch, BLAME_CSV="1", **settings))
    rows = (line.rsplit(",", 3) for line in output.splitlines())
    return {(scenario, int(frames)): (float(least), float(median)) for scenario, frames, least, median in rows}


def bench(args):
    runs = [run_once(args) for _ in range(args.pairs)]
    found = {key: (min(one[key][0] for one in runs), statistics.median(one[key][1] for one in runs)) for key in runs[0]}
    depths = sorted({frames for _, frames in found if frames})
    for (scenario, frames), (least, _) in found.items():
        if not frames:
            print(f"{scenario}: {least:.1f} ns")
    table = Table("nanoseconds a sample, least (median)", *(f"{depth} frames" for depth in depths))
    for scenario in dict.fromkeys(scenario for scenario, frames in found if frames):
        table.row(scenario, *("{:,.0f} ({:,.0f})".format(*found[scenario, depth]) for depth in depths))
    write_csv(args.out, [{"scenario": scenario, "frames": frames, "least_ns": least, "median_ns": median}
                         for (scenario, frames), (least, median) in found.items()])


if __name__ == "__main__":
    parser = make_parser(__doc__, build="build/gate", out="", pairs=5)
    parser.add_argument("--set", action="append", default=[], metavar="VARIABLE=VALUE", help="of the tool's environment")
    main(bench, parser.parse_args())
