"""`blame tune`: searches for the setting with which a program is fastest."""

import glob
import math
import os
import shutil
import sys
import tempfile
import time

from . import search, space, tries, trials
from .command import BAD_USAGE, DONE, Refused, read_options, write_whole
from .database import opened
from .db import pairs_of
from .runs import WORDS, blame, database_path, exported, on_server, program_environment
from .text import clean, csv_of, decimal, plural

PAIRS, MOST_INPUTS = 8, 32
LEAST_GAIN = 0.01
LITTLE_LOST = 0.01  # part of the threads' time lost to waiting; with less, settings for loops and waiting cannot help
MOST_PAIRS = 64    # more pairs are not recommended
DEVIATIONS = 1.96  # standard errors of a 95 % interval
BUSY = ("cores-taken", "quota")  # findings that other programs had the cores
MUCH_SCATTER = 0.1  # part of a run's time; with more, the machine was busy
CAUSES = ("work", "idleness", "overhead", "lock-wait", "no-core")

# The settings to try for each finding, the likeliest first.
BEGINS = {"imbalance": ("schedule", "threads"), "fine": ("threads", "schedule", "wait"), "serial": ("threads", "wait"), "lock-bound": ("threads", "wait"),
          "oversubscribed": ("threads", "wait"), "too-many-threads": ("threads", "wait"), "cores-taken": ("threads", "wait"), "start-up": ("threads",)}

LEAST_RUNS = 8  # runs without the pairs: the first, two to learn how times scatter, and one race; as in command/cli/lab_options.c


class Run:
    """One run of the program. `trial`: its number, or None if it is not a trial. `confirms`: it belongs to the pairs."""

    def __init__(self, setting, outcome, confirms):
        self.setting, self.outcome, self.confirms, self.trial = setting, outcome, confirms, None


class Profile:
    """What is kept of a run's profile: the `run` record, the findings, and thread seconds by cause."""

    def __init__(self, lines):
        self.head, self.findings, self.kept = None, [], []
        for line in lines:
            if line["record"] == "run":
                self.head = line
            elif line["record"] == "finding":
                self.findings.append(line)
            else:
                self.kept.append(line)
        root = next((line for line in self.kept if line["record"] == "context"), None)
        self.whole = self.head is not None and root is not None and self.kept[-1]["record"] == "end"
        self.seconds = {cause: root["inclusive"][WORDS.index(cause)] for cause in CAUSES} if self.whole else {}


