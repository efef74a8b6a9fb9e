"""Programs under limits: the tool keeps to them, and the program does not notice that the tool was there. All limits, by hand: make limits."""

import json
import os
import re
import subprocess
import sys
import unittest

from harness import BLAME, LIBRARY, ROOT, BlameTest, clean_environment, execute, program

sys.path.append(os.path.join(ROOT, "tests"))

import limits  # noqa: E402

# No file of ours, but the one of libomp; the measurement's header alone; room for the measurement, not for all.
FILE_LIMITS = (1 << 10, 8 << 10, 500 << 10)


class FileLimit(BlameTest):
    """RLIMIT_FSIZE: a write beyond it raises SIGXFSZ, which kills."""

    def limited(self, limit, argv, how, runtime="auto"):
        env = self.tool_environment({"BLAME_SUMMARY": "1", "BLAME_DEPTH": "4096"}) if how else clean_environment()
        if how == "library":
            env["OMP_TOOL_LIBRARIES"] = LIBRARY
        launcher = [BLAME, "run", "--runtime", runtime, "--"] if how == "launcher" else []
        return execute(["prlimit", f"--fsize={limit}", *launcher, *argv], env, self.new_folder())

    def assert_same(self, limit, name, way):
        argv = [program(name), way, "own"]
        alone = self.limited(limit, argv, None)
        for how in ("library", "launcher"):
            with self.subTest(limit=limit, way=way, how=how):
                run = self.limited(limit, argv, how)
                self.assertEqual((run.status, run.stdout), (alone.status, alone.stdout), f"{alone}\n{run}")
                self.assertEqual([line for line in run.other_lines() if "SIGXFSZ" in line], [], run)
                if limit == FILE_LIMITS[0]:
                    self.assertTrue(any("File too large" in line for line in run.tool_lines()), run)
                    self.assertFalse(any("did not start an OpenMP runtime" in line for line in run.tool_lines()), run)
        return alone

    def test_a_program_that_writes_nothing_is_not_killed_by_what_the_tool_writes(self):
        for limit in FILE_LIMITS:
            self.assertEqual(self.assert_same(limit, "file_limit", "leaves").status, 3)

    def test_a_gcc_program_that_may_write_no_file_is_not_moved_to_a_runtime_that_does(self):
        argv = [program("file_limit_gcc"), "leaves", "own"]
        for limit in (0, *FILE_LIMITS[1:]):
            with self.subTest(limit=limit):
                run = self.limited(limit, argv, "launcher", "libomp")
                self.assertEqual((run.status, run.stdout), (3, f"begin\nlimit {limit}, handler none\n"), run)
                self.assertTrue(run.tool_lines(), run)

    def test_a_gcc_program_is_not_moved_to_a_runtime_that_finds_no_room(self):
        small = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=20k tmpfs /dev/shm && exec "$@"', "sh"]
        if execute([*small, "true"], clean_environment(), self.new_folder()).status != 0:
            self.skipTest("no file system can be mounted here")
        run = execute([*small, BLAME, "run", "--runtime", "libomp", "--", program("quick_gcc"), "7"], self.tool_environment({}), self.new_folder())
        self.assertEqual(run.status, 7, run)
        self.assertIn("may find no room in /dev/shm", run.tool_lines()[0])

    def test_its_handler_gets_its_own_signals_and_none_of_the_tools(self):
        for limit in FILE_LIMITS:
            self.assertEqual(self.assert_same(limit, "file_limit", "handles").stdout.count("SIGXFSZ\n"), 1)

    def test_a_program_that_dies_of_its_own_writing_dies_as_alone(self):
        self.assertEqual(self.assert_same(FILE_LIMITS[2], "file_limit", "dies").status, 128 + 25)

    def test_the_commands_say_so_and_leave_nothing(self):
        directory, = self.attached([program("quick")]).directories()
        for command, *options in (("report",), ("html",), ("export", "--format", "folded")):
            with self.subTest(command=command):
                folder = self.new_folder()
                run = execute(["prlimit", "--fsize=10", BLAME, command, directory, *options, "--output", "out"],
                              clean_environment(), folder)
                self.assertEqual(run.status, 1, run)
                self.assertIn("File too large", run.stderr)
                self.assertEqual(os.listdir(folder), [], run)


