"""Fits how a quantity grows with the number of threads (or whatever else differs between the runs): f(p) = a + b p^i log2(p)^j. This is the one-term
normal form of Calotoiu, Hoefler, Poke and Wolf (SC 2013), which Extra-P searches. The result says not only which (i, j) fits best, but which ones the
data allow."""

import numpy
from scipy.special import stdtrit

EXPONENTS = ((0, ""), (1 / 4, "^(1/4)"), (1 / 3, "^(1/3)"), (1 / 2, "^(1/2)"), (2 / 3, "^(2/3)"), (3 / 4, "^(3/4)"), (1, ""), (3 / 2, "^(3/2)"), (2, "^2"), (3, "^3"))
LOGARITHMS = ("", " log ", " log^2 ")
TRIALS = 2000      # simulated quantities that do not grow
ONE_OF = 20
SMALL = 0.1        # of the mean; smaller values are taken to scatter like this one
LEVEL = 0.975      # of intervals and of the test between forms; the choice among forms uses up the rest of 95 % (docs/lab.md)
ROUNDING = 1e-12


def terms(p):
    """Returns the term of each form (rows; the constant first, as 0) at each p."""
    p = numpy.asarray(p, dtype=float)
    logarithm = numpy.log2(p)
    found = numpy.array([p ** power * logarithm ** j for power, _ in EXPONENTS for j in range(len(LOGARITHMS))])
    found[0] = 0
    return found


class Fit:
    """`form`: 0 for a constant, or if the data do not show growth. `a`, `b`: its coefficients. `allowed`: number of forms that fit about as well as
    the best. `at`: the value at the requested p. `low`, `high`: limits of that value over the allowed forms and the intervals of their means. `few`:
    there are only three values, which one of the many forms always fits."""

    def __init__(self, form=0, a=0.0, b=0.0, allowed=0, at=0.0, low=0.0, high=0.0, few=False):
        self.form, self.a, self.b, self.allowed, self.at, self.low, self.high, self.few = form, a, b, allowed, at, low, high, few

    def tells(self):
        """Returns whether the forecast is useful. If the limits are a factor of 2 apart, other forms fit as well."""
        return not self.few and self.high <= 2 * max(self.low, 0)

    def text(self, p="p"):
        power, logarithm = divmod(self.form, len(LOGARITHMS))
        if not self.form:
            return f"{self.a:.3g}"
        sign, text = "-" if self.b < 0 else "+", f"{abs(self.b):.3g}"
        return f"{self.a:.3g} {sign} {text}{' ' + p if power else ''}{EXPONENTS[power][1]}{LOGARITHMS[logarithm]}{p if logarithm else ''}"


class Design:
    """What a fit needs that depends only on the p (at least three different ones) and not on the values. It is computed once."""

    def __init__(self, p, at):
        self.p, self.at = numpy.asarray(p, dtype=float), at
        self.term, self.term_at = terms(self.p), terms([at])[:, 0]
        self.freedom = max(len(self.p) - 3, 1)  # for a, b and the choice among forms, which also counts as a parameter
        noise = numpy.random.default_rng(1).standard_normal((TRIALS, len(self.p)))
        explained = numpy.sort([self.explained(value, numpy.ones_like(value)).max() / ((value - value.mean()) ** 2).sum() for value in noise])
        # share of the squares that the best form explains in one of twenty quantities that do not grow
        self.chance = explained[TRIALS - TRIALS // ONE_OF]

    def lines(self, value, weight):
        """Fits a weighted line through the values over each form's term. Returns slope, mean of the term, squares of the term, and explained
        squares."""
        weights = weight.sum()
        mean = (weight * value).sum() / weights
        term_mean = self.term @ weight / weights
        away = self.term - term_mean[:, None]
        squares = away ** 2 @ weight
        product = away @ (weight * (value - mean))
        slope = numpy.divide(product, squares, out=numpy.zeros_like(product), where=squares > 0)
        return slope, term_mean, squares, slope * product

    def explained(self, value, weight):
        return self.lines(value, weight)[3]

    def fit(self, value):
        """Fits the values: one at each p, the median of its runs."""
        value = numpy.asarray(value, dtype=float)
        size = numpy.abs(value).mean()
        # runs scatter in proportion to their value
        weight = (size / numpy.maximum(numpy.abs(value), SMALL * size)) ** 2 if size > 0 else numpy.ones_like(value)
        weights = weight.sum()
        mean = (weight * value).sum() / weights
        squares = (weight * (value - mean) ** 2).sum()
        slope, term_mean, term_squares, explained = self.lines(value, weight)
        least = ROUNDING * (squares + mean * mean)
        best = int(numpy.argmax(explained))
        form = best if squares > least and explained[best] / squares > self.chance else 0
        rest = numpy.maximum(squares - explained, least)
        t = stdtrit(self.freedom, (1 + LEVEL) / 2)
        allowed = (rest <= rest[best] * (1 + t * t / self.freedom)) & (term_squares > 0)  # F test, as between a form and one with one more parameter
        allowed[0] = rest[0] <= rest[best] * (1 + t * t / self.freedom)
        allowed[form] = True
        freedom = numpy.full(len(rest), self.freedom)
        freedom[0] = len(self.p) - 1
        away = numpy.where(term_squares > 0, self.term_at - term_mean, 0)
        spread = 1 / weights + numpy.divide(away ** 2, term_squares, out=numpy.zeros_like(away), where=term_squares > 0)
        half = stdtrit(freedom, (1 + LEVEL) / 2) * numpy.sqrt(rest / freedom * spread)
        at = mean + slope * away
        return Fit(form, float(mean - slope[form] * term_mean[form]), float(slope[form]), int(allowed.sum()), float(at[form]), float((at - half)[allowed].min()),
                   float((at + half)[allowed].max()), len(self.p) == 3)
