"""Code whose way to its region is an unusual one: the region is in its path all the same."""

from harness import BlameTest


class Regions(BlameTest):
    def assert_inside(self, profile, name, region):
        """All time of the functions of that name is below the region."""
        rows = [row for row in profile.rows if row.name == name and row.clocked() > 0]
        self.assertTrue(rows, f"{name} was sampled")
        for row in rows:
            self.assertTrue(any(region in over.name for over in row.ancestors()), row.path())

    def test_leagues_of_one_team_are_in_the_region_around(self):
        _, profile = self.profile_of("leagues", env={"OMP_NUM_THREADS": "2", "BLAME_RATE": "1000"})
        self.assertEqual([row.path() for row in profile.rows if row.name == "<unresolved>" and row["work (I)"] > 0], [])
        for name, region in (("in_loop", "main [parallel leagues.c:33]"), ("in_task", "[task leagues.c:41]"), ("in_region", "main [parallel leagues.c:47]")):
            self.assert_inside(profile, name, region)

    def test_code_on_fibers_is_in_the_region_whose_thread_runs_it(self):
        for place in ((), ("below",), ("above",)):
            with self.subTest(main=place):
                _, profile = self.profile_of("fibers", *place, env={"OMP_NUM_THREADS": "2", "BLAME_RATE": "1000"})
                for name, line in (("in_fiber", 94), ("in_switched", 97)):
                    self.assert_inside(profile, name, f"program [parallel fibers.c:{line}]")

    def test_threads_that_no_team_needs_any_longer_do_not_count_until_they_have_ended(self):
        for name, how in (("ends_late", "library"), ("ends_late_gcc", "launcher")):
            for nested, most in (((), 4), (("nested",), 6)):
                with self.subTest(name=name, nested=nested):
                    _, profile = self.profile_of(name, *nested, how=how, env={"OMP_NUM_THREADS": "2"})
                    self.assertEqual(profile.run["threads_max"], most)
                    self.assertEqual(len(profile.threads) > most, name.endswith("_gcc"), "libgomp ends threads, libomp keeps them")
