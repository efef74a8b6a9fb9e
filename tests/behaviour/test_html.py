"""The data of `blame html`'s page: the same numbers and names as the CSV files."""

import json
import os
import re
import shutil
import stat

from blame_profile import LAST_METRICS, METRICS, Profile
from harness import BLAME, ROOT, BlameTest, clean_environment, execute, program

DATA = re.compile(r'<script type="application/json" id="blame-data">(.*?)</script>', re.DOTALL)


def data_of(page):
    found = DATA.findall(page)
    if len(found) != 1:
        raise AssertionError(f"{len(found)} places with data")
    return json.loads(found[0])


def values(rows, part, metric):
    """A column as the page's script reads it."""
    column = rows[part][metric]
    if column == 0:
        return [0] * rows["count"]
    return values(rows, part, column) if isinstance(column, str) else column


def metrics_of(stored):
    """The page has no core and blocked where there is any."""
    return [metric for metric in METRICS if metric not in LAST_METRICS or stored.root[f"{metric} (I)"] > 0]


def micro(text):
    return int(text.replace(".", ""))


class Html(BlameTest):
    pace = 1

    def html(self, *arguments, status=0, folder=None):
        run = execute([BLAME, "html", *arguments], clean_environment(), folder or self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def data(self, *arguments):
        return data_of(self.html(self.lock_profile(), "-o", "-", *arguments).stdout)

    def test_rows_are_those_of_profile_csv(self):
        data, stored = self.data(), Profile(self.lock_profile())
        rows, strings = data["rows"], data["strings"]
        self.assertEqual(rows["count"], len(stored.rows))
        for i, row in enumerate(stored.rows):
            self.assertEqual(rows["parent"][i], -1 if row.parent_id is None else row.parent_id)
            self.assertEqual(data["kinds"][rows["kind"][i]], row.kind)
            self.assertEqual([strings[rows[field][i]] for field in ("name", "module", "file")],
                             [row.name, row.module, row.file])
            self.assertEqual((rows["line"][i], rows["call_line"][i]), (row.line, row.call_line))
        self.assertEqual([metric["key"] for metric in data["metrics"]], metrics_of(stored))
        for metric in metrics_of(stored):
            for part in "IE":
                cells = [row.cells[f"{metric} ({part})"] for row in stored.rows]
                self.assertEqual(values(rows, part.lower(), metric), [micro(cell) for cell in cells], metric)

    def test_rows_of_one_function_share_their_number(self):
        data, stored = self.data(), Profile(self.lock_profile())
        seen = {}
        for row, function in zip(stored.rows, data["rows"]["function"]):
            if row.kind == "root":
                self.assertEqual(function, -1)
            elif row.kind != "statement":
                name = ("procedure" if row.kind == "inlined" else row.kind, row.name, row.module, row.file, row.line)
                self.assertEqual(seen.setdefault(function, name), name)
        self.assertEqual(len(set(seen.values())), len(seen))

    def test_tables_are_the_files(self):
        data, stored = self.data(), Profile(self.lock_profile())
        self.assertEqual(data["run"], {key: value for key, value in stored.run.items() if key != "compilers"})
        self.assertEqual([{name: str(value) if name == "kind" else float(value) for name, value in thread.items()}
                          for thread in data["threads"]],
                         [{name: value if name == "kind" else float(value) for name, value in thread.items()}
                          for thread in stored.threads])
        self.assert_locks(data["locks"], stored.locks)
        self.assert_waits(data, stored.waits)

    def assert_locks(self, locks, stored):
        self.assertTrue(stored)
        self.assertEqual(len(locks["rows"]), len(stored))
        for cells, expected in zip(locks["rows"], stored):
            self.assertEqual(locks["columns"], list(expected))
            for cell, text in zip(cells, expected.values()):
                if isinstance(cell, str):
                    self.assertEqual(cell, text)
                else:
                    self.assertEqual(cell, float(text) if text else -1 if cell == -1 else 0)

    def assert_waits(self, data, stored):
        places, strings = data["waits"]["places"], data["strings"]
        pairs = data["waits"]["pairs"]
        self.assertTrue(stored)
        self.assertEqual(len(pairs["place"]), len(stored))
        for place, row, micros, expected in zip(pairs["place"], pairs["row"], pairs["us"], stored):
            cells = dict(zip(places["columns"], places["rows"][place]))
            self.assertEqual([str(place), strings[cells["place_kind"]], strings[cells["place_function"]],
                              strings[cells["place_file"]], str(cells["place_line"]), str(cells["in_region"]),
                              str(row), strings[data["rows"]["name"][row]]],
                             [expected[name] for name in ("place", "place_kind", "place_function", "place_file",
                                                          "place_line", "in_region", "context", "context_name")])
            self.assertEqual(micros, micro(expected["seconds"]))

    def test_findings_point_to_their_rows(self):
        data, stored = self.data(), Profile(self.lock_profile())
        self.assertTrue(data["findings"])
        parts = ("work", "idleness", "overhead", "lock wait", "no core", "blocked")
        effort = sum(stored.root[f"{metric} (I)"] for metric in parts)
        for finding in data["findings"]:
            self.assertIn(finding["metric"], METRICS)
            self.assertAlmostEqual(finding["share"], min(100, 100 * finding["seconds"] / effort), places=3)
            if finding["row"] >= 0:
                self.assertIn(stored.rows[finding["row"]].name.split(":")[0], finding["place"])

    def test_sources_are_the_files_lines(self):
        data = self.data()
        path = os.path.join(ROOT, "tests", "programs", "lock.c")
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        pieces = [piece for piece in data["sources"] if data["strings"][piece["file"]] == path]
        self.assertTrue(pieces)
        shown = set()
        for piece in pieces:
            numbers = range(piece["first"], piece["first"] + len(piece["lines"]))
            self.assertEqual(piece["lines"], [lines[number - 1] for number in numbers])
            self.assertFalse(shown & set(numbers))
            shown |= set(numbers)
        rows = data["rows"]
        for i in range(rows["count"]):
            if data["kinds"][rows["kind"][i]] == "statement" and data["strings"][rows["file"][i]] == path:
                self.assertIn(rows["line"][i], shown)

    def test_moved_sources_are_found(self):
        self.lock_profile()  # before the files: they have changed since it was made
        moved = self.new_folder()
        os.makedirs(os.path.join(moved, "programs"))
        for name, text in (("programs/lock.c", "// the right one\n" * 300), ("lock.c", "// the wrong one\n" * 300)):
            with open(os.path.join(moved, name), "w", encoding="utf-8") as file:
                file.write(text)
        data = self.data("--source-dir", moved)
        path = os.path.join(ROOT, "tests", "programs", "lock.c")
        lines = [line for piece in data["sources"] if data["strings"][piece["file"]] == path for line in piece["lines"]]
        self.assertTrue(lines)
        self.assertEqual(set(lines), {"// the right one"})
        self.assertIn(path, [data["strings"][file] for file in data["sources_changed"]])

    def test_only_sources_are_shown_whatever_debug_information_names(self):
        run, _ = self.profile_of("foreign_source")
        directory, = run.directories()
        csv = self.report(directory, "--format", "csv").stdout
        self.assertIn("/etc/passwd", csv)
        with open("/etc/passwd", encoding="utf-8") as file:
            secret = file.readline().strip()
        page = self.html(directory, "-o", "-").stdout
        data = data_of(page)
        self.assertNotIn(secret, page)
        self.assertIn(("/etc/passwd", "its name is not that of a source file"),
                      [(data["strings"][item["file"]], item["why"]) for item in data["sources_missing"]])
        text = self.report(directory, "--source", "--width", "300", "--min", "0")
        self.assertNotIn(secret, text.stdout)
        self.assertIn("may not be shown", text.stderr)

    def test_a_page_shows_others_only_what_they_may_read(self):
        sources = os.path.join(self.folder, "sources")
        os.mkdir(sources)
        name = shutil.copy(os.path.join(ROOT, "tests", "programs", "lock.c"), sources)
        os.chmod(name, 0o600)
        for umask, shown in ((0o022, 0), (0o077, 1)):
            page = os.path.join(self.folder, f"{umask}.html")
            before = os.umask(umask)
            try:
                self.html(self.lock_profile(), "--source-dir", sources, "-o", page)
            finally:
                os.umask(before)
            with open(page, encoding="utf-8") as file:
                data = data_of(file.read())
            pieces = [piece for piece in data["sources"] if data["strings"][piece["file"]].endswith("/lock.c")]
            self.assertEqual(bool(pieces), bool(shown), data["sources_missing"])

    def test_sources_stay_at_home_when_asked(self):
        run = self.html(self.lock_profile(), "--no-source", "-o", "-")
        self.assertEqual(data_of(run.stdout)["sources"], [])
        self.assertNotIn("omp_set_lock(", run.stdout)

    def test_folded_rows_keep_the_sums(self):
        data, stored = self.data("--min", "30"), Profile(self.lock_profile())
        rows, left_out = data["rows"], data["left_out"]
        self.assertTrue(left_out["asked"])
        self.assertEqual((left_out["percent"], left_out["total"]), (30, len(stored.rows)))
        names = [data["strings"][name] for name in rows["name"]]
        self.assertEqual(rows["count"] - names.count("(small)") + left_out["rows"], len(stored.rows))
        self.assertIn("(small)", names)
        statement = data["kinds"].index("statement")
        for metric in metrics_of(stored):
            exclusive = values(rows, "e", metric)
            total = sum(value for value, kind in zip(exclusive, rows["kind"]) if kind != statement)
            # Each of the values is rounded.
            self.assertAlmostEqual(total, micro(stored.root.cells[f"{metric} (I)"]), delta=rows["count"], msg=metric)
        waited = sum(data["waits"]["pairs"]["us"])
        expected = sum(micro(pair["seconds"]) for pair in stored.waits)
        self.assertAlmostEqual(waited, expected, delta=len(stored.waits))

    def test_the_page_goes_beside_the_measurement(self):
        copy = os.path.join(self.new_folder(), "profile")
        shutil.copytree(self.lock_profile(), copy)
        run = self.html("profile/", folder=os.path.dirname(copy))
        self.assertRegex(run.stdout, r"^profile/report\.html: [0-9.]+ kB, \d+ rows, \d+ source files?")
        with open(os.path.join(copy, "report.html"), encoding="utf-8") as file:
            self.assertEqual(data_of(file.read())["header"]["finished"], True)
        measurement, = (name for name in os.listdir(copy) if name.endswith(".blame"))
        os.remove(os.path.join(copy, "report.html"))
        self.html(measurement, folder=copy)
        self.assertTrue(os.path.exists(os.path.join(copy, "report.html")))

    def test_a_page_that_cannot_be_written_leaves_nothing(self):
        folder = self.new_folder()
        for output, mention in (("no/such/folder.html", "No such file"), ("/dev/full", "No space left")):
            run = self.html(self.lock_profile(), "-o", output, status=1, folder=folder)
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
            self.assertIn(f"{output}: {mention}", run.stderr)
            self.assertEqual(run.stdout, "")
        self.assertEqual(os.listdir(folder), [])
        script = f"ulimit -f 20; trap '' XFSZ; exec {BLAME} html {self.lock_profile()} -o page.html"
        run = execute(["/bin/sh", "-c", script], clean_environment(), folder)
        self.assertEqual((run.status, run.stdout), (1, ""), run)
        self.assertRegex(run.stderr, r"\Ablame html: page\.html: File too large.*\n\Z")
        self.assertEqual(os.listdir(folder), [])
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_wrong_usage_is_one_line(self):
        for arguments, mention, status in (
                (["--min", "101"], "--min 101: expected a number from 0 to 100", 2),
                (["--min", "0x10"], "--min 0x10: expected a number from 0 to 100", 2),
                (["--titel", "x"], "unknown option --titel; did you mean --title? expected one of --output, --title,", 2),
                (["another"], "and another were given; expected one profile", 2),
                (["--source-dir", "/no/such"], "--source-dir /no/such: No such file or directory; expected", 1)):
            run = self.html(self.lock_profile(), *arguments, status=status)
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
            self.assertIn(mention, run.stderr)

    def test_the_title_is_inert(self):
        title = "</script><script>alert(1)</script>\"'&<!--"
        run = self.html(self.lock_profile(), "--title", title, "-o", "-")
        self.assertEqual(data_of(run.stdout)["title"], title)
        self.assertNotIn("alert(1)<", run.stdout)

    def test_a_killed_programs_page_says_so(self):
        run = self.attached([program("endings"), "sigkill"])
        directories = run.directories()
        self.assertEqual(len(directories), 1, run)
        run = self.html(directories[0], "-o", "-")
        self.assertIn("did not end normally", run.stderr)
        data = data_of(run.stdout)
        self.assertEqual((data["header"]["finished"], data["run"]["killed"]), (False, True))
