"""include/blame.h and include/blame.F90 by themselves: what compiles, what a program without the tool pays, and what a
tool is told. Here the tool is tests/programs/header_tool.c, which prints every call and the function it came from."""

import itertools
import os
import re
import subprocess

from harness import LIBRARY, ROOT, BlameTest

INCLUDE = os.path.join(ROOT, "include")
MODULE = os.path.join(INCLUDE, "blame.F90")
SOURCES = os.path.join(ROOT, "tests", "programs")
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE]
EXPORTING = "-Wl,--export-dynamic"  # functions have names at run time
C_COMPILERS, CXX_COMPILERS = ("gcc", "clang-19"), ("g++", "clang++-19")
FORTRAN_COMPILERS = ("gfortran", "flang-new-19")
C_STANDARDS, CXX_STANDARDS = ("c99", "gnu17"), ("c++11", "c++20")
NEXT = -2 ** 63

STEP = """begin 'step' 16 {number} in step
begin 'size' 15 -512 in sized
begin 'pack' 14 0 in sized
end 'pack' 14 in sized
end 'size' 15 in sized
end 'step' 16 in step
"""
CALLS = ("begin 'solve' 13 0 in solve\n" + STEP.format(number=17) + STEP.format(number=NEXT)
         + "end 'solve' 13 in solve\n")
PART = "begin 'part' 13 0 in part\nend 'part' 13 in part\n"
SCOPE = """begin 'step' 16 {number} in outer
begin 'size' 15 512 in inner
begin 'pack' 14 0 in inner
end 'pack' 14 in inner
end 'size' 15 in inner
end 'step' 16 in outer
"""
SCOPES = (f"begin 'next' 16 {NEXT} in main\nbegin 'solve' 13 0 in outer\n" + SCOPE.format(number=0)
          + SCOPE.format(number=1) + "end 'solve' 13 in outer\nfailed\nend 'next' 16 in main\n")
FORTRAN = f"""begin 'solve it' 13 0 in solve_
begin 'step' 16 17 in step_
begin 'size' 15 -512 in sized_
begin 'large' 15 5000000000 in sized_
begin 'pack' 14 0 in sized_
end 'pack' 14 in sized_
end 'large' 15 in sized_
end 'size' 15 in sized_
end 'step' 16 in step_
begin 'next' 16 {NEXT} in solve_
end 'next' 16 in solve_
end 'solve it' 13 in solve_
"""
# What could be a tool, and is none.
NO_TOOL = ({}, {"OMP_TOOL_LIBRARIES": "/nonexistent.so"})


def source(name):
    return os.path.join(SOURCES, name)


def is_cxx(compiler):
    return "++" in compiler


class HeaderTest(BlameTest):
    needs_tool = False

    def build(self, argv, name=None):
        """Path of what the compiler makes of it, without a word. It is made once for all tests."""
        def make(folder):
            path = os.path.join(folder, name or "program")
            self.compile([*argv, "-o", path])
            return path

        return self.once((argv, name), make)

    def compile(self, argv):
        run = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""), " ".join(argv))

    def language(self, compiler):
        return ["-x", "c++"] if is_cxx(compiler) else []

    def calls(self, compiler, *options):
        exporting = [] if any("static" in option for option in options) else [EXPORTING]
        return self.build([compiler, *STRICT, *self.language(compiler), source("header_calls.c"), *exporting,
                           *options])

    def tool(self, *options):
        return self.build(["gcc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-I", ROOT, *options,
                           source("header_tool.c")], "tool.so")

    def late(self, *options):
        return self.build(["clang-19", *STRICT, "-std=gnu11", "-fopenmp", source("header_late.c"), *options])

    def assert_prints(self, path, expected, env=None):
        run = self.plain([path], env)
        self.assertEqual((run.status, run.stdout, run.stderr), (0, expected, ""), run)


