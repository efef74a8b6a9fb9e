/* make_exports KIND DIRECTORY: a profile that no program would leave so soon, its profile.csv and all that is
 * exported of it, two processes with traces among that. KIND: names, deep, one, huge, negative, random,
 * measured (by the clock and by counters; its profile.csv has errors). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cct/profile_tree.h"
#include "command/export/export.h"
#include "command/export/hpctoolkit.h"
#include "command/export/formats.h"
#include "command/files/csv.h"
#include "command/rows/rows.h"
#include "tests/export/made_trace.h"
#include "tests/fuzz/fake_symbols.h"

#define MOST_NODES 20000
#define MS         1e6

static struct merged_node nodes[MOST_NODES];
static struct profile_module modules[2];
static struct profile profile = {.nodes = nodes, .node_count = 1, .modules = modules, .module_count = 2};
static char long_name[2001];

static const char *const names[] = {
    "a;b",
    "quote\"back\\slash\\",
    "tab\there\nand a line",
    "\x01\x1b[31mred\x7f",
    "\xff\xc3( \xed\xa0\x80",
    "gr\xc3\xb6\xc3\x9f"
    "e \xe2\x88\x91 \xf0\x9f\x94\xa5 \xef\xbf\xbe\xef\xbf\xbf",
    "</script><img src=x onerror=alert(1)>",
    "%s%n%%",
    "&amp;&lt; && &#65;",
    "\\N\\G\\l\\n",
    "",
    " ",
    "=trailing ",
    "12 34",
    "a => b=>",
    "{a|b}\xe2\x80\xaetxt\xe2\x80\xac\xe2\x80\xa8line",
    "--option",
    "operator()<int, std::vector<int> >(int&&) const",
    "a;b", /* a second function of the same name */
    long_name,
};
#define NAMES (sizeof names / sizeof *names)

static uint32_t add(uint32_t parent, uint64_t key, double work_ms)
{
    uint32_t index = (uint32_t)profile.node_count++;
    nodes[index] = (struct merged_node){
        .parent = parent,
        .kind = PROFILE_NODE_FRAME,
        .key = key,
        .metric = {.samples = work_ms > 0, .work = work_ms * MS, .inverse_busy = 0.75 * work_ms * MS}};
    return index;
}

static void make_names(void)
{
    memset(long_name, '<', sizeof long_name - 1);
    memcpy(long_name, "std::map", 8);
    uint32_t parent = 0;
    for (size_t i = 0; i < NAMES; i++) {
        uint64_t key = PROFILE_KEY(1 + i % 3, 0x1000 * (i + 1));
        fake_function(key, names[i], i % 3 ? names[NAMES - 1 - i] : "", i % 2 ? (int)i : 0, i % 3 ? 7 : 0)->at_file =
            i % 3 ? names[(i + 5) % NAMES] : "";
        parent = add(i % 5 ? parent : 0, key, (double)(i + 1));
        struct profile_sums *sums = &nodes[parent].metric;
        sums->overhead = sums->no_core = sums->work / 3;
        sums->blocked = sums->mpi_wait = sums->rank_idle = i % 3 ? 0 : sums->work / 7;
        sums->inverse_busy += 3 * sums->work;
    }
}

static void make_deep(void)
{
    uint32_t parent = 0;
    for (int i = 0; i < 1200; i++)
        parent = add(parent, PROFILE_KEY(1, 0x210 + i % 2 * 0x1000), i % 100 == 99);
}

static void make_huge(void)
{
    const double values[] = {1e24, 9.3e18, 1e15 + 1, 0.4, 0.6, 1e-300};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add(0, PROFILE_KEY(1, 0x1000 * (i + 1)), values[i] / MS);
}

/* More threads busy than there are cores: less than no core idles. */
static void make_negative(void)
{
    for (int i = 0; i < 4; i++) {
        uint32_t node = add(0, PROFILE_KEY(1, 0x1000 * (i + 1)), 10);
        nodes[node].metric.inverse_busy = i * 5 * MS;
    }
    profile.header.cores = 1;
}

