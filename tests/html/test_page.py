"""The page by itself, with data that the test thought up."""

import os
import re

import page_data
from browser import PageTest
from harness import ROOT


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
OPENED = [*HEAD, "slow", "fast [parallel app.c:20]"]


def beside_others(waited=0):
    """main lost half of its time to other programs, and waited for a file. Others waited for its lock, for so many microseconds."""
    rows = page_data.Rows()
    whole = {"work": 4000000, "no core": 5000000, "blocked": 1000000, "lock wait": waited, "samples": 1000}
    rows.add(-1, "root", "<program root>", inclusive=whole)
    main = rows.add(0, "procedure", "main", "app", "/src/app.c", 1, 0, whole, {"work": 4000000, "blocked": 1000000})
    lost = {"no core": 5000000, "lock wait": waited}
    rows.add(main, "pseudo", "<no core>", inclusive=lost, exclusive=lost)
    thread = {"thread": 0, "kind": "initial", "begin_s": 0, "end_s": 10, "samples": 1000, "work": 4.0, "idle": 0,
              "overhead": 0, "lock_wait": 0, "parked": 0, "no_core": 5.0, "blocked": 1.0}
    return rows.data(threads=[thread])


class BesideOthers(PageTest):
    """Metrics that most programs have nothing of."""

    def shown(self):
        return (self.texts(".share-name"), self.texts(".tree-head [role=columnheader]"),
                self.texts("#threads .legend-item"))

    def test_no_core_and_blocked_are_shown_where_there_is_some(self):
        self.open(beside_others())
        names, columns, legend = self.shown()
        self.assertEqual(names[-2:], ["no core", "blocked"])
        self.assertEqual(self.texts(".share-number")[-2:], ["50.0\u2009%", "10.0\u2009%"])
        self.assertLessEqual({"no core", "blocked"}, set(columns))
        self.assertLessEqual({"no core", "blocked"}, set(legend))
        self.one("[data-metric='no core']").click()
        self.assertEqual(self.run_script("return blame.report.state.metric"), "no core")
        self.assertEqual(self.names()[-1], "<no core>")

    def test_lock_wait_for_an_owner_without_a_core_is_said(self):
        for waited, said in ((2000000, "waiting for locks; 2.00 s of it while the lock's owner had no core"), (10000, "waiting for locks")):
            self.open(beside_others(waited))
            self.assertIn(said, self.texts(".share-meaning"))

    def test_the_head_names_gccs_runtime(self):
        for version, there in (("GNU libgomp, GCC 12", True), ("LLVM OMP version: 5.0.20140926", False)):
            self.open({**beside_others(), "run": {"runtime_version": version}})
            self.assertEqual(version in self.one(".title-facts").text, there)

    def test_no_core_and_blocked_are_not_shown_where_there_is_none(self):
        self.open(small())
        for texts in self.shown():
            self.assertFalse({"no core", "blocked"} & set(texts), texts)


