"""How true is the profile of a program that keeps time with the clock? Runs tests/programs/in_step.c at several rates and prints
the error of quarter()'s time (work, and without a core), against the program's own clock: mean, spread, the spread that docs/accounting.md promises, and
how many runs lie within 1.96 of that and within the error that `blame report --error` states. From the repository's root:

    make resonance [RESONANCE_ARGS='...']
    python3 tests/accuracy/resonance.py [-n N] [--rates R,R...]

-n N        runs at each rate, default 20
--rates     samples a second, default 50,200,1000,2000"""

import argparse
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "behaviour"), os.path.join(HERE, "..", "..", "benchmarks")]

import harness  # noqa: E402  (found through the path set above)
from bench_common import Table, positive  # noqa: E402
from blame_profile import NotAProfile, Profile  # noqa: E402
from cases import Case, shared  # noqa: E402
from measure import MeasureError, measure  # noqa: E402
from stats import mean_interval  # noqa: E402

CASE = Case("in step with the clock", shared("in_step"), threads=1)
STEPS, STEP_S, QUARTER_S = 400, 0.005, 0.00125
WITHIN = 1.96


def promised_s(period_s):
    """docs/accounting.md, *Variance, one thread*: a part of each period, or two changes in a step at any phases."""
    a_step = period_s * QUARTER_S * (1 - QUARTER_S / STEP_S) if period_s >= STEP_S else period_s ** 2 / 3
    return math.sqrt(STEPS * a_step)


def stated_s(profile):
    """The error that a report states of quarter()'s work: 95 %."""
    report = subprocess.run([harness.BLAME, "report", profile, "--view", "flat", "--error", "--format", "csv"],
                            stdout=subprocess.PIPE, text=True, check=True)
    return next(float(row["work (I) ±"]) for row in csv.DictReader(report.stdout.splitlines()) if row["name"] == "quarter")


def run_all(rate, runs):
    """Of each run: what the program clocked in quarter(), how far off the profile is, and what it states; the cores that others used."""
    clocked, errors, stated, others = [], [], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="blame-resonance-") as folder:
            one = measure(CASE, rate, 1, os.path.join(folder, "run"))
            profile = os.path.join(folder, "run", "profile")
            stated.append(stated_s(profile))
            measured_s = Profile(profile).clocked("quarter")
        clocked_s, _ = one.values["work", "quarter"]
        clocked.append(clocked_s)
        errors.append(measured_s - clocked_s)
        others.append(one.foreign_cores)
    return clocked, errors, stated, others


def row(rate, clocked, errors, stated, others):
    mean, half = mean_interval(errors)
    promised, runs = promised_s(1 / rate), len(errors)
    spread = statistics.stdev(errors) if runs > 1 else math.nan
    return [f"{rate}/s", f"{statistics.fmean(clocked):.3f} s", f"{1e3 * mean:+.1f} ± {1e3 * half:.1f} ms",
            f"{1e3 * spread:.1f} ms", f"{1e3 * promised:.1f} ms", f"{1e3 * max(errors, key=abs):+.1f} ms",
            f"{sum(abs(error) <= WITHIN * promised for error in errors)} of {runs}",
            f"{sum(abs(error) <= limit for error, limit in zip(errors, stated))} of {runs}",
            f"{1e3 * statistics.fmean(stated):.0f} ms", f"{statistics.fmean(others):.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=positive, default=20)
    parser.add_argument("--rates", type=lambda text: [positive(rate) for rate in text.split(",")], default=[50, 200, 1000, 2000])
    options = parser.parse_args()
    table = Table("rate", "clocked", "error, mean", "spread", "promised", "worst", "within it", "within stated", "stated", "other cores")
    try:
        for rate in options.rates:
            table.row(*row(rate, *run_all(rate, options.n)))
    except (MeasureError, NotAProfile, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
