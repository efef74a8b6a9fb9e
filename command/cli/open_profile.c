#include "command/cli/open_profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/run_options.h"
#include "command/cli/cli.h"
#include "command/cli/job_files.h"
#include "command/cli/progress.h"
#include "command/cli/running.h"
#include "command/profile/job_keys.h"
#include "command/profile/merge.h"
#include "command/profile/read.h"
#include "command/rows/rows.h"
#include "command/tables/coverage.h"
#include "command/tables/locks.h"
#include "command/tables/ranks.h"
#include "command/tables/waits.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/unfinished.h"

#define MEMORY_ADVICE "; stop other programs, or raise the limit (ulimit -v)"
#define ACCEPTED      "expected a profile directory, as blame run creates it, or a *.blame file in one"

char *find_measurement(const char *command, const char *input)
{
    struct stat status;
    if (stat(input, &status) != 0) {
        fprintf(stderr, "blame %s: %s: %s; " ACCEPTED "\n", command, input, strerror(errno));
        return NULL;
    }
    if (!S_ISDIR(status.st_mode))
        return memory_text("%s", input);
    if (job_is_there(input))
        return job_measurement(command, input);
    struct dirent **found = NULL;
    int count = scandir(input, &found, is_measurement, alphasort);
    char *path = NULL;
    if (count < 0)
        fprintf(stderr, "blame %s: %s: %s; " ACCEPTED "\n", command, input, strerror(errno));
    else if (count == 0)
        fprintf(stderr, "blame %s: %s: this directory has no measurement (*.blame); " ACCEPTED "\n", command, input);
    else
        path = memory_text("%s/%s", input, found[0]->d_name);
    if (count > 1)
        fprintf(stderr, "blame %s: %s: contains %d measurements; using %s; to use another one, give its name\n",
                command, input, count, found[0]->d_name);
    for (int i = 0; i < count; i++)
        free(found[i]);
    free(found);
    return path;
}

bool check_source_dir(const char *command, const char *directory)
{
    struct stat status;
    int why = 0;
    if (directory && stat(directory, &status) != 0)
        why = errno;
    else if (directory && !S_ISDIR(status.st_mode))
        why = ENOTDIR;
    if (why)
        fprintf(stderr, "blame %s: --source-dir %s: %s; expected a directory with the program's sources\n", command,
                directory, strerror(why));
    return why == 0;
}

/* Returns advice that fits an error message of profile_read(), or "". */
static const char *advice_about_unreadable(const char *error)
{
    static const char *const advice[][2] = {
        {"not a blame profile", "; " ACCEPTED},
        {"not a measurement file", "; " ACCEPTED},
        {"damaged", "; copy the file again, or measure again"},
        {"truncated", "; copy the file again, or measure again"},
        {"the program ended before", "; measure again"},
        {"not enough memory", MEMORY_ADVICE},
        {"cannot be", "; check with ls -l that you may read the file"},
    };
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (strstr(error, advice[i][0]))
            return advice[i][1];
    return "";
}

static void say_low_coverage(const char *command, const char *input, const struct profile *profile)
{
    struct coverage coverage;
    coverage_of(profile, &coverage);
    if (!coverage_is_poor(&coverage))
        return;
    char *cause = format_clean(coverage.loss[0].cause, true);
    fprintf(stderr, "blame %s: %s: only %s %% of the threads' time was measured%s%s\n", command, input,
            DECIMAL(coverage_percent(&coverage), 1), *cause ? ": " : "", cause);
    free(cause);
}

static void say_which_ranks(const char *command, const char *input, const struct profile *profile)
{
    char *problems = ranks_problems(profile), *clean = format_clean(problems ? problems : "", true);
    if (problems)
        fprintf(stderr, "blame %s: %s: %s\n", command, input, clean);
    free(clean);
    free(problems);
}

static int environment = -1; /* the run's */
static const struct option_word environment_word[] = {
#define W(word, about) {word, about},
    ENVIRONMENT_WORDS(W){NULL, NULL},
};
const struct option_spec environment_option = {"--environment",
                                               OPTION_WORD,
                                               &environment,
                                               "KIND",
                                               environment_word,
                                               0,
                                               0,
                                               "what counts as idleness (default: as chosen for the run):"};

struct profile *open_profile(const char *command, const char *input)
{
    return open_thread(command, input, -1);
}

