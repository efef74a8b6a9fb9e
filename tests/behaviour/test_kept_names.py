"""Names outlive the binary: a profile reads the same when the program was built again, stripped or removed."""

import csv
import glob
import io
import json
import os
import shutil
import subprocess
import sys

from harness import BLAME, BlameTest, clean_environment, execute, program
from test_jobs import rank_of_open_mpi

VIEWS = [("--view", view) for view in ("top-down", "flat", "locks", "waits")] + [("--format", "csv")]
NONE_KEPT = "the profile has kept no names"


class KeptNames(BlameTest):
    def setUp(self):
        super().setUp()
        self.app = os.path.join(self.folder, "app")

    def build(self, name, to=None):
        """As a compiler does: a new file at the same path."""
        to = to or self.app
        if os.path.exists(to):
            os.remove(to)
        shutil.copy(program(name), to)

    def measure(self, *arguments, env=None):
        run = self.attached([self.app, *arguments], env)
        self.assertEqual(run.status, 0, run)
        return run.directories()[0]

    def blame(self, *arguments, status=0):
        run = execute([BLAME, *arguments], clean_environment(), self.folder)
        self.assertEqual(run.status, status, run)
        return run

    def everything(self, directory):
        """(what the commands print, what they say on stderr)"""
        runs = [self.blame("report", directory, *view) for view in VIEWS]
        page = os.path.join(self.folder, "page.html")
        self.blame("html", directory, "-o", page)
        runs.append(self.blame("export", directory, "--format", "speedscope"))
        texts = [run.stdout for run in runs]
        with open(page, encoding="utf-8") as file:
            texts.append(file.read())
        return texts, "".join(run.stderr for run in runs)

    def names_file(self, directory):
        found, = glob.glob(os.path.join(directory, "*.symbols"))
        return found

    def assert_reads_as_before(self, directory, before, said=""):
        texts, errors = self.everything(directory)
        self.assertEqual(texts, before)
        if said:
            self.assertIn(said, errors)
        else:
            self.assertEqual(errors, "")

    def test_a_profile_reads_the_same_whatever_becomes_of_the_binary(self):
        self.build("compare")
        directory = self.measure()
        before, errors = self.everything(directory)
        self.assertIn("slow(", before[0])
        self.assertEqual(errors, "")
        with self.subTest("rebuilt"):
            self.build("compare_moved")
            self.assert_reads_as_before(directory, before, "app (build id ")
        with self.subTest("stripped"):
            self.build("compare")
            subprocess.run(["strip", self.app], check=True)
            self.assert_reads_as_before(directory, before)
        with self.subTest("not a program any more"):
            with open(self.app, "wb") as file:
                file.write(b"#!/bin/sh\n")
            self.assert_reads_as_before(directory, before)
        with self.subTest("gone"):
            os.remove(self.app)
            self.assert_reads_as_before(directory, before)
        with self.subTest("the profile moved, too"):
            moved = os.path.join(self.folder, "moved")
            os.rename(directory, moved)
            self.assertEqual([self.blame("report", moved, *view).stdout.replace(moved, directory) for view in VIEWS],
                             before[:len(VIEWS)])

    def test_what_is_kept_is_found_again_from_the_binary(self):
        self.build("lock_names")
        directory = self.measure()
        with open(self.names_file(directory), "rb") as file:
            kept = file.read()
        os.remove(self.names_file(directory))
        self.blame("report", directory, "--thread", "0")
        self.assertEqual(glob.glob(os.path.join(directory, "*.symbols")), [], "a part is not all that is to be kept")
        self.blame("report", directory)
        with open(self.names_file(directory), "rb") as file:
            self.assertEqual(file.read(), kept)
        with open(os.path.join(directory, "profile.csv"), encoding="utf-8") as file:
            addresses = int(next(csv.DictReader(file))["samples (I)"])
        self.assertLess(len(kept), 64 * addresses)

    def test_a_ranks_names_are_those_of_its_job(self):
        """Whose modules have the numbers that the first rank's have, which is another program."""
        self.build("compare")
        job, copy = os.path.join(self.folder, "job"), os.path.join(self.folder, "copy")
        for rank, app in enumerate((program("lock_names"), self.app)):
            run = self.attached([app], {"BLAME_OUT": job} | rank_of_open_mpi(rank, 2))
            self.assertEqual(run.status, 0, run)
        self.blame("report", job)
        shutil.copytree(job, copy, ignore=shutil.ignore_patterns("*.symbols"))
        views = [(*view, "--rank", "1") for view in VIEWS]
        before = [self.blame("report", copy, *view).stdout.replace(copy, job) for view in views]
        self.assertIn("slow(", before[0])
        os.remove(self.app)
        runs = [self.blame("report", job, *view) for view in views]
        self.assertEqual([run.stdout for run in runs], before)
        self.assertEqual("".join(run.stderr for run in runs), "")

    def test_builds_are_compared_by_names(self):
        self.build("compare")
        base = self.measure()
        self.build("compare_moved")
        new = self.measure()
        run = self.blame("diff", base, new, "--format", "csv")
        self.assertIn("changed since this run", run.stderr)
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        both = {row["name"] for row in rows if row["found"] == "both"}
        self.assertLessEqual({"main", "slow()", "steady()"}, both)

    def test_a_debug_file_of_its_own_may_go(self):
        self.build("imbalance2_nopie")
        debug = self.app + ".debug"
        subprocess.run(["objcopy", "--only-keep-debug", self.app, debug], check=True)
        subprocess.run(["strip", self.app], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", self.app], check=True)
        directory = self.measure()
        before, _ = self.everything(directory)
        self.assertIn("imbalance2.c:", before[0])
        os.remove(debug)
        self.assert_reads_as_before(directory, before)
        os.remove(self.app)
        self.assert_reads_as_before(directory, before)

    def test_a_program_may_be_removed_while_it_runs(self):
        self.build("quick")
        run = self.attached(["sh", "-c", 'exec 3<"$1"; rm "$1"; exec /proc/self/fd/3', "sh", self.app])
        self.assertIn("main", self.blame("report", *run.directories(), "--format", "csv").stdout)

    def test_a_library_may_be_built_again(self):
        self.build("dlopen_loop")
        library = os.path.join(self.folder, "plugin.so")
        self.build("dlopen_lib.so", library)
        directory = self.measure(library)
        before, _ = self.everything(directory)
        self.assertIn("churn", before[len(VIEWS) - 1])
        self.build("tool_memory.so", library)
        self.assert_reads_as_before(directory, before, "plugin.so (build id ")

    def gone(self, how):
        """The names of what ran in libraries whose files had gone."""
        libraries = [program(f"gone_{name}.so") for name in ("unlinked", "first", "second", "memfd")]
        run, profile = self.profile_of("gone_libraries", *libraries, how=how)
        self.assertEqual(run.stdout, "done\n")
        directory, = run.directories()
        self.assertEqual([name for name in os.listdir(directory) if name.endswith(".code")], [])
        return {row.name for row in profile.rows}

    def test_libraries_that_are_gone_at_the_end_have_names(self):
        names = self.gone("launcher")
        for name in ("unlinked", "first_build", "second_build", "in_memory"):
            self.assertIn(name, names)

    def test_a_process_that_is_not_measured_has_no_library_mapped_for_the_tool(self):
        library = program("gone_first.so")
        count = f"import ctypes; ctypes.CDLL('{library}'); print(sum('{library}' in line and line.split()[2] == '00000000' for line in open('/proc/self/maps')))"
        run = self.attached([sys.executable, "-c", count], how="launcher", options=["--omp-only"])
        self.assertEqual((run.status, run.stdout), (0, "1\n"), run)

    def test_without_the_launcher_libraries_that_are_gone_later_have_names(self):
        """What has gone before the first sample in it has none, and those of no other file."""
        names = self.gone("library")
        self.assertLessEqual({"first_build", "second_build"}, names)
        self.assertTrue({"unlinked", "in_memory"}.isdisjoint(names))

    def test_without_a_file_of_names_the_first_report_makes_one(self):
        self.build("quick")
        directory = self.measure(env={"BLAME_CSV": "0"})
        self.assertEqual([name.rsplit(".", 1)[1] for name in os.listdir(directory)], ["blame"])
        before, _ = self.everything(directory)
        os.remove(self.app)
        self.assert_reads_as_before(directory, before)
        os.remove(self.names_file(directory))
        texts, errors = self.everything(directory)
        self.assertIn("app can no longer be read, and " + NONE_KEPT, errors)
        self.assertIn("app+0x", texts[0])

    def test_a_damaged_file_of_names_is_said_and_left_alone(self):
        self.build("quick")
        directory = self.measure()
        before, _ = self.everything(directory)
        with open(self.names_file(directory), "r+b") as file:
            file.seek(100)
            file.write(b"\xff\xff\xff")
        run = self.blame("report", directory, *VIEWS[0])
        self.assertEqual(run.stdout, before[0])
        self.assertIn(".symbols: damaged; names are taken from the binaries alone", run.stderr)
        self.assert_reads_as_before(directory, before)  # made again

    def change_names(self, directory, version, name, other):
        """The file of names gets another version, and another name of the same length."""
        with open(self.names_file(directory), "r+b") as file:
            content = file.read()
            rest, hashed = content[40:].replace(name, other), 0xcbf29ce484222325
            self.assertNotEqual(rest, content[40:])
            for byte in rest:
                hashed = (hashed ^ byte) * 0x100000001b3 % 2**64
            file.seek(0)
            file.write(content[:8] + version.to_bytes(4, "little") + content[12:32] + hashed.to_bytes(8, "little") + rest)

    def test_names_that_an_earlier_version_kept_count_only_without_the_binary(self):
        self.build("compare")
        directory = self.measure()
        before, _ = self.everything(directory)
        self.change_names(directory, 1, b"steady", b"stEADY")
        self.assert_reads_as_before(directory, before)  # and writes its own
        os.rename(self.app, self.app + ".away")
        self.assert_reads_as_before(directory, before)
        self.change_names(directory, 1, b"steady", b"stEADY")
        self.assertIn("stEADY(", self.blame("report", directory, *VIEWS[0]).stdout)
        self.change_names(directory, 3, b"stEADY", b"steady")
        run = self.blame("report", directory, *VIEWS[0])
        self.assertIn("was written by another version of blame", run.stderr)
        self.assertIn(NONE_KEPT, run.stderr)

    def compiled(self, *arguments):
        """The directory of a program that compiled code and told its names, and their file, which the program leaves."""
        self.build("compiles")
        directory = self.measure(*arguments)
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            names = f"/tmp/perf-{json.load(file)['pid']}.map"
        self.addCleanup(os.remove, names)
        return directory, names

    def test_code_that_was_compiled_as_the_program_ran_has_the_names_that_its_compiler_wrote(self):
        directory, names = self.compiled()
        before, errors = self.everything(directory)
        self.assertEqual(errors, "")
        with open(os.path.join(directory, "profile.csv"), encoding="utf-8") as file:
            row, = (row for row in csv.DictReader(file) if "counts" in row["name"])
        self.assertEqual((row["kind"], row["module"], row["file"]), ("procedure", "[perf map]", ""))
        self.assertRegex(row["name"], r'^counts "all", .*red<b>$')
        self.assertGreater(float(row["samples (I)"]), 0)
        self.assertNotIn("\x1b", before[0])
        os.rename(names, names + ".away")
        try:
            self.assert_reads_as_before(directory, before)
        finally:
            os.rename(names + ".away", names)

    def test_names_of_compiled_code_are_not_read_through_links_nor_from_other_times(self):
        directory, _ = self.compiled("link")
        self.assertNotIn("counts", self.blame("report", directory, "--format", "csv").stdout)
        directory, names = self.compiled()
        os.remove(self.names_file(directory))
        written = os.stat(names).st_mtime_ns
        os.utime(names, (1, 1))
        self.assertNotIn("counts", self.blame("report", directory, "--format", "csv").stdout)
        os.utime(names, ns=(written, written))
        self.assertIn("counts", self.blame("report", directory, "--format", "csv").stdout)
