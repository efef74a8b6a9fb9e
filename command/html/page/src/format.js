// Formats numbers for people. Seconds are integers of 1e-6 s.

export const MICRO = 1e-6;
export const THIN = "\u2009";

export function seconds(value, decimals) {
    return (value * MICRO).toFixed(decimals);
}

// Returns the largest value. Math.max(...values) fails for more than about 100,000 values.
export function largest(values) {
    return values.reduce((most, value) => Math.max(most, value), 0);
}

// Returns the same number of decimals that blame report chooses.
export function decimalsFor(effortSeconds) {
    return effortSeconds < 10 ? 3 : effortSeconds < 1000 ? 2 : 1;
}

export function percent(share, decimals = 1) {
    return (100 * share).toFixed(decimals);
}

export function count(value) {
    return Math.round(value)
        .toString()
        .replace(/\B(?=(\d{3})+$)/g, THIN);
}

// Returns a number short enough for a column, such as "864.0M".
export function shortCount(value) {
    const size = Math.abs(value);
    if (size < 1e5) return count(value);
    const [unit, name] = [
        [1e12, "T"],
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
    ].find(([least]) => size >= least * 0.99995);
    return `${(value / unit).toFixed(size / unit < 999.5 ? 1 : 0)}${name}`;
}

export function plural(number, noun, more = `${noun}s`) {
    return `${count(number)}${"\u00a0"}${number === 1 ? noun : more}`;
}

export function baseName(path) {
    return path.slice(path.lastIndexOf("/") + 1);
}

// Returns a name in one line. Control characters and marks that change the text's direction become a visible sign.
export function oneLine(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

export function middle(text, most) {
    if (text.length <= most) return text;
    const head = Math.ceil((most - 1) * 0.6);
    return `${text.slice(0, head)}\u2026${text.slice(text.length - (most - 1 - head))}`;
}
