"""Programs that do with MPI what few do (tests/programs/mpi_odd.c): each runs as without the tool, and leaves a measurement whose books
are right."""

import csv
import os
import subprocess
import unittest

import contract_checks
from harness import BLAME, LIBRARY, PASSIVE, clean_environment, execute, program
from mpi import LAUNCHERS
from test_mpi import HOLD_S, LAYER, MpiTest

EXACT = contract_checks.TREE_CHECKS + [contract_checks.check_exact_laws]
DEBIANS_PYTHON = "/usr/bin/python3"
# Rank 0 needs much less than 0.02 s on a core from its message to the call, where it spins.
SCRIPT = """
import ctypes, os, sys, time
import numpy
from mpi4py import MPI
comm = MPI.COMM_WORLD
threads = ctypes.CDLL(sys.argv[1]).sum_of_team()
comm.barrier()
def ran_s(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9
if comm.rank == comm.size - 1:
    pid, sent_s = comm.recv(source=0)
    while ran_s(pid) < sent_s + 0.02:
        time.sleep(0.001)
    time.sleep(%f)
elif comm.rank == 0:
    comm.send((os.getpid(), ran_s(os.getpid())), comm.size - 1)
sums = numpy.zeros(3)
comm.Allreduce(numpy.full(3, comm.rank + 1.0), sums)
sys.stdout.write(f"rank {comm.rank} of {comm.size}: {threads} {sums.tolist()}\\n")
""" % HOLD_S


