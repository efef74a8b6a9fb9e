"""Cube 4's archives as docs/cube_file_format.md of github.com/extra-p/pycubexr describes them."""

import struct
import tarfile
from xml.etree import ElementTree

CODES = {"DOUBLE": "d", "UINT64": "Q"}


class Context:
    def __init__(self, element, region, parent):
        self.number = int(element.get("id"))
        self.line = int(element.get("line", "0"))
        self.region, self.parent, self.children = region, parent, []
        self.own, self.inclusive = {}, {}  # by metric, of all locations
        self.located = {}  # by metric: own values by location


def as_in_xml(text):
    """With what XML 1.0 has no way to write, beside the control characters that profile.csv has not either, replaced."""
    return text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def read_contexts(program):
    """In preorder."""
    regions = {region.get("id"): region for region in program.findall("region")}
    roots, contexts = [(element, None) for element in program.findall("cnode")], []
    assert len(roots) == 1
    left = roots
    while left:
        element, parent = left.pop()
        context = Context(element, regions[element.get("calleeId")], parent)
        contexts.append(context)
        if parent:
            parent.children.append(context)
        left += [(child, context) for child in reversed(element.findall("cnode"))]
    assert len({context.number for context in contexts}) == len(contexts)
    return contexts


def read_metric(archive, metric, contexts, locations):
    """Indices of exclusive metrics count contexts in preorder, values are one for each location of each context."""
    assert metric.get("type") == "EXCLUSIVE"
    name, number = metric.findtext("disp_name"), metric.get("id")
    index, data = (archive.extractfile(f"{number}.{part}").read() for part in ("index", "data"))
    assert index[:11] == b"CUBEX.INDEX" and data[:10] == b"CUBEX.DATA"
    order = "<" if index[11] == 1 else ">"
    one, version, kind, count = struct.unpack_from(f"{order}ihBi", index, 11)
    assert (one, version, kind) == (1, 0, 1)
    indices = struct.unpack(f"{order}{count}i", index[22:])
    values = struct.unpack(f"{order}{count * locations}{CODES[metric.findtext('dtype')]}", data[10:])
    assert count and list(indices) == sorted(set(indices))
    for context in contexts:
        context.own[name] = 0
    for number, at in enumerate(indices):
        contexts[at].located[name] = values[number * locations:(number + 1) * locations]
        contexts[at].own[name] = sum(contexts[at].located[name])
    for context in reversed(contexts):
        context.inclusive[name] = context.own[name] + sum(child.inclusive[name] for child in context.children)


def read_system(system):
    """Names of node, process and thread by location, whose numbers are those of values."""
    machine, = system.findall("systemtreenode")
    names = []
    for node in machine.findall("systemtreenode"):
        assert (machine.findtext("class"), node.findtext("class")) == ("machine", "node")
        for process in node.findall("locationgroup"):
            for location in process.findall("location"):
                assert (location.findtext("type"), int(location.get("Id"))) == ("thread", len(names))
                names.append(tuple(element.findtext("name") for element in (node, process, location)))
    for kind in ("systemtreenode", "locationgroup", "location"):
        numbers = [element.get("Id") for element in system.iter(kind)]
        assert len(set(numbers)) == len(numbers)
    return names


def read(path):
    """Its contexts; by metric the metrics that are parts of it; names of locations."""
    with tarfile.open(path, "r:") as archive:
        anchor = ElementTree.parse(archive.extractfile("anchor.xml")).getroot()
        assert anchor.tag == "cube" and [part.tag for part in anchor if part.tag != "attr"] == ["metrics", "program", "system"]
        contexts = read_contexts(anchor.find("program"))
        metrics = list(anchor.find("metrics").iter("metric"))
        locations = read_system(anchor.find("system"))
        for metric in metrics:
            read_metric(archive, metric, contexts, len(locations))
        files = {"anchor.xml", *(f"{metric.get('id')}.{part}" for metric in metrics for part in ("index", "data"))}
        assert len(archive.getnames()) == len(files) and set(archive.getnames()) == files
        parts = {metric.findtext("disp_name"): [part.findtext("disp_name") for part in metric.findall("metric")] for metric in metrics}
        return contexts, parts, locations


def difference(tree, path):
    """What is not as in profile.csv, the first of it; None: all is."""
    contexts, parts, _locations = read(path)
    rows = [row for row in tree.rows if row.kind != "statement"]
    columns = [column[:-4] for column in rows[0].cells if column.endswith(" (E)")]
    if "calls" in rows[0].cells:
        columns.append("calls")
    if len(rows) != len(contexts) or set(columns) - set(parts):
        return len(contexts), len(rows), set(columns) - set(parts)
    where = dict(zip(rows, contexts))
    for row, context in where.items():
        region = context.region
        found = (region.findtext("name"), region.get("mod"), region.findtext("descr"), max(int(region.get("begin")), 0), context.line)
        wanted = (as_in_xml(row.name), as_in_xml(row.file), as_in_xml(row.module), row.line, row.call_line)
        if found != wanted or (context.parent and context.parent is not where[row.parent]):
            return found, wanted
        for column in columns:
            for end, values in ((" (I)", context.inclusive), (" (E)", context.own)) if column != "calls" else (("", context.own),):
                value = float(row.cells[column + end] or 0)
                # the rounding of one row, and that of the largest sum
                room = 1e-6 + 1e-9 * abs(value) + 1e-14 * abs(contexts[0].inclusive[column])
                if not abs(values[column] - value) <= room and (column, end) != ("exact", " (I)"):
                    return row.path(), column + end, value, values[column]
        for whole, of in parts.items():
            if of and not abs(context.own[whole] - sum(context.own[part] for part in of)) <= 1e-12 * abs(context.own[whole]) + 1e-12:
                return row.path(), whole, of
    return None
