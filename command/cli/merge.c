/* `blame merge`: merges the measurements of a job's ranks into one file. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "command/cli/cli.h"
#include "command/cli/finish.h"
#include "command/cli/job_files.h"
#include "command/cli/open_profile.h"
#include "command/cli/options.h"
#include "command/profile/read.h"
#include "command/tables/ranks.h"
#include "command/text/memory.h"

static const struct usage usage = {
    .command = "merge",
    .synopsis = "DIR [options]",
    .about =
        "Merges the measurements of a job's ranks into one. DIR is the directory of the job, with one file for each\n"
        "rank (rank-000000.blame ...). The result is DIR/job.blame, which all commands read, with profile.csv,\n"
        "ranks.csv, run.json and the other files. Missing and damaged ranks are named and left out. While the job\n"
        "runs, the result contains what has been measured up to now. mpirun -n M blame-merge DIR does the same with\n"
        "the processes of an MPI job.",
    .examples = "  blame merge blame-solver-4711\n"
                "  blame report blame-solver-4711 --view ranks\n"
                "  blame merge blame-solver-4711 -j 8 --output /tmp/job.blame",
    .operands_most = 1,
    .operands = "the directory of a job",
};

static bool is_of_one_process(const char *directory)
{
    struct job_files files = job_list_files(directory);
    struct profile_header header;
    bool alone = files.count == 1 && profile_read_header(files.path[0], &header) && !header.in_job;
    job_free_files(&files);
    return alone;
}

static int report_merge(const char *directory, const char *made, bool files)
{
    char error[512];
    int status = files ? finish_reports(directory, made, false) : CLI_DONE;
    struct profile *profile = profile_read(made, error, sizeof error);
    if (!profile) {
        fprintf(stderr, "blame merge: %s\n", error);
        return CLI_BAD_INPUT;
    }
    char *problems = ranks_problems(profile);
    printf("%u rank%s merged; to see them: blame report %s\n", profile->header.merged,
           profile->header.merged == 1 ? "" : "s", log_word(files ? directory : made, (char[LOG_WORD_BYTES]){0}));
    if (problems)
        fprintf(stderr, "blame merge: %s: %s\n", directory, problems);
    free(problems);
    profile_free(profile);
    return status;
}

int cli_merge(int argc, char **argv)
{
    const char *operand[argc], *output = NULL;
    int count, jobs = 0;
    const struct option_spec options[] = {
        {"--jobs", OPTION_WHOLE, &jobs, "N", NULL, 1, 1024,
         "merge with N processes (default: one per core). N does not change the result. Each process holds a part of "
         "the job in memory"},
        {"--output", OPTION_TEXT, &output, "FILE", NULL, 0, 0,
         "write only the measurement, to FILE (a name that ends in .blame)"},
    };
    struct stat there;
    enum options_result result = options_read(&usage, OPTION_TABLE(options), argc, argv, operand, &count);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (stat(operand[0], &there) != 0 || !S_ISDIR(there.st_mode)) {
        fprintf(stderr, "blame merge: %s: not a directory; expected the directory of a job\n", operand[0]);
        return CLI_BAD_INPUT;
    }
    struct profile_header header;
    if (output && profile_read_header(output, &header) && !header.merged) {
        fprintf(stderr, "blame merge: --output %s: this is the measurement of a process; give another name\n", output);
        return CLI_BAD_USAGE;
    }
    if (is_of_one_process(operand[0])) {
        fprintf(stderr, "blame merge: %s: this is the profile of one process; expected the directory of a job\n",
                operand[0]);
        return CLI_BAD_INPUT;
    }
    char *made = output ? memory_text("%s", output) : memory_text("%s/" JOB_FILE, operand[0]);
    int status = CLI_BAD_INPUT;
    if (job_merge("merge", operand[0], made, jobs))
        status = report_merge(operand[0], made, !output);
    free(made);
    return status;
}
