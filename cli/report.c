/* `blame report`: reads a measurement and prints one view of it. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cct/profile_read.h"
#include "cli/cli.h"
#include "report/format.h"
#include "report/locks.h"
#include "report/rows.h"
#include "report/symbols.h"
#include "report/views.h"
#include "report/waits.h"
#include "report/write_csv.h"

enum view { VIEW_TOP_DOWN, VIEW_BOTTOM_UP, VIEW_FLAT, VIEW_THREADS, VIEW_LOCKS, VIEW_WAITS, VIEWS };
enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_FOLDED, FORMATS };

static const char *const view_name[VIEWS] = {"top-down", "bottom-up", "flat", "threads", "locks", "waits"};
static const char *const view_title[VIEWS] = {"Top-down", "Bottom-up", "Flat", "Threads", "Locks", "Waits"};
static const char *const format_name[FORMATS] = {"text", "csv", "folded"};

struct request {
    const char *input;
    int view, format, measure; /* measure: -1 = not given */
    double least_percent;
    bool least_given, help;
};

static void print_help(void)
{
    puts("usage: blame report DIR [options]\n"
         "\n"
         "DIR is a profile directory, or a measurement file (*.blame) in one.\n"
         "\n"
         "  --view VIEW      top-down   the program from main on, callees below callers (default)\n"
         "                   bottom-up  functions by their own cost, callers below\n"
         "                   flat       functions by their own cost, source lines below\n"
         "                   threads    what each thread did with its time\n"
         "                   locks      who was waited for, and who held the lock\n"
         "                   waits      where threads waited, and whose code kept them waiting\n"
         "  --format FORMAT  text (default), csv (every row, the columns of profile.csv), or folded\n"
         "                   (stacks of one metric, for flame graphs)\n"
         "  --sort METRIC    idleness (default), work, overhead, lock-wait, lock-wait-here,\n"
         "                   core-idleness, shared-idleness, samples\n"
         "  --min PERCENT    text: leave out rows below this share of the metric (default 0.5)\n"
         "\n"
         "examples:\n"
         "  blame report blame-amg-4711\n"
         "  blame report blame-amg-4711 --view bottom-up --sort lock-wait\n"
         "  blame report blame-amg-4711 --format folded | flamegraph.pl > idleness.svg");
}

/* The index of value among names, or -1 after a line that says what is accepted. */
static int find_name(const char *option, const char *value, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    fprintf(stderr, "blame report: %s %s: accepted are", option, value);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fputc('\n', stderr);
    return -1;
}

static bool parse_percent(const char *value, double *percent)
{
    char *end;
    *percent = strtod(value, &end);
    if (*value && *end == '\0' && *percent >= 0 && *percent <= 100)
        return true;
    fprintf(stderr, "blame report: --min %s: accepted is a number from 0 to 100\n", value);
    return false;
}

/* Handles one option with its value; false after a message. */
static bool parse_option(struct request *request, const char *option, const char *value)
{
    if (strcmp(option, "--view") == 0)
        return (request->view = find_name(option, value, view_name, VIEWS)) >= 0;
    if (strcmp(option, "--format") == 0)
        return (request->format = find_name(option, value, format_name, FORMATS)) >= 0;
    if (strcmp(option, "--sort") == 0)
        return (request->measure = find_name(option, value, measure_name, MEASURE_NAMED)) >= 0;
    request->least_given = true;
    return parse_percent(value, &request->least_percent);
}

