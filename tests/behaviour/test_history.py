"""`blame history`, and baselines from a database: runs of one program that are said to be of several revisions. Which changes are found is shown by
tests/unit/test_history.c; here a function does nothing in the old revisions, and much in the new ones."""

import csv
import io
import os
import shutil
import sqlite3

from harness import BLAME, PASSIVE, BlameTest, clean_environment, execute


class History(BlameTest):
    def database(self, revisions):
        """Runs with so many threads' environment: each revision has as many runs as are said."""
        folder = self.new_folder()
        for revision, count in revisions:
            for number in range(count):
                _, profile = self.profile_of("scales", env=PASSIVE | {"OMP_NUM_THREADS": "2", "RUN": f"{revision}{number}"})
                directory = os.path.join(folder, f"{revision}-{number}")
                shutil.copytree(profile.directory, directory)
                run = execute([BLAME, "db", "add", directory, "--application", "it", "--meta", f"revision={revision}"], clean_environment(), folder)
                self.assertEqual(run.status, 0, run)
        return folder

    def history(self, folder, *arguments, status=0):
        run = execute([BLAME, "history", *arguments], clean_environment(), folder)
        self.assertEqual(run.status, status, run)
        return run

    def test_every_revision_has_its_runs_in_its_order(self):
        folder = self.database((("old", 2), ("new", 1)))
        rows = list(csv.DictReader(io.StringIO(self.history(folder, "--format", "csv").stdout)))
        self.assertEqual([(row["revision"], row["runs"]) for row in rows], [("old", "2"), ("new", "1")])
        self.assertTrue(all(float(row["least"]) <= float(row["median"]) <= float(row["most"]) for row in rows))
        with open(os.path.join(folder, "order"), "w", encoding="utf-8") as file:
            file.write("new\nnever\nold\n")
        rows = list(csv.DictReader(io.StringIO(self.history(folder, "--format", "csv", "--order", "order").stdout)))
        self.assertEqual([row["revision"] for row in rows], ["new", "old"])
        text = self.history(folder, "--metric", "work", "--row", "set_up").stdout
        self.assertIn("it on ", text)
        self.assertIn("no significant change\n", text)  # three runs tell nothing

    def test_a_heading_has_the_unit_of_its_metric(self):
        folder = self.database((("r", 1),))
        with sqlite3.connect(os.path.join(folder, "blame.db")) as connection:
            connection.execute("UPDATE trial SET unit = 'cycles'")
        connection.close()
        for metric, unit in (("wall", ", s"), ("work", ", cycles"), ("samples", "")):
            text = self.history(folder, "--metric", metric).stdout
            self.assertIn(f": {metric} of each revision{unit}\n", text)
            self.assertIn("there is only one revision, so there is nothing to compare\n", text)

    def test_a_function_has_the_sum_of_its_contexts(self):
        folder = self.database((("r", 1),))
        said = execute([BLAME, "db", "export", "1"], clean_environment(), folder).stdout
        contexts = [line for line in csv.DictReader(io.StringIO(said)) if line["kind"] != "statement"]
        name = max(contexts, key=lambda line: float(line["work_e"]))["name"]
        work = sum(float(line["work_e"]) for line in contexts if line["name"] == name)
        self.assertGreater(work, 0)
        row, = csv.DictReader(io.StringIO(self.history(folder, "--format", "csv", "--metric", "work", "--row", name).stdout))
        self.assertAlmostEqual(float(row["median"]), work, delta=1e-5)

    def test_a_baseline_of_the_database_is_compared_with(self):
        folder = self.database((("1.0", 1), ("1.1", 1)))
        run = execute([BLAME, "diff", "--base-where", "revision = '1.0'", "--format", "csv", "1.1-0"], clean_environment(), folder)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stdout, execute([BLAME, "diff", "--format", "csv", "1.0-0", "1.1-0"], clean_environment(), folder).stdout)
        shutil.rmtree(os.path.join(folder, "1.0-0"))
        run = execute([BLAME, "diff", "--base-where", "revision = '1.0'", "1.1-0"], clean_environment(), folder)
        self.assertEqual(run.status, 1, run)
        self.assertIn("trial 1: its profile ", run.stderr)
        shutil.copytree(os.path.join(folder, "1.1-0"), os.path.join(folder, "1.0-0"))
        run = execute([BLAME, "diff", "--base-where", "revision = '1.0'", "1.1-0"], clean_environment(), folder)
        self.assertEqual(run.status, 1, run)
        self.assertIn("now holds another run", run.stderr)

    def test_what_cannot_be_compared_is_said(self):
        folder = self.database((("r", 1),))
        for arguments, status, said in (
                (["--by", "build"], 1, "no trial has a build; use blame run --meta build=..., or blame history --by date"),
                (["--where", "threads = 77"], 1, "no trial is left of these"),
                (["--where", "thr = 1"], 1, "no such column: thr"),
                (["--row", "f"], 2, "--row f: also give a --metric"),
                (["--order", "none"], 1, "--order none: No such file"),
                (["--order", "/dev/null"], 1, "r is missing, although it has runs"),
                (["--db", "none"], 1, "none"),
                (["r"], 2, "unexpected argument r")):
            run = self.history(folder, *arguments, status=status)
            self.assertIn(said, run.stderr)
            self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1), run)
        _, other = self.profile_of("scales", env=PASSIVE | {"OMP_NUM_THREADS": "3"})
        execute([BLAME, "db", "add", other.directory, "--application", "it", "--meta", "revision=s"], clean_environment(), folder)
        self.assertIn("trials with different threads (2, 3) cannot be compared; select some of them, for example with --where \"threads = '3'\"",
                      self.history(folder, status=1).stderr)
        self.history(folder, "--where", "threads = '3'")
