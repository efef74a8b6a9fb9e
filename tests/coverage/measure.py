"""One construct on one compiler and runtime: run it alone, under the event counter and under blame, and judge."""

import os
import re
import shutil
import tempfile

import contract_checks
import expectations
import harness
from blame_profile import NotAProfile, Profile

BIN = os.path.join(harness.BUILD, "coverage")
EVENTS = os.path.join(harness.BUILD, "events", "record.so")
GOMP_LAYER = os.path.join(harness.BUILD, "lib", "libblame-gomp.so")
PACE = 2  # of the programs' clock, under blame
UNSHOWN = "the program states only"  # its threads had no cores to wait on


class Variant:
    """A column: how a program was built, and what it runs on."""

    def __init__(self, column, suffix, how="library", runtime="", fortran=False, libgomp=False):
        self.column, self.suffix, self.how, self.runtime, self.fortran = column, suffix, how, runtime, fortran
        self.libgomp = libgomp  # runs on GCC's own runtime
        self.missing = ""

    def argv(self, construct):
        if self.fortran:
            return [os.path.join(BIN, f"f_{construct.fortran}{self.suffix}")]
        return [os.path.join(BIN, construct.program + self.suffix), construct.name]

    def environment(self, construct):
        env = harness.clean_environment() | construct.env
        if self.runtime and self.how == "library":
            env["LD_LIBRARY_PATH"] = self.runtime
        elif self.runtime:
            env["BLAME_LIBOMP"] = self.libomp()
        return env

    def libomp(self):
        """The runtime that GCC's programs get with --runtime libomp."""
        return os.path.join(self.runtime, "libomp.so.5") if self.runtime else newest_libomp()


class Outcome:
    def __init__(self, problems=(), profile=None, skipped=""):
        self.problems, self.profile, self.skipped = list(problems), profile, skipped
        self.events = {}


def own_lines(stdout):
    """What a program prints besides clock readings."""
    return [line for line in stdout.splitlines() if not expectations.Expectation.parse(line)]


