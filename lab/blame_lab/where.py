"""`blame lab`: in which Python the laboratory runs, and what that has."""

import importlib.metadata
import platform
import sys

from .options import read
from .refused import BAD_USAGE, DONE, Refused

PACKAGES = (("numpy", "history, scaling, tune, fold"), ("scipy", "scaling, tune"), ("sklearn", "tune --specialise"), ("pandas", "blame_lab.read() in notebooks"))
def version_of(name):
    try:
        return importlib.metadata.version({"sklearn": "scikit-learn"}.get(name, name))
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"


def main(argv):
    _, operands, _ = read(argv)
    if operands:
        raise Refused(f"{operands[0]}: accepted is --where alone", BAD_USAGE)
    print(f"{'python':<12} {sys.executable} ({platform.python_version()})")
    print(f"{'package':<12} {sys.path[0]}")
    for name, use in PACKAGES:
        print(f"{name:<12} {version_of(name)}, for {use}")
    return DONE
