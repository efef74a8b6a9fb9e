"""What the tests do to the machine that they run on."""

import os
import tempfile
import time
import unittest

from harness import remove_registrations


class Registrations(unittest.TestCase):
    def is_kept(self, pid, made_s):
        path = f"/dev/shm/__KMP_REGISTERED_LIB_{pid}_test"
        with tempfile.NamedTemporaryFile(dir="/dev/shm", delete=False) as file:
            os.utime(file.name, (made_s, made_s))
        os.rename(file.name, path)  # other tests look for such files, too
        remove_registrations()
        kept = os.path.exists(path)
        if kept:
            os.unlink(path)
        return kept

    def test_a_file_is_left_to_the_process_that_has_made_it(self):
        self.assertTrue(self.is_kept(os.getpid(), time.time()))

    def test_files_of_dead_processes_are_removed_whoever_has_their_number_now(self):
        self.assertFalse(self.is_kept(os.getpid(), time.time() - 3600))
        self.assertFalse(self.is_kept(2**22 + os.getpid(), time.time()))  # no process has that one


if __name__ == "__main__":
    unittest.main()
