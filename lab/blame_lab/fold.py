"""`blame fold`: shows what happens during an average execution of a numbered phase (H. Servat and others, PROPER 2009). Each sample of a trace has a
position in its execution, (time - begin) / length. Executions of usual length are combined, so that a step with two samples is resolved into 120
parts. The begins and lengths are exact (phases.csv), and so are the moments of the samples (docs/time-and-traces.md)."""

import csv
import io
import os
import re
import subprocess

import numpy

from . import fold_picture, fold_text
from .command import BAD_USAGE, DONE, Refused, read_options, write_whole
from .runs import blame, exported
from .text import base_name, clean

BINS, DRAWS = 120, 200
STATES = ("work", "idle", "lock_wait", "overhead", "no_core", "blocked", "mpi_wait")  # of a thread; stopped counts as blocked
IDLE, LOCK_WAIT = 1, 2
# an outlier lies this many median distances and a factor of 1.3 from the median; with fewer than ENOUGH executions there are no outliers
FAR, LEAST_FAR, ENOUGH = 4.5, 0.26, 4
NUMBERED = re.compile(r"(?:^|;)\[(-?\d+)\]:[^;]*;phase ([^;]*):[^:;]*:\d+:0x[0-9a-f]+")
EMPTY = "made without --trace: run again with blame run --trace"


def ask(*arguments):
    """Returns what `blame` prints for these arguments. Raises Refused with its message."""
    run = subprocess.run([blame(), *arguments], capture_output=True, env={**os.environ, "OMP_TOOL_LIBRARIES": ""}, check=False)
    said = run.stderr.decode(errors="replace").strip()
    if run.returncode:
        raise Refused(f"{arguments[1]}: {EMPTY}" if "no trace" in said else re.sub("^blame \\w+: ", "", said.splitlines()[-1] if said else "no answer"))
    return run.stdout.decode(errors="replace")


def unescaped(text):
    return clean(re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode()).decode(errors="replace"))


class Samples:
    """A trace as arrays: time (s), rank, thread, state, function, phase (its number in `phases`; -1: none) and execution."""

    def __init__(self, directory):
        self.functions, self.phases, paths, columns = [], [], {"": (-1, -1, 0)}, []
        places, names = {}, {}
        states = {**{state: number for number, state in enumerate(STATES)}, "stopped": STATES.index("blocked")}
        for line in ask("export", directory, "--format", "stacks").splitlines():
            time, rank, thread, state, path = line.split("\t")
            if path not in paths:
                found, leaf = NUMBERED.search(path), path.split(";", 1)[0].rsplit(":", 3)
                function = (unescaped(leaf[0]), base_name(unescaped(leaf[1])))
                phase = names.setdefault(unescaped(found[2]), len(names)) if found else -1
                paths[path] = places.setdefault(function, len(places)), phase, int(found[1]) if found else 0
            columns.append((float(time), int(rank), -1 if thread == "?" else int(thread), states[state], *paths[path]))
        table = numpy.array(columns, dtype=float).reshape(-1, 7)
        self.time = table[:, 0]
        self.rank, self.thread, self.state, self.function, self.phase, self.execution = table[:, 1:].astype(numpy.int64).T
        self.functions, self.phases = list(places), list(names)
        steps = numpy.concatenate([numpy.diff(self.time[(self.rank == rank) & (self.thread == thread)])
                                   for rank, thread in sorted(set(zip(self.rank.tolist(), self.thread.tolist())))] or [[]])
        self.period = float(numpy.mean(steps[steps <= 4 * numpy.median(steps)])) if len(steps) else 0.0  # s that one sample represents


