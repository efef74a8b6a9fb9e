"""Standard input, output and error are the program's: closed ones stay closed, files that get their numbers hold nothing of ours,
and nobody waits for who does not read."""

import fcntl
import os
import signal
import subprocess

from harness import BLAME, LIBRARY, TIMEOUT_S, BlameTest, program


def full_pipe():
    """Its two ends. Nobody reads it."""
    read_end, write_end = os.pipe()
    size = fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write_end, b"x" * size)
    return read_end, write_end


class Full(BlameTest):
    def status_of(self, argv, env):
        """Of a program whose stderr is full, from begin to end."""
        read_end, write_end = full_pipe()
        self.addCleanup(os.close, read_end)
        self.addCleanup(os.close, write_end)
        process = subprocess.Popen(argv, env=self.tool_environment(env), cwd=self.new_folder(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=write_end, start_new_session=True)
        try:
            status = process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError(f"{' '.join(argv)} waits for a reader") from None
        self.assertFalse(fcntl.fcntl(write_end, fcntl.F_GETFL) & os.O_NONBLOCK)
        return status

    def test_a_summary_that_nobody_reads(self):
        quiet = [program("family"), "plain"]
        for argv, env in ((quiet, {"OMP_TOOL_LIBRARIES": LIBRARY}), ([BLAME, "run", *quiet], {})):
            self.assertEqual(self.status_of(argv, env | {"BLAME_SUMMARY": "1"}), 5, argv)

    def test_lines_of_the_tool_and_of_the_launcher_that_nobody_reads(self):
        quiet = [program("family"), "plain"]
        self.assertEqual(self.status_of(quiet, {"OMP_TOOL_LIBRARIES": LIBRARY, "BLAME_RATE": "x", "BLAME_DEPTH": "x"}), 5)
        self.assertEqual(self.status_of([BLAME, "run", "sh", "-c", "exit 5"], {}), 5)

    def test_lines_of_the_part_in_the_loader_that_nobody_reads(self):
        libraries = [program("loads_later_clang.so"), program("coming_later.so")]
        self.assertEqual(self.status_of([BLAME, "run", program("loads_later"), *libraries], {}), 0)


class Unheard(BlameTest):
    """Programs that close stderr before they end, as GNU's sort and mawk do, or redirect it: blame run prints their summaries."""

    def summaries(self, command):
        run = self.attached(["sh", "-c", command, program("streams")], {"BLAME_SUMMARY": "1"}, "launcher")
        self.assertEqual(run.status, 5, run)
        directory, = run.directories()
        self.assertIn("profile.csv", os.listdir(directory))
        self.load(run)
        return run.stderr.count("see more: blame report")

    def test_the_summary_appears_once_and_only_where_stderr_was_that_of_blame_run(self):
        for way in ("numbers", "files"):
            self.assertEqual(self.summaries(f'exec "$0" {way}'), 1, way)
            for other in ("2>other", "2>&-"):
                self.assertEqual(self.summaries(f'exec "$0" {way} {other}'), 0, (way, other))


class Taken(BlameTest):
    def test_files_of_the_program_that_get_the_numbers_hold_nothing_of_ours(self):
        for how in ("library", "launcher"):
            for env in ({"BLAME_SUMMARY": "1"}, {"BLAME_CSV": "0", "BLAME_SUMMARY": None}):
                run = self.attached([program("streams"), "files"], env, how)
                self.assertEqual(run.status, 5, run)
                self.assertEqual([os.path.getsize(os.path.join(run.folder, name)) for name in ("zero", "one", "two")],
                                 [0, 0, 0], (how, env))
                self.reported_tree(*run.directories())

    def test_nor_do_they_of_the_part_in_the_loader(self):
        argv = [program("loads_later"), program("loads_later_clang.so"), "taken", program("coming_later.so")]
        run = self.attached(argv, how="launcher", options=["--runtime", "libomp"])
        self.assertEqual((run.status, run.stdout), (0, "sum 3\nsum 1\n"), run)
        self.assertEqual(os.path.getsize(os.path.join(run.folder, "two")), 0)

    def test_numbers_are_as_alone(self):
        """Of what is closed at the start, and of the first files that the program opens."""
        for closed in ("", "0<&-", "2>&-", "0<&- 1>&- 2>&-"):
            argv = ["sh", "-c", f'exec "$0" numbers {closed}', program("streams")]
            runs = [self.plain(argv), self.attached(argv), self.attached(argv, how="launcher")]
            seen = []
            for run in runs:
                with open(os.path.join(run.folder, "seen"), encoding="utf-8") as file:
                    seen.append(file.read())
            self.assertEqual(seen, seen[:1] * 3, closed)
            for run in runs[1:]:
                self.load(run)

    def test_a_low_limit_leaves_numbers_that_are_no_standard_streams(self):
        argv = ["prlimit", "--nofile=12", "sh", "-c", 'exec "$0" numbers 0<&-', program("streams")]
        alone, run = self.plain(argv), self.attached(argv)
        with open(os.path.join(alone.folder, "seen"), encoding="utf-8") as first, \
                open(os.path.join(run.folder, "seen"), encoding="utf-8") as second:
            self.assertEqual(second.read(), first.read())

