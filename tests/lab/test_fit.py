"""Growth by made values: forms are found again, what does not grow is told so, limits hold also with repeated runs and outside the family of forms."""

import unittest

import lab
import numpy
from blame_lab.fit import Design

P, NEXT, SETS, NOISE = numpy.array([1.0, 2, 4, 8, 16, 32]), 64, lab.seeds(400), 0.02
FAMILY = {"p^(1/2)": lambda p: 5 + p ** 0.5, "p": lambda p: 5 + p, "p^(3/2)": lambda p: 5 + p ** 1.5}
OUTSIDE = {"p and p^2": lambda p: 5 + 0.5 * p + 0.01 * p * p, "p and a little p^2": lambda p: 10 + p + 0.02 * p * p}


class Fit(unittest.TestCase):
    design = Design(P, NEXT)

    def test_values_on_a_curve_have_its_form(self):
        for power, logarithm, said in ((0, 0, "2"), (1, 0, "2 + 0.5 p"), (0.5, 1, "2 + 0.5 p^(1/2) log p"), (2, 0, "2 + 0.5 p^2"), (0, 2, "2 + 0.5 log^2 p")):
            def curve(p, power=power, logarithm=logarithm, said=said):
                return 2 + (0 if said == "2" else 0.5) * p ** power * numpy.log2(p) ** logarithm
            fit = self.design.fit(curve(P))
            self.assertEqual(fit.text(), said)
            self.assertAlmostEqual(fit.at, curve(float(NEXT)), delta=1e-6 * curve(float(NEXT)))
            self.assertTrue(fit.low <= fit.at <= fit.high)
        self.assertEqual(self.design.fit(40 - P).text("n"), "40 - 1 n")

    def test_what_does_not_grow_grows_in_one_of_twenty(self):
        chance = numpy.random.default_rng(7)
        for runs in (1, 3):
            grows = sum(self.design.fit(self.medians(lambda p: numpy.full_like(p, 10.0), runs, chance)).form != 0 for _ in range(SETS)) / SETS
            lab.say(f"{runs} runs a number: {grows:.1%} of {SETS} quantities that do not grow are said to")
            self.assertLessEqual(grows, 0.05 + 3 * (0.05 * 0.95 / SETS) ** 0.5)

    @staticmethod
    def medians(curve, runs, chance):
        return numpy.median(curve(P) * (1 + NOISE * chance.standard_normal((runs, len(P)))), axis=0)

    def held(self, curve, runs):
        chance, true = numpy.random.default_rng(3), curve(float(NEXT))
        return sum(fit.low <= true <= fit.high for fit in (self.design.fit(self.medians(curve, runs, chance)) for _ in range(SETS))) / SETS

    def test_limits_hold_what_comes(self):
        """95 to 99 % are meant. Which form it is the data need not tell; the limits must have it then."""
        for runs in (1, 3, 5):
            for name, curve in {**FAMILY, **OUTSIDE}.items():
                held = self.held(curve, runs)
                lab.say(f"{runs} runs a number, {name}: {held:.1%} of {SETS} within the limits")
                self.assertGreaterEqual(held, 0.95 - 3 * (0.05 * 0.95 / SETS) ** 0.5, (runs, name))

    def test_three_numbers_foretell_nothing(self):
        self.assertFalse(Design(P[:3], 8).fit(5 + P[:3]).tells())
        self.assertTrue(Design(P[:4], 16).fit(5 + P[:4]).tells())

    def test_limits_are_of_use(self):
        chance = numpy.random.default_rng(5)
        told = sum(self.design.fit(self.medians(FAMILY["p"], 3, chance)).tells() for _ in range(100))
        self.assertGreater(told, 90)


if __name__ == "__main__":
    unittest.main()
