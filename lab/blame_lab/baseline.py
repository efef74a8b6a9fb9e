"""`blame diff --base-where`: finds the base's profiles in the database, and starts `blame diff` with them."""

import os

from .runs import blame, database_path, directories_where, program_environment

TAKES_VALUE = ("--base-where", "--db")


def main(argv):
    """Runs `blame diff` with its argument list `argv`, which `blame` has checked."""
    where = database = None
    rest, at = [], 1
    while at < len(argv):
        name, equals, value = argv[at].partition("=")
        at += 1
        if name == "--":
            rest += argv[at - 1:]
            break
        if name not in TAKES_VALUE:
            rest.append(name + equals + value)
            continue
        if not equals:
            value, at = argv[at], at + 1
        if name == "--db":
            database = value
        else:
            where = value
    found = directories_where("diff", database_path(database), where)
    bases = [argument for directory in found for argument in ("--base", directory)]
    os.execve(blame(), ["blame", "diff", *bases, *rest], program_environment())
