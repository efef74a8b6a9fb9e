#!/bin/bash
# reach.sh ARCHIVE [SUITE ...]: unpacks the archive (make archive) in a system of each Debian release (bullseye, bookworm, trixie, sid) that has
# nothing but compilers, an interpreter and an MPI, builds and measures eight programs there, and prints a line for each. Needs root and mmdebstrap.
# REACH_ROOTS=DIR keeps the systems there (400 MB each); by default they are removed.
set -u
archive=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" -eq 0 ] && command -v mmdebstrap >/dev/null || { echo "reach: needs root and mmdebstrap" >&2; exit 2; }
roots=${REACH_ROOTS-$(mktemp -d)}
[ -n "${REACH_ROOTS-}" ] || trap 'rm -rf "$roots"' EXIT
mkdir -p "$roots"

# Only unpacked: nothing of it has to run but the programs. sid's list of packages is old by nature.
make_root() {
    [ -d "$roots/$1" ] && return
    mmdebstrap --quiet --variant=extract --format=directory --aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --include=bash,coreutils,sed,grep,binutils,gcc,libc6-dev,gfortran,python3,clang,libomp-dev,mpich,libmpich-dev "$1" "$roots/$1.new" &&
        mv "$roots/$1.new" "$roots/$1"
}

# In the root. Each line: system, program, "right" if the profile has the program's function with the kind of time that it is built to show.
inside=$(cat <<'END'
cd /tmp/reach
PATH=$(echo /tmp/reach/blame-*/bin):/usr/bin:/bin
export PATH BLAME_SUMMARY=0 HOME=/tmp TMPDIR=/tmp
system="$(. /etc/os-release && echo "$PRETTY_NAME"), $(python3 -c 'import os; print(os.confstr("CS_GNU_LIBC_VERSION"))')"
show() { echo "$system | $1 | $2"; }
try() { # WHAT NAME COLUMN COMMAND ...: profile.csv must have time of that column in a row of that name
    what=$1 name=$2 column=$3
    shift 3
    alone=$("$@" 2>alone.err) || { show "$what" "does not run alone: $(tail -n 1 alone.err)"; return; }
    out=$(blame run --rate 1000 --out out "$@" 2>run.err) || { show "$what" "fails: $(tail -n 1 run.err)"; return; }
    [ "$alone" = "$out" ] || { show "$what" "gives another result"; return; }
    python3 holds.py out/profile.csv "$name" "$column" 2>why && show "$what" right || show "$what" "wrong: $(tail -n 1 why) $(tail -n 1 run.err)"
    rm -rf out
}
version() { "$1" --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p'; }
if command -v clang >/dev/null && clang -O2 -g -fopenmp -o clang.out openmp.c -lm 2>build.err; then
    try "clang $(version clang), OpenMP" slow "idleness (I)" ./clang.out
else show "clang, OpenMP" "not run: $(tail -n 1 build.err 2>/dev/null)"; fi
gcc -O2 -g -fopenmp -o gcc.out openmp.c -lm && try "gcc $(gcc -dumpversion), OpenMP" slow "idleness (I)" ./gcc.out
gfortran -O2 -g -fopenmp -o fortran.out fortran.f90 && try "gfortran $(gfortran -dumpversion), OpenMP" slow "idleness (I)" ./fortran.out
gcc -O2 -g -pthread -o threads.out threads.c && try "gcc $(gcc -dumpversion), POSIX threads" hold "lock wait (I)" ./threads.out
gcc -O2 -g -o serial.out serial.c && try "gcc $(gcc -dumpversion), serial" slow "work (I)" ./serial.out
gcc -shared -fPIC -o libmissing.so missing.c && gcc -O2 -g -o missing.out serial.c -Wl,-z,lazy -Wl,--no-as-needed ./libmissing.so \
    -Wl,--unresolved-symbols=ignore-in-shared-libs && try "gcc $(gcc -dumpversion), a missing function" slow "work (I)" ./missing.out
try "Python $(python3 -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')" "" "work (I)" python3 script.py
if command -v mpicc.mpich >/dev/null && mpicc.mpich -O2 -g -fopenmp -o mpi.out mpi.c 2>build.err; then
    if mpiexec.hydra -n 2 ./mpi.out >alone 2>build.err; then
        BLAME_JOB=reach mpiexec.hydra -n 2 blame run --rate 1000 --out job ./mpi.out >run.log 2>&1
        blame merge job >>run.log 2>&1
        python3 holds.py job/profile.csv main "mpi wait (I)" 2>why && show "MPICH, 2 ranks" right || show "MPICH, 2 ranks" "wrong: $(tail -n 1 why) $(tail -n 1 run.log)"
    else show MPICH "does not run alone: $(tail -n 1 build.err)"; fi
else show MPICH "not run: $(tail -n 1 build.err 2>/dev/null)"; fi
END
)

for suite in "${@:-bullseye bookworm trixie sid}"; do
    for suite in $suite; do
        make_root "$suite" || { echo "$suite | - | no root could be made"; continue; }
        rm -rf "$roots/$suite/tmp/reach"
        mkdir -p "$roots/$suite/tmp/reach"
        tar -xf "$archive" -C "$roots/$suite/tmp/reach"
        cp "$here"/scripts/reach/* "$roots/$suite/tmp/reach"
        echo "127.0.0.1 localhost $(uname -n)" >"$roots/$suite/etc/hosts"  # old MPIs look for the machine's own name
        echo "hosts: files" >"$roots/$suite/etc/nsswitch.conf"
        # In a mount namespace of its own: nothing stays mounted when it ends.
        unshare -m bash -c 'for folder in proc dev dev/shm; do mkdir -p "$0/$folder" && mount --bind "/$folder" "$0/$folder"; done; exec chroot "$0" bash -c "$1"' "$roots/$suite" "$inside"
    done
done
