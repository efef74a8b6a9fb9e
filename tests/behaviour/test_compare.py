"""`blame diff` and `blame stat`: contexts matched across builds and compilers, changes as the programs clocked them,
limits that are exceeded and kept."""

import csv
import io
import os
import re
import shutil
import statistics
import subprocess
import textwrap

from blame_profile import Profile
from harness import BLAME, PASSIVE, ROOT, BlameTest, clean_environment, execute, program

WORSE = 3
# slow() of compare_slower takes five times as long, by the CPU time of its threads. How long they are without a core, and idle meanwhile, is
# the machine's.
LIMITS = ("--fail-above", "work=100", "--fail-above", "lock-wait=150", "--fail-above", "work@^slow$=150")
BY_CPU_TIME = {"TEST_LOADED": "1"}  # tests/programs/analytic.h
GUIDE = os.path.join(ROOT, "docs", "reading-a-report.md")


class Compare(BlameTest):
    pace = 2

    def profile(self, name, number=0):
        """The directory of a run."""
        how = "launcher" if name.endswith("_gcc") else "library"
        return self.profile_of(name, env=BY_CPU_TIME, how=how, number=number)[1].directory

    def blame(self, command, *arguments, status=0, env=None, folder=None):
        run = execute([BLAME, command, *arguments], clean_environment() | (env or {}), folder or self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def table(self, *arguments, status=0, command="diff"):
        run = self.blame(command, *arguments, "--format", "csv", status=status)
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertTrue(rows, run)
        return rows

    def named(self, rows, name):
        return [row for row in rows if re.search(name, row["name"]) and row["kind"] != "statement"]

    def inclusive(self, rows, metric, name, side):
        """Over the outermost contexts with a name."""
        chosen, total = set(), 0.0
        for row in rows:
            if row["parent"] in chosen:
                chosen.add(row["id"])
            elif row["kind"] in ("procedure", "inlined") and re.match(name + r"\b", row["name"]):
                chosen.add(row["id"])
                total += float(row[f"{metric} {side} (I)"])
        return total


def slow_of(profile, metric):
    return sum(row[f"{metric} (I)"] for row in profile.rows if re.match(r"slow\b", row.name) and row.kind == "procedure")


class Diff(Compare):
    def test_phases_of_two_compilers_match_by_name_and_number(self):
        two = PASSIVE | {"OMP_NUM_THREADS": "2"}
        profiles = [self.profile_of(name, "60", env=two, how=how)[1].directory
                    for name, how in (("adi", "library"), ("adi_gcc", "launcher"))]
        rows = [row for row in self.table(*profiles, "--min", "0") if row["kind"] == "phase"]
        found = {(row["name"], row["found"]) for row in rows}
        self.assertIn(("phase step", "both"), found)
        for number in range(25):
            self.assertIn((f"step [{number}]", "both"), found)
        self.assertFalse([row for row in rows if row["name"].startswith("step [") and row["found"] != "both"])

    def test_the_same_program_exceeds_no_limit(self):
        first, second = self.profile("compare", 0), self.profile("compare", 1)
        self.blame("diff", first, second, *LIMITS)

    def test_a_slower_function_exceeds_its_limits_and_is_named(self):
        base, new = self.profile("compare"), self.profile("compare_slower")
        run = self.blame("diff", base, new, *LIMITS, status=WORSE)
        for limit in ("work=100", "work@^slow$=150"):
            said = rf"(?m)^blame diff: --fail-above {re.escape(limit)}: exceeded, \+[\d.]+ %; most by "
            self.assertRegex(run.stderr, said)
        for subject in ("work", "work of ^slow$"):
            self.assertRegex(run.stdout, rf"(?m)^limit {re.escape(subject)}: .*: EXCEEDED\n(    .*\n)*    .*< slow\b")
        self.assertNotIn("lock-wait=150: exceeded", run.stderr)
        self.assertRegex(run.stdout, r"(?m)^limit work: \+[\d.]+ % of at most \+100.0 %: EXCEEDED$")
        self.assertRegex(run.stdout, r"(?m)^limit lock wait: .*: kept$")
        rows = self.table(base, new)
        for side, directory in (("base", base), ("new", new)):
            for metric in ("work", "idleness"):
                self.assertAlmostEqual(self.inclusive(rows, metric, "slow", side), slow_of(Profile(directory), metric), delta=1e-4)

    def test_a_faster_program_exceeds_no_limit(self):
        base, new = self.profile("compare_slower"), self.profile("compare")
        self.blame("diff", base, new, *LIMITS)

    def test_limits_of_what_the_machine_decides_are_held_against_the_runs(self):
        for what, subject, value in (("wall", "wall time", lambda profile: profile.run["wall_s"]),
                                     ("idleness", "idleness", lambda profile: profile.root["idleness (I)"]),
                                     ("idleness@^slow$", "idleness of ^slow$", lambda profile: slow_of(profile, "idleness"))):
            taken_s = {directory: value(Profile(directory)) for directory in (self.profile("compare"), self.profile("compare_slower"))}
            base, new = sorted(taken_s, key=taken_s.get)
            changed = 100 * (taken_s[new] / taken_s[base] - 1)
            limit = f"{what}={0.5 * changed:.6f}"
            run = execute([BLAME, "diff", base, new, "--fail-above", limit], clean_environment(), self.new_folder())
            said = re.search(rf"(?m)^limit {re.escape(subject)}: .*: (EXCEEDED|above the limit, but not statistically significant)$", run.stdout)[1]
            self.assertEqual(run.status, WORSE if said == "EXCEEDED" else 0, run)
            if what == "wall":  # which is measured without error
                self.assertRegex(run.stderr, rf"(?m)^blame diff: --fail-above {re.escape(limit)}: exceeded, \+[\d.]+ %; most by ")
            run = self.blame("diff", base, new, "--fail-above", f"{what}={1.01 * changed:.6f}")
            self.assertRegex(run.stdout, rf"(?m)^limit {re.escape(subject)}: .*: kept$")

    def test_limits_of_other_functions_are_kept(self):
        base, new = self.profile("compare"), self.profile("compare_slower")
        self.blame("diff", base, new, "--fail-above", "work@^steady$=150")

    def test_three_runs_a_side_find_a_slower_function(self):
        bases = [argument for number in range(3) for argument in ("--base", self.profile("compare", number))]
        new = [self.profile("compare_slower", number) for number in range(3)]
        run = self.blame("diff", *bases, *new, "--fail-above", "work@^slow$=150", status=WORSE)
        self.assertIn("Mann-Whitney", run.stdout)
        folder = self.new_folder()
        for number, directory in enumerate(new):
            os.symlink(directory, os.path.join(folder, f"run.{number}"))
        self.blame("diff", *bases, folder, "--fail-above", "work@^slow$=150", status=WORSE)

    def assert_matched(self, base, new):
        """No function, lambda or region of the program stands below one caller twice, once for each side; what a sample hit in
        one of the runs alone, and a lambda that is new, is on one side."""
        rows = [row for row in self.table(base, new) if row["kind"] not in ("statement", "wall", "runtime")]
        plain = lambda name: name if "+0x" in name else re.sub(r"\d+", "", name)  # noqa: E731
        sides = {side: {(row["parent"], re.sub(r"^compare.*", "", row["module"]), plain(row["name"]))
                        for row in rows if row["found"] == side} for side in ("base", "new")}  # each library has its _fini
        self.assertEqual(sides["base"] & sides["new"], set())
        self.assertGreater(len([row for row in rows if row["found"] == "both"]), 8)
        by_id = {row["id"]: row for row in rows}
        regions = {}
        for row in self.named(rows, r"^(slow|steady)\b"):
            regions.setdefault(by_id[row["parent"]]["name"], set()).add(row["name"].split("(")[0])
        self.assertEqual(sorted(map(sorted, regions.values())), [["slow"], ["slow"], ["steady"]], regions)

    def test_moved_lines_and_renumbered_lambdas_are_found_again(self):
        base, new = self.profile("compare"), self.profile("compare_moved")
        self.assert_matched(base, new)
        added = self.named(self.table(base, new), r"operator\(\)")
        self.assertEqual(sorted(row["found"] for row in added), ["both", "new"])

    def test_builds_of_different_compilers_are_matched(self):
        self.assert_matched(self.profile("compare"), self.profile("compare_gcc"))

    def test_a_profile_and_itself_do_not_differ(self):
        base = self.profile("compare")
        rows, stored = self.table(base, base), Profile(base)
        for row in rows:
            self.assertEqual(row["found"], "both")
            for column in row:
                if column.endswith(" base (I)") or column.endswith(" base (E)"):
                    self.assertEqual(row[column], row[column.replace(" base ", " new ")])
        root = rows[0]
        for metric in ("work", "idleness", "overhead", "lock wait", "samples"):
            self.assertEqual(root[f"{metric} base (I)"], stored.root.cells[f"{metric} (I)"]
                             if metric != "samples" else f'{float(stored.root.cells["samples (I)"]):.6f}')
            parts = sum(float(row[f"{metric} base (E)"]) for row in rows
                        if row["kind"] not in ("statement", "wall"))
            self.assertAlmostEqual(parts, float(root[f"{metric} base (I)"]), delta=1e-6 * len(rows))
        self.assertIn("No context changed its own share", self.blame("diff", base, base).stdout)

    def test_flat_has_a_row_a_function_and_the_same_totals(self):
        base, new = self.profile("compare"), self.profile("compare_slower")
        tree, flat = self.table(base, new), self.table(base, new, "--view", "flat")
        self.assertEqual(len(self.named(flat, r"^slow\b")), 1)
        self.assertEqual(len(self.named(tree, r"^slow\b")), 2)
        for column in ("base", "new", "work base (I)", "idleness new (I)"):
            self.assertEqual(tree[0][column], flat[0][column])
        self.assertIn("functions' own change", self.blame("diff", base, new, "--view", "flat").stdout)
        self.blame("diff", base, new, "--view", "flat", *LIMITS, status=WORSE)

    def test_normalised_values_are_shares(self):
        base, new = self.profile("compare"), self.profile("compare_slower")
        root = self.table(base, new, "--normalise", "work")[0]
        self.assertAlmostEqual(float(root["work base (I)"]), 100, places=3)
        self.assertAlmostEqual(float(root["work new (I)"]), 100, places=3)
        wall = Profile(base).run["wall_s"]
        root = self.table(base, new, "--normalise", "wall")[0]
        self.assertAlmostEqual(float(root["work base (I)"]), 100 * Profile(base).root["work (I)"] / wall, places=2)


class Stat(Compare):
    def test_medians_and_extremes_are_those_of_the_profiles(self):
        runs = [self.profile("compare", number) for number in range(3)]
        rows = self.table(*runs, command="stat")
        profiles = [Profile(run) for run in runs]
        cases = [("wall", "<wall time>", "", [profile.run["wall_s"] for profile in profiles])]
        cases += [(metric.replace(" ", "-"), "<program root>", "I",
                   [profile.root[f"{metric} (I)"] for profile in profiles])
                  for metric in ("work", "idleness", "overhead", "lock wait")]
        for metric, name, part, values in cases:
            row, = [row for row in rows if (row["metric"], row["name"], row["part"]) == (metric, name, part)]
            self.assertAlmostEqual(float(row["median"]), statistics.median(values), places=5)
            self.assertAlmostEqual(float(row["min"]), min(values), places=5)
            self.assertAlmostEqual(float(row["max"]), max(values), places=5)
            self.assertEqual((row["runs"], row["coverage"]), ("3", "0.750000"))

    def test_text_has_the_contexts_with_most_and_the_confidence(self):
        runs = [self.profile("compare", number) for number in range(3)]
        text = self.blame("stat", *runs, "--sort", "work", "--view", "flat", "--top", "1").stdout
        self.assertRegex(text, r"(?m)^work of the functions themselves:\n +[\d.]+ +[\d.]+ +[\d.]+  spin_on_clock")
        self.assertIn("75.0 %", text)
        self.assertEqual(text.count("spin_on_clock"), 1)

    def test_what_makes_runs_incomparable_is_said(self):
        run = self.attached([program("compare")], {"BLAME_RATE": "500", "BLAME_TASKS": "creation"})
        other, first = run.directories()[0], self.profile("compare")
        message = self.blame("stat", first, other).stderr
        self.assertRegex(message, r"(?m)^blame stat: rate differs: 2000 in \S+, 500 in \S+; use the same BLAME_RATE for all runs")
        self.assertRegex(message, r"(?m)^blame stat: tasks differ: region in")
        message = self.blame("stat", first, self.profile("compare_slower")).stderr
        self.assertRegex(message, r"(?m)^blame stat: build differs: [0-9a-f]+ in .*; use blame diff to compare different builds$")
        message = self.blame("stat", first, first).stderr
        self.assertRegex(message, r"(?m)are the same run, which therefore counts twice; give each run once$")
        self.assertEqual(self.blame("diff", first, self.profile("compare", 1)).stderr, "")


class WrongUse(Compare):
    def test_messages_name_what_is_wrong_and_what_is_accepted(self):
        base = self.profile("compare")
        empty = self.new_folder()
        cases = [
            (("diff", base), 2, "1 profile given; expected two, BASE and NEW"),
            (("diff", base, base, base), 2, "3 profiles given"),
            (("diff",), 2, "no profile was given"),
            (("diff", base, base, "--fail-above", "speed=3"), 2, "speed=3: expected wall=PERCENT, METRIC=PERCENT"),
            (("diff", base, base, "--fail-above", "idleness"), 2, "idleness: expected wall=PERCENT"),
            (("diff", base, base, "--fail-above", "idleness=-1"), 2, "-1 is not a percentage"),
            (("diff", base, base, "--fail-above", "idleness=nan"), 2, "nan is not a percentage"),
            (("diff", base, base, "--fail-above", "wall@main=5"), 2, "wall@main=5: expected wall=PERCENT"),
            (("diff", base, base, "--fail-above", "work@((=5"), 2, "(( is not a regular expression"),
            (("diff", base, base, "--fail-above", "work@=5"), 2, "work@=5: expected METRIC@REGEX=PERCENT"),
            (("diff", base, base, "--fail-above", "work@nobody=5"), 1, "no function of either side has such a name"),
            (("diff", base, base, "--normalise", "threads"), 2, "expected one of none, wall, work"),
            (("diff", base, base, "--top", "1.5"), 2, "whole number"),
            (("diff", base, empty), 1, "no measurement"),
            (("diff", base, "/nonexistent"), 1, "/nonexistent: No such file"),
            (("diff", base, base, "--output", "/nonexistent/x"), 1, "/nonexistent/x: No such file"),
            (("diff", base, base, "--output", "/dev/full"), 1, "/dev/full: No space left"),
            (("stat", base, "--format", "json"), 2, "expected one of text, csv"),
            (("stat",), 2, "no profile was given"),
            (("stat", empty), 1, "no measurement"),
        ]
        for arguments, status, message in cases:
            with self.subTest(arguments=arguments):
                run = self.blame(*arguments, status=status)
                lines = run.stderr.splitlines()
                self.assertEqual(len(lines), 1, run)
                self.assertTrue(lines[0].startswith(f"blame {arguments[0]}: "), run)
                self.assertIn(message, lines[0])

    def test_output_appears_whole_or_not_at_all(self):
        base, folder = self.profile("compare"), self.new_folder()
        self.blame("diff", base, base, "--output", "changes.txt", folder=folder)
        with open(os.path.join(folder, "changes.txt"), encoding="utf-8") as file:
            self.assertIn("wall time", file.read())
        self.assertEqual(os.listdir(folder), ["changes.txt"])
        closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", BLAME, "stat", base], capture_output=True, text=True,
                                check=False)
        self.assertEqual(closed.returncode, 1, closed)
        self.assertRegex(closed.stderr, r"^blame stat: standard output: [^\n]+\n$")


