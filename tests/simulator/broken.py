#!/usr/bin/env python3
"""Breaks the product on purpose, one line at a time, and demands that the simulator's claims fail.

    tests/simulator/broken.py [--texts] [--others] [-k TEXT]

--texts   only: is every line that is to be broken still there, once?
--others  which unit tests (of those that have the code in them, and are built), and whether the gate, would fail, too
-k REGEX  only defects whose name has it

Needs what `make build/simulator/simulate` (and, for --others, `make unit gate`) has built in build/. Each is built in a copy of the tree below build/broken, where only what has changed is compiled. Ends with a line
`N passed, N failed`: passed is what the simulator caught."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COPY = os.path.join(ROOT, "build", "broken")
CLAIMS = ["build/simulator/simulate", "--claims", "tests/simulator/scenarios"]
LIMIT_S = 1800


class Defect:
    """A text that one file of the product has once (wherever it stands by now), and what it is broken to."""

    def __init__(self, name, old, new):
        self.name, self.old, self.new = name, old, new


DEFECTS = [
    Defect("overruns: a late sample stands for one period",
           "    *weight_ns = moments->begin_ns - first_ns - missed_ns;\n", ""),
    Defect("moments: on a regular grid",
           "uint64_t drawn = moment_hash(begin_ns + salt), place", "uint64_t drawn = moment_hash(salt), place"),
    Defect("moments: in the first half of each period",
           "(((unsigned __int128)place * length_ns) >> 64);", "(((unsigned __int128)place * length_ns) >> 65);"),
    Defect("moments: the timer's interval is the period",
           "apart ? interval_ns : moments->period_ns);", "moments->period_ns);"),
    Defect("moments: no new period after a wait for a lock",
           "    int64_t ahead_ns = timer_renew(thread);\n    sampler_announce_due(thread);\n    return ahead_ns;\n", "    return 0;\n"),
    Defect("moments: a new period draws the old one's moment",
           "period_ns, place = moment_place(now_ns, moments->salt, moments->thread, 0);",
           "period_ns, place = moments_draw(moments, now_ns - (now_ns - moments->begin_ns % period_ns) % period_ns);"),
    Defect("waits: the last period of a wait is not known",
           "(double)-ahead_ns))\n        thread->ledger->ahead_ns", "0))\n        thread->ledger->ahead_ns"),
    Defect("census: states at the delivery, not when the sample was due",
           "delivery.census_ns = last_ns;", "delivery.census_ns = clocks->ns;"),
    Defect("b: the sampled thread counts twice",
           "return p / (census.busy ? census.busy : 1);", "return p / (census.busy + 1);"),
    Defect("b: idle threads count as idle at once",
           "when.grown = when.ticks - (int64_t)(STATE_GRACE_NS / clocks->ns_per_tick);", "when.grown = when.ticks;"),
    Defect("then: waits that are over are not remembered",
           "    store_release(&line->waits_noted, line->waits_noted + 1);\n", ""),
    Defect("then: no wait is noted for being seldom",
           "    if (unlikely(now_ticks - line->idle_since > thread->notes_apart))\n        thread->unusual.notes = true;\n", ""),
    Defect("then: no tiny task's wait is noted, whatever is due",
           "return is_due ? 0 : grace;", "return grace;"),
    Defect("then: a late sample asks at its last moment only",
           "return delivery->count < most ? (uint32_t)delivery->count : most;", "return 1;"),
    Defect("then: who is in the pool now was there from the begin of its wait on",
           "    return (int64_t)end.ticks <= ticks;\n", "    return ticks > 0;\n"),
    Defect("T: libgomp's threads count until they have ended",
           "thread->unusual.uncounted && runtime_is_libgomp();", "false;"),
    Defect("T: libgomp's nested teams count for ever",
           "    if (unlikely(region->workers))\n        callback_end_team(thread, region);\n", ""),
    Defect("cores: threads that sleep count as running",
           "            census.asleep += asleep;\n", ""),
    Defect("cores: sleeps that are over are forgotten",
           "    store_release(&line->sleeps_noted, line->sleeps_noted + 1);\n", ""),
    Defect("cores: each thread that runs is blamed for all idle cores",
           "double each = p / (running ? running : 1);", "double each = p;"),
    Defect("cores: nobody learns that a sleeper is awake",
           "    else\n        state_wake_up(thread->line, ticks);\n", ""),
    Defect("spinning: who waits in a loop runs",
           "if (spins || asleep)", "if (asleep)"),
    Defect("spinning: who waits in a loop without a core has none",
           "    if (!busy.in_runtime && core != CORE_ASLEEP && unlikely(", "    if (!busy.in_runtime && core == CORE_HAD && unlikely("),
    Defect("wakes: the waker of an earlier wait is named",
           "return waker >> 32 == before >> 32 ? 0 : (uint32_t)waker;", "return waker >> 32 == before >> 32 ? 0 : (uint32_t)before;"),
    Defect("wakes: a wait has the time of its last sample",
           "    awaits->ns += p;\n", "    awaits->ns = p;\n"),
    Defect("T: one thread too few",
           "header->threads_max = thread_most();", "header->threads_max = thread_most() - 1;"),
    Defect("settling: all of a wait is dispatch", "if (waited_ns >= STATE_GRACE_NS) {", "if (0) {"),
    Defect("settling: all of a wait is idleness", "uint64_t waited_ns = account_waited_ns(since_ns, delivery, time_ns);", "uint64_t waited_ns = STATE_GRACE_NS;"),
    Defect("settling: dispatch is missing in the thread's sums",
           "    thread->ledger->overhead += thread->idle.p;\n", ""),
    Defect("tasks: a taskgroup's wait is noted in the copy",
           "return unlikely(kind == ompt_sync_region_taskgroup) ? runtime_task_of_copy(task_data) : task_data;",
           "(void)kind;\n    return task_data;"),
    Defect("parked: a pool's threads count as waiting for the region that is over",
           "bool parked = state_was_parked(line, clocks, time_ns);", "bool parked = false;"),
    Defect("locks: what nobody held is not booked",
           "    uint32_t row_idx = node_idx ? tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, name) : 0;\n    return attribute_blame(tree, row_idx, lock_key, blame, time_ns);",
           "    return name != 0;"),
    Defect("locks: what was released since the sample was due has no holder",
           "        if (release.key == key && *since <= when->ticks)\n            return true;", "        if (release.key == key && *since <= when->ticks)\n            return false;"),
    Defect("locks: a thread holds a lock until its release is reported",
           "        waiters[i] = state_lock_was_passed_on(own->held[i], since, true, ticks, count)", "        waiters[i] = state_lock_was_passed_on(own->held[i], since, true, ticks, 0)"),
    Defect("locks: who has a lock since its last holder lost its core did not wait for it",
           "        waiters += next.asked && next.asked <= ticks;", "        waiters += next.asked && next.asked < 0;"),
    Defect("locks: the table keeps the waiters' share of idleness",
           "blame->shared_idle = atomic_take_double(&entry->shared_idle);", "blame->shared_idle = 0;"),
    Defect("locks: who lost its core while it took a free lock waits for somebody",
           "    return !state_others_wait(line, lock_key) && state_was_free_at(clocks, since_ns, lock_key);", "    return false;"),
    Defect("locks: none is stamped, whoever waits for it",
           "return unlikely(line->stamps != STATE_STAMPS_NONE) && contended_is_stamped(line, key);",
           "return (void)line, (void)key, false;"),
    Defect("mutexes: the release finds the word raised, and takes nothing",
           "    if (likely(!directed_waiting(key, DIRECTED_ANY_HOLDER)))", "    if (directed_waiting(key, DIRECTED_ANY_HOLDER))"),
    Defect("mutexes: the word that releases read is never raised",
           "    if (contended_is_posix(key))\n        fetch_add_acq_rel(posix, 1);\n", ""),
    Defect("mutexes: who waits for one is busy",
           "    if (directed_is_for_any_holder(lock_key))\n        return false;\n", ""),
    Defect("trees: a graft moves the first node only",
           "if (!twin || !graft_metric(tree, child_idx, twin))", "if (!twin)"),
    Defect("merge: the same context of two threads does not add up",
           "const struct profile_sums *from)\n{\n", "const struct profile_sums *from)\n{\n    to->inverse_busy = 0;\n"),
    Defect("regions: the context is that of the outer one",
           "    if (context)\n        region_publish(region, context);",
           "    if (context)\n        region_publish(region, base);"),
    Defect("regions: a recycled record keeps its context",
           "    store_relaxed(&region->context, 0);\n", ""),
    Defect("phases: one in another begins at the root",
           "tree_child(tree, parent, probe_node_kind(begin->kind), name), entries",
           "tree_child(tree, tree->trie, probe_node_kind(begin->kind), name), entries"),
    Defect("locks: the handoff is a part of the waiter's own contexts",
           "    uint32_t row_idx = node_idx ? tree_child(tree, node_idx, PROFILE_NODE_PSEUDO, name) : 0;", "    uint32_t row_idx = node_idx;\n    (void)name;"),
    Defect("locks: who waits for a holder without a core waits for its code",
           "    return busy->no_core ? busy->own_idx : busy->node_idx;", "    return busy->node_idx;"),
    Defect("locks: a lock passes to a thread without a core as to one that has one",
           "    return ticks >= next.since - next.lacked ? STATE_PASSED_WITHOUT : STATE_PASSED_WITH_CORE;", "    return STATE_PASSED_WITH_CORE;"),
    Defect("locks: whose turn it is in `ordered` always has a core",
           "    if (lock_blame_is_ordered(key) && !no_core)\n", "    if (lock_blame_is_ordered(key))\n"),
    Defect("locks: one thread waits for a holder, however many do",
           "        struct lock_blame blame = account_waiter(p * waiters[i], census);", "        struct lock_blame blame = account_waiter(p, census);"),
    Defect("locks: who waited for a holder without a core began after its moment",
           "(int64_t)load_relaxed(&lines[i].wait_since) > ticks)", "0 * ticks)"),
    Defect("locks: others wait for a holder while its signal is on its way",
           "state_count_waiters(line, census.ticks, waiters))", "state_count_waiters(line, INT64_MAX, waiters))"),
    Defect("locks: a lock that a waiter could not take while its signal was on its way was free",
           "return account_waiting_ns(thread->line, &delivery->clocks, time_ns);", "return time_ns ? delivery->clocks.ns : 0;"),
    Defect("locks: of two that are held the first has all the waiting",
           "lock_blame_book(thread, node_idx, line->held[i],", "lock_blame_book(thread, node_idx, line->held[0] ? line->held[0] : line->held[i],"),
    Defect("mutexes: whoever works has all that others wait for",
           "        if (pthread_lock_is_held(thread, holds->key[i]))\n", ""),
    Defect("tasks: creation contexts fold too early",
           "tree_node(at)->kind == PROFILE_NODE_SITE && tree_node(at)->key == path->keys[0]", "tree_node(at)->kind == PROFILE_NODE_SITE"),
    Defect("sleepers: the tick that finds one awake stands for a period",
           "uint64_t end_ns = now_ns - awake_ns + (awake_ns < tick_ns ? tick_ns : awake_ns);", "uint64_t end_ns = now_ns - awake_ns + thread->sampling.moments.period_ns;"),
    Defect("sleepers: one is asleep until it is found awake",
           "now_ns = delivery->clocks.ns, awake_ns = sleeper_awake_ns(counts);", "now_ns = delivery->clocks.ns, awake_ns = 0 * sleeper_awake_ns(counts);"),
    Defect("sleepers: the known end of a sleep is not",
           "    if (sleep->ends_ns && !by_cpu_timer &&", "    if (0 && !by_cpu_timer &&"),
    Defect("sleepers: a wait ends no sleep",
           "    if (sleeper_is(thread)) {\n        uint64_t now_ns = clock_now_ns();\n        sleeper_wake(thread);", "    if (0 && sleeper_is(thread)) {\n        uint64_t now_ns = clock_now_ns();\n        sleeper_wake(thread);"),
    Defect("cores: a thread without one works",
           "        core_note_had(core, delivery, away_ns);\n    return CORE_NONE;\n", "        return CORE_HAD;\n    return CORE_HAD;\n"),
    Defect("cores: who has lost its core while the signal was on its way had none at the moment",
           "        core_note_had(core, delivery, away_ns);\n", "        core->now.first = CORE_HAD;\n"),
    Defect("cores: who was woken by its signal had no core before",
           "core->now.lost_ns + (core->now.in_code ? STATE_LATE_NS : 0) <= away_ns;", "core->now.lost_ns + (core->now.in_code ? STATE_LATE_NS : 0) < away_ns;"),
    Defect("cores: moments before the core was lost had none",
           "        core->now.first_moments = core_moments_within(core, delivery, away_ns - core->counts.gone_ns);\n", "        core->now.first_moments = 0;\n"),
    Defect("cores: that the kernel counts at ticks is not known from the begin",
           "store_relaxed(&counts_lag, true);", "store_relaxed(&counts_lag, false);"),
    Defect("cores: who slept before its last sample sleeps now",
           "    if (turns)\n        core_ask_switches(core);\n", "    if (turns && core_is_late(delivery))\n        core_ask_switches(core);\n"),
    Defect("cores: code that comes out of a short sleep had waited for its core",
           "    if (!core->now.turns || !core->counts.slept || !core->now.in_code || core->counts.got_ns < delivery->due_ns)\n", "    if (core->now.turns)\n"),
    Defect("cores: who sleeps for a moment sleeps until it has a core", "    if (moments >= delivery->count)\n        return CORE_ASLEEP;\n", "    if (moments)\n        return CORE_ASLEEP;\n"),
    Defect("cores: who is in a poll sleeps", "    core->now.limit_ns = restart_sleep_limit_ns(context);\n", "    core->now.limit_ns = UINT64_MAX;\n"),
    Defect("cores: a sleep that a sample has cut was no longer", "core->counts.slept_ns / (2 * core->now.turns - 1)", "core->counts.slept_ns / (4 * core->now.turns)"),
    Defect("cores: a sleep that its sample has cut is over", "        rest_ns = core->now.ends_ns > delivery->due_ns ? core->now.ends_ns - delivery->due_ns : 0;\n", "        rest_ns = 0;\n"),
    Defect("cores: a sleep that goes on behind its sample begins there", "bool is_the_last = core->before.in_call && begin_ns", "bool is_the_last = !core->line && begin_ns"),
    Defect("cores: a poll goes on when it is over", "begin_ns && (!core->now.ends_ns || core->now.ends_ns > begin_ns);", "begin_ns;"),
    Defect("cores: what samples cut off of sleeps is no sleep", "    if (core->now.stayed)\n        core->owed.asleep += core_as_moments(delivery, core->now.woken_ns);\n", ""),
    Defect("cores: the last of the moments within a time is beyond it", "(moments_of_period(moments, begun_ns + last * period_ns) < due_ns + ns)", "0"),
    Defect("cores: who sleeps often, and is in the kernel on its way to sleep, sleeps",
           "may_sleep && core->owed.work >= 1)", "may_sleep && core->owed.work >= 1e9)"),
    Defect("cores: who sleeps often is owed work that samples have found", "        return is_counted ? core_note_work(core) : CORE_HAD;\n",
           "        return CORE_HAD;\n"),
    Defect("cores: who reads its CPU time has just got its core", "return seems && core->owed.doubt < DOUBT_LIMIT &&", "return seems &&"),
    Defect("cores: who lost its core for microseconds had it", "core->now.lost_ns >= away_ns &&\n", "core->now.lost_ns >= STATE_LATE_NS &&\n"),
    Defect("cores: two moments more than the kernel counts are no chance", "    return beyond > NONE_LIMIT && beyond * beyond", "    return beyond > NONE_LIMIT || beyond * beyond"),
    Defect("cores: only a millisecond late is late", "if (on_core_ns >= late_ns ||", "if (on_core_ns + 1000000 >= late_ns ||"),
    Defect("cores: what a hypervisor takes is work", "core_is_late(delivery) ? core_stolen_ns(core, on_core_before_ns, now_ns, cpu_ns) : 0;", "0;\n    (void)core_stolen_ns, (void)on_core_before_ns;"),
    Defect("cores: what a hypervisor took is known but for a tick", "if (core->asked.at_ns < core->counts.read_ns && rest_ns <", "if (rest_ns >= 0 || rest_ns <"),
    Defect("cores: what a hypervisor took is the kernel's count, too",
           "        thread->ledger->stolen += p * thread->core.now.stolen_part;", "        thread->ledger->stolen += 0;"),
    Defect("woken: of a wait that is over without a core it is not asked when another thread ended it",
           "? core_released_ns(core) : 0;", "? 0 : 0;\n    (void)core_released_ns;"),
    Defect("woken: a thread stays joined to an object for the wait of its late sample alone",
           "{object, awaits->entry, MOST_WAITS};", "{object, awaits->entry, 0};"),
    Defect("woken: who was woken and has no core is asleep for the others",
           "        return state_woken_ticks(line) > ticks;\n", "        return true;\n"),
    Defect("cores: others wait for the code of a thread that lacks a core",
           "sample_book_part(thread, metric, busy_blamed_idx(busy),",
           "sample_book_part(thread, busy->no_core ? attribute_at(&thread->tree, busy->node_idx) : metric, busy->node_idx,"),
    Defect("cores: who waits at a barrier that is over is idle for the others",
           "last.passed >= waiting.since && last.passed <= when.ticks)", "last.passed < 0)"),
    Defect("cores: who waits at a barrier that is over is idle",
           "if (unlikely(released_ns <= delivery->census_ns))\n", "if (0)\n"),
    Defect("cores: the last thread at a barrier passes it first",
           "(int64_t)(load_relaxed(passed) - line->idle_since) < 0)", "1)"),
    Defect("cores: who has passed one barrier has passed the next",
           "return (uint64_t *)&region->passed[STATE_PLACE_BARRIER(place) % REGION_BARRIERS];",
           "return (uint64_t *)&region->passed[0];"),
    Defect("cores: idleness while nobody is busy is in no row",
           "        metric->shared_idle += p;\n        metric->inverse_busy += inverse;\n", ""),
    Defect("cores: what a sample itself costs an idle thread is forgotten",
           "    thread->ledger->idle_no_core += (double)thread->core.now.woken_ns;\n", ""),
    Defect("cores: who comes out of its wait lacked a core, also if the signal has woken it",
           "bool out_of_wait = core_comes_out_of_wait(core, context);", "bool out_of_wait = core_comes_out_of_wait(core, context) && !core;"),
    Defect("cores: who has not been woken yet lacks one",
           "    if (unlikely(rest.count))\n        sample_record_busy_from(",
           "    thread->core.now.state = thread->core.now.in_call ? CORE_NONE : thread->core.now.state;\n    if (unlikely(rest.count))\n        sample_record_busy_from("),
    Defect("cores: who sleeps works", "        busy.own_idx = sample_pseudo_child(thread, busy.node_idx, PROFILE_PSEUDO_BLOCKED);\n", ""),
    Defect("stops: what was stopped was blocked in its code",
           "    if (load_relaxed(&certain) - before - 1 >= since)\n", "    if (before || since)\n"),
    Defect("stops: who waits for a core behind one sleeps",
           "    if (!core->now.in_call) { /* The thread was not asleep in a call, so it lacked a core after the stop. */\n", "    if (0) {\n"),
    Defect("stops: who waits behind one for its sample lacks a core for its code",
           "    if (!core->now.in_call) { /* The thread was not asleep in a call, so it lacked a core after the stop. */\n", "    {\n"),
    Defect("mpi: who waits in a call works", "    return load_relaxed(&thread->line->state) == STATE_MPI_WAIT;\n", "    return !thread;\n"),
    Defect("mpi: who waits in a call has a core for it",
           "    thread->mpi.grafts = thread->tree.grafts;\n    sample_book_waiting_core(thread, delivery);\n",
           "    thread->mpi.grafts = thread->tree.grafts;\n"),
    Defect("ranks: who waits is as it is when the sample comes", "ranks_census_at(clocks, delivery_moment_ns(delivery, number, delivery_moments(delivery)));", "ranks_census_at(clocks, number ? clocks->ns : clocks->ns);"),
    Defect("ranks: for whom a rank waits is not asked", "if (!wait.peer || *looks >= RANKS_LOOKS)", "if (hops == 0 || *looks >= RANKS_LOOKS)"),
    Defect("ranks: the busy threads of a rank are blamed for all", "double p = delivery->p / moments / threads, waiting = 0;", "double p = delivery->p / moments + 0 * threads, waiting = 0;"),
    Defect("ranks: nobody is blamed while none of a team works", "{.idle = parked || others.busy ? 0 : others.in_use + 1};", "{.idle = 0 * others.in_use};"),
    Defect("ranks: dispatch is blamed for nothing", "{.busy = others.busy + 1};", "{.busy = 0 * others.busy};"),
    Defect("ranks: a rank that waits itself is blamed", "if (census.own_waits || !census.calls)", "if (!census.calls)"),
    Defect("ranks: waits that are over are not remembered", "    store_release(&line->waits_noted, noted + 1);\n", ""),
    Defect("bins: idle time is where it was 50 ms ago", "time_add_state(tree, time_ns, PROFILE_TIME_IDLE, p);",
           "time_add_state(tree, time_ns - 50000000, PROFILE_TIME_IDLE, p);"),
    Defect("bins: a busy sample's time and its blame are where they were 50 ms ago", "    sample_book_part(thread, metric, busy_blamed_idx(busy), p, census, time_ns);",
           "    sample_book_part(thread, metric, busy_blamed_idx(busy), p, census, time_ns - 50000000);"),
    Defect("bins: what a region's context waited for keeps its own", "        time_move(tree, from_idx, to_idx);\n", "        (void)to_idx;\n"),
    Defect("bins: dispatch is in no lane", "    time_add_state(&thread->tree, thread->idle.last_ns, PROFILE_TIME_OVERHEAD, thread->idle.p);\n", ""),
    Defect("errors: idleness beside others is not summed", "(float)(idle - idle / census.busy);", "0;"),
    Defect("errors: neighbouring samples are not compared", "    profile->has_variance[record] = true;\n", ""),
    Defect("errors: neighbours count twice", "{1, -5.0 / 3, 2.0 / 3}", "{1, -10.0 / 3, 2.0 / 3}"),
    Defect("errors: all samples are in one context", "neighbours->at[0] == node_idx,", "neighbours->at[0],"),
    Defect("errors: a row's idleness is as even as its sum", "even = fmin(even, rain * rain / form->rains);", ";"),
    Defect("errors: nothing is stated", "return ERROR_DEVIATIONS * sqrt(error_variance(terms, metric, value, basis));", "return INFINITY;"),
    Defect("errors: what is stated is one deviation", "#define ERROR_DEVIATIONS 1.96", "#define ERROR_DEVIATIONS 1.0"),
    Defect("settling: the end of a wait settles nothing",
           "    settle_wait(thread, in_region);\n", ""),
]


def sources():
    """All files but what is built."""
    paths = []
    for folder, folders, files in os.walk(ROOT):
        below = os.path.relpath(folder, ROOT)
        folders[:] = [name for name in folders if name not in (".git", "node_modules") and not (below == "." and name.startswith("build"))]
        paths += [os.path.normpath(os.path.join(below, name)) for name in files]
    return paths


def place_of(defect, texts):
    """(path, text) of the file, or a complaint."""
    found = [(path, text) for path, text in texts.items() if defect.old in text]
    if len(found) == 1 and found[0][1].count(defect.old) == 1:
        return found[0], ""
    return None, f"{defect.name}: {len(found)} files have this text, which must be in one, once:\n{defect.old}"


def product_texts(paths):
    texts = {}
    for path in paths:
        if path.endswith((".c", ".h")) and not path.startswith(("tests/", "benchmarks/", "docs/examples/")):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                texts[path] = file.read()
    return texts


def copy_tree(paths, others):
    """With times, so that make takes what has been built for what it is."""
    shutil.rmtree(COPY, ignore_errors=True)
    for path in paths:
        os.makedirs(os.path.join(COPY, os.path.dirname(path)), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, path), os.path.join(COPY, path), follow_symlinks=False)
    os.makedirs(os.path.join(COPY, "build"))
    left_out = {"broken", "coverage", "events", "programs", "check", *(() if others else ("unit", "gate"))}
    built = [os.path.join(ROOT, "build", name) for name in sorted(set(os.listdir(os.path.join(ROOT, "build"))) - left_out)]
    subprocess.run(["cp", "-a", *built, os.path.join(COPY, "build")], check=True)


def run(command):
    try:
        done = subprocess.run(command, cwd=COPY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT_S, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, f"not over within {LIMIT_S} s"


def first_complaint():
    """The first claim that fails; "" when all hold."""
    with subprocess.Popen(CLAIMS, cwd=COPY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        for line in process.stdout:
            if line.startswith("FAILED"):
                os.killpg(process.pid, signal.SIGKILL)
                return line.strip()
    return "" if process.returncode == 0 else f"status {process.returncode}"


def symbols(path, kinds):
    listed = subprocess.run(["nm", "--defined-only", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=False).stdout
    return {line.split()[2] for line in listed.splitlines() if line.split()[1:2] and line.split()[1] in kinds}


def units_with(path):
    """The unit tests that the file's code is in; of a header, that of the file beside it."""
    code = symbols(os.path.join(COPY, "build", os.path.splitext(path)[0] + ".o"), "T")
    folder = os.path.join(COPY, "build", "unit")
    tests = sorted(name for name in os.listdir(folder) if re.fullmatch(r"test_\w+", name)) if os.path.isdir(folder) else []
    return [name for name in tests if code & symbols(os.path.join(folder, name), "Tt")]  # what is hidden is local there