class Fold:
    """One phase. `begin`, `length`: of the executions that are kept. `seconds[execution, bin, state]` and `work[function, bin, state]` are thread
    seconds."""

    def __init__(self, directory, request):
        self.samples = samples = Samples(directory)
        merged = is_job(directory)
        rows = [(rank, row) for rank in (sorted(set(samples.rank.tolist())) if merged else [None]) for row in phase_rows(directory, rank)]
        self.phase = choose_phase(request["phase"], rows, directory)
        mine = [(0 if rank is None else rank, int(row["instance"]), float(row["begin"]), float(row["seconds"]), int(row["calls"])) for rank, row in rows
                if row["phase"] == self.phase and row["instance"] != "others"]
        self.others = sum(int(row["calls"]) for _, row in rows if row["phase"] == self.phase and row["instance"] == "others")
        if not merged and len(samples.rank):
            mine = [(int(samples.rank[0]), *rest) for _, *rest in mine]  # the file is that of a single rank
        self.several = sum(calls for *_, calls in mine if calls != 1)
        table = numpy.array([row[:4] for row in mine if row[4] == 1 and row[3] > 0]).reshape(-1, 4)
        seen = self.was_seen(table)
        self.unseen = int((~seen).sum())
        table = table[seen]
        usual = usual_lengths(table[:, 3])
        self.apart = table[~usual if not request["outliers"] else usual]
        self.kept = table[usual if not request["outliers"] else ~usual]
        self.outliers = request["outliers"]
        if len(self.kept):
            self.lay_over()

    def was_seen(self, table):
        """Returns for each execution whether samples cover it. A trace may be limited to a window, have pauses, or have reached its size limit."""
        seen = numpy.zeros(len(table), bool)
        for rank in set(table[:, 0]):
            times = numpy.sort(self.samples.time[self.samples.rank == rank])
            room = 2 * self.samples.period
            bounds = numpy.concatenate([[-numpy.inf], times, [numpy.inf]])
            begins, ends = bounds[:-1] + room, bounds[1:] - room  # of the gaps without samples
            begins, ends = begins[begins < ends], ends[begins < ends]
            of = table[:, 0] == rank
            begin, end = table[of, 2], table[of, 2] + table[of, 3]
            seen[of] = numpy.searchsorted(ends, begin, "right") == numpy.searchsorted(begins, end, "left")
        return seen

    def lay_over(self):
        samples, kept = self.samples, self.kept
        place = {(int(rank), int(number)): at for at, (rank, number, _, _) in enumerate(kept)}
        own = samples.phase == (samples.phases.index(self.phase) if self.phase in samples.phases else -2)
        where = numpy.full(len(own), -1)
        where[own] = [place.get(pair, -1) for pair in zip(samples.rank[own].tolist(), samples.execution[own].tolist())]
        for rank in set(kept[:, 0]):  # an idle thread has no context, so its sample belongs to the execution that began last and has not ended
            of = numpy.flatnonzero(kept[:, 0] == rank)
            of = of[numpy.argsort(kept[of, 2])]
            idle = numpy.flatnonzero((samples.rank == rank) & (samples.state == IDLE) & (samples.function < 0))
            last = of[numpy.maximum(numpy.searchsorted(kept[of, 2], samples.time[idle], "right") - 1, 0)]
            inside = (samples.time[idle] >= kept[last, 2]) & (samples.time[idle] < kept[last, 2] + kept[last, 3])
            where[idle[inside]] = last[inside]
        there = where >= 0
        where, state, function = where[there], samples.state[there], samples.function[there]
        part = (samples.time[there] - kept[where, 2]) / kept[where, 3]
        bins = numpy.clip((part * BINS).astype(int), 0, BINS - 1)
        self.count, self.mean_s, size = int(there.sum()), float(kept[:, 3].mean()), len(STATES)
        self.seconds = samples.period * numpy.bincount((where * BINS + bins) * size + state, minlength=len(kept) * BINS * size).reshape(-1, BINS, size)
        named = function >= 0
        self.work = samples.period * numpy.bincount((function[named] * BINS + bins[named]) * size + state[named],
                                                    minlength=len(samples.functions) * BINS * size).reshape(-1, BINS, size)
        self.draw_band()
        busy = self.work.sum(axis=2) - self.work[:, :, IDLE] - self.work[:, :, LOCK_WAIT]
        all_busy = busy.sum(axis=0)
        self.idleness = numpy.divide(busy, all_busy, out=numpy.zeros_like(busy), where=all_busy > 0) * self.seconds[:, :, IDLE].sum(axis=0)
        self.own = self.work.sum(axis=2) - self.work[:, :, LOCK_WAIT]  # each function's own time in any state except lock wait
        self.order = [at for at in numpy.argsort(-(self.own + self.idleness + self.work[:, :, LOCK_WAIT]).sum(axis=1), kind="stable")
                      if self.work[at].any() or self.idleness[at].any()]

    def draw_band(self):
        """Computes sum, low and high [bin, state]: thread seconds of all executions, and the range that contains 95 of 100 random draws of as many
        executions."""
        self.sum, count = self.seconds.sum(axis=0), len(self.kept)
        drawn = numpy.random.default_rng(1).multinomial(count, numpy.full(count, 1 / count), size=DRAWS) @ self.seconds.reshape(count, -1)
        drawn = drawn.reshape(DRAWS, BINS, -1)
        self.low, self.high = numpy.percentile(drawn, [2.5, 97.5], axis=0)
        per = count * self.mean_s / BINS
        self.threads = smooth(self.sum) / per
        self.band = numpy.percentile(numpy.stack([smooth(one) for one in drawn]), [2.5, 97.5], axis=0) / per
        self.errors = 1.96 * self.seconds.sum(axis=1).std(axis=0) / count ** 0.5  # of one execution

    def threads_of(self, values):
        return smooth(values) / (len(self.kept) * self.mean_s / BINS)

    def label(self, at):
        name, file = self.samples.functions[at]
        return f"{name}  {file}" if file not in ("", "?") else name

    def stretches(self):
        """Returns (first bin, end, function) of the stretches in which one function has the largest part. A stretch of less than two bins joins its
        neighbour."""
        threads = smooth(self.own.T).T
        most = [int(at) if top > 0 else -1 for at, top in zip(threads.argmax(axis=0), threads.max(axis=0))]
        for at in range(1, BINS - 1):
            if most[at] not in (most[at - 1], most[at + 1]):
                most[at] = most[at - 1]
        edges = [0, *(at for at in range(1, BINS) if most[at] != most[at - 1]), BINS]
        return [(begin, end, most[begin]) for begin, end in zip(edges, edges[1:]) if most[begin] >= 0]


