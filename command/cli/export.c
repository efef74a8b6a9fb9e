/* `blame export`: writes a profile in a format of another program. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cli/cli.h"
#include "command/cli/job_files.h"
#include "command/cli/open_profile.h"
#include "command/cli/options.h"
#include "command/cli/run_set.h"
#include "command/cli/stacks_file.h"
#include "command/compare/comparable.h"
#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/traced.h"
#include "command/export/trial.h"
#include "command/findings/findings.h"
#include "command/profile/profile.h"
#include "command/symbols/symbols.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/unfinished.h"

/* ---- formats that consist of several files ---- */

/* The output of a command that writes several files: a directory that appears only when it is complete. */

struct out_directory {
    const char *command;
    char *path, *temporary; /* temporary: path of the directory until it is complete */
};

static bool complain_directory(const struct out_directory *directory, int why)
{
    fprintf(stderr,
            "blame %s: %s: %s; nothing was written; use --output to name a directory that does not exist "
            "yet\n",
            directory->command, directory->path, why ? strerror(why) : "cannot be written");
    return false;
}

static void out_directory_free_paths(struct out_directory *directory)
{
    free(directory->path);
    free(directory->temporary);
}

/* Creates a directory for the output. Returns false after a message if that fails or `path` exists, even as
 * an empty directory. */
static bool out_directory_open(struct out_directory *directory, const char *command, const char *path)
{
    struct stat status;
    *directory = (struct out_directory){.command = command, .path = memory_text("%s", path)};
    for (size_t end = strlen(path); end > 1 && directory->path[end - 1] == '/'; end--)
        directory->path[end - 1] = '\0';
    directory->temporary = memory_text("%s.%ld.part", directory->path, (long)getpid());
    bool there = lstat(directory->path, &status) == 0;
    if (there || !unfinished_directory(directory->temporary)) {
        complain_directory(directory, there ? EEXIST : errno);
        out_directory_free_paths(directory);
        return false;
    }
    return true;
}

/* Removes all files that were written. */
static void out_directory_drop(struct out_directory *directory)
{
    unfinished_remove(directory->temporary);
    out_directory_free_paths(directory);
}

/* Renames the directory to its final path if `good`. `good` is false after a failed write, which has set
 * errno. On failure, prints a message and removes all files. Returns an exit status of command/cli/cli.h. */
static int out_directory_close(struct out_directory *directory, bool good)
{
    int why = errno;
    /* RENAME_NOREPLACE keeps a directory that another process has created meanwhile. Without it, on some file
     * systems, an empty directory may be replaced. */
    if (good && renameat2(AT_FDCWD, directory->temporary, AT_FDCWD, directory->path, RENAME_NOREPLACE) != 0)
        good = errno == EINVAL && rename(directory->temporary, directory->path) == 0, why = errno;
    if (!good)
        complain_directory(directory, why);
    out_directory_drop(directory);
    return good ? CLI_DONE : CLI_BAD_INPUT;
}

/* ---- formats of traces ---- */

/* The profile and trace of one run, or those of each rank of a job. */
struct opened_traces {
    struct opened_profile *opened;
    struct traced_process *processes;
    size_t count;
};

/* Size in bytes above which a viewer may fail: Perfetto needs 2 to 4 times this memory and a browser tab has
 * 4 GB; Chromium limits text to 512 MB. */
#define LARGE_BYTES 500000000LL

/* Prints how many samples were left out of a trace because it was full. */
static void note_thinned(const char *path, unsigned long long kept, unsigned long long thinned)
{
    if (thinned)
        fprintf(stderr, "blame export: %s: the trace had no room for %llu of %llu samples\n", path, thinned,
                thinned + kept);
}

static bool open_trace(const char *path, struct opened_traces *traces)
{
    char error[512];
    struct opened_profile *opened = &traces->opened[traces->count];
    if (!open_rows("export", path, opened))
        return false;
    struct traced_process *process = &traces->processes[traces->count++];
    process->rows = opened->rows;
    process->trace = trace_read(opened->profile, error, sizeof error);
    if (process->trace)
        note_thinned(opened->profile->path, process->trace->samples, process->trace->thinned);
    else
        fprintf(stderr, "blame export: %s\n", error);
    return process->trace != NULL;
}

