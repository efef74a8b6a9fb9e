"""The data of a report page (command/html/page), made without blame, of rows that a test thinks up."""

import base64
import json
import struct
from random import Random

KINDS = [
    "root",
    "procedure",
    "inlined",
    "parallel",
    "task",
    "statement",
    "runtime",
    "pseudo",
    "file",
    "module",
    "phase",
    "event",
    "parameter",
]
METRICS = ["samples", "work", "idleness", "overhead", "lock wait", "core idleness", "shared idleness", "lock wait here",
           "no core", "blocked", "mpi wait", "rank idleness"]
SUMMARY = {"lock wait": "waiting for locks"}
RARE = METRICS[-4:]  # which are not there where there is none
MARK = "<!--BLAME-DATA-->"


class Rows:
    """Rows in preorder, as the page takes them."""

    def __init__(self):
        self.strings = {"": 0}
        self.functions = {}
        self.columns = {
            name: [] for name in ("parent", "kind", "name", "module", "file", "note", "line", "call_line", "function")
        }
        self.inclusive = {metric: [] for metric in METRICS}
        self.exclusive = {metric: [] for metric in METRICS}

    def text(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def add(self, parent, kind, name, module="", file="", line=0, call_line=0, inclusive=(), exclusive=(), note=""):
        columns = self.columns
        columns["parent"].append(parent)
        columns["kind"].append(KINDS.index(kind))
        for column, text in (("name", name), ("module", module), ("file", file), ("note", note)):
            columns[column].append(self.text(text))
        columns["line"].append(line)
        columns["call_line"].append(call_line)
        like = ("statements", module, file) if kind == "statement" else (name, module, file, line)
        columns["function"].append(-1 if kind == "root" else self.functions.setdefault(like, len(self.functions)))
        for metric in METRICS:
            self.inclusive[metric].append(dict(inclusive).get(metric, 0))
            self.exclusive[metric].append(dict(exclusive).get(metric, 0))
        return len(columns["parent"]) - 1

    def data(self, **more):
        header = {
            "command": "program",
            "host": "host",
            "pid": 1,
            "wall_s": 1.0,
            "threads": 2,
            "thread_text": "2 threads",
            "cores": 2,
            "environment": "dedicated",
            "rate": 200,
            "clock": "wall",
            "finished": True,
            "version": "test",
        }
        metrics = [metric for metric in METRICS if metric not in RARE or any(self.inclusive[metric])]
        return {
            "format": 1,
            "title": "program",
            "run": {},
            "header": header,
            "metrics": [
                {"key": metric, "title": metric, "summary": SUMMARY.get(metric, ""), "unit": "" if metric == "samples" else "s"} for metric in metrics
            ],
            "default_metric": "idleness" if self.inclusive["idleness"][0] > 0 else "work",
            "strings": list(self.strings),
            "rows": {"count": len(self.columns["parent"]), **self.columns,
                     **{part: {metric: values[metric] for metric in metrics}
                        for part, values in (("i", self.inclusive), ("e", self.exclusive))}},
            "kinds": KINDS,
            "threads": [],
            "locks": {"columns": [], "rows": []},
            "waits": {"places": {"columns": [], "rows": []}, "pairs": {"place": [], "row": [], "us": []}},
            "findings": [],
            "sources": [],
            **more,
        }


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
NOBODY = 4095


def cells(values):
    """The cells of a map: two digits each."""
    return "".join(DIGITS[value // 64] + DIGITS[value % 64] for value in values)


def job(rows, count, threads, each=1):
    """The "ranks" of a job in which all wait for rank 1, whose last thread is not there. Rank 0 is on node10, rank 1 on node9, and so on."""
    def values(state, rank):
        waits = 0 if rank == 1 else 2000 + rank % 1000
        for thread in range(threads):
            if (rank, thread) == (1, threads - 1):
                yield NOBODY
            else:
                yield (waits if state == "mpi wait" else 4094 - waits) if thread == 0 else 4094 if state == "work" else 0

    def state(key):
        shares = [list(values(key, rank)) for rank in range(count)]
        return {"key": key, "us": [sum(value for value in of if value != NOBODY) * 100 for of in shares],
                "cells": cells(value for of in shares for value in of)}

    return {"count": count, "each": each, "map_threads": threads, "nodes": 2, "first": [each * rank for rank in range(count)],
            "last": [each * rank + each - 1 for rank in range(count)], "process": [0] * count,
            "state": [rows.text("whole")] * count, "why": [0] * (count - 1) + [rows.text("it had not ended")],
            "node": [rows.text(f"node{9 + (rank + 1) % 2}") for rank in range(count)], "counted": [each] * count,
            "threads": [threads * each] * count, "wall_us": [1000000] * count, "states": [state("work"), state("mpi wait")]}


def timeline(lanes, bins, bin_us, shares, contexts, tops=lambda lane, bin_: (), finer=4, threads=1, **more):
    """The "timeline" of lanes. shares: by state, the share of a lane in a bin of lanes; contexts: (row, {bin: (own, idleness, lock wait)});
    tops(lane, bin): pairs of a context's number and its share."""
    byte = lambda share: round(255 * share)  # noqa: E731
    text = lambda values: base64.b64encode(bytes(values)).decode()  # noqa: E731
    lane_bin = bin_us / finer
    states = [{"key": key, "us": [round(sum(of(lane, at) for lane in range(lanes)) * lane_bin * threads) for at in range(bins * finer)],
               "shares": text(byte(of(lane, at)) for lane in range(lanes) for at in range(bins * finer))} for key, of in shares.items()]
    first = [min(cells, default=0) for _, cells in contexts]
    end = [max(cells, default=-1) + 1 for _, cells in contexts]
    values = {key: text(b"".join(struct.pack("<f", cells.get(at, (0, 0, 0))[which]) for (_, cells), begin, stop in zip(contexts, first, end)
                                 for at in range(begin, stop))) for which, key in enumerate(("own", "idleness", "lock wait"))}
    named = bytearray()
    for lane in range(lanes):
        for at in range(bins):
            of = list(tops(lane, at))
            named.append(len(of))
            for context, share in of:
                named += struct.pack("<HB", context, byte(share))
    made = {"count": lanes, "thread": list(range(lanes)), "threads": [threads] * lanes, "rank": [-1] * lanes, "process": [0] * lanes, "last_rank": [-1] * lanes,
            "cells": list(range(lanes))}
    return {"origin_us": 0, "bin_us": bin_us, "lane_bin_us": lane_bin, "bins": bins, "lane_bins": bins * finer, "lanes": made | more,
            "states": states, "contexts": {"row": [row for row, _ in contexts], "first": first, "end": end, **values}, "tops": text(named)}


def many_rows(count, wide=0, **more):
    """A tree of `count` rows: paths up to 60 rows long, functions with many callers, statements; sums hold. Beside it a
    function with `wide` callees, each of which calls leaf()."""
    rows, random = Rows(), Random(1)
    rows.add(-1, "root", "<program root>")
    stack = [0]
    while len(rows.columns["parent"]) < count:
        # Up by some rows, down by one: subtrees of all sizes.
        del stack[max(1, len(stack) - random.choice((0, 0, 0, 1, 1, 2, 4)) - (len(stack) > 60)) :]
        own, which = int(random.paretovariate(1.2) * 100) % 1000000, int(random.paretovariate(0.6)) % 700
        exclusive = {
            "work": own,
            "idleness": own // 3,
            "samples": own // 50 + 1,
            "lock wait": own // 11,
            "shared idleness": own // 4,
        }
        kind = random.choice(("procedure", "procedure", "procedure", "inlined", "parallel"))
        name, file = f"space::solve<double, {which}>" if which % 2 else f"function_{which}", f"file{which % 60}.cc"
        row = rows.add(
            stack[-1], kind, name, "program", f"/src/{file}", which, random.randrange(1, 300), exclusive, exclusive
        )
        if random.random() < 0.3 and len(rows.columns["parent"]) < count:
            rows.add(
                row, "statement", f"{file}:{which + 3}", "program", f"/src/{file}", which + 3, 0, exclusive, exclusive
            )
        stack.append(row)
    caller = rows.add(0, "procedure", "caller", "program", "/f.c", 1) if wide else 0
    for call in range(wide):
        child = rows.add(caller, "procedure", f"callee{call % 1000}", "program", "/f.c", call, 7, {"work": 3}, {"work": 3})
        rows.add(child, "procedure", "leaf", "program", "/f.c", 2, 8, {"work": 1}, {"work": 1})
    parent, kind = rows.columns["parent"], rows.columns["kind"]
    for row in range(len(parent) - 1, 0, -1):
        if KINDS[kind[row]] != "statement":
            for metric in METRICS:
                rows.inclusive[metric][parent[row]] += rows.inclusive[metric][row]
    return rows.data(**more)


def fill(template, data):
    """The page with its data. `<` in the data never begins a tag."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    assert template.count(MARK) == 1
    return template.replace(MARK, f'<script type="application/json" id="blame-data">{text}</script>')
