/* `blame finish`: writes the reports for one measurement file. The tool starts this command at the program's
 * end, and `blame run` starts it after the program was killed. If neither did so, the user runs it. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "command/profile/read.h"
#include "command/cli/cli.h"
#include "command/cli/finish.h"
#include "command/cli/open_profile.h"
#include "command/cli/options.h"
#include "command/cli/patient_stderr.h"
#include "command/files/output.h"
#include "command/tables/coverage.h"
#include "command/text/memory.h"
#include "command/symbols/symbols.h"
#include "command/views/summary.h"

/* memory for names and reports in bytes, in addition to twice the size of all modules */
#define REPORT_BYTES ((size_t)64 << 20)
/* more than all modules of a process take */
#define ENOUGH_BYTES ((size_t)1 << 40)

/* Returns whether there is enough memory for names and reports. If libdw runs out of memory, it ends the
 * process. */
static bool have_memory(const struct profile *profile)
{
    size_t bytes = REPORT_BYTES;
    struct stat file;
    void *enough = os_map(ENOUGH_BYTES); /* which most processes may have: then no file need be asked for its size */
    if (enough) {
        os_unmap(enough, ENOUGH_BYTES);
        return true;
    }
    for (size_t i = 0; i < profile->module_count; i++)
        if (!(profile->modules[i].flags & PROFILE_MODULE_PYTHON) && stat(profile->modules[i].path, &file) == 0)
            bytes += 2 * (size_t)file.st_size;
    void *memory = os_map(bytes);
    if (memory)
        os_unmap(memory, bytes);
    return memory != NULL;
}

void finish_offer_ourselves(void)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (!file)
        return;
    fputs("1000", file);
    fclose(file);
}

/* Marks the measurement file as reported, so that `blame run` does not report it again. If the mark cannot be
 * written, the reports could not be written either. Keeps the file's modification time: a file newer than
 * job.blame counts as not yet merged. */
static void mark_reported(const char *path, uint32_t reported)
{
    struct stat before;
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    bool dated = fstat(file, &before) == 0;
    if (pwrite(file, &reported, sizeof(reported), offsetof(struct profile_header, reported)) == sizeof(reported) &&
        dated)
        futimens(file, (struct timespec[]){before.st_atim, before.st_mtim});
    close(file);
}

/* the profile directory and its measurement file, for the message of finish_no_memory() */
static const char *finished, *finished_file;

static void finish_no_memory(void)
{
    mark_reported(finished_file, 1);
    fprintf(stderr, "blame: not enough memory to write the reports (see ulimit -v); blame finish %s writes them\n",
            log_word(finished, (char[LOG_WORD_BYTES]){0}));
}

static bool profile_has_samples(const struct profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].metric.samples > 0)
            return true;
    return false;
}

/* Returns whether there is anything to summarise. A program that only printed its help, for example, leaves
 * nothing. */
static bool has_anything_to_report(const struct profile *profile)
{
    struct coverage coverage;
    coverage_of(profile, &coverage);
    return profile->header.regions > 0 || profile_has_samples(profile) || coverage_is_poor(&coverage);
}

/* Writes the report files and prints the summary. `asked` means that the user ran the command, and always
 * gets a summary. */
static int write_reports(const char *directory, const char *file, struct profile *profile, bool asked)
{
    char error[512];
    int status = CLI_DONE;
    finished = directory;
    finished_file = file;
    memory_exhausted = finish_no_memory;
    struct symbols *symbols =
        memory_check(have_memory(profile) ? symbols_open(profile->modules, profile->module_count) : NULL);
    symbols_still_runs(symbols, profile->header.pid);
    symbols_beside(symbols, profile->path);
    symbols_mounts(symbols, profile_text(profile, "mounts"));
    symbols_read_perf_map(symbols, &profile->header, profile->path);
    struct report_tables tables = report_tables_make(profile, symbols);
    const char *compiler[SYMBOLS_PRODUCERS];
    tables.compiler = compiler;
    tables.compiler_count = symbols_producers(symbols, profile_program(profile), compiler);
    if (profile->header.csv && report_write_files(profile, &tables, directory, error, sizeof(error)) != 0) {
        fprintf(stderr, "blame: %s\n", error);
        status = CLI_BAD_INPUT;
    }
    if (profile->header.summary && (asked || has_anything_to_report(profile))) {
        report_print_summary(stderr, profile, &tables, directory);
        char *changes = symbols_changes(symbols);
        if (changes)
            fprintf(stderr, "blame: %s\n", changes);
        free(changes);
    }
    int wrong = symbols_keep(symbols, &profile->header, profile->path);
    if (wrong)
        fprintf(stderr,
                "blame: %s: the functions' names cannot be kept: %s; keep the binaries, so that the profile "
                "can be read\n",
                profile->path, strerror(wrong));
    report_tables_free(&tables);
    symbols_close(symbols);
    return wrong ? CLI_BAD_INPUT : status;
}

/* `part` is FINISH_UNHEARD, FINISH_SUMMARY or NULL for all that the header wants. */
static int finish_part(const char *directory, const char *file, bool all, const char *part)
{
    bool unheard = part && strcmp(part, FINISH_UNHEARD) == 0;
    char error[512];
    struct profile *profile = profile_read(file, error, sizeof(error));
    if (!profile) {
        fprintf(stderr, "blame: %s\n", error);
        return CLI_BAD_INPUT;
    }
    if (all)
        profile->header.csv = profile->header.summary = 1;
    if (part)
        *(unheard ? &profile->header.summary : &profile->header.csv) = 0;
    int status = write_reports(directory, file, profile, all);
    mark_reported(file, unheard ? PROFILE_UNHEARD : 1);
    profile_free(profile);
    return status;
}

int finish_reports(const char *directory, const char *file, bool all)
{
    return finish_part(directory, file, all, NULL);
}

static const struct usage usage = {
    .command = "finish",
    .synopsis = "DIR",
    .about =
        "Writes the CSV files and run.json into a profile directory and prints the summary, for a program that was\n"
        "killed or could not write them. It can be run at any time, and more than once.",
    .examples = "  blame finish blame-amg-4711",
    .operands_most = 1,
    .operands = "a profile directory or a *.blame file",
};

/* A user gives one operand, DIR, and gets all reports. The tool and `blame run` also pass the measurement
 * file, and which part of the reports they want. */
int cli_finish(int argc, char **argv)
{
    const char *operand[argc];
    int count;
    bool part = argc == 4 && (strcmp(argv[3], FINISH_UNHEARD) == 0 || strcmp(argv[3], FINISH_SUMMARY) == 0);
    if (argc == 3 || part) {
        patient_stderr();
        finish_offer_ourselves();
        return finish_part(argv[1], argv[2], false, part ? argv[3] : NULL);
    }
    enum options_result result = options_read(&usage, (struct option_table){0}, argc, argv, operand, &count);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    struct stat there;
    char *file = find_measurement("finish", operand[0]);
    /* a copy for dirname(), which changes its argument */
    char *directory = file ? memory_text("%s", file) : NULL;
    bool given = stat(operand[0], &there) == 0 && S_ISDIR(there.st_mode);
    int status = file ? finish_reports(given ? operand[0] : dirname(directory), file, true) : CLI_BAD_INPUT;
    free(directory);
    free(file);
    return status;
}
