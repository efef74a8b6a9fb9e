"""Waiting in MPI is a state: whose it is, where, and what it is to the threads of its team. Ranks that are late by design say so
(tests/programs/mpi_*). How near the seconds are is what tests/simulator proves."""

import csv
import json
import os
import shutil
import subprocess
import unittest

from blame_profile import Profile
from contract_checks import ROUNDING
from harness import BLAME, LIBRARY, PASSIVE, TIMEOUT_S, BlameTest, execute, program
from mpi import LAUNCHERS, command, installed

LAYER = os.path.join(os.path.dirname(LIBRARY), "libblame-mpi.so")
LATE_S = 5 * 0.1  # tests/programs/mpi_late.c
LEFT_S = 0.2      # tests/programs/mpi_left.c
WORK_S = 0.3      # tests/programs/mpi_gone.c
HOLD_S = 0.3      # tests/programs/mpi_levels.c


class MpiTest(BlameTest):
    pace = 1

    def mpirun(self, mpi, ranks, argv, env, folder=None):
        if mpi not in installed() or not shutil.which(f"mpicc.{mpi}"):
            self.skipTest(f"{mpi} is not installed")
        argv, more = command(mpi, ranks, *argv)
        return execute(argv, env | more, folder or self.new_folder())

    def without_tool(self, mpi, ranks, argv, env):
        """What it says does not depend on how long it works. One run serves all tests that ask for the same."""
        env = env | {"TEST_SPIN": "0.1"}
        asked = ("without", mpi, ranks, argv, sorted(env.items()))

        def make(folder):
            """Open MPI misses a rank's end at times, kills the others and says so, which is none of the tool's: then once more."""
            for _ in range(5):
                run = self.mpirun(mpi, ranks, argv, env, folder)
                if "exiting improperly" not in run.stderr:
                    break
            return run

        return self.once(asked, make)

    def job(self, mpi, ranks, name, *arguments, env=None, how="launcher"):
        """A program's run by so many ranks under the tool, as without; and the profiles by rank. One serves all tests that ask for
        the same, and leave it as it is."""
        argv = [program(f"{name}_{mpi}"), *arguments]
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "profile-%r", "BLAME_CSV": "1", "OMP_NUM_THREADS": "2"} | (env or {}))
        alone = self.without_tool(mpi, ranks, argv, env)

        def make(folder):
            started = [BLAME, "run", "--", *argv] if how == "launcher" else argv
            run = self.mpirun(mpi, ranks, started, env if how == "launcher" else env | {"OMP_TOOL_LIBRARIES": LIBRARY}, folder)
            self.assertEqual(sorted(run.stdout.splitlines()), sorted(alone.stdout.splitlines()), f"without the tool: {alone}\nwith: {run}")
            self.assertEqual(run.status, 0, run)  # without the tool Open MPI may miss a rank's finalize, and says 1
            for directory in directories(run):
                self.load(run, directory, elapsed=False)
            return run

        def directories(run):
            return [os.path.join(run.folder, f"profile-{rank}") for rank in range(ranks)]

        run = self.once(("job", mpi, ranks, argv, sorted(env.items()), how), make)
        return [Profile(directory) for directory in directories(run)]

    def waits(self, profile, call, caller, least_s):
        """The rows of that call, for so long at least, whatever MPI does inside."""
        rows = [row for row in profile.named(call) if caller in [above.name for above in row.ancestors()]]
        self.assertTrue(rows, f"no {call} below {caller}")
        for row in rows:
            self.assertEqual((row.kind, row.children), ("runtime", []))
            self.assertEqual(row["mpi wait (E)"], row.clocked() + row["overhead (I)"])
        self.assertGreater(sum(row["mpi wait (E)"] for row in rows), least_s)
        return rows

    def assert_team_waits(self, rows):
        """The idleness of their team is the call's."""
        self.assertGreater(sum(row["idleness (E)"] for row in rows), sum(row["mpi wait (E)"] for row in rows) / 2)


