"""Findings in the summary: those of the constructs that waste time, by name, and their places in the program's own code. How
large they are: tests/unit/test_findings*.c."""

import csv
import io
import re

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
    def found_in(self, case, how="library", name="gains"):
        run = self.attached([program(name), case, "slow"], {"BLAME_SUMMARY": "1"}, how)
        self.assertEqual(run.status, 0, run)
        return run, findings_of(run.stderr)

    def test_what_wastes_time_is_found(self):
        for case, title in (("serial", ".* s of serial code"), ("imbalance", "unequal work"),
                            ("locked", ".* s of waiting for lock: ")):
            for name, how in (("gains", "library"), ("gains_gcc", "launcher")):
                with self.subTest(case=case, name=name):
                    run, found = self.found_in(case, how, name)
                    self.assertTrue([text for _, text in found if re.match(title, text)], run)

    def test_one_thread_gives_no_finding(self):
        self.assertEqual([text for seconds, text in self.found_in("alone")[1] if seconds], [])

    def test_without_the_launcher_the_time_before_openmp_is_one(self):
        run = self.attached([program("late_start")], {"BLAME_SUMMARY": "1"})
        self.assertTrue([text for _, text in findings_of(run.stderr) if re.match(r"[\d.]+ s before OpenMP starts: <before.*start>", text)],
                        run)

    def test_findings_name_the_programs_own_code_and_not_what_it_calls(self):
        own = ["accumulate", "rank_values", "compare", "arrange", "allocate", "transfer", "main"]
        for name in ["own_code", "own_code_gcc"]:
            run = self.attached([program(name)], {"BLAME_SUMMARY": "1", "BLAME_OUT": "profile_" + name}, "launcher")
            self.assertEqual(run.status, 0, run)
            shown = self.plain([BLAME, "report", run.directories("profile_" + name)[0], "--view", "findings", "--format", "csv"])
            found = [row for row in csv.DictReader(io.StringIO(shown.stdout)) if row["rule"] == "serial"]
            named = {re.match(r"[\w:]*", row["place"]).group(0) for row in found}
            self.assertEqual(named - set(own), set(), shown.stdout)
            for function in ["accumulate", "arrange", "allocate", "transfer"]:
                self.assertIn(function, named, shown.stdout)
            for row in found:
                self.assertRegex(row["place"], r"^\w+(\(.*?\))?  own_code\.cc:\d+", shown.stdout)
            self.assertRegex(shown.stdout, r"accumulate\(double\)  own_code\.cc:20 \(in \w*cos\w*, libm\)")
            shown = [line.split("s  ", 1)[1] for line in run.stderr.split("other threads idled:\n")[1].split("\n\n")[0].splitlines()]
            self.assertEqual({re.match(r"\w+", line).group(0) for line in shown} - set(own), set(), run)
