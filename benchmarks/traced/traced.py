#!/usr/bin/env python3
"""Compares profiles with a trace of the same runs: how much idleness is blamed on code, and how much on missing cores, when
threads wait often and shortly (ready.c), alone and beside busy loops. Needs root, because the kernel traces its scheduler. GCC
builds the program, whose waiting threads then sleep at once; libomp's would run on for a while.

The truth: at each moment R threads of the program run, Q are ready to run but have no core, B sleep in the program's own calls,
and I = T - R - Q - B wait. Then I (R + B) / (R + Q + B) is blamed on code, and I Q / (R + Q + B) on missing cores. A wait is
over when another thread wakes the waiter, not when a sample does."""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE] + [os.path.join(os.path.dirname(HERE), "tests", room) for room in ("accuracy", "behaviour")]

import harness  # noqa: E402  (found through the path set above)
from bench_common import BenchError, Table, main, positive, write_csv  # noqa: E402
from blame_profile import Profile  # noqa: E402
from load import busy_loops, put  # noqa: E402
from stats import RELATIVE_FROM_S  # noqa: E402

PROGRAM = os.path.join(harness.BUILD, "bench", "ready")
PATTERNS = ["barriers", "chains", "creator", "children", "sleeper"]
TRACING = "/sys/kernel/tracing"
SCHEDULER_EVENTS = ["sched_switch", "sched_waking", "sched_process_fork", "sched_process_exec", "sched_process_exit"]
FUTEX, NANOSLEEPS = 202, (35, 230)  # system calls of x86-64
FUTEX_WAITS, FUTEX_WAKES, FUTEX_FLAGS = (0, 9), (1, 10), 128 | 256  # operations
LINE = re.compile(r".{16}-(\d+) +\[\d+\] (\S+) +(\d+\.\d+): (\w+)(?:: |\()(.*)")

# Seconds: idleness blamed on code, and on missing cores; busy threads' own time without a core.
Blame = namedtuple("Blame", "code no_core own_no_core")


@contextlib.contextmanager
def tracing():
    """Yields the folder of a trace of its own."""
    if not os.path.exists(os.path.join(TRACING, "trace")):
        subprocess.run(["mount", "-t", "tracefs", "none", TRACING], check=False)
    folder = os.path.join(TRACING, "instances", f"blame-{os.getpid()}")
    try:
        os.mkdir(folder)
    except OSError as error:
        raise BenchError(f"the kernel's scheduler cannot be traced here: {error}") from None
    try:
        put(os.path.join(folder, "tracing_on"), "0")
        put(os.path.join(folder, "trace_clock"), "mono")
        put(os.path.join(folder, "buffer_size_kb"), "65536")
        put(os.path.join(folder, "options", "event-fork"), "1")
        calls = os.path.join(folder, "events", "raw_syscalls", "sys_enter")
        put(os.path.join(calls, "filter"), " || ".join(f"id == {number}" for number in (FUTEX, *NANOSLEEPS)))
        for event in [os.path.join(folder, "events", "sched", name) for name in SCHEDULER_EVENTS] + [calls]:
            put(os.path.join(event, "enable"), "1")
        yield folder
    finally:
        os.rmdir(folder)


