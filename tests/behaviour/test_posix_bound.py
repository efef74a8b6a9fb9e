"""Locks of POSIX threads under `blame run`, whose audit library binds calls of libc's functions to libblame-pthreads.so: each way of
calling reaches it, and the program does not notice."""

import hashlib
import os
import re
import shutil
import subprocess
import unittest

from harness import BLAME, LIBRARY, BlameTest, program
from test_any_program import SOUND
from test_posix_locks import MOST_INSTRUCTIONS, OFF, Measured, stated

WAYS = ("by_call", "by_name", "by_handle", "by_library")
STUBS = 2  # instructions, of a lock and its release
TEXT = b"".join(hashlib.sha256(b"%d" % i).digest() * (1 + i % 3) for i in range(40_000))


class Bound(BlameTest):
    alone = True

    def ways_of(self, name, env=None, options=()):
        """The profile, and by which ways waits were recorded."""
        argv = [program(name), program("posix_bound_lib.so")]
        alone, run = self.plain(argv, env), self.attached(argv, env, "launcher", options)
        self.assertEqual((run.status, run.stdout), (alone.status, alone.stdout), f"{alone}\n{run}")
        self.assertEqual(run.status, 3, run)
        profile = self.load(run, checks=SOUND)
        return profile, [way for way in WAYS if profile.total("lock wait here", way) > 0]

    def test_calls_reach_the_layer_however_they_are_bound(self):
        for name, env in (("posix_bound", {}), ("posix_bound", {"LD_BIND_NOW": "1"}), ("posix_bound_now", {})):
            with self.subTest(name, env=env):
                profile, ways = self.ways_of(name, env)
                self.assertEqual(ways, list(WAYS))
                lock, = profile.locks
                self.assertEqual(lock["name"], "mutex mutex")
                self.assertGreater(profile.total("lock wait", "holder"), 0)

    def test_locks_of_c_plus_plus_have_holders_without_openmp(self):
        run = self.attached([program("std_convoy")], how="launcher")
        self.assertEqual((run.status, run.stdout), (0, "done\n"), run)
        lock, = self.load(run, checks=SOUND).locks
        self.assertEqual(lock["name"], "mutex queue_lock")
        locks = self.report(run.directories()[0], "--view", "locks").stdout
        self.assertRegex(locks, r"waited +[\d.]+  short_section\(\)  std_convoy\.cc:\d+")
        self.assertRegex(locks, r"held +[\d.]+  .* < compute\(double\)|held +[\d.]+  compute\(double\)  std_convoy\.cc:\d+")

    def test_calls_through_the_table_of_addresses_are_bound_before_main(self):
        """The loader asks nobody about them (-fno-plt)."""
        self.assertEqual(self.ways_of("posix_bound_noplt")[1], list(WAYS))

    def test_a_program_keeps_a_function_of_its_own(self):
        profile, ways = self.ways_of("posix_bound_own")
        self.assertEqual(ways, list(WAYS))
        self.assertGreater(profile.total("lock wait here", "pthread_mutex_lock"), 0)  # its own calls libc's

    def test_the_program_of_address_sanitizer_runs_as_it_does_alone(self):
        self.ways_of("posix_bound_asan", {"ASAN_OPTIONS": "detect_leaks=0"})

    def test_programs_of_thread_sanitizer_and_with_a_heap_of_their_own_are_left_alone(self):
        for argv in ([program("std_convoy_tsan_gcc")], [program("std_convoy_tsan_clang")], [program("posix_bound_heap"), program("posix_bound_lib.so")]):
            with self.subTest(os.path.basename(argv[0])):
                alone, run = self.plain(argv), self.attached(argv, how="launcher")
                self.assertEqual((run.status, run.stdout), (alone.status, alone.stdout), f"{alone}\n{run}")
                self.assertIn(alone.status, (0, 3), alone)

    def test_it_can_be_left_out(self):
        profile, ways = self.ways_of("posix_bound", options=["--posix", "0"])
        self.assertEqual((ways, profile.locks), ([], []))
        for way in WAYS:
            self.assertGreater(profile.total("blocked", way), 0)

    def test_without_the_layer_the_stubs_lead_to_libc(self):
        folder = os.path.join(self.new_folder(), "blame")
        os.mkdir(folder)
        for path in (LIBRARY, BLAME, os.path.join(os.path.dirname(LIBRARY), "libblame-loader.so")):
            shutil.copy(path, folder)
        argv = [program("posix_bound"), program("posix_bound_lib.so")]
        for layer in (None, b"not a library"):
            with self.subTest(layer=layer):
                if layer:
                    with open(os.path.join(folder, "libblame-pthreads.so"), "wb") as file:
                        file.write(layer)
                run = self.plain([os.path.join(folder, "blame"), "run", "-o", "profile", *argv])
                self.assertEqual((run.status, run.stdout), (3, self.plain(argv).stdout), run)
                self.assertNotIn("lock wait", run.stderr, run)


