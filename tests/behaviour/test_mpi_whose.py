"""Whom ranks wait for, where that is known by construction (tests/programs/mpi_whose.c): what be_late() is blamed for is what the program itself
clocked. The bounds leave room for other load; `make mpi-accuracy` prints how near it is."""

import json
import os
import shutil
import unittest

import mpi
from harness import BLAME, PASSIVE, BlameTest, execute, program

OFF, RANKS, ROUNDS = 0.15, 4, 10


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

    def check(self, how, said):
        for launcher in mpi.LAUNCHERS:
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
        for directory, waited_s, for_rank_s in self.check("rotating", "ranks take turns"):
            for rank in range(RANKS):
                blamed_s = self.blamed(directory, "be_late", "--rank", str(rank))
                self.assertAlmostEqual((blamed_s - for_rank_s[rank]) / waited_s, 0, delta=OFF)

    def test_a_late_thread_of_a_late_rank(self):
        for directory, _, _ in self.check("thread", "rank 0 makes 3 ranks wait [0-9.]+ s in MPI_Barrier"):
            late, = [row for row in self.reported_tree(directory).named("be_late")]
            self.assertIn("have_a_late_thread", " ".join(late.path()))

    def test_late_senders_are_the_first_ones_and_not_whoever_works(self):
        for directory, waited_s, _ in self.check("chain", "rank 0 makes 2 ranks wait [0-9.]+ s in MPI_Recv"):
            self.assertLess(self.blamed(directory, "mind_own_business"), OFF * waited_s)


if __name__ == "__main__":
    unittest.main()
