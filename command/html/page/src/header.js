// The head of the page: the run, the shares of thread time, the losses, and the findings.
import { h } from "./dom.js";
import { MICRO, count, middle, oneLine, percent, plural } from "./format.js";
import { metricVariable } from "./palette.js";

const NOBODY =
    "Time in which no thread was busy, because all threads waited in OpenMP. No code is to blame, so no context has this time, and percentages do not include it. " +
    "The cause may be a waiting thread that had no core and therefore noticed the end of its wait late, or a detached task that waited for something outside OpenMP.";
const MOST_PROBLEMS = 5; // the same number as in blame's commands
const SAME = 0.01, // largest relative difference between a finding's seconds and its row's value
    LEAST_IN_SPAN = 0.005;
const TOLERATED = 0.02, // the same limits as in blame's summary
    LEAST_PART = 0.01;

// Returns the problems of ranks that are missing, damaged, or had not ended.
function rankProblems({ ranks, strings }) {
    const wrong = (ranks?.why ?? []).flatMap((why, column) => (strings[why] ? [`rank ${ranks.first[column] < 0 ? "?" : ranks.first[column]}: ${oneLine(strings[why])}`] : []));
    const more = wrong.length - MOST_PROBLEMS;
    return wrong.slice(0, MOST_PROBLEMS).join("; ") + (more > 0 ? `; and ${count(more)} more (Ranks)` : "");
}

export function titleLine(model) {
    const { header, run } = model.data,
        runtime = String(run.runtime_version ?? ""),
        wall = Number(header.wall_s);
    const facts = [
        `${wall.toFixed(2)} s`,
        header.job_size ?? `${header.thread_text} on ${plural(header.cores, "core")}`,
        header.environment,
        header.sample
            ? `one sample per ${count(header.sample.period)} ${oneLine(header.sample.event)}`
            : `${count(header.rate)} samples/s${header.clock === "cpu" ? ", CPU clock" : ""}`,
        runtime.startsWith("GNU ") && oneLine(runtime),
        header.host && `on ${oneLine(header.host)}, pid ${header.pid}`,
    ];
    const command = oneLine(header.command || model.data.title || "(command unknown)");
    return h(
        "div.title-line",
        null,
        h("h1", { title: command }, middle(command, 300)),
        h("p.title-facts", null, facts.filter(Boolean).join("  ·  ")),
    );
}

// Returns the sentence that says of what time the percentages in the head and in the findings are.
function wholeOf(model) {
    const text = (value) => model.text({ unit: model.unit }, value, Math.min(model.decimals, 2)),
        whole = text(model.effort()),
        nobody = model.nobody();
    if (model.span) return `Percentages of ${whole} of thread time in the span${model.data.header.nobody_busy_s ? ", without time in which no thread was busy" : ""}`;
    if (nobody) return `Percentages of ${whole} of thread time; for another ${text(nobody)} no thread was busy (${text(model.effort() + nobody)} in all)`;
    return model.unit === "s" ? `Percentages of ${whole} of thread time` : `Percentages of ${whole}`;
}

// Returns the part of the bar and the legend for the time in which no thread was busy. Its share is of all thread time,
// including itself.
function nobodyShare(model) {
    const nobody = model.nobody(),
        effort = model.effort(),
        share = percent(nobody / (nobody + effort)),
        text = model.text({ unit: "s" }, nobody, Math.min(model.decimals, 2)).replace(" s", "\u00a0s");
    if (!nobody) return [];
    return [
        h("span.share.nobody", { style: { "flex-grow": nobody / (effort || nobody) }, title: `nobody busy ${text}, ${share} % of all. ${NOBODY}` }),
        h(
            "div.share-legend.nobody-legend",
            { title: NOBODY },
            h("span.share-name", null, h("span.swatch.nobody"), "nobody busy"),
            h("span.share-number", null, share, h("small", null, "\u2009%")),
            h("span.share-seconds", null, `of all: ${text}`),
            h("span.share-meaning", null, "all threads waited in OpenMP"),
        ),
    ];
}

