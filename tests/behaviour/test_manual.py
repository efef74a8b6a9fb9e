"""The manual pages and the completion say what the programs accept, and nothing else."""

import glob
import os
import re
import pty
import select
import shutil
import signal
import subprocess
import time

from harness import BLAME, BUILD, ROOT, BlameTest

SHARE = os.path.join(BUILD, "share")
PAGE, TOOL_PAGE = os.path.join(SHARE, "man/man1/blame.1"), os.path.join(SHARE, "man/man7/libblame.7")
BASH, ZSH, FISH = (os.path.join(SHARE, name) for name in ("bash-completion/completions/blame", "zsh/site-functions/_blame", "fish/vendor_completions.d/blame.fish"))

# A terminal's zsh, which writes what a line becomes of which it inserts all completions: of the line "" it is ready.
ZSH_START = """
fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D
zstyle ':completion:*' completer _all_matches _complete
zstyle ':completion:*' insert true
told() {{ [[ -z $BUFFER ]] || zle complete-word; print -r -- "$BUFFER" >{folder}/part; mv {folder}/part {folder}/told; BUFFER= }}
zle -N told; bindkey '^I' told; PS1=
"""


def output(*argv, **options):
    return subprocess.run(argv, capture_output=True, text=True, check=False, **options)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def commands():
    text = output(BLAME, "help", "all").stdout
    return re.findall(r"(?m)^  ([a-z]+) ", text.partition("commands:\n")[2])


def options_in_help(command):
    return re.findall(r"(?m)^  (?:-[a-z], )?(--[a-z-]+)", output(BLAME, command, "--help").stdout)


class Manual(BlameTest):
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
            self.assertEqual(re.findall(r"(?m)^\.IP .\\fB(?:-[a-z], )?(--[a-z-]+)\\fR", section), options_in_help(command))
            self.assertIn("Examples:", section)

    def test_texts_of_help_are_in_the_page(self):
        """Every word, whatever the line breaks."""
        page = output("mandoc", "-T", "utf8", "-O", "width=500", PAGE).stdout
        page = " ".join(re.sub(".\b", "", page).split())
        for command in commands():
            text = output(BLAME, command, "--help").stdout
            self.assertIn(" ".join(text.partition("\nexamples:\n")[2].split()), page, command)
            for lines in re.findall(r"(?m)^  (?:-[a-z], )?--[a-z-]+ .*(?:\n {22}.*)*", text):
                words = lines.split()
                self.assertIn(" ".join(words), page, command)

    def test_the_tools_page_has_the_variables_that_run_sets(self):
        variables = ["BLAME" + option[1:].replace("-", "_").upper() for option in options_in_help("run") if option not in ("--help", "--stacks", "--stacks-file")]
        self.assertEqual(re.findall(r"(?m)^\.IP .\\fB(BLAME_[A-Z_]+)\\fR=", text_of(TOOL_PAGE)), variables)

    def test_pages_are_without_warnings(self):
        run = output("mandoc", "-T", "lint", "-W", "warning", PAGE, TOOL_PAGE)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))


class Bash(BlameTest):
    def complete(self, *words, folder=None):
        """What bash offers for the last word; words as bash takes them apart."""
        script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _blame; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        run = output("bash", "-c", script, "bash", BASH, "blame", *words, cwd=folder or self.folder)
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
        offered = output("bash", "-c", f". {BASH}\n{asked}").stdout.splitlines()
        tried = [[BLAME, command, f"{option}={value}", "--help"] for command, option, *kind in map(str.split, offered) if "words" in kind
                 for value in kind[kind.index("words") + 1:]]
        self.assertGreater(len(tried), 100)
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
        self.assertIn("bash", self.complete("run", "--trace", "bas"))
        self.assertEqual(self.complete("run", "--trace", "bash", "in", folder=folder), ["input.txt"])
        self.assertEqual(self.complete("tune", "--dry-run", "--runs", "9", "bash", "in", folder=folder), ["input.txt"])

    def test_actions_and_processes(self):
        self.assertEqual(self.complete("db", ""), ["add", "list", "show", "export", "prune"])
        self.assertIn(str(os.getpid()), self.complete("snapshot", ""))
        self.assertEqual(self.complete("history", ""), [])


