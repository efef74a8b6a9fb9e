"""Programs that do what programs do: end in every way, fork, load code, throw, use signals and small stacks. With the
tool they print, return and end as without it, and their profiles are sound."""

import json
import os
import shutil
import unittest

import contract_checks
from harness import BUILD, LIBRARY, PASSIVE, BlameTest, program

STATUS = {"_exit": 3, "quick_exit": 3, "exit": 3, "exit_primary": 3, "exit_worker": 3, "exit_small_stack": 3, "exit_beside": 3,
          "abort": 134, "sigkill": 137, "sigterm": 143, "segfault": 139}
FINISHED = ("exit", "exit_primary", "exit_small_stack", "exit_beside")  # after these the runtime finalizes the tool, so the CSV files are there


class Endings(BlameTest):
    def end(self, way, how):
        run = self.attached([program("endings"), way], how=how)
        self.assertEqual((run.status, run.stdout), (STATUS[way], "before the end\n"), run)
        self.assert_only_tool_lines(run)
        directory, = run.directories()
        tree = self.reported_tree(directory, checks=[check for check in contract_checks.TREE_CHECKS
                                                     if check is not contract_checks.check_resolved])
        # Two threads worked 0.5 s of the program's clock each; but of who ends the program itself, inside the region, it is not known
        # whether the other has got a core yet. The last moments may be lost with a process that is killed.
        least_s = 0.4 if way in ("exit_primary", "exit_worker") else 0.5
        self.assertGreater(tree.clocked("before_the_end"), least_s / self.pace, f"{way} {how}")
        if way in FINISHED:
            self.assertIn("profile.csv", os.listdir(directory))
        return run

    def test_every_ending_keeps_its_status_and_leaves_a_readable_profile(self):
        for way in STATUS:
            with self.subTest(way=way):
                self.end(way, "library")

    def test_every_ending_keeps_its_status_under_the_launcher(self):
        for way in STATUS:
            with self.subTest(way=way):
                self.end(way, "launcher")

    def test_a_killed_programs_contexts_are_resolved_when_their_region_had_ended(self):
        for way in ("sigkill", "_exit"):
            with self.subTest(way=way):
                self.reported_tree(self.end(way, "library").directories()[0])

    def test_what_is_known_when_a_thread_waits_is_resolved_when_it_is_killed_there(self):
        for name, how in (("known_late", "library"), ("known_late_gcc", "launcher")):
            with self.subTest(name=name):
                run = self.attached([program(name)], PASSIVE, how)
                self.assertEqual(run.status, STATUS["sigkill"], run)
                tree = self.reported_tree(run.directories()[0])
                self.assertEqual(tree.named("<unresolved>"), [], run)
                for row in tree.outermost("before_it_is_known"):
                    self.assertIn("encounter", row.path(), run)
                self.assertGreater(tree.clocked("before_it_is_known"), 0, run)

    def test_only_who_ends_the_runtime_before_the_program_is_told_that_the_rest_is_not_measured(self):
        for way, told in (("pause_hard", 1), ("exit", 0)):
            for how in ("library", "launcher"):
                with self.subTest(way=way, how=how):
                    run = self.attached([program("endings"), way], how=how)
                    self.assertEqual((run.status, run.stdout), (3, "before the end\n"), run)
                    self.assertEqual(run.stderr.count("the program has ended the OpenMP runtime"), told, run)

    def test_a_killed_profile_is_seen_in_every_view(self):
        run = self.end("sigkill", "library")
        for view in ("top-down", "bottom-up", "flat", "threads", "locks"):
            with self.subTest(view=view):
                self.assertTrue(self.report(run.directories()[0], "--view", view).stdout.strip())


