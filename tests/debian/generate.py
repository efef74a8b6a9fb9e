"""Input for the Debian programs: made here, the same on every machine, so that nothing is downloaded."""

import os
import random


def image(path, width=250, height=250):
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (width, height))
        file.write(random.Random(7).randbytes(3 * width * height))
    return path


def family(path, letters, count, length, rate):
    """Sequences that descend from one another by mutation, so that there is a tree to find."""
    source = random.Random(11)
    members = ["".join(source.choice(letters) for _ in range(length))]
    while len(members) < count:
        parent = source.choice(members)
        members.append("".join(source.choice(letters) if source.random() < rate else letter for letter in parent))
    with open(path, "w", encoding="ascii") as file:
        for number, sequence in enumerate(members):
            file.write(f">s{number}\n{sequence}\n")
    return path


def nucleotides(folder):
    return family(os.path.join(folder, "nucleotides.fa"), "ACGT", 60, 300, 0.05)


def proteins(folder):
    return family(os.path.join(folder, "proteins.fa"), "ACDEFGHIKLMNPQRSTVWY", 100, 200, 0.1)
