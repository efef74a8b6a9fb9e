"""What accuracy.py writes: the summary in docs/testing.md, and tests/accuracy/results.md with the tables."""

import statistics

from measure import HANDOFF, LAWS, SUMMED
from stats import Summary, mean_interval

BEGIN, END = "<!-- make accuracy: begin -->", "<!-- make accuracy: end -->"
QUIET_CORES = 0.05  # what other processes may use of a quiet machine
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


def replace_generated(document, generated):
    """The document with everything between the markers replaced."""
    if document.count(BEGIN) != 1 or document.count(END) != 1 or document.index(END) < document.index(BEGIN):
        raise ValueError(f"the document needs one `{BEGIN}` and, behind it, one `{END}`")
    head, rest = document.split(BEGIN)
    return f"{head}{BEGIN}\n{generated.strip()}\n{END}{rest.split(END)[1]}"


def table(columns, rows):
    return "\n".join(["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
                      *("| " + " | ".join(row) + " |" for row in rows)])


def name(context):
    return f"`{context}`"


def interval_text(values, unit="%", digits=2):
    mean, half = mean_interval(values)
    width = "" if half != half else f" {PLUS_MINUS} {half:.{digits}f}"
    return f"{mean:+.{digits}f}{width} {unit}".rstrip()


def error_rows(series):
    return [[one.case.name, f"{one.metric.replace('_', ' ')} of {name(one.context)}", f"{one.expected_mean():.3f}",
             f"{one.measured_mean():.3f}", interval_text(one.errors()), f"{one.worst():+.2f} %"]
            for one in series if one.relative()]


ERROR_COLUMNS = ["case", "metric", "expected s", "measured s", "error", "worst run"]


def handoff_rows(results):
    rows = []
    for case, measurements in results:
        shares = [one.handoff_shares() for one in measurements]
        if not all(shares):
            continue
        row = [case.name]
        for context in (HANDOFF, "holder", "visitor"):
            expected, measured = zip(*(one[context] for one in shares))
            errors = [m - e for m, e in zip(measured, expected)]
            row.append(f"{statistics.fmean(expected):.1f} / {statistics.fmean(measured):.1f} "
                       f"({interval_text(errors, unit='', digits=1)})")
        rows.append(row)
    return rows


HANDOFF_COLUMNS = ["case", "`<lock handoff>`: clocked / measured % (difference)", "`holder`", "`visitor`"]


def total_cell(measurements, metric):
    errors = [one.total_error_percent(metric) for one in measurements]
    return "" if None in errors else interval_text(errors)


def oversubscribed_rows(results, cores):
    rows = []
    for case, measurements in results:
        if not case.oversubscribed(cores):
            continue
        laws = [interval_text([one.laws[law] for one in measurements]) if all(law in one.laws for one in measurements)
                else "" for law in LAWS]
        rows.append([case.name, *(total_cell(measurements, metric) for metric in SUMMED), *laws, case.theory])
    return rows


OVERSUBSCRIBED_COLUMNS = ["case", *(f"total {metric.replace('_', ' ')}" for metric in SUMMED), "law of thread time",
                          "law of shared idleness", "what may be expected"]


def bound_lines(results):
    lines = []
    for case, measurements in results:
        for bound, (limit, _) in measurements[0].bounds.items():
            share = interval_text([100 * one.bounds[bound][1] for one in measurements]).lstrip("+")
            lines.append(f"{case.name}: {bound.replace('_', ' ')} {share}, at most {100 * limit:g} % expected")
    return lines


class Group:
    """Cases with at most as many threads as cores, or with more; blame apart from plain work."""

    def __init__(self, title, series):
        self.title = title
        self.blame = [one for one in series if one.metric != "work"]
        self.work = [one for one in series if one.metric == "work"]
        self.summary = Summary(self.blame)

    def lines(self):
        return [f"{self.title}: blame: {self.summary.percent_line()}",
                f"{self.title}: work: {Summary(self.work).percent_line()}",
                f"{self.title}: expectations of at most 100 ms: {Summary(self.blame + self.work).seconds_line()}"]


def groups(series, cores):
    return [Group("threads <= cores", [one for one in series if not one.case.oversubscribed(cores)]),
            Group("threads > cores", [one for one in series if one.case.oversubscribed(cores)])]


def foreign_cores(results):
    return [one.foreign_cores for _, measurements in results for one in measurements]


def target_line(group, results):
    met = "met" if group.summary.target_met() else "missed"
    quiet = "" if statistics.fmean(foreign_cores(results)) <= QUIET_CORES else "; the machine was not quiet"
    return f"target for {group.title}: median <= 0.5 %, worst <= 2 %: {met}{quiet}"


def conditions(results, rate, cores):
    everything = [one for _, measurements in results for one in measurements]
    foreign = foreign_cores(results)
    repetitions = min(len(measurements) for _, measurements in results)
    return (f"{repetitions} repetitions at {rate} samples/s and thread on {cores} cores; {everything[0].runtime}; "
            f"other processes used {statistics.fmean(foreign):.2f} cores on average, {max(foreign):.2f} in the worst "
            f"run")


def generate_summary(results, series, rate, cores):
    two = groups(series, cores)
    summary = [line for group in two if group.blame + group.work for line in group.lines()]
    summary += [target_line(two[0], results), *bound_lines(results)]
    return "\n\n".join([conditions(results, rate, cores) + ".", "\n".join(["```", *summary, "```"]),
                        "![Errors of all cases with their confidence intervals](accuracy.svg)"])


def generate_tables(results, series, rate, cores):
    parts = ["# Accuracy of every case", "Written by `make accuracy`; docs/testing.md (Accuracy) says what the columns mean. " + conditions(results, rate, cores) + "."]
    for group in groups(series, cores):
        parts += [f"## Blame, {group.title.replace('<=', 'at most as many as').replace('>', 'more than')}",
                  table(ERROR_COLUMNS, error_rows(group.blame))]
    parts += ["## Handoff: whose is the waiting?", table(HANDOFF_COLUMNS, handoff_rows(results)),
              "## Totals with more threads than cores",
              table(OVERSUBSCRIBED_COLUMNS, oversubscribed_rows(results, cores))]
    return "\n\n".join(parts) + "\n"
