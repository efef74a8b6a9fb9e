"""blame fold: a step of known parts, clocked by itself, so that a machine with other load changes both alike."""

import collections
import csv
import io
import re

from harness import BLAME, PASSIVE, BlameTest, clean_environment, execute

FAST = PASSIVE | {"OMP_NUM_THREADS": "2", "BLAME_RATE": "1000"}


class Fold(BlameTest):
    def fold(self, *arguments, status=0):
        run = execute([BLAME, "fold", *arguments], clean_environment(), self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def traced(self):
        return self.profile_of("folds", "100", "6000", env=FAST, how="launcher", options=("--trace",))

    def test_functions_run_in_their_parts_of_a_step(self):
        run, profile = self.traced()
        clocked = {name: [float(part) for part in parts] for name, *parts in re.findall(r"(?m)^(\w) (\S+) (\S+) (\S+)$", run.stdout)}
        parts = {"f": (0, clocked["f"][2]), "g": (clocked["f"][1], clocked["g"][2]), "h": (clocked["g"][1], 1)}
        work = collections.defaultdict(lambda: [0.0] * 120)
        rows = list(csv.DictReader(io.StringIO(self.fold(profile.directory, "--format", "csv").stdout)))
        self.assertEqual(list(rows[0])[:8], ["bin", "begin", "end", "id", "name", "work", "idleness", "lock_wait"])
        for row in rows:
            work[row["name"].split(" ")[0]][int(row["bin"])] += sum(float(row[state]) for state in ("work", "no_core", "overhead"))
        for name, (begin, end) in parts.items():
            outside = sum(seconds for bin, seconds in enumerate(work[name]) if (bin + 1) / 120 < begin - 0.01 or bin / 120 > end + 0.01)
            self.assertGreater(sum(work[name]), 0, name)
            self.assertLessEqual(outside, 0.02 * sum(work[name]), f"{name} {begin} {end} {work[name]}")

    def test_it_counts_executions_and_says_what_is_not_there(self):
        _, profile = self.traced()
        said = " ".join(self.fold(profile.directory).stdout.split())
        kept, apart = re.search(r"^step: (\d+) executions", said), re.search(r"Excluded: (\d+) of unusual", said)
        self.assertEqual(int(kept[1]) + int(apart[1] if apart else 0), 100, said)
        self.assertRegex(said, r"\bf \[parallel folds.c:20\]  ?folds\.c .*\bh \[parallel folds.c:33\]  ?folds\.c ")
        self.assertIn("expected one of step\n", self.fold(profile.directory, "--phase", "stop", status=2).stderr)
        for view in ("folded", "outliers"):
            run = execute([BLAME, "report", "--view", f"{view}:step", profile.directory], clean_environment(), self.new_folder())
            self.assertEqual((run.status, run.stderr), (2, f"blame report: --view {view}: this is no view; use blame fold, on a run with --trace\n"))
        self.assertTrue(self.fold(profile.directory, "--format", "svg").stdout.startswith("<svg "))
        _, without = self.profile_of("folds", "100", "6000", env=FAST)
        self.assertEqual(self.fold(without.directory, status=1).stderr, f"blame fold: {without.directory}: made without --trace: run again with blame run --trace\n")
