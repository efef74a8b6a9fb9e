"""A database of trials in one SQLite file. docs/lab.md describes its tables, and SCHEMA creates them. team.py has the same on a server."""

import contextlib
import os
import re
import sqlite3
import stat
import time

from .command import Refused
from .runs import WAIT_S, WORDS, on_server
from .text import clean, readable

APPLICATION_ID = 0x626C616D  # "blam": PRAGMA application_id of our databases
LONGEST_VALUE = 10_000_000   # bytes; limits the memory that a condition can use
FEWEST_DIGITS = 4            # of a run's id, in an argument
# set in a new file; incremental_vacuum can then return the space of pruned trials
FRESH = "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL"
COLUMNS = [word.replace("-", "_") for word in WORDS]
PAIRS = "".join(f"{name}_i REAL NOT NULL, {name}_e REAL NOT NULL, " for name in
                ("work", "idleness", "overhead", "lock_wait", "lock_wait_here", "core_idleness", "shared_idleness", "no_core", "blocked", "mpi_wait",
                 "rank_idleness")) + "samples_i INTEGER NOT NULL, samples_e INTEGER NOT NULL, "

# The steps that bring a database of version i to version i + 1 (PRAGMA user_version). A released step never changes; what is new becomes another
# step.
SCHEMA = [
    "CREATE TABLE application(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE experiment(id INTEGER PRIMARY KEY, application INTEGER NOT NULL REFERENCES application(id), name TEXT NOT NULL,"
    " UNIQUE(application, name));"
    "CREATE TABLE trial(id INTEGER PRIMARY KEY AUTOINCREMENT, experiment INTEGER NOT NULL REFERENCES experiment(id),"
    " run TEXT NOT NULL UNIQUE, state TEXT NOT NULL, source TEXT, added TEXT NOT NULL, started TEXT, ended TEXT NOT NULL,"
    " program TEXT, command TEXT, host TEXT, cpu_model TEXT, cores INTEGER, binding TEXT, threads INTEGER, ranks INTEGER, nodes INTEGER,"
    " rate INTEGER, clock TEXT, environment TEXT, unit TEXT NOT NULL, runtime TEXT, blame TEXT,"
    " wall_s REAL, work REAL, idleness REAL, overhead REAL, lock_wait REAL, lock_wait_here REAL, core_idleness REAL, shared_idleness REAL,"
    " no_core REAL, blocked REAL, mpi_wait REAL, rank_idleness REAL, samples INTEGER);"
    "CREATE INDEX trial_experiment ON trial(experiment);"
    "CREATE TABLE metadata(trial INTEGER NOT NULL REFERENCES trial(id), kind TEXT NOT NULL, name TEXT NOT NULL, value NOT NULL,"
    " PRIMARY KEY(trial, kind, name, value)) WITHOUT ROWID;"
    "CREATE INDEX metadata_name ON metadata(name, trial, kind, value);"
    "CREATE TABLE location(trial INTEGER NOT NULL REFERENCES trial(id), number INTEGER NOT NULL, kind TEXT NOT NULL, rank INTEGER,"
    " thread INTEGER, host TEXT, pid INTEGER, PRIMARY KEY(trial, number)) WITHOUT ROWID;"
    "CREATE TABLE context(id INTEGER PRIMARY KEY, identity INTEGER NOT NULL UNIQUE, path INTEGER NOT NULL, parent INTEGER REFERENCES context(id),"
    " depth INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, module TEXT, file TEXT, line INTEGER, call_line INTEGER);"
    "CREATE INDEX context_parent ON context(parent);"
    "CREATE INDEX context_name ON context(name);"
    "CREATE INDEX context_path ON context(path);"
    "CREATE TABLE metric(trial INTEGER NOT NULL REFERENCES trial(id), context INTEGER NOT NULL REFERENCES context(id), " + PAIRS +
    "PRIMARY KEY(trial, context)) WITHOUT ROWID;"
    "CREATE TABLE location_metric(trial INTEGER NOT NULL, location INTEGER NOT NULL, context INTEGER NOT NULL REFERENCES context(id), " + PAIRS +
    "PRIMARY KEY(trial, location, context), FOREIGN KEY(trial, location) REFERENCES location(trial, number)) WITHOUT ROWID;"
    "CREATE VIEW run AS SELECT trial.id AS id, application.name AS application, experiment.name AS experiment, trial.run AS run,"
    " started, ended, program, command, host, cpu_model, cores, binding, threads, ranks, nodes, rate, clock, environment, unit, runtime, blame,"
    " wall_s, work, idleness, overhead, lock_wait, lock_wait_here, core_idleness, shared_idleness, no_core, blocked, mpi_wait, rank_idleness,"
    " samples, source, added FROM trial JOIN experiment ON experiment.id = trial.experiment"
    " JOIN application ON application.id = experiment.application;",
]

