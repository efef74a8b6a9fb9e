"""The log of stacks: `blame run --stacks` while the program runs, `blame export --format stacks` afterwards."""

import csv
import glob
import io
import os
import re
import signal
import subprocess
import time

from harness import BLAME, PASSIVE, TIMEOUT_S, BlameTest, clean_environment, execute, program

LINE = re.compile(r"\d+\.\d{6}\t\d+\t\d+\t(work|overhead|idle|lock_wait|mpi_wait|no_core|blocked|stopped)\t[^\t]*")
FRAME = re.compile(r"[^;\t\\]+:[^:;\t]+:\d+:0x[0-9a-f]+")
SAYS = re.compile(r"^blame: stacks: tail -f (\S+)$", re.MULTILINE)


class Stacks(BlameTest):
    def lines(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.endswith("\n"), text[-200:])
        for line in text.splitlines():
            self.assertRegex(line, LINE)
            for frame in filter(None, line.split("\t")[4].split(";")):
                self.assertRegex(frame, FRAME)
        return text.splitlines()

    def exported(self, directory, *options):
        run = execute([BLAME, "export", directory, "--format", "stacks", *options], clean_environment(), self.new_folder())
        self.assertEqual(run.status, 0, run)
        return run.stdout.splitlines()

    def assert_whole(self, directory):
        """The log that was written meanwhile is the one that can be had of the measurement: nothing is missing, nothing is there twice.
        Where a region had not ended its outer frames were not known."""
        log, = glob.glob(os.path.join(directory, "*.stacks"))
        there = self.lines(log)
        when = [sorted(line.rsplit("\t", 1)[0] for line in lines) for lines in (there, self.exported(directory))]
        self.assertGreater(len(there), 20)
        self.assertEqual(when[0], when[1])
        return there

    def stacks_run(self, argv, *options, status=0, own=()):
        run = self.attached(argv, {"BLAME_RATE": "500", "BLAME_CSV": "0"}, "launcher", options or ("--stacks",))
        self.assertEqual(run.status, status, run)
        self.assert_only_tool_lines(run, own)
        return run

    def test_samples_of_a_step_lie_between_its_begin_and_its_end(self):
        _, profile = self.profile_of("folds", "100", "6000", env=PASSIVE | {"OMP_NUM_THREADS": "2", "BLAME_RATE": "1000"}, how="launcher", options=("--trace",))
        rows = csv.DictReader(io.StringIO(profile.read("phases.csv")))
        steps = {row["instance"]: (float(row["begin"]), float(row["seconds"])) for row in rows if row["phase"] == "step"}
        inside = outside = 0
        for line in self.exported(profile.directory):
            number = re.search(r";\[(\d+)\]:\?:0:0x0;phase step:", line)
            if number:
                begin, seconds = steps[number[1]]
                late = float(line.split("\t")[0]) - begin
                inside, outside = inside + (-1e-5 < late < seconds + 1e-5), outside + (not -1e-5 < late < seconds + 1e-5)
        self.assertGreater(inside, 500)
        self.assertLessEqual(outside, 0.005 * inside)

    def test_it_is_the_trace_a_line_a_sample(self):
        run = self.stacks_run([program("stack_sweep"), "0.3", "2"])
        directory, = run.directories()
        there = self.assert_whole(directory)
        self.assertEqual(SAYS.findall(run.stderr), glob.glob(os.path.join(directory, "*.stacks")))
        self.assertTrue(any("\twork\tsweep:" in line and ";inner:" in line and "/stack_sweep.c:" in line for line in there), there[:5])
        self.assertEqual({line.split("\t")[2] for line in there}, {"0", "1"})
        by_processor = self.exported(directory, "--clock", "cpu")
        self.assertEqual({line.split("\t")[3] for line in by_processor} - {"work", "overhead"}, set())
        for thread in "01":
            times = [float(line.split("\t")[0]) for line in by_processor if line.split("\t")[2] == thread]
            self.assertEqual(times, sorted(times))

    def test_programs_that_a_program_starts_and_becomes_have_their_own(self):
        run = self.stacks_run(["sh", "-c", '"$0" 0.1 2 >/dev/null & "$0" 0.1 2 >/dev/null; wait; exec "$0" 0.1 2', program("stack_sweep")], "--stacks")
        measured = glob.glob(os.path.join(run.folder, "profile*", "stack_sweep-*.blame"))  # and the shell's, on a slow machine
        self.assertEqual(len(measured), 3, run)
        for path in measured:
            self.assert_whole(os.path.dirname(path))

    def test_it_grows_while_the_program_runs_and_a_killed_ones_is_whole(self):
        folder = self.new_folder()
        process = subprocess.Popen([BLAME, "run", "--stacks", "--out", "profile", "--", program("stack_sweep"), "30", "1"], cwd=folder,
                                   env=self.tool_environment({"BLAME_RATE": "500"}), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        directory, deadline, grown = os.path.join(folder, "profile"), time.monotonic() + TIMEOUT_S, []
        while time.monotonic() < deadline and not (grown and "\tsweep:" in grown[-1]):
            time.sleep(0.2)
            for log in glob.glob(os.path.join(directory, "*.stacks")):
                with open(log, encoding="utf-8") as file:
                    grown = file.read().splitlines()[:-1]
        self.assertIn("\tsweep:", "".join(grown[-1:]))
        measurement, = glob.glob(os.path.join(directory, "*.blame"))
        pid = int(measurement.rsplit("-", 1)[1].removesuffix(".blame"))
        snapshot = execute([BLAME, "snapshot", str(pid), "--output", "now"], clean_environment(), folder)
        self.assertEqual(snapshot.status, 0, snapshot)
        self.lines(glob.glob(os.path.join(folder, "now", "*.stacks"))[0])
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(process.wait(TIMEOUT_S), 128 + signal.SIGKILL)
        there = self.assert_whole(directory)
        self.assertEqual(there[:len(grown)], grown)

    def test_where_it_cannot_be_written_the_program_runs_as_ever(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        for place, cause in (("/dev/full", "No space left on device"), ("/no/such/log", "No such file or directory"), (fifo, "No such device or address")):
            with self.subTest(place=place):
                run = self.stacks_run([program("quick"), "5"], "--stacks-file", place, status=5, own=["the program's own line"])
                line, = [line for line in run.tool_lines() if " cannot be written: " in line]
                directory, = run.directories()
                self.assertEqual(line, f"blame: {place}: the log of stacks cannot be written: {cause}; blame export {directory} --format stacks writes the log later")
                self.assertEqual(glob.glob(os.path.join(directory, "*.stacks")), [])

    def test_on_a_full_disk_it_ends_with_a_whole_line(self):
        folder = self.new_folder()
        run = execute(["prlimit", "--fsize=400000", "--", BLAME, "run", "--stacks=5000", "--out", "profile", "--csv", "0", "--", program("stack_sweep"), "0.3", "2"],
                      self.tool_environment({"BLAME_RATE": None}), folder)
        self.assertEqual(run.status, 0, run)
        self.assertIn(".stacks: the log of stacks cannot be written: File too large", run.stderr)
        there = self.lines(*glob.glob(os.path.join(folder, "profile", "*.stacks")))
        self.assertGreater(len(self.exported(os.path.join(folder, "profile"))), len(there))
        self.assertGreater(len(there), 100)

    def test_what_is_there_is_not_overwritten(self):
        folder = self.new_folder()
        for name in ("log", "log.1"):
            run = self.attached([program("quick")], {"BLAME_CSV": "0"}, "launcher", ("--stacks-file", "log"), folder=folder)
            self.assertEqual((run.status, SAYS.findall(run.stderr)), (0, [name]), run)
            self.assertTrue(self.lines(os.path.join(folder, name)))

    def test_a_program_without_a_region_leaves_nothing(self):
        run = self.stacks_run(["sh", "-c", "exit 3"], status=3)
        self.assertEqual((run.directories(), len(run.tool_lines())), ([], 1), run)

    def test_without_a_trace_a_line_says_what_makes_one(self):
        run = execute([BLAME, "export", self.lock_profile(), "--format", "stacks", "-o", "log"], clean_environment(), folder := self.new_folder())
        self.assertEqual(run.status, 1, run)
        self.assertRegex(run.stderr, r"^blame export: \S+: has no trace, [^\n]*--trace or --stacks\n$")
        self.assertEqual(os.listdir(folder), [])

    def test_rates_that_contradict_each_other_are_refused(self):
        for options, says in ((("--stacks=10", "--rate", "100"), "already sets the rate to 100"), (("--stacks", "10001"), "from 0 to 10000"), (("--stacks-file", "-"), "standard output")):
            run = execute([BLAME, "run", *options, "true"], clean_environment(), self.new_folder())
            self.assertEqual(run.status, 2, run)
            self.assertRegex(run.stderr, f"^blame run: --stacks[^\n]*{says}[^\n]*\n$")
