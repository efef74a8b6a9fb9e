"""HPCToolkit's database, version 4.0, read as its doc/FORMATS.md describes it, and refused where it breaks what that says."""

import os
import struct
import types

FOOTERS = {"meta": b"_meta.db", "prof": b"_prof.db", "ctxt": b"__ctx.db", "trce": b"trace.db"}

WAITING = {f"<{state}>" for state in ("overhead", "idle", "lock wait", "mpi wait", "no core", "blocked", "stopped")}


def require(condition, *what):
    if not condition:
        raise AssertionError(what)


class File:
    def __init__(self, path, kind, sections):
        with open(path, "rb") as file:
            self.data = file.read()
        require(self.data[:16] == b"HPCTOOLKIT" + kind.encode() + b"\4\0", path, self.data[:16])
        require(self.data.endswith(FOOTERS[kind]), path)
        self.sections = {}
        for i, name in enumerate(sections):
            size, at = self.get("QQ", 16 + 16 * i)
            require(at % 8 == 0 and at >= 16 + 16 * len(sections) and at + size <= len(self.data) - 8, name, size, at)
            self.sections[name] = at, at + size
        ranges = sorted(self.sections.values())
        require(all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), ranges)

    def get(self, form, at, align=1):
        require(at % align == 0, form, at)
        return struct.unpack_from("<" + form, self.data, at)

    def inside(self, section, at, size=1):
        low, high = self.sections[section]
        require(low <= at and at + size <= high, section, at, size)
        return at

    def text(self, section, at):
        end = self.inside(section, self.data.index(b"\0", self.inside(section, at)))
        return self.data[at:end].decode("utf-8")

    def array(self, section, at, count, stride, align=8):
        require(at % align == 0, section, at)
        self.inside(section, at, count * stride)
        return range(at, at + count * stride, stride)


def read_metrics(meta):
    at, count, size, scope_size, summary_size = meta.get("QLBBB", meta.sections["Metrics"][0])
    scopes_at, scope_count, kind_size = meta.get("QHB", meta.sections["Metrics"][0] + 16)
    require((size, scope_size, summary_size, kind_size) == (32, 16, 24, 16))
    scopes = {}
    for scope in meta.array("Metrics", scopes_at, scope_count, kind_size):
        name, kind, bit = meta.get("QBB", scope)
        require(bit < 16)
        scopes[scope] = meta.text("Metrics", name), kind, bit
    propagated, summed = {}, {}
    for metric in meta.array("Metrics", at, count, size):
        name, instances, summaries, instance_count, summary_count = meta.get("QQQHH", metric)
        name = meta.text("Metrics", name)
        for instance in meta.array("Metrics", instances, instance_count, scope_size):
            scope, number = meta.get("QH", instance)
            require(number not in propagated)
            propagated[number] = name, *scopes[scope]
        for summary in meta.array("Metrics", summaries, summary_count, summary_size):
            scope, formula, combine, _, number = meta.get("QQBBH", summary)
            require(number not in summed and combine == 0 and meta.text("Metrics", formula) == "$$")
            summed[number] = name, *scopes[scope]
    return propagated, summed


def read_list(meta, name):
    at, count, size = meta.get("QLH", meta.sections[name][0])
    require(size == 16)
    return {item: (meta.text("Strings", meta.get("Q", item + 8)[0]), meta.get("L", item)[0]) for item in meta.array(name, at, count, size)}


def read_functions(meta, modules, files):
    at, count, size = meta.get("QLH", meta.sections["Functions"][0])
    require(size == 40)
    functions = {}
    for item in meta.array("Functions", at, count, size):
        name, module, _, file, line, flags = meta.get("QQQQLL", item)
        require(flags == 0 and (name or module or file))
        functions[item] = types.SimpleNamespace(name=meta.text("Strings", name), module=modules[module][0] if module else "",
                                                file=files[file][0] if file else "", line=line)
    return functions


def read_contexts(meta, functions, files):
    """By ctxId; `children` in their order."""
    at, count, size = meta.get("QHB", meta.sections["Context"][0])
    require(size == 32 and count == 1)
    contexts = {}
    blocks = []
    for item in meta.array("Context", at, count, size):
        block_size, block, number, kind = meta.get("QQLH", item)
        name = meta.text("Strings", meta.get("Q", item + 24)[0])
        contexts[number] = types.SimpleNamespace(id=number, parent=None, kind="entry", entry=kind, name=name, children=[], propagation=0)
        blocks.append((block, block_size, contexts[number]))
    while blocks:
        at, size, parent = blocks.pop()
        require((at == 0) == (size == 0))
        if size:
            meta.inside("Context", at, size)
        end = at + size
        while at < end:
            block_size, block, number, flags, relation, lexical, words, propagation = meta.get("QQLBBBBH", at, 8)
            require(number > 0 and number not in contexts, number)
            context = types.SimpleNamespace(id=number, parent=parent, children=[], relation=relation, propagation=propagation, copied=False)
            if lexical == 0:
                require(flags == 1 and words == 1)
                context.kind, context.function = "function", functions[meta.get("Q", at + 32)[0]]
            else:
                require(lexical == 2 and flags == 2 and words == 2 and relation == 0)
                file, line = meta.get("QL", at + 32)
                context.kind, context.file, context.line = "line", files[file][0], line
            contexts[number] = context
            parent.children.append(context)
            blocks.append((block, block_size, context))
            at += 32 + 8 * words
        require(at == end)
    return contexts


