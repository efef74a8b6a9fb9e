"""`blame db`: real runs are kept once, found again, and nothing is lost by who writes at the same time, a full disk or a damaged file."""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess

import mpi
from harness import BLAME, ROOT, TIMEOUT_S, BlameTest, clean_environment, execute, program

DOCUMENT = os.path.join(ROOT, "docs", "lab.md")
PAGE = 16384
SPOILT = b"\x5a" * PAGE


class Trials(BlameTest):
    pace = 10

    def setUp(self):
        super().setUp()
        self.database = os.path.join(self.folder, "trials.db")

    def run_of(self, name="quick", number=0, **env):
        """quick is over in no time, and has hardly a sample; imbalance2 takes its seconds."""
        usual = {"status": 5, "own_stderr": ["the program's own line"]} if name == "quick" else {}
        return self.profile_of(name, *(["5"] if usual else []), number=number, env=env, **usual)[0].directories()[0]

    def db(self, action, *arguments, status=0, env=None):
        run = execute([BLAME, "db", action, "--db", self.database, *arguments], clean_environment() | (env or {}), self.new_folder())
        self.assertEqual(run.status, status, run)
        if status:
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
        return run

    def table(self, action, *arguments):
        return list(csv.DictReader(io.StringIO(self.db(action, *arguments, "--format", "csv").stdout)))

    def ask(self, question):
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as connection:
            rows = connection.execute(question).fetchall()
        connection.close()
        return rows

    def everything(self):
        tables = ("application", "experiment", "trial", "metadata", "location", "context", "metric", "location_metric")
        return [self.ask(f"SELECT * FROM {table} ORDER BY 1, 2, 3") if table != "application" else self.ask(f"SELECT * FROM {table}") for table in tables]

    def assert_sound(self, trials):
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.ask("PRAGMA foreign_key_check"), [])
        self.assertEqual(self.ask("SELECT count(*) FROM trial")[0][0], trials)
        self.assertEqual(self.ask("SELECT count(*) FROM trial WHERE id NOT IN (SELECT trial FROM metric)"), [(0,)])


