/* Notes about the program's phases and events. */
#include "command/views/probe_notes.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_format.h"
#include "command/profile/profile.h"
#include "command/text/format.h"

#define MOST_NOTES 5 /* largest number of notes of the same kind */

struct notes {
    FILE *out;
    size_t columns, count;
};

static void print_probe_note(struct notes *notes, char *text)
{
    fputs(notes->count++ ? "" : "\n", notes->out);
    format_paragraph(notes->out, text, notes->columns);
    free(text);
}

static void note_throttled(struct notes *notes, const struct profile *profile)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->name_count; i++) {
        const struct profile_name *name = &profile->names[i];
        if (!(name->flags & PROFILE_NAME_THROTTLED) || ++count > MOST_NOTES)
            continue;
        print_probe_note(notes,
                         format_printable("note: %s is short and frequent, so it was not measured after %llu calls",
                                          name->text, (unsigned long long)name->throttled_after));
    }
    if (count > MOST_NOTES)
        print_probe_note(notes,
                         format_printable("note: %zu more were not measured for this reason, see phases in run.json",
                                          count - MOST_NOTES));
}

/* Returns a text as "solve (main, a.c:12)". */
static char *probe_place_text(const struct probe_location *place)
{
    char line[16] = "";
    if (place->line > 0)
        snprintf(line, sizeof line, ":%d", place->line);
    if (!*place->function && !*place->file)
        return format_printable("%s", place->name);
    return format_printable("%s (%s%s%s%s)", place->name, place->function, *place->function && *place->file ? ", " : "",
                            *place->file ? format_base_name(place->file) : "", *place->file ? line : "");
}

static void print_misnested(struct notes *notes, const struct rows *rows)
{
    for (size_t i = 0; i < rows->misnested_count && i < MOST_NOTES; i++) {
        const struct misnesting *wrong = &rows->misnested[i];
        char *inner = probe_place_text(&wrong->inner), *outer = probe_place_text(&wrong->outer);
        print_probe_note(notes, *wrong->outer.name
                                    ? format_printable("note: %s was still open when %s ended", inner, outer)
                                    : format_printable("note: %s ended although it had not begun", inner));
        free(inner);
        free(outer);
    }
    if (rows->misnested_count > MOST_NOTES)
        print_probe_note(notes,
                         format_printable("note: %zu more phases ended in the wrong order, see misnested in run.json",
                                          rows->misnested_count - MOST_NOTES));
}

void view_text_probe_notes(FILE *out, const struct profile *profile, const struct rows *rows, size_t columns)
{
    struct notes notes = {.out = out, .columns = columns};
    const struct profile_header *header = &profile->header;
    note_throttled(&notes, profile);
    print_misnested(&notes, rows);
    if (header->pauses)
        print_probe_note(&notes,
                         format_printable("note: %s s in %llu pause%s that the program asked for are not measured",
                                          DECIMAL((double)header->paused_ns * 1e-9, 2),
                                          (unsigned long long)header->pauses, header->pauses == 1 ? "" : "s"));
    if (profile->stopped_ns > 0)
        print_probe_note(
            &notes,
            format_printable(
                "note: something stopped the process%s %s s (SIGSTOP, a debugger): <stopped>, a part of blocked",
                header->merged ? "es for a total of" : " for", DECIMAL(profile->stopped_ns * 1e-9, 2)));
    if (header->ended_by_program)
        print_probe_note(&notes, format_printable("note: the program itself ended the measurement"));
    if (header->probes_lost)
        print_probe_note(&notes, format_printable("note: %llu starts of phases, events or parameters were not "
                                                  "recorded, because there was no room for them",
                                                  (unsigned long long)header->probes_lost));
}
