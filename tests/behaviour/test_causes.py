"""The causes of lost time that no other load on the machine can hide have their finding, at the program's own line
(tests/programs/causes.c). All of them, each with its finding and no other, in exact figures and on 2, 4 and 16 threads:
tests/unit/test_findings_causes.c.

    python3 tests/behaviour/test_causes.py [DOCUMENT]    the table of tests/behaviour/causes.md, printed or put there; needs
                                                         `make unit`; on a quiet machine"""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections import namedtuple

from harness import BLAME, BUILD, BlameTest, execute, program

TABLE = re.compile(r"(?<=<!-- made by tests/behaviour/test_causes.py -->\n).*?(?=<!-- end -->)", re.DOTALL)
SURE = ("serial", "start-up", "unequal 1:8", "critical", "held long")

Cause = namedtuple("Cause", "name rule place words")


def read_causes():
    run = execute([program("causes"), "list"], dict(os.environ), None)
    return [Cause(*line.split("\t")) for line in run.stdout.splitlines()]


class Found:
    """What was found in one run, and what is known of the run besides."""

    def __init__(self, test, cause, threads, name="causes"):
        how = "library" if cause.rule == "start-up" else "launcher"
        self.run = test.attached([program(name), cause.name, str(threads)], {"BLAME_RATE": "5000", "BLAME_SUMMARY": "1"}, how)
        test.assertEqual(self.run.status, 0, self.run)
        directory = os.path.join(self.run.folder, "profile")
        shown = test.plain([BLAME, "report", directory, "--view", "findings", "--format", "csv"])
        self.rows = list(csv.DictReader(io.StringIO(shown.stdout)))
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            facts = json.load(file)
        self.cause = cause
        self.crowded = facts["threads_max"] > facts["cores"]

    def is_expected(self, row):
        cause = self.cause
        tiny = cause.rule == "fine"
        if (tiny and row["rule"] == "nobody-busy") or (cause.rule == "narrow" and row["rule"] == "oversubscribed"):
            return self.crowded  # threads without a core pass pieces to each other even slower; more would not help
        return (row["rule"] == cause.rule or (tiny and row["rule"] == "both")) and \
            row["place"].startswith(cause.place) and cause.words in row["title"] + row["advice"]


class Causes(BlameTest):
    alone = True

    def test_causes_have_their_findings(self):
        for cause in read_causes():
            for name in ("causes", "causes_gcc")[:1 if cause.rule == "start-up" else 2]:
                if cause.name in SURE:
                    with self.subTest(cause=cause.name, name=name):
                        found = Found(self, cause, 2, name)
                        titles = [row["title"] for row in found.rows if found.is_expected(row)]
                        self.assertTrue(titles or self.without_cores(found.rows), f"{found.rows}\n{found.run}")
                        if titles and titles[0] in [row["title"] for row in found.rows[:3]]:  # as many as a summary shows
                            self.assertIn(titles[0], " ".join(found.run.stderr.split()))  # whatever lines it takes


def told(found):
    """The rule that was expected and found, else what was; in brackets what was found besides."""
    expected = sorted(filter(found.is_expected, found.rows), key=lambda row: row["rule"] != found.cause.rule)
    first = (expected + found.rows)[:1]
    others = sorted({row["rule"] for row in found.rows if row not in first})
    return (first[0]["rule"] if first else "-") + (f" ({', '.join(others)})" if others else ""), first


def played():
    """By program: what is found in its played profile on 2, 4 and 16 threads."""
    lines = subprocess.run([os.path.join(BUILD, "unit", "test_findings_causes")], check=True, text=True, capture_output=True,
                           env=os.environ | {"BLAME_CAUSES_TABLE": "1"}).stdout.splitlines()
    rules = {}
    for name, expected, rule in (line.split("\t") for line in lines if line.count("\t") == 2):
        rules.setdefault((name, expected), []).append(rule)
    return rules


def make_table():
    test, real = Causes(), {}
    test.setUp()
    try:
        for cause in read_causes():
            found = {threads: told(Found(test, cause, threads)) for threads in (2, 4)}
            place = re.sub(r"  < .*", "", found[2][1][0]["place"]) if found[2][1] else ""
            real[cause.name] = (place, found[2][0], found[4][0])
    finally:
        test.doCleanups()
    lines = ["| program | right | where | 2 threads | 4 threads | played: 2 | 4 | 16 |", "|---|---|---|---|---|---|---|---|"]
    for (name, expected), rules in played().items():
        lines.append("| " + " | ".join([name, expected, *real.get(name, ("", "", "")), *rules]) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    table = make_table()
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            text = file.read()
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(TABLE.sub(lambda _: "\n" + table + "\n", text))
    else:
        sys.stdout.write(table)
