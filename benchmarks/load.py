#!/usr/bin/env python3
"""Measures how other load on the machine changes the figures. Runs the cases of docs/testing.md with as many threads as cores
on a quiet machine, beside 2 and 6 busy loops, and under a quota of one core. Runs those that take any number of threads with
4 and 8 threads, too.

The expected figures are the programs' own, with TEST_LOADED=1 (tests/programs/analytic.h): work is CPU time, and time that is
neither CPU time nor waiting was without a core. For each condition, prints the errors of all figures that are expected to be
above 100 ms. Each is the median of its runs:

work, no core   of the functions
blame           idleness and lock wait, with those of the row `<no core>` below
here            lock wait where threads wait
at the code     idleness without that of the row `<no core>` below, compared with the clocks on the quiet machine
kernel          no core of all threads, even idle ones, compared with the kernel's own count
laws            number of runs in which a law is off by more than its tolerance (2 % if it has none)

A profile of a tool without the metric `no core` has no such figures. With more threads than cores, nothing is compared with a
quiet machine."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from contextlib import contextmanager, suppress

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "tests", room) for room in ("accuracy", "behaviour")]

import expectations  # noqa: E402  (found through the path set above)
import harness  # noqa: E402
from bench_common import BenchError, Table, main, positive, write_csv  # noqa: E402
from blame_profile import Tree  # noqa: E402
from cases import CASES, Case  # noqa: E402
from measure import below, measured_value  # noqa: E402
from stats import RELATIVE_FROM_S  # noqa: E402

CORES = len(os.sched_getaffinity(0))
RUN_LIMIT_S = 300
LAW_PERCENT = 2
KINDS = {"work": "work", "no_core": "no core", "idleness": "blame", "shared_idleness": "blame", "lock_wait": "blame",
         "lock_wait_here": "here"}
COLUMNS = ["work", "blame", "here", "at the code", "no core", "kernel"]
QUOTA_US = 100000  # in each 100 ms

Condition = namedtuple("Condition", "name cases loops quota", defaults=(0, False))
Figure = namedtuple("Figure", "kind metric context expected measured")


def with_threads(threads):
    """Yields each case that can run with any number of threads, for that number of threads."""
    for case in CASES:
        if case.threads == 2 and os.path.basename(case.argv[0]) == "waits":
            yield Case(f"{case.name}, {threads} threads", [*case.argv[:-1], str(threads)], threads, env=case.env)


def conditions():
    # handoff has more to say of short sections than of cores: it does not know who lacks one.
    few = [case for case in CASES if not case.oversubscribed(CORES) and os.path.basename(case.argv[0]) != "handoff"]
    return [Condition("quiet", few), Condition("2 loops", few, 2), Condition("6 loops", few, 6), Condition("quota", few, 0, True),
            Condition("4 threads", list(with_threads(4))), Condition("8 threads", list(with_threads(8)))]


@contextmanager
def busy_loops(count):
    """Runs busy loops. Each has a session of its own, as other users' programs do, because the kernel first divides the cores
    between sessions."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


@contextmanager
def quota_group(wanted):
    """Creates a control group with a quota of one core. Yields the file by which a process enters the group, or None if no group
    is wanted or possible."""
    version_1 = os.path.isdir("/sys/fs/cgroup/cpu")
    folder = os.path.join("/sys/fs/cgroup/cpu" if version_1 else "/sys/fs/cgroup", f"blame-load-{os.getpid()}")
    try:
        if wanted:
            os.mkdir(folder)
            if version_1:
                put(os.path.join(folder, "cpu.cfs_quota_us"), str(QUOTA_US))
            else:
                put(os.path.join(folder, "cpu.max"), f"{QUOTA_US} {QUOTA_US}")
    except OSError as error:
        print(f"no control group with a quota can be made here: {error}")
        wanted = False
    try:
        yield os.path.join(folder, "cgroup.procs") if wanted else None
    finally:
        for _ in range(100 if os.path.isdir(folder) else 0):  # the group stays busy for a moment after its last process has ended
            with suppress(OSError):
                os.rmdir(folder)
                break
            time.sleep(0.02)


def figures_of(stated, tree):
    for one in stated:
        if one.kind != "expect" or one.metric not in KINDS:
            continue
        try:
            measured = measured_value(one, tree)
        except KeyError:  # the tool does not have the metric
            continue
        yield Figure(KINDS[one.metric], one.metric, one.context, one.value, measured)
        if one.metric in ("idleness", "shared_idleness"):
            at_code = measured - below(tree, "<no core>", one.metric.replace("_", " "), one.context)
            yield Figure("at the code", one.metric, one.context, one.value, at_code)


def laws_off(conservation):
    return [name for name, law in conservation.items() if not law["exact"] and max(law["left"], law["right"]) > RELATIVE_FROM_S
            and abs(law["residual"]) > law.get("tolerance", LAW_PERCENT / 100 * max(law["left"], law["right"]))]


def read_profile(folder):
    """Reads profile.csv and run.json. They may have been written by a tool that has fewer columns."""
    with open(os.path.join(folder, "profile.csv"), encoding="utf-8", newline="") as table, \
         open(os.path.join(folder, "run.json"), encoding="utf-8") as facts:
        return Tree(table.read()), json.load(facts)


