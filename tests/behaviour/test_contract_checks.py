"""The judges judged: a sound profile passes every contract check, and each kind of damage is found by its check."""

import os
import subprocess
import tempfile
import unittest

import contract_checks
import fake_profile
from blame_profile import ALL_COLUMNS, NotAProfile, Profile
from expectations import Expectation, read, unmet
from harness import execute, program

# What is wrong with a row of the sound profile, and which check sees it.
ROWS = [
    ("check_layout", "fast", {"depth": 7}),
    ("check_rows", "fast", {"kind": "function"}),
    ("check_rows", "main [parallel fake.c:20]", {"name": "main.omp_outlined"}),
    ("check_rows", "fast", {"work (I)": "0.5"}),
    ("check_sums", "main", {"work (I)": "3.400000"}),
    ("check_sums", "main", {"work (E)": "9.000000"}),
    ("check_sums", "fake.c:16", {"work (I)": "0.400000", "work (E)": "0.400000"}),
    ("check_percentages", "slow", {"relative work": "99.000"}),
    ("check_percentages", "slow", {"absolute work": "100.500"}),
    ("check_resolved", "serial", {"kind": "pseudo", "name": "<unresolved>"}),
    ("check_own_frames", "fast", {"module": "libblame.so"}),
    ("check_exact_laws", "<program root>", {"lock wait here (I)": "0.600000"}),
    ("check_exact_laws", "<program root>", {"no core (I)": "0.600000"}),
    ("check_sums", "<no core>", {"no core (I)": "0.400000", "no core (E)": "0.400000"}),
]
# The same of run.json, and of a thread.
RUN = [
    ("check_core_idleness", {"cores": 1}),
    ("check_run", {"cores": 100000}),
    ("check_run", {"modules": []}),
    ("check_run", {"samples": {"delivered": 6004, "recorded": 6000, "dropped": {"in tool": 3}}}),
    ("check_threads", {"idle_total_s": 1.9}),
    ("check_stated_laws", {"conservation": {"time": {"left": 1, "right": 1}}}),
    ("check_stated_laws", {"conservation": {name: {"left": 0.5, "right": 0.5001, "exact": True} for name in "abc"}}),
    ("check_stated_laws", {"conservation": {name: {"left": 1, "right": 2, "tolerance": 0.5, "ok": True} for name in "abc"}}),
    ("check_stated_laws", {"conservation": {name: {"left": 1, "right": 2, "tolerance": 0.5, "ok": False} for name in "abc"}}),
]
THREADS = [("check_exact_laws", 1, {"work": "0.600000"}), ("check_exact_laws", 0, {"blocked": "0.200000"}),
           ("check_thread_time", 0, {"end_s": "4.150000"})]


def row_named(rows, name):
    return next(row for row in rows if row["name"] == name)


class ContractChecks(unittest.TestCase):
    needs_tool = False

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.rows = fake_profile.tree_rows(fake_profile.example())
        self.run_json = fake_profile.example_run()
        self.threads = fake_profile.example_threads()

    def profile(self, columns=None):
        fake_profile.write(self.work.name, self.rows, self.threads, self.run_json, columns)
        return Profile(self.work.name)

    def assert_found_by(self, check):
        found = contract_checks.violations(self.profile())
        self.assertTrue(any(line.startswith(check + ":") for line in found), f"{check} found nothing, all: {found}")

    def test_each_damage_is_found_by_its_check(self):
        for check, *where, change in (*ROWS, *RUN, *THREADS):
            with self.subTest(check=check, change=change):
                self.setUp()
                if not where:
                    self.run_json.update(change)
                elif isinstance(where[0], int):
                    self.threads[where[0]].update(change)
                else:
                    row_named(self.rows, where[0]).update(change)
                self.assert_found_by(check)

    def test_what_was_cut_off_may_be_in_the_contexts_alone(self):
        root = row_named(self.rows, "<program root>")
        periods = 60
        root["no core (I)"] = f"{float(root['no core (I)']) + periods / self.profile().rate():.6f}"
        for finished, cut_off, sound in ((True, periods, False), (False, periods, True), (False, periods - 10, False)):
            self.run_json.update(finished=finished, samples={"delivered": 6003, "recorded": 6003 - cut_off, "dropped": {"cut off": cut_off}})
            found = [line for line in contract_checks.violations(self.profile()) if line.startswith("check_exact_laws:")]
            self.assertEqual(found == [], sound, (finished, cut_off, found))

    def test_a_sound_profile_passes(self):
        self.assertEqual(contract_checks.violations(self.profile()), [])

    def test_waits_that_do_not_add_up_to_the_blame_are_found(self):
        pairs = fake_profile.waits(self.rows)
        pairs[0]["seconds"] = f"{float(pairs[0]['seconds']) + 0.1:.6f}"
        fake_profile.write(self.work.name, self.rows, self.threads, self.run_json, pairs=pairs)
        found = contract_checks.violations(Profile(self.work.name))
        self.assertTrue(any(line.startswith("check_waits:") for line in found), found)

    def test_columns_in_another_order_are_refused(self):
        columns = ALL_COLUMNS[:]
        columns[4], columns[5] = columns[5], columns[4]
        with self.assertRaisesRegex(NotAProfile, "columns are"):
            self.profile(columns)

    def test_a_column_more_at_the_end_is_accepted(self):
        for row in self.rows:
            row["more"] = 1
        self.assertEqual(contract_checks.violations(self.profile(ALL_COLUMNS + ["more"])), [])

    def test_a_line_with_a_cell_too_few_is_refused(self):
        path = os.path.join(self.profile().directory, "threads.csv")
        with open(path, "a", encoding="utf-8") as file:
            file.write("2,worker\n")
        with self.assertRaisesRegex(NotAProfile, "line 4 has 2 cells"):
            Profile(self.work.name)

    def test_a_missing_file_is_refused(self):
        self.profile()
        os.remove(os.path.join(self.work.name, "locks.csv"))
        with self.assertRaisesRegex(NotAProfile, "locks.csv"):
            Profile(self.work.name)

    def test_ids_out_of_order_are_found(self):
        self.rows[2], self.rows[3] = self.rows[3], self.rows[2]
        self.assert_found_by("check_layout")

    def test_a_parent_behind_its_child_is_found(self):
        self.rows[2]["parent"] = len(self.rows) - 1
        self.assert_found_by("check_layout")

    def test_a_child_outside_its_parents_subtree_is_found(self):
        serial = row_named(self.rows, "serial")
        self.rows[-1]["parent"], self.rows[-1]["depth"] = row_named(self.rows, "slow")["id"], 4
        self.assertEqual(self.rows[-3], serial)
        self.assert_found_by("check_layout")

    def test_two_rows_for_one_call_line_are_found(self):
        slow = row_named(self.rows, "slow")
        row_named(self.rows, "fast").update({"name": "slow", "line": slow["line"]})
        self.assertEqual(contract_checks.violations(self.profile()), [], "calls on two lines are two rows")
        for row in self.rows:
            if row["name"] == "slow":
                row["call_line"] = 21
        self.assert_found_by("check_rows")

    def test_siblings_in_the_wrong_order_are_found(self):
        long_serial = fake_profile.example()
        serial = long_serial.children[0].children[1]
        for node in (serial, serial.children[0]):
            node.exclusive["work"] = 30.0
        sorted_rows = {row["name"]: row for row in fake_profile.tree_rows(long_serial)}
        for row in self.rows:  # the new numbers in the old order
            row.update({column: sorted_rows[row["name"]][column] for column in ALL_COLUMNS[9:]})
        self.assert_found_by("check_order")

    def test_a_wall_time_longer_than_the_process_is_found(self):
        found = list(contract_checks.check_elapsed(self.profile(), 2.5))
        self.assertRegex(" ".join(found), "exceeds the process's own")

