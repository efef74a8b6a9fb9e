"""What a test program printed about itself (tests/programs/analytic.h), as far as it does not depend on how long things took:
which contexts have which metric, and on which paths they stand. How near the seconds are is what `make accuracy` measures on
a quiet machine and tests/simulator proves."""

import os
import re

LEAST_S = 0.02    # of the program's clock: some twenty samples, so there are some
MOST_TIMES = 2    # what was clocked as work, but for all the time without a core: between a clock reading and a function's begin
                  # or end it is another's, as the clock tells, or as the samples do
LEAST_WAIT_S, LEAST_PART = 0.08, 0.25  # the same of waiting, and of the largest of its kind
MUCH_IDLE_S, IDLE_PART = 0.5, 0.5  # of the idleness that is blamed, where there is much: so much of it threads were seen idle
ON_PATH = 0.95    # of a function's samples: one may hit what no unwinder knows, between two instructions

LINES = [
    ("expect", re.compile(r"^expect (\S+) (.+) (-?[\d.]+)$"), ("metric", "context", "value")),
    ("path", re.compile(r"^path ([\d.]+) (.+)$"), ("value", "context")),
    ("below", re.compile(r"^below (\S+) (\S+)$"), ("metric", "context")),
    ("task", re.compile(r"^task (.+)$"), ("context",)),
    ("bound", re.compile(r"^bound (\S+) ([\d.]+)$"), ("metric", "value")),
]


class Expectation:
    def __init__(self, kind, metric="", context="", value="0"):
        self.kind, self.metric, self.context, self.value = kind, metric, context, float(value)

    @staticmethod
    def parse(line):
        for kind, pattern, fields in LINES:
            match = pattern.match(line)
            if match:
                return Expectation(kind, **dict(zip(fields, match.groups())))
        return None

    def __str__(self):
        return f"{self.kind} {self.metric} {self.context} {self.value:.6f}".replace("  ", " ")


def read(stdout):
    return [expectation for expectation in map(Expectation.parse, stdout.splitlines()) if expectation]


def directory_bytes(profile):
    return sum(os.stat(os.path.join(folder, name)).st_blocks * 512
               for folder, _, names in os.walk(profile.directory) for name in names)


def idle_share(profile):
    """In a region: the idleness of the pool before and after it is not the tasks'."""
    return profile.threads_total("idle") / profile.lifetimes()


BOUNDS = {"directory_bytes": directory_bytes, "idle_share": idle_share}
STRUCTURAL_BOUNDS = ("directory_bytes",)  # the other is a share of time


def clocked_without_core(profile, pace):
    """By the kernel's count, on the program's clock: a thread that has its work done and no core to go on seems to wait."""
    return getattr(profile, "run", {}).get("no_core_s", 0) * pace  # a tree that a report printed does not say


def due(expectation, stated, without_core_s):
    """Whether so much is stated that it must be seen."""
    largest = max(one.value for one in stated if (one.kind, one.metric) == ("expect", expectation.metric))
    least_s = LEAST_S if expectation.metric == "work" else max(LEAST_WAIT_S, LEAST_PART * largest)
    return expectation.value - without_core_s >= least_s


def unmet_paths(paths, profile):
    """Each path is there, and the functions that paths end in are nowhere else."""
    for path in paths:
        if not sum(row.clocked() for row in profile.at_path(path.context.split(" > "))) > 0:
            yield f"{path}: not there"
    for name in {path.context.split(" > ")[-1] for path in paths}:
        there = {row.id: row.clocked() for path in paths for row in profile.at_path(path.context.split(" > "))
                 if row.name == name}
        whole = profile.clocked(name)
        if sum(there.values()) < ON_PATH * whole:
            yield f"{name}: {sum(there.values()):.6f} s of {whole:.6f} on the stated paths, the others on " + "; ".join(
                " > ".join(row.path()) for row in profile.named(name) if row.id not in there)


def unmet_below(below, profile):
    rows = profile.named(below.metric)
    outside = sum(row["work (I)"] for row in rows if all(above.name != below.context for above in row.ancestors()))
    if not rows or outside > (1 - ON_PATH) * sum(row["work (I)"] for row in rows):
        yield f"{below}: {outside:.6f} s outside, {len(rows)} rows"


def unmet_one(one, stated, profile, pace):
    without_core_s = clocked_without_core(profile, pace)
    if one.kind == "expect" and due(one, stated, without_core_s):
        measured = (profile.clocked(one.context) if one.metric == "work"
                    else profile.total(one.metric.replace("_", " "), one.context))
        least_s, most_s = (one.value - without_core_s) / MOST_TIMES, MOST_TIMES * one.value + without_core_s
        if not measured > 0 or (one.metric == "work" and not least_s < measured * pace < most_s):
            yield f"{one}: {measured:.6f}"
    elif one.kind == "below":
        yield from unmet_below(one, profile)
    elif one.kind == "task" and not any(row.kind == "task" for row in profile.named(one.context)):
        yield f"{one}: no such row"
    elif one.kind == "bound" and one.metric in STRUCTURAL_BOUNDS and BOUNDS[one.metric](profile) > one.value:
        yield f"{one}: {BOUNDS[one.metric](profile)}"


def unmet(stated, profile, pace=1):
    """A line for each of the stated expectations that the profile does not meet."""
    for one in stated:
        yield from unmet_one(one, stated, profile, pace)
    without_core_s = clocked_without_core(profile, pace)
    idled = [one for one in stated if (one.kind, one.metric) == ("expect", "idleness") and due(one, stated, without_core_s)]
    # Not the sum: a phase has that of its functions again. Who is ready to run, without a core, is not idle.
    idled_s = max((one.value - without_core_s for one in idled), default=0) / pace
    if idled_s * pace > MUCH_IDLE_S and hasattr(profile, "threads") and profile.threads_total("idle") < IDLE_PART * idled_s:
        yield f"{idled[0]}: threads idled for {profile.threads_total('idle'):.6f} s of {idled_s:.6f}"
    yield from unmet_paths([one for one in stated if one.kind == "path"], profile)
