"""`blame history`: finds the revision since which a program is slower, from the runs in a database."""

import numpy

from . import changes
from .command import BAD_USAGE, DONE, Refused, read_options, say, write_whole
from .database import opened, quoted
from .runs import METRICS, database_path
from .text import base_name, clean, csv_of, decimal, fit, plural, readable, utf8_terminal

NAME_COLUMNS, BAR_COLUMNS, CULPRITS = 16, 30, 3
ALIKE = ("application", "host", "threads", "ranks", "cores", "unit")  # columns whose values must be equal for all trials

class Revision:
    """`runs` has (trial, value), sorted by start time."""

    def __init__(self, name, started, place):
        self.name, self.first, self.place, self.runs = name, started[:10], place, []

    def summarise(self):
        values = [value for _, value in self.runs]
        self.median, self.least, self.most = float(numpy.median(values)), min(values), max(values)


class Past:
    """`request` has the options, `common` the values that all trials share, and `revisions` the sorted revisions with their runs."""

    def __init__(self, request, database):
        self.request, self.database, self.common, self.unnamed = request, database, None, 0
        self.metric = request["metric"].replace("-", "_")
        self.check_known()
        self.revisions = self.read()
        if self.unnamed:
            by = clean(request["by"])
            say("history", f"{plural(self.unnamed, 'trial')} without a {by} {'is' if self.unnamed == 1 else 'are'} left out; blame run --meta {by}=... adds it")
        if not self.revisions:
            raise Refused(f"{database.path}: no trial is left{'' if self.unnamed else ' of these: see blame db list'}")
        self.order()

    def check_known(self):
        """Raises Refused if no trial has the requested metadata."""
        by = self.request["by"]
        there = by == "date" or self.database.number("SELECT 1 FROM metadata WHERE name = ? LIMIT 1", (by,)) or any(
            by == name for _, name, *_ in self.database.ask("PRAGMA table_info(run)"))
        if not there:
            raise Refused(f"no trial has a {by}; use blame run --meta {by}=..., or blame history --by date")

    def sum_of(self, end):
        """Returns the metric as SQL. Blame has no column of its own: it is the sum of its parts."""
        if self.metric == "wall":
            return "work_e + idleness_e + overhead_e + lock_wait_e" if end else "wall_s"
        return " + ".join(name + end for name in (("idleness", "overhead", "lock_wait") if self.metric == "blame" else (self.metric,)))

    def of_row(self):
        """Returns, by trial, the metric of the requested function."""
        return dict(self.database.stored(f"SELECT metric.trial, coalesce(sum({self.sum_of('_e')}), 0.0) FROM metric JOIN context ON context.id = metric.context"
                                         " WHERE context.name = ? AND context.kind <> 'statement' GROUP BY metric.trial", (readable(self.request["row"]),)))

    def read(self):
        by, where = self.request["by"], self.request["where"] or "1"
        key = "substr(started, 1, 10)" if by == "date" else quoted(by, '"')
        mentioned = f"(\n{where}\n) AND (1)" if by == "date" else f"(\n{where}\n) AND ({key} IS NULL OR 1)"  # mentioning a name makes it a column
        shown = key if by == "date" else quoted(by, "`")
        found, of_row = {}, None if self.request["row"] is None else self.of_row()
        for number, started, value, revision, *alike in self.database.trials(f"id, started, {self.sum_of('')}, {shown}, {', '.join(ALIKE)}", mentioned, "started, id"):
            self.check_alike(["" if value is None else str(value) for value in alike])
            if revision in (None, ""):
                self.unnamed += 1
                continue
            name = str(revision)
            found.setdefault(name, Revision(name, started or "", len(found))).runs.append((number, (value if of_row is None else of_row.get(number)) or 0.0))
        return list(found.values())

    def check_alike(self, alike):
        self.common = self.common or alike
        for what, one, other in zip(ALIKE, self.common, alike):
            if one != other:
                raise Refused(f"trials with different {what} ({one}, {other}) cannot be compared; select some of them, for example with --where \"{what} = '{other}'\"")

    def order(self):
        if self.request["order"]:
            self.place_by(self.request["order"])
        self.revisions.sort(key=lambda revision: revision.place)
        for revision in self.revisions:
            revision.runs.sort()
            revision.summarise()

    def place_by(self, path):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                names = [line.split()[0] for line in file if line.split()]
        except OSError as error:
            raise Refused(f"--order {path}: {error.strerror}") from error
        places = {name: place for place, name in enumerate(names)}
        for revision in self.revisions:
            if revision.name not in places:
                raise Refused(f"--order {path}: {revision.name} is missing, although it has runs; expected every revision, the oldest first")
            revision.place = places[revision.name]

    def changes(self):
        values = [value for revision in self.revisions for _, value in revision.runs]
        numbers = [number for number, revision in enumerate(self.revisions) for _ in revision.runs]
        return changes.find(values, numbers, self.request["least"] / 100)

    def runs_of(self, begin, end):
        return [number for revision in self.revisions[begin:end] for number, _ in revision.runs]

    def culprits(self, change, begin, end):
        """Returns (additional seconds, function, file, line) of the functions whose means changed most in the direction of the change."""
        more, total = change.after > change.before, self.sum_of("_e")
        old, new = self.runs_of(begin, change.at), self.runs_of(change.at, end)
        both = ",".join(map(str, old + new))
        rows = self.database.stored(
            f"SELECT max(name), max(file), max(line), sum(CASE WHEN trial IN ({','.join(map(str, new))}) THEN ({total}) / {len(new)}.0 ELSE -({total}) / {len(old)}.0 END)"
            f" AS more FROM metric JOIN context ON context.id = metric.context WHERE trial IN ({both}) AND kind <> 'statement' GROUP BY path"
            f" ORDER BY more {'DESC' if more else ''} LIMIT {CULPRITS}")
        least = 0.01 * abs(change.after - change.before)
        return [(value, name, file or "", line or 0) for name, file, line, value in rows if abs(value) >= least and (value > 0) == more]


