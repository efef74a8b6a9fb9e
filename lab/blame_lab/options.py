"""Options of the commands, which `blame` has read and checked (cli/lab_options.c)."""

import json
import re
import sys

from .text import clean


def read(argv):
    """Returns (values by option, operands, names of the options given). argv: the command's name; KEY:TEXT, KEY=JSON, KEY+ITEM; `--`, and the operands."""
    end = argv.index("--")
    values = {}
    for argument in argv[1:end]:
        key, how, text = re.fullmatch(r"(\w+)([:=+])(.*)", argument, re.DOTALL).groups()
        if how == "+":
            values[key].append(text)
        else:
            values[key] = json.loads(text) if how == "=" else text
    return values, argv[end + 1:], values.pop("given").split()


def say(command, message):
    sys.stderr.write(f"blame {command}: {clean(message)}\n")