class Forks(BlameTest):
    def profiles(self, way, how="library"):
        run = self.attached([program("forks"), way], how=how)
        self.assertEqual((run.status, run.stdout), (0, "child 7\n"), run)
        self.assert_only_tool_lines(run)
        self.assertEqual(len(run.directories()), 2, run)
        loaded = [self.load(run, directory, elapsed=False) for directory in run.directories()]
        parent, = (profile for profile in loaded if profile.clocked("parent_work") > 0)
        child, = (profile for profile in loaded if profile is not parent)
        return parent, child

    def assert_apart(self, parent, child):
        self.assertGreater(parent.clocked("parent_work"), 0)
        self.assertEqual(parent.clocked("child_work"), 0)
        self.assertGreater(child.clocked("child_work"), 0)
        self.assertEqual(child.clocked("parent_work"), 0)
        self.assertNotEqual(parent.run["pid"], child.run["pid"])

    def test_parent_and_child_without_exec_have_a_profile_each(self):
        for how in ("library", "launcher"):
            with self.subTest(how=how):
                self.assert_apart(*self.profiles("fork", how))

    def test_a_child_that_another_child_forks_has_one_profile(self):
        self.assert_apart(*self.profiles("twice"))

    def test_a_fork_in_a_thread_without_openmp_adds_no_thread_to_the_parents_profile(self):
        parent, child = self.profiles("thread")
        self.assert_apart(parent, child)
        self.assertEqual([thread["kind"] for thread in parent.threads], ["initial", "worker"])

    def test_a_child_that_was_made_past_fork_has_a_profile_of_its_own(self):
        """By clone() or _Fork(): what is to happen around a fork is told to nobody."""
        for way in ("clone", "_Fork"):
            with self.subTest(way=way):
                self.assert_apart(*self.profiles(way))

    def test_a_child_that_was_made_past_fork_leaves_its_parents_profile_alone(self):
        run = self.attached([program("forks"), "leave"], {"BLAME_SUMMARY": "1"})
        self.assertEqual((run.status, run.stdout), (0, "child 7\n"), run)
        self.assertEqual(run.stderr.count("profile: "), 1, run)
        self.load(run)

    def test_a_vforked_child_that_ends_by_exit_is_told(self):
        run = self.attached([program("forks_gcc"), "vfork"], how="launcher")
        self.assertEqual((run.status, run.stdout), (0, "child 7\n"), run)
        self.assertIn("a child of vfork() ended by exit()", run.stderr)
        self.load(run, elapsed=False, checks=contract_checks.TREE_CHECKS)

    def test_a_program_that_writes_its_title_over_the_environment_has_a_child_of_its_name(self):
        run = self.attached([program("forks"), "title"], {"BLAME_OUT": "profile-%e", "BLAME_COUNTERS": "perf::PAGE-FAULTS", "BLAME_TRACE": "0:60"})
        self.assertEqual(run.status, 0, run)
        self.assert_only_tool_lines(run)
        self.assertEqual(sorted(os.path.basename(directory) for directory in run.directories()), ["profile-forks", "profile-forks.1"])
        for directory in run.directories():
            profile = self.load(run, directory, elapsed=False)
            self.assertEqual((profile.run["options"]["out"], profile.run["options"]["counters"]), ("profile-%e", "perf::PAGE-FAULTS"))

    def test_parent_and_executed_child_have_a_profile_each(self):
        for how in ("library", "launcher"):
            with self.subTest(how=how):
                self.assert_apart(*self.profiles("exec", how))


class Faults(BlameTest):
    def test_the_programs_own_faults_are_its_own(self):
        """Caught before and behind the first region, left by a jump, on another stack, or left to the kernel."""
        for way in ("own", "late", "jump", "overflow", "default", "sent", "bus"):
            with self.subTest(way=way):
                self.assert_same_with_tool([program("faults"), way], {"BLAME_RATE": "5000"})

    def test_before_the_first_region_nobody_is_seen_to_handle_faults(self):
        self.assertIn("default", self.attached([program("faults"), "ask"], how="launcher").stdout.splitlines())

    def test_a_fault_in_the_handler_ends_that_sample_only(self):
        library = os.path.join(self.folder, "liblost_tables.so")
        shutil.copy(os.path.join(BUILD, "tests", "liblost_tables.so"), library)
        run = self.attached([program("lost_tables"), library], how="launcher",
                            env={"LD_LIBRARY_PATH": self.folder, "LD_BIND_NOW": "1", "BLAME_SUMMARY": None})
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (0, "survived"), run)
        self.assertRegex(run.stderr, r"lost: .*\b\d+ of \d+ samples \(fault in handler\)")
        with open(os.path.join(run.directories()[0], "run.json"), encoding="utf-8") as file:
            samples = json.load(file)["samples"]
        lost = sum(samples["dropped"].values())
        self.assertGreater(samples["dropped"]["fault in handler"], 0)
        self.assertEqual(samples["delivered"], samples["recorded"] + lost)


