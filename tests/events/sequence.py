"""What is the same in every run of a record (record.c): the events of each thread, in its order, without addresses.

* Threads are numbered: initial ones as they come, then by their first region and their number in it.
* Parallel regions (p1), tasks (t1), waits (w1) and calls (c1) are numbered as they first appear, one thread after the other.
* Left out is what blame does not look at: callbacks that it does not register, codes but of events in WITH_CODE, OTHERS; and what says
  nothing: a code that is NULL, `in` where it is the task that the event names, or when a pool's thread tells of a region that is over.
* The order between threads is kept only as far as the runtime promises it: `disorder`."""

import re

COMPARED = {"thread", "parallel", "implicit_task", "work", "sync_region_wait", "task_create", "task_schedule",
            "mutex_acquire", "mutex_acquired", "mutex_released", "nest_lock", "lock_init", "lock_destroy"}
LETTERS = {"parallel": "p", "task": "t", "new": "t", "prior": "t", "next": "t", "in": "t", "wait": "w", "code": "c"}
WITH_CODE = {("parallel", "begin"), ("sync_region_wait", "begin"), ("task_create", "-"), ("lock_init", "-")}
OTHERS = {"invoker", "requested"}
VALUE = re.compile(r"^(\+?)([1-9a-f][0-9a-f]*|program:0x[0-9a-f]+)([*']?)$")


class Event:
    def __init__(self, line):
        words = line.split()
        self.thread, self.name, self.kind, self.point = words[:4]
        self.values = dict(word.split("=", 1) for word in words[4:])

    def identity(self, key):
        return self.values.get(key, "-").strip("+*'")

    def at(self, name, point):
        return (self.name, self.point) == (name, point)


def read(lines):
    return [Event(line) for line in lines if not line.startswith("refused ")]


def threads_in_order(events):
    """Each thread's events, as a list of lists."""
    threads, places = {}, {}
    for position, event in enumerate(events):
        threads.setdefault(event.thread, []).append(event)
        if event.at("thread", "begin") and event.kind == "initial":
            places[event.thread] = (0, position, 0)
        elif event.at("implicit_task", "begin"):
            places.setdefault(event.thread, (1, int(event.identity("parallel")), int(event.values["index"])))
    return [threads[thread] for thread in sorted(threads, key=lambda thread: places.get(thread, (2, 0, 0)))]


class Numbers:
    def __init__(self):
        self.known, self.counts = {}, {}

    def text(self, key, value):
        found = VALUE.match(value)
        letter = LETTERS.get(key)
        if not letter or not found:
            return "runtime" if value.startswith("runtime:") else value
        fresh, identity, mark = found.groups()
        if (letter, identity) not in self.known:
            self.counts[letter] = self.counts.get(letter, 0) + 1
            self.known[letter, identity] = f"{letter}{self.counts[letter]}"
        return fresh + self.known[letter, identity] + mark


def left_out(event, key, value):
    if key == "code":
        return value == "-" or (event.name, event.point) not in WITH_CODE
    return key in OTHERS or key == "in" and (is_late(event) or value == event.identity("task"))


def is_late(event):
    """Of a thread of the pool, behind the region."""
    return event.point == "end" and event.values.get("parallel") == "-"


def to_the_last_region(thread):
    """One that has not come to its wait for the last region's end when the program ends is not told the end of it, nor of its
    task: what came late right before the thread's end is left out."""
    last = len(thread) - 1
    while last > 0 and thread[-1].at("thread", "end") and is_late(thread[last - 1]):
        last -= 1
    return thread[:last] + thread[-1:]


def normalised(events, workers_end=True):
    """workers_end: false if the runtime leaves it to the end of the process whether its threads end."""
    numbers, lines = Numbers(), []
    for number, thread in enumerate(threads_in_order(events)):
        worker = thread[0].kind == "worker"
        for event in to_the_last_region(thread):
            if worker and not workers_end and event.at("thread", "end"):
                continue
            if event.name not in COMPARED:
                continue
            words = [str(number), event.name, event.kind if event.kind != "any" else "",
                     event.point if event.point != "-" else ""]
            words += [f"{key}={numbers.text(key, value)}" for key, value in event.values.items()
                      if not left_out(event, key, value)]
            lines.append(" ".join(word for word in words if word))
    return lines


def disorder(events):
    """What blame relies on between threads: the implicit tasks of a region begin behind its parallel_begin, and all its threads
    have said that they wait for its end before its first one leaves that wait."""
    begun, sizes, waiting, first = set(), {}, {}, {}
    for event in events:
        region = event.identity("parallel")
        if event.at("parallel", "begin"):
            begun.add(region)
        elif event.at("implicit_task", "begin") and event.kind == "implicit":
            sizes[region] = int(event.values["size"])
            if event.values["index"] == "0":
                first[event.identity("task")] = region
            if region not in begun:
                yield f"an implicit task of region {region} begins before the region"
        elif event.name == "sync_region_wait" and event.kind == "implicit_parallel":
            if event.point == "begin":
                waiting[region] = waiting.get(region, 0) + 1
                continue
            left = first.get(event.identity("task"), "")
            if left and waiting[left] != sizes[left]:
                yield f"the first thread leaves region {left} when {waiting[left]} of {sizes[left]} have begun to wait for its end"
