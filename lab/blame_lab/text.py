"""Numbers and names as text, as report/text/format.c writes them, and files that appear whole or not at all."""

import math
import os
import re
import stat
import sys

from .files import unfinished
from .refused import Refused

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u061c\ufeff\udc80-\udcff]")
UNREADABLE = re.compile("[\ud800-\udfff]")
MEASUREMENT = b"BLAMEPRF"


def decimal(value, decimals):
    """value with so many digits behind the point; never "-0.00", 0 for what is not finite."""
    if value is None or not math.isfinite(value):
        value = 0.0
    units = int(abs(value) * 10 ** decimals + 0.5)
    whole, part = divmod(units, 10 ** decimals)
    sign = "-" if value < 0 and units else ""
    return f"{sign}{whole}.{part:0{decimals}}" if decimals else f"{sign}{whole}"


def clean(text):
    """Text that may go to a terminal: what is not printable, or was not UTF-8, is U+FFFD."""
    return CONTROL.sub("\ufffd", text)


def readable(text):
    """Text as a database has it: only what was not UTF-8 is replaced."""
    return UNREADABLE.sub("\ufffd", text)


def utf8_terminal():
    value = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    return re.search("utf-?8", value, re.IGNORECASE) is not None


def fit(text, columns, utf8):
    """Text of at most so many columns; what is too long loses its middle."""
    text = clean(text) if utf8 else re.sub(r"[^\x00-\x7f]", "?", clean(text))
    mark = "\u2026" if utf8 else "..."
    if len(text) <= columns:
        return text
    kept = columns - len(mark)
    tail = kept // 2
    return text[:kept - tail] + mark + text[len(text) - tail:] if kept > 0 else mark[:columns]


def terminal_columns():
    try:
        columns = os.get_terminal_size(1).columns
    except OSError:
        columns = 0
    if not columns:
        columns = int(os.environ["COLUMNS"]) if os.environ.get("COLUMNS", "").isdigit() else 100
    return min(max(columns, 40), 400)


def paragraph(text, columns, indent=0):
    """Text broken into lines of at most so many columns, each with its line end."""
    lines, line = [], ""
    for word in text.split():
        if line and indent + len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "".join(" " * indent + line + "\n" for line in lines + [line])


def csv_text(text):
    text = clean(str(text))
    return '"' + text.replace('"', '""') + '"' if re.search('[",]', text) else text


def csv_value(value):
    """A field: floats with six digits, nothing for None."""
    return "" if value is None else decimal(value, 6) if isinstance(value, float) else csv_text(value)


def base_name(path):
    return path.rpartition("/")[2]


def is_standard(path):
    """Whether the path is standard output by another name, which may be a file: it is written on, not replaced."""
    try:
        return os.path.islink(path) and os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


def holds_measurement(path):
    try:
        with open(path, "rb") as file:
            return file.read(len(MEASUREMENT)) == MEASUREMENT
    except OSError:
        return False


def write_whole(command, path, text):
    """Writes text to a file that appears whole or not at all, or to standard output (path None or "-"). Raises Refused."""
    try:
        write_to(path, text.encode("utf-8", "replace"))
    except OSError as error:
        advice = ("what was written is incomplete: --output FILE writes to a file" if path in (None, "-")
                  else "nothing was written: give another file by --output")
        raise Refused(f"{path or 'standard output'}: {error.strerror or error}; {advice}", command=command) from error


def write_to(path, data):
    if path in (None, "-") or is_standard(path):
        sys.stdout.flush()
        write_all(1, data)
        return
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "wb", buffering=0) as file:
            write_all(file.fileno(), data)
        return
    if holds_measurement(path):
        raise OSError(0, "is a measurement, which is not overwritten")
    with unfinished(f"{path}.{os.getpid()}.part") as temporary:
        with open(temporary, "wb", buffering=0) as file:
            write_all(file.fileno(), data)
        os.replace(temporary, path)


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]