class Compiles(HeaderTest):
    def test_everywhere_without_a_warning(self):
        """Of all standards; at all levels, and linked, they are compiled as strictly below."""
        for compilers, standards in ((C_COMPILERS, C_STANDARDS), (CXX_COMPILERS, CXX_STANDARDS)):
            for compiler, standard in itertools.product(compilers, standards):
                with self.subTest(compiler=compiler, standard=standard):
                    sources = ["header_unused.c", "header_calls.c", *(["header_scopes.cc"] if is_cxx(compiler) else [])]
                    self.compile([compiler, *STRICT, *self.language(compiler), f"-std={standard}", "-O2", "-c", *map(source, sources)])

    def test_what_must_not_compile(self):
        for compiler in CXX_COMPILERS:
            with self.subTest(compiler=compiler):
                run = subprocess.run([compiler, *STRICT, "-std=c++20", "-DCOPY", "-DDISCARD", "-fsyntax-only", source("header_scopes.cc")],
                                     capture_output=True, text=True, check=False)
                self.assertNotEqual(run.returncode, 0)
                for word in ("deleted", "nodiscard"):
                    self.assertRegex(run.stderr, rf"(?m)^.*: error: .*\b{word}\b")

    def test_fortran_without_a_warning(self):
        for compiler, level in itertools.product(FORTRAN_COMPILERS, ("-O0", "-O2")):
            options = ["-std=f2008", "-Wall", "-Wextra"] if compiler == "gfortran" else []
            with self.subTest(compiler=compiler, level=level):
                self.build([compiler, level, *options, "-pedantic", "-c", MODULE], "blame.o")


