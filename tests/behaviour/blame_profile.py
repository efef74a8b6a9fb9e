"""A profile directory as contract.md describes it, read without any help from the tool."""

import csv
import io
import json
import os

FIRST_METRICS = ["samples", "work", "idleness", "overhead", "lock wait", "core idleness", "shared idleness",
                 "lock wait here"]
LAST_METRICS = ["no core", "blocked", "mpi wait", "rank idleness"]  # behind all other columns
METRICS = FIRST_METRICS + LAST_METRICS
PERCENTAGES = [f"{kind} {metric}" for metric in ("work", "idleness", "overhead", "lock wait")
               for kind in ("absolute", "relative")]
COLUMNS = (["id", "parent", "depth", "kind", "name", "module", "file", "line", "call_line"]
           + [f"{metric} ({part})" for metric in FIRST_METRICS for part in "IE"] + PERCENTAGES)
ALL_COLUMNS = COLUMNS + [f"{metric} ({part})" for metric in LAST_METRICS for part in "IE"]
THREAD_COLUMNS = ["thread", "kind", "begin_s", "end_s", "samples", "work", "idle", "overhead", "lock_wait", "parked",
                  "no_core", "blocked", "stolen", "mpi_wait"]
LOCK_COLUMNS = ["lock", "kind", "symbol", "wait", "acquisitions_contended", "blamed_contexts"]
WAIT_COLUMNS = ["place", "place_kind", "place_function", "place_file", "place_line", "in_region", "context",
                "context_name", "seconds", "place_call"]

# What may stand between the root and `main`: the C library's and the loader's start-up code.
START_FRAMES = {"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl"}


class NotAProfile(Exception):
    """The files are not what the contract promises; the message says where."""


class Row:
    def __init__(self, cells):
        self.cells = cells
        self.id = int(cells["id"])
        self.parent_id = int(cells["parent"]) if cells["parent"] else None
        self.depth = int(cells["depth"])
        self.kind = cells["kind"]
        self.name = cells["name"]
        self.module = cells["module"]
        self.file = cells["file"]
        self.line = int(cells["line"] or 0)
        self.call_line = int(cells["call_line"] or 0)
        self.parent = None
        self.children = []

    def __getitem__(self, column):
        return float(self.cells[column])

    def effort(self):
        """What siblings are sorted by and percentages are relative to."""
        return sum(self[f"{metric} (I)"] for metric in ("work", "idleness", "overhead", "lock wait"))

    def clocked(self):
        """Of a busy thread's time by the clock, which runs on while it has no core, or sleeps."""
        return sum(self[f"{metric} (I)"] for metric in ("work", "no core", "blocked", "mpi wait"))

    def ancestors(self):
        row = self.parent
        while row is not None:
            yield row
            row = row.parent

    def path(self):
        """Names from below the root down to this row."""
        return [row.name for row in reversed([self, *self.ancestors()]) if row.kind != "root"]


def parse_csv(text, columns, what):
    rows = list(csv.reader(io.StringIO(text), strict=True))
    if not rows:
        raise NotAProfile(f"{what}: empty")
    header = rows[0]
    if header[:len(columns)] != columns:  # more may follow: the contract says add, do not rename
        raise NotAProfile(f"{what}: columns are {header}, not {columns}")
    for number, cells in enumerate(rows[1:], 2):
        if len(cells) != len(header):
            raise NotAProfile(f"{what}: line {number} has {len(cells)} cells, not {len(header)}")
    return [dict(zip(header, cells)) for cells in rows[1:]]


class Tree:
    """The rows of a profile.csv, or of what `blame report --format csv` prints."""

    def __init__(self, text, what="profile.csv"):
        try:
            self.rows = [Row(cells) for cells in parse_csv(text, COLUMNS, what)]
        except (ValueError, csv.Error) as error:
            raise NotAProfile(f"{what}: {error}") from error
        by_id = {row.id: row for row in self.rows}
        for row in self.rows:
            if row.parent_id is not None and row.parent_id in by_id and row.parent_id != row.id:
                row.parent = by_id[row.parent_id]
                row.parent.children.append(row)
        if not self.rows:
            raise NotAProfile(f"{what}: no rows")
        self.root = self.rows[0]

    def named(self, name):
        return [row for row in self.rows if row.name == name and row.kind != "statement"]

    def outermost(self, name):
        return [row for row in self.named(name) if all(above.name != name for above in row.ancestors())]

    def total(self, metric, name):
        """Inclusive metric over the outermost rows of a name."""
        return sum(row[f"{metric} (I)"] for row in self.outermost(name))

    def clocked(self, name):
        return sum(row.clocked() for row in self.outermost(name))

    def at_path(self, names):
        """Rows whose ancestors below the root are exactly these; start-up code before `main` does not count."""
        return [row for row in self.named(names[-1])
                if [name for name in row.path() if name not in START_FRAMES] == names]


class Profile(Tree):
    def __init__(self, directory):
        self.directory = directory
        super().__init__(self.read("profile.csv"))
        self.threads = parse_csv(self.read("threads.csv"), THREAD_COLUMNS, "threads.csv")
        self.locks = parse_csv(self.read("locks.csv"), LOCK_COLUMNS, "locks.csv")
        self.waits = parse_csv(self.read("waits.csv"), WAIT_COLUMNS, "waits.csv")
        try:
            self.run = json.loads(self.read("run.json"))
        except ValueError as error:
            raise NotAProfile(f"run.json: {error}") from error

    def read(self, name):
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8", newline="") as file:
                return file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise NotAProfile(f"{name}: {error}") from error

    def threads_total(self, column):
        return sum(float(thread[column]) for thread in self.threads)

    def lifetimes(self):
        return self.threads_total("end_s") - self.threads_total("begin_s")

    def rate(self):
        for key, value in self.run["options"].items():
            if key.lower().removeprefix("blame_") == "rate":
                return float(value)
        raise NotAProfile("run.json: options do not say the rate")

    def option(self, name):
        for key, value in self.run["options"].items():
            if key.lower().removeprefix("blame_") == name:
                return str(value)
        raise NotAProfile(f"run.json: options do not say {name}")
