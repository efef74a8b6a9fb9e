"""Interpreters that load OpenMP as they go, through `blame run`: Debian's Python with numpy on OpenBLAS and scikit-learn, and R
with data.table. One profile for each process that computes, and the same results."""

import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "behaviour"))

import contract_checks  # noqa: E402  (found through the path set above)
from harness import BlameTest  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's: another one in PATH does not see its packages
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


def has(*command):
    return shutil.which(command[0]) and subprocess.run(command, capture_output=True, check=False).returncode == 0


class Interpreters(BlameTest):
    def profiles(self, script, *arguments, interpreter=PYTHON):
        """One for each process that computes; the results are as without blame."""
        path = os.path.join(self.folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        env = {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0", "BLAME_RATE": "200"}
        run = self.assert_same_with_tool([interpreter, path, *arguments], env, "launcher")
        self.assertEqual(run.tool_lines(), [], run)
        found = [self.load(run, directory, SOUND) for directory in run.directories()
                 if os.path.exists(os.path.join(directory, "run.json"))]
        for profile in found:
            if profile.run["finished"]:
                self.assertGreater(profile.run["regions"], 0, run)
            self.assertEqual(profile.run["other_runtimes"], [], run)
            self.assertGreater(profile.root["work (I)"], 0, run)
        return found

    @unittest.skipUnless(has(PYTHON, "-c", "import numpy"), "NOT TESTED: python3-numpy is not installed")
    def test_numpy(self):
        for script in (NUMPY, THREADS):
            profile, = self.profiles(script)
            self.assertGreater(profile.run["threads_max"], 1)

    @unittest.skipUnless(has(PYTHON, "-c", "import numpy"), "NOT TESTED: python3-numpy is not installed")
    def test_processes_that_compute_have_a_profile_each(self):
        for method in ("spawn", "fork"):
            with self.subTest(method=method):
                self.assertEqual(len(self.profiles(PROCESSES, method)), 2)

    @unittest.skipUnless(has(PYTHON, "-c", "import sklearn"), "NOT TESTED: python3-sklearn is not installed")
    def test_scikit_learn_and_joblib(self):
        profile, = self.profiles(CLUSTERS)
        self.assertGreater(profile.run["threads_max"], 1)
        self.assertIn(len(self.profiles(JOBLIB)), (1, 2))  # the first worker may take all

    @unittest.skipUnless(has("Rscript", "-e", "library(data.table)"), "NOT TESTED: r-cran-data.table is not installed")
    def test_r(self):
        profile, = self.profiles(TABLE, interpreter="Rscript")
        self.assertGreater(profile.run["threads_max"], 1)