class Errno(BlameTest):
    def test_errno_stays_what_the_program_made_it(self):
        """Behind a critical section, whose name the tool looks up in a file that is gone."""
        copy = os.path.join(self.folder, "errno_kept")
        for rest in ([], ["unlink"]):
            with self.subTest(rest=rest):
                shutil.copy(program("errno_kept"), copy)
                run = self.attached([copy, *rest])
                self.assertEqual((run.status, run.stdout), (0, "changed 0 times\n"), run)


class FloatingPoint(BlameTest):
    def test_flags_traps_and_rounding_are_the_programs(self):
        """scripts/check-float.py shows it of all code; here samples, their blame, phases and a child are asked."""
        for asked, rate, more in (("flags", "10000", {"BLAME_TRACE": "1"}), ("trap", "1000", {"BLAME_LOCKS": "release"}),
                                  ("trap", "10000", {"BLAME_TASKS": "creation"}), ("up", "5000", {"BLAME_CONTEXT": "eager"})):
            with self.subTest(asked=asked, rate=rate):
                env = PASSIVE | {"BLAME_RATE": rate} | more
                run = self.assert_same_with_tool([program("floats"), asked, "100"], env)
                self.assertEqual(run.status, 0, run)


class LittleStack(BlameTest):
    def test_a_sample_on_a_signal_stack_takes_the_kernels_frame_of_it_alone(self):
        run = self.attached([program("little_stack"), "signal"])
        self.assertEqual((run.status, run.stdout), (0, "changed below: 0\n"), run)
        profile = self.load(run, checks=())
        self.assertEqual(profile.run["samples"]["dropped"].get("no path", 0), 0)
        self.assertGreater(profile.clocked("works"), 0)

    def test_samples_do_without_the_stack_that_they_interrupt(self):
        """At 10,000 samples/s; signal stacks of 0 bytes are as large as the kernel's frame."""
        for way in ("stack", "autodisarm", "fiber", "keys"):
            for size in (0, 4096, 5120, 6144, 8192) if way == "stack" else (0, 8192):
                with self.subTest(way=way, size=size):
                    run = self.attached([program("signal_stacks"), way, str(size)], env={"BLAME_RATE": "10000"})
                    self.assertEqual((run.status, run.stdout), (0, "changed below: 0, interrupted: 0, early: 0, other: 0\n"), run)
                    profile = self.load(run, checks=())
                    self.assertGreater(profile.clocked("work_with_little_room"), 0)
                    if way == "stack":
                        self.assertLess(profile.run["unwinding"]["slow_reads"], profile.run["samples"]["recorded"])

    def test_exit_on_a_small_stack_has_its_status(self):
        for how in ("library", "launcher"):
            with self.subTest(how=how):
                run = self.attached([program("little_stack"), "exit"], how=how)
                self.assertEqual(run.status, 3, run)


