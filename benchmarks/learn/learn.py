#!/usr/bin/env python3
"""benchmarks/learn/triangle.c with several sizes and schedules: each run becomes a trial, `blame tune --specialise` learns from them, and the program, compiled
with what it wrote, is held against the default with sizes that were not tried: medians of the runs' wall time, as the tool measures it."""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import Table, clean_environment, main, positive, run

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triangle.c")
SIZES = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1000, 2000)
OTHERS = (20, 40, 80, 160, 320, 1500)
SCHEDULES = ("default", "dynamic,1", "dynamic,16", "guided")


def measured(args, directory, program, size, schedule="default"):
    """Seconds of a run; its profile is in the directory."""
    env = clean_environment(args.threads) | ({} if schedule == "default" else {"OMP_SCHEDULE": schedule})
    run([args.blame, "run", "--out", directory, program, str(size)], env)
    with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
        return json.load(file)["wall_s"]


def search(args, scratch, database, program):
    """In any order, so that what disturbs the machine for a while disturbs no setting more than others."""
    tries = [(size, schedule, number) for size in SIZES for schedule in SCHEDULES for number in range(args.repetitions)]
    seconds = {(size, schedule): [] for size, schedule, _ in tries}
    random.Random(1).shuffle(tries)
    for size, schedule, number in tries:
        directory = os.path.join(scratch, f"{size}-{schedule}-{number}")
        seconds[size, schedule].append(measured(args, directory, program, size, schedule))
        known = {"tune": f"size {size}", "tune.schedule": schedule, "tune.seconds": f"{seconds[size, schedule][-1]:.6f}", "tune.profiled": 1, "input.size": size}
        meta = [word for name, value in known.items() for word in ("--meta", f"{name}={value}")]
        run([args.blame, "db", "add", directory, "--db", database, "--experiment", "tune", "--sums", *meta], clean_environment(args.threads))
    table = Table("size", *(f"{schedule} s" for schedule in SCHEDULES))
    for size in SIZES:
        table.row(size, *(f"{statistics.mean(seconds[size, schedule]):.3f}" for schedule in SCHEDULES))


def build(args, program, *flags):
    run([args.clang, "-O2", "-g", "-fopenmp", *flags, "-o", program, PROGRAM, "-lm"], clean_environment(1))
    return program


def compare(args, scratch, plain, special):
    table = Table("size, not tried", "default s", "learned s", "ratio")
    for size in OTHERS:
        seconds = [[], []]
        for number in range(args.repetitions):
            for which, program in enumerate((plain, special)):
                seconds[which].append(measured(args, os.path.join(scratch, f"other-{size}-{number}-{which}"), program, size))
        default, learned = (statistics.median(values) for values in seconds)
        table.row(size, f"{default:.3f}", f"{learned:.3f}", f"{learned / default:.2f}")


def bench(args):
    with tempfile.TemporaryDirectory(prefix="blame-learn-") as scratch:
        folder = os.path.abspath(args.keep) if args.keep else scratch
        os.makedirs(folder, exist_ok=True)
        database, header = os.path.join(folder, "learn.db"), os.path.join(folder, "triangle.h")
        plain = build(args, os.path.join(scratch, "triangle"))
        search(args, scratch, database, plain)
        learned = subprocess.run([args.blame, "tune", "--specialise", header, "--db", database], check=False)
        if learned.returncode == 0:
            compare(args, scratch, plain, build(args, os.path.join(scratch, "special"), f'-DSETTINGS="{header}"'))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blame", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--repetitions", type=positive, default=7)
    parser.add_argument("--keep", help="a folder for the database and what is written")
    return parser.parse_args()


if __name__ == "__main__":
    main(bench, parse_arguments())
