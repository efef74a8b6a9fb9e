"""`blame db`: keeps runs in a database, and finds them again."""

import contextlib
import os
import re

from . import trials
from .command import BAD_INPUT, BAD_USAGE, DONE, Refused, read_options, say, write_whole
from .database import opened
from .runs import FILE_COLUMNS, PARTS, database_path, exported, on_server
from .text import base_name, clean, csv_of, decimal, fit

META = re.compile(r"([A-Za-z0-9_.-]{1,63})=([^\n]*)")

# Options that only some actions accept.
LIMITED = {"--application": ("add",), "--experiment": ("add",), "--meta": ("add",), "--sums": ("add",), "--where": ("list", "export", "prune"), "--top": ("show",),
           "--locations": ("export",), "--keep": ("prune",), "--dry-run": ("prune",), "--output": ("list", "show", "export")}


def pairs_of(option, items, command=None):
    """Returns (KEY, VALUE) pairs of an option that was given once or several times. Raises Refused."""
    for item in items:
        if not all(META.fullmatch(line) for line in item.split("\n")):
            raise Refused(f"{option} {item}: expected KEY=VALUE, where KEY has at most 63 letters, digits, '_', '.' and '-'", BAD_USAGE, command)
    return [META.fullmatch(line).groups() for item in items for line in item.split("\n")]


class Request:
    def __init__(self, action, operands, values):
        self.action, self.operands, self.command = action, operands, f"db {action}"
        self.__dict__.update(values)
        self.csv, self.path = self.format == "csv", database_path(self.db)

    def open(self, use="read"):
        return opened(self.command, self.path, use, self.wait)

    def refuse(self, message, status=BAD_INPUT):
        raise Refused(message, status, self.command)

    def write(self, text):
        write_whole(self.command, self.output, text)


def main(argv):
    values, operands, given = read_options(argv)
    action, operands = operands[0], operands[1:]
    if action not in ACTIONS:
        raise Refused(f"{action}: unknown action; expected one of {', '.join(ACTIONS)}", BAD_USAGE)
    run, takes, what = ACTIONS[action]
    request = Request(action, operands, values)
    for option, actions in LIMITED.items():
        if option in given and action not in actions:
            names = " or ".join(filter(None, (", ".join(actions[:-1]), actions[-1])))
            request.refuse(f"{option}: can only be used with {names}", BAD_USAGE)
    request.given = pairs_of("--meta", request.meta, request.command)
    if takes == 0 and operands:
        request.refuse(f"unexpected argument {operands[0]}; --where chooses trials", BAD_USAGE)
    if takes == 1 and not operands:
        request.refuse(f"no {what} given; see blame db --help", BAD_USAGE)
    return run(request)


# ---- add ----

SAID = {trials.NEW: "added", trials.THERE: "was there already", trials.RENEWED: "existed in an older state, and was updated",
        trials.OUTDATED: "exists in a newer state, and was kept"}


def tell(request, head, result):
    path = clean(head["path"])
    if request.csv:
        print(csv_of(None, [(result.trial, head["run"], result.added, head["path"])], end=""), flush=True)
    else:
        more = "; its metadata and names were updated" if result.named and result.added in (trials.THERE, trials.OUTDATED) else ""
        print(f"{path}: trial {result.trial} {SAID[result.added]}{more}", flush=True)
    if result.other:
        say(request.command, f"{path}: application {request.application} also has trials of another program: {result.other}")


def add(request):
    given = [("user", *pair) for pair in request.given]
    if request.csv:
        print("trial,run,status,profile")
    with contextlib.ExitStack() as closing:
        # A new database is created with its first run, so that operands without a run leave no empty database behind.
        database = closing.enter_context(request.open("write")) if on_server(request.path) or os.path.exists(request.path) else None
        lines = closing.enter_context(exported(request.command, [*(["--sums"] if request.sums else []), "--", *request.operands]))
        rest = iter(lines)
        for head in rest:
            if head["record"] != "run":
                continue  # the run was already in the database
            database = database or closing.enter_context(request.open("write"))
            trial = trials.Trial(head, rest, given, request.application, request.experiment)
            tell(request, head, trials.add(database, trial))
    return DONE if lines.status == 0 else BAD_INPUT


# ---- list ----

TITLES = ("trial", "started", "application", "experiment", "host", "ranks", "threads", "wall s", "work %", "blame %")
TEXTS = range(1, 5)  # positions of the text columns
EFFORT = f"max({' + '.join(PARTS).replace('-', '_')}, 1e-9)"
LISTED = ("id, started, application, experiment, host, ranks, threads, printf('%.2f', wall_s), printf('%.1f', 100 * work / {effort}),"
          " printf('%.1f', 100 * (idleness + overhead + lock_wait) / {effort})").format(effort=EFFORT)


def table(titles, rows, texts):
    """Returns lines of cells below their titles. Numbers are aligned to the right."""
    rows = [titles, *([fit("" if cell is None else str(cell), 40, True) for cell in row] for row in rows)]
    width = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    return "".join("  ".join(f"{cell:<{width[i]}}" if i in texts else f"{cell:>{width[i]}}" for i, cell in enumerate(row)).rstrip() + "\n" for row in rows)


