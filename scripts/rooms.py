"""The rooms of the house, from the top down: which program each is part of, which other rooms it uses, and what it is for.
A room uses only rooms further down this table, those that its line names and all of them. scripts/check-layers.py holds the
code against it, and draws the picture of docs/architecture.md from it."""

from collections import namedtuple

Room = namedtuple("Room", "name side uses purpose")

PLUGIN, COMMAND, BOTH, LOADER, MPI, PTHREADS, GOMP, MERGE = \
    "libblame.so", "blame", "both", "libblame-loader.so", "libblame-mpi.so", "libblame-pthreads.so", "libblame-gomp.so", "blame-merge"

ROOMS = [Room(name, side, uses.split(), purpose) for name, side, uses, purpose in (
    ("command/mpi_merge", MERGE, "command/cli command/text", "`blame merge` as an MPI program"),
    ("command/cli", COMMAND, "command/html command/export command/compare command/views command/files command/findings command/tables command/rows command/symbols command/profile command/text base",
     "the `blame` command: run, report, html, export, diff, stat; it starts lab/ (Python)"),
    ("command/html", COMMAND, "command/files command/findings command/tables command/rows command/profile command/text cct",
     "the data of the page; command/html/page/ is the page itself (JavaScript)"),
    ("command/export", COMMAND, "command/compare command/findings command/tables command/rows command/symbols command/profile command/text cct base", "profiles in other programs' formats"),
    ("command/compare", COMMAND, "command/tables command/rows command/profile command/text",
     "comparison of runs: diff, stat, and export for scaling"),
    ("command/views", COMMAND, "command/findings command/tables command/rows command/profile command/text cct",
     "reports in the terminal"),
    ("command/files", COMMAND, "command/findings command/tables command/rows command/profile command/text cct base",
     "CSV files, run.json"),
    ("command/findings", COMMAND, "command/tables command/rows command/profile command/text cct",
     "findings: what costs most, and why"),
    ("command/tables", COMMAND, "command/rows command/symbols command/profile command/text cct base",
     "locks, waits, phases, threads; the laws"),
    ("command/rows", COMMAND, "command/symbols command/profile command/text cct base", "the tree with names, and its metrics"),
    ("command/symbols", COMMAND, "command/profile command/text cct base", "names and lines of addresses, from libdw"),
    ("command/profile", COMMAND, "command/text cct/timeline cct base", "reads and checks the measurement file, and merges it into one tree"),
    ("command/text", COMMAND, "", "numbers, JSON, strings, source files, files that appear only when complete"),
    ("ompt_tool", PLUGIN, "ompt_tool/life ompt_tool/sampling ompt_tool/probes ompt_tool/ranks ompt_tool/context ompt_tool/counters ompt_tool/locks ompt_tool/session ompt_tool/restart blame unwind cct/deferred cct base include",
     "OMPT's callbacks and entry"),
    ("ompt_tool/life", PLUGIN, "ompt_tool/sampling ompt_tool/probes ompt_tool/ranks ompt_tool/context ompt_tool/counters ompt_tool/session ompt_tool/restart blame unwind cct/deferred cct/timeline cct base",
     "start, fork and end of a measurement, its threads and its output"),
    ("ompt_tool/sampling", PLUGIN, "ompt_tool/ranks ompt_tool/context ompt_tool/counters ompt_tool/locks ompt_tool/session ompt_tool/restart blame unwind cct/timeline cct base",
     "timers, the signal handler, and the processing of a sample"),
    ("ompt_tool/ranks", PLUGIN, "ompt_tool/session unwind blame cct base", "waiting of a rank's threads in MPI"),
    ("ompt_tool/probes", PLUGIN, "ompt_tool/context ompt_tool/counters ompt_tool/session unwind cct/deferred cct base include",
     "phases, events and parameters that the program declares"),
    ("ompt_tool/context", PLUGIN, "ompt_tool/session unwind cct/deferred cct base", "turns a stack into a context"),
    ("ompt_tool/counters", PLUGIN, "ompt_tool/session cct base", "hardware and kernel counters"),
    ("ompt_tool/locks", PLUGIN, "ompt_tool/session ompt_tool/restart blame unwind cct base", "names of locks, and waiting for them"),
    ("ompt_tool/session", PLUGIN, "ompt_tool/restart blame unwind cct/deferred cct/timeline cct base",
     "the options, the measurement, the threads' records"),
    ("ompt_tool/restart", PLUGIN, "base", "restarts the system calls that a sample interrupted"),
    ("blame", PLUGIN, "cct/deferred cct/timeline cct base",
     "states, undirected and directed blame, the ledger; no OMPT, no signals, no libunwind"),
    ("unwind", PLUGIN, "base", "call paths and the load map; the only room that uses libunwind"),
    ("cct/deferred", PLUGIN, "cct/timeline cct base", "regions whose context is not known yet, and moving their nodes once it is known"),
    ("cct/timeline", BOTH, "cct base", "times: bins, traces, the random times of samples"),
    ("cct", BOTH, "base", "trees, regions, deferred contexts, writing the measurement file"),
    ("layers/loader", LOADER, "layers/pthreads layers/gomp base", "the audit library that `blame run` adds to the dynamic loader; uses no C library"),
    ("layers/mpi", MPI, "base", "wrappers around MPI calls, which report when a rank waits; can be built without MPI"),
    ("layers/pthreads", PTHREADS, "base", "wrappers around POSIX threads and their locks; knows nothing of blame"),
    ("layers/gomp", GOMP, "base", "tells OMPT tools what GCC's runtime does; knows nothing of blame"),
    ("base", BOTH, "", "atomics, clock, log, the operating system"),
    ("include", BOTH, "", "the header for programs"),
)]

# Headers of others that only some rooms (and those inside them) may see.
FOREIGN = [
    (r"omp-tools\.h|ompt?\.h", ["ompt_tool", "layers/gomp"], "OMPT's types stop at ompt_tool/ and layers/gomp/"),
    (r"mpi\.h", ["command/mpi_merge"], "only command/mpi_merge/ is built with an MPI"),
    (r"libunwind.*\.h", ["unwind"], "only unwind/ knows libunwind"),
    (r"(elfutils/.*|dwarf|gelf|libelf)\.h", ["unwind", "command/symbols", "command/cli"], "debug information is read in command/symbols/"),
]