def build_message(path):
    try:
        with open(path + ".log", encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return "not built"
    telling = [line for line in lines if re.search("error:|undefined|not yet implemented", line)]
    message = (telling or lines or ["no message"])[0]
    return "not built: " + re.sub(r'^(error: )?(loc\("|/)[^ ]*:\d+[^ ]* ', "", message).strip()


def judge_blame(construct, run, profile, fortran):
    stated = expectations.read(run.stdout)
    yield from expectations.unmet(stated, profile, PACE)
    for metric, function in (construct.blame if not fortran else fortran_blame(construct)):
        seconds = sum(e.value for e in stated if (e.metric, e.context) == (metric, function))
        if seconds < expectations.LEAST_WAIT_S or not profile.total(metric.replace("_", " "), function) > 0:
            without_core_s = expectations.clocked_without_core(profile, PACE)
            yield f"{UNSHOWN} {seconds:.3f} s of {metric} of {function}, and {without_core_s:.3f} s without a core"


def fortran_blame(construct):
    names = {"critical": "critical_section", "lock": "lock_section", "ordered": "run_construct"}
    return tuple((metric, names.get(construct.fortran, function)) for metric, function in construct.blame)


def doubled_contexts(profile):
    """No program here is recursive: a function that is its own caller stands on a path that was put together wrongly."""
    for row in profile.rows:
        if row.name == "main" and row.kind != "statement" and any(above.name == "main" for above in row.ancestors()):
            yield f"doubled context: {' > '.join(row.path())}"


def judge_profile(construct, variant, run):
    found = run.directories()
    if len(found) != 1:
        return [f"{len(found)} profiles: {' '.join(run.tool_lines())}"], None
    try:
        profile = Profile(found[0])
        problems = contract_checks.violations(profile)
        problems += contract_checks.check_elapsed(profile, run.elapsed_s)
        problems += doubled_contexts(profile)
        problems += judge_blame(construct, run, profile, variant.fortran)
    except (NotAProfile, KeyError, ValueError) as error:
        return [f"{type(error).__name__} {error}"], None
    libomp = [module["path"] for module in profile.run["modules"] if "libomp" in module["path"]]
    asked = os.path.realpath(variant.runtime) if variant.runtime else ""
    if variant.libgomp and "libgomp" not in profile.run["runtime_version"]:
        problems.append(f"ran on {profile.run['runtime_version']}, not on libgomp")
    if asked and not any(os.path.realpath(path).startswith(asked) for path in libomp):
        problems.append(f"ran on {libomp}, not on the one in {variant.runtime}")
    return problems, profile


def run_under_blame(construct, variant, folder):
    argv = variant.argv(construct)
    env = variant.environment(construct) | {"BLAME_RATE": str(1000 * PACE), "TEST_PACE": str(PACE), "BLAME_SUMMARY": "0",
                                            "BLAME_OUT": "profile"}
    if variant.how == "library":
        env["OMP_TOOL_LIBRARIES"] = harness.LIBRARY
    else:
        argv = [harness.BLAME, "run", "--runtime", "auto" if variant.libgomp else "libomp", "--", *argv]
    os.makedirs(folder)
    return harness.execute(argv, env, folder)


def same_as_alone(construct, variant, alone, run):
    """The program's output and status under the tool are those it has alone; quick checks know them by construction."""
    if alone is None:
        right = f"right {construct.name}"
        if (run.status, own_lines(run.stdout)) != (0, [right]) or run.other_lines():
            yield f"status {run.status}, output {own_lines(run.stdout)} {run.other_lines()}: not 0 and `{right}`"
    elif (run.status, own_lines(run.stdout), run.other_lines()) != (alone.status, own_lines(alone.stdout),
                                                                    alone.stderr.splitlines()):
        yield (f"under the tool: status {run.status}, output {own_lines(run.stdout)} {run.other_lines()};"
               f" alone: status {alone.status}, {own_lines(alone.stdout)} {alone.stderr.splitlines()}")
    elif run.status != 0:
        said = " ".join(own_lines(run.stdout) + run.other_lines())
        yield f"the program itself fails: status {run.status}, {said}"


def read_events(path):
    """(event, kind) to (begin, end or None), from what tests/events/record.c wrote."""
    events, thread_kinds = {}, {}
    try:
        with open(path, encoding="ascii") as file:
            for words in map(str.split, file):
                if words[0] == "refused":
                    events["refused", words[1]] = (int(words[2]), None)
                    continue
                thread, name, kind, point = words[:4]
                if name == "thread":
                    kind = thread_kinds.setdefault(thread, kind)  # its end does not say
                begin, end = events.get((name, kind), (0, 0))
                events[name, kind] = (begin + (point != "end"), None if point == "-" else end + (point != "begin"))
    except OSError:
        pass
    return dict(sorted(events.items()))


def count_events(construct, variant, folder):
    env = variant.environment(construct)
    env |= {"OMP_TOOL_LIBRARIES": EVENTS, "EVENTS_RECORD": os.path.join(folder, "events")}
    if variant.libgomp:
        env["LD_PRELOAD"] = GOMP_LAYER
    elif variant.how == "launcher":
        os.symlink(variant.libomp(), os.path.join(folder, "libgomp.so.1"))
        env["LD_LIBRARY_PATH"] = folder
    harness.execute(variant.argv(construct), env, folder)
    return read_events(env["EVENTS_RECORD"])


def newest_libomp():
    found = [f"/usr/lib/llvm-{version}/lib/libomp.so.5" for version in range(40, 10, -1)]
    return next(path for path in found if os.path.exists(path))


def measure_once(construct, variant, folder, alone):
    try:
        run = run_under_blame(construct, variant, folder)
    except AssertionError as error:  # it did not end
        return Outcome([str(error).splitlines()[0]])
    problems = list(same_as_alone(construct, variant, alone, run))
    if alone is not None and alone.status != 0:
        return Outcome(problems)
    more, profile = judge_profile(construct, variant, run)
    return Outcome(problems + more, profile)


def measure(construct, variant, quick=False):
    if variant.fortran and not construct.fortran:
        return Outcome(skipped="")
    if not os.path.exists(variant.argv(construct)[0]):
        return Outcome([build_message(variant.argv(construct)[0])])
    root = tempfile.mkdtemp(prefix="blame-coverage-")
    try:
        events, alone = {}, None
        if not quick:
            alone = harness.execute(variant.argv(construct), variant.environment(construct), root)
            events = count_events(construct, variant, root)
        outcome = measure_once(construct, variant, os.path.join(root, "run"), alone)
        outcome.events = events
        return outcome
    except AssertionError as error:
        return Outcome([str(error).splitlines()[0]])
    finally:
        shutil.rmtree(root, ignore_errors=True)
