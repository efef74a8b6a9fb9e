"""What is said where there is no profile, or little to say: the cause, and no more than there is."""

import json
import os
import re
import sys

from harness import BLAME, BlameTest, clean_environment, execute, program

WITHOUT_PROC = ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]


class Untold(BlameTest):
    def launched(self, argv, env=None, options=()):
        return self.attached(argv, env, "launcher", options)

    def test_a_tool_of_the_programs_own_is_named(self):
        for argv, env, owner in (([program("own_tool")], {}, program("own_tool")),
                                 ([program("starts"), "titles"], {"LD_PRELOAD": program("own_tool.so")}, program("own_tool.so"))):
            with self.subTest(owner=owner):
                run = self.launched(argv, env)
                self.assertEqual(run.status, 0, run)
                self.assertEqual(run.stderr, f"blame: no profile: {owner} has an OpenMP tool of its own (ompt_start_tool), and a runtime loads only one tool\n")

    def test_without_proc_the_line_says_so(self):
        if execute([*WITHOUT_PROC, "true"], clean_environment(), self.new_folder()).status:
            self.skipTest("no file system can be unmounted here")
        run = self.launched([*WITHOUT_PROC, program("quick"), "5"])
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        self.assertEqual(len(run.tool_lines()), 1, run)
        self.assertIn("/proc/self/maps cannot be read", run.stderr)
        run = self.launched([*WITHOUT_PROC, program("quick_gcc"), "5"])
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        self.assertIn("blame: /proc/self/environ cannot be read: the program keeps its own runtime", run.stderr)

    def test_where_nothing_can_be_started_again_the_line_says_what_to_set(self):
        if execute([*WITHOUT_PROC, "true"], clean_environment(), self.new_folder()).status:
            self.skipTest("no file system can be unmounted here")
        argv, env = [*WITHOUT_PROC, program("least_stack_large")], {"LD_LIBRARY_PATH": os.path.dirname(program("large_tls.so"))}
        run = self.launched(argv, env)
        advice = re.search(r"^blame: .*large_tls.so: .* set GLIBC_TUNABLES=(\S+)$", run.stderr, re.MULTILINE)
        self.assertTrue(advice, run)
        run = self.launched(argv, env | {"GLIBC_TUNABLES": advice[1]})
        self.assertEqual((run.status, run.stdout), (5, "error 0, xxx, 1\n"), run)

    def test_what_is_switched_off_is_not_explained(self):
        run = self.launched([program("quick"), "5"], {"BLAME_DISABLE": "1"})
        self.assertEqual((run.status, run.tool_lines()), (5, []), run)

    def test_without_a_summary_only_errors_are_printed(self):
        for name in ("quick", "quick_gcc", "deprecated_gcc"):
            self.assertEqual(self.launched([program(name), "5"], {"BLAME_SUMMARY": "0"}).tool_lines(), [], name)

    def test_of_no_sample_and_no_region_there_is_no_summary(self):
        for how in ("library", "launcher"):
            run = self.attached([program("starts")], {"BLAME_SUMMARY": "1", "BLAME_RATE": "1"}, how)
            directory, = run.directories()
            with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
                recorded = json.load(file)["samples"]["recorded"]  # in one run of twenty, as the only sample's time is random
            self.assertEqual((run.status, bool(run.stderr)), (0, recorded > 0), run)
            asked = execute([BLAME, "finish", directory], clean_environment(), run.folder)
            self.assertTrue(asked.stderr.startswith("\nblame: "), asked)

    def test_who_becomes_another_program_leaves_it_its_name(self):
        """In a shell's process, where nobody knows yet whether OpenMP will be used."""
        run = self.launched(["sh", "-c", f"{program('starts')} becomes {program('quick')}; true"])
        self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)
        self.assertEqual([os.path.basename(path) for path in run.directories()], ["profile"], run)
        self.assertEqual(os.path.basename(self.load(run).run["command"].split()[0]), "quick")

    def test_another_machines_profile_with_the_same_number_stays(self):
        """As if one that shares the folder had made it, booted an hour earlier."""
        earlier = "import os, struct, sys; file = open(f'profile/{os.listdir(\"profile\")[0]}', 'r+b'); file.seek(48); begin, = struct.unpack('<q', file.read(8)); " \
                  "file.seek(48); file.write(struct.pack('<q', begin - 3600 * 10**9)); file.close(); os.execv(sys.argv[1], sys.argv[1:])"
        run = self.launched(["sh", "-c", f"{program('starts')} becomes {sys.executable} -c \"$0\" {program('quick')}; true", earlier], options=["--omp-only"])
        self.assertEqual((run.status, run.stdout), (0, "sum 3\n"), run)
        self.assertEqual([os.path.basename(path) for path in run.directories()], ["profile.1"], run)  # the other had no region, and is removed at the end

    def test_a_childs_command_is_not_the_title_that_was_written_over_it(self):
        run = self.launched([program("starts"), "titles"])
        self.assertEqual(run.status, 0, run)
        commands = [self.load(run, directory, checks=[]).run["command"] for directory in run.directories()]
        self.assertEqual(commands, [f"{program('starts')} titles"] * 2, run)