class WithoutTool(HeaderTest):
    def test_calls_are_harmless(self):
        for compiler in (*C_COMPILERS, *CXX_COMPILERS):
            for options in (["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-fopenmp"]):
                path = self.calls(compiler, *options)
                for env in NO_TOOL:
                    with self.subTest(compiler=compiler, options=options, env=env):
                        self.assert_prints(path, "done\n", env)

    def test_a_static_program_has_no_tool(self):
        for compiler in ("gcc", "clang-19"):
            for linking in (["-static"], ["-static-pie", "-fPIE"]):
                path = self.calls(compiler, "-O2", *linking)
                for env in NO_TOOL:
                    with self.subTest(compiler=compiler, linking=linking, env=env):
                        self.assert_prints(path, "done\n", env)

    def test_an_object_refers_to_nothing_that_must_be_linked(self):
        for compiler in C_COMPILERS:
            path = self.build([compiler, *STRICT, "-O2", "-c", source("header_calls.c")], "calls.o")
            symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
            undefined = set(re.findall(r"(?m)^\s+U (\w+)$", symbols)) - {"_GLOBAL_OFFSET_TABLE_"}
            self.assertLessEqual(undefined, {"getenv", "puts", "strlen"})
            self.assertRegex(symbols, r"(?m)^\s+w dlsym$")

    def test_a_pair_of_calls_is_a_few_instructions(self):
        for compiler in C_COMPILERS:
            path = self.build([compiler, *STRICT, "-O2", source("header_loop.c")])
            counts = []
            for pairs in (1000, 101000):
                run = self.plain(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", path, str(pairs)])
                self.assertEqual(run.status, 0, run)
                counts.append(int(re.search(r"Collected : (\d+)", run.stderr).group(1)))
            # Load, compare and branch, twice, and the loop itself.
            self.assertLessEqual((counts[1] - counts[0]) / 100000, 10, compiler)

    def test_fortran(self):
        for compiler in FORTRAN_COMPILERS:
            path = build_fortran(self, compiler, "-O2")
            for env in NO_TOOL:
                with self.subTest(compiler=compiler, env=env):
                    self.assert_prints(path, "done\n", env)

    def test_a_runtime_is_not_taken_for_the_tool(self):
        runtime = self.tool("-DRUNTIME_ALONE")
        for path in (self.calls("gcc", "-O2"), build_fortran(self, "gfortran", "-O2")):
            with self.subTest(path=path):
                self.assert_prints(path, "done\n", {"LD_PRELOAD": runtime})
        self.assert_prints(self.late(), "3 threads\n", {"OMP_NUM_THREADS": "2"})


def build_fortran(test, compiler, level):
    """The module as optimised as told; the program not at all, so that each of its procedures is a frame."""
    def make(folder):
        module, main = (os.path.join(folder, name) for name in ("blame.o", "main.o"))
        for argv in ([level, "-c", MODULE, "-o", module],
                     ["-O0", "-c", source("header_fortran.F90"), "-o", main]):
            run = subprocess.run([compiler, *argv], capture_output=True, text=True, check=False, cwd=folder)
            test.assertEqual((run.returncode, run.stderr), (0, ""), argv)
        return test.build([compiler, EXPORTING, main, module])

    return test.once((compiler, level), make)


class WithTool(HeaderTest):
    def test_every_call_arrives_from_the_function_that_made_it(self):
        env = {"LD_PRELOAD": self.tool()}
        for compiler, level in itertools.product((*C_COMPILERS, *CXX_COMPILERS), ("-O0", "-O1", "-O2", "-O3")):
            with self.subTest(compiler=compiler, level=level):
                self.assert_prints(self.calls(compiler, level), "asked\n" + CALLS + "done\n", env)

    def test_scopes_end_in_the_opposite_order_by_exceptions_too(self):
        env = {"LD_PRELOAD": self.tool()}
        # Beyond -O1 what an exception runs through is a function's cold part, which has no name at run time.
        for compiler, level in itertools.product(CXX_COMPILERS, ("-O0", "-O1")):
            with self.subTest(compiler=compiler, level=level):
                path = self.build([compiler, *STRICT, "-std=c++11", level, EXPORTING, source("header_scopes.cc")])
                self.assert_prints(path, "asked\n" + SCOPES, env)

    def test_fortran(self):
        env = {"LD_PRELOAD": self.tool()}
        for compiler, level in itertools.product(FORTRAN_COMPILERS, ("-O0", "-O2")):
            with self.subTest(compiler=compiler, level=level):
                self.assert_prints(build_fortran(self, compiler, level), "asked\n" + FORTRAN + "done\n", env)

    def test_translation_units_ask_once_and_a_shared_library_for_itself(self):
        env = {"LD_PRELOAD": self.tool()}
        for compiler in C_COMPILERS:
            with self.subTest(compiler=compiler):
                path = self.calls(compiler, "-O2", "-DPARTS", source("header_part.c"))
                self.assert_prints(path, "asked\n" + CALLS + PART + "done\n", env)
                library = self.build([compiler, *STRICT, "-O2", "-shared", "-fPIC", source("header_part.c")], "part.so")
                path = self.calls(compiler, "-O2", "-DPARTS", library)
                self.assert_prints(path, "asked\n" + CALLS + "asked\n" + PART + "done\n", env)

    def test_a_tool_that_gives_no_table_is_asked_once_and_left_alone(self):
        tool = self.tool()
        c, fortran = self.calls("gcc", "-O2"), build_fortran(self, "gfortran", "-O2")
        for mode in ("refuses", "silent", "short"):
            for path in (c, fortran):
                with self.subTest(mode=mode, path=path):
                    self.assert_prints(path, "asked\ndone\n", {"LD_PRELOAD": tool, "HEADER_TOOL": mode})


class WithBlame(HeaderTest):
    needs_tool = True

    def test_it_is_found_however_it_came(self):
        linked = self.late("-Wl,--no-as-needed", LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}")
        for path, env in ((self.late(), {"OMP_TOOL_LIBRARIES": LIBRARY}), (self.late(), {"LD_PRELOAD": LIBRARY}), (linked, {})):
            with self.subTest(path=path, env=env):
                run = self.plain([path], self.tool_environment(env))
                self.assertEqual(run.status, 0, run)
                self.assertIn("\nset up,", self.load(run).read("phases.csv"))
