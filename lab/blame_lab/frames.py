"""Profiles in notebooks: `blame_lab.read(DIR)` returns tables as pandas frames. Column names end in their unit: `idleness_i_s` is inclusive idleness
in seconds."""

import contextlib
import io
import json
import os
import re
import subprocess

import pandas

VIEWS = {"contexts": "top-down", "functions": "flat", "threads": "threads", "locks": "locks", "waits": "waits", "ranks": "ranks", "timeline": "timeline"}
SECONDS = re.compile(r"(work|idleness|overhead|lock wait|lock wait here|core idleness|shared idleness|no core|blocked|mpi wait|rank idleness|wait|idle|no_core|mpi_wait|"
                     r"lock_wait|wall|rank_idleness|parked|stolen|stopped)( \([IE]\))?$")


def column(name, unit):
    """Returns the frame's name for a CSV column: idleness_i_s for "idleness (I)", absolute_idleness_percent for "absolute idleness"."""
    plain = name.replace(" (I)", "_i").replace(" (E)", "_e").replace(" ", "_")
    if SECONDS.match(name):
        return f"{plain}_{unit}"
    return f"{plain}_percent" if name.startswith(("absolute ", "relative ")) else plain


class Profile:
    """One run, or one job. contexts, functions, threads, locks, waits, ranks and timeline are pandas frames, which are read when they are first used.
    contexts and functions are indexed by `id` and have a column `parent`. Raises ValueError with blame's message if a table does not exist."""

    def __init__(self, directory, blame="blame"):
        self.directory, self.blame = os.fspath(directory), os.environ.get("BLAME_LAB_BLAME", blame)
        self.tables = {}
        self.unit = "s"  # "events" for a run with --sample
        with contextlib.suppress(OSError, ValueError), open(os.path.join(self.directory, "run.json"), encoding="utf-8") as file:
            self.unit = "events" if json.load(file).get("sample") else "s"
        self.table("threads")  # reports an unreadable profile at once

    def __getattr__(self, name):
        if name not in VIEWS:
            raise AttributeError(name)
        if name not in self.tables:
            self.tables[name] = self.table(VIEWS[name])
        return self.tables[name]

    def said(self, command, *options):
        run = subprocess.run([self.blame, command, self.directory, *options], capture_output=True, text=True, check=False)
        if run.returncode:
            raise ValueError(run.stderr.strip() or f"{self.blame} {command} ended with status {run.returncode}")
        return run.stdout

    def table(self, view):
        frame = pandas.read_csv(io.StringIO(self.said("report", "--view", view, "--format", "csv")))
        frame.columns = [column(name, self.unit) for name in frame.columns]
        return frame.set_index("id") if view in ("top-down", "flat") else frame

    def graphframe(self):
        """Returns the calling contexts as Hatchet's GraphFrame. Needs Hatchet (PyPI: llnl-hatchet)."""
        import hatchet
        return hatchet.GraphFrame.from_json(self.said("export", "--format", "hatchet"))

    def __repr__(self):
        return f"<profile of {self.directory}: {len(self.contexts)} contexts>"