/* Opens the traces of a run or job. Returns false after a message if one cannot be read or has no trace. Call
 * close_traces() even after a failure. */
static bool open_traces(const char *input, struct opened_traces *traces)
{
    struct stat status;
    bool job = stat(input, &status) == 0 && S_ISDIR(status.st_mode) && job_is_there(input);
    struct job_files files = job ? job_list_files(input) : (struct job_files){0};
    size_t count = job ? (size_t)files.count : 1;
    bool good = count > 0;
    if (!good)
        fprintf(stderr, JOB_WITHOUT_FILES, "export", input);
    *traces = (struct opened_traces){.opened = memory_array(count, sizeof *traces->opened),
                                     .processes = memory_array(count, sizeof *traces->processes)};
    for (size_t i = 0; i < count && good; i++)
        good = open_trace(job ? files.path[i] : input, traces);
    job_free_files(&files);
    return good;
}

static void close_traces(struct opened_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++) {
        trace_free(traces->processes[i].trace);
        close_profile(&traces->opened[i]);
    }
    free(traces->opened);
    free(traces->processes);
}

/* Warns if a file may be too large for its viewer. */
static void note_trace_size(const char *format, long long bytes)
{
    if (bytes > LARGE_BYTES && strcmp(format, "perfetto") == 0)
        fprintf(stderr,
                "blame export: %lld MB: Perfetto needs 2 to 4 times as much memory, and a browser tab has at most 4 "
                "GB; Perfetto's trace_processor can use more, and blame run --trace FROM:TO measures only a part of "
                "the run\n",
                bytes / 1000000);
    else if (bytes > LARGE_BYTES)
        fprintf(stderr,
                "blame export: %lld MB: profiler.firefox.com may be unable to read this much (Chromium's limit is "
                "512 MB of text); blame run --trace FROM:TO measures only a part of the run\n",
                bytes / 1000000);
}

/* ---- the format trial ---- */

/* The options of `blame export --format trial`, which writes runs as JSON lines. */

struct trial_request {
    const char *const *operand; /* profiles or folders of profiles */
    int operand_count;
    /* enum run_set_view: all runs share one numbering of the contexts of that view; -1: each run has its own
     * numbering */
    int common;
    bool sums; /* whether the values of single threads and ranks are left out */
};

struct exporting {
    const struct trial_request *request;
    FILE *out;
    bool bad; /* whether a profile could not be read */
};

static void put_recorded_compilers(struct facts *facts, const struct profile *profile, size_t folder_bytes)
{
    char *file = memory_text("%.*s/run.json", (int)folder_bytes, profile->path), id[PROFILE_IDENTITY_BYTES];
    json_t *json = json_load_file(file, 0, NULL), *compilers = json_object_get(json, "compilers");
    const char *whose = json_string_value(json_object_get(json, "id"));
    profile_identity(profile, id);
    for (size_t i = 0; whose && strcmp(whose, id) == 0 && i < json_array_size(compilers); i++)
        if (json_is_string(json_array_get(compilers, i)))
            export_facts_put(facts, FACT_COMPILER, "compiler", json_string_value(json_array_get(compilers, i)));
    json_decref(json);
    free(file);
}

/* Adds the compilers that the program's debug information names, or those in run.json if the program's file
 * is missing. */
static void put_compilers(struct facts *facts, const struct profile *profile, struct symbols *symbols)
{
    const char *compiler[SYMBOLS_PRODUCERS], *slash = strrchr(profile->path, '/');
    size_t count = symbols_producers(symbols, profile_program(profile), compiler);
    for (size_t i = 0; i < count; i++)
        export_facts_put(facts, FACT_COMPILER, "compiler", compiler[i]);
    if (!count && slash)
        put_recorded_compilers(facts, profile, (size_t)(slash - profile->path));
}