def run_case(case, enter, args):
    """Runs a case once. Returns its figures, and the names of the laws whose two sums differ too much."""
    env = harness.clean_environment() | case.environment(CORES)
    env |= {"BLAME_RATE": str(args.rate), "BLAME_SUMMARY": "0", "BLAME_OUT": "profile", "TEST_LOADED": "1",
            "OMP_TOOL_LIBRARIES": os.path.abspath(args.tool)}
    argv = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', enter, *case.argv] if enter else case.argv
    with tempfile.TemporaryDirectory(prefix="blame-load-") as folder:
        try:
            run = harness.execute(argv, env, folder, RUN_LIMIT_S)
        except (AssertionError, FileNotFoundError) as error:
            raise BenchError(str(error)) from None
        if run.status != 0 or len(run.directories()) != 1:
            raise BenchError(f"{case.name}: no profile\n{run}")
        tree, facts = read_profile(run.directories()[0])
    figures = list(figures_of(expectations.read(run.stdout), tree))
    if "no_core_sampled_s" in facts:
        figures.append(Figure("kernel", "no_core", "<all threads>", facts["no_core_s"], facts["no_core_sampled_s"]))
    return figures, laws_off(facts["conservation"])


def run_condition(condition, args):
    """Runs all cases, then all cases again, and so on. Returns the runs of each case by its name."""
    runs = {case.name: [] for case in condition.cases}
    with busy_loops(condition.loops), quota_group(condition.quota) as enter:
        if condition.quota and not enter:
            return {}
        for _ in range(args.n):
            for case in condition.cases:
                runs[case.name].append(run_case(case, enter, args))
    return runs


def errors_of(condition, runs, clocked_quietly):
    """Yields a row for each figure of each case, with medians over the runs."""
    for case, repetitions in runs.items():
        series = {}
        for figure in (figure for figures, _ in repetitions for figure in figures):
            series.setdefault((figure.kind, figure.metric, figure.context), []).append(figure)
        for (kind, metric, context), figures in series.items():
            expected = [figure.expected for figure in figures]
            if kind == "at the code":
                quiet = clocked_quietly.get((case, metric, context))
                if quiet is None:
                    continue
                expected = [quiet] * len(figures)
            if min(expected) > RELATIVE_FROM_S:
                error = statistics.median(100 * (figure.measured - value) / value for figure, value in zip(figures, expected))
                yield {"condition": condition, "case": case, "kind": kind, "metric": metric, "context": context,
                       "expected_s": statistics.median(expected), "measured_s": statistics.median(figure.measured for figure in figures),
                       "error_percent": error}


def quiet_clocks(runs):
    """Returns the idleness that the programs' own code causes, or {} if threads lacked cores even on the quiet machine."""
    clocked = {}
    if any(figure.kind == "no core" and figure.expected > RELATIVE_FROM_S
           for repetitions in runs.values() for figures, _ in repetitions for figure in figures):
        return {}
    for case, repetitions in runs.items():
        for figure in (figure for figures, _ in repetitions for figure in figures if figure.kind == "blame"):
            clocked.setdefault((case, figure.metric, figure.context), []).append(figure.expected)
    return {key: statistics.median(values) for key, values in clocked.items()}


def cell(rows):
    if not rows:
        return "-"
    sizes = [abs(row["error_percent"]) for row in rows]
    return f"{statistics.median(sizes):.2f} / {max(sizes):.2f} ({len(rows)})"


def print_worst(rows):
    for kind in COLUMNS:
        worst = max((row for row in rows if row["kind"] == kind), key=lambda row: abs(row["error_percent"]), default=None)
        if worst:
            print("    worst {kind}: {case}: {metric} of {context}: {measured_s:.3f} s of {expected_s:.3f}".format(**worst))


def bench(args):
    table = Table("condition: % median / worst", *COLUMNS, "laws")
    everything, clocked_quietly = [], {}
    for condition in conditions():
        if not re.search(args.conditions, condition.name):
            continue
        chosen = [case for case in condition.cases if re.search(args.k, case.name)]
        runs = run_condition(condition._replace(cases=chosen), args)
        if condition.name == "quiet":
            clocked_quietly = quiet_clocks(runs)
        if condition.name == "quiet" and not clocked_quietly:
            print("this machine is not quiet: there is nothing to compare idleness at the code with")
        rows = list(errors_of(condition.name, runs, clocked_quietly))
        off = [f"{case}: {', '.join(laws)}" for case, repetitions in runs.items() for _, laws in repetitions if laws]
        table.row(condition.name, *(cell([row for row in rows if row["kind"] == kind]) for kind in COLUMNS),
                  f"{len(off)} of {sum(map(len, runs.values()))}")
        print_worst(rows)
        for text in sorted(set(off)):
            print(f"    off {off.count(text)} times: {text}")
        everything += rows
    write_csv(args.out, everything)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=positive, default=1000, help="BLAME_RATE (default 1000)")
    parser.add_argument("--tool", default=harness.LIBRARY, metavar="FILE", help="blame's library")
    parser.add_argument("--out", default="", metavar="FILE", help="write all figures as CSV")
    parser.add_argument("-n", type=positive, default=3, help="runs of each case and condition (default 3)")
    parser.add_argument("-k", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--conditions", default="", metavar="REGEX", help="only these: quiet, 2 loops, 6 loops, quota, 4 threads, 8 threads")
    return parser.parse_args()


if __name__ == "__main__":
    main(bench, arguments())
