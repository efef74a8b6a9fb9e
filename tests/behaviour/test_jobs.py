"""Jobs: many processes, one directory, a file each, one line at the end."""

import csv
import json
import os
import shutil
import statistics
import struct
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import contract_checks
import mpi
from harness import BLAME, LIBRARY, TIMEOUT_S, BlameTest, clean_environment, execute, program

OWN_LINE = "the program's own line"
# Which sums and rows there are, not how long they took.
EXACT = contract_checks.TREE_CHECKS + [contract_checks.check_exact_laws]
KEY = "0011223344556677-8899aabbccddeeff"
FINISHED, RANK = 40, 340  # where these stand in a file's header; behind the first the process's number
ENDED = struct.Struct("<Ii")  # both


def rank_of_open_mpi(rank, ranks, namespace="4711", key=KEY):
    """As Open MPI 4.1.4 sets them."""
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks), "PMIX_RANK": str(rank),
            "PMIX_NAMESPACE": namespace, "OMPI_MCA_orte_precondition_transports": key}


class JobTest(BlameTest):
    def job_environment(self, env):
        return self.tool_environment({"BLAME_OUT": None, "BLAME_SUMMARY": None} | env) | {"OMP_TOOL_LIBRARIES": LIBRARY}

    def rank(self, folder, env, argv=("5",)):
        run = execute([program("quick"), *argv], self.job_environment(env), folder)
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        return run

    def at_once(self, folder, envs):
        with ThreadPoolExecutor(len(envs)) as threads:
            return list(threads.map(lambda env: self.rank(folder, env), envs))

    def files(self, directory):
        return sorted(name for name in os.listdir(directory) if not name.startswith("."))


class Directories(JobTest):
    def test_the_ranks_of_a_job_have_one_directory_and_a_file_each(self):
        folder, ranks = self.new_folder(), 12
        runs = self.at_once(folder, [rank_of_open_mpi(rank, ranks) for rank in range(ranks)])
        self.assertEqual(os.listdir(folder), ["blame-quick-4711"])
        self.assertEqual(self.files(f"{folder}/blame-quick-4711"), [f"rank-{rank:06}.blame" for rank in range(ranks)])
        lines = [line for run in runs for line in run.tool_lines()]
        self.assertEqual(lines, [f"blame: job 4711: measured; blame report {folder}/blame-quick-4711 shows it"])

    def test_two_jobs_of_one_name_never_share_a_directory(self):
        folder = self.new_folder()
        envs = [rank_of_open_mpi(rank, 4, key=key) for rank in range(4) for key in (KEY, KEY[::-1])]
        self.at_once(folder, [env | {"BLAME_OUT": "mine"} for env in envs])
        self.assertEqual(sorted(os.listdir(folder)), ["mine", "mine.1"])
        for name in os.listdir(folder):
            self.assertEqual(self.files(f"{folder}/{name}"), [f"rank-{rank:06}.blame" for rank in range(4)])

    def test_a_second_process_of_a_rank_has_a_file_of_its_own(self):
        folder = self.new_folder()
        for _ in range(2):
            self.rank(folder, rank_of_open_mpi(3, 4))
        self.assertEqual(self.files(f"{folder}/blame-quick-4711"), ["rank-000003.1.blame", "rank-000003.blame"])

    def test_a_users_directory_is_never_touched(self):
        folder = self.new_folder()
        os.mkdir(f"{folder}/mine")
        self.at_once(folder, [rank_of_open_mpi(rank, 2) | {"BLAME_OUT": "mine"} for rank in range(2)])
        self.assertEqual(os.listdir(f"{folder}/mine"), [])
        self.assertEqual(self.files(f"{folder}/mine.1"), ["rank-000000.blame", "rank-000001.blame"])

    def test_patterns_have_the_job_and_may_give_each_rank_a_directory(self):
        folder = self.new_folder()
        for out, made in (("o-%j", "o-4711"), ("o-%j-%r", "o-4711-1"), ("in/", None)):
            with self.subTest(out=out):
                self.rank(folder, rank_of_open_mpi(1, 2) | {"BLAME_OUT": out})
                self.assertTrue(made is None or os.path.isdir(f"{folder}/{made}"), os.listdir(folder))
        self.assertEqual(self.files(f"{folder}/o-4711"), ["rank-000001.blame"])

    def test_users_know_their_batch_jobs_number(self):
        folder = self.new_folder()
        step = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}
        self.rank(folder, step)
        self.rank(folder, step | {"SLURM_STEP_ID": "1"})
        self.rank(folder, rank_of_open_mpi(1, 2) | {"SLURM_JOB_ID": "77"})
        self.assertEqual(sorted(os.listdir(folder)), ["blame-quick-77", "blame-quick-77.1", "blame-quick-77.2"])

    def test_a_rank_that_begins_no_region_leaves_nothing_behind(self):
        folder = self.new_folder()
        for rank in range(2):
            run = execute([BLAME, "run", "sh", "-c", f"{program('qsort_serial')} >/dev/null; exit 5"],
                          self.job_environment(rank_of_open_mpi(rank, 2)), folder)
            self.assertEqual(run.status, 5, run)
        self.assertEqual(os.listdir(folder), [])

    def test_on_a_network_file_system_the_name_is_taken_first_and_filled_at_the_end(self):
        folder = self.new_folder()
        self.at_once(folder, [rank_of_open_mpi(rank, 3) | {"BLAME_TEST_NETWORK": "1"} for rank in (0, 1, 2, 1)])
        directory = f"{folder}/blame-quick-4711"
        self.assertEqual(self.files(directory),
                         ["rank-000000.blame", "rank-000001.1.blame", "rank-000001.blame", "rank-000002.blame"])
        self.assertTrue(all(os.path.getsize(f"{directory}/{name}") > 4096 for name in self.files(directory)))

    def test_where_no_directory_can_be_made_the_program_runs(self):
        run = self.rank(self.new_folder(), rank_of_open_mpi(1, 2) | {"BLAME_OUT": "/proc/job"})
        self.assertEqual([line[:24] for line in run.tool_lines()], ["blame: BLAME_OUT=/proc/j"], run)


