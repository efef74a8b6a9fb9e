"""Programs with privileges beyond their user's: the user's environment must not make them write files, whatever
way the tool came in. As root only, which alone can make such programs."""

import os
import shutil
import subprocess
import unittest

from harness import BLAME, LIBRARY, LOADER, BlameTest, execute, program

NOBODY = 65534


@unittest.skipUnless(os.geteuid() == 0, "only root can make a program with privileges and run it as another user")
class Privileges(BlameTest):
    def copy(self, path, folder):
        target = shutil.copy(path, folder)
        os.chmod(target, 0o755)
        return target

    def prepared(self):
        """A folder in which nobody may write, with copies of all that nobody must read."""
        os.chmod(self.folder, 0o755)
        folder = self.new_folder()
        os.chown(folder, NOBODY, NOBODY)
        command, library, app = (self.copy(path, folder) for path in (BLAME, LIBRARY, program("quick")))
        self.copy(LOADER, folder)
        return folder, command, library, app

    def as_nobody(self, folder, argv, env):
        return execute(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv],
                       self.tool_environment({"BLAME_SUMMARY": "1"}) | env, folder)

    def assert_declined(self, folder, command, library, app):
        for how, argv, env in (("library", [app, "5"], {"OMP_TOOL_LIBRARIES": library}),
                               ("launcher", [command, "run", app, "5"], {}),
                               ("by a script", [command, "run", "sh", "-c", f"{app} 5"], {})):
            with self.subTest(how=how):
                run = self.as_nobody(folder, argv, env)
                self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
                self.assert_only_tool_lines(run, ["the program's own line"])
                self.assertTrue(any("privileges" in line for line in run.tool_lines()), run)
                self.assertEqual(run.directories("p*"), [], run)

    def test_without_privileges_another_user_measures(self):
        folder, _, library, app = self.prepared()
        run = self.as_nobody(folder, [app, "5"], {"OMP_TOOL_LIBRARIES": library, "BLAME_SUMMARY": "0"})
        self.assertEqual((run.status, run.stdout), (5, "sum 3\n"), run)
        self.load(run)

    def test_a_set_user_id_program_is_not_measured(self):
        folder, command, library, app = self.prepared()
        os.chmod(app, 0o4755)
        self.assert_declined(folder, command, library, app)

    def test_a_set_group_id_program_is_not_measured(self):
        folder, command, library, app = self.prepared()
        os.chmod(app, 0o2755)
        self.assert_declined(folder, command, library, app)

    def test_a_program_with_file_capabilities_is_not_measured(self):
        folder, command, library, app = self.prepared()
        done = subprocess.run(["setcap", "cap_net_raw+ep", app], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"no file capabilities here: {done.stderr.strip()}")
        self.assert_declined(folder, command, library, app)

