"""Options of the commands, read and told of as those of the commands in C are (cli/options.c)."""

import math
import re
import sys

from .refused import BAD_USAGE, Refused
from .text import clean

HELP_COLUMN = 22  # where the text about an option begins
HELP_WORDS = 70   # columns of words behind it
SHORT = {"-o": "--output", "-j": "--jobs"}


class Helped(Exception):
    """--help was printed."""


class Option:
    """One option. kind: flag, text, list, number, whole or word; words: of a word [(word, about or None)]."""

    def __init__(self, name, kind, value=None, help_text="", low=0, high=0, words=None, default=None, prefix=""):
        self.name, self.kind, self.value, self.help, self.low, self.high, self.words = name, kind, value, help_text, low, high, words
        self.prefix = prefix  # of a word that the user ends: "threads:4"
        self.default = default if default is not None or kind != "list" else []
        self.key = name.lstrip("-").replace("-", "_")

    def accepted(self):
        if self.kind == "word":
            return "are " + ", ".join(word for word, _ in self.words)
        if self.kind in ("number", "whole"):
            return f"is a {'whole ' if self.kind == 'whole' else ''}number from {self.low:g} to {self.high:.0f}"
        return f"is a {self.value} that is not empty"

    def read(self, text):
        """The value of a text, None where that is not accepted."""
        if self.kind == "word":
            return text if any(text == word for word, _ in self.words) else None
        if self.kind in ("number", "whole"):
            if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?" if self.kind == "number" else r"[+-]?\d+", text):
                return None
            number = float(text) if self.kind == "number" else int(text)
            return number if math.isfinite(number) and self.low <= number <= self.high else None
        return text or None


class Usage:
    """A command's options and what --help says. operands: what is accepted, as `is a profile`; operand: one of them in messages."""

    def __init__(self, command, synopsis, about, examples, options, operand="operand", operands="are options alone", operands_none=False, operands_most=0,
                 program=False):
        self.command, self.synopsis, self.about, self.examples, self.options = command, synopsis, about, examples, options
        self.operand, self.operands, self.operands_none, self.operands_most = operand, operands, operands_none, operands_most
        self.program = program  # the first operand is a program, and all behind it is the program's

    def refuse(self, message):
        raise Refused(message, BAD_USAGE)

    def read(self, argv):
        """Returns (values by option, operands, names of the options given). argv[0] is the command's name."""
        values = {option.key: list(option.default) if option.kind == "list" else option.default for option in self.options}
        operands, given, at, ended = [], [], 1, False
        while at < len(argv):
            text = argv[at]
            at += 1
            if ended or not text.startswith("-") or text == "-":
                ended |= self.program
                operands.append(text)
            elif text == "--":
                ended = True
            elif text in ("--help", "-h"):
                self.print_help()
                raise Helped
            else:
                at = self.read_option(text, argv, at, values, given)
        self.check_operands(operands)
        return values, operands, given

    def read_option(self, text, argv, at, values, given):
        name, equals, value = (SHORT[text], "", "") if text in SHORT else text.partition("=")
        option = next((option for option in self.options if option.name == name), None)
        if option is None:
            self.refuse(f"{text}: no such option; accepted are {', '.join(option.name for option in self.options)}, --help")
        given.append(option.name)
        if option.kind == "flag":
            if equals:
                self.refuse(f"{option.name}: takes no value: give it alone")
            values[option.key] = True
            return at
        if not equals:
            if at == len(argv):
                self.refuse(f"{text}: a value must follow; see blame {self.command} --help")
            value, at = argv[at], at + 1
        read = option.read(value)
        if read is None:
            self.refuse('{} {}: accepted {}'.format(option.name, value or '""', option.accepted()))
        if option.kind == "list":
            values[option.key].append(read)
        else:
            values[option.key] = read
        return at

    def check_operands(self, operands):
        if not operands and not self.operands_none:
            self.refuse(f"no {self.operand} given; accepted {self.operands}")
        if self.operands_most and len(operands) > self.operands_most:
            self.refuse(f"{operands[self.operands_most]}: one {self.operand} is accepted, and {operands[0]} was given already")

    def print_help(self):
        lines = [f"usage: blame {self.command} {self.synopsis}", "", self.about, ""]
        for option in self.options:
            lines += help_lines(option)
        lines += [f"{'  --help':<{HELP_COLUMN}}this text", "", "examples:", self.examples]
        sys.stdout.write("\n".join(lines) + "\n")


def help_lines(option):
    left = f"  {option.name}{' ' + option.value if option.value else ''}"
    lines = [left, " " * HELP_COLUMN] if len(left) + 2 > HELP_COLUMN else [f"{left:<{HELP_COLUMN}}"]
    indent = "\n" + " " * HELP_COLUMN
    text = lines[-1] + option.help.replace("\n", indent)
    width, used = max((len(word) for word, about in option.words or () if about), default=0), 0
    for number, (word, about) in enumerate(option.words or ()):
        comma = "" if about or number + 1 == len(option.words) else ","
        begin = about or used == 0 or used + len(word) + len(comma) + 1 > HELP_WORDS
        if begin and (option.help or number):
            text += indent
        used = len(word) + len(comma) + 1 + (0 if begin else used)
        if about:
            text += f"{word:<{width}}  " + about.replace("\n", indent + " " * (width + 2))
        else:
            text += ("" if begin else " ") + word + comma
    return lines[:-1] + text.split("\n")


def say(command, message):
    sys.stderr.write(f"blame {command}: {clean(message)}\n")
