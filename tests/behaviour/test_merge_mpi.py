"""blame-merge: a job's ranks, merged by the processes of another one."""

import os

import mpi
from harness import BUILD, clean_environment, execute
from test_jobs import CopiedRanks


class MergedByMpi(CopiedRanks):
    together = True

    def setUp(self):
        super().setUp()
        if not mpi.installed():
            self.skipTest("no MPI is installed (scripts/setup.sh)")

    def merge(self, name, processes, *argv):
        command, env = mpi.command(name, processes, os.path.join(BUILD, "tests", f"blame-merge_{name}"), *argv)
        return execute(command, clean_environment() | env, self.new_folder())

    def test_it_makes_what_blame_merge_makes(self):
        directory = self.copies(300)
        os.remove(f"{directory}/rank-000150.blame")
        for rank in (30, 290):
            os.truncate(f"{directory}/rank-{rank:06}.blame", 5000)
        said = self.blame("merge", directory).stderr
        made = self.merged_files(directory)
        for name, processes in (("openmpi", 2), ("mpich", 1), ("mpich", 3), ("mpich", 4)):
            if name not in mpi.installed():
                continue
            with self.subTest(mpi=name, processes=processes):
                for file in made:
                    os.remove(f"{directory}/{file}")
                run = self.merge(name, processes, directory)
                self.assertEqual((run.status, run.stderr), (0, said), run)
                self.assertIn("297 ranks merged", run.stdout)
                self.assertEqual(self.merged_files(directory), made)

    def test_what_it_cannot_do_is_said_once_and_all_processes_end(self):
        directory = self.copies(70)
        cases = (([], "expected"), ([directory, "--output", "/proc/none.blame"], "/proc/none.blame"),
                 ([directory, "-j", "2"], "mpirun"), ([f"{directory}/none"], "not a directory"))
        for name in mpi.installed():
            for argv, says in cases if name == "mpich" else cases[:2]:  # what is said, and how each MPI then ends
                with self.subTest(mpi=name, argv=argv):
                    run = self.merge(name, 3, *argv)
                    self.assertNotEqual(run.status, 0)
                    self.assertEqual(sum(line.startswith("blame merge: ") for line in run.stderr.splitlines()), 1, run)
                    self.assertIn(says, run.stderr)
