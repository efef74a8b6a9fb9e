#!/bin/sh
# archive.sh OUT VERSION CACHE MAKE [CHECK ...]: what `make archive` does. The files of OUT/blame-VERSION-linux-x86_64 are those of the archive.
# With CHECK ... (check-handler, check-tags): only these checks of scripts/, on the archive's objects.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
mkdir -p "$1" "$3"
out=$(cd "$1" && pwd)
version=$2
cache=$(cd "$3" && pwd)
make=$4
name=blame-$version-linux-x86_64
shift 4

# ---- the compiler ----
venv=$cache/zig-$(sha256sum archive/requirements.txt | cut -c 1-16)
if [ ! -f "$venv/ready" ]; then
    echo "archive: fetching the compiler"
    python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes -r archive/requirements.txt || {
        echo "archive: $(grep -o '^[a-z]*==[0-9.]*' archive/requirements.txt) cannot be had from PyPI: no archive (nothing else needs it)" >&2
        exit 1
    }
    : > "$venv/ready"
fi
ARCHIVE_ZIG=$(echo "$venv"/lib/python3*/site-packages/ziglang)
export ARCHIVE_ZIG ZIG_GLOBAL_CACHE_DIR="$cache/zig-cache" ZIG_LOCAL_CACHE_DIR="$cache/zig-cache"

# ---- the libraries ----
libraries=$cache/libraries-$(cat archive/sources.txt archive/requirements.txt archive/dependencies.sh archive/zig-clang | sha256sum | cut -c 1-16)
if [ ! -f "$libraries/ready" ]; then
    archive/sources.sh "$cache/sources"
    echo "archive: building the libraries"
    env -u MAKEFLAGS -u MFLAGS archive/dependencies.sh "$cache/sources" "$libraries"
    : > "$libraries/ready"
fi
# Declarations alone: these libraries are opened at run time, if they are there.
for header in /usr/include/papi.h /usr/include/papiStdEventDefs.h /usr/include/perfmon; do
    [ -e "$header" ] || { echo "archive: no $header: run scripts/setup.sh build" >&2; exit 1; }
    ln -sfn "$header" "$libraries/include/$(basename "$header")"
done

# ---- blame ----
# clang would make bcmp of memcmp, and the handler may call memcmp alone (scripts/handler-allowlist.txt).
make_blame() { # GOAL ...
    env -u MFLAGS -u CFLAGS -u LDFLAGS "$make" -s --no-print-directory "$@" \
        BUILD="$out/build" CC="$here/zig-clang" MPICC=none DESTDIR="$out/" PREFIX="$name.new" CFLAGS='-O2 -g0 -fno-builtin-bcmp -Iarchive/headers' \
        CPPFLAGS="-include archive/headers/newer_functions.h -isystem $libraries/include" LDFLAGS="-L$libraries/lib" \
        PLUGIN_LIBS="$libraries/lib/libunwind-x86_64.a $libraries/lib/libunwind.a -lZydis -lm -ldl -lpthread -lrt" \
        COMMAND_LIBS='-lprotobuf-c -ldw -lelf -leu -lz -ljansson -lZydis -liberty -lm -ldl -lpthread -lrt'
}
if [ $# -gt 0 ]; then
    make_blame check-objects
    for check in "$@"; do "scripts/$check.py" "$out/build/check"; done
    exit
fi
echo "archive: building blame"
rm -rf "$out/$name" "$out/$name.new"
make_blame install
tree=$out/$name.new
# pkg-config finds it wherever it was unpacked; the pages say what is in it, and under which licences.
sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$tree/share/pkgconfig/blame.pc"
mkdir -p "$tree/share/doc/blame/licences"
cp -R LICENSE README.md docs "$tree"
cp archive/sources.txt "$tree/share/doc/blame"
cp "$libraries"/licences/* "$tree/share/doc/blame/licences"
cp "$ARCHIVE_ZIG/LICENSE" "$tree/share/doc/blame/licences/zig"
scripts/check-archive.py "$tree"
if strings -a "$tree"/bin/* "$tree"/lib/blame/* | grep -F -e "$out" -e "$cache" >&2; then
    echo "archive: these are names of folders of this machine: another machine would make other bytes" >&2
    exit 1
fi
mv "$tree" "$out/$name"

# ---- the files ----
# The date is that of the last commit, so that the same commit makes the same bytes.
date=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s --mtime="@$date" -C "$out" -cf - "$name" | xz -9e -T1 > "$out/$name.tar.xz"
archive/wheel.py "$out/$name" "$version" "$date" "$out"
bytes=$(stat -c %s "$out/$name.tar.xz")
[ "$bytes" -lt 15000000 ] || { echo "archive: $bytes bytes, and should be fewer than 15,000,000" >&2; exit 1; }
(cd "$out" && sha256sum "$name.tar.xz" *.whl)
