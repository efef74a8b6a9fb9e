"""One run of one case: what the program clocked and what the profile says."""

import os

import expectations
import harness
from bench_common import Others
from blame_profile import Profile
from stats import RELATIVE_FROM_S, Series

HANDOFF = "<lock handoff>"
LAWS = ["thread_time", "shared_idle"]  # the two that more threads than cores can bend
SUMMED = ["work", "idleness", "lock_wait"]


class MeasureError(Exception):
    """A program or a profile that cannot be used; the text is for the user."""


def below(profile, name, metric, context):
    """Of the rows of that name below a context: a handoff's hangs below its waiter, and is not the waiter's doing."""
    return sum(row[f"{metric} (I)"] for row in profile.named(name) if any(above.name == context for above in row.ancestors()))


def measured_value(expectation, profile):
    metric = expectation.metric.replace("_", " ")
    value = profile.total(metric, expectation.context)
    if expectation.context == HANDOFF or metric == "lock wait here":
        return value
    return value - below(profile, HANDOFF, metric, expectation.context)


def law_residuals(conservation):
    """In percent; a law about next to nothing has no meaningful percentage."""
    return {law: 100 * conservation[law]["relative"] for law in LAWS
            if law in conservation and max(conservation[law]["left"], conservation[law]["right"]) > RELATIVE_FROM_S}


class Measurement:
    """Values: (metric, context) to (expected, measured), both in seconds. Bounds: name to (limit, measured)."""

    def __init__(self, run, profile, foreign_cores):
        stated = expectations.read(run.stdout)
        self.values = {(one.metric, one.context): (one.value, measured_value(one, profile))
                       for one in stated if one.kind == "expect"}
        self.bounds = {one.metric: (one.value, expectations.BOUNDS[one.metric](profile))
                       for one in stated if one.kind == "bound"}
        self.laws = law_residuals(profile.run["conservation"])
        self.foreign_cores = foreign_cores
        self.runtime = profile.run["runtime_version"]

    def total_error_percent(self, metric):
        """Of the sum over the contexts: what the division among them cannot change. None: too little of it."""
        pairs = [pair for (one, _), pair in self.values.items() if one == metric]
        expected = sum(pair[0] for pair in pairs)
        if expected <= RELATIVE_FROM_S:
            return None
        return 100 * (sum(pair[1] for pair in pairs) - expected) / expected

    def handoff_shares(self):
        """Who got the waiting: context to (expected, measured) in percent of all of it. Empty: not such a program."""
        waits = {context: pair for (metric, context), pair in self.values.items() if metric == "lock_wait"}
        if HANDOFF not in waits:
            return {}
        totals = [sum(pair[side] for pair in waits.values()) for side in (0, 1)]
        return {context: tuple(100 * pair[side] / totals[side] for side in (0, 1)) for context, pair in waits.items()}


def measure(case, rate, cores, folder):
    """Runs the case once, in a new folder."""
    if not os.path.exists(case.argv[0]):
        raise MeasureError(f"{case.argv[0]} is missing: run `make accuracy-programs test-programs` first")
    env = harness.clean_environment() | case.environment(cores)
    env |= {"BLAME_RATE": str(rate), "BLAME_SUMMARY": "0", "BLAME_OUT": "profile"}
    if os.path.basename(case.argv[0]) != "handoff":  # it does not know who lacks a core
        env["TEST_LOADED"] = "1"
    if not case.launcher:
        env["OMP_TOOL_LIBRARIES"] = harness.LIBRARY
    os.mkdir(folder)
    try:
        others = Others()
        run = harness.execute([*case.launcher, *case.argv], env, folder)
        foreign_cores = others.cores()
    except AssertionError as error:
        raise MeasureError(str(error)) from None
    found = run.directories()
    if run.status != 0 or len(found) != 1:
        raise MeasureError(f"{case.name}: no profile\n{run}")
    measurement = Measurement(run, Profile(found[0]), foreign_cores)
    if not measurement.values and not measurement.bounds:
        raise MeasureError(f"{case.name}: the program states no expectation\n{run}")
    return measurement


def collect(case, measurements):
    """The repetitions of a case as series, in the order in which the program states them."""
    series = {}
    for measurement in measurements:
        for (metric, context), (expected, measured) in measurement.values.items():
            series.setdefault((metric, context), Series(case, metric, context)).add(expected, measured)
    return list(series.values())
