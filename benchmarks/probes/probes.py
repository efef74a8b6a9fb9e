#!/usr/bin/env python3
"""What a begin and end of include/blame.h cost, in nanoseconds: without a tool and under blame, in turns; stated is the
median over the turns of each run's fastest batch."""

import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import Table, find_tools, main, make_parser, run_under, take_turns

# What the fastest of many may cost (ns); the cases without a bound are stated.
BOUNDS = {"same-frame": 60, "in-a-region": 60, "parameter": 60}
BOUND_WITHOUT = 1
MODES = {"none": {}, "blame": {"BLAME_EVENTS_THROTTLE": "0"}, "blame throttled": {}}


def bench(args):
    command = [os.path.join(args.build, "probes")]
    tools = find_tools(args, [*command, "1"])

    def one_run(mode):
        output, _, _ = run_under(mode.split()[0], tools, [*command, str(args.batches)], 2, 200, OMP_PROC_BIND="true",
                                 BLAME_CSV="0", **MODES[mode])
        return {name: float(ns) for name, ns in (line.split() for line in output.splitlines())}

    runs = take_turns(args.pairs, MODES, one_run)
    table = Table("begin and end, ns", *MODES, "bound")
    for name in runs["none"][0]:
        medians = [statistics.median(one[name] for one in runs[mode]) for mode in MODES]
        over = " over" if medians[1] > BOUNDS.get(name, medians[1]) or medians[0] > BOUND_WITHOUT else ""
        table.row(name, *(f"{ns:.1f}" for ns in medians), f"{BOUNDS.get(name, '')}{over}")


if __name__ == "__main__":
    main(bench, make_parser(__doc__, pairs=11, batches=300).parse_args())
