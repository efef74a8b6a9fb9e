"""Runs the behaviour tests one after the other (they are sensitive to timing) and ends with a line
`N passed, N failed, N skipped`.

    python3 tests/behaviour/run.py [--report FILE] [--runs FILE] [--without-tool] [--list] [FOLDER ...] [-k TEXT ...]

--report FILE   expected, measured and error of every analytic case, as CSV, and printed
--runs FILE     samples delivered, recorded and dropped, and the residual of the time law, of every run, as CSV
--without-tool  only the tests that need neither libblame.so nor blame
-k TEXT         only tests whose name contains one of the texts
FOLDER          where test_*.py are looked for; default: tests/behaviour. tests/debian is another
BUILD           (environment) where the test programs were built; default: build
BLAME_TEST_LIBRARY, BLAME_TEST_COMMAND (environment) another libblame.so and blame than those of $BUILD
BLAME_TEST_KEEP (environment) a directory in which the tests' working directories are kept"""

import argparse
import os
import re
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import expectations  # noqa: E402  (found through the path set above)
import harness  # noqa: E402


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.begin = 0.0
        self.broken = False
        self.measured = []  # tests whose numbers were off: whatever else fails is not the machine's noise

    def line(self, word, test, more=""):
        print(f"{word:8}{time.monotonic() - self.begin:6.1f} s  {test.id()}{more}", flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.begin, self.broken = time.monotonic(), False

    def addSuccess(self, test):
        super().addSuccess(test)
        if not self.broken:
            self.counts["passed"] += 1
            self.line("passed", test)

    def fail(self, test, error):
        if not self.broken:
            self.counts["failed"] += 1
        self.broken = True
        text = self._exc_info_to_string(error, test).rstrip()
        case = getattr(test, "test_case", test)
        if re.search("measured|conservation law|check_sampled_laws|only one mode has", text) and case not in self.measured:
            self.measured.append(case)
        self.line("FAILED", test, "\n    " + text.replace("\n", "\n    "))

    def addFailure(self, test, err):
        self.fail(test, err)

    def addError(self, test, err):
        self.fail(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.fail(subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if not self.broken:
            self.counts["skipped"] += 1
            self.line("skipped", test, f": {reason}")


ROUNDS = 3
STOLEN_S = 0.02  # two ticks: a thread without its core for so long is a number that is off


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def find_tests(folders):
    for folder in folders:
        sys.path.insert(0, os.path.abspath(folder))
        yield from flatten(unittest.TestLoader().discover(folder, top_level_dir=os.path.abspath(folder)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report")
    parser.add_argument("--runs")
    parser.add_argument("--without-tool", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("folders", nargs="*", default=[HERE])
    return parser.parse_args()


def run_again(result):
    """Numbers that are off once may be the machine's noise; twice they are ours, unless a hypervisor took processors away
    in the second round: then there is another one."""
    measured = result.measured
    for _ in range(ROUNDS):
        again = [type(test)(test._testMethodName) for test in measured]
        if not again:
            return
        print(f"again: {len(again)} whose numbers were off", flush=True)
        stolen_s, second = harness.stolen_s(), Result()
        unittest.TestSuite(again).run(second)
        result.counts["failed"] -= second.counts["passed"]
        result.counts["passed"] += second.counts["passed"]
        stolen_s = harness.stolen_s() - stolen_s
        if stolen_s < STOLEN_S:
            return
        print(f"the hypervisor took {stolen_s:.2f} s of that", flush=True)
        measured = second.measured


def main():
    options = arguments()
    tests = [test for test in find_tests(options.folders)
             if not options.k or any(text in test.id() for text in options.k)]
    if options.list:
        print("\n".join(test.id() for test in tests))
        return 0
    if options.without_tool:
        tests = [test for test in tests if not getattr(test, "needs_tool", False)]
    elif any(getattr(test, "needs_tool", False) for test in tests):
        for path in (harness.LIBRARY, harness.BLAME):
            if not os.path.isfile(path):
                sys.exit(f"{path} is missing: run make first, or give --without-tool")
    if not tests:
        sys.exit("no test has such a name")
    result = Result()
    unittest.TestSuite(tests).run(result)
    run_again(result)
    if options.report:
        expectations.write_report(options.report, harness.analytic_rows, expectations.REPORT_COLUMNS)
        expectations.print_report(harness.analytic_rows, expectations.REPORT_COLUMNS, sys.stdout)
    if options.runs:
        expectations.write_report(options.runs, harness.run_rows, harness.RUN_COLUMNS)
    print(", ".join(f"{count} {word}" for word, count in result.counts.items()))
    return 1 if result.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
