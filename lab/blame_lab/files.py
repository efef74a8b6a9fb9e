"""Files that are being written: they go when the process ends before they have their name."""

import contextlib
import os
import signal


@contextlib.contextmanager
def unfinished(path):
    """The path; what is there when the block ends, or a signal ends the process, is removed. A rename in the block keeps it."""
    def end(number, _frame):
        with contextlib.suppress(OSError):
            os.unlink(path)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        for number, handler in before.items():
            signal.signal(number, handler)
