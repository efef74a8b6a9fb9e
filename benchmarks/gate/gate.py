#!/usr/bin/env python3
"""Counts the instructions of every callback and of the signal handler with callgrind, on fixed inputs, and compares them
with budget.csv. A count more than 5 % above its budget is a failure. A count more than 5 % below it is a hint to lower
the budget (make gate-accept).

    gate.py --build DIR --tool LIBRARY --floor LIBRARY --flags CFLAGS [--accept | --repeat N | --functions SCENARIO [--set VARIABLE=VALUE]]

Instructions are not time, but they have no noise: they are the same in every run, on every machine with the same
compiler, flags, libraries and clock source. A system call counts as one instruction."""

import argparse
import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import callgrind
import operations
from bench_common import BenchError, run

BUDGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "budget.csv")
SLACK = 0.05
UNWINDER = ("unwinder_start_at", "unwinder_start_here", "unwinder_next")
# The settings of each run, and the scenarios whose counts they change. The other scenarios would only repeat rows.
RUNS = [("", {}, r""), ("creation, ", {"BLAME_TASKS": "creation"}, r"task\b")]


def bare_environment(scratch, **settings):
    """Returns an environment without the caller's variables, because their size would change the layout of the stack."""
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_BIND_NOW": "1", "BLAME_RATE": "1", "BLAME_SEED": "1",
            "BLAME_CSV": "0", "BLAME_SUMMARY": "0", "BLAME_OUT": os.path.join(scratch, "out"), **settings}


def run_gate(command, settings, scratch):
    environment = bare_environment(scratch, **settings)
    output, _ = run(command, environment)
    shutil.rmtree(environment["BLAME_OUT"], ignore_errors=True)
    return output


def registered(args, tool, settings, scratch):
    return run_gate([os.path.join(args.build, "gate"), tool, "callbacks"], settings, scratch).split()


def rows_of(profile, scenario, repeats):
    """Returns the instructions of a repetition: a row for each event that occurs in every repetition, one for the unwinder."""
    rows = {}
    for sender in sorted(name for name in profile.functions() if name.startswith("send_")):
        calls, cost = profile.out_of(sender)
        if calls >= repeats:
            event = "handler" if sender == "send_sample" else sender.removeprefix("send_").replace("_", " ")
            rows[f"{scenario}: {event}"] = cost / repeats
    if scenario.startswith("sample"):  # the runtime's events in between belong to other scenarios
        rows = {name: cost for name, cost in rows.items() if name.endswith(": handler")}
    steps = sum(profile.into(name)[0] for name in UNWINDER)
    if steps >= repeats:
        rows[f"{scenario}: unwinder in it"] = sum(profile.into(name)[1] for name in UNWINDER) / repeats
    return rows


def profiles(args, settings, scratch):
    """Yields (scenario, number of repetitions, profile) for each scenario of one run."""
    out = os.path.join(scratch, "callgrind")
    run_gate(["valgrind", "-q", "--tool=callgrind", "--max-threads=2000", f"--callgrind-out-file={out}", os.path.join(args.build, "gate"),
              args.tool, "scenarios"], settings, scratch)
    for path in glob.glob(out + ".*"):
        profile = callgrind.read(path)
        os.remove(path)
        scenario, _, repeats = profile.trigger.rpartition(":")
        if scenario:
            yield scenario, int(repeats), profile


def count(args, settings, scratch):
    """Runs all scenarios once, and returns the rows of each."""
    scenarios = {}
    for scenario, repeats, profile in profiles(args, settings, scratch):
        scenarios[scenario] = rows_of(profile, scenario, repeats)
        if not scenarios[scenario]:
            raise BenchError(f"callgrind saw no event in the scenario `{scenario}`")
    if not scenarios:
        raise BenchError("callgrind wrote no counts")
    return scenarios


def measure(args, scratch):
    measured = {}
    for prefix, settings, only in RUNS:
        for scenario, rows in count(args, settings, scratch).items():
            if re.match(only, scenario):
                measured.update({prefix + name: cost for name, cost in rows.items()})
    program, provider = (os.path.join(args.build, name) for name in ("operations", "libblame-gomp.so"))
    measured.update(operations.measure(program, provider, args.floor, bare_environment(scratch), scratch))
    return dict(sorted(measured.items()))


