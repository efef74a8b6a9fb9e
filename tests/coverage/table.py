"""tests/coverage/results.md from what was measured."""

import re

import known

COMMAND = "make coverage"
STATES = [("work", "work"), ("idle", "idle"), ("overhead", "overhead"), ("lock_wait", "lock wait")]
# What stands between a sample and the function that the table names.
HELPERS = {"spin_until", "spin_on_clock", "work_for", "clock_s", "uneven", "share_of", "record_interval"}
LEAST_SHARE = 0.10  # of the waiting, for a function to be named
BOTH = ("parallel", "implicit_task", "thread")  # in every program: named once, above the table


def states(profile):
    """Share of the threads' time that the tool saw in each state."""
    total = sum(profile.threads_total(column) for column, _ in STATES)
    shares = [(name, 100 * profile.threads_total(column) / total) for column, name in STATES] if total else []
    return ", ".join(f"{name} {share:.0f} %" for name, share in shares if share >= 0.5)


def owner(row, program):
    """The nearest row outward that is a function, a construct or a runtime entry of the program."""
    for above in [row, *row.ancestors()]:
        if above.kind in ("runtime", "pseudo", "parallel", "task"):
            return above.name
        if above.kind == "procedure" and above.name not in HELPERS and above.module.endswith(program):
            return above.name
    return row.name


def blamed(profile, program, metric):
    by_name = {}
    for row in profile.rows:
        if row.kind != "statement" and row[f"{metric} (E)"] > 0:
            name = re.sub(r"\+0x[0-9a-f]+", "", owner(row, program))
            by_name[name] = by_name.get(name, 0) + row[f"{metric} (E)"]
    total = sum(by_name.values())
    return [(name, 100 * part / total) for name, part in sorted(by_name.items(), key=lambda item: -item[1])
            if part >= LEAST_SHARE * total]


def where_blamed(profile, program):
    parts = []
    for metric in ("idleness", "lock wait"):
        if profile.root[f"{metric} (I)"] >= 0.02:
            names = ", ".join(f"`{name}` {share:.0f} %" for name, share in blamed(profile, program, metric))
            parts.append(f"{metric}: {names}")
    return "; ".join(parts) or "no waiting"


def event_text(events):
    """`name(kind, kind)` with the counts of those whose begin and end differ."""
    by_name = {}
    for (name, kind), (begin, end) in events.items():
        if name in BOTH and end == begin:
            continue
        uneven = f" {begin} begin {end} end" if end is not None and begin != end else ""
        by_name.setdefault(name, []).append(((kind if kind != "any" else "") + uneven).strip())
    texts = [name + (f"({', '.join(kinds)})" if any(kinds) else "") for name, kinds in by_name.items()]
    return ", ".join(texts) or "none"


def uneven_keys(events):
    return {key for key, (begin, end) in events.items() if end is not None and begin != end}


def difference(reference, events):
    """What a program got that the reference did not, and the other way round: a set of (what, event and kind)."""
    parts = {("no", key) for key in reference if key not in events}
    parts |= {("also", key) for key in events if key not in reference}
    return parts | {("uneven", key) for key in uneven_keys(events) - uneven_keys(reference)}


def always(pairs):
    """Differences that a column has in every construct that could show them: said once, not in each row."""
    found = set().union(*(difference(reference, events) for reference, events in pairs))
    general = set()
    for what, key in found:
        if what == "no":
            holds = all(key not in events for reference, events in pairs if key in reference)
        elif what == "also":
            holds = all(key not in reference for reference, _ in pairs)
        else:
            holds = all(key in uneven_keys(events) for _, events in pairs if key in events)
        if holds:
            general.add((what, key))
    return general


def difference_text(parts, events=None):
    """`name(kind, kind)` behind what differs."""
    words = {"no": "no", "also": "also", "uneven": "not as many ends as begins (ends and begins):"}
    texts = []
    for what, word in words.items():
        by_name = {}
        for _, (name, kind) in sorted(part for part in parts if part[0] == what):
            counts = " {} and {}".format(*reversed(events[name, kind])) if what == "uneven" and events else ""
            by_name.setdefault(name, []).append((("" if kind == "any" else kind) + counts).strip())
        if by_name:
            named = [name + (f"({', '.join(kinds)})" if any(kinds) else "") for name, kinds in by_name.items()]
            texts.append(f"{word} {', '.join(named)}")
    return "; ".join(texts)


def link(text, url):
    return f"{text} ([report]({url}))" if url else text