class Refused(BlameTest):
    """What a sandbox or the surroundings refuse: the program runs, unmeasured if need be, and a line says so."""

    def test_in_a_sandbox_the_program_runs_as_alone(self):
        for calls in ("mkdir", "readlink", "timer_create", "process_vm_readv", "fallocate", "rename,madvise",
                      "rt_sigpending,rt_sigtimedwait"):
            for how in ("library", "launcher"):
                with self.subTest(calls=calls, how=how):
                    env = self.tool_environment({"OMP_TOOL_LIBRARIES": LIBRARY} if how == "library" else {})
                    command = [BLAME, "run", "--"] if how == "launcher" else []
                    run = execute([program("denies"), calls, *command, program("quick"), "5"], env, self.new_folder())
                    self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
                    self.assert_only_tool_lines(run, ["the program's own line"])
                    if not run.directories():
                        self.assertTrue(any("measured" in line for line in run.tool_lines()), run)

    def test_without_a_place_for_temporary_files_the_program_is_measured(self):
        run = self.attached([program("quick"), "5"], {"TMPDIR": "/nonexistent"}, "launcher")
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        self.assertTrue(any("/nonexistent" in line for line in run.tool_lines()), run)
        self.assertIn("profile.csv", os.listdir(run.directories()[0]))


# Of tests/limits.py: a limit, a program, and what there is of the profile.
SELECTED = (
    ("clone.process EPERM", "GCC's, blame run", "part"),
    ("dup2 EPERM", "quick, blame run", "whole"),
    ("faccessat2 EPERM", "quick, blame run", "whole"),
    ("access ENOSYS", "quick, blame run", "whole"),
    ("process_vm_readv EPERM", "quick", "whole"),
    ("timer_create killed", "quick", "unmeasured"),
    ("wait4 EPERM", "quick", "whole"),
    ("RLIMIT_NOFILE 5", "quick", "part"),
    ("RLIMIT_DATA 67108864", "quick", "part"),
)


class AsAlone(BlameTest):
    def test_a_selection_of_all_limits(self):
        of_name = {limit.name: limit for limit in limits.all_limits()}
        for number, (name, title, expected) in enumerate(SELECTED):
            with self.subTest(limit=name, program=title):
                result = limits.one(number, of_name[name], title, self.folder)
                self.assertEqual(result["verdict"], expected, result)


class AddressSpace(BlameTest):
    def test_what_the_reports_would_take_is_not_taken_from_a_program_that_has_no_more(self):
        for limit in (30, 36, 47, 48, 49, 50, 54, 70):  # MB; libdw ends a process that it gets no memory in, between these
            with self.subTest(limit=limit):
                run = self.attached(["prlimit", f"--as={limit}000000", program("quick"), "5"])
                self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
                self.assert_only_tool_lines(run, ["the program's own line"])
                self.assertTrue(any("memory" in line for line in run.tool_lines()), run)
                self.report(run.directories()[0])


class Unmeasured(BlameTest):
    """What could not be measured comes first, with its cause, and there is no finding."""

    def assert_unmeasured(self, argv, cause, env=None):
        run = self.attached(argv, {"BLAME_SUMMARY": "1", "BLAME_OUT": "profile"} | (env or {}))
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        lines = run.stderr.splitlines()
        lead = next(at for at, line in enumerate(lines) if "of the threads' time was measured" in line)
        self.assertRegex(lines[lead + 1], cause)
        self.assertFalse(any("Look first" in line or "other threads idled" in line for line in lines), run)
        figures = [line for line in lines[:lead] if not line.startswith("blame: ")]  # the title has the program's path
        self.assertFalse(any(re.search("work|idleness", line) for line in figures), run)
        return run

    def assert_told_again(self, directory, cause, share):
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            unmeasured = json.load(file)["unmeasured"]
        self.assertRegex(unmeasured["causes"][0]["cause"], cause)
        self.assertGreaterEqual(unmeasured["seconds"], share * unmeasured["of_s"])
        findings = self.report(directory, "--view", "findings", "--format", "csv").stdout.splitlines()
        self.assertEqual([line.split(",")[0] for line in findings], ["rule", "unmeasured"])
        self.assertRegex(" ".join(self.report(directory).stdout.split()), cause)
        for command, *operands in (("html", directory, "--output", os.devnull), ("diff", directory, directory)):
            run = execute([BLAME, command, *operands], clean_environment(), self.new_folder())
            self.assertEqual(run.status, 0, run)
            self.assertRegex(run.stderr, cause)

    def test_without_room_because_of_a_limit_on_files(self):
        cause = r"limit on the size of files, 65536 bytes, .*RLIMIT_FSIZE"
        run = self.assert_unmeasured(["prlimit", "--fsize=65536", program("quick"), "5"], cause)
        self.assert_told_again(run.directories()[0], cause, 0.9)

    def test_without_timers(self):
        cause = r"limit on pending signals, 0 .*RLIMIT_SIGPENDING"
        run = self.assert_unmeasured(["prlimit", "--sigpending=0", program("quick"), "5"], cause)
        self.assert_told_again(run.directories()[0], cause, 0.9)

    @unittest.skipUnless(os.geteuid() == 0, "only root may mount the small disk")
    def test_without_room_on_the_disk(self):
        disk = self.new_folder()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", disk], capture_output=True, text=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no small disk could be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        self.assert_unmeasured([program("quick"), "5"], "no space is left on the device for .*/profile",
                               {"BLAME_OUT": os.path.join(disk, "profile"), "BLAME_CSV": "0"})

