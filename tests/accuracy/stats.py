"""Errors over repetitions: means with confidence intervals by Student's t, and their summary."""

import math
import statistics

CONFIDENCE = 0.95
RELATIVE_FROM_S = 0.100    # expectations above this are judged in percent
ABSOLUTE_LIMIT_S = 0.030   # others against this
TARGET_MEDIAN_PERCENT = 0.5
TARGET_WORST_PERCENT = 2.0


def t_distribution(t, df):
    """P(-t < T < t), the closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    cos2, odd = math.cos(angle) ** 2, df % 2
    term, series = 1.0, 0.0
    for k in range((df - odd) // 2):
        series += term
        term *= cos2 * (2 * k + 1 + odd) / (2 * k + 2 + odd)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * math.cos(angle) * series)
    return math.sin(angle) * series


def t_quantile(df, confidence=CONFIDENCE):
    """The t that a two-sided interval of this confidence needs."""
    if df < 1:
        raise ValueError("an interval needs two values")
    low, high = 0.0, 1.0
    while t_distribution(high, df) < confidence:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if t_distribution(middle, df) < confidence:
            low = middle
        else:
            high = middle
    return high


def mean_interval(values, confidence=CONFIDENCE):
    """(mean, half width of its confidence interval); the width is nan for a single value: nothing is known of it."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan
    return mean, t_quantile(len(values) - 1, confidence) * statistics.stdev(values) / math.sqrt(len(values))


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
