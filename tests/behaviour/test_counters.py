"""BLAME_COUNTERS and BLAME_SAMPLE, with events that the kernel counts itself: no hardware counters are needed."""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import unittest

from blame_profile import Profile
from counted import IDLE, LOST, TOTAL, Counted
from harness import BLAME, LIBRARY, BlameTest, clean_environment, execute, program

FAULTS, CLOCK, SWITCHES = "perf::PAGE-FAULTS", "perf::TASK-CLOCK", "perf::CONTEXT-SWITCHES"
PAGES, SLEEPS, SECONDS = 20000, 200, 0.3
THREADS = 2
STATUS = 6  # of the program
PERF_EVENT_OPEN = 298  # the system call on x86-64
COUNTED = re.compile(r"counted (\w+) faults (\d+) switches (\d+) cpu ([\d.]+)")


def may_count():
    """Whether the kernel counts page faults for us: not in every container."""
    attributes = struct.pack("<IIQ", 1, 112, 2) + bytes(24) + struct.pack("<Q", 1 << 5) + bytes(64)
    descriptor = ctypes.CDLL(None, use_errno=True).syscall(PERF_EVENT_OPEN, attributes, 0, -1, -1, 0)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


class Counters(BlameTest):
    def setUp(self):
        super().setUp()
        if not may_count():
            self.skipTest("perf_event_open is not permitted here")

    def counting(self, env, pages=PAGES, sleeps=SLEEPS, seconds=SECONDS, extra=(), how="library", options=()):
        run = self.attached([program("counters"), str(pages), str(sleeps), str(seconds), *extra], env, how, options)
        self.assertEqual(run.status, 0 if "fork" in extra else STATUS, run)
        self.assertEqual(run.other_lines(), [], run)
        return run

    def truth(self, run):
        """What the program says of itself, by function: (faults, switches, CPU seconds)."""
        return {name: (int(faults), int(switches), float(cpu))
                for name, faults, switches, cpu in COUNTED.findall(run.stdout)}

    def counted(self, run, number=0):
        return Counted(run.directories()[number])

    def assert_books_agree(self, counted):
        self.assertEqual(counted.failed(), 0)
        parts = zip(counted.contexts(), counted.sums(IDLE), counted.sums(LOST), counted.sums(TOTAL))
        for name, (contexts, idle, lost, total) in zip(counted.names, parts):
            self.assertEqual(contexts + idle + lost, total, name)
            self.assertGreaterEqual(min(contexts, idle, lost), 0, name)


