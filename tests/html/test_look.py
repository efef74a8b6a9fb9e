"""What the eye sees: both themes, the widths of screens, paper."""

import base64
import math

import page_data
from browser import PageTest
from test_page import small
from test_page_errors import with_errors

# Text and what it stands on: as readable as WCAG's level AA asks for.
PAIRS = [
    ("--ink", "--paper"),
    ("--ink", "--card"),
    ("--muted", "--paper"),
    ("--muted", "--card"),
    ("--ink", "--selected"),
    ("--muted", "--selected"),
    ("--faint", "--paper"),
    ("--faint", "--card"),
    ("--accent", "--card"),
    ("--match", "--card"),
    ("--warn", "--warn-paper"),
]
METRICS = ["work", "idleness", "overhead", "lock-wait", "no-core", "blocked", "stopped"]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def lab(colour):
    """CIE L*a*b*: distances in it are about as the eye sees them."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))]
    white = (0.9505, 1.0, 1.089)
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (sum(of * part for of, part in zip(row, linear)) / whole for row, whole in zip(rows, white))
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


class Look(PageTest):
    def variables(self, names):
        return self.run_script(
            "const style = getComputedStyle(document.documentElement); return arguments[0].map((name) => style.getPropertyValue(name).trim())",
            list(names),
        )

    def test_text_can_be_read_in_both_themes(self):
        """Those of the system, and those that are chosen."""
        for dark in (False, True):
            self.resize(1440, 1000, dark)
            self.open(small())
            papers = {}
            for theme in ("light", "dark", "auto"):
                self.one(f"[aria-label=Theme] [data-value={theme}]").click()
                papers[theme], = self.variables(["--paper"])
            self.assertNotEqual(papers["light"], papers["dark"])
            self.assertEqual(papers["auto"], papers["dark" if dark else "light"])
            for pair in PAIRS:
                self.assertGreater(contrast(*self.variables(pair)), 4.5, (dark, pair))
            for metric in METRICS:
                self.assertGreater(contrast(*self.variables([f"--metric-{metric}", "--paper"])), 2, (dark, metric))
        names = self.run_script(
            "return [...document.querySelectorAll('button, select, input')].map((of) => of.textContent.trim() || of.getAttribute('aria-label') || of.title)"
        )
        self.assertTrue(names)
        self.assertNotIn("", names)

    def test_a_colour_has_one_meaning(self):
        """States of threads, contexts and kinds of rows never share one, nor one that looks alike; marks in the table have none of them."""
        states = [f"--metric-{of}" for of in (*METRICS, "mpi-wait", "blame")]
        contexts = [f"--category-{of}" for of in (*range(1, 11), "other")]
        self.open(small())
        kinds = [f"--kind-{kind}" for kind in page_data.KINDS if kind not in ("file", "module")]
        for dark in (False, True):
            self.resize(1440, 1000, dark)
            names = states + contexts + kinds
            found = dict(zip(names, map(lab, self.variables(names))))
            for at, name in enumerate(names):
                for other in names[at + 1 :]:
                    self.assertGreater(math.dist(found[name], found[other]), 10, (dark, name, other))
        marks = self.tree("getComputedStyle(row.kind).backgroundColor")
        faint, = self.variables(["--faint"])
        self.assertEqual(set(marks) - {"rgba(0, 0, 0, 0)"}, {f"rgb({', '.join(str(int(faint[at : at + 2], 16)) for at in (1, 3, 5))})"})

    def test_bars_and_whiskers_are_below_the_digits(self):
        for width in (420, 1024, 1440):
            self.resize(width, 900)
            self.open(with_errors())
            for metric in ("work", "idleness"):
                self.set(metric=metric)
                boxes = self.tree("""(() => {
                    const cell = row.numbers[0], range = document.createRange(), foot = cell.getBoundingClientRect().bottom;
                    range.selectNodeContents(cell);
                    const digits = range.getBoundingClientRect();
                    const top = (part) => foot - parseFloat(getComputedStyle(cell, part).bottom) - parseFloat(getComputedStyle(cell, part).height);
                    return [cell.textContent, digits.bottom, top("::before"), cell.classList.contains("whisker") ? top("::after") : null];
                })()""")
                self.assertTrue(any(whisker is not None for *_, whisker in boxes) or metric != "work")
                for text, digits, *tops in boxes:
                    for top in tops:
                        if top is not None:
                            self.assertGreaterEqual(top, digits, (width, metric, text))

    def test_the_columns_of_the_source_fit(self):
        """Numbers are whole, their titles stand above them, and the code begins next to them."""
        for width in (420, 1024, 1440):
            self.resize(width, 900)
            self.open(with_errors())
            self.run_script("blame.report.selectRow(2, false)")
            self.settle()
            lines = self.run_script("""return [...document.querySelectorAll(".source-line")].map((line) => [...line.children].map((of) => {
                const range = document.createRange();
                range.selectNodeContents(of);
                return [of.textContent, of.getBoundingClientRect().left, of.getBoundingClientRect().right, range.getBoundingClientRect().left];
            }))""")
            self.assertGreater(sum(bool(line[1][0]) for line in lines), 2)
            for line in lines:
                for cell in line[:3]:
                    self.assertTrue(not cell[0] or cell[3] >= cell[1], (width, cell))
                self.assertEqual([cell[2] for cell in line[:3]], [cell[2] for cell in lines[0][:3]])
            self.assertLess(lines[1][4][1] - lines[1][0][1], 200, width)

    def test_nothing_is_wider_or_higher_than_it_must_be(self):
        """On a telephone: the page fits, and a law of the books has some lines, not hundreds."""
        law = {"law": "work + overhead + lock wait = busy time of all threads " * 2, "left": 1.0, "right": 1.0, "residual": 0.0, "relative": 0.0,
               "ok": True, "exact": True}
        for width in (420, 1024):
            self.resize(width, 900)
            self.open(small(run={"conservation": {"busy_time": law}}))
            self.assertLessEqual(self.run_script("return document.scrollingElement.scrollWidth"), width)
            self.assertLess(self.run_script("return document.querySelector('#run table').offsetHeight"), 400)
            self.assertEqual(self.run_script("const { scroller } = blame.report.flame; return scroller.scrollHeight - scroller.clientHeight"), 0)

    def test_fits_the_window_and_paper(self):
        """Printed in light colours and in full, up to a limit; the page is as before afterwards."""
        self.resize(1000, 1000, True)
        self.open(page_data.many_rows(3000))
        self.open_all()
        for width in (1000, 1440, 1920):
            self.resize(width, 1000, True)
            self.settle()
            self.settle()
            self.assertLessEqual(self.run_script("return document.scrollingElement.scrollWidth"), width)
            columns = self.run_script(
                """return [...document.querySelectorAll("[role=treegrid] .tree-row, [role=treegrid] .tree-head")]
                .map((row) => row.children[1].getBoundingClientRect().left)"""
            )
            self.assertEqual(len(set(columns)), 1, "columns stand below each other")
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(len(self.all("[role=treegrid] .tree-row")), 150)
        self.assertEqual(self.run_script("return document.documentElement.dataset.theme"), "light")
        self.run_script("dispatchEvent(new Event('afterprint'))")
        self.assertLess(len(self.all("[role=treegrid] .tree-row")), 100)
        self.assertIsNone(self.run_script("return document.documentElement.dataset.theme ?? null"))
        printed = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.assertGreater(printed.count(b"/Type /Page\n"), 1)
