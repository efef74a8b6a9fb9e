// The reader's choices. The address after # keeps them, so a copied link shows the same place.

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

    // Changes values. Listeners get the set of the names whose value is different now.
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
            // Some browsers refuse this for files, or if it happens very often. The page works without it.
        }
    }

    // Reads the choices from the address. accepted[name](value) tells whether a value is valid. Invalid values are
    // ignored, because the link may come from another profile.
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
        // Without storage, the choice is lost when the page is closed.
    }
}
