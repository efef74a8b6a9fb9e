"""Time without a core and time asleep are neither work nor anybody's code being slow. How near the seconds are is what
tests/simulator proves; here the kernel counts, and what it says is what is there."""

import re
import unittest

from harness import PASSIVE, BlameTest

EACH_S = 0.3   # tests/programs/cores.c
SLEEP_S = 0.2
EARLY_SLEEP_S, START_UNSURE_S = 0.3, 0.005  # tests/programs/late_start.c, ompt_tool/life/start.c
LITTLE = 0.25  # of a time: what is not there


class Cores(BlameTest):
    pace = 1

    def profiled(self, what):
        return self.profile_of("cores", what, env=PASSIVE, how="launcher")

    def test_threads_wait_for_the_missing_core_and_not_for_balanced_code(self):
        run, profile = self.profiled("shared")
        if "one core" in run.stdout:
            self.skipTest("one core")
        code, = profile.named("balanced")
        missing = [row for row in profile.named("<no core>") if code in row.ancestors()]
        worked_s, stood_still_s = map(float, re.search(r"^worked ([\d.]+) stood still (-?[\d.]+)$", run.stdout, re.M).groups())
        lost_s = sum(row["no core (E)"] for row in missing)
        self.assertGreater(lost_s, LITTLE * EACH_S)
        self.assertLess(abs(code["work (I)"] - worked_s), LITTLE * worked_s)
        self.assertAlmostEqual(code["no core (I)"], lost_s, places=3)
        self.assertLess(abs(profile.run["no_core_sampled_s"] - profile.run["no_core_s"]), LITTLE * profile.run["no_core_s"])
        if profile.threads_total("idle") - stood_still_s > max(EACH_S / 2, LITTLE * lost_s):  # what is lost in one stretch is divided by guess
            self.assertGreater(sum(row["idleness (E)"] for row in missing), code["idleness (I)"] / 2)

    def test_who_sleeps_is_blocked_and_who_works_is_not(self):
        _, profile = self.profiled("asleep")
        for name in ("sleeper", "reader"):
            self.assertGreater(profile.total("blocked", name), SLEEP_S / 2, name)
            self.assertLess(profile.total("work", name), LITTLE * SLEEP_S, name)
        self.assertGreater(profile.total("work", "work"), EACH_S / 2)
        self.assertLess(profile.total("blocked", "work"), LITTLE * EACH_S)

    def check_sleepers(self, how, place):
        """At 200 samples/s a signal in each period would wake each thread 300 times."""
        threads, ms, times = 8, 500, 3
        run, profile = self.profile_of("sleepers", how, *map(str, (threads, ms, times)), how="launcher", env={"BLAME_RATE": "200"})
        slept, = map(int, re.findall(r"^slept (\d+) times", run.stdout, re.M))
        self.assertLess(slept / threads, 100)
        slept_s = threads * times * ms / 1000
        self.assertGreater(sum(profile.total("blocked", name) for name in (place, "pause_for")), 0.95 * slept_s)
        self.assertLess(profile.total("work", place), 0.05 * slept_s)

    def test_threads_that_sleep_in_a_read_are_hardly_woken(self):
        self.check_sleepers("read", "wait_in_read")

    def test_threads_whose_sleep_has_a_known_end_are_hardly_woken(self):
        self.check_sleepers("nanosleep", "pause_for")

    def test_threads_that_wait_for_a_condition_are_hardly_woken(self):
        self.check_sleepers("condition", "wait_for_condition")

    def test_a_program_that_another_one_stopped_is_not_blocked_in_its_code(self):
        _, profile = self.profiled("stopped")
        row, = profile.named("<stopped>")
        self.assertGreater(row["blocked (E)"], 2 * 2 * SLEEP_S * (1 - LITTLE))
        self.assertAlmostEqual(profile.run["stopped_s"], row["blocked (E)"] / 2, places=4)
        self.assertAlmostEqual(row["idleness (E)"], 0, places=4)
        self.assertLess(profile.total("blocked", "work"), LITTLE * SLEEP_S)
        self.assertLess(profile.threads_total("idle"), profile.run["wall_s"] - 2 * SLEEP_S + LITTLE * SLEEP_S)

    def test_a_call_that_no_signal_interrupts_is_not_a_stop_of_the_process(self):
        _, profile = self.profiled("vforks")
        self.assertGreater(profile.total("blocked", "vfork"), 3 * SLEEP_S * (1 - LITTLE))

    def test_time_before_openmp_is_work_no_core_and_blocked_as_the_kernel_counted_it(self):
        run, profile = self.profile_of("late_start", "asleep")
        used_s = float(run.stdout.split()[3])
        before, = profile.named("<before OpenMP start>")
        self.assertGreaterEqual(before["work (I)"], used_s)
        self.assertGreater(before["blocked (E)"], EARLY_SLEEP_S - START_UNSURE_S)
        self.assertAlmostEqual(before.clocked(), profile.run["before_start_s"], places=4)
        self.assertEqual(before["no core (I)"], sum(row["no core (E)"] for row in profile.named("<no core>") if before in row.ancestors()))

    def test_descriptors_that_the_program_uses_again_stay_its_own(self):
        run, _ = self.profiled("closes")
        self.assertEqual(run.stdout, "0 numbers are wrong\n")


if __name__ == "__main__":
    unittest.main()
