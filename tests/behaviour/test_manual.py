"""The manual pages and the completion say what the programs accept, and nothing else."""

import glob
import os
import re
import shutil
import subprocess
import sys

from harness import BLAME, ROOT, BlameTest

CLI = os.path.join(ROOT, "cli")
PAGE, TOOL_PAGE = (os.path.join(CLI, "man", name) for name in ("blame.1", "libblame.7"))
COMPLETION, DOCUMENT = os.path.join(CLI, "completion", "blame"), os.path.join(ROOT, "docs", "options.md")


def output(*argv, **options):
    return subprocess.run(argv, capture_output=True, text=True, check=False, **options)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def commands():
    text = output(BLAME, "--help").stdout
    return re.findall(r"(?m)^  ([a-z]+) ", text.split("\ncommands:\n")[1])


def options_in_help(command):
    return re.findall(r"(?m)^  (--[a-z-]+)", output(BLAME, command, "--help").stdout)


class Manual(BlameTest):
    def test_pages_and_completion_are_what_help_says(self):
        run = output(sys.executable, os.path.join(CLI, "man", "update.py"), BLAME, "--check")
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    def test_the_check_sees_an_option_too_many_and_too_few(self):
        copy = self.new_folder()
        for folder in ("cli", "docs"):
            shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder))
        for path, old, new in ((PAGE, "\\fB\\-\\-fail\\-above\\fR", "\\fB\\-\\-fail\\-below\\fR"),
                               (TOOL_PAGE, "\\fBBLAME_RATE\\fR", "\\fBBLAME_RATES\\fR"),
                               (DOCUMENT, "| `BLAME_RATE=N` |", "| `BLAME_RATES=N` |"), (COMPLETION, "--fail-above", "")):
            changed = os.path.join(copy, os.path.relpath(path, ROOT))
            text = text_of(changed)
            self.assertIn(old, text)
            with open(changed, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
        run = output(sys.executable, os.path.join(copy, "cli", "man", "update.py"), BLAME, "--check")
        self.assertEqual((run.returncode, run.stdout.count("run make man")), (1, 4), run)

    def test_help_of_a_command_is_what_its_option_says(self):
        for command in commands():
            asked, option = output(BLAME, "help", command), output(BLAME, command, "--help")
            self.assertEqual((asked.returncode, asked.stdout), (0, option.stdout), command)
        run = output(BLAME, "help", "repot")
        self.assertEqual((run.returncode, run.stdout, len(run.stderr.splitlines())), (2, "", 1), run)

    def test_commands_that_documents_name_are_listed(self):
        for document in (os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "docs", "*.md"))):
            self.assertEqual(set(re.findall("`blame ([a-z]+)", text_of(document))) - set(commands()), set(), document)

    def test_every_option_of_help_has_its_paragraph(self):
        page = text_of(PAGE).replace("\\-", "-")
        sections = dict(re.findall(r"(?ms)^\.SS blame (\w+) .*?\n(.*?)(?=^\.S[SH])", page))
        self.assertEqual(sorted(sections), sorted(commands()))
        synopsis = page.split(".SH SYNOPSIS\n")[1].split(".SH")[0]
        self.assertEqual(set(commands()) - set(re.findall(r"[a-z]+", synopsis)), set())
        for command, section in sections.items():
            self.assertEqual(re.findall(r"(?m)^\.IP .\\fB(--[a-z-]+)\\fR", section), options_in_help(command))
            self.assertIn("Examples:", section)

    def test_pages_are_without_warnings(self):
        run = output("mandoc", "-T", "lint", "-W", "warning", PAGE, TOOL_PAGE)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))


class Completion(BlameTest):
    def complete(self, *words, folder=None):
        """What bash offers for the last word; words as bash takes them apart."""
        script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _blame; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        run = output("bash", "-c", script, "bash", COMPLETION, "blame", *words, cwd=folder or self.folder)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run)
        return [line for line in run.stdout.split("\n") if line]

    def test_commands_options_and_values(self):
        self.assertEqual(sorted(self.complete("")), sorted([*commands(), "--help", "--version"]))
        for command in commands():
            self.assertEqual(self.complete(command, "--"), options_in_help(command))
        self.assertEqual(self.complete("diff", "--n"), ["--normalise"])
        self.assertEqual(self.complete("diff", "a", "--normalise", ""), ["none", "wall", "work"])
        self.assertEqual(self.complete("diff", "--normalise", "=", "w"), ["wall", "work"])
        self.assertEqual(self.complete("diff", "--normalise", "="), ["none", "wall", "work"])
        self.assertEqual(self.complete("diff", "--top", ""), [])
        self.assertEqual(self.complete("nonsense", "--"), [])

    def test_every_value_that_is_offered_is_accepted(self):
        pairs = [(command, option) for command in commands() for option in options_in_help(command)]
        asked = "".join(f'echo "{" ".join(pair)} $(_blame_values {" ".join(pair)})"\n' for pair in pairs)
        offered = output("bash", "-c", f". {COMPLETION}\n{asked}").stdout.splitlines()
        tried = [[BLAME, command, option, value, "--help"] for command, option, *values in map(str.split, offered)
                 for value in values if not value.isupper()]
        self.assertGreater(len(tried), 40)
        for argv in tried:
            run = output(*argv)
            self.assertEqual(run.returncode, 0, f"{argv}: {run.stderr}")

    def test_profiles_and_files(self):
        folder = self.new_folder()
        for name in ("run 1", "run.2", "other"):
            os.makedirs(os.path.join(folder, name))
        for name in ("a.blame", "notes.txt"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        self.assertEqual(sorted(self.complete("stat", "", folder=folder)), ["a.blame", "other", "run 1", "run.2"])
        self.assertEqual(sorted(self.complete("diff", "--base", "run", folder=folder)), ["run 1", "run.2"])
        self.assertEqual(sorted(self.complete("stat", "--output", "n", folder=folder)), ["notes.txt"])
        self.assertEqual(sorted(self.complete("diff", "-o", "n", folder=folder)), ["notes.txt"])

    def test_the_program_of_run_is_a_command_and_its_arguments_are_files(self):
        folder = self.new_folder()
        open(os.path.join(folder, "input.txt"), "w", encoding="utf-8").close()
        self.assertIn("bash", self.complete("run", "bas"))
        self.assertIn("bash", self.complete("run", "--rate", "100", "--", "bas"))
        self.assertEqual(self.complete("run", "--rate", "=", "100", "bash", "in", folder=folder), ["input.txt"])
        self.assertEqual(self.complete("run", "bash", "--view", folder=folder), [])
