"""Measures every construct of constructs.py on every compiler and runtime, and ends with a line `N passed, N failed`.

    python3 tests/coverage/run.py [--table FILE] [--quick] [-j N] [-k TEXT ...] [-c COLUMN ...]

--table FILE  writes the table (tests/coverage/results.md) from what was measured
--quick       clang-19 on the newest libomp and gcc-12 on its libgomp only, and only under the tool
-j N          so many constructs side by side; default: as there are cores. For the table's shares: 1
-k TEXT       only constructs whose key (`program name`) contains one of the texts
-c COLUMN     only these columns
BUILD         (environment) where the programs were built; default: build"""

import argparse
import os
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "behaviour")]

import known  # noqa: E402  (found through the path set above)
import measure  # noqa: E402
import runtimes  # noqa: E402
import table  # noqa: E402
from constructs import CONSTRUCTS  # noqa: E402
from measure import Outcome, Variant  # noqa: E402


MOST_UNSHOWN = 0.5  # of the programs that passed: beside much load many have no waiting that must be seen


def variants(quick):
    yield Variant("clang-19", "")
    yield Variant("gcc-12", "_gcc", how="launcher", libgomp=True)
    if quick:
        return
    yield Variant("flang-19", "_flang", fortran=True)
    yield Variant("gfortran", "_gfortran", how="launcher", fortran=True, libgomp=True)
    yield Variant("gcc on 19", "_gcc", how="launcher")
    yield Variant("gfortran on 19", "_gfortran", how="launcher", fortran=True)
    for compiler, suffix, how in (("clang", "", "library"), ("gcc", "_gcc", "launcher")):
        for version in (14, 16):
            folder, why = runtimes.find(version)
            variant = Variant(f"{compiler} on {version}", suffix, how, runtime=folder)
            variant.missing = f"libomp {version} could not be had: {why}" if why else ""
            yield variant


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("-c", action="append", default=[])
    return parser.parse_args()


def measure_row(construct, columns, quick):
    """What came of it, by column, and how many passed and did not."""
    outcomes, counts = {}, {"passed": 0, "known": 0, "FAILED": 0, "not run": 0, "unshown": 0}
    for variant in columns:
        if variant.fortran and not construct.fortran:
            continue
        begin = time.monotonic()
        outcome = Outcome(skipped=variant.missing) if variant.missing else measure.measure(construct, variant, quick)
        outcomes[variant.column] = outcome
        unshown = outcome.problems and all(problem.startswith(measure.UNSHOWN) for problem in outcome.problems)
        if unshown:
            counts["unshown"] += 1
            print(f"unshown  {construct.key()}, {variant.column}: {outcome.problems[0]}\n", end="", flush=True)
            outcome.problems = []
        word, reason = table.verdict_of(construct, variant.column, outcome)
        counts[word] += 1
        if word == "passed" and not unshown and known.listed(construct.name, variant.column):
            print(f"listed   {construct.key()}, {variant.column}: known.py lists it, but it passed\n", end="", flush=True)
        if word != "passed" or os.environ.get("VERBOSE"):
            more = "".join(f"    {problem}\n" for problem in outcome.problems) if word == "FAILED" else ""
            print(f"{word:8}{time.monotonic() - begin:6.1f} s  {construct.key()}, {variant.column}: {reason}\n{more}", end="",
                  flush=True)
    return outcomes, counts


def main():
    options = arguments()
    columns = [variant for variant in variants(options.quick) if not options.c or variant.column in options.c]
    chosen = [construct for construct in CONSTRUCTS
              if not options.k or any(text in construct.key() for text in options.k)]
    if not chosen or not columns:
        sys.exit("nothing has such a name")
    with ThreadPoolExecutor(options.j) as pool:
        measured = list(pool.map(lambda construct: measure_row(construct, columns, options.quick), chosen))
    counts = {word: sum(each[word] for _, each in measured) for word in measured[0][1]}
    rows = [(construct, outcomes) for construct, (outcomes, _) in zip(chosen, measured)]
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(table.render(rows, [variant.column for variant in columns],
                                    f"Linux {platform.machine()}, {len(os.sched_getaffinity(0))} cores",
                                    runtimes.version_of_newest()))
    if counts["unshown"] > MOST_UNSHOWN * counts["passed"]:
        print(f"FAILED   {counts['unshown']} of {counts['passed']} programs had no waiting to show: give the machine some time")
        counts["FAILED"] += 1
    print(f"{counts['passed']} passed, {counts['FAILED']} failed, {counts['known'] + counts['not run']} skipped")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
