#!/usr/bin/env python3
"""Measures the cost of measuring MPI: the time in ns that is added to a call, and the time of kernels with several ranks.

A call that does not wait is measured in a job of two ranks: without a layer, with an empty one, with libblame-mpi.so but without
the tool, and with both. The kernels run with and without `blame run`. All run in turns; differences and ratios are taken within
each turn."""

import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from bench_common import BenchError, Table, main, make_parser, median_interval, median_ratio, positive, run_under, take_turns, write_csv

KERNELS = {"stencil": ("2000", "--sweeps", "100"), "cg": ("A",), "queens": ("13",), "zones": ("1024", "--steps", "50")}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}


def job(args, ranks, *command):
    options = ["--oversubscribe", "--bind-to", "none"] if args.mpi == "openmpi" else []
    return [f"mpirun.{args.mpi}", *options, "-n", str(ranks), *command]


def program(args, name):
    return os.path.abspath(os.path.join(args.build, "mpi", f"{name}_{args.mpi}"))


def beside(args, name):
    return os.path.join(os.path.dirname(os.path.abspath(args.tool)), name)


def call_ns(args, column):
    """Runs a job once. Returns the median over its batches, in ns per call."""
    layers = {"none": "", "empty": os.path.abspath(os.path.join(args.build, "mpi", "libempty_layer.so")),
              "layer": beside(args, "libblame-mpi.so"), "blame": beside(args, "libblame-mpi.so")}
    tool = "blame" if column == "blame" else "none"
    command = job(args, 2, "env", f"LD_PRELOAD={layers[column]}", program(args, "calls"))
    output, _ = run_under(tool, {"blame": os.path.abspath(args.tool)}, command, 2, args.rate, **ROOT)
    return statistics.median(float(line) for line in output.split())


def bench_calls(args):
    columns = ["none", "empty", "layer", "blame"]
    runs = take_turns(args.pairs, columns, lambda column: call_ns(args, column))
    table, rows = Table("MPI_Wait of no request", "ns a call", "above empty"), []
    for column in columns:
        above = median_interval([one - empty for one, empty in zip(runs[column], runs["empty"])])[0]
        rows.append({"what": column, "median": statistics.median(runs[column]), "above": above})
        table.row(column, f"{rows[-1]['median']:.1f}", f"{above:.1f}")
    return rows


def kernel_s(args, kernel, column):
    """Runs a job once, without merging or reports. Returns the time of the whole job in seconds."""
    launcher = [os.path.join(args.build, "..", "bin", "blame"), "run", "--rate", str(args.rate)] if column == "blame" else []
    command = job(args, args.ranks, *launcher, program(args, kernel), *KERNELS[kernel])
    with_place = "blame" if column == "blame" else "none"
    output, seconds = run_under(with_place, {"blame": ""}, command, args.threads, args.rate, **ROOT)
    if "VERIFIED" not in output:
        raise BenchError(f"{kernel} is not verified:\n{output}")
    return seconds


def bench_kernels(args):
    table, rows = Table(f"{args.ranks} ranks x {args.threads} threads", "none s", "blame s", "ratio"), []
    for kernel in args.kernels:
        runs = take_turns(args.pairs, ["none", "blame"], lambda column, kernel=kernel: kernel_s(args, kernel, column))
        none, blame = (statistics.median(runs[column]) for column in ("none", "blame"))
        rows.append({"what": kernel, "median": blame, "none": none, "ratio": median_ratio(runs["blame"], runs["none"])})
        table.row(kernel, f"{none:.2f}", f"{blame:.2f}", f"{rows[-1]['ratio']:.3f}")
    return rows


def bench(args):
    if not shutil.which(f"mpirun.{args.mpi}"):
        raise BenchError(f"mpirun.{args.mpi} is missing: scripts/setup.sh brings it")
    write_csv(args.out, bench_calls(args) + (bench_kernels(args) if args.kernels else []))


def parse_arguments():
    parser = make_parser(__doc__, out="", pairs=7, rate=200, threads=1)
    parser.add_argument("--ranks", type=positive, default=16, help="of the kernels (default 16)")
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--kernels", nargs="*", choices=list(KERNELS), default=list(KERNELS), metavar="NAME",
                        help=f"of {', '.join(KERNELS)} (default all; nothing: only calls)")
    return parser.parse_args()


if __name__ == "__main__":
    main(bench, parse_arguments())
