"""Where the threads of a process that does not end stand: for the message of the test that failed."""

import os
import shutil
import subprocess


def text_of(*path):
    try:
        with open(os.path.join("/proc", *path), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as error:
        return str(error)


def session(leader):
    """The processes of a session."""
    pids = [pid for pid in os.listdir("/proc") if pid.isdigit()]
    return [pid for pid in pids if text_of(pid, "stat").rpartition(")")[2].split()[3:4] == [str(leader)]]


def threads(leader):
    """A line of what the kernel says of each thread of the session, and their stacks where there is a gdb."""
    lines = []
    for pid in session(leader):
        lines.append(f"process {pid}: {text_of(pid, 'cmdline').replace(chr(0), ' ')}")
        for thread in sorted(os.listdir(f"/proc/{pid}/task")):
            parts = (text_of(pid, "task", thread, name) for name in ("wchan", "syscall", "schedstat"))
            state = text_of(pid, "task", thread, "stat").rpartition(")")[2].split()
            lines.append(f"  thread {thread}: {state[0]}, ticks {state[11]} + {state[12]}, {', '.join(parts)}")
        if shutil.which("gdb"):
            argv = ["timeout", "30", "gdb", "-batch", "-nx", "-p", pid, "-ex", "thread apply all bt 30"]
            shown = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
            lines.append(shown.stdout[-8000:])
    return "\n".join(lines)
