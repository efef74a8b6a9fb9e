/* `blame export`: a profile in a format of other programs. */
#include "export/export.h"
#include "export/traced.h"
#include "report/views/folded.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/export_directory.h"
#include "cli/export_trace.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/stacks_file.h"
#include "report/text/format.h"

enum format { FORMAT_FOLDED, FORMAT_SPEEDSCOPE, FORMAT_PPROF, FORMAT_HATCHET, FORMAT_CUBE, FORMAT_DOT, FORMAT_STACKS, FORMAT_PERFETTO, FORMAT_FIREFOX, FORMAT_HPCTOOLKIT, FORMAT_TAU, FORMATS };

static const struct option_word format[] = {
    {"folded", "stacks of one metric, a line each: flamegraph.pl, inferno"},
    {"speedscope", "a flame graph for each metric: speedscope.app"},
    {"pprof", "all metrics, with source lines, compressed: go tool pprof"},
    {"hatchet", "all metrics of the tree: Hatchet's GraphFrame.from_json"},
    {"cube", "all metrics of the tree, a .cubex archive: Cube 4, pyCubexR"},
    {"dot", "the call graph of one metric: Graphviz"},
    {"stacks", "each sample of a trace in a line: when, who, in which state, its frames"},
    {"perfetto", "what threads did when, of a run with --trace: ui.perfetto.dev"},
    {"firefox", "the same for profiler.firefox.com"},
    {"hpctoolkit", "all metrics, by thread, with sources, in a new directory: hpcviewer"},
    {"tau", "work, idleness and other times, by thread, in a new directory: ParaProf, pprof"},
    {NULL, NULL},
};

#define LEAST_PERCENT 1 /* of dot, unless --min says otherwise */

struct request {
    const char *input, *output;
    int format, metric, clock; /* -1 = not given */
    double least_percent; /* -1 = not given */
};

static const struct option_word clock_word[] = {{"wall", "since the program began (default)"}, {"cpu", "of the processor, of samples that found the thread running"}, {NULL, NULL}};

static const struct usage usage = {
    .command = "export",
    .synopsis = "DIR --format FORMAT [options]",
    .about = "Writes a profile in a format that other programs read.\n"
             "DIR is a profile directory, or a measurement file (*.blame) in one.",
    .examples =
        "  blame export blame-amg-4711 --format speedscope -o amg.json\n"
        "  blame export blame-amg-4711 --format pprof -o amg.pb.gz && go tool pprof -http=: amg.pb.gz\n"
        "  blame export blame-amg-4711 --format folded --metric lock-wait | flamegraph.pl > locks.svg\n"
        "  blame export blame-amg-4711 --format dot --min 5 | dot -Tsvg -o amg.svg\n"
        "  blame export blame-amg-4711 --format hatchet -o amg.json\n"
        "  blame export blame-amg-4711 --format cube -o amg.cubex && cube amg.cubex\n"
        "  blame export blame-amg-4711 --format stacks | cut -f 4 | sort | uniq -c\n"
        "  blame run --trace amg && blame export blame-amg-4711 --format perfetto -o amg.pftrace\n"
        "  blame export blame-amg-4711 --format hpctoolkit -o amg-db && hpcviewer amg-db\n"
        "  blame export blame-amg-4711 --format tau -o amg-tau && cd amg-tau && paraprof",
    .operands_most = 1,
    .operands = "is a profile directory or a *.blame file",
};

static enum options_result refuse(const char *option, const struct request *request, const char *with)
{
    fprintf(stderr, "blame export: %s: accepted with --format %s; not with %s\n", option, with,
            format[request->format].word);
    return OPTIONS_WRONG;
}

/* Threads over time, not sums. */
static bool of_trace(int format)
{
    return format == FORMAT_STACKS || format == FORMAT_PERFETTO || format == FORMAT_FIREFOX;
}

static bool is_directory(int format)
{
    return format == FORMAT_HPCTOOLKIT || format == FORMAT_TAU;
}

