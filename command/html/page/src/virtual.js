// A list whose rows all have the same height. Only the visible rows exist as elements.
import { once } from "./dom.js";

const MOST_PIXELS = 12e6; // browsers limit heights to 16 to 33 million pixels; longer lists scroll in larger steps
const BEYOND = 6; // rows above and below the visible part that also exist

export class VirtualList {
    // scroller scrolls; body, its child, holds the rows; make() returns an empty row; fill(row, index) fills it.
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

    // Returns by how many pixels the rows are scrolled. If the list is longer than MOST_PIXELS, that is more than the
    // scroller's own position.
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

    // Makes elements for up to `most` rows, for printing.
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
