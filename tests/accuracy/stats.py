"""Errors over repetitions: means with confidence intervals by Student's t, and their summary."""

import math
import statistics

RELATIVE_FROM_S = 0.100    # expectations above this are judged in percent
ABSOLUTE_LIMIT_S = 0.030   # others against this
TARGET_MEDIAN_PERCENT = 0.5
TARGET_WORST_PERCENT = 2.0
# Student's t for 95 %, two-sided, by the degrees of freedom from 1 on; behind the last, the normal distribution's.
T_QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
               2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def mean_interval(values):
    """(mean, half width of its 95 % interval); the width is nan for a single value: nothing is known of it."""
    mean, df = statistics.fmean(values), len(values) - 1
    if df < 1:
        return mean, math.nan
    t = T_QUANTILES[df - 1] if df <= len(T_QUANTILES) else 1.960
    return mean, t * statistics.stdev(values) / math.sqrt(len(values))


class Series:
    """One metric of one context of one case, over all repetitions."""

    def __init__(self, case, metric, context):
        self.case, self.metric, self.context = case, metric, context
        self.expected, self.measured = [], []

    def add(self, expected, measured):
        self.expected.append(expected)
        self.measured.append(measured)

    def expected_mean(self):
        return statistics.fmean(self.expected)

    def measured_mean(self):
        return statistics.fmean(self.measured)

    def relative(self):
        """Is it judged in percent? A program's expectations vary, so the smallest one decides."""
        return min(self.expected) > RELATIVE_FROM_S

    def errors(self):
        """In percent of the expectation, or in seconds."""
        pairs = zip(self.expected, self.measured)
        if self.relative():
            return [100 * (measured - expected) / expected for expected, measured in pairs]
        return [measured - expected for expected, measured in pairs]

    def interval(self):
        return mean_interval(self.errors())

    def worst(self):
        return max(self.errors(), key=abs)

    def label(self):
        return f"{self.case.name}: {self.metric.replace('_', ' ')} of {self.context}"


class Summary:
    """Of the mean errors of many series: median and worst of those in percent, worst of those in seconds."""

    def __init__(self, series):
        self.relative = sorted((one for one in series if one.relative()), key=lambda one: abs(one.interval()[0]))
        self.absolute = sorted((one for one in series if not one.relative()), key=lambda one: abs(one.interval()[0]))
        self.median = math.nan
        if self.relative:
            self.median = statistics.median(abs(one.interval()[0]) for one in self.relative)
        self.worst = abs(self.relative[-1].interval()[0]) if self.relative else math.nan
        self.worst_s = abs(self.absolute[-1].interval()[0]) if self.absolute else math.nan

    def target_met(self):
        if not self.relative:
            return False
        return self.median <= TARGET_MEDIAN_PERCENT and self.worst <= TARGET_WORST_PERCENT

    def beyond_limit(self):
        return [one for one in self.absolute if abs(one.interval()[0]) > ABSOLUTE_LIMIT_S]

    def percent_line(self):
        if not self.relative:
            return "no expectation above 100 ms"
        return (f"median |error| {self.median:.2f} %, worst {self.worst:.2f} % ({self.relative[-1].label()}), "
                f"{len(self.relative)} numbers")

    def seconds_line(self):
        if not self.absolute:
            return "no expectation of at most 100 ms"
        return (f"worst |error| {1000 * self.worst_s:.1f} ms ({self.absolute[-1].label()}), "
                f"{len(self.beyond_limit())} of {len(self.absolute)} numbers beyond {1000 * ABSOLUTE_LIMIT_S:.0f} ms")
