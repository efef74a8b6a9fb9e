#!/usr/bin/env python3
"""wheel.py TREE VERSION DATE OUT: the files of TREE as a wheel in OUT. `pip install` puts the program itself into bin/: there is no Python in
its start. The wheel has the same bytes each time (DATE: seconds since 1970, of all its files)."""

import base64
import hashlib
import pathlib
import sys
import time
import zipfile

NAME = "blame_profiler"
TAG = "py3-none-manylinux_2_17_x86_64"


def main(tree, version, date, out):
    tree, info = pathlib.Path(tree), f"{NAME}-{version}.dist-info"
    files = {}
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            parts = path.relative_to(tree).parts
            if parts[0] == "bin":
                place = ("scripts",) + parts[1:]
            elif len(parts) == 1 or parts[0] == "docs":
                place = ("data", "share", "doc", "blame") + parts
            else:
                place = ("data",) + parts
            files["/".join((f"{NAME}-{version}.data",) + place)] = path.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {version}\n"
        "Summary: Which code makes your threads wait? A profiler for OpenMP and POSIX threads\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\n"
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: blame\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for name, data in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    stamp = time.gmtime(max(int(date), 315532800))[:6]  # a zip archive knows no time before 1980
    with zipfile.ZipFile(f"{out}/{NAME}-{version}-{TAG}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the modes are Unix's
            entry.external_attr = (0o100755 if data[:4] == b"\x7fELF" else 0o100644) << 16
            wheel.writestr(entry, data)


if __name__ == "__main__":
    main(*sys.argv[1:])
