"""scripts/setup.sh changes nothing that is installed, and a build with another library's header says so. apt-get and dpkg-query are played: nothing
is installed here."""

import os
import subprocess

from harness import ROOT, BlameTest

# What a played machine has, by package: status, what it conflicts with. `would PACKAGE`: the lines of apt-get -s for it.
DPKG_QUERY = """#!/bin/sh
for package; do :; done
[ -e "$MACHINE/has/$package" ] || exit 1
case $* in
*Conflicts*) cat "$MACHINE/has/$package" ;;
*) printf 'install ok installed' ;;
esac
"""
APT_GET = """#!/bin/sh
echo "$*" >>"$MACHINE/asked"
case $* in
*install*-s*|*-s*install*) for package; do [ ! -e "$MACHINE/would/$package" ] || cat "$MACHINE/would/$package"; done ;;
esac
"""


class Setup(BlameTest):
    needs_tool = False

    def machine(self, missing, has=(), would=(), more=()):
        """Runs setup.sh where all packages but the missing ones are installed; the run, and what apt-get was asked."""
        folder = self.new_folder()
        for name in ("has", "would", "bin"):
            os.mkdir(os.path.join(folder, name))
        with open(os.path.join(ROOT, "scripts", "setup.sh"), encoding="utf-8") as file:
            words = file.read().replace('"', " ").split()
        for kind, entries in (("has", {word: "" for word in words if word.isascii() and "/" not in word} | dict(has)), ("would", dict(would))):
            for name, text in entries.items():
                if name not in missing or kind == "would":
                    with open(os.path.join(folder, kind, name), "w", encoding="ascii") as file:
                        file.write(text)
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("sudo", '#!/bin/sh\nexec "$@"\n')):
            path = os.path.join(folder, "bin", name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o755)
        env = {name: value for name, value in os.environ.items() if name != "CI"}
        env = env | dict(more) | {"PATH": f"{folder}/bin:/usr/bin:/bin", "MACHINE": folder}
        run = subprocess.run([os.path.join(ROOT, "scripts", "setup.sh"), "build"], env=env, capture_output=True, text=True, check=False)
        asked = []
        if os.path.exists(os.path.join(folder, "asked")):
            with open(os.path.join(folder, "asked"), encoding="utf-8") as file:
                asked = file.read().splitlines()
        return run, [line for line in asked if "install" in line and "-s" not in line.split()]

    def test_where_all_is_there_nothing_is_asked(self):
        run, installed = self.machine(())
        self.assertEqual((run.returncode, run.stdout, run.stderr, installed), (0, "", "", []))

    def test_what_is_missing_is_installed_and_nothing_removed_or_upgraded(self):
        run, installed = self.machine(("libzydis-dev",), would=[("libzydis-dev", "Inst libzydis-dev (4.0 Debian:12 [amd64])\nConf libzydis-dev (4.0)\n")])
        self.assertEqual((run.returncode, run.stderr, len(installed)), (0, "", 1), run)
        words = installed[0].split()
        self.assertEqual((words[-1], {"--no-remove", "--no-upgrade"} <= set(words)), ("libzydis-dev", True), installed)

    def test_a_package_that_would_take_anothers_place_is_refused_in_one_line(self):
        run, installed = self.machine(
            ("libunwind-dev", "libzydis-dev"), has=[("libunwind-19-dev", "libunwind-dev, libunwind-x.y-dev, "), ("libc++-19-dev", "libc++-x.y-dev, ")],
            would=[("libunwind-dev", "Remv libc++-19-dev [1:19.1.7]\nRemv libunwind-19-dev [1:19.1.7]\nInst libunwind-dev (1.6.2 Debian:12 [amd64])\n"),
                   ("libzydis-dev", "Inst libzydis-dev (4.0 Debian:12 [amd64])\n")])
        self.assertEqual((run.returncode, installed), (1, []), run)
        self.assertEqual(run.stderr, "setup: libunwind-dev conflicts with libunwind-19-dev, which is installed: nothing was changed; remove it yourself "
                                     "(apt-get remove libunwind-19-dev), or build in a container (scripts/packaging/Containerfile)\n")

    def test_a_package_that_needs_newer_ones_is_refused_in_one_line(self):
        would = [("libc6-dev", "Inst libc6 [2.36-9] (2.36-9+deb12u9 Debian:12 [amd64])\nInst libc6-dev (2.36-9+deb12u9 Debian:12 [amd64])\n")]
        run, installed = self.machine(("libc6-dev",), would=would, more={"CI": "true"})  # a machine that is thrown away
        self.assertEqual((run.returncode, run.stderr, len(installed)), (0, "", 1), run)
        run, installed = self.machine(("libc6-dev",), would=would)
        self.assertEqual((run.returncode, installed), (1, []), run)
        self.assertEqual(run.stderr, "setup: libc6-dev needs newer packages than are installed (libc6): nothing was changed; upgrade them yourself "
                                     "(apt-get install libc6), or build in a container (scripts/packaging/Containerfile)\n")


class Headers(BlameTest):
    needs_tool = False

    def test_llvms_libunwind_is_said_to_be_another(self):
        """LLVM's header has the functions' names, and no version of libunwind's."""
        folder = self.new_folder()
        with open(os.path.join(folder, "libunwind.h"), "w", encoding="ascii") as file:
            file.write("#pragma once\n#include <stdint.h>\ntypedef struct { uint64_t data[16]; } unw_context_t;\nint unw_getcontext(unw_context_t *);\n")
        run = subprocess.run(["gcc", "-fsyntax-only", "-D_GNU_SOURCE", f"-I{folder}", "-I.", "unwind/remote.c"], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        first = next(line for line in run.stderr.splitlines() if "error" in line)
        self.assertIn("libunwind.h is LLVM's", first)
        self.assertIn("install libunwind-dev", first)
