// The sections of threads, locks and waits.
import { h } from "./dom.js";
import { MICRO, baseName, count, oneLine, plural } from "./format.js";
import { Table } from "./tables.js";
import { metricVariable } from "./palette.js";
import { explanation } from "./pseudo.js";
import { distinctTitles } from "./titles.js";

const MOST_DISTINCT = 1000; // largest number of rows in a table whose titles are made distinct: each row is compared with all others of its name

// Returns [key of the thread's time, metric] for each part of the thread time.
const partsOf = (model) => [...model.shownOwn.map((metric) => [metric.replace(" ", "_"), metric]), ...model.shownIdle.map((metric) => ["idle", metric])];

const titleOf = (metric) => (metric === "idleness" ? "idle" : metric);

export function textColumn(id, title, width, of, about) {
    return {
        id,
        title,
        width,
        about,
        value: of,
        draw: (cell, row) => {
            cell.textContent = of(row);
            cell.title = of(row);
        },
    };
}

export function numberColumn(id, title, of, decimals, about, width) {
    return {
        id,
        title,
        numeric: true,
        about,
        width,
        value: of,
        draw: (cell, row) => {
            const text = (value) => (decimals === null ? count(value) : value.toFixed(decimals));
            cell.textContent = of(row) ? text(of(row)) : "";
        },
    };
}

// Makes a column of seconds, or of events if samples count events. keyOf(row) returns the metric whose error formula
// applies.
function amountColumn(model, id, title, of, about, keyOf = () => null) {
    const column = numberColumn(id, title, of, model.decimals, about);
    column.draw = (cell, row) => {
        cell.textContent = of(row) ? model.tableFigure(of(row)) : "";
        const key = keyOf(row);
        if (of(row) && key) cell.title = model.stated({ key, unit: model.unit }, of(row) / MICRO);
    };
    return column;
}

function timeBar(model, threads, parts) {
    const end = threads.reduce((last, thread) => Math.max(last, thread.end_s), 1e-9),
        begin = threads.reduce((first, thread) => Math.min(first, thread.begin_s), 0);
    const at = (time) => `${(100 * (time - begin)) / (end - begin)}%`;
    return (cell, thread) => {
        const sum = parts.reduce((total, [key]) => total + Math.max(0, thread[key]), 0);
        const life = Math.max(0, thread.end_s - thread.begin_s),
            whole = model.unit === "s" ? Math.max(sum, life) : sum;
        const pieces = parts.filter(([key]) => thread[key] > 0).map(([key, metric]) =>
            h("span.piece", {
                title: `${titleOf(metric)} ${model.text({ unit: model.unit }, thread[key] / MICRO, 3)}`,
                style: { width: `${(100 * thread[key]) / whole}%`, background: `var(${metricVariable(metric)})` },
            }),
        );
        cell.append(
            h(
                "span.lifetime",
                { style: { left: at(thread.begin_s), width: `${(100 * life) / (end - begin)}%` } },
                pieces,
            ),
        );
        cell.classList.add("bar-cell");
    };
}

export function threadsSection(model) {
    const { threads } = model.data;
    if (!threads?.length) return { element: h("p.empty", null, "No thread was measured."), table: null };
    const parts = partsOf(model),
        // A sample of an idle thread stands for one period of that thread, as does a sample of a working thread.
        part = ([key, metric]) =>
            amountColumn(model, key, titleOf(metric), (thread) => thread[key], key === "idle" ? "All idle time, including time in which no thread was busy" : undefined, () => (metric === "idleness" ? "work" : metric));
    const table = new Table(
        "Threads",
        [
            numberColumn(
                "thread",
                "thread",
                (thread) => thread.thread,
                null,
                "In the order in which threads were first seen",
                "4.6rem",
            ),
            ...(threads[0].rank === undefined
                ? []
                : [{ ...numberColumn("rank", "rank", (thread) => Number(thread.rank), null, undefined, "4.2rem"), draw: (cell, thread) => cell.append(thread.rank ?? "") }]),
            textColumn("kind", "kind", "5rem", (thread) => thread.kind),
            {
                id: "bar",
                title: "lifetime",
                width: "minmax(14rem, 1fr)",
                about: "Shares of the thread's lifetime, not their order in time",
                draw: timeBar(model, threads, parts),
            },
            ...parts.map(part),
            numberColumn("samples", "samples", (thread) => thread.samples, null),
        ],
        [...threads],
    );
    table.columns[0].draw = (cell, thread) => {
        cell.textContent = thread.thread;
    };
    const legend = h(
        "div.legend",
        null,
        parts.map(([, metric]) =>
            h(
                "span.legend-item",
                null,
                h("span.swatch", { style: { background: `var(${metricVariable(metric)})` } }),
                titleOf(metric),
            ),
        ),
    );
    return { element: h("div", null, legend, table.element), table };
}

