"""Statistics over many runs: the Python part of blame. docs/lab.md describes the commands; blame_lab.read(DIR) is for notebooks."""

__version__ = "0.1.0"


def read(directory, blame="blame"):
    """Returns a profile's tables as pandas frames (blame_lab.frames.Profile)."""
    from .frames import Profile
    return Profile(directory, blame)
