#include "command/views/places.h"

#include <stdlib.h>

#include "command/text/format.h"
#include "command/text/memory.h"

#define LEAST_COLUMNS 16

size_t places_columns(const struct view_style *style, size_t indent)
{
    return style->columns > indent + LEAST_COLUMNS ? style->columns - indent : LEAST_COLUMNS;
}

void places_print_pair(FILE *out, double ns, const struct view_style *style)
{
    fprintf(out, "%18s%s%9s  ", "", style->utf8 ? "\xe2\x86\xb3" : ">", DECIMAL(ns * 1e-9, 3));
}

void places_print_text(FILE *out, char *text, size_t indent, const struct view_style *style)
{
    char *fitting = format_fit(text, places_columns(style, indent), style->utf8);
    fprintf(out, "%s\n", fitting);
    free(fitting);
    free(text);
}

char *places_line(const char *file, int line)
{
    return line > 0 && *file ? memory_text("  %s:%d", format_base_name(file), line) : memory_text("%s", "");
}
