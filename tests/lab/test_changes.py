"""Changes of made histories: none where there is none, found where they are."""

import unittest

import lab
import numpy
from blame_lab import changes

SEEDS, REVISIONS, RUNS = lab.seeds(200), 12, 4
NUMBERS = [number for number in range(REVISIONS) for _ in range(RUNS)]


def find(seed, level):
    """Runs scatter by 1 %; one of ten is disturbed by up to 20 %."""
    chance = numpy.random.default_rng(seed)
    scatter = 1 + 0.01 * chance.standard_normal(len(NUMBERS)) + (chance.random(len(NUMBERS)) < 0.1) * 0.2 * chance.random(len(NUMBERS))
    return changes.find(numpy.repeat(level, RUNS) * scatter, NUMBERS, 0.01)


class Changes(unittest.TestCase):
    def test_without_a_change_one_of_twenty_histories_has_one(self):
        alarms = sum(bool(find(seed, numpy.full(REVISIONS, 3.0))) for seed in range(2 * SEEDS)) / (2 * SEEDS)
        lab.say(f"{alarms:.1%} of {2 * SEEDS} histories without a change have one")
        self.assertLessEqual(alarms, changes.LEVEL + 3 * (0.05 * 0.95 / (2 * SEEDS)) ** 0.5)

    def test_a_step_is_found_at_its_revision(self):
        for step in (0.02, 0.05, -0.05):
            level = numpy.where(numpy.arange(REVISIONS) < 7, 3, 3 * (1 + step))
            found = [find(seed, level) for seed in range(SEEDS)]
            there = [change for one in found for change in one if change.at == 7]
            within = sum(change.low <= step <= change.high for change in there)
            lab.say(f"a step of {step:+.0%}: found in {sum(map(bool, found)) / SEEDS:.1%}, at its revision in {len(there) / SEEDS:.1%}, its size within the bounds in"
                    f" {within / len(there):.1%} of these")
            self.assertTrue(all(change.low <= change.high and change.chance <= changes.LEVEL for change in there))
            if abs(step) >= 0.05:
                self.assertTrue(sum(map(bool, found)) >= 0.95 * SEEDS and len(there) > 0.9 * SEEDS and within > 0.8 * len(there), step)

    def test_two_steps_are_two(self):
        level = numpy.repeat([1.0, 1.2, 1.0], REVISIONS // 3)
        both = sum([change.at for change in find(seed, level)] == [4, 8] for seed in range(SEEDS))
        self.assertGreater(both, 0.8 * SEEDS)

    def test_few_runs_tell_nothing(self):
        for values, revisions, found in (([1], [0], 0), ([], [], 0), ([1, 2], [0, 1], 0), ([1, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1], 0),
                                         ([1, 1.1, 1.2, 1.3, 2, 2, 2.1, 2.2], [0, 0, 0, 0, 1, 1, 1, 1], 1), ([5] * 6, range(6), 0)):
            self.assertEqual([change.at for change in changes.find(values, revisions, 0.01)], [1] * found, values)

    def test_bounds_are_those_of_mann_and_whitney(self):
        self.assertEqual([changes.rank_of_bound(n, m) for n, m in ((2, 2), (3, 3), (4, 4), (5, 5), (0, 9))], [0, 1, 2, 5, 0])  # tables of U, one side, 5 %
        self.assertAlmostEqual(changes.rank_of_bound(70, 70), 2057, delta=5)


if __name__ == "__main__":
    unittest.main()
