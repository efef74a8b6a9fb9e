"""Runs the behaviour tests, each once and some side by side (none of them asserts how long things take), and ends with a
line `N passed, N failed, N skipped`.

    python3 tests/behaviour/run.py [--without-tool] [--list] [-j N] [FOLDER ...] [-k TEXT ...]

--without-tool  only the tests that need neither libblame.so nor blame
-j N            so many side by side; default: three for two cores, as many tests wait
-k TEXT         only tests whose name contains one of the texts
FOLDER          where test_*.py are looked for; default: tests/behaviour. tests/debian is another
BUILD           (environment) where the test programs were built; default: build
BLAME_TEST_LIBRARY, BLAME_TEST_COMMAND (environment) another libblame.so and blame than those of $BUILD
BLAME_TEST_KEEP (environment) a directory in which the tests' working directories are kept"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import unittest
from concurrent.futures import ProcessPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import harness  # noqa: E402  (found through the path set above)


def cpu_seconds():
    """Of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Result(unittest.TestResult):
    """Of one batch: batches run side by side, and each prints its own lines."""

    def __init__(self):
        super().__init__()
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.begin = self.begin_cpu = 0.0
        self.broken = False

    def line(self, word, test, more=""):
        wall, cpu = time.monotonic() - self.begin, cpu_seconds() - self.begin_cpu
        print(f"{word:8}{wall:6.1f} s, CPU {cpu:5.1f} s  {test.id()}{more}\n", end="", flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.begin, self.begin_cpu, self.broken = time.monotonic(), cpu_seconds(), False

    def addSuccess(self, test):
        super().addSuccess(test)
        if not self.broken:
            self.counts["passed"] += 1
            self.line("passed", test)

    def fail(self, test, error):
        if not self.broken:
            self.counts["failed"] += 1
        self.broken = True
        self.line("FAILED", test, "\n    " + self._exc_info_to_string(error, test).rstrip().replace("\n", "\n    "))

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
    parser.add_argument("--without-tool", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-j", type=int, default=max(2, 3 * len(os.sched_getaffinity(0)) // 2))
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("folders", nargs="*", default=[HERE])
    return parser.parse_args()


def in_batches(tests):
    """What may run side by side: a test by itself, or the tests of a class that share something."""
    shared = {}
    for test in tests:
        kind = type(test)
        if getattr(kind, "together", False):
            shared.setdefault(kind, []).append(test)
    yield from shared.values()  # they take longest
    for test in tests:
        if type(test) not in shared:
            yield [test]


batches = []


def run_batch(number):
    """In a process of its own: a file that one test writes is not open in what another one starts at that moment."""
    result = Result()
    unittest.TestSuite(batches[number]).run(result)
    return result.counts


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
    batches.extend(in_batches(tests))
    with tempfile.TemporaryDirectory(prefix="blame-runs-") as shared:
        harness.SHARED = harness.KEEP or shared
        with ProcessPoolExecutor(options.j, multiprocessing.get_context("fork")) as pool:
            alone = {number for number, batch in enumerate(batches) if getattr(type(batch[0]), "alone", False)}
            counts = list(pool.map(run_batch, sorted(set(range(len(batches))) - alone)))
            counts += [pool.submit(run_batch, number).result() for number in sorted(alone)]
    total = {word: sum(each[word] for each in counts) for word in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {word}" for word, count in total.items()))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
