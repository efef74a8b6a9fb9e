"""Programs that want the signal by which samples come: they get no more of ours than came before it was noticed, and
are measured by another signal, or told what was lost."""

import json
import os
import re
import signal

from harness import BlameTest, program

RATE, THREADS = 1000, 2
# A look every 0.1 s at least, here in some of the regions of 5 ms; then all timers stand still. A machine that does something else
# meanwhile makes them later, and takes as much longer for all of them.
LOOK_S, EARLY_S = 0.2, 0.3
TOLD = re.compile(r"^early (\d+) in ([\d.]+) s, then ([\d.]+) s$", re.M)


class SampleSignal(BlameTest):
    pace = 1

    def signals(self, way, env=None, name="takes_signals", how="library"):
        run = self.attached([program(name), way], {"BLAME_RATE": str(RATE)} | (env or {}), how)
        self.assertEqual((run.status, run.stdout), (3, "late 0\n"), run)
        told = TOLD.search(run.stderr)
        early, early_s, late_s = int(told.group(1)), float(told.group(2)), float(told.group(3))
        self.assertLessEqual(early, THREADS * RATE * (LOOK_S + early_s - EARLY_S), run)
        self.assert_only_tool_lines(run, [told.group(0)])
        directory, = run.directories()
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            return run, early, json.load(file) | {"late_s": late_s}

    def assert_moved(self, way, to, **options):
        run, _, about = self.signals(way, **options)
        self.assertEqual(len([line for line in run.tool_lines() if "taken signal 64" in line]), 1, run)
        self.assertEqual((about["signal"], about["signals_taken"]), (to, 1), run)
        self.assertGreater(about["samples"]["recorded"], 20, run)

    def test_a_program_that_handles_all_real_time_signals_is_measured_by_another(self):
        self.assert_moved("all_realtime", 16)
        self.assert_moved("all_realtime", 16, name="takes_signals_gcc", how="launcher")

    def test_a_program_that_ignores_the_signal_is_measured_by_the_next(self):
        self.assert_moved("ignores", 63)

    def test_without_a_signal_left_there_are_no_more_samples_and_the_loss_is_counted(self):
        run, _, about = self.signals("all", {"BLAME_SUMMARY": "0"})
        self.assertTrue(any("no more samples" in line for line in run.tool_lines()), run)
        self.assertEqual(about["signal"], 0)
        self.assertGreater(about["unsignalled_s"], 0.95 * THREADS * about["late_s"])

    def test_time_in_which_the_program_blocks_the_signal_is_counted(self):
        _, early, about = self.signals("blocks")
        self.assertEqual((early, about["signals_taken"]), (0, 0))
        self.assertGreater(about["unsignalled_s"], 0.95 * THREADS * about["late_s"])

    def test_timers_that_the_program_deletes_are_made_anew_and_the_loss_is_counted(self):
        run, early, about = self.signals("deletes")
        self.assertEqual((early, about["signal"], about["signals_taken"]), (0, 64, 0), run)
        self.assertEqual(len([line for line in run.tool_lines() if "has deleted timers" in line]), 1, run)
        self.assertGreater(about["samples"]["recorded"], RATE * THREADS / 20, run)
        self.assertGreater(about["unsignalled_s"], 0.1, run)
        self.assertIn("deleted the sampling timers", about["unmeasured"]["causes"][0]["cause"])

    def test_with_a_signal_of_the_users_choice_there_is_nothing_to_notice(self):
        run, early, about = self.signals("all_realtime", {"BLAME_SIGNAL": "16"})
        self.assertEqual((early, about["signal"], about["signals_taken"], run.tool_lines()), (0, 16, 0, []), run)
        self.assertEqual(str(about["options"]["signal"]), "16")

    def test_a_program_that_sets_all_signals_back_lives_with_one_that_does_nothing_then(self):
        _, early, about = self.signals("resets", {"BLAME_SIGNAL": "28"})
        self.assertEqual((early, about["signal"], about["signals_taken"]), (0, 64, 1))



class ProcessSignals(BlameTest):
    """Signals for the whole process are the serial code's, however often a thread is sampled."""

    def test_a_time_out_of_serial_code_is_handled_by_its_thread(self):
        for suffix, how in (("", "library"), ("_gcc", "launcher")):
            with self.subTest(how=how):
                run = self.attached([program("process_signals" + suffix), "awaits"], {"BLAME_RATE": "2000"}, how)
                self.assertEqual((run.status, run.stdout), (0, "blocked 0 elsewhere 0\n" * 2), run)

    def test_where_the_initial_thread_has_ended_a_worker_takes_them(self):
        for suffix, how in (("", "library"), ("_gcc", "launcher")):
            with self.subTest(how=how):
                run = self.attached([program("process_signals" + suffix), "ended"], {"BLAME_RATE": "2000"}, how)
                self.assertEqual((run.status, run.stdout), (128 + signal.SIGTERM, ""), run)
