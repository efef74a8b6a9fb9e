"""`blame scaling`: shows which code limits scaling, from runs of one program that differ in the number of threads (or ranks). The measure is thread
time. A program that scales perfectly has the same total thread time for any number of threads (or proportionally more, for weak scaling). Each thread
second is work, overhead, lock wait ... of one context, or idleness blamed on one context. So the thread time added at p is the sum of what its
contexts added, and its part of the total is the lost efficiency."""

import math

import numpy

from . import scaling_page
from .command import BAD_INPUT, BAD_USAGE, DONE, Refused, read_options, write_whole
from .fit import Design, Fit
from .runs import ALWAYS, PARTS, WORDS, database_path, directories_where, exported
from .text import base_name, clean, csv_of, decimal, fit, paragraph, plural, terminal_columns, utf8_terminal

TOLD = 0.01          # of the total effort: smallest loss that counts for `first_p`
LEAST_LOST = 0.0005  # of the total effort: what is printed as more than 0.0 %
LEAST_SHOWN = 0.05   # per cent of the total effort: smallest part for which a rare metric gets a column
ENOUGH = 5           # different numbers; with fewer, forms of a model cannot be distinguished
GROWN = 1.1          # factor by which thread time has grown if no model shows it
NO_CORES = 0.05      # of the total effort: smallest part that is mentioned
WIDE = 150           # columns; narrower terminals have no room for models, which are also in the CSV
NAME_COLUMNS, LEAST_NAME_COLUMNS, MODEL_COLUMNS = 48, 16, 32

class Context:
    """`values[inclusive or exclusive][part of the effort][point]` are medians over the point's runs. `runs` is the exclusive effort by run, and
    `variance` its variance by run."""

    def __init__(self, line):
        self.number, self.parent, self.depth, self.kind = line["context"], line["parent"], line["depth"], line["kind"]
        self.name, self.module, self.file, self.line = line["name"] or "", line["module"] or "", line["file"] or "", line["line"] or 0
        self.lines = []


class Scaling:
    """`heads`, `contexts`: as read() returns them. A point is one of the different numbers p. Arrays have a value for each point, the median of its
    runs, in seconds or events."""

    def __init__(self, heads, contexts, by, weak):
        self.by, self.weak, self.heads, self.contexts = by, weak, heads, contexts
        self.events = any(head["unit"] != "s" for head in heads)
        self.unit = "events" if self.events else "s"
        self.p = numpy.array([max(head[by], 1) for head in heads], dtype=float)
        self.numbers = numpy.unique(self.p)
        at = [WORDS.index(part) for part in PARTS]
        for context in contexts:
            values = numpy.array([[line["inclusive"], line["exclusive"], line["variance"]] for line in context.lines])[:, :, at]  # [run, kind, part]
            context.values = numpy.stack([[self.medians(values[:, kind, part]) for part in range(len(PARTS))] for kind in (0, 1)])
            context.runs, context.variance = values[:, 1].sum(axis=1), values[:, 2].sum(axis=1)
            context.effort = self.medians(context.runs)
            context.whole = self.medians(values[:, 0].sum(axis=1))
            del context.lines
        root = contexts[0]
        self.effort = root.whole
        self.grown = self.numbers / self.numbers[0] if weak else numpy.ones_like(self.numbers)
        self.ideal = self.effort[0] * self.grown
        self.wall = self.medians(numpy.array([head["wall_s"] for head in heads]))
        self.speed_up = numpy.divide(self.wall[0] * self.grown, self.wall, out=numpy.zeros_like(self.wall), where=self.wall > 0)
        self.efficiency = self.speed_up / (self.numbers / self.numbers[0])
        self.run_count = [int((self.p == number).sum()) for number in self.numbers]
        self.next = 2 * float(self.numbers[-1])
        self.design = Design(self.numbers, self.next) if len(self.numbers) >= 3 else None
        self.shown = [i for i in range(len(PARTS)) if i < ALWAYS or (root.values[0, i] > LEAST_SHOWN / 100 * self.effort).any()]
        most = self.effort.max()
        self.decimals = (2 if most < 1000 else 0) if self.events else 3 if most < 100 else 2 if most < 10000 else 1

    def medians(self, by_run):
        return numpy.array([numpy.median(by_run[self.p == number]) for number in self.numbers])

    def fit(self, values):
        return self.design.fit(values) if self.design else Fit()

    def rows(self):
        """Returns the rows of all contexts that have any effort, those that lost most first."""
        found = [Row(self, context) for context in self.contexts if context.kind != "statement" and numpy.abs(context.effort).max() > 0]
        return sorted(found, key=lambda row: (-row.lost, row.context.number))

    def no_core(self):
        """Returns the time at the last point for which threads had no core, or waited for threads without one."""
        return float(sum(context.effort[-1] for context in self.contexts if context.kind == "pseudo" and context.name == "<no core>"))

    def order(self):
        """Returns the contexts' positions in the order of a printed tree, siblings sorted by their idleness."""
        idleness = PARTS.index("idleness")
        below = {}
        for context in self.contexts[1:]:
            below.setdefault(context.parent, []).append((-abs(context.values[0, idleness].max()), context.number))
        order, stack = {}, [0]
        while stack:
            number = stack.pop()
            order[number] = len(order)
            stack += [child for _, child in sorted(below.get(number, []), reverse=True)]
        return order


