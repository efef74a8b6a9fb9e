"""`blame snapshot`: a profile of a program that runs on."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import contract_checks
from blame_profile import Profile
from harness import BLAME, TIMEOUT_S, BlameTest, clean_environment, execute, program


# Of a region that goes on the context may not be known yet.
SOUND = [check for check in contract_checks.TREE_CHECKS + [contract_checks.check_run, contract_checks.check_threads, contract_checks.check_exact_laws]
         if check is not contract_checks.check_resolved]


class Snapshot(BlameTest):
    def snapshot(self, folder, *arguments, before=()):
        return execute([*before, BLAME, "snapshot", *map(str, arguments)], clean_environment(), folder)

    def started(self, folder, env=None):
        """blame run of a program that goes on until it is ended, once it has been seen in sweep(); and a snapshot of that."""
        process = subprocess.Popen([BLAME, "run", "--out", "profile", "--", program("stack_sweep"), "30", "2"], cwd=folder,
                                   env=self.tool_environment({"BLAME_RATE": "1000"} | (env or {})), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.end_session, process)
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            time.sleep(0.3)
            run = self.snapshot(folder, process.pid, "--output", "first")
            if run.status:
                self.assertRegex(run.stderr, r"nothing has been measured yet|is being measured; start the program with blame run\n$")
            elif Profile(os.path.join(folder, "first")).total("work", "sweep") > 0:
                return process, run
            else:
                shutil.rmtree(os.path.join(folder, "first"))
        self.fail(f"no snapshot within {TIMEOUT_S} s\n{run}")

    @staticmethod
    def end_session(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def test_the_program_runs_on_and_what_is_there_is_a_profile(self):
        folder = self.new_folder()
        process, run = self.started(folder)
        self.assertIn("profile: first ", run.stderr)
        with open(os.path.join(folder, "first", "run.json"), encoding="utf-8") as file:
            json_of = json.load(file)
        self.assertEqual((json_of["finished"], json_of["killed"], json_of["snapshot"]), (False, False, True))
        self.load(run, os.path.join(folder, "first"), checks=SOUND)
        pid = json_of["pid"]
        for expected in ("", ".1"):
            self.assertEqual(self.snapshot(folder, pid).status, 0)
            self.assertTrue(os.path.exists(os.path.join(folder, f"blame-stack_sweep-{pid}-snapshot{expected}", "profile.csv")), os.listdir(folder))
        running = self.report(os.path.join(folder, "profile"))
        self.assertIn("the program is still running", running.stderr)
        kept = self.report(os.path.join(folder, "first"))
        self.assertEqual(kept.stderr, "")
        self.assertIn("a snapshot", kept.stdout)
        self.assertIsNone(process.poll())
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT_S), 128 + signal.SIGTERM)
        with open(os.path.join(folder, "profile", "run.json"), encoding="utf-8") as file:
            last = json.load(file)
        self.assertEqual((last["killed"], "snapshot" in last), (True, False))
        self.assertGreater(last["wall_s"], json_of["wall_s"])

    def test_of_a_private_profile_it_is_private(self):
        folder = self.new_folder()
        self.started(folder, {"BLAME_PRIVATE": "1", "BLAME_TRACE": "1"})
        self.assert_private(os.path.join(folder, "first"))

    def test_what_is_no_measured_process_gets_one_line(self):
        folder = self.new_folder()
        ended = execute(["true"], clean_environment(), folder)
        for argument, status, says in (("abc", 1, "is not a process id"), (ended.pid, 1, "no such process"), (os.getpid(), 1, "is being measured"),
                                       ("unknown option -1", 2, "expected one of --output")):
            with self.subTest(argument=argument):
                run = self.snapshot(folder, str(argument).split()[-1])
                self.assertEqual(run.status, status, run)
                self.assertRegex(run.stderr, f"^blame snapshot: {argument}[:;] [^\n]*({says})[^\n]*\n$")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_another_users_process_is_said_to_be_one(self):
        run = self.snapshot("/", os.getpid(), before=["setpriv", "--reuid=65534", "--clear-groups"])
        self.assertEqual(run.status, 1, run)
        self.assertIn("the process belongs to another user", run.stderr)

    def test_root_is_not_told_to_ask_as_root(self):
        """It is root in a namespace of its own, and not in the process's."""
        inside = ["unshare", "--user", "--map-root-user"]
        if execute([*inside, "true"], clean_environment(), self.new_folder()).status:
            self.skipTest("no user namespaces here")
        run = self.snapshot("/", os.getpid(), before=inside)
        self.assertEqual(run.status, 1, run)
        self.assertIn("memory map cannot be read (Permission denied), not even by root: a container", run.stderr)
        self.assertNotIn("as root", run.stderr)
