#!/usr/bin/env python3
"""Measures the advice of the findings. Each program of advice.c, advice.cc (by clang and by gcc) and advice.f90 loses
time for one known cause, and has the fix that the right finding advises. For each program, with 2 and 4 threads, alone
and beside two busy loops, six rounds of three runs each: before the fix with blame, before, and after the fix:

  named first   the first finding about the program has the right rule, place and words, in how many rounds
  gain          the part of its time that the fix saves without blame: median of the rounds
  promised      the part of the measured time that the finding says could be saved at most: median of the rounds

The machine's other load falls on some runs and not on others. The true median of the gain lies between the least and
the greatest of six rounds with 97 % certainty, so a gain is beyond the promise if all rounds say so, and not beyond it
if none does; otherwise it is not known.

    make advice                                  all; a quiet machine; about an hour
    make advice ADVICE='-k triangle -t 2'        some programs, some numbers of threads
    make advice ADVICE='--cases FILE'            keeps each case in the file, and measures only those that it lacks
    make advice ADVICE='--into docs/findings.md' also puts the summary into the document

Findings about the machine (cores-taken, oversubscribed, doubtful measurements) may come before; the table counts
them."""

import argparse
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINE = ("cores-taken", "quota", "binding", "no-core", "oversubscribed", "unmeasured", "short", "lost", "too-many-threads", "nobody-busy", "start-up")
LEAST = 0.05  # of the time: what counts as a gain
SLACK = 0.05  # of the time: by so much two measurements of one program differ
SUMMARY = re.compile(r"(?<=<!-- made by tests/advice/advice.py -->\n).*?(?=<!-- end -->)", re.DOTALL)

Program = namedtuple("Program", "binary name rules place words")
# first: the rule that came first, of the last round whose first finding was wrong; before: rounds with a finding about
# the machine before; named: rounds whose first finding was right; least, most: of the rounds' gains; load: the load
# average when the case began
Case = namedtuple("Case", "program threads beside rounds first before named promised gain least most load")


def programs(folder):
    """The programs of all binaries."""
    for binary in ("advice_clang", "advice_gcc", "advice_clang++", "advice_g++", "advice_f90"):
        path = os.path.join(folder, binary)
        listed = subprocess.run([path, "list"], check=True, capture_output=True, text=True).stdout
        for line in listed.splitlines():
            name, rules, place, words = line.rstrip("\n ").split("\t")
            yield Program(path, name, rules.split(), place, words)


class Loops:
    """Busy loops beside the measured program."""

    def __init__(self, count):
        self.count, self.running = count, []

    def __enter__(self):
        self.running = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(self.count)]

    def __exit__(self, *_):
        for loop in self.running:
            loop.kill()
            loop.wait()


def is_right(program, row):
    """Whether the finding has the program's rule, place and words."""
    named = program.place in row["place"] or program.place in row["title"]
    return row["rule"] in program.rules and named and program.words in row["title"] + row["advice"]


def findings(blame, program, threads):
    """The findings of one run, and the measured wall time in s, without the tool's own start and end."""
    with tempfile.TemporaryDirectory() as folder:
        directory = os.path.join(folder, "profile")
        environment = dict(os.environ, BLAME_SUMMARY="0")
        subprocess.run([blame, "run", "--out", directory, program.binary, program.name, str(threads), "before"],
                       check=True, env=environment, stdout=subprocess.DEVNULL)
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            measured_s = json.load(file)["wall_s"]
        shown = subprocess.run([blame, "report", directory, "--view", "findings", "--format", "csv"], check=True,
                               capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(shown))), measured_s


def wall_s(program, threads, version):
    begin = time.monotonic()
    subprocess.run([program.binary, program.name, str(threads), version], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def promise(program, rows, blamed_s):
    """The rule that came first about the program, whether it is right, and the part of the time that was promised."""
    own = [row for row in rows if row["rule"] not in MACHINE]
    if program.rules == ["-"]:
        named = not any(float(row["gain_s"]) >= LEAST * blamed_s for row in own)
        promised = max((float(row["gain_s"]) / blamed_s for row in own), default=0)
    else:
        named = bool(own) and is_right(program, own[0])
        promised = max((float(row["gain_s"]) / blamed_s for row in rows if is_right(program, row)), default=0)
    return own[0]["rule"] if own else "-", named, promised


def measure(blame, program, threads, beside, rounds):
    load, first, before, named = os.getloadavg()[0], "", 0, 0
    promises, gains = [], []
    with Loops(beside):
        for _ in range(rounds):
            rows, blamed_s = findings(blame, program, threads)
            old_s, new_s = (wall_s(program, threads, version) for version in ("before", "after"))
            rule, right, promised = promise(program, rows, blamed_s)
            promises.append(promised)
            gains.append((old_s - new_s) / old_s)
            named += right
            before += bool(rows) and rows[0]["rule"] in MACHINE
            first = rule if not first or not right else first
    return Case(program, threads, beside, rounds, first, before, named, statistics.median(promises),
                statistics.median(gains), min(gains), max(gains), load)


def kept_cases(path):
    """The cases that a file has, a line each."""
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        cases = [Case(*json.loads(line)) for line in file]
    return [case._replace(program=Program(*case.program)) for case in cases]


def keep_case(path, case):
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(case) + "\n")


