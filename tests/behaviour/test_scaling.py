"""`blame scaling`: what keeps a program from scaling, by runs of it with more and more threads (tests/programs/scales.c)."""

import csv
import io
import os
import re
import shutil

from harness import BLAME, PASSIVE, BlameTest, clean_environment, execute

PARTS = ("work", "idleness", "overhead", "lock-wait", "no-core", "blocked", "mpi-wait")
ROUNDING = 1e-4
ALONE_S = 0.2  # set_up()'s


class Scaling(BlameTest):
    pace = 1

    def folder_of(self, numbers):
        """A folder of runs with so many threads each."""
        folder = self.new_folder()
        for number in numbers:
            _, profile = self.profile_of("scales", env=PASSIVE | {"OMP_NUM_THREADS": str(number)})
            shutil.copytree(profile.directory, os.path.join(folder, f"run-{number}"))
        return folder

    def scaling(self, *arguments, status=0):
        run = execute([BLAME, "scaling", *arguments], clean_environment() | {"COLUMNS": "180"}, self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def test_what_is_lost_is_told_whole_by_contexts(self):
        folder = self.folder_of((1, 2, 3))
        lines = list(csv.DictReader(io.StringIO(self.scaling(folder, "--format", "csv").stdout)))
        for number in ("1", "2", "3"):
            whole, = (line for line in lines if line["kind"] == "whole" and line["threads"] == number)
            rows = [line for line in lines if line["kind"] != "whole" and line["threads"] == number]
            for key in ("lost", *PARTS):
                self.assertAlmostEqual(sum(float(row[key]) for row in rows), float(whole[key]), delta=ROUNDING, msg=(number, key))
            self.assertEqual(whole["runs"], "1")
        self.assertTrue(all(float(line["lost"]) == 0 for line in lines if line["threads"] == "1"))

    def test_the_code_that_one_thread_does_alone_costs_the_others_idleness(self):
        folder = self.folder_of((1, 2, 3))
        lines = list(csv.DictReader(io.StringIO(self.scaling(folder, "--view", "flat", "--format", "csv").stdout)))
        for number in (1, 2, 3):
            idleness = sum(float(line["idleness"]) for line in lines if line["kind"] != "whole" and line["threads"] == str(number))
            if number == 1:
                self.assertLess(idleness, ALONE_S / 10)
            else:
                self.assertGreater(idleness, (number - 1) * ALONE_S / 2)
        said = self.scaling(folder).stdout
        self.assertRegex(said, r"(?m)^ threads +runs +wall +speed-up +efficiency +thread time +work +idleness")
        self.assertRegex(said, r"(?m)^ +lost +from +most of it +s at 1 +at 3 +grows as +at 6")
        self.assertIn("set_up", said)
        last = [line for line in lines if line["threads"] == "3"]
        lost = sum(float(line[part]) for line in last if line["name"] == "<no core>" for part in PARTS)
        share = 100 * lost / sum(float(line[part]) for line in last if line["kind"] == "whole" for part in PARTS)
        words = re.search(r"or waited for threads without one, for (\S+) % of", " ".join(said.split()))
        self.assertAlmostEqual(float(words.group(1)) if words else 0, share, delta=0.1 if words else 5)
        self.assertIn("Models based on fewer than five different numbers are guesses", " ".join(said.split()))

    def test_the_page_has_every_point_and_needs_nothing_else(self):
        folder = self.folder_of((1, 2, 3))
        page = self.scaling(folder, "--format", "html").stdout
        self.assertEqual(page.count("<circle"), 2 * 3)
        for number in (1, 2, 3):
            self.assertIn(f">{number}</text>", page)
        self.assertIn("set_up", page)
        self.assertEqual(re.findall(r"(?:https?:|src=|href=|<script|(?<!\w)(?:nan|inf)(?!\w))", page), [])
        rows = [row for row in csv.DictReader(io.StringIO(self.scaling(folder, "--format", "csv").stdout)) if row["kind"] == "whole"]
        points = dict(re.findall(r"<title>(\d+) threads: ([\d.]+)</title>", page))
        self.assertEqual(sorted(points), sorted(row["threads"] for row in rows))
        for row in rows:  # each is rounded once, to its own place
            self.assertAlmostEqual(float(points[row["threads"]]), float(row["speed-up"]), delta=0.0056, msg=row)

    def test_runs_of_a_database_are_those_of_their_directories(self):
        folder = self.folder_of((1, 2))
        database = os.path.join(folder, "trials.db")
        run = execute([BLAME, "db", "add", f"{folder}/run-1", f"{folder}/run-2", "--db", database], clean_environment(), self.new_folder())
        self.assertEqual(run.status, 0, run)
        self.assertEqual(self.scaling("--where", "threads > 0", "--db", database, "--format", "csv").stdout,
                         self.scaling(f"{folder}/run-1", f"{folder}/run-2", "--format", "csv").stdout)
        self.assertIn("no trial matches", self.scaling("--where", "threads = 9", "--db", database, status=1).stderr)

    def test_runs_that_do_not_differ_are_told_so(self):
        folder = self.folder_of((2,))
        said = self.scaling(f"{folder}/run-2", status=1).stderr
        self.assertEqual(said, f"blame scaling: {folder}/run-2: this is the only run; give runs with different numbers of threads, or --by ranks\n")
        folder = self.folder_of((1, 2))
        self.assertIn("No model: a model needs runs with at least three different numbers.", self.scaling(folder).stdout)
        self.assertIn("all 2 runs have 1 rank;", self.scaling(folder, "--by", "ranks", status=1).stderr)
        self.assertIn("threads", self.scaling(folder, "--by", "cores", status=2).stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
