"""Do GCC's programs do the same when the provider of layers/gomp/ tells a tool of them? Each case of provided.c and provided_cxx.cc,
bare, with a tool and without one: status, output and errors are the same. And each thread's events fit together. Ends with a line
`N passed, N failed`.

    python3 tests/events/provided.py [-k TEXT] [--repeat N]

BUILD       (environment) where the programs were built; default: build"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import run
import sequence

PROGRAMS = ("provided_gcc", "provided_cxx_gcc")
LIBGOMP = "libgomp.so.1"
LIMIT_S = 120
# Lines that a case's record has, and how often: each iteration of a doacross loop of 19 by 19 is a source, and waits for its neighbours.
# Each chunk of a loop is told once, with its first iteration and their number.
CHUNKS = ("7+5", "22+5", "37+5", "52+1", "1000+4", "996+4", "992+1")
HAS = {"doacross": {r" dependences any - task=\d+ count=2$": 19 * 19 + 2 * 18 * 19},
       "detached_from_outside": {" thread initial begin": 1, " task_schedule (early|late)_fulfill": 1},
       "chunks": {r" chunk=\d+\+\d+$": len(CHUNKS)} | {f" chunk={re.escape(chunk)}$": 1 for chunk in CHUNKS}}


def environment(**more):
    steering = re.compile(r"^(OMP|KMP|GOMP|LD)_")
    return {name: value for name, value in os.environ.items() if not steering.match(name)} | {"OMP_WAIT_POLICY": "passive"} | more


def outcome(path, name, **more):
    more = {"OMP_CANCELLATION": "true"} | more if "cancelled" in name else more
    done = subprocess.run([path, name], env=environment(**more), capture_output=True, timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout, done.stderr


class Thread:
    """What a thread's events must be, one after the other."""

    def __init__(self, number):
        self.number, self.task, self.outer, self.waits, self.mutexes = number, None, [], [], []

    def complaints(self, event):
        check = getattr(self, event.name, None)
        return [f"thread {self.number}: {text}" for text in (check(event) if check else ())]

    def implicit_task(self, event):
        task = event.identity("task")
        if event.point == "begin":
            self.outer.append(self.task)
            self.task = task
        elif task != self.task:
            yield f"task {task} ends, and the current one is {self.task}"
        else:
            self.task = self.outer.pop()

    def task_schedule(self, event):
        prior, following = event.identity("prior"), event.identity("next")
        if event.kind in ("early_fulfill", "late_fulfill", "taskwait_complete"):
            return
        if prior != self.task:
            yield f"leaves task {prior}, and the current one is {self.task}"
        if event.kind == "switch":
            self.outer.append(self.task)
        elif not self.outer or self.outer.pop() != following:
            yield f"does not go back from task {prior} to where it came from"
        self.task = following

    def sync_region_wait(self, event):
        wait = event.kind, event.identity("task")
        if event.point == "begin":
            self.waits.append(wait)
        elif not self.waits or self.waits.pop() != wait:
            yield f"ends a wait that is not the last one it began: {wait}"

    def mutex_acquired(self, event):
        self.mutexes.append(event.identity("wait"))
        return ()

    def mutex_released(self, event):
        if event.identity("wait") not in self.mutexes:
            yield f"releases {event.identity('wait')}, which it does not hold"
        else:
            self.mutexes.remove(event.identity("wait"))


def record_complaints(lines):
    threads, events = {}, sequence.read(lines)
    for event in events:
        thread = threads.setdefault(event.thread, Thread(event.thread))
        yield from thread.complaints(event)
    if not any(event.at("thread", "begin") for event in events):
        yield "no thread has begun"


def count_complaints(name, lines):
    for pattern, wanted in HAS.get(name, {}).items():
        found = sum(bool(re.search(pattern, line)) for line in lines)
        if found != wanted:
            yield f"{found} lines like {pattern}, not {wanted}"


def with_tool(path, name, libraries):
    """The outcome, and what the tool wrote down. A child process writes to the same file: its lines are left out."""
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as file:
        early = {"EVENTS_END_EARLY": "1"} if name == "ended_tool" else {}
        result = outcome(path, name, LD_PRELOAD=run.PROVIDER, OMP_TOOL_LIBRARIES=libraries, EVENTS_RECORD=file.name, **early)
        return result, file.read().splitlines()


def case_complaints(path, name):
    bare = outcome(path, name)
    ways = {"with a tool": lambda: with_tool(path, name, f"/nonexistent.so:{run.RECORDER}"),
            "with the tool disabled": lambda: (outcome(path, name, LD_PRELOAD=run.PROVIDER, OMP_TOOL="disabled", OMP_TOOL_LIBRARIES=run.RECORDER), None),
            "without a tool": lambda: (outcome(path, name, LD_PRELOAD=run.PROVIDER), None)}
    for way, run_it in ways.items():
        result, lines = run_it()
        if result != bare:
            yield f"{way}: {result}, bare: {bare}"
        if lines is not None and name != "forked" and result[0] >= 0: # not written by a process that is killed
            yield from record_complaints(lines)
            yield from count_complaints(name, lines)


def versions(path):
    """Each function of the library and its version, `@` or `@@`."""
    listing = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in listing.splitlines() if re.search(r" T (GOMP|omp)_", line)}


def version_complaints():
    """libgomp has each of the provider's functions, in the same version: a program finds this one in place of that."""
    found = subprocess.run(["ldd", os.path.join(run.BIN, PROGRAMS[0])], capture_output=True, text=True, check=True).stdout
    libgomp = re.search(LIBGOMP + r" => (\S+)", found).group(1)
    for name in versions(run.PROVIDER) - versions(libgomp):
        if name.startswith("omp_control_tool"): # GCC 16 has it
            continue
        yield f"{name}: {libgomp} has no such function"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", default="")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    cases = [("versions", version_complaints)]
    for program in PROGRAMS:
        path = os.path.join(run.BIN, program)
        names = subprocess.run([path], env=environment(), capture_output=True, text=True, check=True).stdout.split()
        cases += [(name, lambda path=path, name=name: case_complaints(path, name)) for name in names]
    failed = passed = 0
    for name, complaints_of in [case for case in cases if options.k in case[0]] * options.repeat:
        complaints = list(complaints_of())
        passed, failed = passed + (not complaints), failed + bool(complaints)
        if complaints:
            print(f"FAILED  {name}:", *complaints[:10], sep="\n    ", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