class LateRank(MpiTest):
    def check(self, mpi, ranks):
        late, *others = self.job(mpi, ranks, "mpi_late")
        for profile in others:
            self.assert_team_waits(self.waits(profile, "MPI_Allreduce", "add_up", LATE_S / 5))
            self.assertFalse(profile.named("be_late"))
        self.assertGreater(late.clocked("be_late"), LATE_S / 5)
        for profile in (late, *others):
            calls = {row.name for row in profile.rows if row["mpi wait (E)"]}
            self.assertLessEqual(calls, {"MPI_Allreduce", "MPI_Recv", "MPI_Send", "MPI_Finalize"})

    def assert_size(self, mpi, name, ranks, bytes):
        """What was waited in is said to be so large."""
        other = self.job(mpi, ranks, name)[-1]
        found = self.report(other.directory, "--view", "findings", "--format", "csv").stdout
        self.assertIn(f", among {ranks} ranks, with {bytes} bytes per call", found)

    def test_two_ranks_of_open_mpi(self):
        self.check("openmpi", 2)

    def test_how_many_ranks_and_bytes(self):
        for mpi in LAUNCHERS:
            for name, bytes in (("mpi_late", 8), ("mpi_late_use", 4), ("mpi_late_f08", 4)):
                with self.subTest(mpi=mpi, name=name):
                    self.assert_size(mpi, name, 2, bytes)

    def test_four_ranks_of_open_mpi(self):
        self.check("openmpi", 4)

    def test_four_ranks_of_mpich(self):
        self.check("mpich", 4)

    def check_fortran(self, mpi, name):
        _, other = self.job(mpi, 2, name)
        self.assert_team_waits(self.waits(other, "MPI_Allreduce", "add_up", LATE_S / 5))
        calls = {row.name for row in other.rows if row["mpi wait (E)"]}
        self.assertLessEqual(calls, {"MPI_Allreduce", "MPI_Send", "MPI_Finalize"})

    def test_fortran_by_use_mpi(self):
        self.check_fortran("openmpi", "mpi_late_use")
        self.check_fortran("mpich", "mpi_late_use")

    def test_fortran_by_use_mpi_f08(self):
        self.check_fortran("openmpi", "mpi_late_f08")
        self.check_fortran("mpich", "mpi_late_f08")

    def test_without_the_layer_the_path_tells_and_the_report_says_that_no_state_does(self):
        _, other = self.job("openmpi", 2, "mpi_late", how="library")
        row, = [row for row in other.named("MPI_Allreduce") if row.parent.name == "add_up"]
        self.assertEqual((row.kind, other.root["mpi wait (I)"]), ("procedure", 0))
        self.assertTrue(row.module.startswith("libmpi.so"))
        self.assertGreater(other.run["mpi_untold_s"], 0)
        self.assertFalse([row.name for row in other.rows if row.name.startswith("PMPI_")])
        run = execute([BLAME, "finish", other.directory], self.tool_environment({"BLAME_SUMMARY": "1"}), self.new_folder())
        self.assertIn("in MPI calls that may have waited for other ranks", run.stderr + run.stdout)

    def test_one_measurement_of_the_job_has_it_too(self):
        argv = [BLAME, "run", "--", program("mpi_late_openmpi")]
        env = self.tool_environment(PASSIVE | {"BLAME_OUT": "job", "OMP_NUM_THREADS": "2"})
        run = self.mpirun("openmpi", 2, argv, env)
        self.assertEqual(run.status, 0, run)
        directory = os.path.join(run.folder, "job")
        waited_s = [sum(row["mpi wait (E)"] for row in self.waits(tree, "MPI_Allreduce", "add_up", LATE_S / 5))
                    for tree in (self.reported_tree(directory), self.merged(directory))]
        self.assertAlmostEqual(*waited_s, places=5)
        findings = self.report(directory, "--view", "findings", "--format", "csv").stdout
        self.assertIn("in MPI_Allreduce", findings)

    def test_the_rank_that_all_others_wait_for_is_named(self):
        for mpi in LAUNCHERS:
            with self.subTest(mpi):
                env = self.tool_environment(PASSIVE | {"BLAME_OUT": "job", "OMP_NUM_THREADS": "2"})
                run = self.mpirun(mpi, 4, [BLAME, "run", "--", program(f"mpi_late_{mpi}"), "10"], env)
                self.assertEqual(run.status, 0, run)
                self.assert_late(os.path.join(run.folder, "job"))

    def assert_late(self, directory):
        tree = self.merged(directory)
        with open(os.path.join(directory, "ranks.csv"), encoding="utf-8", newline="") as file:
            ranks = list(csv.DictReader(file))
        made_s = [float(rank["made_others_wait_s"]) for rank in ranks]
        self.assertEqual([rank["ranks_seen"] for rank in ranks], ["4"] * 4)
        self.assertEqual(max(made_s), made_s[0], ranks)
        for rank in ranks:
            self.assertLessEqual(float(rank["rank_idleness"]), float(rank["mpi_wait"]) + ROUNDING)
        blamed_s = sum(row["rank idleness (E)"] for row in tree.rows if row.kind != "statement")
        self.assertAlmostEqual(blamed_s, sum(made_s), delta=ROUNDING * len(tree.rows))
        hold_s = sum(row["rank idleness (I)"] for row in tree.rows if row.name == "be_late")
        others = [row["rank idleness (E)"] for row in tree.rows if "be_late" not in row.path()]
        self.assertGreater(hold_s, max(others))  # and how much that is: test_mpi_whose
        law = self.run_json(directory)["conservation"]["rank_idleness"]
        self.assertTrue(law["ok"], law)
        findings = self.report(directory, "--view", "findings", "--format", "csv").stdout
        self.assertRegex(findings, r"late-rank,\d+,rank idleness,.*rank 0 makes 3 ranks wait [\d.]+ s in MPI_Allreduce mpi_late\.c")
        waits = self.report(directory, "--view", "waits").stdout
        self.assertRegex(waits, r"MPI_Allreduce of other ranks in add_up  mpi_late\.c:\d+\n.*be_late")

    def run_json(self, directory):
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            return json.load(file)

    def merged(self, directory):
        run = execute([BLAME, "merge", directory], self.tool_environment({}), self.new_folder())
        self.assertEqual(run.status, 0, run)
        with open(os.path.join(directory, "ranks.csv"), encoding="utf-8", newline="") as file:
            ranks = list(csv.DictReader(file))
        self.assertGreater(float(ranks[1]["mpi_wait"]), LATE_S / 5)
        return self.reported_tree(directory)


