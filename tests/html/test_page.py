"""The page by itself, with data that the test thought up."""

import page_data
from browser import PageTest


def small(**more):
    """main calls slow (80 of 100) and fast (10); slow has two lines and calls helper, which fast calls too."""
    rows = page_data.Rows()

    def both(value, own):
        return (
            {"work": value * 1000, "idleness": value * 500, "samples": value},
            {"work": own * 1000, "idleness": own * 500, "samples": own},
        )

    file = "/src/app.c"
    root = rows.add(-1, "root", "<program root>", inclusive=both(100, 0)[0])
    main = rows.add(root, "procedure", "main", "app", file, 1, 0, *both(100, 10))
    slow = rows.add(main, "procedure", "slow", "app", file, 10, 3, *both(80, 60))
    rows.add(slow, "statement", "app.c:12", "app", file, 12, 0, *both(45, 45))
    rows.add(slow, "statement", "app.c:13", "app", file, 13, 0, *both(15, 15))
    rows.add(slow, "inlined", "helper", "app", "/src/gone.c", 5, 14, *both(20, 20))
    fast = rows.add(main, "parallel", "fast [parallel app.c:20]", "app", file, 20, 4, *both(10, 4))
    rows.add(fast, "procedure", "helper", "app", "/src/gone.c", 5, 21, *both(6, 6))
    sources = [{"file": rows.text(file), "first": 8, "lines": [f"    line {line};" for line in range(8, 19)]}]
    missing = [{"file": rows.text("/src/gone.c"), "why": "No such file or directory"}]
    return rows.data(sources=sources, sources_missing=missing, sources_wanted=True, **more)


HEAD = ["<program root>", "main"]


class Tree(PageTest):
    def test_opens_and_closes_by_pointer(self):
        self.open(small())
        self.one("button[title='Close every row']").click()
        self.assertEqual(self.names(), HEAD)
        self.all(".twist")[1].click()
        self.assertEqual(self.names(), [*HEAD, "slow", "fast [parallel app.c:20]"])
        self.all(".twist")[2].click()
        self.assertEqual(self.names(), [*HEAD, "slow", "app.c:12", "helper", "app.c:13", "fast [parallel app.c:20]"])
        self.all(".twist")[1].click()
        self.assertEqual(self.names(), HEAD)

    def test_keyboard(self):
        self.open(small())
        self.one("button[title='Close every row']").click()
        self.run_script("arguments[0].focus()", self.one("[role=treegrid]"))
        self.keys("HOME", "ARROW_DOWN")
        self.assertEqual(self.selected(), "main")
        self.keys("ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT")
        self.assertEqual(self.selected(), "app.c:12")
        self.keys("END")
        self.assertEqual(self.selected(), "fast [parallel app.c:20]")
        self.keys("ARROW_UP", "ARROW_UP", "ARROW_LEFT", "ARROW_LEFT")
        self.assertEqual(self.selected(), "slow")
        self.assertEqual(self.names(), [*HEAD, "slow", "fast [parallel app.c:20]"])
        self.keys("f")
        self.assertEqual(self.selected(), "fast [parallel app.c:20]")
        self.keys("*")
        self.assertEqual(self.names()[-1], "helper")
        self.keys("ENTER")
        self.assertEqual(self.run_script("return blame.report.state.zoom"), "6")
        self.keys("/")
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("id"), "search")

    def test_is_an_aria_tree_grid(self):
        self.open(small())
        grid = self.one("[role=treegrid]")
        self.one("button[title^='Open everything']").click()
        self.settle()
        rows = grid.find_elements("css selector", ".tree-row")
        self.assertEqual(int(grid.get_attribute("aria-rowcount")), 9)
        self.assertEqual(sorted(int(row.get_attribute("aria-rowindex")) for row in rows), list(range(2, 10)))
        self.assertEqual([row.get_attribute("aria-level") for row in rows[:3]], ["1", "2", "3"])
        self.assertEqual([row.get_attribute("aria-expanded") for row in rows[:4]], ["true", "true", "true", None])
        rows[2].find_element("css selector", ".row-name").click()
        self.settle()
        self.assertEqual(rows[2].get_attribute("aria-selected"), "true")
        self.assertEqual(grid.get_attribute("aria-activedescendant"), rows[2].get_attribute("id"))

    def test_sorts_by_every_column(self):
        self.open(small())
        for view in ("top-down", "bottom-up", "flat"):
            self.one(f"[data-value={view}]").click()
            columns = [title.get_attribute("data-column") for title in self.all("[role=treegrid] [data-column]")]
            self.assertEqual(len(columns), 7)
            for column in columns:
                for _ in range(2):
                    self.one(f"[role=treegrid] [data-column='{column}']").click()
                    by = self.one(f"[role=treegrid] [role=columnheader]:has([data-column='{column}'])").get_attribute(
                        "aria-sort"
                    )
                    self.check_order(column, by == "descending")

    def check_order(self, column, descending):
        """Of the root's children's children, as shown, or its children where these are functions."""
        shown = self.run_script(
            """
            const tree = blame.report.tree, by = tree.columns.find((column) => column.id === arguments[0]);
            const of = tree.view.root.children.length > 1 ? tree.view.root : tree.view.root.children[0];
            return tree.visible.filter((node) => node.parent === of).map((node) => by.metric === undefined
                ? blame.report.model.name(node.row) : tree.view.value(node, by.metric, by.exclusive))""",
            column,
        )
        self.assertGreater(len(shown), 1)
        self.assertEqual(shown, sorted(shown, reverse=descending), column)

    def test_units(self):
        self.open(small())
        self.assertEqual(self.cells(0)[1], "0.05033.3\u2009%")
        self.one("[data-value=percent]").click()
        self.assertEqual(self.cells(0)[1], "33.33")

    def test_hot_path(self):
        self.open(small())
        self.keys("h")
        self.assertEqual(self.selected(), "app.c:12")
        self.one("#metric").send_keys("samples")
        self.one("[data-value=bottom-up]").click()
        self.assertEqual(self.names()[1:3], ["slow", "helper"])

    def test_bottom_up_and_flat(self):
        self.open(small())
        rows = self.run_script("return blame.rows('bottom-up')")
        self.assertEqual(
            [
                (row["depth"], row["name"], row["work (E)"], row["work (I)"])
                for row in rows
                if row["name"] == "helper" or row["depth"] > 1
            ],
            [
                (2, "main", 60000, 80000),
                (1, "helper", 26000, 26000),
                (2, "slow", 20000, 20000),
                (3, "main", 20000, 20000),
                (2, "fast [parallel app.c:20]", 6000, 6000),
                (3, "main", 6000, 6000),
                (2, "main", 4000, 10000),
            ],
        )
        rows = self.run_script("return blame.rows('flat')")
        self.assertEqual(
            [(row["name"], row["work (E)"]) for row in rows if row["depth"] == 2],
            [("app.c:12", 45000), ("app.c:13", 15000)],
        )


