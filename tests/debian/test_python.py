"""Interpreters that load OpenMP as they go, through `blame run`: Debian's Python with numpy on OpenBLAS and scikit-learn, and R
with data.table. One profile for each process that computes, and the same results."""

import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "behaviour"))

import contract_checks  # noqa: E402  (found through the path set above)
from harness import BLAME, ROOT, BlameTest, clean_environment, execute, program  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's: another one in PATH does not see its packages
RSCRIPT = "/usr/bin/Rscript"
# Which BLAS libblas.so.3 is the machine's administrator decides: OpenBLAS on POSIX threads has no regions.
OPENMP_BLAS = f"/usr/lib/{platform.machine()}-linux-gnu/openblas-openmp"
# Neither how long things took, nor contexts that a process which ends by _exit leaves open: workers of pools do.
SOUND = [check for check in contract_checks.TREE_CHECKS if check is not contract_checks.check_resolved]
SOUND += [contract_checks.check_run, contract_checks.check_threads]

PRODUCT = """
def product(seed):
    a = np.random.default_rng(seed).random((400, 400))
    return float((a @ a @ a).sum())
"""
NUMPY = "import numpy as np\n" + PRODUCT + 'print("%.9e" % sum(map(product, range(6))))\n'
THREADS = ("import numpy as np\nfrom concurrent.futures import ThreadPoolExecutor\n" + PRODUCT +
           'with ThreadPoolExecutor(3) as pool:\n    print("%.9e" % sum(pool.map(product, range(9))))\n')
# Each of the two waits for the other: none can do the other's work.
PROCESSES = ("import sys\nimport multiprocessing\nimport numpy as np\n" + PRODUCT + """
def begin(shared):
    global both
    both = shared

def products(seed):
    both.wait()
    return sum(map(product, range(seed, seed + 4)))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2, begin, (context.Barrier(2),)) as pool:
        print("%.9e" % sum(pool.map(products, (0, 4), chunksize=1)))
""")
JOBLIB = ("import numpy as np\nfrom joblib import Parallel, delayed, parallel_backend\n" + PRODUCT + """
if __name__ == "__main__":
    with parallel_backend("loky", inner_max_num_threads=2):
        print("%.9e" % sum(Parallel(n_jobs=2)(delayed(product)(i) for i in range(8))))
""")
CLUSTERS = """
import numpy as np
from sklearn.cluster import KMeans
points = np.random.default_rng(0).random((10000, 8))
print("%.6f" % KMeans(10, n_init=1, random_state=0).fit(points).inertia_)
"""
TABLE = """
library(data.table)
setDTthreads(2)
set.seed(1)
table <- data.table(a = sample(1000, 2e6, TRUE), b = runif(2e6))
sums <- table[, .(s = sum(b)), by = a][order(a)]
cat(sprintf("%.4f\\n", sum(sums$s * sums$a)))
"""

# Each `# in NAME` is a line in which NAME calls the team.
FRAMES = """
import ctypes, sys, threading, time
team = ctypes.CDLL(sys.argv[1]).sum_of_team
team()  # OpenMP begins

def direct():
    team()  # in direct

class Solver:
    def step(self):
        team()  # in Solver.step

    @property
    def norm(self):
        return team()  # in Solver.norm

def steps(n):
    for i in range(n):
        yield team()  # in steps

def descend(depth):
    if depth:
        return descend(depth - 1)
    bottom()

def bottom():
    team()  # in bottom

def fails(depth):
    if depth:
        fails(depth - 1)
    raise KeyError

def caught():
    try:
        fails(3)
    except KeyError:
        team()  # in caught

def key(item):
    team()  # in key
    return item

def gr\u00f6\u00dfe():
    team()  # in gr\u00f6\u00dfe

def wrapped(call):
    def inner(*rest):
        return call(*rest)
    return inner

@wrapped
def decorated():
    team()  # in decorated

def serial(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))

class Made:
    def __init__(self, calls):
        if calls:
            team()  # in Made.__init__

def makes():
    for i in range(99):  # often enough for the interpreter to enter the function by a frame of its own
        Made(i == 98)

def by_thread():
    team()  # in by_thread

direct()
Solver().step()
Solver().norm
sum(steps(2))
descend(30)
caught()
sorted([1, 2], key=key)
gr\u00f6\u00dfe()
decorated()
makes()
for made in range(4):  # code objects that come and go at one address
    exec(compile("\\n" * made + f"def made{made}():\\n  team()\\nmade{made}()", f"<made {made}>", "exec"))
serial(0.2)
threads = [threading.Thread(target=by_thread) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
# Who has the interpreter's lock: in the team one keeps it until it is done, the threads take turns.
LOCKED = """
import ctypes, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
library.sum_of_team()

