#!/usr/bin/env python3
"""The house is as scripts/rooms.py says: a unit (x.c with x.h) uses its own room and those that its room may use, and no
units include each other, or need each other's symbols (nm), in a circle. A symbol is defined once.

    scripts/check-layers.py BUILD         object files of all units (make checks has them made)
    scripts/check-layers.py --picture     the house, as docs/architecture.md has it
    scripts/check-layers.py --self-test"""

import graphlib
import os
import platform
import posixpath
import re
import subprocess
import sys
from collections import defaultdict

import rooms
from check_common import ROOT, compile_units, main, make_files, project_files, read

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
ROOM = {room.name: room for room in rooms.ROOMS}
MACHINES = ("_x86_64", "_aarch64")
WIDTHS = (40, 18, 0)  # of the picture's columns
DOCUMENT, MARKS = "docs/architecture.md", ("<!-- the house: scripts/check-layers.py --picture -->\n```\n", "```\n<!-- end -->")


def room_of(name):
    """Of a file or unit: its folder's; None for one that is in no room."""
    folder = posixpath.dirname(name)
    return folder if folder in ROOM else None


def unit_of(name):
    return posixpath.splitext(name)[0]


def includes_of(root, name):
    """(line, quoted, target) of each include; a quoted one from the root, or beside its source."""
    text = read(root, name)
    for match in INCLUDE.finditer(text):
        target = match.group(2)
        if match.group(1) == '"':
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            target = beside if os.path.exists(os.path.join(root, beside)) else posixpath.normpath(target)
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1) == '"', target


def foreign_complaint(name, target):
    for pattern, allowed, why in rooms.FOREIGN:
        if re.fullmatch(pattern, target) and not any((room_of(name) + "/").startswith(room + "/") for room in allowed):
            return why
    return None


def read_includes(root, names, uses):
    """Fills uses[unit][other unit] with how; complaints about what is no unit of a room."""
    complaints = []
    for name in names:
        for line, quoted, target in includes_of(root, name):
            why = foreign_complaint(name, target)
            if not why and quoted and not room_of(target):
                why = "it is in no room"
            if why:
                complaints.append(f"{name}:{line}: includes {target}: {why}")
            elif quoted and unit_of(target) != unit_of(name):
                uses[unit_of(name)].setdefault(unit_of(target), f"includes {target}")
    return complaints


def is_of_machine(unit):
    """False: a unit that is another one on each machine (x_MACHINE.c), of another than this."""
    return not unit.endswith(MACHINES) or unit.endswith("_" + platform.machine())


def symbols_of(build, units):
    """(unit, nm's letter, name) of each global symbol."""
    unit_at = {os.path.join(build, unit + ".o"): unit for unit in units}
    listing = subprocess.run(["nm", "-A", "-g", *unit_at], capture_output=True, text=True, check=True).stdout if units else ""
    for line in listing.splitlines():
        path, _, symbol = line.partition(":")
        yield unit_at[path], *symbol.split()[-2:]


def read_symbols(build, units, uses):
    """Fills uses[unit][other unit] with how; complaints about objects that are missing and symbols of two units."""
    missing = [unit for unit in units if not os.path.exists(os.path.join(build, unit + ".o"))]
    if missing:
        return [f"{build}/{unit}.o is missing: make all" for unit in missing]
    symbols, home, complaints = list(symbols_of(build, units)), {}, []
    for unit, kind, name in symbols:
        if kind in "UWVwv":  # a weak one may be many units': the header's
            continue
        if name in home:
            complaints.append(f"{name}: defined by {home[name]} and {unit}: two things of one name")
        home[name] = unit
    for unit, kind, name in symbols:
        if kind == "U" and home.get(name, unit) != unit:
            uses[unit].setdefault(home[name], f"needs {name}")
    return complaints


def circle_complaints(uses):
    """Of one circle, if there are any: each unit of it uses the next."""
    try:
        graphlib.TopologicalSorter(uses).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][::-1]
        way = "; ".join(f"{unit} {uses[unit][other]}" for unit, other in zip(circle, circle[1:]))
        yield f"{', '.join(sorted(set(circle)))}: a circle: {way}"


