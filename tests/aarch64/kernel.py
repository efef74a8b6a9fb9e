#!/usr/bin/env python3
"""Runs commands on Debian's own kernel for aarch64, on a whole machine that qemu plays: what its user mode does not have (restart_syscall, a
program that starts others) is there.

    python3 tests/aarch64/kernel.py SYSROOT INIT FOLDER COMMAND ...

SYSROOT has /vmlinuz (scripts/aarch64-sysroot.sh DIR kernel) and the libraries; FOLDER is the machine's /, to which they are added; INIT is
tests/aarch64/kernel_init.c. Ends with `N passed, N failed`: commands by their status."""

import gzip
import os
import re
import shutil
import subprocess
import sys

LIMIT_S = int(os.environ.get("TEST_TIMEOUT", "1800"))
QEMU = ["qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "1024", "-nic", "none", "-nographic", "-no-reboot"]
LOADER = "lib/ld-linux-aarch64.so.1"
LOADED = ["libgcc_s.so.1"]  # by dlopen
ENDED = re.compile(r"^kernel: (-?\d+): (.*?)\s*$", re.MULTILINE)


def needed_by(path):
    listing = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=False).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing)


def add_libraries(root, sysroot):
    """All that the programs in it need, in /lib."""
    folders = [os.path.join(sysroot, *parts) for parts in (("lib", "aarch64-linux-gnu"), ("usr", "lib", "aarch64-linux-gnu"),
                                                           ("usr", "lib", "llvm-19", "lib"))] + ["/usr/aarch64-linux-gnu/lib"]
    os.makedirs(os.path.join(root, "lib"), exist_ok=True)
    shutil.copy(os.path.join(sysroot, LOADER), os.path.join(root, LOADER))
    todo = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    wanted = LOADED + [name for path in todo for name in needed_by(path)]
    while wanted:
        name = wanted.pop()
        target = os.path.join(root, "lib", name)
        source = next((os.path.join(folder, name) for folder in folders if os.path.exists(os.path.join(folder, name))), None)
        if source and not os.path.exists(target):
            shutil.copy(source, target)
            wanted += needed_by(target)


def archive_of(root):
    """Of all below root, as the kernel takes it: cpio's newc."""
    parts = []

    def add(name, mode, data):
        fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        parts.extend([head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)])

    for folder, folders, names in os.walk(root):
        for name in folders:
            add(os.path.relpath(os.path.join(folder, name), root), 0o040755, b"")
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                add(os.path.relpath(os.path.join(folder, name), root), 0o100755, file.read())
    add("TRAILER!!!", 0, b"")
    return gzip.compress(b"".join(parts), 1)


def main(sysroot, init, root, *commands):
    shutil.copy(init, os.path.join(root, "init"))
    os.makedirs(os.path.join(root, "dev"), exist_ok=True)
    add_libraries(root, sysroot)
    with open(os.path.join(root, "commands"), "w", encoding="utf-8") as file:
        file.writelines(command + "\n" for command in commands)
    archive = root.rstrip("/") + ".gz"
    with open(archive, "wb") as file:
        file.write(archive_of(root))
    kernel = ["-kernel", os.path.join(sysroot, "vmlinuz"), "-initrd", archive, "-append", "console=ttyAMA0 quiet panic=-1"]
    try:
        output = subprocess.run(QEMU + kernel, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False).stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
    text = output.decode(errors="replace").replace("\r", "")
    print(text)
    passed = sum(status == "0" for status, _ in ENDED.findall(text))
    print(f"{passed} passed, {len(commands) - passed} failed")
    return passed != len(commands)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
