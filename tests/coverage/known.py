"""Constructs that fail on a compiler or runtime for a reason that is known: what must be among the messages, what the
table says of it, and where it is reported. Any other problem of the same run is a failure."""


class Known:
    def __init__(self, pattern, text, url=""):
        self.pattern, self.text, self.url = pattern, text, url

    def explains(self, problem):
        import re
        return re.search(self.pattern, problem) is not None


KNOWN = {}