class AtSamples(Counters):
    def test_what_a_function_does_is_counted_there_and_the_books_agree(self):
        run = self.counting({"BLAME_COUNTERS": f"{FAULTS},{CLOCK},{SWITCHES}"})
        self.assertEqual(run.tool_lines(), [])
        counted, truth = self.counted(run), self.truth(run)
        self.assertEqual(counted.names, [FAULTS, CLOCK, SWITCHES])
        self.assert_books_agree(counted)
        self.load(run)
        faults, clock, switches = range(3)
        # A sample's counts go where it hits: at a function's end up to a period's worth goes elsewhere.
        self.assertGreaterEqual(counted.below("touch_pages")[faults], 0.9 * THREADS * PAGES)
        self.assertLessEqual(counted.below("touch_pages")[faults], truth["touch_pages"][0] + 20)
        self.assertLess(counted.below("compute")[faults], 0.02 * THREADS * PAGES)
        self.assertLess(abs(sum(t[0] for t in truth.values()) - counted.sums(TOTAL)[faults]), 100)
        cpu = truth["compute"][2]
        self.assertLess(abs(counted.below("compute")[clock] * 1e-9 - cpu), 0.02 + 0.1 * cpu, truth)
        self.assertGreaterEqual(counted.below("sleep_often")[switches], 0.9 * THREADS * SLEEPS)
        self.assert_views_show(run.directories()[0], {name: int(counted.below(name)[faults]) for name in truth})

    def assert_views_show(self, directory, faults):
        """Page faults below each of the program's functions, as text has them by counters' names."""
        def report(*options, status=0):
            made = execute([BLAME, "report", directory, "--min", "0", *options], clean_environment(), self.new_folder())
            self.assertEqual(made.status, status, made)
            return made

        for view in ("top-down", "bottom-up", "flat"):
            text = report("--view", view, "--sort", FAULTS, "--columns", f"{FAULTS}:i,{SWITCHES}").stdout
            self.assertIn(f" {FAULTS} (I) {SWITCHES} ({'I' if view == 'top-down' else 'E'})", text)
            shown = {name: int(count) for count, name in re.findall(r"^ +(\d+) [^a-z]*(touch_pages|compute)\b", text, re.M)[::-1]}
            self.assertIn("touch_pages", shown)
            if view == "bottom-up":  # lists functions by what they count themselves; compute calls omp_get_wtime
                shown.pop("compute", None)
            self.assertEqual(shown, {name: faults[name] for name in shown}, text)
        self.assertLess(report("--view", "flat", "--sort", FAULTS).stdout.index("touch_pages"), 1000)
        for option in ("--sort", "--columns"):
            line, = report(option, "perf::NONE", status=2).stderr.splitlines()
            self.assertIn(f"{option} perf::NONE: ", line)
            self.assertIn(f"counter of this profile: {FAULTS}, {CLOCK}, {SWITCHES}", line)

    def test_pages_touched_twice_as_often_count_twice(self):
        few, many = (self.counted(self.counting({"BLAME_COUNTERS": FAULTS}, pages=pages, sleeps=0, seconds=0.05))
                     for pages in (PAGES, 2 * PAGES))
        self.assertAlmostEqual(many.sums(TOTAL)[0] - few.sums(TOTAL)[0], THREADS * PAGES, delta=100)

    def test_what_no_sample_sees_is_in_the_totals_all_the_same(self):
        for extra in ([], ["exit"]):  # threads that end before the tool does, or not
            with self.subTest(extra):
                run = self.counting({"BLAME_COUNTERS": FAULTS, "BLAME_RATE": "1"}, sleeps=0, seconds=0, extra=extra)
                counted = self.counted(run)
                self.assert_books_agree(counted)
                self.assertAlmostEqual(counted.sums(TOTAL)[0], THREADS * PAGES, delta=200)
                self.assertGreater(counted.sums(LOST)[0], 0)

    def test_what_idle_threads_count_is_nobodys(self):
        run = self.attached([program("imbalance2")], {"BLAME_COUNTERS": CLOCK, "KMP_BLOCKTIME": "infinite"})
        counted = Counted(run.directories()[0])
        idle_s = Profile(run.directories()[0]).threads_total("idle")
        self.assert_books_agree(counted)
        if idle_s > 0.1:  # a machine that stands still has both at work for longer
            # Threads that spin as long as they have no work use a core, if they get one.
            self.assertGreater(counted.sums(IDLE)[0], 0)
            self.assertLess(counted.sums(IDLE)[0] * 1e-9, 1.1 * idle_s)

    def test_what_is_done_in_a_pause_is_no_contexts(self):
        run = self.attached([program("control"), "pause", "start"], {"BLAME_COUNTERS": CLOCK})
        self.assertEqual(run.status, 0, run)
        counted = Counted(run.directories()[0])
        self.assert_books_agree(counted)
        self.assertLess(counted.below("unmeasured")[0], 20e6)  # a period's worth, and what the machine's noise adds
        self.assertGreater(counted.sums(LOST)[0], 0)

    def test_parent_and_forked_child_count_for_themselves(self):
        run = self.counting({"BLAME_COUNTERS": FAULTS}, sleeps=0, extra=["fork"])
        self.assertEqual(len(run.directories()), 2, run)
        for number in range(2):
            counted = self.counted(run, number)
            self.assert_books_agree(counted)
            self.assertAlmostEqual(counted.sums(TOTAL)[0], THREADS * PAGES, delta=200)

    def test_a_program_that_closes_all_descriptors_keeps_its_own_files(self):
        for env in ({"BLAME_COUNTERS": FAULTS}, {"BLAME_SAMPLE": f"{FAULTS}@10"}):
            with self.subTest(env):
                run = self.counting(env, pages=2000, sleeps=5, seconds=0.05, extra=["close"])
                self.assertEqual(self.counted(run).failed(), THREADS if "BLAME_COUNTERS" in env else 0)

    def test_without_being_asked_nothing_is_counted_or_loaded(self):
        run = self.attached([program("counters"), "10", "0", "0.01"], {"LD_DEBUG": "files"})
        self.assertEqual(run.status, STATUS)
        self.assertNotIn("papi", run.stderr)
        self.assertNotIn("libpfm", run.stderr)
        needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("papi", needed)
        counted = self.counted(run)
        self.assertEqual((counted.names, counted.contexts(), counted.sums(TOTAL)), ([], [], []))
        self.assertNotIn("sample", Profile(run.directories()[0]).run)

    def test_where_descriptors_are_scarce_the_program_has_its_half_and_one_line_tells(self):
        names = [FAULTS, CLOCK, SWITCHES, "perf::CPU-CLOCK", "perf::MINOR-FAULTS", "perf::MAJOR-FAULTS", "perf::CS"]
        for limit, opened, failed in ((48, 18, 0), (24, 7, 1)):
            with self.subTest(limit=limit):
                run = self.attached(["prlimit", f"--nofile={limit}", program("counters"), "2000", "5", "0.05", "open",
                                     str(opened)], {"BLAME_COUNTERS": ",".join(names)})
                self.assertEqual(run.status, STATUS, run)
                self.assertEqual(len(run.tool_lines()), failed, run)
                self.assertEqual(self.counted(run).failed(), failed)

    def test_a_program_that_counts_with_papi_itself_goes_on_counting(self):
        if self.plain([program("own_papi")]).status == 4:
            self.skipTest("PAPI does not know this processor, and counts nothing on it")
        for env in ({"BLAME_COUNTERS": f"{FAULTS},PAPI_NO_SUCH"}, {"BLAME_SAMPLE": f"{FAULTS}@10"}):
            for how in ("library", "launcher"):
                with self.subTest(env, how=how):
                    run = self.attached([program("own_papi")], env, how)
                    self.assertEqual((run.status, run.stdout), (STATUS, "own count right\n"), run)
                    self.assertEqual(len(run.directories()), 1)
        profile = Profile(run.directories()[0])
        self.assertAlmostEqual(profile.total("work", "touch_pages"), THREADS * 2000, delta=100)

    @unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/usr/bin/setpriv"), "needs another user")
    def test_who_may_not_count_the_kernel_counts_the_program(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) != 2:
                self.skipTest("perf_event_paranoid is not 2")
        folder = os.path.join(self.folder, "open")
        os.chmod(self.folder, 0o755)
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        library, copy, _ = (shutil.copy(path, folder) for path in (LIBRARY, program("counters"), BLAME))
        env = {"OMP_TOOL_LIBRARIES": library, "BLAME_OUT": os.path.join(folder, "profile"), "BLAME_SUMMARY": "0",
               "BLAME_RATE": "1000", "BLAME_COUNTERS": f"{FAULTS},{CLOCK}"}
        run = self.plain(["setpriv", "--reuid", "65534", "--clear-groups", copy, str(PAGES), "0", "0.05"], env)
        self.assertEqual(run.status, STATUS, run)
        told = [line for line in run.tool_lines() if "counters do not include what the kernel does" in line]
        self.assertEqual(len(told), 1, run)
        counted = Counted(env["BLAME_OUT"])
        self.assertEqual(counted.names, [FAULTS, CLOCK])
        self.assertAlmostEqual(counted.sums(TOTAL)[0], THREADS * PAGES, delta=100)

    def test_the_launcher_has_an_option(self):
        run = self.counting({}, how="launcher", options=["--counters", f"{FAULTS},{CLOCK}"])
        counted = self.counted(run)
        self.assertEqual(counted.names, [FAULTS, CLOCK])
        self.assert_books_agree(counted)


