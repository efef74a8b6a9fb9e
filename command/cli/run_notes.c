#include "command/cli/run_notes.h"

#include <stdlib.h>

bool run_note_next(FILE *list, struct run_note *note)
{
    long begin = ftell(list);
    for (size_t i = 0; i < RUN_NOTE_TEXTS; i++) {
        ssize_t length = getdelim(&note->text[i], &note->room[i], '\0', list);
        if (length <= 0 || note->text[i][length - 1]) {
            fseek(list, begin, SEEK_SET);
            return false;
        }
    }
    return true;
}

void run_note_free(struct run_note *note)
{
    for (size_t i = 0; i < RUN_NOTE_TEXTS; i++)
        free(note->text[i]);
}

void run_note_put_none(FILE *list)
{
    for (size_t i = 0; i < RUN_NOTE_TEXTS; i++)
        fputc('\0', list);
}
