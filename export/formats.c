#include "export/formats.h"

#include "export/export.h"

static bool put_folded(FILE *out, const struct export_input *input)
{
    export_folded(out, input->rows, input->metric);
    return true;
}

static bool put_speedscope(FILE *out, const struct export_input *input)
{
    export_speedscope(out, input->profile, input->rows, input->metric, input->alone);
    return true;
}

static bool put_pprof(FILE *out, const struct export_input *input)
{
    return export_pprof(out, input->profile, input->rows, input->metric);
}

static bool put_cube(FILE *out, const struct export_input *input)
{
    return export_cube(out, input->locations);
}

static bool put_perfetto(FILE *out, const struct export_input *input)
{
    return export_perfetto(out, input->processes, input->process_count);
}

static bool put_firefox(FILE *out, const struct export_input *input)
{
    export_firefox(out, input->processes, input->process_count);
    return true;
}

static bool put_hpctoolkit(const char *directory, const struct export_input *input)
{
    return export_hpctoolkit(directory, input->locations);
}

static bool put_tau(const char *directory, const struct export_input *input)
{
    return export_tau(directory, input->locations);
}

const struct export_format export_formats[] = {
    {"folded", "stacks of one metric, a line each: flamegraph.pl, inferno", .metrics = EXPORT_ONE_METRIC,
     .takes = EXPORT_TAKES_METRIC | EXPORT_TAKES_BLAME, .positive = true, .write = put_folded},
    {"speedscope", "a flame graph for each metric: speedscope.app", .metrics = EXPORT_ONE_OR_ALL, .takes = EXPORT_TAKES_METRIC | EXPORT_TAKES_BLAME,
     .positive = true, .write = put_speedscope},
    {"pprof", "all metrics, with source lines, compressed: go tool pprof", .metrics = EXPORT_ONE_SHOWN, .takes = EXPORT_TAKES_METRIC, .binary = true,
     .write = put_pprof},
    {"hatchet", "all metrics of the tree: Hatchet's GraphFrame.from_json", .write = export_hatchet},
    {"cube", "all metrics of the tree, by thread, a .cubex archive: Cube 4, pyCubexR", .from = EXPORT_FROM_LOCATIONS, .binary = true,
     .write = put_cube},
    {"stacks", "each sample of a trace in a line: when, who, in which state, its frames", .from = EXPORT_FROM_LOG, .takes = EXPORT_TAKES_CLOCK},
    {"trial", "runs as JSON lines, with threads and ranks: the laboratory (blame db, scaling), your own programs", .from = EXPORT_FROM_RUNS,
     .takes = EXPORT_TAKES_RUNS},
    {"perfetto", "what threads did when, of a run with --trace: ui.perfetto.dev", .from = EXPORT_FROM_TRACES, .binary = true, .write = put_perfetto},
    {"firefox", "the same for profiler.firefox.com", .from = EXPORT_FROM_TRACES, .write = put_firefox},
    {"hpctoolkit", "all metrics, by thread, with sources and trace, in a new directory: hpcviewer", .from = EXPORT_FROM_LOCATIONS,
     .write_directory = put_hpctoolkit},
    {"tau", "work, idleness and other times, by thread, in a new directory: ParaProf, pprof", .from = EXPORT_FROM_LOCATIONS, .metrics = EXPORT_PARTS,
     .positive = true, .write_directory = put_tau},
};

const size_t export_format_count = sizeof export_formats / sizeof *export_formats;
