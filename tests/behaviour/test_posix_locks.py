"""Locks of POSIX threads, C11 and C++ (libblame-pthreads.so): whoever holds one is blamed for those who wait, and the program
does not notice."""

import os
import re

import expectations
from harness import BUILD, LIBRARY, BlameTest, program
from test_locks import functions_of

LAYER = {"LD_PRELOAD": os.path.join(os.path.dirname(LIBRARY), "libblame-pthreads.so")}
SORTS = {"normal": "mutex", "recursive": "mutex", "errorcheck": "mutex", "adaptive": "mutex", "robust": "mutex", "inherit": "mutex",
         "timed": "mutex", "clock": "mutex", "c11": "mutex", "c11_timed": "mutex", "write": "rwlock", "read": "rwlock",
         "readers": "rwlock", "write_timed": "rwlock", "write_clock": "rwlock", "spin": "spinlock",
         "futex": "futex"}
VARIABLES = {"c11": "c11", "c11_timed": "c11", "spin": "spin", "futex": "word"}
OFF = 0.15  # of the waiting
MUCH = 0.02  # of the threads' time without a core: late samples find the lock with its next owner
MOST_INSTRUCTIONS = 24 if LIBRARY.startswith(BUILD + os.sep + "lib") else 29  # more than bare, of a lock and its release; the archive's compiler takes more

REPORTED = """\
once more
nothing is left
once more
reacquires mutex
sleeps 0 condition
reacquires none
not woken
sleeps 1 semaphore
not woken
a wait
creates
begins 0 mutex
ends
a futex
waits for number to differ from 1
sleeps 4 number
not woken
waits for number to differ from 2
begins 3 number
ends
wakes one at number
wakes one at number
take 3 number
book 3 number 1 2 3
something is left
take 0 mutex, held
book 0 mutex 1 2 3, free
take 0 careful
book 0 careful 1 2 3
take 0 careful
book 0 careful 1 2 3, not released
once more
take 0 again
book 0 again 1 2 3
take 1 rwlock
book 1 rwlock 1 2 3
take 1 rwlock
book 1 rwlock 1 2 3
take 2 spin
book 2 spin 1 2 3
take 0 mutex, held
book 0 mutex 1 2 3, held
reacquires mutex
sleeps 0 condition
reacquires none
not woken
take 0 mutex, held
book 0 mutex 1 2 3, free
wakes condition
wakes condition
sleeps 1 semaphore
not woken
wakes semaphore
signals
0 0 0
1 1 1
threads that nobody asks for
creates
lives
destructor 2
destructor 1
creates
leaves
creates
lives (C11)
result 3
threads that are reported
creates
a thread begins
it executes lives
lives
destructor 2
destructor 1
a thread ends
creates
a thread begins
it executes leaves
leaves
a thread ends
creates
a thread begins
it executes lives_c11
lives (C11)
a thread ends
result 3
"""


def stated(run, metric, context):
    return sum(one.value for one in expectations.read(run.stdout) if (one.metric, one.context) == (metric, context))


class Measured(BlameTest):
    alone = True

    @staticmethod
    def lacks_cores(profile):
        return profile.run["no_core_s"] > MUCH * profile.lifetimes()


class Held(Measured):
    def held_by(self, run, profile, holder, waiter, late_s=0):
        """Where the program says that threads waited, and for whom; how much is said where they had their cores."""
        self.assertGreater(profile.total("lock wait", holder) + late_s, 0)
        self.assertGreater(profile.total("lock wait here", waiter), 0)
        if self.lacks_cores(profile):
            return
        for metric, name in (("lock_wait", holder), ("lock_wait_here", waiter)):
            measured_s, clocked_s = profile.total(metric.replace("_", " "), name), stated(run, metric, name) / self.pace
            measured_s += late_s if metric == "lock_wait" else 0
            self.assertAlmostEqual(measured_s, clocked_s, delta=OFF * clocked_s)

    def test_the_waiting_is_the_long_holders_for_every_sort_of_lock(self):
        for sort, kind in SORTS.items():
            with self.subTest(sort=sort):
                run, profile = self.profile_of("posix_locks", sort, env=LAYER)
                self.assert_expectations(sort, run, profile, 6)
                # A waiter spins in the kernel, where no signal reaches it: its samples find the mutex handed over to it.
                late_s = profile.total("lock wait", "<lock handoff>") if sort == "inherit" else 0
                self.held_by(run, profile, "long_holder", "waiter", late_s)
                lock, = profile.locks
                variable = VARIABLES.get(sort, "rwlock" if kind == "rwlock" else "mutex")
                self.assertEqual((lock["kind"], lock["name"]), (kind, f"{kind} {variable}"))

    def test_a_program_of_gcc_as_well(self):
        for sort in ("normal", "readers"):
            with self.subTest(sort=sort):
                run, profile = self.profile_of("posix_locks_gcc", sort, env=LAYER, how="launcher")
                self.assert_expectations(sort, run, profile, 6)
                self.held_by(run, profile, "long_holder", "waiter")

    def test_who_gives_up_has_waited_for_the_holder(self):
        run, profile = self.profile_of("posix_waits", "gives_up", env=LAYER)
        self.assert_expectations("gives_up", run, profile, 4)
        self.held_by(run, profile, "long_holder", "impatient")

    def test_a_loop_that_tries_works(self):
        run, profile = self.profile_of("posix_waits", "polls", env=LAYER)
        self.assertEqual((profile.locks, profile.root["lock wait (I)"]), ([], 0))
        self.assert_expectations("polls", run, profile, 2)

    def test_after_the_signal_a_condition_wait_waits_for_its_mutex(self):
        run, profile = self.profile_of("posix_waits", "wakes", env=LAYER)
        self.assertGreater(profile.total("lock wait here", "sleeper"), 0.9 * profile.root["lock wait (I)"])
        held_s = stated(run, "work", "signaller") / self.pace
        self.assertGreater(profile.total("lock wait", "signaller"), 0.3 * held_s)
        self.assertLess(profile.total("lock wait", "signaller"), 1.1 * held_s)
        self.assertGreater(profile.total("blocked", "sleeper"), 0)

    def test_what_follows_a_jump_out_of_a_wait_is_work(self):
        run, profile = self.profile_of("posix_waits", "leaves", env=LAYER)
        self.assertEqual(profile.total("lock wait here", "works_after_all"), 0)
        self.assertGreater(profile.clocked("works_after_all"), 0.3 * stated(run, "work", "works_after_all") / self.pace)


