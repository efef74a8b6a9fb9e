"""The commands by their names; how each ends."""

import importlib
import signal
import sys

from .options import say
from .refused import Refused

MODULES = {"db": "db", "history": "history", "scaling": "scaling", "tune": "tune", "fold": "fold", "lab": "where", "diff": "baseline"}


def run(command, argv):
    """Returns the exit status. Messages are lines on stderr that begin with the command's name."""
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
