"""Does the runtime still send what expected.txt says? Each construct of regions.c and tasks.c on each compiler, one run each; ends with a
line `N passed, N failed`.

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

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected.txt")
BIN = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "events")
PROGRAMS = ("regions", "tasks")
COLUMNS = {"clang": "", "gcc": "_gcc"}  # what their names end in
LIMIT_S = 120
WIDTH = 150
SETTINGS = {"reduction": {"KMP_FORCE_REDUCTION": "tree"}, "cancel_parallel": {"OMP_CANCELLATION": "true"},
            "cancel_taskgroup": {"OMP_CANCELLATION": "true"}}

sys.path.insert(0, HERE)
import sequence  # noqa: E402  (found through the path set above)


def names_of(program):
    run = subprocess.run([os.path.join(BIN, program)], stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout.split()


def record(column, program, construct):
    """The lines of one run."""
    path = os.path.join(BIN, f"{column}.record")
    open(path, "wb").close()  # what another run has left is no answer
    steering = re.compile(r"^(OMP|KMP|GOMP|LD)_")
    environment = {name: value for name, value in os.environ.items() if not steering.match(name)}
    environment |= {"OMP_TOOL_LIBRARIES": os.path.join(BIN, "record.so"), "EVENTS_RECORD": path} | SETTINGS.get(construct, {})
    if column == "gcc":
        environment["LD_LIBRARY_PATH"] = os.path.join(BIN, "libgomp")
    subprocess.run([os.path.join(BIN, program + COLUMNS[column]), construct], env=environment, stdin=subprocess.DEVNULL,
                   timeout=LIMIT_S, check=True)
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


def read_expected():
    """(construct, column) to lines."""
    expected, keys = {}, []
    with open(EXPECTED, encoding="ascii") as file:
        for line in file.read().splitlines():
            if line.startswith("== "):
                construct, _, columns = line[3:].partition(": ")
                keys = [(construct, column) for column in columns.split()]
                expected |= {key: [] for key in keys}
            elif line and not line.startswith("#"):
                thread, _, rest = line.partition(" ")
                for key in keys:
                    expected[key] += [f"{thread} {event}" for event in rest.split("; ")]
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


def write_expected(constructs, recorded):
    with open(EXPECTED, "w", encoding="ascii") as file:
        file.write("# Written by `make events-update`: what each thread (the first number) is told. What it means: record.c, sequence.py.\n")
        for construct in constructs:
            variants = {}
            for column in COLUMNS:
                variants.setdefault("\n".join(packed(recorded[construct, column])), []).append(column)
            for text, columns in variants.items():
                file.write(f"\n== {construct}: {' '.join(columns)}\n{text}\n")


def problems_of(column, program, construct, expected, recorded):
    events = sequence.read(record(column, program, construct))
    recorded[construct, column] = sequence.normalised(events)
    yield from sequence.disorder(events)
    if expected is not None and recorded[construct, column] != expected.get((construct, column)):
        yield from difflib.unified_diff(expected.get((construct, column), []), recorded[construct, column], "expected",
                                        "recorded", lineterm="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    constructs = {name: program for program in PROGRAMS for name in names_of(program) if options.k in name}
    expected = None if options.update else read_expected()
    recorded, passed, failed = {}, 0, 0
    for construct, program in list(constructs.items()) * options.repeat:
        for column in COLUMNS:
            problems = list(problems_of(column, program, construct, expected, recorded))
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                print(f"FAILED  {construct}, {column}:", *problems, sep="\n    ", flush=True)
    if options.update:
        write_expected(constructs, recorded)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
