"""Exports of traces as lists that do not depend on the format, read by what the formats' authors describe; what breaks their rules is an AssertionError.
Times in nanoseconds. A thread is (process, thread), by their order."""

import collections
import re
import subprocess
import sys

STATES = ("work", "overhead", "idle", "lock wait", "mpi wait", "no core", "blocked", "stopped")


class Read:
    def __init__(self):
        self.samples = collections.defaultdict(list)   # by thread: (time, weight, path from the outermost on), Perfetto: and how many they are
        # By thread: (begin, end, name, {because of: ns}), runs of a state; Firefox: idle ones, of which it has parts.
        self.slices = collections.defaultdict(list)
        self.counters = collections.defaultdict(dict)  # by process and name: [(begin, end, value)]
        self.phases = collections.defaultdict(list)    # by process: (begin, end, name)
        self.lines = set()                             # (function, file, line) of frames


def made_truth(text):
    """By thread: (begin, end, state, samples, row)."""
    spans = collections.defaultdict(list)
    for line in text.splitlines():
        process, thread, begin, end, state, samples, row = line.split("\t")
        spans[int(process), int(thread)].append((int(begin), int(end), state, int(samples), int(row)))
    return spans


def runs(spans):
    """Adjacent spans of one state are one: [begin, end, state]."""
    found = []
    for begin, end, state, *_rest in spans:
        if found and found[-1][1:] == [begin, state]:
            found[-1][1] = end
        else:
            found.append([begin, end, state])
    return found


def perfetto_messages(proto, folder):
    subprocess.run(["protoc", f"--python_out={folder}", "-I", proto.rsplit("/", 1)[0], proto], check=True)
    sys.path.insert(0, folder)
    import perfetto_pb2  # made by the line above
    return perfetto_pb2


class Interned:
    """Per kind; an entry must be there before it is referred to, and once."""

    def __init__(self):
        self.known = collections.defaultdict(dict)

    def add(self, data):
        for kind in ("event_names", "debug_annotation_names", "function_names", "mapping_paths", "source_paths", "mappings", "frames", "callstacks",
                     "stack_sample_task_contexts"):
            for entry in getattr(data, kind):
                assert entry.iid and entry.iid not in self.known[kind], (kind, entry.iid)
                self.known[kind][entry.iid] = entry
        for frame in data.frames:
            self.known["function_names"][frame.function_name_id].str.decode()
            assert not frame.mapping_id or frame.HasField("rel_pc")
        for stack in data.callstacks:
            assert stack.frame_ids and all(frame in self.known["frames"] for frame in stack.frame_ids)

    def name(self, kind, iid):
        entry = self.known[kind][iid]
        return entry.name if kind in ("event_names", "debug_annotation_names") else entry.str.decode()

    def path(self, iid):
        frames = [self.known["frames"][frame] for frame in self.known["callstacks"][iid].frame_ids]
        return tuple(self.name("function_names", frame.function_name_id) for frame in frames)


class Perfetto(Read):
    def __init__(self, trace):
        super().__init__()
        self.interned, self.tracks, self.threads, self.processes = Interned(), {}, {}, []
        self.open = collections.defaultdict(list)
        self.levels = collections.defaultdict(list)
        assert trace.packet[0].sequence_flags == 3
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1 and packet.sequence_flags & 2
            self.interned.add(packet.interned_data)
            if packet.HasField("track_descriptor"):
                self.add_track(packet.track_descriptor)
            elif packet.HasField("track_event"):
                self.add_event(packet.timestamp, packet.track_event)
            elif packet.HasField("stack_sample"):
                self.add_sample(packet.timestamp, packet.stack_sample)
        assert not any(self.open.values())
        for frame in self.interned.known["frames"].values():
            file = self.interned.name("source_paths", frame.source_path_iid) if frame.source_path_iid else ""
            self.lines.add((self.interned.name("function_names", frame.function_name_id), file, frame.line_number))
        for (process, name), points in self.levels.items():
            assert [at for at, _value in points] == sorted(at for at, _value in points) and (not points or points[-1][1] == 0)
            self.counters[process][name] = [(at, then, value) for (at, value), (then, _next) in zip(points, points[1:])]

    def add_track(self, track):
        assert track.uuid not in self.tracks
        if track.HasField("process"):
            self.tracks[track.uuid] = "process", len(self.processes)
            self.processes.append(track.process)
        elif track.HasField("thread"):
            process = next(i for i, known in enumerate(self.processes) if known.pid == track.thread.pid)
            key = process, sum(known[0] == process for known in self.threads.values())
            assert track.thread.tid not in self.threads
            self.threads[track.thread.tid] = key
            self.tracks[track.uuid] = "thread", key
        elif track.uuid:
            kind, process = self.tracks[track.parent_uuid]
            assert kind == "process"
            self.tracks[track.uuid] = "counter" if track.HasField("counter") else "phases", (process, track.name)
            if track.HasField("counter"):
                self.levels[process, track.name] = []

    def add_event(self, time, event):
        kind, key = self.tracks[event.track_uuid]
        if event.type == 4:
            assert kind == "counter"
            self.levels[key].append((time, event.double_counter_value))
            return
        assert kind in ("thread", "phases") and event.type in (1, 2)
        stack = self.open[event.track_uuid]
        if event.type == 1:
            because = {self.interned.name("debug_annotation_names", part.name_iid): part.double_value * 1e6
                       for whole in event.debug_annotations for part in whole.dict_entries}
            stack.append((time, self.interned.name("event_names", event.name_iid), because))
            return
        begin, name, because = stack.pop()
        assert begin <= time
        if kind == "thread":
            self.slices[key].append((begin, time, name, because))
        else:
            self.phases[key[0]].append((begin, time, name))

    def add_sample(self, time, sample):
        task = self.interned.known["stack_sample_task_contexts"][sample.task_context_iid]
        key = self.threads[task.tid]
        assert self.processes[key[0]].pid == task.pid and len(sample.follower_weights) == 1
        self.samples[key].append((time, sample.primary_weight, self.interned.path(sample.callstack_iid), sample.follower_weights[0]))