class Told(JobTest):
    """What all ranks would say is said once."""

    def lines(self, envs, argv):
        return [line for env in envs for line in execute(argv, self.job_environment(env), self.new_folder()).tool_lines()
                if " measured; " not in line]

    def test_notes_about_the_program_and_the_options(self):
        for more, argv, start in (({"BLAME_RATTE": "1"}, [program("quick")], "blame: BLAME_RATTE: there is no such variable"),
                                  ({"BLAME_RATE": "x"}, [program("quick")], "blame: BLAME_RATE=x: expected"),
                                  ({}, [BLAME, "run", "--runtime", "libomp", program("quick_gcc")], "blame: the program was built by GCC; it runs on"),
                                  ({}, [BLAME, "run", "true"], "blame: no profile of rank 0: the progra")):
            with self.subTest(line=start):
                lines = self.lines([rank_of_open_mpi(rank, 3) | more for rank in range(3)], argv)
                self.assertEqual([line[:len(start)] for line in lines], [start])

    def test_each_program_of_a_job_says_it_once(self):
        """mpirun -n 2 ./a : -n 1 ./b"""
        folder, env = self.new_folder(), {"OMPI_APP_CTX_NUM_PROCS": "2 1", "BLAME_RATTE": "1"}
        other = shutil.copy(program("quick"), f"{self.new_folder()}/other")
        lines = []
        for rank, argv in enumerate(([program("quick")], [program("quick")], [other])):
            lines += execute(argv, self.job_environment(rank_of_open_mpi(rank, 3) | env), folder).tool_lines()
        self.assertEqual([line for line in lines if "measured" in line],
                         [f"blame: job 4711: measured; blame report {folder}/blame-{name}-4711 shows it"
                          for name in ("quick", "other")])
        self.assertEqual(len(lines), 4, lines)


