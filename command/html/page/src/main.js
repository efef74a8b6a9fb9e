// Reads the data and shows the report, or a line that says why the report cannot be shown.
import { h } from "./dom.js";
import { FormatError, Model, readData } from "./model.js";
import { Report } from "./report.js";
import { applyTheme, readTheme } from "./state.js";
import { allNodes, makeView } from "./views.js";

// Returns the rows of a view with the columns of profile.csv, for scripts and tests. Times are integers of 1e-6 s, or
// of 1e-6 events.
function rows(model, viewName) {
    const view = makeView(model, viewName);
    return allNodes(view).map((node) => {
        const row = {
            row: node.row,
            depth: node.level,
            kind: view.kindName(node),
            name: model.name(node.row),
            module: model.module(node.row),
            file: model.file(node.row),
            line: model.line[node.row],
            call_line: node.callLine ?? (viewName === "top-down" ? model.callLine[node.row] : 0),
        };
        model.metrics.forEach(({ key }, m) => {
            row[`${key} (I)`] = view.value(node, m, false);
            row[`${key} (E)`] = view.value(node, m, true);
            row[`${key} (I) ±`] = view.error(node, m, false);
            row[`${key} (E) ±`] = view.error(node, m, true);
        });
        for (const { key, unit, index } of model.exact)
            if (unit) {
                row[`${key} (I)`] = view.value(node, index, false);
                row[`${key} (E)`] = view.value(node, index, true);
            } else row[key] = view.value(node, index, true);
        return row;
    });
}

function start() {
    const page = document.getElementById("page");
    applyTheme(readTheme());
    try {
        const model = new Model(readData());
        const report = new Report(model, page);
        globalThis.blame = { report, rows: (view) => rows(model, view) };
    } catch (error) {
        page.replaceChildren(
            h(
                "p.broken",
                { role: "alert" },
                error instanceof FormatError ? error.message : `This report cannot be shown: ${error.message}`,
            ),
        );
        if (!(error instanceof FormatError)) throw error;
    }
}

start();