def structure_complaints(uses):
    """Of includes, or of symbols."""
    for unit, others in sorted(uses.items()):
        for other, how in sorted(others.items()):
            home, there = room_of(unit), room_of(other)
            if home != there and there not in ROOM[home].uses:
                yield f"{unit} {how}: {home}/ must not know {there}/"
    yield from circle_complaints(uses)


def table_complaints():
    places = {room.name: place for place, room in enumerate(rooms.ROOMS)}
    return [f"scripts/rooms.py: {room.name} may use {other}, which is not further down" for room in rooms.ROOMS
            for other in room.uses if places.get(other, -1) <= places[room.name]]


def gather(root, build=None):
    """(what units include of which others, what symbols they need of them, complaints)"""
    includes, needs = defaultdict(dict), defaultdict(dict)
    folders = {room.name.split("/")[0] for room in rooms.ROOMS}
    names = [name for name in project_files(root, ".c", ".h") if name.split("/")[0] in folders]
    complaints = table_complaints() + [f"{name}: its folder is no room of scripts/rooms.py" for name in names if not room_of(name)]
    names = [name for name in names if room_of(name)]
    complaints += read_includes(root, names, includes)
    if build:
        linked = [unit_of(name) for name in names if name.endswith(".c") and ROOM[room_of(name)].side not in (rooms.LOADER, rooms.MPI, rooms.PTHREADS, rooms.MERGE)]
        complaints += read_symbols(build, list(filter(is_of_machine, linked)), needs)
    return includes, needs, complaints + [*structure_complaints(includes), *structure_complaints(needs)]


def unused_complaints(*graphs):
    """Of what the table allows and nobody does: it would be drawn."""
    used = {(room_of(unit), room_of(other)) for uses in graphs for unit, others in uses.items() for other in others}
    return [f"scripts/rooms.py: {room.name} does not use {other}: strike it" for room in rooms.ROOMS for other in room.uses
            if (room.name, other) not in used]


def together(names):
    """Rooms of one floor, those of one parent in one word."""
    children = defaultdict(list)
    for name in names:
        parent, _, child = name.rpartition("/")
        children[parent].append(child)
    return "  ".join(f"{parent}/{{{','.join(of)}}}/" if parent and len(of) > 1 else
                     "  ".join(f"{parent}/{child}/".lstrip("/") for child in of) for parent, of in children.items())


def picture():
    """Floor by floor: each room above all that it may use."""
    floors = {}
    for room in reversed(rooms.ROOMS):
        floors[room.name] = 1 + max((floors[other] for other in room.uses), default=0)
    columns = [(rooms.PLUGIN, "in the program: " + rooms.PLUGIN), (rooms.BOTH, "both"), (rooms.COMMAND, "the command: " + rooms.COMMAND)]
    lines = ["      " + "".join(title.ljust(width) for (_, title), width in zip(columns, WIDTHS)).rstrip()]
    for floor in range(max(floors[room.name] for room in rooms.ROOMS if room.side == rooms.COMMAND), 0, -1):
        cells = [together(room.name for room in rooms.ROOMS if floors[room.name] == floor and room.side == side) for side, _ in columns]
        lines.append(f"{floor:3}   " + "".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS)).rstrip())
    width = max(len(room.name) for room in rooms.ROOMS) + 3
    return "\n".join(lines + [""] + [f"{room.name + '/':{width}}{room.purpose}" for room in rooms.ROOMS]) + "\n"


