"""Phases, events, parameters and the standard's commands to a tool: what was called how often, in which context, and that the
time between is there. How exact it is: tests/unit/test_phases.c and tests/simulator, where the clock is played."""

import csv
import glob
import io
import json
import os
import re
from collections import namedtuple

import contract_checks
from harness import BLAME, PASSIVE, BlameTest, clean_environment, execute, program

BUILDS = (("", "library"), ("_gcc", "launcher"))
TWO_PASSIVE = PASSIVE | {"OMP_NUM_THREADS": "2"}
PHASE_COLUMNS = ["phase", "instance", "thread", "begin", "seconds", "calls", "min", "max", "mean", "deviation"]
Clocked = namedtuple("Clocked", "calls seconds")


def clocked_of(run):
    """{name: Clocked} of the lines `clocked NAME CALLS SECONDS`."""
    found = re.findall(r"(?m)^clocked (.+) (\d+) +([\d.]+)$", run.stdout)
    return {name: Clocked(int(calls), float(seconds)) for name, calls, seconds in found}


def rows_of(profile, kind, name):
    return [row for row in profile.rows if (row.kind, row.name) == (kind, name)]


def total(profile, kind, name, column):
    return sum(float(row.cells[column] or 0) for row in rows_of(profile, kind, name))


class PhaseTest(BlameTest):
    pace = 1

    def phases(self, profile):
        if not hasattr(profile, "phases"):
            rows = list(csv.DictReader(io.StringIO(profile.read("phases.csv"))))
            self.assertEqual(list(rows[0])[:len(PHASE_COLUMNS)], PHASE_COLUMNS)
            self.assertEqual(rows[0]["phase"], "<program>")
            profile.phases = rows
        return profile.phases

    def phase(self, profile, name, instance=""):
        """The one row of phases.csv."""
        found = [row for row in self.phases(profile) if (row["phase"], row["instance"]) == (name, instance)]
        self.assertEqual(len(found), 1, f"{name} [{instance}]: {found}")
        return found[0]

    def assert_there(self, measured_s, clocked_s, what):
        """Most of what the program clocked: it may lose its core between its clock and our call."""
        self.assertGreater(measured_s, clocked_s / 2, what)

    def assert_exact(self, profile, kind, label, clocked):
        self.assertTrue(rows_of(profile, kind, label), f"no {kind} row {label}")
        self.assertEqual(total(profile, kind, label, "calls"), clocked.calls, label)
        self.assert_there(total(profile, kind, label, "exact (I)"), clocked.seconds, label)

    def assert_phase(self, profile, name, clocked, instance=""):
        row = self.phase(profile, name, instance)
        self.assertEqual(int(row["calls"]), clocked.calls, row)
        self.assert_there(float(row["seconds"]), clocked.seconds, f"{name} [{instance}]")
        return row