class Graph(PageTest):
    def click_box(self, row):
        place = self.run_script(
            """const flame = blame.report.flame, box = flame.canvas.getBoundingClientRect(), row = arguments[0];
            const scale = box.width / flame.width[flame.zoom], level = flame.model.depth[row] - flame.model.depth[flame.zoom];
            return [(flame.start[row] - flame.start[flame.zoom] + flame.width[row] / 2) * scale, level * 20 + 10, box.left, box.top]""",
            row,
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.browser.execute_cdp_cmd(
                "Input.dispatchMouseEvent",
                {"type": kind, "x": place[0] + place[2], "y": place[1] + place[3], "button": "left", "clickCount": 1},
            )
        self.settle()

    def crumbs(self):
        return [crumb.text for crumb in self.all(".crumb")]

    def test_click_zooms_and_selects(self):
        self.open(small())
        self.click_box(2)
        self.assertEqual(self.crumbs(), ["whole program", "main", "slow"])
        self.assertEqual(self.selected(), "slow")
        self.click_box(5)
        self.assertEqual(self.crumbs()[-1], "helper")
        self.all(".crumb")[0].click()
        self.assertEqual(self.crumbs(), ["whole program"])

    def test_pointer_tells_all_metrics(self):
        self.open(small())
        self.click_box(2)
        tip = self.one(".tip")
        self.assertTrue(tip.is_displayed())
        for text in ("slow", "procedure", "app.c:10", "0.080 s", "53.3 %", "0.060 s", "0.040 s", "0.030 s"):
            self.assertIn(text, tip.text)

    def test_widths_are_shares(self):
        self.open(small())
        for metric in ("work", "idleness", "samples"):
            self.run_script("blame.report.state.set({ metric: arguments[0] })", metric)
            widths = self.run_script(
                "const { width } = blame.report.flame; return [...width].map((value) => value / width[0])"
            )
            self.assertEqual([round(value, 6) for value in widths], [1, 1, 0.8, 0.45, 0.15, 0.2, 0.1, 0.06])

    def test_keyboard(self):
        self.open(small())
        self.run_script("arguments[0].focus()", self.one(".flame-canvas"))
        self.keys("HOME", "ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
        self.assertEqual(self.selected(), "fast [parallel app.c:20]")
        self.assertIn("0.005 s, 3.3 percent", self.one("#flame-says").get_attribute("textContent"))
        self.keys("ENTER")
        self.assertEqual(self.crumbs()[-1], "fast [parallel app.c:20]")
        self.keys("ESCAPE")
        self.assertEqual(self.crumbs()[-1], "main")

    def test_colours(self):
        self.open(small())
        fills = [
            self.run_script(
                "const { palette } = blame.report.flame; return [0, 1, 2, 3, 6].map((row) => palette.fill(row).colour)"
            )
        ]
        self.one("[data-value=kind]").click()
        fills.append(
            self.run_script(
                "const { palette } = blame.report.flame; return [0, 1, 2, 3, 6].map((row) => palette.fill(row).colour)"
            )
        )
        self.assertEqual([len(set(colours)) for colours in fills], [5, 4])
        pixels = self.run_script(
            """const { canvas } = blame.report.flame;
            return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
        )
        self.assertGreater(pixels, 5)

    def test_a_metric_of_zeros(self):
        self.open(small())
        self.run_script("blame.report.state.set({ metric: 'lock wait' })")
        self.assertEqual(self.cells(0)[:2], ["", ""])
        self.assertEqual(self.run_script("return blame.report.flame.rowAt(20, 10)"), -1)
        self.assertEqual(self.crumbs(), ["whole program"])


class Search(PageTest):
    def search(self, text):
        field = self.one("#search")
        field.clear()
        field.send_keys(text)
        self.settle()
        return self.one(".found").text

    def test_sums_what_matches(self):
        self.open(small())
        self.assertEqual(self.search("helper"), "2 rows: 0.013 s (8.7 %) with callees, 0.013 s (8.7 %) itself")
        self.assertEqual(
            self.search("SLOW|app.c:1[23]"), "2 rows: 0.030 s (20.0 %) with callees, 0.030 s (20.0 %) itself"
        )
        self.assertEqual(
            self.search("^(slow|app.c:1[23]|helper)$"), "5 rows: 0.043 s (28.7 %) with callees, 0.043 s (28.7 %) itself"
        )
        self.assertEqual(self.search("nothing"), "no row matches")

    def test_next(self):
        self.open(small())
        self.search("helper")
        for row in ("5", "7", "5"):
            self.keys("ENTER")
            self.settle()
            self.assertEqual(self.run_script("return blame.report.state.at"), row)
        self.assertEqual(
            self.run_script(
                "return [...document.querySelectorAll('.tree-row.match')].map((row) => row.name.textContent)"
            ),
            ["helper"] * 2,
        )
        self.keys("ESCAPE")
        self.assertEqual(self.all(".tree-row.match"), [])

    def test_not_an_expression(self):
        self.open(small())
        for text in ("(", "[", "*", "a{2,1}", "\\"):
            self.assertTrue(self.search(text).startswith("Not a regular expression"), text)
        self.assertEqual(self.one("#search").get_attribute("aria-invalid"), "true")


class Source(PageTest):
    def show(self, row):
        self.run_script("blame.report.selectRow(arguments[0], false)", row)
        self.settle()
        return self.one(".source").text

    def test_lines_and_their_cost(self):
        self.open(small(), "#metric=work")
        self.show(2)
        line = self.one(".source-line.target")
        self.assertEqual(
            [span.text for span in line.find_elements("css selector", "span")][:3], ["12", "0.045", "0.045"]
        )
        self.assertEqual(line.find_element("css selector", "code").text.strip(), "line 12;")
        values = {
            spans[0]: spans[1]
            for spans in (
                [span.text for span in line.find_elements("css selector", "span")]
                for line in self.all(".source-line:not(.source-head)")
            )
        }
        self.assertEqual(
            {line: value for line, value in values.items() if value}, {"12": "0.045", "13": "0.015", "14": "0.020"}
        )

    def test_says_what_is_missing(self):
        self.open(small())
        self.assertIn("/src/gone.c could not be shown: No such file or directory", self.show(5))
        self.assertIn("Line 3 is not among the lines", self.show(1))
        self.assertIn("Select a row", self.show(0))
        data = small()
        data["sources_wanted"], data["sources"] = False, []
        self.open(data)
        self.assertIn("--no-source", self.show(2))


class Places(PageTest):
    def test_the_address_keeps_the_place(self):
        self.open(small())
        self.one("[data-value=flat]").click()
        self.run_script(
            "blame.report.state.set({ metric: 'work', unit: 'percent', zoom: '2', q: 'help', sort: 'name:up' })"
        )
        self.run_script("blame.report.tree.select(blame.report.view().root.children[2])")
        before = self.run_script("return [location.hash, blame.report.state.at]")
        self.open(small(), before[0])
        for name, value in (
            ("view", "flat"),
            ("metric", "work"),
            ("unit", "percent"),
            ("zoom", "2"),
            ("q", "help"),
            ("sort", "name:up"),
            ("at", before[1]),
        ):
            self.assertEqual(self.run_script("return blame.report.state[arguments[0]]", name), value, name)
        self.assertTrue(self.selected())

    def test_a_place_that_is_not_there(self):
        for place in ("#view=none&metric=x&zoom=99&sort=%00&unit=%", "#at=7.8.9&zoom=-1", "#" + "q=%28" * 9, "#%"):
            self.open(small(), place)
            self.assertEqual(self.names()[:2], HEAD, place)

    def test_findings_lead_to_their_row(self):
        finding = {
            "rule": "lock",
            "row": 6,
            "metric": "work",
            "seconds": 0.01,
            "share": 6.7,
            "gain_s": 0.005,
            "title": "a title",
            "evidence": "some evidence",
            "advice": "some advice",
            "place": "fast  app.c:20",
        }
        doubt = {**finding, "row": -1, "place": "", "gain_s": 0, "metric": "samples"}
        self.open(small(findings=[finding, doubt]))
        self.assertNotIn("of samples", self.all(".finding")[1].text)
        for text in ("6.7", "a title", "some evidence", "some advice", "fast app.c:20", "0.01 s of work"):
            self.assertIn(text, self.all(".finding")[0].text)
        self.all(".finding-go")[0].click()
        self.assertEqual(self.selected(), "fast [parallel app.c:20]")
        self.assertEqual(self.run_script("return blame.report.state.metric"), "work")
        self.run_script("scrollTo(0, 0)")
        self.all(".finding-go")[1].click()
        self.assertEqual(self.selected(), "<program root>")


class Notes(PageTest):
    """What must be known before the numbers are believed."""

    def notes(self, header=(), **more):
        data = small(**more)
        data["header"].update(header)
        self.open(data)
        return [note.text for note in self.all(".notes li")]

    def test_nothing_to_say(self):
        law = {"law": "a = b", "left": 1.0, "right": 1.01, "residual": -0.01, "relative": -0.01, "exact": False}
        run = {"samples": {"delivered": 10, "dropped": {"stopping": 3}}, "conservation": {"thread_time": law}}
        self.assertEqual(self.notes(run=run | {"rate_least": 200.0}), [])

    def test_a_killed_program(self):
        self.assertIn("did not end normally", self.notes({"finished": False})[0])

    def test_books_that_do_not_balance(self):
        law = {"law": "a = b", "left": 0.9, "right": 1.0, "residual": -0.1, "relative": -0.1, "exact": False}
        self.assertEqual(
            self.notes(run={"conservation": {"busy_time": law}}),
            ["The books are off by 10.0 % (busy_time: 0.90 against 1.00); see “Run” below."],
        )
        law.update(left=0.2, residual=-0.8, relative=-0.8)
        self.assertIn("Only 20 % of the threads' time", self.notes(run={"conservation": {"thread_time": law}})[0])

    def test_a_few_samples_do_not_unbalance_the_books(self):
        law = {"law": "a = b", "left": 0.9, "right": 1.0, "residual": -0.1, "relative": -0.1, "exact": False}
        for rate, notes in ((20, 0), (1000, 1)):
            run = {"conservation": {"shared_idle": law}, "rate_least": rate}
            self.assertEqual(len(self.notes({"rate": rate, "threads": 2}, run=run)), notes, rate)

    def test_losses(self):
        run = {"samples": {"delivered": 5000, "dropped": {"in tool": 12}}, "truncated_paths": 3, "unresolved_s": 0.5}
        self.assertEqual(
            self.notes(run=run | {"rate_least": 50.0}),
            [
                "Lost: 12 of 5\u2009000 samples (in tool), the callers of 0.500 s (<unresolved>), "
                "the callers of 3 samples (<truncated>).",
                "So many threads on so few cores were sampled 50 times a second each.",
            ],
        )

    def test_rows_left_out(self):
        left = {"rows": 900000, "total": 1000000, "percent": 0.0042, "asked": False}
        self.assertEqual(
            self.notes(left_out=left),
            [
                "900\u2009000 of 1\u2009000\u2009000 rows are not in this page, each below 0.0042 % of every metric: "
                "they are summed up in rows “(small)”, so totals hold."
            ],
        )

    def test_source_that_changed(self):
        data = small()
        data["sources_changed"] = [data["sources"][0]["file"]]
        self.open(data)
        self.assertIn("lines may be off", self.one(".source").text)
