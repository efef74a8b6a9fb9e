"""What the tests do to the machine that they run on."""

import os
import time
import unittest

from harness import remove_registrations


class Registrations(unittest.TestCase):
    def is_kept(self, pid, made_s):
        path = f"/dev/shm/__KMP_REGISTERED_LIB_{pid}_test"
        with open(path, "x", encoding="utf-8"):
            pass
        os.utime(path, (made_s, made_s))
        remove_registrations()
        kept = os.path.exists(path)
        if kept:
            os.unlink(path)
        return kept

    def test_a_file_is_left_to_the_process_that_has_made_it(self):
        self.assertTrue(self.is_kept(os.getpid(), time.time()))

    def test_files_of_dead_processes_are_removed_whoever_has_their_number_now(self):
        self.assertFalse(self.is_kept(os.getpid(), time.time() - 3600))
        self.assertFalse(self.is_kept(2**22 + 1, time.time()))  # no process has that one


if __name__ == "__main__":
    unittest.main()
