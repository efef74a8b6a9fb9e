"""Where profiles go: names, collisions, several processes, and places that cannot be written."""

import json
import os
import re
import shutil
import socket
import subprocess
import threading

from harness import BLAME, LIBRARY, BlameTest, clean_environment, execute, program

OWN_LINE = "the program's own line"


class Names(BlameTest):
    def quick(self, env, how="library"):
        run = self.attached([program("quick")], env, how)
        self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)
        return run

    def only_entry(self, run):
        names = os.listdir(run.folder)
        self.assertEqual(len(names), 1, names)
        return names[0]

    def test_patterns_are_replaced(self):
        run = self.quick({"BLAME_OUT": "o-%e-%p-%h-%r", "OMPI_COMM_WORLD_RANK": "3", "PMI_RANK": "3"})
        self.assertEqual(self.only_entry(run), f"o-quick-{run.pid}-{socket.gethostname()}-3")

    def test_the_longest_names_of_programs_are_cut_behind_a_whole_character(self):
        long = os.path.join(self.new_folder(), "p" * 158 + "\u00e9\u00e8" + "p" * 93)  # 255 bytes
        shutil.copy(program("quick"), long)
        for how in ("library", "launcher"):
            run = self.attached([long], {"BLAME_OUT": "."}, how)
            self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)
            self.assertRegex(self.only_entry(run), "^blame-p{158}\u00e9-[0-9]+$")
            self.assertIn("profile.csv", os.listdir(os.path.join(run.folder, self.only_entry(run))))

    def test_a_folder_that_exists_with_a_slash_behind_it_gets_the_default_name(self):
        run = self.attached(["sh", "-c", f"mkdir mine; exec {program('quick')}"], {"BLAME_OUT": "mine/"}, "launcher")
        self.assertEqual(os.listdir(run.folder), ["mine"])
        name, = os.listdir(os.path.join(run.folder, "mine"))
        self.assertRegex(name, r"^blame-quick-\d+$")

    def test_where_no_number_can_be_appended_the_default_name_is_inside(self):
        for out, inside in ((".", "."), ("a/b/..", "a")):
            with self.subTest(out=out):
                folder = self.new_folder()
                os.makedirs(os.path.join(folder, "a", "b"))
                run = self.attached([program("quick")], {"BLAME_OUT": out}, "launcher", folder=folder)
                names = [name for name in os.listdir(os.path.join(run.folder, inside)) if name not in ("a", "b")]
                self.assertEqual(len(names), 1, run)
                self.assertRegex(names[0], r"^blame-quick-\d+$")
                self.assertEqual(run.tool_lines(), [], run)

    def test_a_name_begins_where_blame_run_was_typed(self):
        elsewhere = ["sh", "-c", f"mkdir below; cd below; exec {program('quick')}"]
        for out, name in (("mine", "^mine$"), (None, r"^blame-quick-\d+$")):
            with self.subTest(out=out):
                run = self.attached(elsewhere, {"BLAME_OUT": out}, "launcher")
                self.assertEqual(os.listdir(os.path.join(run.folder, "below")), [], run)
                self.assertRegex(*[entry for entry in os.listdir(run.folder) if entry != "below"], name)
        run = self.attached(elsewhere, {"BLAME_OUT": "mine"})
        self.assertEqual(os.listdir(os.path.join(run.folder, "below")), ["mine"], run)

    def test_the_default_name_has_program_and_process(self):
        run = self.quick({"BLAME_OUT": None})
        self.assertEqual(self.only_entry(run), f"blame-quick-{run.pid}")

    def test_the_default_name_under_an_mpi_launcher_has_the_rank(self):
        for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
            with self.subTest(variable=variable):
                run = self.quick({"BLAME_OUT": None, variable: "12"})
                self.assertEqual(self.only_entry(run), f"blame-quick-12-{run.pid}")

    def test_a_hostile_name_is_a_name_and_reaches_no_terminal(self):
        """A new line, escapes, quotes, what is no UTF-8, what a shell or a spreadsheet would execute."""
        for name in ("new\nline", "\x1b[31mred\x07", "quote'\"$(touch hurt)`touch hurt`;*?", "\udcff\udcc3(", "\u202eelif", "=1+1,\t{}<!--script>", "-o", "n" * 200):
            with self.subTest(name=name):
                run = self.attached([program("quick")], {"BLAME_OUT": name, "BLAME_SUMMARY": "1"})
                self.assertEqual(os.listdir(run.folder), [name], run)
                read = execute([BLAME, "report", f"./{name}"], clean_environment(), run.folder)
                self.assertEqual(read.status, 0, read)
                self.assertEqual([c for c in read.stdout if not c.isprintable() and c not in "\n\ufffd"], [], read)
                self.assertEqual([c for c in run.stderr if not c.isprintable() and c not in "\n\ufffd"], [], run)
                word, = re.findall(r"see more: blame report (.*)$", run.stderr, re.MULTILINE)
                shell = subprocess.run(["bash", "-c", f"cat {word}/run.json"], capture_output=True, text=True, check=False)
                self.assertEqual(shell.returncode, 0, (word, shell.stderr))
                with open(os.path.join(run.folder, name, "run.json"), encoding="utf-8") as file:
                    json.load(file)

    def test_missing_folders_above_are_made(self):
        for out, made in (("a/b/c", "a/b/c"), ("a//d/", "a/d"), ("e/", "e"), ("./f/%e", "f/quick")):
            with self.subTest(out=out):
                run = self.quick({"BLAME_OUT": out})
                self.load(run, os.path.join(run.folder, made))

    def test_an_existing_directory_is_never_touched(self):
        folder = self.new_folder()
        kept = os.path.join(folder, "profile", "kept")
        os.mkdir(os.path.dirname(kept))
        with open(kept, "w", encoding="utf-8") as file:
            file.write("mine")
        env = self.tool_environment({}) | {"OMP_TOOL_LIBRARIES": LIBRARY}
        for expected in ("profile.1", "profile.2"):
            run = execute([program("quick")], env, folder)
            self.load(run, os.path.join(folder, expected))
        self.assertEqual(sorted(os.listdir(folder)), ["profile", "profile.1", "profile.2"])
        self.assertEqual(os.listdir(os.path.join(folder, "profile")), ["kept"])

    def test_the_directory_of_one_process_is_not_merged(self):
        directory, = self.quick({}).directories()
        before = sorted(os.listdir(directory))
        run = execute([BLAME, "merge", directory], self.tool_environment({}), self.new_folder())
        self.assertEqual((run.status, run.stderr),
                         (1, f"blame merge: {directory}: this is the profile of one process; expected the directory of a job\n"))
        self.assertEqual(sorted(os.listdir(directory)), before)

    def test_processes_at_once_get_a_directory_each(self):
        folder, count, runs = self.new_folder(), 6, []
        env = self.tool_environment({}) | {"OMP_TOOL_LIBRARIES": LIBRARY}
        workers = [threading.Thread(target=lambda: runs.append(execute([program("quick")], env, folder)))
                   for _ in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(sorted(os.listdir(folder)), ["profile"] + [f"profile.{i}" for i in range(1, count)])
        self.assertEqual([run.stderr.splitlines() for run in runs], [[OWN_LINE]] * count)
        pids = {self.load(runs[0], directory, elapsed=False).run["pid"] for directory in runs[0].directories()}
        self.assertEqual(pids, {run.pid for run in runs})

    def test_run_json_tells_which_run_it_was(self):
        run = self.quick({})
        profile = self.load(run)
        self.assertEqual(profile.run["pid"], run.pid)
        self.assertEqual(profile.run["host"], socket.gethostname())
        self.assertIn("quick", str(profile.run["command"]))
        self.assertEqual(profile.run["threads_max"], 2)


class PlacesThatCannotBeWritten(BlameTest):
    def assert_unharmed(self, run, mention):
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        self.assert_only_tool_lines(run, [OWN_LINE])
        self.assertTrue(any(mention in line for line in run.tool_lines()), f"no line about {mention}\n{run}")
        self.assertLessEqual(len(run.tool_lines()), 3, run)

    def test_below_a_file_it_says_so_and_the_program_runs(self):
        folder = self.new_folder()
        with open(os.path.join(folder, "file"), "w", encoding="utf-8"):
            pass
        out = os.path.join(folder, "file", "profile")
        self.assert_unharmed(self.attached([program("quick"), "5"], {"BLAME_OUT": out}), out)

    def test_blame_run_refuses_it_before_the_program_starts(self):
        """--out as it was typed, or BLAME_OUT, or the folder that the default name would be in. Nothing is left."""
        folder = self.new_folder()
        with open(os.path.join(folder, "file"), "w", encoding="utf-8"):
            pass
        os.symlink("loop", os.path.join(folder, "loop"))
        for out, said in (("file/x", "a directory cannot have this name: Not a directory"), ("file/", "a directory cannot have this name: Not a directory"),
                          ("file/%p", "a directory cannot have this name: Not a directory"), ("none/x", "the directory none does not exist; create it"),
                          ("./none/x/%e-%r/", "the directory ./none/x does not exist; create it"), ("none/..", "the directory none does not exist; create it"),
                          ("/proc/x", "cannot create a directory in /proc: "), ("/proc/%h/%j", "cannot create a directory in /proc: "),
                          ("/sys/x", "cannot create a directory in /sys: "), ("/dev/null", "this is a device or a pipe; give the name of a directory"), ("n" * 300, "a directory cannot have this name: File name too long"),
                          ("loop/x", "a directory cannot have this name: ")):
            for env, options, name in ({"BLAME_OUT": None}, ("--out", out), f"--out {out}"), ({"BLAME_OUT": out}, (), f"BLAME_OUT={out}"):
                with self.subTest(name=name):
                    run = self.attached([program("quick"), "5"], env, "launcher", options, folder=folder)
                    self.assertEqual((run.status, run.stdout), (2, ""), run)
                    self.assertEqual(len(run.stderr.splitlines()), 1, run)
                    self.assertTrue(run.stderr.startswith(f"blame run: {name}: {said}"), run)
        self.assertEqual(sorted(os.listdir(folder)), ["file", "loop"])
        run = self.attached([program("quick"), "5"], {"BLAME_OUT": None}, "launcher", folder="/proc")
        self.assertEqual((run.status, run.stdout), (2, ""), run)
        self.assertRegex(run.stderr, r"\Ablame run: cannot create a directory in \.: .*; give another one \(--out DIR\)\n\Z")
        run = self.attached([program("quick"), "5"], {"BLAME_OUT": None, "BLAME_DISABLE": "1"}, "launcher", folder="/proc")
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)

    def test_folders_that_patterns_name_are_made(self):
        run = self.attached([program("quick")], {"BLAME_OUT": "made-%e/%r/x"}, "launcher")
        self.assertEqual(run.status, 0, run)
        self.load(run, os.path.join(run.folder, "made-quick", "0", "x"))

    def test_a_link_that_takes_the_directorys_place_is_not_followed(self):
        folder = self.new_folder()
        os.mkdir(os.path.join(folder, "other"))
        run = self.attached([program("quick"), "5"], {"LD_PRELOAD": program("replaces.so")}, folder=folder)
        self.assert_unharmed(run, "profile")
        self.assertEqual(sorted(os.listdir(folder)), ["moved", "other", "profile"])
        self.assertEqual(os.listdir(os.path.join(folder, "other")), [])

    def test_what_is_private_is_not_written_into_anothers_directory(self):
        if os.geteuid() != 0:
            self.skipTest("only root may give a directory away")
        for private, files in (("1", False), ("0", True)):
            folder = self.new_folder()
            run = self.attached([program("quick"), "5"], {"LD_PRELOAD": program("replaces.so"), "REPLACES": "54321", "BLAME_PRIVATE": private}, folder=folder)
            self.assertEqual(bool(os.listdir(os.path.join(folder, "profile"))), files)
            if not files:
                self.assert_unharmed(run, "profile")

    def test_what_is_private_does_not_join_anothers_job(self):
        if os.geteuid() != 0:
            self.skipTest("only root may give a directory away")
        folder, job = self.new_folder(), {"BLAME_JOB": "two", "BLAME_OUT": "job", "BLAME_PRIVATE": "1"}
        self.attached([program("quick"), "5"], job, folder=folder)
        self.attached([program("quick"), "5"], job, folder=folder)
        self.assertEqual(os.listdir(folder), ["job"])
        os.chown(os.path.join(folder, "job"), 54321, 54321)
        run = self.attached([program("quick"), "5"], job, folder=folder)
        self.assert_unharmed(run, "Operation not permitted")
        self.assertEqual(sorted(os.listdir(folder)), ["job", "job.1"])

    def test_beside_a_device_it_says_so_and_the_program_runs(self):
        self.assert_unharmed(self.attached([program("quick"), "5"], {"BLAME_OUT": "/dev/null"}), "is a device")
        self.assertFalse(os.path.exists("/dev/null.1"))

    def test_in_a_read_only_place_it_says_so_and_the_program_runs(self):
        out = "/proc/profile"  # not even root may create it
        self.assert_unharmed(self.attached([program("quick"), "5"], {"BLAME_OUT": out}), out)

    def full_disk(self, bytes_free):
        if os.geteuid() != 0:
            self.skipTest("only root may mount the small disk")
        folder = self.new_folder()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={bytes_free}", "tmpfs", folder],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no small disk could be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=False)
        return os.path.join(folder, "profile")

    def test_on_a_full_disk_the_program_runs_on(self):
        out = self.full_disk(4096)
        self.assert_unharmed(self.attached([program("quick"), "5"], {"BLAME_OUT": out}), out)

    def test_a_disk_that_fills_up_costs_samples_that_are_counted(self):
        out = self.full_disk(256 << 10)
        run = self.attached([program("deep"), "1000"], {"BLAME_OUT": out, "BLAME_DEPTH": "4096", "BLAME_RATE": "2000"})
        self.assertEqual((run.status, run.stdout.splitlines()[0]), (0, "frames 2002"), run)
        self.assert_only_tool_lines(run)
        self.assertGreaterEqual(len(run.tool_lines()), 1, f"the loss is not mentioned\n{run}")
        self.assertTrue(any(re.search(r"memory|disk|space|full|written", line) for line in run.tool_lines()), run)


