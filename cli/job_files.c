#include "cli/job_files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_directory.h"
#include "cli/progress.h"
#include "report/profile/balance_job.h"
#include "report/profile/job.h"
#include "report/profile/merge.h"
#include "report/profile/read.h"
#include "report/profile/write.h"
#include "report/text/memory.h"
#include "report/text/unfinished.h"

int is_measurement(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 6 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 6, ".blame") == 0;
}

static int is_ranks(const struct dirent *entry)
{
    return is_measurement(entry) && strcmp(entry->d_name, JOB_FILE) != 0;
}

struct job_files job_list_files(const char *directory)
{
    struct dirent **found = NULL;
    struct job_files files = {.count = scandir(directory, &found, is_ranks, alphasort)};
    if (files.count < 0)
        files.count = 0;
    files.path = memory_array((size_t)files.count, sizeof *files.path);
    for (int i = 0; i < files.count; i++) {
        files.path[i] = memory_text("%s/%s", directory, found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return files;
}

struct job_files job_find_files(const char *path, const struct profile *profile)
{
    struct stat status;
    struct job_files files = {0};
    if (!profile->header.merged)
        return files;
    char *directory = memory_text("%s", path);
    bool inside = stat(directory, &status) == 0 && !S_ISDIR(status.st_mode);
    files = job_list_files(inside ? dirname(directory) : directory);
    free(directory);
    return files;
}

void job_free_files(struct job_files *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->path[i]);
    free(files->path);
}

bool job_is_there(const char *directory)
{
    char identity[JOB_IDENTITY_BYTES], *made = memory_text("%s/" JOB_FILE, directory);
    bool there = job_directory_identity(directory, identity) || access(made, F_OK) == 0;
    free(made);
    return there;
}

/* Names that were kept are by the numbers of modules, which are others now. */
static void remove_names(const char *output)
{
    size_t length = strlen(output), ending = strlen(".blame");
    if (length < ending || strcmp(output + length - ending, ".blame") != 0)
        return;
    char *names = memory_text("%.*s.symbols", (int)(length - ending), output);
    unlink(names);
    free(names);
}

/* How many processes merge: more than there are cores, or parts, are none the faster, and each takes memory for two parts. */
static int choose_jobs(int jobs)
{
    cpu_set_t cores;
    if (jobs == 0)
        jobs = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    return jobs;
}

static struct profile *read_tree(struct job_tree *tree, char **why)
{
    tree->progress = progress_step;
    job_reference_find(&tree->like, tree->paths, tree->count);
    int made = job_tree_merge(tree, 0, job_tree_parts(tree));
    if (made < 0)
        return NULL;
    struct profile *part = job_tree_read(tree, made, -1);
    close(made);
    return part ? job_complete(part, why) : NULL;
}

struct profile *(*job_read_tree)(struct job_tree *tree, char **why) = read_tree;

/* NULL after a message, or with *why. */
static struct profile *read_ranks(const char *command, const struct job_files *files, const char *identity, int jobs,
                                  char **why)
{
    struct job_tree tree = {.command = command,
                            .paths = (const char *const *)files->path,
                            .count = (size_t)files->count,
                            .like = {.identity = identity},
                            .jobs = choose_jobs(jobs)};
    if (job_tree_parts(&tree) == 1) {
        profile_read_progress = progress_step;
        return job_read(tree.paths, tree.count, identity, why);
    }
    struct profile *profile = job_read_tree(&tree, why);
    job_reference_free(&tree.like);
    return profile;
}

/* What comes while ranks are read is later than `listed`. */
static bool job_write(const char *command, const char *directory, const struct profile *profile, const char *output,
                      const struct timespec *listed)
{
    remove_names(output);
    int wrong = profile_write(profile, output);
    if (wrong)
        fprintf(stderr, "blame %s: %s: %s; blame merge %s --output FILE writes it elsewhere\n", command,
                output, strerror(wrong), directory);
    else
        utimensat(AT_FDCWD, output, (struct timespec[]){*listed, *listed}, 0);
    return !wrong;
}

bool job_merge(const char *command, const char *directory, const char *output, int jobs)
{
    char identity[JOB_IDENTITY_BYTES], *why = NULL;
    bool known = job_directory_identity(directory, identity);
    struct timespec listed; /* as files are dated */
    clock_gettime(CLOCK_REALTIME_COARSE, &listed);
    struct job_files files = job_list_files(directory);
    if (!files.count) {
        fprintf(stderr, JOB_WITHOUT_FILES, command, directory);
        job_free_files(&files);
        return false;
    }
    progress_start(isatty(STDERR_FILENO) ? stderr : NULL, clock_now_ns);
    progress_phase("merging the ranks");
    struct profile *profile = read_ranks(command, &files, known ? identity : NULL, jobs, &why);
    if (profile) {
        progress_phase("comparing the ranks");
        profile_read_progress = progress_step;
        job_add_balance(profile, (const char *const *)files.path, (size_t)files.count, known ? identity : NULL);
    }
    progress_end();
    job_free_files(&files);
    if (!profile) {
        if (why)
            fprintf(stderr, "blame %s: %s: nothing of the job can be read: %s\n", command, directory, why);
        free(why);
        return false;
    }
    bool written = job_write(command, directory, profile, output, &listed);
    profile_free(profile);
    return written;
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A rank writes by a mapping, which does not date its file: where one may have written still, all are read again, as long
 * as they are there. */
static bool may_have_grown(const char *made, const struct job_files *files)
{
    struct profile_header header;
    return profile_read_header(made, &header) && header.growing && (uint32_t)files->count >= header.merged;
}

/* Also where ranks' files were removed since: what was merged of them stays. A file that has come since may have an older date, as
 * copies have, but not of its coming. */
static bool is_current(const char *made, const struct job_files *files)
{
    struct stat job, rank;
    struct profile_header header;
    if (stat(made, &job) != 0)
        return false;
    bool known = profile_read_header(made, &header), more = known && (uint32_t)files->count > header.merged;
    if (known && (uint32_t)files->count < header.merged) /* dates say nothing of copies */
        return true;
    for (int i = 0; i < files->count; i++)
        if (stat(files->path[i], &rank) == 0 &&
            (is_older(&job.st_mtim, &rank.st_mtim) || (more && is_older(&job.st_mtim, &rank.st_ctim))))
            return false;
    return !may_have_grown(made, files);
}

/* For this command alone; NULL after a message. */
static char *make_elsewhere(const char *command, const char *directory)
{
    const char *place = getenv("TMPDIR");
    char *folder = memory_text("%s/blame-job-XXXXXX", place && *place ? place : "/tmp");
    if (!unfinished_temporary(folder)) {
        fprintf(stderr, "blame %s: %s: cannot be written to, nor can %s (TMPDIR): %s; blame merge %s --output FILE, and read FILE\n",
                command, directory, place && *place ? place : "/tmp", strerror(errno), directory);
        free(folder);
        return NULL;
    }
    fprintf(stderr, "blame %s: %s: cannot be written to, and is merged for this command only; blame merge %s --output FILE keeps it\n",
            command, directory, directory);
    char *made = memory_text("%s/" JOB_FILE, folder);
    free(folder);
    return made;
}

char *job_measurement(const char *command, const char *directory)
{
    char *made = memory_text("%s/" JOB_FILE, directory);
    struct job_files files = job_list_files(directory);
    bool good = is_current(made, &files);
    if (!good && access(directory, W_OK) != 0) {
        free(made);
        made = make_elsewhere(command, directory);
    }
    good = good || (made && job_merge(command, directory, made, 0));
    job_free_files(&files);
    if (good)
        return made;
    free(made);
    return NULL;
}
