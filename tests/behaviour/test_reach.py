"""Which copy of libgomp a program's calls come to under `blame run`: always the one that they come to alone, or one for all."""

import glob
import os
import re
import shutil
import subprocess

import contract_checks
from harness import BlameTest, program

SOUND = contract_checks.TREE_CHECKS + [contract_checks.check_run, contract_checks.check_threads,
                                       contract_checks.check_exact_laws]
REACHED = "by libblame-gomp, blame run"
KEEPS = "keeps its own runtime, which is not measured"
A, B = "hashed/loads_later_lib.so", "hashed_other/loads_later_lib.so"


def libgomp():
    return os.path.realpath(subprocess.run(["gcc", "-print-file-name=libgomp.so.1"], check=True, capture_output=True, text=True).stdout.strip())


class Reach(BlameTest):
    def measured(self, argv, regions, env=None, stderr=""):
        """The run has the status and the output that the program has alone, and these regions."""
        alone, run = self.plain(argv, env), self.attached(argv, env, "launcher")
        self.assertEqual((run.status, run.stdout, run.stderr), (alone.status, alone.stdout, stderr), run)
        profile = self.load(run, checks=SOUND)
        self.assertEqual((profile.run["regions"], profile.run["runtime_reached"]), (regions, REACHED), run)
        self.assertRegex(profile.run["runtime_version"], "^GNU libgomp, GCC [0-9]+")
        self.assertIn("GNU libgomp, GCC", " ".join(self.report(profile.directory).stdout.split()))
        self.assertEqual(profile.run["other_runtimes"], [])
        self.assertEqual([row for row in profile.rows if row.kind == "runtime" and "blame" in row.module + row.file], [])
        return run, profile

    def test_however_a_call_is_bound_it_comes_to_the_one_copy(self):
        for form in ("", "_now", "_noplt", "_nopie"):
            for env in ({}, {"LD_BIND_NOW": "1"}):
                with self.subTest(form=form, env=env):
                    run, profile = self.measured([program("reaches" + form)], 2, env)
                    self.assertEqual(run.stdout.splitlines()[:2], ["sum 3 3", "1 1"])
                    self.assertEqual(os.path.realpath(profile.run["runtime_path"]), libgomp())

    def test_the_file_is_the_one_that_the_program_alone_would_have(self):
        folder = self.new_folder()
        shutil.copy(libgomp(), os.path.join(folder, "libgomp.so.1"))
        _, profile = self.measured([program("reaches")], 2, {"LD_LIBRARY_PATH": folder})
        self.assertEqual(profile.run["runtime_path"], os.path.join(folder, "libgomp.so.1"))
        for tags in ("--enable-new-dtags", "--disable-new-dtags"):
            own = os.path.join(folder, "reaches" + tags)
            subprocess.run(["gcc", "-D_GNU_SOURCE", "-fopenmp", "-O2", "tests/programs/reaches.c", "-o", own, f"-Wl,-rpath,$ORIGIN,{tags}"], check=True)
            with self.subTest(tags=tags):
                _, profile = self.measured([own], 2)
                self.assertEqual(profile.run["runtime_path"], os.path.join(folder, "libgomp.so.1"))

    def test_copies_under_names_of_their_own_become_one(self):
        system = "loads_later_lib.so"
        for libraries in ([A], [A, B, A], [system, A], [A, system, B]):
            with self.subTest(libraries=libraries):
                run, _ = self.measured([program("loads_later"), *map(program, libraries)], len(libraries))
                self.assertEqual(run.stdout, "sum 3\n" * len(libraries))
        run, profile = self.measured([program("nests_runtimes"), program(A), program(B)], 5, {"OMP_MAX_ACTIVE_LEVELS": "2"})
        self.assertEqual(profile.run["threads_max"], 4)
        self.assertEqual(os.path.basename(profile.run["runtime_path"]), "libgomp-a34b3233.so.1.0.0")

    def test_libgomp_and_libomp_are_both_measured(self):
        clang = "loads_later_clang.so"
        for libraries in ([A, clang], [clang, A], [clang, A, B, clang]):
            with self.subTest(libraries=libraries):
                self.attached_pair([program("loads_later"), *map(program, libraries)], "sum 3\n" * len(libraries), len(libraries))
        # Inside the region of the other, a thread that may end can be the one that starts libomp.
        for outer, inner, says in ((A, clang, "^(blame: the OpenMP runtime was started by a thread that may end .*\n)?$"), (clang, A, "^$")):
            with self.subTest(outer=outer):
                profile = self.attached_pair([program("nests_runtimes"), program(outer), program(inner)], "sum 12\n", 5, says)
                self.assertEqual(profile.run["threads_max"], 4)

    def attached_pair(self, argv, output, regions, says="^$"):
        run = self.attached(argv, how="launcher")
        self.assertEqual((run.status, run.stdout), (0, output), run)
        self.assertRegex(run.stderr, says)
        profile = self.load(run, checks=SOUND)
        self.assertEqual((profile.run["regions"], profile.run["other_runtimes"]), (regions, []))
        versions = sorted((profile.run["runtime_version"][:4], profile.run["second_runtime_version"][:4]))
        self.assertEqual(versions, ["GNU ", "LLVM"])
        return profile

    def test_llvms_runtime_under_libgomps_name_reports_its_own_events(self):
        """As conda installs it."""
        folder = self.new_folder()
        os.symlink(sorted(glob.glob("/usr/lib/llvm-*/lib/libomp.so.5"))[-1], os.path.join(folder, "libgomp.so.1"))
        run = self.attached([program("loads_later"), program("loads_later_lib.so")], {"LD_LIBRARY_PATH": folder}, "launcher")
        self.assertEqual((run.status, run.stdout, run.stderr), (0, "sum 3\n", ""), run)
        profile = self.load(run, checks=SOUND)
        self.assertEqual((profile.run["regions"], profile.run["threads_max"], profile.run["runtime_reached"]), (1, 2, "directly"))
        self.assertNotIn("second_runtime_version", profile.run)

    def test_a_tool_inside_the_program_is_not_started(self):
        """As libgomp alone would not."""
        folder = self.new_folder()
        with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
            file.write('#include <stdio.h>\nvoid *ompt_start_tool(unsigned v, const char *n) { puts("started"); (void)v, (void)n; return 0; }\n'
                       'int main(void) {\nint sum = 0;\n#pragma omp parallel num_threads(2) reduction(+ : sum)\nsum++;\nprintf("%d\\n", sum); }\n')
        subprocess.run(["gcc", "-fopenmp", "-O2", "-rdynamic", "main.c", "-o", "main"], cwd=folder, check=True)
        self.assertEqual(self.measured([os.path.join(folder, "main")], 1)[0].stdout, "2\n")

    def test_other_namespaces_keep_their_own_copies(self):
        """A library by dlmopen() with what it needs."""
        folder = self.new_folder()
        with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
            file.write('#include <dlfcn.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n'
                       'void *library = dlmopen(LM_ID_NEWLM, argv[argc - 1], RTLD_NOW);\n'
                       'int (*call)(void) = library ? (int (*)(void))dlsym(library, "sum_of_team") : 0;\n'
                       'printf("%d\\n", call ? call() : -1);\nint sum = 0;\n'
                       '#pragma omp parallel num_threads(2) reduction(+ : sum)\nsum++;\nprintf("%d\\n", sum); }\n')
        command = ["gcc", "-D_GNU_SOURCE", "-fopenmp", "-O2", "main.c", "-o", "main", "-ldl"]
        subprocess.run(command, cwd=folder, check=True)
        run, _ = self.measured([os.path.join(folder, "main"), program("loads_later_lib.so")], 1)
        self.assertEqual(run.stdout, "3\n2\n")

    def test_what_the_copy_in_use_lacks_has_its_own_copy_and_one_line_tells(self):
        argv = [program("loads_later"), program(A), program("coming_later.so")]
        alone, run = self.plain(argv), self.attached(argv, how="launcher")
        self.assertEqual((run.status, run.stdout), (0, alone.stdout), run)
        self.assertRegex(run.stderr, rf"^blame: \S*libgomp-a34b3233\S* does not have GOMP_coming: \S*coming_later.so {KEEPS}\n$")
        self.assertEqual(self.load(run, checks=SOUND).run["regions"], 1)

    def test_a_function_that_is_not_known_yet_is_libgomps_own_and_one_line_tells(self):
        run = self.attached([program("coming")], how="launcher")
        self.assertEqual((run.status, run.stdout), (0, "done\n"), run)
        self.assertEqual(len(re.findall(r"libblame-gomp-run.so does not have GOMP_coming: the program runs nevertheless", run.stderr)), 1, run)

    def test_a_version_that_is_not_known_yet_is_left_alone_and_one_line_tells(self):
        folder = self.new_folder()
        for name, text in (("map", "GOMP_9.9 { global: GOMP_parallel; };\n"), ("lib.c", "void GOMP_parallel(void (*f)(void *), void *d) { f(d); }\n"),
                           ("main.c", "#include <stdio.h>\nint main(void) {\n#pragma omp parallel\nputs(\"region\"); return 3; }\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for command in (["gcc", "-shared", "-fPIC", "lib.c", "-o", "libgomp.so.1", "-Wl,-soname,libgomp.so.1,--version-script=map"],
                        ["gcc", "-fopenmp", "-c", "main.c"], ["gcc", "main.o", "./libgomp.so.1", "-o", "main", "-Wl,-rpath,$ORIGIN"]):
            subprocess.run(command, cwd=folder, check=True)
        run = self.attached([os.path.join(folder, "main")], how="launcher")
        self.assertEqual((run.status, run.stdout, run.directories()), (3, "region\n", []), run)
        self.assertRegex(run.stderr, rf"^blame: \S*/libblame-gomp-run.so does not have GOMP_9.9: the program {KEEPS}\n")
        self.assertEqual(len(run.stderr.splitlines()), 2, run)  # and that there is no profile

    def test_a_process_that_ends_has_not_ended_its_runtime(self):
        """By exit() in a region, and by the end of its last thread, when no function of the program is on a stack."""
        folder = self.new_folder()
        with open(os.path.join(folder, "ends.c"), "w", encoding="utf-8") as file:
            file.write("#include <pthread.h>\n#include <stdlib.h>\nint main(int count, char **unused) {\n#pragma omp parallel num_threads(2)\n"
                       "{\n#pragma omp single\nif (count > 1 && unused) exit(5);\n}\npthread_exit(0); }\n")
        subprocess.run(["gcc", "-fopenmp", "ends.c", "-o", "ends"], cwd=folder, check=True)
        for arguments, status in (([], 0), (["exit"], 5)):
            run = self.attached([os.path.join(folder, "ends"), *arguments], how="launcher")
            self.assertEqual((run.status, run.stderr), (status, ""), run)
            self.load(run, checks=[contract_checks.check_run])  # a few samples, of which one in a region that did not end

    def test_a_copy_inside_the_program_is_told(self):
        for name in ("quick_static", "quick_static_pie"):
            run = self.attached([program(name), "4"], how="launcher")
            self.assertEqual((run.status, run.stdout, run.directories()), (4, "sum 3\n", []), run)
            self.assertRegex(run.stderr, "^blame: .* is statically linked, so no tool can be loaded")
