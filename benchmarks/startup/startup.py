#!/usr/bin/env python3
"""What blame adds to the start and the end of a program with many shared libraries.

Makes the libraries and a program that needs them all, and runs it without and with `blame run` in turns. Prints medians:
the time until main begins, the time from main's end until the command has ended, and all CPU time.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

FUNCTIONS = 40  # of each library; each has relocations, symbols, lines and unwind tables of its own

LIBRARY = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{functions}
int library_{number}(const char *text)
{{
    return {calls} + (*text == '?' ? puts(text) + atoi(getenv(text)) : 0);
}}
"""
FUNCTION = """
static int value_{number}_{i}[] = {{{i}, {number}}};
int *place_{number}_{i} = value_{number}_{i};
int function_{number}_{i}(const char *text) {{ return (int)strlen(text) * *place_{number}_{i}; }}
"""
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{declarations}
static long long now(clockid_t clock) {{ struct timespec t; clock_gettime(clock, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }}
int main(int count, char **text)
{{
    long long begin = now(CLOCK_MONOTONIC);
    volatile int sum = count > 99 ? {calls} : 0;
    double ms = atof(text[1]);
#pragma omp parallel
    for (long long from = now(CLOCK_THREAD_CPUTIME_ID); now(CLOCK_THREAD_CPUTIME_ID) - from < ms * 1e6;)
        ;
    printf("%lld %lld\\n", begin, now(CLOCK_MONOTONIC));
    return sum;
}}
"""


def compile_with(compiler, source, output, *arguments):
    subprocess.run([compiler, "-O1", "-g", "-x", "c", "-", "-o", output, *arguments], input=source, text=True, check=True)


def build(folder, count, compiler):
    """Returns the path of a program that needs `count` libraries, which are made if they are not there."""
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, f"program-{count}")
    for number in range(count):
        path = os.path.join(folder, f"libmany{number}.so")
        if not os.path.exists(path):
            functions = "".join(FUNCTION.format(number=number, i=i) for i in range(FUNCTIONS))
            calls = " + ".join(f"function_{number}_{i}(text)" for i in range(FUNCTIONS))
            compile_with(compiler, LIBRARY.format(number=number, functions=functions, calls=calls), path, "-shared", "-fPIC")
    declarations = "".join(f"int library_{i}(const char *);\n" for i in range(count))
    calls = " + ".join(["0"] + [f"library_{i}(text[0])" for i in range(count)])
    compile_with(compiler, PROGRAM.format(declarations=declarations, calls=calls), program, "-fopenmp", "-Wl,--no-as-needed",
                 f"-L{folder}", *[f"-lmany{i}" for i in range(count)], f"-Wl,-rpath,{folder}")
    return program


def measure(command, environment):
    """Returns milliseconds until main, after main, and of CPU time."""
    reading, writing = os.pipe()
    begin = time.monotonic_ns()
    pid = os.posix_spawn(command[0], command, environment, file_actions=[
        (os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    os.close(writing)
    status, used = os.wait4(pid, 0)[1:]
    end = time.monotonic_ns()
    with os.fdopen(reading) as output:
        times = output.read().split()
    if status or len(times) != 2:
        sys.exit(f"startup.py: {' '.join(command)} failed (status {status})")
    return [(int(times[0]) - begin) / 1e6, (end - int(times[1])) / 1e6, 1e3 * (used.ru_utime + used.ru_stime)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="folder for the libraries")
    parser.add_argument("--command", required=True, help="path of blame")
    parser.add_argument("--compiler", default="clang-19")
    parser.add_argument("--libraries", default="0,90,300", help="numbers of libraries")
    parser.add_argument("--work", default="30", help="milliseconds that each thread works")
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    environment = dict(os.environ, OMP_NUM_THREADS="2")
    print(f"{'libraries':>9}  {'':12}{'before main':>12}{'after main':>12}{'CPU':>12}   ms")
    for count in [int(text) for text in options.libraries.split(",")]:
        program = build(os.path.abspath(options.build), count, options.compiler)
        profile = os.path.join(os.path.abspath(options.build), "profile")
        bare, blame = [], []
        for _ in range(options.pairs):
            bare.append(measure([program, options.work], environment))
            subprocess.run(["rm", "-rf", profile], check=True)
            blame.append(measure([options.command, "run", "-o", profile, program, options.work], environment))
            if not os.path.isdir(profile):
                sys.exit(f"startup.py: {program} has no profile")
        pairs = [[with_blame - without for with_blame, without in zip(*pair)] for pair in zip(blame, bare)]
        for name, rows in (("bare", bare), ("blame", blame), ("difference", pairs)):
            print(f"{count:9}  {name:12}" + "".join(f"{statistics.median(column):12.1f}" for column in zip(*rows)))


if __name__ == "__main__":
    main()
