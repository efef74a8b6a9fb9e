"""start.py COMMAND ARGUMENT ...: runs a command of the lab for `blame` (command/cli/lab.c), and exits with the command's status.

This file runs in any Python, even one that is too old, and says what is missing. The package next to it needs Python 3.9."""

import os
import sys

NEEDS = {"history": ["numpy"], "fold": ["numpy"], "scaling": ["numpy", "scipy"], "tune": ["numpy", "scipy"]}
PACKAGES = {"numpy": "python3-numpy", "scipy": "python3-scipy", "sqlite3": "python3, whole"}


def lacking(names):
    import importlib.util
    return [name for name in names if importlib.util.find_spec(name) is None]


def refuse(command, what):
    sys.stderr.write("blame %s: %s: %s; BLAME_PYTHON names another interpreter\n" % (command, sys.executable, what))
    return 1


def main(argv):
    command = argv[0] if argv else "lab"
    old = sys.version_info < (3, 9)
    instead = os.environ.pop("BLAME_LAB_INSTEAD", "")
    here = os.path.realpath(sys.executable or "python3")
    if instead and (old or lacking(["numpy", "sqlite3"])) and os.access(instead, os.X_OK) and os.path.realpath(instead) != here:
        os.execv(instead, [instead] + sys.argv)
    if old:
        return refuse(command, "is Python %d.%d; Python 3.9 or newer is needed" % sys.version_info[:2])
    missing = lacking(["sqlite3"] + NEEDS.get(command, []))
    if missing and command != "lab":
        return refuse(command, "has no %s; install %s" % (missing[0], ", ".join(PACKAGES[name] for name in missing)))
    sys.dont_write_bytecode = True  # users may have no right to write into the installed folder
    from blame_lab import commands
    return commands.run(command, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
