"""What blame itself holds in memory: its own mappings, and the libraries it brings."""

import os
import re
import shutil
import statistics

from bench_common import BenchError, run, tool_environment

THREADS = [1, 2, 4, 8, 16, 32, 64]


def remove_profile(out_dir, command):
    if not os.path.isdir(out_dir):
        raise BenchError(f"`{' '.join(command)}` left no profile in {out_dir}: blame did not measure it")
    shutil.rmtree(out_dir)


def read_smaps(path):
    """file or name of a mapping -> kB in memory, and kB that no other process shares."""
    found, name = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                name = os.path.basename(words[5]) if len(words) > 5 else "anonymous"
                name = "*.blame" if name.endswith(".blame") else name
            elif words[0] in ("Rss:", "Private_Dirty:"):
                both = found.setdefault(name, {"Rss:": 0, "Private_Dirty:": 0})
                both[words[0]] += int(words[1])
    return found


def watch(args, tools, column, threads, scratch):
    """One run of the kernel without iterations, under tool_memory.so: its books and its mappings."""
    out_dir, books = os.path.join(scratch, "out"), os.path.join(scratch, "books")
    environment = tool_environment(column, tools, threads, 1, out_dir)
    environment.update(LD_PRELOAD=os.path.abspath(os.path.join(args.build, "tool_memory.so")), TOOL_MEMORY_OUT=books,
                       KMP_BLOCKTIME="0")
    command = [os.path.join(args.build, "memory"), "0"]
    output, _ = run(command, environment)
    if f"team {threads}\n" not in output:
        raise BenchError(f"`{' '.join(command)}` did not run {threads} threads:\n{output}")
    if column == "blame":
        remove_profile(out_dir, command)
    with open(books, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(",") for line in file]
    if any(line[0] == "lost" for line in lines):
        raise BenchError("tool_memory.so lost count")
    return lines, read_smaps(books + ".smaps")


def total(lines, kind, owner, column):
    return sum(int(line[column]) for line in lines if line[0] == kind and line[2] == owner)


def slope(points):
    mean_x, mean_y = (statistics.fmean(values) for values in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def print_libraries(with_tool, without):
    print("\n| library that blame brings | in memory, kB | of it written to, kB |\n|---|---|---|")
    for name, size in sorted(with_tool.items(), key=lambda item: -item[1]["Rss:"]):
        if re.search(r"\.so(\.[0-9.]+)?$", name) and name not in without:
            print(f"| {name} | {size['Rss:']} | {size['Private_Dirty:']} |")


def measure(args, tools, scratch):
    print("| threads | mapped by blame, kB | of it in memory, kB | blame's blocks in the heap, bytes | whole process adds, kB |")
    print("|---|---|---|---|---|", flush=True)
    points = []
    for threads in THREADS:
        lines, mappings = watch(args, tools, "blame", threads, scratch)
        _, without = watch(args, tools, "none", threads, scratch)
        # A mapping: its bytes still mapped are in the last column, those in memory before it.
        held = total(lines, "map", "tool", 6) / 1024
        points.append((threads, held))
        added = sum(size["Rss:"] for size in mappings.values()) - sum(size["Rss:"] for size in without.values())
        print(f"| {threads} | {total(lines, 'map', 'tool', 7) / 1024:.0f} | {held:.0f} | {total(lines, 'heap', 'tool', 7)} "
              f"| {added} |", flush=True)
    each = slope(points)
    print(f"\nin memory before the first sample: {points[0][1] - each:.0f} kB a process and {each:.1f} kB a thread "
          f"(bound: 1024 kB a thread)")
    print_libraries(mappings, without)
