"""command/html/page/dist/page.html is what its sources make, byte for byte."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import ROOT

PAGE = os.path.join(ROOT, "command", "html", "page")
TABLES = [os.path.join("command", "rows", "metric_table.h"), os.path.join("docs", "reading-a-report.md")]  # which the build reads, too
MOST_BYTES = 600000


class Build(unittest.TestCase):
    def test_built_again_it_is_the_same(self):
        """npm fetches what package-lock.json names; where it cannot, nothing is said about the bundle."""
        if not shutil.which("npm"):
            self.fail("npm is missing: run scripts/setup.sh")
        with tempfile.TemporaryDirectory(prefix="blame-page-") as above:
            folder = os.path.join(above, "command", "html", "page")
            os.makedirs(folder)
            for table in TABLES:
                os.makedirs(os.path.dirname(os.path.join(above, table)), exist_ok=True)
                shutil.copy(os.path.join(ROOT, table), os.path.join(above, table))
            for name in ("package.json", "package-lock.json", "build.mjs", "metrics.mjs", "explanations.mjs"):
                shutil.copy(os.path.join(PAGE, name), folder)
            shutil.copytree(os.path.join(PAGE, "src"), os.path.join(folder, "src"))
            installed = subprocess.run(
                ["npm", "ci", "--no-audit", "--no-fund", "--fetch-timeout=60000", "--fetch-retries=1"],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            if installed.returncode and re.search(
                r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|network"
                r"|_CERT|CERT_|UNABLE_TO_VERIFY",
                installed.stderr,
            ):
                self.skipTest(
                    "NOT CHECKED: npm cannot reach its registry, so nobody knows whether dist/page.html is what its sources make:\n"
                    + installed.stderr
                )
            self.assertEqual(installed.returncode, 0, installed.stdout + installed.stderr)
            built = os.path.join(folder, "built.html")
            made = subprocess.run(
                ["npm", "run", "--silent", "build", "--", built], cwd=folder, capture_output=True, text=True
            )
            self.assertEqual((made.returncode, made.stderr), (0, ""), made.stdout)
            with open(built, "rb") as new, open(os.path.join(PAGE, "dist", "page.html"), "rb") as old:
                self.assertTrue(
                    new.read() == old.read(),
                    "command/html/page/dist/page.html is another than its sources make: run make html-page",
                )

    def test_one_small_file(self):
        with open(os.path.join(PAGE, "dist", "page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("<!--BLAME-DATA-->"), 1)
        self.assertLess(len(page), MOST_BYTES)
        self.assertEqual(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'`)]*", page), [])
        self.assertEqual(
            re.findall(
                r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|XMLHttpRequest|fetch\(|WebSocket|sendBeacon)",
                page,
            ),
            [],
        )