static void put_trial_run(struct exporting *exporting, const char *path, const struct opened_profile *opened)
{
    struct facts facts = {0};
    struct locations locations;
    struct job_files ranks = job_find_files(path, opened->profile);
    export_locations_find(&locations, opened->profile, opened->rows, (const char *const *)ranks.path,
                          (size_t)ranks.count);
    export_facts_of_profile(&facts, opened->profile);
    put_compilers(&facts, opened->profile, opened->symbols);
    struct lock_table *locks = lock_table_gather(opened->profile, opened->rows, opened->symbols);
    struct wait_table *waits = wait_table_gather(opened->profile, opened->rows, locks, opened->symbols);
    struct findings *findings = findings_gather(opened->profile, opened->rows, locks, waits);
    struct trial_run run = {.path = path,
                            .profile = opened->profile,
                            .facts = &facts,
                            .rows = opened->rows,
                            .locations = exporting->request->sums ? NULL : &locations,
                            .findings = findings};
    if (!export_trial(exporting->out, &run)) {
        fprintf(stderr, "blame export: %s; what was written about this run is incomplete\n", locations.refusal);
        exporting->bad = true;
    }
    findings_free(findings);
    wait_table_free(waits);
    lock_table_free(locks);
    export_facts_free(&facts);
    export_locations_free(&locations);
    job_free_files(&ranks);
}

static bool put_trial_path(void *to, const char *path)
{
    struct exporting *exporting = to;
    struct opened_profile opened;
    if (!open_rows("export", path, &opened)) {
        exporting->bad = true;
        return true;
    }
    put_trial_run(exporting, path, &opened);
    close_profile(&opened);
    return !ferror(exporting->out);
}

static bool put_common_runs(const struct trial_request *request, FILE *out)
{
    struct run_set set = {.command = "export"};
    bool good = run_set_add_all(&set, request->operand, request->operand_count);
    if (good) {
        const char *const *name = (const char *const *)set.name;
        comparable_complain_but_size(stderr, "export", set.profile, name, set.count);
        comparable_complain_repeats(stderr, "export", set.profile, name, set.count);
        for (size_t i = 0; i < set.count; i++) {
            struct facts facts = {0};
            export_facts_of_profile(&facts, set.profile[i]);
            export_trial(out, &(struct trial_run){.path = set.name[i], .profile = set.profile[i], .facts = &facts});
            export_facts_free(&facts);
        }
        bool flat = request->common == VIEW_FLAT;
        struct comparison *comparison =
            comparison_new(set.profile, name, (const size_t[SIDES]){[SIDE_BASE] = set.count}, NORMALISE_NONE);
        run_set_compare(&set, flat ? NULL : comparison, flat ? comparison : NULL);
        export_trial_compared(out, comparison);
        comparison_free(comparison);
    }
    run_set_free(&set);
    return good;
}

/* Returns an exit status of command/cli/cli.h. Skips a profile that cannot be read. With a numbering common
 * to all runs, such a profile is an error. */
static int trial_export(const struct trial_request *request, const char *output)
{
    struct out_file out;
    if (!out_file_create(&out, "export", output))
        return CLI_BAD_INPUT;
    struct exporting exporting = {request, out.stream, false};
    bool good = true;
    if (request->common >= 0)
        exporting.bad = !put_common_runs(request, out.stream);
    else
        for (int i = 0; good && i < request->operand_count; i++)
            good = run_set_each(request->operand[i], put_trial_path, &exporting);
    int status = out_file_close(&out, good);
    return status == CLI_DONE && exporting.bad ? CLI_BAD_INPUT : status;
}

/* ---- the command ---- */

struct request {
    const char *input, *output;
    const char **operand;
    int operand_count;
    int format, metric, clock, common; /* -1 = not given */
    bool sums;
    const struct export_format *of;
};

static const struct option_word clock_word[] = {{"wall", "the time since the program started (default)"},
                                                {"cpu", "CPU time, as known from samples of running threads"},
                                                {NULL, NULL}};

