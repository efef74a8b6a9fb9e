"""Reads TAU's profiles as their readers do: by the lines' own counts, a name up to the quotation mark in front of the numbers."""

import collections
import os
import re
import xml.etree.ElementTree

APPLICATION = (".TAU application", "[CONTEXT] .TAU application")
LINE = re.compile(r'"(.*)" (\d+) (\d+) (\d+(?:\.\d+)?) (\d+(?:\.\d+)?) 0 GROUP="([^"]*)" \Z')
USER_EVENT = re.compile(r'"(.*)" (\d+) (\S+) (\S+) (\S+) (\S+)\Z')
PLACED = re.compile(r"\[(UNWIND|SAMPLE)\] (.*) \[\{(.*)\} \{(\d+)\}\]\Z")

Event = collections.namedtuple("Event", "calls callees exclusive inclusive groups")


class TauFile:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().split("\n")
        assert lines.pop() == "", path
        self.node, self.context, self.thread = (int(number) for number in os.path.basename(path).split(".")[1:])
        count, self.metric = re.fullmatch(r"(\d+) templated_functions_MULTI_(\w+)", lines[0]).groups()
        heading, metadata = lines[1].split(" # ")
        assert heading == "# Name Calls Subrs Excl Incl ProfileCalls", heading
        tree = xml.etree.ElementTree.fromstring(metadata)
        self.facts = {attribute.find("name").text: attribute.find("value").text for attribute in tree.findall("attribute")}
        self.events = []  # (path, Event)
        for line in lines[2:2 + int(count)]:
            name, calls, callees, exclusive, inclusive, groups = LINE.match(line).groups()
            self.events.append((tuple(name.split(" => ")),
                                Event(int(calls), int(callees), float(exclusive), float(inclusive), groups.split("|"))))
        rest = lines[2 + int(count):]
        assert rest[0] == "0 aggregates", rest[0]
        self.user_events = {}
        if len(rest) > 1:
            assert rest[1:3] == [f"{len(rest) - 3} userevents", "# eventname numevents max min mean sumsqr"], rest[1:3]
            for line in rest[3:]:
                name, *numbers = USER_EVENT.match(line).groups()
                self.user_events[name] = [float(number) for number in numbers]


def read(directory):
    """By metric: its files."""
    return {folder.removeprefix("MULTI__"): [TauFile(os.path.join(directory, folder, name))
                                             for name in sorted(os.listdir(os.path.join(directory, folder)))]
            for folder in os.listdir(directory)}


def placed(name):
    """Kind, name, file and line of an event."""
    match = PLACED.match(name)
    return (match[1], match[2], match[3], int(match[4])) if match else ("", name, "", 0)


def sums(files):
    """Of all threads, in microseconds: inclusive values by path of names, those of samples by path, file and line, and the same of
    single events."""
    paths, samples, flat = (collections.Counter() for _ in range(3))
    for file in files:
        for path, event in file.events:
            if len(path) == 1:
                flat[placed(path[0])] += event.inclusive
            elif path[:2] == APPLICATION and len(path) > 2:
                names = tuple(placed(name)[1] for name in path[2:])
                kind, _, source, line = placed(path[-1])
                if kind == "SAMPLE":
                    samples[names[:-1], source, line] += event.exclusive
                else:
                    paths[names] += event.inclusive
    return paths, samples, flat


def total(files, exclusive):
    if exclusive:  # of what is no path
        return sum(event.exclusive for file in files for path, event in file.events if len(path) == 1)
    return sum(event.inclusive for file in files for path, event in file.events if path == APPLICATION[:1])
