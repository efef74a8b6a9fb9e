"""Runs programs with and without the tool, and hands their profiles to the tests. Every profile that passes through
here is held against the contract (contract_checks.py)."""

import atexit
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import contract_checks
import expectations
import stuck
from blame_profile import NotAProfile, Profile, Tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
LIBRARY = os.path.abspath(os.environ.get("BLAME_TEST_LIBRARY", os.path.join(BUILD, "lib", "libblame.so")))
LOADER = os.path.join(os.path.dirname(LIBRARY), "libblame-loader.so")
BLAME = os.path.abspath(os.environ.get("BLAME_TEST_COMMAND", os.path.join(BUILD, "bin", "blame")))
RUNNER = shlex.split(os.environ.get("TEST_RUNNER", "")) # an emulator that runs the programs; the reports are made by BLAME here
KEEP = os.environ.get("BLAME_TEST_KEEP")  # a directory: working directories stay there
SHARED = None  # a directory for runs that several tests look at; run.py's, else made where it is needed

TIMEOUT_S = 300  # nothing takes a tenth of it, unless it hangs, or the machine has hardly a core for it
TOOL_LINE = re.compile(r"^blame: \S")
# A thread that looks for tasks in a team that is made smaller at that moment: seen without the tool (docs/call-paths.md).
LIBOMPS_OWN = re.compile(r"Assertion failure at kmp_tasking\.cpp\(\d+\): victim_tid < task_team->tt\.tt_nproc")
LIBOMPS_MOST = 5
# Many threads on few cores: a spinning idle thread takes the core from a working one.
PASSIVE = {"KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"}
# For GCC's runtime, where there is no tool.
ASLEEP = {"OMP_WAIT_POLICY": "passive"}


def program(name):
    path = os.path.join(BUILD, "tests", name)
    if not os.path.exists(path):
        raise AssertionError(f"{path} is missing: make -f tests/programs/programs.mk test-programs BUILD={BUILD}")
    return path


def clean_environment():
    """Ours without anything that steers OpenMP, MPI, BLAS, interpreters or the tool. What users install for themselves is not seen."""
    steering = re.compile(r"^(BLAME|OMP|KMP|GOMP|LD|PMI|PMIX|OMPI|SLURM|OPENBLAS|MKL|R|DEBUGINFOD|GLIBC)_|^PYTHON")
    own = {"BLAME_PYTHON": "/usr/bin/python3", "PYTHONNOUSERSITE": "1", "R_LIBS_USER": "/nonexistent", "R_PROFILE_USER": "/nonexistent", "R_ENVIRON_USER": "/nonexistent"}
    return {name: value for name, value in os.environ.items() if not steering.match(name)} | own


def shared_folder():
    """For what tests make for others. It goes when all are done."""
    global SHARED
    if not SHARED:
        SHARED = tempfile.mkdtemp(prefix="blame-runs-")
        atexit.register(shutil.rmtree, SHARED, ignore_errors=True)
    return SHARED


class Run:
    """A finished process: shell-style status, output, and the working directory."""

    def __init__(self, argv, env, folder, elapsed_s, process, output):
        self.argv, self.env, self.folder, self.elapsed_s, self.pid = argv, env, folder, elapsed_s, process.pid
        self.status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        self.stdout, self.stderr = output

    def tool_lines(self):
        return [line for line in self.stderr.splitlines() if TOOL_LINE.match(line)]

    def other_lines(self):
        return [line for line in self.stderr.splitlines() if not TOOL_LINE.match(line)]

    def directories(self, pattern="profile*"):
        return sorted(glob.glob(os.path.join(self.folder, pattern)))

    def directory_of(self, name):
        """The one profile of that program. Whatever starts it has one, too, if it needs 0.01 s of processor time, as a shell does on a slow machine."""
        def command(directory):
            with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
                return json.load(file)["command"].split()[0]

        found = [directory for directory in self.directories() if os.path.basename(command(directory)) == name]
        assert len(found) == 1, f"expected one profile of {name}, found {found}\n{self}"
        return found[0]

    def __str__(self):
        return (f"{' '.join(self.argv)}: status {self.status}\n"
                f"stdout:\n{self.stdout}\nstderr:\n{self.stderr}")


