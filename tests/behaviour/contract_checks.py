"""What holds for every profile, whatever was measured. Each check yields one line per violation, and each has a
profile that violates it in test_contract_checks.py."""

import os
import re

from blame_profile import METRICS, PERCENTAGES

KINDS = {"root", "procedure", "inlined", "parallel", "task", "statement", "runtime", "pseudo", "phase", "event",
         "parameter"}
PSEUDO_NAME = re.compile(r"^<.+>$")
SECONDS = re.compile(r"^-?\d+\.\d{6}$")
TIMES = [metric for metric in METRICS if metric != "samples"]
LATE_S = 0.02  # a sample of a thread that lacked a core stands for that long, beside load
ROUNDING = 1e-6
# Differences of sums of samples: b may exceed the threads in use for an instant, and cores may be fewer than b.
MAY_BE_NEGATIVE = {"core idleness": float("inf"), "shared idleness": 0.02}


def check_layout(profile):
    stack = []
    for index, row in enumerate(profile.rows):
        if row.id != index:
            yield f"row {index} has id {row.id}: ids are not the preorder"
            return
        if index == 0:
            if (row.parent_id, row.depth, row.kind, row.name) != (None, 0, "root", "<program root>"):
                yield f"row 0 is {row.kind} {row.name} at depth {row.depth}, not the root"
            stack = [row]
            continue
        if row.parent is None or row.parent.id >= row.id:
            yield f"row {row.id} has parent {row.cells['parent']}: not a row before it"
            return
        while stack and stack[-1] is not row.parent:
            stack.pop()
        if not stack:
            yield f"row {row.id} {row.name} is not in its parent's subtree: not a preorder"
            return
        stack.append(row)
        if row.depth != row.parent.depth + 1:
            yield f"row {row.id} {row.name} has depth {row.depth} below depth {row.parent.depth}"


def check_rows(profile):
    for row in profile.rows:
        if row.kind not in KINDS:
            yield f"row {row.id} has kind {row.kind}"
        if not row.name and row.kind != "statement":
            yield f"row {row.id} ({row.kind}) has no name"
        if row.kind == "pseudo" and not PSEUDO_NAME.match(row.name):
            yield f"row {row.id}: pseudo row named {row.name}"
        if row.kind in ("parallel", "task") and not re.search(rf"\[{row.kind}\b.*\]$", row.name):
            yield f"row {row.id}: {row.kind} row named {row.name}"
        if row.kind == "statement" and (not row.file or row.line < 1 or row.children):
            yield f"row {row.id}: a statement without a source line, or with children"
        for metric in TIMES:
            for part in "IE":
                if not SECONDS.match(row.cells[f"{metric} ({part})"]):
                    yield f"row {row.id}: {metric} ({part}) is {row.cells[f'{metric} ({part})']}, not 6 decimals"
        seen = set()
        for child in row.children:
            key = (child.kind, child.name, child.module, child.file, child.line, child.call_line)
            if key in seen:
                yield f"row {row.id} {row.name} has two children {child.name} of one call line {child.call_line}"
            seen.add(key)


def check_sums(profile):
    for row in profile.rows:
        callees = [child for child in row.children if child.kind != "statement"]
        statements = [child for child in row.children if child.kind == "statement"]
        for metric in METRICS:
            inclusive, exclusive = row[f"{metric} (I)"], row[f"{metric} (E)"]
            if metric not in MAY_BE_NEGATIVE and (exclusive < 0 or inclusive < exclusive - ROUNDING):
                yield f"row {row.id} {row.name}: {metric} (I) {inclusive}, (E) {exclusive}"
            if inclusive < -MAY_BE_NEGATIVE.get(metric, 0):
                yield f"row {row.id} {row.name}: negative {metric} (I) {inclusive}"
            below = sum(child[f"{metric} (I)"] for child in callees)
            if abs(inclusive - exclusive - below) > ROUNDING * (len(callees) + 2):
                yield (f"row {row.id} {row.name}: {metric} (I) {inclusive:.6f} is not its (E) {exclusive:.6f}"
                       f" plus its children's (I) {below:.6f}")
            at_lines = sum(child[f"{metric} (E)"] for child in statements)
            if statements and abs(exclusive - at_lines) > ROUNDING * (len(statements) + 1):
                yield (f"row {row.id} {row.name}: {metric} (E) {exclusive:.6f} is not the sum of its statements"
                       f" {at_lines:.6f}")
            if row.kind == "statement" and inclusive != exclusive:
                yield f"row {row.id}: statement with {metric} (I) other than (E)"