def traced_run(argv, env, trace):
    """Runs a program. Returns the lines of its trace."""
    with subprocess.Popen(["sh", "-c", 'read go && exec "$@"', "sh", *argv], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        put(os.path.join(trace, "set_event_pid"), str(process.pid))
        put(os.path.join(trace, "trace"), "")
        put(os.path.join(trace, "tracing_on"), "1")
        error = process.communicate("go\n")[1]
    put(os.path.join(trace, "tracing_on"), "0")
    if process.returncode:
        raise BenchError(f"{' '.join(argv)}: status {process.returncode}\n{error}")
    for cpu in os.listdir(os.path.join(trace, "per_cpu")):
        with open(os.path.join(trace, "per_cpu", cpu, "stats"), encoding="ascii") as stats:
            if int(re.search(r"overrun: (\d+)", stats.read())[1]):
                raise BenchError("the trace has lost events")
    with open(os.path.join(trace, "trace"), encoding="utf-8", errors="replace") as lines:
        return lines.readlines()


class Thread:
    """What the events so far say of a thread."""

    def __init__(self, on_core=False):
        self.on_core = on_core
        self.runnable = True
        self.futex = 0  # of its last system call, if that may wait
        self.awaits = 0  # the futex at which it fell asleep, until another thread wakes it

    def state(self):
        if self.awaits:
            return "waits"
        if not self.runnable:
            return "sleeps"
        return "runs" if self.on_core else "ready"


class Program:
    """The program's threads, and the sums over their states from its exec on. Each method named like an event of the kernel
    takes the event's text, the thread in which it happened, and whether that was in an interrupt."""

    def __init__(self, most_threads, wall_s):
        self.most_threads, self.wall_s = most_threads, wall_s
        self.threads, self.begin_s, self.before_s, self.sums = {}, 0, 0, Counter()

    def pass_time(self, now_s):
        span_s = min(now_s, self.begin_s + self.wall_s) - self.before_s
        states = Counter(thread.state() for thread in self.threads.values())
        busy = states["runs"] + states["ready"] + states["sleeps"]
        if busy and span_s > 0:
            idle = max(0, self.most_threads - busy)
            self.sums["code"] += span_s * idle * (busy - states["ready"]) / busy
            self.sums["no_core"] += span_s * idle * states["ready"] / busy
            self.sums["own_no_core"] += span_s * states["ready"]
        self.before_s = now_s

    def sched_switch(self, text, _by, _interrupt):
        before, why, after = re.match(r".*prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+)", text).groups()
        if thread := self.threads.get(int(before)):
            thread.on_core, thread.runnable = False, why[0] == "R"
            if why[0] == "S" and thread.futex:
                thread.awaits = thread.futex
        if thread := self.threads.get(int(after)):
            thread.on_core = thread.runnable = True

    def sched_waking(self, text, by, interrupt):
        thread = self.threads.get(int(re.match(r".*\bpid=(\d+)", text)[1]))
        if thread:
            thread.runnable = True
            if by in self.threads and not interrupt:  # else a sample's timer has woken it
                thread.awaits = 0

    def sched_process_fork(self, text, by, _interrupt):
        if by in self.threads:
            self.threads[int(re.match(r".*child_pid=(\d+)", text)[1])] = Thread()

    def sched_process_exec(self, text, by, _interrupt):
        if text.split()[0] == f"filename={PROGRAM}":
            self.threads, self.begin_s = {by: Thread(on_core=True)}, self.before_s

    def sched_process_exit(self, _text, by, _interrupt):
        self.threads.pop(by, None)

    def sys_enter(self, text, by, _interrupt):
        if by not in self.threads:
            return
        number, arguments = re.match(r"NR (\d+) \((.*)\)", text).groups()
        futex, operation, most = (int(argument, 16) for argument in arguments.split(", ")[:3])
        operation = operation & ~FUTEX_FLAGS if int(number) == FUTEX else -1
        thread = self.threads[by]
        thread.futex = futex if operation in FUTEX_WAITS else 0
        if thread.awaits != thread.futex:  # else the wait goes on after a sample
            thread.awaits = 0
        if operation in FUTEX_WAKES:
            self.release(futex, most)

    def release(self, futex, most):
        """Ends the waits that a sample has interrupted: nobody wakes those threads again."""
        waiters = [thread for thread in self.threads.values() if thread.awaits == futex]
        for thread in waiters:
            if thread.runnable and len(waiters) <= most:
                thread.awaits = 0


def truth(lines, most_threads, wall_s):
    """Returns the Blame that a trace says."""
    program = Program(most_threads, wall_s)
    for line in lines:
        if found := LINE.match(line):
            by, flags, time_s, event, text = found.groups()
            program.pass_time(float(time_s))
            getattr(program, event)(text, int(by), flags[2] != ".")
    return Blame(**program.sums)


def said(profile):
    """Returns the Blame that a profile says."""
    no_core = sum(row["idleness (E)"] for row in profile.named("<no core>"))
    return Blame(profile.root["idleness (I)"] - no_core, no_core, profile.root["no core (I)"])


def run_once(pattern, trace, args):
    environment = harness.clean_environment() | harness.PASSIVE
    environment |= {"BLAME_RATE": str(args.rate), "BLAME_SUMMARY": "0", "BLAME_ENVIRONMENT": "dedicated"}
    with tempfile.TemporaryDirectory(prefix="blame-traced-") as folder:
        folder = os.path.join(folder, "profile")
        lines = traced_run([harness.BLAME, "run", "-o", folder, "--", PROGRAM, pattern, str(args.threads)], environment, trace)
        profile = Profile(folder)
    return truth(lines, profile.run["threads_max"], profile.run["wall_s"]), said(profile)


def bench(args):
    table = Table("program, loops: truth / said, s", *(name.replace("_", " ") for name in Blame._fields))
    rows = []
    with tracing() as trace:
        for loops in args.loops:
            for pattern in (name for name in PATTERNS if re.search(args.k, name)):
                with busy_loops(loops):
                    runs = [run_once(pattern, trace, args) for _ in range(args.n)]
                cells = []
                for name in Blame._fields:
                    pairs = [(getattr(true, name), getattr(told, name)) for true, told in runs]
                    true, told = (statistics.median(values) for values in zip(*pairs))
                    cells.append(f"{true:.2f} / {told:.2f}")
                    if true > RELATIVE_FROM_S:
                        rows.append({"pattern": pattern, "loops": loops, "figure": name, "true_s": true, "said_s": told,
                                     "error_percent": statistics.median(100 * (told - true) / true for true, told in pairs)})
                table.row(f"{pattern}, {loops}", *cells)
    for pattern in (name for name in PATTERNS if any(row["pattern"] == name for row in rows)):
        sizes = [abs(row["error_percent"]) for row in rows if row["pattern"] == pattern]
        print(f"{pattern}: {len(sizes)} figures above {RELATIVE_FROM_S} s, error in %: median {statistics.median(sizes):.1f}, worst {max(sizes):.1f}")
    write_csv(args.out, rows)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=positive, default=4, help="threads (default 4)")
    parser.add_argument("--loops", type=int, nargs="+", default=[0, 2, 8], help="busy loops beside the program (default 0 2 8)")
    parser.add_argument("--rate", type=positive, default=1000, help="BLAME_RATE (default 1000)")
    parser.add_argument("-n", type=positive, default=3, help="runs of each (default 3)")
    parser.add_argument("-k", default="", metavar="REGEX", help="only patterns whose name matches")
    parser.add_argument("--out", default="", metavar="FILE", help="write all figures as CSV")
    return parser.parse_args()


if __name__ == "__main__":
    main(bench, arguments())
