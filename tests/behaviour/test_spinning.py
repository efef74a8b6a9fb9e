"""Threads that wait in loops: a row of its own, and the pool whose loop it is."""

import re

from harness import BlameTest, program
from test_posix_locks import LAYER
from test_posix_threads import SOUND

LIBRARIES = {"libopenblas_like.so": "of waiting in loops of OpenBLAS's threads", "libtbb_like.so": "of waiting in loops of TBB's threads"}
# How much of such a loop is waiting depends on where the processor takes interrupts: in the call or pause, or in the loop's own
# code. The rest is that code, and the thread's begin and end.
WAITED = 0.5
WHOLE = 0.9
ONCE = 0.2  # of a loop with one pause for each look


class Spinning(BlameTest):
    def waited(self, way, *library, least=WAITED):
        """The run, its profile, and the time of the thread that waits."""
        run, profile = self.profile_of("spinning", way, "300", *library, env=LAYER, how="launcher", checks=SOUND)
        thread = profile.threads[1]
        spun_s = sum(row["blocked (E)"] for row in profile.rows if row.name == "<spinning>")
        whole_s = sum(float(thread[metric]) for metric in ("work", "no_core", "blocked"))
        self.assertGreater(whole_s, 0.2, run)
        self.assertGreater(spun_s, least * whole_s, run)
        self.assertGreater(float(thread["blocked"]), least * whole_s, run)
        self.assertGreater(spun_s + profile.total("work", "wait_in_loop") + profile.total("no core", "wait_in_loop"), WHOLE * whole_s, run)
        return run, profile

    def findings(self, run):
        return self.report(run.directories()[0], "--view", "findings").stdout

    def test_a_loop_of_the_programs_own_is_waiting_and_cores_idle_because_of_the_other_thread(self):
        for way in ("yields", "pauses", "both"):
            with self.subTest(way=way):
                run, profile = self.waited(way)
                self.assertGreater(profile.total("blocked", "wait_here"), 0.2, run)
                self.assertIn("spin-waiting on a flag in wait_in_loop", self.findings(run))
                others = (profile.run["cores"] - 1) * (profile.total("work", "works") + profile.total("no core", "works"))
                idle = profile.total("core idleness", "works")
                # A sample may find the waiter behind its look, and without a core it stays there; nor is a core idle for which
                # the first thread is ready.
                awake = sum(float(thread[metric]) for thread in profile.threads[:2] for metric in ("work", "no_core")) * profile.run["cores"] / 2
                self.assertTrue(0.95 * others - 1.1 * awake - 0.01 <= idle <= 1.05 * others + 0.01, (idle, others, awake, run))

    def test_of_a_loop_with_one_pause_a_part_is_waiting_and_the_finding_has_all(self):
        run, profile = self.waited("once", least=ONCE)
        whole_s = sum(float(profile.threads[1][metric]) for metric in ("work", "blocked"))
        title, seconds = re.search(r"1\. (.*?): .*?([0-9.]+) s \(", self.findings(run), re.DOTALL).groups()
        self.assertEqual(title, "spin-waiting on a flag in wait_in_loop", run)
        self.assertGreater(float(seconds), WHOLE * whole_s, run)

    def test_a_pool_is_known_by_its_library(self):
        for library, title in LIBRARIES.items():
            with self.subTest(library=library):
                run, _ = self.waited("yields", program(library))
                self.assertIn(title, self.findings(run))
