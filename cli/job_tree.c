#include "cli/job_tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/profile/merge.h"
#include "report/profile/write.h"
#include "report/text/memory.h"

#define PATH_BYTES 32

struct part {
    size_t first, count; /* files; of level 0 */
    size_t left, right;  /* parts before it; of other levels */
    int file;            /* where it is, or will be; -1 afterwards */
    pid_t process;       /* that makes it */
    enum { PART_OPEN, PART_BEGUN, PART_DONE } state;
};

struct work {
    const struct job_tree *tree;
    struct part *part;
    size_t count, leaves, running, files_done;
};

size_t job_tree_parts(const struct job_tree *tree)
{
    return (tree->count + JOB_TREE_FILES - 1) / JOB_TREE_FILES;
}

int job_tree_file(const char *command)
{
    int file = memfd_create("blame-part", MFD_CLOEXEC);
    if (file < 0)
        fprintf(stderr, "blame %s: no file in memory can be made: %s\n", command, strerror(errno));
    return file;
}

struct profile *job_tree_read(const struct job_tree *tree, int file, int other)
{
    char path[2][PATH_BYTES];
    const char *paths[] = {path[0], path[1]};
    snprintf(path[0], PATH_BYTES, "/proc/self/fd/%d", file);
    snprintf(path[1], PATH_BYTES, "/proc/self/fd/%d", other);
    struct profile *joined = job_join_parts(paths, other < 0 ? 1 : 2);
    if (!joined)
        fprintf(stderr, "blame %s: a part of the job cannot be read again: there is not enough memory\n", tree->command);
    return joined;
}

/* Frees the profile; false, after a message, also where that is NULL. The file stays open. */
static bool put(const struct job_tree *tree, struct profile *profile, int file)
{
    if (!profile)
        return false;
    int copy = dup(file), wrong = copy < 0 ? errno : profile_write_fd(profile, copy);
    profile_free(profile);
    if (wrong)
        fprintf(stderr, "blame %s: a part of the job has no room in memory: %s\n", tree->command, strerror(wrong));
    return !wrong;
}

int job_tree_join(const struct job_tree *tree, int file, int other)
{
    int to = job_tree_file(tree->command);
    if (to >= 0 && !put(tree, job_tree_read(tree, file, other), to)) {
        close(to);
        to = -1;
    }
    close(file);
    close(other);
    return to;
}

static bool make(const struct work *work, const struct part *part)
{
    const struct job_tree *tree = work->tree;
    const struct part *parts = work->part;
    return put(tree,
               part->count ? job_read_part(tree->paths + part->first, part->count, &tree->like)
                           : job_tree_read(tree, parts[part->left].file, parts[part->right].file),
               part->file);
}

/* The parts and those of these, up to one. */
static void plan(struct work *work, size_t first, size_t count)
{
    work->leaves = count;
    work->part = memory_array(2 * count, sizeof *work->part);
    for (size_t i = 0; i < count; i++) {
        size_t begin = (first + i) * JOB_TREE_FILES, end = begin + JOB_TREE_FILES;
        work->part[work->count++] =
            (struct part){.first = begin, .count = (end < work->tree->count ? end : work->tree->count) - begin};
    }
    size_t *level = memory_array(count, sizeof *level);
    for (size_t i = 0; i < count; i++)
        level[i] = i;
    for (; count > 1; count = (count + 1) / 2)
        for (size_t i = 0; i < count; i += 2) {
            if (i + 1 < count)
                work->part[work->count++] = (struct part){.left = level[i], .right = level[i + 1]};
            level[i / 2] = i + 1 < count ? work->count - 1 : level[i];
        }
    free(level);
}

static void finish(struct work *work, struct part *part)
{
    part->state = PART_DONE;
    if (part->count) {
        work->files_done += part->count;
        if (work->tree->progress)
            work->tree->progress(work->files_done, work->tree->count);
        return;
    }
    close(work->part[part->left].file);
    close(work->part[part->right].file);
    work->part[part->left].file = work->part[part->right].file = -1;
}

/* What can be made next: of two parts that are there, before more of them come to be; NULL: nothing as yet. */
static struct part *choose(const struct work *work)
{
    const struct part *parts = work->part;
    for (size_t i = work->leaves; i < work->count; i++)
        if (parts[i].state == PART_OPEN && parts[parts[i].left].state == PART_DONE &&
            parts[parts[i].right].state == PART_DONE)
            return &work->part[i];
    for (size_t i = 0; i < work->leaves; i++)
        if (parts[i].state == PART_OPEN)
            return &work->part[i];
    return NULL;
}

static bool begin(struct work *work, struct part *part)
{
    part->file = job_tree_file(work->tree->command);
    if (part->file < 0)
        return false;
    part->state = PART_BEGUN;
    if (work->tree->jobs == 1) {
        bool made = make(work, part);
        finish(work, part);
        return made;
    }
    fflush(NULL);
    part->process = fork();
    if (part->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(make(work, part) ? 0 : 1);
    }
    if (part->process < 0)
        fprintf(stderr, "blame %s: no process can be started: %s; -j 1 needs none\n", work->tree->command,
                strerror(errno));
    work->running += part->process > 0;
    return part->process > 0;
}

/* Until one has ended. False after a message: it has not made its part. */
static bool await(struct work *work)
{
    int status;
    pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0)
        return errno == EINTR;
    for (size_t i = 0; i < work->count; i++) {
        struct part *part = &work->part[i];
        if (part->state != PART_BEGUN || part->process != ended)
            continue;
        work->running--;
        if (WIFSIGNALED(status))
            fprintf(stderr, "blame %s: a process that merged a part was ended by signal %d: where memory is short, -j 1 takes least\n",
                    work->tree->command, WTERMSIG(status));
        finish(work, part);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return true;
}

static void stop(struct work *work)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->part[i].state == PART_BEGUN && work->part[i].process > 0)
            kill(work->part[i].process, SIGKILL);
    for (size_t i = 0; i < work->count; i++)
        if (work->part[i].state == PART_BEGUN && work->part[i].process > 0)
            waitpid(work->part[i].process, NULL, 0);
}

int job_tree_merge(const struct job_tree *tree, size_t first, size_t count)
{
    struct work work = {.tree = tree};
    bool good = true;
    plan(&work, first, count);
    for (size_t i = 0; i < work.count; i++)
        work.part[i].file = -1;
    while (good && work.part[work.count - 1].state != PART_DONE) {
        struct part *next = work.running < (size_t)tree->jobs ? choose(&work) : NULL;
        good = next ? begin(&work, next) : await(&work);
    }
    if (!good)
        stop(&work);
    int made = -1;
    if (good) {
        made = work.part[work.count - 1].file;
        work.part[work.count - 1].file = -1;
    }
    for (size_t i = 0; i < work.count; i++)
        if (work.part[i].file >= 0)
            close(work.part[i].file);
    free(work.part);
    return made;
}
