"""Reads profiles as `blame export --format trial` writes them. This package reads profiles in no other way."""

import json
import os
import re
import subprocess
import sys
import tempfile

from .command import Refused

KEPT = ("OMP_TOOL_LIBRARIES", "LD_PRELOAD", "LD_AUDIT", "OPENBLAS_NUM_THREADS")  # as in command/cli/lab.c
# from command/rows/metric_table.h
TABLE = json.loads(os.environ.get("BLAME_LAB_METRICS", '{"always": 0, "metrics": {}, "columns": [], "parts": []}'))
METRICS = TABLE["metrics"]                                # by word: unit ("" for a number), light and dark colour
WORDS = [word for word in METRICS if word != "blame"]     # in the order of a context's values
PARTS, ALWAYS = TABLE["parts"], TABLE["always"]           # parts of the thread time; the first ALWAYS have a column even if they are 0
FILE_COLUMNS = [word.replace("-", "_") for word in TABLE["columns"]]  # in the order of profile.csv
WAIT_S = 60


def blame():
    """Returns the path of the `blame` command."""
    return os.environ.get("BLAME_LAB_BLAME", "blame")


def program_environment():
    """Returns the environment for started programs, which is the one that `blame` was started with."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLAME_LAB_")}
    for name in KEPT:
        environment.pop(name, None)
        if "BLAME_LAB_KEPT_" + name in os.environ:
            environment[name] = os.environ["BLAME_LAB_KEPT_" + name]
    return environment


class exported:
    """Gives a block the lines of `blame export --format trial ARGUMENT ...` as dictionaries. At the end of the block, messages of `blame export` are
    printed in the name of `command`, and `status` has its exit status."""

    def __init__(self, command, arguments):
        self.command, self.said = command, tempfile.TemporaryFile()
        self.process = subprocess.Popen([blame(), "export", "--format", "trial", *arguments], stdout=subprocess.PIPE, stderr=self.said,
                                        env={**os.environ, "OMP_TOOL_LIBRARIES": ""})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdout.close()
        self.status = self.process.wait()
        with self.said as said:
            said.seek(0)
            sys.stderr.write(re.sub("^blame export: ", f"blame {self.command}: ", said.read().decode(errors="replace"), flags=re.MULTILINE))

    def __iter__(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # an incomplete line means that the writer was killed
                yield json.loads(line)


def run_id(directory):
    """Returns the id of the profile's run, or None if it cannot be read."""
    try:
        with open(os.path.join(directory, "run.json"), encoding="utf-8", errors="replace") as file:
            return json.load(file).get("id")
    except (OSError, ValueError, AttributeError):
        pass
    with exported("export", ["--sums", directory]) as lines:
        return next((line["run"] for line in lines), None)


def directories_where(command, database, where):
    """Returns the profile directories of the trials for which `where` is true, as they were when they were added. Raises Refused if one no longer
    exists or now holds another run."""
    from .database import opened
    found = []
    with opened(command, database) as trials:
        for number, source, run in trials.trials("id, source, run", where, "id"):
            shown = source.decode(errors="replace") if isinstance(source, bytes) else source or ""
            if not source or not os.access(source, os.R_OK):
                raise Refused(f"trial {number}: its profile {shown} can no longer be read; keep the profiles of a baseline")
            if run_id(source) != run:
                raise Refused(f"trial {number}: {shown} now holds another run")
            found.append(os.fsdecode(source))
    if not found:
        raise Refused(f"{database}: no trial matches; see blame db list")
    return found


def on_server(database):
    return database.startswith(("postgresql://", "postgres://"))


def database_path(option):
    """Returns the path of the database: --db, BLAME_DB, or blame.db."""
    path = option or os.environ.get("BLAME_DB") or "blame.db"
    return "./" + path if path.startswith(":") else path  # SQLite gives names that begin with a colon a special meaning
