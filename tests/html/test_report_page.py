"""Pages that `blame html` writes of real runs: the same numbers as `blame report`, everywhere."""

import csv
import io
import json
import os
import re

from browser import PageTest
from harness import BLAME, ROOT, BlameTest, clean_environment, execute, program
from page_data import METRICS
from test_posix_locks import LAYER

PROGRAMS = ["holders", "nested", "task_regions", "exceptions"]


class ReportPage(BlameTest, PageTest):
    def setUp(self):
        BlameTest.setUp(self)
        PageTest.setUp(self)

    def tearDown(self):
        PageTest.tearDown(self)
        BlameTest.tearDown(self)

    def command(self, *arguments):
        run = execute([BLAME, *arguments], clean_environment(), self.folder)
        self.assertEqual(run.status, 0, run)
        return run

    def show(self, name, *options, env=None, place="", arguments=(), how="library"):
        run, _ = self.profile_of(name, *arguments, env=env, how=how, checks=())
        self.directory, = run.directories()
        path = os.path.join(self.folder, "report page #1?.html")
        self.command("html", self.directory, "-o", path, *options)
        self.browser.get("file://" + path.replace(" ", "%20").replace("#", "%23").replace("?", "%3F") + place)

    def file(self, name):
        with open(os.path.join(self.directory, f"{name}.csv"), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def csv(self, view, *options):
        text = self.command("report", self.directory, "--view", view, "--format", "csv", *options).stdout
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def rows(self, view):
        """As one text: the driver takes long over so many objects."""
        return json.loads(self.run_script("return JSON.stringify(blame.rows(arguments[0]))", view))

    def doubt(self, errors, metric, value, rounding):
        """How far off rounded values can make a square of an error, in 1e-12 s^2."""
        form = errors["of"][metric]
        slope = form["each"] + abs(form["own"]) + form["beside"]
        return errors["deviations"] ** 2 * slope * (rounding + 0.5) * (1 + form["few"] / max(1, form["each"] * abs(value)))

    def compare(self, view):
        """Each row with its path of callers (or callees), whatever the order of equal ones. Sums of a group are those
        of values that profile.csv rounds to 1e-6 s."""
        values = [f"{metric} ({part})" for metric in METRICS for part in "IE"]
        expected, shown = self.csv(view, "--error"), self.rows(view)
        columns = values + [f"{column} ±" for column in values if column in shown[0]]
        rounding = 0 if view == "top-down" else self.run_script("return blame.report.model.count") // 2 + 1
        errors = self.run_script("return blame.report.model.data.error")

        def paths(rows, number):
            path, found = [], []
            for row in rows:
                depth = int(row["depth"])
                path[depth:] = [
                    tuple(str(row[column]) for column in ("kind", "name", "module", "file", "line", "call_line"))
                ]
                found.append((tuple(path), [number(row.get(column, 0), column) for column in columns]))
            return sorted(found)

        shown = paths(shown, lambda value, column: value)
        expected = paths(expected, lambda text, column: float(text) * (1 if column.startswith("samples") else 1e6))
        if view != "top-down":  # calls without samples, and rows of a counter alone, of which each has its own in grouped views
            shown, expected = ([(path, numbers) for path, numbers in rows if any(numbers[: len(values)])] for rows in (shown, expected))
        self.assertEqual(len(shown), len(expected))
        pairs = zip(expected, shown)
        for (path, numbers), (shown_path, shown_numbers) in pairs:
            self.assertEqual(path, shown_path)
            value_of = dict(zip(columns, numbers))
            for column, number, shown_number in zip(columns, numbers, shown_numbers):
                near = 0 if column.startswith("samples") else rounding
                if column.endswith("±"):  # no whole number
                    doubt = self.doubt(errors, column[: -len(" (I) ±")], value_of[column[: -len(" ±")]], rounding)
                    near = 1 + 1e-9 * number + (number**2 + doubt) ** 0.5 - number
                if not abs(number - shown_number) <= near + 1e-3:
                    self.fail(f"{path} {column}: {shown_number} for {number}")

    def test_all_rows_of_all_views(self):
        for name in PROGRAMS:
            self.show(name)
            for view in ("top-down", "bottom-up", "flat"):
                with self.subTest(program=name, view=view):
                    self.compare(view)
            basis = self.run_script("return blame.report.model.basis.map((column) => column !== null)")
            header = self.run_script("return blame.report.model.data.header")
            trees = self.run_script("return blame.report.model.data.error.trees.length")
            self.assertEqual(basis[:3], [header["cores"] not in (1, header["threads"]), header["threads"] > 2, trees > 0], name)

    def test_phases_are_those_of_phases_csv(self):
        """Exact times of rows, the phases' table and their series, counters."""
        counters = ["perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES"]
        self.show("matmul", env={"BLAME_COUNTERS": ",".join(counters)})
        for view in ("top-down", "bottom-up", "flat"):
            self.compare(view)
        expected = self.file("profile")
        shown = self.run_script("return blame.rows('top-down')")
        ids = sorted(int(row["id"]) for row in expected if row["calls"])
        self.assertGreater(len(ids), 10)
        micro = lambda text: round(float(text or 0) * 1e6)  # noqa: E731
        self.assertEqual(len(shown), len(expected))
        for row, of in zip(expected, sorted(shown, key=lambda row: row["row"])):
            self.assertEqual((int(row["calls"] or 0), micro(row["exact (I)"]), micro(row["exact (E)"])),
                             (of["calls"], of["exact (I)"], of["exact (E)"]), row["name"])
            for counter in counters:
                for side in "IE":
                    self.assertEqual(float(row[f"{counter} ({side})"]), of[f"{counter} ({side})"], row["name"])
        rows = [row for row in self.file("phases") if row["phase"] == "outer"]
        outer, = self.run_script("return blame.report.phases.table.rows.filter((phase) => phase.name === 'outer')")
        self.assertEqual(outer["series"]["first"], [int(row["instance"]) for row in rows])
        self.assertEqual(outer["series"]["max"], [micro(row["seconds"]) for row in rows])
        for metric in ("work", "idleness", "overhead", "lock wait"):
            self.assertEqual(outer["series"][metric], [micro(row[f"{metric} (I)"]) for row in rows])
        self.assertAlmostEqual(outer["seconds"], sum(micro(row["seconds"]) for row in rows), delta=len(rows))
        names = self.run_script(
            "return arguments[0].map((row) => blame.report.model.name(row))", outer["series"]["row"]
        )
        self.assertEqual(names, [f"outer [{row['instance']}]" for row in rows])

    def test_samples_by_events(self):
        self.show("adi", env={"BLAME_SAMPLE": "perf::TASK-CLOCK@1000000"})
        self.compare("top-down")
        self.assertIn("one sample per 1\u2009000\u2009000 perf::TASK-CLOCK", self.one(".title-facts").text)
        self.assertRegex(self.one(".share-seconds").text, r"^[\d\u2009]+ events ± [\d.]+[kM]?$")

    def test_shown_numbers(self):
        """What stands in the cells, against the same file."""
        self.show("holders", place="#metric=lock+wait")
        self.open_all()
        decimals = self.run_script("return blame.report.model.decimals")
        names, cells = self.names(), self.cells(0)
        expected, rows = {}, list(self.csv("top-down"))
        whole = sum(float(rows[0][f"{part} (I)"])
                    for part in ("work", "idleness", "overhead", "lock wait", "no core", "blocked"))
        for row in rows:
            numbers = float(row["lock wait (I)"]), 100 * float(row["lock wait (I)"]) / whole
            expected.setdefault(row["name"], []).append(numbers)
        self.assertGreater(len(names), 10)
        for name, cell in zip(names, cells):
            shown = re.fullmatch(rf"(?:(\d+\.\d{{{decimals}}})(\d+\.\d)\u2009%)?", cell)
            self.assertTrue(shown, cell)
            seconds, percent = (float(number or 0) for number in shown.groups())
            # Either may have been rounded from the middle.
            near = [abs(seconds - due) <= 0.5 * 10**-decimals + 1e-6 and abs(percent - share) <= 0.0501
                    for due, share in expected[name]]
            self.assertTrue(any(near), (name, cell, expected[name]))

    def test_wakes_are_those_of_wakes_csv(self):
        self.show("wakes", arguments=("3", "semaphore", "end"), how="launcher")
        expected = self.file("wakes")
        shown = self.run_script("return blame.report.wakes.table.rows")
        self.assertGreater(len(expected), 2)
        self.assertEqual(len(shown), len(expected))
        for row, of in zip(expected, shown):
            self.assertEqual((row["kind"], float(row["seconds"]), int(row["waits"])), (of["kind"], of["seconds"], of["waits"]))
            for end in ("waiter", "waker"):
                self.assertEqual(int(row[f"{end}_line"]), of[f"{end}_line"])
                self.assertEqual(self.run_script("return blame.report.model.name(arguments[0])", of[end]), row[f"{end}_function"])
        self.check_sorting("wakes")

    def test_what_hurts_and_the_tables_beside_it(self):
        """A lock that takes much of the run, beside little idleness, leads the tree and the flame graph."""
        self.show("holders")
        self.settle()
        self.assertEqual(self.run_script("return blame.report.state.metric"), "blame")
        for shown in self.run_script("return blame.rows('top-down')"):
            parts = sum(shown[f"{metric} (I)"] for metric in ("idleness", "overhead", "lock wait"))
            self.assertEqual(shown["blame (I)"], parts)
        link = self.one("#locks .tree-row .link")
        text, wanted = link.text, self.run_script("return blame.report.locks.table.rows[0].holder_id")
        link.click()
        self.assertIn(self.selected(), text)
        self.assertEqual(self.run_script("return blame.report.tree.selected.row"), wanted)
        locks = self.run_script(
            "return [...document.querySelectorAll('#locks .tree-row')].map((row) => row.cells[0].textContent)"
        )
        self.assertEqual(sorted(locks), sorted(row["name"] for row in self.file("locks")))
        for section in ("threads", "locks", "waits"):
            rows = self.file(section)
            table = self.one(f"#{section} [role=table]")
            self.assertEqual(int(table.get_attribute("aria-rowcount")), len(rows) + 1)
            self.assertGreater(len(rows), 1)
            self.check_sorting(section)
        run = self.one("#run").text
        for text in ("thread time", "samples", "runtime version", "modules were loaded"):
            self.assertIn(text, run)

    def check_sorting(self, section):
        columns = self.run_script(
            """const section = arguments[0], { table } = blame.report[section];
            return [...document.querySelectorAll(`#${section} [data-column]`)].map((of) => of.dataset.column).map((id) => {
                const by = table.columns.find((column) => column.id === id);
                document.querySelector(`#${section} [data-column="${id}"]`).click();
                return [id, table.rows.map((row) => by.value(row)), table.descending];
            })""",
            section,
        )
        self.assertGreater(len(columns), 4)
        for column, values, descending in columns:
            self.assertEqual(values, sorted(values, reverse=descending), column)

    def test_a_program_without_openmp_has_idle_cores_and_no_word_of_openmp(self):
        run = self.attached([program("posix_threads"), "workers", "100"], LAYER, "launcher")
        self.directory, = run.directories()
        path = os.path.join(self.folder, "page.html")
        self.command("html", self.directory, "-o", path)
        self.browser.get("file://" + path)
        self.settle()
        idle = ["idle cores"] * (self.run_script("return blame.report.model.data.header.cores") > 1)
        legend = self.texts(".share-name")
        self.assertEqual(([name for name in legend if name in ("idleness", "overhead", "idle cores")], "work" in legend, "blocked" in legend),
                         (idle, True, True), legend)
        shown = self.texts(".shares, .title-line, #metric, #threads, #contexts")
        self.assertEqual(len(shown), 5)
        for text in shown:
            self.assertNotRegex(text.replace("no OpenMP", ""), r"OpenMP|overhead|shared|\bidleness(?<!core idleness)", text)

    def test_spans_of_time_add_up_to_the_whole_run(self):
        """Row by row, but for what was before the first bin; of the effort 1 % may be in a row beside."""
        self.show("holders")
        rows, before = self.run_script(
            """const { model, time } = blame.report, { bins } = time.timeline, values = () => [...time.weigher.known].filter((key) => model.metricIndex.has(key))
                .map((key) => model.inclusive[model.metricIndex.get(key)]);
            const whole = values(), sums = whole.map((of) => of.map(() => 0));
            for (const span of [`0-${bins >> 1}`, `${bins >> 1}-${bins}`]) {
                blame.report.state.set({ span });
                values().forEach((of, metric) => of.forEach((value, row) => { sums[metric][row] += value; }));
            }
            blame.report.state.set({ span: "" });
            const near = model.strings.findIndex((name) => name.startsWith("<before")), row = model.nameOf.indexOf(near);
            return [whole.flatMap((of, metric) => [...of].map((value, row) => [value, sums[metric][row]])), near < 0 ? 0 : whole.reduce((sum, of) => sum + of[row], 0)]"""
        )
        effort = self.run_script("return blame.report.model.effort()")
        self.assertGreater(max(value for value, _ in rows), 0.3 * effort)
        for value, both in rows:
            self.assertAlmostEqual(value, both, delta=0.01 * effort + before)

    def test_source_of_the_selected_row(self):
        self.show("imbalance2", "--source-dir", ROOT)
        self.settle()
        target = self.one(".source-line.target")
        number = int(target.find_element("css selector", ".source-number").text)
        with open(
            os.path.join(ROOT, self.run_script("return document.querySelector('.source-file').title")), encoding="utf-8"
        ) as file:
            line = file.read().splitlines()[number - 1]
        self.assertEqual(target.find_element("css selector", "code").get_attribute("textContent").strip(), line.strip())
        self.show("imbalance2", "--no-source")
        self.settle()
        self.assertIn("--no-source", self.one(".source").text)