// Returns the rows of a table { columns, rows } as objects.
function records(table) {
    return (table?.rows ?? []).map((row) =>
        Object.fromEntries(
            table.columns.map((name, i) => [name, typeof row[i] === "string" ? oneLine(row[i]) : (row[i] ?? "")]),
        ),
    );
}

function codeAndPlace(model, row) {
    return model.isStatement(row) ? `${model.name(model.parent[row])}  ${model.name(row)}` : `${model.name(row)}  ${model.place(row)}`;
}

// Makes a column of links to rows of the tree. The text is the name and place. If several rows of the table would look
// the same, the callers in which they differ replace the place. The tooltip has the whole path.
function contextColumn(model, rows, id, title, text, go) {
    const targets = [...new Set(rows.map((row) => row[id]))].filter((target) => target !== "" && target >= 0),
        titles = targets.length <= MOST_DISTINCT ? distinctTitles(model, targets, codeAndPlace) : targets.map((target) => codeAndPlace(model, target)),
        titleOf = new Map(targets.map((target, i) => [target, titles[i]]));
    const short = (row) => titleOf.get(row[id]) ?? text(row);
    return {
        id,
        title,
        width: "minmax(12rem, 2fr)",
        value: short,
        draw: (cell, row) => {
            if (row[id] >= 0 && row[id] !== "")
                cell.append(
                    h(
                        "button.link",
                        { type: "button", title: [`Show in the tree: ${text(row)}`, explanation(model.name(row[id]))].filter(Boolean).join("\n"), onclick: () => go(row[id]) },
                        short(row),
                    ),
                );
            else cell.textContent = text(row);
        },
    };
}

export function locksSection(model, go) {
    const rows = records(model.data.locks),
        unit = model.unit === "s" ? " s" : "",
        what = model.unit === "s" ? "Seconds" : "Events";
    if (!rows.length) return { element: h("p.empty", null, "No thread was seen waiting for a lock."), table: null };
    const name = (row) => String(row.name || row.symbol || row.lock),
        lockWait = () => "lock wait";
    const about = (row) =>
        [
            `${row.kind} at ${row.lock}`,
            row.symbol && `variable ${row.symbol}`,
            row.initialiser && `initialised by ${row.initialiser}`,
            row.initialisers > 1 && `${row.initialisers} calls initialised a lock here`,
        ]
            .filter(Boolean)
            .join("\n");
    const table = new Table(
        "Locks",
        [
            {
                id: "name",
                title: "lock",
                width: "minmax(10rem, 1.4fr)",
                value: name,
                draw: (cell, row) => {
                    cell.textContent = name(row);
                    cell.title = about(row);
                },
            },
            textColumn("kind", "kind", "5.4rem", (row) => row.kind),
            amountColumn(model, "wait", `wait${unit}`, (row) => row.wait, `${what} that threads waited for the lock`, lockWait),
            numberColumn(
                "acquisitions_contended",
                "waits",
                (row) => row.acquisitions_contended,
                null,
                "Waits that a sample saw: a lower bound",
                "5rem",
            ),
            amountColumn(
                model,
                "longest_wait",
                `longest${unit}`,
                (row) => row.longest_wait,
                "The longest wait, accurate to one sampling period",
            ),
            contextColumn(model, rows, "holder_id", "held longest by", (row) => row.holder ?? "", go),
            amountColumn(model, "holder_wait", `its part${unit}`, (row) => row.holder_wait, undefined, lockWait),
            contextColumn(model, rows, "waiter_id", "waited for longest in", (row) => row.waiter ?? "", go),
            amountColumn(model, "waiter_wait", `its part${unit}`, (row) => row.waiter_wait, undefined, lockWait),
        ],
        rows,
    );
    return { element: table.element, table };
}

