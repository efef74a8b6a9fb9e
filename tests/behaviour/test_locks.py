"""Locks by name: what locks.csv and the view of locks say of every sort of lock, as the programs clocked it themselves."""

import csv
import io
import re
import signal

from harness import BLAME, PASSIVE, BlameTest, program

COLUMNS = ["lock", "kind", "symbol", "wait", "acquisitions_contended", "blamed_contexts", "name", "longest_wait",
           "holder", "holder_wait", "holder_id", "waiter", "waiter_wait", "waiter_id", "initialiser", "initialisers"]
BUILDS = (("", "library"), ("_gcc", "launcher"))


ACQUISITIONS = 4  # of each lock in lock_names.c: in two rounds, by holder and waiter
SEEN_S = 0.01  # a wait of so many periods has a sample, as late as it may come


def functions_of(context):
    """The functions of a context, innermost last: "main > solve > dot a.c:9"."""
    return [part.split()[0] for part in context.split(" > ")] if context else [""]


class Expected:
    """A line of lock_names.c."""

    def __init__(self, line):
        _, self.kind, self.name, wait, longest, self.holder, self.waiter, initialisers = line.split("\t")
        self.wait_s, self.longest_s, self.initialisers = float(wait), float(longest), int(initialisers)

    def complaints(self, lock):
        """What is wrong with the row of locks.csv that has the name."""
        if lock["kind"] != self.kind:
            yield f"kind {lock['kind']}, not {self.kind}"
        # A part of the wait may be the holder's missing core, which is no lock wait.
        if not (0 < float(lock["wait"]) and 0 < float(lock["longest_wait"]) <= self.longest_s + SEEN_S):
            yield f"waited {lock['wait']}, longest {lock['longest_wait']}, clocked {self.wait_s}, longest {self.longest_s}"
        waits = int(self.longest_s > SEEN_S) + int(self.wait_s - self.longest_s > SEEN_S)
        # None is counted twice. One of the holder's may count: a late sample in it finds the other's release just gone by.
        if not waits <= int(lock["acquisitions_contended"]) <= ACQUISITIONS:
            yield f"{lock['acquisitions_contended']} contended acquisitions of {waits} to {ACQUISITIONS}"
        # Blame lands where the holder was inside its section, perhaps in a function that it called.
        if self.holder not in functions_of(lock["holder"]) or functions_of(lock["waiter"])[-1] != self.waiter:
            yield f"held by {lock['holder']}, waited for by {lock['waiter']}; not {self.holder}, {self.waiter}"
        # Of an initialisation after which nobody waited long enough to be seen, nothing need be known.
        if not min(waits, self.initialisers) <= int(lock["initialisers"]) <= self.initialisers:
            yield f"{lock['initialisers']} initialisers, not {self.initialisers}, with {waits} waits of more than {SEEN_S} s"


