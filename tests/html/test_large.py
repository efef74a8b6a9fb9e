"""More rows, callees and threads than a function may have arguments: the page opens, and whatever it is asked for, it draws what
can be seen, not what there is. How long that takes is no matter of a test."""

import page_data
from browser import PageTest

WIDE, THREADS = 75000, 150000
MOST_DRAWN = 200  # rows of the tree, for a screen of some fifty
MOST_BOXES = 20000  # of the graph, which has as many levels as paths have rows


def large():
    thread = {"kind": "worker", "begin_s": 0, "end_s": 1, "samples": 1, "work": 1}
    thread |= {"idle": 0, "overhead": 0, "lock_wait": 0, "parked": 0}
    data = page_data.many_rows(10000, WIDE, threads=[{"thread": i, **thread} for i in range(THREADS)])
    rows = range(1, data["rows"]["count"])
    data["rows"]["exact"] = {"row": list(rows), "calls": [1 for _ in rows], "i": [100 for _ in rows], "e": [100 for _ in rows]}
    return data


class Large(PageTest):
    def drawn(self, script="", *arguments):
        """The rows that the tree has drawn, after a command."""
        self.run_script(script, *arguments)
        rows = len(self.names())
        self.assertLess(rows, MOST_DRAWN, script)
        self.assertGreater(rows, 5, script)

    def boxes(self, command):
        """What a command draws into the graph."""
        return self.run_script(
            f"""const of = CanvasRenderingContext2D.prototype, {{ fillRect }} = of;
            let boxes = 0;
            of.fillRect = function (...box) {{ boxes++; fillRect.apply(this, box); }};
            try {{ blame.report.flame.{command}; }} finally {{ of.fillRect = fillRect; }}
            return boxes"""
        )

    def test_only_what_can_be_seen_is_drawn(self):
        data = large()
        self.open(data)
        for command in ("draw()", "zoomTo(2)", "draw()"):
            self.assertLess(self.boxes(command), MOST_BOXES, command)
        self.run_script("blame.report.flame.rowAt(700, 50); blame.report.tree.hotPath()")
        self.open_all()
        count = self.run_script("return blame.report.tree.visible.length")
        self.assertEqual(count, data["rows"]["count"])
        for step in range(10):
            self.drawn("blame.report.tree.scroller.scrollTop = arguments[0]", step * 397 + step * 190000)
        self.run_script("blame.report.tree.list.show(arguments[0])", count - 1)
        self.assertEqual(max(self.tree("row.index")), count - 1)
        self.drawn("blame.report.state.set({ sort: 'work/i:up' })")
        self.drawn("blame.report.state.set({ q: 'solve' })")
        for view in ("bottom-up", "flat"):
            self.drawn("blame.report.changeView(arguments[0])", view)
            self.open_all()
            self.drawn()
        self.drawn("blame.report.state.set({ metric: 'lock wait' })")

    def test_a_list_longer_than_a_browser_can_be_high(self):
        """2,000,000 rows: the first, the last and what is between can be reached."""
        self.open(page_data.many_rows(20))
        shown = self.run_script(
            """
            const { list, scroller, visible } = Object.assign(blame.report.tree, {}), [node] = visible;
            blame.report.tree.visible = new Array(2000000).fill(node);
            list.setCount(2000000);
            const seen = [];
            for (const wanted of [0, 1999999, 1234567, 0]) {
                list.show(wanted);
                seen.push(list.pool.some((row) => row.index === wanted && row.getBoundingClientRect().bottom <= scroller.getBoundingClientRect().bottom + 1
                    && row.getBoundingClientRect().top >= scroller.getBoundingClientRect().top - 1));
            }
            return seen"""
        )
        self.assertEqual(shown, [True] * 4)
