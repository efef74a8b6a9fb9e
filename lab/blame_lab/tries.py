"""Runs a command once, in a process group of its own, with a limit and a way to stop, and says how it ended."""

import ctypes
import os
import select
import signal
import subprocess
import time

from .text import decimal

PATIENCE_S = 3.0     # for one that was asked to end
LOOK_S = 0.2         # so often: a signal may come just before the wait for the end
LOOK_MORE_S = 0.005  # the same without a pidfd: on kernels before 5.3, in a sandbox
PR_SET_PDEATHSIG = 1

GOOD, STATUS, SIGNAL, LIMIT, WRONG, STOPPED, NO_START = "good", "status", "signal", "limit", "wrong", "stopped", "no start"


class Stop:
    """Whether the user wants an end: by a signal that ends programs. Ctrl-\\ and a terminal that is closed as well, unless they are ignored (nohup): programs in
    groups of their own would run on alone."""

    def __init__(self):
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if number in (signal.SIGINT, signal.SIGTERM) or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self.ask)

    def ask(self, *_):
        self.asked = True


class Outcome:
    """How it ended. number: the status or the signal; seconds: wall time from the start to the end."""

    def __init__(self, end, number=0, seconds=0.0):
        self.end, self.number, self.seconds = end, number, seconds

    def words(self, limit_s, check):
        if self.end == SIGNAL:
            return f"killed by signal {self.number} ({signal.strsignal(self.number)})"
        return {STATUS: f"exit status {self.number}", LIMIT: f"longer than the limit of {decimal(limit_s or 0, 1)} s", WRONG: f"its result is wrong, as {check} says",
                NO_START: "no process could be started"}.get(self.end, self.end)


def run(words, stop, environment, output, errors, standard_input=os.devnull, limit_s=None):
    """output: a file's path, or None; errors: a file's path."""
    parent, prctl = os.getpid(), ctypes.CDLL(None).prctl

    def prepare():
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # it does not outlive this process
        if os.getppid() != parent:
            os._exit(127)

    begin = time.monotonic()
    try:
        with open(standard_input, "rb") as source, open(output or os.devnull, "wb") as out, open(errors, "wb") as said:
            process = subprocess.Popen(words, stdin=source, stdout=out, stderr=said, env=environment, preexec_fn=prepare)
    except OSError:
        return Outcome(NO_START)
    end = wait(process.pid, stop, None if limit_s is None else begin + limit_s)
    seconds = time.monotonic() - begin
    status = process.wait()
    kill(process.pid, signal.SIGKILL)  # what it left behind would run beside the next one
    if end == GOOD and status:
        return Outcome(SIGNAL, -status, seconds) if status < 0 else Outcome(STATUS, status, seconds)
    return Outcome(end, 0, seconds)


def kill(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def wait(pid, stop, until):
    """Waits until the process ends, its time is over, or the user wants an end. It stays to be reaped."""
    try:
        descriptor = os.pidfd_open(pid)
    except (OSError, AttributeError):
        descriptor = None
    try:
        end = GOOD
        while end == GOOD and not has_ended(pid, descriptor, until):
            end = STOPPED if stop.asked else LIMIT if until is not None and time.monotonic() > until else GOOD
        if end != GOOD:
            kill(pid, signal.SIGTERM)
            kill(pid, signal.SIGCONT)
            patience = time.monotonic() + PATIENCE_S
            while time.monotonic() < patience and not has_ended(pid, descriptor, patience):
                pass
            kill(pid, signal.SIGKILL)
        return end
    finally:
        if descriptor is not None:
            os.close(descriptor)


def has_ended(pid, descriptor, until):
    """Waits for a while, at most until then."""
    left = LOOK_S if descriptor is not None else LOOK_MORE_S
    if until is not None:
        left = max(0, min(left, until - time.monotonic()))
    select.select([descriptor] if descriptor is not None else [], [], [], left)
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
