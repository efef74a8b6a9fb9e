"""Whom ranks wait for, where that is known by construction (tests/programs/mpi_whose.c): what be_late() is blamed for is what the program itself
clocked. The bounds leave room for other load; `make mpi-accuracy` prints how near it is. Between nodes, where sums tell, other load is a rank's
lateness like any other: there only who it is must be right, and that most of it is found."""

import csv
import json
import os
import shutil
import unittest

import mpi
from harness import BLAME, LIBRARY, PASSIVE, BlameTest, execute, program

OFF, MOST, RANKS, ROUNDS = 0.15, 0.5, 4, 10
# A rank that sees no other's shared memory, under a host's name of its own.
ON_ITS_NODE = ["unshare", "-mu", "sh", "-c", 'mount -t tmpfs none /dev/shm && hostname "node$OMPI_COMM_WORLD_RANK" && exec "$0" "$@"']
# Says what the job has left in shared memory.
WHAT_IS_LEFT = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev/shm && "$@"; find /dev/shm -name "blame-*"', "sh"]
# One rank after the other has a program without MPI, and then the one that it is for.
ANOTHER_FIRST = ["sh", "-c", f'sleep 0.${{OMPI_COMM_WORLD_RANK}}; {program("quick")} > quick 2>&1; exec "$@"', "sh"]
LAYER = os.path.join(os.path.dirname(LIBRARY), "libblame-mpi.so")
BY_NETWORK = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]


class Whose(BlameTest):
    pace = 1

    def waited(self, launcher, how):
        """The job's directory, and how long ranks waited for be_late(): in all, and of each rank."""
        if not shutil.which(mpi.LAUNCHERS[launcher][0][0]) or not shutil.which(f"mpicc.{launcher}"):
            self.skipTest(f"{launcher} is not installed")
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "job", "BLAME_RATE": "1000", "OMP_NUM_THREADS": "2"})
        argv, more = mpi.command(launcher, RANKS, BLAME, "run", "--", program(f"mpi_whose_{launcher}"), how, str(ROUNDS))
        run = execute(argv, env | more, self.new_folder())
        self.assertEqual(run.status, 0, run)
        words = run.stdout.split()
        return os.path.join(run.folder, "job"), float(words[1]), [float(word) for word in words[4:]]

    def check(self, how, said, launchers=tuple(mpi.LAUNCHERS)):
        for launcher in launchers:
            with self.subTest(launcher):
                directory, waited_s, for_rank_s = self.waited(launcher, how)
                self.assertAlmostEqual(self.blamed(directory, "be_late") / waited_s, 1, delta=OFF)
                findings = self.report(directory, "--view", "findings", "--format", "csv").stdout
                self.assertRegex(findings, f"late-rank,.*{said}")
                merged = execute([BLAME, "merge", directory], self.tool_environment({}), self.new_folder())
                self.assertEqual(merged.status, 0, merged)
                with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
                    law = json.load(file)["conservation"]["rank_idleness"]
                self.assertTrue(law["ok"], law)
                yield directory, waited_s, for_rank_s

    def blamed(self, directory, name, *options):
        return self.reported_tree(directory, *options).total("rank idleness", name)

    def test_a_late_rank(self):
        for directory, _, _ in self.check("late", "rank 0 makes 3 ranks wait [0-9.]+ s in MPI_Barrier"):
            self.assertEqual(self.blamed(directory, "be_late", "--rank", "1"), 0)

    def test_another_rank_each_round(self):
        for directory, waited_s, for_rank_s in self.check("rotating", "ranks take turns", ["openmpi"]):
            for rank in range(RANKS):
                blamed_s = self.blamed(directory, "be_late", "--rank", str(rank))
                self.assertAlmostEqual((blamed_s - for_rank_s[rank]) / waited_s, 0, delta=OFF)

    def test_a_late_thread_of_a_late_rank(self):
        for directory, _, _ in self.check("thread", "rank 0 makes 3 ranks wait [0-9.]+ s in MPI_Barrier", ["mpich"]):
            late, = [row for row in self.reported_tree(directory).named("be_late")]
            self.assertIn("have_a_late_thread", " ".join(late.path()))

    def test_late_senders_are_the_first_ones_and_not_whoever_works(self):
        for directory, waited_s, _ in self.check("chain", "ranks? 0( and [13])? makes? [23] ranks wait [0-9.]+ s in MPI_Recv"):
            self.assertLess(self.blamed(directory, "mind_own_business"), OFF * waited_s)

    def test_ranks_that_run_another_program_first_see_each_other_and_leave_nothing_when_they_are_killed(self):
        if "openmpi" not in mpi.installed():
            self.skipTest("openmpi is not installed")
        argv, more = mpi.command("openmpi", 2, "env", f"LD_PRELOAD={LAYER}", BLAME, "run", *ANOTHER_FIRST, program("mpi_ends_openmpi"), "killed")
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "job", "OMP_NUM_THREADS": "2"})
        run = execute([*WHAT_IS_LEFT, *argv], env | more, self.new_folder())
        self.assertEqual(run.stdout, "", run)
        ranks = self.report(os.path.join(run.folder, "job"), "--view", "ranks", "--format", "csv").stdout
        seen = [row["ranks_seen"] for row in csv.DictReader(ranks.splitlines()) if row["process"] == "1"]
        self.assertEqual(seen, ["2", "2"], ranks)


