"""Adds runs to a database, and removes them. docs/lab.md defines a trial."""

import datetime
import re

from .database import COLUMNS
from .text import clean, readable

NUMBER_DIGITS = 15  # digits that a double keeps
REVISIONS = {"revision", "commit", "git"}
SEVERAL = {"parameter", "compiler"}  # kinds of metadata in which a name may have several values
NEW, THERE, RENEWED, OUTDATED = "added", "there", "renewed", "outdated"
TEXTS = ("run", "source", "added", "started", "ended", "program", "command", "host", "cpu_model", "binding", "clock", "environment", "unit", "runtime", "blame")
LOCATION = ("kind", "rank", "thread", "host", "pid")
CONTEXT = ("depth", "kind", "module", "file", "line", "call_line")
NUMBERS = ("cores", "threads", "ranks", "nodes", "rate", "wall_s")
OF_TRIAL = ("DELETE FROM location_metric WHERE trial = ?", "DELETE FROM location WHERE trial = ?", "DELETE FROM metric WHERE trial = ?")


def fact_value(kind, name, text):
    """Returns a fact's value as a number if it would be printed exactly as given, so that 9 is less than 10. Texts such as 007, 1e5 and 1.10 (which
    is not 1.1) stay texts."""
    searched = name == "tune.seconds" or name.startswith("input.")
    found = re.fullmatch(r"-?(0|[1-9][0-9]*)(?:\.([0-9]+))?", text, re.ASCII)
    if not found or name in REVISIONS or kind == "build" or len(found[1]) + len(found[2] or "") > NUMBER_DIGITS:
        return readable(text)
    if found[2] and found[2].endswith("0") and not searched:
        return readable(text)
    return float(text) if found[2] else int(text)


class Trial:
    """A run to be added. `lines` are those of blame export after the run's own line. `given` are facts from the user's command line, which take
    precedence."""

    def __init__(self, head, lines, given=(), application=None, experiment=None):
        self.head, self.lines, self.given = head, lines, given
        self.application, self.experiment = application, experiment
        self.state = f"{head['samples']} {head['contexts']} {head['finished']} {head['merged']} {head['detail']}"

    def application_name(self):
        return readable(self.application or self.head["program"] or "unknown")


class Added:
    """The result: NEW, THERE, RENEWED or OUTDATED. `named`: the user's facts were changed. `other`: a program with another name in the same
    application."""

    def __init__(self, trial, added, named=False, other=None):
        self.trial, self.added, self.named, self.other = trial, added, named, other


def compare_states(old, new):
    """Compares two states of a run. With equally many samples, the state without locations is the smaller one."""
    if old == new:
        return THERE
    before, now = int(old.split()[0]), int(new.split()[0])
    return RENEWED if now > before or (now == before and new.endswith("locations") >= old.endswith("locations")) else OUTDATED


def add(database, trial):
    """Adds a trial completely or not at all."""
    with database.transaction():
        old = database.stored("SELECT id, experiment, state FROM trial WHERE run = ?", (trial.head["run"],))
        added = compare_states(old[0][2], trial.state) if old else NEW
        if added in (NEW, RENEWED):
            number, named = write_anew(database, trial, old[0][:2] if old else None), False
        else:
            number, named = old[0][0], rename(database, trial, old[0][0])
        other = other_program(database, number) if trial.application else None
    return Added(number, added, named, other)


def write_anew(database, trial, old):
    experiment = old[1] if old and not trial.application and not trial.experiment else experiment_of(database, trial)
    if old:
        clear(database, old[0])
    number = write_trial(database, trial, experiment, old[0] if old else None)
    write_facts(database, number, trial.head["facts"], replace=False)
    write_facts(database, number, trial.given, replace=True)
    write_measured(database, number, trial.lines)
    return number


def rename(database, trial, number):
    """Applies the user's current names and facts to an existing trial. Returns whether anything changed."""
    if trial.application or trial.experiment:
        database.stored("UPDATE trial SET experiment = ? WHERE id = ?", (experiment_of(database, trial), number))
    write_facts(database, number, trial.given, replace=True)
    return bool(trial.application or trial.experiment or trial.given)


def number_of(database, table, **row):
    found = database.stored(f"SELECT id FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in row)}", list(row.values()))
    return found[0][0] if found else database.insert(table, row)


def experiment_of(database, trial):
    application = number_of(database, "application", name=trial.application_name())
    return number_of(database, "experiment", name=readable(trial.experiment or "default"), application=application)


