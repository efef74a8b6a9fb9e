"""Exported profiles as {path: {metric: value}}, paths being names from the outermost function on, values in nanoseconds
or samples: what profile.csv says of the same rows, and what is read from each format."""

import collections
import functools
import gzip
import json
import re
import subprocess
import sys

METRICS = {"idleness": "idleness", "work": "work", "overhead": "overhead", "lock-wait": "lock wait",
           "lock-wait-here": "lock wait here", "core-idleness": "core idleness", "shared-idleness": "shared idleness",
           "samples": "samples", "no-core": "no core", "blocked": "blocked",
           "mpi-wait": "mpi wait", "rank-idleness": "rank idleness"}  # as --metric takes them, as profile.csv calls them
ROOT = "<program root>"


# What profile.csv replaces: exports escape it, as their formats can.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def as_in_csv(data):
    if isinstance(data, str):
        return CONTROL.sub("\ufffd", data)
    if isinstance(data, list):
        return [as_in_csv(part) for part in data]
    return {as_in_csv(key): as_in_csv(part) for key, part in data.items()} if isinstance(data, dict) else data


def scale(metric):
    return 1 if metric == "samples" else 1e9


def row_path(row):
    return tuple(row.path()) or (ROOT,)


@functools.cache
def of_csv(tree, negative=True):
    """Functions only: statements are part of theirs. Also how many rows a path has."""
    paths = collections.defaultdict(collections.Counter)
    for row in tree.rows:
        if row.kind != "statement":
            sums = paths[row_path(row)]
            sums["rows"] += 1
            for metric, column in METRICS.items():
                value = row[f"{column} (E)"] * scale(metric)
                sums[metric] += value if negative else max(value, 0)
    return paths


@functools.cache
def of_csv_lines(tree):
    lines = collections.defaultdict(collections.Counter)
    for row in tree.rows:
        if row.kind == "statement":
            sums = lines[row_path(row.parent), row.file, row.line]
            sums["rows"] += 1
            for metric, column in METRICS.items():
                sums[metric] += row[f"{column} (E)"] * scale(metric)
    return lines


@functools.cache
def folded_name(name):
    """Frames end at semicolons, stacks at line ends: neither is in a name."""
    return "".join("\ufffd" if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 else c for c in name.replace(";", ":"))


def of_folded(text, metric):
    paths = collections.defaultdict(collections.Counter)
    for line in text.split("\n")[:-1]:
        stack, value = line.rsplit(" ", 1)
        paths[tuple(stack.split(";"))][metric] += int(value) * (1 if metric == "samples" else 1000)
    return paths


def of_speedscope(data):
    paths = collections.defaultdict(collections.Counter)
    names = [frame["name"] for frame in data["shared"]["frames"]]
    for profile in data["profiles"]:
        assert profile["unit"] == ("none" if profile["name"] == "samples" else "nanoseconds")
        assert len(profile["samples"]) == len(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            paths[tuple(names[frame] for frame in stack)][profile["name"]] += weight
    return paths


def pprof_messages(proto, folder):
    """The format's classes, by protoc and Google's Python library."""
    subprocess.run(["protoc", f"--python_out={folder}", "-I", proto.rsplit("/", 1)[0], proto], check=True)
    sys.path.insert(0, folder)
    import pprof_pb2  # made by the line above
    return pprof_pb2


def read_pprof(path, messages):
    with gzip.open(path) as file:
        profile = messages.Profile()
        profile.ParseFromString(file.read())
        return profile


def broken_pprof_rules(profile):
    """What github.com/google/pprof refuses (profile.CheckValid, decoding) or what its field descriptions ask for."""
    strings, broken = profile.string_table, []
    if not strings or strings[0] != "":
        broken.append("string_table[0] is not empty")
    ids = {}
    for kind in ("mapping", "location", "function"):
        ids[kind] = {entry.id for entry in getattr(profile, kind)}
        if 0 in ids[kind] or len(ids[kind]) != len(getattr(profile, kind)):
            broken.append(f"{kind}: an id is 0 or there twice")
    texts = [text for of in profile.function for text in (of.name, of.system_name, of.filename)]
    texts += [text for of in profile.mapping for text in (of.filename, of.build_id)]
    texts += [text for of in [*profile.sample_type, profile.period_type] for text in (of.type, of.unit)]
    if any(not 0 <= text < len(strings) for text in [*texts, *profile.comment, profile.default_sample_type]):
        broken.append("a text that is not in the string table")
    if any(len(sample.value) != len(profile.sample_type) for sample in profile.sample):
        broken.append("a sample has not one value for each sample type")
    if any(not sample.location_id or set(sample.location_id) - ids["location"] for sample in profile.sample):
        broken.append("a sample without locations, or with one that is not there")
    for location in profile.location:
        if location.mapping_id and location.mapping_id not in ids["mapping"]:
            broken.append(f"location {location.id}: no such mapping")
        if not location.line or any(line.function_id not in ids["function"] for line in location.line):
            broken.append(f"location {location.id}: no line, or a function that is not there")
    if len(set(strings)) != len(strings):
        broken.append("a string is there twice")
    if strings[profile.default_sample_type] not in [strings[of.type] for of in profile.sample_type]:
        broken.append("the default sample type is none of the sample types")
    return broken


def of_pprof(profile):
    """Paths, and (path, file, line) of the leaves."""
    strings = as_in_csv(list(profile.string_table))
    types = [strings[of.type] for of in profile.sample_type]
    functions = {of.id: of for of in profile.function}
    locations = {of.id: of for of in profile.location}
    paths, lines = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for sample in profile.sample:
        inner_first = [line for at in sample.location_id for line in locations[at].line]
        path = tuple(strings[functions[line.function_id].name] for line in reversed(inner_first))
        file = strings[functions[inner_first[0].function_id].filename]
        of_path, of_line = paths[path], lines[path, file, inner_first[0].line]
        for metric, value in zip(types, sample.value):
            of_path[metric] += value
            of_line[metric] += value
    return paths, lines


def of_hatchet(data):
    """By node, which is the row's number in profile.csv: (path, exclusive, inclusive)."""
    nodes, = data["graph"]
    parents = {str(child): node for node, entry in nodes.items() for child in entry["children"]}
    records = {str(record["node"]): record for record in data["dataframe"]}
    assert len(records) == len(data["dataframe"]) and set(records) == set(nodes)

    def path_of(node):
        path = []
        while node in parents:
            path.insert(0, nodes[node]["data"]["name"])
            node = parents[node]
        return tuple(path) or (ROOT,)

    return {int(node): (path_of(node), record) for node, record in records.items()}


def load(path):
    with open(path, encoding="utf-8") as file:
        return as_in_csv(json.load(file))