struct profile *open_thread(const char *command, const char *input, int thread)
{
    char error[1024];
    char *path = find_measurement(command, input);
    if (!path)
        return NULL;
    progress_start(isatty(STDERR_FILENO) ? stderr : NULL, clock_now_ns);
    progress_phase("reading the profile");
    profile_read_progress = progress_step;
    struct profile *profile = thread >= 0 ? profile_read_thread(path, (size_t)thread, error, sizeof error)
                                          : profile_read(path, error, sizeof error);
    progress_end();
    bool runs = profile && !profile->header.finished && running_measures(profile->header.pid, path);
    free(path);
    if (runs)
        profile->header.snapshot = 1;
    if (profile && !profile_text(profile, "sample")) /* otherwise lanes hold events, not ns */
        timeline_spread_lanes(&profile->timeline);
    if (!profile)
        fprintf(stderr, "blame %s: %s%s\n", command, error, advice_about_unreadable(error));
    else if (profile->header.merged)
        say_which_ranks(command, input, profile);
    else if (runs)
        fprintf(stderr, "blame %s: %s: the program is still running; this is what was measured up to now\n", command,
                input);
    else if (!profile->header.finished && !profile->header.snapshot)
        fprintf(stderr,
                "blame %s: %s: the program did not end normally, or replaced itself (exec); this is what was measured "
                "until then\n",
                command, input);
    if (profile && environment >= 0)
        profile->header.environment = (uint32_t)environment;
    if (profile)
        say_low_coverage(command, input, profile);
    return profile;
}

/* Takes a rank's names from those kept for its job, because the rank's program may no longer exist. Modules
 * have other numbers in the job, which are translated. */
static const char *recall_from_job(const struct profile *rank, struct symbols *symbols)
{
    const char *slash = strrchr(rank->path, '/');
    char unused[1024], *path = memory_text("%.*s" JOB_FILE, slash ? (int)(slash + 1 - rank->path) : 0, rank->path);
    struct profile *job = rank->header.merged ? NULL : profile_read_outline(path, unused, sizeof unused);
    const char *why = NULL;
    if (job && job->header.merged) {
        struct job_keys keys;
        job_keys_find(&keys, job, &(struct profile){.modules = rank->modules, .module_count = rank->module_count});
        struct symbols_numbers numbers = {memory_array(job->module_count + 1, sizeof *numbers.own), job->module_count};
        for (size_t i = 1; i <= rank->module_count; i++)
            if (keys.module[i] <= job->module_count)
                numbers.own[keys.module[i]] = (uint32_t)i;
        why = symbols_recall(symbols, &job->header, path, &numbers);
        free(numbers.own);
        job_keys_end(&keys);
    }
    profile_free(job);
    free(path);
    return why;
}

struct symbols *recall_symbols(const char *command, const struct profile *profile)
{
    struct symbols *symbols = memory_check(symbols_open(profile->modules, profile->module_count));
    symbols_mounts(symbols, profile_text(profile, "mounts"));
    const char *why = symbols_recall(symbols, &profile->header, profile->path, NULL);
    if (!symbols_are_kept(symbols))
        why = recall_from_job(profile, symbols);
    if (why)
        fprintf(stderr, "blame %s: %s\n", command, why);
    symbols_read_perf_map(symbols, &profile->header, profile->path);
    return symbols;
}

void keep_symbols(const char *command, const struct profile *profile, const struct rows *rows, struct symbols *symbols)
{
    char *changes = symbols_changes(symbols);
    if (changes)
        fprintf(stderr, "blame %s: %s: %s\n", command, profile->path, changes);
    free(changes);
    if (!symbols_have_news(symbols) || profile->tree)
        return;
    /* Locks and wait places have names too, which are looked up here. If the directory cannot be written,
     * nothing is lost: the binaries still exist. */
    struct lock_table *locks = lock_table_gather(profile, rows, symbols);
    wait_table_free(wait_table_gather(profile, rows, locks, symbols));
    lock_table_free(locks);
    symbols_keep(symbols, &profile->header, profile->path);
}

bool open_rows(const char *command, const char *input, struct opened_profile *opened)
{
    return open_thread_rows(command, input, -1, opened);
}

bool open_thread_rows(const char *command, const char *input, int thread, struct opened_profile *opened)
{
    *opened = (struct opened_profile){.input = input, .profile = open_thread(command, input, thread)};
    if (!opened->profile)
        return false;
    opened->symbols = recall_symbols(command, opened->profile);
    progress_phase("finding names");
    rows_progress = progress_step;
    opened->rows = rows_build(opened->profile, opened->symbols);
    progress_end();
    keep_symbols(command, opened->profile, opened->rows, opened->symbols);
    return true;
}

