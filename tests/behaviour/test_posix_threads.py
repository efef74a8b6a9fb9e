"""POSIX threads, without OpenMP or beside its teams (libblame-pthreads.so): each has its rows from its begin to its end, and the program does not
notice. What they work is known by their CPU time."""

import re
import signal

import contract_checks
from harness import BLAME, BlameTest, program
from test_posix_locks import LAYER

PROGRAM = "posix_threads"
SOUND = contract_checks.TREE_CHECKS + [contract_checks.check_run, contract_checks.check_threads,
                                       contract_checks.check_exact_laws]
SHORT = 10000


class PosixThreads(BlameTest):
    def measured(self, *arguments, profiles=1, name=PROGRAM, env=LAYER):
        """A run that ends as it does without the tool, and its profiles."""
        argv = [program(name), *map(str, arguments)]
        alone, run = self.plain(argv), self.attached(argv, env, "launcher")
        self.assertEqual((run.status, run.stdout), (alone.status, alone.stdout), f"{alone}\n{run}")
        self.assert_only_tool_lines(run)
        found = run.directories()
        self.assertEqual(len(found), profiles, run)
        loaded = [self.load(run, directory, checks=SOUND) for directory in found]
        return run, (loaded if profiles != 1 else loaded[0])

    def assert_worked(self, profile, name, expected_s):
        """5 standard deviations of as many samples, and a few of them."""
        period_s = 1 / profile.rate()
        self.assertLess(abs(profile.total("work", name) - expected_s), 5 * (period_s * expected_s) ** 0.5 + 5 * period_s + 0.02, name)

    def kinds(self, profile):
        return [thread["kind"] for thread in profile.threads]

    def test_each_thread_has_what_it_worked_and_the_first_one_only_waits(self):
        _, profile = self.measured("workers", 300)
        self.assertEqual(self.kinds(profile), ["initial", "other", "other"])
        self.assert_worked(profile, "alpha", 0.3)
        self.assert_worked(profile, "beta", 0.15)
        self.assertGreater(profile.total("blocked", "main"), 0.2)
        self.assertEqual((profile.run["threads_max"], profile.root["idleness (I)"]), (3, 0))

    def test_the_summary_says_for_how_long_cores_were_idle(self):
        run = self.attached([program(PROGRAM), "workers", "100"], LAYER | {"BLAME_SUMMARY": "1"}, "launcher")
        profile = self.load(run, checks=SOUND)
        shown = re.search(r"\n  idle cores +([0-9.]+) s  of the ", run.stderr)
        self.assertEqual(bool(shown), profile.run["cores"] > 1, run)
        if shown:
            self.assertAlmostEqual(float(shown[1]), profile.root["core idleness (I)"], delta=0.006)
        directory, = run.directories()
        tree, threads = (self.plain([BLAME, "report", directory, "--view", view], {"COLUMNS": "160"}).stdout for view in ("top-down", "threads"))
        self.assertEqual(bool(shown), "core idleness" in tree, tree)
        for text in (tree, threads):
            self.assertIn(", no OpenMP;", text)
            self.assertNotRegex(text, r"OpenMP start|overhead|shared|(?<!core )\bidle", text)

    def test_however_a_thread_ends_it_is_measured_until_its_destructors_have_run(self):
        _, profile = self.measured("ends", 100)
        self.assertEqual(self.kinds(profile), ["initial"] + 5 * ["other"])
        for name in ("returns", "leaves", "is_cancelled", "leaves_c11", "returns_c11"):
            self.assert_worked(profile, name, 0.1)
        self.assert_worked(profile, "in_destructor", 0.06)
        first_s = float(profile.threads[0]["end_s"])
        self.assertTrue(all(float(thread["end_s"]) < first_s for thread in profile.threads[1:]), profile.threads)

    def test_a_thread_with_the_smallest_stack(self):
        _, profile = self.measured("small", 200)
        self.assert_worked(profile, "on_small_stack", 0.2)

    def test_many_short_threads_reuse_what_ended_ones_have_left(self):
        _, profile = self.measured("short", SHORT)
        self.assertEqual(self.kinds(profile).count("other"), SHORT)
        self.assertLessEqual(profile.run["threads_max"], 9)
        own_calls = [row.name for row in profile.rows if row.name.startswith("timer_")]
        self.assertEqual(own_calls, [], "what the tool itself calls when a thread begins is not the program's")

    def test_threads_of_code_without_a_linkage_table(self):
        """Such as Rust's. Its calls are not shown to an audit library."""
        _, profile = self.measured("workers", 300, name="posix_threads_got", env={})
        self.assertEqual(self.kinds(profile), ["initial", "other", "other"])

    def test_threads_that_a_library_makes_before_main(self):
        _, profile = self.measured(name="pool_made_early", env={})
        self.assertEqual(self.kinds(profile), ["initial", "other", "other"])
        self.assert_worked(profile, "works_at_once", 0.1)
        self.assert_worked(profile, "works_when_called", 0.05)
        self.assertGreater(profile.total("blocked", "works_when_called"), 0.05)

    def test_threads_that_a_library_makes_before_the_program_s_runtime_starts(self):
        """As if the runtime had started first: while the program works alone, the other thread of the team idles."""
        for name in ("pool_beside_teams", "pool_beside_teams_gcc"):
            with self.subTest(name):
                _, profile = self.measured(name=name, env={"OMP_NUM_THREADS": "2"})
                self.assertEqual(sorted(self.kinds(profile)), ["initial", "other", "other", "worker"])
                self.assert_worked(profile, "works_at_once", 0.1)
                self.assert_worked(profile, "works_when_called", 0.05)
                self.assertGreater(profile.total("idleness", "works_alone"), 0.02)

    def test_threads_after_a_region_that_a_library_begins_before_main(self):
        _, profile = self.measured(name="region_made_early", env={})
        self.assertEqual(sorted(self.kinds(profile)), ["initial", "other", "other", "worker"])
        self.assert_worked(profile, "works_at_once", 0.1)

    def test_the_program_ends_while_threads_run(self):
        _, profile = self.measured("running", 100)
        self.assert_worked(profile, "alpha", 0.1)
        self.assertGreater(profile.total("work", "for_ever"), 0)

    def test_the_first_thread_ends_before_the_process(self):
        _, profile = self.measured("left", 200)
        self.assert_worked(profile, "ends_all", 0.2)
        first, other = profile.threads
        self.assertLess(float(first["end_s"]), float(other["end_s"]))

    def test_a_child_that_a_thread_forks_has_its_threads_too(self):
        _, profiles = self.measured("forks", 200, profiles=2)
        found = sorted((profile.total("work", "in_child"), profile) for profile in profiles)
        self.assertEqual(found[0][0], 0)
        self.assert_worked(found[0][1], "before_fork", 0.1)  # beside load, fork() itself works for 10 ms and more
        self.assert_worked(found[1][1], "in_child", 0.2)
        self.assertEqual(self.kinds(found[1][1]), ["initial", "other"])

    def test_who_waits_for_all_signals_gets_none_of_ours_and_is_measured(self):
        _, profile = self.measured("signals", 200)
        self.assert_worked(profile, "alpha", 0.2)
        self.assert_worked(profile, "takes_signals", 0.2)
        self.assertGreater(profile.total("blocked", "takes_signals"), 0.05)

    def test_without_the_layer_a_process_whose_other_threads_work_has_a_profile(self):
        run = self.attached([program(PROGRAM), "workers", "200"], None, "launcher")
        profile = self.load(run, checks=SOUND)
        self.assertGreater(profile.total("blocked", "main"), 0.1)

    def test_a_thread_that_cannot_be_made(self):
        _, profile = self.measured("refused", 100)
        self.assert_worked(profile, "alpha", 0.1)
        self.assert_worked(profile, "beta", 0.05)

    def test_once_there_are_teams_other_threads_work_beside_them(self):
        for library in ("loads_later_lib.so", "loads_later_clang.so"):
            with self.subTest(library=library):
                _, profile = self.measured("teams", 200, program(library))
                self.assertEqual(sorted(self.kinds(profile)), ["initial", "other", "other", "worker"])
                self.assertEqual((profile.run["threads_max"], profile.run["regions"]), (2, 1))
                self.assertGreater(profile.clocked("later_share"), 0)
                self.assertGreater(profile.total("work", "works_beside"), 0)
                self.assert_worked(profile, "beta", 0.1)
                for name in ("works_beside", "beta"):
                    self.assertAlmostEqual(profile.total("idleness", name), 0, places=2, msg=name)

    def test_threads_beside_the_teams_of_an_openmp_program_are_measured_and_make_nobody_idle(self):
        for name in ("beside", "beside_gcc"):
            with self.subTest(program=name):
                _, profile = self.measured("works", 100, name=name, env=LAYER | {"OMP_NUM_THREADS": "2"})
                self.assertEqual(sorted(self.kinds(profile)), ["initial"] + 4 * ["other"] + ["worker"])
                self.assertEqual((profile.run["threads_max"], profile.run["regions"]), (2, 1))
                for worker in ("works", "works_later", "team_works"):
                    self.assert_worked(profile, worker, 0.1)
                for worker in ("works", "works_later", "sleeps", "waits"):
                    self.assertAlmostEqual(profile.total("idleness", worker), 0, places=4, msg=worker)
                self.assertGreater(profile.total("idleness", "team_works"), 0)
                self.assertGreater(profile.total("blocked", "sleeps"), 0)
                self.assertGreater(profile.total("lock wait here", "waits"), 0)
                self.assertGreater(profile.total("lock wait", "holds"), 0)

    def test_teams_smaller_than_the_runtime_announced_make_no_idleness_negative(self):
        run, profile = self.measured("works", 100, name="beside", env=LAYER | {"OMP_NUM_THREADS": "8"})
        self.assertEqual(profile.run["threads_max"], 2)
        self.assertIn(", shared; ", self.plain([BLAME, "report", *run.directories()], {"COLUMNS": "200"}).stdout)
        self.assertGreaterEqual(profile.total("idleness", "works"), 0)

    def test_the_head_counts_the_threads_beside_the_teams_also_of_a_program_that_was_killed(self):
        for mode, status in (("works", 0), ("killed", 128 + signal.SIGKILL)):
            with self.subTest(mode=mode):
                run = self.attached([program("beside"), mode, "100"], LAYER | {"OMP_NUM_THREADS": "2"}, "launcher")
                self.assertEqual(run.status, status, run)
                directory, = run.directories()
                head = " ".join(self.plain([BLAME, "report", directory], {"COLUMNS": "200"}).stdout.splitlines()[1:3])
                lives = [(float(thread["begin_s"]), float(thread["end_s"])) for thread in self.load(run, directory, checks=()).threads if thread["kind"] == "other"]
                most = max(sum(begin <= at < end for begin, end in lives) for at, _ in lives)
                self.assertIn(f", 2 OpenMP threads and {most} others, ", head)

    def test_a_thread_beside_teams_that_begins_a_region_is_an_initial_thread(self):
        _, profile = self.measured("joins", 100, name="beside_gcc")
        self.assertEqual((self.kinds(profile), profile.run["threads_max"]), (["other", "initial"], 1))
        self.assert_worked(profile, "begins_region", 0.1)

    def test_who_only_waits_for_the_end_of_threads_that_have_teams_makes_nobody_idle(self):
        for name in ("beside", "beside_gcc"):
            with self.subTest(program=name):
                run, profile = self.measured("waits", 600, name=name, env=LAYER | {"OMP_NUM_THREADS": "2", "BLAME_RATE": "200"})
                self.assertEqual((self.kinds(profile)[0], profile.run["threads_max"]), ("other", 4))
                self.assertGreater(profile.total("blocked", "main"), 0.5)
                self.assertLess(profile.total("idleness", "main"), 0.1 * profile.total("blocked", "main"))
                self.assertGreater(profile.total("idleness", "has_teams"), 0.5)

    def test_nobody_is_idle_because_of_what_a_thread_does_before_it_uses_openmp(self):
        for name in ("beside", "beside_gcc"):
            _, profile = self.measured("late", 100, name=name, env=LAYER | {"BLAME_ENVIRONMENT": "shared", "BLAME_RATE": "200"})
            self.assertEqual(profile.run["threads_max"], 3)
            self.assertGreater(profile.total("blocked", "sleeps_first"), 0.4)
            self.assertLess(profile.total("idleness", "sleeps_first"), 0.05)

    def test_without_a_region_no_thread_is_idle_because_others_work_beside_it(self):
        _, profile = self.measured("alone", 100, name="beside", env=LAYER | {"OMP_NUM_THREADS": "2"})
        self.assertEqual((self.kinds(profile), profile.run["threads_max"]), (["initial", "other"], 1))
        self.assert_worked(profile, "works", 0.1)
        self.assertEqual(profile.root["idleness (I)"], 0)

    def test_who_only_makes_threads_and_does_little_leaves_nothing(self):
        self.measured("workers", 1, profiles=0)
