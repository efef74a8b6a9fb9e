// The run: the content of run.json, with its conservation laws as a table.
import { h } from "./dom.js";
import { count, oneLine } from "./format.js";

const APART = new Set(["conservation", "modules"]);

function number(value) {
    if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? count(value) : String(value);
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(2) : value.toFixed(size < 1 ? 6 : 3);
}

function value(of) {
    if (of === null || of === undefined || of === "") return "–";
    if (typeof of === "number") return number(of);
    if (typeof of === "boolean") return of ? "yes" : "no";
    if (typeof of === "string") return oneLine(of);
    return oneLine(JSON.stringify(of));
}

const words = (key) => key.replace(/_s$/, " (s)").replaceAll("_", " ");

function facts(title, entries) {
    const shown = entries.filter(([, of]) => of === null || typeof of !== "object");
    if (!shown.length) return null;
    return h(
        "div.facts",
        null,
        h("h3", null, title),
        h(
            "dl",
            null,
            shown.map(([key, of]) => [h("dt", null, words(key)), h("dd", null, value(of))]),
        ),
    );
}

function laws(conservation) {
    const rows = Object.entries(conservation ?? {}).map(([name, law]) =>
        h(
            "tr",
            null,
            h("th", { scope: "row" }, words(name)),
            h("td.law", null, value(law.law)),
            h("td", null, number(law.left)),
            h("td", null, number(law.right)),
            h("td", null, law.residual.toExponential(1)),
            h("td", null, `${(100 * law.relative).toFixed(2)} %`),
            h(
                "td",
                null,
                law.ok ? "holds" : h("strong.bad", null, law.exact ? "broken" : `off; ${law.explained_by} explains it`),
            ),
        ),
    );
    if (!rows.length) return null;
    return h(
        "div.facts.wide",
        null,
        h("h3", null, "conservation laws"),
        h(
            "table.plain",
            null,
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    ["law", "", "left", "right", "residual", "of the larger", "result"].map((title) =>
                        h("th", { scope: "col" }, title),
                    ),
                ),
            ),
            h("tbody", null, rows),
        ),
    );
}

function modules(list) {
    if (!list?.length) return null;
    return h(
        "details.facts.wide",
        null,
        h("summary", null, `${list.length} modules were loaded`),
        h(
            "table.plain",
            null,
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    ["path", "build id", "load bias"].map((title) => h("th", { scope: "col" }, title)),
                ),
            ),
            h(
                "tbody",
                null,
                list.map((module) =>
                    h(
                        "tr",
                        null,
                        h("td.path", null, value(module.path)),
                        h("td", null, h("code", null, value(module.build_id))),
                        h("td", null, h("code", null, value(module.load_bias))),
                    ),
                ),
            ),
        ),
    );
}

export function runSection(model) {
    const { run } = model.data;
    if (!run) return { element: h("p.empty", null, "The report has no data about the run.") };
    const groups = Object.entries(run).filter(
        ([key, of]) => of && typeof of === "object" && !Array.isArray(of) && !APART.has(key),
    );
    const flat = (of) =>
        Object.entries(of).flatMap(([key, inner]) =>
            inner && typeof inner === "object" && !Array.isArray(inner)
                ? Object.entries(inner).map(([name, most]) => [`${key}: ${name}`, most])
                : [[key, inner]],
        );
    return {
        element: h(
            "div.run",
            null,
            facts("measurement", Object.entries(run)),
            groups.map(([key, of]) => facts(words(key), flat(of))),
            laws(run.conservation),
            modules(run.modules),
        ),
    };
}
