"""Threads over time in Perfetto's and Firefox's formats, against the made traces that they were written from: three threads in each of two processes."""

import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "behaviour"))
sys.path.insert(0, HERE)

import hpctoolkit_reader  # noqa: E402
import trace_readers as readers  # noqa: E402  (found through the path set above)
from blame_profile import Tree  # noqa: E402
from harness import BLAME, BUILD, ROOT, TIMEOUT_S, BlameTest, clean_environment, program  # noqa: E402
from readers import as_in_csv  # noqa: E402

KINDS = ("names", "deep", "one", "random")
BUSY = set(readers.STATES) - {"idle", "stopped"}


def moments(threads):
    """(begin, end, busy threads, idle threads) of each moment between two changes."""
    changes = collections.defaultdict(lambda: [0, 0])
    for spans in threads:
        for begin, end, state, *_rest in spans:
            side = 0 if state in BUSY else 1
            changes[begin][side] += state != "stopped"
            changes[end][side] -= state != "stopped"
    times, counts = sorted(changes), [0, 0]
    for begin, end in zip(times, times[1:]):
        counts = [count + change for count, change in zip(counts, changes[begin])]
        yield begin, end, *counts


class Traces(BlameTest):
    together = True

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory(prefix="blame-traces-")
        cls.addClassCleanup(cls.made.cleanup)
        cls.messages = messages = readers.perfetto_messages(os.path.join(ROOT, "command", "export", "perfetto.proto"), cls.made.name)
        cls.read, cls.truth, cls.tree = {}, {}, {}
        for kind in KINDS:
            folder = os.path.join(cls.made.name, kind)
            os.mkdir(folder)
            subprocess.run([os.path.join(BUILD, "export-tests", "make_exports"), kind, folder], check=True, timeout=TIMEOUT_S)
            trace = messages.Trace()
            with open(os.path.join(folder, "all.pftrace"), "rb") as file:
                trace.ParseFromString(file.read())
            with open(os.path.join(folder, "all.firefox.json"), encoding="utf-8") as file:
                cls.read[kind] = {"perfetto": readers.Perfetto(trace), "firefox": readers.Firefox(json.load(file))}
            with open(os.path.join(folder, "trace.tsv"), encoding="ascii") as file:
                cls.truth[kind] = readers.made_truth(file.read())
            with open(os.path.join(folder, "profile.csv"), encoding="utf-8", newline="") as file:
                cls.tree[kind] = Tree(file.read())

    def each(self):
        return [(kind, name, read, self.truth[kind], self.tree[kind]) for kind in KINDS for name, read in self.read[kind].items()]

    def path(self, tree, row, state):
        row = tree.rows[row]
        path = row.parent.path() if row.kind == "statement" else row.path()
        frame = [f"<{state}>"] if state != "work" else []
        return (*(path or ([] if frame else ["<program root>"])), *frame)

    def test_samples_are_the_traces_by_thread_and_stack(self):
        for kind, name, read, truth, tree in self.each():
            with self.subTest(kind=kind, format=name):
                self.assertEqual(set(read.samples), set(truth))
                for thread, spans in truth.items():
                    wanted, found = collections.Counter(), collections.Counter()
                    for begin, end, state, samples, row in spans:
                        path = self.path(tree, row, state)
                        wanted[path, "ns"] += end - begin
                        wanted[path, "samples"] += samples if name == "perfetto" else 0
                    for _time, weight, path, *samples in read.samples[thread]:
                        path = tuple(as_in_csv(part) or "?" for part in path)
                        found[path, "ns"] += round(weight)
                        found[path, "samples"] += sum(samples)
                    wanted = {(tuple(part or "?" for part in path), what): value for (path, what), value in wanted.items()}
                    self.assertEqual(+found, +collections.Counter(wanted))

    def painted(self, tree, spans):
        """The same in hpcviewer: [begin, end, (path, line)]."""
        wanted = []
        for begin, end, state, _samples, row in spans:
            if wanted and begin > wanted[-1][1]:
                wanted.append([wanted[-1][1], begin, (("<not sampled>",), None)])
            path = self.path(tree, row, state)
            row = tree.rows[row]
            where = () if path == ("<program root>",) else tuple(part or "?" for part in path), row.line if row.kind == "statement" else None
            if wanted and wanted[-1][2] == where:
                wanted[-1][1] = end
            else:
                wanted.append([begin, end, where])
        return wanted

    def test_hpcviewers_lines_are_the_traces_from_border_to_border(self):
        for kind in ("names", "one", "random"):
            with self.subTest(kind=kind):
                folder = os.path.join(self.made.name, kind, "hpctoolkit-trace")
                database = hpctoolkit_reader.read_meta(os.path.join(folder, "meta.db"))
                traces = hpctoolkit_reader.read_traces(os.path.join(folder, "trace.db"), database)
                self.assertEqual(sorted(traces), [1, 2, 3])
                for profile, line in traces.items():
                    spans = self.truth[kind][0, profile - 1]
                    self.assertLessEqual(len(line), sum(span[3] for span in spans) + 2 * len(spans))
                    wanted = self.painted(self.tree[kind], spans)
                    found = [[begin, end, (tuple(as_in_csv(part) or "?" for part in path), at)]
                             for begin, end, (path, at) in hpctoolkit_reader.paint(database, line)]
                    self.assertEqual([where for *_time, where in found], [where for *_time, where in wanted])
                    borders = [(a[1], b[1]) for a, b in zip(found, wanted)]
                    self.assertLessEqual(max(abs(a - b) for a, b in borders[:-1] or [(0, 0)]), 1)
                    self.assertLessEqual(found[0][0] - wanted[0][0], 500001)
                    self.assertLessEqual(wanted[-1][1] - found[-1][1], 500001)

    def test_samples_are_inside_their_spans(self):
        for kind, name, read, truth, _tree in self.each():
            with self.subTest(kind=kind, format=name):
                for thread, spans in truth.items():
                    times, at = [time for time, *_rest in read.samples[thread]], 0
                    for begin, end, _state, samples, _row in spans:
                        inside = 0
                        while at < len(times) and times[at] < end:
                            self.assertGreaterEqual(times[at], begin)
                            at, inside = at + 1, inside + 1
                        self.assertEqual(inside, max(1, min(samples, -(-(end - begin) // 20000000))))

    def test_states_are_slices(self):
        for kind, name, read, truth, _tree in self.each():
            with self.subTest(kind=kind, format=name):
                for thread, spans in truth.items():
                    wanted = [run for run in readers.runs(spans) if name == "perfetto" or run[2] == "idle"]
                    self.assertEqual([[round(begin), round(end), state] for begin, end, state, _because in read.slices[thread]], wanted)

    def test_an_idle_slice_says_because_of_whom(self):
        for kind, name, read, truth, _tree in self.each():
            with self.subTest(kind=kind, format=name):
                for process in (0, 1):
                    nobody = [(begin, end) for begin, end, busy, _idle in moments([truth[process, i] for i in range(3)]) if not busy]
                    for thread in range(3):
                        for begin, end, state, because in read.slices[process, thread]:
                            if state != "idle":
                                self.assertEqual(because, {})
                                continue
                            alone = sum(max(0, min(end, to) - max(begin, since)) for since, to in nobody)
                            if name == "firefox":
                                self.assertAlmostEqual(because["nobody was busy"], alone / (end - begin), delta=0.00501)
                            else:
                                self.assertAlmostEqual(because.get("nobody was busy", 0), alone, delta=100)
                                self.assertAlmostEqual(sum(because.values()), end - begin, delta=100)

    def test_counters_have_the_integral_of_what_they_count(self):
        for kind, name, read, truth, _tree in self.each():
            with self.subTest(kind=kind, format=name):
                for process in (0, 1):
                    counters = {counter: sum((end - begin) * value for begin, end, value in points) for counter, points in read.counters[process].items()}
                    known = list(moments([truth[process, i] for i in range(3)]))
                    self.assertAlmostEqual(counters["busy threads"], sum((end - begin) * busy for begin, end, busy, _idle in known), delta=1000)
                    blamed = sum((end - begin) * idle for begin, end, busy, idle in known if busy)
                    self.assertAlmostEqual(counters["blamed idleness"], blamed, delta=1000)
                    parts = {counter: value for counter, value in counters.items() if counter.startswith("idle because of ")}
                    self.assertLessEqual(len(parts), 5)
                    self.assertLessEqual(sum(parts.values()), blamed + 1000)
                    self.assertEqual(list(parts.values()), sorted(parts.values(), reverse=True))

    def test_both_formats_say_the_same_of_culprits(self):
        for kind in KINDS:
            perfetto, firefox = (self.read[kind][name] for name in ("perfetto", "firefox"))
            for process in (0, 1):
                self.assertEqual([as_in_csv(name) for name in perfetto.counters[process]], [as_in_csv(name) for name in firefox.counters[process]])

    def test_a_programs_trace_has_its_threads_time_and_phases(self):
        run, _ = self.profile_of("matmul", env={"BLAME_TRACE": "1", "OMP_NUM_THREADS": "2"}, checks=())
        directory, = run.directories()
        with open(os.path.join(directory, "threads.csv"), newline="", encoding="utf-8") as file:
            wanted = [sum(float(thread[state]) for state in ("work", "overhead", "idle", "lock_wait", "no_core", "blocked")) for thread in csv.DictReader(file)]
        for name in ("perfetto", "firefox"):
            with self.subTest(format=name):
                data = subprocess.run([BLAME, "export", directory, "--format", name], check=True, capture_output=True, env=clean_environment()).stdout
                read = readers.Firefox(json.loads(data)) if name == "firefox" else readers.Perfetto(self.messages.Trace.FromString(data))
                found = [sum(weight for _time, weight, *_rest in samples) / 1e9 for _thread, samples in sorted(read.samples.items())]
                self.assertEqual(len(found), 2)
                for got, lived in zip(found, wanted):
                    self.assertAlmostEqual(got, lived, delta=0.03 * lived)
                phases = [phase for _begin, _end, phase in read.phases[0]]
                self.assertEqual([phases.count(f"outer [{number}]") for number in range(5)], [1] * 5)
                self.assertIn("phase outer", phases)
                self.assertTrue(any(function == "main" and line for function, _file, line in read.lines))
        target = os.path.join(self.new_folder(), "db")
        subprocess.run([BLAME, "export", directory, "--format", "hpctoolkit", "-o", target], check=True, env=clean_environment())
        database = hpctoolkit_reader.read(target)
        self.assertEqual(sorted(database.traces), [1, 2])
        for profile, line in database.traces.items():
            number = dict(database.profiles[profile][0])["THREAD"]
            painted = hpctoolkit_reader.paint(database, line)
            lived = sum(end - begin for begin, end, where in painted if where[0] != ("<not sampled>",)) / 1e9
            self.assertAlmostEqual(lived, wanted[number], delta=0.03 * wanted[number])
            self.assertLess(abs(line[0][0] / 1e9 - os.stat(directory).st_mtime), 3600)

    def assert_traces_go_with_ranks(self, job):
        without = os.path.join(self.new_folder(), "job")
        subprocess.run([BLAME, "merge", job, "--output", f"{without}.blame"], check=True, capture_output=True, env=clean_environment())
        os.mkdir(without)
        os.rename(f"{without}.blame", f"{without}/job.blame")
        for name in ("stacks", "perfetto", "firefox"):
            run = subprocess.run([BLAME, "export", without, "--format", name], capture_output=True, env=clean_environment(), check=False)
            self.assertEqual((run.returncode, run.stdout), (1, b""), run)
            self.assertRegex(run.stderr, rb"\Ablame export: .*/job: this directory holds no rank's measurement .*\n\Z")

    def test_a_jobs_processes_are_in_one_file_one_after_another(self):
        folder = self.new_folder()
        for _process in range(2):
            subprocess.run([BLAME, "run", "--job", "pair", "--trace", program("quick")], cwd=folder, env=clean_environment(), check=True,
                           capture_output=True, timeout=TIMEOUT_S)
        for name in ("perfetto", "firefox"):
            data = subprocess.run([BLAME, "export", os.path.join(folder, "blame-quick-pair"), "--format", name], check=True, capture_output=True,
                                  env=clean_environment()).stdout
            read = readers.Firefox(json.loads(data)) if name == "firefox" else readers.Perfetto(self.messages.Trace.FromString(data))
            self.assertEqual(sorted(read.samples), [(0, 0), (0, 1), (1, 0), (1, 1)])
            first, second = sorted([(read.samples[process, 0][0][0], read.samples[process, 0][-1][0]) for process in (0, 1)])
            self.assertLess(first[1], second[0])
            self.assertLess(second[0], 60e9)
        self.assert_traces_go_with_ranks(os.path.join(folder, "blame-quick-pair"))
        target = os.path.join(folder, "db")
        subprocess.run([BLAME, "export", os.path.join(folder, "blame-quick-pair"), "--format", "hpctoolkit", "-o", target], check=True, env=clean_environment())
        database = hpctoolkit_reader.read(target)
        self.assertEqual(sorted(database.traces), [1, 2, 3, 4])
        self.assertEqual([[kind for kind, _number in ids] for ids, _ in database.profiles[1:]], [["NODE", "RANK", "THREAD"]] * 4)
        earlier, later = sorted([(min(database.traces[profile][0][0] for profile in rank), max(database.traces[profile][-1][0] for profile in rank))
                                 for rank in ((1, 2), (3, 4))])
        self.assertLess(earlier[1], later[0])
        for profile, line in database.traces.items():   # what a rank's nodes are in the job: its threads' rows
            seen = {context for _time, context in line if database.profiles[0][1].get(context)}
            self.assertTrue(seen)
            self.assertLessEqual(seen, set(database.profiles[profile][1]))

    def test_protoc_decodes_perfetto_without_unknown_fields(self):
        for kind in KINDS:
            with open(os.path.join(self.made.name, kind, "all.pftrace"), "rb") as file:
                text = subprocess.run(["protoc", "--decode", "perfetto.protos.Trace", "-I", os.path.join(ROOT, "command", "export"), "perfetto.proto"], stdin=file,
                                      capture_output=True, check=True).stdout
            self.assertEqual(re.findall(rb"^\s*\d+[ :{].*$", text, re.MULTILINE), [])


if __name__ == "__main__":
    unittest.main()
