"""`blame db --db postgresql://...`: a server of the test's own, on a Unix socket in a temporary folder. All is said as of a file, and adders at once lose nothing."""

import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from harness import BLAME, TIMEOUT_S, BlameTest, clean_environment, execute

PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
USER = "nobody" if os.geteuid() == 0 else None  # the server refuses to be root's
ADDERS = 4


def lacking():
    if not PROGRAMS:
        return "no PostgreSQL server is installed (Debian: postgresql)"
    python = clean_environment()["BLAME_PYTHON"]
    return None if subprocess.run([python, "-c", "import psycopg2"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else f"{python} has no psycopg2 (python3-psycopg2)"


@unittest.skipIf(lacking(), lacking())
class Team(BlameTest):
    pace = 10

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = tempfile.mkdtemp(prefix="blame-team-")
        if USER:
            shutil.chown(cls.place, USER)
        cls.server = None
        try:
            data = os.path.join(cls.place, "data")
            cls.call("initdb", "--pgdata", data, "--username", "blame", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync").check_returncode()
            settings = {"listen_addresses": "", "unix_socket_directories": cls.place, "fsync": "off"}
            cls.call("pg_ctl", "--pgdata", data, "--wait", "--silent", "--log", os.path.join(cls.place, "log"), "start",
                     "-o", " ".join(f"-c {name}='{value}'" for name, value in settings.items())).check_returncode()
            cls.server = data
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        if cls.server:
            cls.call("pg_ctl", "--pgdata", cls.server, "--mode", "immediate", "--silent", "stop")
        shutil.rmtree(cls.place, ignore_errors=True)
        super().tearDownClass()

    @classmethod
    def call(cls, name, *arguments):
        return subprocess.run([os.path.join(PROGRAMS[-1], name), *arguments], user=USER, cwd=cls.place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
                              timeout=TIMEOUT_S)

    def setUp(self):
        super().setUp()
        self.name = f"t{os.getpid()}_{id(self)}"
        self.psql("postgres", f"CREATE DATABASE {self.name}")
        self.team, self.file = self.url(self.name), os.path.join(self.folder, "file.db")

    def url(self, name):
        return f"postgresql://blame:secret@/{name}?host={self.place}"

    def psql(self, database, statement):
        """What psql prints: a line for each row."""
        run = subprocess.run(["psql", "--no-psqlrc", "-qtA", "-v", "ON_ERROR_STOP=1", "-h", self.place, "-U", "blame", "-d", database, "-c", statement], capture_output=True, text=True,
                             check=True)
        return run.stdout.splitlines()

    def run_of(self, number=0, **env):
        return self.profile_of("quick", "5", number=number, env=env, status=5, own_stderr=["the program's own line"])[0].directories()[0]

    def blame(self, *arguments, database=None, status=0, env=None):
        run = execute([BLAME, *arguments, "--db", database or self.team], clean_environment() | (env or {}), self.folder)
        self.assertEqual(run.status, status, run)
        self.assertNotIn("secret", run.stderr)
        if status:
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
        return run

    def fill(self, databases):
        for number, revision in enumerate(("one", "two", "two")):
            directory = self.run_of(number, BLAME_META=f"revision={revision}\nsize={256 * number}", OMP_SCHEDULE="static")
            for database in databases:
                self.blame("db", "add", directory, "--meta", "note=1.10", database=database)
                self.blame("db", "add", directory, "--experiment", "again", database=database)

    def wait_for_another(self):
        with subprocess.Popen(["psql", "-qtA", "-h", self.place, "-U", "blame", "-d", self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            other.stdin.write("BEGIN;\nSELECT pg_advisory_xact_lock(1651269997), 'held';\n")
            other.stdin.flush()
            self.assertIn("held", other.stdout.readline())
            self.assertIn("another program has been writing", self.blame("db", "add", self.run_of(9), "--wait", "0", status=1).stderr)
            self.blame("db", "list")
            other.stdin.close()

    def test_all_is_said_as_of_a_file(self):
        self.fill((self.team, self.file))
        with sqlite3.connect(self.file) as connection:  # added within another second
            for trial, added in connection.execute("SELECT id, added FROM trial").fetchall():
                self.psql(self.name, f"UPDATE trial SET added = '{added}' WHERE id = {trial}")
        for command in (["history"], ["history", "--row", "main", "--metric", "work", "--by", "size"]):
            self.assertEqual(self.blame(*command).stdout, self.blame(*command, database=self.file).stdout)
        self.assertIn("have 2 threads", self.blame("scaling", "--where", "size >= 0", status=1).stderr)
        for question in (["list"], ["list", "--format", "csv"], ["list", "--where", "size > 100 and revision = 'two' and note like '1.1%'"], ["show", "2"], ["show", "1", "--format", "csv"],
                         ["export", "--locations"], ["prune", "--keep", "1", "--dry-run"], ["prune", "2", "3"], ["list"], ["export"], ["prune", "1"], ["list"]):
            self.assertEqual(self.blame("db", *question).stdout, self.blame("db", *question, database=self.file).stdout, question)
        self.assertEqual(self.psql(self.name, "SELECT count(*) FROM context"), ["0"])

    def test_four_add_at_once_and_nothing_is_lost(self):
        directories = [self.run_of(number) for number in range(ADDERS)]
        for database in (self.team, self.file):
            adders = [subprocess.Popen([BLAME, "db", "add", "--db", database, *directories[number:], *directories[:number]], env=clean_environment(), stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True) for number in range(ADDERS)]
            said = [adder.communicate(timeout=TIMEOUT_S) for adder in adders]
            self.assertEqual([adder.returncode for adder in adders], [0] * ADDERS, said)
            self.assertEqual(sum(out.count(" added") for out, _ in said), ADDERS, said)
            self.assertEqual(len(self.blame("db", "list", "--format", "csv", database=database).stdout.splitlines()), 1 + ADDERS)
        self.assertEqual(self.psql(self.name, "SELECT count(*) FROM trial WHERE id NOT IN (SELECT trial FROM metric)"), ["0"])
        self.wait_for_another()

    def test_a_condition_reaches_nothing_on_the_server(self):
        self.fill((self.team,))
        before = self.psql(self.name, "SELECT * FROM run ORDER BY id")
        for where in ("1); DROP TABLE metric; --", "1); COMMIT; DELETE FROM metadata; --", "pg_sleep(9) is null", "lo_create(7) > 0", "pg_read_file('/etc/passwd') <> ''", "threads =",
                      "id IN (SELECT trial FROM metric)"):
            for action in ("list", "export", "prune"):
                self.assertIn("--where", self.blame("db", action, "--where", where, status=1).stderr)
        self.assertEqual(self.psql(self.name, "SELECT * FROM run ORDER BY id"), before)
        self.assertEqual(self.psql(self.name, "SELECT count(*) FROM pg_largeobject_metadata"), ["0"])

    def test_what_cannot_be_reached_or_is_not_ours_is_told_of_in_a_line(self):
        directory = self.run_of()
        self.assertIn("blame db add updates its tables", self.blame("db", "list", status=1).stderr)
        self.assertIn("nowhere", self.blame("db", "list", database=self.url("nowhere"), status=1).stderr)
        self.psql(self.name, "CREATE TABLE run(id int)")
        self.assertIn("another program", self.blame("db", "add", directory, status=1).stderr)
        self.assertEqual(self.psql(self.name, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), ["1"])
        os.mkdir(os.path.join(self.folder, "psycopg2"))
        with open(os.path.join(self.folder, "psycopg2", "__init__.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError\n")
        self.assertIn("install python3-psycopg2", self.blame("db", "list", status=1, env={"PYTHONPATH": self.folder}).stderr)
