#!/usr/bin/env python3
"""Makes measurement files for `make fuzz-commands`: BUILD=build tests/fuzz/commands_bases.py FOLDER. Of programs with tasks, locks, phases,
iterations and traces, of a killed one, and of a job's two processes, merged and each alone."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "behaviour")]

import harness  # noqa: E402

RUNS = {
    "tasks": (["tasks"], {"BLAME_TASKS": "creation"}),
    "lock": (["lock"], {"BLAME_LOCKS": "release"}),
    "nested": (["nested"], {}),
    "traced": (["quick"], {"BLAME_TRACE": "1"}),
    "phases": (["phase_nesting"], {"BLAME_TRACE": "1", "BLAME_RATE": "500"}),
    "folds": (["folds"], {"BLAME_RATE": "500"}),
    "killed": (["endings", "sigkill"], {"BLAME_TRACE": "1"}),
    "faults": (["quick"], {"BLAME_SAMPLE": "perf::PAGE-FAULTS@10", "BLAME_COUNTERS": "perf::TASK-CLOCK"}),
}


def measure(argv, out, env):
    environment = harness.clean_environment() | {"OMP_TOOL_LIBRARIES": harness.LIBRARY, "BLAME_OUT": out, "BLAME_CSV": "0", "TEST_PACE": "5"} | env
    subprocess.run([harness.program(argv[0]), *argv[1:]], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def only_measurement(folder):
    name, = (name for name in os.listdir(folder) if name.endswith(".blame"))
    return os.path.join(folder, name)


def main():
    folder = os.path.abspath(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for name, (argv, env) in RUNS.items():
            measure(argv, name, env)
            shutil.copy(only_measurement(name), os.path.join(folder, f"{name}.blame"))
        for _ in range(2):
            measure(["quick"], "job", {"BLAME_JOB": "two"})
        os.mkdir(os.path.join(folder, "job"))
        for name in (".job", "rank-000000.blame", "rank-000001.blame"):
            shutil.copy(os.path.join("job", name), os.path.join(folder, "job", name))
        subprocess.run([harness.BLAME, "merge", "job", "--output", os.path.join(folder, "merged.blame")], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