class Named(JobTest):
    def test_processes_without_mpi_are_a_job_by_their_name(self):
        folder = self.new_folder()
        processes = [subprocess.Popen([BLAME, "run", "--job", "sweep", program("quick"), str(i)], cwd=folder,
                                      env=self.job_environment({}), stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True) for i in range(6)]
        lines = []
        for i, process in enumerate(processes):
            lines += process.communicate(timeout=TIMEOUT_S)[1].splitlines()
            self.assertEqual(process.returncode, i)
        self.assertEqual(os.listdir(folder), ["blame-quick-sweep"])
        self.assertEqual(self.files(f"{folder}/blame-quick-sweep"), [f"rank-{i:06}.blame" for i in range(6)])
        self.assertEqual([line for line in lines if line != OWN_LINE],
                         [f"blame: job sweep: measured; blame report {folder}/blame-quick-sweep shows it"])

    def test_processes_one_after_the_other_have_numbers_without_gaps(self):
        folder = self.new_folder()
        for _ in range(3):
            self.rank(folder, {"BLAME_JOB": "loop"})
        self.assertEqual(self.files(f"{folder}/blame-quick-loop"), [f"rank-{i:06}.blame" for i in range(3)])

    def test_forks_are_processes_of_the_job(self):
        run = self.attached([program("forks"), "fork"], {"BLAME_OUT": None, "BLAME_JOB": "family"})
        directory, = run.directories("blame-*")
        self.assertEqual(os.path.basename(directory), "blame-forks-family")
        self.assertGreater(len(self.files(directory)), 1, run)

    def test_a_name_that_is_no_directorys_is_refused(self):
        for name in ("a/b", ".hidden", "a b", "x" * 64):
            run = self.attached([program("quick"), "5"], {"BLAME_JOB": name})
            self.assertEqual((run.status, len(run.tool_lines())), (5, 1), run)
            self.assertIn("BLAME_JOB", run.stderr)
            run = execute([BLAME, "run", "--job", name, program("quick")], self.tool_environment({}), self.new_folder())
            self.assertEqual(run.status, 2, run)


