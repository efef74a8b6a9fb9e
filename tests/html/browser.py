"""Headless Chromium for the tests of report pages, and what all of them ask of a page."""

import functools
import json
import multiprocessing.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "behaviour"))

import page_data  # noqa: E402  (found through the path set above)
from harness import ROOT, TIMEOUT_S  # noqa: E402

TEMPLATE = os.path.join(ROOT, "command", "html", "page", "dist", "page.html")
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1440,1000",
]


class Driver(Service):
    """It chooses its port and says which: one that is looked for before it starts may be another's by then."""

    def start(self):
        self.process = subprocess.Popen([self.path, "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        ports = (re.search(r"on port (\d+)\.$", line) for line in self.process.stdout)
        self.port = int(next(filter(None, ports))[1])


def start_browser():
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(service=Driver(shutil.which("chromedriver")), options=options)
    browser.set_script_timeout(TIMEOUT_S)  # two frames may take long where others have the cores
    return browser


@functools.cache
def own_browser():
    browser = start_browser()
    multiprocessing.util.Finalize(None, browser.quit, exitpriority=1)  # workers do not come to what atexit has
    return browser


class PageTest(unittest.TestCase):
    """The browser is the same for all tests of a process. After each test: nothing in the console, nothing asked of the network."""

    page = None  # the data that is shown when a test begins

    @classmethod
    def setUpClass(cls):
        cls.browser = own_browser()
        cls.folder = tempfile.mkdtemp(prefix="blame-page-")
        with open(TEMPLATE, encoding="utf-8") as file:
            cls.template = file.read()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.allowed_messages = ()
        self.resize(1440, 1000)
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)
        if type(self).page:
            self.open(type(self).page())

    def tearDown(self):
        messages = [
            entry["message"]
            for entry in self.browser.get_log("browser")
            if not any(allowed in entry["message"] for allowed in self.allowed_messages)
        ]
        self.assertEqual(messages, [])
        self.assertEqual(self.foreign_requests(), [])

    def foreign_requests(self):
        """What was asked for besides files and data of the page itself, and was not stopped by the page's policy."""
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        asked = {
            event["params"]["requestId"]: event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        }
        for event in events:
            if event["method"] == "Network.loadingFailed" and event["params"].get("blockedReason") == "csp":
                asked.pop(event["params"]["requestId"], None)
        return [url for url in asked.values() if not url.startswith(("file:", "data:"))]

    def resize(self, width, height, dark=False, media=""):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"media": media, "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]},
        )

    def open_text(self, text, place=""):
        path = os.path.join(self.folder, f"page{time.monotonic_ns()}.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.browser.get(f"file://{path}{place}")

    def open(self, data, place=""):
        """Until it is drawn: some of it is made with the first frames."""
        self.open_text(page_data.fill(self.template, data), place)
        self.settle()

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def keys(self, *keys):
        active = self.browser.switch_to.active_element
        for key in keys:
            active.send_keys(getattr(Keys, key, key))

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def tree(self, what, *arguments):
        """Of each row in the tree as shown, from the top."""
        self.settle()
        return self.run_script(
            f"""return [...document.querySelectorAll(".tree-scroller[role=treegrid] .tree-row")]
            .sort((a, b) => a.index - b.index).map((row) => {what})""",
            *arguments,
        )

    def names(self):
        return self.tree("row.name.textContent")

    def cells(self, column):
        """The numbers of a column."""
        return self.tree("row.numbers[arguments[0]].textContent", column)

    def selected(self):
        self.settle()
        return self.run_script(
            "return blame.report.tree.selected && blame.report.model.name(blame.report.tree.selected.row)"
        )

    def set(self, **state):
        """What the reader looks at, as by the page's own controls."""
        self.run_script("blame.report.state.set(arguments[0])", state)

    def open_all(self):
        self.run_script("blame.report.tree.openAll(blame.report.view().root)")

    def texts(self, selector):
        """Of what is there, seen or not."""
        return self.run_script(
            "return [...document.querySelectorAll(arguments[0])].map((of) => of.textContent)", selector
        )
