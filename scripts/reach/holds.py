"""holds.py FILE NAME COLUMN: does profile.csv have a row whose name begins with NAME, and more than 0.01 s in that column?"""

import csv
import sys

file, name, column = sys.argv[1:]
with open(file, encoding="utf-8", newline="") as text:
    found = [float(row[column] or 0) for row in csv.DictReader(text) if row["name"].startswith(name)]
if not found:
    sys.exit(f"no row of {name}")
if max(found) <= 0.01:
    sys.exit(f"{name}: {max(found)} s of {column}")
