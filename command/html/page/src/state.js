// What the reader looks at; the address's # part keeps it, so that a link leads to the same place.

const KEPT = ["view", "metric", "unit", "at", "zoom", "q", "sort", "colour", "span"];

export class State {
    constructor(defaults) {
        this.defaults = { ...defaults };
        Object.assign(this, defaults);
        this.listeners = [];
    }

    listen(listener) {
        this.listeners.push(listener);
    }

    // changes: new values by name. Listeners get the set of names whose value is another one now.
    set(changes) {
        const changed = new Set(Object.keys(changes).filter((key) => this[key] !== changes[key]));
        if (!changed.size) return;
        Object.assign(this, changes);
        for (const listener of this.listeners) listener(changed);
        this.writeHash();
    }

    writeHash() {
        const hash = new URLSearchParams();
        for (const key of KEPT) if (this[key] !== this.defaults[key]) hash.set(key, this[key]);
        const text = hash.toString();
        if (text === location.hash.slice(1)) return;
        try {
            history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
        } catch {
            // Some browsers refuse it to files, or when it is called very often: the page works without.
        }
    }

    // accepted: by name, whether a value can be used. Others are ignored: a link may be from another profile.
    readHash(accepted) {
        const hash = new URLSearchParams(location.hash.slice(1)),
            values = { ...this.defaults };
        for (const key of KEPT) if (hash.has(key) && accepted[key](hash.get(key))) values[key] = hash.get(key);
        return Object.fromEntries(KEPT.map((key) => [key, values[key]]));
    }
}

export function readTheme() {
    try {
        return localStorage.getItem("blame-theme") ?? "auto";
    } catch {
        return "auto";
    }
}

export function applyTheme(theme) {
    if (theme === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    try {
        localStorage.setItem("blame-theme", theme);
    } catch {
        // Without storage the choice lasts as long as the page.
    }
}