class NobodyBusy(PageTest):
    """Thread time in which no thread was busy is a share beside those of which per cent are."""

    def show(self, seconds):
        self.open({**(data := beside_others()), "header": {**data["header"], "nobody_busy_s": seconds}})

    def boxes(self, selector):
        return self.run_script(
            """return [...document.querySelectorAll(arguments[0])].map((of) => of.getBoundingClientRect()).filter((box) => box.width > 0)
            .map(({ left, right, top, bottom }) => [left, right, top, bottom])""", selector)

    def test_shares_and_nobodys_are_the_whole(self):
        self.show(30.0)
        self.assertEqual(self.texts(".share-number"), ["40.0\u2009%", "0.0\u2009%", "0.0\u2009%", "0.0\u2009%", "50.0\u2009%", "10.0\u2009%", "75.0\u2009%"])
        self.assertEqual(self.texts(".nobody-legend .share-seconds"), ["of all: 30.00\u00a0s"])
        self.assertEqual(self.texts(".share-whole"), ["Percentages of 10.00 s of thread time; for another 30.00 s no thread was busy (40.00 s in all)"])
        for of in (".share.nobody", ".nobody-legend"):
            self.assertIn("no thread was busy", self.one(of).get_attribute("title"))
        bar, = self.boxes(".share-bar")
        pieces = self.boxes(".share")
        self.assertEqual(len(pieces), 4)
        self.assertAlmostEqual(pieces[0][0], bar[0], delta=1)
        self.assertAlmostEqual(pieces[-1][1], bar[1], delta=1)
        self.assertAlmostEqual((pieces[-1][1] - pieces[-1][0]) / (bar[1] - bar[0]), 0.75, delta=0.01)

    def test_nothing_overlaps(self):
        for dark, width in ((False, 1440), (True, 1000), (False, 640)):
            self.resize(width, 1000, dark)
            self.show(3000.0)
            boxes = self.boxes(".share-legends > *")
            self.assertEqual(len(boxes), 7)
            for i, (left, right, top, bottom) in enumerate(boxes):
                for other in boxes[:i]:
                    self.assertTrue(right <= other[0] or left >= other[1] or bottom <= other[2] or top >= other[3], (width, boxes))
            beyond = self.run_script("return [...document.querySelectorAll('.share-legends > *')].filter((of) => of.scrollWidth > of.clientWidth).map((of) => [of.textContent, of.scrollWidth, of.clientWidth])")
            self.assertEqual(beyond, [], width)

    def test_none_is_not_shown(self):
        for seconds in (0, None):
            self.show(seconds)
            self.assertEqual((self.all(".nobody"), self.texts(".share-whole")), ([], ["Percentages of 10.00 s of thread time"]))


class Tree(PageTest):
    page = staticmethod(small)

    def test_opens_and_closes_by_pointer(self):
        self.one("button[title='Close every row']").click()
        self.assertEqual(self.names(), HEAD)
        for row, names in (
            (1, OPENED),
            (2, [*HEAD, "slow", "app.c:12", "helper", "app.c:13", "fast [parallel app.c:20]"]),
            (1, HEAD),
        ):
            self.all(".twist")[row].click()
            self.assertEqual(self.names(), names)

    def test_keyboard(self):
        self.one("button[title='Close every row']").click()
        self.run_script("arguments[0].focus()", self.one("[role=treegrid]"))
        for keys, selected in (
            (("HOME", "ARROW_DOWN"), "main"),
            (("ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT"), "app.c:12"),
            (("END",), "fast [parallel app.c:20]"),
            (("ARROW_UP", "ARROW_UP", "ARROW_LEFT", "ARROW_LEFT"), "slow"),
            (("f",), "fast [parallel app.c:20]"),
        ):
            self.keys(*keys)
            self.assertEqual(self.selected(), selected)
        self.assertEqual(self.names(), OPENED)
        self.keys("*")
        self.assertEqual(self.names()[-1], "helper")
        self.keys("ENTER")
        self.assertEqual(self.run_script("return blame.report.state.zoom"), "6")
        self.keys("/")
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("id"), "search")

    def test_is_an_aria_tree_grid(self):
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
        """The root's children's children, as shown, or its children where these are functions."""
        for view in ("top-down", "bottom-up", "flat"):
            self.one(f"[data-value={view}]").click()
            sorted_by = self.browser.execute_async_script(
                """
                const { tree, model } = blame.report, done = arguments[0], seen = [];
                const shown = (by) => {
                    const of = tree.view.root.children.length > 1 ? tree.view.root : tree.view.root.children[0];
                    return tree.visible.filter((node) => node.parent === of).map((node) => by.metric === undefined
                        ? model.name(node.row) : tree.view.value(node, by.metric, by.exclusive));
                };
                const ids = [...document.querySelectorAll("[role=treegrid] [data-column]")].map((of) => of.dataset.column);
                const title = (id) => document.querySelector(`[role=treegrid] [data-column="${id}"]`);
                (async () => {
                    for (const id of [...ids, ...ids].sort()) {
                        title(id).click();
                        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
                        const by = tree.columns.find((column) => column.id === id);
                        seen.push([id, title(id).closest("[role=columnheader]").getAttribute("aria-sort"), shown(by)]);
                    }
                    done(seen);
                })();"""
            )
            self.assertEqual(len(sorted_by), 14)
            self.assertEqual({order for _, order, _ in sorted_by}, {"ascending", "descending"})
            for column, order, values in sorted_by:
                self.assertGreater(len(values), 1)
                self.assertEqual(values, sorted(values, reverse=order == "descending"), (view, column))

    def test_numbers(self):
        self.assertEqual(self.cells(0)[1], "0.05033.3\u2009%")
        self.one("[data-value=percent]").click()
        self.assertEqual(self.cells(0)[1], "33.33")
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
        self.keys("h")  # the hot path
        self.assertEqual(self.selected(), "app.c:12")
        self.one("#metric").send_keys("samples")
        self.one("[data-value=bottom-up]").click()
        self.assertEqual(self.names()[1:3], ["slow", "helper"])


