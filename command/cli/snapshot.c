/* `blame snapshot`: writes a profile of a running program. The measurement file is valid at any time, so it
 * is copied, and the program is neither stopped nor notified. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cli/cli.h"
#include "command/cli/finish.h"
#include "command/cli/open_profile.h"
#include "command/cli/options.h"
#include "command/cli/running.h"
#include "command/cli/snapshot_copy.h"
#include "command/cli/stacks_file.h"
#include "command/profile/profile.h"
#include "command/text/memory.h"
#include "command/text/unfinished.h"

#define MAX_ATTEMPTS 100000 /* the highest number appended to the directory's name */

static const struct usage usage = {
    .command = "snapshot",
    .synopsis = "PID [options]",
    .about = "Writes a profile of a running program, as if it had just ended, and prints the summary. The directory "
             "contains\n"
             "the measurement, the CSV files, run.json and, after --trace, the log of stacks. The program is not "
             "stopped.\n"
             "PID is the process id of the program, or of the blame run that started it. In an MPI job, give the PID "
             "of one rank.",
    .examples = "  blame snapshot 4711\n"
                "  blame snapshot $(pgrep -n amg) --output amg-now && blame report amg-now",
    .operands_most = 1,
    .operand = "process",
    .operands = "the process id of a program that is being measured",
};

/* Creates a directory and returns its path, malloc'ed; NULL with errno on failure. Appends .1, .2 ... to the
 * name if it exists. */
static char *make_snapshot_directory(const char *wanted)
{
    char *directory = memory_text("%s", wanted);
    for (int i = 1; !unfinished_directory(directory); i++) {
        free(directory);
        if (errno != EEXIST || i == MAX_ATTEMPTS)
            return NULL;
        directory = memory_text("%s.%d", wanted, i);
    }
    return directory;
}

/* Writes a copy of the measurement, marked as a snapshot. Returns false with errno. */
static bool copy_measurement(int from, const char *path, struct profile_header *header)
{
    int to = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    header->snapshot = 1;
    header->reported = 0;
    bool good = to >= 0 && snapshot_copy(from, to, header) && snapshot_note_later(from, to, header);
    int cause = errno;
    if (to >= 0 && close(to) != 0 && good) {
        good = false;
        cause = errno;
    }
    errno = cause;
    return good;
}

/* Writes the log of stacks beside the measurement. Its name ends in .stacks instead of .blame. */
static bool write_snapshot_stacks(const char *file)
{
    struct out_file out;
    char *path = memory_text("%.*s.stacks", (int)(strlen(file) - strlen(".blame")), file);
    bool good = out_file_open(&out, "snapshot", path);
    if (good)
        good = out_file_close(&out, stacks_write("snapshot", file, out.stream, STACKS_WALL)) == CLI_DONE;
    free(path);
    return good;
}

/* Makes all new files readable only by the user if the measurement is (BLAME_PRIVATE). */
static void inherit_privacy(int measurement)
{
    struct stat status;
    if (fstat(measurement, &status) == 0 && (status.st_mode & 077) == 0)
        umask(077);
}

static int write_snapshot(const struct running *running, struct profile_header *header, const char *output)
{
    char name[sizeof header->program + 1] = "";
    inherit_privacy(running->file);
    memcpy(name, header->program, sizeof header->program);
    for (char *at = name; *at; at++)
        *at = *at == '/' ? '_' : *at;
    char *wanted = output ? memory_text("%s", output)
                          : memory_text("blame-%s-%d-snapshot", *name ? name : "program", (int)running->pid);
    char *directory = make_snapshot_directory(wanted);
    int status = CLI_BAD_INPUT;
    if (!directory) {
        fprintf(stderr, "blame snapshot: %s: cannot create this directory: %s; give another one by --output\n", wanted,
                strerror(errno));
        free(wanted);
        return status;
    }
    char *file = memory_text("%s/%s-%d.blame", directory, *name ? name : "program", (int)running->pid);
    if (copy_measurement(running->file, file, header)) {
        /* From here on a signal leaves the directory: the reports can be written later. */
        unfinished_keep(directory);
        status = finish_reports(directory, file, true);
        if (header->traced && !write_snapshot_stacks(file))
            status = CLI_BAD_INPUT;
    } else {
        fprintf(stderr, "blame snapshot: %s: %s; nothing was written; give another directory by --output\n", file,
                strerror(errno));
        unfinished_remove(directory);
    }
    free(file);
    free(directory);
    free(wanted);
    return status;
}

int cli_snapshot(int argc, char **argv)
{
    const char *operand[argc], *output = NULL;
    int count;
    const struct option_spec options[] = {
        {"--output", OPTION_TEXT, &output, "DIR", NULL, 0, 0,
         "the directory to create (default: blame-PROGRAM-PID-snapshot). An existing directory is never overwritten: "
         ".1, .2 ... is appended to the name"},
    };
    struct running running;
    struct profile_header header;
    enum options_result result = options_read(&usage, OPTION_TABLE(options), argc, argv, operand, &count);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELPED ? CLI_DONE : CLI_BAD_USAGE;
    if (!running_find("snapshot", operand[0], &running))
        return CLI_BAD_INPUT;
    int status = CLI_BAD_INPUT;
    if (!snapshot_read(running.file, (char *)&header, sizeof header, 0))
        fprintf(stderr, "blame snapshot: %s: the measurement of this process cannot be read: %s\n", operand[0],
                strerror(errno));
    else if (header.wants_region)
        fprintf(stderr,
                "blame snapshot: %s: nothing has been measured yet, because the program has not started a parallel "
                "region\n",
                operand[0]);
    else
        status = write_snapshot(&running, &header, output);
    close(running.file);
    return status;
}
