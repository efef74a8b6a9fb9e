"""Makes each ordering of the code weaker, one at a time, and runs the scenarios that come by: one must fail, or the ordering stands
in unneeded.txt with the reason why none does. No code is compiled anew: the model takes the order from the command line.

    weaken.py EXPLORE [--seeds N] [-k TEXT] [--found]     --found: only those that unneeded.txt does not have"""

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
WEAKER = {
    ("l", "acquire"): ["relaxed"], ("l", "seq_cst"): ["acquire", "relaxed"],
    ("s", "release"): ["relaxed"], ("s", "seq_cst"): ["release", "relaxed"],
    ("u", "acquire"): ["relaxed"], ("u", "release"): ["relaxed"],
    ("u", "acq_rel"): ["acquire", "release"], ("c", "acq_rel"): ["acquire", "release"],
    ("u", "seq_cst"): ["acq_rel", "acquire", "release"], ("c", "seq_cst"): ["acq_rel", "acquire", "release"],
    ("f", "release"): ["relaxed"], ("f", "acquire"): ["relaxed"],
}


def scenarios(explore):
    text = subprocess.run([explore, "--seeds"], capture_output=True, text=True, check=False).stderr
    return [line.split()[0] for line in text.splitlines() if line.startswith("  ")]


def places(explore, addresses):
    """Of each call: file, function and text, outside base/atomics.h's own functions."""
    found = {}
    for address in addresses:
        text = subprocess.run(["eu-addr2line", "-f", "-i", "-e", explore, hex(address - 1)], capture_output=True, text=True, check=True).stdout
        lines = text.splitlines()
        for function, place in zip(lines[::2], lines[1::2]):
            match = re.match(r"(?:\./)*([a-z0-9_/]+\.[ch]):(\d+)(?::(\d+))?", place)
            if match and not place.split(":")[0].endswith("base/atomics.h"):
                found[address] = (match[1], re.sub(r"\W.*", "", function), int(match[2]), int(match[3] or 1))
                break
    return found


def text_at(file, line, column):
    """The call that stands there, to its closing parenthesis."""
    with open(file, encoding="utf-8") as source:
        text = "".join(source.readlines()[line - 1:line + 2])[column - 1:]
    if not re.match(r"[a-z_]+\(", text):
        return " ".join(text.split("\n")[0].split())
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return " ".join(text[:at + 1].split())
    return text.split("\n")[0].strip()


def sites(explore, seeds):
    """Orderings by place: the addresses of their calls, and the scenarios that come by."""
    groups, kinds = defaultdict(set), {}
    passed = defaultdict(set)
    for scenario in scenarios(explore):
        text = subprocess.run([explore, "--quiet", "--sites", "--seeds", str(seeds), scenario], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            _, address, kind, order, _ = line.split()
            kinds[int(address, 16)] = (kind, order)
            passed[int(address, 16)].add(scenario)
    where = places(explore, kinds)
    for address, kind in kinds.items():
        if address in where and not where[address][0].startswith("tests/"):
            groups[where[address] + kind].add(address)
    return groups, passed


def try_one(explore, addresses, weaker, names, seeds):
    option = ",".join(f"{address:x}" for address in sorted(addresses)) + "=" + weaker
    for name in names:
        run = subprocess.run([explore, "--quiet", "--seeds", str(seeds), "--weaken", option, name], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return run.stdout.strip() or f"FAILED  {name}: ends with {run.returncode}"
    return None


def unneeded():
    with open(os.path.join(HERE, "unneeded.txt"), encoding="utf-8") as lines:
        return {line.split(" | ")[0].strip() for line in lines if " | " in line}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("explore")
    parser.add_argument("--seeds", type=int, default=1500)
    parser.add_argument("-k", default="")
    parser.add_argument("--found", action="store_true")
    options = parser.parse_args()
    groups, passed = sites(options.explore, 100)
    known, wrong, tried, found = unneeded(), [], 0, 0
    for (file, function, line, column, kind, order), addresses in sorted(groups.items()):
        text = text_at(file, line, column)
        names = sorted(set().union(*(passed[address] for address in addresses)))
        for weaker in WEAKER.get((kind, order), []):
            name = f"{file} {function}: {text} -> {weaker}"
            if options.k not in name or (options.found and name in known):
                continue
            failure = try_one(options.explore, addresses, weaker, names, options.seeds)
            tried += 1
            found += failure is not None
            if (failure is None) != (name in known):
                wrong.append(name)
            mark = re.sub(r"\s+", " ", failure)[:110] if failure else ("none, as unneeded.txt says" if name in known else "NO SCENARIO FAILS: " + " ".join(names))
            print(f"{name}\n    {mark}", flush=True)
    print(f"{tried} orderings made weaker: {found} found, {tried - found} not")
    for name in wrong:
        print("not as unneeded.txt has it: " + name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
