"""Decides which setting of a program to run next, and what the times of the runs show. It runs nothing and has no clock: the same seed and times give
the same search. docs/lab.md describes the procedure and how often it is wrong."""

import math
import random

from scipy.special import stdtrit

CALIBRATION = 2     # runs of the default at the beginning, to learn how much times scatter
FIRST_NOISE = 0.02  # first guess of the standard deviation of a time's logarithm
FIRST_FREEDOM = 2   # weight of that guess, in differences
WORSE = 2.5         # standard errors by which a setting must be slower than the best of its race to be dropped
BETTER = 1.5        # standard errors by which the winner of a race must be faster than the setting it is compared with
MUCH_BETTER = 5     # the same after one round
LAST_ROUND = 4      # of a race; in this round 1 standard error is enough
TRIM_ROUNDS = 3     # in which a removed value must show that it matters
MAX_PASSES = 3      # through all dimensions, because the best value of one depends on the others
MANY = 6            # an ordered dimension with more values than this is not tried completely at first
FEWEST_PAIRS = 3

AS_IT_IS, GAIN, NOT_SHOWN, FAILS, UNCONFIRMED, FAILED = "as it is", "gain", "not shown", "fails", "unconfirmed", "failed"


class Plan:
    """`dimensions`: [(number of values, ordered)], where value 0 is the default. `order`: the dimensions that are tried, in order. `guess`: a setting
    to try first, or None. `runs`: the most runs. `pairs`: number of pairs of the default and the best setting, from which the gain is measured.
    `least`: smaller gains are not searched for."""

    def __init__(self, dimensions, order, runs, pairs, least, seed, guess=None):
        self.dimensions, self.order, self.runs, self.pairs, self.least, self.seed, self.guess = dimensions, order, runs, pairs, least, seed, guess


class Tried:
    """The result for a dimension. `values`: its values that were run. `best`: the best of these. `change`: its time compared with that of the setting
    that it raced against. `error`: standard error of the change's logarithm. `means`: for each value, the logarithm of its change and that error, from
    its latest race."""

    def __init__(self):
        self.values, self.best, self.change, self.error, self.taken, self.means = set(), 0, 0.0, 0.0, False, {}


class Result:
    """`gain`, `low`, `high`: parts of the default's time, the mean of the pairs and its 95 % interval. `default_s`: geometric mean of the default's
    runs in the pairs. `cut_off`: the runs or the time were used up before all races had ended."""

    def __init__(self, verdict, best, pairs, runs):
        self.verdict, self.best, self.pairs, self.runs = verdict, best, pairs, runs
        self.gain = self.low = self.high = self.default_s = 0.0
        self.cut_off = False


class Rival:
    def __init__(self, setting):
        self.setting, self.differences = setting, []

    def mean(self):
        return sum(self.differences) / len(self.differences)


class Enough(Exception):
    """The runs or the time are used up: the best setting so far is now compared with the default."""


class BestFails(Exception):
    """The setting that others were compared with failed."""