class SameWithTool(BlameTest):
    def same(self, name, *arguments, env=None, how="library"):
        run = self.assert_same_with_tool([program(name), *arguments], env, how)
        return run, self.load(run)

    def test_a_loop_of_dlopen_and_dlclose(self):
        for name, how in (("dlopen_loop", "library"), ("dlopen_loop_gcc", "launcher")):
            with self.subTest(name=name):
                _, profile = self.same(name, program("dlopen_lib.so"), env={"BLAME_RATE": "10000"}, how=how)
                self.assertGreater(profile.clocked("compute_beside"), 0)  # work, or where others have the cores none
                self.assertGreater(profile.clocked("load_and_call"), 0)

    def test_critical_sections_when_the_thread_that_started_the_runtime_has_ended(self):
        for name, how, told in (("first_thread", "library", ("pthread", "main")), ("first_thread", "launcher", ("main",)),
                                ("first_thread_gcc", "launcher", ())):
            for case in ("pthread", "main"):
                with self.subTest(name=name, how=how, case=case):
                    run, profile = self.same(name, case, how=how)
                    self.assertEqual(case in told, "waiting for locks appears in the row <untold wait>" in run.stderr, run)
                    self.assertGreater(profile.clocked("team"), 0)

    def test_a_runtime_with_an_older_tool_interface_is_asked_for_nothing(self):
        for case in ("", "same"):
            run = self.plain([program("old_runtime"), LIBRARY, case])
            self.assertEqual((run.status, run.stdout), (0, "started 0, asked for 0\n"), run)
            self.assertIn("(of 2018) has a tool interface older than that of OpenMP 5.0; nothing is measured", run.stderr)
        run = self.attached([program("old_runtime"), LIBRARY, "second"])
        self.assertEqual((run.status, run.stdout), (0, "started 0, asked for 0\n"), run)
        self.assertIn("the second OpenMP runtime has a tool interface older than that of OpenMP 5.0; it is not measured", run.stderr)

    def test_a_program_of_gcc_that_ends_with_its_last_thread_ends(self):
        _, profile = self.same("first_thread_gcc", "last", how="launcher")
        self.assertGreater(profile.clocked("team"), 0)

    def test_the_first_thread_ends_while_others_go_through_critical_sections(self):
        for attempt in range(20):  # each fifth ended the program
            with self.subTest(attempt=attempt):
                self.same("first_thread", "many")

    def test_a_wait_that_began_before_the_first_thread_ended_ends(self):
        _, profile = self.same("first_thread", "waits")
        self.assertGreater(profile.clocked("work_behind"), 0)
        self.assertEqual(profile.total("lock wait here", "work_behind"), 0)

    def test_a_cancelled_thread_goes_on_to_its_own_cancellation_point(self):
        for name, how in (("cancelled", "library"), ("cancelled_gcc", "launcher")):
            with self.subTest(name=name):
                _, profile = self.same(name, how=how)
                self.assertGreater(profile.total("lock wait here", "wait_for_it"), 0)
                self.same(name, "fork", how=how)

    def test_a_program_with_thread_sanitizer_sleeps(self):
        self.same("sanitized", env={"BLAME_RATE": "1000"})

    def test_libraries_in_each_others_place_are_told_apart(self):
        for name, how in (("library_tour", "library"), ("library_tour_gcc", "launcher")):
            with self.subTest(name=name):
                beside = os.path.join(self.folder, "beside.so")
                shutil.copy(program("dlopen_lib.so"), beside)
                _, profile = self.profile_of(name, "turns", beside, program("dlopen_lib.so"),
                                               program("dlopen_even.so"), how=how, own_stderr=None)
                in_turns = {}
                for row in profile.rows:
                    if "visit" in row.path() and row.name in ("churn", "stirs"):
                        in_turns[row.name, row.module] = in_turns.get((row.name, row.module), 0) + row["work (I)"]
                    elif "work_beside" in row.path() and row.name in ("churn", "stirs"):
                        self.assertEqual((row.name, row.module), ("churn", "beside.so"))
                self.assertEqual(set(in_turns), {("churn", "dlopen_lib.so"), ("stirs", "dlopen_even.so")})

    def test_paths_through_many_libraries_that_are_being_loaded_are_whole(self):
        libraries = [os.path.join(self.folder, f"copy{i}.so") for i in range(150)]
        for library in libraries:
            shutil.copy(program("dlopen_lib.so"), library)
        for name, how in (("library_tour", "library"), ("library_tour_gcc", "launcher")):
            with self.subTest(name=name):
                _, profile = self.profile_of(name, "all", *libraries, how=how, own_stderr=None)
                modules = {row.module for row in profile.rows if row.name == "churn" and "visit" in row.path()}
                self.assertGreater(len(modules), 30)
                self.assertLessEqual(50 * profile.run["truncated_paths"], profile.run["samples"]["recorded"])

    def test_paths_through_code_without_unwind_tables_are_whole(self):
        for name, how in (("no_tables", "library"), ("no_tables_frames", "library"),
                          ("no_tables_gcc", "launcher"), ("no_tables_gcc_frames", "launcher")):
            with self.subTest(name=name):
                _, profile = self.profile_of(name, how=how)
                self.assert_whole(profile)
                for inner in ("leaf", "by_hand"):
                    for place in ("main", "[parallel"):
                        self.assertTrue([row for row in profile.rows if row.name == inner
                                         and row.path()[-3:-1] == ["repeat", "middle"]
                                         and place in row.path()[-4]], f"{inner} below {place}")

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tests", "no_tables_fortran")), "no Fortran compiler")
    def test_paths_through_optimised_fortran_are_whole(self):
        _, profile = self.profile_of("no_tables_fortran")
        self.assert_whole(profile)

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tests", "debug_frame")), "no Fortran compiler")
    def test_what_is_written_for_debuggers_alone_is_read(self):
        _, profile = self.profile_of("debug_frame")
        kernels = sum(row["samples (I)"] for row in profile.rows if row.name == "kernels::outer")
        self.assertGreater(kernels, 0)
        self.assertLessEqual(20 * profile.run["unwinding"]["decoded_steps"], kernels)
        self.assertLessEqual(100 * profile.run["truncated_paths"], profile.run["samples"]["recorded"])

    def assert_whole(self, profile):
        """Of samples that hit the middle of something that only a debugger could know, one in a hundred may break. A good part of
        all frames is passed by what their code says."""
        self.assertLessEqual(100 * profile.run["truncated_paths"], profile.run["samples"]["recorded"])
        self.assertGreater(20 * profile.run["unwinding"]["decoded_steps"], profile.run["unwinding"]["frames"])

    def test_exceptions_on_all_threads(self):
        for name, how in (("exceptions", "library"), ("exceptions_gcc", "launcher")):
            with self.subTest(name=name):
                _, profile = self.same(name, env={"BLAME_RATE": "10000"}, how=how)
                self.assertGreater(sum(row.clocked() for row in profile.rows
                                       if row.name.startswith("throw_and_catch")), 0)

    def test_the_programs_own_timers_and_handlers(self):
        for how in ("library", "launcher"):
            with self.subTest(how=how):
                self.same("own_signals", how=how)

    def test_small_stacks_used_up(self):
        for name, how in (("small_stacks", "library"), ("small_stacks_gcc", "launcher")):
            with self.subTest(name=name):
                self.same(name, env=PASSIVE | {"OMP_STACKSIZE": "64k"}, how=how)

    def test_64_threads_and_teams_of_changing_size(self):
        run, profile = self.same("many_threads", env=PASSIVE)
        self.assertEqual(profile.run["threads_max"], 64)
        self.assertLessEqual(64 * profile.run["rate_least"], 4000 * max(profile.run["cores"], 16))
        self.assertEqual(len(profile.threads), 64, run)
        measurements = [name for name in os.listdir(profile.directory) if name.endswith(".blame")]
        self.assertEqual(len(measurements), 1, "one measurement file a process")

    def test_teams_made_and_unmade_around_tasks_that_are_begun_at_once(self):
        """At 10,000/s on more threads than cores: samples hit the runtime while its own records are half changed."""
        for name, how in (("team_sizes", "library"), ("team_sizes_O0", "launcher"), ("team_sizes_gcc", "launcher")):
            for way in ("final", "if", "lock", "nested", "teams"):
                if (name, way) == ("team_sizes_O0", "teams"):
                    continue  # in the runtime as with team_sizes: there are no tasks in which the program's own frames matter
                with self.subTest(name=name, way=way):
                    self.assert_same_with_tool([program(name), way], {"BLAME_RATE": "10000"} | PASSIVE, how)

    def test_memcheck_finds_nothing_that_it_does_not_find_without_the_tool(self):
        """It has to know the handler's stack, or reports hundreds of errors there."""
        run = self.attached(["valgrind", "-q", "--error-exitcode=99", program("quick"), "5"])
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        self.assertGreater(sum(int(thread["samples"]) for thread in self.load(run, elapsed=False).threads), 0)

    def test_a_deep_recursion(self):
        run = self.attached([program("deep"), "20000"], {"OMP_STACKSIZE": "64M"} | PASSIVE)
        self.assertEqual((run.status, run.stdout.splitlines()[0]), (0, "frames 40002"), run)
        self.load(run)

    def test_a_program_without_any_thread_to_sample(self):
        for how in ("library", "launcher"):
            run = self.assert_same_with_tool(["/bin/true"], how=how)
            self.assertEqual(run.status, 0)

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tests", "eintr_calls")), "eintr_calls is not built")
    def test_calls_that_a_signal_could_interrupt_return_as_without_it(self):
        run = self.attached([program("eintr_calls")], {"BLAME_RATE": "1000"})
        self.assertEqual(run.status, 0, run)
        self.assert_only_tool_lines(run)
