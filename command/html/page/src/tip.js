// The box beside the pointer with all metrics of a row.
import { h } from "./dom.js";
import { middle, percent } from "./format.js";
import { explanation } from "./pseudo.js";

export class Tip {
    constructor(model) {
        this.model = model;
        this.element = h("div.tip", { role: "tooltip", hidden: true });
        document.body.append(this.element);
    }

    show(row, x, y) {
        if (this.row !== row) this.fill(row);
        this.row = row;
        this.place(x, y);
    }

    showContent(content, x, y) {
        this.row = undefined;
        this.element.replaceChildren(...content);
        this.place(x, y);
    }

    place(x, y) {
        const { element } = this,
            room = 12;
        element.hidden = false;
        const { width, height } = element.getBoundingClientRect();
        const left = x + room + width > innerWidth ? x - room - width : x + room;
        const top = y + room + height > innerHeight ? y - room - height : y + room;
        element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
    }

    hide() {
        this.element.hidden = true;
        this.row = undefined;
    }

    errorText(row, metric, value, exclusive) {
        const { model } = this,
            error = model.rowError(row, metric, exclusive);
        return value && error !== null ? `± ${model.figure(model.metrics[metric], error)}` : "";
    }

    fill(row) {
        const { model } = this,
            known = Boolean(model.data.error),
            place = model.place(row),
            note = model.note(row),
            explained = explanation(model.name(row));
        const called = model.callLine[row] > 0 ? `called in line ${model.callLine[row]}` : "";
        const facts = [model.kindName(row), place, called, note].filter(Boolean).join(" · ");
        const lines = model.metrics.map((metric, m) => {
            if (!model.knows(metric.key) || model.absent.has(metric.key)) return null;
            const inclusive = model.inclusive[m][row],
                exclusive = model.exclusive[m][row];
            const text = (value) => model.text(metric, value),
                error = (value, exclusive) => h("td.off", null, this.errorText(row, m, value, exclusive));
            return h(
                "tr",
                inclusive || exclusive ? null : { class: "zero" },
                h("th", { scope: "row" }, metric.title),
                h("td", null, text(inclusive)),
                error(inclusive, false),
                h("td", null, `${percent(model.share(metric.key, inclusive))} %`),
                h("td", null, text(exclusive)),
                error(exclusive, true),
            );
        });
        for (const metric of model.exact) {
            const inclusive = model.inclusive[metric.index][row],
                exclusive = model.exclusive[metric.index][row];
            if (inclusive)
                lines.push(
                    h(
                        "tr",
                        null,
                        h("th", { scope: "row" }, metric.title),
                        h("td", null, model.text(metric, inclusive)),
                        h("td"),
                        h("td"),
                        h("td", null, metric.unit ? model.text(metric, exclusive) : ""),
                    ),
                );
        }
        this.element.replaceChildren(
            h("div.tip-name", null, middle(model.name(row), 160)),
            h("div.tip-facts", null, facts),
            explained ? h("p.tip-explained", null, explained) : "",
            h(
                "table",
                null,
                h(
                    "thead",
                    null,
                    h(
                        "tr",
                        null,
                        h("th"),
                        h("th", null, "with callees"),
                        h("th", null, known && "±"),
                        h("th", null, "of all"),
                        h("th", null, "itself"),
                        h("th", null, known && "±"),
                    ),
                ),
                h("tbody", null, lines.filter(Boolean)),
            ),
        );
    }
}