class Tuning:
    """`request`: the options, with pairs and seed set. `program`: its words."""

    def __init__(self, request, program, of):
        self.request, self.program, self.space = request, program, of
        self.default = (0,) * len(of.dimensions)
        self.stop, self.runs, self.unmeasured, self.busy = tries.Stop(), [], 0, ""
        self.id = f"{int(time.time()):08x}{os.getpid() & 0xffff:04x}"
        self.began = time.monotonic()
        self.order, self.why, self.guess, self.guess_refused = [], {}, None, None
        self.causes = {False: [], True: []}  # seconds in the pairs: with the default, with the best setting
        self.search = self.database_says = None
        self.folder = None

    def inside(self, name):
        return os.path.join(self.folder, name)

    # ---- one run ----

    def attempt(self, words, variables=None, output=None, standard_input=os.devnull, limit_s=None):
        environment = {**program_environment(), "BLAME_CSV": "0", "BLAME_SUMMARY": "0", **(variables or {})}
        return tries.run(words, self.stop, environment, output, self.inside("errors"), standard_input, limit_s)

    def is_built(self, setting):
        """Returns whether the same variant was already built for an earlier run."""
        matters = [i for i in range(len(self.space.dimensions)) if self.space.mentions(i, self.space.build)]
        return any(all(run.setting[i] == setting[i] for i in matters) for run in self.runs)

    def run_once(self, setting):
        if self.space.build and not self.is_built(setting):
            built = self.attempt(["/bin/sh", "-c", self.space.expand(setting, self.space.build)])
            if built.end != tries.GOOD:
                return built
        words = [blame(), "run", "--out", self.inside("profile"), "--", *(self.space.expand(setting, word) for word in self.program)]
        outcome = self.attempt(words, self.space.variables(setting), self.inside("output"), limit_s=self.request["limit"])
        if outcome.end == tries.STATUS and 128 < outcome.number <= 192:  # killed by a signal; blame run ends with 128 + signal
            try:
                tries.signal.Signals(outcome.number - 128)
                outcome.end, outcome.number = tries.SIGNAL, outcome.number - 128
            except ValueError:
                pass
        if outcome.end == tries.GOOD and self.request["check"]:
            checked = self.attempt(["/bin/sh", "-c", self.request["check"]], standard_input=self.inside("output"))
            if checked.end != tries.GOOD:
                outcome.end = tries.STOPPED if self.stop.asked else tries.WRONG
        return outcome

    def first_error(self):
        try:
            with open(self.inside("errors"), encoding="utf-8", errors="replace") as file:
                return clean(file.readline().rstrip("\n"))
        except OSError:
            return ""

    def run(self, setting, confirms=False):
        """Runs the program once and stores the trial. Returns its seconds, or None if it failed."""
        run = Run(setting, self.run_once(setting), confirms)
        good, first = run.outcome.end == tries.GOOD, not self.runs
        if good:
            self.look_at(run, first)
        elif first:
            said = self.first_error() if run.outcome.end == tries.STATUS else ""
            how = run.outcome.words(self.request["limit"], self.request["check"])
            raise Refused(f"{self.program[0]}: as it is: {how}{': ' if said else ''}{said}")
        self.runs.append(run)
        self.tell(run)
        shutil.rmtree(self.inside("profile"), ignore_errors=True)
        return run.outcome.seconds if good else None

    def tell(self, run):
        if not sys.stderr.isatty():
            return
        setting = "".join(f"{of.name}={of.values[value]} " for of, value in zip(self.space.dimensions, run.setting) if value)
        how = "" if run.outcome.end == tries.GOOD else ": " + run.outcome.words(self.request["limit"], self.request["check"])
        sys.stderr.write(clean(f"run {len(self.runs)} of at most {self.request['runs']}: {setting}{decimal(run.outcome.seconds, 3)} s{how}") + "\n")

    # ---- a run's profile ----

    def look_at(self, run, first):
        if not glob.glob(glob.escape(self.inside("profile")) + "/*.blame"):
            self.unmeasured += 1
            if first:
                self.put_others(1)
            return
        with exported("tune", [self.inside("profile")]) as lines:
            profile = Profile(lines)
        if first:
            self.busy = next((clean(finding["title"]) for finding in profile.findings if finding["rule"] in BUSY), "")
            self.put_others(self.follow_findings(profile) if profile.whole else 1)
        elif run.confirms and profile.whole:
            self.causes[run.setting != self.default].append(profile.seconds)
        if not self.database_says:
            self.add_trial(run, profile)

    def add_trial(self, run, profile):
        given = {"tune": self.id, "tune.seconds": decimal(run.outcome.seconds, 6), "tune.profiled": "1"}
        given.update((f"tune.{of.name}", self.space.value(i, run.setting[i])) for i, of in enumerate(self.space.dimensions))
        given.update((f"input.{name}", value) for name, value in self.inputs())
        try:
            if not profile.whole:
                raise Refused("the profile cannot be read")
            trial = trials.Trial(profile.head, iter(profile.kept), [("user", name, value) for name, value in given.items()], self.request["application"], "tune")
            with opened("tune", database_path(self.request["db"]), "write") as database:
                run.trial = trials.add(database, trial).trial
        except Refused as refusal:
            self.database_says = str(refusal)

    def inputs(self):
        return pairs_of("--input", self.request["input"])

    def follow_findings(self, profile):
        """Decides by the findings which dimensions are tried first. Returns the part of the threads' time that is lost."""
        for finding in profile.findings:
            for kind in BEGINS.get(finding["rule"], ()):
                for i, of in enumerate(self.space.dimensions):
                    if of.kind == kind and i not in self.why:
                        self.why[i] = f"{finding['title']} ({decimal(finding['share'], 1)} %)"
                        self.order.append(i)
        self.ask_earlier(profile)
        lost = sum(profile.seconds[cause] for cause in CAUSES if cause != "work")
        return lost / max(profile.seconds["work"] + lost, 1e-9)

    def put_others(self, lost):
        """Appends the dimensions that no finding is about, those with the fewest values first."""
        others = [i for i in range(len(self.space.dimensions)) if i not in self.order]
        for i in others:
            if not self.space.given and lost < LITTLE_LOST and self.space.dimensions[i].kind in ("schedule", "wait"):
                self.why[i] = f"not tried: threads lose {decimal(100 * lost, 1)} % of their time to waiting and overhead"
        self.order += sorted((i for i in others if i not in self.why), key=lambda i: len(self.space.dimensions[i].values))

    def ask_earlier(self, profile):
        """Looks up the setting that earlier searches suggest for this input, if there are any."""
        path = database_path(self.request["db"])
        if not on_server(path) and not os.path.exists(path):
            return
        from . import specialise
        try:
            with opened("tune", path) as database:
                said, self.guess_refused = specialise.first_guess(database, self.request["application"] or profile.head["program"], profile, self.inputs())
        except Refused:
            return  # the first trial that is added reports the error
        setting = tuple(of.values.index(said[of.name]) if said.get(of.name) in of.values[1:] else 0 for of in self.space.dimensions)
        self.guess = setting if any(setting) else None

    # ---- the search ----

    def is_late(self, default_s):
        """Returns whether there would be too little time left for the pairs."""
        minutes = self.request["minutes"]
        return minutes is not None and 60 * minutes - (time.monotonic() - self.began) < 2.2 * self.request["pairs"] * default_s

    def search_all(self, default_s):
        dimensions = [(len(of.values), of.ordered) for of in self.space.dimensions]
        self.search = search.Search(search.Plan(dimensions, self.order, self.request["runs"] - 1, self.request["pairs"], LEAST_GAIN, self.request["seed"], self.guess))
        while not self.stop.asked and (setting := self.search.next()) is not None:
            if self.is_late(default_s) and not self.search.confirms:
                self.search.hurry()
                continue
            seconds = self.run(setting, self.search.confirms)
            if not self.stop.asked:
                self.search.tell(seconds)

    def everything(self):
        place = os.environ.get("TMPDIR") or "/tmp"
        try:
            self.folder = tempfile.mkdtemp(prefix="blame-tune-", dir=place)
        except OSError as error:
            raise Refused(f"{self.program[0]}: cannot be tuned as it is: cannot create a temporary directory in {place} (TMPDIR): {error.strerror}") from error
        try:
            self.search_all(self.run(self.default))
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


