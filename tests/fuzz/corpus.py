#!/usr/bin/env python3
"""Many small inputs in one file, a line of hexadecimal digits each.

    python3 -B tests/fuzz/corpus.py unpack FILE FOLDER     as libFuzzer names them
    python3 -B tests/fuzz/corpus.py pack FILE FOLDER       all that are in the folder, which `FUZZER -set_cover_merge=1 FOLDER CORPUS` makes"""

import hashlib
import os
import sys


def unpack(path, folder):
    os.makedirs(folder, exist_ok=True)
    with open(path, encoding="ascii") as lines:
        for line in lines:
            data = bytes.fromhex(line)
            with open(os.path.join(folder, hashlib.sha1(data).hexdigest()), "wb") as file:
                file.write(data)


def pack(path, folder):
    inputs = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            inputs.add(file.read())
    with open(path, "w", encoding="ascii") as lines:
        lines.writelines(f"{data.hex()}\n" for data in sorted(inputs))


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:])
