// The ranks of a job: efficiencies, the map of ranks and threads, the chart of the chosen state, and a table.
import { choice, h } from "./dom.js";
import { MICRO, count, percent, plural } from "./format.js";
import { metricVariable } from "./palette.js";
import { RankCurve } from "./rank_curve.js";
import { RankMap } from "./rank_map.js";
import { RanksData } from "./ranks_data.js";
import { numberColumn, textColumn } from "./sections.js";
import { Table } from "./tables.js";

const titleOf = (key) => (key === "idleness" ? "idle" : key);

const WAITS = [
    ["rank_idleness_us", "for another", "Part of the MPI wait for which a busy rank of the same node is to blame"],
    ["made_others_wait_us", "made wait", "Time that other ranks waited in MPI because of this rank"],
];

const part = (value) => (typeof value === "number" ? percent(value) : "");

// Efficiencies as rows: the whole job, between ranks, inside ranks. The first number is the product of the second and
// third.
const EFFICIENCIES = [
    ["parallel", "parallel", "load_balance", "communication"],
    ["between ranks (MPI)", "mpi", "mpi_load_balance", "mpi_communication"],
    ["inside ranks (OpenMP)", "openmp", "openmp_load_balance", "openmp_communication"],
];

function efficiencies(of) {
    if (!of) return null;
    if (typeof of.parallel !== "number")
        return h("p.phases-remark", null, `POP's efficiencies are unknown: ${of.untold ?? "they are not in the data"}.`);
    const useful = of.useful_no_core + of.useful_blocked;
    return h(
        "div.efficiencies",
        null,
        h(
            "table.plain",
            null,
            h(
                "thead",
                null,
                h("tr", null, ["POP's efficiencies, %", "", "= load balance", "× communication"].map((text) => h("th", { scope: "col" }, text))),
            ),
            h(
                "tbody",
                null,
                EFFICIENCIES.map(([name, ...keys]) =>
                    h("tr", null, h("th", { scope: "row" }, name), keys.map((key) => h("td", null, part(of[key])))),
                ),
            ),
        ),
        h(
            "p.phases-remark",
            null,
            [
                `Computed over ${of.runtime_s.toFixed(2)} s, ${plural(of.processes, "rank")} and ${plural(of.threads, "thread")}. The first row is the product of the other two rows.`,
                of.untold && `The efficiencies of threads are unknown: ${of.untold}.`,
                useful >= 0.01 &&
                    `Of the time that counts as useful, ${percent(of.useful_no_core)} % had no core and ${percent(of.useful_blocked)} % was blocked.`,
                "Serialisation and transfer are not shown: they need a run on an ideal network.",
            ]
                .filter(Boolean)
                .join(" "),
        ),
    );
}

function rankTable(ranks) {
    const { model, data } = ranks;
    const rows = Array.from({ length: ranks.count }, (_, column) => column);
    const seconds = (key, title, of, about) => ({
        ...numberColumn(key, title, of, null, about),
        draw: (cell, column) => {
            cell.textContent = of(column) ? model.tableFigure(of(column)) : "";
        },
    });
    return new Table(
        "Ranks",
        [
            {
                ...numberColumn("rank", "rank", (column) => data.first[column], null, undefined, "6rem"),
                draw: (cell, column) => {
                    cell.textContent = ranks.name(column);
                },
            },
            textColumn("node", "node", "minmax(7rem, 1fr)", (column) => ranks.text("node", column)),
            numberColumn("threads", "threads", (column) => data.threads[column], null),
            numberColumn("wall", "wall s", (column) => data.wall_us[column] * MICRO, 2, "From start to end"),
            ...ranks.states.map((state) =>
                seconds(state.key, titleOf(state.key), (column) => ranks.value(state, column) * MICRO, `${titleOf(state.key)} of its threads`),
            ),
            ...WAITS.filter(([key]) => data[key]).map(([key, title, about]) =>
                seconds(key, title, (column) => (data[key][column] ?? 0) * MICRO, about),
            ),
            data.why.some(Boolean) && textColumn("why", "", "minmax(6rem, 2fr)", (column) => ranks.text("why", column)),
        ].filter(Boolean),
        rows,
    );
}

// Returns the section of ranks, null if the run was no MPI job.
export function ranksSection(model, tip) {
    const { ranks: data, run } = model.data;
    if (!data?.count || !data.states?.length) return null;
    const ranks = new RanksData(model, data),
        keys = ranks.states.map(({ key }) => key),
        chosen = { key: keys.includes("mpi wait") ? "mpi wait" : keys.includes("idleness") ? "idleness" : keys[0], by: "rank" };
    const curve = new RankCurve(ranks),
        map = new RankMap(ranks, tip, (column) => curve.mark(column)),
        table = rankTable(ranks);
    const show = (changes) => {
        Object.assign(chosen, changes);
        map.show(chosen.key, chosen.by);
        curve.show(chosen.key);
        states.show(chosen.key);
        orders.show(chosen.by);
    };
    const states = choice(
        "State of the map",
        keys.map((key) => [key, [h("span.swatch", { style: { background: `var(${metricVariable(key)})` } }), titleOf(key)], `The share of each thread's time: ${titleOf(key)}`]),
        (key) => show({ key }),
    );
    const orders = choice(
        "Order of the ranks",
        [
            ["rank", "rank", "By number"],
            ["node", "node", "By node, then by number"],
            ["value", "value", "Largest share of the chosen state first"],
        ],
        (by) => show({ by }),
    );
    const counted = data.counted.reduce((sum, of) => sum + of, 0);
    const several = ranks.each > 1 ? `; a column is the mean of ${count(ranks.each)} ranks` : "";
    show({});
    return {
        element: h(
            "div.ranks",
            null,
            efficiencies(run?.job?.efficiencies),
            h("div.bar", null, h("h3", null, "Rank by rank"), states.element, h("span.label", null, "order"), orders.element, h("span.filler"), map.legend),
            map.element,
            curve.element,
            table.element,
        ),
        table,
        map,
        curve,
        redraw: () => {
            map.redraw();
            curve.redraw();
        },
        note: `${plural(counted, "rank")} on ${plural(data.nodes, "node")}; a column is a rank, a row a thread${several}`,
    };
}
