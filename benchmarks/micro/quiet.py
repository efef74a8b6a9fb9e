"""Was the machine ours while we measured? Threads that spin for each other wait long when one of them has no core."""

import os
import time

LOUD_CORES = 0.1


def busy_ticks():
    """(of all processors, of this process and its children that have ended), in clock ticks."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = (int(word) for word in file.readline().split()[1:9])
    own = sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")
    return user + nice + system + irq + softirq + steal, own


class Others:
    """What other programs used since this object was made."""

    def __init__(self):
        self.begin_s, self.begin = time.monotonic(), busy_ticks()

    def cores(self):
        (busy, own), (busy_then, own_then) = busy_ticks(), self.begin
        seconds = max(1e-3, time.monotonic() - self.begin_s)
        return max(0.0, busy - busy_then - (own - own_then)) / (seconds * os.sysconf("SC_CLK_TCK"))

    def tell(self):
        cores = self.cores()
        note = ": NOT QUIET, measure again" if cores > LOUD_CORES else ""
        return f"other programs used {cores:.2f} cores meanwhile{note}"
