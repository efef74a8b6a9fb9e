// Explains rows and wait places that are not code, in the sentences of docs/reading-a-report.md.
import EXPLANATIONS from "blame:explanations";

const BY_NAME = new Map(EXPLANATIONS),
    HOLDER = /^<held by .*>$/,
    INTERPRETER_LOCK = "<waiting for the interpreter's lock>";

// Returns the explanation of a name, "" for code.
export function explanation(name) {
    return BY_NAME.get(HOLDER.test(name) ? INTERPRETER_LOCK : name) ?? "";
}
