#!/usr/bin/env python3
"""Writes what the commands' --help says into the manual pages, the completion and docs/options.md, so that these have every
option and no other.

    cli/man/update.py BLAME          writes blame.1, libblame.7, ../completion/blame, ../../docs/options.md anew (make man)
    cli/man/update.py BLAME --check  says what differs, and ends with 1 then

Between the lines BEGIN and END these files are written by this program; the rest is written by hand."""

import os
import re
import subprocess
import sys

CLI = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE, TOOL_PAGE = (os.path.join(CLI, "man", name) for name in ("blame.1", "libblame.7"))
COMPLETION = os.path.join(CLI, "completion", "blame")
DOCUMENT = os.path.join(os.path.dirname(CLI), "docs", "options.md")
OPTION = re.compile(r"  (--[a-z-]+)(?: (\S+))?(?: {2,}(\S.*))?$")
ITEM = re.compile(r"([a-z0-9][a-z-]*) {2,}(\S.*)$")


class Option:
    def __init__(self, name, value, text):
        self.name, self.value, self.lines = name, value, [text] if text else []
        self.words = []


class Command:
    """What `blame NAME --help` says."""

    def __init__(self, blame, name):
        self.name = name
        text = output(blame, name, "--help")
        head, _, self.examples = text.partition("\nexamples:\n")
        usage, *paragraphs = head.rstrip("\n").split("\n\n")
        self.synopsis = usage.removeprefix(f"usage: blame {name} ")
        self.options = [option for paragraph in paragraphs if paragraph.startswith("  --")
                        for option in read_options(paragraph)]
        self.about = [paragraph for paragraph in paragraphs if not paragraph.startswith("  --")]
        for option in self.options:
            option.words = words_of(blame, name, option)


def output(blame, *arguments):
    env = os.environ | {"LC_ALL": "C"}
    return subprocess.run([blame, *arguments], env=env, capture_output=True, text=True, check=True).stdout


def words_of(blame, command, option):
    """What the message about a wrong value says is accepted."""
    if not option.value:
        return []
    run = subprocess.run([blame, command, option.name, ""], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         check=False)
    accepted = re.search(r": accepted are ([^;\n]*)$", run.stderr.strip())
    return accepted[1].split(", ") if run.returncode == 2 and accepted else []


def read_options(paragraph):
    options = []
    for line in paragraph.splitlines():
        match = OPTION.match(line)
        if match:
            options.append(Option(*match.groups()))
        else:
            options[-1].lines.append(line.strip())
    return options


def commands_of(blame):
    section = output(blame, "--help").split("\ncommands:\n")[1].split("\n\n")[0]
    return [(line.split()[0], line.split(None, 1)[1]) for line in section.splitlines()]


# ---- the manual pages ----

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def roff_lines(lines):
    """A paragraph, with a list where lines have the form `word   what it means`."""
    out, inside = [], False
    for line in lines:
        item = ITEM.match(line)
        if item:
            if not inside:
                out.append(".RS")
            inside = True
            out += [f".IP \\fB{roff(item[1])}\\fR", roff(item[2])]
        else:
            out.append(roff(line))
    return out + ([".RE"] if inside else [])


def roff_option(name, between, option):
    value = f"{between}\\fI{roff(option.value)}\\fR" if option.value else ""
    return [f'.IP "\\fB{roff(name)}\\fR{value}"', *roff_lines(option.lines)]


def variables(run):
    return [("BLAME" + option.name[1:].replace("-", "_").upper(), option) for option in run.options
            if option.value and not option.name.startswith("--stacks")]  # of the command alone


def roff_variables(run):
    return [line for name, option in variables(run) for line in roff_option(name, "=", option)]


def roff_command(command):
    out = [f".SS blame {command.name} {roff(command.synopsis)}"]
    for i, paragraph in enumerate(command.about):
        out += ([".PP"] if i else []) + roff_lines(paragraph.splitlines())
    for option in command.options:
        out += roff_option(option.name, " ", option)
    if command.examples:
        out += [".PP", "Examples:", ".PP", ".RS 4", ".nf"]
        out += [roff(line.removeprefix("  ")) for line in command.examples.rstrip("\n").splitlines()]
        out += [".fi", ".RE"]
    return out


# ---- the document ----

def table(run):
    """A row for each variable: `word` what it means; `word` ..."""
    rows = ["| variable | values |", "|---|---|"]
    for name, option in variables(run):
        text = " ".join(ITEM.sub(r"; `\1` \2", line) for line in option.lines)
        value = "" if option.words else f"={option.value}"
        rows.append(f"| `{name}{value}` | {text.removeprefix('; ').replace(': ;', ':').replace(' ;', ';')} |")
    return rows


# ---- the completion ----

def shell_values(commands):
    """By command and option: words, or what kind of file; NONE: a value that only the user knows."""
    lines = []
    for command in commands:
        for option in command.options:
            if option.value:
                words = " ".join(option.words) or {"FILE": "FILE", "DIR": "DIR"}.get(option.value, "NONE")
                lines.append(f"    {command.name}{option.name}) echo '{words}' ;;")
    return lines


def shell(commands):
    return [
        "_blame_commands='" + " ".join(command.name for command in commands) + "'",
        "_blame_options()", "{", "    case $1 in",
        *(f"    {command.name}) echo '{' '.join(option.name for option in command.options)}' ;;" for command in commands),
        "    esac", "}",
        "_blame_values()", "{", "    case $1$2 in", *shell_values(commands), "    esac", "}",
    ]


# ---- all ----

def between(text, begin, end, lines):
    before, rest = text.split(begin + "\n")
    after = rest.split(end + "\n")[1]
    return before + begin + "\n" + "\n".join(lines) + "\n" + end + "\n" + after


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    blame = os.path.abspath(sys.argv[1])
    commands = [Command(blame, name) for name, _ in commands_of(blame)]
    run, = (command for command in commands if command.name == "run")
    page = [line for command in commands for line in roff_command(command)]
    stale = False
    for path, begin, end, lines in ((PAGE, '.\\" BEGIN options', '.\\" END options', page),
                                    (TOOL_PAGE, '.\\" BEGIN options', '.\\" END options', roff_variables(run)),
                                    (DOCUMENT, "<!-- BEGIN options -->", "<!-- END options -->", table(run)),
                                    (COMPLETION, "# BEGIN options", "# END options", shell(commands))):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = between(old, begin, end, lines)
        if new != old and len(sys.argv) == 3:
            print(f"{os.path.relpath(path, CLI)}: is not what blame COMMAND --help says; run make man")
            stale = True
        elif new != old:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    sys.exit(stale)


if __name__ == "__main__":
    main()