def document_complaints():
    """The page's picture is the table's; what it names is there: files, and functions in the file of their line."""
    text, complaints = read(ROOT, DOCUMENT), []
    if MARKS[0] + picture() + MARKS[1] not in text:
        complaints.append(f"{DOCUMENT}: its picture is not what scripts/check-layers.py --picture prints")
    for functions, name in re.findall(r"\| (`[^|]*`) \| ([\w/.]+\.c) \|", text):
        source = read(ROOT, name) if os.path.exists(os.path.join(ROOT, name)) else ""
        complaints += [f"{DOCUMENT}: {name} has no function {function}" for function in re.findall(r"`(\w+)`", functions)
                       if not re.search(rf"^[\w *()]*\b{function}\(", source, re.MULTILINE)]
    return complaints + [f"{DOCUMENT}: {name} is not there" for name in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/(?:[\w-]+\.\w+)?)`", text)
                         if not os.path.exists(os.path.join(ROOT, name))]


# (name, files, words of the complaints)
CASES = [
    ("good", {"base/a.h": "", "cct/a.c": '#include "base/a.h"\n#include <stdio.h>\n', "cct/a.h": "", "cct/b.c": '#include "a.h"\n',
              "ompt_tool/b.h": "#include <omp-tools.h>\n", "unwind/u.c": "#include <libunwind-x86_64.h>\n"}, []),
    ("upwards", {"base/a.c": '\n#include "cct/tree.h"\n', "cct/tree.h": ""}, ["base/a includes cct/tree.h", "must not know cct/"]),
    ("blame up", {"blame/a.c": '#include "ompt_tool/t.h"\n'}, ["blame/ must not know ompt_tool/"]),
    ("a room knows the edge", {"ompt_tool/locks/a.c": '#include "ompt_tool/t.h"\n'}, ["ompt_tool/locks/ must not know ompt_tool/"]),
    ("the plugin reads", {"ompt_tool/a.c": '#include "command/rows/rows.h"\n'}, ["ompt_tool/ must not know command/rows/"]),
    ("report knows the plugin", {"command/rows/a.c": '#include "blame/t.h"\n'}, ["command/rows/ must not know blame/"]),
    ("ompt in cct", {"cct/a.c": "#include <omp-tools.h>\n"}, ["cct/a.c:1", "OMPT's types stop"]),
    ("ompt in blame", {"blame/a.h": '\n#  include "omp-tools.h"\n'}, ["blame/a.h:2", "OMPT's types stop"]),
    ("libunwind in plugin", {"ompt_tool/a.c": "#include <libunwind.h>\n"}, ["only unwind/"]),
    ("libunwind-ptrace", {"base/a.c": "#include <libunwind-ptrace.h>\n"}, ["only unwind/"]),
    ("through the parent", {"cct/a.c": '#include "../ompt_tool/t.h"\n', "ompt_tool/t.h": ""}, ["cct/ must not know ompt_tool/"]),
    ("tests in product", {"cct/a.c": '#include "tests/unit/x.h"\n'}, ["cct/a.c:1", "in no room"]),
    ("a folder that is no room", {"command/odd/a.c": ""}, ["command/odd/a.c: its folder is no room"]),
    ("circle by include", {"cct/a.c": '#include "cct/b.h"\n', "cct/b.h": '#include "cct/c.h"\n', "cct/c.c": '#include "cct/a.h"\n',
                           "cct/a.h": "", "cct/c.h": ""}, ["cct/a, cct/b, cct/c: a circle", "cct/c includes cct/a.h"]),
    ("circle by link", {"cct/a.c": "void b(void); void a(void) { b(); }\n", "cct/b.c": "void a(void); void b(void) { a(); }\n"},
     ["cct/a, cct/b: a circle", "cct/a needs b", "cct/b needs a"]),
    ("a part has its types from the whole's header", {"cct/a.c": "void b(void); void a(void) { b(); }\n", "cct/a.h": "",
                                                      "cct/b.c": '#include "a.h"\nvoid b(void) {}\n'}, []),
    ("up by link", {"base/a.c": "void b(void); void a(void) { b(); }\n", "cct/b.c": "void b(void) {}\n"}, ["base/a needs b"]),
    ("two of one name", {"cct/a.c": "void a(void) {}\n", "blame/b.c": "void a(void) {}\n"}, ["a: defined by"]),
    ("one for each machine", {"cct/a_x86_64.c": "void a(void) {}\n", "cct/a_aarch64.c": "void a(void) {}\n"}, []),
]


def check_case(root, files):
    """A case that includes what is not there is about includes alone."""
    make_files(root, files)
    compiled = compile_units(root, *(name for name in files if name.endswith(".c")))
    return gather(root, os.path.join(root, "build") if compiled else None)[2]


def check(build):
    includes, needs, complaints = gather(ROOT, build)
    return complaints or unused_complaints(includes, needs) + document_complaints()


if __name__ == "__main__":
    if sys.argv[1:] == ["--picture"]:
        print(picture(), end="")
    else:
        sys.exit(main(__doc__, CASES, check_case, check, f"layers: {len(rooms.ROOMS)} rooms, each uses those below it; no circles"))
