"""Numbers, names and tables as text, in the same way as command/text/format.c."""

import math
import os
import re
import textwrap

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u061c\ufeff\udc80-\udcff]")
UNREADABLE = re.compile("[\ud800-\udfff]")


def decimal(value, decimals):
    """Returns the value with so many decimals; never "-0.00", and 0 for a value that is not finite."""
    if value is None or not math.isfinite(value):
        value = 0.0
    units = int(abs(value) * 10 ** decimals + 0.5)
    whole, part = divmod(units, 10 ** decimals)
    sign = "-" if value < 0 and units else ""
    return f"{sign}{whole}.{part:0{decimals}}" if decimals else f"{sign}{whole}"


def plural(number, word):
    """Returns "1 run" or "2 runs"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def clean(text):
    """Returns text that is safe for a terminal: U+FFFD replaces unprintable characters and invalid UTF-8."""
    return CONTROL.sub("\ufffd", text)


def readable(text):
    """Returns text for the database, in which only invalid UTF-8 is replaced."""
    return UNREADABLE.sub("\ufffd", text)


def utf8_terminal():
    value = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    return re.search("utf-?8", value, re.IGNORECASE) is not None


def fit(text, columns, utf8):
    """Shortens text to at most `columns` columns by cutting out its middle."""
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


def paragraph(text, columns):
    """Returns the text in lines of at most `columns` columns, each with its line end."""
    return textwrap.fill(" ".join(text.split()), columns, break_long_words=False, break_on_hyphens=False) + "\n"


def csv_of(titles, rows, decimals=6, end="\n"):
    """Returns CSV lines, in which floats have so many decimals and None is empty."""
    def field(value):
        text = decimal(value, decimals) if isinstance(value, float) else "" if value is None else clean(str(value))
        return '"' + text.replace('"', '""') + '"' if '"' in text or "," in text else text
    return "".join(",".join(map(field, row)) + end for row in (([titles] if titles else []) + list(rows)))


def base_name(path):
    return path.rpartition("/")[2]
