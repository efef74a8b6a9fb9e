"""`blame report`: views, formats, sorting, and what it says about input it cannot use."""

import os
import re
import shutil

from blame_profile import METRICS, Profile
from harness import BLAME, BlameTest, clean_environment, execute, program

VIEWS = ("top-down", "bottom-up", "flat", "threads", "locks")


class Report(BlameTest):
    pace = 1

    def test_top_down_is_the_default_and_its_csv_is_profile_csv(self):
        tree, stored = self.reported_tree(self.lock_profile()), Profile(self.lock_profile())
        self.assertEqual([row.cells for row in tree.rows], [row.cells for row in stored.rows])

    def test_folded_stacks_add_up_to_the_metric_they_are_sorted_by(self):
        stored = Profile(self.lock_profile())
        for metric, column in (("work", "work"), ("idleness", "idleness"), ("lock-wait", "lock wait")):
            with self.subTest(metric=metric):
                text = self.report(self.lock_profile(), "--format", "folded", "--sort", metric).stdout
                stacks = [re.fullmatch(r"(\S.*) (\d+)", line) for line in text.splitlines()]
                self.assertTrue(stacks and all(stacks), text)
                self.assertTrue(any("main;" in match[1] for match in stacks), text)
                total = sum(int(match[2]) for match in stacks)
                seconds = stored.root[f"{column} (I)"]
                # The unit is the tool's choice of a power of ten of a second.
                self.assertTrue(any(abs(total / unit - seconds) < 0.02 * seconds + len(stacks) / unit
                                    for unit in (1e3, 1e6, 1e9)), f"{total} for {seconds} s")

    def test_sorting_puts_the_largest_first(self):
        stored = Profile(self.lock_profile())
        for metric, columns in (("blame", ("idleness", "lock wait")), ("work", ("work",)), ("lock-wait", ("lock wait",)),
                                ("idleness", ("idleness",))):
            with self.subTest(metric=metric):
                function = max(("long_holder", "waiter"), key=lambda name: sum(stored.total(column, name) for column in columns))
                text = self.report(self.lock_profile(), "--sort", metric).stdout
                first = min((text.index(name), name) for name in ("long_holder", "waiter") if name in text)[1]
                self.assertEqual(first, function, text)

    def test_the_default_view_is_sorted_by_blame(self):
        for width in ("80", "100"):
            text = self.report(self.lock_profile(), "--width", width).stdout
            self.assertRegex(text, r"Sorted by\s+blame")
            self.assertRegex(text, r"\n +blame +% +itself( +(no core|blocked|idleness|overhead|lock wait|work))+ ")

    def test_small_rows_are_cut_with_a_line_that_says_so(self):
        text = self.report(self.lock_profile()).stdout
        self.assertRegex(text, r"0\.5 ?%")

    def test_a_moved_profile_without_csv_files_is_read(self):
        moved = os.path.join(self.folder, "moved")
        shutil.copytree(self.lock_profile(), moved)
        for name in os.listdir(moved):
            if not name.endswith(".blame"):
                os.remove(os.path.join(moved, name))
        tree, stored = self.reported_tree(moved), Profile(self.lock_profile())
        for metric in METRICS:
            self.assertEqual(tree.root[f"{metric} (I)"], stored.root[f"{metric} (I)"], metric)