// Returns the legend of the cores for which no thread was ready. Their share is of the time of all cores.
function idleCores(model, choose) {
    const key = "core idleness",
        index = model.metricIndex.get(key);
    if (!model.cores()) return [];
    const value = model.inclusive[index][0],
        error = model.rowError(0, index, false),
        text = (of) => model.text(model.metrics[index], of, Math.min(model.decimals, 2));
    return [
        h(
            "button.share-legend",
            { "type": "button", "data-metric": key, "onclick": () => choose(key), "title": `Show ${key} below` },
            h("span.share-name", null, h("span.swatch", { style: { background: `var(${metricVariable(key)})` } }), "idle cores"),
            h("span.share-number", null, percent(model.share(key, value)), h("small", null, "\u2009%")),
            h("span.share-seconds", { title: model.stated(model.metrics[index], value, error) }, text(value), error !== null && ` ± ${text(error)}`.replace(/ s$/, "")),
            h("span.share-meaning", null, `of the ${text(model.cores())} of ${plural(model.data.header.cores, "core")}: too few threads were ready`),
        ),
    ];
}

// Returns how much of the lock wait was for a core rather than for a lock, in the summary's words. Returns "" if that is
// little.
function waitWithoutCore(model) {
    const values = model.exclusive[model.metricIndex.get("lock wait")];
    let sum = 0;
    values.forEach((value, row) => (sum += model.name(row) === "<no core>" ? value : 0));
    return sum > LEAST_PART * model.effort() ? `; ${model.text({ unit: model.unit }, sum, 2)} of it while the lock's owner had no core` : "";
}

export function shareBar(model, state) {
    const { decimals } = model,
        bars = [],
        legend = [],
        choose = (metric) => state.set({ metric, sort: "" });
    for (const key of model.shown) {
        const index = model.metricIndex.get(key);
        const value = model.inclusive[index][0],
            share = model.share(key, value),
            colour = `var(${metricVariable(key)})`;
        const fewer = Math.min(decimals, 2),
            error = value ? model.rowError(0, index, false) : null;
        bars.push(
            h("span.share", {
                style: { "flex-grow": share, "background": colour },
                title: `${key} ${percent(share)} %`,
                onclick: () => choose(key),
                hidden: share === 0,
            }),
        );
        legend.push(
            h(
                "button.share-legend",
                { "type": "button", "data-metric": key, "onclick": () => choose(key), "title": `Show ${key} below` },
                h("span.share-name", null, h("span.swatch", { style: { background: colour } }), key),
                h("span.share-number", null, percent(share), h("small", null, "\u2009%")),
                h(
                    "span.share-seconds",
                    { title: error === null ? null : model.stated(model.metrics[index], value, error) },
                    model.text(model.metrics[index], value, fewer),
                    error !== null && ` ± ${model.figure(model.metrics[index], error, undefined, fewer)}`,
                ),
                h("span.share-meaning", null, model.metrics[index].summary, key === "lock wait" && waitWithoutCore(model)),
            ),
        );
    }
    const [nobodyPiece, nobodyLegend] = nobodyShare(model);
    legend.push(...idleCores(model, choose));
    const element = h(
        "section.shares",
        { "aria-label": model.unit === "s" ? "Where the thread time went" : "Where the events were counted" },
        h("p.share-whole", null, wholeOf(model)),
        h("div.share-bar", { "aria-hidden": "true" }, bars, nobodyPiece),
        h("div.share-legends", null, legend, nobodyLegend),
    );
    return {
        element,
        show: (metric) =>
            legend.forEach((item) => item.setAttribute("aria-pressed", String(item.dataset.metric === metric))),
    };
}

