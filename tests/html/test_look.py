"""What the eye sees: both themes, the widths of screens, paper."""

import base64

import page_data
from browser import PageTest
from test_page import small

# Text and what it stands on: as readable as WCAG's level AA asks for.
PAIRS = [
    ("--ink", "--paper"),
    ("--ink", "--card"),
    ("--muted", "--paper"),
    ("--muted", "--card"),
    ("--ink", "--selected"),
    ("--muted", "--selected"),
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
