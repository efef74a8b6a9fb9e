"""waits.csv and --view waits: where threads waited, and whose code kept them waiting. That the pairs add up to the blame is
checked with every profile (contract_checks.check_waits)."""

import expectations
from harness import BlameTest, program

BOTH = (("", "library"), ("_gcc", "launcher"))


class Waits(BlameTest):
    def assert_place(self, name, kind, function, blamed):
        for suffix, how in BOTH:
            with self.subTest(program=name + suffix):
                run, profile = self.profile_of(name + suffix, how=how)
                stated_s = sum(one.value for one in expectations.read(run.stdout) if one.context == blamed and one.metric != "work")
                if stated_s - expectations.clocked_without_core(profile, self.pace) < expectations.LEAST_WAIT_S:
                    continue
                places = {pair["place_function"] for pair in profile.waits if pair["place_kind"] == kind
                          and float(pair["seconds"]) > 0 and blamed in profile.rows[int(pair["context"])].path()}
                self.assertTrue(any(function in place for place in places), f"{places}\n{run}")

    def test_at_a_regions_end_threads_wait_for_the_slower_one(self):
        self.assert_place("imbalance2", "region end", "main", "slow")

    def test_in_taskwait_the_parent_waits_for_its_child(self):
        self.assert_place("taskwait", "taskwait", "parent", "child")

    def test_for_a_detached_task_nobody_lacks_a_core(self):
        run, profile = self.profile_of("detached")
        self.assertGreater(profile.run["idle_nobody_busy_s"], 0.4, run)
        self.assertEqual([row.name for row in profile.rows if row.name == "<no core>" and row.parent == profile.root and row["idleness (E)"] > 0.1], [])

    def test_at_a_lock_they_wait_for_the_holder(self):
        self.assert_place("lock", "lock", "lock", "long_holder")

    def test_in_a_doacross_loop_the_runtime_waits_and_does_not_tell(self):
        for suffix, how in BOTH:
            with self.subTest(program="untold_waits" + suffix):
                run, profile = self.profile_of("untold_waits" + suffix, how=how)
                self.assert_expectations("untold_waits" + suffix, run, profile)
                entries_s = sum(row["overhead (I)"] for row in profile.rows if "doacross_wait" in row.name)
                if entries_s > expectations.LEAST_WAIT_S: # it gives its core away in a wait: beside other programs it has none
                    # Most of it: which of the loop's instructions a sample hits depends on the machine (0.79 beside other programs).
                    self.assertGreater(profile.total("overhead", "<untold wait>"), 0.5 * entries_s, run)

    def test_of_a_library_loaded_later_all_waits_for_dependences_are_told_but_the_first(self):
        run, profile = self.profile_of("awaits_later", program("awaits_later_lib.so"))
        told_s = sum(float(pair["seconds"]) for pair in profile.waits
                     if pair["place_kind"] == "taskwait" and "await_child" in pair["place_function"])
        self.assertGreater(told_s, 0, run)

    def test_the_view_names_place_and_culprit(self):
        run, _ = self.profile_of("taskwait")
        text = self.report(run.directories()[0], "--view", "waits").stdout
        self.assertRegex(text, r"taskwait in parent  taskwait\.c:\d+")
        self.assertIn("child", text)
