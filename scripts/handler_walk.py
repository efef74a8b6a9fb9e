"""Which functions and which foreign symbols are reachable from given functions, by the relocations of object files
that were compiled with -ffunction-sections -fdata-sections: a section is one function or one object, and what its
relocations name can be called or read by it. Function pointers count where they are taken."""

import os
import struct
from collections import namedtuple

SHT_SYMTAB, SHT_RELA, SHF_ALLOC = 2, 4, 2
STB_LOCAL, STT_SECTION, SHN_LORESERVE = 0, 3, 0xFF00

Section = namedtuple("Section", "name type flags offset size link info")
Symbol = namedtuple("Symbol", "name binding type section")
Reach = namedtuple("Reach", "functions sections foreign")


class NotWalkable(Exception):
    pass


class ObjectFile:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise NotWalkable(f"{path}: not a 64-bit little-endian object file")
        self.sections = self._read_sections()
        self.symbols = self._read_symbols()
        self.references = self._read_references()

    def _string(self, section, at):
        begin = section.offset + at
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def _read_sections(self):
        offset, = struct.unpack_from("<Q", self.data, 40)
        entry, count, names = struct.unpack_from("<HHH", self.data, 58)
        if count == 0:  # more than 65,280 sections: the number is in the first header
            count, = struct.unpack_from("<Q", self.data, offset + 32)
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * entry) for i in range(count)]
        table = [Section(None, r[1], r[2], r[4], r[5], r[6], r[7]) for r in raw]
        return [s._replace(name=self._string(table[names], r[0])) for s, r in zip(table, raw)]

    def _read_symbols(self):
        symbols = []
        for section in self.sections:
            if section.type != SHT_SYMTAB:
                continue
            strings = self.sections[section.link]
            for at in range(section.offset, section.offset + section.size, 24):
                name, info, _, home = struct.unpack_from("<IBBH", self.data, at)
                symbols.append(Symbol(self._string(strings, name), info >> 4, info & 15,
                                      home if 0 < home < SHN_LORESERVE else 0))
        return symbols

    def _read_references(self):
        """section number -> set of symbol numbers that its relocations name"""
        references = {}
        for section in self.sections:
            if section.type != SHT_RELA or not self.sections[section.info].flags & SHF_ALLOC:
                continue
            named = references.setdefault(section.info, set())
            for at in range(section.offset, section.offset + section.size, 24):
                named.add(struct.unpack_from("<QQq", self.data, at)[1] >> 32)
        return references


class Program:
    """All object files below a folder."""

    def __init__(self, folder):
        paths = sorted(os.path.join(where, name) for where, _, names in os.walk(folder)
                       for name in names if name.endswith(".o"))
        if not paths:
            raise NotWalkable(f"{folder}: no object files; make checks builds them")
        self.objects = [ObjectFile(path) for path in paths]
        self.names = [os.path.relpath(path, folder)[:-2] for path in paths]
        self.globals = {}
        for number, item in enumerate(self.objects):
            for symbol in item.symbols:
                if symbol.section and symbol.binding != STB_LOCAL:
                    self.globals[symbol.name] = (number, symbol.section)

    def find(self, name):
        """Where a symbol is defined: `name`, or `folder/file:name` for one that is local to its file."""
        home, _, local = name.rpartition(":")
        for number, item in enumerate(self.objects):
            if home and self.names[number] != home:
                continue
            for symbol in item.symbols:
                known = symbol.name.split(".")[0] if home else symbol.name  # table.0 is a static of a function
                if symbol.section and symbol.type != STT_SECTION and known == local:
                    if home or symbol.binding != STB_LOCAL:
                        return number, symbol.section
        raise NotWalkable(f"{name}: no such symbol in {len(self.objects)} object files")

    def _targets(self, place):
        number, section = place
        item = self.objects[number]
        for index in item.references.get(section, ()):
            symbol = item.symbols[index]
            if symbol.section:
                yield symbol.name, (number, symbol.section)
            else:
                yield symbol.name, self.globals.get(symbol.name)

    def walk(self, roots, without=()):
        """Reach(functions: {name: how}, sections: {place: how}, foreign: {symbol: how}); `how` is the way there. What stands in
        `without` is not entered."""
        sections, foreign, closed = {}, {}, {self.find(name) for name in without}
        waiting = []
        for root in roots:
            place = self.find(root)
            sections.setdefault(place, root)
            waiting.append(place)
        while waiting:
            place = waiting.pop(0)
            for name, target in self._targets(place):
                way = f"{sections[place]} > {name}" if name else sections[place]
                if target is None:
                    foreign.setdefault(name, way)
                elif target not in sections and target not in closed:
                    sections[target] = way
                    waiting.append(target)
        return Reach(self._functions(sections), sections, foreign)

    def _functions(self, sections):
        functions = {}
        for number, item in enumerate(self.objects):
            for symbol in item.symbols:
                place = (number, symbol.section)
                if symbol.type == 2 and place in sections:
                    functions[symbol.name] = sections[place]
        return functions