class Odd(MpiTest):
    ranks = 2

    def both(self, mpi, argv, before=(BLAME, "run"), env=None, reports=False):
        """A job without the tool and with it, which says the same and ends the same. On stderr there may be reports of another tool's."""
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "job-%j", "OMP_NUM_THREADS": "2"} | (env or {}))
        alone = self.without_tool(mpi, self.ranks, argv, env)
        run = self.mpirun(mpi, self.ranks, [*before, *argv], env)
        said = [(job.status, sorted(job.stdout.split("\n")), [] if reports else sorted(job.other_lines())) for job in (alone, run)]
        self.assertEqual(*said, f"{alone}\n{run}")
        self.assertEqual(run.status, 0, run)
        return run

    def merged(self, run, directory, why=""):
        merge = execute([BLAME, "merge", directory], clean_environment(), self.new_folder())
        self.assertEqual(merge.status, 0, merge)
        self.assertEqual(merge.stderr == "", why == "", merge)
        self.assertIn(why, merge.stderr)
        # Who did not end normally was in regions of which nobody has said where they are.
        return self.load(run, directory, [check for check in EXACT if not (why and check is contract_checks.check_resolved)])

    def odd(self, mpi, way, why=""):
        run = self.both(mpi, [program(f"mpi_odd_{mpi}"), way])
        directory, = run.directories("job-*")
        return self.merged(run, directory, why)

    def each(self, way, mpis=LAUNCHERS, **more):
        for mpi in mpis:
            with self.subTest(mpi):
                yield self.odd(mpi, way, **more)

    def processes_of(self, directory):
        with open(os.path.join(directory, "ranks.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def ranks_of(self, directory):
        return [(row["rank"], row["process"], row["state"]) for row in self.processes_of(directory)]

    def test_errors_that_are_returned(self):
        for profile in self.each("errors"):
            self.waits(profile, "MPI_Recv", "receive_too_much", HOLD_S / 5)

    def test_a_fiber_whose_wait_was_left(self):
        for profile in self.each("fiber", ["openmpi"]):
            self.waits(profile, "MPI_Allreduce", "meet", HOLD_S / 5)
            self.assertGreater(profile.clocked("with_fiber"), self.ranks * HOLD_S * 0.9)

    def test_memory_that_others_write_to(self):
        for profile in self.each("window"):
            rows = [row for row in profile.rows if row["mpi wait (E)"] and row.parent.name == "in_window"]
            self.assertGreater(sum(row["mpi wait (E)"] for row in rows), HOLD_S / 5)

    def test_a_file_of_all_ranks(self):
        for profile in self.each("file"):
            rows = [row for row in profile.rows if row["mpi wait (E)"] and row.parent.name == "in_file"]
            self.assertGreater(sum(row["mpi wait (E)"] for row in rows), HOLD_S / 5)

    def test_a_thread_that_is_not_openmps(self):
        for profile in self.each("foreign", ["mpich"]):
            self.assertFalse([row for row in profile.named("MPI_Recv") if row["mpi wait (E)"]])

    def test_much_work_behind_finalize(self):
        for profile in self.each("after", ["mpich"]):
            self.waits(profile, "MPI_Allreduce", "meet", HOLD_S / 5)
            self.assertGreater(profile.clocked("team_works"), self.ranks * 2 * HOLD_S * 0.9)

    def test_a_program_that_goes_on_as_another(self):
        for profile in self.each("exec", why="replaced itself (exec)"):
            self.assertEqual(self.ranks_of(profile.directory), [("0", "0", "open"), ("0", "1", "whole"),
                                                                ("1", "0", "open"), ("1", "1", "whole")])
            seen = [row["ranks_seen"] for row in self.processes_of(profile.directory) if row["process"] == "1"]
            self.assertEqual(seen, ["2", "2"])

    def test_ranks_that_start_others(self):
        profile = self.odd("openmpi", "spawn")  # Debian's MPICH 4.0.2 starts none
        self.waits(profile, "MPI_Allreduce", "meet", HOLD_S / 5)
        self.assertEqual(self.ranks_of(profile.directory), [("0", "0", "whole"), ("1", "0", "whole")])

    def test_ranks_that_others_started_are_a_job_of_their_own(self):
        exported = ["-x", f"OMP_TOOL_LIBRARIES={LIBRARY}", "-x", f"LD_PRELOAD={LAYER}", "-x", "BLAME_OUT"]
        run = self.mpirun("openmpi", self.ranks, [*exported, program("mpi_odd_openmpi"), "spawn"],
                          self.tool_environment(PASSIVE | {"BLAME_OUT": "job-%j"}))
        self.assertEqual((run.status, len(run.stdout.splitlines())), (0, 4), run)
        jobs = [self.merged(run, directory) for directory in run.directories("job-*")]
        self.assertEqual(len(jobs), 2, run)
        for job in jobs:
            self.assertEqual(self.ranks_of(job.directory), [("0", "0", "whole"), ("1", "0", "whole")])

    def test_a_session_of_mpi_4(self):
        profile = self.odd("mpich", "session")  # Open MPI 4.1.4 has none
        self.waits(profile, "MPI_Allreduce", "meet", HOLD_S / 5)

    def test_address_sanitizer(self):
        for mpi, leaks in (("openmpi", "0"), ("openmpi", "1"), ("mpich", "0")):  # leaks: then nothing is measured, before any MPI
            with self.subTest(mpi, leaks=leaks):
                options = f"detect_leaks={leaks}:exitcode=0"  # Open MPI has leaks
                run = self.both(mpi, [program(f"mpi_late_asan_{mpi}")], env={"ASAN_OPTIONS": options}, reports=True)
                self.assertEqual(len(run.directories("job-*")), leaks == "0", run)

    def test_mpi4py(self):
        if subprocess.run([DEBIANS_PYTHON, "-c", "import mpi4py, numpy"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest(f"{DEBIANS_PYTHON} has no mpi4py (scripts/setup.sh)")
        for library in ("loads_later_clang.so", "loads_later_lib.so"):
            with self.subTest(library):
                run = self.both("openmpi", [DEBIANS_PYTHON, "-c", SCRIPT, program(library)],
                                ["env", f"LD_PRELOAD={LAYER}", BLAME, "run"])
                directory, = run.directories("job-*")
                profile = self.merged(run, directory)
                self.assertGreater(sum(row["mpi wait (E)"] for row in profile.named("MPI_Allreduce")), HOLD_S / 5)
                self.assertGreater(profile.clocked("later_share"), 0.2)


if __name__ == "__main__":
    unittest.main()