const pathOf = (model, row) =>
    model
        .path(row)
        .slice(1)
        .map((of) => model.name(of))
        .join(" > ");

// Returns a row for each pair of a place where threads waited and the context that ran meanwhile, the longest wait
// first.
function waitRows(model) {
    const { places, pairs } = model.data.waits ?? {},
        text = (index) => model.strings[index] ?? "";
    const known = (places?.rows ?? []).map((cells) => {
        const place = Object.fromEntries(places.columns.map((name, i) => [name, cells[i]]));
        const file = text(place.place_file),
            line = place.place_line > 0 ? `:${place.place_line}` : "";
        return {
            kind: text(place.place_kind),
            call: text(place.place_call),
            of: text(place.place_function),
            at: file ? `${baseName(file)}${line}` : "",
            file,
        };
    });
    return (pairs?.place ?? [])
        .map((place, i) => ({ ...known[place], seconds: pairs.us[i] * MICRO, context: pairs.row[i] }))
        .sort((a, b) => b.seconds - a.seconds);
}

export function waitsSection(model, go) {
    const rows = waitRows(model),
        seconds = model.unit === "s";
    if (!rows.length)
        return { element: h("p.empty", null, "No thread was seen waiting while another was busy."), table: null };
    const table = new Table(
        "Waits",
        [
            amountColumn(
                model,
                "seconds",
                seconds ? "waited s" : "waited",
                (row) => row.seconds,
                `${seconds ? "Seconds" : "Events"} that threads, or other ranks in MPI, waited at the place while the context ran`,
                ({ kind }) => (kind === "lock" ? "lock wait" : kind === "mpi" ? "rank idleness" : "idleness"),
            ),
            textColumn("kind", "in", "11.5rem", (row) => row.call || row.kind),
            textColumn("of", "of", "minmax(9rem, 1fr)", (row) => row.of),
            textColumn("at", "at", "minmax(8rem, .6fr)", (row) => row.at),
            contextColumn(
                model,
                rows,
                "context",
                "while this ran",
                (row) => (row.context < 0 ? "(small)" : pathOf(model, row.context)),
                go,
            ),
        ],
        rows,
    );
    return { element: table.element, table };
}

// Returns the section that shows which code ended threads' sleep; null if no sample found such a sleep.
export function wakesSection(model, go) {
    const text = (index) => model.strings[index] ?? "",
        rows = records(model.data.wakes).map((row) => ({ ...row, kind: text(row.kind) })),
        path = (row) => (row >= 0 ? pathOf(model, row) : ""),
        place = (end) => (row) => (row[`${end}_line`] > 0 ? `${baseName(text(row[`${end}_file`]))}:${row[`${end}_line`]}` : "");
    if (!rows.length) return null;
    const table = new Table(
        "Woken by",
        [
            amountColumn(model, "seconds", "slept s", (row) => row.seconds, "Seconds that threads slept at the place until this code woke them: part of blocked"),
            numberColumn("waits", "waits", (row) => row.waits, null, "Waits that a sample saw: a lower bound", "5rem"),
            textColumn("kind", "for", "10.5rem", (row) => row.kind),
            contextColumn(model, rows, "waiter", "in", (row) => path(row.waiter), go),
            textColumn("waiter_at", "at", "minmax(8rem, .6fr)", place("waiter")),
            contextColumn(model, rows, "waker", "woken by", (row) => path(row.waker), go),
            textColumn("waker_at", "at", "minmax(8rem, .6fr)", place("waker")),
        ],
        rows,
    );
    return { element: table.element, table };
}

export function sectionNotes(model) {
    const { threads, locks } = model.data,
        more = locks?.left_out,
        rest = model.data.threads_left_out;
    return {
        threads: plural(threads?.length ?? 0, "thread") + (rest ? `; ${plural(rest, "more thread")} only in the map of ranks` : ""),
        locks:
            plural(locks?.rows?.length ?? 0, "lock") +
            (more ? `; ${plural(more.locks, "more lock")} with ${model.text({ unit: model.unit }, more.wait / MICRO, 3)} of waiting left out` : ""),
    };
}
