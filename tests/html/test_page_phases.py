"""Phases on the page: their table, the series of executions, exact times, counters, and samples by events."""

import page_data
from browser import PageTest
from selenium.webdriver.common.action_chains import ActionChains

STEPS = 40
SLOWEST = 27


def share(value, own):
    return (
        {"work": value * 1000, "idleness": value * 500, "samples": value},
        {"work": own * 1000, "idleness": own * 500, "samples": own},
    )


def phase(rows, name, row, executions, seconds, work, **more):
    numbers = {"min": 2000, "max": 52000, "mean": seconds // executions, "deviation": 10, "overhead": 0}
    return {
        "name": rows.text(name),
        "row": row,
        "executions": executions,
        "seconds": seconds,
        **numbers,
        "work": work,
        "idleness": work // 2,
        "lock wait": 0,
        "absolute": 12.5,
        "relative": 33.3,
        "samples": 9,
        "instances": 0,
        "others": None,
        "series": None,
        **more,
    }


def each_its_point(steps, own):
    """A series in which nothing is summed up."""
    times = [52000 if number == SLOWEST else 2000 for number in range(steps)]
    return {
        "first": list(range(steps)),
        "last": list(range(steps)),
        "instances": [1] * steps,
        "slowest": list(range(steps)),
        "row": own,
        "executions": [1] * steps,
        "seconds": times,
        "min": times,
        "max": times,
        "work": [1000] * steps,
        "idleness": [500] * steps,
        "overhead": [0] * steps,
        "lock wait": [0] * steps,
    }


def phased(steps=STEPS, points=None, others=None, unit="s", **more):
    """phase step with an execution for each number, in which kernel runs; phase check; event pack, size = 512."""
    rows = page_data.Rows()
    rows.add(-1, "root", "<program root>", inclusive=share(steps + 8, 0)[0])
    step = rows.add(0, "phase", "phase step", "app", "/src/app.c", 7, 0, *share(steps, 0))
    exact = {"row": [step], "calls": [steps], "i": [steps * 2000 + 50000], "e": [100]}
    own = []
    for number in range(steps):
        row = rows.add(step, "phase", f"step [{number}]", "app", "/src/app.c", 7, 0, *share(1, 0))
        rows.add(row, "procedure", "kernel", "app", "/src/app.c", 20, 9, *share(1, 1))
        own.append(row)
        for name, value in (("row", row), ("calls", 1), ("i", 52000 if number == SLOWEST else 2000), ("e", 1900)):
            exact[name].append(value)
    check = rows.add(0, "phase", "phase check", "app", "/src/app.c", 30, 0, *share(5, 5))
    pack = rows.add(0, "event", "event pack", "app", "/src/app.c", 40, 0, *share(2, 2))
    rows.add(0, "parameter", "size = 512", "app", "/src/app.c", 50, 0, *share(1, 1))
    for name, value in (("row", check), ("calls", 1), ("i", 9000), ("e", 8000)):
        exact[name].append(value)
    for name, value in (("row", pack), ("calls", 1234), ("i", 4000), ("e", 3000)):
        exact[name].append(value)
    series = points or each_its_point(steps, own)
    table = [
        phase(rows, "<program>", 0, 1, 1000000, (steps + 8) * 1000),
        phase(rows, "step", step, steps, exact["i"][0], steps * 1000, instances=steps, series=series, others=others),
        phase(rows, "check", check, 1, 9000, 5000),
    ]
    data = rows.data(phases={"phases": table, "left_out": 0, "series_left_out": 0}, **more)
    data["rows"]["exact"] = exact
    if unit == "events":  # a thousand million times as many
        for sides in (*(data["rows"][side] for side in "ie"), *table, series):
            for metric in ("work", "idleness"):
                large = sides[metric]
                sides[metric] = [value * 10**9 for value in large] if isinstance(large, list) else large * 10**9
        data["header"]["sample"] = {"event": "perf::PAGE-FAULTS", "period": 10}
        for metric in data["metrics"]:
            metric["unit"] = metric["unit"] and "events"
    return data


def counted(data, name="perf::PAGE-FAULTS"):
    """The same with a counter: three million in each row itself that has samples."""
    rows = data["rows"]
    data["metrics"].append({"key": name, "title": name, "unit": "", "counter": True})
    for side in "ie":
        rows[side][name] = [3000000 * value for value in rows[side]["samples"]]
    return data


class Table(PageTest):
    def test_phases_and_their_numbers(self):
        others = {"executions": 5000, "seconds": 1, "min": 100, "max": 9000, "mean": 300, "deviation": 20}
        self.open(phased(others=others))
        cells = self.run_script(
            "return [...document.querySelectorAll('#phases .tree-row')].map((row) => row.cells.map((cell) => cell.textContent))"
        )
        self.assertEqual([row[0] for row in cells], ["<program>", "step", "check"])
        self.assertEqual(
            cells[1], ["step", "40", "0.130", "0.003", "0.052", "0.020", "12.5", "33.3", "0.040", "", ""]
        )
        self.assertIn("Phases", self.one(".sections").text)
        remark, = self.texts(".phases-remark")
        self.assertIn("5\u2009000\u00a0executions of step", remark)
        self.assertIn("BLAME_PHASE_INSTANCES", remark)
        self.assertIn("0.0001 to 0.0090 s, mean 0.0003, deviation 0.0000", remark)
        self.run_script("document.querySelector('#phases [data-column=executions]').click()")
        self.settle()
        order = self.run_script("return blame.report.phases.table.rows.map((phase) => phase.name)")
        self.assertEqual(order[0], "step")
        self.run_script("[...document.querySelectorAll('#phases .link')].find((link) => link.textContent === 'check').click()")
        self.assertEqual(self.selected(), "phase check")

    def test_without_phases_there_is_no_section(self):
        self.open(page_data.many_rows(20))
        self.assertEqual(self.all("#phases"), [])
        self.assertNotIn("Phases", self.one(".sections").text)
        self.assertEqual(self.all("[role=treegrid] [data-column^=exact], [role=treegrid] [data-column^=calls]"), [])


class Series(PageTest):
    def bars(self, script):
        self.settle()
        return self.run_script(f"const series = blame.report.phases.series; return {script}")

    def colours(self, x, wide, high):
        """Of the pixels in `wide` columns from x on, `high` from the top (in the page's pixels)."""
        return self.bars(
            f"""(() => {{
            const ratio = devicePixelRatio, found = new Set();
            const {{ data }} = series.canvas.getContext('2d').getImageData(
                Math.round(ratio * ({x})), 0, {wide}, Math.round({high} * ratio));
            for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255)
                found.add('#' + [...data.slice(i, i + 3)].map((part) => part.toString(16).padStart(2, '0')).join(''));
            return [...found];
            }})()"""
        )

    def test_an_execution_is_a_bar_of_its_parts(self):
        """In both themes; the slowest is marked; narrow screens have all of it."""
        self.allowed_messages = ("willReadFrequently",)  # said to who reads pixels, as this test does
        self.open(phased())
        self.assertEqual(self.bars("series.bars.length"), STEPS)
        # Work is twice as high as idleness, and both stand on one scale with the exact seconds.
        self.assertEqual(self.bars("[series.top.stack, series.top.line]"), [52000, 52000])
        self.assertEqual(self.bars("[series.slowest, series.bars[series.slowest].max]"), [SLOWEST, 52000])
        shown = []
        for theme in ("light", "dark"):
            self.one(f"[aria-label=Theme] [data-value={theme}]").click()
            *variables, accent = self.bars(
                "['--metric-work', '--metric-idleness', '--metric-overhead', '--accent'].map(series.colour)"
            )
            colours = self.colours("series.x(3) + 3", 1, "series.canvas.height")
            self.assertEqual([colour in colours for colour in variables], [True, True, False])
            self.assertIn(accent, self.colours("(series.x(series.slowest) + series.x(series.slowest + 1)) / 2 - 3", 7, 24))
            shown.append(colours)
        self.assertNotEqual(*shown)
        self.resize(700, 900)
        self.settle()
        self.settle()
        self.assertLess(self.bars("series.canvas.getBoundingClientRect().width"), 700)
        self.assertLessEqual(self.run_script("return document.scrollingElement.scrollWidth"), 700)

    def test_pointer_tells_and_click_leads_to_the_row(self):
        self.open(phased())
        canvas = self.one(".series-canvas")
        self.run_script("arguments[0].scrollIntoView({ block: 'center' })", canvas)
        left = self.bars("(series.x(5) + series.x(6)) / 2 - series.canvas.getBoundingClientRect().width / 2")
        ActionChains(self.browser).move_to_element_with_offset(canvas, int(left), 0).perform()
        tip = self.one(".tip")
        self.assertTrue(tip.is_displayed())
        for text in ("step [5]", "exact 0.00200 s", "work 0.00100 s", "idleness 0.00050 s"):
            self.assertIn(text, tip.text)
        ActionChains(self.browser).click().perform()
        self.assertEqual(self.selected(), "step [5]")
        self.assertFalse(tip.is_displayed())

    def test_keyboard(self):
        self.open(phased())
        self.run_script("blame.report.phases.series.canvas.focus()")
        says = lambda: self.texts("#series-says")[0]  # noqa: E731
        self.keys("ARROW_RIGHT")
        self.assertIn(f"step [{SLOWEST}], the slowest: exact 0.05200 s, work 0.00100 s", says())
        self.keys("ARROW_LEFT", "ARROW_LEFT")
        self.assertIn(f"step [{SLOWEST - 2}]:", says())
        self.keys("HOME")
        self.assertIn("step [0]:", says())
        self.keys("ARROW_LEFT", "PAGE_DOWN")
        self.assertIn("step [10]:", says())
        self.keys("END", "ARROW_RIGHT")
        self.assertIn(f"step [{STEPS - 1}]:", says())
        self.keys("s", "ENTER")
        self.assertEqual(self.selected(), f"step [{SLOWEST}]")

    def test_whiskers_where_idleness_begins(self):
        """A millisecond of work, then half of one in which a thread idles."""
        figures = {"few": 100, "each": 10, "own": 0, "beside": 0, "all": 0, "rains": 0, "ends": 1, "together": 1}
        self.open(phased(error={"deviations": 2, "of": {"idleness": figures, "work": figures}}))
        path = self.bars(
            """(() => {
            const path = [], record = (...at) => path.push(at);
            series.drawErrors({ beginPath() {}, stroke() {}, moveTo: record, lineTo: record });
            return path;
            })()"""
        )
        self.assertEqual(len(path), STEPS * 6)
        error = 2 * (100 + 10 * 500) ** 0.5
        for (_, y), busy in zip(path, (1000 - error, 1000 + error)):
            self.assertAlmostEqual(y, self.bars(f"series.y({busy}, series.top.stack)"), delta=1e-6)
        self.assertFalse(self.bars("series.whisker.hidden"))
        self.run_script("blame.report.phases.series.canvas.focus()")
        self.keys("HOME")
        self.assertIn("work 0.00100 s ± 0.00020 (95\u2009%)", self.texts("#series-says")[0])
        titles = self.run_script("return [...document.querySelectorAll('#phases .tree-row .cell')].map((cell) => cell.title)")
        self.assertIn("0.020 s ± 0.001 (95\u2009%)", titles)
        self.open(phased())
        self.assertTrue(self.bars("series.whisker.hidden"))

    def test_ten_thousand_executions_in_two_thousand_points(self):
        count = 2000
        points = {
            "first": [5 * i for i in range(count)],
            "last": [5 * i + 4 for i in range(count)],
            "instances": [5] * count,
            "slowest": [5 * i + 2 for i in range(count)],
            "row": [2] * count,
            "executions": [5] * count,
            "seconds": [10000] * count,
            "min": [1000] * count,
            "max": [4000 + i for i in range(count)],
            "work": [5000] * count,
            "idleness": [2500] * count,
            "overhead": [0] * count,
            "lock wait": [5 if i % 2 else 0 for i in range(count)],
        }
        self.open(phased(points=points))
        bars = self.bars("series.bars")
        self.assertLess(len(bars), 500)
        self.assertGreater(len(bars), 200)
        self.assertEqual(sum(bar["instances"] for bar in bars), 10000)
        self.assertEqual(sum(bar["lock wait"] for bar in bars), 5000)
        self.assertEqual((bars[0]["first"], bars[-1]["last"]), (0, 9999))
        self.assertEqual(bars[-1]["slowest"], 9997)
        self.assertEqual(self.bars("series.slowest"), len(bars) - 1)
        self.assertEqual([before["last"] + 1 for before in bars[:-1]], [bar["first"] for bar in bars[1:]])
        self.assertAlmostEqual(bars[7]["height"], 1500 + bars[7]["lock wait"] / bars[7]["instances"])
        self.run_script("blame.report.phases.series.canvas.focus()")
        self.keys("END")
        says, = self.texts("#series-says")
        self.assertIn("exact (mean) 0.00200 s", says)
        self.assertIn("slowest [9997] 0.00600 s", says)


class Contexts(PageTest):
    def titles(self):
        self.settle()
        return [title.text for title in self.all("[role=treegrid] .tree-head [data-column]")]

    def row_cells(self, name):
        self.settle()
        return self.run_script(
            """const row = [...document.querySelectorAll('[role=treegrid] .tree-row')].find((row) => row.name.textContent === arguments[0]);
            return row.numbers.map((cell) => cell.textContent)""",
            name,
        )

    def test_exact_times_beside_sampled_ones(self):
        self.open(phased())
        titles = self.titles()
        exact, calls = titles.index("exact") - 1, titles.index("calls") - 1
        for name, numbers in {"event pack": ("0.004", "1\u2009234"), "phase check": ("0.009", "1"),
                              "size = 512": ("", "")}.items():
            cells = self.row_cells(name)
            self.assertEqual((cells[exact], cells[calls]), numbers, name)
        rows = {row["name"]: row for row in self.run_script("return blame.rows('top-down')")}
        self.assertEqual(
            [rows["event pack"][key] for key in ("calls", "exact (I)", "exact (E)")], [1234, 4000, 3000]
        )
        flat = {row["name"]: row for row in self.run_script("return blame.rows('flat')")}
        self.assertEqual(flat["phase step"]["calls"], STEPS)
        self.assertNotIn("Counters", self.texts("button.tool"))

    def test_rows_of_a_kind_are_told_apart_and_found(self):
        self.open(phased())
        self.settle()
        marks = self.run_script(
            """return ['phase', 'event', 'parameter', 'root'].map((kind) =>
            getComputedStyle(document.querySelector(`.tree-row.kind-${kind} .kind`), '::before').content)"""
        )
        self.assertEqual(marks, ['"P"', '"E"', '"="', "none"])
        for text, count in {"kind:phase": STEPS + 2, "kind:phase check": 1, "kind:event": 1, "kind:parameter 512": 1,
                            "kind:nothing": 0, "phase": 2}.items():
            self.set(q=text)
            self.assertEqual(self.run_script("return blame.report.search.count"), count, text)
        self.run_script("document.getElementById('contexts').scrollIntoView()")
        self.one("[data-value=kind]").click()
        self.assertEqual(
            [item.text for item in self.all(".flame .legend-item")],
            ["root", "procedure", "phase", "event", "parameter"],
        )

    def test_counters_can_be_chosen(self):
        self.open(counted(phased()))
        self.assertNotIn("perf::PAGE-FAULTS", self.titles())
        self.run_script("[...document.querySelectorAll('button.tool')].find((of) => of.textContent === 'Counters').click()")
        titles = self.titles()
        column = titles.index("perf::PAGE-FAULTS") - 1
        self.assertEqual(titles[column + 2], "perf::PAGE-FAULTS itself")
        self.assertEqual(self.row_cells("event pack")[column : column + 2], ["6.0M", "6.0M"])
        self.set(metric="perf::PAGE-FAULTS")
        self.assertEqual(self.titles()[1], "perf::PAGE-FAULTS")
        self.assertEqual(self.row_cells("event pack")[0], "6.0M4.2\u2009%")
        self.run_script("document.querySelector(\"[role=treegrid] [data-column='perf::PAGE-FAULTS/e']\").click()")
        self.settle()
        self.assertEqual(
            self.one("[role=columnheader]:has([data-column='perf::PAGE-FAULTS/e'])").get_attribute("aria-sort"),
            "descending",
        )
        self.assertEqual(self.run_script("return location.hash.includes('sort=')"), True)
        self.browser.refresh()
        self.settle()
        self.assertEqual(self.run_script("return blame.report.state.sort"), "perf::PAGE-FAULTS/e:down")


class Events(PageTest):
    """Where samples were by a counter's overflow, nothing but exact times is in seconds."""

    def test_events_are_said_everywhere(self):
        self.open(
            phased(
                unit="events",
                threads=[
                    {"thread": 0, "kind": "initial", "begin_s": 0, "end_s": 1, "samples": 9, "work": 7000000,
                     "idle": 2500000, "overhead": 0, "lock_wait": 0}
                ],
            )
        )
        self.settle()
        self.assertIn("one sample per 10 perf::PAGE-FAULTS", self.one(".title-facts").text)
        self.assertIn("events, not seconds", self.one(".notes").text)
        for legend in self.all(".share-seconds"):
            self.assertRegex(legend.text, r"^[\d\u2009]+ events$")
        self.assertEqual(self.one("[aria-label=Unit] [data-value=seconds]").text, "events")
        self.assertEqual(self.texts("#threads .tree-row .cell.number"), ["0", "7.0M", "", "", "2.5M", "9"])
        phases = self.run_script(
            "return [...document.querySelectorAll('#phases .tree-row')].map((row) => row.cells[5].textContent)"
        )
        self.assertEqual(phases, ["24.0M", "20.0M", "2.5M"])
        self.run_script("blame.report.tip.show(1, 10, 10)")
        tip = self.one(".tip").text
        self.assertRegex(tip, r"work [\d\u2009]+ events")
        self.assertRegex(tip, r"exact 0\.130 s")
        series = "const series = blame.report.phases.series; return "
        self.assertTrue(self.run_script(series + "series.events"))
        self.assertEqual(self.run_script(series + "[series.top.stack, series.top.line]"), [1500 * 10**9, 52000])
        facts = dict(self.run_script(series + "series.facts(series.bars[0])"))
        self.assertRegex(facts["exact"], r" s$")
        self.assertRegex(facts["work"], r" events$")
        self.assertEqual(self.cells(0)[0], "24.0M33.3\u2009%")
        title = self.run_script("return document.querySelector('[role=treegrid] .tree-row .primary').title")
        self.assertEqual(title, "24\u2009000\u2009000 events")