class Graph(PageTest):
    page = staticmethod(small)

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
        return self.texts(".crumb")

    def test_pointer_tells_zooms_and_selects(self):
        self.click_box(2)
        tip = self.one(".tip")
        self.assertTrue(tip.is_displayed())
        for text in ("slow", "procedure", "app.c:10", "0.080 s", "53.3 %", "0.060 s", "0.040 s", "0.030 s"):
            self.assertIn(text, tip.text)
        self.assertEqual(self.crumbs(), ["whole program", "main", "slow"])
        self.assertEqual(self.selected(), "slow")
        self.click_box(5)
        self.assertEqual(self.crumbs()[-1], "helper")
        self.all(".crumb")[0].click()
        self.assertEqual(self.crumbs(), ["whole program"])

    def test_keyboard(self):
        self.run_script("arguments[0].focus()", self.one(".flame-canvas"))
        self.keys("HOME", "ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
        self.assertEqual(self.selected(), "fast [parallel app.c:20]")
        self.assertIn("0.005 s, 3.3 percent", self.texts("#flame-says")[0])
        self.keys("ENTER")
        self.assertEqual(self.crumbs()[-1], "fast [parallel app.c:20]")
        self.keys("ESCAPE")
        self.assertEqual(self.crumbs()[-1], "main")

    def test_widths_are_shares_and_colours_kinds(self):
        for colour, count in (("itself", 5), ("kind", 4)):
            self.one(f"[data-value={colour}]").click()
            colours = self.run_script(
                "const { palette } = blame.report.flame; return [0, 1, 2, 3, 6].map((row) => palette.fill(row).colour)"
            )
            self.assertEqual(len(set(colours)), count, colour)
        pixels = self.run_script(
            """const { canvas } = blame.report.flame;
            return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
        )
        self.assertGreater(pixels, 5)
        for metric in ("work", "idleness", "samples"):
            self.set(metric=metric)
            widths = self.run_script(
                "const { width } = blame.report.flame; return [...width].map((value) => value / width[0])"
            )
            self.assertEqual([round(value, 6) for value in widths], [1, 1, 0.8, 0.45, 0.15, 0.2, 0.1, 0.06])
        self.set(metric="lock wait")  # of which there is none
        self.assertEqual(self.cells(0)[:2], ["", ""])
        self.assertEqual(self.run_script("return blame.report.flame.rowAt(20, 10)"), -1)
        self.assertEqual(self.crumbs(), ["whole program"])


class Tables(PageTest):
    def test_what_was_waited_for_longest_is_first_whatever_the_place(self):
        """A place with many small ones hid the others."""
        data = small()
        place = len(data["strings"])
        data["strings"] += ["region end", "barrier"]
        data["waits"] = {"places": {"columns": ["place_kind"], "rows": [[place], [place + 1]]},
                         "pairs": {"place": [0, 0, 1], "row": [1, 2, 5], "us": [9000000, 1000000, 5000000]}}
        self.open(data)
        kinds = [text for text in self.texts("#waits [role=row] > *") if text in ("region end", "barrier")]
        self.assertEqual(kinds, ["region end", "barrier", "region end"])

    def test_a_number_of_the_run_stays_in_one_line(self):
        """Beside a name that is longer than its half of the column."""
        self.open(small(run={"job": {"efficiencies": {"a communication of a very long name": 0.326798542374}}}))
        value = self.one("#run dd")
        self.assertEqual(value.text, "0.326799")
        lines = self.run_script("const range = document.createRange(); range.selectNodeContents(arguments[0]);"
                                "return range.getClientRects().length", value)
        self.assertEqual(lines, 1)


class Search(PageTest):
    page = staticmethod(small)

    def search(self, text):
        self.run_script(
            "const field = arguments[0]; field.value = arguments[1]; field.dispatchEvent(new Event('input'))",
            self.one("#search"),
            text,
        )
        self.settle()
        return self.one(".found").text

    def test_sums_what_matches(self):
        for text, said in {
            "helper": "2 rows: 0.013 s (8.7 %) with callees, 0.013 s (8.7 %) itself",
            "SLOW|app.c:1[23]": "2 rows: 0.030 s (20.0 %) with callees, 0.030 s (20.0 %) itself",
            "^(slow|app.c:1[23]|helper)$": "5 rows: 0.043 s (28.7 %) with callees, 0.043 s (28.7 %) itself",
            "nothing": "no row matches",
        }.items():
            self.assertEqual(self.search(text), said)
        for text in ("(", "[", "*", "a{2,1}", "\\"):
            self.assertTrue(self.search(text).startswith("Not a regular expression"), text)
        self.assertEqual(self.one("#search").get_attribute("aria-invalid"), "true")

    def test_next(self):
        self.one("#search").send_keys("helper")
        for row in ("5", "7", "5"):
            self.settle()
            self.assertEqual(self.run_script("return blame.report.state.at"), row)
            self.keys("ENTER")
        matches = "return [...document.querySelectorAll('.tree-row.match')].map((row) => row.name.textContent)"
        self.assertEqual(self.run_script(matches), ["helper"] * 2)
        self.keys("ESCAPE")
        self.assertEqual(self.run_script(matches), [])

    def test_typing_scrolls_to_the_first_match(self):
        """The row is in sight, in the table and in the window; more letters search from where the search began."""
        data = page_data.many_rows(3000)
        needle = [row for row in range(len(data["rows"]["name"])) if data["rows"]["kind"][row] == 1][-1]
        data["strings"].append("needle")
        data["rows"]["name"][needle] = len(data["strings"]) - 1
        data["rows"]["function"][needle] = max(data["rows"]["function"]) + 1
        for view in ("top-down", "flat"):
            self.open(data, f"#view={view}")
            self.run_script("scrollTo(0, 0)")
            self.one("#search").send_keys("needl")
            self.settle()
            self.assertEqual(self.selected(), "needle", view)
            outside = self.run_script("""const row = document.querySelector(".tree-row.selected").getBoundingClientRect(),
                list = document.querySelector("[role=treegrid]").getBoundingClientRect();
                return [list.top - row.top, row.bottom - list.bottom, 0 - row.top, row.bottom - innerHeight]""")
            self.assertLessEqual(max(outside), 0, view)
        self.open(small())
        self.one("#search").send_keys("f")
        self.settle()
        self.assertEqual(self.selected(), "fast [parallel app.c:20]")
        self.keys("BACKSPACE", "s", "l", "o", "w")
        self.settle()
        self.assertEqual(self.selected(), "slow")


class Explanations(PageTest):
    """Rows that are not code are explained where they are shown, in the words of docs/reading-a-report.md."""

    def test_they_are_those_of_the_documentation(self):
        with open(os.path.join(ROOT, "docs", "reading-a-report.md"), encoding="utf-8") as file:
            table = file.read().split("## Rows that are not code")[1].split("##")[0]
        documented = [(name, what.replace("`", "")) for name, what in re.findall(r"^\| `(<.*?>)` \| (.*) \|$", table, re.M)]
        self.assertGreater(len(documented), 15)
        rows = page_data.Rows()
        root = rows.add(-1, "root", "<program root>", inclusive={"work": 100})
        for name, _ in documented:
            if name != "<program root>":
                rows.add(root, "pseudo", name, inclusive={"work": 5}, exclusive={"work": 5})
        rows.add(root, "procedure", "vector<int>", inclusive={"work": 5}, exclusive={"work": 5})
        self.open(rows.data())
        shown = dict(self.tree("[row.name.textContent, row.first.title]"))
        self.assertEqual([(name, shown[name]) for name, _ in documented], [(name, f"{name}\n{what}") for name, what in documented])
        self.assertEqual(shown["vector<int>"], "vector<int>")
        self.run_script("blame.report.tip.show(1, 10, 10)")
        self.assertIn(dict(documented)["<before OpenMP start>"], self.one(".tip").text)

    def test_wakes_show_who_woke_whom_and_link_to_both(self):
        data = small()
        kind = len(data["strings"])
        data["strings"] += ["semaphore", "/src/queue.c"]
        data["wakes"] = {"columns": ["kind", "seconds", "waits", "waiter", "waiter_file", "waiter_line", "waker", "waker_file", "waker_line"],
                         "rows": [[kind, 1.5, 3, 1, kind + 1, 40, 2, kind + 1, 7], [kind, 0.5, 2, 1, kind + 1, 40, -1, 0, 0]]}
        self.open(data)
        cells = [text for text in self.texts("#wakes .tree-row > *")]
        self.assertEqual([cells[i] for i in (0, 1, 2, 4, 6)], ["1.500", "3", "semaphore", "queue.c:40", "queue.c:7"])
        self.assertEqual(cells[7 + 5 : 7 + 7], ["", ""])
        self.one("#wakes .tree-row .link").click()
        self.assertEqual(self.run_script("return blame.report.tree.selected.row"), 1)

    def test_a_page_without_wakes_has_no_such_section(self):
        self.open(small())
        self.assertEqual(self.texts("#wakes"), [])

    def test_waits_explain_what_ran_meanwhile(self):
        data = beside_others()
        no_core = len(data["rows"]["name"]) - 1
        data["strings"].append("region end")
        places = {"columns": ["place_kind", "place_function", "place_file", "place_line", "place_call"], "rows": [[len(data["strings"]) - 1, 0, 0, 0, 0]]}
        data["waits"] = {"places": places, "pairs": {"place": [0], "row": [no_core], "us": [5]}}
        self.open(data)
        self.assertIn("the thread of the row above had no core", self.one("#waits .link").get_attribute("title"))


class Source(PageTest):
    def show(self, row):
        self.run_script("blame.report.selectRow(arguments[0], false)", row)
        self.settle()
        return self.one(".source").text

    def test_what_is_no_code_shows_the_code_above(self):
        data = beside_others()
        data["sources"] = [{"file": data["strings"].index("/src/app.c"), "first": 1, "lines": ["int main(void)"]}]
        data["sources_wanted"] = True
        self.open(data)
        self.assertIn("int main(void)", self.show(2))
        self.assertEqual(self.one(".source-line.target .source-number").text, "1")

    def test_lines_and_their_cost_and_what_is_missing(self):
        data = small()
        data["sources_changed"] = [data["sources"][0]["file"]]
        self.open(data, "#metric=work")
        self.assertIn("lines may not match", self.show(2))
        lines = self.run_script(
            """return [...document.querySelectorAll(".source-line:not(.source-head)")].map((line) =>
            [...line.querySelectorAll("span, code")].map((of) => of.textContent.trim()))"""
        )
        self.assertEqual({line[0]: line[1] for line in lines if line[1]}, {"12": "0.045", "13": "0.015", "14": "0.020"})
        target = self.one(".source-line.target")
        self.assertEqual(
            [span.text for span in target.find_elements("css selector", "span")][:3], ["12", "0.045", "0.045"]
        )
        self.assertEqual(target.find_element("css selector", "code").text.strip(), "line 12;")
        self.assertIn("/src/gone.c could not be shown: No such file or directory", self.show(5))
        self.assertIn("does not contain line 3", self.show(1))
        self.assertIn("Select a row", self.show(0))
        data["sources_wanted"], data["sources"] = False, []
        self.open(data)
        self.assertIn("--no-source", self.show(2))


class Places(PageTest):
    def test_the_address_keeps_the_place(self):
        self.open(small())
        self.one("[data-value=flat]").click()
        kept = {"metric": "work", "unit": "percent", "zoom": "2", "q": "help", "sort": "name:up"}
        self.set(**kept)
        self.run_script("blame.report.tree.select(blame.report.view().root.children[2])")
        place, at = self.run_script("return [location.hash, blame.report.state.at]")
        self.open(small(), place)
        for name, value in {**kept, "view": "flat", "at": at}.items():
            self.assertEqual(self.run_script("return blame.report.state[arguments[0]]", name), value, name)
        self.assertTrue(self.selected())

    def test_a_place_that_is_not_there(self):
        self.open(small(), "#view=none&metric=x&zoom=99&sort=%00&unit=%")
        for place in ("", "#at=7.8.9&zoom=-1", "#" + "q=%28" * 9, "#%"):
            if place:
                self.run_script("location.hash = arguments[0]", place)
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
        self.assertNotIn("%", self.all(".finding")[1].text)
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

    law = {"law": "a = b", "left": 0.9, "right": 1.0, "residual": -0.1, "relative": -0.1, "exact": False, "ok": False,
           "explained_by": "no core"}

    def notes(self, header=(), **more):
        data = small(**more)
        data["header"].update(header)
        self.open(data)
        return [note.text for note in self.all(".notes li")]

    def test_nothing_to_say(self):
        law = self.law | {"left": 1.0, "right": 1.01, "residual": -0.01, "relative": -0.01}
        run = {"samples": {"delivered": 10, "dropped": {"stopping": 3}}, "conservation": {"thread_time": law}}
        self.assertEqual(self.notes(run=run | {"rate_least": 200.0}), [])

    def test_all_that_can_be_said(self):
        run = {"samples": {"delivered": 5000, "dropped": {"in tool": 12}}, "truncated_paths": 3, "unresolved_s": 0.5}
        law = self.law | {"left": 0.7, "residual": -0.3, "relative": -0.3}
        run |= {"rate_least": 50.0, "conservation": {"busy_time": law}}
        left = {"rows": 900000, "total": 1000000, "percent": 0.0042, "asked": False}
        notes = self.notes({"finished": False}, run=run, left_out=left)
        self.assertIn("did not end normally", notes.pop(0))
        self.assertEqual(
            sorted(notes),
            [
                "900\u2009000 of 1\u2009000\u2009000 rows, each below 0.0042 % of every metric, "
                "are combined in rows “(small)”. All totals are complete.",
                "A conservation law is off by 30.0 % (busy_time: 0.70 against 1.00, because of no core). See “Run” below.",
                "Each thread was sampled only 50 times per second, because there were many threads for each core.",
                "Lost: 12 of 5\u2009000 samples (in tool), the callers of 0.500 s (<unresolved>), "
                "the callers of 3 samples (<truncated>).",
            ],
        )

    def test_much_of_the_time_is_missing(self):
        law = self.law | {"left": 0.2, "residual": -0.8, "relative": -0.8}
        self.assertIn("Only 20 % of the threads' time", self.notes(run={"conservation": {"thread_time": law}})[0])

    def test_what_sampling_explains_does_not_unbalance_the_books(self):
        for holds in (True, False):
            run = {"conservation": {"shared_idle": self.law | {"ok": holds}}, "rate_least": 1000}
            self.assertEqual(len(self.notes({"rate": 1000, "threads": 2}, run=run)), 0 if holds else 1)
