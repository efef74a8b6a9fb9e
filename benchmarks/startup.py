#!/usr/bin/env python3
"""What a tool costs a program that does nothing: time before and after main, and peak memory a thread.

Start-up is from fork to the end of the first parallel region, exit from the end of main until the process is
gone. Both are medians over runs in turns; differences are taken within each turn."""

import os
import statistics

from bench_common import BenchError, Table, find_tools, main, make_parser, positive, run_under, slope, take_turns, write_csv

COSTS = ["start-up ms", "exit ms", "memory kB"]


def run_once(args, column, tools, threads):
    """One run of the trivial program: its three costs."""
    command = [os.path.join(args.build, "launch"), os.path.abspath(os.path.join(args.build, "region"))]
    output, _, _ = run_under(column, tools, command, threads, args.rate)
    found = {name: int(value) for name, value in (line.split() for line in output.splitlines())}
    if found["threads"] != threads:
        raise BenchError(f"{command[1]} ran {found['threads']} threads, not {threads}")
    return ((found["region_ns"] - found["start_ns"]) / 1e6, (found["end_ns"] - found["main_ns"]) / 1e6, found["maxrss_kb"])


def summarise(runs, tools, threads):
    row = {"threads": threads}
    for number, cost in enumerate(COSTS):
        without = [one[number] for one in runs["none"]]
        row[f"none {cost}"] = statistics.median(without)
        for tool in tools:
            row[f"{tool} adds {cost}"] = statistics.median(one[number] - base for one, base in zip(runs[tool], without))
    return row


def parse_arguments():
    parser = make_parser(__doc__, out="startup.csv", pairs=11, rate=200)
    parser.add_argument("--threads", type=positive, nargs="+", default=[2, 4, 8, 16, 32, 64])
    return parser.parse_args()


def bench(args):
    tools = find_tools(args, [os.path.join(args.build, "region")], blame_needed=False)
    rows, table = [], None
    for threads in args.threads:
        runs = take_turns(args.pairs, ["none", *tools], lambda column: run_once(args, column, tools, threads))
        rows.append(summarise(runs, tools, threads))
        table = table or Table(*rows[0])
        table.row(*(f"{value:.2f}".removesuffix(".00") for value in rows[-1].values()))
    for tool in tools if len(rows) > 1 else ():
        print(f"{tool}: {slope([(row['threads'], row[f'{tool} adds memory kB']) for row in rows]):.1f} kB a thread")
    write_csv(args.out, rows)


if __name__ == "__main__":
    main(bench, parse_arguments())
