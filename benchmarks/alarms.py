#!/usr/bin/env python3
"""What the findings that know of time say of the kernels, which do the same from begin to end but for their set-up: a table.

    make bench-alarms"""

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

from bench import KERNELS

RULES = ("changes", "periodic")


def findings_of(args, program, arguments):
    """The run's seconds, and its findings."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "profile")
        env = os.environ | {"OMP_NUM_THREADS": str(args.threads), "BLAME_OUT": out, "BLAME_SUMMARY": "0"}
        subprocess.run([args.command, "run", "--", program, *arguments.split()], env=env, check=True, capture_output=True)
        shown = subprocess.run([args.command, "report", out, "--view", "findings", "--format", "csv"], check=True, capture_output=True, text=True)
        with open(os.path.join(out, "threads.csv"), encoding="utf-8") as file:
            end_s = max(float(row["end_s"]) for row in csv.DictReader(file))
    return end_s, list(csv.DictReader(io.StringIO(shown.stdout)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="folder of the kernels")
    parser.add_argument("--command", required=True, help="the blame command")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    print("| kernel | seconds | said of time |\n|---|---|---|")
    for name, _, arguments, _ in KERNELS:
        for folder in ("", "phases"):
            program = os.path.join(args.build, folder, name.split("-")[0])
            if not os.path.exists(program):
                continue
            end_s, rows = findings_of(args, program, arguments)
            lacking = sum(float(row["share"]) for row in rows if row["metric"] == "no core" and row["rule"] not in RULES)
            said = [f"{row['title']}: {row['place']}" for row in rows if row["rule"] in RULES]
            said += [f"({lacking:.0f} % without a core)"] if lacking else []
            print(f"| {name} {arguments}{', with phases' if folder else ''} | {end_s:.1f} | {'; '.join(said) or '-'} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
