"""The rows of the coverage table: which program shows which construct, and where its waiting must be blamed."""

from dataclasses import dataclass, field

SLOW = (("idleness", "slow_share"),)
PASSIVE = {"KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"}  # more threads than cores: a spinning idle thread takes the core from a working one
CANCEL = {"OMP_CANCELLATION": "true"}


@dataclass
class Construct:
    title: str
    program: str
    name: str
    blame: tuple = SLOW  # (metric, function): what the program states of it must be there, and not small
    env: dict = field(default_factory=dict)
    fortran: str = ""    # the construct of fortran.F90 that shows the same
    note: str = ""       # what the table says besides what was measured

    def key(self):
        method = self.env.get("KMP_FORCE_REDUCTION")
        return f"{self.program} {self.name}" + (f" {method}" if method else "")


def lock(function):
    return (("lock_wait", function),)


def reduction(method):
    return Construct(f"reduction ({method} method)", "loops", "reduction", env={"KMP_FORCE_REDUCTION": method},
                     fortran="reduction")


CONSTRUCTS = [
    Construct("parallel", "regions", "parallel", fortran="parallel"),
    Construct("parallel, nested", "regions", "nested", env=PASSIVE | {"OMP_MAX_ACTIVE_LEVELS": "2"}),
    Construct("parallel if(0)", "regions", "serialised"),
    Construct("parallel, num_threads changes", "regions", "num_threads", env=PASSIVE),
    Construct("parallel proc_bind", "regions", "proc_bind", env={"OMP_PROC_BIND": "close"}),
    Construct("for schedule(static)", "loops", "for_static", fortran="do_static"),
    Construct("for schedule(static, 1)", "loops", "for_static_chunk"),
    Construct("for schedule(dynamic)", "loops", "for_dynamic", fortran="do_dynamic"),
    Construct("for schedule(guided)", "loops", "for_guided"),
    Construct("for schedule(runtime)", "loops", "for_runtime", env={"OMP_SCHEDULE": "dynamic,1"}),
    Construct("for schedule(auto)", "loops", "for_auto"),
    Construct("for nowait", "loops", "for_nowait"),
    Construct("for collapse", "loops", "for_collapse"),
    Construct("loop", "loops", "loop"),
    Construct("sections", "regions", "sections", fortran="sections"),
    Construct("sections nowait", "regions", "sections_nowait"),
    Construct("single", "regions", "single", fortran="single"),
    Construct("single copyprivate", "regions", "single_copyprivate"),
    Construct("single nowait", "regions", "single_nowait"),
    Construct("master", "regions", "master"),
    Construct("masked filter", "regions", "masked"),
    Construct("barrier", "regions", "barrier", fortran="barrier"),
    Construct("critical, unnamed", "locks", "critical_unnamed", lock("critical_unnamed_section"), fortran="critical"),
    Construct("critical, named", "locks", "critical_named", lock("critical_named_section")),
    Construct("critical, hint", "locks", "critical_hint", lock("critical_hint_section")),
    Construct("atomic", "locks", "atomic", fortran="atomic"),
    Construct("atomic, too wide for an instruction", "locks", "atomic_wide",
              note="clang calls libatomic, outside the OpenMP runtime; gcc's fallback is a lock of the runtime"),
    Construct("ordered, loop", "loops", "ordered", lock("ordered"), fortran="ordered"),
    Construct("ordered, doacross", "loops", "doacross", (),
              note="the wait for an iteration sends no event and counts as overhead, in `<untold wait>`"),
    Construct("lock", "locks", "plain_lock", lock("plain_lock_holder"), fortran="lock"),
    Construct("lock with hint: contended", "lock_hints", "hinted_lock", lock("hinted_lock_holder")),
    Construct("lock with hint: speculative", "lock_hints", "speculative_lock", lock("speculative_lock_holder")),
    Construct("nestable lock", "locks", "nest_lock", lock("nest_lock_holder")),
    Construct("nestable lock with hint", "lock_hints", "hinted_nest_lock", lock("hinted_nest_lock_holder")),
    Construct("test_lock, test_nest_lock", "locks", "test_lock"),
    reduction("tree"),
    reduction("atomic"),
    reduction("critical"),
    Construct("scope reduction", "scope", "scope"),
    Construct("flush", "regions", "flush", (), note="a thread that polls a flag of its own is working"),
    Construct("threadprivate, copyin", "regions", "threadprivate"),
    Construct("teams on the host", "loops", "teams"),
    Construct("teams distribute", "loops", "distribute"),
    Construct("teams distribute parallel for", "loops", "teams_parallel_for"),
    Construct("task", "tasks", "task_tied", fortran="task"),
    Construct("task untied", "tasks", "task_untied"),
    Construct("task if(0)", "tasks", "task_if0"),
    Construct("task final", "tasks", "task_final"),
    Construct("task mergeable", "tasks", "task_mergeable"),
    Construct("task priority", "tasks", "task_priority", env={"OMP_MAX_TASK_PRIORITY": "5"}),
    Construct("task depend", "tasks", "task_depend"),
    Construct("task depend(iterator)", "depend", "depend_iterator"),
    Construct("task depend(depobj)", "depend", "depend_object"),
    Construct("task depend(mutexinoutset)", "depend", "depend_mutexinoutset"),
    Construct("task detach", "detach", "task_detach"),
    Construct("taskloop grainsize", "tasks", "taskloop_grainsize", fortran="taskloop"),
    Construct("taskloop num_tasks nogroup", "tasks", "taskloop_num_tasks"),
    Construct("taskloop reduction", "tasks", "taskloop_reduction"),
    Construct("taskwait", "tasks", "taskwait", fortran="taskwait"),
    Construct("taskwait depend", "tasks", "taskwait_depend"),
    Construct("taskgroup", "tasks", "taskgroup", fortran="taskgroup"),
    Construct("taskgroup task_reduction", "tasks", "taskgroup_reduction"),
    Construct("parallel reduction(task)", "depend", "reduction_task"),
    Construct("tasks inside teams", "depend", "teams_tasks"),
    Construct("taskyield", "tasks", "taskyield"),
    Construct("cancel parallel", "lifecycle", "cancel_parallel", env=CANCEL),
    Construct("cancel for", "lifecycle", "cancel_for", env=CANCEL, fortran="cancel"),
    Construct("cancel sections", "lifecycle", "cancel_sections", env=CANCEL),
    Construct("cancel taskgroup", "lifecycle", "cancel_taskgroup", env=CANCEL),
    Construct("thread churn: pool grown and shrunk", "lifecycle", "thread_churn", env=PASSIVE),
    Construct("omp_pause_resource_all(soft), restart", "lifecycle", "pause_soft"),
    Construct("omp_pause_resource_all(hard), restart", "lifecycle", "pause_hard"),
    Construct("OpenMP from several pthreads", "lifecycle", "pthreads", env=PASSIVE),
    Construct("target on the host", "target", "target"),
    Construct("target nowait (hidden helpers)", "target", "target_nowait", env=PASSIVE),
    Construct("target nowait depend", "target", "target_depend", env=PASSIVE),
    Construct("target parallel for", "target", "target_parallel"),
]