def what_else_fails(path):
    """Unit tests that have the code in them, and the gate."""
    words, units = [], units_with(path)
    if units:
        status, output = run(["make", "-s", "unit", "UNIT=" + " ".join(units)])
        words += re.findall(r"^FAILED\s+[\d.]+ s\s+(\w+)", output, re.MULTILINE) if status else []
    if run(["make", "-s", "gate"])[0] != 0:
        words.append("the gate")
    return ", ".join(words) or "nothing"


def broken_by(defect, place, others):
    """The simulator's complaint, "" when it has none; and what else fails."""
    path, text = place
    target = os.path.join(COPY, path)
    try:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text.replace(defect.old, defect.new))
        built, output = run(["make", "-s", "build/simulator/simulate"])
        if built != 0:
            return "", "it cannot be built: " + output
        return first_complaint(), what_else_fails(path) if others else ""
    finally:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("-k", default="")
    options = parser.parse_args()
    paths = sources()
    texts = product_texts(paths)
    chosen = [(defect, *place_of(defect, texts)) for defect in DEFECTS if re.search(options.k, defect.name)]
    complaints = [complaint for _, _, complaint in chosen if complaint]
    if complaints or options.texts:
        print(*complaints, f"{len(chosen) - len(complaints)} passed, {len(complaints)} failed", sep="\n")
        return 1 if complaints else 0
    copy_tree(paths, options.others)
    if len(chosen) == len(DEFECTS) and first_complaint():
        print(f"nothing is broken, and yet: {first_complaint()}", "0 passed, 1 failed", sep="\n")
        return 1
    caught = 0
    for defect, place, _ in chosen:
        complaint, others = broken_by(defect, place, options.others)
        caught += bool(complaint)
        print(f"{'caught' if complaint else 'MISSED'}  {defect.name}: {complaint}",
              f"\n        caught elsewhere by: {others}" if others else "", sep="", flush=True)
    print(f"{caught} passed, {len(chosen) - caught} failed")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