def check_order(profile):
    for row in profile.rows:
        efforts = [child.effort() for child in row.children]
        for before, after in zip(efforts, efforts[1:]):
            if after > before + 8 * ROUNDING:
                yield f"row {row.id} {row.name}: a child of {after:.6f} s comes after one of {before:.6f} s"


def check_percentages(profile):
    whole = profile.root.effort()
    for row in profile.rows:
        own = row.effort()
        for column in PERCENTAGES:
            kind, metric = column.split(" ", 1)
            base = whole if kind == "absolute" else own
            due = 100 * row[f"{metric} (I)"] / base if base > 0 else 0
            # Rounded seconds say little about the percentages of a row of microseconds.
            slack = 0.02 + (100 * 4 * ROUNDING / base if base > 0 else 100)
            if not 0 <= row[column] <= 100:
                yield f"row {row.id} {row.name}: {column} is {row[column]}"
            elif abs(row[column] - due) > slack:
                yield f"row {row.id} {row.name}: {column} is {row[column]}, eq. 2 gives {due:.3f}"


def own_time(row):
    return sum(row[f"{metric} (I)"] for metric in ("work", "overhead", "lock wait", "no core", "blocked", "mpi wait"))


def check_core_idleness(profile):
    """thread_idle = T inv - own and core_idle = C inv - own come from the same two sums on every row, if all threads are OpenMP's."""
    if profile.option("environment") != "dedicated" or any(thread["kind"] == "other" for thread in profile.threads):
        return
    threads, cores = profile.run["threads_max"], profile.run["cores"]
    for row in profile.rows:
        if row.kind == "statement" or row.name == "<no core>":
            continue  # what its function runs late for is in the row `<no core>`, whose own time it is not
        own = own_time(row)
        due = cores * (row["idleness (I)"] + own) / threads - own
        if abs(row["core idleness (I)"] - due) > ROUNDING * 8 * (1 + cores / threads):
            yield (f"row {row.id} {row.name}: core idleness {row['core idleness (I)']:.6f}, but its thread idleness"
                   f" on {threads} threads gives {due:.6f} on {cores} cores")


def check_run(profile):
    run = profile.run
    flat = {key.replace(" ", "_") for key in run}
    for key in ("version", "command", "host", "pid", "wall_s", "threads_max", "cores", "options", "samples",
                "idle_total_s", "conservation", "modules"):
        if key not in flat:
            yield f"run.json has no {key}"
    for pattern in ("start", "runtime"):
        if not any(pattern in key for key in flat):
            yield f"run.json has no key for the {pattern}"
    samples = run.get("samples", {})
    dropped = samples.get("dropped", {})
    if samples.get("delivered") != samples.get("recorded", 0) + sum(dropped.values()):
        yield f"samples delivered are not those recorded plus the named drops: {samples}"
    if any(not reason for reason in dropped):
        yield f"a drop without a reason: {dropped}"
    if run.get("cores", 0) > len(os.sched_getaffinity(0)):
        yield f"run.json says {run.get('cores')} cores, the affinity mask allows {len(os.sched_getaffinity(0))}"
    if not isinstance(run.get("modules"), list) or not run["modules"]:
        yield "run.json lists no modules"


def check_threads(profile):
    for thread in profile.threads:
        values = {column: float(thread[column]) for column in ("begin_s", "end_s", "work", "idle", "overhead",
                                                               "lock_wait", "no_core", "blocked", "mpi_wait")}
        if min(values.values()) < 0 or values["end_s"] < values["begin_s"]:
            yield f"threads.csv: {thread}"
    if not profile.threads:
        yield "threads.csv has no threads"
    idle = profile.threads_total("idle")
    if abs(idle - profile.run["idle_total_s"]) > ROUNDING * (len(profile.threads) + 1):
        yield f"idle_total_s {profile.run['idle_total_s']} is not the threads' sum {idle:.6f}"


