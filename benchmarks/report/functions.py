#!/usr/bin/env python3
"""Prints a C source with many functions of eight lines, for synthetic profiles to point to.

    benchmarks/report/functions.py FUNCTIONS"""

import sys

LINES = 8


def main():
    count = int(sys.argv[1])
    print("volatile int here;")
    for number in range(count):
        print(f"void function_{number}(void)\n{{")
        for line in range(LINES):
            print(f"    here = {line}; /* line {line} of function {number} */")
        print("}")
    print(f"void (*const functions[{count}])(void) = {{")
    for number in range(count):
        print(f"    function_{number},")
    print("};\nconst unsigned function_count = sizeof functions / sizeof *functions;")
    return 0


if __name__ == "__main__":
    sys.exit(main())
