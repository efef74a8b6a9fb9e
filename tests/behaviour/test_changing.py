"""Findings that know of time, in a real program that changes at a known time, and one whose every eighth step is longer
(tests/programs/changing.c). How often they speak where nothing changes: tests/unit/test_findings_alarms.c."""

import csv
import io
import json
import os
import re

from harness import BLAME, BlameTest, program

BIN_S = 0.0168  # of a run that is not longer than two seconds
LONGEST_S = 1.3  # of a run whose sleeps end when they should


class Changing(BlameTest):
    alone = True

    def findings(self, how):
        """The profile's directory, and its findings."""
        run = self.attached([program("changing"), how], {"BLAME_RATE": "1000"}, "launcher")
        self.assertEqual(run.status, 0, run)
        directory = os.path.join(run.folder, "profile")
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            wall_s = json.load(file)["wall_s"]
        if wall_s > LONGEST_S:
            self.skipTest(f"the machine was late: {wall_s:.2f} s")
        shown = self.plain([BLAME, "report", directory, "--view", "findings", "--format", "csv"])
        return directory, list(csv.DictReader(io.StringIO(shown.stdout)))

    def finding(self, how, rule, metric, title, place):
        """The profile's directory, and the groups of the title."""
        directory, rows = self.findings(how)
        found = [re.fullmatch(title, row["title"]) for row in rows
                 if (row["rule"], row["metric"]) == (rule, metric) and row["place"].startswith(place)]
        if found[:1] in ([], [None]):
            self.skip_without_cores(rows)
            if any(row["rule"] == "nobody-busy" for row in rows):
                self.skipTest("threads had no core to see the end of their waits with")
            self.fail(rows)
        return directory, rows, [float(number) for number in found[0].groups()]

    def test_a_change_is_found_with_its_time_and_its_culprit(self):
        title = r"idleness is (\d+) % until ([\d.]+) s, (\d+) % after, when refine begins to dominate"
        directory, rows, (before, at_s, after) = self.finding("refines", "changes", "idleness", title, "refine  changing.c:")
        with open(os.path.join(directory, "phases.csv"), encoding="utf-8") as file:
            changed_s, = (float(row["begin"]) for row in csv.DictReader(file) if row["phase"] == "changed")
        self.assertLess(abs(at_s - changed_s), 2 * BIN_S)
        as_made = before < 12 and 28 < after < 50
        if not as_made:
            self.skip_without_cores(rows)
        self.assertTrue(as_made, (before, after))

    def test_every_nth_step_is_found_with_what_runs_in_it(self):
        _, _, (times,) = self.finding("checkpoints", "periodic", "effort", r"every 8th step is ([\d.]+) times as long", "checkpoint  changing.c:")
        self.assertTrue(2 <= times < 4, times)

    def test_a_steady_program_does_not_change(self):
        _, rows = self.findings("steady")
        self.assertEqual([row["title"] for row in rows if (row["rule"], row["metric"]) == ("changes", "idleness")], [])
