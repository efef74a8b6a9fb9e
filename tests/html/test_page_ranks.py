"""A job on the page: its efficiencies, the map of ranks and threads, how a state is spread over ranks, their table."""

import page_data
from browser import PageTest
from selenium.webdriver.common.actions.action_builder import ActionBuilder

EFFICIENCIES = {"untold": None, "runtime_s": 1.5, "processes": 4, "threads": 8, "useful_no_core": 0.25, "useful_blocked": 0.0,
                "parallel": 0.25, "load_balance": 0.5, "communication": 0.5, "mpi": 0.5, "mpi_load_balance": 0.625,
                "mpi_communication": 0.8, "mpi_serialisation": None, "mpi_transfer": None, "openmp": 0.5,
                "openmp_load_balance": 0.8, "openmp_communication": 0.625}


def job(ranks=4, threads=2, each=1, **efficiencies):
    rows = page_data.Rows()
    rows.add(-1, "root", "<program root>", inclusive={"work": 9000, "mpi wait": 500, "samples": 3})
    made = page_data.job(rows, ranks, threads, each)
    data = rows.data(ranks=made, run={"job": {"size": ranks, "efficiencies": EFFICIENCIES | efficiencies}})
    data["header"]["job_size"] = f"{ranks} ranks on 2 nodes, 1 to {threads} threads on 2 cores each"
    return data


def spread(rows, row, **metrics):
    """Of one row: metric to (ranks, mean, deviation, least, its rank, most, its rank)."""
    names = ("ranks", "mean", "deviation", "least", "least_rank", "most", "most_rank")
    columns = [{"key": key, **{name: [rows.text(value) if name.endswith("rank") else value] for name, value in zip(names, values)}}
               for key, values in metrics.items()]
    return {"of": 4, "row": [row], "metrics": columns}


def compared():
    """main > solve, the line in which it works; ranks are compared in solve."""
    rows = page_data.Rows()
    root = rows.add(-1, "root", "<program root>", inclusive={"work": 9000000, "samples": 3})
    main = rows.add(root, "procedure", "main", "a", "/s/a.c", 1, inclusive={"work": 9000000, "samples": 3})
    solve = rows.add(main, "procedure", "solve", "a", "/s/a.c", 5, inclusive={"work": 9000000, "samples": 3})
    rows.add(solve, "statement", "a.c:6", "a", "/s/a.c", 6, inclusive={"work": 9000000, "samples": 3})
    made = page_data.job(rows, 4, 2)
    spreads = spread(rows, solve, **{"work": (3, 2250000, 1500000, 0, "", 4000000, "3.1"), "mpi wait": (0, 0, 0, 0, "", 0, "")})
    return rows.data(ranks=made, spreads=spreads)


class Spreads(PageTest):
    page = compared

    def shown(self, row):
        self.run_script("blame.report.selectRow(arguments[0], false)", row)
        self.settle()
        element = self.one(".spread")
        return element.text if element.is_displayed() else None

    def test_the_selected_row_is_compared_over_the_ranks(self):
        text = self.shown(2)
        self.assertIn("solve over 4 ranks", text)
        self.assertEqual(self.texts(".spread tbody tr"), ["work32.2501.5000.000several4.0003.1"])

    def test_a_line_has_that_of_the_row_around_it_and_what_is_around_all_has_none(self):
        self.assertIn("solve over 4 ranks", self.shown(3))
        self.assertIsNone(self.shown(1))

    def test_several_contexts_together_have_none(self):
        self.open(page_data.many_rows(30))
        self.assertFalse(self.one(".spread").is_displayed())


