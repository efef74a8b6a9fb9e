"""wakes.csv and --view waits: which code ended a thread's wait, and after how long. The program knows who woke it."""

import csv
import io

from harness import BlameTest, program
from test_posix_locks import LAYER
from test_posix_threads import SOUND

KINDS = {"condition": ("condition variable", "wait_for_condition"), "broadcast": ("condition variable", "wait_for_condition"),
         "c11": ("condition variable", "wait_for_c11"), "semaphore": ("semaphore", "wait_for_semaphore"),
         "barrier": ("barrier", "wait_in_barrier"), "futex": ("futex", "wait_on_word"), "end": ("end of a thread", "wait_for_ends"),
         "once": ("initialisation", "initialise_by"), "once_c11": ("initialisation", "initialise_by")}
PRODUCERS = ("slow", "quick")


class Wakes(BlameTest):
    pace = 1

    def pairs(self, profile):
        """Seconds by kind, function that waits, and producer that wakes; waits that have another waker under None."""
        found = {}
        for pair in csv.DictReader(io.StringIO(profile.read("wakes.csv"))):
            path = profile.rows[int(pair["waker"])].path()
            waker = next((name for name in PRODUCERS if name in path or f"{name}_thread" in path or f"{name}_once" in path), None)
            key = pair["kind"], pair["waiter_function"], waker
            found[key] = found.get(key, 0) + float(pair["seconds"])
        return found

    def assert_pairs(self, ways):
        run, profile = self.profile_of("wakes", "4", *ways, env=LAYER, how="launcher", checks=SOUND)
        pairs, due = self.pairs(profile), {}
        for line in run.stdout.splitlines():
            way, *clocked = line.split()
            for producer, seconds in zip(PRODUCERS, clocked):
                if float(seconds):
                    key = *KINDS[way], producer
                    due[key] = due.get(key, 0) + float(seconds)
        for key, seconds in due.items():
            # A sample that gets its core only after the wake cannot learn who woke: so how many waits have a waker depends on load.
            self.assertGreater(pairs.get(key, 0), 0, (key, pairs, due))
            self.assertLess(pairs[key], 1.1 * seconds + 0.02, (key, pairs, due))
        return run, profile, pairs

    def test_each_wait_has_its_own_waker(self):
        run, profile, pairs = self.assert_pairs(KINDS)
        self.assertFalse([key for key in pairs if key[2] is None and key[1].startswith("wait_")], pairs)
        view = self.report(run.directories()[0], "--view", "waits").stdout
        self.assertRegex(view, r"semaphore in wait_for_semaphore  wakes\.c:\d+  < consume")
        self.assertRegex(view, r"woken by wake_by_condition  wakes\.c:\d+  < slow")
        self.assertLessEqual(sum(pairs.values()), profile.root["blocked (I)"] + 1e-3)

    def test_a_time_limit_is_nobodys_waking(self):
        _, profile = self.profile_of("wakes", "2", "times_out", "semaphore", env=LAYER, how="launcher", checks=SOUND)
        self.assertGreater(profile.total("blocked", "wait_in_vain"), 0.05)
        self.assertEqual([key for key in self.pairs(profile) if key[1] == "wait_in_vain"], [])

    def test_a_handler_that_initialises_does_not_disturb_an_initialisation_that_its_thread_awaits(self):
        run = self.attached([program("once_in_handler")], None, "launcher")
        self.assertEqual((run.status, run.stdout), (0, "2 1\n"), run)
