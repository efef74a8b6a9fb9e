"""Commands that a signal ends while they write: nothing unfinished stays, and what was there does."""

import contextlib
import glob
import hashlib
import itertools
import os
import shutil
import signal
import unittest

from harness import BLAME, BlameTest, clean_environment, execute, program

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM, signal.SIGQUIT, signal.SIGXCPU)
MOST_FILES = 100
OF_A_JOB = {f"job/{name}" for name in ("job.blame", "job.symbols", "profile.csv", "threads.csv", "locks.csv", "waits.csv", "ranks.csv",
                                       "spread.csv", "balance.csv", "run.json")}


def contents(folder):
    """Of each file below it the digest, of each directory nothing."""
    found = {}
    for path in glob.glob(os.path.join(glob.escape(folder), "**"), recursive=True, include_hidden=True):
        name = os.path.relpath(path, folder)
        if os.path.isdir(path):
            found[name] = None
        elif not name.endswith(("-wal", "-shm")):  # of a database that was being read: SQLite's own
            with open(path, "rb") as file:
                found[name] = hashlib.sha1(file.read()).hexdigest()
    return found


class Interrupted(BlameTest):
    def interrupted(self, folder, number, at, *arguments, before=()):
        environment = clean_environment() | {"LD_PRELOAD": program("interrupts.so"), "INTERRUPT": f"{int(number)} {at}", "TMPDIR": folder}
        # Whoever runs the tests may ignore some (nohup, a shell's background).
        return execute(["env", "--default-signal", *before, BLAME, *arguments], environment, folder)

    def folder_with_profile(self):
        """Names are kept already: a command that reads writes nothing else."""
        folder = self.new_folder()
        run, _ = self.profile_of("quick", env={"BLAME_TRACE": "1"}, own_stderr=None)
        shutil.copytree(run.directories()[0], os.path.join(folder, "profile"))
        self.assertEqual(execute([BLAME, "report", "profile"], clean_environment(), folder).status, 0)
        return folder

    def each_moment(self, folder, *arguments, number=signal.SIGTERM):
        """Interrupts the command at the end of each file that it writes, until there is none left; yields what is there then."""
        for at in range(1, MOST_FILES):
            run = self.interrupted(folder, number, at, *arguments)
            if run.status == 0:
                self.assertGreater(at, 1, "it writes no file")
                return
            self.assertEqual(run.status, 128 + number, run)
            yield contents(folder)
        self.fail(f"more than {MOST_FILES} files: {arguments}")

    def assert_nothing_stays(self, folder, *arguments):
        before = contents(folder)
        for there in self.each_moment(folder, *arguments):
            self.assertEqual(there, before, arguments)

    def test_a_file_that_is_exported_in_any_format(self):
        folder = self.folder_with_profile()
        for name in ("folded", "speedscope", "pprof", "hatchet", "cube", "stacks", "trial", "perfetto", "firefox", "hpctoolkit", "tau"):
            with self.subTest(format=name):
                self.assert_nothing_stays(folder, "export", "profile", "--format", name, "--output", f"made-{name}")

    def test_a_file_that_is_there_stays_as_it_is(self):
        folder = self.folder_with_profile()
        with open(os.path.join(folder, "made"), "w", encoding="utf-8") as file:
            file.write("what was there")
        shutil.copytree(os.path.join(folder, "profile"), os.path.join(folder, "other"))
        for arguments in (("html", "profile"), ("report", "profile"), ("report", "profile", "--format", "csv"), ("diff", "profile", "other"),
                          ("diff", "profile", "other", "--format", "csv"), ("stat", "profile", "other")):
            with self.subTest(arguments=arguments):
                before = contents(folder)
                for there in self.each_moment(folder, *arguments, "--output", "made"):
                    self.assertEqual(there, before)
                self.assertNotEqual(contents(folder), before)
                with open(os.path.join(folder, "made"), "w", encoding="utf-8") as file:
                    file.write("what was there")

    def test_each_signal_that_ends_a_process_ends_the_command_and_what_it_writes(self):
        folder = self.folder_with_profile()
        before = contents(folder)
        for number, name in itertools.product(ENDING, ("folded", "hpctoolkit")):
            with self.subTest(number=number, format=name):
                run = self.interrupted(folder, number, 1, "export", "profile", "--format", name, "--output", "made")
                self.assertEqual(run.status, 128 + number, run)
                self.assertEqual(contents(folder), before)

    def test_who_ignores_a_signal_gets_the_whole_file(self):
        folder = self.folder_with_profile()
        run = self.interrupted(folder, signal.SIGHUP, 1, "html", "profile", "--output", "made", before=["nohup"])
        self.assertEqual(run.status, 0, run)
        self.assertTrue(os.path.exists(os.path.join(folder, "made")))

    def test_a_full_disk_leaves_what_was_there_and_nothing_else(self):
        folder = self.folder_with_profile()
        if os.geteuid() != 0:
            self.skipTest("only root may mount the small disk")
        disk = os.path.join(folder, "disk")
        os.mkdir(disk)
        mounted = execute(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", disk], clean_environment(), folder)
        if mounted.status:
            self.skipTest(f"no small disk could be mounted: {mounted.stderr.strip()}")
        self.addCleanup(execute, ["umount", "-l", disk], clean_environment(), folder)
        with open(os.path.join(disk, "made"), "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1024))
        before = contents(disk)
        for arguments in (("html", "profile", "-o", "disk/made"), ("report", "profile", "--format", "csv", "-o", "disk/made"), ("merge", "job", "--output", "disk/made.blame"),
                          *(("export", "profile", "--format", name, "-o", f"disk/new-{name}") for name in ("hatchet", "hpctoolkit", "tau", "perfetto"))):
            if arguments[0] == "merge":
                for _ in range(2):
                    self.attached([program("quick")], {"BLAME_JOB": "two", "BLAME_OUT": "job"}, folder=folder)
            run = execute([BLAME, *arguments], clean_environment(), folder)
            self.assertEqual(run.status, 1, run)
            self.assertIn("No space left on device", run.stderr)
            self.assertEqual(contents(disk), before, arguments)

    def test_reports_come_together_or_not_at_all(self):
        """The measurement's names and its mark, that it is reported, come behind them."""
        folder = self.folder_with_profile()
        self.assert_nothing_stays(folder, "finish", "profile")
        directory = os.path.join(folder, "profile")
        whole, reports = contents(directory), [name for name in os.listdir(directory) if name.endswith((".csv", ".json"))]
        for name in reports:
            os.unlink(os.path.join(directory, name))
        before = contents(directory)
        for _ in self.each_moment(folder, "finish", "profile"):
            there = contents(directory)
            self.assertIn(there, (before, whole))
            for name in set(reports) & set(there):
                os.unlink(os.path.join(directory, name))

    def test_a_jobs_merge(self):
        folder = self.new_folder()
        for _ in range(2):
            run = self.attached([program("quick")], {"BLAME_JOB": "two", "BLAME_OUT": "job"}, folder=folder)
            self.assertEqual(run.status, 0, run)
        for arguments in (("merge", "job", "--output", "made.blame"), ("merge", "job")):
            before = contents(folder)
            whole = set(before) | ({"made.blame", "made.symbols"} if "--output" in arguments else OF_A_JOB)
            for there in self.each_moment(folder, *arguments):
                self.assertEqual(set(there) - whole, set())
                self.assertEqual(set(before) - set(there), set())
                if "job/run.json" in there:
                    self.assertIn("job/profile.csv", there)

    def test_what_stays_of_a_killed_command_says_that_it_is_a_part(self):
        folder = self.new_folder()
        for _ in range(2):
            self.attached([program("quick")], {"BLAME_JOB": "two", "BLAME_OUT": "job"}, folder=folder)
        before, parts = contents(folder), set()
        for there in self.each_moment(folder, "merge", "job", number=signal.SIGKILL):
            parts |= set(there) - set(before) - OF_A_JOB
        self.assertTrue(parts)
        self.assertEqual([name for name in parts if not name.endswith(".part")], [])

    def test_a_job_that_is_merged_elsewhere_for_one_command(self):
        folder = self.new_folder()
        for _ in range(2):
            self.attached([program("quick")], {"BLAME_JOB": "two", "BLAME_OUT": "job"}, folder=folder)
        if os.access("/", os.W_OK) and os.geteuid() == 0:  # to root nothing is read-only but a file system
            before = ["unshare", "-m", "sh", "-c", 'mount --bind job job && mount -o remount,bind,ro job && exec "$@"', "sh"]
            if execute([*before, "true"], clean_environment(), folder).status:
                raise unittest.SkipTest("no file system can be mounted here")
        else:
            before = []
            os.chmod(os.path.join(folder, "job"), 0o500)
        there = contents(folder)
        run = self.interrupted(folder, signal.SIGTERM, 1, "report", "job", "--output", "made", before=before)
        self.assertEqual(run.status, 128 + signal.SIGTERM, run)
        self.assertEqual(contents(folder), there)
