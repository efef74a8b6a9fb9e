"""Findings that know of time, in a real program that changes at a known time, and one whose every eighth step is longer
(tests/programs/changing.c). How often they speak where nothing changes: tests/unit/test_findings_alarms.c."""

import csv
import io
import os
import re

from harness import BLAME, BlameTest, program

BIN_S = 0.0168  # of a run that is not longer than two seconds
LATE_S = 0.1    # threads that were late for longer make another program of it, in which nothing has to be found
STEPS, NTH = 64, 8


class Changing(BlameTest):
    alone = True

    def findings(self, how):
        """The profile's directory, its findings, and how late the threads were in each step: its begin after the change, and seconds."""
        run = self.attached([program("changing"), how], {"BLAME_RATE": "1000"}, "launcher")
        self.assertEqual(run.status, 0, run)
        directory = os.path.join(run.folder, "profile")
        shown = self.plain([BLAME, "report", directory, "--view", "findings", "--format", "csv"])
        steps = [tuple(map(float, line.split()[1:])) for line in run.stdout.splitlines()]
        self.assertGreaterEqual(len(steps), STEPS / 2, run)
        return directory, list(csv.DictReader(io.StringIO(shown.stdout))), steps

    def finding(self, how, rule, metric, title, place):
        """The profile's directory, the groups of the title, and the steps; no groups, and threads were late."""
        directory, rows, steps = self.findings(how)
        found = [re.fullmatch(title, row["title"]) for row in rows
                 if (row["rule"], row["metric"]) == (rule, metric) and row["place"].startswith(place)]
        groups = [float(number) for number in found[0].groups()] if found and found[0] else None
        self.assertTrue(groups or self.late(steps), rows)
        return directory, groups, steps

    @staticmethod
    def late(steps):
        return sum(late_s for _, late_s in steps) > LATE_S

    def phases(self, directory):
        with open(os.path.join(directory, "phases.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_change_is_found_with_its_time_and_its_culprit(self):
        title = r"idleness is (\d+) % of the effort until ([\d.]+) s, and (\d+) % later, when refine begins to dominate"
        directory, groups, steps = self.finding("refines", "changes", "idleness", title, "refine  changing.c:")
        changed_s, = (float(row["begin"]) for row in self.phases(directory) if row["phase"] == "changed")
        if not self.late(steps):
            before, at_s, after = groups
            off_s = at_s - changed_s
            # What lies between the two times looks as if it were on the other side: three eighths of two threads' time are idle on
            # one side, and threads that are late for half of that, or more, show as the other side.
            between_s = sum(late_s for begin, late_s in steps if begin + late_s >= min(0, off_s) - BIN_S and begin <= max(0, off_s) + BIN_S)
            self.assertLess(abs(off_s), 2 * BIN_S + 3 * between_s, steps)
            self.assertTrue(before < 12 and 28 < after < 50, (before, after))

    def test_every_nth_step_is_found_with_what_runs_in_it(self):
        title = rf"every {NTH}th step takes ([\d.]+) times as long"
        directory, groups, steps = self.finding("checkpoints", "periodic", "effort", title, "checkpoint  changing.c:")
        self.assertEqual(len([row for row in self.phases(directory) if row["phase"] == "step"]), STEPS)
        self.assertTrue(self.late(steps) or 2 <= groups[0] < 4, groups)

    def test_a_steady_program_does_not_change(self):
        _, rows, steps = self.findings("steady")
        changes = [row["title"] for row in rows if (row["rule"], row["metric"]) == ("changes", "idleness")]
        self.assertTrue(self.late(steps) or not changes, (changes, steps))