function lostSamples(model, run) {
    const { samples } = run,
        lines = [];
    for (const [reason, number] of Object.entries(samples?.dropped ?? {}))
        if (reason !== "stopping")
            lines.push(`${count(number)} of ${count(samples.delivered)} samples (${oneLine(reason)})`);
    const idle = run.threads_without_timer;
    if (idle?.threads) lines.push(`${plural(idle.threads, "thread")} without a timer for ${idle.seconds.toFixed(2)} s`);
    if (run.threads_untracked) lines.push(`${plural(run.threads_untracked, "thread")} that blame had no room for`);
    if (run.unresolved_s >= 1e-3) lines.push(`the callers of ${model.text({ unit: model.unit }, run.unresolved_s / MICRO, 3)} (<unresolved>)`);
    if (run.truncated_paths) lines.push(`the callers of ${plural(run.truncated_paths, "sample")} (<truncated>)`);
    if (run.unrestored_calls) lines.push(`${plural(run.unrestored_calls, "system call")} interrupted`);
    if (run.creation?.lost) lines.push(`the creation contexts of ${plural(run.creation.lost, "task")}`);
    return lines;
}

function residual(model, run) {
    const least = TOLERATED * model.effort() * MICRO;
    let worst = null;
    for (const [name, law] of Object.entries(run.conservation ?? {}))
        if (
            !law.ok &&
            Math.abs(law.relative) > (worst ? Math.abs(worst.relative) : TOLERATED) &&
            (law.exact || Math.abs(law.residual) > least)
        )
            worst = { ...law, name };
    if (!worst) return null;
    if (worst.name === "thread_time" && worst.left < worst.right / 2)
        return `Only ${percent(worst.left / worst.right, 0)} % of the threads' time was sampled, as happens with sanitizers and limits on CPU time. Do not rely on this measurement.`;
    return `A conservation law is off by ${percent(Math.abs(worst.relative))} % (${worst.name}: ${worst.left.toFixed(2)} against ${worst.right.toFixed(2)}, because of ${worst.explained_by}). See “Run” below.`;
}

export function notes(model) {
    const { data } = model,
        run = data.run ?? {},
        lines = [];
    if (data.header.finished === false)
        lines.push(["warning", "The program did not end normally, or it executed another program (exec). The report shows what was measured before that."]);
    const problems = rankProblems(data);
    if (problems) lines.push(["warning", problems]);
    const { sample } = data.header;
    if (sample)
        lines.push([
            "remark",
            `Samples were taken by ${oneLine(sample.event)}: the figures are events, not seconds, and sleeping threads have none. Exact times are in seconds.`,
        ]);
    const off = residual(model, run);
    if (off) lines.push(["warning", off]);
    const lost = lostSamples(model, run);
    if (lost.length) lines.push(["remark", `Lost: ${lost.join(", ")}.`]);
    if (!sample && run.rate_least < data.header.rate)
        lines.push([
            "remark",
            `Each thread was sampled only ${run.rate_least.toFixed(0)} times per second, because there were many threads for each core.`,
        ]);
    const left = data.left_out;
    if (left)
        lines.push([
            "remark",
            `${count(left.rows)} of ${count(left.total)} rows, each below ${Number(left.percent.toPrecision(2))} % of every metric${left.asked ? " (--min)" : ""}, ` +
                "are combined in rows “(small)”. All totals are complete.",
        ]);
    return lines.length
        ? h(
              "ul.notes",
              { "aria-label": "Notes" },
              lines.map(([kind, text]) => h("li", { class: kind }, text)),
          )
        : null;
}

// Returns a sentence of blame's commands as the page shows it: with ± and without a line break before a % sign.
const sentence = (text) => oneLine(text).replace(/(\d) %/g, "$1\u00a0%").replace(/\+- (\d)/g, "±\u00a0$1");