class Levels(MpiTest):
    """tests/programs/mpi_levels.c: rank 0 is late. Whose threads call is the layer's business, of one MPI as of another; but for
    threads that call at once, which each MPI treats in its own way."""

    def check(self, way, call, caller, above, mpis=("openmpi",)):
        for mpi in mpis:
            with self.subTest(mpi):
                late, other = self.job(mpi, 2, "mpi_levels", way)
                rows = self.waits(other, call, caller, HOLD_S / 5)
                for row in rows:
                    self.assertTrue(any(above in around.name for around in row.ancestors()), row.path())
                self.assertGreater(late.clocked("spin"), HOLD_S / 5)

    def test_the_first_thread_in_a_region(self):
        self.check("funneled", "MPI_Allreduce", "add_up", "in_region [parallel")

    def test_one_thread_at_a_time(self):
        self.check("serialized", "MPI_Allreduce", "add_up", "in_region [parallel", ["mpich"])

    def test_all_threads_at_once(self):
        self.check("multiple", "MPI_Recv", "pass", "in_region [parallel", LAUNCHERS)

    def test_tasks_that_wait(self):
        self.check("tasks", "MPI_Recv", "pass", "in_tasks [task")

    def test_openmp_before_mpi(self):
        self.check("first", "MPI_Allreduce", "add_up", "main", ["mpich"])