# The beginnings of SQLite's messages, and what they mean for the user. Python before 3.11 does not provide the error code.
MEANINGS = (
    ("database is locked", "another program has been writing to it for more than {wait} s; nothing was changed. Try again, or use a longer --wait"),
    ("database table is locked", "another program has been writing to it for more than {wait} s; nothing was changed. Try again, or use a longer --wait"),
    ("database disk image is malformed", "is damaged ({message}); nothing was changed. Use a backup, or sqlite3 FILE .recover"),
    ("malformed", "is damaged ({message}); nothing was changed. Use a backup, or sqlite3 FILE .recover"),
    ("file is not a database", "is not a database, or is damaged; expected a file made by blame db add"),
    ("database or disk is full", "there is no room left on the disk; nothing was changed"),
    ("disk I/O error", "cannot be read or written ({message}); nothing was changed"),
    ("attempt to write a readonly database", "this file or its directory cannot be written to; nothing was changed"),
    ("unable to open database file", "cannot be opened; expected a database made by blame db add, as --db or BLAME_DB"),
)
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
CONDITION = ("expected a condition in SQL on the columns of blame db list --format csv and names of metadata (blame db show), as \"threads = 8 and host like "
             "'node%'\"; it cannot write")
MISTAKES = re.compile(r"no such|near |not authorized|prohibited|incomplete input|misuse|syntax|wrong number|ambiguous|unrecognized|one statement|too big|too long|"
                      r"do not have the same number|row value|aggregate|ORDER BY|parser stack|unable to use function|sub-select|too many|Cannot")


def meaning(message, wait_s):
    text = next((text for begin, text in MEANINGS if message.startswith(begin)), message)
    return text.format(wait=wait_s, message=message) if text is not message else message


def opened(command, path, use="read", wait_s=WAIT_S):
    """Returns the database with this path: a file, or a PostgreSQL server's database."""
    if not on_server(path):
        return Database(command, path, use, wait_s)
    from .team import TeamDatabase
    return TeamDatabase(command, path, use, wait_s)


