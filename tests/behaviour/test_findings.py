"""Findings: the bound of each covers what is really gained when the program is put right, and programs with nothing to
gain have none. The summary is where they are read."""

import csv
import io
import re

from harness import BLAME, BlameTest, program

LINE = re.compile(r"^ *(?:([\d.]+) % +([\d.]+) s)?  +(\S.*)$")
ATTEMPTS = 4  # other load on the machine makes threads wait that would not


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


def took(run):
    return float(re.search(r"^took ([\d.]+)$", run.stdout, re.MULTILINE).group(1))


class Findings(BlameTest):
    def found_in(self, case, how="library", name="gains"):
        run = self.attached([program(name), case, "slow"], {"BLAME_SUMMARY": "1"}, how)
        self.assertEqual(run.status, 0, run)
        return run, findings_of(run.stderr)

    def bounded(self, case, title, how="library", name="gains", most=1.35):
        """The bound covers the gain and is not far above it. The shortest runs count: other load makes them longer."""
        slow, fast, wrong = [], [], []
        for _ in range(ATTEMPTS):
            slow.append(self.found_in(case, how, name))
            fast.append(took(self.plain([program(name), case, "fast"])))
            run, found = min(slow, key=lambda pair: took(pair[0]))
            gain = took(run) - min(fast)
            bounds = [seconds for seconds, text in found if re.match(title, text)]
            if bounds and 0.95 * gain - 0.03 <= bounds[0] <= most * gain + 0.05:
                return
            wrong.append(f"'{title}': really gained {gain:.3f} s of {took(run):.3f}, found {found}")
        self.fail("\n".join(wrong))

    def test_serial_code_is_worth_what_dividing_it_gains(self):
        self.bounded("serial", ".* s of serial code")
        self.bounded("serial", ".* s of serial code", how="launcher", name="gains_gcc")

    def test_unequal_shares_are_worth_what_equal_ones_gain(self):
        self.bounded("imbalance", "unequal work")
        self.bounded("imbalance", "unequal work", how="launcher", name="gains_gcc")

    def test_a_team_of_one_is_worth_what_a_full_team_gains(self):
        self.bounded("narrow", ".* s in a team of one thread")

    def test_one_task_at_a_time_is_worth_what_more_tasks_gain(self):
        self.bounded("starved", "too few tasks")

    def test_waiting_for_a_lock_is_worth_what_doing_without_gains(self):
        self.bounded("locked", ".* s of waiting for lock")

    def test_tiny_tasks_are_worth_what_a_cut_off_gains(self):
        self.bounded("fine", "tasks are too small|idle and busy with OpenMP")

    def test_the_lock_that_is_waited_for_is_named(self):
        _, found = self.found_in("locked")
        self.assertRegex(found[0][1], r"^[\d.]+ s of waiting for lock: ")

    def test_equal_shares_give_no_finding(self):
        found = [self.found_in("balanced")[1]]
        while found[-1] and len(found) < ATTEMPTS:
            found.append(self.found_in("balanced")[1])
        self.assertEqual(found[-1], [], found)

    def test_one_thread_gives_no_finding(self):
        self.assertEqual(self.found_in("alone")[1], [])

    def test_a_short_run_gives_none_but_that(self):
        _, found = self.found_in("brief")
        self.assertEqual([text.split(":")[0] for _, text in found], ["too short to say"])

    def test_without_the_launcher_the_time_before_openmp_is_one(self):
        run = self.attached([program("late_start")], {"BLAME_SUMMARY": "1"})
        early_s = float(run.stdout.split()[1])
        found = findings_of(run.stderr)
        self.assertRegex(found[0][1], r"^[\d.]+ s before OpenMP starts: <before.*start>")
        self.assertAlmostEqual(found[0][0], early_s / 2, delta=0.05)

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