def cut_off_s(profile):
    """What the contexts may have and the threads not. A sample is counted as delivered first, its contexts have it next, and its thread's sums last: so
    it is of those that were delivered and not recorded, each a period. A late one is of many. Dispatch is booked when the wait ends, one sample a thread."""
    cut_off = profile.run.get("samples", {}).get("dropped", {}).get("cut off", 0)
    late_s = LATE_S if profile.run.get("snapshot") else 0 # one that was booked between the copies of contexts and of threads
    return (cut_off + len(profile.threads)) / profile.run.get("rate_least", profile.rate()) + late_s * len(profile.threads)


def check_exact_laws(profile):
    root = profile.root
    slack = ROUNDING * (len(profile.threads) + 2)
    if not profile.run.get("finished", True): # where a program ends without its runtime, or was copied while it ran
        slack += cut_off_s(profile)
    waited, here = root["lock wait (I)"], root["lock wait here (I)"]
    # Holders' samples count those that wait for them, and the waiters' own samples count their waiting, unless they have no core for it.
    sampled = profile.run.get("conservation", {}).get("lock_wait", {}).get("tolerance", 0)
    lost = sum(profile.run.get("samples", {}).get("dropped", {}).values()) / profile.run.get("rate_least", profile.rate())
    unfelt = lost + profile.threads_total("no_core")
    if abs(waited - here) > slack + sampled + unfelt * len(profile.threads):
        yield f"lock wait blamed {waited:.6f} is not the lock wait felt {here:.6f}"
    if abs(here - profile.threads_total("lock_wait")) > slack:
        yield f"lock wait felt {here:.6f}, the threads waited {profile.threads_total('lock_wait'):.6f}"
    for metric in ("work", "overhead", "no core", "blocked", "mpi wait"):
        tree, threads = root[f"{metric} (I)"], profile.threads_total(metric.replace(" ", "_"))
        # Time before the runtime knew any thread may or may not be the first thread's.
        if min(abs(tree - threads), abs(tree - profile.total(metric, before_start(profile)) - threads)) > slack:
            yield f"{metric} in the tree {tree:.6f}, of the threads {threads:.6f}"


def before_start(profile):
    """The row of the time before the measurement."""
    return "<before OpenMP start>" if profile.run.get("runtime_version") else "<before the measurement>"


def law_sides(law):
    """Two sides of a conservation law in run.json: its `left` and `right`, else its only two numbers."""
    if isinstance(law, dict):
        if "left" in law and "right" in law:
            return float(law["left"]), float(law["right"])
        numbers = [float(value) for value in law.values()
                   if isinstance(value, (int, float)) and not isinstance(value, bool)]
        if len(numbers) >= 2:
            return numbers[0], numbers[1]
    return None


def check_thread_time(profile):
    """No thread's time is lost: a sample stands for all that passed since the one before it, however late it comes. What is
    not accounted for is less than a few periods at each thread's edges."""
    if profile.option("clock") != "wall":
        return
    period = 1 / profile.run.get("rate_least", profile.rate())  # many threads are sampled less often
    lost = sum(profile.run["samples"]["dropped"].values()) * period
    root, lifetimes = profile.root, profile.lifetimes()
    waited = root["lock wait here (I)"] - root["lock wait (I)"]  # by the waiters' own samples
    accounted = own_time(root) + waited + profile.threads_total("idle")
    over = accounted - profile.clocked(before_start(profile)) - lifetimes
    edges = 0.03 + 3 * period * len(profile.threads)
    if not -edges - lost < over < edges:
        yield f"accounted for {accounted:.6f} s of the threads' lifetimes of {lifetimes:.6f} s"


def check_elapsed(profile, elapsed_s):
    """The program ran within the process."""
    if profile.run["wall_s"] > elapsed_s + 0.01:
        yield f"wall_s {profile.run['wall_s']} exceeds the process's own {elapsed_s:.3f} s"