class Blame(PhaseTest):
    def test_idleness_of_a_phase_is_that_of_the_code_in_it(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                run, profile = self.profile_of("phase_blame" + build, env=PASSIVE, how=how)
                self.assert_expectations("phase_blame" + build, run, profile, 8)
                for name, clocked in clocked_of(run).items():
                    self.assert_exact(profile, "phase", f"phase {name}", clocked)
                    self.assert_phase(profile, name, clocked)
                for name, function in (("unbalanced", "lonely"), ("balanced", "shared")):
                    for row in profile.named(function):
                        self.assertIn(f"phase {name}", row.path(), f"{function} is outside its phase")

    def test_the_function_that_begins_a_phase_is_in_it_once(self):
        _, profile = self.profile_of("phase_blame", env=PASSIVE)
        row, = rows_of(profile, "phase", "phase unbalanced")
        self.assertEqual([child.name for child in row.children], ["main"])
        self.assertNotIn("main", [above.name for above in row.ancestors()])


class Nesting(PhaseTest):
    def test_wrong_nestings_are_said_once_and_repaired(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                run = self.attached([program("phase_nesting" + build)], {"BLAME_SUMMARY": "1"}, how)
                self.assertEqual((run.status, run.stdout), (0, "done\n"), run)
                profile = self.load(run)
                wrong = [json.dumps(each) for each in profile.run["misnested"]]
                for words in (("part", "whole"), ("never begun",), ("left in region",),
                              ("inside tab", "tab in name"), ("left by jump", "around jump"), ("many left over",)):
                    found = [text for text in wrong if all(word in text for word in words)]
                    self.assertEqual(len(found), 1, f"{words}: {wrong}")
                    self.assertIn("phase_nesting.c", found[0])
                self.assertFalse([text for text in wrong if "after" in text or "left at exit" in text], wrong)
                for word in ("part .* whole", "never begun", "left in region"):
                    self.assertRegex(run.stderr, f"note: {word}")
                for name, calls, seconds in (("whole", 3, 0.03), ("part", 3, 0.03), ("left in region", 6, 0.06),
                                             ("after", 1, 0.2), ("left at exit", 1, 0.1)):
                    self.assertEqual(total(profile, "phase", f"phase {name}", "calls"), calls, name)
                    self.assert_there(total(profile, "phase", f"phase {name}", "exact (I)"), seconds, name)
                after, = rows_of(profile, "phase", "phase after")
                self.assertFalse([above.name for above in after.ancestors() if above.kind == "phase"])


class Threads(PhaseTest):
    def test_phases_of_regions_tasks_nested_regions_and_plain_threads(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                run, profile = self.profile_of("phase_threads" + build, env=PASSIVE, how=how)
                self.assertEqual(profile.run["misnested"], [])
                self.assertEqual(profile.run["probes_lost"], 0)
                for name, clocked in clocked_of(run).items():
                    self.assert_exact(profile, "phase", f"phase {name}", clocked)
                    self.assert_phase(profile, name, clocked)
                for name, seconds in re.findall(r"(?m)^computed (.+) ([\d.]+)$", run.stdout):
                    work = sum(row.clocked() for row in rows_of(profile, "phase", f"phase {name}"))
                    self.assert_there(work, float(seconds), f"work in {name}")


class Instances(PhaseTest):
    def test_a_row_for_each_and_one_for_the_others(self):
        run, profile = self.profile_of("phase_many", "100", "3000", env={"BLAME_PHASE_INSTANCES": "10"})
        clocked = clocked_of(run)["step"]
        labels = [row.name for row in rows_of(profile, "phase", "phase step")[0].children if row.kind == "phase"]
        self.assertEqual(sorted(labels), sorted([f"step [{i}]" for i in range(10)] + ["step [others]"]))
        for i in range(10):
            row = self.phase(profile, "step", str(i))
            self.assertEqual(int(row["calls"]), 1)
            self.assertGreaterEqual(float(row["seconds"]), 0.003)
        others = self.phase(profile, "step", "others")
        self.assertEqual(int(others["calls"]), 90)
        all_of_them = [row for row in self.phases(profile) if row["phase"] == "step" and row["instance"]]
        self.assert_there(sum(float(row["seconds"]) for row in all_of_them), clocked.seconds, "step")
        low, mean, high = (float(others[column]) for column in ("min", "mean", "max"))
        self.assertLessEqual(0.003, low + 1e-6)
        self.assertLessEqual(low, mean)
        self.assertLessEqual(mean, high)
        self.assertAlmostEqual(mean * 90, float(others["seconds"]), delta=1e-4)
        self.assertLessEqual(float(others["deviation"]), high - low + 1e-6)
        begins = [float(self.phase(profile, "step", str(i))["begin"]) for i in range(10)]
        self.assertEqual(begins, sorted(begins))

    def test_a_million_stay_bounded(self):
        run, profile = self.profile_of("phase_many", "1000000", "0")
        self.assertEqual(sum(int(row["calls"]) for row in self.phases(profile)
                             if row["phase"] == "step" and row["instance"]), 1000000)
        self.assertEqual(len([row for row in profile.rows if row.name.startswith("step [")]), 10001)
        measurement, = glob.glob(os.path.join(profile.directory, "*.blame"))
        self.assertLess(os.stat(measurement).st_blocks * 512, 32 << 20, run)


class Events(PhaseTest):
    def test_counts_are_exact_and_times_agree_with_samples(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                run, profile = self.profile_of("event_many" + build, "20000", "20000", how=how)
                clocked = clocked_of(run)
                for name in ("short", "loop"):
                    self.assert_exact(profile, "event", f"event {name}", clocked[name])
                exact = total(profile, "event", "event short", "exact (E)")
                sampled = sum(row.clocked() + row["overhead (I)"] for row in rows_of(profile, "event", "event short"))
                self.assert_there(sampled, exact, "samples in event short, against its exact time")
                whole = total(profile, "event", "event loop", "exact (I)")
                # the clock's rate is measured anew during the run
                self.assertAlmostEqual(total(profile, "event", "event loop", "exact (E)") + exact, whole, delta=1e-5 * max(1, whole))

    def test_patterns_select(self):
        for env, measured in (({"BLAME_EVENTS_INCLUDE": "l*,nothing"}, {"loop"}),
                              ({"BLAME_EVENTS_EXCLUDE": "s?ort"}, {"loop"}), ({"BLAME_EVENTS_EXCLUDE": "*"}, set())):
            with self.subTest(env=env):
                _, profile = self.profile_of("event_many", "1000", "10000", env=env)
                self.assertEqual({row.name for row in profile.rows if row.kind == "event"},
                                 {f"event {name}" for name in measured})

    def test_short_and_frequent_ones_are_throttled_and_it_is_said(self):
        # As long by the clock as calls are that lose their core.
        run = self.attached([program("event_many"), "500000"], {"BLAME_SUMMARY": "1", "BLAME_EVENTS_THROTTLE": "100000@1000000"})
        profile = self.load(run)
        calls = total(profile, "event", "event short", "calls")
        self.assertGreaterEqual(calls, 100000)
        self.assertLess(calls, 1000000)
        self.assertEqual(total(profile, "event", "event loop", "calls"), 2)
        samples = profile.run["samples"]  # what is not measured any more takes no lock and no time in the tool
        if profile.run["no_core_s"] < 0.1 * profile.lifetimes():  # a sample in the tool stands for all that its thread then lost
            self.assertLess(samples["dropped"].get("in tool", 0), samples["delivered"] / 4)
        said, = [phase for phase in profile.run["phases"] if phase["name"] == "short"]
        self.assertTrue(said["throttled"], said)
        self.assertRegex(run.stderr, "note: short is short and frequent, so it was not measured after 100001 calls")

    def test_throttling_can_be_set_and_turned_off(self):
        for value, low, high in (("0", 400000, 400000), ("1000@1000000", 1000, 10000), ("100000@1", 400000, 400000)):
            with self.subTest(value=value):
                _, profile = self.profile_of("event_many", "200000", env={"BLAME_EVENTS_THROTTLE": value})
                calls = total(profile, "event", "event short", "calls")
                self.assertTrue(low <= calls <= high, f"{calls} calls")



class Control(PhaseTest):
    """The laws of time are about whole runs: they are not asked here."""

    def controlled(self, *words, build="", how="library", ignored=()):
        """The commands with these places among the words change nothing, and say so."""
        run = self.attached([program("control" + build), *words], how=how)
        self.assertEqual(run.status, 0, run)
        done = [f"{word} {int(i in ignored)}" for i, word in enumerate(words)]
        self.assertEqual(run.stdout.splitlines()[:len(words)], done, run)
        profile = self.load(run, checks=contract_checks.TREE_CHECKS)
        seconds = dict(re.findall(r"(?m)^clocked (measured|unmeasured) ([\d.]+)$", run.stdout))
        self.assert_there(profile.clocked("measured"), float(seconds["measured"]), "measured")
        self.assertLess(profile.total("work", "unmeasured"), 0.010)
        exact_s = float(self.phase(profile, "all")["seconds"])  # without the pauses
        self.assertGreaterEqual(exact_s, float(seconds["measured"]))
        self.assertLessEqual(exact_s, run.elapsed_s - float(seconds["unmeasured"]))
        return profile, float(seconds["unmeasured"])

    def test_what_is_paused_is_not_measured_and_said(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                words = ("pause", "flush", "start", "pause", "start")
                profile, unmeasured_s = self.controlled(*words, build=build, how=how)
                self.assertEqual(profile.run["pauses"], 2)
                self.assertGreaterEqual(profile.run["paused_s"], unmeasured_s)
                self.assertFalse(profile.run["ended_by_program"])
                self.assertGreater(profile.run["samples"]["dropped"]["paused"], 0)

    def test_time_without_a_core_in_a_pause_is_not_missed(self):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            run = self.attached([program("control"), "pause", "flush", "flush", "start"],
                                {"OMP_WAIT_POLICY": "active", "KMP_BLOCKTIME": "infinite"})
        finally:
            os.sched_setaffinity(0, cores)
        profile = self.load(run, checks=contract_checks.TREE_CHECKS)
        law = profile.run["conservation"]["no_core"]
        self.assertGreater(profile.run["no_core_s"] - law["right"], law["tolerance"])  # so much was in the pause
        self.assertTrue(law["ok"], law)

    def test_commands_twice_are_as_once(self):
        profile, _ = self.controlled("start", "pause", "pause", "start", "start", ignored=(0, 2, 4))
        self.assertEqual(profile.run["pauses"], 1)

    def test_after_the_end_nothing_is_measured(self):
        for words, ignored in ((("end",), ()), (("end", "start"), (1,)), (("pause", "end"), ()), (("end", "end"), (1,))):
            with self.subTest(words=words):
                profile, _ = self.controlled(*words, ignored=ignored)
                self.assertTrue(profile.run["ended_by_program"])

    def test_after_the_end_the_tool_does_nothing(self):
        run = self.attached([program("ended"), "profile*/*.blame"])
        self.assertEqual((run.status, run.stderr), (0, ""), run)
        self.assertEqual(run.stdout, "measured: 2 timers\nerrno 4242\nended: 0 timers\na thread that begins then: 0 timers\ntaken: 0 timers\n"
                                     "the file is as it was\n")
        self.assertTrue(self.load(run, elapsed=False, checks=contract_checks.TREE_CHECKS).run["ended_by_program"])

    def test_without_a_pause_there_is_none(self):
        profile, _ = self.controlled("flush")
        self.assertEqual((profile.run["pauses"], profile.run["paused_s"], profile.run["ended_by_program"]),
                         (0, 0, False))


class Examples(PhaseTest):
    def example(self, name, *arguments, how="library"):
        run, profile = self.profile_of(name, *arguments, env=TWO_PASSIVE, how=how)
        self.assertIn("verified: yes", run.stdout)
        self.assertEqual(profile.run["misnested"], [])
        return clocked_of(run), profile

    def test_matrix_products_by_iteration_size_and_routine(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                clocked, profile = self.example("matmul" + build, how=how)
                for i in range(5):
                    self.assert_phase(profile, "outer", clocked[f"outer [{i}]"], str(i))
                for n in (160, 320, 640):
                    self.assert_exact(profile, "parameter", f"size = {n}", clocked[f"size = {n}"])
                for name in ("fill", "multiply"):
                    self.assert_exact(profile, "event", f"event {name}", clocked[name])
                self.assertEqual(total(profile, "event", "event row product", "calls"), 5 * 3 * (160 + 320 + 640))

    def test_counters_are_exact_in_each_execution(self):
        counters = {"OMP_NUM_THREADS": "1", "BLAME_COUNTERS": "perf::PAGE-FAULTS,perf::TASK-CLOCK"}
        run = self.attached([program("matmul")], counters)
        profile = self.load(run, checks=contract_checks.TREE_CHECKS)
        outer = [row for row in self.phases(profile) if row["phase"] == "outer" and row["instance"]]
        faults = [float(row["perf::PAGE-FAULTS"]) for row in outer]
        # The first one touches the matrices: 3 of 640 x 640 doubles.
        self.assertGreater(faults[0], 3 * 640 * 640 * 8 / 4096)
        self.assertGreater(faults[0], 5 * sum(faults[1:]))
        for row in outer:  # one thread, which computes all the time that it has a core
            self.assertLessEqual(float(row["perf::TASK-CLOCK"]) / 1e9, 1.01 * float(row["seconds"]) + 1e-4)
            self.assertGreater(float(row["perf::TASK-CLOCK"]), 0)
        view = execute([BLAME, "report", run.directories()[0], "--view", "phases", "--width", "200"], clean_environment(), self.new_folder())
        shown = [float(count) for count in re.findall(r"counted: perf::PAGE-FAULTS (\d+), perf::TASK-CLOCK \d+$", view.stdout, re.M)]
        self.assertEqual(shown, [sum(faults), *faults])

    def test_alternating_directions_by_axis(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                clocked, profile = self.example("adi" + build, "60", how=how)
                self.assert_exact(profile, "phase", "phase z", clocked["z"])
                for axis in "xyz":
                    self.assert_phase(profile, axis, clocked[axis])
                steps = [row for row in self.phases(profile) if row["phase"] == "step" and row["instance"]]
                self.assertEqual([int(row["instance"]) for row in steps], list(range(25)))
                self.assert_there(sum(float(row["seconds"]) for row in steps), clocked["step"].seconds, "steps")

    def test_relaxation_by_sweep(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                clocked, profile = self.example("relax" + build, "400", how=how)
                self.assert_phase(profile, "check", clocked["check"])
                sweeps = [row for row in self.phases(profile) if row["phase"] == "sweep" and row["instance"]]
                self.assertEqual(len(sweeps), clocked["sweep"].calls)
                self.assert_there(sum(float(row["seconds"]) for row in sweeps), clocked["sweep"].seconds, "sweeps")
                self.assertEqual(total(profile, "event", "event red", "calls"), clocked["sweep"].calls)

    def test_fortran(self):
        for build, how in BUILDS:
            with self.subTest(build=build):
                clocked, profile = self.example("heat" + build, "500", how=how)
                for name in ("diffuse", "edge"):
                    self.assert_phase(profile, name, clocked[name])
                    # Whose phase it is: the procedure that calls the module (inlined or not), not the module's.
                    inside = [child for row in rows_of(profile, "phase", f"phase {name}") for child in row.children]
                    self.assertTrue(inside)
                    for child in inside:
                        names = [child.name] + [inlined.name for inlined in child.children]
                        self.assertRegex(" ".join(names), rf"\b{name}")
                self.assertEqual(len(rows_of(profile, "parameter", "size = 500")), 1)
                steps = [row for row in self.phases(profile) if row["phase"] == "step" and row["instance"]]
                self.assertEqual(len(steps), 500)