class Launcher(BlameTest):
    def test_it_exits_with_the_programs_status(self):
        for status in (0, 1, 2, 77):
            run = self.attached([program("quick"), str(status)], how="launcher")
            self.assertEqual(run.status, status, run)

    def test_it_leaves_the_programs_arguments_alone(self):
        argv = ["/bin/echo", "--rate", "5", "--", "-x", "a b", ""]
        run = self.attached(argv, how="launcher")
        self.assertEqual((run.status, run.stdout), (0, "--rate 5 -- -x a b \n"), run)

    def test_it_works_without_the_two_dashes(self):
        env = self.tool_environment({})
        run = execute([BLAME, "run", program("quick"), "6"], env, self.new_folder())
        self.assertEqual(run.status, 6, run)
        self.load(run)

    def test_it_says_once_that_a_gcc_program_runs_on_another_runtime(self):
        run = self.attached([program("quick_gcc"), "4"], {"BLAME_SUMMARY": "1"}, "launcher", ["--runtime", "libomp"])
        self.assertEqual((run.status, run.stdout), (4, "sum 3\n"), run)
        self.assertEqual(run.stderr.splitlines().count(OWN_LINE), 1, run)
        self.assertEqual(len([line for line in run.tool_lines() if re.search("libgomp|built by GCC", line)]), 1, run)
        self.assertGreater(self.load(run).clocked("quick_share"), 0)

    def test_it_says_that_a_static_program_cannot_be_profiled_and_runs_it(self):
        run = self.attached([program("quick_static"), "9"], how="launcher")
        self.assertEqual((run.status, run.stdout), (9, "sum 3\n"), run)
        self.assert_only_tool_lines(run, [OWN_LINE])
        self.assertTrue(any("static" in line for line in run.tool_lines()), run)
        self.assertEqual(run.directories(), [], "an empty profile was left")

    def test_a_directory_is_no_program(self):
        run = self.attached(["/tmp"], how="launcher")
        self.assertEqual((run.status, run.stderr), (126, "blame run: /tmp: this is a directory; give the program's path\n"), run)

    def test_a_missing_program_is_named(self):
        run = self.attached(["./no-such-program"], how="launcher")
        self.assertNotEqual(run.status, 0)
        self.assertIn("no-such-program", run.stderr)
        self.assertEqual(run.directories(), [])

    def test_no_program_is_wrong_usage(self):
        for argv in ([BLAME], [BLAME, "run"], [BLAME, "run", "--"], [BLAME, "frobnicate"]):
            run = execute(argv, clean_environment(), self.new_folder())
            self.assertEqual(run.status, 2, run)
            self.assertTrue(run.stderr.strip(), run)

    def test_a_wrong_option_is_named_with_what_is_accepted(self):
        run = execute([BLAME, "run", "--sundial", program("quick")], clean_environment(), self.new_folder())
        self.assertEqual(run.status, 2, run)
        self.assertIn("--sundial", run.stderr)
        self.assertIn("--rate", run.stderr)
