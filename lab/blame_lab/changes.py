"""Finds where a quantity changes from one revision of a program to the next, and gives limits for the size of each change."""

import math

import numpy

LEVEL = 0.05         # part of the histories without a change that are reported to have one; also the level of a bound
PERMUTATIONS = 999
EQUAL = 1e-9
MOST_RUNS = 256      # on one side of a boundary
EXACT_PAIRS = 4096   # more pairs than this use the normal approximation, which is then as good
NORMAL_5 = 1.6448536269514722


class Change:
    """A change from one level to another. `at`: the first revision with the new level. `before`, `after`: medians of the runs up to the neighbouring
    changes. `low`, `high`: limits of after / before - 1; with three or more runs on each side, each is exceeded by chance in at most one of 20
    comparisons. `chance`: probability that runs in random order have a change as clear as this."""

    def __init__(self, at, chance):
        self.at, self.chance = at, chance
        self.before = self.after = self.low = self.high = 0.0


def ranks(values):
    """Returns the ranks of the values, from 1 on. Equal values get the mean of their ranks."""
    order = numpy.sort(values)
    return (numpy.searchsorted(order, values, "left") + numpy.searchsorted(order, values, "right") + 1) / 2


def deviations(ranked, boundaries):
    """Returns the rank sum before each boundary as a deviation from its expectation, in standard errors (Mann and Whitney). `ranked` is one row of
    ranks, or several rows."""
    count = ranked.shape[-1]
    sums = numpy.cumsum(ranked, axis=-1)[..., boundaries - 1]
    return numpy.abs(sums - boundaries * (count + 1) / 2) / numpy.sqrt(boundaries * (count - boundaries) * (count + 1) / 12)


def find(values, revisions, least):
    """Returns the changes in order of revisions. `values` has one value for each run, with the runs of a revision next to each other; `revisions` has
    each run's revision, counted from 0 without gaps; `least` is the smallest relative change of the level that counts. The method is binary
    segmentation: a change is where the rank sums differ most. Its chance is how often permutations of the runs (always the same ones) differ as
    much."""
    values, revisions = numpy.asarray(values, dtype=float), numpy.asarray(revisions)
    found = []
    divide(values, revisions, 0, len(values), least, found)
    edges = [0, *(change.at for change in found), len(values)]
    for i, change in enumerate(found):
        measure(values, change, edges[i], edges[i + 2])
    for change in found:
        change.at = int(revisions[change.at])
    return found


def divide(values, revisions, begin, end, least, found):
    boundaries = numpy.flatnonzero(numpy.diff(revisions[begin:end])) + 1
    if not len(boundaries):
        return
    ranked = ranks(values[begin:end])
    by_boundary = deviations(ranked, boundaries)
    clear = by_boundary.max()
    at = begin + int(boundaries[numpy.argmax(by_boundary > clear - EQUAL)])
    permuted = numpy.random.default_rng(end - begin).permuted(numpy.broadcast_to(ranked, (PERMUTATIONS, end - begin)), axis=1)
    chance = (1 + numpy.count_nonzero(deviations(permuted, boundaries).max(axis=1) >= clear - EQUAL)) / (PERMUTATIONS + 1)
    before, after = numpy.median(values[begin:at]), numpy.median(values[at:end])
    if chance > LEVEL or not clear or not abs(after - before) >= least * abs(before):
        return
    divide(values, revisions, begin, at, least, found)
    found.append(Change(at, chance))  # `at` is the number of a run until the end of this function
    divide(values, revisions, at, end, least, found)


def measure(values, change, begin, end):
    """Computes the levels and limits of a change from the runs up to the neighbouring changes."""
    before, after = values[max(begin, change.at - MOST_RUNS):change.at], values[change.at:min(end, change.at + MOST_RUNS)]
    change.before, change.after = float(numpy.median(values[begin:change.at])), float(numpy.median(values[change.at:end]))
    low, high = bounds(before, after)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        change.low, change.high = (float(numpy.float64(bound) / change.before) for bound in (low, high))


def bounds(before, after):
    """Returns limits of the difference after - before, from all pairs of runs."""
    pairs = numpy.sort((after[None, :] - before[:, None]).ravel())
    rank = rank_of_bound(len(before), len(after))
    return (pairs[rank - 1], pairs[-rank]) if rank else (pairs[0], pairs[-1])


def rank_of_bound(n, m):
    """Returns how many pairs may lie on the wrong side of a limit, or 0 if so few runs have no such limit. Uses P(U <= u) of Mann and Whitney's U for
    two equal sides, from the generating function prod (1 - q^(m+i)) / (1 - q^i)."""
    if not n or not m:
        return 0
    if n * m > EXACT_PAIRS:
        return max(0, int(n * m / 2 - 0.5 - NORMAL_5 * math.sqrt(n * m * (n + m + 1) / 12)))
    n, m = min(n, m), max(n, m)
    ways = [1] + [0] * (n * m // 2)
    for i in range(1, n + 1):
        for u in range(len(ways) - 1, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, len(ways)):
            ways[u] += ways[u - i]
    every, rank, total = math.comb(n + m, n), 0, 0
    while rank < len(ways) and (total + ways[rank]) / every <= LEVEL * (1 + 1e-9):
        total += ways[rank]
        rank += 1
    return rank
