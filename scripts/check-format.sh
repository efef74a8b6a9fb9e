#!/bin/sh
# The sources are as clang-format makes them (.clang-format, `make format`). Only version 19 is asked: others break lines elsewhere.
set -eu
cd "$(dirname "$0")/.."
command -v clang-format-19 >/dev/null || { echo "clang-format-19 not found: run scripts/setup.sh"; exit 1; }
changed=$(git ls-files '*.c' '*.h' | xargs -P 2 -n 100 clang-format-19 --dry-run 2>&1 | sed -n 's/: warning: code should be clang-formatted.*//p' | sort -u)
[ -z "$changed" ] || { printf '%s: not as `make format` makes it\n' $changed; exit 1; }
echo "format: every file is as .clang-format has it"
