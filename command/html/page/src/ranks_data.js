// The ranks of a job as columns of the map. A column is one rank, or the mean of several consecutive ranks.
import { oneLine } from "./format.js";

const NOBODY = 4095,
    ALL = 4094;
const DIGITS = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((digit, i) => [digit.charCodeAt(0), i]));

// Decodes the cells of the map, which are two digits each. The order is by column, then by thread. -1 means that the
// thread does not exist.
function shares(text) {
    const made = new Float32Array(text.length / 2);
    for (let i = 0; i < made.length; i++) {
        const value = DIGITS.get(text.charCodeAt(2 * i)) * 64 + DIGITS.get(text.charCodeAt(2 * i + 1));
        made[i] = value === NOBODY ? -1 : value / ALL;
    }
    return made;
}

const { compare } = new Intl.Collator("en", { numeric: true }); // sorts node2 before node10

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

    // Returns the time of a rank, or the mean of the column's ranks, in 1e-6 seconds or events.
    value(state, column) {
        return state.us[column] / Math.max(1, this.data.counted[column]);
    }

    // Returns the columns of the map sorted by rank, by node, or by the share of a state.
    order(by, key) {
        const columns = Array.from({ length: this.count }, (_, i) => i);
        if (by === "rank") return columns;
        if (by === "node") return columns.sort((a, b) => compare(this.text("node", a), this.text("node", b)) || a - b);
        const state = this.state(key),
            part = (i) => (this.whole[i] > 0 ? state.us[i] / this.whole[i] : -1);
        return columns.sort((a, b) => part(b) - part(a) || a - b);
    }
}

// Returns a quantile of sorted values; part is between 0 and 1.
export function quantile(sorted, part) {
    const at = part * (sorted.length - 1),
        below = Math.floor(at);
    return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}
