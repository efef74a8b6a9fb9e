"""Jobs of our own kernels (benchmarks/mpi), of as many ranks as there are cores and of many more: what they print, one directory,
one measurement, and its books. Nothing here asks how long anything took."""

import os
import re
import unittest

import contract_checks
import mpi
from harness import BLAME, BUILD, PASSIVE, BlameTest, clean_environment, execute

# What each is called with, and what it says of itself.
KERNELS = {"stencil": (("200", "--sweeps", "60"), "stencil 200,sweeps=60"), "cg": (("S",), "cg S"), "queens": (("10",), "queens 10"),
           "zones": (("256", "--steps", "200"), "zones 256"), "stencil_f08": (("200", "60"), "stencil 200,sweeps=60"),
           "stencil_mpifh": (("200", "60"), "stencil 200,sweeps=60")}
# In which calls its ranks wait for each other.
CALLS = {"stencil": "MPI_Waitall", "cg": "MPI_Allgatherv", "queens": "MPI_Recv", "zones": "MPI_Waitall",
         "stencil_f08": "MPI_Sendrecv", "stencil_mpifh": "MPI_Sendrecv"}
EXACT = contract_checks.TREE_CHECKS + [contract_checks.check_exact_laws]


class Kernels(BlameTest):
    pace = 1

    def job(self, name, ranks, kernel):
        """The directory of a job, in which nothing but its ranks' files is left."""
        if name not in mpi.installed():
            self.skipTest(f"no {name} is installed (scripts/setup.sh)")
        arguments, said = KERNELS[kernel]
        command, env = mpi.command(name, ranks, BLAME, "run", os.path.join(BUILD, "bench", "mpi", f"{kernel}_{name}"), *arguments)
        env = self.tool_environment(env | PASSIVE | {"BLAME_OUT": "job", "BLAME_SUMMARY": None, "OMP_NUM_THREADS": "2"})
        run = execute(command, env, self.new_folder())
        self.assertEqual(run.status, 0, run)
        self.assertRegex(run.stdout, rf"\A{re.escape(said)},ranks={ranks} 2 \d*\.\d+ VERIFIED\n\Z")
        self.assertEqual(len([line for line in run.tool_lines() if " measured; " in line]), 1, run)
        directory = os.path.join(run.folder, "job")
        self.assertEqual(sorted(name for name in os.listdir(directory) if not name.startswith(".")),
                         [f"rank-{rank:06}.blame" for rank in range(ranks)])
        return run, directory

    def check(self, name, ranks, *kernels):
        for kernel in kernels:
            with self.subTest(mpi=name, ranks=ranks, kernel=kernel):
                run, directory = self.job(name, ranks, kernel)
                merged = execute([BLAME, "merge", directory], clean_environment(), self.new_folder())
                self.assertEqual((merged.status, merged.stderr), (0, ""), merged)
                job = self.load(run, directory, EXACT)
                self.assertEqual([rank["rank"] for rank in job.run["job"]["ranks"]], list(range(ranks)))
                self.assertEqual({int(thread["rank"]) for thread in job.threads}, set(range(ranks)))
                rows = job.named(CALLS[kernel])
                self.assertTrue(rows)
                for row in rows:
                    self.assertEqual((row.kind, row.children), ("runtime", []))
                if ranks > 4:
                    continue
                samples = sum(int(self.reported_tree(f"{directory}/rank-{rank:06}.blame").rows[0].cells["samples (I)"])
                              for rank in range(ranks))
                self.assertEqual(int(job.rows[0].cells["samples (I)"]), samples)

    def test_two_ranks_of_open_mpi(self):
        self.check("openmpi", 2, "cg")  # 1,200 calls: too many for ranks that share cores

    def test_four_ranks_of_open_mpi(self):
        self.check("openmpi", 4, "stencil", "zones", "stencil_f08", "stencil_mpifh")

    def test_sixteen_ranks_of_open_mpi(self):
        self.check("openmpi", 16, "queens")

    def test_four_ranks_of_mpich(self):
        self.check("mpich", 4, "queens", "stencil_f08")  # its ranks poll, and yield no core


if __name__ == "__main__":
    unittest.main()
