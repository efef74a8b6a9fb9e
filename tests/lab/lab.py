"""For tests of lab/: where the package is, how many seeds, and what is printed of what was measured."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lab"))


def seeds(usual):
    """So many, or LAB_SEEDS times as many: by hand."""
    return int(usual * float(os.environ.get("LAB_SEEDS", "1")))


def say(text):
    if os.environ.get("VERBOSE"):
        print(text)
