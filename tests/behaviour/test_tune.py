"""`blame tune`: what it runs, what it leaves, what it says. How well it searches is shown by tests/lab/test_search.py, without clocks; where one value
has to be faster here, the program sets the clock that tune reads."""

import csv
import io
import os
import signal
import subprocess
import time

from harness import BLAME, PASSIVE, TIMEOUT_S, BlameTest, clean_environment, execute, program

OMP_ONLY = {"BLAME_OMP_ONLY": "1"}  # of a shell there would be a profile, and a trial, where the machine is slow
SHORT, LONG = "0.02", "0.4"
FEW, MANY = "1", "20"
# 20 ms a nap, and up to 0.6 ms by chance.
NAPS = ["sh", "-c", 'read now <"$PLAYED_CLOCK"; echo $((now + $1 * 20000000 + now / 1000000 % 7 * 100000)) >"$PLAYED_CLOCK.new"; mv "$PLAYED_CLOCK.new" "$PLAYED_CLOCK"',
        "sh", "@{naps}"]


class Tune(BlameTest):
    def space(self, *lines):
        path = os.path.join(self.folder, "space")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def tune(self, *arguments, status=0, env=None, folder=None):
        folder = folder or self.new_folder()
        run = execute([BLAME, "tune", *arguments], clean_environment() | {"TMPDIR": folder} | OMP_ONLY | (env or {}), folder)
        self.assertEqual(run.status, status, run)
        self.assertEqual([name for name in os.listdir(folder) if name.startswith("blame-")], [], run)
        return run

    def nap(self, *values, pairs):
        clock = os.path.join(self.folder, "clock")
        with open(clock, "w", encoding="ascii") as file:
            file.write("1000000000000\n")
        python = os.path.join(self.folder, "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nLD_PRELOAD="{program("played_clock.so")}" exec /usr/bin/python3 "$@"\n')
        os.chmod(python, 0o755)
        return self.tune("--space", self.space("param naps: " + " ".join(values)), "--pairs", str(pairs), "--seed", "1", *NAPS,
                         env={"BLAME_PYTHON": python, "PLAYED_CLOCK": clock})

    def test_the_faster_value_is_found_and_its_gain_shown(self):
        run = self.nap(MANY, FEW, pairs=5)
        self.assertRegex(run.stdout, rf"(?m)^as it is: 0.40\d* s\nbest:\n    naps={FEW}\ngain: 9[45].\d % less time \([\d.]+ to [\d.]+ %, 95 %, 5 pairs")
        self.assertRegex(run.stdout, r"(?m)^  naps       1 of 1 tried; ")
        self.assertRegex(run.stdout, r"(?m)^\d+ runs, \d+ s; \d+ left no profile, because no parallel region began$")

    def test_a_program_that_is_best_as_it_is_is_told_so(self):
        run = self.nap(FEW, MANY, pairs=3)
        self.assertIn("It is best as it is, as far as this search can tell: nothing that was tried was faster.\n", run.stdout)
        self.assertIn(f"not worth it: the best, {MANY}, had ", run.stdout)

    def test_wrong_results_failures_and_what_hangs_are_left(self):
        script = f"case $1 in right) echo right; sleep {LONG};; hangs) sleep 60;; fails) exit 3;; dies) kill -9 $$;; *) echo $1;; esac"
        run = self.tune("--space", self.space("param kind: right wrong hangs fails dies"), "--check", "grep -q right", "--limit", "5", "--format", "csv",
                        "sh", "-c", script, "sh", "@{kind}")
        ends = {}
        for row in csv.DictReader(io.StringIO(run.stdout)):
            ends.setdefault(row["kind"], set()).add(row["end"])
        self.assertEqual(ends, {"default": {"good"}, "wrong": {"wrong"}, "hangs": {"limit"}, "fails": {"status"}, "dies": {"signal"}})

    def test_a_kernel_without_pidfds_is_no_hindrance(self):
        env = {"LD_PRELOAD": program("no_pidfd.so")}
        run = self.tune("--space", self.space("env A: 1"), "--runs", "14", "--pairs", "3", "--limit", str(TIMEOUT_S), "true", env=env)
        self.assertRegex(run.stdout, r"(?m)^\d+ runs, \d+ s; \d+ left no profile")
        run = self.tune("--limit", "1", "sleep", "60", status=1, env=env)
        self.assertEqual(run.stderr, "blame tune: sleep: as it is: longer than the limit of 1.0 s\n")

    def test_a_default_that_fails_is_told_of(self):
        for limit, script, said in ((TIMEOUT_S, "echo no input >&2; exit 3", "exit status 3: no input"), (TIMEOUT_S, "echo no end >&2; exit 255", "exit status 255: no end"),
                                    (TIMEOUT_S, "kill -9 $$", "killed by signal 9 (Killed)"),
                                    (1, "sleep 60", "longer than the limit of 1.0 s")):
            run = self.tune("--limit", str(limit), "sh", "-c", script, status=1)
            self.assertEqual(run.stderr, f"blame tune: sh: as it is: {said}\n")

    def test_variants_are_built_once_each(self):
        folder = self.new_folder()
        build = "echo @{kind} >>built; { echo '#!/bin/sh'; echo sleep @{kind}; } >nap-@{kind}; chmod +x nap-@{kind}"
        self.tune("--space", self.space(f"param kind: {LONG} {SHORT}", f"build: {build}"), "--pairs", "3", "./nap-@{kind}", folder=folder)
        with open(os.path.join(folder, "built"), encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().split()), [SHORT, LONG])

    def test_every_run_is_a_trial(self):
        folder = self.new_folder()
        run = self.tune("--space", self.space("wait: passive", "env A: 1"), "--pairs", "3", "--runs", "14", "--input", "n=7", "--application", "it",
                        "--format", "csv", program("scales"), folder=folder, env=PASSIVE | {"TEST_PACE": str(self.pace)})
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertGreater(len(rows), 2)
        self.assertEqual([row["trial"] for row in rows], [str(number + 1) for number in range(len(rows))])
        listed = execute([BLAME, "db", "list", "--format", "csv", "--where", "experiment = 'tune' and \"input.n\" = 7 and application = 'it' and \"tune.profiled\" = 1"],
                         clean_environment(), folder)
        self.assertEqual(len(listed.stdout.splitlines()), 1 + len(rows), listed)
        values = execute([BLAME, "db", "list", "--format", "csv", "--where", "\"tune.wait\" = 'passive'"], clean_environment(), folder)
        self.assertEqual(len(values.stdout.splitlines()), 1 + sum(row["wait"] == "passive" for row in rows), values)

    def stopped(self, number, **how):
        """Gets the signal in its fourth run, which would take long; its status and output."""
        folder = self.new_folder()
        script = "echo $$ >>begun; sleep 0.1; [ $(wc -l <begun) -lt 4 ] || exec sleep 300"
        tuning = subprocess.Popen([BLAME, "tune", "--space", self.space("env A: 1 2 3"), "sh", "-c", script], cwd=folder, text=True,
                                  env=clean_environment() | {"TMPDIR": folder} | OMP_ONLY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        begun = []
        while len(begun) < 4 or not self.sleeps(begun[3]):
            time.sleep(0.01)
            if os.path.exists(os.path.join(folder, "begun")):
                with open(os.path.join(folder, "begun"), encoding="utf-8") as file:
                    begun = file.read().split("\n")[:-1]
        tuning.send_signal(number)
        stdout, stderr = tuning.communicate(timeout=TIMEOUT_S)
        self.assert_ends(begun)
        if number != signal.SIGKILL:
            self.assertEqual(os.listdir(folder), ["begun"])
        return tuning.returncode, stdout, stderr

    def test_an_interrupt_and_a_closed_terminal_end_it_with_what_is_known(self):
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            status, stdout, stderr = self.stopped(number, preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in (signal.SIGHUP, signal.SIGQUIT)])
            self.assertEqual((status, stderr), (0, ""), stdout)
            self.assertRegex(stdout, r"(?m)^4 runs, ")

    def test_no_program_outlives_it(self):
        self.assertEqual(self.stopped(signal.SIGKILL)[0], -signal.SIGKILL)

    def test_what_a_run_leaves_behind_is_ended(self):
        folder = self.new_folder()
        self.tune("--space", self.space("env A: 1"), "--runs", "14", "--pairs", "3", "sh", "-c", "sleep 300 & echo $! >>left", folder=folder)
        with open(os.path.join(folder, "left"), encoding="utf-8") as file:
            left = file.read().split()
        self.assertTrue(left)
        self.assert_ends(left)

    def assert_ends(self, pids):
        deadline = time.monotonic() + TIMEOUT_S  # a killed process ends when it gets a core
        while any(self.sleeps(pid) for pid in pids):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    @staticmethod
    def sleeps(pid):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as command:
                return "sleep" in command.read()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_too_few_runs_try_nothing_and_say_so(self):
        run = self.tune("--space", self.space("env A: 1 2 3 4 5 6 7 8 9"), "--runs", "14", "--pairs", "3", "true")
        self.assertIn("Nothing was tried: give more --runs, or --minutes.\n", run.stdout)

    def test_time_for_the_first_run_alone_ends_it(self):
        run = self.tune("--minutes", "0.01", "--pairs", "3", "sleep", "0.3") # six more would take longer
        self.assertIn("Nothing was tried: give more --runs, or --minutes.\n", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^1 run, ")

    def test_a_dry_run_runs_nothing(self):
        folder = self.new_folder()
        run = self.tune("--space", self.space("threads: 2 4", "param size: 8 16 ordered"), "--dry-run", "touch", "begun-@{size}", folder=folder)
        self.assertEqual(run.stdout.splitlines()[:2], ["threads    default 2 4", "size       8 16"])
        self.assertIn("6 settings; at most 100 runs, of which 16 are pairs", run.stdout)
        self.assertEqual(os.listdir(folder), [])

    def test_wrong_use_is_told_of_in_a_line(self):
        space = self.space("param size: 1 2")
        for arguments, status, said in (
                (["--runs", "20", "--pairs", "8", "true"], 2, "--runs 20: expected at least 24 with --pairs 8"),
                (["--input", "n", "true"], 2, "--input n: expected "),
                (["--space", "none", "true"], 1, "none: No such file"),
                (["--space", space, "true"], 2, "the parameter size is not used; put @{size} into an argument"),
                (["true", "@{size}"], 2, "@{size}: unknown parameter"),
                (["--minutes", "0", "true"], 2, "--minutes 0: expected"),
                (["--format", "html", "true"], 2, "--format html: expected"),
                ([], 2, "no program was given")):
            run = self.tune(*arguments, status=status)
            self.assertEqual(run.stderr.count("\n"), 1, run)
            self.assertTrue(run.stderr.startswith("blame tune: ") and said in run.stderr, run)
