"""Findings in the summary: those of the constructs that waste time, by name, and their places in the program's own code. How
large they are: tests/unit/test_findings*.c."""

import csv
import io
import re

from blame_profile import Profile
from harness import BLAME, BlameTest, program

LINE = re.compile(r"^ *(?:([\d.]+) % +([\d.]+) s)?  +(\S.*)$")


def findings_of(text):
    """(seconds or None, title and place) of each line of the summary's first list."""
    found, inside = [], False
    for line in text.splitlines():
        if inside and not line:
            break
        if inside:
            percent, seconds, rest = LINE.match(line).groups()
            found.append((float(seconds) if percent else None, rest))
        inside = inside or line.startswith("Look first at")
    return found


class Findings(BlameTest):
    pace = 1
    alone = True

    def test_one_thread_is_the_only_finding_of_a_program_that_asks_for_it(self):
        run = self.attached([program("causes"), "balanced", "1"], {"BLAME_RATE": "5000", "OMP_NUM_THREADS": "2"})
        shown = self.plain([BLAME, "report", *run.directories(), "--view", "findings", "--format", "csv"])
        rows = list(csv.DictReader(io.StringIO(shown.stdout)))
        found = [row for row in rows if float(row["gain_s"] or 0) and row["rule"] != "fine"]  # a thread without a core, in the runtime
        self.assertTrue(len(found) <= 1 and (found or self.without_cores(rows)), shown.stdout)
        for row in found:
            self.assertRegex(row["title"], r"^all \d+ parallel regions run with one thread, on \d+ cores$")
            self.assertIn("all_together", row["place"])
            self.assertIn("so the program asks for one", row["advice"])

    def test_slow_constructs_are_named(self):
        titles = {"beside": "s of processor time in threads that were not measured", "locks": "many locks are made and destroyed",
                  "flag": "spin-waiting on a flag", "tasks": "tasks are too small", "asleep": "s blocked in usleep",
                  "turns": "s of waiting for critical(input), held while blocked in usleep",
                  "atomic": "atomic updates: ", "reduction": "threads make and combine private copies for ",
                  "mutex": "s of waiting for mutex sleep_with_mutex.mutex, held while blocked in usleep",
                  "sections": "sections of unequal length (the longest: long_section) in unequal_sections [parallel"}
        crowded = ("sections", "atomic", "reduction")  # threads that get no core at the same time have no need of each other
        runs = [("constructs", case) for case in titles] + [("constructs_gcc", case) for case in ("atomic", "reduction")]
        for name, case in runs:
            title, out = titles[case], f"profile_{name}_{case}"
            with self.subTest(program=name, case=case):
                env = {"BLAME_RATE": "1000", "BLAME_OUT": out, "BLAME_POSIX": "0" if case == "beside" else "1"}
                run = self.attached([program(name), case], env, "launcher")
                shown = self.plain([BLAME, "report", *run.directories(out), "--view", "findings", "--format", "csv"])
                rows = list(csv.DictReader(io.StringIO(shown.stdout)))
                found = [title in row["title"] for row in rows].count(True)
                self.assertTrue(run.status == 0 and (found == 1 or (case in crowded and self.without_cores(rows))), f"{shown.stdout}\n{run}")
                self.assertNotIn("beside threads that wait for locks", shown.stdout)

    def test_a_thread_that_waits_for_another_one_of_its_team_is_not_to_blame(self):
        run = self.attached([program("constructs"), "meeting"], {"BLAME_RATE": "1000"}, "launcher")
        shown = self.plain([BLAME, "report", *run.directories(), "--view", "findings", "--format", "csv"])
        rows = list(csv.DictReader(io.StringIO(shown.stdout)))
        found = [row for row in rows if row["rule"] in ("coarse", "imbalance")]
        self.assertTrue(len(found) == 1 or self.without_cores(rows), shown.stdout)
        self.assertEqual([row["title"] for row in rows if "blocked" in row["title"] and not self.without_cores(rows)], [])
        for row in found:
            self.assertIn("work_before_meeting", row["place"])

    def test_without_the_launcher_the_time_before_openmp_is_one(self):
        run = self.attached([program("late_start")], {"BLAME_SUMMARY": "1", "TEST_LOADED": "1"})
        found = [text for _, text in findings_of(run.stderr) if re.match(r"[\d.]+ s before OpenMP starts: <before.*start>", text)]
        shown = self.plain([BLAME, "report", *run.directories(), "--view", "findings", "--format", "csv"])
        self.assertTrue(found or self.without_cores(csv.DictReader(io.StringIO(shown.stdout))), run)

    def test_findings_name_the_programs_own_code_and_not_what_it_calls(self):
        own = ["accumulate", "rank_values", "compare", "arrange", "allocate", "transfer", "main"]
        for name in ["own_code", "own_code_gcc"]:
            run = self.attached([program(name)], {"BLAME_SUMMARY": "1", "BLAME_OUT": "profile_" + name}, "launcher")
            self.assertEqual(run.status, 0, run)
            directory = run.directories("profile_" + name)[0]
            shown = self.plain([BLAME, "report", directory, "--view", "findings", "--format", "csv"])
            rows = list(csv.DictReader(io.StringIO(shown.stdout)))
            found = [row for row in rows if row["rule"] == "serial"]
            named = {re.match(r"[\w:]*", row["place"]).group(0) for row in found}
            self.assertEqual(named - set(own), set(), shown.stdout)
            profile = Profile(directory)
            large = {function for function in ["accumulate", "arrange", "allocate", "transfer"]
                     if profile.total("idleness", f"{function}(double)") >= 0.055 * profile.lifetimes()}
            self.assertTrue(large <= named or self.without_cores(rows), shown.stdout)
            for row in found:
                self.assertRegex(row["place"], r"^(main$|\w+(\(.*?\))?  own_code\.cc:\d+)", shown.stdout)
            if "accumulate" in named:
                self.assertRegex(shown.stdout, r"accumulate\(double\)  own_code\.cc:26 \(in \w*cos\w*, libm\)")
            head = "other threads idled (share of the thread time):\n"
            self.assertTrue(head in run.stderr or self.without_cores(rows), run)
            shown = [line.split("s  ", 1)[1] for line in run.stderr.partition(head)[2].split("\n\n")[0].splitlines()]
            self.assertEqual({re.match(r"\w+", line).group(0) for line in shown} - set(own), set(), run)