class Adding(Trials):
    def test_a_trial_has_what_run_json_and_profile_csv_have(self):
        env = {"BLAME_META": "size=512\nrevision=1234567", "OMP_SCHEDULE": "dynamic,4"}
        run, profile = self.profile_of("imbalance2", env=env)
        directory, = run.directories()
        self.db("add", directory)
        trial, = self.table("list")
        for column, key in (("run", "id"), ("command", "command"), ("host", "host"), ("cpu_model", "cpu_model"), ("runtime", "runtime_version")):
            self.assertEqual(trial[column], profile.run[key], column)
        self.assertEqual((trial["program"], trial["application"], trial["experiment"]), ("imbalance2", "imbalance2", "default"))
        self.assertEqual((int(trial["threads"]), int(trial["cores"])), (profile.run["threads_max"], profile.run["cores"]))
        said = {(kind, name): value for kind, name, value in self.ask("SELECT kind, name, value FROM metadata")}
        self.assertEqual((said["user", "size"], said["user", "revision"], said["environment", "OMP_SCHEDULE"]), (512, "1234567", "dynamic,4"))
        self.assertEqual({name: value for (kind, name), value in said.items() if kind == "machine"}, profile.run["machine"])
        self.assertIn(f"machine          memory_bytes = {profile.run['machine']['memory_bytes']}\n", self.db("show", "1").stdout)
        self.assertIn("clang", said["compiler", "compiler"])
        self.assertEqual(said["build", "imbalance2"], next(module["build_id"] for module in profile.run["modules"] if module["path"].endswith("/imbalance2")))
        exported = self.table("export", "1")
        self.assertEqual(len(exported), len(profile.rows))
        for metric in ("work", "idleness", "overhead", "no core", "samples"):
            for kind in "IE":
                mine = sorted(float(row[f"{metric.replace(' ', '_')}_{kind.lower()}"]) for row in exported)
                for left, right in zip(mine, sorted(row[f"{metric} ({kind})"] for row in profile.rows)):
                    self.assertAlmostEqual(left, right, delta=2e-6)

    def test_added_twice_it_is_there_once_also_as_a_copy(self):
        directory = self.run_of()
        self.db("add", directory)
        before = self.everything()
        copy = os.path.join(self.folder, "copy")
        shutil.copytree(directory, copy)
        for again in (directory, copy, os.path.dirname(directory)):
            self.assertIn("was there already", self.db("add", again).stdout)
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.ask("SELECT count(*) FROM trial"), [(1,)])

    def test_what_is_said_later_is_taken(self):
        directory = self.run_of()
        self.db("add", directory)
        self.db("add", directory, "--application", "app", "--experiment", "one", "--meta", "note=a=b", "--meta", "size=3")
        trial, = self.table("list", "--where", "size = 3 and note = 'a=b'")
        self.assertEqual((trial["application"], trial["experiment"]), ("app", "one"))

    def test_runs_of_other_programs_share_an_application_only_if_told_to_and_it_is_said(self):
        both = [self.run_of(), self.run_of("imbalance2")]
        self.db("add", *both)
        self.assertEqual([trial["application"] for trial in self.table("list")], ["quick", "imbalance2"])
        run = self.db("add", *both, "--application", "app")
        self.assertIn("application app also has trials of another program: quick", run.stderr)

    def test_a_profile_that_cannot_be_read_does_not_keep_the_others_out(self):
        bad = os.path.join(self.folder, "bad.blame")
        with open(bad, "wb") as file:
            file.write(SPOILT)
        self.db("add", bad, status=1)
        self.assertFalse(os.path.exists(self.database))  # nothing was added, so no database was made
        self.assertIn("bad.blame", self.db("add", bad, self.run_of(), status=1).stderr)
        self.assert_sound(1)

    def test_metrics_of_locations_add_up_to_the_trials(self):
        self.db("add", self.run_of("imbalance2"))
        for metric in ("work_e", "samples_e", "idleness_e"):
            (whole,), = self.ask(f"SELECT sum({metric}) FROM metric")
            (parts,), = self.ask(f"SELECT sum({metric}) FROM location_metric")
            self.assertAlmostEqual(whole, parts, places=6)
        self.assertEqual(self.ask("SELECT count(*) FROM location WHERE kind = 'thread'"), [(2,)])
        before = self.everything()
        self.assertIn("exists in a newer state, and was kept", self.db("add", self.run_of("imbalance2"), "--sums").stdout)
        self.assertEqual(self.everything(), before)

    def test_of_sums_locations_are_left_out_until_they_are_added(self):
        self.db("add", self.run_of("imbalance2"), "--sums")
        self.assertEqual(self.ask("SELECT count(*) FROM location_metric"), [(0,)])
        self.assertIn("existed in an older state", self.db("add", self.run_of("imbalance2")).stdout)
        self.assertNotEqual(self.ask("SELECT count(*) FROM location_metric"), [(0,)])

    def test_a_jobs_ranks_are_locations(self):
        for name in mpi.installed()[:1]:
            folder = self.new_folder()
            argv, env = mpi.command(name, 3, BLAME, "run", "--out", "job", "--meta", "size=7", mpi.program(name))
            self.assertEqual(execute(argv, self.tool_environment(env | {"BLAME_OUT": None}), folder).status, 0)
            self.db("add", os.path.join(folder, "job"))
            trial, = self.table("list", "--where", "ranks = 3 and size = 7")
            self.assertEqual(self.ask("SELECT DISTINCT rank FROM location ORDER BY 1"), [(0,), (1,), (2,)])
            self.assertIn("was there already", self.db("add", os.path.join(folder, "job")).stdout)
            self.assertEqual(trial["nodes"], "1")

    def test_compilers_are_known_when_the_binary_is_gone(self):
        copy = os.path.join(self.new_folder(), "gone")
        shutil.copy(program("quick"), copy)
        run = self.attached([copy, "5"])
        os.remove(copy)
        self.db("add", run.directories()[0])
        self.assertIn("clang", self.ask("SELECT value FROM metadata WHERE kind = 'compiler'")[0][0])


