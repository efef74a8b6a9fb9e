"""`blame tune --specialise`: what searches in the database say becomes code that C, C++ and a shell take, or a refusal; nothing is told by time."""

import os
import random
import sqlite3
import subprocess

from harness import BLAME, PASSIVE, BlameTest, clean_environment, execute, program

THRESHOLD = 450
SIZES = range(100, 1300, 100)
WORDS = "it's \"*/\\"
MAIN = """
#include "learned.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double size = argc > 2 && *argv[2] ? atof(argv[2]) : NAN;
    puts(quick_schedule(argv[1], size));
    quick_apply(argv[1], size);
    return 0;
}
"""


class Learn(BlameTest):
    pace = 3

    def setUp(self):
        super().setUp()
        self.work = self.new_folder()
        self.database = os.path.join(self.work, "trials.db")
        profile = self.profile_of("quick", "5", status=5, own_stderr=["the program's own line"])[0].directories()[0]
        self.blame("db", "add", profile, "--db", self.database, "--experiment", "tune")

    def blame(self, *arguments, status=0):
        run = execute([BLAME, *arguments], clean_environment(), self.work)
        self.assertEqual(run.status, status, run)
        return run

    def search(self, facts, seconds):
        """Three runs of each setting, copies of the trial that is there: seconds by setting."""
        connection = sqlite3.connect(self.database)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(trial)")]
        rest = ", ".join(name for name in columns if name not in ("id", "experiment", "run"))
        number = connection.execute("SELECT count(*) FROM trial").fetchone()[0]
        for setting, expected in seconds.items():
            for run in range(3):
                sql = f"INSERT INTO trial(experiment, run, {rest}) SELECT experiment, hex(randomblob(8)), {rest} FROM trial WHERE id = 1"
                trial = connection.execute(sql).lastrowid
                known = facts | {"tune": f"search {number}", "tune.schedule": setting, "tune.seconds": expected * (1 + 0.01 * run), "tune.profiled": 1}
                connection.executemany("INSERT INTO metadata VALUES (?, 'user', ?, ?)", [(trial, name, value) for name, value in known.items()])
        connection.commit()
        connection.close()

    def searches(self, is_better):
        for size in SIZES:
            for kind in ("plain", WORDS):
                self.search({"input.size": size, "input.kind": kind}, {"default": size, "dynamic,16": size * (0.7 if is_better(size, kind) else 1.2), "guided": size * 1.1})

    def test_what_is_learned_compiles_and_says_the_same_in_c_in_cxx_and_in_a_shell(self):
        self.searches(lambda size, kind: size > THRESHOLD and kind == WORDS)
        run = self.blame("tune", "--specialise", "learned.h", "--db", self.database)
        self.assertIn("input.size > 450: dynamic,16 (8)", run.stdout)
        self.assertIn("always the default: 8 of 24", run.stdout)
        with open(os.path.join(self.work, "main.c"), "w", encoding="utf-8") as file:
            file.write(MAIN)
        for name, compiler in (("c", ["cc", "-std=c99"]), ("cxx", ["c++", "-x", "c++"]), ("openmp", ["clang-19", "-fopenmp", "-x", "c"])):
            subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-o", name, "main.c"], cwd=self.work, check=True)
        for kind, size, expected in (("plain", "1000", "default"), (WORDS, "1000", "dynamic,16"), (WORDS, "450", "default"), (WORDS, "450.5", "dynamic,16"),
                                     (WORDS, "1e3", "dynamic,16"), (WORDS, "", "dynamic,16"), ("what nobody knows", "1000", "default")):
            said = {name: subprocess.run([os.path.join(self.work, name), kind, size], capture_output=True, text=True, check=True).stdout.strip() for name in ("c", "cxx", "openmp")}
            said["sh"] = subprocess.run(["sh", "-uc", '. ./learned.sh; quick_schedule "$@"', "sh", kind, size], cwd=self.work, capture_output=True, text=True, check=True).stdout.strip()
            self.assertEqual(said, dict.fromkeys(said, expected), (kind, size))
        script = '. ./learned.sh; quick_apply "$@"; printenv OMP_SCHEDULE || echo unset'
        for size, expected in (("1000", "dynamic,16"), ("100", "unset")):
            run = subprocess.run(["sh", "-c", script, "sh", WORDS, size], cwd=self.work, env=clean_environment(), capture_output=True, text=True, check=True)
            self.assertEqual(run.stdout.strip(), expected)

    def test_the_same_searches_make_the_same_bytes_and_replace_only_their_own(self):
        self.searches(lambda size, kind: size > THRESHOLD)
        made = []
        for _ in range(2):
            self.blame("tune", "--specialise", "learned.h", "--db", self.database)
            with open(os.path.join(self.work, "learned.h"), encoding="utf-8") as header, open(os.path.join(self.work, "learned.sh"), encoding="utf-8") as shell:
                made.append((header.read(), shell.read()))
        self.assertEqual(made[0], made[1])
        with open(os.path.join(self.work, "own.h"), "w", encoding="utf-8") as file:
            file.write("int mine;\n")
        run = self.blame("tune", "--specialise", "own.h", "--db", self.database, status=1)
        self.assertIn("own.h: already exists and was not written by --specialise", run.stderr)
        with open(os.path.join(self.work, "own.h"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "int mine;\n")
        self.assertFalse(os.path.exists(os.path.join(self.work, "own.sh")))

    def test_what_does_no_better_than_the_default_is_refused(self):
        for is_better in (lambda size, kind: False, lambda size, kind, chance=random.Random(4): chance.random() < 0.4):
            self.searches(is_better)
            run = self.blame("tune", "--specialise", "learned.h", "--db", self.database, status=3)
            self.assertEqual(run.stderr, "blame tune: nothing was written: on inputs that were left out, it is not significantly better than the default\n")
            self.assertFalse(os.path.exists(os.path.join(self.work, "learned.h")))
            self.database_without_searches()

    def database_without_searches(self):
        connection = sqlite3.connect(self.database)
        connection.execute("DELETE FROM metadata WHERE trial > 1")
        connection.execute("DELETE FROM trial WHERE id > 1")
        connection.commit()
        connection.close()

    def test_a_search_begins_with_what_searches_of_before_say(self):
        self.searches(lambda size, kind: size > THRESHOLD)
        with open(os.path.join(self.work, "space"), "w", encoding="utf-8") as file:
            file.write("schedule: guided dynamic,16\n")
        for size, said in ((1000, True), (200, False)):
            run = execute([BLAME, "tune", "--space", "space", "--pairs", "3", "--runs", "14", "--db", self.database, "--application", "quick", "--input", f"size={size}",
                           "--input", "kind=plain", program("scales")], clean_environment() | PASSIVE | {"OMP_NUM_THREADS": "2", "TEST_PACE": str(self.pace)}, self.work)
            self.assertEqual(run.status, 0, run)
            self.assertEqual("tried first, because earlier searches suggest it: schedule=dynamic,16\n" in run.stdout, said, run)

    def test_what_is_missing_is_said(self):
        self.assertIn("has no search", self.blame("tune", "--specialise", "x", "--db", self.database, status=1).stderr)
        self.search({"input.size": 1}, {"default": 1, "guided": 2})
        self.assertIn("at least 3 different inputs", self.blame("tune", "--specialise", "x", "--db", self.database, status=3).stderr)
        self.assertIn("has no search of the application y", self.blame("tune", "--specialise", "x", "--db", self.database, "--application", "y", status=1).stderr)
        self.assertIn("no program was given", self.blame("tune", status=2).stderr)
