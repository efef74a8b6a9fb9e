"""How a command ends before its time."""

DONE, BAD_INPUT, BAD_USAGE = 0, 1, 2


class Refused(Exception):
    """Ends a command with a line on stderr. status: BAD_INPUT, or BAD_USAGE; command: who says it, unless it is the whole command."""

    def __init__(self, message, status=BAD_INPUT, command=None):
        super().__init__(message)
        self.status, self.command = status, command