void close_profile(struct opened_profile *opened)
{
    rows_free(opened->rows);
    if (opened->symbols)
        symbols_close(opened->symbols);
    profile_free(opened->profile);
    *opened = (struct opened_profile){.input = opened->input};
}

static void complain_unwritten(const struct out_file *file, int why)
{
    fprintf(stderr, "blame %s: %s: %s; %s\n", file->command, file->path ? file->path : "standard output",
            why ? strerror(why) : "cannot be written",
            file->path ? "nothing was written; give another file by --output"
                       : "the output is incomplete; use --output FILE to write to a file");
}

/* Returns whether a file is a measurement, which a mistyped option must not overwrite. */
static bool holds_measurement(const char *path)
{
    char magic[sizeof PROFILE_MAGIC - 1];
    FILE *file = fopen(path, "re");
    bool holds =
        file && fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, PROFILE_MAGIC, sizeof magic) == 0;
    if (file)
        fclose(file);
    return holds;
}

/* Returns whether a path is another name for standard output, such as - or /dev/stdout. Standard output may
 * be a regular file, but must not be replaced. */
static bool is_standard_output(const char *path)
{
    struct stat link, there, standard;
    return !path || strcmp(path, "-") == 0 ||
           (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &there) == 0 &&
            fstat(STDOUT_FILENO, &standard) == 0 && there.st_dev == standard.st_dev && there.st_ino == standard.st_ino);
}

static bool may_be_replaced(const struct out_file *file)
{
    struct stat status;
    const char *why = NULL;
    if (holds_measurement(file->path))
        why = "this is a measurement, which blame does not overwrite; give another file by --output";
    else if (file->anew && lstat(file->path, &status) == 0)
        why = "this file exists and is not overwritten; remove it, or give another file by --output";
    if (why)
        fprintf(stderr, "blame %s: %s: %s\n", file->command, file->path, why);
    return !why;
}

static bool open_out_file(struct out_file *file)
{
    if (is_standard_output(file->path)) {
        file->path = NULL;
        file->stream = stdout;
        return true;
    }
    struct stat status;
    /* Only a regular file is replaced; a device or pipe is opened for writing. */
    bool replace = stat(file->path, &status) != 0 || S_ISREG(status.st_mode);
    if (replace && !may_be_replaced(file))
        return false;
    if (replace)
        file->temporary = memory_text("%s.%ld.part", file->path, (long)getpid());
    file->stream = replace ? unfinished_file(file->temporary) : fopen(file->path, "we");
    if (!file->stream) {
        complain_unwritten(file, errno);
        free(file->temporary);
        return false;
    }
    return true;
}

bool out_file_open(struct out_file *file, const char *command, const char *path)
{
    *file = (struct out_file){.command = command, .path = path};
    return open_out_file(file);
}

bool out_file_create(struct out_file *file, const char *command, const char *path)
{
    *file = (struct out_file){.command = command, .path = path, .anew = true};
    return open_out_file(file);
}

/* Moves the complete file to its final path. Returns false with errno. link() never replaces an existing
 * file. Where the file system has no links, rename() replaces a file that has just appeared. */
static bool out_file_put_in_place(const struct out_file *file)
{
    if (file->anew && link(file->temporary, file->path) == 0)
        return unlink(file->temporary) == 0;
    return !(file->anew && errno == EEXIST) && rename(file->temporary, file->path) == 0;
}

void out_file_drop(struct out_file *file)
{
    if (file->stream != stdout)
        fclose(file->stream);
    if (file->temporary)
        unfinished_remove(file->temporary);
    free(file->temporary);
}

/* Returns the errno of a failed write. If errno has been lost, writes once more to get the error again; the
 * file is dropped anyway. */
static int out_file_error(const struct out_file *file)
{
    if (!errno && file->temporary) {
        putc('\n', file->stream);
        fflush(file->stream);
    }
    return errno ? errno : EIO;
}

int out_file_close(struct out_file *file, bool good)
{
    int why = good ? 0 : errno;
    errno = 0;
    if ((fflush(file->stream) != 0 || ferror(file->stream)) && good) {
        why = out_file_error(file);
        good = false;
    }
    if (file->stream != stdout && fclose(file->stream) != 0 && good) {
        why = errno ? errno : EIO;
        good = false;
    }
    if (file->temporary && good && !out_file_put_in_place(file)) {
        why = errno;
        good = false;
    }
    /* After a successful move, this only removes the file from the list of files to remove on a signal. */
    if (file->temporary)
        unfinished_remove(file->temporary);
    free(file->temporary);
    if (!good)
        complain_unwritten(file, why);
    return good ? CLI_DONE : CLI_BAD_INPUT;
}
