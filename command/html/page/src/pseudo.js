// Explains rows and wait places that are not code. docs/reading-a-report.md has the same sentences, and a test compares them.

const EXPLANATIONS = new Map([
    ["<program root>", "the whole program: the sum of all rows"],
    ["<before OpenMP start>", "time before the runtime loaded blame: library loading; in Python and R everything up to the first use of OpenMP"],
    ["<region end>", "forking and joining threads"],
    ["<no core>", "the thread of the row above had no core; the row's idleness is the time that other threads waited because of that"],
    ["<lock handoff>", "waiting while nobody held the lock: the runtime was passing it on"],
    ["<unreleased lock>", "waiting for a lock that was never released"],
    ["<lock table full>", "waiting for a lock beyond the largest number that blame can follow; charged to the waiting code"],
    ["<untold wait>", "the runtime waits without sending an event, as in doacross loops: overhead"],
    ["<truncated>", "callers are missing above"],
    ["<unresolved>", "the region's caller never became known"],
    ["<tail call>", "the function that made a tail call, one of several possible ones"],
    ["<tree full>", "calls made by the row above, for which there was no room"],
    ["<unknown function>", "code without a name, such as code compiled at run time"],
    ["<hidden helper>", "tasks of target nowait"],
    ["<fiber>", "code on a stack that the program created, so that its region is not known"],
    ["<stopped>", "the process was stopped (kill -STOP, a debugger) for 0.2 s or longer"],
    ["<waiting for the interpreter's lock>", "a Python thread waits for the global lock; <held by NAME> says who had it"],
    ["<nobody at work>", "other ranks waited while all threads of this one waited for each other"],
    ["<between regions>", "in a list of waits: threads without work while no parallel region needed them"],
    ["<place not kept>", "in a list of waits: the time is known, but not where the threads waited"],
]);
const HOLDER = /^<held by .*>$/,
    INTERPRETER_LOCK = "<waiting for the interpreter's lock>";

// Returns the explanation of a name, "" for code.
export function explanation(name) {
    return EXPLANATIONS.get(HOLDER.test(name) ? INTERPRETER_LOCK : name) ?? "";
}