class Search:
    """next() returns the setting to run, tell() takes its time, and judge() returns the result."""

    def __init__(self, plan):
        self.plan, self.random, self.runs = plan, random.Random(plan.seed), 0
        self.default = (0,) * len(plan.dimensions)
        self.best, self.failed_best = self.default, None
        self.tried = [Tried() for _ in plan.dimensions]
        self.noise_squares, self.noise_freedom = 0.0, 0
        self.confirms = self.default_failed = self.cut_off = False
        self.pairs, self.default_logs, self.failed_pairs = [], [], 0
        self.steps = self.everything()
        self.setting = next(self.steps, None)

    def next(self):
        """Returns the setting to run now, until tell() has its time. Returns None when the search is over."""
        return self.setting

    def tell(self, seconds):
        """Takes the wall time of that run, or None if it failed."""
        self.runs += 1
        self.resume(lambda: self.steps.send(math.log(seconds) if seconds else None))

    def hurry(self):
        """Ends the search early."""
        if not self.confirms:
            self.resume(lambda: self.steps.throw(Enough()))

    def resume(self, step):
        try:
            self.setting = step()
        except StopIteration:
            self.setting = None

    # ---- the parts: generators that yield settings and receive the logarithms of their times ----

    def everything(self):
        try:
            try:
                yield from self.calibrate()
                yield from self.look()
            except Enough:
                self.cut_off = not self.default_failed
            if self.best != self.default and not self.default_failed:
                self.confirms = True
                yield from self.confirm()
        except Enough:
            pass

    def round(self, settings, reserve):
        """Returns the logarithms of the settings' times, run once each in random order, with None for those that failed. `reserve` is the number of
        runs that must be left afterwards."""
        if self.runs + len(settings) + reserve > self.plan.runs:
            raise Enough
        order, logs = self.random.sample(range(len(settings)), len(settings)), [None] * len(settings)
        for i in order:
            logs[i] = yield settings[i]
        return logs

    def calibrate(self):
        logs = []
        for _ in range(CALIBRATION):
            logs += yield from self.round([self.default], 0)
            if logs[-1] is None:
                self.default_failed = True
                raise Enough
        mean = sum(logs) / len(logs)
        self.noise_squares += 2 * sum((log - mean) ** 2 for log in logs)  # a difference has the noise of two times
        self.noise_freedom += len(logs) - 1

    def look(self):
        if self.plan.guess and self.plan.guess != self.default:
            yield from self.guarded(self.race([self.plan.guess], None))
        if not self.plan.order:
            return
        while True:
            try:
                yield from self.races()
                yield from self.trim()
                return
            except BestFails:  # it also failed sometimes, so nothing can be compared with it
                if self.default_failed:
                    raise Enough from None
                if self.trimming:
                    return

    def guarded(self, part):
        try:
            yield from part
        except BestFails:
            if self.default_failed:
                raise Enough from None

    def fail(self):
        self.default_failed |= self.best == self.default
        self.failed_best, self.best = self.best, self.default
        raise BestFails

    def races(self):
        """Runs the races of all dimensions again and again, until nothing has changed since each was tried."""
        self.trimming, unchanged = False, 0
        for number in range(MAX_PASSES):
            for dimension in self.plan.order:
                if unchanged >= len(self.plan.order):
                    return
                before = self.best
                for step in self.steps_of(dimension, number == 0):
                    candidates = self.candidates(dimension, *step)
                    if candidates:
                        yield from self.race(candidates, dimension)
                unchanged = 0 if self.best != before else unchanged + 1

    def steps_of(self, dimension, first):
        """Returns the step between the values to try, and whether all multiples of it are tried. Of many ordered values, a few are tried first, and
        then those between."""
        values, ordered = self.plan.dimensions[dimension]
        if not first:
            return [(1, False)]
        step, steps = (values + 3) // 4 if ordered and values > MANY else 1, []
        while step:
            steps.append((step, not steps))
            step //= 2
        return steps

    def candidates(self, dimension, step, first):
        values, ordered = self.plan.dimensions[dimension]
        now = self.best[dimension]
        away = {value: abs(value - now) for value in range(values) if value != now}
        chosen = [value for value, far in away.items() if not ordered or (far % step == 0 if first else far == step)]
        return [self.best[:dimension] + (value,) + self.best[dimension + 1:] for value in chosen]

    def noise(self):
        """Returns the standard deviation of one difference of logarithms."""
        return math.sqrt((self.noise_squares + FIRST_NOISE ** 2 * FIRST_FREEDOM) / (self.noise_freedom + FIRST_FREEDOM))

    def compare(self, rivals, dimension):
        """Runs one round of the rivals and the best setting. Returns the rivals that did not fail."""
        logs = yield from self.round([self.best, *(rival.setting for rival in rivals)], 2 * self.plan.pairs)
        if dimension is not None:
            self.tried[dimension].values |= {rival.setting[dimension] for rival in rivals}
        if logs[0] is None:
            self.fail()
        left = []
        for rival, log in zip(rivals, logs[1:]):
            if log is None:
                continue
            difference = log - logs[0]
            if rival.differences:
                count = len(rival.differences)
                self.noise_squares += (difference - rival.mean()) ** 2 * count / (count + 1)
                self.noise_freedom += 1
            rival.differences.append(difference)
            left.append(rival)
        return left

    def race(self, settings, dimension):
        """Makes the fastest of these settings the best one if it is faster than the best so far (successive halving)."""
        rivals = [Rival(setting) for setting in settings]
        for round_number in range(1, LAST_ROUND + 1):
            rivals = yield from self.compare(rivals, dimension)
            if not rivals:
                return
            rivals.sort(key=Rival.mean)
            first, error = rivals[0], self.noise() / math.sqrt(round_number)
            for rival in rivals:
                self.note(dimension, rival, False)
            rivals = [rival for rival in rivals[:(len(rivals) + 1) // 2] if rival is first or rival.mean() - first.mean() <= WORSE * error]
            mean, last = first.mean(), round_number == LAST_ROUND
            if mean > WORSE * error or (round_number > 1 and mean > -self.plan.least) or (last and mean > -error):
                return
            if len(rivals) == 1 and (last or mean < -(BETTER if round_number > 1 else MUCH_BETTER) * error):
                break
        self.best = first.setting
        self.note(dimension, first, True)

    def note(self, dimension, rival, taken):
        if dimension is None:
            return
        tried = self.tried[dimension]
        tried.means[rival.setting[dimension]] = rival.mean(), self.noise() / math.sqrt(len(rival.differences))
        if taken or not tried.taken:
            tried.best = rival.setting[dimension] if taken else min(tried.means, key=tried.means.get)
            tried.change, tried.error = math.expm1(tried.means[tried.best][0]), tried.means[tried.best][1]
        tried.taken |= taken

    def trim(self):
        """Tries the best setting without its value in each dimension, one after the other, and removes values that do not matter."""
        self.trimming = True
        for dimension in self.plan.order:
            if sum(value != 0 for value in self.best) < 2:
                return
            if self.best[dimension] == 0:
                continue
            rivals = [Rival(self.best[:dimension] + (0,) + self.best[dimension + 1:])]
            for _ in range(TRIM_ROUNDS):
                rivals = yield from self.compare(rivals, None)
                if not rivals:
                    break
            if rivals and rivals[0].mean() < self.plan.least:
                self.best = rivals[0].setting

    def confirm(self):
        while len(self.pairs) + self.failed_pairs < self.plan.pairs:
            before, after = yield from self.round([self.default, self.best], 0)
            if before is None or after is None:
                self.failed_pairs += 1
                self.default_failed |= before is None
            else:
                self.pairs.append(after - before)
                self.default_logs.append(before)

    # ---- results ----

    def judge(self):
        best = self.failed_best if self.best == self.default and self.failed_best else self.best
        result = Result(AS_IT_IS, best, len(self.pairs), self.runs)
        result.cut_off = self.cut_off
        if len(self.pairs) > 1:
            count = len(self.pairs)
            mean = sum(self.pairs) / count
            variance = sum((difference - mean) ** 2 for difference in self.pairs) / (count - 1)
            half = float(stdtrit(count - 1, 0.975)) * math.sqrt(variance / count)
            result.gain, result.low, result.high = (-math.expm1(value) for value in (mean, mean + half, mean - half))
            result.default_s = math.exp(sum(self.default_logs) / count)
        if self.default_failed:
            result.verdict = FAILED
        elif best != self.default:
            if self.failed_pairs or self.best == self.default:
                result.verdict = FAILS
            elif len(self.pairs) < self.plan.pairs:
                result.verdict = UNCONFIRMED
            else:
                result.verdict = GAIN if result.low > 0 else NOT_SHOWN
        return result

    def scatter(self):
        """Returns by what part the times of one setting scatter."""
        return math.expm1(self.noise() / math.sqrt(2))