class Row:
    """A context's own thread time and the idleness blamed on it. `lost`: the increase at the last point, as a part of the total effort there.
    `first_p`: the number from which on the loss exceeds TOLD and chance; 0: none. `part`: the metric that grew most."""

    def __init__(self, scaling, context):
        self.context = context
        more = context.effort - scaling.grown * context.effort[0]
        self.by_point = numpy.divide(more, scaling.effort, out=numpy.zeros_like(more), where=scaling.effort > 0)
        self.lost = float(self.by_point[-1])
        self.first_p = 0.0
        for point in range(len(more) - 1, 0, -1):
            if more[point] < TOLD * scaling.effort[point] or more[point] < self.unsure(scaling, point):
                break
            self.first_p = float(scaling.numbers[point])
        parts = context.values[1, :, -1] - scaling.grown[-1] * context.values[1, :, 0]
        self.part = int(numpy.argmax(parts)) if parts.max() > 0 else PARTS.index("work")
        self.fit = scaling.fit(context.effort)

    def unsure(self, scaling, point):
        """Returns three standard errors of sampling. If a point has several runs, their own scatter is already reflected in the medians."""
        first, here = scaling.p == scaling.numbers[0], scaling.p == scaling.numbers[point]
        variance = (scaling.grown[point] ** 2 * self.context.variance[first].sum() / first.sum() ** 2 + self.context.variance[here].sum() / here.sum() ** 2)
        return 3 * math.sqrt(variance)


# ---- names ----

def short_name(context):
    """Returns a function's name without its parameters, for which lists of callers have no room."""
    name = context.name
    if context.kind not in ("procedure", "inlined"):
        return name
    text = name[:-6] if name.endswith(" const") and len(name) > 6 else name
    if not text.endswith(")"):
        return name
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if not depth:
            return text[:at] if at and not text[:at].endswith("operator") else name
    return name


