"""TAU's profiles against profile.csv of the same rows."""

import collections
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import tau_reader  # noqa: E402  (found through the path set above)
from blame_profile import Tree  # noqa: E402
from harness import BLAME, BUILD, TIMEOUT_S, BlameTest, clean_environment  # noqa: E402
from readers import row_path  # noqa: E402

METRICS = {"work_time": "work", "idleness_time": "idleness", "overhead_time": "overhead", "lock_wait_time": "lock wait", "no_core_time": "no core",
           "blocked_time": "blocked", "mpi_wait_time": "mpi wait", "rank_idleness_time": "rank idleness"}
ALWAYS = list(METRICS)[:4]


def arrowless(name):
    return name.replace("=>", "= >")


def path_of(row):
    return tuple(arrowless(name) for name in row_path(row))


class TauProfiles(BlameTest):
    together = True

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="blame-tau-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared, ignore_errors=True)

    def made(self, kind):
        folder = os.path.join(self.shared, kind)
        os.mkdir(folder)
        if kind == "real":
            directory = self.lock_profile()
            shutil.copy(os.path.join(directory, "profile.csv"), folder)
            subprocess.run([BLAME, "export", directory, "--format", "tau", "-o", os.path.join(folder, "tau") + "/"], check=True,
                           env=clean_environment(), timeout=TIMEOUT_S)
        else:
            subprocess.run([os.path.join(BUILD, "export-tests", "make_exports"), kind, folder], check=True, timeout=TIMEOUT_S)
        with open(os.path.join(folder, "profile.csv"), encoding="utf-8", newline="") as file:
            return tau_reader.read(os.path.join(folder, "tau")), Tree(file.read())

    def assert_sums(self, found, expected, what, allowed):
        wrong = [(key, expected[key], found[key]) for key in set(found) | set(expected)
                 if abs(found[key] - expected[key]) > allowed + 1e-9 * abs(expected[key])]
        self.assertEqual(wrong[:3], [], f"{what}: {len(wrong)} differ: (path, profile.csv, exported)")

    def function(self, row):
        return row.name, row.file or row.module, row.line

    def expected(self, tree, column):
        """As tau_reader.sums()."""
        paths, samples, flat = (collections.Counter() for _ in range(3))
        for row in tree.rows[1:]:
            inclusive, exclusive = (max(1e6 * row[f"{column} ({part})"], 0) for part in "IE")
            if row.kind == "statement":
                samples[path_of(row.parent), arrowless(row.file or row.module), row.line] += exclusive
                continue
            path = path_of(row)
            paths[path] += inclusive
            if all(child.kind != "statement" for child in row.children):
                samples[path, arrowless(row.file or row.module), 0] += exclusive
            if all(self.function(above) != self.function(row) for above in row.ancestors()):
                flat[path[-1]] += inclusive
        return paths, samples, flat

    def test_values_are_the_csvs(self):
        for kind in ("real", "names", "one", "huge", "negative"):
            metrics, tree = self.made(kind)
            for metric, column in METRICS.items():
                with self.subTest(kind=kind, metric=metric):
                    whole = 1e6 * tree.root[f"{column} (I)"]
                    if metric not in metrics:
                        self.assertNotIn(metric, ALWAYS)
                        self.assertLess(whole, 1)
                        continue
                    files = metrics[metric]
                    many = len(tree.rows)
                    expected_paths, expected_samples, expected_flat = self.expected(tree, column)
                    paths, samples, flat = tau_reader.sums(files)
                    self.assert_sums(paths, expected_paths, "inclusive", 5)
                    self.assert_sums(samples, expected_samples, "exclusive", 5)
                    by_name = collections.Counter()
                    for (event, name, _, _), value in flat.items():
                        if event != "SAMPLE" and name not in tau_reader.APPLICATION:
                            by_name[name] += value
                    self.assert_sums(by_name, expected_flat, "of a function", many)
                    if kind != "negative":
                        for exclusive in (False, True):
                            self.assertLess(abs(tau_reader.total(files, exclusive) - whole), many + 1e-9 * whole, exclusive)

    def test_each_thread_has_a_file_in_each_metric(self):
        directory, out = self.lock_profile(), os.path.join(self.new_folder(), "tau")
        subprocess.run([BLAME, "export", directory, "--format", "tau", "-o", out], check=True, env=clean_environment(), timeout=TIMEOUT_S)
        with open(os.path.join(directory, "threads.csv"), encoding="utf-8") as file:
            threads = len(file.readlines()) - 1
        exported = tau_reader.read(out)
        for metric, files in exported.items():
            self.assertEqual([(file.node, file.context, file.thread) for file in files], [(0, 0, i) for i in range(threads)], metric)
            for number, file in enumerate(files):
                self.assertEqual((file.metric, file.facts["Metric Name"]), (metric, metric))
                self.assertEqual((file.facts["Executable"], file.facts["Row of threads.csv"]), ("lock", str(number)))
                self.assertEqual([(path, event.calls, event.groups) for path, event in file.events],
                                 [(path, event.calls, event.groups) for path, event in exported["work_time"][number].events])
        groups = {path: event.groups for path, event in exported["work_time"][0].events}
        self.assertEqual(groups[tau_reader.APPLICATION], ["TAU_SAMPLE_CONTEXT", "TAU_CALLPATH"])
        for path, names in groups.items():
            self.assertEqual("TAU_CALLPATH" in names, len(path) > 1, path)
            self.assertEqual("TAU_SAMPLE" in names or path[-1].startswith("[UNWIND]"), path[-1].startswith(("[SAMPLE]", "[UNWIND]")), path)

    def test_phases_have_exact_times(self):
        directory, = self.profile_of("matmul")[0].directories()
        out = os.path.join(self.new_folder(), "tau")
        subprocess.run([BLAME, "export", directory, "--format", "tau", "-o", out], check=True, env=clean_environment(), timeout=TIMEOUT_S)
        found = collections.Counter()
        for file in tau_reader.read(out)["work_time"]:
            for name, (calls, most, least, mean, squares) in file.user_events.items():
                self.assertLessEqual(least, mean + 0.001)
                self.assertLessEqual(mean, most + 0.001)
                self.assertLessEqual(most * most, squares * (1 + 1e-6) + 1)
                found[name.removesuffix(", wall-clock microseconds"), "calls"] += calls
                found[name.removesuffix(", wall-clock microseconds"), "us"] += calls * mean
        with open(os.path.join(directory, "phases.csv"), newline="", encoding="utf-8") as file:
            phases = [row for row in csv.DictReader(file) if row["phase"] == "outer"]
        self.assertEqual(found["phase outer", "calls"], sum(int(row["calls"]) for row in phases))
        self.assertAlmostEqual(found["phase outer", "us"], 1e6 * sum(float(row["seconds"]) for row in phases), delta=100)

    def test_what_cannot_be_done_is_refused(self):
        folder = self.new_folder()
        for status, mention, options in ((1, (folder, "File exists"), ("-o", folder)), (1, ("/no/such", "No such file"), ("-o", "/no/such/tau")),
                                         (2, ("--output", "tau"), ()), (2, ("--metric", "tau"), ("-o", folder + "/tau", "--metric", "work"))):
            run = subprocess.run([BLAME, "export", self.lock_profile(), "--format", "tau", *options], env=clean_environment(), timeout=TIMEOUT_S,
                                 capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (status, "", 1), run)
            for text in mention:
                self.assertIn(text, run.stderr)
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