def compiler_of(path):
    """Returns the compiler that is named in the object file."""
    done = subprocess.run(["readelf", "-p", ".comment", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    for pattern, name in ((r"clang version (\d+\.\d+)", "clang"), (r"GCC: .*?(\d+\.\d+)\.\d+\s*$", "gcc")):
        found = re.search(pattern, done.stdout, re.MULTILINE)
        if found:
            return f"{name} {found.group(1)}"
    raise BenchError(f"{path} does not say which compiler it is from\n{done.stderr}".rstrip())


def clock_source():
    """Returns which clock the tool reads: the processor's counter if the kernel uses it, otherwise the system's clock."""
    try:
        with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as file:
            return "tsc" if file.read().strip() == "tsc" else "calls"
    except OSError:
        return "calls"


def conditions(args):
    """Returns a text that names the conditions of this run. It is the title of a column in budget.csv."""
    return f"{compiler_of(args.object)}, {args.flags}, clock: {clock_source()}"


def read_budget():
    """Returns the budget in instructions for each combination of conditions and row."""
    if not os.path.exists(BUDGET):
        return {}
    with open(BUDGET, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {where: {line["row"]: int(line[where]) for line in lines if line[where]} for where in (lines[0] if lines else {}) if where != "row"}


def accept(where, measured):
    budgets = read_budget() | {where: {name: round(cost) for name, cost in measured.items()}}
    with open(BUDGET, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row", *sorted(budgets)])
        for name in sorted(set().union(*budgets.values())):
            writer.writerow([name, *(budgets[each].get(name, "") for each in sorted(budgets))])
    print(f"accepted: {len(measured)} rows for {where}")


def verdict(cost, budget):
    """Returns whether the row fails, and a remark on it."""
    if cost is None:
        return True, "is not measured any more"
    if budget is None:
        return True, "has no budget"
    if round(cost) > budget * (1 + SLACK):
        return True, f"OVER by {100 * (cost / budget - 1):.1f} %" if budget else "OVER"
    if round(cost) < budget * (1 - SLACK):
        return False, f"less by {100 * (1 - cost / budget):.1f} %: lower the budget"
    return False, ""


def compare(measured, budget):
    """Prints the table. Returns how many rows passed and how many failed."""
    failed, hints = [], False
    print(f"{'instructions a repetition':52} {'counted':>9} {'budget':>9}")
    for name in sorted({**measured, **budget}):
        cost, limit = measured.get(name), budget.get(name)
        wrong, remark = verdict(cost, limit)
        cells = ["-" if value is None else f"{value:.0f}" for value in (cost, limit)]
        print(f"{name:52} {cells[0]:>9} {cells[1]:>9}  {remark}".rstrip())
        if wrong:
            failed.append(name)
        hints = hints or (remark and not wrong)
    if failed:
        print("over budget: " + "; ".join(failed))
        print("`make gate-accept` takes the counts as the new budget; say why in the commit")
    elif hints:
        print("hint: `make gate-accept` lowers the budget, so that the gain is not lost unnoticed")
    return len({**measured, **budget}) - len(failed), len(failed)


def compare_floor(args, scratch):
    """Checks that the floor registers the same callbacks as blame. Returns how many runs passed and how many failed."""
    wrong = 0
    for prefix, settings, _ in RUNS:
        blame, floor = (registered(args, tool, settings, scratch) for tool in (args.tool, args.floor))
        if blame != floor:
            differ = " ".join(sorted(set(blame) ^ set(floor), key=int))
            print(f"{prefix or 'default, '}the empty tool and blame do not register the same callbacks: "
                  f"numbers {differ} differ")
            wrong += 1
    return len(RUNS) - wrong, wrong


def print_functions(args, scratch):
    """Prints the exclusive and inclusive instructions of each function in one scenario."""
    settings = dict(pair.split("=", 1) for pair in args.set)
    wanted = [found for found in profiles(args, settings, scratch) if found[0] == args.functions]
    if not wanted:
        raise BenchError(f"there is no scenario `{args.functions}`")
    _, repeats, profile = wanted[0]
    print(f"{'instructions a repetition':44} {'own':>9} {'calls':>9} {'with them':>9}")
    for name, own in profile.self_cost.most_common():
        calls, inclusive = profile.into(name)
        if own >= repeats:
            print(f"{name:44} {own / repeats:9.0f} {calls / repeats:9.1f} {inclusive / repeats:9.0f}")


def repeat(args, scratch):
    """Checks that counts do not change when they are repeated. Returns how many rows differ by more than 0.1 %."""
    first, apart = measure(args, scratch), {}
    for _ in range(args.repeat - 1):
        for name, cost in measure(args, scratch).items():
            apart[name] = max(apart.get(name, 0), abs(cost / first[name] - 1))
    for name, share in apart.items():
        if share:
            print(f"{name:52} differs by up to {100 * share:.4f} %")
    unequal = sum(share > 0.001 for share in apart.values())
    same = sum(share == 0 for share in apart.values())
    print(f"{args.repeat} runs, {len(first)} rows: {same} the same to the instruction, {unequal} more than 0.1 % apart")
    return unequal


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, metavar="DIR", help="where the gate's program is")
    parser.add_argument("--tool", required=True, metavar="FILE", help="blame's library")
    parser.add_argument("--floor", required=True, metavar="FILE", help="the tool with empty callbacks")
    parser.add_argument("--object", required=True, metavar="FILE", help="an object file of blame's library")
    parser.add_argument("--flags", required=True, help="what the library was compiled with")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--accept", action="store_true", help="rewrite the budget with what is counted")
    group.add_argument("--functions", metavar="SCENARIO", help="only print where its instructions go")
    parser.add_argument("--set", action="append", default=[], metavar="VARIABLE=VALUE", help="for --functions: of the tool's environment")
    group.add_argument("--repeat", type=int, metavar="N", help="only count N times and compare")
    args = parser.parse_args()
    args.tool, args.floor, args.build = (os.path.abspath(path) for path in (args.tool, args.floor, args.build))
    return args


def gate(args, scratch):
    """Runs the gate as the arguments say, and returns the exit status."""
    if args.functions:
        print_functions(args, scratch)
        return 0
    if args.repeat:
        return 1 if repeat(args, scratch) else 0
    where, measured = conditions(args), measure(args, scratch)
    if args.accept:
        accept(where, measured)
        return 0
    budget = read_budget().get(where, {})
    passed, failed = compare_floor(args, scratch)
    if not budget:
        print(f"budget.csv has no budget for {where}: `make gate-accept` adds one")
        print(f"{passed} passed, {failed} failed, {len(measured)} skipped")
        return 1 if failed else 0
    print(f"{where}; {100 * SLACK:.0f} % more fails")
    more = compare(measured, budget)
    print(f"{passed + more[0]} passed, {failed + more[1]} failed")
    return 1 if failed + more[1] else 0


def main():
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="blame-gate-") as scratch:
        try:
            return gate(args, scratch)
        except (BenchError, callgrind.FormatError, OSError) as error:
            print(f"gate.py: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