class CopiedRanks(JobTest):
    """With jobs of many ranks, made of two."""

    def made(self, ranks):
        self.at_once(folder := self.new_folder(), [rank_of_open_mpi(rank, ranks) for rank in range(ranks)])
        return f"{folder}/blame-quick-4711"

    def blame(self, *argv, status=0):
        run = execute([BLAME, *argv], clean_environment(), self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def content(self, directory, name):
        with open(f"{directory}/{name}", "rb") as file:
            return file.read()

    def ranks(self, directory):
        with open(f"{directory}/ranks.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def copies(self, ranks):
        """The directory of a job of so many ranks, all but the first two copies of these."""
        directory = self.made(2)
        for rank in range(2, ranks):
            path = f"{directory}/rank-{rank:06}.blame"
            shutil.copy(f"{directory}/rank-{rank % 2:06}.blame", path)
            with open(path, "r+b") as file:
                file.seek(RANK)
                file.write(struct.pack("<II", rank, ranks))
        return directory

    def merged_files(self, directory):
        """What merging made, but for the names, which are as those who looked them up found them."""
        return {name: self.content(directory, name) for name in self.files(directory)
                if not name.startswith("rank-") and name != "job.symbols"}


class Merged(CopiedRanks):
    def test_all_commands_read_a_job(self):
        directory = self.made(3)
        for argv in (["report"], ["report", "--view", "findings"], ["report", "--view", "ranks"],
                     ["report", "--view", "spread"], ["report", "--view", "balance"],
                     ["report", "--view", "threads"], ["report", "--view", "locks"], ["report", "--view", "waits"],
                     ["export", "--format", "folded"], ["html", "--output", "page.html"]):
            run = self.blame(argv[0], directory, *argv[1:])
            self.assertEqual(run.stderr.count("blame "), 0, run)
        size = "3 ranks on 1 node, 2 threads on "
        self.assertIn(size, self.blame("report", directory).stdout)
        self.assertIn(f'"job_size":"{size}'.encode(), self.content(run.folder, "page.html"))
        self.assertIn("are unknown: no waiting in MPI was measured", self.blame("report", directory, "--view", "ranks").stdout)
        self.blame("diff", directory, directory)
        self.blame("finish", directory)
        self.assertLessEqual({"job.blame", "ranks.csv", "profile.csv", "run.json"}, set(self.files(directory)))

    def test_a_job_is_merged_anew_when_another_rank_is_there(self):
        directory = self.made(2)
        self.blame("merge", directory)
        self.rank(os.path.dirname(directory), rank_of_open_mpi(2, 3))
        os.utime(f"{directory}/rank-000002.blame", (0, 0))  # as of a copy
        run = self.blame("report", directory, "--view", "ranks", "--format", "csv")
        self.assertEqual([row["state"] for row in csv.DictReader(run.stdout.splitlines())], ["whole"] * 3)

    def reopen(self, path, pid):
        """As if the rank had not ended, by that process."""
        with open(path, "r+b") as file:
            file.seek(FINISHED)
            file.write(ENDED.pack(0, pid))

    def test_a_snapshot_is_merged_anew_though_no_file_has_another_date(self):
        directory = self.made(2)
        path = f"{directory}/rank-000001.blame"
        self.reopen(path, os.getpid())
        self.assertIn("rank 1: it had not ended normally: it was still running", self.blame("merge", directory).stderr)
        with open(path, "r+b") as file:
            file.seek(FINISHED)
            file.write(b"\1")
        os.utime(path, (0, 0))
        self.assertEqual(self.blame("report", directory).stderr, "")

    def test_a_snapshot_keeps_ranks_whose_files_were_removed_since(self):
        directory = self.made(2)
        self.reopen(f"{directory}/rank-000001.blame", os.getpid())
        self.blame("merge", directory)
        os.remove(f"{directory}/rank-000000.blame")
        os.utime(f"{directory}/job.blame", (0, 0))  # as of a copy, whose dates say nothing
        self.assertIn("2 ranks on 1 node", self.blame("report", directory).stdout)

    def test_so_many_processes_that_merge_make_the_same(self):
        directory = self.copies(200)
        os.remove(f"{directory}/rank-000150.blame")
        os.truncate(f"{directory}/rank-000030.blame", 5000)
        os.truncate(f"{directory}/rank-000131.blame", 5000)
        with open(f"{directory}/rank-000199.blame", "r+b") as file:
            file.seek(FINISHED)
            file.write(b"\0")
        made = {}
        for jobs in ("1", "2", "5"):
            run = self.blame("merge", directory, "-j", jobs)
            for number in (30, 131, 150, 199):
                self.assertIn(f"rank {number}: ", run.stderr)
            self.assertIn("197 ranks merged", run.stdout)
            made[jobs] = run.stderr, self.merged_files(directory)
        self.assertLessEqual({"job.blame", "spread.csv", "profile.csv"}, set(made["1"][1]))
        self.assertEqual(made["1"], made["2"])
        self.assertEqual(made["1"], made["5"])
        states = [row["state"] for row in self.ranks(directory)]
        self.assertEqual((len(states), states[30], states[131], states[150], states[199], states.count("whole")),
                         (200, "damaged", "damaged", "missing", "open", 196))

    def test_a_job_of_which_no_rank_can_be_read_is_refused_in_one_line(self):
        directory = self.copies(70)
        for rank in range(70):
            os.truncate(f"{directory}/rank-{rank:06}.blame", 5000)
        run = self.blame("merge", directory, "-j", "2", status=1)
        self.assertRegex(run.stderr, r"\Ablame merge: .*: no file of the job can be read: rank 0: truncated.*\n\Z")
        self.assertNotIn("job.blame", self.files(directory))

    def test_a_job_with_a_killed_rank_is_merged_once(self):
        directory, ended = self.made(2), subprocess.Popen(["true"])
        ended.wait()
        self.reopen(f"{directory}/rank-000001.blame", ended.pid)
        time.sleep(0.02)  # not in the clock tick in which ranks are listed: it might be behind that
        made = []
        for _ in range(2):
            self.assertIn("rank 1: it had not ended normally: it was killed", self.blame("report", directory).stderr)
            made.append(os.stat(f"{directory}/job.blame").st_ino)
        self.assertEqual(*made)

    def test_a_job_in_a_directory_that_cannot_be_written_to_can_be_read(self):
        directory, left = self.made(2), self.new_folder()
        os.chmod(directory, 0o555)
        bound = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
        for argv, status in (("report", "--view", "ranks"), 0), (("finish",), 1):
            with self.subTest(command=argv[0]):
                run = execute([*bound, BLAME, argv[0], directory, *argv[1:]], clean_environment() | {"TMPDIR": left}, "/")
                self.assertEqual(run.status, status, run)
                self.assertIn(f"{directory}: this directory cannot be written to, so the merged job is not kept after this command; blame merge", run.stderr)
                self.assertEqual(os.listdir(left), [])
        os.chmod(directory, 0o755)

    def test_a_ranks_measurement_is_not_written_over(self):
        directory = self.made(2)
        path = f"{directory}/rank-000001.blame"
        with open(path, "rb") as file:
            before = file.read()
        self.assertIn("--output", self.blame("merge", directory, "--output", path, status=2).stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_ranks_that_cannot_be_used_are_named_and_the_others_count(self):
        directory = self.made(5)
        os.remove(f"{directory}/rank-000001.blame")
        os.truncate(f"{directory}/rank-000002.blame", 5000)
        for name in ("rank-000003.blame", "rank-000004.1.blame"):
            with open(f"{directory}/{name}", "wb"):
                pass
        run = self.blame("merge", directory)
        self.assertIn("2 ranks merged", run.stdout)
        for number in ("1", "2", "3", "4.1"):
            self.assertIn(f"rank {number}: ", run.stderr)
        self.assertEqual([row["state"] for row in self.ranks(directory)],
                         ["whole", "missing", "damaged", "damaged", "whole", "damaged"])
        self.assertIn("rank 1: ", self.blame("report", directory).stderr)

    def test_a_rank_of_another_job_is_left_out(self):
        directory, other = self.made(2), self.new_folder()
        self.rank(other, rank_of_open_mpi(1, 2, key=KEY[::-1]))
        os.replace(f"{other}/blame-quick-4711/rank-000001.blame", f"{directory}/rank-000001.blame")
        self.assertIn("rank 1: it belongs to another job", self.blame("merge", directory).stderr)
        self.assertEqual([row["state"] for row in self.ranks(directory)], ["whole", "foreign"])

    def test_a_copy_of_the_program_elsewhere_is_the_same_program(self):
        folder, copy = self.new_folder(), shutil.copy(program("quick"), self.new_folder())
        self.rank(folder, rank_of_open_mpi(0, 2))
        run = execute([copy, "5"], self.job_environment(rank_of_open_mpi(1, 2)), folder)
        self.assertEqual(run.status, 5, run)
        directory = f"{folder}/blame-quick-4711"
        self.blame("merge", directory)
        with open(f"{directory}/run.json", encoding="utf-8") as file:
            names = [os.path.basename(module["path"]) for module in json.load(file)["modules"]]
        self.assertEqual(names.count("quick"), 1, names)

    def test_what_is_no_job_is_refused(self):
        directory = self.made(2)
        self.assertIn("not a directory", self.blame("merge", f"{directory}/rank-000000.blame", status=1).stderr)
        self.assertIn("no rank", self.blame("merge", self.new_folder(), status=1).stderr)
        self.assertIn("of one process", self.blame("report", f"{directory}/rank-000000.blame", "--view", "ranks",
                                                   status=1).stderr)
        self.assertIn("of one process", self.blame("report", f"{directory}/rank-000000.blame", "--view", "spread",
                                                   status=1).stderr)
        self.assertIn("--rank", self.blame("report", directory, "--thread", "0", status=1).stderr)

    def test_one_rank_can_be_looked_at(self):
        directory = self.made(2)
        self.assertIn("rank 1 of 2, bound to core", self.blame("report", directory, "--rank", "1", "--width", "200").stdout)
        self.assertIn("--rank 2: ", self.blame("report", directory, "--rank", "2", status=1).stderr)
        self.assertIn("is not the directory of a job", self.blame("report", f"{directory}/rank-000000.blame", "--rank", "0",
                                                          status=1).stderr)


class Real(JobTest):
    together = True

    def measured(self, name, ranks):
        """One job of so many ranks serves all tests that leave it as it is; they merge a copy."""
        return self.once(("job", name, ranks), lambda folder: self.job(name, ranks, env={"BLAME_RATE": "1000"}, folder=folder))

    def copy_of(self, run):
        directory, = run.directories("blame-*")
        return shutil.copytree(directory, os.path.join(self.new_folder(), "job"))

    def job(self, name, ranks, *argv, env=None, folder=None):
        if name not in mpi.installed():
            self.skipTest(f"no {name} is installed (scripts/setup.sh)")
        command, more = mpi.command(name, ranks, BLAME, "run", mpi.program(name), *argv)
        return execute(command, self.tool_environment({"BLAME_OUT": None, "BLAME_SUMMARY": None, "OMP_NUM_THREADS": "2"} |
                                                      more | (env or {})), folder or self.new_folder())

    def test_each_mpi_makes_one_directory_and_one_line(self):
        for name in mpi.LAUNCHERS:
            for ranks in (2, 4):
                with self.subTest(mpi=name, ranks=ranks):
                    run = self.measured(name, ranks)
                    self.assertEqual((run.status, run.stdout), (0, f"{ranks} ranks\n"), run)
                    directory, = run.directories("blame-*")
                    self.assertEqual(self.files(directory), [f"rank-{rank:06}.blame" for rank in range(ranks)])
                    line, = run.tool_lines()
                    self.assertTrue(line.endswith(f" measured; blame report {directory} shows it"), line)

    def test_the_jobs_sums_are_those_of_its_ranks(self):
        for name, ranks in (("openmpi", 4), ("mpich", 2)):
            with self.subTest(mpi=name):
                run = self.measured(name, ranks)
                directory = self.copy_of(run)
                merged = execute([BLAME, "merge", directory], clean_environment(), self.new_folder())
                self.assertEqual((merged.status, merged.stderr), (0, ""), merged)
                job = self.load(run, directory, EXACT)
                trees = [self.reported_tree(f"{directory}/rank-{rank:06}.blame", checks=[]) for rank in range(ranks)]
                for metric in ("work", "idleness", "overhead", "no core", "blocked", "shared idleness"):
                    parts = sum(float(tree.rows[0].cells[f"{metric} (I)"]) for tree in trees)
                    self.assertAlmostEqual(float(job.rows[0].cells[f"{metric} (I)"]), parts, delta=1e-5, msg=metric)
                samples = sum(int(tree.rows[0].cells["samples (I)"]) for tree in trees)
                self.assertEqual(int(job.rows[0].cells["samples (I)"]), samples)
                self.assertGreater(job.total("work", "every_ranks_share"), trees[0].total("work", "every_ranks_share"))
                self.assertEqual(trees[0].total("work", "last_ranks_share"), 0)
                self.assertAlmostEqual(job.total("work", "last_ranks_share"),
                                       trees[-1].total("work", "last_ranks_share"), delta=1e-5)
                self.assertEqual([rank["rank"] for rank in job.run["job"]["ranks"]], list(range(ranks)))
                of = job.run["job"]["efficiencies"]
                self.assertEqual((of["untold"], of["processes"], of["threads"], of["mpi_transfer"]), (None, ranks, 2 * ranks, None))
                for name in ("", "mpi_", "openmp_"):
                    whole = of[name.rstrip("_") or "parallel"]
                    self.assertTrue(0 < whole < 1.05, of)
                    self.assertAlmostEqual(whole, of[f"{name}load_balance"] * of[f"{name}communication"])

    def test_rows_say_how_the_ranks_differ(self):
        directory = self.copy_of(self.measured("openmpi", 4))
        self.assertEqual(execute([BLAME, "merge", directory], clean_environment(), self.new_folder()).status, 0)
        trees = [self.reported_tree(f"{directory}/rank-{rank:06}.blame", checks=[]) for rank in range(4)]
        with open(f"{directory}/profile.csv", newline="", encoding="utf-8") as file:
            rows = {row["id"]: row for row in csv.DictReader(file)}
        with open(f"{directory}/spread.csv", newline="", encoding="utf-8") as file:
            spreads = list(csv.DictReader(file))
        states = ("work", "overhead", "lock wait here", "no core", "blocked", "mpi wait")
        for spread in spreads:
            row, (metric, kind) = rows[spread["id"]], spread["metric"].rsplit(" ", 1)
            whole = sum(float(row[f"{state} {kind}"]) for state in (states if metric == "time" else [metric]))
            self.assertAlmostEqual(4 * float(spread["mean"]), whole, delta=2e-5, msg=spread)
        measured = {row["kind"] for row in rows.values() if any(float(row[f"{state} (I)"]) for state in states)}  # a short region may have no sample
        self.assertEqual({rows[spread["id"]]["kind"] for spread in spreads}, measured - {"statement"})
        for name in ("every_ranks_share", "last_ranks_share"):
            spread, = [spread for spread in spreads if (spread["name"], spread["metric"]) == (name, "work (I)")]
            work = [tree.total("work", name) for tree in trees]
            self.assertEqual((int(spread["ranks"]), spread["min_rank"] == ""),
                             (sum(value > 0 for value in work), min(work) == 0))
            for column, value in (("min", min(work)), ("max", max(work)), ("deviation", statistics.pstdev(work))):
                self.assertAlmostEqual(float(spread[column]), value, delta=2e-5, msg=column)
            self.assertAlmostEqual(work[int(spread["max_rank"])], max(work), delta=2e-5)
        text = execute([BLAME, "report", directory, "--view", "spread", "--sort", "work"], clean_environment(), self.new_folder())
        self.assertRegex(text.stdout, r"\n +1 +[0-9.]+ +[0-9.]+ +0\.000 +[0-9.]+ 3 +4\.00 +[0-9]+: last_ranks_share ")

    def test_a_rank_that_was_killed_is_named_and_what_it_measured_counts(self):
        for name, killed in (("openmpi", "0"), ("openmpi", "1"), ("mpich", "1")):
            with self.subTest(mpi=name, killed=killed):
                run = self.job(name, 2, killed)
                self.assertNotEqual(run.status, 0)
                directory, = run.directories("blame-*")
                line, = [line for line in run.tool_lines() if "blame report" in line]
                self.assertRegex(line, f"^blame: rank [01] did not end normally; blame report {directory} shows ")
                merged = execute([BLAME, "merge", directory], clean_environment(), self.new_folder())
                self.assertEqual(merged.status, 0, merged)
                self.assertIn(f"rank {killed}: it had not ended", merged.stderr)

    def test_a_job_of_one_rank_is_a_program(self):
        for name in mpi.LAUNCHERS:
            with self.subTest(mpi=name):
                run = self.job(name, 1)
                directory, = run.directories("blame-*")
                self.assertIn("profile.csv", self.files(directory))
                self.assertIn("see more: blame report", run.stderr)

    def test_a_rank_says_where_it_was_bound(self):
        if "openmpi" not in mpi.installed():
            self.skipTest("no openmpi is installed (scripts/setup.sh)")
        command, env = mpi.command("openmpi", 2, BLAME, "run", mpi.program("openmpi"))
        command[command.index("none")] = "core"
        run = execute(command, self.tool_environment(env | {"BLAME_OUT": "o-%r", "BLAME_CSV": "1"}), self.new_folder())
        if run.status != 0 and "bind" in run.stderr:
            self.skipTest(f"ranks cannot be bound here: {run.stderr}")
        for rank in range(2):
            profile = self.load(run, f"{run.folder}/o-{rank}", checks=[])
            self.assertEqual((profile.run["rank"], profile.run["size"]), (rank, 2))
            self.assertRegex(profile.run["binding"], r"^\d")
            text = self.report(f"{run.folder}/o-{rank}").stdout
            self.assertRegex(text, rf"rank {rank} of 2, bound\s+to\s+cores?\s+{profile.run['binding']}")


if __name__ == "__main__":
    unittest.main()