class Guide(Compare):
    """The shell lines of the guide's job for continuous integration, with a program of ours."""

    def test_the_examples_lines_do_what_the_guide_says(self):
        with open(GUIDE, encoding="utf-8") as file:
            guide = file.read()
        script = textwrap.dedent(re.search(r"- run: \|\n((?: {10}.*\n)+)", guide)[1])
        self.assertEqual(script.count("=10 ") + script.count("=10\n"), 3)
        folder = self.new_folder()
        env = clean_environment() | BY_CPU_TIME | {"TEST_PACE": "2", "BLAME_RATE": "2000", "PATH": os.path.dirname(BLAME) + ":" + os.environ["PATH"]}
        for new in ("compare", "compare_slower"):
            with self.subTest(new=new):
                for side, name in (("main", "compare"), ("change", new)):
                    os.makedirs(os.path.join(folder, side), exist_ok=True)
                    shutil.copy(program(name), os.path.join(folder, side, "app"))
                shutil.rmtree(os.path.join(folder, "profiles"), ignore_errors=True)
                # A limit more, of what does not depend on the machine.
                run = execute(["sh", "-e", "-c", script.replace("=10", "=100").rstrip() + " --fail-above work=100"], env, folder)
                said = dict(re.findall(r"(?m)^limit (.*?): .*: (EXCEEDED|kept|above the limit, but not statistically significant)$", run.stdout))
                self.assertEqual(set(said), {"wall time", "idleness", "lock wait", "work"}, run)
                self.assertEqual(said["work"], "kept" if new == "compare" else "EXCEEDED", run)
                self.assertEqual(run.status, WORSE if "EXCEEDED" in said.values() else 0, run)
                self.assertIn("Mann-Whitney", run.stdout)
