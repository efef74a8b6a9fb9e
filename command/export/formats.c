#include "command/export/formats.h"

#include "command/export/export.h"

static bool export_write_folded(FILE *out, const struct export_input *input)
{
    export_folded(out, input->rows, input->metric);
    return true;
}

static bool export_write_speedscope(FILE *out, const struct export_input *input)
{
    export_speedscope(out, input->profile, input->rows, input->metric, input->alone);
    return true;
}

static bool export_write_firefox(FILE *out, const struct export_input *input)
{
    export_firefox(out, input->processes, input->process_count);
    return true;
}

const struct export_format export_formats[] = {
    {"folded", "stacks of one metric, one per line: flamegraph.pl, inferno", .metrics = EXPORT_ONE_METRIC,
     .takes = EXPORT_TAKES_METRIC | EXPORT_TAKES_BLAME, .positive = true, .write = export_write_folded},
    {"speedscope", "a flame graph for each metric: speedscope.app", .metrics = EXPORT_ONE_OR_ALL,
     .takes = EXPORT_TAKES_METRIC | EXPORT_TAKES_BLAME, .positive = true, .write = export_write_speedscope},
    {"pprof", "all metrics, with source lines, compressed: go tool pprof", .metrics = EXPORT_ONE_SHOWN,
     .takes = EXPORT_TAKES_METRIC, .binary = true, .write = export_pprof},
    {"hatchet", "all metrics of the tree: Hatchet's GraphFrame.from_json", .write = export_hatchet},
    {"cube", "all metrics of the tree, by thread, a .cubex archive: Cube 4, pyCubexR", .from = EXPORT_FROM_LOCATIONS,
     .binary = true, .write = export_cube},
    {"stacks", "one line for each sample of a trace: time, thread, state, frames", .from = EXPORT_FROM_LOG,
     .takes = EXPORT_TAKES_CLOCK},
    {"trial", "runs as JSON lines, by thread and rank: blame db, blame scaling, your own programs",
     .from = EXPORT_FROM_RUNS, .takes = EXPORT_TAKES_RUNS},
    {"perfetto", "threads over time, from a run with --trace: ui.perfetto.dev", .from = EXPORT_FROM_TRACES,
     .binary = true, .write = export_perfetto},
    {"firefox", "threads over time, from a run with --trace: profiler.firefox.com", .from = EXPORT_FROM_TRACES,
     .write = export_write_firefox},
    {"hpctoolkit", "all metrics, by thread, with sources and trace, in a new directory: hpcviewer",
     .from = EXPORT_FROM_LOCATIONS, .write_directory = export_hpctoolkit},
    {"tau", "work, idleness and other times, by thread, in a new directory: ParaProf, pprof",
     .from = EXPORT_FROM_LOCATIONS, .metrics = EXPORT_PARTS, .positive = true, .write_directory = export_tau},
};

const size_t export_format_count = sizeof export_formats / sizeof *export_formats;
