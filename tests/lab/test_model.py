"""What is learned of made searches: true rules of few inputs are found, chance is not, also where runs are disturbed."""

import unittest

import lab
import numpy
from blame_lab.cases import Case
from blame_lab.model import Model

DEFAULT, OTHER = (0,), (1,)


class Made:
    """Searches of one application: the other setting takes `factor(size)` of the default's time; runs scatter by 2 %, some are doubled."""

    dimensions, values = ["schedule"], [["default", "dynamic,16"]]

    def __init__(self, sizes, factor, seed, runs=5, doubled=0.0):
        chance, self.cases = numpy.random.default_rng(seed), []
        for size in sizes:
            case = Case("app", {"input.size": size})
            for setting, seconds in ((DEFAULT, 1.0), (OTHER, factor(size))):
                for _ in range(runs):
                    case.add(setting, seconds * (1 + 0.02 * chance.standard_normal()) * (2 if chance.random() < doubled else 1), True)
            case.measure()
            self.cases.append(case)
        self.all = self.cases


class Learned(unittest.TestCase):
    def test_a_true_rule_of_six_inputs_is_found(self):
        found = right = 0
        seeds = lab.seeds(60)
        for seed in range(seeds):
            model = Model(Made((1, 2, 3, 10, 11, 12), lambda size: 0.7 if size > 5 else 1.2, seed))
            found += model.better
            right += model.tree.root.choose({"input.size": 20}) == OTHER and model.tree.root.choose({"input.size": 2}) == DEFAULT
        lab.say(f"a rule of six inputs is accepted in {found / seeds:.0%}, and right in {right / seeds:.0%}")
        self.assertGreater(found, 0.95 * seeds)
        self.assertGreater(right, 0.95 * seeds)

    def test_where_nothing_is_faster_it_is_said_in_nearly_all(self):
        seeds = lab.seeds(100)
        for doubled in (0.0, 0.1):
            wrong = sum(Model(Made(range(1, 9), lambda size: 1.0, seed, doubled=doubled)).better for seed in range(seeds))
            lab.say(f"{doubled:.0%} of runs doubled: accepted in {wrong / seeds:.1%} of {seeds} without an effect")
            self.assertLessEqual(wrong, 0.05 * seeds)

    def test_what_has_no_rule_is_refused(self):
        seeds, chance = lab.seeds(60), numpy.random.default_rng(1)
        wrong = 0
        for seed in range(seeds):
            better = dict(zip(range(12), chance.random(12) < 0.3))
            wrong += Model(Made(range(12), lambda size: 0.8 if better[size] else 1.2, seed)).better
        lab.say(f"settings that are faster for inputs without a rule: accepted in {wrong / seeds:.1%}")
        self.assertLessEqual(wrong, 0.1 * seeds)

    def test_a_value_that_is_unknown_gets_what_is_best_for_all(self):
        model = Model(Made(range(1, 13), lambda size: 0.6 if size > 4 else 1.1, 3))
        self.assertEqual(model.tree.root.choose({}), OTHER)
        self.assertEqual(model.tree.root.choose({"input.size": 1}), DEFAULT)

    def test_without_repeated_runs_nothing_is_known_of_chance(self):
        self.assertEqual([case.best() for case in Made((1, 2), lambda size: 0.5, 1, runs=1).cases], [DEFAULT, DEFAULT])

    def test_a_feature_that_few_cases_know_is_left_out_where_none_does(self):
        made = Made(range(1, 13), lambda size: 0.6 if size > 4 else 1.1, 3)
        made.cases[0].facts["build"] = 1.0  # validation leaves this case out of one of its trees
        self.assertTrue(Model(made).better)


if __name__ == "__main__":
    unittest.main()
