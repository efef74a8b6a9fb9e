"""Does the runtime still send what expected.txt says? Each construct of regions.c, tasks.c and fortran.f90 on each compiler, one run
each. And does the simulator play what clang's programs are told? Each scenario of played.txt. Ends with a line `N passed, N failed`.

    python3 tests/events/run.py [-k TEXT] [--repeat N] [--update]

-k TEXT     only constructs whose name contains it
--repeat N  each so often: is the sequence the same in every run?
--update    writes expected.txt from what was recorded: read the difference before it is committed
BUILD       (environment) where the programs were built; default: build"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected.txt")
BIN = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "events")
PROGRAMS = {"regions.c": ("clang", "gcc", "gcc-libgomp"), "tasks.c": ("clang", "gcc", "gcc-libgomp"),
            "fortran.f90": ("flang", "gfortran", "gfortran-libgomp")}
PROVIDED = "-libgomp"  # of a column: GCC's programs on their own runtime, with the provider of layers/gomp/
PLAYED = os.path.join(HERE, "played.txt")
SIMULATOR = os.path.join(os.path.dirname(BIN), "simulator", "simulate")
RECORDER = os.path.join(BIN, "record.so")
PROVIDER = os.path.join(os.path.dirname(BIN), "lib", "libblame-gomp.so")
MOVED = ("gcc", "gfortran")  # find libomp under the name of their own runtime
LIMIT_S = 120
WIDTH = 150
SETTINGS = {"reduction": {"KMP_FORCE_REDUCTION": "tree"}, "cancel_parallel": {"OMP_CANCELLATION": "true"},
            "cancel_taskgroup": {"OMP_CANCELLATION": "true"}}
NAMED = re.compile(r"CONSTRUCT\((\w+)\)|case \('(\w+)'\)")

sys.path.insert(0, HERE)
import sequence  # noqa: E402  (found through the path set above)


class Case:
    def __init__(self, construct, column, program):
        self.construct, self.column, self.program = construct, column, program

    def record(self):
        """The lines of one run."""
        steering = re.compile(r"^(OMP|KMP|GOMP|LD)_")
        environment = {name: value for name, value in os.environ.items() if not steering.match(name)}
        with tempfile.NamedTemporaryFile("r", dir=BIN, encoding="ascii") as file:
            environment |= {"OMP_TOOL_LIBRARIES": RECORDER, "EVENTS_RECORD": file.name, "KMP_WARNINGS": "0"}
            environment |= SETTINGS.get(self.construct, {})
            if self.column in MOVED:
                environment["LD_LIBRARY_PATH"] = os.path.join(BIN, "libgomp")
            if self.column.endswith(PROVIDED):
                environment["LD_PRELOAD"] = PROVIDER
            self.run(environment)
            return file.read().splitlines()

    def run(self, environment):
        subprocess.run([self.program, self.construct], env=environment, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=True)

    def expected_key(self):
        return self.construct, self.column


class Played(Case):
    """A scenario: the simulator plays it to the recorder."""

    def __init__(self, construct, scenario):
        super().__init__(construct, "played", SIMULATOR)
        self.scenario = scenario

    def run(self, environment):
        with tempfile.NamedTemporaryFile("w", dir=BIN, encoding="ascii", prefix=self.construct) as file:
            file.write(self.scenario)
            file.flush()
            subprocess.run([self.program, "--events", RECORDER, file.name], env=environment, timeout=LIMIT_S, check=True)

    def expected_key(self):
        return self.construct, "clang"


def all_cases(text):
    for source, columns in PROGRAMS.items():
        with open(os.path.join(HERE, source), encoding="ascii") as file:
            names = [name for pair in NAMED.findall(file.read()) for name in pair if name not in ("", "name")]
        for name in names:
            for column in columns:
                if text in name:
                    yield Case(name, column, os.path.join(BIN, f"{source.split('.')[0]}_{column.removesuffix(PROVIDED)}"))


def sections_of(path):
    """What stands behind `== `, and the lines below it."""
    with open(path, encoding="ascii") as file:
        for section in file.read().split("\n== ")[1:]:
            title, _, text = section.partition("\n")
            yield title, text.strip().splitlines()


def all_played(text):
    return [Played(name, "\n".join(lines) + "\n") for name, lines in sections_of(PLAYED) if text in name]


def read_expected():
    """(construct, column) to events."""
    expected = {}
    for title, lines in sections_of(EXPECTED):
        construct, _, columns = title.partition(": ")
        words = [line.partition(" ") for line in lines]
        events = [f"{thread} {event}" for thread, _, rest in words for event in rest.split("; ")]
        expected |= {(construct, column): events for column in columns.split()}
    return expected


def packed(events):
    """Several events of a thread a line, separated by `; `."""
    lines = []
    for event in events:
        thread, _, rest = event.partition(" ")
        if lines and lines[-1].startswith(thread) and len(lines[-1]) + len(rest) < WIDTH:
            lines[-1] += "; " + rest
        else:
            lines.append(event)
    return lines


def write_expected(recorded):
    """A section for each sequence: its construct, and the columns that have it."""
    sections = {}
    for (construct, column), events in recorded.items():
        sections.setdefault(construct, {}).setdefault("\n".join(packed(events)), []).append(column)
    with open(EXPECTED, "w", encoding="ascii") as file:
        file.write("# Written by `make events-update`: what each thread (the first number) is told. What it means: record.c, sequence.py.\n")
        for construct, variants in sections.items():
            for text, columns in variants.items():
                file.write(f"\n== {construct}: {' '.join(columns)}\n{text}\n")


def problems_of(case, expected, recorded):
    try:
        events = sequence.read(case.record())
    except (subprocess.SubprocessError, OSError) as error:
        return [str(error)]
    lines = sequence.normalised(events, not case.column.endswith(PROVIDED))
    recorded[case.construct, case.column] = lines
    problems = list(sequence.disorder(events))
    if expected is not None:
        right = expected.get(case.expected_key(), [])
        problems += difflib.unified_diff(right, lines, "expected", case.column, lineterm="")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    expected = None if options.update else read_expected()
    recorded, passed, failed = {}, 0, 0
    cases = list(all_cases(options.k)) + ([] if options.update else all_played(options.k))
    for case in cases * options.repeat:
        problems = problems_of(case, expected, recorded)
        passed, failed = passed + (not problems), failed + bool(problems)
        if problems:
            print(f"FAILED  {case.construct}, {case.column}:", *problems, sep="\n    ", flush=True)
    if options.update:
        write_expected(recorded)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
