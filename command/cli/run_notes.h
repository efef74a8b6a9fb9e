/* What the tool leaves for `blame run`: a note of each process that it measured, or has said why it did not. */
#ifndef BLAME_COMMAND_CLI_RUN_NOTES_H
#define BLAME_COMMAND_CLI_RUN_NOTES_H

#include <stdbool.h>
#include <stdio.h>

/* Three texts, each with its zero byte: names may have all others. */
enum run_note_text {
    RUN_NOTE_DIRECTORY, /* "": there is no profile */
    RUN_NOTE_FILE,
    RUN_NOTE_TARGET, /* where the file goes at the end; "": nowhere, or below the directory */
    RUN_NOTE_TEXTS,
};

struct run_note {
    char *text[RUN_NOTE_TEXTS];
    size_t room[RUN_NOTE_TEXTS];
};

/* The next one into the same note; false: there is none, or not all of it as yet. */
bool run_note_next(FILE *list, struct run_note *note);
void run_note_free(struct run_note *note);

/* That nothing of a process is to be looked for. */
void run_note_put_none(FILE *list);

#endif
