"""What a test program printed about itself, compared with what the profile says. tests/programs/analytic.h defines the
lines."""

import csv
import math
import os
import re

RELATIVE_TOLERANCE = 0.05
ABSOLUTE_TOLERANCE_S = 0.030
SCATTERED = {"short_section", "long_section"}  # of handoff.c
RATE = 1000  # samples a second of the runs that are judged
REPORT_COLUMNS = ["case", "metric", "context", "expected", "measured", "error", "error_percent", "verdict"]

LINES = [
    ("expect", re.compile(r"^expect (\S+) (.+) (-?[\d.]+)$"), ("metric", "context", "value")),
    ("path", re.compile(r"^path ([\d.]+) (.+)$"), ("value", "context")),
    ("below", re.compile(r"^below (\S+) (\S+)$"), ("metric", "context")),
    ("task", re.compile(r"^task (.+)$"), ("context",)),
    ("bound", re.compile(r"^bound (\S+) ([\d.]+)$"), ("metric", "value")),
]


class Expectation:
    def __init__(self, kind, metric="", context="", value="0"):
        self.kind, self.metric, self.context, self.value = kind, metric, context, float(value)

    @staticmethod
    def parse(line):
        for kind, pattern, fields in LINES:
            match = pattern.match(line)
            if match:
                return Expectation(kind, **dict(zip(fields, match.groups())))
        return None


class Verdict:
    def __init__(self, expectation, measured, right, metric=None, context=None):
        self.metric = metric or expectation.metric
        self.context = context or expectation.context
        self.expected, self.measured, self.right = expectation.value, measured, right

    def __str__(self):
        return (f"{self.metric} of {self.context}: expected {self.expected:.6f}, measured {self.measured:.6f},"
                f" error {self.error():+.6f}")

    def error(self):
        return self.measured - self.expected

    def row(self, case):
        percent = f"{100 * self.error() / self.expected:.2f}" if self.expected > ABSOLUTE_TOLERANCE_S else ""
        return [case, self.metric, self.context, f"{self.expected:.6f}", f"{self.measured:.6f}", f"{self.error():.6f}",
                percent, "right" if self.right else "wrong"]


def tolerance(expected, context=""):
    """The stated 5 % or 30 ms. Where a time comes in thousands of pieces at unrelated phases its samples are counted like
    events: four standard deviations, the root of period x time (docs/accounting.md)."""
    scattered = 4 * math.sqrt(abs(expected) / RATE) if context in SCATTERED else 0
    return max(RELATIVE_TOLERANCE * abs(expected), ABSOLUTE_TOLERANCE_S, scattered)


def directory_bytes(profile):
    return sum(os.stat(os.path.join(folder, name)).st_blocks * 512
               for folder, _, names in os.walk(profile.directory) for name in names)


def idle_share(profile):
    """In a region: the idleness of the pool before and after it is not the tasks'."""
    return profile.threads_total("idle") / profile.lifetimes()


BOUNDS = {"directory_bytes": directory_bytes, "idle_share": idle_share}


def judge_path(expectation, profile):
    names = expectation.context.split(" > ")
    measured = sum(row["work (I)"] for row in profile.at_path(names))
    right = abs(measured - expectation.value) <= tolerance(expectation.value, expectation.context)
    return Verdict(expectation, measured, right, "work at path")


def judge_below(expectation, profile):
    rows = profile.named(expectation.metric)
    outside = [row for row in rows if all(above.name != expectation.context for above in row.ancestors())]
    stray = sum(row["work (I)"] for row in outside)
    return Verdict(expectation, stray, bool(rows) and stray <= ABSOLUTE_TOLERANCE_S, "work outside",
                   f"{expectation.context} of {expectation.metric}" + ("" if rows else " (absent)"))


def judge_task(expectation, profile):
    rows = [row for row in profile.named(expectation.context) if row.kind == "task"]
    return Verdict(expectation, len(rows), bool(rows), "rows of the task")


def judge(expectation, profile):
    if expectation.kind == "path":
        return judge_path(expectation, profile)
    if expectation.kind == "below":
        return judge_below(expectation, profile)
    if expectation.kind == "task":
        return judge_task(expectation, profile)
    if expectation.kind == "bound":
        measured = BOUNDS[expectation.metric](profile)
        return Verdict(expectation, measured, measured <= expectation.value, f"bound {expectation.metric}", "program")
    measured = profile.total(expectation.metric.replace("_", " "), expectation.context)
    return Verdict(expectation, measured, abs(measured - expectation.value) <= tolerance(expectation.value, expectation.context))


def read(stdout):
    return [expectation for expectation in map(Expectation.parse, stdout.splitlines()) if expectation]


def write_report(path, rows, columns):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def print_report(rows, columns, out):
    table = [columns, *rows]
    widths = [max(len(str(row[column])) for row in table) for column in range(len(columns))]
    for row in table:
        print("  ".join(str(cell).ljust(width) if number < 3 else str(cell).rjust(width)
                        for number, (cell, width) in enumerate(zip(row, widths))).rstrip(), file=out)
