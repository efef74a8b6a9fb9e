"""`blame lab`: in which Python the laboratory runs, and what that has."""

import importlib.metadata
import platform
import sys

from .options import Option, Usage
from .refused import DONE

PACKAGES = (("numpy", "history, scaling, tune"), ("scipy", "scaling, tune"), ("sklearn", "tune --specialise"), ("pandas", "blame_lab.read() in notebooks"))
USAGE = Usage("lab", "[--where]",
              "Which Python runs blame db, history, scaling and tune, and which packages it has: BLAME_PYTHON's, else VIRTUAL_ENV's,\n"
              "else the python3 of the PATH if it has NumPy, else /usr/bin/python3.",
              "  blame lab --where\n"
              "  PYTHONPATH=$(blame lab --where | sed -n 's/^package *//p') python3 -c 'import blame_lab'",
              [Option("--where", "flag", help_text="what is said without an option, too")], operands_none=True, operands="is --where alone", operands_most=0)


def version_of(name):
    try:
        return importlib.metadata.version({"sklearn": "scikit-learn"}.get(name, name))
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"


def main(argv):
    _, operands, _ = USAGE.read(argv)
    if operands:
        USAGE.refuse(f"{operands[0]}: accepted {USAGE.operands}")
    print(f"{'python':<12} {sys.executable} ({platform.python_version()})")
    print(f"{'package':<12} {sys.path[0]}")
    for name, use in PACKAGES:
        print(f"{name:<12} {version_of(name)}, for {use}")
    return DONE
