/* `blame html`: writes a profile as a page for a browser. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/cli/cli.h"
#include "command/cli/open_profile.h"
#include "command/cli/options.h"
#include "command/html/html.h"
#include "command/text/format.h"
#include "command/text/memory.h"

static const struct usage usage = {
    .command = "html",
    .synopsis = "[DIR] [options]",
    .about =
        "Makes one page for a browser with everything that blame knows about a run: findings, a flame graph, the tree\n"
        "with all metrics in three views, source lines, phases, threads, locks and waits. The page needs no network\n"
        "and no other file. DIR is a profile directory or a measurement file (*.blame). Without DIR, the newest "
        "profile in the current directory is taken.\n"
        "\n"
        "Privacy: the page contains the command line, the host name, paths, function names, and the source code\n"
        "around the most expensive lines. Anyone with the page can read them. --no-source leaves the source code\n"
        "out.",
    .examples = "  blame html\n"
                "  blame html blame-amg-4711 -o amg.html --title \"AMG, 64 threads, before\"\n"
                "  blame html blame-amg-4711 --source-dir ~/src/amg",
    .operands_most = 1,
    .operands_newest = true,
    .operands = "a profile directory or a *.blame file",
};

struct request {
    const char *input, *output;
    struct html_options options;
};

static enum options_result parse_html_arguments(struct request *request, int argc, char **argv)
{
    const struct option_spec options[] = {
        {"--output", OPTION_TEXT, &request->output, "FILE", NULL, 0, 0,
         "write the page to FILE; - is standard output (default: report.html beside the measurement)"},
        {"--title", OPTION_TEXT, &request->options.title, "TITLE", NULL, 0, 0,
         "the page's title (default: the command line)"},
        {"--source-dir", OPTION_TEXT, &request->options.source_dir, "DIR", NULL, 0, 0,
         "look for sources in DIR first, then where they were compiled. For /build/amg/relax.c, blame tries "
         "DIR/build/amg/relax.c, DIR/amg/relax.c and DIR/relax.c"},
        {"--no-source", OPTION_FLAG, &request->options.no_source, NULL, NULL, 0, 0, "leave out the source code"},
        environment_option,
        {"--min", OPTION_NUMBER, &request->options.least_percent, "PERCENT", NULL, 0, 100,
         "merge rows below this share of every metric into one row \"(small)\" per parent, so that sums stay the "
         "same; 0 keeps all rows (default: 0; with more than 100,000 rows, the share that leaves 100,000)"},
    };
    const char *operand[argc];
    int count;
    enum options_result result = options_read(&usage, OPTION_TABLE(options), argc, argv, operand, &count);
    if (result == OPTIONS_RUN)
        request->input = operand[0];
    return result;
}

/* Returns the path of report.html inside a profile directory or beside a measurement file, malloc'ed. */
static char *default_output(const char *input)
{
    struct stat status;
    bool directory = stat(input, &status) == 0 && S_ISDIR(status.st_mode);
    size_t length = strlen(input);
    while (directory && length > 1 && input[length - 1] == '/')
        length--;
    const char *slash = strrchr(input, '/');
    if (!directory)
        length = slash ? (size_t)(slash - input) : 0;
    const char *between = length || slash ? "/" : "";
    return memory_text("%.*s%sreport.html", (int)length, input, between);
}

static void say_what_page_lacks(const struct html_result *result, const struct html_options *options)
{
    if (result->rows_left_out && options->least_percent < 0)
        fprintf(stderr,
                "blame html: %zu of %zu rows, each below %s %% of every metric, were merged into rows \"(small)\"; "
                "--min 0 keeps all rows\n",
                result->rows_left_out, result->rows_total, DECIMAL(result->least_percent, 6));
    if (result->locks_left_out)
        fprintf(stderr, "blame html: the page shows the %d locks with the longest waits, and leaves out %zu others\n",
                HTML_LOCKS, result->locks_left_out);
}

static void say_page_written(const char *path, double bytes, const struct html_result *result)
{
    bool large = bytes >= 1e6;
    printf("%s: %s %s, %zu rows, %zu source file%s", path, DECIMAL(bytes * (large ? 1e-6 : 1e-3), large),
           large ? "MB" : "kB", result->rows, result->sources, result->sources == 1 ? "" : "s");
    if (result->sources_missing)
        printf(" (%zu not found; --source-dir DIR says where they are)", result->sources_missing);
    putchar('\n');
}

static bool write_html_page(FILE *out, const struct opened_profile *opened, const struct html_options *options,
                            struct html_result *result)
{
    struct lock_table *locks = lock_table_gather(opened->profile, opened->rows, opened->symbols);
    struct wait_table *waits = wait_table_gather(opened->profile, opened->rows, locks, opened->symbols);
    struct wake_table *wakes = wake_table_gather(opened->profile, opened->rows, opened->symbols);
    struct phase_table *phases = phases_any(opened->profile) ? phases_gather(opened->profile, opened->rows) : NULL;
    struct findings *findings = findings_gather(opened->profile, opened->rows, locks, waits);
    struct html_input input = {.profile = opened->profile,
                               .rows = opened->rows,
                               .locks = locks,
                               .waits = waits,
                               .wakes = wakes,
                               .phases = phases,
                               .findings = findings};
    bool good = html_write(out, &input, options, result);
    int why = errno;
    findings_free(findings);
    phases_free(phases);
    wake_table_free(wakes);
    wait_table_free(waits);
    lock_table_free(locks);
    errno = why;
    return good;
}

static int make_html_page(const struct request *request, const char *path)
{
    struct opened_profile opened;
    struct html_result result = {0};
    struct out_file out;
    if (!open_rows("html", request->input, &opened))
        return CLI_BAD_INPUT;
    int status = CLI_BAD_INPUT;
    if (out_file_open(&out, "html", path)) {
        bool good = write_html_page(out.stream, &opened, &request->options, &result);
        long bytes = good ? ftell(out.stream) : 0;
        bool standard = !out.path;
        status = out_file_close(&out, good);
        if (status == CLI_DONE) {
            say_what_page_lacks(&result, &request->options);
            if (!standard)
                say_page_written(path, (double)bytes, &result);
        }
    }
    close_profile(&opened);
    return status;
}

int cli_html(int argc, char **argv)
{
    struct request request = {.options.least_percent = -1};
    enum options_result parsed = parse_html_arguments(&request, argc, argv);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (!check_source_dir("html", request.options.source_dir))
        return CLI_BAD_INPUT;
    char *chosen = request.output ? NULL : default_output(request.input);
    int status = make_html_page(&request, request.output ? request.output : chosen);
    free(chosen);
    return status;
}
