"""What bench.py and startup.py share: the environments that are compared, and running one program."""

import os
import statistics
import subprocess
import sys
import time

RUN_LIMIT_S = 600


class BenchError(Exception):
    """Stops a benchmark; the text is for the user."""


def clean_environment(threads):
    """The caller's environment without anything that loads or sets a tool."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMP_TOOL", "BLAME_")) and name != "LD_PRELOAD"}
    environment["OMP_NUM_THREADS"] = str(threads)
    environment["OMP_DYNAMIC"] = "false"
    return environment


def tool_environment(column, tools, threads, rate, out_dir):
    """The environment of one column: none, floor, signals (the floor with signals whose handler is empty), callbacks
    (blame at 1 sample a second), blame, or creation (blame with creation contexts)."""
    environment = clean_environment(threads)
    if column != "none":
        environment["OMP_TOOL_LIBRARIES"] = tools[column]
    if column == "signals":
        environment["NOOP_RATE"] = str(rate)
    if column in ("callbacks", "blame", "creation"):
        environment.update(BLAME_RATE=str(1 if column == "callbacks" else rate), BLAME_OUT=out_dir, BLAME_SUMMARY="0")
    if column == "creation":
        environment["BLAME_TASKS"] = "creation"
    return environment


def find_tools(build, tool):
    """Paths of the tools that exist: floor always, blame when it has been built."""
    tools = {"floor": os.path.abspath(os.path.join(build, "libnoop.so"))}
    if not os.path.exists(tools["floor"]):
        raise BenchError(f"{tools['floor']} is missing: run `make bench-build` first")
    if os.path.exists(tool):
        tools["blame"] = os.path.abspath(tool)
    else:
        print(f"note: {tool} does not exist: the blame column is skipped", file=sys.stderr)
    return tools


def run(command, environment):
    """Runs a program to its end; returns its output and its whole time. Any failure is a BenchError."""
    begin_s = time.monotonic()
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=RUN_LIMIT_S, check=False)
    except FileNotFoundError:
        raise BenchError(f"{command[0]} is missing: run `make bench-build` first") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"`{' '.join(command)}` ran for more than {RUN_LIMIT_S} s") from None
    seconds = time.monotonic() - begin_s
    if done.returncode != 0:
        tool = environment.get("OMP_TOOL_LIBRARIES", "none")
        raise BenchError(f"`{' '.join(command)}` failed with status {done.returncode} (tool: {tool})\n"
                         f"{done.stdout}{done.stderr}".rstrip())
    return done.stdout, seconds


def check_tool_loads(column, tools, program, out_dir):
    """A tool that does not load would be measured as free: ask the runtime."""
    environment = tool_environment(column, tools, 1, 200, out_dir)
    environment["OMP_TOOL_VERBOSE_INIT"] = "stdout"
    output, _ = run(program, environment)
    if "Tool was started and is using the OMPT interface" not in output:
        raise BenchError(f"{tools[column]} does not start in {program[0]}; the runtime says:\n{output}")


def median_ratio(values, base):
    """Median of the ratios within each pair of runs: slow drift of the machine cancels out."""
    return statistics.median(value / other for value, other in zip(values, base))


def positive(text):
    """Argument type: an integer of at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
