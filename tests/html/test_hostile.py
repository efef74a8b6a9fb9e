"""Names, places and sources that look like markup or code, and data that is not what it should be."""

import page_data
from browser import PageTest

NAMES = [
    "</script><script>window.hurt = 1</script>",
    "<img src=x onerror='window.hurt = 2'>",
    "<svg/onload=window.hurt=3>",
    "\"'><b onmouseover=window.hurt=4>",
    "javascript:window.hurt=5",
    "<!--",
    "]]>",
    "--></style><style>*{display:none}",
    "&lt;b&gt;&amp;&#x3c;",
    "operator<<",
    "operator\"\"_s",
    "std::map<std::string, std::vector<int>>::operator[](std::string&&) const &",
    "${window.hurt = 6}",
    "{{constructor.constructor('window.hurt=7')()}}",
    "__proto__",
    "constructor",
    "toString",
    "",
    " ",
    "\u202eelif_live\u202c",
    "line\nbreak\ttab\x07bell\x1b[31m",
    "a\u0301\u0302\u0303" * 30,
    "日本語の関数名",
    "🧵" * 20,
    "x" * 20000,
    "\ufeff\u2028\u2029",
    "\ud7ff\ue000\ufffd",
    "C:\\src\\app.c",
    "%s%n%00",
    "../../etc/passwd",
]


def hostile_rows():
    """Each name calls the next, and has a line."""
    rows, own = page_data.Rows(), {"work": 1000, "idleness": 500}
    rows.add(-1, "root", NAMES[0], inclusive={metric: value * len(NAMES) for metric, value in own.items()})
    parent = 0
    for i, name in enumerate(NAMES):
        left = {metric: value * (len(NAMES) - i) for metric, value in own.items()}
        parent = rows.add(parent, "procedure", name, name, f"/{name}", 1, 7, left, own, note=name)
        rows.add(parent, "statement", f"{name}:1", name, f"/{name}", 1, 0, own, own)
    return rows


def hostile_tables(text):
    """Every text beside the rows; text: the number of one that the rows have, too."""
    lock = {"lock": "0x1", "kind": NAMES[1], "symbol": NAMES[1], "wait": 0.5, "acquisitions_contended": 3}
    lock |= {"blamed_contexts": 1, "name": NAMES[1], "longest_wait": 0.1, "initialiser": NAMES[3], "initialisers": 1}
    lock |= {"holder": NAMES[0], "holder_wait": 0.5, "holder_id": 1, "waiter": NAMES[2], "waiter_wait": 0.5}
    place = {"place_kind": text(NAMES[1]), "place_function": text(NAMES[0]), "place_file": text(NAMES[2])}
    place |= {"place_line": 3, "in_region": 1, "seconds": 0.5}
    finding = {name: NAMES[i] for i, name in enumerate(("rule", "title", "evidence", "advice", "place"))}
    thread = {"thread": 0, "kind": NAMES[1], "begin_s": 0, "end_s": 1, "samples": 5, "work": 1}
    return {
        "locks": {"columns": [*lock, "waiter_id"], "rows": [[*lock.values(), 2]]},
        "waits": {
            "places": {"columns": list(place), "rows": [list(place.values())]},
            "pairs": {"place": [0, 0], "row": [1, -1], "us": [5, 6]},
        },
        "findings": [finding | {"row": 3, "metric": "work", "seconds": 1, "share": 5, "gain_s": 0}],
        "threads": [thread | {"idle": 0, "overhead": 0, "lock_wait": 0, "parked": 0}],
        "run": {
            "command": NAMES[0],
            "options": {NAMES[1]: NAMES[2]},
            "modules": [{"path": NAMES[1], "build_id": NAMES[0], "load_bias": NAMES[2]}],
            "samples": {"delivered": 5, "dropped": {NAMES[1]: 2}},
        },
    }


def hostile():
    rows = hostile_rows()
    data = rows.data(
        title=NAMES[0],
        **hostile_tables(rows.text),
        sources=[{"file": rows.text(f"/{name}"), "first": 1, "lines": NAMES} for name in NAMES[:4]],
        sources_missing=[{"file": rows.text(f"/{NAMES[5]}"), "why": NAMES[1]}],
    )
    data["header"].update(command=NAMES[0], host=NAMES[1], version=NAMES[2], environment=NAMES[3])
    return data