static void make_random(void)
{
    unsigned seed = 12345;
    for (uint32_t i = 1; i < 5000; i++) {
        unsigned parent = i < 3 ? 0 : i - 1 - (unsigned)rand_r(&seed) % (i < 30 ? i - 1 : 25);
        uint32_t node = add(parent, PROFILE_KEY(1 + rand_r(&seed) % 3, 0x100 + rand_r(&seed) % 60000),
                            rand_r(&seed) % 3 ? 0 : rand_r(&seed) % 1000 / 7.0);
        struct profile_sums *sums = &nodes[node].metric;
        sums->overhead = rand_r(&seed) % 5 ? 0 : rand_r(&seed) % 1000 * 1e3;
        sums->lock_wait = rand_r(&seed) % 9 ? 0 : rand_r(&seed) % 1000 * 1e3;
        sums->lock_wait_here = sums->lock_wait / 3;
        sums->inverse_busy += sums->overhead + sums->lock_wait;
        sums->no_core = rand_r(&seed) % 9 ? 0 : rand_r(&seed) % 1000 * 1e3;
        sums->blocked = rand_r(&seed) % 9 ? 0 : rand_r(&seed) % 1000 * 1e3;
        sums->mpi_wait = rand_r(&seed) % 9 ? 0 : rand_r(&seed) % 1000 * 1e3;
        sums->rank_idle = rand_r(&seed) % 9 ? 0 : rand_r(&seed) % 1000 * 1e3;
        sums->shared_idle = sums->work / 3;
    }
}

/* A numbered phase of two threads, in it a function some of whose time is in a line and some in none. */
static void make_measured(void)
{
    static struct profile_name name = {.kind = PROFILE_NODE_PHASE, .text = "solve"};
    static struct merged_probe probes[2];
    static struct merged_counters counters[3];
    uint32_t at = add(0, PROFILE_KEY(1, 0x1000), 3);
    fake_function(PROFILE_KEY(1, 0x1000), "main", "/src/main.c", 5, 7);
    counters[0] = (struct merged_counters){at, {{1000, 1}}};
    at = add(at, 1, 0);
    nodes[at].kind = PROFILE_NODE_PHASE;
    at = add(at, 3, 0);
    nodes[at].kind = PROFILE_NODE_INSTANCE;
    for (uint32_t i = 0; i < 2; i++)
        probes[i] = (struct merged_probe){.node = at,
                                          .tree = 1 + i,
                                          .counters = {{5e6 + i, 77}},
                                          .probe = {.calls = 1 + i,
                                                    .inclusive_ns = 5e7,
                                                    .exclusive_ns = 2e7 + i,
                                                    .shortest_ns = 1e7,
                                                    .longest_ns = 4e7,
                                                    .sum_of_squares = 1.7e15}};
    for (uint32_t i = 1; i < 3; i++) {
        uint64_t key = PROFILE_KEY(1, 0x2000 + i);
        fake_function(key, "sweep", "/src/sweep.c", 0, i == 1 ? 12 : 0); /* as of compilers without declarations */
        counters[i] = (struct merged_counters){add(at, key, 5 * i), {{3e6 * i, 40 + i}}};
    }
    profile.names = &name;
    profile.probes = probes;
    profile.counters = counters;
    profile.counter_name[0] = "perf::CYCLES";
    profile.counter_name[1] = "\"odd\", name";
    profile.name_count = 1;
    profile.probe_count = profile.counter_count = 2;
    profile.counters_count = 3;
    profile.header.rate = 1000;
}

static const struct kind {
    const char *name;
    void (*make)(void);
} kinds[] = {{"names", make_names},      {"deep", make_deep},         {"one", NULL},
             {"huge", make_huge},        {"negative", make_negative}, {"random", make_random},
             {"measured", make_measured}};

static const struct rows *rows;
static enum metric metric;

static void put_csv(FILE *out)
{
    write_profile_csv(out, rows, profile.probe_count > 0);
}

static void put_folded(FILE *out)
{
    export_folded(out, rows, metric);
}

static void put_speedscope(FILE *out)
{
    export_speedscope(out, &profile, rows, metric, false);
}

static void put_pprof(FILE *out)
{
    export_pprof(out, &(struct export_input){.profile = &profile, .rows = rows, .metric = metric});
}

static void put_hatchet(FILE *out)
{
    export_hatchet(out, &(struct export_input){.rows = rows});
}

static void put_cube(FILE *out)
{
    struct locations locations;
    export_locations_find(&locations, &profile, rows, NULL, 0);
    export_cube(out, &(struct export_input){.locations = &locations});
    export_locations_free(&locations);
}

