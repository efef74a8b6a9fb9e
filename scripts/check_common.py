"""What the check scripts share: the project's files, C text without comments, and self-tests."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def project_files(root, *suffixes):
    """Relative names of files that are, or are about to be, in the repository; all files where there is no git."""
    listing = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if listing.returncode == 0 and listing.stdout:
        names = listing.stdout.splitlines()
    else:
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, files in os.walk(root) for name in files]
        names = [name for name in names if not name.startswith(("build", ".git/"))]
    return sorted(name for name in set(names) if name.endswith(suffixes) and os.path.isfile(os.path.join(root, name)))


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


NO_CODE = re.compile(
    r"""/\*.*?(?:\*/|\Z) | //[^\n]* | (["'])(?:\\. | (?!\1)[^\\\n])*(?:\1 | \n | \\?\Z)""", re.DOTALL | re.VERBOSE
)
NO_NEWLINE = re.compile(r"[^\n]")


def strip_c(text):
    """C text with comments, strings and characters blanked out; every line keeps its number."""
    return NO_CODE.sub(lambda found: NO_NEWLINE.sub(" ", found.group()), text)


def blank_directives(text):
    """Preprocessor lines blanked, continued ones too: they may hold half a brace."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.MULTILINE)


def make_files(root, files):
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def self_test(cases, check_case):
    """cases: (name, what check_case(root, ...) takes, words). It must complain with all the words, or not at all for none."""
    failures = 0
    for name, *details, words in cases:
        with tempfile.TemporaryDirectory() as root:
            text = "\n".join(check_case(root, *details))
        if bool(text) != bool(words) or any(word not in text for word in words):
            print(f"self-test {name}: expected {words or 'no complaint'}, got:\n{text}")
            failures += 1
    print(f"self-test: {len(cases) - failures} of {len(cases)} as expected")
    return 1 if failures else 0


def compile_units(root, *names, flags=("-O1", "-fno-inline", "-fPIC", "-ffunction-sections", "-fdata-sections")):
    """x.o beside build/: of each x.c, also of those in folders. False when one cannot be compiled."""
    for name in names:
        out = os.path.join("build", os.path.splitext(name)[0] + ".o")
        os.makedirs(os.path.join(root, os.path.dirname(out)), exist_ok=True)
        if subprocess.run(["cc", "-w", "-I.", *flags, "-c", "-o", out, name], cwd=root, stderr=subprocess.DEVNULL, check=False).returncode:
            return False
    return True


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"LC_ALL": "C"}).stdout


def read_table(path, *kinds):
    """Rows (kind, name, reason) of a list, and complaints about the list itself."""
    rows, complaints = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split(None, 2)
            if not words or line.startswith("#"):
                continue
            if len(words) < 3 or words[0] not in kinds:
                complaints.append(f"{path}:{number}: not of the form `{'|'.join(kinds)} NAME REASON`")
            elif any(words[1] == name for _, name, _ in rows):
                complaints.append(f"{path}:{number}: {words[1]} is there twice")
            else:
                rows.append((words[0], words[1], words[2].strip()))
    return rows, complaints


def finish(complaints, good):
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} complaints" if complaints else good)
    return 1 if complaints else 0


def main(doc, cases, check_case, check, good, arguments=1):
    """--self-test, or check() of so many arguments."""
    given = sys.argv[1:]
    if given == ["--self-test"]:
        return self_test(cases, check_case)
    if len(given) != arguments:
        print(doc, file=sys.stderr)
        return 2
    return finish(check(*given), good)
