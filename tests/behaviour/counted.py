"""Counters as profile.csv and the threads' records in the measurement file have them."""

import glob
import os
import struct

from blame_profile import Profile

HEADER_BYTES, CHUNK_BYTES, UNIT_BYTES = 4096, 32768, 32
UNITS = CHUNK_BYTES // UNIT_BYTES
THREAD, THREAD_BYTES, COUNTERS_AT = 2, 512, 512 - 15 * 8
TOTAL, IDLE, LOST = range(3)


class Counted:
    """names; sums(TOTAL | IDLE | LOST), in contexts() and below(FUNCTION): lists in the order of the names."""

    def __init__(self, directory):
        self.profile = Profile(directory)
        self.names = self.profile.run["counters"]
        path, = glob.glob(os.path.join(directory, "*.blame"))
        with open(path, "rb") as file:
            self.data = file.read()
        self.threads = []
        for begin in range(HEADER_BYTES, len(self.data), CHUNK_BYTES):
            kind, _, used = struct.unpack_from("<III", self.data, begin)
            if kind == THREAD:
                self.threads += [begin + THREAD_BYTES * (i + 1) for i in range(used)]

    def sums(self, which):
        units = [struct.unpack_from("<I", self.data, at + COUNTERS_AT + 4 * which)[0] for at in self.threads]
        places = [HEADER_BYTES + unit // UNITS * CHUNK_BYTES + unit % UNITS * UNIT_BYTES for unit in units if unit]
        values = [struct.unpack_from("<8d", self.data, at) for at in places]
        return [sum(each[i] for each in values) for i in range(len(self.names))]

    def failed(self):
        return sum(struct.unpack_from("<Q", self.data, at + COUNTERS_AT + 16)[0] for at in self.threads)

    def contexts(self):
        return [self.profile.root[f"{name} (I)"] for name in self.names]

    def below(self, function):
        return [self.profile.total(name, function) for name in self.names]
