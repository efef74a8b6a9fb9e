/* The file in which the tool leaves notes for `blame run`: one for each process that was measured, or for
 * which the tool printed why it was not. */
#ifndef BLAME_COMMAND_CLI_RUN_NOTES_H
#define BLAME_COMMAND_CLI_RUN_NOTES_H

#include <stdbool.h>
#include <stdio.h>

/* The texts of a note. Each ends with a zero byte, the only byte that a file name cannot contain. */
enum run_note_text {
    RUN_NOTE_DIRECTORY, /* profile directory; "" if there is no profile */
    RUN_NOTE_FILE,
    /* path to which the file is moved after the run; "" if it stays, or moves into the directory */
    RUN_NOTE_TARGET,
    RUN_NOTE_STDERR, /* which file stderr was at the start (log_file()) */
    RUN_NOTE_TEXTS,
};

struct run_note {
    char *text[RUN_NOTE_TEXTS];
    size_t room[RUN_NOTE_TEXTS];
};

/* Reads the next note into `note`, reusing its memory. Returns false if the file contains no further complete
 * note yet. */
bool run_note_next(FILE *list, struct run_note *note);
void run_note_free(struct run_note *note);

/* Writes the note of a process without a profile. */
void run_note_put_none(FILE *list);

#endif
