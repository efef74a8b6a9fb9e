#!/usr/bin/env python3
"""Links of *.md files lead to files and headings that are there, and the files of this repository that they name exist. Messages that
headings of docs/troubleshooting.md quote are in the sources: users search that page for what blame printed.

    scripts/check-docs.py [--self-test]"""

import os
import posixpath
import re
import sys

from check_common import ROOT, main, make_files, project_files, read

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
CODE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:c|h|py|md|mk|sh|js|css|proto))`")
TROUBLES = "docs/troubleshooting.md"
MESSAGE = re.compile(r"`([^`]+)`")
SEAM = re.compile(r'"\s*"')  # between the parts of a string literal
FOREIGN = ("ERROR: ld.so", "OMP: Error", "Bus error")  # messages of the loader, libomp and the shell
MADE = ("build/",)  # what is not in the repository
EXEMPT = ("CHANGELOG.md",)  # names files of their time


def anchor(heading):
    """A heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")


def check_messages(root, files):
    """Complains about quoted messages of three words or more that no source file has. `...` and a number stand for anything."""
    if TROUBLES not in files:
        return []
    sources = "\n".join(SEAM.sub("", read(root, name)) for name in files if name.endswith((".c", ".h")) and not name.startswith("tests/"))
    complaints = []
    for heading in HEADING.findall(FENCE.sub("", read(root, TROUBLES))):
        for message in MESSAGE.findall(heading):
            parts = [part.strip(" :") for part in re.split(r"\.\.\.|\bN\b|[0-9]+", message)]
            if not message.startswith(FOREIGN) and any(len(part.split()) > 2 and part not in sources for part in parts):
                complaints.append(f"{TROUBLES}: quotes `{message}`, which no source file prints")
    return complaints


def check(root=ROOT):
    files = set(project_files(root, ""))
    complaints = check_messages(root, files)
    tops = {name.split("/")[0] for name in files}
    for name in sorted(files):
        if not name.endswith(".md") or name in EXEMPT:
            continue
        text = read(root, name)
        for match in LINK.finditer(FENCE.sub(lambda fence: "\n" * fence.group().count("\n"), text)):
            line, (path, _, heading) = text.count("\n", 0, match.start()) + 1, match.group(1).partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if not os.path.exists(os.path.join(root, target)):
                complaints.append(f"{name}:{line}: links to {path}, which is not there")
            elif heading and target.endswith(".md") and heading not in map(anchor, HEADING.findall(FENCE.sub("", read(root, target)))):
                complaints.append(f"{name}:{line}: links to #{heading}, a heading that {target} does not have")
        for match in CODE.finditer(text):
            path = match.group(1)
            if path.split("/")[0] in tops and path not in files and not path.startswith(MADE):
                complaints.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: names {path}, which is not there")
    return complaints


CASES = [
    ("good", {"docs/a.md": "# The top\n[b](b.md#one-two) [c](#the-top) [d](https://x.org/y) `docs/b.md`\n", "docs/b.md": "## One two\n"}, []),
    ("no file", {"a.md": "x\n[b](b.md)\n"}, ["a.md:2: links to b.md"]),
    ("no heading", {"a.md": "[b](b.md#one)\n", "b.md": "# Two\n```\n# one\n```\n"}, ["a.md:1: links to #one"]),
    ("a link in a code block", {"a.md": "```\n[b](b.md)\n```\n"}, []),
    ("a message", {"docs/troubleshooting.md": "### `no core: 5 threads were late`\n", "a.c": 'say("no core: %u thr"\n    "eads were late")'}, []),
    ("no message", {"docs/troubleshooting.md": "### `all threads were late`\n", "a.c": '"threads"'}, ["docs/troubleshooting.md: quotes"]),
    ("a named file", {"a.md": "see `cct/tree.c` and `other/tree.c`\n", "cct/a.c": ""}, ["a.md:1: names cct/tree.c"]),
]


def check_case(root, files):
    make_files(root, files)
    return check(root)


if __name__ == "__main__":
    sys.exit(main(__doc__, CASES, check_case, check, "docs: every link and every file that they name is there", arguments=0))
