#!/bin/sh
# Installs what blame needs, by package name; does nothing when all is there. What is installed is neither removed nor upgraded (CI=true: a
# machine of CI's own may be upgraded): where that would be, one line says which two packages, and nothing is installed.
#   scripts/setup.sh          to be built, tested and benchmarked
#   scripts/setup.sh build    to be built and to profile programs
#   scripts/setup.sh aarch64  to be built for aarch64 and tested there by qemu (docs/architecture.md)
set -eu
build="gcc g++ make libc6-dev libunwind-dev libzydis-dev libdw-dev libelf-dev libiberty-dev libjansson-dev libpapi-dev libpfm4-dev
    zlib1g-dev libbz2-dev libprotobuf-c-dev protobuf-c-compiler"
openmp="clang-19 libomp-19-dev"
tests="libcmocka-dev clang-format-19 python3 git gfortran flang-19 binutils elfutils procps graphicsmagick fasttree clustalo valgrind
    chromium chromium-driver python3-selenium nodejs libcap2-bin protobuf-compiler python3-jsonschema python3-protobuf mandoc zsh fish patchelf
    python3-numpy libopenblas0-openmp python3-scipy python3-sklearn python3-pandas python3-psycopg2 r-cran-data.table
    libclang-rt-19-dev pkgconf libmpich-dev libopenmpi-dev mpich openmpi-bin python3-mpi4py"
[ -z "${CI-}" ] || tests="$tests postgresql" # it starts a server, which nobody wants on a machine of their own
case "${1-all}" in
build) tests= ;;
aarch64) tests="python3 gcc-aarch64-linux-gnu qemu-user" ;;
all) ;;
*) echo "setup: $1: accepted is build or aarch64, or nothing for all" >&2; exit 2 ;;
esac
missing=
for package in $build $openmp $tests; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# Other packages of Node bring npm along, and conflict with Debian's.
[ "${1-all}" != all ] || command -v npm >/dev/null || missing="$missing npm"
if [ "${1-all}" = aarch64 ]; then
    "$(dirname "$0")/aarch64-sysroot.sh" "${AARCH64_SYSROOT:-build-sysroot/aarch64}"
fi
[ -z "$missing" ] && exit 0
echo "setup: installing$missing"
if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
    command -v sudo >/dev/null || { echo "setup: needs root to install:$missing" >&2; exit 1; }
else
    sudo=
fi

# "removes PACKAGE" or "upgrades PACKAGE" of each installed one that the given ones would change.
upgrades='s/^Inst \([^ ]*\) \[.*/upgrades \1/p'
[ -z "${CI-}" ] || upgrades=
changes() {
    LC_ALL=C apt-get install -s -qq --no-install-recommends "$@" | sed -n -e 's/^Remv \([^ ]*\).*/removes \1/p' -e "$upgrades"
}

# One of these that are to go: the one that cannot stand beside the package, not one that needs it.
opponent() {
    package=$1
    shift
    for one in "$@"; do
        if dpkg-query -W -f '${Conflicts}, ${Breaks}' "$one" 2>/dev/null | tr ',' '\n' | grep -qE "^ *$package( |\$)"; then
            echo "$one"
            return
        fi
    done
    echo "$1"
}

refuse() {
    for package in $missing; do # one after the other: so it is known which
        removed=$(changes "$package" | sed -n 's/^removes //p')
        upgraded=$(changes "$package" | sed -n 's/^upgrades //p' | tr '\n' ' ')
        if [ -n "$removed" ]; then
            one=$(opponent "$package" $removed)
            echo "setup: $package conflicts with $one, which is installed: nothing was changed; remove it yourself (apt-get remove $one)," \
                "or build in a container (scripts/packaging/Containerfile)" >&2
        elif [ -n "$upgraded" ]; then
            echo "setup: $package needs newer packages than are installed (${upgraded% }): nothing was changed; upgrade them yourself" \
                "(apt-get install $upgraded), or build in a container (scripts/packaging/Containerfile)" | sed 's/ )/)/' >&2
        fi
    done
    exit 1
}

$sudo apt-get update -qq
[ -z "$(changes $missing)" ] || refuse
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-remove --no-upgrade --no-install-recommends $missing >/dev/null