class OtherShells:
    """What zsh and fish offer. complete(LINE): words for its last one."""

    def folder_of_files(self):
        folder = self.new_folder()
        os.makedirs(os.path.join(folder, "runs"))
        for name in ("a.blame", "notes.txt"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        return folder

    def test_all_commands_and_options(self):
        self.assertEqual(set(self.complete("blame ")) - {"--help", "--version"}, set(commands()))
        for command in commands():
            offered = {word.rstrip("=") for word in self.complete(f"blame {command} --")}
            self.assertEqual(offered, set(options_in_help(command)), command)

    def test_values(self):
        self.assertEqual(self.complete("blame diff --normalise "), ["none", "wall", "work"])
        self.assertEqual(self.complete("blame diff --normalise=w"), ["--normalise=wall", "--normalise=work"])
        self.assertEqual(self.complete("blame report --sort lock"), ["lock-wait", "lock-wait-here"])
        self.assertEqual(self.complete("blame diff --top "), [])

    def test_profiles_files_and_actions(self):
        folder = self.folder_of_files()
        self.assertEqual(self.complete("blame stat ", folder), ["a.blame", "runs/"])
        self.assertEqual(self.complete("blame diff --base ", folder), ["a.blame", "runs/"])
        self.assertEqual(self.complete("blame run --out ", folder), ["runs/"])
        self.assertEqual(self.complete("blame stat -o n", folder), ["notes.txt"])
        self.assertEqual(self.complete("blame db ", folder), ["add", "export", "list", "prune", "show"])
        self.assertEqual(self.complete("blame db add ", folder), ["a.blame", "runs/"])

    def test_the_program_of_run_is_a_command_and_its_arguments_are_files(self):
        folder = self.folder_of_files()
        for options in ("", "--rate 100 ", "--rate=100 ", "--trace ", "--rate 100 -- "):
            self.assertIn("mandoc", self.complete(f"blame run {options}mando"), options)
            self.assertEqual(self.complete(f"blame run {options}./app no", folder), ["notes.txt"], options)


class Fish(OtherShells, BlameTest):
    def complete(self, line, folder=None):
        if not shutil.which("fish"):
            self.skipTest("no fish")
        run = output("fish", "--no-config", "-c", f"source {FISH}; complete --do-complete='{line}'", cwd=folder or self.new_folder())
        self.assertEqual((run.returncode, run.stderr), (0, ""), run)
        return sorted(item.split("\t")[0] for item in run.stdout.splitlines())


class Zsh(OtherShells, BlameTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        self.state = self.new_folder()
        shutil.copy(ZSH, self.state)
        with open(os.path.join(self.state, "start"), "w", encoding="utf-8") as file:
            file.write(ZSH_START.format(folder=self.state))
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.write(f"cd {self.state}; . ./start\n")
        self.told()

    def tearDown(self):
        if hasattr(self, "process"):
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            os.close(self.terminal)
        super().tearDown()

    def write(self, text):
        os.write(self.terminal, text.encode())

    def told(self):
        """What the line that was written became. The terminal is read meanwhile: a full one would stop zsh."""
        answer, end = os.path.join(self.state, "told"), time.monotonic() + 30
        self.write("\t")
        while not os.path.exists(answer):
            self.assertLess(time.monotonic(), end, "zsh answers nothing")
            if select.select([self.terminal], [], [], 0.02)[0]:
                os.read(self.terminal, 65536)
        text = text_of(answer)
        os.remove(answer)
        return text

    def complete(self, line, folder=None):
        self.write(f"cd {folder or self.state}\n{line}")
        text = self.told()
        before = line.rpartition(" ")[0]
        self.assertTrue(text.startswith(before), text)
        words = sorted(text[len(before):].split())
        return [] if words == line.rpartition(" ")[2:] or text.rstrip("\n") == line else words
