"""Programs with blame known by construction: the profile must have it where they say (expectations.py). Each program runs as
clang built it, the tool found by the runtime, and as gcc built it, under `blame run`. One construct each: tests/coverage."""

import os
import re

import expectations
from harness import PASSIVE, BlameTest

AT_RELEASE = {"BLAME_LOCKS": "release"}


class Analytic(BlameTest):
    def both(self, name, env=None, at_least=2):
        for suffix, how in (("", "library"), ("_gcc", "launcher")):
            with self.subTest(compiler=suffix or "clang", how=how):
                run, profile = self.profile_of(name + suffix, env=env, how=how)
                self.assert_expectations(f"{name}{suffix} ({how})", run, profile, at_least)

    def test_idleness_beside_serial_code_is_the_serial_functions(self):
        self.both("serial_gap", at_least=6)

    def test_idleness_in_a_region_of_4_is_shared_by_those_still_busy(self):
        self.both("imbalance4", PASSIVE, at_least=9)

    def test_waiting_for_ones_turn_in_ordered_is_blamed_whole(self):
        self.both("ordered", at_least=4)

    def test_with_4_threads_idleness_inherited_by_a_waiter_goes_to_the_holder(self):
        self.both("integrated", PASSIVE, at_least=7)

    def test_with_3_threads_idleness_inherited_by_a_waiter_goes_to_the_holder(self):
        self.both("integrated3", PASSIVE, at_least=7)

    def test_tiny_tasks_stand_below_their_region(self):
        for suffix, how in (("", "library"), ("_gcc", "launcher")):
            with self.subTest(compiler=suffix or "clang", how=how):
                run, profile = self.profile_of("tiny_tasks" + suffix, how=how)
                self.assertIn("fib right", run.stdout)
                tasks = [row for row in profile.rows if row.kind == "task" and row["work (I)"] > 0]
                self.assertTrue(tasks)
                self.assertEqual({row.parent.name for row in tasks}, {"main"}, run)

    def test_waiting_for_short_sections_is_split_by_holder(self):
        self.both("handoff", at_least=6)

    def test_a_program_in_step_with_the_clock_is_seen_as_it_is(self):
        """Within 5 of the standard deviations that random moments promise (docs/accounting.md)."""
        for rate, deviation_s in (("200", 0.043), ("1000", 0.013)):
            with self.subTest(rate=rate):
                run, profile = self.profile_of("in_step", env={"BLAME_RATE": rate, "TEST_PACE": "1"})
                for stated in expectations.read(run.stdout):
                    measured_s = profile.clocked(stated.context)
                    self.assertLess(abs(measured_s - stated.value), 5 * deviation_s, f"{stated}: {measured_s}")

    def test_waiting_for_a_nestable_lock_goes_to_the_release_that_frees_it(self):
        self.both("nest_lock", AT_RELEASE, at_least=6)

    def test_waiting_for_a_lock_that_is_never_released_has_a_row_of_its_own(self):
        self.both("unreleased", AT_RELEASE, at_least=2)

    def test_holders_are_told_from_others_who_hold_locks_and_from_their_own_waits(self):
        self.both("holders", at_least=4)

    def test_waiting_is_blamed_on_the_lines_inside_the_section(self):
        self.both("section", at_least=5)

    def test_with_the_release_rule_it_is_blamed_on_the_release(self):
        for suffix, how in (("", "library"), ("_gcc", "launcher")):
            with self.subTest(compiler=suffix or "clang"):
                _, profile = self.profile_of("section" + suffix, env=AT_RELEASE, how=how)
                for inside in ("long_line", "short_line"):
                    self.assertEqual(profile.total("lock wait", inside), 0)
                held = [row for row in profile.rows if row["lock wait (E)"] > 0 and row.name != "<lock handoff>"]
                self.assertTrue(held)
                for row in held:
                    self.assertIn("section", row.path())

    def test_the_profile_does_not_grow_with_the_number_of_regions(self):
        self.both("regions", PASSIVE, at_least=1)

    def test_functions_that_tail_jump_keep_their_rows(self):
        self.both("tail_call", at_least=3)

    def test_hard_leaves_are_found_below_main(self):
        self.both("leaves", at_least=10)

    def test_serial_time_in_a_callback_from_libc_is_found_below_its_caller(self):
        for name in ("qsort_serial", "qsort_serial_gcc"):  # no region: only the launcher starts the tool
            with self.subTest(name=name):
                run, profile = self.profile_of(name, how="launcher")
                self.assert_expectations(f"{name} (launcher)", run, profile, 3)
                self.assertGreater(profile.total("work", "compare_keys"), 0, "the comparator's own time")


class TheSameProgramInOtherForms(BlameTest):
    """imbalance2 with other debug information and layouts: the same blame, as well named as the file allows."""


    def test_it_is_resolved(self):
        for form in ("", "_holes", "_nopie", "_dwarf4", "_nodebug"):
            with self.subTest(form=form):
                run, profile = self.profile_of("imbalance2" + form, how="library" if form else "launcher")
                self.assert_expectations("imbalance2" + form, run, profile, 6)

    def test_a_stripped_program_has_modules_and_offsets_for_names(self):
        _, profile = self.profile_of("imbalance2_stripped")
        nameless = [row for row in profile.rows if row.name.startswith("imbalance2_stripped+0x")]
        self.assertGreater(len(nameless), 2, [row.name for row in profile.rows])
        top = sum(row["work (I)"] for row in nameless if all(above not in nameless for above in row.ancestors()))
        self.assertGreater(top, 0.5 * profile.root["work (I)"], "work below rows of the executable")
        regions = {row.name: row for row in profile.rows if row.kind == "parallel"}
        self.assertEqual([name for name in regions if not re.fullmatch(r"\[parallel imbalance2_stripped\+0x[0-9a-f]+\]", name)], [])
        inside = sum(row["work (I)"] for row in profile.rows if row.kind == "parallel")
        self.assertGreater(inside, 0.5 * profile.root["work (I)"], "work in regions")


class BeforeTheRuntimeStarts(BlameTest):
    def test_without_the_launcher_early_time_is_a_row_with_its_wall_time_and_idleness(self):
        run, profile = self.profile_of("late_start")
        measured_s, early_s = profile.clocked("<before OpenMP start>"), float(run.stdout.split()[1]) / self.pace
        half_tick = 0.5 / os.sysconf("SC_CLK_TCK")  # when a process began is known to one tick; its middle is taken
        self.assertGreaterEqual(measured_s, early_s - half_tick)
        self.assertLessEqual(measured_s, run.elapsed_s + half_tick)
        self.assertAlmostEqual(profile.total("idleness", "<before OpenMP start>"), measured_s, delta=1e-5)  # of two threads

    def test_with_the_launcher_early_time_is_sampled_where_it_is_spent(self):
        for name in ("late_start", "late_start_gcc"):
            with self.subTest(name=name):
                _, profile = self.profile_of(name, how="launcher")
                self.assertGreater(profile.clocked("early_work"), 0)
                self.assertEqual(sum(row.clocked() for row in profile.at_path(["main", "early_work"])), profile.clocked("early_work"))
                self.assertGreater(profile.total("idleness", "early_work"), 0)
