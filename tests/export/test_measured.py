"""What is measured by the clock and by counters, in every format that has room for it, against profile.csv of the same rows."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import hpctoolkit_reader  # noqa: E402  (found through the path set above)
import readers  # noqa: E402
import tau_reader  # noqa: E402
from harness import BUILD, ROOT, TIMEOUT_S  # noqa: E402

COUNTERS = ("perf::CYCLES", '"odd", name')


class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="blame-measured-")
        subprocess.run([os.path.join(BUILD, "export-tests", "make_exports"), "measured", cls.folder], check=True, timeout=TIMEOUT_S)
        with open(os.path.join(cls.folder, "profile.csv"), encoding="utf-8", newline="") as file:
            cls.rows = list(csv.DictReader(file))
        cls.functions = [row for row in cls.rows if row["kind"] != "statement"]
        cls.phases = [row for row in cls.rows if row["kind"] == "phase"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def of(self, name):
        return os.path.join(self.folder, name)

    def test_the_profile_has_all_of_it(self):
        self.assertEqual([row["name"] for row in self.functions], ["<program root>", "main", "phase solve", "solve [3]", "sweep"])
        self.assertEqual([(row["calls"], row["exact (I)"], row["exact (E)"]) for row in self.phases], [("3", "0.100000", "0.040000")] * 2)
        self.assertEqual([float(self.rows[0][f"{name} (I)"]) for name in COUNTERS], [9001000, 84])
        self.assertGreater(float(self.rows[0]["work (I) ±"]), 0)

    def test_hatchet(self):
        data = readers.load(self.of("all.hatchet.json"))
        records = {record["node"]: record for record in data["dataframe"]}
        both = ["exact", *COUNTERS, *(f"{metric} ±" for metric in readers.METRICS.values())]
        self.assertEqual(sorted(data["exclusive_metrics"][len(readers.METRICS):]), sorted(["calls", *both]))
        self.assertEqual(sorted(data["inclusive_metrics"][len(readers.METRICS):]), sorted(f"{name} (inc)" for name in (*both, *(f"{name} exact" for name in COUNTERS))))
        for row in self.functions:
            record = records[int(row["id"])]
            self.assertEqual(record["calls"], int(row["calls"] or 0))
            self.assertEqual([record[f"{name} exact (inc)"] for name in COUNTERS], [10000001, 154] if row["calls"] else [0, 0])
            for column in both:
                for part, ending in (("I", " (inc)"), ("E", "")):
                    wanted = row[f"{column[:-2]} ({part}) ±" if column.endswith("±") else f"{column} ({part})"]
                    self.assertAlmostEqual(record[column + ending], float(wanted or 0), delta=1e-6, msg=column)

    def test_pprof(self):
        with tempfile.TemporaryDirectory() as folder:
            messages = readers.pprof_messages(os.path.join(ROOT, "command", "export", "pprof.proto"), folder)
            profile = readers.read_pprof(self.of("all.pb.gz"), messages)
        self.assertEqual(readers.broken_pprof_rules(profile), [])
        units = [(profile.string_table[of.type], profile.string_table[of.unit]) for of in profile.sample_type]
        self.assertEqual(units[len(readers.METRICS):], [("calls", "count"), ("exact", "nanoseconds"), *((name, "count") for name in COUNTERS)])
        paths, lines = readers.of_pprof(profile)
        sweep = ("main", "phase solve", "solve [3]", "sweep")
        self.assertEqual([(paths[sweep[:count]]["calls"], paths[sweep[:count]]["exact"]) for count in (2, 3)], [(3, 40000001)] * 2)
        self.assertEqual([[lines[sweep, "/src/sweep.c", line][name] for name in COUNTERS] for line in (12, 0)], [[3e6, 41], [6e6, 42]])
        for row, path in zip(self.functions[1:], (sweep[:count] for count in (1, 2, 3, 4))):
            self.assertEqual([paths[path][name] for name in COUNTERS], [float(row[f"{name} (E)"]) for name in COUNTERS])

    def test_hpctoolkit(self):
        database = hpctoolkit_reader.read(self.of("hpctoolkit"))
        number = {metric[:2]: number for number, metric in database.summed.items()}
        titles = [("calls", "calls"), ("exact (sec)", "exact"), *((name, name) for name in COUNTERS)]
        self.assertEqual(list(dict(number))[2 * len(readers.METRICS):],
                         [(name, scope) for name in (*(title for title, _ in titles), *(f"{name} exact" for name in COUNTERS)) for scope in ("execution", "function")])
        functions = {context.function.name: context.id for context in database.contexts.values() if context.kind == "function"} | {"<program root>": 1}
        for row in self.functions:
            values = database.profiles[0][1][functions[row["name"]]]
            for title, column in titles:
                for scope, part in (("execution", " (I)"), ("function", " (E)")) if column != "calls" else (("function", ""),):
                    self.assertAlmostEqual(values.get(number[title, scope], 0), float(row[column + part] or 0), delta=1e-6, msg=(row["name"], title, scope))
            counted = [[values.get(number[f"{name} exact", scope], 0) for name in COUNTERS] for scope in ("execution", "function")]
            self.assertEqual(counted, [[10000001, 154] if row["calls"] else [0, 0], [0, 0]])
            self.assertNotIn(number["calls", "execution"], values)
        with open(self.of(os.path.join("hpctoolkit", "metrics", "default.yaml")), encoding="ascii") as file:
            text = file.read()
        for title, _ in titles:
            self.assertEqual(text.count(f"name: {json.dumps(title)}\n"), 1)
            self.assertEqual(text.count(f"metric: {json.dumps(title)}\n"), 2)

    def test_tau_has_time_without_a_line_beside_that_of_lines(self):
        metrics = tau_reader.read(self.of("tau"))
        _, samples, _ = tau_reader.sums(metrics["work_time"])
        sweep = ("main", "phase solve", "solve [3]", "sweep")
        self.assertEqual([samples[sweep, "/src/sweep.c", line] for line in (12, 0)], [5000, 10000])
        self.assertAlmostEqual(tau_reader.total(metrics["work_time"], True), 18000, delta=0.01)

    def test_tau_has_a_folder_a_counter(self):
        metrics = tau_reader.read(self.of("tau"))
        self.assertEqual([name for name in sorted(metrics) if name.startswith("counter")], ["counter__odd___name", "counter_perf__CYCLES"])
        for folder, column in zip(("counter_perf__CYCLES", "counter__odd___name"), COUNTERS):
            paths, samples, _ = tau_reader.sums(metrics[folder])
            for row, count in zip(self.functions[1:], (1, 2, 3, 4)):
                self.assertEqual(paths[("main", "phase solve", "solve [3]", "sweep")[:count]], float(row[f"{column} (I)"]))
            self.assertEqual(sum(samples.values()), float(self.rows[0][f"{column} (I)"]))
            self.assertEqual([tau_reader.total(metrics[folder], exclusive) for exclusive in (False, True)], [float(self.rows[0][f"{column} (I)"])] * 2)

    def test_speedscope_has_a_profile_a_counter(self):
        data = readers.load(self.of("all.speedscope.json"))
        names = [frame["name"] for frame in data["shared"]["frames"]]
        counters = data["profiles"][len(readers.METRICS):]
        self.assertEqual([(profile["name"], profile["unit"]) for profile in counters], [(name, "none") for name in COUNTERS])
        for profile in counters:
            column = profile["name"]
            self.assertEqual([[names[frame] for frame in stack] for stack in profile["samples"]], [["main"], ["main", "phase solve", "solve [3]", "sweep"]])
            self.assertEqual(profile["weights"], [float(row[f"{column} (E)"]) for row in self.functions if float(row[f"{column} (E)"])])
            self.assertEqual(profile["endValue"], float(self.rows[0][f"{column} (I)"]))


if __name__ == "__main__":
    unittest.main()
