// A list of rows of one height of which only those in sight exist as elements.
import { once } from "./dom.js";

const MOST_PIXELS = 12e6; // browsers end between 16 and 33 million; longer lists scroll in larger steps
const BEYOND = 6; // rows kept ready above and below

export class VirtualList {
    // scroller: what scrolls; body: its child that holds the rows; make(): an empty row; fill(row, index).
    constructor(scroller, body, rowHeight, make, fill) {
        Object.assign(this, { scroller, body, rowHeight, make, fill, count: 0, pool: [], all: false });
        this.redraw = once(() => this.draw());
        scroller.addEventListener("scroll", this.redraw, { passive: true });
        new ResizeObserver(this.redraw).observe(scroller);
    }

    get headHeight() {
        return this.body.offsetTop;
    }
    get height() {
        return Math.max(0, this.scroller.clientHeight - this.headHeight);
    }
    get total() {
        return this.count * this.rowHeight;
    }

    // How far the rows have been moved: as far as the scroller was, unless the list is longer than it can be.
    get top() {
        const real = this.scroller.scrollTop,
            pixels = Math.min(this.total, MOST_PIXELS);
        if (pixels === this.total) return real;
        return Math.max(0, (real * (this.total - this.height)) / Math.max(1, pixels - this.height));
    }

    setCount(count) {
        this.count = count;
        this.body.style.height = `${Math.min(this.total, MOST_PIXELS)}px`;
        this.draw();
    }

    draw() {
        const top = this.top,
            shift = this.scroller.scrollTop - top;
        const first = this.all ? 0 : Math.max(0, Math.floor(top / this.rowHeight) - BEYOND);
        const last = this.all
            ? this.count
            : Math.min(this.count, Math.ceil((top + this.height) / this.rowHeight) + BEYOND);
        const needed = Math.max(0, last - first);
        while (this.pool.length < needed) {
            const row = this.make();
            this.pool.push(row);
            this.body.append(row);
        }
        while (this.pool.length > needed) this.pool.pop().remove();
        for (let i = 0; i < needed; i++) {
            const row = this.pool[i];
            row.style.transform = `translateY(${(first + i) * this.rowHeight + shift}px)`;
            this.fill(row, first + i);
        }
    }

    show(index, middle = false) {
        const at = index * this.rowHeight,
            top = this.top,
            { height } = this;
        let wanted = top;
        if (at < top) wanted = at;
        else if (at + this.rowHeight > top + height) wanted = at + this.rowHeight - height;
        if (wanted !== top && middle) wanted = at - height / 2;
        const pixels = Math.min(this.total, MOST_PIXELS);
        if (wanted !== top)
            this.scroller.scrollTop =
                pixels === this.total ? wanted : (wanted * (pixels - height)) / Math.max(1, this.total - height);
        this.draw();
    }

    // For printing: everything up to `most` rows is there at once.
    showAll(most) {
        this.all = true;
        this.countBefore = this.count;
        this.scroller.scrollTop = 0;
        this.setCount(Math.min(this.count, most));
    }

    showSome() {
        this.all = false;
        this.setCount(this.countBefore);
    }
}