static bool takes_value(const char *option)
{
    static const char *const options[] = {"--view", "--format", "--sort", "--min"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

static bool parse_operand(struct request *request, const char *operand)
{
    if (request->input) {
        fprintf(stderr, "blame report: %s: one profile is accepted, and %s was given already\n", operand,
                request->input);
        return false;
    }
    request->input = operand;
    return true;
}

/* false after a message: wrong usage. */
static bool parse_arguments(struct request *request, int argc, char **argv)
{
    bool options_end = false;
    for (int i = 1; i < argc; i++) {
        char option[16] = "";
        const char *equals = strchr(argv[i], '='), *value = equals ? equals + 1 : NULL;
        if (options_end || argv[i][0] != '-' || !argv[i][1]) {
            if (!parse_operand(request, argv[i]))
                return false;
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            options_end = true;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            request->help = true;
            return true;
        }
        snprintf(option, sizeof option, "%.*s", (int)(equals ? equals - argv[i] : 15), argv[i]);
        if (!takes_value(option)) {
            fprintf(
                stderr,
                "blame report: %s: no such option; accepted are --view, --format, --sort, --min, --help\n",
                argv[i]);
            return false;
        }
        if (!value && ++i == argc) {
            fprintf(stderr, "blame report: %s: a value must follow; see blame report --help\n", option);
            return false;
        }
        if (!parse_option(request, option, value ? value : argv[i]))
            return false;
    }
    if (!request->input) {
        fputs("blame report: no profile given; accepted is a profile directory or a *.blame file\n", stderr);
        return false;
    }
    if (request->format == FORMAT_FOLDED && request->view >= VIEW_THREADS) {
        fprintf(
            stderr,
            "blame report: --format folded: accepted with --view top-down, bottom-up, flat; not with %s\n",
            view_name[request->view]);
        return false;
    }
    return true;
}

static int is_measurement(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 6 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 6, ".blame") == 0;
}

/* The measurement file of a request, malloc'ed; NULL after a message. */
static char *find_measurement(const char *input)
{
    struct stat status;
    if (stat(input, &status) != 0) {
        fprintf(stderr, "blame report: %s: %s\n", input, strerror(errno));
        return NULL;
    }
    if (!S_ISDIR(status.st_mode))
        return strdup(input);
    struct dirent **found = NULL;
    int count = scandir(input, &found, is_measurement, alphasort);
    char *path = NULL;
    if (count < 0)
        fprintf(stderr, "blame report: %s: %s\n", input, strerror(errno));
    else if (count == 0)
        fprintf(stderr, "blame report: %s: no measurement (*.blame) in this directory\n", input);
    else if (asprintf(&path, "%s/%s", input, found[0]->d_name) < 0)
        path = NULL;
    if (count > 1)
        fprintf(stderr, "blame report: %d measurements in %s; this is %s, give another by its name\n", count,
                input, found[0]->d_name);
    for (int i = 0; i < count; i++)
        free(found[i]);
    free(found);
    return path;
}

/* Without --sort: idleness, or work where nothing idles. */
static enum measure choose_measure(const struct request *request, const struct rows *rows)
{
    const struct profile_metric *total = rows->row[0].inclusive;
    if (request->measure >= 0)
        return (enum measure)request->measure;
    return measure_value(rows, total, MEASURE_IDLENESS) > 0 ? MEASURE_IDLENESS : MEASURE_WORK;
}

/* Prints one of the tree views; false: no memory. `rows` may be reordered. */
static bool print_tree(const struct request *request, const struct profile *profile, struct rows *rows)
{
    enum measure measure = choose_measure(request, rows);
    bool text = request->format == FORMAT_TEXT;
    double total = measure_value(rows, rows->row[0].inclusive, measure);
    /* Whole tables are for machines: nothing is left out that was not asked for. */
    double percent = request->least_given || text ? request->least_percent : 0;
    struct view_style style = {.title = view_title[request->view],
                               .measure = measure,
                               .by_exclusive = request->view != VIEW_TOP_DOWN,
                               .least_percent = percent,
                               .columns = format_terminal_columns(stdout),
                               .utf8 = format_locale_is_utf8()};
    struct rows *view = rows;
    if (request->view == VIEW_BOTTOM_UP)
        view = view_bottom_up(rows, measure, 0.01 * percent * total);
    else if (request->view == VIEW_FLAT)
        view = view_flat(rows, measure);
    else if (text && !rows_order(rows, measure, false))
        view = NULL;
    bool good = view != NULL;
    if (good && view->incomplete)
        fprintf(stderr,
                "blame report: the bottom-up view has more than %d rows; callers beyond are left out: use "
                "--min\n",
                VIEW_CALLERS_ROWS);
    if (good && text)
        good = view_text(stdout, profile, view, &style);
    else if (good && request->format == FORMAT_FOLDED)
        good = view_folded(stdout, view, measure);
    else if (good)
        write_profile_csv(stdout, view);
    if (view != rows)
        rows_free(view);
    return good;
}

static bool print_locks(const struct request *request, const struct profile *profile, const struct rows *rows,
                        struct symbols *symbols)
{
    struct lock_table *table = locks_gather(profile, rows, symbols);
    bool good = table != NULL;
    if (good && request->format == FORMAT_CSV)
        good = write_locks_csv(stdout, table);
    else if (good)
        good = view_text_locks(stdout, profile, rows, table, format_terminal_columns(stdout),
                               format_locale_is_utf8());
    locks_free(table);
    return good;
}

static bool print_waits(const struct request *request, const struct profile *profile, const struct rows *rows,
                        struct symbols *symbols)
{
    struct lock_table *locks = locks_gather(profile, rows, symbols);
    struct wait_table *table = locks ? waits_gather(profile, rows, locks, symbols) : NULL;
    if (table && request->format == FORMAT_CSV)
        write_waits_csv(stdout, rows, table);
    else if (table)
        view_text_waits(stdout, profile, rows, table, format_terminal_columns(stdout),
                        format_locale_is_utf8());
    bool good = table != NULL;
    waits_free(table);
    locks_free(locks);
    return good;
}

static bool print_view(const struct request *request, const struct profile *profile)
{
    if (request->view == VIEW_THREADS) {
        if (request->format == FORMAT_CSV)
            write_threads_csv(stdout, profile);
        else
            view_text_threads(stdout, profile, format_terminal_columns(stdout), format_locale_is_utf8());
        return true;
    }
    struct symbols *symbols = symbols_open(profile->modules, profile->module_count);
    struct rows *rows = symbols ? rows_build(profile, symbols) : NULL;
    bool good = rows != NULL;
    if (good && request->view == VIEW_LOCKS)
        good = print_locks(request, profile, rows, symbols);
    else if (good && request->view == VIEW_WAITS)
        good = print_waits(request, profile, rows, symbols);
    else if (good)
        good = print_tree(request, profile, rows);
    rows_free(rows);
    if (symbols)
        symbols_close(symbols);
    return good;
}

int cli_report(int argc, char **argv)
{
    struct request request = {.measure = -1, .least_percent = 0.5};
    char error[1024];
    if (!parse_arguments(&request, argc, argv))
        return CLI_BAD_USAGE;
    if (request.help) {
        print_help();
        return CLI_DONE;
    }
    char *path = find_measurement(request.input);
    if (!path)
        return CLI_BAD_INPUT;
    struct profile *profile = profile_read(path, error, sizeof error);
    free(path);
    if (!profile) {
        fprintf(stderr, "blame report: %s\n", error);
        return CLI_BAD_INPUT;
    }
    if (!profile->header.finished)
        fprintf(stderr,
                "blame report: %s: the program did not end normally; this is what was measured until then\n",
                request.input);
    bool good = print_view(&request, profile);
    if (!good)
        fprintf(stderr, "blame report: %s: not enough memory\n", request.input);
    profile_free(profile);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "blame report: cannot write the report: %s\n",
                errno ? strerror(errno) : "output error");
        good = false;
    }
    return good ? CLI_DONE : CLI_BAD_INPUT;
}
