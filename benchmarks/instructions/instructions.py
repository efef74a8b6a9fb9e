#!/usr/bin/env python3
"""Instructions of small constructs and of kernels of tiny tasks, by one thread, counted by callgrind: without a tool, with one
that registers no callback, with the floor (all callbacks that blame registers, empty), with blame, and with BLAME_TASKS=creation and
the floor of that. With --events each event's part of the floor, for small constructs.

    instructions.py [--events | --kernels]"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "gate")]

import callgrind
from bench_common import BenchError, Table, clean_environment, make_parser, run

CREATION = {"BLAME_TASKS": "creation"}
KERNELS = [["uts", "4000"], ["fib", "20"], ["nqueens", "8"], ["health", "3", "--days", "60"]]
# By the numbers of enum ompt_callbacks_t: which events each construct has, told one at a time of each construct.
EVENTS = {"3": "parallel_begin", "4": "parallel_end", "5": "task_create", "6": "task_schedule", "7": "implicit_task",
          "16": "sync_region_wait", "17": "mutex_released", "20": "work", "24": "lock_init", "25": "lock_destroy",
          "26": "mutex_acquire", "27": "mutex_acquired"}
APART = ["3,5,16,20,24,26", "4,6,25,27", "7,17"]
CONSTRUCTS = {"parallel": ["3", "4", "7"], "barrier": ["16"], "single": ["20"], "for": ["20"], "critical": ["26", "27", "17"],
              "lock": ["26", "27", "17"], "task": ["5", "6"], "task if(0)": ["5", "6"], "taskwait": ["16"],
              "lock's life": ["24", "25"]}


def columns(args):
    build = os.path.abspath(args.build)
    floor = {"OMP_TOOL_LIBRARIES": os.path.join(build, "libnoop.so")}
    blame = {"OMP_TOOL_LIBRARIES": os.path.abspath(args.tool), "LD_PRELOAD": os.path.join(build, "slow_time.so"), "BLAME_RATE": "1", "BLAME_SEED": "1",
             "BLAME_CSV": "0", "BLAME_SUMMARY": "0"}
    return {"no tool": {"OMP_TOOL": "disabled"}, "no callback": floor | {"NOOP_EVENTS": "0"}, "floor": floor, "blame": blame,
            "floor, creation": floor | CREATION, "creation": blame | CREATION}


def count(command, settings):
    """What the program dumps under a name, by that and for one repetition, and else all of it under "": instructions."""
    counts = {}
    with tempfile.TemporaryDirectory(prefix="blame-bench-") as scratch:
        out = os.path.join(scratch, "callgrind")
        environment = clean_environment(1) | settings | {"BLAME_OUT": os.path.join(scratch, "out"), "LD_BIND_NOW": "1"}
        run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *command], environment)
        for name in os.listdir(scratch):
            if name.startswith("callgrind"):
                profile = callgrind.read(os.path.join(scratch, name))
                scenario, _, repeats = profile.trigger.rpartition(":")
                counts[scenario] = sum(profile.self_cost.values()) / int(repeats if scenario else 1)
    return counts


def constructs(args):
    program = [os.path.join(args.build, "constructs")]
    table = Table("construct", *columns(args))
    found = {column: count(program, settings) for column, settings in columns(args).items()}
    for name in CONSTRUCTS:
        table.row(name, *(f"{found[column][name]:.0f}" for column in found))
    if not args.events:
        return
    silent, floor = found["no callback"], columns(args)["floor"]
    apart = {events: count(program, floor | {"NOOP_EVENTS": events}) for events in APART}
    for name, events in CONSTRUCTS.items():
        parts = [(event, next(apart[group][name] for group in APART if event in group.split(","))) for event in events]
        print(f"{name}: " + ", ".join(f"{EVENTS[event]} {cost - silent[name]:+.0f}" for event, cost in parts))


def kernels(args):
    table = Table("millions", *columns(args))
    for name, *arguments in KERNELS:
        command = [os.path.join(args.build, name), *arguments]
        table.row(" ".join([name, *arguments]), *(f"{count(command, settings)[''] / 1e6:.2f}" for settings in columns(args).values()))


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--events", action="store_true", help="each event's part of the floor")
    parser.add_argument("--kernels", action="store_true", help="kernels in the place of small constructs; a minute or two")
    args = parser.parse_args()
    try:
        (kernels if args.kernels else constructs)(args)
    except (BenchError, callgrind.FormatError, OSError) as error:
        print(f"instructions.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
