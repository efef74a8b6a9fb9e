"""What earlier searches found. A *case* is a search for one application on one host with one input; it knows which setting was best."""

import math

import numpy

NORMAL_OF_MEDIAN = 1.4826      # standard deviation of normal values, divided by their median distance from the median
MEDIAN_VARIANCE = math.pi / 2  # variance of a median, divided by that of a mean
BEYOND_CHANCE = 2.6            # standard errors: one difference in a hundred is larger by chance

QUESTION = ("SELECT run.id, application, host, cores, cpu_model, threads, work, idleness, overhead, lock_wait, kind, metadata.name, value"
            " FROM run JOIN metadata ON metadata.trial = run.id WHERE run.id IN (SELECT trial FROM metadata WHERE name = 'tune')"
            " AND (metadata.name GLOB 'tune*' OR kind IN ('user', 'parameter') OR metadata.name GLOB 'input.*') ORDER BY run.id, metadata.name, kind")
SHARES = ("work", "idleness", "overhead", "lock_wait")
OWN = ("tune.seconds", "tune.profiled")  # names below `tune.` that are not dimensions


class Case:
    """`facts` has a number or a word for each name. `runs` has the seconds of each setting; a setting is a tuple with a value for each dimension."""

    def __init__(self, application, facts):
        self.application, self.facts, self.runs, self.profiled = application, facts, {}, {}

    def add(self, setting, seconds, profiled):
        """Adds a run of a setting. If a setting was also run without a measurement, only those runs count."""
        before = self.profiled.get(setting, profiled)
        if profiled and not before:
            return
        if before and not profiled:
            self.runs[setting] = []
        self.profiled[setting] = profiled
        self.runs.setdefault(setting, []).append(seconds)

    def measure(self):
        """Computes medians and their scatter. Medians are used because a disturbed run can take twice as long, and would dominate the mean of a few
        runs. The scatter comes from the distances of runs to their setting's median, over all settings. The run that is the median itself is left
        out, because its distance is always 0."""
        self.seconds = {setting: float(numpy.median(runs)) for setting, runs in self.runs.items()}
        distances = []
        for setting, runs in self.runs.items():
            distances += sorted(abs(math.log(seconds / self.seconds[setting])) for seconds in runs)[1:]
        self.repeated = bool(distances)
        self.spread = NORMAL_OF_MEDIAN * float(numpy.median(distances)) if distances else 0.0
        self.default = next((setting for setting in self.runs if not any(setting)), None)

    def variance(self, setting):
        """Returns the variance of the logarithm of a setting's median time."""
        runs = len(self.runs.get(setting, ())) or 1
        return self.spread ** 2 * (MEDIAN_VARIANCE if runs > 2 else 1) / runs

    def alike(self, setting):
        """Returns the setting itself if it was tried. Otherwise returns the slowest of the tried settings that agree with it in most dimensions."""
        return max(self.runs, key=lambda tried: (sum(a == b for a, b in zip(tried, setting)), self.seconds[tried]))

    def gain(self, setting):
        """Returns the logarithm of the default's time divided by the setting's time, and its variance."""
        tried = self.alike(setting)
        if tried == self.default:
            return 0.0, 0.0
        return math.log(self.seconds[self.default] / self.seconds[tried]), self.variance(tried) + self.variance(self.default)

    def best(self):
        """Returns the fastest setting if it is faster than the default beyond chance, otherwise the default. A value that does not matter beyond
        chance is set back to its default if the setting without it was tried."""
        best = min(self.seconds, key=self.seconds.get)
        if not self.is_better(best, self.default):
            return self.default
        for i, value in enumerate(best):
            without = best[:i] + (0,) + best[i + 1:]
            if value and without in self.seconds and not self.is_better(best, without):
                best = without
        return best if self.is_better(best, self.default) else self.default

    def is_better(self, setting, other):
        """Returns whether `setting` is faster than `other` beyond chance. The test allows for the number of settings that were compared with the
        default (Bonferroni's bound on normal tails). Without repeated runs, chance is unknown and no setting is better."""
        difference = math.log(self.seconds[other] / self.seconds[setting])
        error = math.sqrt(self.variance(setting) + self.variance(other))
        tail = 0.5 * math.erfc(difference / error / math.sqrt(2)) if error > 0 else 0
        return self.repeated and difference > 0 and tail <= 0.01 / max(len(self.runs) - 1, 1)


class Cases:
    """`dimensions` has their names. `values` has the words of each dimension, of which the first is "default". `cases` are those in which the default
    was tried."""

    def __init__(self, database, application=None):
        self.dimensions = [name[5:] for name, in database.ask("SELECT DISTINCT name FROM metadata WHERE name GLOB 'tune.*' ORDER BY name") if name not in OWN]
        self.values = [["default"] for _ in self.dimensions]
        found, rows = {}, database.ask(QUESTION)
        begin = 0
        while begin < len(rows):
            end = begin
            while end < len(rows) and rows[end][0] == rows[begin][0]:
                end += 1
            if application in (None, rows[begin][1]):
                self.take(rows[begin:end], found)
            begin = end
        self.all = list(found.values())
        for case in self.all:
            case.measure()
        self.cases = [case for case in self.all if case.default is not None]

    def take(self, rows, found):
        """Adds a trial. `rows` has everything known about it, one fact each."""
        _, application, host, cores, model, threads, *seconds = rows[0][:10]
        setting, inputs, said, doubtful = [0] * len(self.dimensions), {}, {}, set()
        for *_, kind, name, value in rows:
            if name.startswith("tune.") and name not in OWN:
                i = self.dimensions.index(name[5:])
                if str(value) not in self.values[i]:
                    self.values[i].append(str(value))
                setting[i] = self.values[i].index(str(value))
            elif name == "tune" or name in OWN:
                said[name] = value
            else:
                full = name if name.startswith("input.") else ("input." if kind == "user" else "parameter.") + name
                if inputs.get(full, value) != value:
                    doubtful.add(full)
                inputs[full] = value
        time = said.get("tune.seconds")
        if "tune" not in said or not isinstance(time, (int, float)) or not time > 0:
            return
        facts = {name: value for name, value in inputs.items() if name not in doubtful}
        usual, profiled = not any(setting), bool(said.get("tune.profiled"))
        facts |= machine_facts(cores, model, threads if usual else None)
        if usual and profiled:
            facts |= share_facts(seconds)
        key = (application, said["tune"], host, *sorted((name, str(value)) for name, value in inputs.items() if name.startswith("input.")))
        case = found.setdefault(key, Case(application, {}))
        case.facts |= facts
        case.add(tuple(setting), float(time), profiled)


def machine_facts(cores, model, threads):
    facts = {"machine.cores": cores, "machine.cpu_model": model, "machine.threads": threads}
    return {name: value for name, value in facts.items() if value}


def share_facts(seconds):
    """Returns each cause's part of the threads' time, by SHARES."""
    whole = sum(seconds)
    return {f"share.{name}": value / whole for name, value in zip(SHARES, seconds)} if whole > 0 else {}