# ---- the output ----

def assignments(tuning, setting):
    lines = [f"    export {name}={value}" for name, value in tuning.space.variables(setting).items()]
    lines += [f"    {of.name}={of.values[value]}" for of, value in zip(tuning.space.dimensions, setting) if of.kind == "param" and value]
    return "".join(line + "\n" for line in lines)


def pairs_text(result):
    return f" ({decimal(100 * result.low, 1)} to {decimal(100 * result.high, 1)} %, 95 %, {plural(result.pairs, 'pair')} of runs apart from the search)\n"


def seems_faster(tried):
    return bool(tried.values) and not tried.taken and tried.change < -LEAST_GAIN


def verdict_text(tuning, result):
    best = assignments(tuning, result.best)
    if result.verdict == search.GAIN:
        return f"best:\n{best}gain: {decimal(100 * result.gain, 1)} % less time" + pairs_text(result)
    if result.verdict == search.NOT_SHOWN:
        text = f"It is best as it is, as far as this search can tell. What seemed faster is not significantly faster:\n{best}"
        if result.pairs > 1:
            text += f"gain: {decimal(100 * result.gain, 1)} %" + pairs_text(result)
            text += f"Runs vary so much here that a gain of less than {decimal(50 * (result.high - result.low), 1)} % cannot be distinguished from chance.\n"
        return text
    if result.verdict == search.FAILS:
        return f"It is best as it is, as far as this search can tell. What seemed faster failed when it was run again:\n{best}"
    if result.verdict == search.UNCONFIRMED:
        return f"The search was stopped early. These settings seem faster, but were not confirmed:\n{best}"
    if result.verdict == search.FAILED:
        return "The program does not always succeed with its default settings, so nothing can be compared with them.\n"
    if not any(tried.values for tried in tuning.search.tried):
        return "Nothing was tried: give more --runs, or --minutes.\n"
    if any(tried.taken for tried in tuning.search.tried):
        return "Nothing is faster: the settings below seemed faster, but were not when they were run again.\n"
    if any(seems_faster(tried) for tried in tuning.search.tried):
        why = "the runs or the time were used up before they were compared often enough" if result.cut_off else "the differences are not significant"
        return f"No setting is shown to be faster. Some settings below seemed faster, but {why}.\n"
    return "It is best as it is, as far as this search can tell: nothing that was tried was faster.\n"


