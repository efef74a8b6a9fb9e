"""What `make accuracy` runs: one case for each construct that can make a thread wait."""

import os

import harness

ACCURACY_PROGRAMS = os.path.join(harness.BUILD, "accuracy")


class Case:
    """A program that states its own blame. `theory`: what may be expected when it has more threads than the machine has
    cores."""

    def __init__(self, name, argv, threads=2, theory="", env=None):
        self.name, self.argv, self.threads, self.theory, self.env = name, argv, threads, theory, env or {}
        # what measures the program where the runtime does not load the tool
        self.launcher = [harness.BLAME, "run", "--"] if os.path.basename(argv[0]) == "threads" else []

    def by_gcc(self):
        """The same case as GCC builds it, on libgomp."""
        if os.path.basename(self.argv[0]) == "threads":
            return self  # has no OpenMP
        path = os.path.join(ACCURACY_PROGRAMS, os.path.basename(self.argv[0]) + "_gcc")
        case = Case(self.name, [path, *self.argv[1:]], self.threads, self.theory, self.env)
        case.launcher = [harness.BLAME, "run", "--"]
        return case

    def oversubscribed(self, cores):
        return self.threads > cores

    def environment(self, cores):
        """With more threads than cores an idle thread that spins would take the core from a working one."""
        return self.env | (harness.PASSIVE if self.oversubscribed(cores) else {})


def shared(name):
    """A program of the behaviour tests."""
    return [os.path.join(harness.BUILD, "tests", name)]


def waits(construct, threads=2):
    return [os.path.join(ACCURACY_PROGRAMS, "waits"), construct, str(threads)]


def threads(pattern):
    return [os.path.join(ACCURACY_PROGRAMS, "threads"), pattern]


ONE_BUSY = "one thread at a time is busy, so nobody waits for a core while it counts: exact"
LATE = ("more busy threads than cores: samples come late, work per context holds, the division of idleness is "
        "approximate")
LATE_WAIT = ("waiters spin and share the cores with the holder: total waiting holds, its division among holders is "
             "approximate")

# What the program states of the waiting is where it is released; by default it is where the section's time goes.
AT_RELEASE = {"BLAME_LOCKS": "release"}

CASES = [
    Case("serial gap", shared("serial_gap")),
    Case("imbalance in a region", shared("imbalance2")),
    Case("for, static", waits("for_static")),
    Case("for, dynamic", waits("for_dynamic")),
    Case("sections", waits("sections")),
    Case("single", waits("single")),
    Case("master and barrier", waits("master")),
    Case("barrier", waits("barrier")),
    Case("reduction", waits("reduction")),
    Case("reduction, slow combiner", waits("combiner")),
    Case("critical", shared("critical")),
    Case("lock", shared("lock")),
    Case("nestable lock", shared("nest_lock"), env=AT_RELEASE),
    Case("atomic by a lock", waits("atomic")),
    Case("ordered", shared("ordered")),
    Case("task tail", shared("tasks")),
    Case("taskwait", shared("taskwait")),
    Case("taskgroup", shared("taskgroup")),
    Case("taskloop", waits("taskloop")),
    Case("depend", waits("depend")),
    Case("taskwait, depend", waits("taskwait_depend")),
    Case("doacross", shared("untold_waits")),
    Case("tiny tasks", shared("tiny_tasks")),
    Case("single, 4 threads", waits("single", 4), 4,
         ONE_BUSY + " for `slow`. `fast` runs on all four afterwards: its own idleness is approximate"),
    Case("depend, 4 threads", waits("depend", 4), 4,
         "at most two threads are busy: nobody waits for a core for long, near exact"),
    Case("lock and idleness, 3 threads", shared("integrated3"), 3,
         "the holder works, the waiter spins, the third sleeps: two busy threads, near exact on two cores"),
    Case("lock and idleness, 4 threads", shared("integrated"), 4, LATE_WAIT),
    Case("imbalance, 4 threads", shared("imbalance4"), 4, LATE),
    Case("for, static, 4 threads", waits("for_static", 4), 4, LATE),
    Case("taskloop, 4 threads", waits("taskloop", 4), 4,
         LATE + ". A thread that loses its core between two tasks does not lack work: blame calls that overhead, the "
         "program's clocks call it idle"),
    Case("nested regions, 4 threads", shared("nested"), 4,
         LATE + ". libomp spins in `__kmp_free_team` at the end of an inner region without telling: busy, overhead of "
         "the region; the program clocks it and expects it so", {"OMP_MAX_ACTIVE_LEVELS": "2"}),
]


def section(microseconds):
    return f"{microseconds} us" if microseconds < 1000 else f"{microseconds / 1000:g} ms"


HANDOFF_US = [5, 30, 200, 5000]
HANDOFF_S = 0.4
HANDOFF_CASES = [
    Case(f"handoff, {section(us)}, {threads} threads",
         [os.path.join(ACCURACY_PROGRAMS, "handoff"), str(us), str(threads), str(HANDOFF_S)], threads, LATE_WAIT)
    for threads in (2, 4) for us in HANDOFF_US
]

CASES += HANDOFF_CASES


# Programs without OpenMP: idle are cores.
THREADS_CASES = [
    Case("producer and consumer", threads("producer")),
    Case("pool, slow producer", threads("pool"), 2),
    Case("lock convoy", threads("convoy"), 2),
    Case("writer behind readers", threads("rwlock"), 2),
    Case("serial phase before a pool", threads("serial")),
    Case("pipeline, one slow stage", threads("pipeline"), 3, LATE),
]
CASES += THREADS_CASES
