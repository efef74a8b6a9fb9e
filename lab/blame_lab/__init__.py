"""What many runs say: the part of blame that is statistics. docs/lab.md is its page; blame_lab.read(DIR) is for notebooks."""

__version__ = "0.1.0"


def read(directory, blame="blame"):
    """A profile's tables as pandas frames: blame_lab.frames.Profile."""
    from .frames import Profile
    return Profile(directory, blame)
