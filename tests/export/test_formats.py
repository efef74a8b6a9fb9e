"""Every format against profile.csv of the same rows, read by the programs it is for, or by readers after their rules.
The profiles: one of a real program, and what make_exports makes: names that break quoting, 1,200 calls deep, one row,
numbers beyond 64 bits, less than nothing, 5,000 random contexts."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import cube_reader  # noqa: E402
import readers  # noqa: E402  (found through the path set above)
from blame_profile import Tree  # noqa: E402
from harness import BLAME, BUILD, ROOT, TIMEOUT_S, BlameTest, clean_environment, program  # noqa: E402
from readers import METRICS  # noqa: E402

KINDS = ("real", "names", "deep", "one", "huge", "negative", "random")
HATCHET = [*METRICS.values(), *(f"{metric} ±" for metric in METRICS.values())]  # of what has no phases and no counters
BEYOND = 9.2e18  # of 64 bits, where numbers stop at the largest there is


def read_with(argv, text=None):
    """The output of a program that takes an exported file without a word."""
    run = subprocess.run(argv, input=text, capture_output=True, timeout=TIMEOUT_S)
    if run.returncode != 0 or run.stderr:
        raise AssertionError(f"{argv}: status {run.returncode}: {run.stderr.decode(errors='replace')}")
    return run.stdout


class Formats(BlameTest):
    together = True
    shared = None
    messages = None
    profiles = {}  # by kind: what made() returns

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="blame-made-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared, ignore_errors=True)

    def real(self, folder):
        """What make_exports makes, of a program's run."""
        directory = self.lock_profile()
        shutil.copy(os.path.join(directory, "profile.csv"), folder)
        for metric in METRICS:
            for name in ("folded",):
                self.export(directory, name, "--metric", metric, "-o", os.path.join(folder, f"{metric}.{name}"))
        for name, ending in (("speedscope", "speedscope.json"), ("pprof", "pb.gz"), ("hatchet", "hatchet.json"), ("cube", "cubex")):
            self.export(directory, name, "-o", os.path.join(folder, f"all.{ending}"))

    def export(self, directory, name, *options):
        subprocess.run([BLAME, "export", directory, "--format", name, *options], check=True,
                       env=clean_environment(), stderr=subprocess.DEVNULL)

    def made(self, kind):
        """The folder with a kind's files; its CSV."""
        if kind not in self.profiles:
            folder = os.path.join(self.shared, kind)
            os.mkdir(folder)
            if kind == "real":
                self.real(folder)
            else:
                maker = os.path.join(BUILD, "export-tests", "make_exports")
                subprocess.run([maker, kind, folder], check=True, timeout=TIMEOUT_S)
            with open(os.path.join(folder, "profile.csv"), encoding="utf-8", newline="") as file:
                self.profiles[kind] = folder, Tree(file.read())
        return self.profiles[kind]

    def pprof(self, path):
        if Formats.messages is None:
            proto = os.path.join(ROOT, "command", "export", "pprof.proto")
            Formats.messages = readers.pprof_messages(proto, self.new_folder())
        return readers.read_pprof(path, Formats.messages)

    def assert_same(self, found, expected, metrics, rounding_ns):
        """By path and metric. rounding_ns: of one row."""
        wrong, nothing = [], {}
        for path in set(found) | set(expected):
            of_expected, of_found = expected.get(path, nothing), found.get(path, nothing)
            rounding = rounding_ns * of_expected.get("rows", 1)
            for metric in metrics:
                wanted, got = of_expected.get(metric, 0), of_found.get(metric, 0)
                if abs(wanted) < BEYOND and abs(got - wanted) > rounding + 1e-9 * abs(wanted):
                    wrong.append((path, metric, wanted, got))
        self.assertEqual(wrong[:5], [], f"{len(wrong)} differ: (path, metric, profile.csv, exported)")

    def never_negative(self, tree):
        return [metric for metric, column in METRICS.items() if all(row[f"{column} (E)"] >= 0 for row in tree.rows)]

    def assert_same_totals(self, found, tree, metrics):
        for metric in metrics:
            wanted = tree.root[f"{METRICS[metric]} (I)"] * readers.scale(metric)
            got = sum(values[metric] for values in found.values())
            self.assertLess(abs(got - wanted), 1000 + 600 * len(found) + 1e-9 * abs(wanted), metric)

    def test_folded_stacks_are_the_csvs(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, tree = self.made(kind)
                expected = {}
                for path, values in readers.of_csv(tree, negative=False).items():
                    path = tuple(readers.folded_name(name) for name in path)
                    expected[path] = expected.get(path, type(values)()) + values
                never_negative = self.never_negative(tree)
                for metric in METRICS:
                    with open(os.path.join(folder, f"{metric}.folded"), encoding="utf-8", newline="") as file:
                        found = readers.of_folded(file.read(), metric)
                    if kind in ("real", "deep", "random") and metric in never_negative:
                        self.assert_same_totals(found, tree, [metric])
                    self.assert_same(found, expected, [metric], 1100)
                    self.assertTrue(found or tree.root[f"{METRICS[metric]} (I)"] < 1e-6, metric)

    def test_speedscope_profiles_are_the_csvs(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, tree = self.made(kind)
                data = readers.load(os.path.join(folder, "all.speedscope.json"))
                self.assertEqual([profile["name"] for profile in data["profiles"]], list(METRICS))
                for profile in data["profiles"]:
                    whole = sum(profile["weights"])
                    self.assertAlmostEqual(profile["endValue"] - profile["startValue"], whole, delta=1e-15 * whole)
                found = readers.of_speedscope(data)
                self.assert_same(found, readers.of_csv(tree, negative=False), METRICS, 600)
                if kind != "huge":
                    self.assert_same_totals(found, tree, self.never_negative(tree))

    def test_pprof_keeps_the_rules_of_its_format(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, _tree = self.made(kind)
                self.assertEqual(readers.broken_pprof_rules(self.pprof(os.path.join(folder, "all.pb.gz"))), [])

    def test_pprof_samples_are_the_csvs_by_function_and_by_line(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, tree = self.made(kind)
                paths, lines = readers.of_pprof(self.pprof(os.path.join(folder, "all.pb.gz")))
                self.assert_same(paths, readers.of_csv(tree), METRICS, 600)
                expected = readers.of_csv_lines(tree)
                self.assert_same({line: lines[line] for line in expected}, expected, METRICS, 600)
                if kind != "huge":
                    self.assert_same_totals(paths, tree, METRICS)

    def test_pprof_knows_modules_and_their_builds(self):
        folder, _tree = self.made("real")
        profile = self.pprof(os.path.join(folder, "all.pb.gz"))
        first = profile.mapping[0]
        self.assertEqual(profile.string_table[first.filename], program("lock"))
        notes = read_with(["readelf", "-n", program("lock")]).decode()
        self.assertIn(profile.string_table[first.build_id], re.findall(r"Build ID: (\w+)", notes))
        main = [of for of in profile.function if profile.string_table[of.name] == "main"]
        mappings = {at.mapping_id for at in profile.location
                    for line in at.line if line.function_id in [of.id for of in main]}
        self.assertEqual(mappings, {first.id})

    def test_protoc_decodes_pprof_without_unknown_fields(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, _tree = self.made(kind)
                plain = read_with(["gzip", "-dc", os.path.join(folder, "all.pb.gz")])
                text = read_with(["protoc", "--decode", "perftools.profiles.Profile", "-I",
                                  os.path.join(ROOT, "command", "export"), "pprof.proto"], plain)
                self.assertEqual(re.findall(rb"^\s*\d+[ :{].*$", text, re.MULTILINE), [])
                self.assertIn(b"sample_type {", text)

    def test_go_tool_pprof_reads_every_sum(self):
        """By the package that reads its files, without the rest of the tool, which takes a minute to build."""
        root = shutil.which("go") and read_with(["go", "env", "GOROOT"]).decode().strip()
        package = os.path.join(root or "", "src/cmd/vendor/github.com/google/pprof/profile")
        if not os.path.isdir(package):
            self.skipTest("NOT CHECKED: there is no go (Debian's golang-go and golang-src, 450 MB); other tests check its rules")
        folder = self.new_folder()
        shutil.copytree(package, os.path.join(folder, "profile"))
        shutil.copy(os.path.join(HERE, "pprof_sums.go"), folder)
        with open(os.path.join(folder, "go.mod"), "w", encoding="utf-8") as module:
            module.write("module pprofsums\n")
        subprocess.run(["go", "build", "-o", "pprof_sums", "."], cwd=folder, env=os.environ | {"GOFLAGS": "-mod=mod"}, check=True)
        for kind in KINDS:
            if kind == "huge":  # its sum is beyond 64 bits
                continue
            with self.subTest(kind=kind):
                made, tree = self.made(kind)
                sums = read_with([os.path.join(folder, "pprof_sums"), os.path.join(made, "all.pb.gz")]).decode().splitlines()
                found = {metric: (unit, int(total)) for _, metric, unit, total in map(str.split, sums)}
                for metric in ("work", "idleness"):
                    unit, total = found[metric]
                    self.assertEqual(unit, "nanoseconds")
                    self.assertAlmostEqual(total / 1e9, tree.root[f"{METRICS[metric]} (I)"], delta=1e-6 * (2 + len(tree.rows)))

    def test_hatchet_nodes_are_the_csvs_rows(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, tree = self.made(kind)
                data = readers.load(os.path.join(folder, "all.hatchet.json"))
                found = readers.of_hatchet(data)
                rows = {row.id: row for row in tree.rows if row.kind != "statement"}
                self.assertEqual(set(found), set(rows))
                self.assertEqual(sorted(data["exclusive_metrics"]), sorted(HATCHET))
                for number, (path, record) in found.items():
                    row = rows[number]
                    self.assertEqual((path, record["type"], record["file"], record["line"], record["module"]),
                                     (readers.row_path(row), row.kind, row.file, row.line, row.module))
                    for column in METRICS.values():
                        for name, part in ((column, "E"), (f"{column} (inc)", "I")):
                            if abs(row[f"{column} ({part})"]) < BEYOND * 1e-9:
                                self.assertAlmostEqual(record[name], row[f"{column} ({part})"],
                                                       delta=1e-6 + 1e-9 * abs(record[name]))

    def test_json_keeps_the_published_schemas(self):
        import jsonschema
        hatchet = readers.load(os.path.join(HERE, "hatchet.schema.json"))
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, _tree = self.made(kind)
                jsonschema.validate(readers.load(os.path.join(folder, "all.hatchet.json")), hatchet)

    def test_cube_has_the_csvs_rows_and_sums(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                folder, tree = self.made(kind)
                self.assertIsNone(cube_reader.difference(tree, os.path.join(folder, "all.cubex")))


if __name__ == "__main__":
    unittest.main()