def text_of(past, found):
    application, host, threads, ranks, _, unit = (clean(value) for value in past.common)
    unit = "s" if past.metric == "wall" else unit if METRICS[past.request["metric"]]["unit"] else ""
    of_row = f" of {clean(past.request['row'])}" if past.request["row"] else ""
    lines = [f"{application} on {host}, {threads} thread{'s' if threads != '1' else ''}{f', {ranks} ranks' if ranks != '1' else ''}: {past.metric}{of_row} of each revision{', ' + unit if unit else ''}",
             f"  {past.request['by']:<{NAME_COLUMNS}}  {'first run':<10}  {'runs':>5}  {'median':>10}  {'least':>10}  {'most':>10}"]
    most = max(max(revision.median for revision in past.revisions), 0)
    for revision in past.revisions:
        bar = "#" * sum(1 for i in range(BAR_COLUMNS) if most > 0 and i < BAR_COLUMNS * revision.median / most - 0.5)
        lines.append(f"  {fit(revision.name, NAME_COLUMNS, utf8_terminal()):<{NAME_COLUMNS}}  {revision.first:<10}  {len(revision.runs):>5}"
                     f"  {decimal(revision.median, 3):>10}  {decimal(revision.least, 3):>10}  {decimal(revision.most, 3):>10}  {bar}")
    if len(past.revisions) == 1:
        lines.append("there is only one revision, so there is nothing to compare")
    else:
        lines.append(f"{len(found)} significant change{'s' if len(found) > 1 else ''}:" if found else "no significant change")
    edges = [0, *(change.at for change in found), len(past.revisions)]
    for i, change in enumerate(found):
        lines += change_lines(past, change, edges[i], edges[i + 2])
    return "\n".join(lines) + "\n"


def change_lines(past, change, begin, end):
    revision, old = past.revisions[change.at], past.revisions[change.at - 1]
    said = ""
    if change.before > 0:
        per_cent = 100 * (change.after / change.before - 1)
        said = f"{'+' if per_cent > 0 else ''}{decimal(per_cent, 1)} %"
        if min(len(past.runs_of(begin, change.at)), len(past.runs_of(change.at, end))) > 2:
            said += f" ({decimal(100 * change.low, 1)} to {decimal(100 * change.high, 1)} %)"
        said += ", "
    lines = [f"  since {clean(revision.name)} ({revision.first}): {said}from {decimal(change.before, 3)} to {decimal(change.after, 3)}; {clean(old.name)} was the last one before. Probability by chance: {decimal(100 * change.chance, 1)} %."]
    for value, name, file, line in past.culprits(change, begin, end):
        where = f"  {base_name(clean(file))}:{line}" if file else ""
        lines.append(f"       {'+' if value > 0 else ''}{decimal(value, 3)}  {fit(name, 50, utf8_terminal())}{where}")
    return lines


def csv_text(past, found):
    by_revision = {change.at: change for change in found}
    rows = []
    for number, revision in enumerate(past.revisions):
        change, numbers = by_revision.get(number), [None] * 4
        if change and change.before > 0:
            numbers[:3] = (decimal(100 * value, 3) for value in (change.after / change.before - 1, change.low, change.high))
        if change:
            numbers[3] = decimal(change.chance, 3)
        rows.append([revision.name, revision.first, len(revision.runs), *map(float, (revision.median, revision.least, revision.most)), *numbers])
    return csv_of("revision,first_run,runs,median,least,most,change_percent,low_percent,high_percent,chance".split(","), rows)


def main(argv):
    request, operands, _ = read_options(argv)
    if operands:
        raise Refused(f"unexpected argument {operands[0]}; --where chooses trials", BAD_USAGE)
    if request["row"] and request["metric"] == "wall":
        raise Refused(f"--row {request['row']}: also give a --metric other than wall, which functions do not have", BAD_USAGE)
    with opened("history", database_path(request["db"])) as database:
        past = Past(request, database)
        found = past.changes()
        text = csv_text(past, found) if request["format"] == "csv" else text_of(past, found)
    write_whole("history", request["output"], text)
    return DONE
