"""Constructs that do not pass on a compiler or runtime for a reason that is known: what must be among the messages, what
the table says of it, and where it is reported. A problem that no entry explains is a failure; an entry that is not
needed any more is pointed out."""

import re

LLVM = "https://github.com/llvm/llvm-project/"


class Known:
    def __init__(self, names, columns, pattern, text, url=""):
        self.names, self.columns, self.pattern = names.split(), columns, re.compile(pattern)
        self.text, self.url = text, url

    def lists(self, name, column):
        return name in self.names and re.search(self.columns, column) is not None


WORK_LOST = r"^expect work (slow|fast)_share"
NOT_YET = r"undefined symbol: (__kmpc_dispatch_deinit|__kmpc_omp_taskwait_deps_51)"
NOT_YET_TEXT = ("clang-19's programs call functions that this runtime does not have (`__kmpc_dispatch_deinit`,"
                " `__kmpc_omp_taskwait_deps_51`); the loader ends them, also without blame; GCC's program shows the construct")
KNOWN = [
    Known("pause_hard", "clang|flang| on ", WORK_LOST + r"|^expect idleness slow_share",
          "a hard pause ends the runtime and the tool, and libomp does not start a tool again: an event recorder, too,"
          " sees one region of three"),
    Known("hinted_lock speculative_lock hinted_nest_lock", "gcc",
          r"undefined reference to `omp_init_(nest_)?lock_with_hint'",
          "libgomp 12 has no `omp_init_lock_with_hint`: programs that use it cannot be linked"),
    Known("target target_nowait target_depend target_parallel", "(gcc|gfortran) on", r"does not have GOMP_target_ext",
          "libomp has no `GOMP_target_ext`: `blame run --runtime libomp` says so, and the program runs unmeasured on libgomp"),
    Known("target_nowait target_depend", r"^(gcc|gfortran)-\d+$", r"^expect idleness slow_share|of idleness of slow_share",
          "without a region, libgomp executes these tasks in the thread that creates them: there is no second thread, so none idles"),
    Known("teams distribute", r"^(gcc|gfortran)-\d+$", r"^expect idleness slow_share|of idleness of slow_share",
          "on the host, libgomp runs the teams one after the other in one thread: there is no second thread, so none idles"),
    Known("task_detach", "(gcc|gfortran) on", r"does not have OMP_5\.0\.1",
          "libomp has no `omp_fulfill_event` of libgomp's version OMP_5.0.1: `blame run --runtime libomp` says so, and the program runs"
          " unmeasured on libgomp"),
    Known("for_dynamic for_guided for_runtime for_auto ordered", "clang on", NOT_YET, NOT_YET_TEXT),
    Known("taskwait_depend", "clang on 14", NOT_YET, NOT_YET_TEXT),
    Known("scope", "clang", r"cannot compile this scope with FE outlining yet",
          "clang-19 does not compile it: `cannot compile this scope with FE outlining yet`"),
    Known("taskloop_grainsize", "flang", r"not yet implemented: Taskloop construct",
          "flang-19 does not compile it: `not yet implemented: Taskloop construct`", LLVM + "pull/129862"),
    Known("cancel_for", "flang", r"not yet implemented: OpenMPCancelConstruct",
          "flang-19 does not compile it: `not yet implemented: OpenMPCancelConstruct`", LLVM + "pull/134248"),
]


def listed(name, column):
    return any(known.lists(name, column) for known in KNOWN)


def explain(name, column, problems):
    """The entries that explain all problems, or none."""
    entries = [known for known in KNOWN if known.lists(name, column)]
    found = [next((known for known in entries if known.pattern.search(problem)), None) for problem in problems]
    return [] if None in found else list(dict.fromkeys(found))