def label(scaling, context, columns, utf8):
    """Returns "name file.c:12 < caller < caller" in at most `columns` columns, with as many callers as fit."""
    place = f"  {base_name(context.file)}:{context.line}" if context.kind not in ("parallel", "task") and context.file and context.line > 0 else ""
    text = fit(short_name(context), NAME_COLUMNS if columns > 2 * NAME_COLUMNS else columns * 6 // 10, utf8)
    text += fit(place, columns - len(text), utf8) if place else ""
    arrow, above = "  < ", context.parent
    while above:
        caller = scaling.contexts[above]
        left = max(columns - len(text) - len(arrow), 0)
        name, most = short_name(caller), min(left if caller.parent == 0 else max(left - 6, 0), NAME_COLUMNS)
        fits = len(name) <= most or most >= LEAST_NAME_COLUMNS
        if fits or left >= 3:
            text += arrow + (fit(name, most, utf8) if fits else "...")
        if not fits:
            break
        arrow, above = " < ", caller.parent
    return text


# ---- text ----

def foretold(found, decimals):
    return f"{decimal(found.at, decimals)} ({decimal(max(found.low, 0), decimals)} to {decimal(found.high, decimals)})" if found.tells() else "no forecast"


def points_text(scaling):
    titles = "".join(f" {PARTS[part].replace('-', ' '):>10}" for part in scaling.shown)
    lines = [f"{scaling.by:>8} {'runs':>5} {'wall':>10} {'speed-up':>9} {'efficiency':>11} {'thread time':>12}{titles}"]
    for i, number in enumerate(scaling.numbers):
        shares = (100 * scaling.contexts[0].values[0, part, i] / scaling.effort[i] if scaling.effort[i] > 0 else 0 for part in scaling.shown)
        lines.append(f"{decimal(number, 0):>8} {scaling.run_count[i]:>5} {decimal(scaling.wall[i], 3):>10} {decimal(scaling.speed_up[i], 2):>9}"
                     f" {decimal(100 * scaling.efficiency[i], 1):>9} % {decimal(scaling.effort[i], scaling.decimals):>12}"
                     + "".join(f" {decimal(share, 1):>8} %" for share in shares))
    return "\n".join(lines) + "\n"


def whole_text(scaling, columns):
    if not scaling.design:
        return paragraph("No model: a model needs runs with at least three different numbers.", columns)
    found, next_p = scaling.fit(scaling.effort), decimal(scaling.next, 0)
    first, last = (decimal(scaling.effort[i], scaling.decimals) for i in (0, -1))
    unclear = not found.form and scaling.effort[-1] > GROWN * scaling.effort[0]
    if found.form:
        text = f"Thread time grows as {found.text()}. "
    else:
        text = f"Thread time {'grows' if unclear else 'does not grow'}: {first} to {last} {scaling.unit}. "
    if found.tells() and not unclear:
        wall = Fit(at=found.at / scaling.next, low=found.low / scaling.next, high=found.high / scaling.next)
        of_wall = "" if scaling.events else f" and, with a core for each, {foretold(wall, 3)} s of wall time"
        text += f"With {next_p} {scaling.by} it will be {foretold(found, scaling.decimals)} {scaling.unit}{of_wall}."
    else:
        why = "one of the many forms always fits three numbers" if found.few else "no form fits better than chance" if unclear else f"{found.allowed} forms fit about equally well, and differ there by more than a factor of 2"
        text += f"There is no forecast for {next_p} {scaling.by}: {why}."
    text = paragraph(text, columns)
    if len(scaling.numbers) < ENOUGH:
        text += paragraph("Models based on fewer than five different numbers are guesses: a constant, a root and a logarithm look alike.", columns)
    return text


def rows_text(scaling, top, columns, utf8):
    models, rows = scaling.design is not None and columns >= WIDE, scaling.rows()
    shown = [row for row in rows[:top] if row.lost >= LEAST_LOST]
    text = ""
    if shown:
        first, last = (decimal(number, 0) for number in (scaling.numbers[0], scaling.numbers[-1]))
        text = f"{'lost':>9} {'from':>6}  {'most of it':<10} {scaling.unit + ' at ' + first:>12} {'at ' + last:>9}"
        text += f"  {'grows as':<{MODEL_COLUMNS}}  {'at ' + decimal(scaling.next, 0):<24}\n" if models else "\n"
    for row in shown:
        line = (f"{decimal(100 * row.lost, 1):>7} % {decimal(row.first_p, 0) if row.first_p else '-':>6}  {PARTS[row.part].replace('-', ' '):<13}"
                f" {decimal(row.context.effort[0], scaling.decimals):>9} {decimal(row.context.effort[-1], scaling.decimals):>9}  ")
        if models:
            line += f"{row.fit.text():<{MODEL_COLUMNS}}  {foretold(row.fit, scaling.decimals):<24}  "
        text += line + label(scaling, row.context, max(columns - 53 - (MODEL_COLUMNS + 28 if models else 0), 30), utf8) + "\n"
    return text if rows and rows[0].lost >= LEAST_LOST else text + "Nothing grows: the program scales.\n"


def text_of(scaling, top):
    columns, last = terminal_columns(), decimal(scaling.numbers[-1], 0)
    more = scaling.effort[-1] - scaling.ideal[-1]
    text = points_text(scaling) + "\n" + whole_text(scaling, columns) + "\n"
    text += paragraph(
        f"With {last} {scaling.by} there are {decimal(more, scaling.decimals)} {scaling.unit} more of thread time than"
        f" {'as many times that with ' if scaling.weak else 'with '}{decimal(scaling.numbers[0], 0)}:"
        f" {decimal(100 * more / scaling.effort[-1] if scaling.effort[-1] > 0 else 0, 1)} % of it. The code that causes the increase, with its own time and the idleness blamed on it:",
        columns) + "\n"
    text += rows_text(scaling, top, columns, utf8_terminal())
    lost = scaling.no_core()
    if lost > NO_CORES * scaling.effort[-1]:
        text += "\n" + paragraph(
            f"With {last} {scaling.by}, threads had no core, or waited for threads without one, for {decimal(100 * lost / scaling.effort[-1], 1)} % of"
            " the thread time. To see how the program itself scales, use a machine with a core for each thread.", columns)
    return text


# ---- CSV ----

def csv_text(scaling):
    order = scaling.order()
    titles = ["id", "parent", "depth", "kind", "name", "module", "file", "line", scaling.by, "runs", "wall", "speed-up", "efficiency", "lost", *PARTS, "model", "model at",
              "foretold", "low", "high"]

    def model(found):
        if not scaling.design:
            return (None,) * 5
        return (found.text(), scaling.next, *((found.at, found.low, found.high) if found.tells() else (None,) * 3))

    whole, rows = scaling.fit(scaling.effort), []
    for i, number in enumerate(scaling.numbers):
        lost = (scaling.effort[i] - scaling.ideal[i]) / scaling.effort[i] if scaling.effort[i] > 0 else 0
        numbers = [scaling.wall[i], scaling.speed_up[i], scaling.efficiency[i], lost, *scaling.contexts[0].values[0, :, i]]
        rows.append((len(scaling.contexts), None, 0, "whole", "<whole>", None, None, None, int(number), scaling.run_count[i], *map(float, numbers), *model(whole)))
    for row in scaling.rows():
        context = row.context
        head = (order[context.number], order.get(context.parent), context.depth, context.kind, context.name, context.module, context.file, context.line or None)
        for i, number in enumerate(scaling.numbers):
            rows.append((*head, int(number), scaling.run_count[i], None, None, None, *map(float, (row.by_point[i], *context.values[1, :, i])), *model(row.fit)))
    return csv_of(titles, rows, end="\r\n")


def read(arguments):
    """Returns (heads, contexts) of the runs, with contexts matched across runs. Raises Refused after `blame export` has printed its messages."""
    heads, contexts = [], []
    with exported("scaling", arguments) as lines:
        for line in lines:
            if line["record"] == "run":
                heads.append(line)
            elif line["record"] == "context":
                contexts.append(Context(line))
            elif line["record"] == "values":
                contexts[-1].lines.append(line)
    return (heads, contexts) if lines.status == 0 else None


def main(argv):
    request, operands, _ = read_options(argv)
    if not operands and request["where"] is None:
        raise Refused("no profile given; expected profile directories, *.blame files or directories that contain profiles, or --where SQL", BAD_USAGE)
    found = directories_where("scaling", database_path(request["db"]), request["where"]) if request["where"] is not None else []
    arguments = ["--common", request["view"], *(["--environment", request["environment"]] if request["environment"] else []), "--", *found, *operands]
    runs = read(arguments)
    if runs is None:
        return BAD_INPUT
    heads, contexts = runs
    numbers = {max(head[request["by"]], 1) for head in heads}
    if len(numbers) < 2:
        other = "ranks" if request["by"] == "threads" else "threads"
        same = "this is the only run" if len(heads) == 1 else f"all {len(heads)} runs have {plural(numbers.pop(), request['by'][:-1])}"
        raise Refused(f"{heads[0]['path']}: {same}; give runs with different numbers of {request['by']}, or --by {other}")
    scaling = Scaling(heads, contexts, request["by"], request["weak"])
    text = (csv_text(scaling) if request["format"] == "csv" else scaling_page.page_of(scaling, request["top"], f"{clean(heads[0]['program'] or '')}: scaling", label, foretold)
            if request["format"] == "html" else text_of(scaling, request["top"]))
    write_whole("scaling", request["output"], text)
    return DONE