def counted(cases):
    """The cases whose gain is compared with the promise: the right finding was first, and there was something to gain."""
    return [case for case in cases if 2 * case.named > case.rounds and case.gain >= LEAST and case.promised > 0]


def is_beyond(case):
    return case.least > case.promised + SLACK


def is_unknown(case):
    return case.least <= case.promised + SLACK < case.most


def summary(cases):
    """The table of shares, one line for each condition."""
    lines = ["| | load average | programs | right finding first, of all runs | another one | gain beyond the promise | not known | median of gain / promised |",
             "|---|---|---|---|---|---|---|---|"]
    for beside in sorted({case.beside for case in cases}):
        for threads in sorted({case.threads for case in cases}):
            some = [case for case in cases if case.beside == beside and case.threads == threads]
            if not some:
                continue
            runs, right = sum(case.rounds for case in some), sum(case.named for case in some)
            other = sum(case.rounds - case.named for case in some if case.first != "-")
            gains = counted(some)
            tight = f"{statistics.median(case.gain / case.promised for case in gains):.2f}" if gains else "-"
            load = statistics.median(case.load for case in some)
            where = "beside two loops" if beside else "alone"
            lines.append(f"| {threads} threads, {where} | {load:.0f} | {len(some)} | {right} of {runs} | {other} "
                         f"| {sum(map(is_beyond, gains))} of {len(gains)} | {sum(map(is_unknown, gains))} | {tight} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("-k", default="", help="only programs whose binary and name contain this text")
    parser.add_argument("-t", type=int, nargs="*", default=[2, 4], help="numbers of threads")
    parser.add_argument("-l", type=int, nargs="*", default=[0, 2], help="numbers of loops beside")
    parser.add_argument("--rounds", type=int, default=6, help="rounds for each case")
    parser.add_argument("--fewer", action="store_true", help="a tenth of the tiny pieces, which take long on a busy machine")
    parser.add_argument("--cases", help="file that keeps the cases")
    parser.add_argument("--into", help="document that takes the summary")
    options = parser.parse_args()
    blame = os.path.join(options.build, "bin", "blame")
    if options.fewer:
        os.environ["ADVICE_FEWER"] = "1"
    cases = kept_cases(options.cases)
    known = {(case.program[:2], case.threads, case.beside) for case in cases}
    for program in programs(os.path.join(options.build, "advice")):
        if options.k not in os.path.basename(program.binary) + " " + program.name:
            continue
        for beside in options.l:
            for threads in options.t:
                if (program[:2], threads, beside) in known:
                    continue
                case = measure(blame, program, threads, beside, options.rounds)
                cases.append(case)
                keep_case(options.cases, case)
                print(f"{os.path.basename(program.binary)[7:]:7} {program.name:18} {threads} threads {'beside' if beside else 'alone ':6} "
                      f"right {case.named} of {case.rounds}, first {case.first:13} promised {100 * case.promised:3.0f} % "
                      f"gain {100 * case.gain:4.0f} % ({100 * case.least:.0f} to {100 * case.most:.0f})"
                      f"{' BEYOND' if counted([case]) and is_beyond(case) else ''}{'  machine first' if case.before else ''}", flush=True)
    if not cases:
        sys.exit(f"advice.py: no program has {options.k!r} in its name")
    table = summary(cases)
    print("\n" + table, end="")
    if options.into:
        with open(options.into, encoding="utf-8") as file:
            text = file.read()
        with open(options.into, "w", encoding="utf-8") as file:
            file.write(SUMMARY.sub(lambda _: "\n" + table + "\n", text))


if __name__ == "__main__":
    main()
