"""Writes a profile directory by hand: what the checks are checked with."""

import csv
import json
import os

from blame_profile import ALL_COLUMNS, LOCK_COLUMNS, METRICS, THREAD_COLUMNS, WAIT_COLUMNS

THREADS, CORES = 2, 2
SECONDS_COLUMNS = [f"{metric} ({part})" for metric in METRICS if metric != "samples" for part in "IE"]


class Node:
    """Exclusive numbers: work, overhead, lock wait, inverse busy time and so on, in seconds."""

    def __init__(self, kind, name, children=(), line=0, call_line=0, **seconds):
        self.kind, self.name, self.children, self.line, self.call_line = kind, name, list(children), line, call_line
        own = sum(seconds.get(part, 0) for part in ("work", "overhead", "lock_wait", "no_core", "blocked", "mpi_wait"))
        inverse = seconds.get("inverse_busy", own)
        self.exclusive = {
            "samples": round(own * 1000),
            "work": seconds.get("work", 0),
            "idleness": THREADS * inverse - own,
            "overhead": seconds.get("overhead", 0),
            "lock wait": seconds.get("lock_wait", 0),
            "core idleness": CORES * inverse - own,
            "shared idleness": seconds.get("shared", 0),
            "lock wait here": seconds.get("here", 0),
            "no core": seconds.get("no_core", 0),
            "blocked": seconds.get("blocked", 0),
            "mpi wait": seconds.get("mpi_wait", 0),
            "rank idleness": seconds.get("rank_idleness", 0),
        }

    def inclusive(self, metric):
        return self.exclusive[metric] + sum(child.inclusive(metric) for child in self.children
                                            if child.kind != "statement")

    def effort(self):
        return sum(self.inclusive(metric) for metric in ("work", "idleness", "overhead", "lock wait"))


def statement(line, **seconds):
    return Node("statement", f"fake.c:{line}", line=line, **seconds)


def example():
    """Two threads: a serial second; a region where slow() runs 2 s beside fast()'s one; a lock held for 0.5 s of it. The
    serial code had no core for half a second more, and read for a quarter."""
    slow = Node("procedure", "slow", [statement(12, work=2.0, lock_wait=0.5, inverse_busy=1.75, shared=1.0)], 10, 21,
                work=2.0, lock_wait=0.5, inverse_busy=1.75, shared=1.0)
    fast = Node("procedure", "fast", [statement(16, work=0.5, inverse_busy=0.25, here=0.5)], 15, 23,
                work=0.5, inverse_busy=0.25, here=0.5)
    region = Node("parallel", "main [parallel fake.c:20]", [slow, fast], 20, 20)
    no_core = Node("pseudo", "<no core>", no_core=0.5, inverse_busy=0.5)
    serial = Node("procedure", "serial", [statement(6, work=1.0, blocked=0.25, inverse_busy=1.25), no_core], 5, 19,
                  work=1.0, blocked=0.25, inverse_busy=1.25)
    return Node("root", "<program root>", [Node("procedure", "main", [region, serial], 18)])


def tree_rows(root):
    rows = []

    def visit(node, parent, depth):
        row = {"id": len(rows), "parent": "" if parent is None else parent, "depth": depth, "kind": node.kind,
               "name": node.name, "module": "" if node.kind == "root" else "fake",
               "file": "" if node.kind == "root" else "fake.c", "line": node.line or "",
               "call_line": node.call_line or ""}
        rows.append(row)
        for metric in METRICS:
            row[f"{metric} (I)"], row[f"{metric} (E)"] = node.inclusive(metric), node.exclusive[metric]
        for metric in ("work", "idleness", "overhead", "lock wait"):
            value = 100 * node.inclusive(metric)
            row[f"absolute {metric}"] = f"{value / root.effort():.3f}"
            row[f"relative {metric}"] = f"{value / node.effort() if node.effort() else 0:.3f}"
        for child in sorted(node.children, key=Node.effort, reverse=True):
            visit(child, row["id"], depth + 1)

    visit(root, None, 0)
    for row in rows:
        for column in SECONDS_COLUMNS:
            row[column] = f"{row[column]:.6f}"
    return rows


def example_run():
    return {
        "version": "fake", "command": ["./fake"], "host": "here", "pid": 1, "start_time": "2000-01-01T00:00:00Z",
        "wall_s": 3.0, "threads_max": THREADS, "cores": CORES, "runtime_version": "fake",
        "options": {"rate": 1000, "clock": "wall", "environment": "dedicated"},
        "samples": {"delivered": 6003, "recorded": 6000, "dropped": {"in tool": 3}},
        "idle_total_s": 2.0, "no_core_s": 0.0, "modules": [{"path": "/fake"}],
        "conservation": {name: {"left": 4.0, "right": 4.0} for name in ("time", "lock wait", "shared", "thread")},
    }


def example_threads():
    return [
        dict(zip(THREAD_COLUMNS, [0, "initial", "0.000000", "3.750000", 3000, "3.000000", "0.000000", "0.000000",
                                  "0.000000", "0.000000", "0.500000", "0.250000", "0.000000", "0.000000"])),
        dict(zip(THREAD_COLUMNS, [1, "worker", "0.000000", "3.000000", 3000, "0.500000", "2.000000", "0.000000",
                                  "0.500000", "0.000000", "0.000000", "0.000000", "0.000000",
                                  "0.000000"])),
    ]


def write_csv(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def waits(rows):
    """One place where all waited for all."""
    pairs = []
    for row in rows:
        seconds = sum(float(row[f"{metric} (E)"]) for metric in ("idleness", "lock wait", "rank idleness"))
        if row["kind"] != "statement" and seconds:
            pairs.append(dict(zip(WAIT_COLUMNS, [0, "barrier", "here", "fake.c", 1, 0, row["id"], row["name"],
                                                 f"{seconds:.6f}", ""])))
    return pairs


def write(directory, rows=None, threads=None, run=None, columns=None, pairs=None):
    os.makedirs(directory, exist_ok=True)
    rows = tree_rows(example()) if rows is None else rows
    write_csv(os.path.join(directory, "profile.csv"), ALL_COLUMNS if columns is None else columns, rows)
    write_csv(os.path.join(directory, "threads.csv"), THREAD_COLUMNS, example_threads() if threads is None else threads)
    write_csv(os.path.join(directory, "locks.csv"), LOCK_COLUMNS, [])
    write_csv(os.path.join(directory, "waits.csv"), WAIT_COLUMNS, waits(rows) if pairs is None else pairs)
    with open(os.path.join(directory, "run.json"), "w", encoding="utf-8") as file:
        json.dump(example_run() if run is None else run, file)