class ByLauncher(Measured):
    def test_threads_with_openmp_need_no_preload(self):
        for name in ("posix_locks", "posix_locks_gcc"):
            with self.subTest(name):
                run, profile = self.profile_of(name, "normal", how="launcher")
                self.assert_expectations("normal", run, profile, 6)
                lock, = profile.locks
                self.assertEqual(lock["name"], "mutex mutex")
                if self.lacks_cores(profile):
                    continue
                clocked_s = stated(run, "lock_wait", "long_holder") / self.pace
                self.assertAlmostEqual(profile.total("lock wait", "long_holder"), clocked_s, delta=OFF * clocked_s)

    def test_locks_of_c_plus_plus_have_holders(self):
        run, profile = self.profile_of("std_mutexes", how="launcher")
        self.assertIn("mutex queue_lock", {lock["name"] for lock in profile.locks})
        locks = self.report(run.directories()[0], "--view", "locks").stdout
        self.assertRegex(locks, r"held +[\d.]+  .*(spin_on_clock|section)")


class Unnoticed(BlameTest):
    def test_results_bytes_and_cancellation_are_as_they_are_alone(self):
        argv = [program("posix_errors")]
        alone, run = self.plain(argv), self.attached(argv, how="launcher", options=["--rate", "1000"])
        self.assertEqual((run.status, run.stdout), (0, alone.stdout), f"{alone}\n{run}")

    def test_a_lock_and_its_release_cost_some_twenty_instructions_more_with_threads_and_two_without(self):
        def counted(run):
            return {name: int(count) for name, count in re.findall(r"^(\w+) (-?\d+)$", run.stdout, re.MULTILINE)}
        argv = [program("posix_cost")]
        alone, behind = counted(self.plain(argv)), counted(self.attached(argv, how="launcher", options=["--rate", "1"]))
        self.assertEqual(list(alone), ["mutex", "rwlock", "spin", "c11", "mutex_of_two", "c11_of_two"])
        for name, count in alone.items():
            if count < 0:
                continue  # not on this machine
            more = behind[name] - count
            self.assertTrue(STUBS < more <= MOST_INSTRUCTIONS if name.endswith("_of_two") else more == STUBS, (alone, behind))

    def test_what_programs_write_is_the_same(self):
        path = os.path.join(self.folder, "text")
        with open(path, "wb") as file:
            file.write(TEXT)
        for argv in (["zstd", "-q", "-c", "-T4", "-9", path], ["xz", "-c", "-T4", "-2", path], ["pigz", "-n", "-c", "-p4", path],
                     ["sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) select sum(i) from n;"],
                     ["python3", "-c", "import threading, queue\nq = queue.Queue()\n"
                                       "ts = [threading.Thread(target=lambda: [q.put(i) for i in range(5000)]) for _ in range(4)]\n"
                                       "[t.start() for t in ts]; [t.join() for t in ts]; print(q.qsize())"]):
            with self.subTest(argv[0]):
                if not shutil.which(argv[0]):
                    raise unittest.SkipTest(f"{argv[0]} is not installed")
                env = {name: value for name, value in os.environ.items() if not name.startswith("BLAME_")}
                alone = subprocess.run(argv, capture_output=True, check=False, env=env)
                run = subprocess.run([BLAME, "run", "-o", os.path.join(self.new_folder(), "profile"), *argv], capture_output=True, check=False, env=env)
                self.assertEqual((run.returncode, run.stdout), (alone.returncode, alone.stdout), run.stderr)
                self.assertTrue(alone.stdout)
