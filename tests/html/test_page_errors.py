"""How far sampling can have put the numbers of a page off: where the page says it, and what it says."""

from browser import PageTest
from test_page import small

FIGURES = {"few": 5e7, "each": 5000, "own": 0, "beside": 0, "all": 400, "rains": 0, "ends": 1, "together": 1.333333333}


def with_errors(**more):
    """Two threads, 200 samples/s, for a second. Of 80 ms of work in slow, 95 % are within 1.96 * sqrt(5e7 + 5000 * 80000) us."""
    of = {"work": FIGURES, "idleness": {**FIGURES, "beside": 4000}, "blame": {**FIGURES, "few": 2e8, "each": 10000},
          "core idleness": {**FIGURES, "own": 4000}}
    data = small(error={"deviations": 1.96, "of": of}, **more)
    for part in "ie":
        data["rows"][part]["core idleness"] = [-value for value in data["rows"][part]["idleness"]]
        data["rows"][part]["own"] = data["rows"][part]["work"]
        data["rows"][part]["beside"] = [value / 2 for value in data["rows"][part]["idleness"]]
    return data


class Errors(PageTest):
    """How far sampling can have put a number off."""

    page = staticmethod(with_errors)

    def errors_button(self):
        return self.run_script(
            "return [...document.querySelectorAll('button.tool')].find((of) => of.textContent.includes('±'))"
        )

    def test_pointer_on_a_number(self):
        self.set(metric="work")
        titles = lambda column: self.tree("row.numbers[arguments[0]].title", column)  # noqa: E731
        self.assertEqual(titles(0)[1:3], ["0.100 s ± 0.046 (95\u2009%)", "0.080 s ± 0.042 (95\u2009%)"])
        self.set(unit="percent")
        self.assertEqual(titles(0)[2], "0.080 s ± 0.042 (95\u2009%)")
        self.assertEqual(titles(self.column("overhead"))[1], "")  # there is none
        self.assertEqual(titles(self.column("samples"))[1], "")  # here not said of samples

    def column(self, title):
        return self.texts(".tree-head [role=columnheader]").index(title) - 1

    def test_whiskers_reach_from_the_least_to_the_most(self):
        self.set(metric="work")
        bars = self.tree(
            """[row.numbers[0].classList.contains("whisker"),
            ...["--low", "--share", "--high"].map((name) => Number(row.numbers[0].style.getPropertyValue(name)))]"""
        )
        self.assertEqual(bars[0], bars[1])  # the root is main
        drawn, low, share, high = bars[2]
        self.assertTrue(drawn)
        for of, due in ((low, 0.8 - 0.416), (share, 0.8), (high, 1)):
            self.assertAlmostEqual(of, due, delta=0.001)
        pixels = self.tree("getComputedStyle(row.numbers[0], '::after').width")
        wide = self.tree("row.numbers[0].clientWidth")
        self.assertAlmostEqual(float(pixels[2][:-2]), wide[2] * (high - low), delta=1)
        self.set(metric="samples")
        self.assertFalse(any(self.tree("row.numbers[0].classList.contains('whisker')")))

    def test_columns_that_keyboard_and_screen_readers_reach(self):
        titles = lambda: self.texts(".tree-head [role=columnheader]")  # noqa: E731
        before = titles()
        button = self.errors_button()
        self.run_script("arguments[0].focus()", button)
        self.keys("ENTER")
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        self.assertEqual([title for title in titles() if title != "±"], before)
        self.assertEqual(titles().count("±"), before.count("itself") + before.count("work") + before.count("idleness"))
        self.set(metric="work")
        self.assertEqual(titles()[1:5], ["work", "±", "itself", "±"])
        self.assertEqual(self.cells(1)[1:3], ["0.046", "0.042"])
        self.assertEqual(self.cells(3)[2], "0.037")  # of the row itself
        self.set(unit="percent")
        self.assertEqual(self.cells(1)[2], "27.7")
        self.assertIn("± 0.042", self.tip(2))
        self.keys("SPACE")
        self.assertEqual(titles().count("±"), 0)

    def tip(self, row):
        self.run_script("blame.report.tip.show(arguments[0], 10, 10)", row)
        return self.one(".tip").text

    def test_what_the_icicle_says(self):
        self.set(metric="work")
        self.run_script("arguments[0].focus()", self.one(".flame-canvas"))
        self.keys("HOME", "ARROW_DOWN", "ARROW_DOWN")
        self.assertIn("work 0.080 s ± 0.042 (95\u2009%), 53.3 percent", self.texts("#flame-says")[0])

    def test_sums_of_other_views_have_the_error_of_the_sum(self):
        rows = {(row["depth"], row["name"]): row for row in self.run_script("return blame.rows('flat')")}
        helper = rows[1, "helper"]  # 20 and 6 ms
        self.assertAlmostEqual(helper["work (I) ±"], 1.96 * (5e7 + 5000 * 26000) ** 0.5, delta=1e-6)
        self.assertAlmostEqual(
            helper["core idleness (I) ±"], 1.96 * (5e7 + 5000 * -13000 + 4000 * 26000) ** 0.5, delta=1e-6
        )
        self.assertAlmostEqual(
            helper["idleness (I) ±"], 1.96 * (5e7 * 0.6 + 5000 * 13000 - 4000 * 6500) ** 0.5, delta=1e-6
        )
        self.assertIsNone(helper["lock wait (I) ±"])
        whole = self.run_script("return blame.report.model.error('work', 1.9e6)")  # nearly always
        self.assertAlmostEqual(whole, 1.96 * (5e7 + 5000 * 1.9e6 * 1.333333333 * 0.05) ** 0.5, delta=1e-6)

    def test_other_numbers_have_it_too(self):
        finding = {"rule": "serial", "row": 2, "metric": "work", "seconds": 0.08, "error": 0.0416, "share": 6.7,
                   "gain_s": 0, "title": "a title", "evidence": "", "advice": "", "place": ""}
        thread = {"thread": 0, "kind": "initial", "begin_s": 0, "end_s": 1, "samples": 9, "work": 0.08, "idle": 0.01,
                  "overhead": 0, "lock_wait": 0, "parked": 0}
        self.open(with_errors(findings=[finding], threads=[thread]), "#metric=work&at=2")
        self.assertIn("0.10 s ± 0.05", self.texts(".share-seconds"))
        self.assertIn("0.08 s ± 0.04 of work", self.one(".finding-facts").text)
        self.assertIn("0.045 s ± 0.033 (95\u2009%)", self.source_titles())
        cells = self.run_script("return [...document.querySelectorAll('#threads .cell.number')].map((cell) => cell.title)")
        self.assertEqual([title for title in cells if title], ["0.080 s ± 0.042 (95\u2009%)", "0.010 s ± 0.020 (95\u2009%)"])

    def source_titles(self):
        self.settle()
        return self.run_script("return [...document.querySelectorAll('.source-value[title]')].map((of) => of.title)")

    def test_samples_of_a_row_that_come_together(self):
        data = with_errors()
        for part in "ie":
            data["rows"][part]["beyond work"] = [-3e8 if value == 80000 else 0 for value in data["rows"][part]["work"]]
        self.open(data)
        error = self.run_script("return blame.rows('top-down').find((row) => row['work (I)'] === 80000)['work (I) ±']")
        self.assertAlmostEqual(error, 1.96 * (5e7 + 1.333333333 * 1e8) ** 0.5, delta=1e-6)

    def test_a_report_without_errors_has_none(self):
        self.open(small())
        self.assertIsNone(self.errors_button())
        self.assertFalse(any(self.tree("row.numbers[0].title || row.numbers[0].classList.contains('whisker')")))
        self.assertNotIn("±", self.tip(2))
        self.assertNotIn("±", self.one(".shares").text)