def began_s(pid):
    """When the process with that number began, to a hundredth, as files have it; never, if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return float("inf")
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")


def remove_registrations():
    """A process that is killed as libomp starts leaves an empty file, of which a later one with its number would die (SIGBUS)."""
    for path in glob.glob("/dev/shm/__KMP_REGISTERED_LIB_*"):
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_mtime + 0.1 < began_s(path.split("_")[5]):
                os.unlink(path)


def execute(argv, env, folder, timeout_s=TIMEOUT_S):
    """A process that hangs is ended, by its own id, with all its children, and fails the test."""
    remove_registrations()
    begin = time.monotonic()
    process = subprocess.Popen(argv, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        output = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        try:
            where = stuck.threads(process.pid)
        except (OSError, IndexError) as error: # it has ended meanwhile
            where = str(error)
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()
        raise AssertionError(f"{' '.join(argv)} did not end within {timeout_s} s\n{output[0]}\n{output[1]}\n{where}") from None
    return Run(argv, env, folder, time.monotonic() - begin, process, output)


class BlameTest(unittest.TestCase):
    needs_tool = True
    pace = 5        # of the programs' clock (analytic.h), and of the samples: as many to a second of theirs
    together = False  # the tests of a class that share what one of them has made run one after the other
    alone = False     # what they ask for does not show where others take the cores: after all others, one by one

    def setUp(self):
        if KEEP:
            os.makedirs(KEEP, exist_ok=True)
            self.folder = tempfile.mkdtemp(prefix=f"{self.id()}-", dir=KEEP)
        else:
            self.folder = tempfile.mkdtemp(prefix="blame-test-")
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runs = 0

    def new_folder(self):
        self.runs += 1
        folder = os.path.join(self.folder, f"run{self.runs}")
        os.mkdir(folder)
        return folder

    def plain(self, argv, env=None, timeout_s=TIMEOUT_S):
        return execute(argv, clean_environment() | (env or {}), self.new_folder(), timeout_s)

    def tool_environment(self, env):
        """Quiet, 1,000 samples a second of the program's, into `profile` of the run's folder, unless the test says otherwise.
        None: unset."""
        merged = clean_environment() | {"BLAME_RATE": str(1000 * self.pace), "BLAME_SUMMARY": "0", "BLAME_OUT": "profile",
                                        "TEST_PACE": str(self.pace)} | (env or {})
        return {name: value for name, value in merged.items() if value is not None}

    def attached(self, argv, env=None, how="library", options=(), timeout_s=TIMEOUT_S, folder=None):
        """Under OMP_TOOL_LIBRARIES (`library`) or under `blame run` (`launcher`)."""
        env = self.tool_environment(env)
        if how == "library":
            env["OMP_TOOL_LIBRARIES"] = LIBRARY
        else:
            argv = [BLAME, "run", *options, "--", *argv]
        run = execute([*RUNNER, *argv], env, folder or self.new_folder(), timeout_s)
        if RUNNER:
            self.finish(run)
        return run

    def finish(self, run):
        """The reports that the program's own finisher cannot make: a process of another machine starts none of its kind."""
        run.stderr = re.sub(r"^blame: no reports were written: .*\n", "", run.stderr, flags=re.MULTILINE)
        for directory in run.directories():
            made = execute([BLAME, "finish", directory], run.env, run.folder)
            self.assertEqual(made.status, 0, made)

    def load(self, run, directory=None, checks=None, elapsed=True):
        """The one profile of a run (or the given one), held against the contract."""
        if directory is None:
            found = run.directories()
            self.assertEqual(len(found), 1, f"expected one profile, found {found}\n{run}")
            directory = found[0]
        try:
            profile = Profile(directory)
            broken = contract_checks.violations(profile, checks)
            if checks is None and elapsed:
                broken += contract_checks.check_elapsed(profile, run.elapsed_s)
        except (NotAProfile, KeyError) as error:
            self.fail(f"{directory}: {type(error).__name__} {error}\n{run}")
        self.assertEqual(sorted(set(broken)), [], f"{directory} violates the contract\n{run}")
        return profile

    def assert_private(self, directory):
        modes = {os.stat(os.path.join(directory, name)).st_mode & 0o777 for name in os.listdir(directory)}
        self.assertEqual((os.stat(directory).st_mode & 0o777, modes), (0o700, {0o600}))

    def assert_only_tool_lines(self, run, own=()):
        """Besides the program's own lines, stderr holds nothing but lines that say they are the tool's."""
        self.assertEqual(run.other_lines(), list(own),
                         f"stderr has lines that are neither the program's nor blame's\n{run}")

    def profile_of(self, name, *arguments, env=None, how="library", status=0, own_stderr=(), options=(), checks=None,
                   number=0):
        """A test program's run under the tool, and its profile; status, stderr and profile must be as they should. One run serves
        all tests that ask for the same (another `number`: another run); who changes what it left takes attached()."""
        asked = (name, arguments, sorted((env or {}).items()), how, options, self.pace, number)
        loaded = []

        def make(folder):
            run = self.attached([program(name), *arguments], env, how, options, folder=folder)
            self.assertEqual(run.status, status, run)
            if own_stderr is not None:
                self.assert_only_tool_lines(run, own_stderr)
            loaded.append(self.load(run, checks=checks))
            return run

        run = self.once(asked, make)
        return run, loaded[0] if loaded else Profile(run.directories()[0])

    def once(self, asked, make):
        """What make(folder) returns, made by the first test that asks for it. Whose run is not as it should be makes it anew."""
        folder = os.path.join(shared_folder(), hashlib.sha1(repr(asked).encode()).hexdigest())
        with open(folder + ".made", "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.seek(0, os.SEEK_END):
                file.seek(0)
                return pickle.load(file)
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
            made = make(folder)
            pickle.dump(made, file)
            return made

    def assert_same_with_tool(self, argv, env=None, how="library", **options):
        """Output and status with the tool as without it, which do not depend on how long our programs work. Returns the run with the
        tool. What libomp ends itself, as it does without the tool, is run again."""
        for _ in range(LIBOMPS_MOST):
            alone = self.plain(argv, {"TEST_PACE": str(10 * self.pace), "TEST_SPIN": "0.1"} | ASLEEP | (env or {}))
            run = self.attached(argv, env, how, **options)
            if not any(LIBOMPS_OWN.search(ended.stderr) for ended in (alone, run)):
                break
        self.assertEqual((run.status, run.stdout), (alone.status, alone.stdout),
                         f"without the tool: {alone}\nwith: {run}")
        self.assert_only_tool_lines(run, alone.stderr.splitlines())
        return run

    def assert_expectations(self, case, run, profile, at_least=1):
        """What the program states of itself is there, and where it should be (expectations.py)."""
        stated = expectations.read(run.stdout)
        self.assertGreaterEqual(len(stated), at_least, f"the program stated too few expectations\n{run}")
        self.assertEqual(list(expectations.unmet(stated, profile, self.pace)), [], case)

    @staticmethod
    def without_cores(findings):
        """What threads wait for does not show where there was no core for them; the findings say that instead."""
        return any(row["rule"] in ("cores-taken", "quota") for row in findings)

    def lock_profile(self):
        """The directory of a profile with some of everything; its command has what must not reach a terminal."""
        run, _ = self.profile_of("lock", "\x1b[31m\x07\u00fc\u202e", env={"BLAME_LOCKS": "release"})
        return run.directories()[0]

    def report(self, *arguments, status=0):
        run = execute([BLAME, "report", *arguments], clean_environment(), self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def reported_tree(self, directory, *options, checks=contract_checks.TREE_CHECKS):
        """What `blame report` reads from the measurement, as rows, checked like a profile.csv."""
        run = self.report(directory, "--format", "csv", *options)
        try:
            tree = Tree(run.stdout, "blame report --format csv")
        except NotAProfile as error:
            self.fail(f"{error}\n{run}")
        self.assertEqual(contract_checks.violations(tree, checks), [], directory)
        return tree
