#!/usr/bin/env python3
"""Programs that are killed, or stopped and continued, at random moments, and what the tool then leaves. By hand:

    make kills                         1,000 runs
    make kills KILLS_ARGS='-n 100 --seed 7'
    make kills KILLS_ARGS='--only 153'       that run of the seed alone, its folder is kept

Each run is one of PROGRAMS at 1,000 samples/s, with a trace or phases where it has them, and with what its number and the seed
choose: after a random delay SIGKILL, in nine of ten runs; in half of all runs SIGSTOP and SIGCONT before, up to three times. Then
`blame finish` must read what is there, and the files that it makes must be held by tests/behaviour/contract_checks.py, as those of a run that ended.

A run is bad when a command fails on a file that was begun, or a check does, or when a thread that lived when its program was killed lacks more than one sample: its
states, and what was dropped by name, must make up its time but for the moments that its last delivery stood for, and two periods: before its first moment, and behind its last one.
What is lost is counted in two ways: moments that a handler had been called for and that it had not booked ("cut off" in run.json; of each thread in
the measurement file), and, for each thread, its time in threads.csv less that of its states, in periods."""

import argparse
import collections
import concurrent.futures
import glob
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "behaviour")]

import contract_checks  # noqa: E402
import harness  # noqa: E402
from blame_profile import NotAProfile, Profile  # noqa: E402

PROGRAMS = (["nested"], ["phase_nesting"], ["tasks"], ["task_regions"], ["taskgroup"], ["lock"], ["nest_lock"], ["critical"], ["tiny_tasks"],
            ["phase_threads"], ["team_sizes", "nested", "1"], ["quick"])
VARIANTS = ({}, {"BLAME_TRACE": "1"}, {"BLAME_TASKS": "creation"}, {"BLAME_LOCKS": "release", "BLAME_TRACE": "1"})
RATE = 1000
LATEST_S = 0.35
LIMIT_S = 120
STATES = ("work", "idle", "overhead", "lock_wait", "no_core", "blocked", "mpi_wait")
# Of a run of some samples: shares of so little say nothing.
LEFT_OUT = {contract_checks.check_resolved}


# Of cct/profile_format.h; look() holds the sums against run.json.
HEADER_BYTES, CHUNK_BYTES, THREAD_BYTES, THREAD_CHUNK, DROP_REASONS = 4096, 32768, 512, 2, 8
BEFORE_FIRST_AND_LAST = 2


class Bad(Exception):
    pass


def stop_and_continue(process, chance):
    """Returns how often."""
    stops = 0
    for _ in range(chance.randrange(1, 4)):
        time.sleep(chance.uniform(0, 0.06))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0, 0.06))
        process.send_signal(signal.SIGCONT)
        stops += 1
    return stops