static struct traced_process processes[2];

static void put_perfetto(FILE *out)
{
    export_perfetto(out, &(struct export_input){.processes = processes, .process_count = 2});
}

static void put_firefox(FILE *out)
{
    export_firefox(out, processes, 2);
}

static void put_truth(FILE *out)
{
    made_trace_put(out, processes, 2);
}

static void make_traces(void)
{
    for (unsigned i = 0; i < 2; i++) {
        trace_free(processes[i].trace);
        processes[i] = (struct traced_process){.rows = rows, .trace = made_trace(rows, 7 + i)};
    }
}

static void put(const char *directory, const char *name, const char *ending, void (*write)(FILE *out))
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", directory, name, ending);
    FILE *out = fopen(path, "w");
    if (out)
        write(out);
    if (!out || ferror(out) || fclose(out) != 0) {
        perror(path);
        exit(1);
    }
}

static void put_folder(const char *directory, const char *name,
                       bool (*write)(const char *directory, const struct export_input *input))
{
    char path[4096];
    struct locations locations;
    export_locations_find(&locations, &profile, rows, NULL, 0);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (mkdir(path, 0777) != 0 || !write(path, &(struct export_input){.locations = &locations}) || locations.lost) {
        perror(path);
        exit(1);
    }
    export_locations_free(&locations);
}

/* The parts of a database that a trace is in, of the first process: profiles 1, 2 and so on are its threads. */
static bool write_trace_database(const char *directory, const struct export_input *input)
{
    struct hpc_contexts contexts;
    struct hpc_trace trace = {.directory = directory, .contexts = &contexts};
    bool good = true;
    hpc_contexts_make(&contexts, rows);
    for (uint32_t i = 0; i < MADE_LANES; i++)
        good = hpc_put_trace(&trace, i + 1, &profile.header, &processes[0].trace->lanes[i]) && good;
    good = hpc_close_trace(&trace) && hpc_write_meta(directory, &profile, &contexts) && good;
    hpc_contexts_free(&contexts);
    input->locations->lost = 0; /* no values were asked for */
    return good;
}

int main(int argc, char **argv)
{
    const struct kind *kind = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind) {
        fputs("usage: make_exports names|deep|one|huge|negative|random|measured DIRECTORY\n", stderr);
        return 2;
    }
    profile.header =
        (struct profile_header){.threads_max = 4, .cores = 2, .finished = 1, .period_ns = 1000000, .start_ns = 5000};
    profile.text = "command\0./\"weird\\ \xff program\0host\0here";
    profile.text_bytes = sizeof "command\0./\"weird\\ \xff program\0host\0here";
    strcpy(modules[0].path, "/opt/\"x\\/\xff/app");
    strcpy(modules[1].path, "/usr/lib/libomp.so.5");
    modules[0].build_id_bytes = 2;
    memcpy(modules[0].build_id, "\xca\xfe", 2);
    nodes[0].kind = PROFILE_NODE_ROOT;
    if (kind->make)
        kind->make();
    struct symbols *symbols = symbols_open(modules, 2);
    struct rows *made = rows_build(&profile, symbols);
    rows = made;
    put(argv[2], "profile", ".csv", put_csv);
    for (metric = 0; metric < METRIC_NAMED; metric++) {
        put(argv[2], metric_word[metric], ".folded", put_folded);
    }
    metric = METRIC_WORK;
    put(argv[2], "all", ".speedscope.json", put_speedscope);
    put(argv[2], "all", ".pb.gz", put_pprof);
    put(argv[2], "all", ".hatchet.json", put_hatchet);
    put(argv[2], "all", ".cubex", put_cube);
    put_folder(argv[2], "hpctoolkit", export_hpctoolkit);
    if (rows->count < 1000) /* paths are written out */
        put_folder(argv[2], "tau", export_tau);
    make_traces();
    put_folder(argv[2], "hpctoolkit-trace", write_trace_database);
    put(argv[2], "all", ".pftrace", put_perfetto);
    put(argv[2], "trace", ".tsv", put_truth); /* on the clock that an export has moved it to */
    make_traces();
    put(argv[2], "all", ".firefox.json", put_firefox);
    trace_free(processes[0].trace);
    trace_free(processes[1].trace);
    rows_free(made);
    symbols_close(symbols);
    return 0;
}