static enum options_result check(const struct request *request)
{
    if (request->format < 0) {
        fputs("blame export: --format is missing; accepted are", stderr);
        for (int i = 0; i < FORMATS; i++)
            fprintf(stderr, "%s %s", i ? "," : "", format[i].word);
        fputc('\n', stderr);
        return OPTIONS_WRONG;
    }
    if (request->metric >= 0 && (request->format == FORMAT_HATCHET || request->format == FORMAT_CUBE || is_directory(request->format) || of_trace(request->format)))
        return refuse("--metric", request, "folded, speedscope, pprof, dot");
    if (request->metric == METRIC_BLAME && request->format == FORMAT_PPROF)
        return refuse("--metric blame", request, "folded, speedscope, dot");
    if (request->least_percent >= 0 && request->format != FORMAT_DOT)
        return refuse("--min", request, "dot");
    if (request->clock >= 0 && request->format != FORMAT_STACKS)
        return refuse("--clock", request, "stacks");
    if (is_directory(request->format) && (!request->output || strcmp(request->output, "-") == 0)) {
        fprintf(stderr, "blame export: --format %s: --output is missing; accepted is the name of a directory that is not there yet\n",
                format[request->format].word);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

static enum options_result parse_arguments(struct request *request, int argc, char **argv)
{
    const struct option_spec options[] = {
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0,
         "or -o FILE: where to write, whole or not at all (default: standard output);\n"
         "hpctoolkit, tau: a directory, which must not be there yet"},
        {"--metric", OPTION_WORD, &request->metric, "METRIC", metric_words, 0, 0,
         "what folded and dot are of (default: blame, that is idleness +\n"
         "overhead + lock-wait), what pprof shows unasked, the only one in\n"
         "speedscope (default there: all); one of"},
        environment_option,
        {"--min", OPTION_NUMBER, &request->least_percent, "PERCENT", NULL, 0, 100,
         "dot: leave out functions below this share of the metric (default 1)"},
        {"--clock", OPTION_WORD, &request->clock, "CLOCK", clock_word, 0, 0, "stacks: the time of a sample:"},
    };
    const char *operand[argc];
    int count;
    enum options_result result =
        options_read(&usage, options, sizeof options / sizeof *options, argc, argv, operand, &count);
    if (result != OPTIONS_RUN)
        return result;
    request->input = operand[0];
    return check(request);
}

/* What the file cannot say, or has not to say. */
static void note_metric(const struct rows *rows, enum metric metric, bool stacks)
{
    double negative = stacks ? export_negative(rows, metric) : 0;
    if (negative <= -1e-6)
        fprintf(stderr,
                "blame export: %s: %s %s of rows with less than none are left out, stacks have no negative "
                "values; "
                "--format pprof and hatchet keep them\n",
                metric_word[metric], DECIMAL(negative, 6), rows->events ? "events" : "s");
    if (!(metric_value(rows, rows->row[0].inclusive, metric) > 0))
        fprintf(stderr, "blame export: the profile has no %s; another --metric may say more\n",
                metric_word[metric]);
}

static void note(const struct request *request, const struct rows *rows, enum metric metric)
{
    bool all = request->format == FORMAT_SPEEDSCOPE && request->metric < 0;
    if (request->format == FORMAT_FOLDED || request->format == FORMAT_DOT || request->metric >= 0)
        note_metric(rows, metric, request->format == FORMAT_FOLDED || request->format == FORMAT_SPEEDSCOPE);
    for (enum metric metric = 0; all && metric < METRIC_COLUMNS; metric++)
        if (export_negative(rows, metric) <= -1e-6)
            note_metric(rows, metric, true);
}

static bool write_format(const struct request *request, const struct opened_profile *opened, FILE *out)
{
    const struct profile *profile = opened->profile;
    const struct rows *rows = opened->rows;
    bool all =
        request->format == FORMAT_PPROF || (request->format == FORMAT_SPEEDSCOPE && request->metric < 0);
    enum metric metric = request->metric >= 0 ? (enum metric)request->metric : metric_default(rows);
    if (all && metric == METRIC_BLAME) /* a sum, which is not among all */
        metric = METRIC_IDLENESS;
    note(request, rows, metric);
    switch ((enum format)request->format) {
    case FORMAT_FOLDED:
        view_folded(out, rows, metric);
        break;
    case FORMAT_SPEEDSCOPE:
        export_speedscope(out, profile, rows, metric, request->metric >= 0);
        break;
    case FORMAT_PPROF:
        return export_pprof(out, profile, rows, metric);
    case FORMAT_HATCHET:
        export_hatchet(out, rows);
        break;
    case FORMAT_CUBE:
        return export_cube(out, profile, rows);
    default:
        export_dot(out, profile, rows, metric,
                   request->least_percent >= 0 ? request->least_percent : LEAST_PERCENT);
    }
    return true;
}

/* Nothing of it is in memory. */
static int write_stacks(const struct request *request)
{
    struct out_file out;
    if (!out_file_open(&out, "export", request->output))
        return CLI_BAD_INPUT;
    bool good = stacks_write("export", request->input, out.stream, request->clock == STACKS_CPU ? STACKS_CPU : STACKS_WALL);
    if (!good && !ferror(out.stream)) {
        out_file_drop(&out);
        return CLI_BAD_INPUT;
    }
    return out_file_close(&out, good);
}

static int export_profile(const struct request *request)
{
    struct out_file out;
    struct opened_profile opened;
    if (!open_rows("export", request->input, &opened))
        return CLI_BAD_INPUT;
    int status = CLI_BAD_INPUT;
    if (out_file_open(&out, "export", request->output))
        status = out_file_close(&out, write_format(request, &opened, out.stream));
    close_profile(&opened);
    return status;
}

/* What is less than nothing is nothing there. */
static bool write_tau(const char *directory, const struct opened_profile *opened, uint64_t *lost)
{
    for (size_t part = 0; part < METRIC_TOLD; part++)
        if (export_negative(opened->rows, metric_parts[part]) <= -1e-6)
            note_metric(opened->rows, metric_parts[part], true);
    return export_tau(directory, opened->profile, opened->rows, opened->symbols, lost);
}

static int export_database(const struct request *request)
{
    struct out_directory out;
    struct opened_profile opened;
    uint64_t lost = 0;
    if (!out_directory_open(&out, "export", request->output))
        return CLI_BAD_INPUT;
    if (!open_rows("export", request->input, &opened)) {
        out_directory_drop(&out);
        return CLI_BAD_INPUT;
    }
    bool good = request->format == FORMAT_TAU ? write_tau(out.temporary, &opened, &lost)
                                              : export_hpctoolkit(out.temporary, opened.profile, opened.rows, &lost);
    int status = out_directory_close(&out, good);
    if (lost)
        fprintf(stderr, "blame export: %s: %llu samples are in the sum, but in no thread's profile\n", request->input, (unsigned long long)lost);
    close_profile(&opened);
    return status;
}

static int export_trace(const struct request *request)
{
    struct out_file out;
    struct opened_traces traces;
    int status = CLI_BAD_INPUT;
    if (open_traces(request->input, &traces) && out_file_open(&out, "export", request->output)) {
        bool good = true;
        if (request->format == FORMAT_PERFETTO)
            good = export_perfetto(out.stream, traces.processes, traces.count);
        else
            export_firefox(out.stream, traces.processes, traces.count);
        if (good)
            note_size(format[request->format].word, ftello(out.stream));
        status = out_file_close(&out, good);
    }
    close_traces(&traces);
    return status;
}

int cli_export(int argc, char **argv)
{
    struct request request = {.format = -1, .metric = -1, .clock = -1, .least_percent = -1};
    enum options_result parsed = parse_arguments(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (request.format == FORMAT_STACKS)
        return write_stacks(&request);
    if (is_directory(request.format))
        return export_database(&request);
    bool to_stdout = !request.output || strcmp(request.output, "-") == 0;
    if ((request.format == FORMAT_PPROF || request.format == FORMAT_CUBE || request.format == FORMAT_PERFETTO) && to_stdout && isatty(STDOUT_FILENO)) {
        fprintf(stderr, "blame export: %s's format is binary, and standard output is a terminal; give -o FILE\n", format[request.format].word);
        return CLI_BAD_USAGE;
    }
    return of_trace(request.format) ? export_trace(&request) : export_profile(&request);
}