def start(folder, chance):
    program = chance.choice(PROGRAMS)
    env = harness.clean_environment() | {"OMP_TOOL_LIBRARIES": harness.LIBRARY, "BLAME_RATE": str(RATE), "BLAME_OUT": "profile",
                                         "BLAME_SUMMARY": "0", "TEST_PACE": "5", "KMP_BLOCKTIME": "0"} | chance.choice(VARIANTS)
    return program[0], subprocess.Popen([harness.program(program[0]), *program[1:]], env=env, cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(directory):
    """False: there is only the empty file of a measurement that did not begin."""
    for command in (["finish", directory], ["report", directory]):
        made = subprocess.run([harness.BLAME, *command], capture_output=True, text=True, timeout=LIMIT_S)
        if "the program ended before the measurement began" in made.stderr:
            return False
        if made.returncode:
            raise Bad(f"blame {command[0]}: status {made.returncode}: {made.stderr.strip()}")
    return True


Counts = collections.namedtuple("Counts", "delivered booked ended dropped_s period_s")


def counts_of_threads(path):
    """Of each thread, as the program left them."""
    with open(path, "rb") as file:
        content = file.read()
    counts = []
    for at in range(HEADER_BYTES, len(content) - CHUNK_BYTES + 1, CHUNK_BYTES):
        kind, _, used = struct.unpack_from("<3I", content, at)
        for i in range(1, used + 1 if kind == THREAD_CHUNK else 1):
            end, _, delivered, *booked = struct.unpack_from(f"<{4 + DROP_REASONS}Q", content, at + i * THREAD_BYTES + 16)
            dropped_ns, _, _, _, _, period_ns = struct.unpack_from("<d5Q", content, at + i * THREAD_BYTES + 184)
            counts.append(Counts(delivered, sum(booked), end > 0, 1e-9 * dropped_ns, 1e-9 * period_ns))
    return counts


def lost_of_threads(profile):
    """In seconds: what each thread has lived longer than its states say."""
    return [float(thread["end_s"]) - float(thread["begin_s"]) - sum(float(thread[state]) for state in STATES) for thread in profile.threads]


def look(folder, result):
    """Adds what the run left to `result`."""
    files = glob.glob(os.path.join(folder, "profile", "*.blame"))
    if not files or not finish(os.path.join(folder, "profile")):
        result["nothing"] = 1
        return
    counts = counts_of_threads(files[0])
    profile = Profile(os.path.join(folder, "profile"))
    samples, lost, finished = profile.run["samples"], lost_of_threads(profile), profile.run.get("finished", True)
    if samples["delivered"] == 0:
        result["no samples"] = 1
        return
    checks = [check for check in contract_checks.PROFILE_CHECKS if check not in LEFT_OUT]
    broken = sorted(set(contract_checks.violations(profile, checks)))
    if broken:
        raise Bad("; ".join(broken[:3]))
    if sum(thread.delivered for thread in counts) != samples["delivered"]:
        raise Bad("threads' counts are not those of run.json")
    missing = [thread.delivered - thread.booked for thread in counts if thread.delivered > thread.booked]
    if not finished and sum(missing) != samples["dropped"].get("cut off", 0):
        raise Bad(f"moments that were cut off: {missing}, in run.json {samples['dropped']}")
    if not finished and len(counts) == len(lost):
        for thread, seconds in zip(counts, lost):
            cut = max(0, thread.delivered - thread.booked)
            if not thread.ended and seconds - thread.dropped_s > (cut + BEFORE_FIRST_AND_LAST) * thread.period_s:
                raise Bad(f"a thread lacks {seconds:.4f} s, {thread.dropped_s:.4f} s of it for named reasons, and {cut} moments were cut off")
    result.update({"samples": samples["delivered"], "threads": len(profile.threads), "cut off": sum(missing), "cut threads": len(missing),
                   "lost": max(lost) * RATE, "finished": int(finished)})


def one(number, seed, scratch):
    chance = random.Random(f"{seed} {number}")
    folder = os.path.join(scratch, str(number))
    os.mkdir(folder)
    result = {"number": number}
    delay_s, kills, stops = chance.uniform(0, LATEST_S), chance.randrange(10) > 0, chance.randrange(2)
    result["program"], process = start(folder, chance)
    try:
        result["stops"] = stop_and_continue(process, chance) if stops else 0
        if kills:
            time.sleep(delay_s)
            process.send_signal(signal.SIGKILL)
        errors = process.communicate(timeout=LIMIT_S)[1]  # of the finisher, too
        result["killed"] = int(process.returncode == -signal.SIGKILL)
        if process.returncode not in (0, -signal.SIGKILL):
            raise Bad(f"the program ends with {process.returncode}: {errors.strip()}")
        look(folder, result)
    except (Bad, NotAProfile, KeyError, subprocess.TimeoutExpired) as error:
        result["bad"] = f"{type(error).__name__} {error}"
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if "bad" not in result:
        shutil.rmtree(folder)
    return result


def print_summary(results, seed):
    def total(key):
        return sum(result.get(key, 0) for result in results)

    read = [result for result in results if "samples" in result]
    print(f"seed {seed}: {len(results)} runs, {total('killed')} killed, {total('stops')} stops in {sum(result.get('stops', 0) > 0 for result in results)}; "
          f"{len(read)} profiles read, {total('nothing')} before the measurement began, {total('no samples')} before a sample, "
          f"{sum('bad' in result for result in results)} bad")
    print(f"{total('samples')} samples of {total('threads')} threads: {total('cut off')} cut off, of {total('cut threads')} threads in {sum(result['cut off'] > 0 for result in read)} runs, "
          f"at most {max((result['cut off'] for result in read), default=0)} in one; most that a thread's states lack of its life, in periods:")
    for title, ended in (("of killed programs", 0), ("of those that ended", 1)):
        lost = sorted((result["lost"], result["number"]) for result in read if result["finished"] == ended)
        if lost:
            print(f"  {title}: median {lost[len(lost) // 2][0]:.2f}, most {lost[-1][0]:.2f} (run {lost[-1][1]})")
    print("profiles by program:", ", ".join(f"{name} {count}" for name, count in sorted(collections.Counter(result["program"] for result in read).items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1000, help="how many runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this run of them")
    parser.add_argument("-j", type=int, default=2, help="at once")
    args = parser.parse_args()
    numbers = range(args.n) if args.only is None else [args.only]
    scratch = tempfile.mkdtemp(prefix="blame-kills-")
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for result in pool.map(lambda number: one(number, args.seed, scratch), numbers):
            results.append(result)
            if "bad" in result:
                print(f"--seed {args.seed} --only {result['number']} ({result['program']}): {result['bad']}", flush=True)
    print_summary(results, args.seed)
    if any("bad" in result for result in results) or args.only is not None:
        print(f"kept: {scratch}")
        return int(any("bad" in result for result in results))
    shutil.rmtree(scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
