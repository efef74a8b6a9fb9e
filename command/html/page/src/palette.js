// Colours of the flame graph. They come from the style sheet's variables, so they follow the theme.
import METRICS from "blame:metrics";
import { percent } from "./format.js";

const STEPS = 32;

export function parse(colour) {
    const hex = colour.trim().replace("#", "");
    const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
    return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16));
}

const mix = (a, b, part) => a.map((value, i) => Math.round(value + (b[i] - value) * part));
const css = (colour) => `rgb(${colour.join(",")})`;

function luminance(colour) {
    const [r, g, b] = colour.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Returns the shades from almost the background to the full colour of a metric.
export function shades(metric, steps = STEPS) {
    const style = getComputedStyle(document.documentElement);
    const [paper, hue] = ["--box-paper", metricVariable(metric)].map((name) => parse(style.getPropertyValue(name) || "#888888"));
    return Array.from({ length: steps + 1 }, (_, i) => css(mix(paper, hue, i / steps)));
}

const KEYS = new Set(METRICS.map(({ key }) => key));

export function metricVariable(key) {
    if (!KEYS.has(key)) return "--metric-counter";
    return `--metric-${key.replace(/[^a-z]+/g, "-")}`;
}

export class Palette {
    constructor(model) {
        this.model = model;
        this.widths = new Map();
    }

    prepare(metric, mode) {
        const style = getComputedStyle(document.documentElement);
        const variable = (name) => parse(style.getPropertyValue(name) || "#888888");
        const ink = variable("--box-ink"),
            light = variable("--box-light");
        const entry = (colour) => ({ colour: css(colour), text: luminance(colour) > 0.3 ? css(ink) : css(light) });
        const paper = variable("--box-paper"),
            hue = variable(metricVariable(metric));
        this.steps = Array.from({ length: STEPS + 1 }, (_, i) => entry(mix(paper, hue, 0.12 + (0.88 * i) / STEPS)));
        this.byKind = this.model.kinds.map((kind) => entry(variable(`--kind-${kind}`)));
        this.mode = mode;
        this.metric = this.model.metricIndex.get(metric);
        this.match = css(variable("--match"));
        this.mark = css(variable("--ink"));
        this.muted = css(variable("--muted"));
        this.sliver = css(mix(paper, hue, 0.3));
        const font = `11.5px ${style.getPropertyValue("--sans")}`;
        if (font !== this.font) this.widths.clear();
        this.font = font;
    }

    // Returns the colour of a row's box, by the exclusive share of its metric or by its kind.
    fill(row) {
        if (this.mode === "kind") return this.byKind[this.model.kind[row]];
        const inclusive = this.model.inclusive[this.metric][row],
            exclusive = this.model.exclusive[this.metric][row];
        const share = inclusive > 0 ? Math.max(0, Math.min(1, exclusive / inclusive)) : 0;
        return this.steps[Math.round(share * STEPS)];
    }

    letter(context, letter) {
        let width = this.widths.get(letter);
        if (width === undefined) {
            width = context.measureText(letter).width;
            this.widths.set(letter, width);
        }
        return width;
    }

    shorten(context, text, room) {
        const more = this.letter(context, "…");
        let used = 0,
            fits = "";
        for (const letter of text) {
            const width = this.letter(context, letter);
            if (used + width > room) return fits && fits !== text ? `${fits}…` : "";
            if (used + width + more <= room) fits += letter;
            used += width;
        }
        return text;
    }

    describe(row) {
        const { model, metric } = this,
            { key, title } = model.metrics[metric];
        const value = model.inclusive[metric][row];
        return `${title} ${model.stated(model.metrics[metric], value, model.rowError(row, metric, false))}, ${percent(model.share(key, value))} percent`;
    }
}
