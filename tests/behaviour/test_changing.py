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
STEPS, NTH = 64, 8


class Changing(BlameTest):
    alone = True

    def findings(self, how):
        """The profile's directory, its findings, and whether threads came late out of their sleeps: then the run is not what the program is."""
        run = self.attached([program("changing"), how], {"BLAME_RATE": "1000"}, "launcher")
        self.assertEqual(run.status, 0, run)
        directory = os.path.join(run.folder, "profile")
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            wall_s = json.load(file)["wall_s"]
        shown = self.plain([BLAME, "report", directory, "--view", "findings", "--format", "csv"])
        rows = list(csv.DictReader(io.StringIO(shown.stdout)))
        late = wall_s > LONGEST_S or self.without_cores(rows) or any(row["rule"] == "nobody-busy" for row in rows)
        return directory, rows, late

    def finding(self, how, rule, metric, title, place):
        """The profile's directory, and the groups of the title; None, and that threads were late."""
        directory, rows, late = self.findings(how)
        found = [re.fullmatch(title, row["title"]) for row in rows
                 if (row["rule"], row["metric"]) == (rule, metric) and row["place"].startswith(place)]
        groups = [float(number) for number in found[0].groups()] if found and found[0] else None
        self.assertTrue(groups or late, rows)
        return directory, groups, late

    def phases(self, directory):
        with open(os.path.join(directory, "phases.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_change_is_found_with_its_time_and_its_culprit(self):
        title = r"idleness is (\d+) % of the effort until ([\d.]+) s, and (\d+) % later, when refine begins to dominate"
        directory, groups, late = self.finding("refines", "changes", "idleness", title, "refine  changing.c:")
        changed_s, = (float(row["begin"]) for row in self.phases(directory) if row["phase"] == "changed")
        if not late:
            before, at_s, after = groups
            self.assertLess(abs(at_s - changed_s), 2 * BIN_S)
            self.assertTrue(before < 12 and 28 < after < 50, (before, after))

    def test_every_nth_step_is_found_with_what_runs_in_it(self):
        title = rf"every {NTH}th step takes ([\d.]+) times as long"
        directory, groups, late = self.finding("checkpoints", "periodic", "effort", title, "checkpoint  changing.c:")
        self.assertEqual(len([row for row in self.phases(directory) if row["phase"] == "step"]), STEPS)
        self.assertTrue(late or 2 <= groups[0] < 4, groups)

    def test_a_steady_program_does_not_change(self):
        _, rows, late = self.findings("steady")
        changes = [row["title"] for row in rows if (row["rule"], row["metric"]) == ("changes", "idleness")]
        self.assertTrue(late or not changes, changes)
