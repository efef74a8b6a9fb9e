"""Programs without OpenMP under `blame run`: what their first thread does is known by its CPU time and by how long it sleeps."""

import csv
import io
import itertools
import os
import shutil

import contract_checks
from harness import BLAME, BlameTest, program

SOUND = contract_checks.TREE_CHECKS + [contract_checks.check_run, contract_checks.check_threads,
                                       contract_checks.check_exact_laws]
PROGRAM = "without_openmp"


class WithoutOpenmp(BlameTest):
    def measured(self, *arguments, status=7, env=None, options=()):
        run = self.attached([program(PROGRAM), *map(str, arguments)], env, "launcher", options)
        self.assertEqual(run.status, status, run)
        return run

    def assert_total(self, profile, metric, name, expected_s):
        """Sampled times: 5 standard deviations of as many samples, and a few of them."""
        period_s = 1 / profile.rate()
        self.assertLess(abs(profile.total(metric, name) - expected_s), 5 * (period_s * expected_s) ** 0.5 + 5 * period_s + 0.02, name)

    def test_work_and_sleep_have_contexts_and_times(self):
        run = self.measured(300, 100, 200)
        self.assertEqual((run.stdout, run.stderr), ("done\n", ""), run)
        profile = self.load(run, checks=SOUND)
        self.assert_total(profile, "work", "hot", 0.29)  # the first 0.01 s are before the measurement
        self.assert_total(profile, "work", "warm", 0.1)
        self.assert_total(profile, "blocked", "nap", 0.2)
        self.assertEqual((profile.run["threads_max"], profile.run["regions"], profile.total("idleness", "main")), (1, 0, 0))

    def test_cores_that_its_thread_did_not_use_are_idle(self):
        """At each sample: all but one while the thread runs, blamed on its code, or all of them while it sleeps."""
        profile = self.load(self.measured(200, 50, 150), checks=SOUND)
        cores, idle = profile.run["cores"], lambda name: profile.total("core idleness", name)
        for name in ("hot", "warm"):
            self.assertAlmostEqual(idle(name), (cores - 1) * (profile.total("work", name) + profile.total("no core", name)), places=4)
        self.assertAlmostEqual(idle("<no thread ran>"), cores * profile.total("blocked", "nap"), delta=0.05 * cores)
        self.assertGreater(idle("<no thread ran>"), 0)
        self.assertIn("core_idleness", profile.run["conservation"])

    def test_the_summary_says_that_there_was_no_openmp(self):
        run = self.measured(200, 0, 100, env={"BLAME_SUMMARY": "1"})
        self.assertIn(", no OpenMP\n", run.stderr, run)
        for metric in ("idleness", "overhead", "lock wait"):
            self.assertNotIn(f"\n  {metric}", run.stderr, run)
        self.assertIn("blocked in nanosleep", run.stderr, run)
        self.assertRegex(run.stderr, r"\n  blocked .*  asleep or spinning \(", run)
        self.assertNotIn("idle cores", run.stderr)
        self.assertRegex(run.stderr, r"\nMost of the work \(share of the thread time\):\n .* (hot|compute_ms|cpu_s)  (without_openmp.c|cpu_work.h):", run)

    def found(self, run):
        shown = [self.plain([BLAME, "report", directory, "--view", "findings", "--format", "csv"]) for directory in run.directories()]
        return [(row["title"].partition(" s ")[2], row["place"]) for view in shown for row in csv.DictReader(io.StringIO(view.stdout))]

    def test_who_waits_for_a_child_is_told_so_with_the_line(self):
        run = self.measured(300, 0, 0, "fork", env={"BLAME_RATE": "1000"})
        waits = ("blocked in waitpid (waiting for another process)", self.line_of("waitpid("))
        self.assertIn(waits, [(title, place.split("  < ")[0]) for title, place in self.found(run)], run)

    def line_of(self, text):
        with open(f"tests/programs/{PROGRAM}.c", encoding="utf-8") as file:
            line = next(number for number, line in enumerate(file, 1) if text in line)
        return f"main  {PROGRAM}.c:{line}"

    def test_a_script_that_waits_for_a_socket_is_told_its_own_line(self):
        script = os.path.join(self.new_folder(), "fetch.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import os, socket, time\ndef work():\n    until = time.process_time() + 0.05\n    while time.process_time() < until:\n        pass\n"
                       "def ask():\n    here.recv(1)\n"
                       "work()  # until it is measured\nhere, there = socket.socketpair()\nchild = os.fork()\n"
                       "if child:\n    there.close()\n    ask()\nelse:\n    time.sleep(0.5)\n    os._exit(0)\nwork()\n")
        run = self.attached(["/usr/bin/python3", script], {"BLAME_RATE": "1000"}, "launcher")
        self.assertIn(("blocked in recv (waiting for a socket)", "ask  fetch.py:7  < <module>"), self.found(run), run)

    def test_who_uses_little_cpu_time_leaves_nothing(self):
        run = self.measured(2, 1, 100)
        self.assertEqual((run.stdout, run.directories()), ("done\n", []), run)
        self.assertIn("blame: no profile: ", run.stderr)

    def test_who_spends_all_time_in_the_c_library_is_measured(self):
        run = self.measured(200, 0, 0, "reads")
        self.assert_total(self.load(run, checks=SOUND), "work", "read_zeros", 0.19)

    def test_who_takes_the_signal_gets_it_once_at_most(self):
        run = self.measured(300, 0, 0, "takes")
        self.assertEqual((run.stdout, run.directories()), ("done\n", []), run)

    def test_who_forbids_itself_system_calls_is_measured_until_then(self):
        for hot, how in itertools.product((2, 200), ("prctl", "syscall")):
            with self.subTest(hot=hot, how=how):
                run = self.measured(hot, 200, 0, "forbids", how, env={"BLAME_RATE": "1000"})  # its signals take no time to speak of
                self.assertEqual(run.stdout, "done\n", run)
                if hot == 2:
                    self.assertEqual(run.directories(), [], run)
                    continue
                self.assertIn("blame: the program forbids itself system calls", run.stderr)
                profile = self.load(run, checks=SOUND, elapsed=False)
                self.assert_total(profile, "work", "hot", 0.19)
                self.assertEqual(profile.total("work", "warm"), 0)

    def test_it_can_be_left_out(self):
        run = self.measured(100, 0, 0, options=["--omp-only"])
        self.assertEqual((run.stdout, run.directories()), ("done\n", []), run)

    def test_a_program_that_may_forbid_itself_system_calls_is_not_measured(self):
        library = os.path.join(self.new_folder(), "libseccomp.so.9")
        shutil.copy(program("dlopen_lib.so"), library)
        run = self.measured(100, 0, 0, env={"LD_PRELOAD": library})
        self.assertEqual((run.stdout, run.directories()), ("done\n", []), run)

    def test_the_measurement_starts_without_the_heap(self):
        """Which the program may be changing at that moment. The folders are new, there already, and those of a job."""
        taken, long_name = self.new_folder(), os.path.join(self.new_folder(), *["d" * 200] * 8)
        os.makedirs(long_name)
        for env, options in (({}, []), ({"BLAME_OUT": taken}, []), ({}, ["--job", "a"]), ({}, ["--trace"]), ({"BLAME_OUT": long_name}, [])):
            with self.subTest(env=env, options=options):
                run = self.attached([program("in_malloc")], env, "launcher", options)
                self.assertEqual((run.status, run.stdout), (7, "done\n"), run)
                self.assertNotIn("no profile", run.stderr, run)

    def test_a_forked_child_has_a_profile_of_its_own(self):
        run = self.measured(150, 0, 0, "fork")
        self.assertEqual(run.stdout, "child 3\ndone\n", run)
        found = run.directories()
        self.assertEqual(len(found), 2, run)
        names = sorted(name for directory in found for name in ("hot", "in_child")
                       if self.load(run, directory, checks=SOUND).total("work", name) > 0.1)
        self.assertEqual(names, ["hot", "in_child"], run)

    def test_one_that_aborts_has_a_profile(self):
        run = self.measured(150, 0, 0, "abort", status=134)
        self.assert_total(self.load(run, checks=SOUND), "work", "hot", 0.14)

    def test_the_reports_of_one_that_aborts_are_not_measured(self):
        run = self.attached([program("without_openmp_names"), "50", "0", "0", "abort"], None, "launcher")
        self.assertEqual((run.status, len(run.directories())), (134, 1), run)

    def test_openmp_that_comes_later_goes_on_with_the_same_measurement(self):
        for library in ("loads_later_lib.so", "loads_later_clang.so"):
            with self.subTest(library=library):
                run = self.measured(150, 0, 0, "openmp", program(library))
                profile = self.load(run, checks=SOUND)
                self.assert_total(profile, "work", "hot", 0.14)
                self.assertGreater(profile.clocked("later_share"), 0, run)
                self.assertEqual((profile.run["threads_max"], profile.run["regions"]), (2, 1), run)

    def test_openmp_that_comes_when_the_measurement_starts(self):
        """Of both starts, one makes the profile: in another thread's handler, or before the region."""
        for ms in range(8, 32, 2):
            with self.subTest(ms=ms):
                run = self.measured(50, 0, 0, "races", program("loads_later_clang.so"), ms, options=["--posix", "0"])
                self.assertEqual(run.stdout, "done\n", run)
                self.assertEqual(self.load(run, checks=SOUND).run["regions"], 1, run)

    def test_scripts_leave_profiles_of_what_computes(self):
        run = self.attached(["sh", "-c", f"for i in 1 2 3; do /bin/true; done; {program(PROGRAM)} 150 0 0; exit 5"], None, "launcher")
        self.assertEqual((run.status, run.stdout), (5, "done\n"), run)
        self.load(run, run.directory_of(PROGRAM), checks=SOUND)
