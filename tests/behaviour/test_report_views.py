"""`blame report`: parts of trees, columns, sorting, colour and width, and which of them go together."""

import csv
import io
import os
import pty
import re
import shutil
import subprocess

import contract_checks
from blame_profile import METRICS, NotAProfile, Profile, Tree
from harness import BLAME, ROOT, TIMEOUT_S, BlameTest, clean_environment, execute

TREES = ("top-down", "bottom-up", "flat")
VIEWS = (*TREES, "threads", "locks", "waits", "findings", "phases", "timeline", "culprits")
SUMS = [check for check in contract_checks.TREE_CHECKS if check.__name__ in ("check_layout", "check_sums", "check_order")]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Views(BlameTest):
    pace = 1

    def text(self, *arguments, env=None, status=0):
        run = execute([BLAME, "report", self.lock_profile(), *arguments], clean_environment() | (env or {}), self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def tree(self, *arguments, checks=SUMS):
        run = self.text("--format", "csv", *arguments)
        try:
            tree = Tree(run.stdout, " ".join(arguments))
        except NotAProfile as error:
            self.fail(f"{error}\n{run}")
        self.assertEqual(contract_checks.violations(tree, checks), [], arguments)
        return tree

    def folded(self, *arguments):
        return sum(int(line.rsplit(" ", 1)[1]) for line in self.text("--format", "folded", *arguments).stdout.splitlines())

    def test_hiding_loses_nothing(self):
        whole = self.tree()
        for expression in ("long_holder", "lock", "^__kmpc|^omp_|^<", r"lock\.c:[0-9]", "."):
            with self.subTest(expression=expression):
                left = self.tree("--hide", expression)
                self.assertEqual([row.name for row in left.rows[1:] if re.search(expression, row.name)
                                  and row.kind != "statement"], [])
                for metric in METRICS:
                    self.assertAlmostEqual(left.root[f"{metric} (I)"], whole.root[f"{metric} (I)"], delta=1e-6)
                    self.assertAlmostEqual(sum(row[f"{metric} (E)"] for row in left.rows if row.kind != "statement"),
                                           whole.root[f"{metric} (I)"], delta=1e-6 * len(left.rows))

    def test_what_a_hidden_function_cost_is_its_callers(self):
        before, after = self.tree(), self.tree("--hide", "^long_holder$")
        row, = before.named("long_holder")[:1]
        caller, = [other for other in after.rows if other.path() == row.parent.path() and other.kind != "statement"]
        self.assertGreaterEqual(caller["lock wait (E)"], row["lock wait (E)"] - 1e-6)
        self.assertGreater(row["lock wait (E)"], 0)

    def test_focus_leaves_paths_through_what_matches_and_the_programs_per_cent(self):
        whole, focused = self.tree(), self.tree("--focus", "long_holder")
        due = whole.total("work", "long_holder")
        self.assertAlmostEqual(focused.root["work (I)"], due, delta=1e-5)
        self.assertLess(due, whole.root["work (I)"])
        row, same = whole.named("long_holder")[0], focused.named("long_holder")[0]
        self.assertAlmostEqual(same["absolute work"], row["absolute work"], delta=1e-4)
        for leaf in (row for row in focused.rows if not row.children):
            self.assertIn("long_holder", leaf.path())
        self.assertIn("--focus long_holder: only call paths with a matching row: ", self.text("--focus", "long_holder").stdout)

    def test_bins_of_time_add_up_to_what_threads_and_rows_have(self):
        bins = list(csv.DictReader(io.StringIO(self.text("--view", "timeline", "--format", "csv").stdout)))
        threads = list(csv.DictReader(io.StringIO(self.text("--view", "threads", "--format", "csv").stdout)))
        for state in ("work", "overhead", "idle", "lock_wait", "mpi_wait", "no_core", "blocked"):
            total = sum(float(thread[state]) for thread in threads)
            self.assertAlmostEqual(sum(float(line[state]) for line in bins), total, delta=1e-4 * total + 1e-6 * len(bins), msg=state)
        whole, blamed = self.tree(), {}
        for line in csv.DictReader(io.StringIO(self.text("--view", "culprits", "--format", "csv").stdout)):
            blamed[line["name"]] = blamed.get(line["name"], 0) + float(line["lock_wait"])
        for name in ("long_holder", "spin_on_clock"):
            self.assertLessEqual(blamed.get(name, 0), whole.total("lock wait", name) + 1e-3)
        self.assertAlmostEqual(sum(blamed.values()), whole.root["lock wait (I)"], delta=1e-3)

    def test_without_a_timeline_that_is_said(self):
        profile = self.profile_of("quick", env={"BLAME_TIMELINE": "0"}, own_stderr=("the program's own line",))[0].directories()[0]
        for view in ("timeline", "culprits"):
            run = execute([BLAME, "report", profile, "--view", view], clean_environment(), self.new_folder())
            self.assertEqual((run.status, run.stdout, len(run.stderr.splitlines())), (1, "", 1), run)
            self.assertIn("BLAME_TIMELINE=0", run.stderr)

    def test_focus_on_nothing_is_said(self):
        run = self.text("--focus", "no_such_function", status=1)
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(run.stderr.splitlines()), 1, run)
        self.assertIn("no_such_function", run.stderr)

    def test_folded_stacks_add_up_with_all_filters(self):
        whole = self.folded("--sort", "work")
        for view in TREES:
            for arguments in (["--depth", "2"], ["--min", "20"], ["--hide", "long"], ["--depth", "1", "--min", "5"]):
                with self.subTest(view=view, arguments=arguments):
                    self.assertAlmostEqual(self.folded("--view", view, "--sort", "work", *arguments), whole, delta=40)

    def test_depth_and_min_leave_out_rows(self):
        whole = self.tree()
        self.assertEqual(max(row.depth for row in self.tree("--depth", "3", checks=[]).rows), 3)
        shallow = self.text("--depth", "1", "--min", "0").stdout
        self.assertRegex(shallow, r"\d+ rows deeper than --depth not shown")
        large = self.tree("--min", "10", "--sort", "work", checks=[])
        self.assertTrue(0 < len(large.rows) < len(whole.rows))
        self.assertTrue(all(row["work (I)"] >= 0.1 * whole.root["work (I)"] - 1e-6 for row in large.rows))

    def test_threads_add_up_to_the_program(self):
        whole = self.tree()
        count = len(Profile(self.lock_profile()).threads)
        self.assertGreater(count, 1)
        parts = [self.tree("--thread", str(thread)) for thread in range(count)]
        for metric in ("samples", "work", "overhead", "lock wait", "idleness", "lock wait here"):
            self.assertAlmostEqual(sum(tree.root[f"{metric} (I)"] for tree in parts), whole.root[f"{metric} (I)"],
                                   delta=1e-5, msg=metric)
        self.assertIn("--thread 1: ", self.text("--thread", "1").stdout)
        self.assertIn(f"no thread {count}", self.text("--thread", str(count), status=1).stderr)

    def test_flat_groups_add_up(self):
        total = self.tree().root["work (I)"]
        for by in ("function", "file", "module", "construct"):
            with self.subTest(by=by):
                rows = Tree(self.text("--view", "flat", "--by", by, "--format", "csv").stdout).rows
                self.assertAlmostEqual(sum(row["work (E)"] for row in rows if row.depth == 1), total, delta=1e-4)
        self.assertRegex(self.text("--view", "flat", "--by", "file", "--min", "0").stdout, r"(?m)\S/lock\.c$")

    def test_tables_are_sorted_and_cut(self):
        for view, metrics, column in (("threads", {"work": "work", "idleness": "idle", "samples": "samples",
                                                   "lock-wait": "lock_wait", "overhead": "overhead"}, None),
                                      ("locks", {"lock-wait": "wait", "samples": "acquisitions_contended"}, "wait")):
            for metric, name in metrics.items():
                with self.subTest(view=view, metric=metric):
                    text = self.text("--view", view, "--sort", metric, "--format", "csv").stdout
                    values = [float(row[name]) for row in csv.DictReader(io.StringIO(text))]
                    self.assertTrue(values)
                    self.assertEqual(values, sorted(values, reverse=True))
            if column:
                text = self.text("--view", view, "--min", "99", "--format", "csv").stdout
                self.assertEqual(len(text.splitlines()), 1, text)
                self.assertRegex(self.text("--view", view, "--min", "99").stdout, r"more locks?; --min 0 shows all")
        places = list(csv.DictReader(io.StringIO(self.text("--view", "waits", "--sort", "lock-wait", "--format", "csv",
                                                           "--min", "0").stdout)))
        self.assertEqual(places[0]["place_kind"], "lock")
        self.assertEqual([row["place"] for row in places], sorted((row["place"] for row in places), key=int))
        self.assertNotIn("held", self.text("--view", "locks", "--depth", "1").stdout.replace("which code held", ""))

    def test_waits_of_paths_in_focus(self):
        def seconds(*arguments):
            text = self.text("--view", "waits", "--format", "csv", *arguments).stdout
            return sum(float(row["seconds"]) for row in csv.DictReader(io.StringIO(text)))

        focused = self.tree("--focus", "long_holder").root
        self.assertAlmostEqual(seconds("--focus", "long_holder"), focused["idleness (I)"] + focused["lock wait (I)"],
                               delta=1e-3)
        self.assertAlmostEqual(seconds("--hide", "long_holder"), seconds(), delta=1e-3)

    def assert_shows(self, line, percent):
        """The line has that, rounded once to a tenth; percent is of numbers that were rounded before."""
        shown = [float(number) for number in re.findall(r"(?<![\d.])\d+\.\d(?!\d)", line)]
        self.assertTrue(any(abs(number - percent) < 0.051 for number in shown), (percent, line))

    def test_columns_and_percent(self):
        text = self.text("--columns", "work:e,idleness%,samples:i").stdout
        self.assertIn("work (E) idleness (I) % samples (I)", text)
        line = next(line for line in text.splitlines() if "<program root>" in line)
        whole = self.tree().root
        parts = ("work", "idleness", "overhead", "lock wait", "no core", "blocked")
        self.assert_shows(line, 100 * whole["idleness (I)"] / sum(whole[part + " (I)"] for part in parts))
        self.assertIn(str(int(whole["samples (I)"])), line)
        relative = self.text("--percent", "relative", "--columns", "work%", "--min", "0").stdout
        row = next(row for row in self.tree().rows if row.name == "long_holder")
        line = next(line for line in relative.splitlines() if "long_holder" in line)
        self.assert_shows(line, 100 * row["work (I)"] / sum(row[part + " (I)"] for part in parts))

    def test_source_lines_stand_beside_their_rows(self):
        with open(os.path.join(ROOT, "tests/programs/lock.c"), encoding="utf-8") as file:
            lines = [" ".join(line.replace("\t", " ").split("\n")[0].split(" ")).strip() for line in file]
        text = self.text("--source", "--width", "300", "--min", "0", env={"LC_ALL": "C"}).stdout
        found = [(int(number), source) for number, source in re.findall(r"-lock\.c:(\d+)  (\S.*)", text)]
        self.assertTrue(found, text)
        for number, source in found:
            self.assertEqual(source, lines[number - 1])
        refused = self.text("--source-dir", "/no/such", status=1).stderr
        self.assertIn("--source-dir /no/such: No such file or directory; expected", refused)
        empty = self.new_folder()
        run = self.text("--source-dir", empty, "--width", "300")
        self.assertIn("lock.c:", run.stdout)
        moved = self.new_folder()
        with open(os.path.join(moved, "lock.c"), "w", encoding="utf-8") as file:
            file.write("moved line\n" * 500)
        run = self.text("--source-dir", moved, "--width", "300", "--min", "0")
        self.assertIn("moved line", run.stdout)
        self.assertIn("changed after the run", run.stderr)

    def test_text_is_as_wide_as_asked_and_printable(self):
        for view in VIEWS:
            for width, locale in ((60, "C"), (72, "C"), (113, "en_US.UTF-8")):
                with self.subTest(view=view, width=width):
                    text = self.text("--view", view, "--width", str(width), env={"LC_ALL": locale}).stdout
                    columns = sum(text.count(f" {name} ") > 0 for name in ("no core", "blocked"))
                    least = {"threads": 64, "phases": 60}.get(view, 0) + 9 * columns  # their numbers take as many
                    self.assertLessEqual(max(map(len, text.splitlines())), max(width, least), text)
                    self.assertEqual([char for char in text if char != "\n" and not char.isprintable()], [])
                    if locale == "C":
                        self.assertTrue(text.isascii(), text)

    def test_colour_only_where_it_is_wanted(self):
        for arguments, env, coloured in (([], {}, False), (["--color", "always"], {"NO_COLOR": "1"}, True),
                                         (["--color", "never"], {}, False)):
            for view in VIEWS:
                text = self.text("--view", view, *arguments, env=env).stdout
                self.assertEqual("\x1b" in text, coloured, (view, arguments))
                if coloured:
                    self.assertEqual(ESCAPE.sub("", text), self.text("--view", view).stdout, view)

    def on_terminal(self, *arguments, stream="stdout", env=None, status=0):
        """What the terminal gets."""
        master, slave = pty.openpty()
        process = subprocess.Popen([BLAME, *arguments], env=clean_environment() | {"TERM": "xterm"} | (env or {}),
                                   **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: slave})
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 65536):
                text += chunk
        except OSError:  # the terminal's other end is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(), status)
        return text

    def test_colour_on_a_terminal_unless_no_color_says_no(self):
        for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            text = self.on_terminal("report", self.lock_profile(), "--min", "0", env=env)
            self.assertIn(b"long_holder", text)
            self.assertEqual(b"\x1b[" in text, coloured, env)

    def test_names_of_files_in_messages_do_nothing_to_a_terminal(self):
        for command in ("report", "html", "diff", "stat", "merge"):
            text = self.on_terminal(command, "no\x1b[31m\x9b\u202e-such", *(("same",) if command == "diff" else ()), stream="stderr", status=1)
            self.assertIn(b"no?[31m", text, command)
            self.assertNotRegex(text, rb"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae", command)

    def test_a_link_in_the_outputs_place_is_replaced_and_not_followed(self):
        for target in ("kept", "nothing"):
            folder = self.new_folder()
            kept, path = os.path.join(folder, "kept"), os.path.join(folder, "out")
            with open(kept, "w", encoding="utf-8") as file:
                file.write("what was there")
            os.symlink(target, path)
            self.text("-o", path)
            with open(kept, encoding="utf-8") as file:
                self.assertEqual(file.read(), "what was there")
            self.assertFalse(os.path.islink(path))
            self.assertEqual(sorted(os.listdir(folder)), ["kept", "out"])

    def test_output_goes_to_a_file_whole_or_not_at_all(self):
        path = os.path.join(self.new_folder(), "out.csv")
        self.text("--format", "csv", "-o", path)
        with open(path, encoding="utf-8", newline="") as file:
            self.assertEqual(len(Tree(file.read()).rows), len(self.tree().rows))
        self.assertEqual(os.listdir(os.path.dirname(path)), ["out.csv"])
        for target, mention in (("/no/such/dir/x", "/no/such/dir/x"), ("/dev/full", "No space left")):
            run = self.text("-o", target, status=1)
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
            self.assertIn(mention, run.stderr)
        self.text("--focus", "no_such_function", "-o", path, status=1)
        self.assertGreater(os.path.getsize(path), 0)

    def test_output_never_replaces_a_measurement(self):
        folder = os.path.join(self.new_folder(), "copy")
        shutil.copytree(self.lock_profile(), folder)
        measurement, = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".blame"))
        with open(measurement, "rb") as file:
            before = file.read()
        for command in (["report", folder], ["export", folder, "--format", "folded"], ["html", folder],
                        ["stat", folder], ["diff", folder, folder]):
            run = subprocess.run([BLAME, *command, "--output", measurement], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run)
            self.assertIn("does not overwrite", run.stderr)
            with open(measurement, "rb") as file:
                self.assertEqual(file.read(), before, command)

    def test_what_does_not_go_together_is_said_in_one_line(self):
        for arguments, mentions in (
                (["--view", "threads", "--focus", "x"], ["--focus", "top-down", "waits", "threads"]),
                (["--view", "threads", "--sort", "core-idleness"], ["core-idleness", "work", "samples"]),
                (["--view", "locks", "--sort", "work"], ["--sort work", "lock-wait"]),
                (["--view", "findings", "--sort", "work"], ["--sort", "findings"]),
                (["--view", "phases", "--sort", "work"], ["--sort", "phases", "exact"]),
                (["--view", "phases", "--thread", "0"], ["--thread", "top-down", "phases"]),
                (["--view", "locks", "--hide", "x"], ["--hide", "waits"]),
                (["--view", "waits", "--format", "folded"], ["folded", "flat"]),
                (["--view", "bottom-up", "--source"], ["--source", "flat"]),
                (["--by", "file"], ["--by", "flat"]),
                (["--view", "flat", "--by", "colour"], ["--by", "construct"]),
                (["--format", "csv", "--columns", "work"], ["--columns", "text"]),
                (["--columns", "beauty"], ["beauty", "lock-wait-here", "no counters"]),
                (["--sort", "perf::FAULTS"], ["--sort perf::FAULTS", "lock-wait-here", "no counters"]),
                (["--view", "ranks", "--sort", "perf::FAULTS"], ["--sort", "ranks"]),
                (["--view", "locks", "--sort", "perf::FAULTS"], ["--sort perf::FAULTS", "lock-wait"]),
                (["--sort="], ["--sort", "lock-wait-here"]),
                (["--focus", "a("], ["--focus a(", "POSIX"]),
                (["--hide", "*["], ["--hide", "POSIX"]),
                (["--depth", "0"], ["--depth 0", "1"]),
                (["--thread", "-1"], ["--thread -1", "0"]),
                (["--width", "1e9"], ["--width", "60"]),
                (["--min", "nan"], ["--min nan", "100"]),
                (["--color", "mauve"], ["--color", "never"]),
                (["--output="], ["--output", "FILE"])):
            with self.subTest(arguments=arguments):
                run = self.text(*arguments, status=2)
                self.assertEqual(run.stdout, "")
                self.assertEqual(len(run.stderr.splitlines()), 1, run)
                for mention in mentions:
                    self.assertIn(mention, run.stderr)
