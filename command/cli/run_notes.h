/* The list that the tool leaves for `blame run`: a note for each process that it measured, or for which it
 * printed why not. */
#ifndef BLAME_COMMAND_CLI_RUN_NOTES_H
#define BLAME_COMMAND_CLI_RUN_NOTES_H

#include <stdbool.h>
#include <stdio.h>

/* The texts of a note. Each ends with a zero byte, the only one that names cannot have. */
enum run_note_text {
    RUN_NOTE_DIRECTORY, /* "" if there is no profile */
    RUN_NOTE_FILE,
    RUN_NOTE_TARGET, /* final place of the file; "" if it is not moved, or is below the directory */
    RUN_NOTE_TEXTS,
};

struct run_note {
    char *text[RUN_NOTE_TEXTS];
    size_t room[RUN_NOTE_TEXTS];
};

/* Reads the next note into the same structure; false if there is no complete one yet. */
bool run_note_next(FILE *list, struct run_note *note);
void run_note_free(struct run_note *note);

/* Writes a note that says that the process has no profile. */
void run_note_put_none(FILE *list);

#endif
