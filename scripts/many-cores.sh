#!/bin/bash
# many-cores.sh BLAME [THREADS ...]: accuracy and cost with 4, 8 and 16 threads, or with the given numbers, each as far as there is a core for
# every thread. BLAME: the folder of an unpacked archive (make archive) or of an installed blame. Prints one table; takes 6 minutes at most.
# Needs awk and clang with its OpenMP, or gcc: without clang there is no floor (the time with an OMPT tool that does nothing).
# PROGRAMS=DIR keeps the programs there, and compiles none if they are there: so they can come from another machine. CC=COMPILER chooses.
set -u
blame=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")/.." && pwd)
cores=$(nproc)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
programs=${PROGRAMS-$scratch/programs}
constructs="for_static for_dynamic sections single master barrier reduction combiner taskloop depend taskwait_depend atomic"
export BLAME_SUMMARY=0 OMP_PROC_BIND=false LC_ALL=C

counts=
for threads in ${*:-4 8 16}; do
    if [ "$threads" -le "$cores" ]; then counts="$counts $threads"; else echo "many-cores: $threads threads: not run, there are $cores cores"; fi
done
[ -n "$counts" ] || { counts=" 2"; echo "many-cores: only 2 threads are run: this is no measurement of many cores"; }

# ---- the programs ----
if [ ! -x "$programs/waits" ]; then
    mkdir -p "$programs"
    if [ -z "${CC-}" ]; then
        CC=gcc
        for clang in $(compgen -c clang | grep -xE 'clang(-[0-9]+)?' | sort -Vur); do
            echo 'int main(void) { return 0; }' | "$clang" -fopenmp -x c -o "$scratch/try" - 2>/dev/null && CC=$clang && break
        done
    fi
    for source in tests/accuracy/waits tests/accuracy/handoff benchmarks/npb/ep benchmarks/npb/cg benchmarks/bots/fib benchmarks/locks/mortar benchmarks/micro/micro; do
        "$CC" -O2 -g -fopenmp -o "$programs/$(basename $source)" "$here/$source.c" -lm || exit 1
    done
    header=$("$CC" -print-resource-dir 2>/dev/null)/include/omp-tools.h
    [ -f "$header" ] && mkdir "$scratch/include" && ln -s "$header" "$scratch/include" &&
        "$CC" -O2 -fPIC -shared -I"$scratch/include" -o "$programs/libnoop.so" "$here/benchmarks/noop/noop.c"
fi

# ---- measuring ----
late() { [ "$SECONDS" -ge 300 ] && unrun=$((unrun + 1)); } # what would begin after five minutes is not run
row() { printf '%s\n' "$1|$2|$3" >>"$scratch/rows"; } # WHAT THREADS VALUE
median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) printf "%.4g", v[int((NR + 1) / 2)]; else print "-" }'; }
number() { grep -o "\"$1\": [0-9.]*" "$scratch/out/run.json" | head -n 1 | cut -d ' ' -f 2; } # of run.json

measured() { timeout 30 "$blame/bin/blame" run --out "$scratch/out" "$@" 2>>"$scratch/errors"; }
bare() { timeout 30 "$@"; }
floor() { OMP_TOOL_LIBRARIES=$programs/libnoop.so timeout 30 "$@"; }
modes="bare measured"
[ -e "$programs/libnoop.so" ] && modes="bare floor measured"

# "idleness 0.3": by how many percent the profile's sum over the functions that the program names differs from what the program says; of
# lock wait all that there is, because the time between two holders is a row of its own below those who wait.
errors_in_profile() { # FILE-OF-STATEMENTS
    awk '
        function split_csv(line, cells,   n, i, c, quoted) {
            n = 1; cells[1] = ""
            for (i = 1; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) cells[++n] = ""
                else cells[n] = cells[n] c
            }
            return n
        }
        FNR == NR { n = split($0, word, " "); name = substr($0, index($0, word[3])); sub(" [^ ]*$", "", name)
                    if (word[1] == "expect" && word[2] ~ /^(work|idleness|lock_wait|no_core)$/) wanted[name "|" word[2]] = word[n]; next }
        FNR == 1 { n = split_csv($0, cells); for (i = 1; i <= n; i++) column[cells[i]] = i; next }
        { split_csv($0, cells); if (cells[column["depth"]] == 0) all_waits = cells[column["lock wait (I)"]]; for (key in wanted) {
            split(key, part, "|"); metric = part[2]; gsub("_", " ", metric)
            if (cells[column["name"]] == part[1]) found[key] += cells[column[metric " (I)"]] } }
        END { for (key in wanted) { split(key, part, "|"); stated[part[2]] += wanted[key]; got[part[2]] += found[key] }
              got["lock_wait"] = all_waits
              for (metric in stated) if (stated[metric] > 0.1) printf "%s %.4g\n", metric, 100 * (got[metric] / stated[metric] - 1) }
    ' "$1" "$scratch/out/profile.csv"
}

