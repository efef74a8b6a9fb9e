/* Opens the profiles that a command gets as operands, and creates its output files. */
#ifndef BLAME_COMMAND_CLI_OPEN_PROFILE_H
#define BLAME_COMMAND_CLI_OPEN_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/option.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"
#include "command/symbols/symbols.h"

struct opened_profile {
    const char *input; /* the operand as the user typed it */
    struct profile *profile;
    struct symbols *symbols;
    struct rows *rows;
};

/* Returns whether the argument is a directory or NULL; false after a message. With a mistyped folder, every
 * source file would be missing. */
bool check_source_dir(const char *command, const char *directory);

/* Returns the path of an operand's measurement file, malloc'ed, or NULL after a message. The operand is a
 * profile directory or a *.blame file. */
char *find_measurement(const char *command, const char *input);

/* The option --environment, which replaces the recorded environment in all profiles that are opened after it
 * was read. */
extern const struct option_spec environment_option;

/* Reads a profile. Returns NULL after a message. Warns if the program is still running or did not end
 * normally. */
struct profile *open_profile(const char *command, const char *input);

/* Reads a profile with only the samples of one thread (-1: all threads). Otherwise like open_profile(). */
struct profile *open_thread(const char *command, const char *input, int thread);

/* Reads a profile, finds its symbols and builds its rows. Returns false after a message, with nothing left to
 * close. */
bool open_rows(const char *command, const char *input, struct opened_profile *opened);
bool open_thread_rows(const char *command, const char *input, int thread, struct opened_profile *opened);
/* Returns the symbols of a profile, with the names that were kept beside it. Prints a message if the kept
 * names cannot be read. */
struct symbols *recall_symbols(const char *command, const struct profile *profile);
/* Prints which binaries have changed since the run, and writes new names beside the profile. Call it after
 * rows_build(), which looks the names up. */
void keep_symbols(const char *command, const struct profile *profile, const struct rows *rows, struct symbols *symbols);

void close_profile(struct opened_profile *opened);

/* The output of a command: standard output, or a file that appears only when it is complete. */
struct out_file {
    const char *command, *path;
    char *temporary; /* path until the file is complete; NULL for standard output, devices and pipes */
    bool anew;       /* whether the file must not exist yet */
    FILE *stream;
};
bool out_file_open(struct out_file *file, const char *command, const char *path);
/* Opens the output like out_file_open(), but refuses to replace an existing file. Devices and pipes may
 * exist. */
bool out_file_create(struct out_file *file, const char *command, const char *path);
/* Completes the output and returns an exit status of command/cli/cli.h. `good` is false after a failed write,
 * which has set errno. On failure, prints a message and leaves no file. */
int out_file_close(struct out_file *file, bool good);
/* Closes and removes the unfinished output file. */
void out_file_drop(struct out_file *file);

#endif
