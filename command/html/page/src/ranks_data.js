// A job's ranks as the page's data has them: columns of the map, each of one rank, or of several that follow each other.
import { oneLine } from "./format.js";

const NOBODY = 4095,
    ALL = 4094;
const DIGITS = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((digit, i) => [digit.charCodeAt(0), i]));

// Two digits a cell, by column and thread; -1: no such thread.
function shares(text) {
    const made = new Float32Array(text.length / 2);
    for (let i = 0; i < made.length; i++) {
        const value = DIGITS.get(text.charCodeAt(2 * i)) * 64 + DIGITS.get(text.charCodeAt(2 * i + 1));
        made[i] = value === NOBODY ? -1 : value / ALL;
    }
    return made;
}

const { compare } = new Intl.Collator("en", { numeric: true }); // node2 before node10

export class RanksData {
    constructor(model, data) {
        Object.assign(this, { model, count: data.count, each: data.each, threads: data.map_threads, data });
        this.states = data.states.map(({ key, us, cells }) => ({ key, us, cells }));
        this.whole = Array.from({ length: this.count }, (_, i) => this.states.reduce((sum, { us }) => sum + us[i], 0));
        this.counting = Array.from({ length: this.count }, (_, i) => i).filter((i) => data.counted[i] > 0);
    }

    state(key) {
        const state = this.states.find((of) => of.key === key);
        state.shares ??= shares(state.cells);
        return state;
    }

    share(key, column, thread) {
        return this.state(key).shares[column * this.threads + thread];
    }

    name(column) {
        const { first, last, process } = this.data;
        if (first[column] < 0) return "?";
        if (this.each > 1 && last[column] !== first[column]) return `${first[column]} to ${last[column]}`;
        return process[column] ? `${first[column]}.${process[column]}` : String(first[column]);
    }

    title(column) {
        return `rank${this.each > 1 ? "s" : ""} ${this.name(column)}`;
    }

    text(name, column) {
        return oneLine(this.model.strings[this.data[name][column]] ?? "");
    }

    // Seconds (or events) of a rank, of several their mean, in 1e-6.
    value(state, column) {
        return state.us[column] / Math.max(1, this.data.counted[column]);
    }

    // The columns of the map in an order: by rank, node, or the share of a state.
    order(by, key) {
        const columns = Array.from({ length: this.count }, (_, i) => i);
        if (by === "rank") return columns;
        if (by === "node") return columns.sort((a, b) => compare(this.text("node", a), this.text("node", b)) || a - b);
        const state = this.state(key),
            part = (i) => (this.whole[i] > 0 ? state.us[i] / this.whole[i] : -1);
        return columns.sort((a, b) => part(b) - part(a) || a - b);
    }
}

// Of sorted values.
export function quantile(sorted, part) {
    const at = part * (sorted.length - 1),
        below = Math.floor(at);
    return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}
