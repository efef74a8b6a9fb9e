"""BLAME_TASKS=creation: tasks hang below the context that created them, at a cost per distinct context and not per task."""

import re

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
                    profile = self.load(run)
                    bodies = [row for row in profile.rows if row.name == "body"]
                    self.assertGreater(sum(row["samples (I)"] for row in bodies), 40)
                    for row in bodies:
                        above = [ancestor.name for ancestor in row.ancestors()]
                        self.assertNotIn("body", above)

    def test_what_tasks_are_blamed_for_does_not_depend_on_the_mode(self):
        for name in ("tasks", "taskwait"):
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

    def creations(self, suffix, how, *arguments, env=None):
        """Runs creation_paths: its run, its profile, and how many paths it says it has."""
        run, profile = self.profile_of("creation_paths" + suffix, *arguments, env=CREATION | PASSIVE | (env or {}), how=how)
        self.assertEqual(profile.run["creation"]["lost"], 0)
        return run, profile, int(re.search(r"^paths (\d+)$", run.stdout, re.MULTILINE)[1])

    def test_each_path_is_walked_once(self):
        # The thread that executes the single region creates all tasks: fewer walks than paths would be contexts mixed up.
        cases = (("deep", "40", "20000"), ("deep", "300", "20000"), ("bits", "12", "20000"), ("sites", "20"), ("vla", "4"))
        for suffix, how in BOTH:
            for arguments in cases:
                with self.subTest(compiler=suffix or "clang", arguments=arguments):
                    _, profile, paths = self.creations(suffix, how, *arguments)
                    self.assertEqual(profile.run["creation"]["walks"], paths)

    def test_paths_that_are_cut_are_walked_once(self):
        for suffix, how in BOTH:
            with self.subTest(compiler=suffix or "clang"):
                _, profile, _ = self.creations(suffix, how, "deep", "40", "20000", env={"BLAME_DEPTH": "16"})
                self.assertEqual(profile.run["creation"]["walks"], 1)

    def test_frames_of_varied_size_do_not_make_two_paths_one(self):
        for suffix, how in BOTH:
            with self.subTest(compiler=suffix or "clang"):
                run, profile, _ = self.creations(suffix, how, "vla", "10")
                self.assert_expectations(f"creation_paths{suffix} vla (creation)", run, profile)

    def test_a_context_deeper_than_the_depth_says_where_it_is_cut(self):
        for suffix, how in BOTH:
            with self.subTest(compiler=suffix or "clang"):
                _, profile, _ = self.creations(suffix, how, "chain", "10", env={"BLAME_DEPTH": "16"})
                leaves = profile.named("leaf")
                self.assertNotEqual(leaves, [])
                for leaf in leaves:
                    path = leaf.path()
                    cut = path.index("<truncated>")
                    self.assertEqual(path.count("<truncated>"), 1, path)
                    # The outer part is whole: each task below its creator.
                    links = [name.split()[0] for name in path[path.index("run") + 1:cut]]
                    self.assertGreater(len(links), 8, path)
                    self.assertEqual(links, [f"link_{number // 2}" for number in range(len(links))], path)
                    self.assertTrue(path[cut + 1].startswith("link_23 [task"), path)

    def test_tasks_executed_where_they_are_created_hang_there_once(self):
        for suffix, how in BOTH:
            with self.subTest(compiler=suffix or "clang"):
                run, profile = self.profile_of("creation_undeferred" + suffix, env=CREATION | PASSIVE, how=how)
                self.assert_expectations(f"creation_undeferred{suffix} (creation)", run, profile, at_least=12)
                self.assertEqual(profile.run["creation"]["lost"], 0)
