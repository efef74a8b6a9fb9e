"""Unmodified Debian programs, built by GCC and stripped, through `blame run`: the same results, contexts that reach the
executable's own code, and as much work as the kernel says the process did."""

import os
import resource
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "behaviour"))

import generate  # noqa: E402  (found through the path set above)
from blame_profile import START_FRAMES  # noqa: E402
from harness import BlameTest  # noqa: E402

# An idle thread that spins uses processor time which is not work, so idle threads sleep at once. Then the process's
# user time is its work and the runtime's overhead, and the little the tool itself needs.
TWO_THREADS = {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0"}


def children_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime, usage.ru_stime


class DebianProgram:
    """The three checks; a class below says for which program."""

    name = None
    start = "main"  # a row that stands for the executable's main, besides the rows of the executable itself

    # Real programs wait for some 10 us at a time, and others count a thread as busy for the first 5 us of every wait:
    # clustalo's laws of idleness are off by 4 to 6 % (docs/accounting.md).
    idle_law_tolerance = 0.08

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

    def under_blame(self, env=None):
        return self.attached(self.argv, TWO_THREADS | (env or {}), "launcher")

    def test_results_are_the_same_with_and_without_blame(self):
        alone = self.result(self.plain(self.argv, TWO_THREADS))
        run = self.under_blame({"BLAME_RATE": "200"})
        self.assertTrue(self.result(run) == alone, f"the results differ\n{run}")

    def test_contexts_reach_the_executable(self):
        run = self.under_blame()
        profile = self.load(run)
        whole = profile.root["work (I)"]
        reaching = 0.0
        for row in profile.rows:
            outer = [above for above in row.ancestors() if above.kind != "root" and above.name not in START_FRAMES]
            if not outer and row.kind not in ("root", "statement") and row.name not in START_FRAMES:
                own = os.path.basename(row.module) == os.path.basename(os.path.realpath(shutil.which(self.name)))
                reaching += row["work (I)"] if own or row.name == self.start else 0
        self.assertGreater(reaching, 0.95 * whole, "\n".join(" > ".join(row.path()) for row in profile.rows[:40]))
        self.assertEqual(profile.run["threads_max"], 2)
        for thread in profile.threads:
            self.assertGreater(float(thread["work"]), 0.02 * whole, f"no work in thread {thread}\n{run}")

    def test_work_is_the_processor_time_of_the_process(self):
        # On the processor clock, because on a machine with other users the wall clock also runs while a thread waits
        # for a core; without the files at exit, whose making is no work of the program.
        before = children_cpu_s()
        run = self.under_blame({"BLAME_CLOCK": "cpu", "BLAME_CSV": "0"})
        user_s, system_s = (after - then for after, then in zip(children_cpu_s(), before))
        self.assertEqual(run.status, 0, run)
        tree = self.reported_tree(run.directories()[0])
        work = tree.root["work (I)"]
        self.assertGreater(user_s, 0.5, "the program is too short to judge")
        self.assertGreater(work, 0.9 * user_s, f"user {user_s:.3f} s, system {system_s:.3f} s")
        self.assertLess(work, 1.1 * user_s + system_s, f"user {user_s:.3f} s, system {system_s:.3f} s")

    def test_on_the_wall_clock_no_processor_time_is_missing(self):
        before = children_cpu_s()
        run = self.under_blame({"BLAME_CSV": "0"})
        user_s = children_cpu_s()[0] - before[0]
        tree = self.reported_tree(run.directories()[0])
        self.assertGreater(tree.root["work (I)"], 0.9 * user_s, f"user {user_s:.3f} s")


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