def scatter_text(tuning, result):
    """Says that the machine was busy, and how to find out more if this may hide a gain."""
    scatter, reasons = tuning.search.scatter(), []
    if result.verdict == search.GAIN or not any(tried.values for tried in tuning.search.tried):
        return ""
    if scatter >= MUCH_SCATTER:
        reasons.append(f"runs of one setting vary by {decimal(100 * scatter, 0)} %")
    if tuning.busy:
        reasons.append(f"the first run had {tuning.busy}")
    pairs = max(8, math.ceil((2 * DEVIATIONS * math.sqrt(2) * scatter / 0.1) ** 2))
    if not reasons:
        return ""
    needed = f"use about {pairs} --pairs here (and --runs {4 * pairs}), or use a quiet machine" if pairs <= MOST_PAIRS else "use a quiet machine"
    return f"The machine was busy: {', and '.join(reasons)}. To detect a gain of 10 %, {needed}.\n"


def causes_text(tuning):
    before, after = tuning.causes[False], tuning.causes[True]
    if not before or not after:
        return ""
    parts = [f"{cause.replace('-', ' ')} {decimal(sum(one[cause] for one in before) / len(before), 2)} -> {decimal(sum(one[cause] for one in after) / len(after), 2)}"
             for cause in CAUSES]
    return f"seconds of all threads, before and after: {', '.join(parts)}\n"


def dimension_text(tuning, i, result):
    of, tried, why = tuning.space.dimensions[i], tuning.search.tried[i], clean(tuning.why.get(i, ""))
    if not tried.values:
        return f"  {of.name:<10} {why if why.startswith('not tried') else 'not tried: the runs or the time were used up'}\n"
    values = tried.values - {0}
    best = of.values[tried.best] if tried.best or of.kind == "param" else "default"
    change = f"{decimal(100 * abs(tried.change), 1)} % {'less' if tried.change < 0 else 'more'} time"
    if result.best[i]:
        said = f"{best}: {change}"
    elif tried.taken:
        said = f"{best} had {change}, but not together with settings found later"
    elif seems_faster(tried):
        said = f"not significant: the best, {best}, had {change} (+- {decimal(100 * DEVIATIONS * tried.error, 1)} %)"
    else:
        said = f"not worth it: the best, {best}, had {change}"
    return f"  {of.name:<10} {len(values)} of {len(of.values) - 1} tried; {said}{f'; tried first: {why}' if why else ''}\n"


def runs_text(tuning):
    kept = sum(run.trial is not None for run in tuning.runs)
    failed = sum(run.outcome.end not in (tries.GOOD, tries.STOPPED) for run in tuning.runs)
    text = f"{plural(len(tuning.runs), 'run')}, {decimal(time.monotonic() - tuning.began, 0)} s"
    if kept:
        text += f"; {kept} {'is a trial' if kept == 1 else 'are trials'} of {clean(database_path(tuning.request['db']))} (tune = '{tuning.id}')"
    if tuning.unmeasured:
        text += f"; {tuning.unmeasured} left no profile, because no parallel region began"
    if failed:
        text += f"; {failed} failed, and {'its setting was' if failed == 1 else 'their settings were'} dropped"
    return text + "\n" + (f"no trials were stored: {clean(tuning.database_says)}\n" if tuning.database_says else "")