class WhatCannotBeUsed(BlameTest):
    def assert_refused(self, directory, mention):
        run = self.report(directory, status=1)
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(run.stderr.splitlines()), 1, run)
        self.assertIn(mention, run.stderr)

    def measurement(self):
        run = self.attached([program("quick")])
        directory, = run.directories()
        name, = (name for name in os.listdir(directory) if name.endswith(".blame"))
        return directory, os.path.join(directory, name)

    def test_a_missing_directory(self):
        self.assert_refused("/no/such/profile", "/no/such/profile")

    def test_a_directory_without_a_measurement(self):
        empty = self.new_folder()
        self.assert_refused(empty, empty)

    def test_an_empty_measurement(self):
        directory, path = self.measurement()
        with open(path, "r+b") as file:
            file.truncate(0)
        self.assert_refused(directory, os.path.basename(path))

    def test_a_foreign_file(self):
        directory, path = self.measurement()
        with open(path, "r+b") as file:
            file.write(b"\x7fELF" + b"x" * 60)
        self.assert_refused(directory, os.path.basename(path))

    def test_a_measurement_cut_in_the_middle_is_read_or_refused_in_one_line(self):
        directory, path = self.measurement()
        with open(path, "rb") as file:
            data = file.read()
        for size in (1, 100, 4096, len(data) // 2, len(data) - 1):
            with open(path, "wb") as file:
                file.write(data[:size])
            from_report = self.report_any(directory)
            self.assertIn(from_report.status, (0, 1), from_report)
            if from_report.status == 1:
                self.assertEqual(len(from_report.stderr.splitlines()), 1, from_report)

    def report_any(self, directory):
        return execute([BLAME, "report", directory], clean_environment(), self.new_folder())

    def test_wrong_usage_names_the_option_and_what_is_accepted(self):
        directory, _ = self.measurement()
        for arguments, mentions in (
                (["--view", "sideways"], ["--view", "sideways", *VIEWS]),
                (["--format", "xml"], ["--format", "xml", "text", "csv", "folded"]),
                (["--sort", "beauty"], ["--sort", "beauty", "work", "idleness"]),
                (["--sundial"], ["--sundial", "--view"]),
                (["--view"], ["--view"])):
            with self.subTest(arguments=arguments):
                run = self.report(directory, *arguments, status=2)
                self.assertEqual(run.stdout, "")
                for mention in mentions:
                    self.assertIn(mention, run.stderr)

    def test_a_second_directory_is_wrong_usage(self):
        run = self.report(self.measurement()[0], "another", status=2)
        self.assertEqual((run.stdout, len(run.stderr.splitlines())), ("", 1), run)
        self.assertIn("and another were given; expected one profile", run.stderr)

    def test_the_beginning_of_a_metric_is_answered_with_the_metric(self):
        run = self.report(self.measurement()[0], "--sort", "idle", status=2)
        self.assertIn("blame report: --sort idle: did you mean idleness? expected one of ", run.stderr)

    def test_help_of_help_is_the_help(self):
        said = [execute([BLAME, "help", *more], clean_environment(), self.new_folder()) for more in ((), ("help",))]
        self.assertEqual((said[1].status, said[1].stdout), (0, said[0].stdout))

    def test_slips_are_answered_with_the_nearest_name_and_others_are_not(self):
        for arguments, said in ((("reprot", "x"), "blame: unknown command reprot; did you mean report? expected one of run, report,"),
                                (("zzz",), "blame: unknown command zzz; expected one of run,"),
                                (("report", "--veiw=flat"), "blame report: unknown option --veiw=flat; did you mean --view? expected one of --view,"),
                                (("report", "--zz"), "blame report: unknown option --zz; expected one of"),
                                (("report", "--view", "falt"), "blame report: --view falt: did you mean flat? expected one of top-down,"),
                                (("report", "--source=1"), "blame report: --source takes no value"),
                                (("diff", "--top"), "blame diff: --top needs a value; see blame diff --help")):
            with self.subTest(arguments=arguments):
                run = execute([BLAME, *arguments], clean_environment(), self.new_folder())
                self.assertEqual((run.status, run.stdout, len(run.stderr.splitlines())), (2, "", 1), run)
                self.assertTrue(run.stderr.startswith(said), run)

    def test_without_a_directory_the_newest_profile_here_is_taken(self):
        folder, profile = self.new_folder(), self.lock_profile()
        for name, age in (("newest", 0), ("older", 100), ("oldest", 200)):
            shutil.copytree(profile, os.path.join(folder, name))
            for file in os.listdir(os.path.join(folder, name)):
                if file.endswith(".blame"):
                    os.utime(os.path.join(folder, name, file), (1e9, 1e9 - age))
        os.makedirs(os.path.join(folder, "no-profile"))
        for command, options in (("report", ()), ("html", ()), ("export", ("--format", "folded", "-o", "stacks"))):
            for where, name in ((folder, "newest"), (os.path.join(folder, "older"), ".")):
                with self.subTest(command=command, name=name):
                    run = execute([BLAME, command, *options], clean_environment(), where)
                    self.assertEqual((run.status, run.stderr.splitlines()[0]),
                                     (0, f"blame {command}: no profile was given; using the newest one here, {name}"), run)
        run = self.report(status=2)
        self.assertEqual(run.stderr, "blame report: no profile was given, and the current directory has none; expected a profile directory or a *.blame file\n")

    def test_output_has_the_same_names_everywhere(self):
        for option in ("-o", "--out", "--output"):
            folder = self.new_folder()
            for command in (["report", self.lock_profile()], ["html", self.lock_profile()], ["export", "--format", "folded", self.lock_profile()],
                            ["stat", self.lock_profile()], ["diff", self.lock_profile(), self.lock_profile()]):
                self.assertEqual(execute([BLAME, *command, option, command[0]], clean_environment(), folder).status, 0, command)
                self.assertTrue(os.path.isfile(os.path.join(folder, command[0])), command)
            run = execute([BLAME, "run", option, "run", program("quick"), "0"], clean_environment(), folder)
            self.assertTrue(os.path.isdir(os.path.join(folder, "run")), run)