class Asking(Trials):
    def fill(self):
        for name, revision in (("imbalance2", "one"), ("quick", "two")):
            self.db("add", self.run_of(name, BLAME_META=f"revision={revision}", OMP_SCHEDULE="static"), "--application", "app")
        self.db("add", self.run_of(OMP_NUM_THREADS="4"))

    def test_the_questions_of_the_document_have_answers(self):
        self.fill()
        with open(DOCUMENT, encoding="utf-8") as file:
            questions = re.findall(r"```sql\n(.*?)```", file.read(), re.DOTALL)
        self.assertEqual(len(questions), 7)
        for question in questions:
            with self.subTest(question=question):
                self.assertTrue(self.ask(question))

    def test_the_document_has_every_table_and_no_other(self):
        self.fill()
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        rows = dict(re.findall(r"(?m)^\| `(\w+)` \| [^|]*\| (.*) \|$", text))
        tables = {name for name, in self.ask("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")}
        self.assertEqual(set(rows), tables)
        metrics = {name[:-2] for _, name, *_ in self.ask("PRAGMA table_info(metric)") if name.endswith("_i")}
        for table in tables - {"run"}:
            for _, column, *_ in self.ask(f"PRAGMA table_info({table})"):
                if re.sub("_[ie]$", "", column) not in metrics:
                    self.assertIn(f"`{column}`", rows[table], table)
        for metric in metrics:
            self.assertIn(f"`{metric}`", text)

    def test_list_takes_the_trials_of_which_the_condition_is_true(self):
        self.fill()
        for where, found in (("program = 'quick'", 2), ("threads = 2 and host like '%'", 3), ("revision = 'one'", 1), ("OMP_SCHEDULE = 'static'", 2),
                             ("application = 'app' and wall_s > 0", 2), ("threads = 9", 0)):
            self.assertEqual(len(self.table("list", "--where", where)), found, where)
            self.assertEqual(len(self.db("list", "--where", where).stdout.splitlines()), found + 1)

    def test_a_condition_that_is_none_or_would_write_is_refused_in_one_line(self):
        self.fill()
        before = self.everything()
        for where in ("threads =", "1; DELETE FROM trial", "1); DROP TABLE trial; --", "1) UNION SELECT 1 --", "nothing = 3", "\"treads\" = 2",
                      "id = (PRAGMA user_version)", "(ATTACH 'x' AS y)", "load_extension('./x')", "1 IN (SELECT * FROM pragma_table_info('trial'))"):
            for action in ("list", "export", "prune"):
                self.assertIn("--where", self.db(action, "--where", where, status=1).stderr, where)
        self.assertEqual(self.everything(), before)

    def test_show_has_what_is_known_and_what_costs_most(self):
        self.fill()
        text = self.db("show", "1", "--top", "1000000").stdout # what of `slow` is its own is chance, that it calls what works is not
        for said in ("imbalance2", "revision = one", "OMP_SCHEDULE = static", "slow  imbalance2.c"):
            self.assertIn(said, text)
        run, = self.ask("SELECT run FROM trial WHERE id = 1")
        self.assertEqual(self.db("show", run[0][:8], "--top", "1000000").stdout, text)
        self.assertEqual(len(self.db("show", "1", "--top", "3").stdout.split("contexts, sorted by")[1].splitlines()), 4)
        self.assertIn({"trial": "1", "kind": "user", "name": "revision", "value": "one"}, self.table("show", "1"))
        self.assertIn("no such trial", self.db("show", "77", status=1).stderr)

    def test_prune_takes_what_it_is_told_to(self):
        self.fill()
        self.assertIn("3 would be removed", self.db("prune", "3", "--dry-run").stdout)
        self.assert_sound(3)
        self.db("prune", "--keep", "1")
        self.assertEqual([trial["id"] for trial in self.table("list")], ["2", "3"])
        self.db("prune", "--where", "application = 'quick'")
        self.assert_sound(1)
        self.db("prune", "2")
        self.assertEqual(self.ask("SELECT count(*) FROM context"), [(0,)])
        self.db("prune", status=2)

    def test_options_of_other_actions_are_refused(self):
        for argv in (("list", "--keep", "1"), ("add", "x", "--where", "1"), ("show", "1", "--dry-run"), ("lost",), ("add",), ("list", "x"),
                     ("add", "x", "--meta", "novalue"), ("prune", "--keep", "-1")):
            self.db(*argv, status=2)
        self.assertFalse(os.path.exists(self.database))

    def test_the_database_is_that_of_the_option_or_of_the_variable_or_blame_db(self):
        folder, directory = self.new_folder(), self.run_of()
        for variable, name in ((None, "blame.db"), ("", "blame.db"), ("other.db", "other.db"), (":memory:", ":memory:")):
            env = clean_environment() | ({"BLAME_DB": variable} if variable is not None else {})
            self.assertEqual(execute([BLAME, "db", "add", directory], env, folder).status, 0)
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)


