// The bar that stays visible: links to the sections, metric, unit, search and theme.
import { choice, h } from "./dom.js";
import { percent, plural } from "./format.js";
import { applyTheme, readTheme } from "./state.js";

const THEMES = [
    ["auto", "Auto", "Follow the system"],
    ["light", "Light", "Light"],
    ["dark", "Dark", "Dark"],
];

export class Toolbar {
    constructor(model, state, search, sections, commands, spanLine) {
        Object.assign(this, { model, state, search });
        this.metric = h(
            "select",
            {
                id: "metric",
                title: "Metric of widths, bars and order",
                onchange: () => state.set({ metric: this.metric.value, sort: "" }),
            },
            model.metrics.filter(({ key }) => !model.absent.has(key)).map(({ key, title }) => h("option", { value: key }, title)),
        );
        this.unit = choice(
            "Unit",
            [
                ["seconds", model.unit, model.unit === "s" ? "Seconds" : "Events"],
                ["percent", "%", "Percentages of the whole effort"],
            ],
            (unit) => state.set({ unit }),
        );
        this.input = this.makeInput(commands);
        this.found = h("span.found", { role: "status" });
        const theme = choice("Theme", THEMES, (value) => {
            applyTheme(value);
            theme.show(value);
            commands.themeChanged();
        });
        theme.show(readTheme());
        this.element = h(
            "div.toolbar",
            { "role": "toolbar", "aria-label": "Report" },
            h(
                "nav.sections",
                { "aria-label": "Sections" },
                sections.map(([id, title]) =>
                    h(
                        "button.link",
                        { type: "button", onclick: () => document.getElementById(id).scrollIntoView() },
                        title,
                    ),
                ),
            ),
            h("label.field", null, h("span", null, "metric"), this.metric),
            this.unit.element,
            h("div.search", null, this.input, this.found),
            theme.element,
            spanLine,
        );
        // A section that the reader jumps to must appear below this bar.
        new ResizeObserver(() => {
            const fixed = getComputedStyle(this.element).position === "sticky";
            document.documentElement.style.setProperty("--toolbar", `${fixed ? this.element.offsetHeight + 8 : 8}px`);
        }).observe(this.element);
    }

    makeInput(commands) {
        const { state } = this;
        const input = h("input", {
            "type": "search",
            "id": "search",
            "placeholder": "Search  /",
            "spellcheck": "false",
            "autocomplete": "off",
            "aria-label": "Search names and places by a regular expression; kind:phase finds all rows of that kind",
            "title": "Regular expression for names and places. kind:phase and kind:event pack find rows of a kind",
            "oninput": () => state.set({ q: input.value }),
        });
        input.addEventListener("keydown", (event) => {
            if (event.key === "Enter") commands.next(event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") {
                state.set({ q: "" });
                commands.toTree();
            } else return;
            event.preventDefault();
            event.stopPropagation();
        });
        return input;
    }

    show() {
        const { state, search, model } = this;
        for (const option of this.metric.options) option.disabled = !model.knows(option.value);
        this.metric.value = state.metric;
        this.unit.show(state.unit);
        if (this.input.value !== state.q) this.input.value = state.q;
        this.input.setAttribute("aria-invalid", String(Boolean(search.error)));
        this.found.classList.toggle("bad", Boolean(search.error));
        if (!search.text) this.found.textContent = "";
        else if (search.error) this.found.textContent = search.error;
        else this.found.textContent = this.foundText(model.metricIndex.get(state.metric));
        this.found.title = this.found.textContent;
    }

    foundText(metric) {
        const { model, search, state } = this,
            { inclusive, exclusive } = search.sums(metric);
        if (!search.count) return "no row matches";
        const text = (value) =>
            `${model.text(model.metrics[metric], value)} (${percent(model.share(state.metric, value))} %)`;
        return `${plural(search.count, "row")}: ${text(inclusive)} with callees, ${text(exclusive)} itself`;
    }
}
