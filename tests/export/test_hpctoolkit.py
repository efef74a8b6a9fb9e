"""`--format hpctoolkit` against profile.csv of the same rows, read by a reader after FORMATS.md; and what the directory is written to."""

import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import hpctoolkit_reader  # noqa: E402  (found through the path set above)
from blame_profile import METRICS, Tree  # noqa: E402
from harness import BLAME, BUILD, LIBRARY, ROOT, TIMEOUT_S, BlameTest, clean_environment, execute, program  # noqa: E402
from readers import as_in_csv  # noqa: E402

UNKNOWN = "<unknown file>"


class Expected:
    """A context as rows of profile.csv have it."""

    def __init__(self, key):
        self.key, self.children, self.lines, self.rows = key, [], {}, 0
        self.inclusive, self.exclusive = dict.fromkeys(METRICS, 0.0), dict.fromkeys(METRICS, 0.0)

    def line(self, file, line):
        key = file or UNKNOWN, line
        if key not in self.lines:
            self.lines[key] = Expected(("line", *key))
            self.children.append(self.lines[key])
        return self.lines[key]

    def add(self, row, exclusive):
        self.rows += 1
        for metric in METRICS:
            self.inclusive[metric] += row[f"{metric} (I)"]
            self.exclusive[metric] += row[f"{metric} (E)"] if exclusive else 0


def expected_contexts(tree):
    """The root's; in the order of rows."""
    of_row = {}
    for row in tree.rows:
        parent = of_row.get(row.parent_id)
        if row.kind == "statement":
            context = parent.line(row.file, row.line)
        else:
            context = Expected(("function", row.name, row.module, row.file, row.line))
            if parent and row.call_line > 0:
                parent = parent.line(row.parent.file, row.call_line)
                parent.add(row, False)
            if parent:
                parent.children.append(context)
        context.add(row, True)
        of_row[row.id] = context
    return of_row[0]