def clear(database, number):
    """Removes everything of a trial except the user's facts."""
    for text in (*OF_TRIAL, "DELETE FROM metadata WHERE trial = ? AND kind <> 'user'", "DELETE FROM trial WHERE id = ?"):
        database.stored(text, (number,))


def write_trial(database, trial, experiment, number):
    head = dict(trial.head, added=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    if "source_bytes" in head:
        head["source"] = bytes.fromhex(head["source_bytes"])
    root = next(line for line in trial.lines if line["record"] == "context")
    trial.lines = with_first(root, trial.lines)
    row = {name: head[name] for name in TEXTS + NUMBERS} | {"experiment": experiment, "state": trial.state} | dict(zip(COLUMNS, root["inclusive"]))
    return database.insert("trial", row | ({"id": number} if number else {}))


def with_first(first, rest):
    yield first
    for line in rest:  # not `yield from`, which would end the generator that has the other runs' lines
        yield line


def write_facts(database, number, facts, replace):
    """Writes the facts. Facts that the user has added since remain, unless they are replaced."""
    latest = {}
    for kind, name, text in facts:
        latest[(kind, name, text if kind in SEVERAL else None)] = text
    for (kind, name, _), text in latest.items():
        key = (number, kind, clean(name))
        if replace:
            database.stored("DELETE FROM metadata WHERE trial = ? AND kind = ? AND name = ?", key)
        elif kind == "user" and database.stored("SELECT 1 FROM metadata WHERE trial = ? AND kind = ? AND name = ? LIMIT 1", key):
            continue
        database.insert_all("metadata", ("trial", "kind", "name", "value"), [(*key, fact_value(kind, name, text))], " ON CONFLICT DO NOTHING")


def write_measured(database, number, lines):
    """Writes contexts and their values, for the sum and for each location. Rows are sorted by context number, so that tables grow only at their
    end."""
    numbers, values, location, ended = [], [], None, False
    for line in lines:
        record = line["record"]
        if record == "context":
            numbers.append(context_number(database, line, numbers))
            values.append((numbers[-1], line))
        elif record == "values":
            values.append((numbers[line["context"]], line))
        else:
            write_values(database, number, location, values)
            values, ended = [], record == "end"
            if ended:
                break
            location = line["location"]
            database.insert_all("location", ("trial", "number", *LOCATION), [(number, location, *(line[name] for name in LOCATION))])
    if not ended:
        database.refuse("the profile could not be read completely; nothing was changed")


def context_number(database, line, numbers):
    identity = int(line["identity"])
    known = database.stored("SELECT id FROM context WHERE identity = ?", (identity,))
    if known:
        return known[0][0]
    parent = None if line["parent"] is None else numbers[line["parent"]]
    return database.insert("context", {"identity": identity, "path": int(line["path"]), "parent": parent, "name": line["name"] or "",
                                       **{name: line[name] for name in CONTEXT}})


def write_values(database, number, location, values):
    keys = ("trial", "context") if location is None else ("trial", "location", "context")
    names = [*keys, *(f"{name}_{end}" for name in COLUMNS for end in "ie")]
    own = (number,) if location is None else (number, location)
    rows = ([*own, context, *(value for pair in zip(line["inclusive"], line["exclusive"]) for value in pair)]
            for context, line in sorted(values, key=lambda item: item[0]))
    database.insert_all("metric" if location is None else "location_metric", names, rows)


def other_program(database, number):
    """Returns another program's name in the same application, if there is one. Trials of one application are compared with each other, so a second
    program may be a mistake."""
    found = database.stored("SELECT other.program FROM trial JOIN run AS mine ON mine.id = trial.id JOIN run AS other ON other.application = mine.application"
                           " WHERE trial.id = ? AND other.program <> trial.program LIMIT 1", (number,))
    return found[0][0] if found else None


def remove(database, numbers):
    """Removes these trials and everything that only they used: contexts, experiments, applications. All or nothing."""
    with database.transaction():
        for text in (*OF_TRIAL, "DELETE FROM metadata WHERE trial = ?", "DELETE FROM trial WHERE id = ?"):
            for number in numbers:
                database.stored(text, (number,))
        for table, user in (("context", "metric"), ("experiment", "trial"), ("application", "experiment")):
            database.stored(f"DELETE FROM {table} WHERE id NOT IN (SELECT {table} FROM {user})")
    database.run("PRAGMA incremental_vacuum")  # the trials are removed even if the file cannot shrink