class BetweenNodes(BlameTest):
    """Each rank on a node of its own: nobody samples whom it waits for."""

    pace = 1

    def waited(self, how):
        may = execute([*ON_ITS_NODE, "true"], self.tool_environment({"OMPI_COMM_WORLD_RANK": "0"}), self.new_folder())
        if may.status != 0:
            self.skipTest(f"no namespaces of its own: {may.stderr}")
        if not shutil.which("mpirun.openmpi") or not shutil.which("mpicc.openmpi"):
            self.skipTest("openmpi is not installed")
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "job", "BLAME_RATE": "1000", "OMP_NUM_THREADS": "2"})
        argv, more = mpi.command("openmpi", RANKS, *ON_ITS_NODE, BLAME, "run", "--", program("mpi_whose_openmpi"), how, str(ROUNDS))
        run = execute([argv[0], *BY_NETWORK, *argv[1:]], env | more, self.new_folder())
        self.assertEqual(run.status, 0, run)
        return os.path.join(run.folder, "job"), float(run.stdout.split()[1])

    def charged(self, directory):
        """The lines of balance.csv by kind; each kind's sum is the same."""
        text = self.report(directory, "--view", "balance", "--format", "csv").stdout
        lines = list(csv.DictReader(text.splitlines()))
        kinds = {kind: [line for line in lines if line["kind"] == kind] for kind in ("call", "rank", "context")}
        sums = [sum(float(line["charged"]) for line in kinds[kind]) for kind in kinds]
        for value in sums:
            self.assertAlmostEqual(value, sums[0], delta=1e-5 * len(lines))
        return kinds

    def check_late(self, how):
        directory, waited_s = self.waited(how)
        kinds = self.charged(directory)
        call, rank = kinds["call"][0], kinds["rank"][0]
        self.assertEqual((call["name"], call["rank"], rank["rank"]), ("MPI_Barrier", "0", "0"))
        self.assertGreater(float(call["of_rank"]), MOST * waited_s)
        inside = {row.id for row in self.reported_tree(directory).rows if "be_late" in [row.name, *(above.name for above in row.ancestors())]}
        late_s = sum(float(line["charged"]) for line in kinds["context"] if line["id"] and int(line["id"]) in inside)
        self.assertGreater(late_s, MOST * waited_s)
        findings = self.report(directory, "--view", "findings", "--format", "csv").stdout
        self.assertRegex(findings, r"late-between-nodes,.*between nodes: rank 0 makes others wait about [0-9.]+ s(, most)? in MPI_Barrier mpi_whose\.c:")

    def test_a_late_rank(self):
        self.check_late("late")

    def test_a_late_thread_of_a_late_rank(self):
        self.check_late("thread")

    def test_another_rank_each_round(self):
        """Sums do not tell; what other load makes a rank later than others is charged, and not bounded here (test_balance.c has no load)."""
        directory, waited_s = self.waited("rotating")
        barrier, = [line for line in self.charged(directory)["call"] if line["name"] == "MPI_Barrier"]
        self.assertGreater(float(barrier["common"]), 0.5 * waited_s)


if __name__ == "__main__":
    unittest.main()
