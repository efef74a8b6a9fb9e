#!/usr/bin/env python3
"""What it costs whole programs to tell their phases: our kernels under blame, as they are and with KERNEL_PHASES
(include/blame.h), in turns; stated is the median of the ratios within each turn. Without a tool the same."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import KERNELS, run_kernel
from bench_common import Table, find_tools, main, make_parser, median_ratio, take_turns

NAMES = ["cg", "mg", "ep", "is", "sparselu"]


def bench(args):
    tools = find_tools(args, [os.path.join(args.build, "fib"), "10"])
    plain, phases = args.build, os.path.join(args.build, "phases")
    columns = [(folder, column) for column in ("none", "blame") for folder in (plain, phases)]
    table = Table("kernel", "fastest s", "with phases", "without a tool")
    for name, _, arguments, _ in KERNELS:
        if name not in NAMES:
            continue
        times = take_turns(args.pairs, columns, lambda column: run_kernel(column[0], name, arguments, column[1], tools, args)[0])
        ratios = [median_ratio(times[phases, column], times[plain, column]) for column in ("blame", "none")]
        table.row(name, *(f"{value:.3f}" for value in (min(times[plain, "blame"]), *ratios)))


if __name__ == "__main__":
    main(bench, make_parser(__doc__, pairs=11, rate=200, threads=2).parse_args())