def smooth(values):
    """Smooths along the bins with a Gaussian curve whose deviation is one bin."""
    at = numpy.arange(BINS)
    weights = numpy.exp(-0.5 * (at[:, None] - at) ** 2)
    return (weights / weights.sum(axis=1, keepdims=True)) @ values


def usual_lengths(lengths):
    """Returns which lengths are usual: not much further from the median, in logarithms, than the others."""
    if len(lengths) < ENOUGH:
        return numpy.ones(len(lengths), bool)
    away = numpy.abs(numpy.log(lengths) - numpy.median(numpy.log(lengths)))
    return away <= max(FAR * numpy.median(away), LEAST_FAR)


def is_job(directory):
    with exported("fold", ["--sums", directory]) as lines:
        return bool(next(iter(lines), {}).get("merged"))


def phase_rows(directory, rank):
    text = ask("report", directory, "--view", "phases", "--format", "csv", *([] if rank is None else ["--rank", str(rank)]))
    return [row for row in csv.DictReader(io.StringIO(text)) if row["instance"]]


def choose_phase(asked, rows, directory):
    names = list(dict.fromkeys(row["phase"] for _, row in rows))
    if not names:
        raise Refused(f"{directory}: has no numbered phase; blame_iteration_begin() of blame.h starts one")
    if asked is None and len(names) > 1:
        raise Refused(f"{directory}: has {len(names)} numbered phases; select one with --phase: {', '.join(names)}", BAD_USAGE)
    if asked is not None and clean(asked) not in names:
        raise Refused(f"--phase {asked}: no such numbered phase; expected one of {', '.join(names)}", BAD_USAGE)
    return names[0] if asked is None else clean(asked)


def main(argv):
    request, operands, _ = read_options(argv)
    fold = Fold(operands[0], request)
    if not len(fold.kept):
        left = fold.unseen + fold.several + fold.others
        raise Refused(f"{operands[0]}: no execution of {fold.phase} is {'of unusual length' if fold.outliers else 'in the trace'}{f'; left out: {left}' if left else ''}")
    write = {"text": fold_text.text_of, "csv": fold_text.csv_of, "svg": fold_picture.draw}[request["format"]]
    write_whole("fold", request["output"], write(fold, request["top"]))
    return DONE