def hold(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))

@ctypes.CFUNCTYPE(None, ctypes.c_int)
def of_team(number):
    hold(0.3)

def turns():
    library.sum_of_team()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        sum(range(100))

interval = sys.getswitchinterval()
sys.setswitchinterval(60)
library.call_by_team(of_team)
sys.setswitchinterval(interval)
threads = [threading.Thread(target=turns) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
CALLERS = {  # who is around the team's function, from its caller outward
    "direct": ["<module>"], "Solver.step": ["<module>"], "Solver.norm": ["<module>"], "steps": ["<module>"],
    "bottom": ["descend"] * 31 + ["<module>"], "caught": ["<module>"], "key": ["<module>"],
    "gr\u00f6\u00dfe": ["<module>"], "decorated": ["wrapped.<locals>.inner", "<module>"],
    "Made.__init__": ["makes", "<module>"], "by_thread": ["Thread.run", "Thread._bootstrap_inner", "Thread._bootstrap"]}


def has(*command):
    return shutil.which(command[0]) and subprocess.run(command, env=clean_environment(), capture_output=True, check=False).returncode == 0


def needs(*modules):
    """Packages of Debian's Python, and the BLAS that they compute with."""
    if not os.path.exists(os.path.join(OPENMP_BLAS, "libblas.so.3")):
        return unittest.skip("NOT TESTED: libopenblas0-openmp is not installed")
    return unittest.skipUnless(has(PYTHON, "-c", f"import {', '.join(modules)}"), f"NOT TESTED: python3-{modules[0]} is not installed")


class Interpreters(BlameTest):
    def profiles(self, script, *arguments, interpreter=PYTHON):
        """One for each process that had a team; the results are as without blame."""
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        env = {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0", "BLAME_RATE": "200", "LD_LIBRARY_PATH": OPENMP_BLAS}
        run = self.assert_same_with_tool([interpreter, path, *arguments], env, "launcher")
        self.assertEqual(run.tool_lines(), [], run)
        found = [self.load(run, directory, SOUND) for directory in run.directories()
                 if os.path.exists(os.path.join(directory, "run.json"))]
        found = [profile for profile in found if any(thread["kind"] == "worker" for thread in profile.threads)]
        for profile in found:
            self.assertEqual(profile.run["other_runtimes"], [], run)
            self.assertGreater(profile.root["work (I)"], 0, run)
        return found

    @needs("numpy")
    def test_numpy(self):
        for script in (NUMPY, THREADS):
            profile, = self.profiles(script)
            self.assertGreater(profile.run["threads_max"], 1)

    @needs("numpy")
    def test_processes_that_compute_have_a_profile_each(self):
        for method in ("spawn", "fork"):
            with self.subTest(method=method):
                self.assertEqual(len(self.profiles(PROCESSES, method)), 2)

    @needs("sklearn", "joblib")
    def test_scikit_learn_and_joblib(self):
        profile, = self.profiles(CLUSTERS)
        self.assertGreater(profile.run["threads_max"], 1)
        self.assertIn(len(self.profiles(JOBLIB)), (1, 2))  # the first worker may take all

    @unittest.skipUnless(has(RSCRIPT, "-e", "library(data.table)"), "NOT TESTED: r-cran-data.table is not installed")
    def test_r(self):
        profile, = self.profiles(TABLE, interpreter=RSCRIPT)
        self.assertGreater(profile.run["threads_max"], 1)


def minor(interpreter):
    """The minor version of a Python 3, 0 if it is none."""
    said = subprocess.run([interpreter, "-c", "import sys; print(sys.version_info[1])"], env=clean_environment(), capture_output=True, check=False)
    return int(said.stdout) if said.returncode == 0 else 0


FRAMES_PYTHON = os.environ.get("BLAME_TEST_PYTHON", PYTHON)
MINOR = minor(FRAMES_PYTHON)
OLDEST, NEWEST = 9, 15
QUALIFIED = 11  # the first minor version in which a code object knows its qualified name
# Debian's, and pyenv's: one of each minor version.
OTHERS = {minor(path): path for path in sorted(glob.glob("/usr/bin/python3.?*") + glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
          if not path.endswith("-config")}


def known(name, of_minor):
    """How the interpreter's code objects name a function."""
    return name if of_minor >= QUALIFIED else name.split(".")[-1]


@unittest.skipUnless(OLDEST <= MINOR <= NEWEST, f"NOT TESTED: {FRAMES_PYTHON} is no Python 3.9 to 3.15")
class Frames(BlameTest):
    """A script's own functions and lines are in the contexts. BLAME_TEST_PYTHON names another interpreter."""
    together = True

    def run_once(self, script=FRAMES, options=(), interpreter=FRAMES_PYTHON):
        def make(folder):
            path = os.path.join(folder, "script.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            env = {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0", "PYTHONDONTWRITEBYTECODE": "1"}
            run = self.attached([interpreter, path, program("loads_later_clang.so")], env, "launcher", options, folder=folder)
            self.assertEqual((run.status, run.stdout), (0, ""), run)
            self.assert_only_tool_lines(run)
            return run

        run = self.once(("python frames", script, interpreter), make)
        return self.load(run, checks=SOUND)

    @staticmethod
    def script_functions(row):
        """The Python functions around a row, from it outward."""
        return [above for above in row.ancestors() if above.module.endswith(".py") or above.module.startswith("<made")]

    def teams(self, profile):
        rows = [row for row in profile.named("sum_of_team") if row.clocked() > 0]
        self.assertGreater(len(rows), len(CALLERS))
        return rows

    def call_of(self, team):
        """The script's function around it, and that one's row in which it is."""
        caller = self.script_functions(team)[0]
        return caller, next(row for row in [team, *team.ancestors()] if row.parent is caller)

    def check_callers(self, profile, of_minor):
        found = {}
        for row in self.teams(profile):
            around = [above.name for above in self.script_functions(row)]
            found.setdefault(around[0], around[1:])
        for name, callers in CALLERS.items():
            self.assertEqual(found.get(known(name, of_minor)), [known(caller, of_minor) for caller in callers], name)

    def check_lines(self, profile, of_minor):
        lines = {known(match[1], of_minor): number for number, line in enumerate(FRAMES.splitlines(), 1)
                 if (match := re.search(r"# in (\S+)$", line))}
        checked, called = set(), {known(name, of_minor) for name in CALLERS}
        for team in self.teams(profile):
            caller, call = self.call_of(team)
            if caller.name in called:
                self.assertEqual(call.call_line, lines[caller.name], call.path())
                checked.add(caller.name)
        self.assertEqual(checked, called)
        first = {row.name: row.line for row in profile.rows if row.name in called and row.file.endswith("script.py")}
        for name, line in first.items():
            text = FRAMES.splitlines()[line - 1]
            self.assertTrue(f"def {name.split('.')[-1]}(" in text or text.strip() in ("@property", "@wrapped"), (name, text))

    def test_whoever_calls_is_around_the_team(self):
        self.check_callers(self.run_once(), MINOR)

    def test_each_call_is_in_its_line(self):
        self.check_lines(self.run_once(), MINOR)

    def test_other_versions(self):
        """The oldest and the newest one that are here; the unit tests have the structures of all of them. BLAME_TEST_PYTHON names one for all tests."""
        others = sorted(set(OTHERS) & set(range(OLDEST, NEWEST + 1)) - {MINOR})
        if not others:
            self.skipTest("NOT TESTED: there is one version of Python")
        for of_minor in {others[0], others[-1]}:
            with self.subTest(interpreter=OTHERS[of_minor]):
                profile = self.run_once(interpreter=OTHERS[of_minor])
                self.assertEqual(profile.run["python"]["why_not"], None)
                self.check_callers(profile, of_minor)
                self.check_lines(profile, of_minor)

    @unittest.skipUnless(shutil.which("cc"), "NOT TESTED: there is no C compiler")
    def test_the_structures_are_those_of_the_headers(self):
        checked = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/python-layouts.py"), "--check"], capture_output=True, check=False, encoding="utf-8")
        self.assertEqual(checked.returncode, 0, checked)
        if "no headers" in checked.stdout:
            self.skipTest("NOT TESTED: Python's headers are not installed")

    def test_code_that_comes_and_goes_is_told_apart(self):
        profile = self.run_once()
        calls = [self.call_of(team) for team in self.teams(profile)]  # a sample may hit the function elsewhere, too
        for made in range(4):
            row, = profile.named(f"made{made}")
            self.assertEqual((row.file, row.line), (f"<made {made}>", made + 1))
            self.assertEqual({call.call_line for caller, call in calls if caller is row}, {made + 2})

    def test_who_works_alone_is_blamed_for_the_idle(self):
        profile = self.run_once()
        row, = profile.named("serial")
        self.assertEqual([above.name for above in self.script_functions(row)], ["<module>"])
        self.assertGreater(row.clocked(), 0)
        self.assertGreater(row["idleness (I)"], 0)
        module, = (row for row in profile.named("<module>") if row.module == "script.py")
        self.assertGreater(module["idleness (I)"], 0.9 * row["idleness (I)"])

    def test_the_interpreter_itself_is_left_out(self):
        """Debian's is stripped: it has no names for most of its functions. A sample may hit it where a frame is being made: that is little of what
        serial() does by its own CPU time, which none of it is. At its end the interpreter works for itself."""
        profile = self.run_once()
        own = sum(row["work (E)"] for row in profile.rows if row.kind != "statement" and "Py_FinalizeEx" not in row.path()
                  and any(above.module.startswith("python3") for above in [row, *row.ancestors()]))
        self.assertLess(own, 0.1 * profile.total("work", "serial"))
        self.assertEqual(profile.run["python"]["why_not"], None)
        self.assertEqual(profile.run["python"]["version"].split(".")[:2], ["3", str(MINOR)])
        self.assertFalse([module for module in profile.run["modules"] if module["path"].endswith("script.py")])

    @staticmethod
    def lines_of(name):
        """The lines of a function of LOCKED's."""
        lines = LOCKED.splitlines()
        first = next(number for number, line in enumerate(lines, 1) if line.startswith(f"def {name}("))
        return range(first, lines.index("", first) + 1)

    def test_who_waits_for_the_interpreters_lock_and_for_whom(self):
        profile = self.run_once(LOCKED, ("--trace",))
        waits = profile.named("<waiting for the interpreter's lock>")
        self.assertGreater(sum(row["blocked (I)"] for row in waits), 0)
        self.assertEqual(sum(row["work (I)"] + row["overhead (I)"] + row["lock wait (I)"] for row in waits), 0)
        held = {}
        for row in waits:
            for child in row.children:
                self.assertGreater(child["blocked (I)"], 0, child.path())
                held.setdefault(child.name, []).append(child)
        for name in ("hold", "turns"):
            for row in held[f"<held by {name}>"]:
                self.assertEqual((row.file.endswith("script.py"), row.line), (True, self.lines_of(name)[0]))
                self.assertLessEqual({line.line for line in row.children}, set(self.lines_of(name)))
        of_team = [row for row in held["<held by hold>"] if any("call_by_team" in above.name for above in row.ancestors())]
        self.assertTrue(of_team)
        for row in held["<held by turns>"]:
            if row.parent.parent.name == "turns":  # not where its call of the team's returns
                self.assertIn(row.parent.call_line, self.lines_of("turns"))
                break
        else:
            self.fail("nobody waits in turns")
        # Who has slept and is sampled as it comes out of the call is not in it any more.
        beside_s = sum(row["blocked (I)"] for name in ("pthread_cond_timedwait", "pthread_cond_wait") for row in profile.named(name))
        self.assertLess(beside_s, sum(row["blocked (I)"] for row in waits))
        text = self.report(profile.directory, "--view", "bottom-up").stdout
        self.assertIn("<held by hold>  script.py", text)
        stacks = execute([BLAME, "export", profile.directory, "--format", "stacks"], clean_environment(), self.new_folder())
        self.assertRegex(stacks.stdout, r"\tblocked\t<held by hold>:[^;]*script\.py:\d+:0x[0-9a-f]+;<waiting for the interpreter's lock>:")

    def test_names_outlive_the_script(self):
        profile = self.run_once()
        tree = self.reported_tree(profile.directory)
        self.assertTrue(tree.named(known("Solver.step", MINOR)))

    def test_another_python_is_said_to_be_one(self):
        run, profile = self.profile_of("other_python", env={"BLAME_SUMMARY": None}, own_stderr=None)
        self.assertEqual(profile.run["python"]["version"], "3.8.1")
        self.assertIn("3.9 to 3.15", profile.run["python"]["why_not"])
        self.assertTrue(profile.named("_PyEval_EvalFrameDefault"))
        self.assertIn("note: Python 3.8.1: the contexts show the interpreter's functions", run.stderr)