class Lacking(Counters):
    def assert_one_line(self, run, *words):
        lines = [line for line in run.tool_lines() if words[0] in line]
        self.assertEqual(len(lines), 1, run)
        for word in words:
            self.assertIn(word, lines[0])
        return lines[0]

    def test_what_there_is_not_is_named_with_the_nearest_and_the_rest_is_counted(self):
        run = self.counting({"BLAME_COUNTERS": f"perf::PAGE-FAULT,{CLOCK},PAPI_NO_SUCH,{FAULTS},{FAULTS}"})
        self.assertEqual(self.counted(run).names, [CLOCK, FAULTS])
        self.assert_books_agree(self.counted(run))
        self.assertEqual(len(run.tool_lines()), 2, run)
        line = self.assert_one_line(run, "=perf::PAGE-FAULT:", "this counter is left out")
        nearest = re.search("the nearest counters that work are ([^;]+);", line).group(1).split(", ")
        self.assertEqual(nearest[0], FAULTS)
        self.assertEqual(len(nearest), 3)
        self.assert_one_line(run, "=PAPI_NO_SUCH:", "the nearest counters that work are ")

    def test_the_nearest_can_be_counted(self):
        run = self.counting({"BLAME_COUNTERS": "nonsense"}, 10, 0, 0.01)
        names = re.search("the nearest counters that work are ([^;]+);", run.stderr).group(1).split(", ")
        again = self.counting({"BLAME_COUNTERS": ",".join(names)}, 10, 0, 0.01)
        self.assertEqual(again.tool_lines(), [])
        self.assertEqual(self.counted(again).names, names)

    def test_there_is_room_for_eight(self):
        names = ["perf::CPU-CLOCK", CLOCK, FAULTS, SWITCHES, "perf::CPU-MIGRATIONS", "perf::MINOR-FAULTS",
                 "perf::MAJOR-FAULTS", "perf::FAULTS", "perf::CS"]
        run = self.counting({"BLAME_COUNTERS": ",".join(names)})
        self.assertEqual(self.counted(run).names, names[:8])
        self.assert_books_agree(self.counted(run))
        self.assert_one_line(run, "=perf::CS:", "8")
        self.assertEqual(len(run.tool_lines()), 1, run)

    def without_papi(self, env):
        """The loader finds files of PAPI's names that are no libraries."""
        folder = os.path.join(self.new_folder(), "broken")
        os.mkdir(folder)
        for name in ("libpapi.so.7.0", "libpapi.so.7", "libpapi.so"):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("no library\n" * 10)
        return self.counting(env | {"LD_LIBRARY_PATH": folder})

    def test_without_papi_the_program_runs_on_by_the_clock(self):
        run = self.without_papi({"BLAME_COUNTERS": f"{FAULTS},{CLOCK}", "BLAME_SAMPLE": f"{CLOCK}@1000000"})
        self.assertEqual(len(run.tool_lines()), 1, run)
        self.assert_one_line(run, "BLAME_COUNTERS=", "libpapi", "no counters are used", "using the clock")
        self.assertEqual(self.counted(run).names, [])
        self.assertGreater(self.load(run).run["samples"]["recorded"], 100)

    def test_a_sample_that_cannot_be_is_named_and_the_clock_is_used(self):
        accepted = "expected EVENT@PERIOD, with a PERIOD from 1 to 10000000000 events; using the clock"
        for value, words in ((CLOCK, accepted), (f"{CLOCK}@0", accepted), (f"{CLOCK}@1e6", accepted), ("@5", accepted),
                             ("perf::TASK-CLOK@1000000", f"the nearest counters that work are {CLOCK}, "),
                             ("perf::DUMMY-NONE@1", "using the clock")):
            with self.subTest(value):
                run = self.counting({"BLAME_SAMPLE": value}, 10, 0, 0.2)
                self.assertEqual(len(run.tool_lines()), 1, run)
                self.assert_one_line(run, "BLAME_SAMPLE=", words)
                profile = self.load(run)
                self.assertNotIn("sample", profile.run)
                self.assertGreater(profile.run["samples"]["recorded"], 20)


