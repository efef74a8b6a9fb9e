"""R's own functions are in the contexts of a script under `blame run`: Debian's R, and a team that it calls by .C()."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "behaviour"))

from harness import BlameTest, program  # noqa: E402  (found through the path set above)
from test_python import RSCRIPT, SOUND  # noqa: E402

SCRIPT = """
dyn.load(commandArgs(TRUE)[1])
team <- function() .C("sum_of_team")
looped <- function() for (i in 1) team()
descend <- function(n) if (n > 0) descend(n - 1) else looped()
solver <- list(step = function() team())
lazy <- function(x) { x; 1 }
serial <- function(s) { end <- proc.time()[[1]] + s; while (proc.time()[[1]] < end) sort(runif(1e4)) }  # of CPU time
quiet <- function(value) { value; invisible(0) }
quiet(descend(2))
quiet(solver$step())
quiet(sapply(1:2, function(i) team()))
quiet(tryCatch(stop("x"), error = function(e) team()))
quiet((function() team())())
quiet(lazy(team()))
quiet(base::Reduce(function(a, b) { team(); a + b }, 1:3))
quiet(do.call("looped", list()))
quiet(serial(0.3))
"""
CALLERS = [  # who is around team(), from its caller outward
    ["looped", "descend", "descend", "descend", "quiet"], ["step", "quiet"], ["FUN", "lapply", "sapply", "quiet"],
    ["<anonymous>", "tryCatchOne", "tryCatchList", "tryCatch", "quiet"], ["<anonymous>", "quiet"], ["lazy", "quiet"],
    ["f", "Reduce", "quiet"], ["looped", "do.call", "quiet"]]


@unittest.skipUnless(os.path.exists(RSCRIPT), "NOT TESTED: r-base-core is not installed")
class RFrames(BlameTest):
    together = True

    def run_once(self):
        def make(folder):
            path = os.path.join(folder, "script.R")
            with open(path, "w", encoding="utf-8") as file:
                file.write(SCRIPT)
            run = self.attached([RSCRIPT, path, program("loads_later_clang.so")], {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"},
                                "launcher", folder=folder)
            self.assertEqual((run.status, run.stdout), (0, ""), run)
            self.assert_only_tool_lines(run)
            return run

        return self.load(self.once(("r frames",), make), checks=SOUND)

    def test_whoever_calls_is_around_the_team(self):
        profile = self.run_once()
        found = []
        for row in profile.named("sum_of_team"):
            around = [above for above in row.ancestors() if above.module == "[R]"]
            self.assertEqual((around[0].name, row.parent), ("team", around[0]), row.path())
            found.append([above.name for above in around[1:]])
        for callers in CALLERS:
            self.assertIn(callers, found)

    def test_who_works_alone_is_blamed_for_the_idle(self):
        profile = self.run_once()
        row, = profile.named("serial")
        self.assertGreater(row["idleness (I)"], 0)
        self.assertEqual([above.name for above in row.ancestors() if above.module == "[R]"], ["quiet"])
        self.assertEqual((row.kind, row.file, row.line), ("procedure", "", 0))

    def test_the_interpreter_itself_is_left_out(self):
        """A sample may hit a function of its own where a call is being made, but none that another one of its own called."""
        profile = self.run_once()
        below = set()  # what R's code, package's code aside, has called of the interpreter: rows come behind their parents
        for row in profile.rows:
            if row.module == "libR.so" and (row.parent.module == "[R]" or row.parent in below):
                below.add(row)
        seen_s = sum(row["work (I)"] for row in below if row.parent in below)
        self.assertLess(seen_s, 0.01 * profile.total("work", "serial"))
        self.assertEqual(profile.run["r"], {"why_not": None})

    def test_names_outlive_r(self):
        profile = self.run_once()
        self.assertTrue(self.reported_tree(profile.directory).named("descend"))