def as_text(value):
    """Returns a value as SQLite's own shell prints it."""
    if isinstance(value, float):
        text = f"{value:.15g}"
        return text if set(text) & set(".en") else text + ".0"
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def show_list(request):
    with request.open() as database:
        if request.csv:
            rows = database.trials("*", request.where, "id")
            text = csv_of(database.titles, [[as_text(value) if isinstance(value, bytes) else value for value in row] for row in rows])
        else:
            user = [name for name, in database.ask("SELECT DISTINCT name FROM metadata WHERE kind = 'user' AND name NOT LIKE 'tune.%' ORDER BY name")]
            rows = database.trials(LISTED, request.where, "id")
            said = {(trial, name): value for trial, name, value in database.ask("SELECT trial, name, value FROM metadata WHERE kind = 'user'")}
            user = [name for name in user if any((row[0], name) in said for row in rows)]
            rows = [(*row, " ".join(f"{name}={said[row[0], name]}" for name in user if (row[0], name) in said)) for row in rows]
            text = table([*TITLES, "said"], rows, {*TEXTS, 10}) if user else table(TITLES, [row[:-1] for row in rows], TEXTS)
    request.write(text)
    return DONE


# ---- show ----

CONTEXTS = ("SELECT metric.context, idleness_e + overhead_e + lock_wait_e AS blame, work_e, context.name, coalesce(context.file, context.module, ''),"
            " coalesce(context.line, 0), (SELECT name FROM context AS above WHERE above.id = context.parent)"
            " FROM metric JOIN context ON context.id = metric.context WHERE metric.trial = ? AND context.kind <> 'statement'"
            " ORDER BY idleness_e + overhead_e + lock_wait_e + work_e * 1e-9 DESC, metric.context LIMIT ?")


def facts_of(database, trial, order):
    row = database.guard("SELECT * FROM run WHERE id = ?", (trial,))[0]
    own = [(title, as_text(value)) for title, value in zip(database.titles, row) if value is not None]
    return own, database.ask(f"SELECT kind, name, value FROM metadata WHERE trial = ? ORDER BY {order}", (trial,))


def shown(database, trial, top):
    own, facts = facts_of(database, trial, "kind = 'user' DESC, kind, name, value")
    text = "".join(f"{'trial' if title == 'id' else title:<16} {clean(as_text(value))}\n" for title, value in own)
    text += "".join(f"{kind:<16} {clean(name)} = {clean(as_text(value))}\n" for kind, name, value in facts)
    if top:
        text += f"\n{'context':>10} {'blame s':>12} {'work s':>12}  contexts, sorted by the blame on their own code\n"
        for context, blame, work, name, file, line, above in database.stored(CONTEXTS, (trial, top)):
            text += f"{context:>10} {decimal(blame, 6):>12} {decimal(work, 6):>12}  " + clean(f"{name}  {base_name(file)}:{line}{'  < ' + above if above else ''}") + "\n"
    return text


def show(request):
    with request.open() as database:
        texts = []
        for operand in request.operands:
            trial = database.find(operand)
            if request.csv:
                own, facts = facts_of(database, trial, "kind, name, value")
                texts.append(csv_of(None, [(trial, "run", title, value) for title, value in own] + [(trial, *fact) for fact in facts]))
            else:
                texts.append(shown(database, trial, request.top))
    request.write("trial,kind,name,value\n" + "".join(texts) if request.csv else "\n".join(texts))
    return DONE


# ---- export and prune ----

def choose(database, request, everything):
    """Returns the trials that were named and those for which the condition is true. If neither was given, returns all trials if `everything` is
    true."""
    chosen = [database.find(operand) for operand in request.operands]
    if request.where is not None or (everything and not request.operands):
        chosen += [number for number, in database.trials("id", request.where, "id")]
    return chosen


def export(request):
    values = ", ".join(f"m.{name}_i, m.{name}_e" for name in FILE_COLUMNS)
    context = f"m.context, c.parent, c.depth, c.kind, c.name, c.module, c.file, c.line, c.call_line, {values}"
    titles = ["trial", "location", "rank", "thread", "context", "parent", "depth", "kind", "name", "module", "file", "line", "call_line",
              *(f"{name}_{end}" for name in FILE_COLUMNS for end in "ie")]
    sums = f"SELECT m.trial, NULL, NULL, NULL, {context} FROM metric AS m JOIN context AS c ON c.id = m.context WHERE m.trial = ? ORDER BY m.context"
    locations = (f"SELECT m.trial, l.number, l.rank, l.thread, {context} FROM location AS l JOIN location_metric AS m ON m.trial = l.trial AND"
                 " m.location = l.number JOIN context AS c ON c.id = m.context WHERE m.trial = ? ORDER BY l.number, m.context")
    with request.open() as database:
        chosen = choose(database, request, True)
        rows = [row for trial in chosen for question in (sums, *([locations] if request.locations else [])) for row in database.stored(question, (trial,))]
    request.write(csv_of(titles, rows) if chosen else "")
    return DONE


OLD = ("SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY experiment ORDER BY started DESC, id DESC) AS place FROM trial)"
       " WHERE place > ? ORDER BY id")


def prune(request):
    if not request.operands and request.where is None and request.keep is None:
        request.refuse("no trial given; expected TRIAL ..., --where SQL, --keep N", BAD_USAGE)
    with request.open("read" if request.dry_run else "change") as database:
        chosen = choose(database, request, False)
        if request.keep is not None:
            chosen += [number for number, in database.ask(OLD, (request.keep,))]
        chosen = sorted(set(chosen))
        if chosen and not request.dry_run:
            trials.remove(database, chosen)
    if request.csv:
        print("\n".join(["trial", *map(str, chosen)]))
    elif chosen:
        print(f"trials {', '.join(map(str, chosen))} {'would be removed' if request.dry_run else 'removed'}")
    else:
        print("no trial matches; nothing was removed")
    return DONE


ACTIONS = {"add": (add, 1, "profile"), "list": (show_list, 0, None), "show": (show, 1, "trial"), "export": (export, 2, None), "prune": (prune, 2, None)}
