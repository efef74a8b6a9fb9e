"""The examples of the user's pages run as they stand: a page's ```sh blocks are one script, beside the folders that the pages name."""

import glob
import os
import re
import shutil
import subprocess

from harness import BLAME, ROOT, BlameTest, clean_environment, execute

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
FOLDERS = ("docs/examples", "include")  # of the repository, which the pages name
# What the pages show took seconds; that their commands run shows with less work.
LESS_WORK = {"diffuse.c": ("atoi(argv[2]) : 200", "atoi(argv[2]) : 25"), "phases/adi.c": ("atoi(argv[2]) : 25", "atoi(argv[2]) : 5"),
             "strips.c": ("COLUMNS = 1000", "COLUMNS = 200"), "triangle.c": ("steps = 6 *", "steps = 1 *")}
LESS_IN_PAGES = {"jobs.md": ("./strips 4000 300 even", "./strips 1000 300 even"), "time-and-traces.md": ("./diffuse 1200 600", "./diffuse 900 300"),
                 "lab.md": ("in 1 2 3 4", "in 1 2")}


class TestDocs(BlameTest):
    def folder_with_examples(self):
        folder = self.new_folder()
        for name in FOLDERS:
            shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name))
        for name, (usual, less) in LESS_WORK.items():
            with open(os.path.join(folder, "docs", "examples", name), "r+", encoding="utf-8") as source:
                text = source.read()
                self.assertIn(usual, text, name)
                source.seek(0)
                source.truncate()
                source.write(text.replace(usual, less))
        clang = subprocess.run([os.path.join(ROOT, "scripts", "find-llvm"), "clang"], capture_output=True, text=True, check=True).stdout.strip()
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(shutil.which(clang), os.path.join(folder, "bin", "clang"))
        return folder

    def check_page(self, path):
        with open(path, encoding="utf-8") as page:
            script = "\n".join(BLOCK.findall(page.read()))
        usual, less = LESS_IN_PAGES.get(os.path.basename(path), ("", ""))
        self.assertIn(usual, script)
        script = script.replace(usual, less) if usual else script
        folder = self.folder_with_examples()
        env = clean_environment()
        env["PATH"] = f"{folder}/bin:{os.path.dirname(BLAME)}:{env['PATH']}"
        run = execute(["bash", "-euc", script], env, folder)
        self.assertEqual(run.status, 0, f"{os.path.basename(path)}: {run.stderr[-2000:]}")


def add_test(path):
    name = os.path.basename(path)[:-len(".md")].replace("-", "_")
    setattr(TestDocs, f"test_the_examples_of_{name}_run", lambda self: self.check_page(path))


for page in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
    with open(page, encoding="utf-8") as file:
        if BLOCK.search(file.read()):
            add_test(page)
