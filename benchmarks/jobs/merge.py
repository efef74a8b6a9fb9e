"""Merges synthetic ranks (make.c) and prints what it cost: CPU time of all processes, also of each rank, and the largest process's memory.

    merge.py --make PROGRAM --blame PROGRAM [--curve] [--ranks N,... --contexts N] [--jobs N,...] [--keep DIR]

--curve   100, 1,000, 10,000 and 100,000 ranks of 200 contexts each; else 1,000 of 18,500, which are 2 MB
--keep    where the files are, and stay; default: a directory in TMPDIR, taken away afterwards"""

import argparse
import os
import shutil
import subprocess
import tempfile


def merge(blame, directory, jobs):
    """Seconds of CPU time, and kilobytes of the largest process."""
    made = os.path.join(directory, "merged", "out.blame")
    os.makedirs(os.path.dirname(made), exist_ok=True)
    process = subprocess.Popen([blame, "merge", directory, "-j", str(jobs), "--output", made], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("blame merge failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.path.getsize(made)


def measure(arguments, ranks, contexts):
    directory = os.path.join(arguments.keep, f"{ranks}-{contexts}") if arguments.keep else tempfile.mkdtemp(prefix="blame-jobs-")
    os.makedirs(directory, exist_ok=True)
    try:
        if not os.path.exists(f"{directory}/rank-{ranks - 1:06}.blame"):
            subprocess.run([arguments.make, directory, "0", str(ranks), str(ranks), str(contexts)], check=True)
        size = os.path.getsize(f"{directory}/rank-000000.blame")
        for jobs in arguments.jobs:
            cpu, memory, made = merge(arguments.blame, directory, jobs)
            print(f"{ranks:8}{size / 1e6:10.2f}{jobs:6}{cpu:10.2f}{1e3 * cpu / ranks:10.2f}{memory / 1e3:10.0f}{made / 1e6:12.1f}", flush=True)
    finally:
        if not arguments.keep:
            shutil.rmtree(directory)


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", required=True)
    parser.add_argument("--blame", required=True)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--ranks", type=numbers)
    parser.add_argument("--contexts", type=int)
    parser.add_argument("--jobs", type=numbers, default=[1, 2])
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    print("   ranks   MB each    -j     CPU s  ms/a rank largest MB  job.blame MB")
    for ranks in arguments.ranks or ([100, 1000, 10000, 100000] if arguments.curve else [1000]):
        measure(arguments, ranks, arguments.contexts or (200 if arguments.curve else 18500))


if __name__ == "__main__":
    main()
