"""How true is the profile of a program that keeps time with the clock? Runs tests/programs/in_step.c at several rates and prints
the error of what quarter() worked, against the program's own clock: mean, spread, the spread that docs/accounting.md promises, and
how many runs lie within 1.96 of that and within the error that reports state. From the repository's root:

    make resonance [RESONANCE_ARGS='...']
    python3 tests/accuracy/resonance.py [-n N] [--rates R,R...]

-n N        runs at each rate, default 20
--rates     samples a second, default 50,200,1000,2000"""

import argparse
import math
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "behaviour"), os.path.join(HERE, "..", "..", "benchmarks")]

from bench_common import Table, positive  # noqa: E402  (found through the path set above)
from blame_profile import NotAProfile  # noqa: E402
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


def stated_s(period_s, measured_s):
    return math.sqrt(period_s * measured_s)


def run_all(rate, runs):
    """(what the program clocked in quarter(), what the profile says) of each run, and the cores that others used."""
    pairs, others = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="blame-resonance-") as folder:
            one = measure(CASE, rate, 1, os.path.join(folder, "run"))
        pairs.append(one.values["work", "quarter"])
        others.append(one.foreign_cores)
    return pairs, statistics.fmean(others)


def row(rate, pairs, others):
    errors = [measured - clocked for clocked, measured in pairs]
    mean, half = mean_interval(errors)
    promised = promised_s(1 / rate)
    inside = sum(abs(error) <= WITHIN * promised for error in errors)
    stated = sum(abs(error) <= WITHIN * stated_s(1 / rate, measured) for error, (_, measured) in zip(errors, pairs))
    spread = statistics.stdev(errors) if len(errors) > 1 else math.nan
    return [f"{rate}/s", f"{statistics.fmean(clocked for clocked, _ in pairs):.3f} s", f"{1e3 * mean:+.1f} ± {1e3 * half:.1f} ms",
            f"{1e3 * spread:.1f} ms", f"{1e3 * promised:.1f} ms", f"{1e3 * max(errors, key=abs):+.1f} ms",
            f"{inside} of {len(errors)}", f"{stated} of {len(errors)}", f"{others:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=positive, default=20)
    parser.add_argument("--rates", type=lambda text: [positive(rate) for rate in text.split(",")], default=[50, 200, 1000, 2000])
    options = parser.parse_args()
    table = Table("rate", "clocked", "error, mean", "spread", "promised", "worst", "within it", "within stated", "other cores")
    try:
        for rate in options.rates:
            table.row(*row(rate, *run_all(rate, options.n)))
    except (MeasureError, NotAProfile) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
