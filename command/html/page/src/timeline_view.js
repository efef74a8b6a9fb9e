// The visible part of the time and the lanes, and its conversion to pixels.
const LEAST_BINS = 2;

export class TimelineView {
    constructor(timeline) {
        Object.assign(this, { timeline, left: timeline.job ? 112 : 76, right: 14, width: 0 });
        this.listeners = [];
        this.whole();
    }

    listen(listener) {
        this.listeners.push(listener);
    }

    get isWhole() {
        return this.from <= this.timeline.origin && this.to >= this.timeline.end && this.lanes[1] - this.lanes[0] >= this.timeline.lanes;
    }

    whole() {
        const { origin, end, lanes } = this.timeline;
        this.lanes = [0, lanes];
        this.show(origin, end);
    }

    // Shows a range of time, moved and widened as far as the data and the least width require.
    show(from, to) {
        const { origin, end, laneBin } = this.timeline,
            wide = Math.max(Math.min(LEAST_BINS * laneBin, end - origin), Math.min(end - origin, to - from));
        this.from = Math.max(origin, Math.min(end - wide, from));
        this.to = this.from + wide;
        for (const listener of this.listeners) listener();
    }

    pan(us) {
        this.show(this.from + us, this.to + us);
    }

    // Zooms by a factor. The given time stays at its pixel.
    zoom(factor, at = (this.from + this.to) / 2) {
        const wide = (this.to - this.from) * factor,
            part = (at - this.from) / Math.max(1, this.to - this.from);
        const most = this.timeline.end - this.timeline.origin;
        this.show(at - Math.min(most, wide) * part, at + Math.min(most, wide) * (1 - part));
    }

    showLanes(from, end) {
        const { lanes } = this.timeline,
            many = Math.max(1, Math.min(lanes, Math.round(end - from))),
            first = Math.max(0, Math.min(lanes - many, Math.round(from)));
        this.lanes = [first, first + many];
        this.show(this.from, this.to);
    }

    zoomLanes(factor, at = (this.lanes[0] + this.lanes[1]) / 2) {
        const [from, end] = this.lanes;
        let many = (end - from) * factor;
        if (factor > 1) many = Math.max(many, end - from + 1);
        const part = (at - from) / Math.max(1, end - from);
        this.showLanes(at - many * part, at + many * (1 - part));
    }

    panLanes(by) {
        this.showLanes(this.lanes[0] + by, this.lanes[1] + by);
    }

    get plot() {
        return Math.max(1, this.width - this.left - this.right);
    }

    x(us) {
        return this.left + ((us - this.from) / (this.to - this.from)) * this.plot;
    }

    us(x) {
        return this.from + ((x - this.left) / this.plot) * (this.to - this.from);
    }

    get usEach() {
        return (this.to - this.from) / this.plot;
    }
}

// Fades the time outside the chosen span.
export function drawSpan(context, colour, view, [top, bottom], span) {
    if (!span) return;
    const [from, to] = span.map((us) => Math.max(view.left, Math.min(view.left + view.plot, view.x(us))));
    context.globalAlpha = 0.72;
    context.fillStyle = colour("--card");
    context.fillRect(view.left, top, from - view.left, bottom - top);
    context.fillRect(to, top, view.left + view.plot - to, bottom - top);
    context.globalAlpha = 1;
    context.fillStyle = colour("--accent");
    for (const us of span) if (us >= view.from && us <= view.to) context.fillRect(Math.round(view.x(us)) - 1, top, 2, bottom - top);
}
