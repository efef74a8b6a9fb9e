"""Waiting in MPI is a state: whose it is, where, and what it is to the threads of its team. Ranks that are late by design say so
(tests/programs/mpi_*). How near the seconds are is what tests/simulator proves."""

import os
import shutil
import unittest

from harness import BLAME, BlameTest, PASSIVE, execute, program

ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpirun.mpich"]}
LATE_S = 5 * 0.1  # tests/programs/mpi_late.c


class MpiTest(BlameTest):
    pace = 1

    def mpirun(self, mpi, ranks, argv, env):
        launcher = LAUNCHERS[mpi]
        if not shutil.which(launcher[0]) or not shutil.which(f"mpicc.{mpi}"):
            self.skipTest(f"{mpi} is not installed")
        return execute([*launcher, "-n", str(ranks), *argv], env | ROOT_MAY, self.new_folder())

    def job(self, mpi, ranks, name, *arguments, env=None, status=0):
        """A program's run by so many ranks, each under `blame run`, as without; and the profiles by rank."""
        argv = [program(f"{name}_{mpi}"), *arguments]
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "profile-%r", "BLAME_CSV": "1", "OMP_NUM_THREADS": "2"} | (env or {}))
        alone = self.mpirun(mpi, ranks, argv, env)
        run = self.mpirun(mpi, ranks, [BLAME, "run", "--", *argv], env)
        self.assertEqual((run.status, sorted(run.stdout.splitlines())), (alone.status, sorted(alone.stdout.splitlines())),
                         f"without the tool: {alone}\nwith: {run}")
        self.assertEqual(run.status, status, run)
        return [self.load(run, os.path.join(run.folder, f"profile-{rank}"), elapsed=False) for rank in range(ranks)]

    def assert_waits(self, profile, call, caller, least_s):
        """In that call, whatever MPI does inside, and its team's idleness is the call's."""
        rows = [row for row in profile.named(call) if caller in [above.name for above in row.ancestors()]]
        self.assertTrue(rows, f"{profile.directory}: no {call} below {caller}")
        for row in rows:
            self.assertEqual((row.kind, row.children), ("runtime", []))
            self.assertEqual(row["mpi wait (E)"], row.clocked() + row["overhead (I)"])
        waited_s = sum(row["mpi wait (E)"] for row in rows)
        self.assertGreater(waited_s, least_s)
        self.assertGreater(sum(row["idleness (E)"] for row in rows), waited_s / 2)


class LateRank(MpiTest):
    def check(self, mpi, ranks):
        late, *others = self.job(mpi, ranks, "mpi_late")
        for profile in others:
            self.assert_waits(profile, "MPI_Allreduce", "add_up", LATE_S / 5)
            self.assertFalse(profile.named("be_late"))
        self.assertGreater(late.total("work", "be_late"), LATE_S / 5)
        for profile in (late, *others):
            calls = {row.name for row in profile.rows if row["mpi wait (E)"]}
            self.assertLessEqual(calls, {"MPI_Allreduce", "MPI_Recv", "MPI_Send", "MPI_Finalize"})

    def test_two_ranks_of_open_mpi(self):
        self.check("openmpi", 2)

    def test_four_ranks_of_open_mpi(self):
        self.check("openmpi", 4)

    def test_four_ranks_of_mpich(self):
        self.check("mpich", 4)


if __name__ == "__main__":
    unittest.main()
