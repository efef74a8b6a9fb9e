#include "command/cli/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/job_directory.h"
#include "base/log.h"
#include "base/os.h"
#include "command/cli/finish.h"
#include "command/cli/run_notes.h"
#include "command/profile/read.h"

/* Writes the reports, or their part, in a child process, so that a crash there does not end `blame run`. */
static void start_finisher(const char *directory, const char *file, char *part)
{
    char *const arguments[] = {"blame", "finish", (char *)directory, (char *)file, part, NULL};
    posix_spawnattr_t attributes;
    sigset_t ignored;
    pid_t pid;
    int status = 0;
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGINT);
    sigaddset(&ignored, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int wrong = posix_spawn(&pid, "/proc/self/exe", NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    while (!wrong && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return;
    if (wrong || WIFSIGNALED(status))
        fprintf(stderr, "blame: no reports were written (%s); blame finish %s writes them\n",
                wrong ? strerror(wrong) : strsignal(WTERMSIG(status)), log_word(directory, (char[LOG_WORD_BYTES]){0}));
}

/* Returns whether the parent folder of the profile directory no longer exists, and prints a message in that
 * case. */
static bool folder_was_deleted(const char *directory)
{
    char folder[PATH_MAX];
    const char *end = strrchr(directory, '/');
    snprintf(folder, sizeof(folder), "%.*s", end && end > directory ? (int)(end - directory) : 1,
             end ? directory : ".");
    if (stat(folder, &(struct stat){0}) == 0 || errno != ENOENT)
        return false;
    fprintf(stderr, "blame: the profile is lost, because the directory %s was deleted during the run\n", folder);
    return true;
}

/* Returns true if the file is a profile, or if a message has already said why there is none. `begun` is the process's
 * first stderr. */
static bool finish_profile(const char *directory, const char *file, const char *begun)
{
    char own[LOG_FILE_BYTES];
    struct profile_header header;
    if (stat(file, &(struct stat){0}) != 0) /* A process that ran no region has removed its profile. */
        return folder_was_deleted(directory);
    if (!profile_read_header(file, &header)) {
        start_finisher(directory, file, NULL); /* The child prints what is wrong with the file. */
        return true;
    }
    /* false if the measured process still runs, as a daemon may after the program's end */
    bool gone = kill(header.pid, 0) != 0;
    if (header.wants_region && gone) {
        unlink(file);
        if (rmdir(directory) != 0) /* fails in the directory of a job, which holds other files */
            job_directory_leave(directory);
    } else if (!header.wants_region && !header.reported && (gone || !header.finished) &&
               (header.csv || header.summary)) {
        start_finisher(directory, file, NULL);
    } else if (gone && header.reported == PROFILE_UNHEARD && header.summary && strcmp(begun, log_file(own)) == 0) {
        start_finisher(directory, file, FINISH_SUMMARY);
    } else if (gone && !header.wants_region && !header.finished && header.in_job && job_directory_tell(directory)) {
        fprintf(stderr, "blame: rank %u did not end normally; blame report %s shows what was measured in the job\n",
                header.rank, log_word(directory, (char[LOG_WORD_BYTES]){0}));
    }
    return !header.wants_region;
}

/* Finishes one profile. If the file is not below `directory`, moves it to the path `claimed`, or into
 * `directory` if `claimed` is NULL. */
static bool collect_one(const char *directory, const char *file, const char *claimed, const char *begun)
{
    char target[PATH_MAX];
    const char *name = strrchr(file, '/');
    size_t length = strlen(directory);
    if (strncmp(file, directory, length) == 0 && file[length] == '/')
        return finish_profile(directory, file, begun);
    if (!name || snprintf(target, sizeof(target), "%s%s", claimed ? claimed : directory, claimed ? "" : name) >=
                     (int)sizeof(target))
        return true;
    /* During the run, this file was in a memory file system. A process that ended normally has already moved
     * it. */
    if (stat(file, &(struct stat){0}) == 0) {
        if (!(claimed ? os_copy_over(file, target) : os_copy_file(file, target))) {
            fprintf(stderr, "blame: cannot write %s (%s); the profile stays in %s\n", target, strerror(errno), file);
            return true;
        }
        unlink(file);
    }
    return finish_profile(directory, target, begun);
}

int collect_profiles(const char *notes)
{
    struct run_note note = {0};
    int count = 0;
    bool empty = true;
    FILE *list = fopen(notes, "re");
    while (list && run_note_next(list, &note)) {
        const char *directory = note.text[RUN_NOTE_DIRECTORY], *target = note.text[RUN_NOTE_TARGET];
        empty = false;
        count += *directory ? collect_one(directory, note.text[RUN_NOTE_FILE], *target ? target : NULL,
                                          note.text[RUN_NOTE_STDERR])
                            : 1;
    }
    run_note_free(&note);
    if (list)
        fclose(list);
    /* A limit on file sizes may have stopped the tool from writing its note: the empty file shows that it
     * tried. */
    return list && empty ? 1 : count;
}
