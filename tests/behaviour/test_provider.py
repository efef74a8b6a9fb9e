"""libblame-gomp.so on its own, by LD_PRELOAD: any OMPT tool works with it, and a copy of libgomp that only one library has."""

import os
import re
import shutil
import subprocess
import unittest

from harness import LIBRARY, BlameTest, program

PROVIDER = os.path.join(os.path.dirname(LIBRARY), "libblame-gomp.so")
SYSTEM, HASHED = "loads_later_lib.so", "hashed/loads_later_lib.so"


def archer():
    """LLVM's tool for ThreadSanitizer; None if it is not there."""
    clang = shutil.which("clang-19") or shutil.which("clang")
    path = clang and subprocess.run([clang, "-print-file-name=libarcher.so"], capture_output=True, text=True, check=True).stdout.strip()
    return path if path and os.path.isabs(path) and os.path.exists(path) else None


class Provider(BlameTest):
    def test_a_program_that_loads_libgomp_later_is_measured_also_if_it_is_a_copy_with_a_hashed_name(self):
        for library in (SYSTEM, HASHED):
            with self.subTest(library=library):
                argv = [program("loads_later"), program(library)]
                run = self.attached(argv, {"LD_PRELOAD": PROVIDER})
                self.assertEqual((run.status, run.stdout), (0, self.plain(argv).stdout), run)
                self.assertEqual(run.other_lines(), [], run)
                tree = self.reported_tree(*run.directories("*"))
                self.assertGreater(tree.clocked("later_share"), 0, run)

    def test_all_calls_of_libraries_with_copies_of_libgomp_go_to_one_copy(self):
        """Where a region is one copy's, and omp_get_thread_num() another's, all threads have number 0: sum 2."""
        for libraries in ((SYSTEM, HASHED), (HASHED, SYSTEM), (HASHED, "hashed_other/loads_later_lib.so")):
            for tool in ({}, {"OMP_TOOL_LIBRARIES": LIBRARY, "BLAME_SUMMARY": "0"}):
                with self.subTest(libraries=libraries, tool=tool):
                    run = self.plain([program("loads_later"), *map(program, libraries)], tool | {"LD_PRELOAD": PROVIDER})
                    self.assertEqual((run.status, run.stdout, run.stderr), (0, "sum 3\nsum 3\n", ""), run)

    def test_functions_that_nobody_reports_are_reached_by_address_and_name(self):
        run = self.plain([program("reaches")], {"LD_PRELOAD": PROVIDER})
        self.assertEqual(run.stdout.splitlines()[:2], ["sum 3 3", "1 1"], run)

    def test_a_tool_in_the_program_starts_when_the_program_has_begun(self):
        run = self.plain([program("tool_inside_gcc")], {"LD_PRELOAD": PROVIDER})
        self.assertEqual((run.status, run.stdout, run.stderr), (0, "6 threads, 1 start, 3 regions\n", ""), run)

    def test_a_program_controls_the_tool_in_c_and_fortran(self):
        code = ("import ctypes; ctypes.CDLL('libgomp.so.1', ctypes.RTLD_GLOBAL); all = ctypes.CDLL(None); four = ctypes.c_int(1); eight = ctypes.c_int64(1); "
                "print(all.omp_control_tool(1, 0, None), all.omp_control_tool_(ctypes.byref(four), ctypes.byref(four), None), "
                "all.omp_control_tool_8_(ctypes.byref(eight), ctypes.byref(eight), None))")
        argv = ["/usr/bin/python3", "-c", code]
        self.assertEqual(self.plain(argv, {"LD_PRELOAD": PROVIDER}).stdout, "-2 -2 -2\n", "no tool")
        self.assertEqual(self.attached(argv, {"LD_PRELOAD": PROVIDER}).stdout, "1 1 1\n", "what blame answers to a start while it measures")

    def test_nothing_happens_in_a_process_without_libgomp(self):
        run = self.plain(["/bin/echo", "text"], {"LD_PRELOAD": PROVIDER, "OMP_TOOL_LIBRARIES": LIBRARY})
        self.assertEqual((run.status, run.stdout, run.stderr), (0, "text\n", ""), run)


class Archer(BlameTest):
    needs_tool = False

    def races(self, *arguments, **env):
        argv = ["setarch", "-R", program("races_gcc"), *arguments]
        run = self.plain(argv, {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1", **env})
        return len(re.findall("WARNING: ThreadSanitizer: data race", run.stderr))

    @unittest.skipUnless(archer(), "no libarcher.so")
    def test_thread_sanitizer_finds_the_race_of_a_gcc_program_and_no_other(self):
        tool = {"LD_PRELOAD": PROVIDER, "OMP_TOOL_LIBRARIES": archer()}
        self.assertGreater(self.races(), 0, "ThreadSanitizer knows libgomp: the provider is not needed")
        self.assertEqual(self.races(**tool), 0)
        self.assertGreater(self.races("race", **tool), 0)
