#!/usr/bin/env python3
"""Seconds, memory and size of everything that `blame` makes of a huge profile.

Profiles are synthetic (make.c). Prints a table for each size; medians of the runs. Outputs of commands that this
`blame` does not have are skipped, and said to be."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from bench_common import BenchError, clean_environment, positive

LIMIT_S = 300
# {a}, {b}: profile directories. What is made goes to standard output.
OUTPUTS = [
    ("report, top-down", "report {a}"),
    ("report, bottom-up", "report {a} --view bottom-up"),
    ("report, flat", "report {a} --view flat"),
    ("report, threads", "report {a} --view threads"),
    ("report, locks", "report {a} --view locks"),
    ("report, waits", "report {a} --view waits"),
    ("report, findings", "report {a} --view findings"),
    ("top-down as CSV", "report {a} --format csv"),
    ("bottom-up as CSV", "report {a} --view bottom-up --format csv"),
    ("flat as CSV", "report {a} --view flat --format csv"),
    ("waits as CSV", "report {a} --view waits --format csv"),
    ("html", "html {a} -o -"),
    ("html, all rows", "html {a} --min 0 -o -"),
    ("export, folded", "export {a} --format folded"),
    ("export, speedscope", "export {a} --format speedscope"),
    ("export, pprof", "export {a} --format pprof -o -"),
    ("export, hatchet", "export {a} --format hatchet"),
    ("export, dot", "export {a} --format dot"),
    ("diff", "diff {a} {b}"),
    ("stat", "stat {a} {b}"),
]


class Missing(Exception):
    """This blame has no such command, view or format; the text is its own message."""


def measure(argv):
    """(seconds, peak bytes, bytes of output) of one run."""
    begin_s = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with subprocess.Popen(argv, env=clean_environment(1), stdin=subprocess.DEVNULL, stdout=output,
                              stderr=errors) as process:
            # wait4 and not communicate: it alone knows this child's memory.
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - begin_s > LIMIT_S:
                    process.kill()
                    os.wait4(process.pid, 0)
                    process.returncode = -9
                    raise BenchError(f"`{' '.join(argv)}` ran for more than {LIMIT_S} s")
                time.sleep(0.002)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin_s
        errors.seek(0)
        message = errors.read().decode(errors="replace").strip()
        if process.returncode == 2:
            raise Missing(message)
        if process.returncode != 0:
            raise BenchError(f"`{' '.join(argv)}` ended with {process.returncode}: {message}")
        return seconds, usage.ru_maxrss * 1024, os.fstat(output.fileno()).st_size


def count_rows(args, directory):
    """Line by line: this process must stay small, its memory counts for its children's peak."""
    with subprocess.Popen([args.blame, "report", directory, "--format", "csv"], env=clean_environment(1),
                          stdout=subprocess.PIPE) as process:
        rows = sum(1 for _ in process.stdout) - 1
    if process.returncode != 0:
        raise BenchError(f"`blame report {directory} --format csv` ended with {process.returncode}")
    return rows


def measure_size(args, contexts, scratch):
    directories = {}
    for seed, name in enumerate("ab", 1):
        directories[name] = os.path.join(scratch, name)
        os.mkdir(directories[name])
        subprocess.run([args.make, directories[name], str(contexts), str(seed)], check=True)
    print(f"{count_rows(args, directories['a']):,} rows\n\n| output | s | peak MB | output MB |\n|---|---|---|---|")
    for name, template in OUTPUTS:
        if args.only and args.only not in name:
            continue
        argv = [args.blame, *template.format(**directories).split(" ")]
        try:
            runs = [measure(argv) for _ in range(args.runs)]
        except Missing as missing:
            print(f"| {name} | SKIPPED: {missing} | | |", flush=True)
            continue
        seconds, peak, size = (statistics.median(column) for column in zip(*runs))
        print(f"| {name} | {seconds:.2f} | {peak / 1e6:.0f} | {size / 1e6:.2f} |", flush=True)
    print()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=positive, nargs="+", default=[80_000, 850_000],
                        help="of the trees (default 80,000 and 850,000: some 100,000 and 1,000,000 rows)")
    parser.add_argument("--runs", type=positive, default=3)
    parser.add_argument("--only", metavar="TEXT", help="only outputs whose name contains it")
    parser.add_argument("--scratch", metavar="DIR", help="where profiles are written (default: TMPDIR)")
    parser.add_argument("--make", default="build/report/make", metavar="FILE", help="the maker of profiles")
    parser.add_argument("--blame", default="build/bin/blame", metavar="FILE")
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        for contexts in args.contexts:
            scratch = tempfile.mkdtemp(prefix="blame-report-", dir=args.scratch)
            try:
                measure_size(args, contexts, scratch)
            finally:
                shutil.rmtree(scratch)
    except (BenchError, OSError, subprocess.CalledProcessError) as error:
        print(f"outputs.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
