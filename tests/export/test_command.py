"""`blame export` as a command: its options, where it writes, what it says of what cannot be used or written."""

import csv
import gzip
import json
import os
import pty
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import cube_reader  # noqa: E402  (found through the path set above)
from blame_profile import Tree  # noqa: E402
from harness import BLAME, TIMEOUT_S, BlameTest, clean_environment, program  # noqa: E402  (found through the path set above)

FORMATS = ("folded", "speedscope", "pprof", "hatchet", "cube")


class Command(BlameTest):
    def export(self, *arguments, env=None, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.run([BLAME, "export", *arguments], env=clean_environment() | (env or {}), timeout=TIMEOUT_S,
                              **options)

    def refused(self, status, mention, *arguments, **options):
        run = self.export(*arguments, **options)
        self.assertEqual((run.returncode, run.stdout or b""), (status, b""), run)
        self.assertEqual(len(run.stderr.decode().splitlines()), 1, run)
        for text in mention:
            self.assertIn(text, run.stderr.decode())

    def test_a_file_gets_what_standard_output_would(self):
        for name in FORMATS:
            with self.subTest(format=name):
                path = os.path.join(self.new_folder(), "out")
                to_pipe = self.export(self.lock_profile(), "--format", name)
                to_file = self.export(self.lock_profile(), f"--format={name}", "-o", path)
                self.assertEqual((to_pipe.returncode, to_file.returncode, to_file.stdout), (0, 0, b""))
                self.assertEqual(to_pipe.stderr, to_file.stderr)
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), to_pipe.stdout)
                self.assertEqual(os.listdir(os.path.dirname(path)), ["out"])

    def test_the_locale_changes_nothing(self):
        for name in FORMATS:
            outputs = {self.export(self.lock_profile(), "--format", name, env={"LC_ALL": locale}).stdout
                       for locale in ("C", "C.UTF-8", "de_DE.UTF-8")}
            self.assertEqual(len(outputs), 1, name)

    def test_folded_is_what_report_prints(self):
        report = self.report(self.lock_profile(), "--format", "folded", "--sort", "lock-wait")
        export = self.export(self.lock_profile(), "--format", "folded", "--metric", "lock-wait")
        self.assertEqual(sorted(export.stdout.decode().splitlines()), sorted(report.stdout.splitlines()))

    def test_phases_are_frames_as_in_reports(self):
        directory, = self.profile_of("matmul")[0].directories()
        report = self.report(directory, "--format", "csv").stdout.splitlines()
        for name in ("phase outer", "outer [3]", "size = 640", "event multiply"):
            self.assertTrue(any(f",{name}," in line for line in report), name)
        folded = self.export(directory, "--format", "folded", "--metric", "work").stdout.decode()
        self.assertRegex(folded, r"(?m)^(.*;)?phase outer;outer \[3\];size = 640;event multiply;.* \d+$")
        for name in ("speedscope", "hatchet"):
            out = self.export(directory, "--format", name).stdout.decode()
            for frame in ("phase outer", "size = 640", "event multiply"):
                self.assertIn(f'"{frame}', out, name)
        self.assertIn(b"event multiply", gzip.decompress(self.export(directory, "--format", "pprof").stdout))
        path = os.path.join(self.new_folder(), "all.cubex")
        self.assertEqual(self.export(directory, "--format", "cube", "-o", path).returncode, 0)
        with open(os.path.join(directory, "profile.csv"), newline="", encoding="utf-8") as file:
            self.assertIsNone(cube_reader.difference(Tree(file.read()), path))
        self.assertIn("calls", cube_reader.read(path)[1])

    def test_samples_by_events_are_no_nanoseconds(self):
        run, _ = self.profile_of("adi", env={"BLAME_SAMPLE": "perf::TASK-CLOCK@1000000"}, checks=())
        directory, = run.directories()
        with open(os.path.join(directory, "profile.csv"), newline="", encoding="utf-8") as file:
            work = float(next(csv.DictReader(file))["work (I)"])
        self.assertGreater(work, 1e8)
        folded = self.export(directory, "--format", "folded", "--metric", "work").stdout.decode().splitlines()
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in folded), work)
        speedscope = json.loads(self.export(directory, "--format", "speedscope", "--metric", "work").stdout)
        profile, = speedscope["profiles"]
        self.assertEqual((profile["name"], profile["unit"], profile["endValue"]),
                         ("work, events (perf::TASK-CLOCK)", "none", work))

    def test_the_metric_is_what_is_shown_first(self):
        speedscope = self.export(self.lock_profile(), "--format", "speedscope", "--metric", "work").stdout
        self.assertEqual(re.findall(rb'"name":"([a-z-]+)","unit"', speedscope), [b"work"])
        plain = gzip.decompress(self.export(self.lock_profile(), "--format", "pprof", "--metric", "lock-wait").stdout)
        decoded = subprocess.run(["protoc", "--decode_raw"], input=plain, capture_output=True, check=True)
        decoded = decoded.stdout.decode()
        strings = re.findall(r'^6: (".*")$', decoded, re.MULTILINE)
        self.assertEqual(strings[int(re.search(r"^14: (\d+)$", decoded, re.MULTILINE)[1])], '"lock-wait"')

    def test_wrong_usage_says_what_is_accepted(self):
        self.refused(2, ("--format", *FORMATS), self.lock_profile())
        self.refused(2, ("svg", *FORMATS), self.lock_profile(), "--format", "svg")
        self.refused(2, ("--metric", "hatchet"), self.lock_profile(), "--format", "hatchet", "--metric", "work")
        self.refused(2, ("--metric", "time", "lock-wait"), self.lock_profile(), "--format", "folded", "--metric", "time")
        self.refused(2, ("no profile was given",), "--format", "folded")
        self.refused(1, ("/no/such",), "/no/such", "--format", "folded")

    def test_what_cannot_be_written_leaves_nothing(self):
        folder = self.new_folder()
        new = os.path.join(folder, "new")
        for name in FORMATS:
            with self.subTest(format=name):
                self.refused(1, ("/dev/full", "No space left"), self.lock_profile(), "--format", name, "-o", "/dev/full")
                with open("/dev/full", "wb") as full:
                    self.refused(1, ("standard output", "No space left"), self.lock_profile(), "--format", name,
                                 stdout=full)
                self.refused(1, (folder, "no/such"), self.lock_profile(), "--format", name, "-o", f"{folder}/no/such/file")
                limit = ["prlimit", "--fsize=200", "--", "env", "--ignore-signal=XFSZ", BLAME, "export", self.lock_profile()]
                run = subprocess.run([*limit, "--format", name, "-o", new], capture_output=True,
                                     env=clean_environment())
                self.assertEqual(run.returncode, 1, run)
                self.assertIn(b"File too large", run.stderr)
        self.assertEqual(os.listdir(folder), [])

    def test_nothing_is_overwritten(self):
        folder = self.new_folder()
        kept, link = os.path.join(folder, "kept"), os.path.join(folder, "link")
        with open(kept, "w", encoding="ascii") as file:
            file.write("before")
        os.symlink("nowhere", link)
        for name in FORMATS:
            for path in (kept, link):
                self.refused(1, (path, "this file exists", "--output"), self.lock_profile(), "--format", name, "-o", path)
        self.assertEqual(sorted(os.listdir(folder)), ["kept", "link"])
        with open(kept, encoding="ascii") as file:
            self.assertEqual(file.read(), "before")

    def test_devices_and_pipes_are_written_to(self):
        wanted = self.export(self.lock_profile(), "--format", "folded").stdout
        path, pipe = (os.path.join(self.new_folder(), name) for name in ("file", "pipe"))
        with open(path, "wb") as file:
            file.write(b"before\n")
            file.flush()
            self.assertEqual(self.export(self.lock_profile(), "--format", "folded", "-o", "/dev/stdout", stdout=file).returncode, 0)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"before\n" + wanted)
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        self.assertEqual(self.export(self.lock_profile(), "--format", "folded", "-o", pipe).returncode, 0)
        self.assertEqual(reader.communicate(timeout=TIMEOUT_S)[0], wanted)
        self.assertEqual(self.export(self.lock_profile(), "--format", "folded", "-o", "/dev/null").returncode, 0)

    def test_a_closed_standard_output_is_an_error(self):
        for name in FORMATS:
            run = subprocess.run(["sh", "-c", '"$0" "$@" >&-', BLAME, "export", self.lock_profile(), "--format", name],
                                 stderr=subprocess.PIPE, env=clean_environment(), timeout=TIMEOUT_S)
            self.assertEqual(run.returncode, 1, name)
            self.assertIn(b"standard output", run.stderr)

    def test_threads_over_time_need_a_trace(self):
        for name in ("perfetto", "firefox"):
            self.refused(1, (self.lock_profile(), "no trace", "--trace"), self.lock_profile(), "--format", name)
            self.refused(2, ("--metric", "speedscope", name), self.lock_profile(), "--format", name, "--metric", "work")

    def test_binary_is_not_for_terminals(self):
        for name, more in (("pprof", ()), ("pprof", ("-o", "-")), ("perfetto", ())):
            leader, terminal = pty.openpty()
            try:
                run = self.export(self.lock_profile(), "--format", name, *more, stdout=terminal)
            finally:
                os.close(leader)
                os.close(terminal)
            self.assertEqual(run.returncode, 2)
            self.assertIn(b"-o FILE", run.stderr)

    def test_a_killed_programs_profile_is_exported(self):
        run = self.attached([program("endings"), "sigkill"])
        directory, = run.directories()
        for name in FORMATS:
            export = self.export(directory, "--format", name)
            self.assertEqual(export.returncode, 0, export)
            self.assertIn(b"did not end normally", export.stderr)
            self.assertTrue(export.stdout)