class Convoy(Measured):
    pace = 1

    def test_who_waits_for_a_thread_beside_openmp_is_not_blamed_for_that(self):
        run, profile = self.profile_of("std_beside", env=LAYER)
        waited_s, blamed_s = profile.total("lock wait here", "team_holder()"), profile.total("lock wait", "team_holder()")
        self.assertGreater(waited_s, 0.3 * stated(run, "lock_wait_here", "team_holder()"))
        others_s = profile.total("lock wait", "<unreleased lock>") + profile.total("lock wait", "other_holder()")
        self.assertGreater(others_s, (0.2 if self.lacks_cores(profile) else 0.7) * waited_s)
        self.assertLess(blamed_s, (0.8 if self.lacks_cores(profile) else 0.3) * waited_s)

    def test_locks_of_c_plus_plus_have_names_holders_and_findings(self):
        run, profile = self.profile_of("std_mutexes", env=LAYER)
        self.assert_expectations("std_mutexes", run, profile, 8)
        of = {lock["name"]: lock for lock in profile.locks}
        queue = of["mutex queue_lock"]
        exact = stated(run, "lock_wait", "long_section()"), stated(run, "lock_wait", "short_section()")
        measured = profile.total("lock wait", "long_section()"), profile.total("lock wait", "short_section()")
        if not self.lacks_cores(profile):
            self.assertIn("long_section()", functions_of(queue["holder"]))
            self.assertAlmostEqual(measured[0] / sum(measured), exact[0] / sum(exact), delta=OFF)
        inside = [name for name in of if re.fullmatch(r"mutex std_mutexes\.cc:\d+", name)]
        self.assertTrue(inside, of)
        shared, = (lock for lock in profile.locks if "names" in lock["name"])
        self.assertTrue({"rename()", "look_up()"} & set(functions_of(shared["holder"])), shared)
        findings = self.report(run.directories()[0], "--view", "findings").stdout
        self.assertRegex(" ".join(findings.split()),
                         r"s of waiting for mutex queue_lock(, and [0-9.]+ s for owners without a core)? [^%]*(long|short)_section\(\)")
        locks = self.report(run.directories()[0], "--view", "locks").stdout
        self.assertRegex(locks, r"held +[\d.]+  .*(spin_on_clock|section)")


class Unnoticed(BlameTest):
    def test_results_bytes_and_cancellation_are_as_they_are_alone(self):
        argv = [program("posix_errors")]
        alone, run = self.plain(argv), self.attached(argv, LAYER)
        self.assertEqual((run.status, run.stdout), (0, alone.stdout), f"{alone}\n{run}")
        self.assert_only_tool_lines(run)

    def test_a_lock_and_its_release_cost_some_twenty_instructions_more(self):
        def counted(env):
            return {name: int(count) for name, count in map(str.split, self.plain([program("posix_cost")], env).stdout.splitlines())}
        alone, behind = counted({}), counted(LAYER)
        self.assertEqual(list(alone), ["mutex", "rwlock", "spin", "c11", "mutex_of_two", "c11_of_two"])
        for name, count in alone.items():
            self.assertLessEqual(behind[name] - count, MOST_INSTRUCTIONS, (alone, behind))

    def test_the_layer_reports_waits_releases_and_threads_to_any_tool(self):
        run = self.plain([program("posix_tool")], LAYER)
        self.assertEqual(run.stdout, REPORTED, run)
