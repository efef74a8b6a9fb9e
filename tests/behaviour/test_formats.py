"""Measurement files of all formats that there have been (tests/formats, docs/format.md) are read, and say what they said."""

import csv
import gzip
import io
import os
import struct

from harness import BLAME, ROOT, BlameTest, clean_environment, execute

FILES = os.path.join(ROOT, "tests", "formats")
# What `blame` said of each when it was made: a file's numbers never change.
SAID = {1: {"samples": 49, "work": 0.067031, "idleness": 0.049031, "lock wait": 0.018, "traced": 85,
            "steps": [0.023128, 0.019989, 0.022039, 0.021901], "waited": ["lock", 0.018, 4, 0.008], "threads": [45, 40]},
        2: {"samples": 37, "work": 0.068643, "idleness": 0.028239, "lock wait": 0.006, "traced": 48,
            "steps": [0.012557, 0.012055, 0.012092, 0.012065], "waited": ["lock", 0.006, 3, 0.002], "threads": [25, 23]}}


class Formats(BlameTest):
    def unpacked(self, name):
        path = os.path.join(self.new_folder(), "steps.blame")
        with gzip.open(os.path.join(FILES, name)) as packed, open(path, "wb") as file:
            file.write(packed.read())
        return path

    def rows(self, path, view):
        return list(csv.DictReader(io.StringIO(self.report(path, "--view", view, "--format", "csv").stdout)))

    def test_a_file_of_each_format_is_there(self):
        with open(os.path.join(ROOT, "cct", "profile_format.h"), encoding="utf-8") as file:
            newest, = (int(line.split()[2].rstrip("u")) for line in file if line.startswith("#define PROFILE_VERSION "))
        self.assertEqual(sorted(SAID), list(range(1, newest + 1)))
        for version in SAID:
            with open(self.unpacked(f"{version}.blame.gz"), "rb") as file:
                self.assertEqual(struct.unpack("<8sI", file.read(12)), (b"BLAMEPRF", version))

    def test_each_says_what_it_said(self):
        for version, said in SAID.items():
            with self.subTest(format=version):
                path = self.unpacked(f"{version}.blame.gz")
                root = self.reported_tree(path).root
                whole, *steps = self.rows(path, "phases")
                lock, = self.rows(path, "locks")
                traced = execute([BLAME, "export", path, "--format", "stacks"], clean_environment(), self.folder)
                found = {name: root[f"{name} (I)"] for name in ("work", "idleness", "lock wait")} | {
                    "samples": int(whole["samples (I)"]), "traced": len(traced.stdout.splitlines()),
                    "steps": [float(step["seconds"]) for step in steps if step["phase"] == "step"],
                    "waited": [lock["kind"], float(lock["wait"]), int(lock["acquisitions_contended"]), float(lock["longest_wait"])],
                    "threads": [int(row["samples"]) for row in self.rows(path, "threads")]}
                self.assertEqual(found, said)

    def test_a_newer_one_is_named_and_what_to_do(self):
        path = self.unpacked(f"{max(SAID)}.blame.gz")
        with open(path, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("<I", 99))
        for command in ("report", "html", "export"):
            run = execute([BLAME, command, path, *(["--format", "folded"] if command == "export" else [])], clean_environment(), self.folder)
            self.assertEqual((run.status, run.stdout), (1, ""), run)
            self.assertRegex(run.stderr, r"made by a newer blame \(format 99; this one reads formats up to \d+\): install ")
