"""Runs what tests.mk has built, one program after the other, and counts.

    python3 tests/run.py unit PROGRAM ...        cmocka programs; counts their tests
    python3 tests/run.py commands COMMAND ...    each argument a shell command that passes with status 0
    python3 tests/run.py stages MAKE STAGE ...   each stage a make target that ends with its own closing line

Each ends with a line `N passed, N failed` (`, N skipped` may follow) and fails when anything failed. The output of a
program is shown when it fails; VERBOSE=1 shows it always. TEST_RUNNER: what runs cmocka's programs, an emulator."""

import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

STAGES_AT_ONCE = 4  # three leave two cores idle for a fifth of the time: many tests wait, for MPI, a sleep, a browser
RUNNER = shlex.split(os.environ.get("TEST_RUNNER", ""))
TIMEOUT_S = int(os.environ.get("TEST_TIMEOUT", "600"))
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SUMMARY = re.compile(r"^(?:\[\s+(PASSED)\s+\][^\d\n]*(\d+) test\(s\)|\s*(\d+) (FAILED|SKIPPED) TEST\(S\))", re.MULTILINE)


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def run_captured(command, shell):
    """Output and status; a program that hangs is ended and counts as failed, like one that is not there."""
    if not shell and not os.path.exists(command):
        return "not built\n", -1
    with subprocess.Popen(command if shell else [*RUNNER, command], shell=shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
            return output.decode(errors="replace"), process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, _ = process.communicate()
            return output.decode(errors="replace") + f"\nended after {TIMEOUT_S} s\n", -1


def report(name, counts, seconds, output):
    word = "FAILED" if counts.failed else "passed"
    more = "    " + output.rstrip().replace("\n", "\n    ") + "\n" if counts.failed or os.environ.get("VERBOSE") else ""
    print(f"{word:7} {seconds:6.1f} s  {name}: {counts}\n{more}", end="", flush=True)


def count_unit(output, status):
    counts = Counts()
    for passed, passed_count, other_count, other in SUMMARY.findall(output):
        word = (passed or other).lower()
        setattr(counts, word, getattr(counts, word) + int(passed_count or other_count))
    if status != 0 and counts.failed == 0:
        counts.failed = 1  # it crashed, or a sanitizer spoke
    if counts.passed + counts.failed + counts.skipped == 0:
        counts.failed = 1  # a program that tests nothing
    return counts


def count_command(_output, status):
    return Counts(passed=int(status == 0), failed=int(status != 0))


def run_each(commands, count, shell):
    """Side by side: many of them sleep."""
    def run(command):
        begin = time.monotonic()
        output, status = run_captured(command, shell)
        counts = count(output, status)
        report(command if shell else os.path.basename(command), counts, time.monotonic() - begin, output)
        return counts

    total = Counts()
    with ThreadPoolExecutor(2 * len(os.sched_getaffinity(0))) as pool:
        for counts in pool.map(run, commands):
            total.add(counts)
    return total


def run_stage(make, stage):
    """What a stage has written comes when it has ended: lines of two would mix. Its counts are those of its last closing line."""
    counts, begin, written = None, time.monotonic(), [f"== {stage}\n"]
    # close_fds: the job server's pipes are for the make below.
    with subprocess.Popen(make + ["--no-print-directory", stage], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          close_fds=False) as process:
        for raw in process.stdout:
            line = raw.decode(errors="replace")
            found = CLOSING.match(line.strip())
            if found:
                counts = Counts(*(int(number or 0) for number in found.groups()))
            else:
                written.append(line)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if counts is None:
        counts = Counts(failed=int(process.returncode != 0))
    elif process.returncode != 0 and counts.failed == 0:
        counts.failed = 1
    print("".join(written), end="", flush=True)
    return counts, f"{stage:20} {time.monotonic() - begin:6.1f} s, CPU {used.ru_utime + used.ru_stime:6.1f} s  {counts}"


def run_stages(make, stages):
    total = Counts()
    with ThreadPoolExecutor(STAGES_AT_ONCE) as pool:
        done = list(pool.map(lambda stage: run_stage(make, stage), stages))
    for counts, _ in done:
        total.add(counts)
    print("\n".join(["==", *(line for _, line in done)]))
    return total


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("unit", "commands", "stages"):
        print(__doc__, file=sys.stderr)
        return 2
    kind, rest = arguments[0], arguments[1:]
    if kind == "unit":
        total = run_each(rest, count_unit, shell=False)
    elif kind == "commands":
        total = run_each(rest, count_command, shell=True)
    else:
        total = run_stages(rest[0].split(), rest[1:])
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
