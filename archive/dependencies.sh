#!/bin/sh
# dependencies.sh SOURCES DIR: builds the libraries of sources.txt in DIR: static, with hidden symbols, for glibc 2.17. Headers go to
# DIR/include, libraries to DIR/lib, licences to DIR/licences. CC is zig-clang. JOBS: how many compilers at once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
: "${CC:=$here/zig-clang}" "${JOBS:=2}"
export CC
# No debug information: it would hold the folder's name, and with it other bytes in other places.
flags="-O2 -g0 -fPIC -fvisibility=hidden -w"
mkdir -p "$out/include" "$out/lib" "$out/licences"

# unpack NAME: its sources become ./NAME, its licence goes to DIR/licences/NAME.
unpack() {
    set -- $(grep "^$1 " "$here/sources.txt")
    rm -rf "$1"
    mkdir "$1"
    tar -xf "$sources/$3" -C "$1" --strip-components=1
    cp "$1/$5" "$out/licences/$1"
}

# archive NAME FLAG ... -- SOURCE ...: compiles these to DIR/lib/libNAME.a.
archive() {
    library=$1
    shift
    given=$flags
    while [ "$1" != -- ]; do given="$given $1"; shift; done
    shift
    mkdir -p objects
    printf '%s\n' "$@" | xargs -P "$JOBS" -I{} sh -c '$CC $1 -c -o "objects/$(basename "$2" .c).o" "$2"' - "$given" {}
    "$ARCHIVE_ZIG/zig" ar rcsD "$out/lib/lib$library.a" objects/*.o
}

build_zlib() {
    archive z -DHAVE_UNISTD_H -DHAVE_HIDDEN -- *.c
    cp zlib.h zconf.h "$out/include"
}

build_jansson() {
    sed -e 's/@json_inline@/inline/' -e 's/@json_have_localeconv@/1/' -e 's/@json_have_[a-z_]*@/1/' -e 's/@initial_hashtable_order@/3/' \
        -e 's/@.*@/1/' src/jansson_config.h.in > src/jansson_config.h
    : > src/jansson_private_config.h
    archive jansson -DHAVE_STDINT_H -DHAVE_UNISTD_H -DHAVE_FCNTL_H -DHAVE_OPEN -DHAVE_CLOSE -DHAVE_READ -DHAVE_GETPID -DHAVE_GETTIMEOFDAY \
        -DHAVE_SYS_TYPES_H -DHAVE_SYS_TIME_H -DHAVE_SYS_PARAM_H -DHAVE_LOCALE_H -DHAVE_LOCALECONV -DHAVE_SETLOCALE -DHAVE_STRTOLL -DHAVE_SYNC_BUILTINS -DHAVE_ATOMIC_BUILTINS \
        -DUSE_URANDOM -DINITIAL_HASHTABLE_ORDER=3 -Isrc -- src/*.c
    cp src/jansson.h src/jansson_config.h "$out/include"
}

build_protobuf_c() {
    mkdir -p "$out/include/protobuf-c"
    archive protobuf-c -I. -- protobuf-c/protobuf-c.c
    cp protobuf-c/protobuf-c.h "$out/include/protobuf-c"
}

# The names of C++ and Rust, no more of it.
build_libiberty() {
    mkdir -p "$out/include/libiberty"
    : > config.h
    archive iberty -I. -Iinclude -DHAVE_CONFIG_H -DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_SYS_TYPES_H -DHAVE_LIMITS_H \
        -- libiberty/cp-demangle.c libiberty/rust-demangle.c libiberty/safe-ctype.c
    cp include/demangle.h include/libiberty.h include/ansidecl.h "$out/include/libiberty"
}

build_zycore() {
    cp -r include/. "$out/include"
}

build_zydis() {
    archive Zydis -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD -Iinclude -Isrc -I"$out/include" -- src/*.c ../zycore/src/*.c ../zycore/src/API/*.c
    cp -r include/. "$out/include"
}

build_libunwind() {
    ./configure -q --prefix="$out" --disable-shared --with-pic --disable-minidebuginfo --disable-zlibdebuginfo --disable-cxx-exceptions \
        --disable-coredump --disable-ptrace --disable-setjmp --disable-tests --disable-documentation CFLAGS="$flags" >/dev/null
    make -s -j"$JOBS" -C src >/dev/null
    make -s -C src install-libLTLIBRARIES >/dev/null
    cp include/libunwind.h include/libunwind-common.h include/libunwind-dynamic.h include/libunwind-x86_64.h "$out/include"
}

build_elfutils() {
    # Without a search for a C++ library, for which zig would build one.
    ac_cv_lib_stdcpp___cxa_demangle=no ./configure -q --prefix="$out" --disable-debuginfod --disable-libdebuginfod --disable-nls --disable-symbol-versioning --without-bzlib \
        --without-lzma --without-zstd CFLAGS="$flags -I$out/include" LDFLAGS="-L$out/lib" >/dev/null
    make -s -j"$JOBS" config.h >/dev/null
    for part in lib/libeu libcpu/libcpu libelf/libelf backends/libebl_backends libebl/libebl libdwelf/libdwelf libdwfl/libdwfl libdw/libdw; do
        make -s -j"$JOBS" -C "${part%/*}" "${part#*/}.a" >/dev/null
    done
    cp lib/libeu.a libelf/libelf.a libdw/libdw.a "$out/lib"
    mkdir -p "$out/include/elfutils"
    cp libelf/libelf.h libelf/gelf.h libelf/nlist.h libdw/dwarf.h "$out/include"
    cp libdw/libdw.h libdwfl/libdwfl.h libebl/libebl.h libdwelf/libdwelf.h version.h libelf/elf-knowledge.h "$out/include/elfutils"
}

trap '[ "$?" -eq 0 ] || echo "archive: $name could not be built in $PWD" >&2' EXIT
mkdir -p "$out/work"
for name in $(grep -v '^#' "$here/sources.txt" | cut -d' ' -f1); do
    [ ! -f "$out/$name.done" ] || continue
    cd "$out/work"
    unpack "$name"
    cd "$name"
    "build_$(echo "$name" | tr - _)"
    : > "$out/$name.done"
done
rm -rf "$out/work"
