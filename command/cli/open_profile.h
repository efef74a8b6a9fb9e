/* Profiles as operands of commands, and the files that commands write. */
#ifndef BLAME_COMMAND_CLI_OPEN_PROFILE_H
#define BLAME_COMMAND_CLI_OPEN_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/option.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"
#include "command/symbols/symbols.h"

struct opened_profile {
    const char *input; /* as the user gave it */
    struct profile *profile;
    struct symbols *symbols;
    struct rows *rows;
};

/* Returns whether the argument is a directory or NULL; false after a message. With a wrong folder, all
 * sources would be missing. */
bool check_source_dir(const char *command, const char *directory);

/* Returns the measurement file of an operand, which is a profile directory or a *.blame file; malloc'ed, NULL
 * after a message. */
char *find_measurement(const char *command, const char *input);

/* --environment: replaces the environment of profiles that are opened later. */
extern const struct option_spec environment_option;

/* Reads a profile. Returns NULL after a message. Also prints a message if the program did not end normally. */
struct profile *open_profile(const char *command, const char *input);

/* Does the same for the samples of one thread; -1: all threads. */
struct profile *open_thread(const char *command, const char *input, int thread);

/* Does the same and adds symbols and rows. Returns false after a message, with nothing left open. */
bool open_rows(const char *command, const char *input, struct opened_profile *opened);
bool open_thread_rows(const char *command, const char *input, int thread, struct opened_profile *opened);
/* Returns the symbols of a profile, with the names kept beside it, after a message about names that cannot be
 * read. */
struct symbols *recall_symbols(const char *command, const struct profile *profile);
/* Says which binaries have changed, and keeps new names. The rows must exist. */
void keep_symbols(const char *command, const struct profile *profile, const struct rows *rows, struct symbols *symbols);

void close_profile(struct opened_profile *opened);

/* The output of a command: a file that appears only when it is complete, or standard output. */
struct out_file {
    const char *command, *path;
    char *temporary; /* NULL: standard output */
    bool anew;       /* whether an existing file is not replaced */
    FILE *stream;
};
bool out_file_open(struct out_file *file, const char *command, const char *path);
/* Does the same, but refuses to replace an existing file. Devices and pipes are written to. */
bool out_file_create(struct out_file *file, const char *command, const char *path);
/* Completes the file and returns an exit status of command/cli/cli.h. On failure, prints a message and leaves
 * no file. good: false after a failed write that set errno. */
int out_file_close(struct out_file *file, bool good);
/* Removes the file, because there is nothing to write. */
void out_file_drop(struct out_file *file);

#endif
