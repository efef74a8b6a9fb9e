"""Counters as a measurement file has them, read without any help from the tool."""

import bisect
import glob
import os
import struct
import subprocess

HEADER_BYTES, CHUNK_BYTES, UNIT_BYTES = 4096, 32768, 32
UNITS = CHUNK_BYTES // UNIT_BYTES
TREE, THREAD, MODULE, TEXT = 1, 2, 3, 4
FRAME, PROBE, COUNTERS = 4, 17, 18
THREAD_BYTES, MODULE_BYTES, COUNTERS_AT = 512, 1024, 512 - 15 * 8
TOTAL, IDLE, LOST = range(3)


class Counted:
    """names; sums(TOTAL | IDLE | LOST), in contexts() and below(FUNCTION): lists in the order of the names."""

    def __init__(self, directory, program):
        path, = glob.glob(os.path.join(directory, "*.blame"))
        with open(path, "rb") as file:
            self.data = file.read()
        self.program = os.path.realpath(program)
        self.nodes, self.threads, self.modules, self.texts = {}, [], [], {}
        for number in range(struct.unpack_from("<I", self.data, 36)[0]):
            self._read_chunk(number)
        self.names = self.texts["counters"].split("\n") if "counters" in self.texts else []
        self._read_symbols()

    def _read_chunk(self, number):
        begin = HEADER_BYTES + number * CHUNK_BYTES
        kind, _, used = struct.unpack_from("<III", self.data, begin)
        if kind == TREE:
            for unit in range(1, used):
                at = begin + unit * UNIT_BYTES
                key, parent, _, _, _, metric, node = struct.unpack_from("<QIIIIIB", self.data, at)
                self.nodes[number * UNITS + unit] = (node, key, parent, metric)
        elif kind == THREAD:
            self.threads += [begin + THREAD_BYTES * (i + 1) for i in range(used)]
        elif kind == MODULE:
            for i in range(used):
                text = self.data[begin + MODULE_BYTES * (i + 1) + 64:begin + MODULE_BYTES * (i + 2)]
                self.modules.append(text.split(b"\0")[0].decode())
        elif kind == TEXT:
            words = self.data[begin + UNIT_BYTES:begin + UNIT_BYTES + used].split(b"\0")
            self.texts.update((key.decode(), value.decode()) for key, value in zip(words[::2], words[1::2]))

    def _read_symbols(self):
        command = ["nm", "--defined-only", self.program]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = sorted((int(words[0], 16), words[2]) for words in map(str.split, lines.splitlines())
                       if words[1] in "tTwW")
        self.addresses, self.functions = [at for at, _ in found], [name for _, name in found]

    def _values(self, unit):
        at = HEADER_BYTES + unit // UNITS * CHUNK_BYTES + unit % UNITS * UNIT_BYTES
        return struct.unpack_from("<8d", self.data, at)[:len(self.names)]

    def _add(self, records):
        return [sum(values) for values in zip(*records)] or [0.0] * len(self.names)

    def sums(self, which):
        units = [struct.unpack_from("<I", self.data, at + COUNTERS_AT + 4 * which)[0] for at in self.threads]
        return self._add(self._values(unit) for unit in units if unit)

    def failed(self):
        return sum(struct.unpack_from("<Q", self.data, at + COUNTERS_AT + 16)[0] for at in self.threads)

    def function(self, index):
        kind, key, _, _ = self.nodes[index]
        module = key >> 48
        if kind != FRAME or not module or os.path.realpath(self.modules[module - 1]) != self.program:
            return None
        return self.functions[bisect.bisect(self.addresses, key & ((1 << 48) - 1)) - 1]

    def _is_below(self, index, name):
        while index:
            if self.function(index) == name:
                return True
            index = self.nodes[index][2]
        return False

    def contexts(self):
        return self._add(self._values(metric) for kind, _, parent, metric in self.nodes.values()
                         if kind == COUNTERS and metric and self.nodes[parent][0] != PROBE)

    def below(self, name):
        return self._add(self._values(metric) for kind, _, parent, metric in self.nodes.values()
                         if kind == COUNTERS and metric and self._is_below(parent, name))