class Locks(BlameTest):
    pace = 1

    def view(self, directory, columns):
        run = self.plain([BLAME, "report", directory, "--view", "locks"], {"COLUMNS": str(columns)})
        self.assertEqual(run.status, 0, run)
        return run.stdout

    def assert_as_clocked(self, run, profile):
        """Every lock that the program states has a row of its own, and no other lock has one."""
        left = list(profile.locks)
        wrong = []
        for line in run.stdout.splitlines():
            expected = Expected(line)
            found = [lock for lock in left if lock["name"] == expected.name]
            if not found:
                wrong.append(f"{expected.name}: not in locks.csv")
                continue
            lock = min(found, key=lambda row: (len(list(expected.complaints(row))),
                                               abs(float(row["wait"]) - expected.wait_s)))
            left.remove(lock)
            wrong.extend(f"{expected.name}: {complaint}" for complaint in expected.complaints(lock))
        wrong.extend(f"nobody's lock: {lock['name']}" for lock in left)
        self.assertEqual(wrong, [], f"{run}\n" + "\n".join(map(str, profile.locks)))

    def assert_ids_are_rows(self, profile):
        """holder_id and waiter_id are rows of profile.csv, and have what locks.csv says."""
        for lock in profile.locks:
            for role in ("holder", "waiter"):
                row = profile.rows[int(lock[f"{role}_id"])]
                place = row.parent if row.kind == "statement" else row
                self.assertEqual(place.name, functions_of(lock[role])[-1], lock)

    def test_every_sort_of_lock_has_its_name_and_its_waits(self):
        for suffix, how in BUILDS:
            with self.subTest(compiler=suffix or "clang"):
                run, profile = self.profile_of("lock_names" + suffix, env=PASSIVE, how=how)
                self.assertEqual(list(profile.locks[0]), COLUMNS)
                self.assertEqual(len(run.stdout.splitlines()), 12, run)
                self.assert_as_clocked(run, profile)
                self.assert_ids_are_rows(profile)

    def test_locks_that_differ_in_their_address_alone_have_rows_of_their_own(self):
        run, profile = self.profile_of("lock_names", env=PASSIVE)
        made = [lock for lock in profile.locks if lock["initialiser"].startswith("make_lock ")]
        name, = {lock["name"] for lock in made}
        stated = [line for line in run.stdout.splitlines() if Expected(line).name == name]
        self.assertGreater(len(stated), 1)  # two places, and one made anew later, unless it was waited for longer then
        self.assertEqual(len({lock["lock"] for lock in made}), len(stated))

    def test_at_the_release_the_task_that_releases_is_the_holder(self):
        _, profile = self.profile_of("lock_names", env={"BLAME_LOCKS": "release"} | PASSIVE)
        holders = {lock["name"]: functions_of(lock["holder"])[-1] for lock in profile.locks}
        self.assertEqual(holders["released_elsewhere"], "releaser")
        self.assertEqual(holders["global_lock"], "lock_holder")

    def test_names_survive_a_kill(self):
        for suffix, how in BUILDS:
            with self.subTest(compiler=suffix or "clang"):
                run = self.attached([program("lock_names" + suffix), "sigkill"], PASSIVE, how)
                self.assertEqual(run.status, 128 + signal.SIGKILL, run)
                text = self.report(run.directories()[0], "--view", "locks", "--format", "csv").stdout
                names = [lock["name"] for lock in csv.DictReader(io.StringIO(text))]
                expected = [Expected(line) for line in run.stdout.splitlines()]
                self.assertEqual(len(expected), 12, run)
                self.assertEqual(sorted(names), sorted(lock.name for lock in expected))

    def test_10000_contended_locks_are_listed_and_none_is_lost(self):
        run, profile = self.profile_of("lock_names_many", env={"BLAME_RATE": "500"} | PASSIVE)
        _, count, name, _ = run.stdout.strip().split("\t")
        self.assertGreater(len(profile.locks), 2000)  # of 10,000: more than the first table has room for
        self.assertLessEqual(len(profile.locks), int(count))
        self.assertEqual({lock["name"] for lock in profile.locks}, {name})
        self.assertEqual(profile.named("<lock table full>"), [])
        waited_s = sum(float(lock["wait"]) for lock in profile.locks)
        self.assertAlmostEqual(waited_s, profile.root["lock wait (I)"], delta=0.001 + 1e-6 * len(profile.locks))

    def test_locks_of_ordered_are_called_by_their_line(self):
        # GCC's line table has the call that waits on the line of the inlined function before it, in analytic.h.
        for suffix, how, file in (("", "library", "ordered.c"), ("_gcc", "launcher", "(ordered.c|analytic.h)")):
            with self.subTest(compiler=suffix or "clang"):
                _, profile = self.profile_of("ordered" + suffix, how=how)
                self.assertTrue(profile.locks)
                for lock in profile.locks:
                    self.assertRegex(lock["name"], rf"^ordered {file}:\d+$")

    def test_the_view_fits_the_terminal_and_is_sorted_by_wait(self):
        run, _ = self.profile_of("lock_names", env=PASSIVE)
        listed = self.report(run.directories()[0], "--view", "locks", "--format", "csv").stdout.splitlines()[1:]
        for columns in (40, 60, 80, 120):
            with self.subTest(columns=columns):
                text = self.view(run.directories()[0], columns)
                table = text[text.index("longest   waits"):].splitlines()  # above it, the command line and what it says
                self.assertLessEqual(max(map(len, table)), columns, text)
        waits = [float(line.split()[0]) for line in text.splitlines() if re.match(r" +\d+\.\d{3} +\d+\.\d ", line)]
        self.assertEqual(len(waits), len(listed), text)
        self.assertEqual(waits, sorted(waits, reverse=True))
        for word in ("global_lock", "critical(table)", "held", "waited", "lock_holder", "lock_waiter"):
            self.assertIn(word, text)