class BadEnds(MpiTest):
    """tests/programs/mpi_ends.c: a job that its last rank ends while the others wait"""

    def check(self, way):
        for mpi in LAUNCHERS:
            with self.subTest(mpi):
                argv = [program(f"mpi_ends_{mpi}"), way]
                env = self.tool_environment(PASSIVE | {"BLAME_OUT": "profile-%r", "OMP_NUM_THREADS": "2"})
                alone = self.without_tool(mpi, 2, argv, env)
                run = self.mpirun(mpi, 2, [BLAME, "run", "--", *argv], env)
                self.assertEqual(run.status, alone.status, f"{alone}\n{run}")
                self.assertNotEqual(run.status, 0, run)
                tree = self.reported_tree(os.path.join(run.folder, "profile-0"))
                self.waits(tree, "MPI_Barrier", "wait_for_all", HOLD_S / 5)

    def test_abort(self):
        self.check("abort")

    def test_a_rank_that_is_killed(self):
        self.check("killed")


class Layer(BlameTest):
    """libblame-mpi.so in front of an MPI that notes what it is called with."""

    def assert_all_came(self, run):
        self.assertRegex(run.stdout, r"\A\d{3} calls, 0 wrong\n\Z", run)
        self.assertEqual(run.status, 3, run)

    def test_every_call_comes_through_as_it_was_made(self):
        self.assert_all_came(self.plain([program("mpi_fake")], {"LD_PRELOAD": LAYER}))  # without libblame.so
        self.assert_all_came(self.attached([program("mpi_fake")], {"LD_PRELOAD": LAYER}))
        run, _ = self.profile_of("mpi_fake", how="launcher", status=3, env={"BLAME_RATE": "10000"})
        self.assert_all_came(run)

    def test_a_call_that_is_jumped_out_of_is_over(self):
        run, profile = self.profile_of("mpi_left", how="launcher")
        self.assertEqual(run.stdout, "6 good\n")
        self.assertGreater(profile.clocked("work"), LEFT_S / 2)
        self.assertEqual(profile.total("mpi wait", "work"), 0)
        self.assertGreater(profile.total("mpi wait", "wait_here"), LEFT_S)

    def test_a_rank_that_is_not_sampled_any_more_keeps_nobody_waiting(self):
        folder, ranks = self.new_folder(), []
        (reads_1, writes_0), (reads_0, writes_1) = os.pipe(), os.pipe()
        for rank, ends in enumerate(((reads_0, writes_0), (reads_1, writes_1))):
            env = self.tool_environment({"BLAME_OUT": "job", "BLAME_RATE": "1000", "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
                                         "PMIX_NAMESPACE": f"gone-{os.getpid()}", "OMP_NUM_THREADS": "2"})
            ranks.append(subprocess.Popen([BLAME, "run", "--", program("mpi_gone")], env=env, cwd=folder, stdin=ends[0], stdout=ends[1]))
        for end in (reads_0, writes_0, reads_1, writes_1):
            os.close(end)
        self.assertEqual([rank.wait(TIMEOUT_S) for rank in ranks], [0, 0])
        self.assertEqual(execute([BLAME, "merge", "job"], self.tool_environment({}), folder).status, 0)
        with open(os.path.join(folder, "job", "run.json"), encoding="utf-8") as file:
            law = json.load(file)["conservation"]["rank_idleness"]
        self.assertGreater(law["right"], WORK_S / 5)
        self.assertTrue(law["ok"], law)

    def test_it_is_preloaded_where_the_program_is_linked_with_an_mpi_only(self):
        shows = ["sh", "-c", 'echo "$LD_PRELOAD"']
        self.assertEqual(self.attached(shows, how="launcher").stdout, "\n")
        run = self.attached([program("mpi_fake")], {"LD_DEBUG": "files"}, how="launcher")
        self.assertIn(LAYER, run.stderr)
        run = self.attached([program("quick")], {"LD_DEBUG": "files"}, how="launcher")
        self.assertNotIn(LAYER, run.stderr)


if __name__ == "__main__":
    unittest.main()
