"""Reads callgrind's output (format version 1, one event): the instructions of each function, and of the calls from each
function to each other."""

import collections
import re

NAME = re.compile(r"\((\d+)\)(?: (.*))?$")
NAMED = {"fn": "fn", "cfn": "fn", "ob": "ob", "cob": "ob"}
CLONE = re.compile(r"\.(?:constprop|isra|part|cold|lto_priv)\b.*$")


class FormatError(Exception):
    """Raised if the file is not in the form that this module reads. The text says why."""


class Profile:
    """The sums over a file: self_cost[function], calls[caller, callee] and inclusive[caller, callee]."""

    def __init__(self):
        self.trigger = ""
        self.self_cost = collections.Counter()
        self.calls = collections.Counter()
        self.inclusive = collections.Counter()

    def functions(self):
        return set(self.self_cost) | {name for pair in self.calls for name in pair}

    def out_of(self, caller):
        """Returns the number of calls that the function made, and the inclusive instructions of these calls."""
        pairs = [pair for pair in self.calls if pair[0] == caller]
        return sum(self.calls[pair] for pair in pairs), sum(self.inclusive[pair] for pair in pairs)

    def into(self, callee):
        """Returns the number of calls of the function, and their inclusive instructions. Wrong for recursive functions."""
        pairs = [pair for pair in self.calls if pair[1] == callee]
        return sum(self.calls[pair] for pair in pairs), sum(self.inclusive[pair] for pair in pairs)


class Reader:
    def __init__(self):
        self.profile = Profile()
        self.names = {"fn": {}, "ob": {}}
        self.function = self.callee = None
        self.call_count = None  # number of calls whose cost is on the next line

    def name(self, kind, text):
        """Returns the name of a function or object. callgrind writes `(number) name` first, and afterwards only `(number)`."""
        found = NAME.match(text)
        if not found:
            return text
        number, name = found.groups()
        if name is not None:
            self.names[kind][number] = CLONE.sub("", name)
        if number not in self.names[kind]:
            raise FormatError(f"{kind} {number} has no name")
        return self.names[kind][number]

    def assign(self, key, value):
        if key in NAMED:
            name = self.name(NAMED[key], value)
            if key == "fn":
                self.function = name
            elif key == "cfn":
                self.callee = name
        elif key == "calls":
            self.call_count = int(value.split()[0])

    def cost(self, line):
        cost = int(line.split()[1])
        if self.call_count is None:
            self.profile.self_cost[self.function] += cost
            return
        self.profile.calls[self.function, self.callee] += self.call_count
        self.profile.inclusive[self.function, self.callee] += cost
        self.call_count = None

    def line(self, line):
        if not line or line.startswith("#"):
            return
        if line[0] in "+-*" or line[0].isdigit():
            self.cost(line)
        elif line.startswith("desc: Trigger: Client Request: "):
            self.profile.trigger = line.split(": ", 3)[3]
        elif line.startswith(("events:", "positions:")):
            if line.split(None, 1)[1] not in ("Ir", "line"):
                raise FormatError(f"`{line}`: only instructions by line are read")
        elif "=" in line and ":" not in line.split("=", 1)[0]:
            self.assign(*line.split("=", 1))


def read(path):
    reader = Reader()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                reader.line(line.rstrip("\n"))
            except (FormatError, ValueError, IndexError) as error:
                raise FormatError(f"{path}:{number}: {error}") from None
    return reader.profile
