#!/bin/sh
# Tries what was installed, whoever installed it: a program is built with the header as pkg-config and CMake find it, runs under
# the `blame` of PATH, and its report has the program's phases. CC: a compiler that knows -fopenmp by LLVM's runtime.
set -eu
sources=$(cd "$(dirname "$0")/../.." && pwd)
CC=${CC:-$("$sources/scripts/find-llvm" clang)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

eval "$CC -O2 -g -fopenmp $(pkg-config --cflags blame) -o by-pkg-config $sources/docs/examples/phases/adi.c -lm $(pkg-config --libs blame)"
program=./by-pkg-config
if command -v cmake >/dev/null; then
    cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(try C)
find_package(blame REQUIRED)
add_executable(by-cmake ${SOURCES}/docs/examples/phases/adi.c)
target_compile_options(by-cmake PRIVATE -O2 -g -fopenmp)
target_link_libraries(by-cmake blame::blame m -fopenmp)
file(WRITE ${CMAKE_BINARY_DIR}/tool "${blame_TOOL}")
END
    cmake -S . -B cmake -DCMAKE_C_COMPILER="$CC" -DSOURCES="$sources" >cmake.log || { cat cmake.log; exit 1; }
    cmake --build cmake >cmake.log || { cat cmake.log; exit 1; }
    program=./cmake/by-cmake
    OMP_NUM_THREADS=2 OMP_TOOL_LIBRARIES=$(cat cmake/tool) BLAME_OUT=without-launcher BLAME_SUMMARY=0 ./by-pkg-config 64 40 >/dev/null
    blame report without-launcher --view phases | grep -q step
fi
OMP_NUM_THREADS=2 blame run --out profile --summary 0 $program 64 40 >/dev/null
blame report profile --view phases | grep step
blame html profile -o page.html
man -w blame >/dev/null 2>&1 || echo "try-installed: no man page blame in $(manpath 2>/dev/null || echo '(no man)')"
