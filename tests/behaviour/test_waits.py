"""waits.csv and --view waits: where threads waited, and whose code kept them waiting. That the pairs add up to the blame is
checked with every profile (contract_checks.check_waits)."""

from harness import BlameTest

BOTH = (("", "library"), ("_gcc", "launcher"))


class Waits(BlameTest):
    def seconds(self, profile, kind, blamed):
        """(all at places of a kind, the part blamed on contexts below a function)"""
        pairs = [pair for pair in profile.waits if pair["place_kind"] == kind]
        below = [pair for pair in pairs if blamed in profile.rows[int(pair["context"])].path()]
        return tuple(sum(float(pair["seconds"]) for pair in some) for some in (pairs, below))

    def assert_place(self, name, kind, function, blamed):
        for suffix, how in BOTH:
            with self.subTest(program=name + suffix):
                _, profile = self.profile_of(name + suffix, how=how)
                whole, below = self.seconds(profile, kind, blamed)
                self.assertGreater(whole, 0)
                self.assertGreater(below, whole / 10)  # a thread without a core makes others wait, too
                places = {pair["place_function"] for pair in profile.waits if pair["place_kind"] == kind}
                self.assertTrue(any(function in place for place in places), places)

    def test_at_a_regions_end_threads_wait_for_the_slower_one(self):
        self.assert_place("imbalance2", "region end", "main", "slow")

    def test_in_taskwait_the_parent_waits_for_its_child(self):
        self.assert_place("taskwait", "taskwait", "parent", "child")

    def test_at_a_lock_they_wait_for_the_holder(self):
        self.assert_place("lock", "lock", "lock", "long_holder")

    def test_the_view_names_place_and_culprit(self):
        run, _ = self.profile_of("taskwait")
        text = self.report(run.directories()[0], "--view", "waits").stdout
        self.assertRegex(text, r"taskwait in parent  taskwait\.c:\d+")
        self.assertIn("child", text)
