#!/usr/bin/env python3
"""A file includes only its own folder or one further down the list of design.md, section 2.

    scripts/check-layers.py [--self-test]"""

import posixpath
import re
import sys

from check_common import main, project_files, read

LAYERS = ["cli", "html", "export", "compare", "report", "ompt_tool", "blame", "cct", "unwind", "loader", "base"]
# The only file of the plugin that may call report/.
EXCEPTIONS = {("ompt_tool/finish.c", "report")}
# report/ and ompt_tool/ are neighbours: the offline command must not pull in the plugin.
PLUGIN = ["ompt_tool", "blame", "unwind"]
FORBIDDEN = {"report": PLUGIN, "cli": PLUGIN, "html": PLUGIN + ["export", "compare"], "export": PLUGIN + ["compare"],
             "compare": PLUGIN}
# Headers that only some layers may see.
FOREIGN = [(re.compile(r"omp-tools\.h|ompt?\.h"), {"ompt_tool"}, "OMPT's types stop at ompt_tool/"),
           (re.compile(r"libunwind.*\.h"), {"unwind"}, "only unwind/ knows libunwind"),
           (re.compile(r"(elfutils/.*|dwarf|gelf|libelf)\.h"), {"unwind", "report", "cli"},
            "debug information is read in report/ (and unwind/)")]
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def resolve(folder, target):
    """A quoted include is named from the repository's root; beside its source is the other place a compiler looks."""
    first = target.split("/")[0]
    if first in LAYERS or first == "include" or "/" in target:
        return posixpath.normpath(target)
    return posixpath.normpath(posixpath.join(folder, target))


def complaint_of(source, quoted, target):
    layer = source.split("/")[0]
    for pattern, allowed, why in FOREIGN:
        if pattern.fullmatch(target) and layer not in allowed:
            return why
    if not quoted:
        return None
    name = resolve(layer, target)
    other = name.split("/")[0]
    if other == layer or other == "include" or (source, other) in EXCEPTIONS:
        return None
    if other not in LAYERS:
        return "it is in no layer"
    if LAYERS.index(other) < LAYERS.index(layer):
        return f"{layer}/ must not know {other}/"
    if other in FORBIDDEN.get(layer, []):
        return f"{layer}/ must work without {other}/"
    return None


def check(root):
    complaints = []
    for name in project_files(root, ".c", ".h", ".map"):
        if name.split("/")[0] not in LAYERS:
            continue
        text = read(root, name)
        for match in INCLUDE.finditer(text):
            why = complaint_of(name, match.group(1) == '"', match.group(2))
            if why:
                complaints.append(f"{name}:{text.count(chr(10), 0, match.start(2)) + 1}: includes {match.group(2)}: {why}")
    return complaints


CASES = [
    ("good", {"base/a.h": "", "cct/a.c": '#include "base/a.h"\n#include "include/b.h"\n#include <stdio.h>\n',
              "ompt_tool/finish.c": '#include "report/x.h"\n#include <omp-tools.h>\n',
              "unwind/u.c": "#include <libunwind-x86_64.h>\n", "cct/b.c": '#include "a.h"\n'}, []),
    ("upwards", {"base/a.c": '\n#include "cct/tree.h"\n'}, ["base/a.c:2", "must not know cct/"]),
    ("blame up", {"blame/a.c": '#include "ompt_tool/session/thread.h"\n'}, ["blame/a.c:1"]),
    ("only finish", {"ompt_tool/session/session.c": '#include "report/rows/rows.h"\n'}, ["ompt_tool/ must not know report/"]),
    ("report alone", {"report/a.c": '#include "ompt_tool/session/thread.h"\n'}, ["report/ must work without ompt_tool/"]),
    ("ompt in cct", {"cct/a.c": "#include <omp-tools.h>\n"}, ["OMPT's types stop"]),
    ("ompt in blame", {"blame/a.h": '#  include "omp-tools.h"\n'}, ["OMPT's types stop"]),
    ("libunwind in plugin", {"ompt_tool/a.c": "#include <libunwind.h>\n"}, ["only unwind/"]),
    ("libunwind-ptrace", {"base/a.c": "#include <libunwind-ptrace.h>\n"}, ["only unwind/"]),
    ("through the parent", {"cct/a.c": '#include "../ompt_tool/session/thread.h"\n'}, ["cct/a.c:1"]),
    ("tests in product", {"cct/a.c": '#include "tests/unit/x.h"\n'}, ["in no layer"]),
]

if __name__ == "__main__":
    sys.exit(main(check, CASES, "layers: every include points to its own folder or down"))