class Ranks(PageTest):
    page = job

    def choose(self, group, value):
        self.one(f"[aria-label='{group}'] [data-value='{value}']").click()
        self.settle()

    def order(self):
        return self.run_script("return blame.report.ranks.map.order")

    def pixel(self, place, thread):
        """The colour of a cell's middle."""
        return tuple(self.run_script(
            """const { map } = blame.report.ranks, { at } = map;
            map.draw();
            return [...map.canvas.getContext("2d").getImageData(map.x(arguments[0]) + at.wide / 2 - 1,
                map.y(arguments[0], arguments[1]) + at.high / 2 - 1, 1, 1).data]""", place, thread))

    def pointer_on(self, place, thread):
        x, y = self.run_script(
            """const { map } = blame.report.ranks, [place, thread] = arguments, y = map.y(place, thread) + map.at.high / 2;
            scrollTo({ top: scrollY + map.canvas.getBoundingClientRect().top + y - innerHeight / 2, behavior: "instant" });
            const box = map.canvas.getBoundingClientRect();
            return [box.left + map.x(place) + map.at.wide / 2, box.top + y]""",
            place, thread)
        actions = ActionBuilder(self.browser)
        actions.pointer_action.move_to_location(int(x), int(y))
        actions.perform()
        self.settle()

    def test_efficiencies_are_a_product_and_what_is_untold_is_empty(self):
        self.assertEqual(self.texts(".efficiencies tbody tr"), ["parallel25.050.050.0", "between ranks (MPI)50.062.580.0",
                                                                "inside ranks (OpenMP)50.080.062.5"])
        self.assertIn("25.0 % had no core", self.texts(".efficiencies p")[0])
        self.open(job(load_balance=None, untold="threads came and went"))
        self.assertEqual(self.texts(".efficiencies tbody tr:first-child td"), ["25.0", "", "50.0"])
        self.assertIn("threads came and went", self.texts(".efficiencies p")[0])
        self.open(job(parallel=None, untold="no waiting in MPI was measured"))
        self.assertEqual(self.all(".efficiencies"), [])
        self.assertIn("are unknown: no waiting in MPI was measured", self.one("#ranks").text)

    def test_colours_are_shares_and_who_is_not_there_has_none(self):
        self.allowed_messages = ("willReadFrequently",)
        late, waits, none = self.pixel(1, 0), self.pixel(2, 0), self.pixel(1, 1)
        self.assertEqual(none[3], 0)
        self.assertNotEqual(late, waits)
        self.assertEqual(late, self.pixel(0, 1))
        self.choose("State of the map", "work")
        self.assertNotEqual(self.pixel(2, 0), self.pixel(1, 0))
        self.assertEqual(self.pixel(0, 1), self.pixel(1, 0))

    def test_ranks_come_in_the_chosen_order(self):
        self.assertEqual(self.order(), [0, 1, 2, 3])
        self.choose("Order of the ranks", "node")
        self.assertEqual(self.order(), [1, 3, 0, 2])
        self.choose("Order of the ranks", "value")
        self.assertEqual(self.order(), [3, 2, 0, 1])
        self.choose("State of the map", "work")
        self.assertEqual(self.order(), [1, 0, 2, 3])

    def test_the_pointer_and_the_keys_tell_of_a_thread(self):
        self.pointer_on(3, 0)
        tip = self.one(".tip").text
        for text in ("rank 3, thread 0", "on node9", "it had not ended", "48.9 %", "24.5 %"):
            self.assertIn(text, tip)
        self.pointer_on(1, 1)
        self.assertIn("no such thread", self.one(".tip").text)
        self.run_script("blame.report.ranks.map.canvas.focus()")
        self.keys("END")
        self.assertIn("rank 3, thread 0: work 51.1 %", self.one("#map-says").text)
        self.keys("ARROW_LEFT", "ARROW_LEFT", "ARROW_DOWN")
        self.assertIn("rank 1, thread 1: work none", self.one("#map-says").text)

    def test_the_spread_is_in_words(self):
        self.assertIn("least 0.000 (rank 1), quartiles 0.150, 0.200, 0.200, most 0.200 (rank 3)", self.one(".rank-curve").text)

    def test_ranks_have_a_table_and_a_remark_in_the_head(self):
        rows = self.texts("#ranks .table .tree-row")
        self.assertEqual(len(rows), 4)
        self.assertIn("it had not ended", rows[3])
        self.assertIn("rank 3: it had not ended", self.one(".notes").text)
        self.assertIn("4 ranks on 2 nodes, 1 to 2 threads on 2 cores each", self.one(".title-facts").text)

    def test_a_program_has_no_ranks(self):
        self.open(page_data.many_rows(10))
        self.assertEqual(self.all("#ranks"), [])

    def test_each_of_many_ranks_is_drawn_in_the_width_of_the_page(self):
        self.open(job(10000, 8))
        for width in (1440, 600):
            self.resize(width, 1000)
            self.settle()
            seen = self.run_script(
                """const { map } = blame.report.ranks, { at } = map, last = map.order.length - 1;
                return [map.x(at.across - 1) + at.wide <= at.width, map.y(last, 7) + at.high <= at.height, at.wide, at.high,
                    document.documentElement.scrollWidth <= innerWidth]""")
            self.assertEqual(seen[:2] + seen[4:], [True] * 3)
            self.assertGreaterEqual(min(seen[2:4]), 2)
        self.pointer_on(9000, 0)
        self.assertIn("rank 9000, thread 0", self.one(".tip").text)

    def test_where_ranks_share_columns_they_are_said_to(self):
        self.open(job(4, 2, 3))
        self.pointer_on(2, 0)
        self.assertIn("ranks 6 to 8, thread 0", self.one(".tip").text)
        self.assertIn("a column is the mean of 3 ranks", self.one("#ranks h2").text)