static const struct usage usage = {
    .command = "export",
    .synopsis = "[DIR...] --format FORMAT [options]",
    .about =
        "Writes a profile in a format that other programs read.\n"
        "DIR is a profile directory or a measurement file (*.blame). Without DIR, blame takes the newest profile in "
        "the current directory. The format trial takes several profiles, and directories that contain profiles.",
    .examples = "  blame export blame-amg-4711 --format speedscope -o amg.json\n"
                "  blame export blame-amg-4711 --format pprof -o amg.pb.gz && go tool pprof -http=: amg.pb.gz\n"
                "  blame export blame-amg-4711 --format folded --metric lock-wait | flamegraph.pl > locks.svg\n"
                "  blame export blame-amg-4711 --format hatchet -o amg.json\n"
                "  blame export blame-amg-4711 --format cube -o amg.cubex && cube amg.cubex\n"
                "  blame export blame-amg-4711 --format stacks | cut -f 4 | sort | uniq -c\n"
                "  blame run --trace amg && blame export blame-amg-4711 --format perfetto -o amg.pftrace\n"
                "  blame export blame-amg-4711 --format hpctoolkit -o amg-db && hpcviewer amg-db\n"
                "  blame export blame-amg-4711 --format tau -o amg-tau && cd amg-tau && paraprof",
    .operands_newest = true,
    .operands = "a profile directory or a *.blame file",
};

/* Prints the names of the formats that accept the options in `takes` (0: all formats), separated by commas. */
static void put_format_names(FILE *out, unsigned takes)
{
    const char *between = " ";
    for (size_t i = 0; i < export_format_count; i++)
        if ((export_formats[i].takes & takes) == takes) {
            fprintf(out, "%s%s", between, export_formats[i].name);
            between = ", ";
        }
}

static enum options_result refuse_option(const char *option, const struct export_format *format, unsigned takes)
{
    fprintf(stderr, "blame export: %s: works only with --format", option);
    put_format_names(stderr, takes);
    fprintf(stderr, ", not with %s\n", format->name);
    return OPTIONS_WRONG;
}

static bool export_goes_to_stdout(const struct request *request)
{
    return !request->output || strcmp(request->output, "-") == 0;
}