def check_stated_laws(profile):
    """The laws as the tool itself states them in run.json. Those that hold but for the sampling error are proved by
    tests/simulator, and measured by `make accuracy`."""
    laws = profile.run["conservation"]
    laws = laws.items() if isinstance(laws, dict) else enumerate(laws)
    found = 0
    for name, law in laws:
        sides = law_sides(law)
        if sides is None:
            continue
        found += 1
        left, right = sides
        if isinstance(law, dict) and law.get("exact") and abs(left - right) > ROUNDING * max(1, abs(left)):
            yield f"exact conservation law {name}: {left} against {right}"
        beyond = abs(left - right) - law["tolerance"] if isinstance(law, dict) and law.get("tolerance", 0) > 0 else 0
        if abs(beyond) > ROUNDING and law.get("ok") != (beyond < 0):
            yield f"conservation law {name}, {left} against {right}: ok is {law.get('ok')} at {law['tolerance']} of tolerance"
        if isinstance(law, dict) and law.get("ok") is False and not law.get("explained_by"):
            yield f"conservation law {name} is off, and nothing is said of why"
    if found < 3:
        yield f"run.json states {found} conservation laws with two sides, not 3 or more: {profile.run['conservation']}"


def check_resolved(profile):
    work = profile.root["work (I)"]
    unresolved = profile.total("work", "<unresolved>")
    if work > 0 and unresolved > 0.01 * work:
        yield f"<unresolved> is {unresolved:.4f} s of {work:.4f} s of work"


def check_own_frames(profile):
    """The tool's own callbacks are on the stack when it unwinds from one; users must not see them."""
    for row in profile.rows:
        if os.path.basename(row.module) in ("libblame.so", "libblame-loader.so", "libblame-mpi.so", "libblame-pthreads.so"):
            yield f"row {row.id} {row.name} is the tool's own code: {' > '.join(row.path())}"


def check_waits(profile):
    """Column sums are the blame, and places come longest first."""
    blamed, totals = {}, {}
    for pair in profile.waits:
        context, seconds = int(pair["context"]), float(pair["seconds"])
        if profile.rows[context].name != pair["context_name"]:
            yield f"context {context} of waits.csv is {pair['context_name']}, not {profile.rows[context].name}"
            return
        blamed[context] = blamed.get(context, 0) + seconds
        totals[int(pair["place"])] = totals.get(int(pair["place"]), 0) + seconds
    for row in profile.rows:
        if row.kind == "statement":
            continue
        due = row["idleness (E)"] + row["lock wait (E)"] + row["rank idleness (E)"]
        pairs = sum(1 for pair in profile.waits if int(pair["context"]) == row.id) if blamed.get(row.id) else 0
        if abs(blamed.get(row.id, 0) - due) > ROUNDING * (4 + pairs):
            yield f"row {row.id} {row.name} is blamed for {blamed.get(row.id, 0):.6f} s of waits, its columns say {due:.6f}"
    for place in range(1, len(totals)):
        if totals.get(place, 0) > totals.get(place - 1, 0) + ROUNDING * len(profile.waits):
            yield f"place {place} of {totals.get(place, 0):.6f} s comes after one of {totals.get(place - 1, 0):.6f} s"


TREE_CHECKS = [check_layout, check_rows, check_sums, check_order, check_percentages, check_resolved, check_own_frames]
PROFILE_CHECKS = TREE_CHECKS + [check_run, check_threads, check_core_idleness, check_exact_laws, check_thread_time,
                                check_stated_laws, check_waits]


def violations(profile, checks=None, limit=12):
    """All violations, a line each; the first of each check when there are many."""
    found = []
    for check in PROFILE_CHECKS if checks is None else checks:
        lines = list(check(profile))
        found += [f"{check.__name__}: {line}" for line in lines[:limit]]
        if len(lines) > limit:
            found.append(f"{check.__name__}: and {len(lines) - limit} more")
        if lines and check is check_layout:
            break  # the others rely on the tree
    return found
