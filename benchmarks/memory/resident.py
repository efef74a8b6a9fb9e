"""What blame itself holds in memory: its own mappings, and the libraries it brings."""

import os
import re
import tempfile

from bench_common import BenchError, Table, run_under, slope

THREADS = [1, 2, 4, 8, 16, 32, 64]


def read_smaps(path):
    """file or name of a mapping -> kB in memory, and kB that no other process shares."""
    found, name = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                name = os.path.basename(words[5]) if len(words) > 5 else "anonymous"
            elif words[0] in ("Rss:", "Private_Dirty:"):
                both = found.setdefault(name, {"Rss:": 0, "Private_Dirty:": 0})
                both[words[0]] += int(words[1])
    return found


def watch(args, tools, column, threads):
    """One run of the kernel without iterations, under tool_memory.so: its books and its mappings."""
    command = [os.path.join(args.build, "memory"), "0"]
    with tempfile.TemporaryDirectory(prefix="blame-memory-") as scratch:
        books = os.path.join(scratch, "books")
        output, _, _ = run_under(column, tools, command, threads, KMP_BLOCKTIME="0", TOOL_MEMORY_OUT=books,
                                 LD_PRELOAD=os.path.abspath(os.path.join(args.build, "tool_memory.so")))
        with open(books, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(",") for line in file]
        mappings = read_smaps(books + ".smaps")
    if f"team {threads}\n" not in output:
        raise BenchError(f"`{' '.join(command)}` did not run {threads} threads:\n{output}")
    if any(line[0] == "lost" for line in lines):
        raise BenchError("tool_memory.so lost count")
    return lines, mappings


def total(lines, kind, column):
    return sum(int(line[column]) for line in lines if line[0] == kind and line[2] == "tool")


def measure(args, tools):
    table = Table("threads", "mapped by blame, kB", "of it in memory, kB", "blame's blocks in the heap, bytes",
                  "whole process adds, kB")
    points = []
    for threads in THREADS:
        lines, mappings = watch(args, tools, "blame", threads)
        _, without = watch(args, tools, "none", threads)
        # A mapping: its bytes still mapped are in the last column, those in memory before it.
        held = total(lines, "map", 6) / 1024
        points.append((threads, held))
        added = sum(size["Rss:"] for size in mappings.values()) - sum(size["Rss:"] for size in without.values())
        table.row(threads, f"{total(lines, 'map', 7) / 1024:.0f}", f"{held:.0f}", total(lines, "heap", 7), added)
    each = slope(points)
    print(f"in memory before the first sample: {points[0][1] - each:.0f} kB a process and {each:.1f} kB a thread "
          f"(bound: 1024 kB a thread)")
    table = Table("library that blame brings", "in memory, kB", "of it written to, kB")
    for name, size in sorted(mappings.items(), key=lambda item: -item[1]["Rss:"]):
        if re.search(r"\.so(\.[0-9.]+)?$", name) and name not in without:
            table.row(name, size["Rss:"], size["Private_Dirty:"])