def verdict_of(construct, column, outcome):
    """(word, reason): passed, known (fails as known.py says), FAILED, not run."""
    if outcome.skipped:
        return "not run", outcome.skipped
    if not outcome.problems:
        return "passed", ""
    reasons = known.explain(construct.name, column, outcome.problems)
    if reasons:
        return "known", "; ".join(link(reason.text, reason.url) for reason in reasons)
    return "FAILED", "; ".join(outcome.problems)


def cell(construct, column, outcome, notes):
    if outcome is None:
        return "–"
    word, reason = verdict_of(construct, column, outcome)
    if word == "passed":
        return "passed"
    if reason not in notes:
        notes.append(reason)
    return f"{'no' if word == 'known' else word} [{notes.index(reason) + 1}]"


def clean(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


HEADER = """<!-- Written by `{command}`. Do not edit: what is measured is in tests/coverage/. -->
# Coverage of OpenMP

Each OpenMP construct has a row and a small program, which `{command}` ran on {machine}. The program checks its own result, and
states by its own clock which functions work and wait. *passed* means:

* the output and the exit status are the same with blame and without;
* the profile satisfies every check of tests/behaviour/contract_checks.py (samples delivered = recorded + dropped,
  no thread's time is lost, `<unresolved>` is at most 1 % of the work);
* each function that the program names has work, idleness or lock wait as stated, in any amount. How exact the amounts are is
  tested elsewhere (docs/testing.md).

The columns:

* **events**: the events that {runtime} sent to tests/events/record.c, a tool that only records them, for the program that
  clang-19 built. Every program also has the begin and end of threads, parallel regions and implicit tasks.
* **state kept**: the share of the threads' time that blame saw in each state.
* **blamed on**: the functions with at least {least:.0f} % of the idleness or lock wait. A program takes only 0.2 s, so its start
  is visible, too: `<before OpenMP start>`, `__kmpc_fork_call`.
* **clang-19** and **flang-19**: on libomp 19, which loads the tool. **gcc-12** and **gfortran** (12): on libgomp 12, under `blame
  run`. **on 14**, **on 16** and **on 19**: the same programs on libomp, those of GCC with `--runtime libomp`.

A number after *no* or *not run* leads to the reason, below the table. A dash: there is no such program.
"""


def write_deviations(out, rows, columns):
    out.append(DEVIATIONS)
    pairs = {column: [(construct.title, outcomes[columns[0]].events, outcomes[column].events)
                      for construct, outcomes in rows
                      if outcomes.get(column) and outcomes[column].events and outcomes[columns[0]].events]
             for column in columns[1:] if column not in ("flang-19", "gfortran")}
    general = {column: always([pair[1:] for pair in pairs[column]]) for column in pairs if pairs[column]}
    for column, parts in general.items():
        if parts:
            out.append(f"| {column} | all that could | {clean(difference_text(parts))} |")
    for construct, _ in rows:
        by_text = {}
        for column in general:
            for title, reference, events in pairs[column]:
                parts = difference(reference, events) - general[column] if title == construct.title else ()
                if parts:
                    by_text.setdefault(difference_text(parts, events), []).append(column)
        out += [f"| {', '.join(names)} | {construct.title} | {clean(text)} |" for text, names in by_text.items()]


DEVIATIONS = """
## Other events of GCC's programs and older runtimes

GCC's programs and older runtimes send other events than the table says. The first rows hold for every construct; the later
rows have what one construct adds. `refused` lists what `ompt_set_callback` did not accept. libomp 14 and 16 give all implicit
barriers one name, and all loops one.

| program | construct | difference |
|---|---|---|"""


def render(rows, columns, machine, runtime):
    notes = []
    out = [HEADER.format(command=COMMAND, machine=machine, runtime=runtime, least=100 * LEAST_SHARE)]
    out.append("| construct | events | state kept | blamed on | program | " + " | ".join(columns) + " |")
    out.append("|---" * (5 + len(columns)) + "|")
    for construct, outcomes in rows:
        first = outcomes[columns[0]]
        profile = first.profile
        cells = [construct.title + (f": {construct.note}" if construct.note else ""), event_text(first.events),
                 states(profile) if profile else "no profile",
                 where_blamed(profile, construct.program) if profile else "no profile",
                 f"{construct.program}.c {construct.name}"
                 + (f", fortran.F90 {construct.fortran}" if construct.fortran else "")]
        cells += [cell(construct, column, outcomes.get(column), notes) for column in columns]
        out.append("| " + " | ".join(clean(text) for text in cells) + " |")
    if notes:
        out.append("\n## Reasons\n")
        out += [f"{number}. {clean(note)}" for number, note in enumerate(notes, 1)]
    write_deviations(out, rows, columns)
    return "\n".join(out) + "\n"
