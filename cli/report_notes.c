/* What the header of a text view says about the choice that was made. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/report.h"
#include "report/rows/metric.h"
#include "report/text/format.h"
#include "report/text/memory.h"

static void note_thread(FILE *notes, const struct report_request *request, const struct profile *profile)
{
    size_t sharing = 0;
    fprintf(notes, "--thread %d: only what its samples were blamed for; per cent are of that.",
            request->thread);
    for (size_t i = 0; i < profile->thread_count; i++)
        sharing += profile->threads[i].tree == profile->tree;
    if (sharing > 1) {
        fputs(" Its samples are kept with those of threads that ran before or after it:", notes);
        for (size_t i = 0; i < profile->thread_count; i++)
            if (profile->threads[i].tree == profile->tree && i != (size_t)request->thread)
                fprintf(notes, " %zu", i);
        putc('.', notes);
    }
    putc('\n', notes);
}

static void note_focus(FILE *notes, const struct report_request *request,
                       const struct report_focused *focused)
{
    fprintf(notes, "--focus %s: only paths through rows that match", request->focus);
    if (focused) {
        int decimals = focused->seconds ? 3 : 0;
        fprintf(notes, ": %s of the %s %s%s%s", DECIMAL(focused->part, decimals),
                DECIMAL(focused->whole, decimals), focused->seconds ? "s of " : "",
                focused->title, request->thread < 0 ? " in the whole program" : "");
    }
    fputs(focused ? ". Absolute per cent are of all, matching or not.\n" : "; per cent are of those.\n",
          notes);
}

char *report_notes(const struct report_request *request, const struct profile *profile,
                   const struct report_focused *focused)
{
    char *text;
    FILE *notes = memory_stream(&text);
    if (request->thread != NOT_GIVEN)
        note_thread(notes, request, profile);
    if (request->focus)
        note_focus(notes, request, focused);
    if (request->hide)
        fprintf(notes, "--hide %s: rows that match are part of what called them.\n", request->hide);
    memory_stream_close(notes);
    return text;
}
