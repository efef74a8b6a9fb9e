"""A decision tree that chooses a setting by an input's features, learned from cases, and an estimate of how well such a tree does on new inputs.
There is one scikit-learn tree for all settings: for each input it predicts the logarithm of each setting's time divided by the default's (least
squares). A node's setting is the one with the smallest mean, if this mean is below the default's beyond chance."""

import math

import numpy
from sklearn.tree import DecisionTreeRegressor

from .cases import BEYOND_CHANCE

LEAST_LEAF, FOLDS, LEAST_GROUPS = 2, 10, 3
ACCEPTED = 3.0     # standard errors of the runs' scatter
FASTER = 0.75      # part of the left-out inputs with a changed setting that must be faster


class Feature:
    """`words` is None for a feature that is a number in all cases."""

    def __init__(self, name, values):
        self.name = name
        numbers = all(isinstance(value, (int, float)) for value in values)
        self.words = None if numbers else sorted({str(value) for value in values})

    def known(self, facts):
        return self.name in facts and (self.words is not None or isinstance(facts[self.name], (int, float)))


class Node:
    """`setting` is for inputs about which nothing more is known. A leaf has no `feature`. For a number, `word` is None and the branch `below` has the
    values up to `threshold`. For a word, `below` has all other words. `count` is the number of cases, and `wrong` the number of cases that have
    another best setting."""

    def __init__(self, setting, count):
        self.setting, self.count, self.wrong = setting, count, {}
        self.feature = self.word = self.threshold = self.below = self.above = None

    def branch(self, facts):
        """Returns the next node for these facts, or None if the feature is unknown."""
        if self.feature is None or not self.feature.known(facts):
            return None
        value = facts[self.feature.name]
        above = str(value) == self.word if self.word is not None else value > self.threshold
        return self.above if above else self.below

    def choose(self, facts):
        below = self.branch(facts)
        return self.setting if below is None else below.choose(facts)


class Tree:
    """`cases` are used for learning. `settings` are all that were ever tried, the default first."""

    def __init__(self, cases, features):
        self.cases = cases
        self.features = features = [feature for feature in features if any(feature.known(case.facts) for case in cases)]
        self.settings = sorted({setting for case in cases for setting in case.runs})
        self.gains = numpy.array([[case.gain(setting) for setting in self.settings] for case in cases])  # [case, setting, (gain, variance)]
        self.columns = [(feature, word) for feature in features for word in (feature.words or [None])]
        self.root = self.node(numpy.arange(len(cases)))
        if len(cases) >= 2 * LEAST_LEAF and self.columns:
            tree = DecisionTreeRegressor(min_samples_leaf=LEAST_LEAF, random_state=0).fit(self.table(), self.gains[:, :, 0]).tree_
            self.root = merged(self.grown(tree, 0, numpy.arange(len(cases))))

    def table(self):
        """Returns the features as columns: one for each number, and one for each word that says whether a case has it. An unknown value is replaced
        by the median."""
        columns = []
        for feature, word in self.columns:
            values = numpy.array([numpy.nan if not feature.known(case.facts) else float(case.facts[feature.name]) if word is None else str(case.facts[feature.name]) == word
                                  for case in self.cases])
            columns.append(numpy.where(numpy.isnan(values), numpy.nanmedian(values), values))
        return numpy.array(columns).T

    def node(self, members):
        gain, variance = self.gains[members, :, 0].mean(axis=0), self.gains[members, :, 1].sum(axis=0) / len(members) ** 2
        best = int(numpy.argmax(gain))
        chosen = self.settings[best] if gain[best] > BEYOND_CHANCE * math.sqrt(variance[best]) else self.settings[0]
        return Node(self.simplest(chosen, members), len(members))

    def simplest(self, setting, members):
        """Sets each value that does not matter beyond chance back to its default, if the setting without it was tried."""
        for i, value in enumerate(setting):
            without = setting[:i] + (0,) + setting[i + 1:]
            if value and without in self.settings:
                one, other = self.settings.index(setting), self.settings.index(without)
                more = (self.gains[members, one, 0] - self.gains[members, other, 0]).mean()
                error = math.sqrt((self.gains[members, one, 1] + self.gains[members, other, 1]).sum()) / len(members)
                if more <= BEYOND_CHANCE * error:
                    setting = without
        return setting

    def grown(self, tree, at, members):
        node = self.node(members)
        if tree.children_left[at] < 0:
            return node
        column = tree.feature[at]
        node.feature, node.word = self.columns[column]
        node.threshold = float(tree.threshold[at])
        left = self.table()[members, column] <= node.threshold
        node.below, node.above = self.grown(tree, tree.children_left[at], members[left]), self.grown(tree, tree.children_right[at], members[~left])
        return node


