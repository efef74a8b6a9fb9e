"""Starts a command by its name and returns its exit status; also contains `blame lab`."""

import importlib
import signal
import sys

from .command import BAD_USAGE, DONE, Refused, read_options, say

MODULES = {"db": "db", "history": "history", "scaling": "scaling", "tune": "tune", "fold": "fold", "lab": "commands", "diff": "baseline"}
PACKAGES = (("numpy", "history, scaling, tune, fold"), ("scipy", "scaling, tune"), ("sklearn", "tune --specialise"), ("pandas", "blame_lab.read() in notebooks"))


def main(argv):
    """`blame lab`: prints which Python runs the lab, and which packages it has."""
    import importlib.metadata
    import platform
    _, operands, _ = read_options(argv)
    if operands:
        raise Refused(f"unexpected argument {operands[0]}; expected only --where", BAD_USAGE)
    print(f"{'python':<12} {sys.executable} ({platform.python_version()})\n{'package':<12} {sys.path[0]}")
    for name, use in PACKAGES:
        try:
            version = importlib.metadata.version({"sklearn": "scikit-learn"}.get(name, name))
        except importlib.metadata.PackageNotFoundError:
            version = "is not installed"
        print(f"{name:<12} {version}, for {use}")
    return DONE


def run(command, argv):
    """Runs a command and returns the exit status. Messages are lines on stderr that begin with the command's name."""
    for number in (signal.SIGPIPE, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN or number == signal.SIGPIPE:
            signal.signal(number, signal.SIG_DFL)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.stderr.reconfigure(encoding="utf-8", errors="replace")
    try:
        return importlib.import_module("." + MODULES[command], __package__).main(argv)
    except Refused as refusal:
        say(refusal.command or command, str(refusal))
        return refusal.status