class Database:
    """`use` is "read" or "change" for an existing file, or "write" for one that is created if it does not exist. "write" and "change" update the file
    to the current schema. Errors raise Refused in the name of `command`."""

    def __init__(self, command, path, use="read", wait_s=WAIT_S):
        self.command, self.path, self.wait_s, self.guarded, self.titles = command, path, wait_s, False, []
        if use != "write":
            self.check_there()
        uri = "file:" + re.sub("[?#%]", lambda found: f"%{ord(found[0]):02x}", path) + ("?mode=ro" if use == "read" else "")
        self.sql = self.tried(lambda: sqlite3.connect(uri, uri=True, timeout=wait_s, isolation_level=None))
        try:
            self.run(f"PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = {1000 * wait_s}")
            if use == "read":
                self.check_readable()
            else:
                self.migrate()
        except BaseException:
            self.sql.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sql.close()

    def refuse(self, what):
        raise Refused(f"{self.path}: {what}", command=self.command)

    def tried(self, action):
        try:
            return action()
        except sqlite3.Error as error:
            return self.refuse(meaning(str(error), self.wait_s))

    def run(self, statements):
        for statement in statements.split(";"):
            if statement.strip():
                self.tried(lambda text=statement: self.sql.execute(text).fetchall())

    def ask(self, question, values=()):
        return self.tried(lambda: self.sql.execute(question, values).fetchall())

    # ---- stored rows; if they are on a server, ask() and number() see only the tables that describe the trials ----

    def stored(self, question, values=()):
        return self.ask(question, values)

    def insert(self, table, row):
        """Inserts a row, given by column names. Returns its id."""
        return self.tried(lambda: self.sql.execute(insertion(table, row, "?"), list(row.values())).lastrowid)

    def insert_all(self, table, names, rows, twice=""):
        """Inserts several rows. `twice` is the SQL clause for a row that already exists."""
        self.tried(lambda: self.sql.executemany(insertion(table, names, "?") + twice, rows))

    def number(self, question, values=()):
        rows = self.ask(question, values)
        return rows[0][0] if rows else None

    def check_there(self):
        try:
            kind = os.stat(self.path).st_mode
        except OSError as error:
            self.refuse(f"{error.strerror}; blame db add makes a database (--db FILE, BLAME_DB, or blame.db)")
        if not stat.S_ISREG(kind):
            self.refuse("is not a file; expected the name of a database")

    def version(self):
        """Returns the version of an open file that is ours or empty. The owner is checked last, because another process may be creating the database
        in one step."""
        tables, version, whose = (self.number(text) for text in ("SELECT count(*) FROM sqlite_master", "PRAGMA user_version", "PRAGMA application_id"))
        if whose != APPLICATION_ID and (tables or whose or version):
            self.refuse("belongs to another program; expected a database made by blame db add, or a new file name")
        if version > len(SCHEMA):
            self.refuse(f"was made by a newer blame (schema {version}; this one knows {len(SCHEMA)}); use the newer one")
        return version

    def check_readable(self):
        version = self.version()
        if version != len(SCHEMA):
            self.refuse("was made by an older blame; blame db add --db FILE updates it" if version
                        else "is an empty file; blame db add fills it")

    def log_ahead(self):
        """Switches to a write-ahead log, and retries while other processes prevent that, because SQLite itself does not wait here. A file system
        without support for the log keeps the rollback journal."""
        end = time.monotonic() + self.wait_s
        while True:
            try:
                self.sql.execute("PRAGMA journal_mode = WAL").fetchall()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    self.refuse(meaning(str(error), self.wait_s))
            time.sleep(0.02)

    def migrate(self):
        """Updates the schema. Another process may do the same at the same time, so the version is read again under the write lock."""
        version = self.version()
        if version == len(SCHEMA):
            return
        if not version:
            self.run(FRESH)
            self.log_ahead()
        with self.transaction():
            for step in SCHEMA[self.version():]:
                self.run(step)
            self.run(f"PRAGMA user_version = {len(SCHEMA)}; PRAGMA application_id = {APPLICATION_ID}")

    @contextlib.contextmanager
    def transaction(self):
        """Makes a block atomic: either everything in it is done or nothing, and other processes see the state before or after."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        finally:
            if self.sql.in_transaction:
                self.sql.rollback()

    # ---- users choose trials by conditions in SQL, which can read but not write ----

    def allow(self, action, _first, second, *_):
        if not self.guarded or action in READING or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() != "load_extension"):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def trials(self, columns, where, order, values=()):
        """Returns rows of these columns of the view `run`, for the trials for which `where` is true (None: all trials). In `where`, names of metadata
        stand for their values."""
        where = "1" if where is None else identifiers(where)
        return self.guard(f"SELECT {columns} FROM (SELECT run.*{self.metadata_columns(where)} FROM run) AS run WHERE (\n{where}\n) ORDER BY {order}", values)

    def guard(self, question, values=()):
        """Returns the rows of a query that contains the user's condition. Their titles are in self.titles."""
        if hasattr(self.sql, "setlimit"):
            self.sql.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        self.guarded = True
        self.sql.set_authorizer(self.allow)
        try:
            cursor = self.sql.execute(question, values)
            self.titles = [column[0] for column in cursor.description]
            return cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            message = str(error)
            if isinstance(error, sqlite3.OperationalError) and not MISTAKES.search(message):
                return self.refuse(meaning(message, self.wait_s))
            if isinstance(error, sqlite3.DatabaseError) and meaning(message, self.wait_s) is not message:
                return self.refuse(meaning(message, self.wait_s))
            raise Refused(f"--where: {clean(message)}; {CONDITION}", command=self.command) from error
        finally:
            self.guarded = False

    def metadata_columns(self, where):
        """Returns SQL that adds a column for each metadata name that the condition mentions. The user's values come before the program's, and these
        before the environment's. The recursive query jumps from name to name instead of reading all rows."""
        if where == "1":
            return ""
        names = self.ask("WITH RECURSIVE n(name) AS (SELECT min(name) FROM metadata UNION ALL SELECT (SELECT min(name) FROM metadata WHERE name > n.name)"
                         " FROM n WHERE n.name IS NOT NULL) SELECT name FROM n WHERE name IS NOT NULL")
        known = {name.lower() for _, name, *_ in self.ask("PRAGMA table_info(run)")}
        columns = ""
        for name, in names:
            if name.lower() not in known and re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", where, re.IGNORECASE):
                columns += (f", (SELECT value FROM metadata WHERE trial = run.id AND name = {quoted(name)} ORDER BY kind = 'user' DESC,"
                            f" kind = 'parameter' DESC, kind, value LIMIT 1) AS {quoted(name, '`')}")
        return columns

    def find(self, text):
        """Returns the trial that the user means by its number, or by the first digits of its run's id."""
        number = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else 0
        digits = text if re.fullmatch("[0-9a-f]+", text) and len(text) >= FEWEST_DIGITS else None
        found = self.ask("SELECT id FROM trial WHERE id = ?1 UNION SELECT id FROM trial WHERE run >= ?2 AND run < ?2 || 'g' LIMIT 2", (number, digits))
        if len(found) != 1:
            raise Refused(f"{text}: {'may be one of several trials' if found else 'there is no such trial'}; expected a number from blame db list, or the first "
                          f"digits of a run's id, at least {FEWEST_DIGITS}", command=self.command)
        return found[0][0]


def insertion(table, names, mark):
    return f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join(mark for _ in names)})"


def quoted(text, mark="'"):
    return mark + readable(text).replace(mark, 2 * mark) + mark


def identifiers(where):
    """Returns the condition with its "names" in backquotes. SQLite takes an unknown name in double quotes for a text, so a misspelt name would be
    false without an error."""
    def replace(found):
        return quoted(found[0][1:-1].replace('""', '"'), "`") if found[0].startswith('"') else found[0]
    return re.sub(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/""", replace, readable(where), flags=re.DOTALL)