class Hostile(PageTest):
    def check_unhurt(self):
        self.settle()
        self.assertIsNone(self.run_script("return window.hurt ?? null"))
        self.assertEqual(
            self.run_script("return document.querySelectorAll('img, svg, b, script:not(body > script)').length"), 0
        )
        self.assertEqual(len(self.all("style")), 1)

    def test_names_are_shown_and_stay_text(self):
        self.open(hostile())
        self.assertIn(NAMES[0], self.one("h1").text)
        names = {row["name"] for row in self.run_script("return blame.rows('top-down')")}
        for name in NAMES:
            if "\n" not in name and "\u202e" not in name and "\u2028" not in name:
                self.assertIn(name, names)
        self.assertIn("\ufffdelif_live\ufffd", names)
        self.run_script(
            """const { report } = blame;
            for (let row = 0; row < report.model.count; row++) {
                report.selectRow(row, false);
                report.flame.tip.show(row, 50, 50);
            }
            for (const title of document.querySelectorAll('details')) title.open = true"""
        )
        for view in ("top-down", "bottom-up", "flat"):
            self.run_script("blame.report.changeView(arguments[0])", view)
            self.open_all()
            self.check_unhurt()
        self.allowed_messages = ("Content Security Policy",)  # the second wall: what did get in neither runs nor loads
        self.run_script(
            """document.body.insertAdjacentHTML("beforeend", "<img src='https://example.invalid/x' onerror='window.hurt = 9'>");
            const script = document.createElement("script"); script.textContent = "window.hurt = 10"; document.body.append(script);"""
        )
        self.settle()
        self.assertIsNone(self.run_script("return window.hurt ?? null"))

    def test_an_address_stays_text(self):
        self.open(
            hostile(),
            "#q=%3Cimg%20src%3Dx%20onerror%3D%22window.hurt%3D8%22%3E&view=%3Cscript%3E&at=__proto__.constructor&metric=__proto__",
        )
        self.check_unhurt()


class Broken(PageTest):
    """What cannot be shown is said in one line."""

    def message(self, text):
        self.open_text(text)
        return self.one("[role=alert]").text

    def test_other_data(self):
        whole = page_data.fill(self.template, page_data.many_rows(20))
        begin = whole.index("<script type=")
        end = whole.index("</script>", begin)
        null = '<script type="application/json" id="blame-data">null</script>'
        for text, page in {
            "contains no data": self.template,
            "may be incomplete": whole[: begin + (end - begin) // 2] + whole[end:],
            "not a report": self.template.replace(page_data.MARK, null),
        }.items():
            self.assertIn(text, self.message(page))
        cases = {
            "format 2": lambda data: data.update(format=2),
            "no rows": lambda data: data["rows"].update(count=0),
            "20 rows": lambda data: data["rows"]["name"].pop(),
            "“work”": lambda data: data["rows"]["i"]["work"].pop(),
            "Row 3 of": lambda data: data["rows"]["parent"].__setitem__(3, 7),
            "cannot be shown": lambda data: data.pop("strings"),
        }
        self.allowed_messages = ("Uncaught TypeError",)
        for text, change in cases.items():
            data = page_data.many_rows(20)
            change(data)
            self.assertIn(text, self.message(page_data.fill(self.template, data)), text)

    def test_a_profile_of_one_row(self):
        rows = page_data.Rows()
        rows.add(-1, "root", "<program root>")
        self.open(rows.data())
        for view in ("top-down", "bottom-up", "flat"):
            self.one(f"[data-value={view}]").click()
            self.assertEqual(self.names(), ["<program root>"], view)
        self.run_script("const { tree } = blame.report; tree.hotPath(); tree.openAll(tree.view.root); tree.closeAll()")
        self.assertEqual(self.names(), ["<program root>"])
        self.assertIn("No thread was measured.", self.one("#threads").text)

    def test_a_path_of_5000_calls(self):
        rows, deep = page_data.Rows(), 5000
        sums = {"work": 1000000, "idleness": 500000, "samples": 100}
        rows.add(-1, "root", "<program root>", inclusive=sums)
        for depth in range(deep):
            rows.add(depth, "procedure", "recurse", "m", "/f.c", 1, 3, sums, sums if depth == deep - 1 else {})
        self.open(rows.data())
        self.keys("h")
        self.assertEqual(self.run_script("return blame.report.tree.selected.level"), deep)
        self.run_script("blame.report.flame.zoomTo(4000)")
        self.assertEqual(
            [row["idleness (I)"] for row in self.run_script("return blame.rows('flat')")], [500000, 500000]
        )
        self.one("[data-value=bottom-up]").click()
        self.keys("h")
        self.assertEqual(self.selected(), "recurse")
        address = self.run_script("return location.hash")
        self.one("[data-value=top-down]").click()
        self.assertEqual(self.run_script("return blame.report.tree.selected.row"), deep)
        self.assertLess(len(self.run_script("return location.hash")), 100)
        self.open(rows.data(), address)
        self.assertEqual(self.selected(), "recurse")

    def test_values_beyond_measure(self):
        rows = page_data.Rows()
        huge, negative = {"work": 2**53 - 1, "idleness": 10**15, "samples": 2**40}, {
            "core idleness": -5000000,
            "work": 5,
        }
        rows.add(-1, "root", "<program root>", inclusive=huge)
        rows.add(0, "procedure", "huge", "m", "/f.c", 2**31 - 1, 2**31 - 1, huge, huge)
        rows.add(0, "procedure", "negative", "m", "/f.c", 1, 1, negative, negative)
        self.open(rows.data())
        self.assertEqual(
            [cell.split("\u2009")[0] for cell in self.cells(0)][:2], ["1000000000.010.0", "1000000000.010.0"]
        )
        self.set(metric="core idleness")
        self.assertTrue(any(cell.startswith("-5.0") for cell in self.cells(0)), self.cells(0))