accuracy() { # THREADS NAME PROGRAM ...
    late && return
    local threads=$1 name=$2 metric error
    shift 2
    BLAME_RATE=1000 measured "$@" >"$scratch/stated" || { row "$name" "$threads" fails; return; }
    errors_in_profile "$scratch/stated" >"$scratch/found"
    while read -r metric error; do row "$name: error of $metric, %" "$threads" "$error"; done <"$scratch/found"
    broken=$((broken + $(grep -o '"ok": false' "$scratch/out/run.json" | wc -l)))
    laws=$((laws + $(grep -o '"ok": ' "$scratch/out/run.json" | wc -l)))
    while read -r metric error; do row "$name: from holder to holder, ns" "$threads" "$error"; done < <(grep ^gap_ns "$scratch/stated")
    rm -rf "$scratch/out"
}

overhead() { # THREADS NAME PROGRAM ...: the modes in turns; each program prints its time
    late && return
    local threads=$1 name=$2 mode turn begin
    shift 2
    for turn in 1 2 3 4 5; do
        [ "$turn" -gt 1 ] && late && break
        for mode in $modes; do
            begin=$EPOCHREALTIME
            OMP_NUM_THREADS=$threads $mode "$@" | awk '/ VERIFIED$/ { print $4 }' >"$scratch/time"
            echo "$(cat "$scratch/time") $begin $EPOCHREALTIME" >>"$scratch/$mode.times"
            rm -rf "$scratch/out"
        done
    done
    for mode in $modes; do
        [ $mode = bare ] || row "$name: time $mode / bare" "$threads" "$(paste -d ' ' "$scratch/$mode.times" "$scratch/bare.times" | awk 'NF == 6 { print $1 / $4 }' | median)"
    done
    row "$name: start, merge and reports, s" "$threads" "$(paste -d ' ' "$scratch/measured.times" "$scratch/bare.times" |
        awk 'NF == 6 { print ($3 - $2 - $1) - ($6 - $5 - $4) }' | median)"
    rm -f "$scratch"/*.times
}

# A sample at 5,000 a second beside one whose handler does nothing: what remains is the handler with its census of the threads.
census() { # THREADS
    [ -e "$programs/libnoop.so" ] || { row "a sample with its census, us" "$1" -; return; }
    late && return
    local turn least=999 most=999 time samples=
    export OMP_NUM_THREADS=$1
    for turn in 1 2 3; do
        ! late || break
        time=$(NOOP_RATE=5000 floor "$programs/ep" W | awk '{ print $4 }')
        least=$(awk "BEGIN { t = ${time:-999}; print t < $least ? t : $least }")
        time=$(BLAME_RATE=5000 measured "$programs/ep" W | awk '{ print $4 }')
        if awk "BEGIN { exit !(${time:-999} < $most) }"; then
            most=$time samples=$(number recorded)
        fi
        rm -rf "$scratch/out"
    done
    row "a sample with its census, us" "$1" "$(awk "BEGIN { n = ${samples:-0}; if (n) printf \"%.2f\", 1e6 * ($most - $least) * $1 / n; else print \"-\" }")"
    unset OMP_NUM_THREADS
}

micro() { # THREADS
    late && return
    local mode
    for mode in $modes; do
        OMP_NUM_THREADS=$1 $mode "$programs/micro" 5 lock critical barrier taskwait | while read -r what _ ns; do row "$what $mode, ns" "$1" "$ns"; done
        rm -rf "$scratch/out"
    done
}

unrun=0
for threads in $counts; do
    broken=0 laws=0
    for construct in $constructs; do TEST_LOADED=1 accuracy "$threads" "$construct" "$programs/waits" "$construct" "$threads"; done
    for us in 5 200; do accuracy "$threads" "handoff of $us us" "$programs/handoff" $us "$threads" 0.4; done
    row "laws: broken/checked" "$threads" "$broken/$laws"
    micro "$threads"
    census "$threads"
    overhead "$threads" "loops (cg)" "$programs/cg" W --repeat 4
    overhead "$threads" "tasks (fib)" "$programs/fib" 25
    overhead "$threads" "locks (mortar)" "$programs/mortar" 20000 --steps $((threads * 10)) --shared 1
done

# ---- the table ----
echo "$(uname -sr), $cores cores: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); $("$blame/bin/blame" --version | head -n 1); $SECONDS s"
awk -F '|' -v counts="$counts" '
    { if (!($1 in seen)) { seen[$1]; names[++n] = $1 } value[$1, $2] = $3 }
    END { columns = split(counts, count, " ")
          printf "| %-44s", "threads"; for (c = 1; c <= columns; c++) printf " | %8s", count[c]; print " |"
          printf "|---"; for (c = 1; c <= columns; c++) printf "|--:"; print "|"
          for (i = 1; i <= n; i++) { printf "| %-44s", names[i]
              for (c = 1; c <= columns; c++) printf " | %8s", (names[i], count[c]) in value ? value[names[i], count[c]] : "-"; print " |" } }' "$scratch/rows"
[ "$unrun" -eq 0 ] || echo "many-cores: $unrun measurements were not made, or only in part: the time was over"
[ ! -s "$scratch/errors" ] || { echo "messages:"; sort -u "$scratch/errors" | head -n 5; }
