#include "report/views/runtime_notes.h"

#include <stdlib.h>
#include <string.h>

#include "report/tables/other_runtimes.h"
#include "report/text/format.h"
#include "report/text/memory.h"

static void print_python(FILE *out, const struct profile *profile, size_t columns, bool utf8)
{
    const char *python = profile_text(profile, "python"), *why = python ? strchr(python, '\t') : NULL;
    if (!why)
        return;
    char *said = memory_text("%.*s", (int)(why - python), python);
    char *version = format_fit(said, columns, utf8), *reason = format_fit(why + 1, columns, utf8);
    fprintf(out, "\nnote: Python %s: its functions are not in the contexts, the interpreter's own are (%s)\n", version, reason);
    free(said);
    free(version);
    free(reason);
}

static void print_r(FILE *out, const struct profile *profile, size_t columns, bool utf8)
{
    const char *why = profile_text(profile, "r");
    if (!why || !*why)
        return;
    char *reason = format_fit(why, columns, utf8);
    fprintf(out, "\nnote: R: its functions are not in the contexts, the interpreter's own are (%s)\n", reason);
    free(reason);
}

void runtime_notes_print(FILE *out, const struct profile *profile, size_t columns, bool utf8)
{
    struct other_runtime found[OTHER_RUNTIMES_MOST];
    size_t count = other_runtimes(profile, found);
    for (size_t i = 0; i < count; i++) {
        char *name = format_fit(found[i].path, columns, utf8);
        fprintf(out,
                "\nnote: a second OpenMP runtime ran beside the measured one: %s s in what %s called, and its other "
                "threads are not measured\n",
                DECIMAL(found[i].seconds, 2), name);
        free(name);
    }
    print_python(out, profile, columns, utf8);
    print_r(out, profile, columns, utf8);
}