def read_meta(path):
    meta = File(path, "meta", ("General", "IdNames", "Metrics", "Context", "Strings", "Modules", "Files", "Functions"))
    title, description = meta.get("QQ", meta.sections["General"][0])
    names, kinds = meta.get("QB", meta.sections["IdNames"][0])
    files = read_list(meta, "Files")
    functions = read_functions(meta, read_list(meta, "Modules"), files)
    propagated, summed = read_metrics(meta)
    return types.SimpleNamespace(
        title=meta.text("General", title), description=meta.text("General", description),
        kinds=[meta.text("IdNames", meta.get("Q", item)[0]) for item in meta.array("IdNames", names, kinds, 8)],
        files=files, propagated=propagated, summed=summed, contexts=read_contexts(meta, functions, files))


def read_block(file, names, header, value, index, align):
    """{outer number: {inner number: value}}; both are sorted."""
    value_count, values_at, index_count, indices_at = file.get(header, names)
    value_size, index_size = struct.calcsize("<" + value), struct.calcsize("<" + index)
    require(values_at % align[0] == 0 and indices_at % align[1] == 0 and values_at + value_count * value_size <= indices_at)
    values = list(struct.iter_unpack("<" + value, file.data[values_at:values_at + value_size * value_count]))
    indices = list(struct.iter_unpack("<" + index, file.data[indices_at:indices_at + index_size * index_count]))
    ends = [start for _, start in indices[1:]] + [value_count]
    block, last = {}, -1
    for (number, start), end in zip(indices, ends):
        require(last < number and start < end, number)
        last = number
        block[number] = dict(values[start:end])
        require(list(block[number]) == sorted(block[number]) and len(block[number]) == end - start, number)
        require(all(block[number].values()), number)
    require(sum(map(len, block.values())) == value_count)
    return block


def read_profiles(path, kinds):
    """The first is the sum's."""
    file = File(path, "prof", ("ProfileInfos", "IdTuples"))
    at, count, size = file.get("QLB", file.sections["ProfileInfos"][0])
    require(size == 48)
    profiles = []
    for item in file.array("ProfileInfos", at, count, size):
        id_tuple, flags = file.get("QL", item + 32)
        require((flags, bool(id_tuple)) == ((0, True) if profiles else (1, False)))
        ids = []
        if id_tuple:
            for at in file.array("IdTuples", id_tuple + 8, file.get("H", id_tuple, 8)[0], 16):
                kind, id_flags, logical, physical = file.get("BxHLQ", at)
                require(id_flags == 0 and physical == logical)
                ids.append((kinds[kind], logical))
        profiles.append((tuple(ids), read_block(file, item, "QQL4xQ", "Hd", "LQ", (2, 4))))
    return profiles


def read_cct(path):
    """{ctxId: {metric: {profile: value}}}"""
    file = File(path, "ctxt", ("CtxInfos",))
    at, count, size = file.get("QLB", file.sections["CtxInfos"][0])
    require(size == 32)
    return [read_block(file, item, "QQH6xQ", "Ld", "HQ", (4, 2)) for item in file.array("CtxInfos", at, count, size)]


def read_traces(path, database):
    """{profile: [(time, ctxId)]}"""
    file = File(path, "trce", ("CtxTraces",))
    begin = file.sections["CtxTraces"][0]
    at, count, size, first, last = file.get("QLB3xQQ", begin)
    require(size == 24)
    traces, ranges, after = {}, [file.sections["CtxTraces"]], 0
    for item in file.array("CtxTraces", at, count, size):
        profile, start, end = file.get("L4xQQ", item)
        require(after < profile, profile, after)
        require(start % 4 == 0 and start < end <= len(file.data) - 8 and (end - start) % 12 == 0, start, end)
        after = profile
        ranges.append((start, end))
        traces[profile] = line = list(struct.iter_unpack("<QL", file.data[start:end]))
        require(all(a[0] < b[0] and (a[1] or b[1]) for a, b in zip(line, line[1:])), profile)
        require(all(context == 0 or context in database.contexts for _, context in line), profile)
    ranges.sort()
    require(all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), ranges)
    require((first, last) == (min(line[0][0] for line in traces.values()), max(line[-1][0] for line in traces.values())), first, last)
    return traces


def path(context):
    """The functions from the outermost on, and the line where the innermost one was, or was waiting, if that is known."""
    names, line, inside = [], None, context
    if context.kind == "function" and context.function.name in WAITING:
        inside = context.parent
    if inside.kind == "line":
        line = inside.line
    while context.kind != "entry":
        if context.kind == "function":
            names.append(context.function.name)
        context = context.parent
    return tuple(reversed(names)), line


def paint(database, line):
    """[begin, end, path] as viewers paint a line of a trace: each context from the middle between two elements to the next such middle."""
    painted = []
    middles = [(a + b) / 2 for (a, _), (b, _) in zip(line, line[1:])]
    for begin, end, (_, context) in zip([line[0][0], *middles], [*middles, line[-1][0]], line):
        where = path(database.contexts[context]) if context else None
        if painted and painted[-1][2] == where:
            painted[-1][1] = end
        else:
            painted.append([begin, end, where])
    return painted


def read(directory):
    database = read_meta(os.path.join(directory, "meta.db"))
    database.profiles = read_profiles(os.path.join(directory, "profile.db"), database.kinds)
    database.by_context = read_cct(os.path.join(directory, "cct.db"))
    trace = os.path.join(directory, "trace.db")
    database.traces = read_traces(trace, database) if os.path.exists(trace) else {}
    require(0 not in database.traces and all(profile < len(database.profiles) for profile in database.traces))
    return database
