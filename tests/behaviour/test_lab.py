"""The laboratory's interpreter and packages, what is said where they are missing, its interface for notebooks, and the format that it reads."""

import json
import os
import re
import subprocess

from harness import BLAME, ROOT, BlameTest, clean_environment, execute

PYTHON = "/usr/bin/python3"
START = os.path.join(ROOT, "lab", "start.py")
VALUES = 12  # metrics in data


class Lab(BlameTest):
    pace = 10

    def fake(self, name, text):
        """A program of that name in a folder of its own; the folder."""
        folder = self.new_folder()
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return folder

    def said(self, *arguments, env=None, status=0):
        run = execute([BLAME, *arguments], {name: value for name, value in (clean_environment() | (env or {})).items() if value is not None}, self.new_folder())
        self.assertEqual(run.status, status, run)
        return run

    def test_which_interpreter_is_taken(self):
        self.assertIn(f"python       {PYTHON} (", self.said("lab").stdout)
        without = self.fake("python3", f'exec {PYTHON} -S "$@"')  # without packages of Debian's
        env = {"BLAME_PYTHON": None, "VIRTUAL_ENV": None, "PATH": f"{without}:{os.environ['PATH']}"}
        self.assertIn(f"python       {PYTHON} (", self.said("lab", env=env).stdout)
        active = os.path.join(self.new_folder(), "environment")
        os.makedirs(os.path.join(active, "bin"))
        os.symlink(PYTHON, os.path.join(active, "bin", "python3"))
        self.assertIn(f"python       {active}/bin/python3 (", self.said("lab", env={"BLAME_PYTHON": None, "VIRTUAL_ENV": active}).stdout)

    def test_what_is_missing_is_named_in_a_line_with_what_to_install(self):
        bare = os.path.join(self.fake("bare", f'exec {PYTHON} -S "$@"'), "bare")
        run = self.said("scaling", "x", env={"BLAME_PYTHON": bare}, status=1)
        self.assertRegex(run.stderr, r"^blame scaling: \S+: has no numpy; install python3-numpy, python3-scipy; BLAME_PYTHON names another interpreter\n$")
        run = self.said("history", env={"BLAME_PYTHON": "/nowhere/python3"}, status=1)
        self.assertRegex(run.stderr, r"^blame history: /nowhere/python3: No such file or directory; it needs Python 3\.9 or newer with NumPy and SciPy")
        script = f"import sys, runpy; sys.version_info = (3, 8, 1); sys.argv = [{START!r}, 'db', 'list']; runpy.run_path({START!r}, run_name='__main__')"
        old = subprocess.run([PYTHON, "-c", script], capture_output=True, text=True, check=False, env=clean_environment())
        self.assertEqual(old.returncode, 1)
        self.assertRegex(old.stderr, r"^blame db: \S+: is Python 3\.8; Python 3\.9 or newer is needed")
        for command in ("db", "history", "scaling", "tune", "fold", "lab"):  # and help needs nothing
            self.assertIn(f"usage: blame {command} ", self.said(command, "--help", env={"BLAME_PYTHON": bare}).stdout)

    def test_a_users_module_of_a_standard_name_is_not_taken(self):
        folder = self.new_folder()
        with open(os.path.join(folder, "random.py"), "w", encoding="utf-8") as file:
            file.write("raise SystemExit('mine')\n")
        run = execute([BLAME, "tune", "--dry-run", "true"], clean_environment(), folder)
        self.assertEqual((run.status, run.stderr), (0, ""), run)

    def test_the_documents_notebook_runs(self):
        _, profile = self.profile_of("imbalance2")
        with open(os.path.join(ROOT, "docs", "lab.md"), encoding="utf-8") as file:
            code = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL)[1]
        code = "\n".join(line for line in code.splitlines() if "Hatchet" not in line).replace('"blame-amg-4711"', repr(profile.directory))
        run = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False, cwd=self.new_folder(),
                             env=clean_environment() | {"PYTHONPATH": os.path.join(ROOT, "lab"), "PATH": f"{os.path.dirname(BLAME)}:{os.environ['PATH']}"})
        self.assertEqual((run.returncode, run.stderr), (0, ""), run)
        self.assertIn("spin_on_clock", run.stdout)

    def test_a_trial_has_all_records_whole(self):
        _, profile = self.profile_of("imbalance2")
        lines = [json.loads(line) for line in self.said("export", "--format", "trial", profile.directory).stdout.splitlines()]
        head, contexts = lines[0], [line for line in lines if line["record"] == "context"]
        self.assertEqual((head["record"], lines[-1]), ("run", {"record": "end"}))
        self.assertEqual((head["run"], head["contexts"], len(head["metrics"])), (profile.run["id"], len(contexts), VALUES))
        self.assertEqual(len(contexts), len(profile.rows))
        self.assertEqual(len({line["identity"] for line in contexts}), len(contexts))
        work = head["metrics"].index("work")
        threads = [line for line in lines if line["record"] == "values" and line["context"] == 0]
        self.assertEqual(len(threads), 2)
        self.assertAlmostEqual(sum(line["inclusive"][work] for line in threads), contexts[0]["inclusive"][work], places=9)
        both = [json.loads(line) for line in self.said("export", "--format", "trial", "--common", "flat", profile.directory, profile.directory).stdout.splitlines()]
        self.assertEqual([line["record"] for line in both[:3]], ["run", "run", "context"])
        self.assertEqual({line["run"] for line in both if line["record"] == "values"}, {0, 1})

    def test_options_of_a_trial_are_refused_elsewhere(self):
        for arguments in (["--format", "folded", "--sums", "x"], ["--format", "folded", "--common", "flat", "x"], ["--format", "folded", "x", "y"]):
            self.assertEqual(self.said("export", *arguments, status=2).stderr.count("\n"), 1)
