#!/usr/bin/env python3
"""What it costs to read a large profile: each view and export, in its own process. The profile is made by large.c."""
import argparse
import os
import shutil
import subprocess
import sys

VIEWS = ["top-down", "bottom-up", "flat", "threads", "locks", "waits", "findings", "timeline"]
EXPORTS = ["folded", "speedscope", "pprof", "hatchet", "cube", "hpctoolkit"]


def commands(profile, out):
    for view in VIEWS:
        yield f"report --view {view}", ["report", profile, "--view", view, "-o", out]
    yield "html", ["html", profile, "-o", out]
    yield "diff", ["diff", profile, profile]
    for name in EXPORTS:
        yield f"export --format {name}", ["export", profile, "--format", name, "-o", out]


def size(path):
    if os.path.isdir(path):
        return sum(size(entry.path) for entry in os.scandir(path))
    return os.path.getsize(path) if os.path.exists(path) else 0


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def measure(command):
    """Returns the exit status, seconds of processor time, and MB of memory at most."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status, used = os.wait4(child.pid, 0)[1:]
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--command", required=True)
    parser.add_argument("--contexts", type=int, default=1000000)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--only", default="", help="commands that contain this text")
    options = parser.parse_args()
    folder = os.path.join(options.build, f"{options.contexts}-{options.threads}")
    profile, out = os.path.join(folder, "large.blame"), os.path.join(folder, "out")
    os.makedirs(folder, exist_ok=True)
    subprocess.run([os.path.join(options.build, "large"), profile, os.path.abspath(options.command),
                    str(options.contexts), str(options.threads)], check=True)
    failed = False
    print(f"{options.contexts} contexts, {options.threads} threads, {size(profile) / 1e6:.0f} MB")
    print(f"{'command':28}{'CPU s':>8}{'MB':>8}{'output MB':>12}", flush=True)
    for name, arguments in commands(profile, out):
        if options.only not in name:
            continue
        remove(out)
        status, seconds, memory = measure([options.command, *arguments])
        failed |= status != 0
        print(f"{name:28}{seconds:8.1f}{memory:8.0f}{size(out) / 1e6:12.1f}{'  FAILED' if status else ''}", flush=True)
    remove(folder)
    return failed


if __name__ == "__main__":
    sys.exit(main())