def text_of(tuning):
    result = tuning.search.judge()
    text = f"as it is: {decimal(result.default_s, 3)} s\n" if result.pairs else ""
    text += verdict_text(tuning, result) + scatter_text(tuning, result)
    if result.verdict == search.GAIN:
        text += causes_text(tuning)
    if tuning.guess:
        said = "".join(f" {of.name}={of.values[value]}" for of, value in zip(tuning.space.dimensions, tuning.guess) if value)
        text += f"tried first, because earlier searches suggest it:{said}\n"
    if tuning.guess_refused:
        text += f"earlier searches cannot be used: {tuning.guess_refused}\n"
    text += "settings:\n" + "".join(dimension_text(tuning, i, result) for i in range(len(tuning.space.dimensions)))
    return text + runs_text(tuning)


def csv_text(tuning):
    return csv_of(["run", "trial", "part", "end", "seconds", *(of.name for of in tuning.space.dimensions)],
                  [(number, run.trial, "pairs" if run.confirms else "search", run.outcome.end, run.outcome.seconds,
                    *(tuning.space.value(i, value) for i, value in enumerate(run.setting))) for number, run in enumerate(tuning.runs, 1)])


def plan_text(tuning):
    lines = [f"{of.name:<10} {' '.join(of.values)}" for of in tuning.space.dimensions]
    settings = math.prod(len(of.values) for of in tuning.space.dimensions)
    lines.append(f"{plural(settings, 'setting')}; at most {plural(tuning.request['runs'], 'run')}, of which {2 * tuning.request['pairs']} are pairs of the default and the best setting. The findings of the first run"
                 " decide what is tried first.")
    return "\n".join(lines) + "\n"


def check_words(tuning):
    """Checks that every @{NAME} is a parameter, and that every parameter is used."""
    texts = [*tuning.program, *([tuning.space.build] if tuning.space.build else [])]
    for text in texts:
        tuning.space.expand(tuning.default, text)
    for i, of in enumerate(tuning.space.dimensions):
        if of.kind == "param" and not any(tuning.space.mentions(i, text) for text in texts):
            raise Refused(f"{tuning.request['space']}: the parameter {of.name} is not used; put @{{{of.name}}} into an argument", BAD_USAGE)


def check(request, program):
    if bool(program) == bool(request["specialise"]):
        raise Refused(f"{'--specialise takes no program' if program else 'no program was given'}; expected a program and its arguments, or --specialise alone", BAD_USAGE)
    pairs_of("--input", request["input"])
    if len(request["input"]) > MOST_INPUTS:
        raise Refused(f"--input {request['input'][MOST_INPUTS]}: expected at most {MOST_INPUTS} inputs", BAD_USAGE)
    if request["pairs"] is None:  # a third of a small number of runs
        request["pairs"] = max(search.FEWEST_PAIRS, min(PAIRS, request["runs"] // 6))
    fewest = 2 * request["pairs"] + LEAST_RUNS
    if request["runs"] < fewest:
        raise Refused(f"--runs {request['runs']}: expected at least {fewest} with --pairs {request['pairs']}", BAD_USAGE)


def main(argv):
    request, program, _ = read_options(argv)
    check(request, program)
    if request["specialise"]:
        from . import specialise
        return specialise.write(database_path(request["db"]), request["application"], request["specialise"])
    request["seed"] = request["seed"] or int(time.time()) & 0x7FFFFFFF
    of = space.read(request["space"]) if request["space"] else space.usual(os.cpu_count() or 1)
    of.build = request["build"] or of.build
    tuning = Tuning(request, program, of)
    check_words(tuning)
    if request["dry_run"]:
        write_whole("tune", request["output"], plan_text(tuning))
        return DONE
    tuning.everything()
    write_whole("tune", request["output"], csv_text(tuning) if request["format"] == "csv" else text_of(tuning))
    return DONE