static enum options_result check_export(struct request *request)
{
    if (request->format < 0) {
        fputs("blame export: --format is missing; expected one of", stderr);
        put_format_names(stderr, 0);
        fputc('\n', stderr);
        return OPTIONS_WRONG;
    }
    const struct export_format *format = request->of = &export_formats[request->format];
    if (request->metric >= 0 && !(format->takes & EXPORT_TAKES_METRIC))
        return refuse_option("--metric", format, EXPORT_TAKES_METRIC);
    if (request->metric == METRIC_BLAME && !(format->takes & EXPORT_TAKES_BLAME))
        return refuse_option("--metric blame", format, EXPORT_TAKES_BLAME);
    if (request->clock >= 0 && !(format->takes & EXPORT_TAKES_CLOCK))
        return refuse_option("--clock", format, EXPORT_TAKES_CLOCK);
    if ((request->common >= 0 || request->sums) && !(format->takes & EXPORT_TAKES_RUNS))
        return refuse_option(request->sums ? "--sums" : "--common", format, EXPORT_TAKES_RUNS);
    if (request->operand_count > 1 && !(format->takes & EXPORT_TAKES_RUNS)) {
        fprintf(stderr, "blame export: %s: only one profile is accepted, and %s was already given\n",
                request->operand[1], request->operand[0]);
        return OPTIONS_WRONG;
    }
    if (format->write_directory && export_goes_to_stdout(request)) {
        fprintf(stderr,
                "blame export: --format %s: --output is missing; expected the name of a directory that does not exist "
                "yet\n",
                format->name);
        return OPTIONS_WRONG;
    }
    if (format->binary && export_goes_to_stdout(request) && isatty(STDOUT_FILENO)) {
        fprintf(stderr,
                "blame export: --format %s: this format is binary, and is not written to a terminal; give -o "
                "FILE\n",
                format->name);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

static enum options_result parse_export_arguments(struct request *request, int argc, char **argv)
{
    struct option_word format[export_format_count + 1];
    for (size_t i = 0; i < export_format_count; i++)
        format[i] = (struct option_word){export_formats[i].name, export_formats[i].about};
    format[export_format_count] = (struct option_word){0};
    const struct option_spec options[] = {
        {"--format", OPTION_WORD, &request->format, "FORMAT", format, 0, 0, ""},
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0,
         "write to FILE, which must not exist yet (default: standard output). For hpctoolkit and tau, FILE is a "
         "directory"},
        {"--metric", OPTION_WORD, &request->metric, "METRIC", metric_words, 0, 0,
         "the metric to write. The default for folded is blame, the sum of idleness, overhead and lock-wait. pprof "
         "contains all metrics and shows this one first. speedscope contains all metrics by default. One of"},
        environment_option,
        {"--clock", OPTION_WORD, &request->clock, "CLOCK", clock_word, 0, 0,
         "stacks: the time to write for each sample:"},
        {"--common", OPTION_WORD, &request->common, "VIEW", run_set_view, 0, 0,
         "trial: give each context of this view the same number in all runs"},
        {"--sums", OPTION_FLAG, &request->sums, NULL, NULL, 0, 0,
         "trial: leave out the values of individual threads and ranks"},
    };
    enum options_result result =
        options_read(&usage, OPTION_TABLE(options), argc, argv, request->operand, &request->operand_count);
    if (result != OPTIONS_RUN)
        return result;
    request->input = request->operand[0];
    return check_export(request);
}

/* Prints a warning if the format cannot hold a metric's negative values, or if the profile has no values of
 * that metric. */
static void note_metric(const struct rows *rows, enum metric metric, bool stacks)
{
    double negative = stacks ? export_negative(rows, metric) : 0;
    if (negative <= -1e-6)
        fprintf(stderr,
                "blame export: %s: rows with negative values (%s %s in all) are left out, because stacks cannot have "
                "negative values; --format pprof and hatchet keep them\n",
                metric_word[metric], DECIMAL(negative, 6), rows->events ? "events" : "s");
    else if (!(metric_value(rows, rows->row[0].inclusive, metric) > 0))
        fprintf(stderr, "blame export: the profile has no %s; choose another --metric\n", metric_word[metric]);
}

/* Prints such warnings for all metrics that the format writes. */
static void note_metrics(const struct export_format *format, const struct export_input *input)
{
    bool all = format->metrics == EXPORT_ONE_OR_ALL && !input->alone;
    size_t count = !format->positive                 ? 0
                   : format->metrics == EXPORT_PARTS ? METRIC_ALL_PARTS
                   : all                             ? METRIC_COLUMNS
                                                     : 0;
    if (format->metrics == EXPORT_ONE_METRIC || input->alone)
        note_metric(input->rows, input->metric, format->positive);
    for (size_t i = 0; i < count; i++) {
        enum metric metric = all ? (enum metric)i : metric_parts[i];
        if (export_negative(input->rows, metric) <= -1e-6)
            note_metric(input->rows, metric, true);
    }
}

static struct export_input export_input_of(const struct request *request, const struct opened_profile *opened)
{
    bool blame_is_none =
        request->of->metrics == EXPORT_ONE_SHOWN || (request->of->metrics == EXPORT_ONE_OR_ALL && request->metric < 0);
    struct export_input input = {.profile = opened->profile,
                                 .rows = opened->rows,
                                 .metric =
                                     request->metric >= 0 ? (enum metric)request->metric : metric_default(opened->rows),
                                 .alone = request->metric >= 0};
    /* These formats write single metrics, and blame is a sum of three. */
    if (blame_is_none && input.metric == METRIC_BLAME)
        input.metric = METRIC_IDLENESS;
    note_metrics(request->of, &input);
    return input;
}

/* Writes the log of stacks sample by sample, without reading the profile into memory. */
static int write_stack_log(const struct request *request)
{
    struct out_file out;
    if (!out_file_create(&out, "export", request->output))
        return CLI_BAD_INPUT;
    bool good =
        stacks_write("export", request->input, out.stream, request->clock == STACKS_CPU ? STACKS_CPU : STACKS_WALL);
    if (!good && !ferror(out.stream)) {
        out_file_drop(&out);
        return CLI_BAD_INPUT;
    }
    return out_file_close(&out, good);
}

static int export_rows(const struct request *request)
{
    struct out_file out;
    struct opened_profile opened;
    if (!open_rows("export", request->input, &opened))
        return CLI_BAD_INPUT;
    int status = CLI_BAD_INPUT;
    if (out_file_create(&out, "export", request->output)) {
        struct export_input input = export_input_of(request, &opened);
        status = out_file_close(&out, request->of->write(out.stream, &input));
    }
    close_profile(&opened);
    return status;
}

static void note_text(const char *text)
{
    fprintf(stderr, "blame export: %s\n", text);
}

static bool write_locations(const struct request *request, const struct opened_profile *opened, FILE *out,
                            const char *directory, uint64_t *lost, bool *refused)
{
    struct locations locations;
    struct job_files ranks = job_find_files(request->input, opened->profile);
    struct export_input input = export_input_of(request, opened);
    export_locations_find(&locations, opened->profile, opened->rows, (const char *const *)ranks.path,
                          (size_t)ranks.count);
    locations.note = note_text;
    input.locations = &locations;
    bool good = directory ? request->of->write_directory(directory, &input) : request->of->write(out, &input);
    int why = errno;
    *lost = good ? locations.lost : 0;
    *refused = !good && *locations.refusal;
    if (*refused)
        note_text(locations.refusal);
    if (*locations.trace_error)
        fprintf(stderr, "blame export: %s\n", locations.trace_error);
    note_thinned(request->input, locations.traced, locations.thinned);
    export_locations_free(&locations);
    job_free_files(&ranks);
    errno = why;
    return good;
}

static void drop_output(bool several, struct out_directory *directory, struct out_file *file)
{
    if (several)
        out_directory_drop(directory);
    else
        out_file_drop(file);
}

static int export_locations(const struct request *request)
{
    struct out_file file;
    struct out_directory directory;
    struct opened_profile opened;
    uint64_t lost = 0;
    bool several = request->of->write_directory, refused;
    if (!(several ? out_directory_open(&directory, "export", request->output)
                  : out_file_create(&file, "export", request->output)))
        return CLI_BAD_INPUT;
    int status = CLI_BAD_INPUT;
    if (!open_rows("export", request->input, &opened)) {
        drop_output(several, &directory, &file);
        return status;
    }
    bool good = write_locations(request, &opened, several ? NULL : file.stream, several ? directory.temporary : NULL,
                                &lost, &refused);
    if (refused)
        drop_output(several, &directory, &file);
    else
        status = several ? out_directory_close(&directory, good) : out_file_close(&file, good);
    if (lost)
        fprintf(stderr, "blame export: %s: %llu samples are included in the sum, but not in any thread's profile\n",
                request->input, (unsigned long long)lost);
    close_profile(&opened);
    return status;
}

static int export_traces(const struct request *request)
{
    struct out_file out;
    struct opened_traces traces;
    int status = CLI_BAD_INPUT;
    if (open_traces(request->input, &traces) && out_file_create(&out, "export", request->output)) {
        bool good = request->of->write(
            out.stream, &(struct export_input){.processes = traces.processes, .process_count = traces.count});
        if (good)
            note_trace_size(request->of->name, ftello(out.stream));
        status = out_file_close(&out, good);
    }
    close_traces(&traces);
    return status;
}

static int export_runs(const struct request *request)
{
    return trial_export(
        &(struct trial_request){request->operand, request->operand_count, request->common, request->sums},
        request->output);
}

int cli_export(int argc, char **argv)
{
    static int (*const export[])(const struct request *request) = {[EXPORT_FROM_ROWS] = export_rows,
                                                                   [EXPORT_FROM_LOCATIONS] = export_locations,
                                                                   [EXPORT_FROM_TRACES] = export_traces,
                                                                   [EXPORT_FROM_LOG] = write_stack_log,
                                                                   [EXPORT_FROM_RUNS] = export_runs};
    const char *operand[argc];
    struct request request = {.operand = operand, .common = -1, .format = -1, .metric = -1, .clock = -1};
    enum options_result parsed = parse_export_arguments(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    return export[request.of->from](&request);
}
