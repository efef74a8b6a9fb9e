"""speedscope itself, in a browser, imports what is exported for it: its published schema, and the totals it shows."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import readers  # noqa: E402  (found through the path set above)
from blame_profile import Tree  # noqa: E402
from harness import BUILD, BlameTest  # noqa: E402
from readers import METRICS  # noqa: E402

UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|_CERT|CERT_|UNABLE_TO_VERIFY"
)
UNIT_NS = {"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
WRITTEN, SHOWN = ("names", "deep", "one"), ("names", "deep", "random")  # of what make_exports makes


def install():
    """speedscope's release, by the checked-in lock file; None when npm's registry is out of reach."""
    folder = os.path.join(BUILD, "export-tests", "npm")
    release = os.path.join(folder, "node_modules", "speedscope", "dist", "release")
    if os.path.exists(os.path.join(release, "index.html")):
        return release
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), folder)
    run = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"], cwd=folder,
                         capture_output=True, text=True, timeout=180)
    if run.returncode != 0 and UNREACHABLE.search(run.stderr):
        return None
    if run.returncode != 0:
        raise AssertionError(f"npm ci: {run.stderr}")
    return release


class Speedscope(BlameTest):
    together = True
    release = None

    @classmethod
    def setUpClass(cls):
        cls.release = install()

    def setUp(self):
        super().setUp()
        if self.release is None:
            self.skipTest("NOT CHECKED: npm's registry is out of reach, speedscope cannot be had")

    def made(self, kind):
        folder = self.new_folder()
        subprocess.run([os.path.join(BUILD, "export-tests", "make_exports"), kind, folder], check=True)
        return folder

    def page_with(self, path):
        """speedscope's page after it has loaded a file, as its own command line does it; and its console."""
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode()
        script = os.path.join(self.new_folder(), "profile.js")
        with open(script, "w", encoding="ascii") as file:
            file.write(f'speedscope.loadFileFromBase64("profile.json", {json.dumps(data)})')
        run = subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--use-angle=swiftshader",
                              "--enable-unsafe-swiftshader", "--allow-file-access-from-files", "--dump-dom",
                              "--virtual-time-budget=10000", "--enable-logging=stderr",
                              f"--user-data-dir={self.new_folder()}",
                              f"file://{self.release}/index.html#localProfilePath={script}"],
                             capture_output=True, text=True, timeout=120)
        return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]

    def test_its_schema_is_kept(self):
        import jsonschema
        schema = readers.load(os.path.join(self.release, "file-format-schema.json"))
        for kind in WRITTEN:
            with self.subTest(kind=kind):
                jsonschema.validate(readers.load(os.path.join(self.made(kind), "all.speedscope.json")), schema)

    def test_it_shows_the_totals_of_all_metrics(self):
        for kind in SHOWN:
            with self.subTest(kind=kind):
                folder = self.made(kind)
                with open(os.path.join(folder, "profile.csv"), encoding="utf-8", newline="") as file:
                    root = Tree(file.read()).root
                page, console = self.page_with(os.path.join(folder, "all.speedscope.json"))
                self.assertTrue(any("Importing as speedscope json file" in line for line in console), console)
                self.assertEqual([line for line in console if ":ERROR:" in line or "rror:" in line], [])
                shown = dict(re.findall(r'<tr title="([a-z-]+)".*?</span></td><td[^>]*>([^<]*)</td></tr>', page))
                self.assertEqual(set(shown), set(METRICS))
                for metric, text in shown.items():
                    minutes, number, unit = re.fullmatch(r"(?:(\d+):)?([\d.,]+)(\D*)", text).groups()
                    value = float(number.replace(",", "")) * UNIT_NS["s" if minutes else unit]
                    value += 60e9 * int(minutes or 0)
                    wanted = root[f"{METRICS[metric]} (I)"] * readers.scale(metric)
                    self.assertLessEqual(abs(value - wanted), 1000 + 0.02 * wanted, f"{metric}: {text}, {wanted}")


if __name__ == "__main__":
    unittest.main()
