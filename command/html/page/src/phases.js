// Phases: a table of all phases, and a chart for phases with numbered executions.
import { h } from "./dom.js";
import { MICRO, count, decimalsFor, largest, oneLine, plural } from "./format.js";
import { numberColumn } from "./sections.js";
import { Series } from "./series.js";
import { Table } from "./tables.js";

function phaseColumn(go) {
    return {
        id: "name",
        title: "phase",
        width: "minmax(12rem, 1.6fr)",
        value: (phase) => phase.name,
        draw: (cell, phase) => {
            if (phase.row < 0) cell.textContent = phase.name;
            else
                cell.append(
                    h(
                        "button.link",
                        { type: "button", title: `Show ${phase.name} in the tree`, onclick: () => go(phase.row) },
                        phase.name,
                    ),
                );
        },
    };
}

// Returns the spread of the executions' seconds. They come from the clock, even if samples count events.
function spread(phase, decimals) {
    const text = (value) => (value * MICRO).toFixed(decimals);
    return `${text(phase.min)} to ${text(phase.max)} s, mean ${text(phase.mean)}, deviation ${text(phase.deviation)}`;
}

function columns(model, phases, go) {
    const decimals = decimalsFor(largest(phases.map((phase) => phase.seconds)) * MICRO),
        metric = (key) => model.metric(key);
    const exact = (id, title, about) => numberColumn(id, title, (phase) => phase[id] * MICRO, decimals, about);
    const sampled = (key) => ({
        ...numberColumn(key, key, (phase) => phase[key], null, `${key} of all threads in the phase, including nested phases`),
        draw: (cell, phase) => {
            cell.textContent = phase[key] ? model.figure(metric(key), phase[key]) : "";
            cell.title = phase[key] ? model.stated(metric(key), phase[key]) : "";
        },
    });
    const share = (id, title, about) => numberColumn(id, title, (phase) => phase[id], 1, about, "6.4rem");
    const mean = exact("mean", "each s", "Mean of the executions");
    const draw = mean.draw;
    mean.draw = (cell, phase) => {
        draw(cell, phase);
        cell.title = spread(phase, decimals + 1);
    };
    return [
        phaseColumn(go),
        numberColumn("executions", "executions", (phase) => phase.executions, null, "Number of executions"),
        exact("seconds", "seconds", "Clock time of the threads that started the phase"),
        mean,
        exact("max", "slowest s", "The slowest execution"),
        ...model.shownIdle.flatMap((key) => [
            sampled(key),
            share("absolute", "% of all", "Idleness as a percentage of the whole program's effort"),
            share("relative", "% of its own", "Idleness as a percentage of the phase's effort"),
        ]),
        ...model.shownOwn.map(sampled),
    ];
}

function remarks(model, shown, data) {
    const lines = [];
    for (const { name, others } of shown)
        if (others)
            lines.push(
                `${plural(others.executions, "execution")} of ${name} beyond BLAME_PHASE_INSTANCES share the row “${name} [others]” and are not in the ` +
                    `series: each ${spread(others, decimalsFor(others.max * MICRO) + 1)}.`,
            );
    if (data.left_out) lines.push(`${plural(data.left_out, "more phase")} with less exact time are left out.`);
    if (data.series_left_out)
        lines.push(`${plural(data.series_left_out, "more phase")} have a series that is not in this page.`);
    return lines.map((text) => h("p.phases-remark", null, text));
}

// Returns the section of phases, null if the profile has none.
export function phasesSection(model, go, tip) {
    const { phases: data } = model.data;
    if (!data?.phases?.length) return null;
    const phases = data.phases.map((phase) => ({ ...phase, name: oneLine(model.strings[phase.name] ?? "") }));
    const table = new Table("Phases", columns(model, phases, go), [...phases]);
    const withSeries = phases.filter((phase) => phase.series);
    const series = withSeries.length ? new Series(model, withSeries, go, tip) : null;
    return {
        element: h("div.phases", null, table.element, remarks(model, phases, data), series?.element),
        table,
        series,
        redraw: () => series?.redraw(),
        draw: () => series?.draw(),
        note: `${count(phases.length - 1 + (data.left_out ?? 0))} besides the whole program; exact seconds are from the clock, other numbers from samples of all threads`,
    };
}
