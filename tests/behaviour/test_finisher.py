"""The process that makes the reports at a program's end: the program must not notice it, and where it cannot be had a line
says what to type."""

import os
import re
import shutil
import unittest

from harness import BLAME, LIBRARY, BlameTest, clean_environment, execute, program
from test_jobs import CopiedRanks

SAYS = re.compile(r"^blame: no reports were written: (.*); blame finish (\S+) writes them$")
# A command that stands in for ours, and writes down how it was started; by what a shell does itself, which then changes nothing.
SPY = """#!/bin/sh
exec 9>"$2/spy"
echo "$@" >&9
while read -r line; do echo "$line" >&9; done </proc/$$/status
for fd in 0 1 2 3 4 5 6 7 8; do
    if [ /proc/$$/fd/$fd -ef /dev/null ]; then echo "$fd null" >&9; elif [ -e /proc/$$/fd/$fd ]; then echo "$fd open" >&9; fi
done
echo "stack $(ulimit -s)" >&9
env >&9
"""


class RuntimeThatStartedBeforeMain(BlameTest):
    """Its end comes behind the program's exit handlers: no reason to say that the program has ended it."""

    def test_only_an_end_that_the_program_asked_for_is_told(self):
        for how in ("library", "launcher"):
            for arguments, told in (((), False), (("pause",), True)):
                with self.subTest(how=how, arguments=arguments):
                    run = self.attached([program("begins_before"), *arguments], how=how)
                    self.assertEqual(run.status, 0, run)
                    self.assertEqual("omp_pause_resource_all" in run.stderr, told, run)


class Family(BlameTest):
    """Children and signals of the program's are its own."""

    def test_the_program_finds_no_child_that_it_did_not_start(self):
        for way in ("plain", "handler", "ignored", "nowait", "subreaper"):
            for how in ("library", "launcher"):
                with self.subTest(way=way, how=how):
                    run = self.attached([program("family"), way], how=how)
                    self.assertEqual((run.status, run.stdout), (5, "signals: 0, children: none\n"), run)
                    self.assert_only_tool_lines(run)
                    self.assertIn("profile.csv", os.listdir(run.directories()[0]))

    def test_a_thread_that_waits_for_any_child_goes_on_waiting(self):
        run = self.attached([program("family"), "thread"])
        self.assertEqual((run.status, run.stdout),
                         (5, "waiting: yes\nfound: its own\nsignals: 0, children: none\n"), run)
        self.assertIn("profile.csv", os.listdir(run.directories()[0]))


