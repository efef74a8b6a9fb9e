#include "command/export/formats.h"

#include "command/export/export.h"

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

static bool put_firefox(FILE *out, const struct export_input *input)
{
    export_firefox(out, input->processes, input->process_count);
    return true;
}

const struct export_format export_formats[] = {
    {"folded", "stacks of one metric, a line each: flamegraph.pl, inferno", .metrics = EXPORT_ONE_METRIC,
     .takes = EXPORT_TAKES_METRIC | EXPORT_TAKES_BLAME, .positive = true, .write = put_folded},
    {"speedscope", "a flame graph for each metric: speedscope.app", .metrics = EXPORT_ONE_OR_ALL,
     .takes = EXPORT_TAKES_METRIC | EXPORT_TAKES_BLAME, .positive = true, .write = put_speedscope},
    {"pprof", "all metrics, with source lines, compressed: go tool pprof", .metrics = EXPORT_ONE_SHOWN,
     .takes = EXPORT_TAKES_METRIC, .binary = true, .write = export_pprof},
    {"hatchet", "all metrics of the tree: Hatchet's GraphFrame.from_json", .write = export_hatchet},
    {"cube", "all metrics of the tree, by thread, a .cubex archive: Cube 4, pyCubexR", .from = EXPORT_FROM_LOCATIONS,
     .binary = true, .write = export_cube},
    {"stacks", "each sample of a trace in a line: when, who, in which state, its frames", .from = EXPORT_FROM_LOG,
     .takes = EXPORT_TAKES_CLOCK},
    {"trial", "runs as JSON lines, with threads and ranks: the laboratory (blame db, scaling), your own programs",
     .from = EXPORT_FROM_RUNS, .takes = EXPORT_TAKES_RUNS},
    {"perfetto", "what threads did when, of a run with --trace: ui.perfetto.dev", .from = EXPORT_FROM_TRACES,
     .binary = true, .write = export_perfetto},
    {"firefox", "the same for profiler.firefox.com", .from = EXPORT_FROM_TRACES, .write = put_firefox},
    {"hpctoolkit", "all metrics, by thread, with sources and trace, in a new directory: hpcviewer",
     .from = EXPORT_FROM_LOCATIONS, .write_directory = export_hpctoolkit},
    {"tau", "work, idleness and other times, by thread, in a new directory: ParaProf, pprof",
     .from = EXPORT_FROM_LOCATIONS, .metrics = EXPORT_PARTS, .positive = true, .write_directory = export_tau},
};

const size_t export_format_count = sizeof export_formats / sizeof *export_formats;
