"""How accurate is blame? Runs programs with blame known by construction, several times each, and prints expected,
measured and error with its confidence interval. docs/testing.md (Accuracy) explains it. From the repository's root:

    make accuracy [ACCURACY_ARGS='...']
    python3 tests/accuracy/accuracy.py [-n N] [--quick] [-k TEXT ...] [--rate R] [--out CSV] [--no-docs] [--list]

-n N        repetitions of every case, default 10
--quick     2 repetitions, no document is changed: a smoke test, not a measurement
-k TEXT     only cases whose name contains one of the texts; no document is changed
--rate R    samples a second and thread, default 1000
--out CSV   every number; the chart and the tables go beside it, as .svg and .md. Default: build/accuracy.csv
--gcc       the programs as GCC builds them, on libgomp; no document is changed
--no-docs   leave docs/testing.md, docs/accuracy.svg and tests/accuracy/results.md as they are
BUILD       (environment) where the programs were built; default: build

Status 1 when a program or a profile cannot be used, 2 on wrong usage. Errors, however large, are no failure: timing is
for people to judge."""

import argparse
import math
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "behaviour"), os.path.join(HERE, "..", "..", "benchmarks")]

import chart  # noqa: E402  (found through the path set above)
import document  # noqa: E402
import harness  # noqa: E402
from bench_common import Table, positive, write_csv  # noqa: E402
from blame_profile import NotAProfile  # noqa: E402
from cases import CASES  # noqa: E402
from measure import MeasureError, collect, measure  # noqa: E402

DOCUMENT = os.path.join(harness.ROOT, "docs", "testing.md")
TABLES = os.path.join(HERE, "results.md")
CHART = os.path.join(harness.ROOT, "docs", "accuracy.svg")
TITLE = "blame: error of the mean, with 95 % confidence intervals"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=positive)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("--rate", type=positive, default=1000)
    parser.add_argument("--out", default=os.path.join(harness.BUILD, "accuracy.csv"))
    parser.add_argument("--gcc", action="store_true")
    parser.add_argument("--no-docs", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def run_all(cases, repetitions, rate, cores):
    """All cases once, then all again: what drifts on the machine spreads over all of them."""
    results = [(case, []) for case in cases]
    begin = time.monotonic()
    for repetition in range(repetitions):
        for case, measurements in results:
            folder = tempfile.mkdtemp(prefix="blame-accuracy-")
            try:
                measurements.append(measure(case, rate, cores, os.path.join(folder, "run")))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        elapsed_s = time.monotonic() - begin
        print(f"repetition {repetition + 1} of {repetitions}: {elapsed_s:.0f} s", file=sys.stderr, flush=True)
    return results


def csv_row(one, cores):
    mean, half = one.interval()
    return {"case": one.case.name, "threads": one.case.threads,
            "more threads than cores": "yes" if one.case.oversubscribed(cores) else "no", "metric": one.metric,
            "context": one.context, "repetitions": len(one.expected), "expected_s": one.expected_mean(),
            "measured_s": one.measured_mean(), "unit": "percent" if one.relative() else "s", "error": mean,
            "half_width_95": "" if math.isnan(half) else half, "worst_run": one.worst()}


def print_table(series):
    table = Table("case", "metric", "context", "expected", "measured", "error", "worst run")
    for one in series:
        scale, unit, digits = (1, "%", 2) if one.relative() else (1000, "ms", 1)
        table.row(one.case.name, one.metric, one.context, f"{one.expected_mean():.3f}", f"{one.measured_mean():.3f}",
                  document.interval_text([scale * error for error in one.errors()], unit, digits),
                  f"{scale * one.worst():+.{digits}f} {unit}")


def draw(series, cores):
    panels = []
    for group, largest in zip(document.groups(series, cores), (chart.LARGEST_AXIS, 20.0)):
        bars = [chart.Bar(one.label(), *one.interval()) for one in group.blame if one.relative()]
        panels.append(chart.Panel(f"{group.title} ({cores} cores)", bars, largest))
    return chart.draw(TITLE, panels)


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def write_results(options, results, series, cores):
    write_csv(options.out, [csv_row(one, cores) for one in series])
    beside = os.path.splitext(options.out)[0]
    svg, tables = draw(series, cores), document.generate_tables(results, series, options.rate, cores)
    write(beside + ".svg", svg)
    write(beside + ".md", tables)
    print(f"written: {beside}.svg, {beside}.md")
    if options.no_docs or options.gcc or options.quick or options.k:
        return
    with open(DOCUMENT, encoding="utf-8") as file:
        changed = document.replace_generated(file.read(), document.generate_summary(results, series, options.rate, cores))
    write(DOCUMENT, changed)
    write(CHART, svg)
    write(TABLES, tables)
    print("written: docs/testing.md, docs/accuracy.svg, tests/accuracy/results.md")


def main():
    options = arguments()
    cases = [case for case in CASES if not options.k or any(text in case.name for text in options.k)]
    if not cases:
        print("no case has such a name; --list shows them", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if options.gcc:
        cases = [case.by_gcc() for case in cases]
    cores = len(os.sched_getaffinity(0))
    repetitions = options.n or (2 if options.quick else 10)
    try:
        results = run_all(cases, repetitions, options.rate, cores)
    except (MeasureError, NotAProfile) as error:
        print(error, file=sys.stderr)
        return 1
    series = [one for case, measurements in results for one in collect(case, measurements)]
    print_table(series)
    print()
    for group in document.groups(series, cores):
        if group.blame + group.work:
            print("\n".join(group.lines()))
    print(document.target_line(document.groups(series, cores)[0], results))
    print("\n".join([*document.bound_lines(results), document.conditions(results, options.rate, cores)]))
    write_results(options, results, series, cores)
    return 0


if __name__ == "__main__":
    sys.exit(main())