function card(model, finding, go) {
    const colour = `var(${metricVariable(finding.metric)})`,
        timed = finding.metric !== "samples", // findings with the metric "samples" doubt the measurement; their title and evidence contain the seconds
        percentages = Number(finding.share).toFixed(1);
    const gain = finding.gain_s > 0 ? `could save up to ${finding.gain_s.toFixed(2)}\u00a0s` : "";
    const error = finding.error > 0 ? ` ± ${finding.error.toFixed(2)}` : "";
    const seconds = `${finding.seconds.toFixed(2)} s`,
        said = ` ${finding.title}`.includes(` ${seconds}`); // the title has these seconds
    const cost = timed && !said ? `${seconds}${error} of ${finding.metric}` : "";
    const facts = [cost, gain].filter(Boolean).join(" · ");
    const inSpan = h("p.finding-span", { hidden: true }),
        show = () => showInSpan(model, finding, element, inSpan);
    const element = h(
        "li.finding",
        { style: { "--hue": colour } },
        h(
            "button.finding-go",
            { "type": "button", "data-row": finding.row, "onclick": () => go(finding.row, finding.metric) },
            timed ? h("span.finding-number", null, percentages, h("small", null, "\u2009%")) : null,
            h("span.finding-title", null, sentence(finding.title)),
        ),
        facts ? h("p.finding-facts", null, facts) : null,
        inSpan,
        finding.place ? h("p.finding-place", null, oneLine(finding.place)) : null,
        h("p.finding-evidence", null, sentence(finding.evidence)),
        h("p.finding-advice", null, sentence(finding.advice)),
    );
    // Find out whether the finding's seconds are the row's exclusive or inclusive value.
    const metric = model.metricIndex.get(finding.metric),
        row = Math.max(0, finding.row), // the whole program if the finding has no row
        values = metric !== undefined ? [model.exclusive, model.inclusive].map((of) => of[metric][row]) : [],
        near = (value) => Math.abs(value - finding.seconds / MICRO) <= SAME * Math.abs(value) + 1;
    finding.side = ["exclusive", "inclusive"][values.findIndex(near)];
    return { element, show };
}

// Shows under a finding how much of it lies in the chosen span of time.
function showInSpan(model, { row, metric, side, seconds }, element, line) {
    const { span } = model,
        known = side && model.knows(metric),
        value = known ? model[side][model.metricIndex.get(metric)][Math.max(0, row)] : 0;
    line.hidden = !span;
    element.classList.toggle("elsewhere", Boolean(span && known) && value * MICRO < LEAST_IN_SPAN * seconds);
    if (!span) return;
    line.textContent = known
        ? `In this span: ${model.text({ unit: model.unit }, value)}, ${percent(model.share(metric, value))} % of the span and ${percent(Math.max(0, (value * MICRO) / seconds), 0)} % of the finding.`
        : "This finding is about the whole run. How much of it lies in this span is unknown.";
}

// Returns the section of findings, null if there are none. go(row, metric) is called when one is clicked.
export function findings(model, go) {
    const list = model.data.findings ?? [];
    if (!list.length) return null;
    const most = 6,
        made = list.map((finding) => card(model, finding, go)),
        cards = made.map(({ element }) => element),
        grid = h("ol.findings", null, cards);
    cards.slice(most).forEach((element) => {
        element.hidden = true;
    });
    const more =
        cards.length > most &&
        h(
            "button.link.more",
            {
                type: "button",
                onclick: (event) => {
                    cards.forEach((element) => {
                        element.hidden = false;
                    });
                    event.target.remove();
                },
            },
            `${cards.length - most} more findings`,
        );
    const whole = h("small", null, wholeOf(model)),
        ofRun = whole.textContent;
    return {
        element: h("section", { "id": "findings", "aria-label": "Findings" }, h("h2", null, "Findings", whole), grid, more),
        show: () => {
            whole.textContent = `${ofRun}${model.span ? "; findings are about the whole run" : ""}`;
            for (const { show } of made) show();
        },
    };
}
