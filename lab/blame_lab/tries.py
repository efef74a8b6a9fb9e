"""Runs a command once, in its own process group, with a time limit and a way to stop it, and reports how it ended."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time

from .text import decimal

PATIENCE_S = 3.0  # time for a process to end after SIGTERM
LONG_S = 3600.0   # interval of waiting without a limit
PR_SET_PDEATHSIG = 1

GOOD, STATUS, SIGNAL, LIMIT, WRONG, STOPPED, NO_START = "good", "status", "signal", "limit", "wrong", "stopped", "no start"


class Stop:
    r"""Whether the user has asked for an end, by a signal that ends programs. Ctrl-\ and closing the terminal also count, unless they are ignored
    (nohup), because a program in its own process group would otherwise continue alone."""

    def __init__(self):
        self.asked = False
        self.signals = {signal.SIGINT, signal.SIGTERM, *(number for number in (signal.SIGHUP, signal.SIGQUIT) if signal.getsignal(number) != signal.SIG_IGN)}
        for number in self.signals:
            signal.signal(number, self.ask)

    def ask(self, *_):
        self.asked = True


class Outcome:
    """How the run ended. `number`: the exit status or the signal. `seconds`: wall time."""

    def __init__(self, end, number=0, seconds=0.0):
        self.end, self.number, self.seconds = end, number, seconds

    def words(self, limit_s, check):
        if self.end == SIGNAL:
            return f"killed by signal {self.number} ({signal.strsignal(self.number)})"
        return {STATUS: f"exit status {self.number}", LIMIT: f"longer than the limit of {decimal(limit_s or 0, 1)} s", WRONG: f"its result was rejected by {check}",
                NO_START: "cannot start a process"}.get(self.end, self.end)


def run(words, stop, environment, output, errors, standard_input=os.devnull, limit_s=None):
    """Runs the words as a command. `output` is a file's path or None, `errors` a file's path. Signals are blocked, and wait() takes them, so that
    none arrives just before it waits."""
    parent, prctl = os.getpid(), ctypes.CDLL(None).prctl
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stop.signals | {signal.SIGCHLD})

    def prepare():
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # the child ends when this process ends
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if os.getppid() != parent:
            os._exit(127)

    try:
        begin = time.monotonic()
        with open(standard_input, "rb") as source, open(output or os.devnull, "wb") as out, open(errors, "wb") as said:
            process = subprocess.Popen(words, stdin=source, stdout=out, stderr=said, env=environment, preexec_fn=prepare)
        end = wait(process, stop, None if limit_s is None else begin + limit_s)
        seconds, status = time.monotonic() - begin, process.returncode
        kill(process.pid, signal.SIGKILL)  # remaining processes of the group would disturb the next run
    except OSError:
        return Outcome(NO_START)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if end == GOOD and status:
        return Outcome(SIGNAL, -status, seconds) if status < 0 else Outcome(STATUS, status, seconds)
    return Outcome(end, 0, seconds)


def kill(group, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def wait(process, stop, until):
    """Waits until the process ends, the time is over, or the user asks for an end. In the last two cases it sends SIGTERM, and SIGKILL after
    PATIENCE_S."""
    end = GOOD
    while process.poll() is None:
        now = time.monotonic()
        if end == GOOD and (stop.asked or (until is not None and now >= until)):
            end, until = STOPPED if stop.asked else LIMIT, now + PATIENCE_S
            kill(process.pid, signal.SIGTERM)
            kill(process.pid, signal.SIGCONT)
        elif end != GOOD and now >= until:
            kill(process.pid, signal.SIGKILL)
            until = now + LONG_S
        came = signal.sigtimedwait(stop.signals | {signal.SIGCHLD}, LONG_S if until is None else until - now)
        stop.asked |= came is not None and came.si_signo != signal.SIGCHLD
    return end
