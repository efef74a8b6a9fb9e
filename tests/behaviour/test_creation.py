"""BLAME_TASKS=creation: tasks hang below the context that created them, at a cost per distinct context and not per task."""

import contract_checks
from harness import PASSIVE, BlameTest, program

CREATION = {"BLAME_TASKS": "creation"}
BOTH = (("", "library"), ("_gcc", "launcher"))


class Creation(BlameTest):
    def test_tasks_hang_below_their_creators_and_recursion_is_folded(self):
        for suffix, how in BOTH:
            with self.subTest(compiler=suffix or "clang"):
                env = CREATION | PASSIVE | {"OMP_MAX_ACTIVE_LEVELS": "2"}
                run, profile = self.profile_of("creation" + suffix, env=env, how=how)
                self.assert_expectations(f"creation{suffix} (creation)", run, profile, at_least=4)
                self.assertEqual(profile.option("tasks"), "creation")

    def test_in_region_mode_they_hang_below_the_region(self):
        _, profile = self.profile_of("creation", env=PASSIVE | {"OMP_MAX_ACTIVE_LEVELS": "2"})
        parents = {row.parent.name for row in profile.rows if row.kind == "task"}
        self.assertEqual(parents, {"main"})  # where the region begins

    def test_making_and_unmaking_a_region_belongs_to_the_task_around_it(self):
        for env in ({}, CREATION, {"BLAME_CONTEXT": "eager"}):
            for suffix, how in BOTH:
                with self.subTest(compiler=suffix or "clang", env=env):
                    run = self.attached([program("task_regions" + suffix)], env | PASSIVE, how)
                    # Waits of some microseconds, four threads on two cores: the laws of idleness do not hold here.
                    profile = self.load(run, checks=contract_checks.TREE_CHECKS)
                    bodies = [row for row in profile.rows if row.name == "body"]
                    self.assertGreater(sum(row["samples (I)"] for row in bodies), 100)
                    for row in bodies:
                        above = [ancestor.name for ancestor in row.ancestors()]
                        self.assertNotIn("body", above)

    def test_what_tasks_are_blamed_for_does_not_depend_on_the_mode(self):
        for name in ("tasks", "taskwait", "lock"):
            for suffix, how in BOTH:
                with self.subTest(program=name + suffix):
                    run, profile = self.profile_of(name + suffix, env=CREATION, how=how)
                    self.assert_expectations(f"{name}{suffix} (creation)", run, profile)

    def test_a_million_tasks_need_a_few_contexts(self):
        for suffix, how in BOTH:
            with self.subTest(compiler=suffix or "clang"):
                _, profile = self.profile_of("tiny_tasks" + suffix, env=CREATION, how=how)
                creations = profile.run["creation"]
                self.assertEqual(creations["lost"], 0)
                # A walk for every path there is, and for what two paths push out of one place: not one a task.
                self.assertLess(creations["walks"], 2000)