class Surroundings(BlameTest):
    def beside(self, text=None):
        """A copy of the library, with a command of ours beside it."""
        folder = self.new_folder()
        if text is not None:
            command = os.path.join(folder, "blame")
            with open(command, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(command, 0o755)
        return shutil.copy(LIBRARY, folder)

    def run_beside(self, library, argv=("quick", "5"), env=None, before=()):
        env = self.tool_environment({"OMP_TOOL_LIBRARIES": library} | (env or {}))
        return execute([*before, program(argv[0]), *argv[1:]], env, self.new_folder())

    def assert_told(self, run, cause, status=5):
        """One line with the cause and what to type, which then does what could not be done."""
        self.assertEqual(run.status, status, run)
        line, = run.tool_lines()
        self.assertRegex(line, SAYS)
        self.assertIn(cause, SAYS.match(line).group(1))
        directory, = run.directories()
        self.assertEqual(SAYS.match(line).group(2), directory)
        self.assertNotIn("profile.csv", os.listdir(directory))
        typed = execute([BLAME, "finish", directory], clean_environment(), self.new_folder())
        self.assertEqual((typed.status, typed.stdout), (0, ""), typed)
        self.assertIn("see more: blame report", typed.stderr)
        self.load(run)

    def test_without_the_command(self):
        self.assert_told(self.run_beside(self.beside()), "the blame command is not in the directory of ")

    def test_a_command_that_cannot_be_run(self):
        self.assert_told(self.run_beside(self.beside("#!/nonexistent\n")), "No such file or directory")

    def test_a_command_that_dies(self):
        self.assert_told(self.run_beside(self.beside("#!/bin/sh\nkill -9 $$\n")), "killed by signal 9")

    def test_a_command_that_hangs(self):
        run = self.run_beside(self.beside("#!/bin/sh\nexec sleep 50\n"), env={"BLAME_TEST_FINISH_S": "1"})
        self.assert_told(run, "not ready after 1 seconds")
        self.assertLess(run.elapsed_s, 50)  # as the command would have slept

    def test_a_program_that_may_start_no_process_any_more(self):
        self.assert_told(self.run_beside(LIBRARY, ("family", "locked")), "restricted itself")

    @unittest.skipUnless(os.geteuid() == 0, "only root may change the root")
    def test_a_program_that_changed_its_root(self):
        run = self.run_beside(LIBRARY, ("family", "chroot", self.new_folder()))
        self.assert_told(run, "restricted itself")

    @unittest.skipUnless(os.geteuid() == 0, "only root may become somebody else")
    def test_a_program_that_gave_up_its_rights(self):
        self.assert_told(self.run_beside(LIBRARY, ("family", "user")), "the program may no longer write ")
        run = self.attached([program("family"), "user"], how="launcher", env={"BLAME_SUMMARY": "1"})
        self.assertEqual((run.status, run.stderr.count("see more: blame report")), (5, 1), run)
        self.assertNotIn("cannot", run.stderr)
        self.assertIn("profile.csv", os.listdir(run.directories()[0]))

    def test_a_limit_on_descriptors(self):
        self.assert_told(self.run_beside(LIBRARY, ("family", "few")), "too few open files are allowed (ulimit -n)")
        run = self.run_beside(LIBRARY, before=["prlimit", "--nofile=4"])
        self.assert_told(run, "too few open files")
        self.assertEqual(self.load(run).run["command"], program("quick"))

    @unittest.skipUnless(os.geteuid() == 0, "limits on processes do not bind root, and only root can be somebody else")
    def test_a_limit_on_processes(self):
        folder, somebody = self.new_folder(), 200000 + os.getpid() % 100000
        os.chmod(self.folder, 0o755)
        os.chown(folder, somebody, somebody)
        copy = shutil.copy(program("quick"), folder)
        library = shutil.copy(LIBRARY, folder)
        shutil.copy(BLAME, folder)
        env = self.tool_environment({"OMP_TOOL_LIBRARIES": library, "OMP_NUM_THREADS": "2"})
        run = execute(["setpriv", f"--reuid={somebody}", f"--regid={somebody}", "--clear-groups", "prlimit", "--nproc=2",
                       copy, "5"], env, folder)
        self.assert_told(run, "Resource temporarily unavailable")

    def test_it_is_started_clean(self):
        """With nothing of the program's: signals, descriptors, standard input and output, variables; with room for its stack."""
        self.assert_started_clean(["prlimit", "--stack=1000000:9000000"])

    def test_it_is_started_clean_on_linux_4_18(self):
        self.assert_started_clean(["prlimit", "--stack=1000000:9000000", program("denies"), "nosys:from.335"])

    def assert_started_clean(self, before):
        run = self.run_beside(self.beside(SPY), ("family", "blocked"), {"LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"}, before)
        self.assertEqual((run.status, run.tool_lines()), (5, []), run)
        directory, = run.directories()
        with open(os.path.join(directory, "spy"), encoding="utf-8") as file:
            arguments, *lines = file.read().splitlines()
        self.assertRegex(arguments, f"^finish {directory} {directory}/family-\\d+.blame$")
        names = {line.split("=")[0] for line in lines if "=" in line} - {"PWD", "OLDPWD", "SHLVL", "_"}
        self.assertLessEqual(names, {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TERM", "COLUMNS", "TZ"})
        self.assertIn("LC_ALL=C.UTF-8", lines)
        self.assertIn("SigBlk:\t0000000000000000", lines)
        self.assertIn("SigIgn:\t0000000000080007", lines)  # those of a terminal, as in a background job
        self.assertEqual([line for line in lines if re.match(r"\d (null|open)$", line)], ["0 null", "1 null", "2 open"])
        self.assertIn("stack 8192", lines)

    def test_a_file_that_gets_the_number_of_a_closed_stderr_is_the_programs_own(self):
        for closed in ("2>&-", "0<&- 2>&-"):
            with self.subTest(closed=closed):
                run = self.attached(["sh", "-c", f'exec "$0" opens {closed}', program("family")], {"BLAME_SUMMARY": "1"})
                self.assertEqual((run.status, run.stdout, run.stderr), (5, "signals: 0, children: none\n", ""), run)
                with open(os.path.join(run.folder, "own"), encoding="utf-8") as file:
                    self.assertRegex(file.read(), r"^(2\n)?$")
                self.load(run)


    def test_a_stderr_that_the_program_closes_on_exec_gets_the_summary(self):
        code = "import os, time\nos.set_inheritable(2, False)\nend = time.process_time() + 0.1\nwhile time.process_time() < end:\n    pass\n"
        run = self.attached(["/usr/bin/python3", "-c", code], {"BLAME_SUMMARY": "1"}, "launcher")
        self.assertEqual((run.status, run.stdout), (0, ""), run)
        self.assertIn("see more: blame report", run.stderr, run)


class WhoAsks(BlameTest):
    """Who asked for no files is told once how to have them; so is a job of many ranks."""

    def lines_of(self, env):
        run = self.attached([program("quick"), "5"], env)
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        directory, = run.directories()
        return run.tool_lines(), "profile.csv" in os.listdir(directory), "see more" in run.stderr, directory

    def test_who_wants_no_files_is_told_what_makes_them(self):
        lines, files, summary, directory = self.lines_of({"BLAME_CSV": "0", "BLAME_SUMMARY": None})
        self.assertEqual((lines, files, summary),
                         ([f"blame: measured; blame finish {directory} writes the reports"], False, False))

    def test_who_wants_the_summary_alone_gets_it(self):
        self.assertEqual(self.lines_of({"BLAME_CSV": "0", "BLAME_SUMMARY": "1"})[1:3], (False, True))

    def test_of_many_ranks_the_first_one_speaks_and_none_makes_reports(self):
        for rank, speaks in (("0", True), ("1", False)):
            lines, files, summary, _ = self.lines_of({"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "2",
                                                      "BLAME_SUMMARY": None})
            self.assertEqual((len(lines), files, summary), (int(speaks), False, False))

    def test_a_rank_makes_reports_when_it_is_asked(self):
        self.assertTrue(self.lines_of({"OMPI_COMM_WORLD_RANK": "1", "BLAME_CSV": "1"})[1])

    def test_a_job_of_one_rank_is_a_program(self):
        for env in ({"PMI_RANK": "0", "PMI_SIZE": "1"}, {"SLURM_PROCID": "0"}):
            self.assertTrue(self.lines_of(env)[1], env)

    def test_what_the_finisher_did_the_launcher_does_not_do_again(self):
        run = self.attached([program("quick"), "5"], {"BLAME_SUMMARY": "1"}, "launcher")
        self.assertEqual(run.stderr.count("see more: blame report"), 1, run)

    def test_where_the_program_could_not_the_launcher_makes_the_reports(self):
        run = self.attached([program("family"), "locked"], {"BLAME_SUMMARY": "1"}, "launcher")
        self.assertEqual((run.status, run.stderr.count("see more: blame report")), (5, 1), run)
        self.assertFalse([line for line in run.tool_lines() if "finish" in line], run)
        self.load(run)

    def test_names_may_have_tabs_and_ends_of_lines(self):
        for name in ("profile\tb", "profile\nb", "profile\t/b"):
            with self.subTest(name=name):
                folder = self.new_folder()
                os.makedirs(os.path.join(folder, "profile"))
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                run = self.attached([program("family"), "locked"], {"BLAME_OUT": name}, "launcher", folder=folder)
                self.assertEqual((run.status, os.listdir(os.path.join(folder, "profile"))), (5, []), run)
                self.load(run, os.path.join(folder, name))


class OfAJob(CopiedRanks):
    def test_what_came_while_a_job_was_merged_is_merged_by_the_next_report(self):
        directory, listed = self.made(2), 1000000000
        ranks, job = [f"{directory}/rank-{rank:06}.blame" for rank in range(2)], f"{directory}/job.blame"
        self.blame("merge", directory)
        for path, date in ((ranks[0], listed - 1), (ranks[1], listed - 1), (job, listed)):
            os.utime(path, (date, date))
        self.blame("finish", directory)  # as the merge does in the end
        self.assertEqual(os.stat(job).st_mtime, listed)
        os.utime(ranks[1], (listed + 1, listed + 1))
        self.blame("report", directory)
        self.assertGreater(os.stat(job).st_mtime, listed)
