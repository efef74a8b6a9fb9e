"""What every command does: reads its options, which `blame` has already checked (command/cli/lab_options.c), reports errors, ends early, and writes
files completely or not at all."""

import contextlib
import json
import os
import re
import signal
import stat
import sys

from .text import clean

DONE, BAD_INPUT, BAD_USAGE = 0, 1, 2
MEASUREMENT = b"BLAMEPRF"
ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Refused(Exception):
    """Ends a command with a line on stderr. `status` is BAD_INPUT or BAD_USAGE. `command` begins the line; by default it is the running command."""

    def __init__(self, message, status=BAD_INPUT, command=None):
        super().__init__(message)
        self.status, self.command = status, command


def read_options(argv):
    """Returns the values by option, the operands, and the names of the options that were given. `argv` has the command's name, then items KEY:TEXT,
    KEY=JSON or KEY+ITEM, then `--` and the operands."""
    end = argv.index("--")
    values = {}
    for argument in argv[1:end]:
        key, how, text = re.fullmatch(r"(\w+)([:=+])(.*)", argument, re.DOTALL).groups()
        if how == "+":
            values[key].append(text)
        else:
            values[key] = json.loads(text) if how == "=" else text
    return values, argv[end + 1:], values.pop("given").split()


def say(command, message):
    sys.stderr.write(f"blame {command}: {clean(message)}\n")


def is_standard(path):
    """Returns whether the path is another name of standard output. Such a file is written to, not replaced."""
    try:
        return os.path.islink(path) and os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


def holds_measurement(path):
    try:
        with open(path, "rb") as file:
            return file.read(len(MEASUREMENT)) == MEASUREMENT
    except OSError:
        return False


def write_whole(command, path, text):
    """Writes text to a file that appears completely or not at all, or to standard output (path None or "-"). Raises Refused."""
    try:
        write_to(path, text.encode("utf-8", "replace"))
    except OSError as error:
        advice = ("the output is incomplete; use --output FILE to write to a file" if path in (None, "-")
                  else "nothing was written; give another file by --output")
        raise Refused(f"{path or 'standard output'}: {error.strerror or error}; {advice}", command=command) from error


def write_to(path, data):
    if path in (None, "-") or is_standard(path):
        sys.stdout.flush()
        write_all(1, data)
        return
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "wb", buffering=0) as file:
            write_all(file.fileno(), data)
        return
    if holds_measurement(path):
        raise OSError(0, "this is a measurement, which blame does not overwrite")
    temporary = f"{path}.{os.getpid()}.part"
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # a signal now would leave a temporary file behind
    try:
        with open(temporary, "wb", buffering=0) as file:
            write_all(file.fileno(), data)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]
