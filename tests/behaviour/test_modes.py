"""Options that change what is measured: eager against deferred contexts, environments, clocks, depth."""

from harness import PASSIVE, BlameTest

SIGNIFICANT = 0.05  # of the program's work: so many samples hit it in one run that some do in every run


def working_paths(profile, share):
    """The paths of rows with more than a share of the program's work."""
    least = share * profile.root["work (I)"]
    return {tuple(row.path()) for row in profile.rows
            if row.kind not in ("root", "statement", "runtime") and row["work (I)"] > least}


def clocked_paths(profile):
    """Of rows that have any time of their threads', if only without a core: all that a program has long enough."""
    return {tuple(row.path()) for row in profile.rows if row.kind not in ("root", "statement") and row.clocked() > 0}


class EagerIsTheOracle(BlameTest):
    def assert_same_tree(self, name, env=None):
        trees = {}
        for mode, option in (("deferred", {}), ("eager", {"BLAME_CONTEXT": "eager"})):
            run, profile = self.profile_of(name, env=(env or {}) | option)
            self.assert_expectations(f"{name} ({mode})", run, profile)
            self.assertEqual(profile.option("context"), mode)
            trees[mode] = profile
        for mine, other in (("deferred", "eager"), ("eager", "deferred")):
            paths = working_paths(trees[mine], SIGNIFICANT)
            self.assertGreater(len(paths), 3)
            self.assertEqual(paths - clocked_paths(trees[other]), set(), f"{name}: only {mine} has")

    def test_in_a_flat_region(self):
        self.assert_same_tree("imbalance2")

    def test_in_nested_regions(self):
        self.assert_same_tree("nested", PASSIVE | {"OMP_MAX_ACTIVE_LEVELS": "2"})

    def test_with_tasks(self):
        self.assert_same_tree("tasks")

    def test_with_locks(self):
        self.assert_same_tree("lock")

    def test_with_two_primary_threads(self):
        self.assert_same_tree("two_pthreads", PASSIVE)

    def test_with_tail_calls(self):
        self.assert_same_tree("tail_call")


class Environments(BlameTest):
    def test_in_a_shared_environment_idleness_is_shared_idleness_and_serial_code_costs_nothing(self):
        run, profile = self.profile_of("serial_gap", env={"BLAME_ENVIRONMENT": "shared"})
        self.assertLess(profile.total("idleness", "serial_part"), 0.1 * profile.clocked("serial_part"))
        for row in profile.rows:
            self.assertEqual(row["idleness (I)"], row["shared idleness (I)"], row.name)
        dedicated = self.reported_tree(run.directories()[0], "--environment", "dedicated")
        self.assertGreater(dedicated.total("idleness", "serial_part"), 0.9 * dedicated.total("work", "serial_part"))
        self.assertEqual([row["shared idleness (I)"] for row in dedicated.rows if row.name == "serial_part"],
                         [row["shared idleness (I)"] for row in profile.rows if row.name == "serial_part"])

    def test_in_a_shared_environment_imbalance_still_costs(self):
        run, profile = self.profile_of("imbalance2", env={"BLAME_ENVIRONMENT": "shared"})
        self.assert_expectations("imbalance2 (shared)", run, profile, 6)


class Clocks(BlameTest):
    pace = 2  # a part computes for 0.25 s: such a timer's samples are delivered at ticks of the system at which the thread runs

    def test_the_cpu_clock_does_not_count_sleep_but_counts_computing(self):
        run, profile = self.profile_of("leaves", "cpu", env={"BLAME_CLOCK": "cpu"})
        self.assert_expectations("leaves (CPU time)", run, profile, 8)
        for name in ("alloca_heavy", "vdso_heavy", "memcpy_heavy", "longjmp_heavy"):
            self.assertGreater(profile.total("work", name), 2 * profile.total("work", "sleep_heavy"), run)
        self.assertNotIn("stopping", profile.run["samples"]["dropped"])  # what is due between two ticks is not lost


class Rates(BlameTest):
    def samples(self, rate):
        _, profile = self.profile_of("imbalance2", env={"BLAME_RATE": rate})
        self.assertEqual(profile.rate(), float(rate or 200))
        return profile.run["samples"]["recorded"]

    def test_the_rate_sets_the_number_of_samples(self):
        self.assertGreater(self.samples("4000"), 4 * self.samples("100"))



class Depth(BlameTest):
    def frames(self, profile):
        return max(row.depth for row in profile.rows if row.name == "descend")

    def test_paths_deeper_than_the_limit_are_cut_and_say_so(self):
        run, profile = self.profile_of("deep", "1000", env={"BLAME_DEPTH": "64"})
        self.assert_expectations("deep, cut at 64", run, profile, 2)
        cut, all_of_it = (profile.total("work", name) + profile.total("no core", name) for name in ("<truncated>", "descend"))
        self.assertGreater(all_of_it, 0, run)
        self.assertGreater(cut, 0.95 * all_of_it, run)
        self.assertLess(self.frames(profile), 64 + 16)
        self.assertGreater(self.frames(profile), 64 - 16)

    def test_the_default_limit_is_512(self):
        run, profile = self.profile_of("deep", "1000")
        cut, all_of_it = (profile.total("work", name) + profile.total("no core", name) for name in ("<truncated>", "descend"))
        self.assertGreater(all_of_it, 0, run)
        self.assertGreater(cut, 0.95 * all_of_it, run)
        self.assertLess(self.frames(profile), 512 + 16)
        self.assertGreater(self.frames(profile), 512 - 16)

    def test_paths_within_the_limit_are_whole(self):
        run, profile = self.profile_of("deep", "3000", env={"BLAME_DEPTH": "4096", "BLAME_RATE": "1000"})
        self.assert_expectations("deep, whole", run, profile, 2)
        self.assertEqual(profile.named("<truncated>"), [])
        self.assertGreater(self.frames(profile), 3000)
