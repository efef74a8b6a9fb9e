"""Counts the instructions that an empty tool adds to an OpenMP operation on GCC's runtime (operations.c, layers/gomp/)."""

import glob
import os

import callgrind
from bench_common import BenchError, run

SETTINGS = {"OMP_WAIT_POLICY": "passive"}


def counts(program, environment, scratch):
    """Returns the instructions of a repetition for each operation."""
    out = os.path.join(scratch, "operations")
    run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", program], environment | SETTINGS)
    found = {}
    for path in glob.glob(out + ".*"):
        profile = callgrind.read(path)
        os.remove(path)
        operation, _, repeats = profile.trigger.rpartition(":")
        if operation:
            found[operation] = sum(profile.self_cost.values()) / int(repeats)
    return found


def measure(program, provider, tool, environment, scratch):
    alone = counts(program, environment, scratch)
    told = counts(program, environment | {"LD_PRELOAD": provider, "OMP_TOOL_LIBRARIES": tool}, scratch)
    if not alone or set(alone) != set(told):
        raise BenchError(f"{program} did not count the same operations with {provider} as without it")
    return {f"libgomp, {operation}: an empty tool adds": told[operation] - alone[operation] for operation in alone}
