"""`blame fold` as text and as CSV."""

import numpy

from .text import csv_of as csv_lines, decimal, fit, paragraph, terminal_columns, utf8_terminal

BINS, IDLE, LOCK_WAIT = 120, 1, 2
TITLES = ("at work", "idle", "waiting for locks", "in the runtime", "without a core", "blocked", "waiting in MPI")


def unit_of(seconds):
    return (1, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "us")


def counts_of(fold):
    lengths, (factor, unit) = fold.kept[:, 3], unit_of(fold.mean_s)
    text = f"{fold.phase}{', outliers' if fold.outliers else ''}: {len(fold.kept)} executions, {decimal(fold.mean_s * factor, 3)} {unit} each on average" \
           f" ({decimal(lengths.min() * factor, 3)} to {decimal(lengths.max() * factor, 3)}), combined from their {fold.count} samples."
    if len(fold.apart):
        text += f" Excluded: {len(fold.apart)} of {'usual' if fold.outliers else 'unusual'} length."
    for count, why in ((fold.unseen, "that are only partly in the trace"), (fold.several, "whose number was started several times"), (fold.others, "without a number of their own")):
        text += f" Left out: {count} {why}." if count else ""
    return text


def text_of(fold, top):
    columns, utf8 = terminal_columns(), utf8_terminal()
    blocks = next((wide for wide in (120, 60, 40) if wide + 44 <= columns), 30)
    labels = min(max(columns - blocks - 20, 12), 44)
    factor, unit = unit_of(fold.mean_s)
    levels, error_mark = (" \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588", "\u00b1") if utf8 else (" .:-=+*%#", "+-")

    def line(label, threads, most, seconds, error=None):
        parts = threads.reshape(blocks, -1).mean(axis=1)
        bar = "".join(levels[int(min(max(numpy.ceil(part / most * 8 - 0.25), 0), 8))] for part in parts)
        said = f"{decimal(seconds * factor, 3):>9}" + ("" if error is None else f" {error_mark} {decimal(error * factor, 3)}")
        return f"{fit(label, labels, utf8):<{labels}} {bar} {said}"

    count, most = len(fold.kept), max(float(fold.threads.sum(axis=1).max()), 1e-9)
    lines = [*paragraph(counts_of(fold), columns).splitlines(), "", f"{'threads':<{labels}} {'0 %':<{blocks - 5}}100 %  {unit} an execution"]
    lines += [line(title, fold.threads[:, at], most, fold.sum[:, at].sum() / count, fold.errors[at]) for at, title in enumerate(TITLES) if fold.sum[:, at].any()]
    lines.append(f"(a full block: {decimal(most, 2)} threads; a block is {decimal(fold.mean_s * factor / blocks, 3)} {unit})")
    for title, values in (("What runs", fold.own), ("What others idle for", fold.idleness), ("What waits for locks", fold.work[:, :, LOCK_WAIT])):
        shown = [at for at in sorted(fold.order, key=lambda at, values=values: -values[at].sum()) if values[at].sum() > 0.005 * fold.sum.sum()][:top]
        shown.sort(key=lambda at, values=values: (values[at] * numpy.arange(BINS)).sum() / values[at].sum())
        if shown:
            highest = max(fold.threads_of(values[at]).max() for at in shown)
            lines += ["", f"{title} (a full block: {decimal(highest, 2)} threads)"]
            lines += [line(fold.label(at), fold.threads_of(values[at]), highest, values[at].sum() / count) for at in shown]
    lines += ["", "Which function runs most"]
    for begin, end, at in fold.stretches():
        share = fold.own[at, begin:end].sum() / max(fold.own[:, begin:end].sum(), 1e-12)
        lines.append(f"  {decimal(100 * begin / BINS, 1):>5} to {decimal(100 * end / BINS, 1):>5} %  {decimal(100 * share, 0):>3} % of what runs  {fit(fold.label(at), 60, utf8)}")
    return "\n".join(lines) + "\n"


def csv_of(fold, _top):
    bands = [f"{name}_{end}" for name in ("work", "idleness", "lock_wait") for end in ("low", "high")]
    titles, lines = [*"bin,begin,end,id,name,work,idleness,lock_wait,overhead,no_core,blocked,mpi_wait".split(","), *bands], []
    for at in range(BINS):
        head = (at, decimal(at / BINS, 6), decimal((at + 1) / BINS, 6))
        limits = [end[at, state] for state in range(3) for end in (fold.low, fold.high)]
        rows = [(0, fold.phase, fold.sum[at], fold.sum[at, IDLE], limits)]
        rows += [(number + 1, fold.samples.functions[function][0], fold.work[function, at], fold.idleness[function, at], [None] * len(bands))
                 for number, function in enumerate(fold.order) if fold.work[function, at].any() or fold.idleness[function, at] > 0]
        lines += [(*head, number, name, seconds[0], idleness, *seconds[2:], *limit) for number, name, seconds, idleness, limit in rows]
    return csv_lines(titles, lines, decimals=9)