class ByOverflow(Counters):
    def profile(self, run):
        """Only the laws that hold for events too."""
        profile = Profile(run.directories()[0])
        laws = profile.run["conservation"]
        self.assertEqual(sorted(laws), ["busy_time", "lock_wait", "samples", "timeline_contexts", "timeline_states"])
        self.assertTrue(all(law["ok"] for law in laws.values()), laws)
        return profile

    def test_page_faults_sampled_land_in_the_function_that_touches_pages(self):
        for period in (1, 10, 1000):
            with self.subTest(period=period):
                run = self.counting({"BLAME_SAMPLE": f"{FAULTS}@{period}"}, sleeps=0, seconds=0.05)
                profile, faults = self.profile(run), self.truth(run)["touch_pages"][0]
                self.assertEqual(profile.run["sample"], f"{FAULTS}@{period}")
                self.assertEqual(run.tool_lines(), [])
                found = profile.total("work", "touch_pages")
                self.assertAlmostEqual(found, faults, delta=0.02 * faults + THREADS * period)
                self.assertAlmostEqual(profile.total("samples", "touch_pages"), found / period, delta=0.01 * faults)
                self.assertLessEqual(profile.total("work", "compute"), 20 + 2 * period)

    def test_a_limit_on_pending_signals_is_none_on_overflows(self):
        """In their place the kernel would send SIGIO, which ends a program."""
        run = self.attached(["prlimit", "--sigpending=0", program("quick"), "5"], {"BLAME_SAMPLE": f"{CLOCK}@1000000"})
        self.assertEqual((run.status, run.tool_lines()), (5, []), run)
        self.assertGreater(self.load(run, checks=()).run["samples"]["recorded"], 0)

    def test_processor_time_sampled_is_that_of_each_function(self):
        run = self.counting({"BLAME_SAMPLE": f"{CLOCK}@1000000", "BLAME_COUNTERS": FAULTS}, sleeps=0)
        profile, truth = self.profile(run), self.truth(run)
        for name in ("touch_pages", "compute"):
            cpu_ns = truth[name][2] * 1e9
            own = profile.total("work", name) + profile.total("overhead", name)
            self.assertLess(abs(own - cpu_ns), 0.15 * cpu_ns + 20e6, (name, truth))
        counted = self.counted(run)
        self.assert_books_agree(counted)
        self.assertGreaterEqual(counted.below("touch_pages")[0], 0.8 * THREADS * PAGES)

    def test_parent_and_forked_child_are_sampled(self):
        run = self.counting({"BLAME_SAMPLE": f"{FAULTS}@10"}, sleeps=0, seconds=0.01, extra=["fork"])
        self.assertEqual(len(run.directories()), 2, run)
        for directory in run.directories():
            self.assertAlmostEqual(Profile(directory).total("work", "touch_pages"), THREADS * PAGES,
                                   delta=0.05 * THREADS * PAGES)

    def test_reports_say_that_they_are_in_events(self):
        run = self.attached([program("counters"), "2000", "5", "0.05"], {"BLAME_SUMMARY": "1"}, "launcher",
                            ["--sample", f"{FAULTS}@10"])
        self.assertEqual(run.status, STATUS, run)
        summary = run.stderr
        self.assertIn(f"sampled by {FAULTS}@10: all figures are events ({FAULTS}), not seconds", summary)
        self.assertNotIn("Look first", summary)
        self.assertNotIn("do not add up", summary)
        view = self.report(run.directories()[0]).stdout
        self.assertIn(f"sampled by {FAULTS}@10: the unit of all figures below is events ({FAULTS})", " ".join(view.split()))
        self.assertNotIn("samples/s", view)

    def test_events_are_not_compared_with_seconds_without_a_word(self):
        by_faults, by_clock = (self.counting(env, 2000, 5, 0.05) for env in ({"BLAME_SAMPLE": f"{FAULTS}@10"}, {}))
        diff = execute([BLAME, "diff", by_faults.directories()[0], by_clock.directories()[0]], clean_environment(),
                       self.new_folder())
        self.assertIn(f"blame diff: samples differ: {FAULTS}@10 in", diff.stderr)

    def test_clocks_of_the_kernel_have_a_least_period(self):
        run = self.counting({"BLAME_SAMPLE": f"{CLOCK}@10"}, 10, 0, 0.05)
        self.assertEqual(len(run.tool_lines()), 1, run)
        self.assertEqual(self.profile(run).run["sample"], f"{CLOCK}@10000")
