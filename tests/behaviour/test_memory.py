"""The program's heap is its own: what the tool asks of malloc before its end is nothing but small blocks, at the start
and for each thread, that it gives back at once. tests/programs/tool_memory.c keeps the books."""

import csv
import os
from collections import defaultdict

from harness import LIBRARY, PASSIVE, BlameTest, program

# What the tool may call that allocates, and how often in a phase: name -> (a process, a thread). Two address spaces of
# libunwind at the start are a pattern for the threads' own.
AT_START = {"_Ux86_64_create_addr_space": (2, 0)}
with open(LIBRARY, "rb") as library:
    if b"libunwind-x86_64.so" not in library.read():  # it is linked in (make archive): the tool itself calls malloc for them
        AT_START = {"malloc": AT_START["_Ux86_64_create_addr_space"]}
# Its stack's bounds, as libomp asks for them too.
A_THREAD = {"pthread_getattr_np": (0, 6)}
# The loader's own entries, which stay, for libblame-pthreads.so under `blame run`.
LOADING = {"dlmopen": (12, 0)}
# The program's own call, which libblame-pthreads.so passes on: the thread's local variables.
PASSED_ON = {"pthread_create": (0, 1)}
ALLOWED = AT_START | A_THREAD | LOADING | PASSED_ON
LARGEST = 32768  # bytes: glibc's thresholds begin to move at 128 KiB
RUNNING = ("running", "running with more", "running with another library")
MODES = ({"BLAME_RATE": "10000"}, {"BLAME_TASKS": "creation"}, {"BLAME_CONTEXT": "eager"}, {"BLAME_LOCKS": "release"})


class Books:
    def __init__(self, path):
        self.lines = []
        with open(path, encoding="utf-8", newline="") as file:
            for kind, phase, owner, callee, *numbers in csv.reader(file):
                self.lines.append((kind, phase, owner, callee, [int(number) for number in numbers]))

    def lost(self):
        return sum(numbers[0] for kind, _, _, _, numbers in self.lines if kind == "lost")

    def heap(self, owner="tool", phases=None):
        """(phase, callee) -> [count, bytes, largest, in use]"""
        found = defaultdict(lambda: [0, 0, 0, 0])
        for kind, phase, whose, callee, (count, size, largest, in_use) in self.lines:
            if kind == "heap" and whose == owner and (phases is None or phase in phases):
                entry = found[phase, callee]
                found[phase, callee] = [entry[0] + count, entry[1] + size, max(entry[2], largest), entry[3] + in_use]
        return dict(found)

    def mapped(self, phase):
        return sum(numbers[0] for kind, where, owner, _, numbers in self.lines
                   if (kind, where, owner) == ("map", phase, "tool"))


class HeapOfTheProgram(BlameTest):
    def books(self, how, env):
        argv = [program("allocations"), program("dlopen_lib.so")]
        out = os.path.join(self.folder, "books")
        run = self.attached(argv, PASSIVE | {"LD_PRELOAD": program("tool_memory.so"), "TOOL_MEMORY_OUT": out, "BLAME_RATE": "1000"} | env, how=how)
        self.assertEqual((run.status, run.stdout), (0, "done\n"), run)
        profile = self.load(run, checks=[])
        self.assertGreater(profile.run["samples"]["recorded"], 50, run)
        books = Books(out)
        self.assertEqual(books.lost(), 0)
        # The books see allocations at all, and know the tool's from others'.
        for phase in RUNNING:
            self.assertGreater(sum(entry[0] for entry in books.heap("program", (phase,)).values()), 0, phase)
        self.assertGreater(books.mapped("start"), 5)
        return books

    def check(self, how, env):
        books = self.books(how, env)
        # Spaces for the start's 2 to 4 threads and the nested regions' ones; later phases bring at most 8 more.
        threads = 8
        for (phase, callee), (count, _, largest, in_use) in books.heap().items():
            with self.subTest(how=how, env=env, phase=phase, callee=callee):
                self.assertNotIn(phase, RUNNING, f"{count} allocations by {callee} while the program ran")
                self.assertIn(callee, ALLOWED if phase == "start" else A_THREAD | PASSED_ON)
                a_process, a_thread = ALLOWED[callee]
                self.assertLessEqual(count, a_process + a_thread * threads)
                self.assertLessEqual(largest, LARGEST)
                if callee not in LOADING | PASSED_ON:
                    self.assertEqual(in_use, 0, "given back")

    def test_the_tool_takes_nothing_from_the_heap_while_the_program_runs(self):
        for env in MODES:
            self.check("library", env)
        self.check("launcher", {})