def merged(node):
    """Merges branches that choose the same setting into one leaf."""
    if node.feature is None:
        return node
    node.below, node.above = merged(node.below), merged(node.above)
    if node.below.feature is None and node.above.feature is None and node.below.setting == node.above.setting:
        return Node(node.below.setting, node.count)
    return node


class Model:
    """`of`: the cases (cases.Cases). `early`: time shares of a first profile are features, too. `better`: on left-out cases, the model is better than
    the default beyond chance."""

    def __init__(self, of, early=False):
        self.of, self.cases = of, of.cases
        names = sorted({name for case in self.cases for name in case.facts if early or not name.startswith("share.")})
        self.features = [Feature(name, [case.facts[name] for case in self.cases if name in case.facts]) for name in names]
        self.tree = Tree(self.cases, self.features) if self.cases else None
        for case in self.cases:
            count_wrong(self.tree.root, case.facts, case.best())
        self.validate()

    def groups(self):
        """Returns the number of each case's group, and the number of groups. The cases of a group are left out together. A group is an application
        if there are several applications, otherwise an input."""
        self.by_application = len({case.application for case in self.cases}) > 1
        keys = [case.application if self.by_application else tuple((feature.name, case.facts.get(feature.name)) for feature in self.features
                                                                    if not feature.name.startswith("share.")) for case in self.cases]
        order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return [order[key] for key in keys], len(order)

    def validate(self):
        group, self.group_count = self.groups()
        self.folds = self.group_count if self.by_application else min(FOLDS, self.group_count)
        self.wrong, self.usual_wrong = [0] * len(self.of.dimensions), [0] * len(self.of.dimensions)
        self.untried, lost, usual_lost, gains, variances = 0, [], [], [], []
        for fold in range(self.folds if self.group_count > 1 else 0):
            rest = [case for case, number in zip(self.cases, group) if number % self.folds != fold]
            tree = Tree(rest, self.features)
            for case, number in zip(self.cases, group):
                if number % self.folds == fold:
                    chosen, best = tree.root.choose(case.facts), case.best()
                    self.wrong = [wrong + (a != b) for wrong, a, b in zip(self.wrong, chosen, best)]
                    self.usual_wrong = [wrong + (b != 0) for wrong, b in zip(self.usual_wrong, best)]
                    self.untried += chosen not in case.runs
                    lost.append(100 * (case.seconds[case.alike(chosen)] / case.seconds[best] - 1))
                    usual_lost.append(100 * (case.seconds[case.default] / case.seconds[best] - 1))
                    gain, variance = case.gain(chosen)
                    gains.append(gain)
                    variances.append(variance)
        count = max(len(gains), 1)
        self.lost, self.usual_lost = sum(lost) / count, sum(usual_lost) / count
        gain, error = sum(gains) / count, math.sqrt(sum(variances)) / count
        self.gain, self.low, self.high = (100 * -math.expm1(-value) for value in (gain, gain - 1.96 * error, gain + 1.96 * error))
        changed = [value for value in gains if value]
        self.better = (self.group_count >= LEAST_GROUPS and gain > ACCEPTED * error and bool(changed)
                       and sum(value > 0 for value in changed) >= FASTER * len(changed))

    def refusal(self):
        if not self.cases:
            return "no search tried the default"
        if self.group_count < LEAST_GROUPS:
            return f"searches with at least {LEAST_GROUPS} different inputs are needed to test whether it is better than the default"
        return None if self.better else "on inputs that were left out, it is not significantly better than the default"


def count_wrong(node, facts, best):
    for i, value in enumerate(best):
        node.wrong[i] = node.wrong.get(i, 0) + (node.setting[i] != value)
    below = node.branch(facts)
    if below is not None:
        count_wrong(below, facts, best)
