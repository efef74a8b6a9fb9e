/* Profiles as operands of commands: found, read, complained about. */
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

/* Whether it is one, or NULL; false after a message: a wrong folder would look like sources that are missing. */
bool check_source_dir(const char *command, const char *directory);

/* The measurement file that an operand means, a profile directory or a *.blame file; malloc'ed, NULL after a
 * message on stderr. */
char *find_measurement(const char *command, const char *input);

/* --environment: profiles that are opened from then on have that one, instead of the run's. */
extern const struct option_spec environment_option;

/* Reads an operand. NULL after a message on stderr; a program that did not end normally is worth a message,
 * too. */
struct profile *open_profile(const char *command, const char *input);

/* The same of one thread's samples; -1: of all threads. */
struct profile *open_thread(const char *command, const char *input, int thread);

/* The same with symbols and rows. false after a message; what was opened is closed again. */
bool open_rows(const char *command, const char *input, struct opened_profile *opened);
bool open_thread_rows(const char *command, const char *input, int thread, struct opened_profile *opened);
/* Symbols of a profile with the names that are kept beside it; says what of these cannot be read. */
struct symbols *recall_symbols(const char *command, const struct profile *profile);
/* Once the rows are there: says which binaries are others by now, and keeps names that are new. */
void keep_symbols(const char *command, const struct profile *profile, const struct rows *rows, struct symbols *symbols);

void close_profile(struct opened_profile *opened);

/* Where a command writes: a file that appears whole or not at all, or standard output (path NULL or "-").
 * NULL after a message. */
struct out_file {
    const char *command, *path;
    char *temporary; /* NULL: standard output */
    bool anew;       /* nothing is replaced */
    FILE *stream;
};
bool out_file_open(struct out_file *file, const char *command, const char *path);
/* The same, but a file that is there is no place to write to. Devices and pipes are. */
bool out_file_create(struct out_file *file, const char *command, const char *path);
/* When it could not be written nothing is left, and a message says why; good: false if it was not written whole and errno is as the failed write
 * left it. Returns an exit status of command/cli/cli.h. */
int out_file_close(struct out_file *file, bool good);
/* Leaves nothing of it: there was nothing to write. */
void out_file_drop(struct out_file *file);

#endif