class Trouble(Trials):
    def test_ten_add_at_once_and_nothing_is_lost(self):
        directories = [self.run_of(number=number) for number in range(3)]
        processes = []
        for number in range(10):
            copies = directories[number % 3:] + directories[:number % 3]
            processes.append(subprocess.Popen([BLAME, "db", "add", "--db", self.database, *copies], env=clean_environment(), stdout=subprocess.PIPE,
                                              stderr=subprocess.PIPE, text=True))
        outputs = [process.communicate(timeout=TIMEOUT_S) for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * 10, outputs)
        self.assertEqual(sum(output.count(" added") for output, _ in outputs), 3)
        self.assert_sound(3)

    def test_a_locked_database_is_told_of_and_read_all_the_same(self):
        first, second = self.run_of(), self.run_of(number=9)
        self.db("add", first)
        connection = sqlite3.connect(self.database, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        self.assertIn("another program has been writing to it", self.db("add", second, "--wait", "0", status=1).stderr)
        self.assertEqual(len(self.table("list", "--wait", "0")), 1)
        connection.execute("ROLLBACK")
        connection.close()
        self.db("add", second, "--wait", "0")
        self.assert_sound(2)

    def test_no_database_and_what_is_none_are_told_of_in_a_line(self):
        self.assertIn("blame db add makes a database", self.db("list", status=1).stderr)
        self.assertFalse(os.path.exists(self.database))
        for content, said in ((SPOILT, "is not a database"), (b"", "is an empty file")):
            with open(self.database, "wb") as file:
                file.write(content)
            self.assertIn(said, self.db("list", status=1).stderr)
        os.remove(self.database)
        os.mkdir(self.database)
        self.assertIn("is not a file", self.db("list", status=1).stderr)
        self.db("add", self.run_of(), status=1)
        os.rmdir(self.database)
        with sqlite3.connect(self.database) as connection:
            connection.execute("CREATE TABLE mine(x)")
        connection.close()
        self.assertIn("another program", self.db("add", self.run_of(), status=1).stderr)
        self.assertEqual(self.ask("SELECT count(*) FROM sqlite_schema"), [(1,)])

    def test_a_damaged_database_is_told_of_and_never_ends_in_a_crash(self):
        first, second = self.run_of(), self.run_of(number=9)
        self.db("add", first)
        with open(self.database, "rb") as file:
            whole = file.read()
        pages = len(whole) // PAGE
        for page in sorted({0, 1, pages // 2, pages - 1}):
            for content in (whole[:PAGE * page] + SPOILT + whole[PAGE * (page + 1):], whole[:PAGE * page + 2000]):
                with open(self.database, "wb") as file:
                    file.write(content)
                for action in (("list",), ("show", "1"), ("export",), ("add", second), ("prune", "1")):
                    run = execute([BLAME, "db", *action, "--db", self.database], clean_environment(), self.folder)
                    self.assertIn(run.status, (0, 1), run)
                    if run.status:
                        self.assertRegex(run.stderr, r"^blame db \w+: .*\n$", run)
                for beside in ("-wal", "-shm"):
                    if os.path.exists(self.database + beside):
                        os.remove(self.database + beside)

    def test_a_full_disk_in_the_middle_leaves_what_was_there(self):
        first, second = self.run_of(), self.run_of(number=9)
        self.db("add", first)
        before = self.everything()
        size = os.path.getsize(self.database)
        for kilobytes in range(1, size // 1024 + 64, max(1, size // 1024 // 8)):
            run = execute(["sh", "-c", f'ulimit -f {2 * kilobytes}; exec "$@"', "sh", BLAME, "db", "add", "--db", self.database, second],
                          clean_environment(), self.folder)
            if run.status == 0:
                break
            self.assertEqual(run.status, 1, run)
            self.assertRegex(run.stderr, r"(?m)^blame db add: .*(no room|File too large|nothing was changed)", run)
            self.assertEqual(self.everything(), before)
        self.db("add", second)
        self.assert_sound(2)

    def test_a_killed_writer_leaves_all_or_nothing(self):
        first, second = self.run_of(), self.run_of(number=9)
        self.db("add", first)
        for delay in (0.0, 0.005, 0.01, 0.02, 0.04):
            process = subprocess.Popen([BLAME, "db", "add", "--db", self.database, second], env=clean_environment(), stdout=subprocess.DEVNULL)
            try:
                process.wait(timeout=delay)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])
        self.db("add", second)
        self.assert_sound(2)

    def test_a_database_that_cannot_be_written_to_can_be_read(self):
        self.db("add", self.run_of())
        self.assertEqual(json.loads(json.dumps(self.table("list")))[0]["id"], "1")
        os.chmod(self.database, 0o444)
        self.assertEqual(len(self.table("list")), 1)
