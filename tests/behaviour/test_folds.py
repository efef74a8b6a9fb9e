"""Iterations laid over one another: a step of known parts, clocked by itself, so that a machine with other load changes both alike."""

import collections
import csv
import io
import re

from harness import PASSIVE, BlameTest

FAST = PASSIVE | {"OMP_NUM_THREADS": "2", "BLAME_RATE": "1000"}


class Folds(BlameTest):
    def folded(self, profile, view, *options, status=0):
        return self.report(profile.directory, "--view", view, *options, status=status)

    def shares(self, profile):
        """{function: {bin: seconds of work}}"""
        run = self.folded(profile, "folded:step", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual(list(rows[0]), ["bin", "begin", "end", "id", "name", "work", "idleness", "lock_wait"])
        found = collections.defaultdict(dict)
        for row in rows:
            work = found[row["name"].split(" ")[0]]
            work[int(row["bin"])] = work.get(int(row["bin"]), 0) + float(row["work"])
        return found

    def test_functions_run_in_their_parts_of_a_step(self):
        run, profile = self.profile_of("folds", "100", "6000", env=FAST)
        clocked = {name: [float(part) for part in parts] for name, *parts in re.findall(r"(?m)^(\w) (\S+) (\S+) (\S+)$", run.stdout)}
        parts = {"f": (0, clocked["f"][2]), "g": (clocked["f"][1], clocked["g"][2]), "h": (clocked["g"][1], 1)}
        shares = self.shares(profile)
        for name, (begin, end) in parts.items():
            work = shares[name]
            outside = sum(seconds for bin, seconds in work.items() if (bin + 1) / 120 < begin - 0.01 or bin / 120 > end + 0.01)
            self.assertGreater(sum(work.values()), 0, name)
            self.assertLessEqual(outside, 0.02 * sum(work.values()), f"{name} {begin} {end} {work}")

    def test_the_view_counts_instances_and_names_what_there_is(self):
        _, profile = self.profile_of("folds", "100", "6000", env=FAST)
        run = self.folded(profile, "folded:step", "--width", "200")
        usual = int(re.search(r"step: (\d+) instances", run.stdout)[1])
        outliers = re.search(r"outliers: (\d+) that", run.stdout)
        self.assertEqual(usual + int(outliers[1] if outliers else 0), 100, run)
        self.assertRegex(run.stdout, r"(?s)\bf  folds\.c:.*\bg  folds\.c:.*\bh  folds\.c:")
        self.folded(profile, "outliers:step")
        run = self.folded(profile, "folded:stop", status=1)
        self.assertRegex(run.stderr, r"^blame report: --view folded:stop: .* no numbered phase of that name that was folded; accepted are: step\n$")
        run = self.folded(profile, "folded:", status=2)
