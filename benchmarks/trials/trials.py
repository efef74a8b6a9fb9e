#!/usr/bin/env python3
"""Seconds of `blame db`: a huge profile is added, and trials are looked for among many.

Profiles are synthetic (benchmarks/report/make.c); the many trials are copies of a small one, made by SQL, that differ in host, threads, size and
times. Medians of the runs, by the clock and by the processor: beside other load the first says little."""

import argparse
import os
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_common import Table, clean_environment, main, positive, run

DOCUMENT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "trials.md")
COPIES = """
CREATE TEMP TABLE copy AS WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {trials}) SELECT i FROM n;
CREATE TEMP TABLE first AS SELECT * FROM trial;
UPDATE first SET program = 'app', host = 'node1', threads = 8;
INSERT INTO trial SELECT {columns} FROM copy JOIN first ORDER BY i;
INSERT INTO metadata SELECT i, kind, name, value FROM copy JOIN metadata WHERE trial = 1;
INSERT INTO metadata SELECT i, 'user', 'size', 64 << i % 5 FROM copy;
INSERT INTO metadata SELECT i, 'user', 'revision', printf('%040x', i / 10) FROM copy;
INSERT INTO metric SELECT i, {metrics} FROM copy JOIN metric WHERE trial = 1 ORDER BY i, context;
"""
CHANGED = {"id": "i", "run": "printf('%016x', i)", "host": "'node' || (i % 50)", "threads": "1 << (i % 7)", "wall_s": "wall_s * (1 + i % 13)",
           "started": "strftime('%Y-%m-%dT%H:%M:%SZ', 1700000000 + 600 * i, 'unixepoch')"}
QUERIES = {
    "list, by two columns": ["list", "--where", "threads = 8 and host like 'node1%'"],
    "list, by metadata": ["list", "--where", "size = 512 and revision like '%1f'"],
    "list, all": ["list"],
    "list, all as CSV": ["list", "--format", "csv"],
    "show": ["show", "77"],
}


def timed(argv):
    """(seconds by the clock, by the processor) of one run."""
    before, begin_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(argv, env=clean_environment(1), stdout=subprocess.DEVNULL, check=True)
    end_s, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    return end_s - begin_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(runs):
    return [f"{statistics.median(column):.3f}" for column in zip(*runs)]


def measure_adding(args, scratch):
    table = Table("add, threads", "s", "CPU s", "database MB", "again s", "again CPU s")
    for threads in args.threads:
        directory = os.path.join(scratch, f"threads{threads}")
        os.mkdir(directory)
        run([args.make, directory, str(args.contexts), "1", str(threads)], clean_environment(1))
        first, again = [], []
        for number in range(args.runs):
            database = os.path.join(scratch, f"{threads}-{number}.db")
            first.append(timed([args.blame, "db", "add", "--db", database, directory]))
            again.append(timed([args.blame, "db", "add", "--db", database, directory]))
            size = os.path.getsize(database) / 1e6
            contexts, = ask(database, "SELECT count(*) FROM context")
        table.row(f"{contexts[0]:,} contexts, {threads}", *medians(first), f"{size:.0f}", *medians(again))


def ask(database, question):
    connection = sqlite3.connect(database)
    rows = connection.execute(question).fetchall()
    connection.close()
    return rows


def fill(args, scratch):
    """A database of many trials."""
    directory, database = os.path.join(scratch, "small"), os.path.join(scratch, "many.db")
    os.mkdir(directory)
    run([args.make, directory, "50", "1", "2"], clean_environment(1))
    run([args.blame, "db", "add", "--db", database, directory], clean_environment(1))
    connection = sqlite3.connect(database)
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(trial)")]
    metrics = [name for _, name, *_ in connection.execute("PRAGMA table_info(metric)")][1:]
    connection.executescript(COPIES.format(trials=args.trials, columns=", ".join(CHANGED.get(name, name) for name in columns), metrics=", ".join(metrics)))
    connection.commit()
    connection.close()
    return database


def measure_asking(args, scratch):
    database = fill(args, scratch)
    (trials,), = ask(database, "SELECT count(*) FROM trial")
    table = Table(f"{trials:,} trials, {os.path.getsize(database) / 1e6:.0f} MB", "s", "CPU s")
    for name, argv in QUERIES.items():
        table.row(name, *medians(timed([args.blame, "db", *argv, "--db", database]) for _ in range(args.runs)))
    with open(DOCUMENT, encoding="utf-8") as file:
        questions = re.findall(r"(?m)^(\d+)\\\. .*\n\n```sql\n((?:.*\n)*?)```", file.read())
    for number, question in questions:
        runs = []
        for _ in range(args.runs):
            begin_s, begin_cpu_s = time.monotonic(), time.process_time()
            ask(database, question)
            runs.append((time.monotonic() - begin_s, time.process_time() - begin_cpu_s))
        table.row(f"question {number} of docs/trials.md", *medians(runs))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=positive, default=90000, metavar="N", help="of the huge profile, as its maker counts them")
    parser.add_argument("--threads", type=positive, nargs="*", default=[2, 16], metavar="N")
    parser.add_argument("--trials", type=positive, default=10000, metavar="N")
    parser.add_argument("--runs", type=positive, default=5, metavar="N")
    parser.add_argument("--make", default="build/report/make", metavar="FILE", help="the maker of profiles")
    parser.add_argument("--blame", default="build/bin/blame", metavar="FILE")
    return parser.parse_args()


def bench(args):
    with tempfile.TemporaryDirectory(prefix="blame-trials-") as scratch:
        measure_adding(args, scratch)
        measure_asking(args, scratch)


if __name__ == "__main__":
    main(bench, parse_arguments())