class Hpctoolkit(BlameTest):
    together = True

    def export(self, *arguments, **options):
        return subprocess.run([BLAME, "export", *arguments, "--format", "hpctoolkit"], env=clean_environment(), timeout=TIMEOUT_S,
                              capture_output=True, **options)

    def database(self, directory):
        target = os.path.join(self.new_folder(), "db")
        run = self.export(directory, "-o", target + "/")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, b"", b""))
        self.assertEqual(os.listdir(os.path.dirname(target)), ["db"])
        return target, hpctoolkit_reader.read(target)

    def made(self, kind):
        folder = self.new_folder()
        subprocess.run([os.path.join(BUILD, "export-tests", "make_exports"), kind, folder], check=True, timeout=TIMEOUT_S)
        with open(os.path.join(folder, "profile.csv"), encoding="utf-8", newline="") as file:
            return hpctoolkit_reader.read(os.path.join(folder, "hpctoolkit")), Tree(file.read())

    def assert_values(self, database, context, expected):
        values = database.profiles[0][1].get(context.id, {})
        for number, (name, scope, _, _) in database.summed.items():
            wanted = (expected.inclusive if scope == "execution" else expected.exclusive)[name.removesuffix(" (sec)")]
            if abs(values.get(number, 0) - wanted) > 6e-7 * max(1, expected.rows) + 1e-9 * abs(wanted):
                self.fail((expected.key, name, scope, values.get(number), wanted))

    def assert_tree(self, database, tree):
        pairs = [(database.contexts[1], expected_contexts(tree))]
        self.assertEqual(pairs[0][0].kind, "entry")
        count = 1
        for context, expected in pairs:
            found = []
            for child in context.children:
                key = (child.function.name, child.function.module, child.function.file, child.function.line) if child.kind == "function" else (
                    child.file, child.line)
                found.append(tuple(re.sub("^src/", "/", as_in_csv(part)) if isinstance(part, str) else part for part in (child.kind, *key)))
                if child.propagation != (child.kind == "line"):
                    self.fail(child)
            self.assertEqual(found, [child.key for child in expected.children])
            self.assert_values(database, context, expected)
            pairs += zip(context.children, expected.children)
            count += 1
        self.assertEqual(len(database.contexts) + 1, count)

    def assert_sums(self, database):
        """The sum of threads is the sum, and each file has what the other has."""
        self.assertEqual(set(database.summed.values()), set(database.propagated.values()))
        # hpcviewer takes columns of transitive scopes away from its users.
        self.assertEqual({(scope, kind) for _, scope, kind, _ in database.summed.values()}, {("execution", 2), ("function", 0)})
        by_context = {}
        for number, (_, block) in enumerate(database.profiles[1:], 1):
            for context, values in block.items():
                for metric, value in values.items():
                    by_context.setdefault(context, {}).setdefault(metric, {})[number] = value
        self.assertEqual(by_context, {context: block for context, block in enumerate(database.by_context) if block})
        self.assertEqual(len(database.by_context), 2 + len(database.contexts) - 1)
        for context, values in database.profiles[0][1].items():
            for metric, value in values.items():
                parts = by_context.get(context, {}).get(metric, {}).values()
                if abs(sum(parts) - value) > 1e-9 + 1e-9 * sum(map(abs, parts)):
                    self.fail((context, metric, value, list(parts)))
        whole, root = database.profiles[0][1].get(0, {}), database.profiles[0][1].get(1, {})
        self.assertEqual(whole, {metric: value for metric, value in root.items() if database.summed[metric][1] == "execution"})

    def test_made_profiles_are_the_csvs(self):
        for kind in ("names", "deep", "one", "huge", "negative", "random"):
            with self.subTest(kind=kind):
                database, tree = self.made(kind)
                self.assert_tree(database, tree)
                self.assert_sums(database)
                self.assertEqual([ids for ids, _ in database.profiles], [(), (("NODE", 0),)])

    def test_a_programs_threads_are_profiles(self):
        target, database = self.database(self.lock_profile())
        with open(os.path.join(self.lock_profile(), "profile.csv"), encoding="utf-8", newline="") as file:
            self.assert_tree(database, Tree(file.read()))
        self.assert_sums(database)
        threads = [dict(ids)["THREAD"] for ids, _ in database.profiles[1:]]
        self.assertEqual(threads, sorted(set(threads)))
        self.assertGreater(len(threads), 1)
        for thread, (_, block) in zip(threads, database.profiles[1:]):
            report = self.report(self.lock_profile(), "--format", "csv", "--thread", str(thread)).stdout
            root = Tree(report).rows[0]
            for number, (name, scope, _, _) in database.propagated.items():
                if scope == "execution":
                    wanted = root[f"{name.removesuffix(' (sec)')} (I)"]
                    self.assertLess(abs(block[1].get(number, 0) - wanted), 1e-6 + 1e-9 * abs(wanted), (thread, name))
        copied = [path for path, flags in database.files.values() if flags & 1]
        self.assertTrue(any(path.endswith("/tests/programs/lock.c") for path in copied), database.files)
        for path in copied:
            with open(os.path.join(target, path), "rb") as copy, open(path.removeprefix("src"), "rb") as source:
                self.assertEqual(copy.read(), source.read())

    def test_processes_of_a_rank_share_its_numbers_of_threads(self):
        folder = self.new_folder()
        for rank in (0, 0, 1):
            env = self.tool_environment({"BLAME_OUT": None, "BLAME_SUMMARY": None, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
                                         "PMIX_RANK": str(rank), "PMIX_NAMESPACE": "4711"})
            self.assertEqual(execute([program("quick"), "5"], env | {"OMP_TOOL_LIBRARIES": LIBRARY}, folder).status, 5)
        _, database = self.database(os.path.join(folder, "blame-quick-4711"))
        self.assert_sums(database)
        ids = [ids for ids, _ in database.profiles[1:]]
        self.assertEqual(len(set(ids)), len(ids), ids)
        threads = [[dict(of)["THREAD"] for of in ids if dict(of)["RANK"] == rank] for rank in (0, 1)]
        self.assertEqual([sorted(of) for of in threads], threads)
        self.assertGreater(len(threads[0]), len(threads[1]))

    def test_the_taxonomy_is_of_the_metrics_that_are_there(self):
        target, database = self.database(self.lock_profile())
        with open(os.path.join(target, "metrics", "default.yaml"), encoding="ascii") as file:
            text = file.read()
        inputs = re.findall(r'&(m\d+[IE])\n    metric: "(.*)"\n    scope: (\w+)\n    formula: \$\$\n    combine: sum\n', text)
        self.assertEqual({(name, scope) for _, name, scope in inputs}, {metric[:2] for metric in database.summed.values()})
        self.assertEqual(set(re.findall(r"\*(m\d+[IE])", text)), {anchor for anchor, _, _ in inputs})
        self.assertIn('name: "blame (sec)"', text)

    def test_nothing_is_overwritten_and_what_fails_leaves_nothing(self):
        folder = self.new_folder()
        for name, make in (("file", lambda path: open(path, "w", encoding="ascii").close()), ("directory", os.mkdir),
                           ("link", lambda path: os.symlink("nowhere", path))):
            path = os.path.join(folder, name)
            make(path)
            run = self.export(self.lock_profile(), "-o", path)
            self.assertEqual(run.returncode, 1, run)
            self.assertRegex(run.stderr.decode(), rf"^blame export: {re.escape(path)}: File exists; nothing was written; .*\n$")
        run = self.export(self.lock_profile(), "-o", os.path.join(folder, "no", "such"))
        self.assertEqual((run.returncode, b"No such file" in run.stderr, run.stderr.count(b"\n")), (1, True, 1), run)
        run = self.export("/no/such", "-o", os.path.join(folder, "new"))
        self.assertEqual(run.returncode, 1, run)
        for limit in (200, 6000):
            run = self.export(self.lock_profile(), "-o", os.path.join(folder, "new"), preexec_fn=lambda: limit_files(limit))
            self.assertEqual((run.returncode, b"File too large" in run.stderr), (1, True), run)
        self.assertEqual(sorted(os.listdir(folder)), ["directory", "file", "link"])
        self.assertEqual(os.listdir(os.path.join(folder, "directory")), [])

    def test_wrong_usage_says_what_is_accepted(self):
        for arguments, mention in (((), "--output"), (("-o", "-"), "--output"), (("-o", "x", "--metric", "work"), "--metric")):
            run = self.export(self.lock_profile(), *arguments)
            self.assertEqual((run.returncode, run.stderr.count(b"\n")), (2, 1), run)
            self.assertIn(mention, run.stderr.decode())


def limit_files(size):
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


if __name__ == "__main__":
    unittest.main()
