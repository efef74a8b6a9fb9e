"""What `blame run` does to the programs that scripts start and to libraries that are loaded later: whatever a script
does to the environment they run, and those that compute have a profile each."""

import contextlib
import glob
import itertools
import os
import shutil
import signal
import stat
import struct
import subprocess
import time

import contract_checks
from harness import BLAME, LIBRARY, PASSIVE, TIMEOUT_S, BlameTest, clean_environment, execute, program

OWN_LINE = "the program's own line"
ON_LIBOMP = ["--runtime", "libomp"]
LIBOMP = sorted(glob.glob("/usr/lib/llvm-*/lib/libomp.so.5"))[-1]
NO_PROFILE = "blame: no profile: "
# Which threads and regions there are, not how long they took: these runs are short.
SOUND = contract_checks.TREE_CHECKS + [contract_checks.check_run, contract_checks.check_threads,
                                       contract_checks.check_exact_laws]


UNSURE = {"LD_LIBRARY_PATH": ":/nowhere"}  # the current folder, too: not all is certain before the program runs


class Scripts(BlameTest):
    def script(self, text, env=None):
        return self.attached(["sh", "-c", text], env, "launcher")

    def assert_measured(self, text, name):
        run = self.script(text.replace("PROGRAM", f"{program(name)} 7"))
        self.assertEqual((run.status, run.stdout), (7, "sum 3\n"), run)
        self.assert_only_tool_lines(run, [OWN_LINE])
        self.assertGreater(self.load(run, checks=SOUND).clocked("quick_share"), 0, run)

    def test_what_a_script_preloads_is_its_own_business(self):
        for text in ("exec env -u LD_PRELOAD PROGRAM", "LD_PRELOAD= exec PROGRAM",
                     "LD_PRELOAD=libm.so.6 exec PROGRAM", "LD_LIBRARY_PATH=/usr/lib exec PROGRAM"):
            for name in ("quick", "quick_gcc"):
                with self.subTest(text=text, name=name):
                    self.assert_measured(text, name)

    def test_a_tool_that_is_preloaded_without_the_launcher_measures(self):
        for env in ({}, {"OMP_TOOL_LIBRARIES": LIBRARY}):
            with self.subTest(env=env):
                run = self.attached([program("quick")], env | {"LD_PRELOAD": LIBRARY, "BLAME_OUT": "profile"})
                self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)
                self.load(run, checks=SOUND)

    def test_without_our_part_of_the_loader_a_clang_program_is_measured_late(self):
        self.assert_measured("LD_AUDIT= exec PROGRAM", "quick")

    def test_what_the_launcher_does_not_reach_runs_and_one_line_tells(self):
        for text, name in (("LD_AUDIT= exec PROGRAM", "quick_gcc"), ("exec env -i PROGRAM", "quick"),
                           ("exec env -i PROGRAM", "quick_gcc")):
            with self.subTest(text=text, name=name):
                run = self.script(text.replace("PROGRAM", f"{program(name)} 7"))
                self.assertEqual((run.status, run.stdout), (7, "sum 3\n"), run)
                self.assertEqual([line[:len(NO_PROFILE)] for line in run.tool_lines()], [NO_PROFILE], run)
                self.assertEqual(run.directories(), [])

    def test_a_folder_that_is_deleted_during_the_run_is_named(self):
        folder = os.path.join(self.new_folder(), "start")
        os.mkdir(folder)
        delete = f'{program("imbalance2")} & while ! ls {folder}/blame-*/*.blame; do sleep 0.05; done; rm -r {folder}; wait'
        run = execute([BLAME, "run", "sh", "-c", delete], clean_environment() | {"OMP_NUM_THREADS": "2"}, folder)
        self.assertIn(f"blame: the profile is lost, because the directory {folder} was deleted during the run\n", run.stderr)
        self.assertNotIn(NO_PROFILE, run.stderr)

    def test_small_children_leave_no_line(self):
        run = self.script(f"/bin/true; ls / >/dev/null; {program('quick_gcc')} | cat")
        self.assertEqual((run.status, run.stdout, run.stderr), (0, "sum 3\n", OWN_LINE + "\n"), run)
        self.load(run, run.directory_of("quick_gcc"), checks=SOUND)

    def test_a_child_that_needs_openmp_and_begins_no_region_leaves_nothing(self):
        for name in ("qsort_serial", "qsort_serial_gcc"):
            run = self.script(f"{program(name)} >/dev/null; true")
            self.assertEqual([line[:len(NO_PROFILE)] for line in run.stderr.splitlines()], [NO_PROFILE], run)
            self.assertEqual(run.directories(), [])

    def test_a_program_that_ctrl_c_ended_takes_the_launcher_along(self):
        """Whose parent is to see a death of SIGINT, as a shell that ends its loop; of other signals it gets the number."""
        for name, status in (("INT", -signal.SIGINT), ("TERM", 128 + signal.SIGTERM)):
            run = subprocess.run([BLAME, "run", "sh", "-c", f"kill -{name} $$"], env=self.tool_environment({}), check=False,
                                 cwd=self.new_folder(), stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job in the background ignores it
            self.assertEqual(run.returncode, status, run)
            self.assertIn(f"was killed by signal {abs(status) % 128} ", run.stderr)

    def test_a_program_of_another_loader_runs_once(self):
        folder = self.new_folder()
        own = os.path.join(folder, "own")
        subprocess.run(["patchelf", "--set-interpreter", program("other_loader"), "--output", own, program("quick")], check=True)
        run = subprocess.run([BLAME, "run", own], env=self.tool_environment({}), cwd=folder, input="its input\n", check=False,
                             capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual((run.returncode, run.stdout), (7, "its input\n"), run)
        with open(os.path.join(folder, "ran"), encoding="utf-8") as ran:
            self.assertEqual(ran.read(), "ran\n")
        self.assertIn(" has another dynamic loader than glibc's, so no tool can be loaded and it runs unmeasured\n", run.stderr)

    def test_a_signal_that_the_launcher_alone_gets_reaches_the_program(self):
        run = subprocess.Popen([BLAME, "run", "sleep", "60"], env=self.tool_environment({}), cwd=self.new_folder(), stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not self.children(run.pid, "sleep"):
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(timeout=30), -signal.SIGINT)

    def children(self, pid, name):
        """Of the process, those that have become the program of that name."""
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            pids = file.read().split()
        names = []
        for child in pids:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{child}/comm", encoding="utf-8") as file:
                names.append(file.read().strip())
        return [child for child in names if child == name]

    def test_the_status_is_the_programs_where_its_end_is_ignored(self):
        run = self.plain(["env", "--ignore-signal=CHLD", BLAME, "run", "sh", "-c", "exit 7"])
        self.assertEqual(run.status, 7, run)

    def test_the_first_thread_is_bound_and_threads_are_counted_when_the_program_does(self):
        for name, env in itertools.product(("affinity", "affinity_gcc"), ({}, {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"})):
            with self.subTest(name=name, env=env):
                alone = self.plain([program(name)], env)
                run = self.attached([program(name)], env, "launcher")
                self.assertEqual((run.status, run.stdout), (0, alone.stdout), run)

    def test_a_signal_behind_the_programs_end_ends_the_launcher(self):
        """While it waits for what the program left, which here is a pipe that nobody writes to."""
        folder, text = self.new_folder(), 'rm -f "$BLAME_NOTES"; mkfifo "$BLAME_NOTES"; exit 5'
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([BLAME, "run", "sh", "-c", text], env=self.tool_environment({"TMPDIR": folder}), cwd=folder,
                                       stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
            deadline = time.monotonic() + TIMEOUT_S
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
                made = any(stat.S_ISFIFO(os.stat(path).st_mode) for path in glob.glob(f"{folder}/blame-run-*/profiles"))
                with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as children:
                    gone = made and not children.read()  # and not yet to come
                if gone:
                    process.send_signal(number)
            self.assertEqual(process.poll(), -number)
            shutil.rmtree(glob.glob(f"{folder}/blame-run-*")[0])

    def test_the_program_is_looked_for_as_a_shell_does(self):
        folder = self.new_folder()
        shutil.copy(program("quick"), os.path.join(folder, "own"))
        for path, name, status in (("", "own", 5), ("/nowhere:", "own", 5), (":/nowhere", "own", 5), ("/nowhere::/usr/bin", "own", 5),
                                   ("/nowhere", "own", 127), (None, "own", 127), (None, "true", 0)):
            with self.subTest(path=path, name=name):
                run = self.attached([name, "5"], {"PATH": path}, "launcher", folder=folder)
                self.assertEqual(run.status, status, run)

    def test_a_program_that_exists_is_not_said_to_be_missing(self):
        script = os.path.join(self.new_folder(), "script")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/nowhere/interpreter\n")
        os.chmod(script, 0o755)
        run = self.plain([BLAME, "run", script])
        self.assertEqual(run.status, 127, run)
        self.assertTrue(run.stderr.startswith(f"blame run: {script}: the interpreter "), run)

    def test_the_launcher_needs_no_larger_stack_than_a_program_of_64_kb(self):
        run = self.plain(["env", "-i", "PATH=/usr/bin:/bin", "prlimit", "--stack=65536", BLAME, "run", "sh", "-c", "exit 7"])
        self.assertEqual(run.status, 7, run)

    def bindings(self, argv, env=None):
        """How many names the loader bound in each process, without those of `blame run`."""
        folder, found = self.new_folder(), {}
        run = self.attached(argv, {"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": os.path.join(folder, "of")} | (env or {}), "launcher")
        for path in glob.glob(os.path.join(folder, "of.*")):
            with open(path, encoding="utf-8") as file:
                found[int(path.rsplit(".", 1)[1])] = file.read().count("binding file ")
        self.assertGreater(found.pop(run.pid), 0, run)
        return run, found

    def test_no_name_of_the_program_is_bound_before_it_starts(self):
        """The loader is asked what the program needs: that takes ten times as long where it binds all names, beside its own few."""
        run, bindings = self.bindings(["sh", "-c", "echo $$"], UNSURE)
        own = bindings.pop(int(run.stdout))
        self.assertEqual(len(bindings), 2, bindings)  # before, and after it, for a tool of its own that would be why there is no profile
        self.assertLess(max(bindings.values()), own / 4)

    def test_the_loader_is_not_asked_where_the_files_show_that_there_is_no_mpi(self):
        run, bindings = self.bindings(["sh", "-c", "echo $$"], {"LD_LIBRARY_PATH": "/nowhere"})
        self.assertEqual(list(bindings), [int(run.stdout)], run)
        asked = [len(self.bindings([program("quick"), "3"], env)[1]) for env in ({}, UNSURE)]
        self.assertEqual(asked, [1, 2])  # the program; and before it, the loader

    def test_a_tool_that_is_forbidden_is_named(self):
        run = self.attached([program("quick"), "7"], {"OMP_TOOL": "disabled"}, "launcher")
        self.assertEqual((run.status, run.tool_lines()), (7, [NO_PROFILE + "OMP_TOOL=disabled keeps OpenMP runtimes from loading a tool; unset it"]))


class OtherRuntimes(BlameTest):
    def later(self, libraries, env=None, how="launcher"):
        run = self.attached([program("loads_later"), *map(program, libraries)], env, how)
        self.assertEqual((run.status, run.stdout), (0, "sum 3\n" * len(libraries)), run)
        return run, self.load(run, checks=SOUND)

    def test_a_library_with_openmp_that_is_loaded_later_is_measured(self):
        gcc, clang, hashed = "loads_later_lib.so", "loads_later_clang.so", "hashed/loads_later_lib.so"
        for libraries in ([gcc], [clang], [hashed], [clang, gcc, hashed], [hashed, gcc, clang], [gcc, clang]):
            with self.subTest(libraries=libraries):
                run, profile = self.later(libraries)
                self.assertEqual(run.stderr, "", run)
                self.assertGreater(profile.clocked("later_share"), 0)
                two = clang in libraries and len(libraries) > 1  # runtimes, each with a worker
                self.assertEqual((profile.run["threads_max"], profile.run["regions"]), (2 + two, len(libraries)))
                self.assertEqual(profile.run["other_runtimes"], [])

    def test_the_runtime_may_have_any_name_and_a_relative_path(self):
        folder = self.new_folder()
        os.symlink(LIBOMP, os.path.join(folder, "libomp.so.5"))
        shutil.copy(LIBOMP, os.path.join(folder, "another.so"))
        for name in ("libomp.so.5", "another.so"):
            argv = [program("loads_later"), program("loads_later_lib.so"), program("hashed/loads_later_lib.so")]
            run = self.attached(argv, {"BLAME_LIBOMP": os.path.relpath(os.path.join(folder, name), self.folder + "/run2")},
                                "launcher", ON_LIBOMP)
            self.assertEqual((run.status, run.stdout, run.stderr), (0, "sum 3\nsum 3\n", ""), run)
            self.assertEqual(self.load(run, checks=SOUND).run["regions"], 2)

    def test_a_process_that_goes_on_as_another_program_has_a_profile_of_each(self):
        argv = [program("loads_later"), program("loads_later_lib.so"), "exec", program("quick_gcc"), "5"]
        run = self.attached(argv, {"BLAME_OUT": "profile-%e"}, "launcher")
        self.assertEqual((run.status, run.stdout), (5, "sum 3\nsum 3\n"), run)
        self.assert_only_tool_lines(run, [OWN_LINE])
        for name, function in (("loads_later", "later_share"), ("quick_gcc", "quick_share")):
            directory, = run.directories(f"profile-{name}")
            self.assertGreater(self.load(run, directory, SOUND).clocked(function), 0)
        text = self.report(run.directories("profile-loads_later")[0])
        self.assertIn("(exec)", text.stderr)

    def test_two_runtimes_are_measured_each_with_its_teams(self):
        clang, other = program("loads_later_clang.so"), program("other_libomp/loads_later_lib.so")
        env = {"KMP_DUPLICATE_LIB_OK": "TRUE", "BLAME_RATE": "1000"} | PASSIVE
        run = self.attached([program("loads_later"), clang, other, clang, other], env)
        self.assertEqual((run.status, run.stdout, run.stderr), (0, 4 * "sum 3\n", ""), run)
        profile = self.load(run, checks=SOUND)
        self.assertEqual((profile.run["regions"], profile.run["threads_max"], profile.run["other_runtimes"]), (4, 3, []))
        self.assertIn("LLVM", profile.run["second_runtime_version"])
        self.assertEqual(len([row for row in profile.rows if row.kind == "parallel" and row.clocked() > 0]), 2)
        # A region inside a region of the other runtime, in both orders, belongs where it began.
        for outer, inner in ((clang, other), (other, clang)):
            run = self.attached([program("nests_runtimes"), outer, inner], env)
            self.assertEqual((run.status, run.stdout, run.stderr), (0, "sum 12\n", ""), run)
            profile = self.load(run, checks=SOUND)
            self.assertEqual((profile.run["regions"], profile.run["threads_max"]), (5, 4))
            names = {row.name for row in profile.rows if row.kind == "parallel"}
            self.assertEqual(len(names), 1, ([(row.name, row.path(), row.clocked()) for row in profile.rows if row.kind == "parallel"], run))
            region, = names
            inside = ["main", "call_by_team", "call", "sum_of_team", region, "later_share"]
            self.assertGreater(sum(row.clocked() for row in profile.at_path(inside)), 0)
            self.assertEqual(len({tuple(row.path()) for row in profile.rows if row.kind == "parallel"}), 2)

    def test_a_second_runtime_that_cannot_be_taken_over_is_told(self):
        run, profile = self.later(["loads_later_clang.so", "loads_later_lib.so"], {"BLAME_SUMMARY": "1"}, "library")
        other, = profile.run["other_runtimes"]
        self.assertIn("libgomp", other["path"])
        self.assertGreater(other["seconds"], 0)
        self.assertRegex(run.stderr, r"\nnote: a second OpenMP runtime ran .*libgomp.* not measured\n")

    def test_a_copy_of_libgomp_inside_the_program_is_told_and_nobody_is_idle_while_it_works(self):
        run = self.attached([program("loads_later_static"), program("loads_later_lib.so")], how="launcher")
        self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)
        profile = self.load(run, checks=SOUND)
        other, = profile.run["other_runtimes"]
        self.assertEqual(os.path.basename(other["path"]), "loads_later_static")
        self.assertGreater(other["seconds"], 0)
        before, = [row for row in profile.rows if row.name == "<before OpenMP start>"]
        self.assertLess(abs(before["idleness (I)"]), 1e-5)

    def test_a_program_whose_only_runtime_is_inside_it_is_told_that_its_regions_are_not_measured(self):
        folder = self.new_folder()
        with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
            file.write("#include <time.h>\nint main(void) {\n#pragma omp parallel num_threads(2)\n"
                       "while (clock() < CLOCKS_PER_SEC / 10)\n;\nreturn 3; }\n")
        for command in (["gcc", "-fopenmp", "-c", "main.c"], ["gcc", "main.o", "-l:libgomp.a", "-o", "main"]):
            subprocess.run(command, cwd=folder, check=True)
        run = self.attached([os.path.join(folder, "main")], {"BLAME_SUMMARY": "1"}, "launcher")
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.stderr, r"\nnote: the OpenMP runtime in \S*/main has no tool interface: its threads were measured")

    def test_a_library_keeps_its_runtime_where_libomp_cannot_start(self):
        argv = ["prlimit", "--fsize=0", program("loads_later"), program("loads_later_lib.so")]
        run = self.attached(argv, how="launcher", options=ON_LIBOMP)
        self.assertEqual((run.status, run.stdout, run.other_lines()), (0, "sum 3\n", []), run)
        self.assertTrue(any("limit on file sizes" in line for line in run.tool_lines()), run)
        run = self.attached(["sh", "-c", f"exec {' '.join(argv)} 2>told"], how="launcher", options=ON_LIBOMP)
        self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)

    def test_a_program_that_needs_more_than_libomp_has_keeps_its_runtime_and_one_line_tells(self):
        for argv in ([program("coming")], ["sh", "-c", program("coming")]):
            with self.subTest(argv=argv):
                run = self.attached(argv, how="launcher", options=ON_LIBOMP)
                self.assertEqual((run.status, run.stdout), (0, "done\n"), run)
                self.assert_only_tool_lines(run)
                self.assertEqual(len([line for line in run.tool_lines() if "does not have GOMP_coming" in line]), 1, run)

    def test_a_program_that_may_call_what_nobody_has_runs_and_one_line_tells(self):
        lack = r"/libomp\.so\.5 does not have __kmpc_coming(_too)? and 1 more: .* runs nevertheless"
        for argv in ([program("lacking")], ["sh", "-c", program("lacking")]):
            with self.subTest(argv=argv):
                run = self.attached(argv, how="launcher")
                self.assertEqual((run.status, run.stdout, run.other_lines()), (3, "done\n", []), run)
                line, = run.tool_lines()
                self.assertRegex(line, lack)

    def test_a_library_that_needs_more_than_libomp_has_keeps_its_runtime_beside_it(self):
        lack = r"^blame: .*does not have GOMP_coming: .*coming_later.so "
        for first, result in (("loads_later_clang.so", "sum 3\n"), ("hashed/loads_later_lib.so", "sum 3\n"),
                              ("coming_later.so", "sum 1\n")):
            argv = [program("loads_later"), program(first), program("coming_later.so")]
            run = self.attached(argv, how="launcher", options=ON_LIBOMP)
            self.assertEqual((run.status, run.stdout), (0, result + "sum 1\n"), run)
            self.assertRegex(run.stderr.splitlines()[0], lack + "keeps its own runtime")
        # Known by its name, libgomp.so.1 is not searched again: the second cannot be loaded, and that is said.
        argv = [program("loads_later"), program("loads_later_lib.so"), program("coming_later.so")]
        run = self.attached(argv, how="launcher", options=ON_LIBOMP)
        self.assertRegex(run.stderr.splitlines()[0], lack + "may not load: libgomp.so.1 has been replaced already")

    def test_a_program_that_libomp_would_run_otherwise_is_measured_on_libgomp(self):
        for name in ("TEAMS", "SCAN", "CONDITIONAL", "CANCEL", "first", "last"):
            argv, env = [program(f"otherwise_{name}")], {"OMP_CANCELLATION": "true"} if name == "CANCEL" else {}
            with self.subTest(name=name):
                alone, run = self.plain(argv, env), self.attached(argv, env, "launcher")
                self.assertEqual((run.status, run.stdout, run.stderr), (0, alone.stdout, ""), run)
                self.assertIn("libgomp", self.load(run, checks=SOUND).run["runtime_version"])

    def test_the_user_chooses_what_a_program_of_gcc_runs_on(self):
        for name, options, runtime in (("otherwise_CANCEL", [], "libgomp"), ("otherwise_TEAMS", ON_LIBOMP, "LLVM")):
            run = self.attached([program(name)], {"BLAME_SUMMARY": "0"}, "launcher", options=options)
            self.assertEqual(run.status, 0, run)
            self.assertIn(runtime, self.load(run, checks=SOUND).run["runtime_version"])
        run = self.attached([program("quick_gcc")], how="launcher", options=["--runtime", "own"])
        self.assertEqual((run.status, run.stdout, run.directories()), (0, "sum 3\n", []), run)
        self.assertIn("--runtime own", run.tool_lines()[0])

    def test_a_warning_of_libomps_that_is_the_programs_own_is_seen(self):
        run = self.attached([program("otherwise_TEAMS")], {"OMP_THREAD_LIMIT": "2", "KMP_TEAMS_THREAD_LIMIT": "2"}, "launcher",
                            options=ON_LIBOMP)
        self.assertIn("Cannot form a team with 3 threads", run.stderr)

    def test_libomp_is_silent_about_programs_of_gcc_and_as_ever_about_others(self):
        for name, env, says in (("deprecated_gcc", {}, False), ("deprecated", {}, True),
                                ("deprecated_gcc", {"KMP_WARNINGS": "1"}, True), ("deprecated", {"KMP_WARNINGS": "0"}, False)):
            for argv in ([program(name)], ["sh", "-c", program(name)]):
                with self.subTest(name=name, env=env, argv=argv[0]):
                    run = self.attached(argv, env, "launcher", ON_LIBOMP)
                    self.assertEqual((run.status, run.stdout), (0, "one region\n"), run)
                    self.assertEqual("omp_set_nested routine deprecated" in run.stderr, says, run)
                    self.assertEqual(len(run.other_lines()), says, run)

    def test_the_users_paths_stay(self):
        run = self.attached(["sh", "-c", 'echo "$LD_LIBRARY_PATH-$LD_PRELOAD"'],
                            {"LD_LIBRARY_PATH": "/opt/mine", "LD_PRELOAD": "libm.so.6"}, "launcher")
        self.assertEqual(run.stdout, "/opt/mine-libm.so.6\n", run)
        folder = self.new_folder()
        shutil.copy(program("hashed/libgomp-a34b3233.so.1.0.0"), os.path.join(folder, "libgomp.so.1"))
        run = self.attached([program("quick_gcc"), "4"], {"LD_LIBRARY_PATH": folder}, "launcher")
        self.assertEqual((run.status, run.stdout), (4, "sum 3\n"), run)
        self.load(run, checks=SOUND)

    def test_libraries_with_much_thread_local_storage_find_room(self):
        for argv in ([program("large_tls")], ["sh", "-c", program("large_tls")]):
            with self.subTest(argv=argv[0]):
                run = self.attached(argv, how="launcher")
                self.assertEqual((run.status, run.stdout), (5, "2\n"), run)

    def test_thread_local_storage_of_a_library_whose_program_headers_have_moved(self):
        """As BOLT moves them, which makes rustc's compiler faster."""
        folder = self.new_folder()
        shutil.copy(program("large_tls"), folder)
        with open(program("large_tls.so"), "rb") as file:
            library = file.read()
        begin, = struct.unpack_from("<Q", library, 32)
        size, count = struct.unpack_from("<HH", library, 54)
        library += bytes(-len(library) % 4096)
        with open(os.path.join(folder, "large_tls.so"), "wb") as file:
            file.write(library[:32] + struct.pack("<Q", len(library)) + library[40:] + library[begin:begin + size * count])
        run = self.attached([os.path.join(folder, "large_tls")], how="launcher")
        self.assertEqual((run.status, run.stdout), (5, "2\n"), run)

    def test_a_library_for_whose_alignment_there_is_no_place_beside_an_audit_library(self):
        for argv in ([program("large_tls_aligned")], ["sh", "-c", program("large_tls_aligned")]):
            with self.subTest(argv=argv[0]):
                run = self.attached(argv, how="launcher")
                self.assertEqual((run.status, run.stdout, run.other_lines()), (5, "2\n", []), run)
                self.assertIn("large_tls_aligned.so: its thread-local storage does not fit", run.tool_lines()[0])
                self.load(run, checks=SOUND)

    def test_a_process_has_what_it_was_started_with_and_threads_with_the_smallest_stack(self):
        loader = glob.glob(f"/lib*/ld-linux-{os.uname().machine.replace('_', '-')}.so.*")[0]
        several = "glibc.malloc.check=0:glibc.rtld.optional_static_tls=10"
        for name, tunables in (("least_stack", None), ("least_stack_large", None), ("least_stack_large", several)):
            for how in ("", loader + " "):
                command = f"exec 7>&1; {how}{program(name)} '' 'a b'; echo $?; {how}{program(name)}"
                with self.subTest(command=command, tunables=tunables):
                    run = self.attached(["sh", "-c", command], {"GLIBC_TUNABLES": tunables} if tunables else {}, "launcher")
                    end = tunables or "none"
                    self.assertEqual((run.status, run.stdout), (5, "".join((
                        f"error 0, xxx, 1\n3: '' 'a b', {end}\n5\n", f"error 0, xxx, 1\n1: '' '', {end}\n"))), run)

    def test_a_program_that_looks_for_leaks_ends_as_alone_and_one_line_tells(self):
        for how in ("launcher", "library"):
            with self.subTest(how=how):
                env = {"LD_LIBRARY_PATH": self.gomp_folder()} if how == "library" else {}
                run = self.attached([program("large_tls_leaks")], env | {"ASAN_OPTIONS": ""}, how)
                self.assertEqual((run.status, run.stdout), (5, "2\n"), run)
                self.assertEqual([line for line in run.stderr.splitlines() if "leaks" not in line], [], run)
                self.assertIn("unmeasured" if how == "launcher" else "nothing is measured", run.stderr)

    def test_a_program_that_only_has_the_words_is_no_leak_checker(self):
        # the inner command uses more than 0.01 s of processor time on a busy machine, and would be measured, too
        run = self.attached([BLAME, "run", "--", program("quick"), "5"], how="launcher", options=["--omp-only"])
        self.assertEqual((run.status, run.stdout, run.stderr), (5, "sum 3\n", OWN_LINE + "\n"), run)
        self.load(run)

    def test_a_program_that_memory_sanitizer_checks_starts_without_an_audit_library(self):
        run = self.attached([program("memory_checked")], how="launcher")
        self.assertEqual((run.status, run.stdout, run.other_lines()), (0, "2, alone\n", []), run)
        self.assertIn("uses MemorySanitizer", run.tool_lines()[0])
        self.load(run, checks=SOUND)

    def gomp_folder(self):
        """In which GCC's runtime is LLVM's."""
        folder = self.new_folder()
        os.symlink(LIBOMP, os.path.join(folder, "libgomp.so.1"))
        return folder
