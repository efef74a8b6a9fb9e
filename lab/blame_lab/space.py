"""The settings that a program's run can have: dimensions with values. docs/lab.md describes the file format."""

import re

from .command import BAD_USAGE, Refused

MOST_DIMENSIONS, MOST_VALUES = 16, 31
WHOLE = r"[0-9]{1,9}"
SCHEDULE = r"((monotonic|nonmonotonic):)?(static|dynamic|guided|auto)(,0*[1-9][0-9]{0,4})?"


class Kind:
    """`variable`: the environment variable. `ordered`: the time changes gradually from value to value. `named`: the word is followed by a name."""

    def __init__(self, variable, pattern, accepted, ordered=False, named=False):
        self.variable, self.pattern, self.accepted, self.ordered, self.named = variable, pattern, accepted, ordered, named


KINDS = {
    "threads": Kind("OMP_NUM_THREADS", r"0*[1-9][0-9]{0,4}", "whole numbers from 1 to 65536", ordered=True),
    "schedule": Kind("OMP_SCHEDULE", SCHEDULE, "static, dynamic, guided or auto, with a chunk as in dynamic,16"),
    "wait": Kind("OMP_WAIT_POLICY", rf"{WHOLE}|active|passive", "active, passive, or milliseconds of KMP_BLOCKTIME"),
    "bind": Kind("OMP_PROC_BIND", r"close|spread|primary|true|false", "close, spread, primary, true, false"),
    "places": Kind("OMP_PLACES", r".+", "what OMP_PLACES takes"),
    "dynamic": Kind("OMP_DYNAMIC", r"true|false", "true, false"),
    "levels": Kind("OMP_MAX_ACTIVE_LEVELS", r"0*[1-9][0-9]{0,4}", "whole numbers from 1 to 65536", ordered=True),
    "stack": Kind("OMP_STACKSIZE", r"[0-9]{1,9}[BKMGbkmg]?", "sizes as 512k or 16M", ordered=True),
    "env": Kind(None, r".+", "any words", named=True),
    "param": Kind(None, r".+", "any words", named=True),
}
NAMES = "threads, schedule, wait, bind, places, dynamic, levels, stack, env VARIABLE, param NAME, build"


class Dimension:
    """The first of `values` is the default: "default", or for a parameter its first given value."""

    def __init__(self, kind, name, values=(), ordered=False):
        self.kind, self.name, self.ordered = kind, name, ordered or KINDS[kind].ordered
        self.values = ([] if kind == "param" else ["default"]) + list(values)

    def variable(self, value):
        if self.kind == "wait" and value.isdigit():
            return "KMP_BLOCKTIME"
        return self.name if self.kind == "env" else KINDS[self.kind].variable


class Space:
    """`build`: a command that makes a variant, with @{NAME} in it. `given`: the space comes from a file, so everything in it is tried."""

    def __init__(self, dimensions, build=None, given=False):
        self.dimensions, self.build, self.given = dimensions, build, given

    def variables(self, setting):
        """Returns the environment variables of a setting; {} for the default."""
        return {of.variable(of.values[value]): of.values[value] for of, value in zip(self.dimensions, setting) if of.kind != "param" and value}

    def expand(self, setting, text):
        """Returns the text with each @{NAME} replaced by that parameter's value."""
        def value_of(found):
            for of, value in zip(self.dimensions, setting):
                if of.kind == "param" and of.name == found[1]:
                    return of.values[value]
            raise Refused(f"{found[0]}: unknown parameter; expected one that the space defines by param NAME", BAD_USAGE)
        return re.sub(r"@\{([^}]*)\}", value_of, text)

    def mentions(self, dimension, text):
        of = self.dimensions[dimension]
        return of.kind == "param" and f"@{{{of.name}}}" in text

    def value(self, dimension, value):
        """Returns a value as it is stored in metadata."""
        return self.dimensions[dimension].values[value] if value else "default"


def usual(cores):
    """Returns the default space for this number of cores: threads, waiting, binding and schedule."""
    threads, count = [], 1
    while count < cores and len(threads) < MOST_VALUES - 1:
        threads.append(str(count))
        if count > 1 and count // 2 * 3 < cores:
            threads.append(str(count // 2 * 3))
        count *= 2
    return Space([Dimension("threads", "threads", threads), Dimension("wait", "wait", ["active", "passive"]), Dimension("bind", "bind", ["close", "spread"]),
                  Dimension("schedule", "schedule", ["static", "dynamic,1", "dynamic,4", "dynamic,16", "dynamic,64", "guided"])])


def read_line(space, line):
    """Reads a line such as "threads: 1 2 4", "param size: 1 2 4 ordered" or "build: make ...". Raises ValueError with the reason if it is wrong."""
    head, colon, rest = line.partition(":")
    if not colon:
        raise ValueError(f"{line[:60]}: expected NAME: VALUE VALUE ..., with NAME {NAMES.replace(', build', ', or build')}")
    words = head.split()
    if words == ["build"]:
        space.build = rest.strip()
        return
    kind = KINDS.get(words[0]) if words else None
    if not kind or len(words) != 1 + kind.named or (kind.named and not re.fullmatch(r"[A-Za-z_]\w*", words[1], re.ASCII)):
        raise ValueError(f"{' '.join(words)}: expected {NAMES}")
    if len(space.dimensions) == MOST_DIMENSIONS:
        raise ValueError(f"there are more than {MOST_DIMENSIONS} dimensions")
    name, values = words[-1], rest.split()
    if any(of.name == name for of in space.dimensions):
        raise ValueError(f"{name}: is defined twice")
    ordered = kind.named and values[-1:] == ["ordered"]
    values = values[:-1] if ordered else values
    values = [value for value in values if value != "default" or words[0] == "param"]
    for value in values:
        if not re.fullmatch(kind.pattern, value) or (words[0] in ("threads", "levels") and int(value) > 65536):
            raise ValueError(f"{name}: {value}: expected {kind.accepted}")
    of = Dimension(words[0], name, values, ordered)
    if len(of.values) > MOST_VALUES + 1:
        raise ValueError(f"{name}: there are more than {MOST_VALUES} values")
    if len(of.values) < 2:
        raise ValueError(f"{name}: has too few values; give at least {2 if words[0] == 'param' else 1}")
    space.dimensions.append(of)


def read(path):
    """Reads a space file. Raises Refused and names the wrong line."""
    space = Space([], given=True)
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        line = re.sub(r"(^|(?<=[ \t\r]))#.*", "", line).strip()
        if line:
            try:
                read_line(space, line)
            except ValueError as error:
                raise Refused(f"{path}:{number}: {error}") from error
    if not space.dimensions:
        raise Refused(f"{path}: defines no setting; expected lines such as threads: 1 2 4")
    return space
