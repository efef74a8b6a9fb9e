"""Programs under limits: the tool keeps to them, and the program does not notice that the tool was there."""

import os
import unittest

from harness import BLAME, LIBRARY, BlameTest, clean_environment, execute, program

# No file of ours, but the one of libomp; the measurement's header alone; room for the measurement, not for all.
FILE_LIMITS = (1 << 10, 8 << 10, 500 << 10)


class FileLimit(BlameTest):
    """RLIMIT_FSIZE: a write beyond it raises SIGXFSZ, which kills."""

    def limited(self, limit, argv, how):
        env = self.tool_environment({"BLAME_SUMMARY": "1", "BLAME_DEPTH": "4096"}) if how else clean_environment()
        if how == "library":
            env["OMP_TOOL_LIBRARIES"] = LIBRARY
        launcher = [BLAME, "run", "--"] if how == "launcher" else []
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
                run = self.limited(limit, argv, "launcher")
                self.assertEqual((run.status, run.stdout), (3, f"begin\nlimit {limit}, handler none\n"), run)
                self.assertTrue(run.tool_lines(), run)

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
                run = execute(["prlimit", "--fsize=100", BLAME, command, directory, *options, "--output", "out"],
                              clean_environment(), folder)
                self.assertEqual(run.status, 1, run)
                self.assertIn("File too large", run.stderr)
                self.assertEqual(os.listdir(folder), [], run)


if __name__ == "__main__":
    unittest.main()