def check_table(table, indices=None):
    """All columns are as long as the table says; indices: {column: what they are below, -1 and null where there may be none}."""
    for name, column in table.items():
        if isinstance(column, list):
            assert len(column) == table["length"], name
    for name, below in (indices or {}).items():
        assert all(index in (None, -1) or 0 <= index < below for index in table[name]), name


class Firefox(Read):
    def __init__(self, profile):
        super().__init__()
        self.meta, self.shared = profile["meta"], profile["shared"]
        assert self.meta["preprocessedProfileVersion"] == 70
        assert any(category["color"] == "grey" for category in self.meta["categories"])
        self.check_shared()
        self.pids = list(dict.fromkeys(thread["pid"] for thread in profile["threads"]))
        assert len({thread["tid"] for thread in profile["threads"]}) == len(profile["threads"])
        for thread in profile["threads"]:
            process = self.pids.index(thread["pid"])
            key = process, sum(known[0] == process for known in self.samples)
            assert thread["isMainThread"] == (key[1] == 0)
            self.add_samples(key, thread["samples"])
            self.add_markers(key, thread["markers"])
        for counter in profile["counters"]:
            assert profile["threads"][counter["mainThreadIndex"]]["pid"] == counter["pid"]
            self.add_counter(self.pids.index(counter["pid"]), counter)

    def check_shared(self):
        shared, texts = self.shared, len(self.shared["stringArray"])
        check_table(shared["stackTable"], {"frame": shared["frameTable"]["length"]})
        check_table(shared["frameTable"], {"func": shared["funcTable"]["length"], "category": len(self.meta["categories"])})
        check_table(shared["funcTable"], {"name": texts, "resource": shared["resourceTable"]["length"], "source": shared["sources"]["length"]})
        check_table(shared["resourceTable"], {"name": texts})
        check_table(shared["sources"], {"filename": texts})
        assert all(0 <= offset <= i for i, offset in enumerate(shared["stackTable"]["prefixOffset"]))
        for function, line in zip(shared["frameTable"]["func"], shared["frameTable"]["line"]):
            source = shared["funcTable"]["source"][function]
            file = "" if source is None else shared["stringArray"][shared["sources"]["filename"][source]]
            self.lines.add((shared["stringArray"][shared["funcTable"]["name"][function]], file, line or 0))

    def path(self, stack):
        """Also the category of the innermost frame."""
        table, path, category = self.shared["stackTable"], [], self.shared["frameTable"]["category"][self.shared["stackTable"]["frame"][stack]]
        while True:
            path.insert(0, self.shared["stringArray"][self.shared["funcTable"]["name"][self.shared["frameTable"]["func"][table["frame"][stack]]]])
            if table["prefixOffset"][stack] == 0:
                return tuple(path), self.meta["categories"][category]["name"]
            stack -= table["prefixOffset"][stack]

    def add_samples(self, key, samples):
        check_table(samples, {"stack": self.shared["stackTable"]["length"]})
        assert samples["time"] == sorted(samples["time"]) and samples["weightType"] == "tracing-ms"
        self.samples[key] = []
        for time, weight, stack in zip(samples["time"], samples["weight"], samples["stack"]):
            assert stack is not None or weight == 0
            if stack is not None:
                path, state = self.path(stack)
                assert state == "work" or path[-1] == f"<{state}>", (path, state)
                self.samples[key].append((time * 1e6, weight * 1e6, path))

    def add_markers(self, key, markers):
        check_table(markers, {"name": len(self.shared["stringArray"]), "category": len(self.meta["categories"])})
        schemas, stack = {schema["name"] for schema in self.meta["markerSchema"]}, []
        for data, name, begin, end, phase in zip(*(markers[column] for column in ("data", "name", "startTime", "endTime", "phase"))):
            assert data["type"] in schemas
            name = self.shared["stringArray"][name]
            if phase == 1:
                percents = [int(percent) for percent in re.findall(r" (\d+) %(?:, |$)", data["because"])]
                assert abs(sum(percents) - 100) <= 7, data  # each is rounded
                nobody = re.search(r"nobody was busy (\d+) %$", data["because"])
                self.slices[key].append((begin * 1e6, end * 1e6, name, {"nobody was busy": int(nobody[1]) / 100 if nobody else 0}))
            elif phase == 2:
                stack.append((name, begin))
            else:
                assert phase == 3 and stack[-1][0] == name
                self.phases[key[0]].append((stack.pop()[1] * 1e6, end * 1e6, name))
        assert not stack

    def add_counter(self, process, counter):
        samples, points = counter["samples"], []
        check_table(samples)
        assert counter["display"]["graphType"] == "line-rate" and samples["count"][0] == 0
        for i in range(1, samples["length"]):
            begin, end = samples["time"][i - 1], samples["time"][i]
            assert begin < end
            points.append((begin * 1e6, end * 1e6, samples["count"][i] / (end - begin)))
        self.counters[process][counter["name"]] = points
