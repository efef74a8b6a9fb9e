"""Unmodified Debian programs, built by GCC and stripped, through `blame run`: the same results, contexts that reach the
executable's own code, and no less work than the kernel says the process did."""

import csv
import io
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "behaviour"))

import generate  # noqa: E402  (found through the path set above)
from blame_profile import START_FRAMES  # noqa: E402
from harness import ASLEEP, BlameTest  # noqa: E402

# An idle thread that spins uses processor time which is not work, so idle threads sleep at once. Then the process's
# user time is its work and the runtime's overhead, and the little the tool itself needs.
TWO_THREADS = {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"}


# The process's user time as the shell knows it, on a line of its own.
TIMED = ["bash", "-c", 'exec 3>&2; TIMEFORMAT="user %U"; time "$@" 2>&3', "bash"]


class DebianProgram:
    """The check; a class below says for which program."""

    name = None
    start = "main"  # a row that stands for the executable's main, besides the rows of the executable itself

    def prepare(self, folder):
        """Creates the input, sets self.output (a file, or None for stdout) and returns the command."""
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        if not shutil.which(self.name):
            self.skipTest(f"{self.name} is not installed")
        self.output = None
        self.argv = self.prepare(self.folder)

    def result(self, run):
        self.assertEqual(run.status, 0, run)
        if self.output is None:
            self.assertTrue(run.stdout)
            return run.stdout
        with open(self.output, "rb") as file:
            data = file.read()
        os.remove(self.output)
        self.assertTrue(data)
        return data

    def assert_contexts_reach_the_executable(self, tree):
        whole, reaching = tree.root["work (I)"] - tree.total("work", "<before OpenMP start>"), 0.0
        for row in tree.rows:
            outer = [above for above in row.ancestors() if above.kind != "root" and above.name not in START_FRAMES]
            if not outer and row.kind not in ("root", "statement") and row.name not in START_FRAMES:
                own = os.path.basename(row.module) == os.path.basename(os.path.realpath(shutil.which(self.name)))
                reaching += row["work (I)"] if own or row.name == self.start else 0
        self.assertGreater(reaching, 0.95 * whole, "\n".join(" > ".join(row.path()) for row in tree.rows[:40]))

    def test_it_is_measured_and_does_not_notice(self):
        alone = self.result(self.plain(self.argv, TWO_THREADS | ASLEEP))
        # Without the files at exit, whose making is no work of the program.
        run = self.attached([*TIMED, *self.argv], TWO_THREADS | {"BLAME_CSV": "0"}, "launcher", ["--omp-only"])  # not the shell
        self.assertTrue(self.result(run) == alone, f"the results differ\n{run}")
        directory, = run.directories()
        tree = self.reported_tree(directory, "--error")
        self.assert_contexts_reach_the_executable(tree)
        user_s = float(re.search(r"(?m)^user ([\d.]+)$", run.stderr).group(1))
        # Beside other programs a thread has its core now and then: chance has much to say (four deviations). The runtime's waits for
        # locks take a core, too.
        measured_s = sum(tree.root[f"{metric} (I)"] + 2 * tree.root[f"{metric} (I) ±"] for metric in ("work", "overhead", "lock wait here"))
        self.assertGreater(measured_s, 0.9 * user_s, run)
        threads = list(csv.DictReader(io.StringIO(self.report(directory, "--view", "threads", "--format", "csv").stdout)))
        self.assertEqual(len(threads), 2)
        for thread in threads:
            self.assertGreater(float(thread["work"]), 0, f"no work in thread {thread}\n{run}")


class GraphicsMagick(DebianProgram, BlameTest):
    name = "gm"
    start = "GMCommand"  # of libGraphicsMagick; main does nothing but jump there, so it is on no stack

    def prepare(self, folder):
        self.output = os.path.join(folder, "out.ppm")
        source = generate.image(os.path.join(folder, "in.ppm"))
        return [shutil.which("gm"), "convert", source, "-median", "3", self.output]


class FastTree(DebianProgram, BlameTest):
    name = "fasttreeMP"

    def prepare(self, folder):
        return [shutil.which("fasttreeMP"), "-nt", "-gtr", "-quiet", generate.nucleotides(folder)]


class ClustalOmega(DebianProgram, BlameTest):
    name = "clustalo"

    def prepare(self, folder):
        self.output = os.path.join(folder, "out.fa")
        return [shutil.which("clustalo"), "-i", generate.proteins(folder), "--threads=2", "-o", self.output]