class Expectations(unittest.TestCase):
    needs_tool = False

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        fake_profile.write(self.work.name)
        self.profile = Profile(self.work.name)

    def unmet(self, *lines):
        return list(unmet(read("\n".join(lines)), self.profile))

    def test_what_is_there_meets_what_is_stated_however_long_it_took(self):
        self.assertEqual(self.unmet("expect idleness slow 3.000000", "expect lock_wait slow 0.010000", "expect work fast 0.7"), [])

    def test_what_is_not_there_does_not(self):
        self.assertEqual(len(self.unmet("expect work nowhere 0.500000")), 1)
        self.assertEqual(len(self.unmet("expect work fast 1.100000")), 1)
        self.assertEqual(len(self.unmet("expect lock_wait fast 0.500000")), 1)

    def test_blame_for_idleness_wants_a_thread_that_idled(self):
        fake_profile.write(self.work.name, threads=[thread | {"idle": "0.000000"} for thread in fake_profile.example_threads()])
        self.profile = Profile(self.work.name)
        self.assertRegex(" ".join(self.unmet("expect idleness slow 1.000000")), "threads idled for 0.000000 s")

    def test_what_threads_without_a_core_seem_to_wait_may_be_missing(self):
        for without_core_s, unmet_lines in ((0.45, 0), (0.3, 1)):
            self.profile.run["no_core_s"] = without_core_s
            self.assertEqual(len(self.unmet("expect lock_wait fast 0.500000")), unmet_lines)

    def test_little_of_a_metric_may_be_missing(self):
        self.assertEqual(self.unmet("expect lock_wait slow 0.500000", "expect lock_wait fast 0.070000",
                                    "expect work nowhere 0.010000"), [])

    def test_a_path_is_matched_whole(self):
        self.assertEqual(self.unmet("path 0.5 main > main [parallel fake.c:20] > fast"), [])
        self.assertTrue(self.unmet("path 0.5 main > fast"))
        self.assertTrue(self.unmet("path 0.5 main [parallel fake.c:20] > fast"))

    def test_work_beside_its_path_is_found(self):
        rows = fake_profile.tree_rows(fake_profile.example())
        moved = [row for row in rows if row["name"] == "serial"]
        moved[0]["name"] = "fast"
        fake_profile.write(self.work.name, rows)
        self.profile = Profile(self.work.name)
        self.assertRegex(" ".join(self.unmet("path 0.5 main > main [parallel fake.c:20] > fast")), "main > fast")

    def test_below_asks_for_all_rows(self):
        self.assertEqual(self.unmet("below fast main"), [])
        self.assertTrue(self.unmet("below fast serial"))
        self.assertTrue(self.unmet("below nowhere main"))

    def test_a_task_wants_a_row_of_its_kind(self):
        self.assertTrue(self.unmet("task fast"))

    def test_a_bound_that_is_exceeded_is_found_unless_it_is_one_of_time(self):
        self.assertTrue(self.unmet("bound directory_bytes 100"))
        self.assertEqual(self.unmet("bound idle_share 0.02"), [])

    def test_lines_that_are_no_expectations_are_left_alone(self):
        self.assertIsNone(Expectation.parse("sum 3"))

    def test_the_programs_own_sweep_agrees_with_paper(self):
        result = subprocess.run([program("sweep_check")], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (0, "wrong 0\n"))


class Stuck(unittest.TestCase):
    def test_what_does_not_end_is_ended_and_where_it_stood_is_told(self):
        with self.assertRaisesRegex(AssertionError, r"did not end within 2 s(?s:.*)\n  thread \d+: S, ticks .*nanosleep"):
            execute(["sleep", "1000"], {}, "/", timeout_s=2)
